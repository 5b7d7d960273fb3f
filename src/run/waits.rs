//! A run that meets a limit of its model: the pause, and its end by the user or by itself.

use super::pause::{Pause, PauseReason};
use super::quota::QuotaWaits;
use super::state::RunState;

/// A wait that ended this long before the session began does not go on by itself, in milliseconds.
const TOO_LATE_MS: u64 = 600_000;
/// The time that the user has before a run goes on whose wait ended before the session began, in milliseconds.
const NOTICE_MS: u64 = 10_000;

impl RunState {
    /// The time at which the run goes on by itself; `None` if it does not wait for the end of a limit.
    pub fn goes_on_at(&self) -> Option<u64> {
        match self.progress.paused.as_ref().filter(|_| self.is_running())?.reason {
            PauseReason::Quota { goes_on_at, .. } => goes_on_at,
            _ => None,
        }
    }

    /// Returns the run with the limit counted, and the reason of its pause at this limit. The run goes on by itself if its
    /// waits stay within `max_ms`. `now_with` is the run with its usage up to now.
    pub fn met_limit(
        &self,
        until: Option<u64>,
        utc_offset: i16,
        max_ms: Option<u64>,
        now_with: &Self,
        now: u64,
    ) -> (Self, PauseReason) {
        let usage = now_with.usage();
        let worked = usage.output.saturating_add(u64::from(usage.tool_calls));
        let mut new = self.clone();
        let waits = &mut new.progress.quota;
        if worked > waits.worked {
            waits.in_row = 0;
        }
        waits.worked = worked;
        let goes_on_at = max_ms.and_then(|max_ms| waits.end(until, max_ms, now));
        waits.in_row = waits.in_row.saturating_add(u32::from(goes_on_at.is_some()));
        (new, PauseReason::Quota { until, goes_on_at, utc_offset })
    }

    /// Returns the run without its wait, which is counted. The run stays paused.
    pub fn waited(&self, now: u64) -> Self {
        let mut new = self.clone();
        let Some(end) = self.goes_on_at() else { return new };
        let Some(Pause { reason: PauseReason::Quota { goes_on_at, .. }, at }) = &mut new.progress.paused else {
            return new;
        };
        *goes_on_at = None;
        let ms = now.min(end).saturating_sub(*at);
        let waits = &mut new.progress.quota;
        waits.unattended_ms = waits.unattended_ms.saturating_add(ms);
        (waits.count, waits.ms) = (waits.count.saturating_add(1), waits.ms.saturating_add(ms));
        new
    }

    /// Returns the run after an action of the user: its wait ends, and its bounds begin anew.
    pub fn attended(&self, now: u64) -> Self {
        let mut new = self.waited(now);
        let QuotaWaits { in_row, unattended_ms, .. } = &mut new.progress.quota;
        (*in_row, *unattended_ms) = (0, 0);
        new
    }

    /// Returns the run with the user's choice for its waits. A run at a limit waits, or waits no longer.
    pub fn waiting_up_to(&self, max_ms: u64, now: u64) -> Self {
        let mut new = self.attended(now);
        new.progress.quota.max_ms = Some(max_ms);
        match self.progress.paused {
            Some(Pause { reason: PauseReason::Quota { until, utc_offset, .. }, .. }) => {
                let (new, reason) = new.met_limit(until, utc_offset, Some(max_ms), &new, now);
                new.paused(reason, now)
            }
            _ => new,
        }
    }

    /// Returns the run without the time that the user chose for its waits.
    pub fn without_chosen_wait(mut self) -> Self {
        self.progress.quota.max_ms = None;
        self
    }

