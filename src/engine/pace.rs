//! The bounds of automatic continuation.

/// Bounds of automatic continuation after the agent stopped too early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Length of the countdown, in seconds.
    pub delay_seconds: u32,
    /// Number of automatic continuations in one phase after which the run pauses.
    pub max_per_phase: u32,
    /// Number of consecutive automatic continuations without work after which the run pauses. The run also pauses
    /// after more cut-off answers in a row than this number.
    pub max_idle: u32,
    /// Number of consecutive tool calls that bring nothing new after which the run pauses; 0 for no bound.
    pub max_repeats: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self { delay_seconds: 3, max_per_phase: 10, max_idle: 3, max_repeats: 20 }
    }
}

impl Pace {
    /// The key of the store that holds other bounds, for tests.
    pub const KEY: &str = "pace";

    /// Reads the four numbers in their order here; the default without four numbers.
    pub fn of(numbers: &str) -> Self {
        let numbers: Vec<u32> = numbers.split(' ').filter_map(|number| number.parse().ok()).collect();
        match numbers[..] {
            [delay_seconds, max_per_phase, max_idle, max_repeats] => {
                Self { delay_seconds, max_per_phase, max_idle, max_repeats }
            }
            _ => Self::default(),
        }
    }
}
