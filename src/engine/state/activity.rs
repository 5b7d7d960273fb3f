//! The agent's activity, with the countdown before it is prompted to continue.

use crate::engine::context::Cx;
use crate::engine::effect::Effect;

/// The only timer of the engine.
const TIMER: u64 = 1;

/// The agent's activity. A paused run leaves the agent idle: the pause says more.
#[derive(Debug, Default)]
pub struct Activity(Doing);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Doing {
    /// The agent is about to work, or has nothing to do.
    #[default]
    Idle,
    /// The agent runs, since this time in milliseconds since 1970.
    Working { since: u64 },
    /// The agent is prompted to continue when the seconds are over.
    Countdown { seconds: u32 },
    /// Nothing happens until the user sends a message or resumes the run.
    Waiting,
}

impl Activity {
    /// The agent's activity when the session begins. The beginning of its work is not known: all of the time since
    /// the newest entry counts as work.
    pub fn restored(at_work: bool) -> Self {
        Self(if at_work { Doing::Working { since: 0 } } else { Doing::Idle })
    }

    pub fn is_working(&self) -> bool {
        self.working_since().is_some()
    }

    /// The beginning of its work, in milliseconds since 1970; `None` if it does not work.
    pub fn working_since(&self) -> Option<u64> {
        match self.0 {
            Doing::Working { since } => Some(since),
            Doing::Idle | Doing::Countdown { .. } | Doing::Waiting => None,
        }
    }

    /// Returns true if the run waits for the user.
    pub fn is_waiting(&self) -> bool {
        self.0 == Doing::Waiting
    }

    pub fn is_counting_down(&self) -> bool {
        matches!(self.0, Doing::Countdown { .. })
    }

    /// Returns true if the run is in a countdown or waits for the user.
    pub fn is_at_rest(&self) -> bool {
        self.is_waiting() || self.is_counting_down()
    }

    /// The agent runs; work that has begun goes on.
    pub fn begin_work(&mut self, unix_ms: u64) {
        if !self.is_working() {
            self.0 = Doing::Working { since: unix_ms };
        }
    }

    /// The clock may have gone back: the agent has not begun to work later than now.
    pub fn clock_changed(&mut self, now: u64) {
        if let Doing::Working { since } = &mut self.0 {
            *since = now.min(*since);
        }
    }

    /// The agent does not run.
    pub fn end_work(&mut self) {
        if self.is_working() {
            self.0 = Doing::Idle;
        }
    }

    /// Waits for the user, unless the agent works.
    pub fn wait(&mut self) {
        if !self.is_working() {
            self.0 = Doing::Waiting;
        }
    }

    /// Starts the countdown.
    ///
    /// Specification: hook lifecycle, "Case B", step 4.
    pub fn start_countdown(&mut self, seconds: u32, cx: &mut Cx) {
        self.stop(cx);
        self.0 = Doing::Countdown { seconds };
        cx.push(Effect::SetCountdown(Some(widget_line(seconds))));
        cx.push(Effect::WatchTerminal(true));
        cx.push(Effect::StartTimer { id: TIMER, delay_ms: if seconds == 0 { 0 } else { 1000 } });
    }

    /// Ends a countdown or a wait.
    pub fn stop(&mut self, cx: &mut Cx) {
        if self.is_counting_down() {
            cx.push(Effect::StopTimer { id: TIMER });
            cx.push(Effect::WatchTerminal(false));
            cx.push(Effect::SetCountdown(None));
        }
        if self.is_at_rest() {
            self.0 = Doing::Idle;
        }
    }

    /// A timer ran out. Returns true if the countdown is over; its last second lasts while pi is not idle, for example
    /// with a compaction.
    pub fn tick(&mut self, id: u64, idle: bool, cx: &mut Cx) -> bool {
        let Doing::Countdown { seconds } = self.0 else { return false };
        if id != TIMER {
            return false;
        }
        let seconds = seconds.saturating_sub(1).max(u32::from(!idle));
        if seconds == 0 {
            self.stop(cx);
            return true;
        }
        self.0 = Doing::Countdown { seconds };
        cx.push(Effect::SetCountdown(Some(widget_line(seconds))));
        cx.push(Effect::StartTimer { id: TIMER, delay_ms: 1000 });
        false
    }
}

fn widget_line(seconds: u32) -> String {
    format!("⏳ Auto-continuing in {seconds}s... (type anything to interrupt)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests::with_cx;

    #[test]
    fn the_last_second_lasts_while_pi_is_busy() {
        let mut activity = Activity::default();
        let over = |idle| move |activity: &mut Activity, cx: &mut Cx| activity.tick(TIMER, idle, cx);
        with_cx(|cx| {
            activity.start_countdown(2, cx);
            assert!(!over(true)(&mut activity, cx));
            assert!(!over(false)(&mut activity, cx) && activity.is_counting_down());
            assert!(!activity.tick(TIMER + 1, true, cx), "the timer of another");
            assert!(over(true)(&mut activity, cx) && !activity.is_at_rest());
            assert!(!over(true)(&mut activity, cx), "it is over once");
        });
    }

    #[test]
    fn an_agent_that_works_does_not_wait() {
        let mut activity = Activity::restored(true);
        activity.begin_work(7);
        assert_eq!(activity.working_since(), Some(0), "its work goes on");
        activity.wait();
        assert!(activity.is_working());
        with_cx(|cx| activity.stop(cx));
        assert!(activity.is_working());
        activity.end_work();
        activity.wait();
        assert!(activity.is_waiting() && activity.is_at_rest());
        activity.end_work();
        assert!(activity.is_waiting());
    }
}
