//! The end of a countdown, and the wait for the user where it was interrupted.

use super::context::Cx;
use super::state::{Engine, Origin};

impl Engine {
    /// Ends a countdown or a wait, and shows it.
    pub(super) fn end_rest(&mut self, cx: &mut Cx) {
        let waited = self.activity.is_waiting();
        self.activity.stop(cx);
        if waited {
            self.set_status(cx);
        }
    }

    /// Waits for the user, if the agent is at rest in a run that is not paused, and shows it.
    pub(super) fn wait_for_user(&mut self, cx: &mut Cx) {
        self.begin_wait(cx);
        if self.activity.is_waiting() {
            self.set_status(cx);
        }
    }

    /// Waits for the user, if the agent is at rest in a run that is not paused. The caller sets the status line.
    pub(super) fn begin_wait(&mut self, cx: &mut Cx) {
        self.activity.stop(cx);
        if self.active().is_some_and(|active| active.state.progress.paused.is_none()) {
            self.activity.wait();
        }
    }

    /// Sets the status line; an agent at rest waits for the user from now on.
    pub(super) fn wait_or_set_status(&mut self, cx: &mut Cx) {
        self.begin_wait(cx);
        self.set_status(cx);
    }

    /// A key was pressed in the terminal: a countdown ends.
    pub(super) fn terminal_input(&mut self, cx: &mut Cx) {
        if self.activity.is_counting_down() {
            self.wait_for_user(cx);
        }
    }

    /// A timer ran out: at the end of the countdown the agent is prompted, unless a late call has moved the run to a
    /// conversation meanwhile.
    pub(super) fn timer(&mut self, id: u64, idle: bool, cx: &mut Cx) {
        if !self.activity.tick(id, idle, cx) {
            return;
        }
        if self.active().is_some_and(|active| active.phase.interactive) {
            self.wait_for_user(cx);
        } else if let Some(reminder) = self.not_done() {
            self.continued(Origin::OwnUnreported);
            cx.prompt(reminder);
        }
    }
}
