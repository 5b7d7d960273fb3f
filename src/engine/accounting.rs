//! What a run takes: tokens, cost, tool calls and time, for each phase.
//!
//! The session has it all: pi stores the usage of each answer. A state entry holds the sums up to it, so what comes behind
//! the newest state entry is all that is to be added, also after a crash or a move in the session's tree.

use crate::run::RunState;
use crate::usage::Usage;

use super::context::Cx;
use super::state::Engine;

impl Engine {
    /// Returns the state with what was used since the newest state entry.
    pub(super) fn with_usage(&mut self, new: RunState, cx: &mut Cx) -> RunState {
        let refusals = std::mem::take(&mut self.agent.refusals);
        let Some(old) = self.run.state().filter(|old| old.task_id == new.task_id) else {
            return new;
        };
        // A state entry of the same event is appended only after it.
        if std::mem::replace(&mut cx.accounted, true) {
            return new;
        }
        new.with_usage(old, &used(refusals, cx))
    }

    /// Returns the run in progress with all that it took up to now.
    pub(super) fn up_to_now(&self, cx: &Cx) -> Option<RunState> {
        let state = self.run.state()?;
        Some(state.clone().with_usage(state, &used(self.agent.refusals, cx)))
    }
}

/// What was used since the newest state entry.
fn used(refusals: u32, cx: &Cx) -> Usage {
    let used = cx.files.usage_since_state().unwrap_or_default();
    Usage { refusals, ..used }
}
