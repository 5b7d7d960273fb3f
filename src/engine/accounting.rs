//! The usage of a run: tokens, cost, tool calls and time of each phase.

use crate::run::RunState;

use super::context::Cx;
use super::effect::Reply;
use super::state::Engine;

impl Engine {
    /// Returns the state with the usage since the newest state entry.
    pub(super) fn with_usage(&mut self, new: RunState, cx: &mut Cx) -> RunState {
        let before = self.run.state().filter(|before| before.task_id == new.task_id);
        self.meter.count(new, before, self.activity.working_since(), cx)
    }

    /// Returns the run in progress with its usage up to now.
    pub(super) fn up_to_now(&self, cx: &mut Cx) -> Option<RunState> {
        Some(self.meter.up_to_now(self.run.state()?, self.activity.working_since(), cx))
    }

    /// Notes the beginning of a dialog that a tool call waits for.
    pub(super) fn begin_dialog(&mut self, reply: &Reply, cx: &Cx) {
        if let Reply::Ask { ticket, .. } = reply
            && self.pending.is_dialog_of_call(*ticket)
        {
            self.meter.begin_dialog(*ticket, cx.unix_ms);
        }
    }
}
