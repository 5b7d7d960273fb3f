//! The user's own settings of this package.

use std::time::Duration;

use super::models::Aliases;

/// The root with the user's own files.
pub(crate) const USERS_ROOT: &str = "global";

/// The root with the workflows of this package.
pub const BUILTIN_ROOT: &str = "builtin";

/// The file of the settings. A project and a package have none.
pub(crate) const SETTINGS_FILE: &str = "settings.yaml";

/// The settings under another name, which may have limits.
pub(crate) const MISNAMED: &str = "settings.yml";

/// Files of earlier versions with limits, each with the key of the settings that is in its place.
pub(crate) const LEFT_OVER_LIMITS: [(&str, &str); 2] = [("limits.yaml", "limits"), ("limits.yml", "limits")];

/// Other files of earlier versions.
pub(crate) const LEFT_OVER: [(&str, &str); 2] = [("models.yaml", "models"), ("notify.yaml", "onEvent")];

/// Returns true for a name of the file of the settings, or one under which it may be written by mistake.
pub(crate) fn means_settings(name: &str) -> bool {
    let names = [SETTINGS_FILE, MISNAMED, "setting.yaml", "setting.yml"];
    names.iter().any(|other| other.eq_ignore_ascii_case(name))
}

/// The user's settings without the limits of every session.
#[derive(Debug, Clone)]
pub struct Settings {
    pub models: Aliases,
    /// A run goes on by itself when a limit of the model ends; the longest time of all such waits since the user acted
    /// last, in milliseconds. `None`: it pauses.
    pub wait_ms: Option<u64>,
    /// The workflows of this package can be started.
    pub builtin: bool,
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
pub const WAIT_MS: u64 = 6 * 3_600_000;
/// The longest time that a user can give, in milliseconds.
pub const LONGEST_WAIT_MS: u64 = 7 * 86_400_000;

/// Returns the time that waits may take, in milliseconds; `None` if nothing can be waited for that long.
pub fn wait_ms(time: Duration) -> Option<u64> {
    let ms = u64::try_from(time.as_millis()).ok()?;
    (1..=LONGEST_WAIT_MS).contains(&ms).then_some(ms)
}

impl Settings {
    /// The settings of a file that cannot be read: nothing that a file has to allow, or may switch off.
    pub(crate) fn careful() -> Self {
        Self { builtin: false, ..Self::default() }
    }
}

/// The settings without a file.
impl Default for Settings {
    fn default() -> Self {
        Self { models: Aliases::default(), wait_ms: None, builtin: true, on_event: None }
    }
}