    /// Returns the run as a session begins with it: a wait whose end has passed goes on after a notice, or not at all. A
    /// wait whose rest is not within `max_ms` is over.
    pub fn with_restored_wait(mut self, max_ms: Option<u64>, now: u64) -> Self {
        let Some(end) = self.goes_on_at() else { return self };
        let is_wanted = max_ms.is_some_and(|max_ms| self.progress.quota.has_room(end, max_ms, now));
        if !is_wanted || now > end.saturating_add(TOO_LATE_MS) {
            return self.waited(now);
        }
        if let Some(Pause { reason: PauseReason::Quota { goes_on_at, .. }, .. }) = &mut self.progress.paused {
            *goes_on_at = Some(end.max(now.saturating_add(NOTICE_MS)));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60_000;
    const MAX_WAIT_MS: u64 = 360 * MINUTE;

    fn run() -> RunState {
        RunState::new("w", "x", 0, 0).begun(0)
    }

    fn met(run: &RunState, until: Option<u64>, now: u64) -> RunState {
        at_limit(run, until, Some(MAX_WAIT_MS), now)
    }

    fn at_limit(run: &RunState, until: Option<u64>, max_ms: Option<u64>, now: u64) -> RunState {
        let (new, reason) = run.met_limit(until, 0, max_ms, run, now);
        new.paused(reason, now)
    }

    #[test]
    fn a_limit_without_an_end_has_three_waits_without_work() {
        let mut run = run();
        for minutes in [5, 15, 60] {
            run = met(&run.resumed(), None, 7);
            assert_eq!(run.goes_on_at(), Some(7 + minutes * MINUTE + 1000));
            run = run.waited(7 + minutes * MINUTE);
        }
        assert_eq!((run.progress.quota.count, run.progress.quota.ms), (3, 80 * MINUTE));
        run = met(&run.resumed(), None, 7);
        assert_eq!(run.goes_on_at(), None, "it waits for the user");
        assert_eq!(met(&run.attended(8).resumed(), None, 8).goes_on_at(), Some(8 + 5 * MINUTE + 1000));
    }

    #[test]
    fn a_limit_that_always_ends_in_a_second_has_three_waits() {
        let mut run = run();
        let waits = (0..9).take_while(|second| {
            run = met(&run.resumed(), Some(second * 1000 + 1000), second * 1000);
            let waits = run.goes_on_at().is_some();
            run = run.waited(second * 1000 + 1000);
            waits
        });
        assert_eq!(waits.count(), 3);
        run.progress.visits.get_mut(&run.current_path.key()).unwrap().usage.tool_calls = 1;
        assert!(met(&run.resumed(), Some(0), 0).goes_on_at().is_some(), "it has worked");
    }

    #[test]
    fn all_waits_have_a_bound_until_the_user_acts() {
        let hours = |hours: u64| hours * 60 * MINUTE;
        let first = met(&run(), Some(hours(4)), 0);
        assert_eq!(first.goes_on_at(), Some(hours(4) + 1000));
        let worked = |run: RunState| {
            let mut run = run.resumed();
            let key = run.current_path.key();
            run.progress.visits.get_mut(&key).unwrap().usage.output += 5;
            run
        };
        let run = worked(first.waited(hours(4)));
        assert_eq!(met(&run, Some(hours(7)), hours(4)).goes_on_at(), None);
        assert!(met(&run, Some(hours(6)), hours(4)).goes_on_at().is_some());
        assert!(met(&run.attended(0), Some(hours(10)), hours(4)).goes_on_at().is_some());
        for until in [u64::MAX, 253_402_300_799_000] {
            assert_eq!(met(&run, Some(until), 0).goes_on_at(), None);
        }
        assert_eq!(at_limit(&run, Some(9), None, 0).goes_on_at(), None, "it was not asked for");
        for until in [0, 9] {
            assert_eq!(at_limit(&run, Some(until), Some(0), 0).goes_on_at(), None, "the user does not want it");
        }
    }

    #[test]
    fn the_user_chooses_at_a_limit() {
        let run = at_limit(&run(), None, None, 0);
        let waits = run.waiting_up_to(MAX_WAIT_MS, 100);
        assert_eq!(waits.goes_on_at(), Some(100 + 5 * MINUTE + 1000));
        assert_eq!(waits.waiting_up_to(0, 200).goes_on_at(), None);
        assert_eq!(RunState::new("w", "x", 0, 0).waiting_up_to(5, 0).progress.quota.max_ms, Some(5));
    }

    #[test]
    fn a_wait_that_ended_long_ago_does_not_go_on() {
        let run = met(&run(), Some(MINUTE), 0);
        let end = MINUTE + 1000;
        for (now, goes_on_at) in
            [(9, Some(end)), (end, Some(end + NOTICE_MS)), (end + 500_000, Some(end + 510_000)), (20 * MINUTE, None)]
        {
            assert_eq!(run.clone().with_restored_wait(Some(MAX_WAIT_MS), now).goes_on_at(), goes_on_at);
        }
        for (max_ms, now) in [(None, 9), (Some(0), end), (Some(MINUTE - 10), 9)] {
            assert_eq!(run.clone().with_restored_wait(max_ms, now).goes_on_at(), None, "{max_ms:?}");
        }
        assert!(run.clone().with_restored_wait(Some(MINUTE - 9), 9).goes_on_at().is_some());
        assert_eq!(run.cancelled().goes_on_at(), None);
    }
}
