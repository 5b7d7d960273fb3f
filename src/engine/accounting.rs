//! The usage of a run: tokens, cost, tool calls and time of each phase.
//!
//! The session has it: pi stores the usage of each answer. A state entry holds the sums up to it, so what comes behind
//! the newest state entry is all that is to be added, also after a crash or a move in the session's tree.

use crate::run::RunState;
use crate::usage::Usage;

use super::context::Cx;
use super::effect::Reply;
use super::state::Engine;

impl Engine {
    /// Returns the state with what was used since the newest state entry.
    pub(super) fn with_usage(&mut self, new: RunState, cx: &mut Cx) -> RunState {
        let Some(old) = self.run.state().filter(|old| old.task_id == new.task_id) else {
            self.count_anew(cx);
            self.run.is_past = false;
            return new;
        };
        // A state entry of the same event is appended only after it.
        let new = if cx.accounted { new } else { new.with_usage(old, &self.unaccounted(cx)) };
        cx.accounted = true;
        self.count_anew(cx);
        new
    }

    /// Returns the run in progress with all that it took up to now.
    pub(super) fn up_to_now(&self, cx: &mut Cx) -> Option<RunState> {
        let state = self.run.state()?;
        if cx.accounted {
            return Some(state.clone());
        }
        Some(state.clone().with_usage(state, &self.unaccounted(cx)))
    }

    /// The usage since the newest state entry.
    fn unaccounted(&self, cx: &mut Cx) -> Usage {
        if self.run.is_past || cx.gone {
            return Usage::default();
        }
        let answer = cx.files.usage_since_state().map(Some);
        let (mut used, newest) = cx.unless_gone(answer).unwrap_or_default();
        if let Some(newest) = newest {
            let since = cx.unix_ms.saturating_sub(newest);
            let work = if self.agent.is_working() {
                since.min(cx.unix_ms.saturating_sub(self.agent.working_since))
            } else {
                0
            };
            used.work_ms = used.work_ms.saturating_add(work);
            used.wait_ms = used.wait_ms.saturating_add(since.saturating_sub(work));
        }
        used.add(&self.agent.noted);
        let open = self.agent.dialog.map_or(0, |(_, since)| cx.unix_ms.saturating_sub(since));
        used.wait_ms = used.wait_ms.saturating_add(open);
        // Of the time of the call that waited for a dialog, or waits for it.
        let waited = self.agent.noted.wait_ms.saturating_add(open);
        used.work_ms = used.work_ms.saturating_sub(waited);
        used
    }

    /// Begins to count anew: a state of the run has what was noted up to now.
    fn count_anew(&mut self, cx: &Cx) {
        self.agent.noted = Usage::default();
        if let Some((_, since)) = &mut self.agent.dialog {
            *since = cx.unix_ms;
        }
    }

    /// Counts the time of a dialog that a tool call waited for, before its answer is handled.
    pub(super) fn end_dialog(&mut self, ended: u64, cx: &Cx) {
        if let Some((_, since)) = self.agent.dialog.take_if(|(asked, _)| *asked == ended) {
            let waited = cx.unix_ms.saturating_sub(since);
            self.agent.noted.wait_ms = self.agent.noted.wait_ms.saturating_add(waited);
        }
    }

    /// Notes the beginning of a dialog that a tool call waits for.
    pub(super) fn begin_dialog(&mut self, reply: &Reply, cx: &Cx) {
        if let Reply::Ask { ticket, .. } = reply
            && self.pending.is_dialog_of_call(*ticket)
        {
            self.agent.dialog = Some((*ticket, cx.unix_ms));
        }
    }
}
