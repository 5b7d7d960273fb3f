//! A wait for the end of a limit. The run stores its end; this is the timer.

/// The command of a wait at its end. Only then it does anything.
pub const WAIT_IS_OVER: &str = ":wait :over";
/// The argument of that command.
pub const OVER: &str = ":over";
/// The time between two commands to go on, in milliseconds.
pub const AGAIN_MS: u32 = 30_000;
/// The status line shows the minutes that are left, and in the last one the seconds.
const MINUTE_MS: u64 = 60_000;

/// The wait of the run in progress.
#[derive(Debug, Default)]
pub struct Quota {
    /// Its end, in milliseconds since 1970.
    pub(super) end: Option<u64>,
}

impl Quota {
    pub fn is_waiting(&self) -> bool {
        self.end.is_some()
    }

    /// Returns true if the end has come: the run is to go on by the command of the wait.
    pub fn is_due(&self, now: u64) -> bool {
        self.end.is_some_and(|end| end <= now)
    }
}

/// The time until the status line shows another time, or the wait ends, in milliseconds.
pub(super) fn tick_ms(end: u64, now: u64) -> u32 {
    let left = end.saturating_sub(now);
    let unit = if left > MINUTE_MS { MINUTE_MS } else { 1000 };
    let part = left % unit;
    u32::try_from(if part == 0 { unit } else { part }).unwrap_or(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ticks_by_minutes_and_then_by_seconds() {
        for (left, delay) in [
            (2 * MINUTE_MS + 7, 7),
            (2 * MINUTE_MS, 60_000),
            (MINUTE_MS + 1, 1),
            (MINUTE_MS, 1000),
            (1500, 500),
            (0, 1000),
            (u64::MAX - 9, 51_606),
        ] {
            assert_eq!(tick_ms(9 + left, 9), delay, "{left}");
        }
        assert_eq!(tick_ms(0, 9), 1000);
    }
}
