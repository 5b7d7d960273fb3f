//! The user's own settings of this package.

use std::time::Duration;

/// The content of the user's `settings.yaml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The workflows of this package can be started.
    pub builtin: bool,
    /// A run goes on by itself when a limit of the model ends.
    pub waits: bool,
    /// The longest time of all such waits since the user acted last, in milliseconds.
    pub max_wait_ms: u64,
    /// The program that gets the events of which a user wants to know.
    pub on_event: Option<OnEvent>,
}

/// A program that gets events of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnEvent {
    /// The program and its arguments.
    pub program: Vec<String>,
    /// The events have their texts.
    pub texts: bool,
}

/// The time of the waits where the user gives none, in milliseconds.
const MAX_WAIT_MS: u64 = 6 * 3_600_000;
/// The longest time that a user can give, in milliseconds.
pub const LONGEST_WAIT_MS: u64 = 7 * 86_400_000;

/// Returns the time that waits may take, in milliseconds; `None` if nothing can be waited for that long.
pub fn wait_ms(time: Duration) -> Option<u64> {
    let ms = u64::try_from(time.as_millis()).ok()?;
    (1..=LONGEST_WAIT_MS).contains(&ms).then_some(ms)
}

impl Settings {
    /// The settings of a file that cannot be read or has errors: nothing that a file has to allow, or may switch off.
    pub(crate) const CAREFUL: Self = Self { builtin: false, waits: false, max_wait_ms: MAX_WAIT_MS, on_event: None };
}

/// The settings without a file.
impl Default for Settings {
    fn default() -> Self {
        Self { builtin: true, waits: false, max_wait_ms: MAX_WAIT_MS, on_event: None }
    }
}
