//! The seconds before the agent is prompted to continue, and the wait for the user where they were interrupted.

use super::context::Cx;
use super::effect::Effect;
use super::state::{Activity, Engine, Origin};

/// The only timer of the engine.
const TIMER: u64 = 1;

impl Engine {
    /// Starts the countdown.
    ///
    /// Specification: hook lifecycle, "Case B", step 4.
    pub(super) fn start_countdown(&mut self, seconds: u32, cx: &mut Cx) {
        self.stop_countdown(cx);
        self.agent.activity = Activity::Countdown { seconds };
        cx.push(Effect::SetCountdown(Some(widget_line(seconds))));
        cx.push(Effect::WatchTerminal(true));
        cx.push(Effect::StartTimer { id: TIMER, delay_ms: if seconds == 0 { 0 } else { 1000 } });
    }

    /// Ends a countdown or a wait. The status line still shows a wait; the caller sets it.
    pub(super) fn stop_countdown(&mut self, cx: &mut Cx) {
        match self.agent.activity {
            Activity::Countdown { .. } => {
                cx.push(Effect::StopTimer { id: TIMER });
                cx.push(Effect::WatchTerminal(false));
                cx.push(Effect::SetCountdown(None));
                self.agent.activity = Activity::Idle;
            }
            Activity::Waiting => self.agent.activity = Activity::Idle,
            Activity::Idle | Activity::Working => {}
        }
    }

    /// Ends a countdown or a wait, and shows it.
    pub(super) fn end_rest(&mut self, cx: &mut Cx) {
        let waited = self.agent.activity == Activity::Waiting;
        self.stop_countdown(cx);
        if waited {
            self.set_status(cx);
        }
    }

    /// Waits for the user, if the agent is at rest in a run that is not paused, and shows it.
    pub(super) fn wait_for_user(&mut self, cx: &mut Cx) {
        self.begin_wait(cx);
        if self.agent.activity == Activity::Waiting {
            self.set_status(cx);
        }
    }

    /// Waits for the user, if the agent is at rest in a run that is not paused. The caller sets the status line.
    pub(super) fn begin_wait(&mut self, cx: &mut Cx) {
        self.stop_countdown(cx);
        let is_open = self.active().is_some_and(|active| active.state.progress.paused.is_none());
        if is_open && !self.agent.is_working() {
            self.agent.activity = Activity::Waiting;
        }
    }

    /// Sets the status line; an agent at rest waits for the user from now on.
    pub(super) fn wait_or_set_status(&mut self, cx: &mut Cx) {
        self.begin_wait(cx);
        self.set_status(cx);
    }

    /// A key was pressed in the terminal: a countdown ends.
    pub(super) fn terminal_input(&mut self, cx: &mut Cx) {
        match self.agent.activity {
            Activity::Countdown { .. } => self.wait_for_user(cx),
            Activity::Idle | Activity::Working | Activity::Waiting => {}
        }
    }

    /// A second of the countdown is over. The last one lasts while pi is busy, for example with a compaction.
    pub(super) fn timer(&mut self, id: u64, idle: bool, cx: &mut Cx) {
        let Activity::Countdown { seconds } = self.agent.activity else { return };
        if id != TIMER {
            return;
        }
        let seconds = seconds.saturating_sub(1).max(u32::from(!idle));
        if seconds > 0 {
            self.agent.activity = Activity::Countdown { seconds };
            cx.push(Effect::SetCountdown(Some(widget_line(seconds))));
            cx.push(Effect::StartTimer { id: TIMER, delay_ms: 1000 });
            return;
        }
        self.stop_countdown(cx);
        if let Some(reminder) = self.not_done() {
            self.continued(Origin::OwnUnreported);
            cx.prompt(reminder);
        }
    }
}

fn widget_line(seconds: u32) -> String {
    format!("⏳ Auto-continuing in {seconds}s... (type anything to interrupt)")
}
