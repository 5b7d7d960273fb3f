//! The end of the agent's run when the run of the workflow pauses or ends.
//!
//! A refused call that leaves the agent's run as it is can be repeated for ever. So a pause ends the agent's run: every
//! tool call is refused so that a turn of refused calls is the last turn. If anything else keeps the agent going, say a
//! call of an unknown tool, the agent is aborted after one more answer of the model. A message of the user begins anew.
//!
//! **Invariant: behind the end of a run there are no rights.** However a run or a branch ends, every later tool call of
//! the agent's run for that run or branch is refused. A waiting message of the user gives the agent rights when the
//! message arrives; a message of an extension gives none.

pub(super) mod state;

use crate::protocol::STEP_TOOL_NAME;
use crate::text;
use crate::usage::Rule;

use super::context::Cx;
use super::effect::{Effect, Reply};
use super::state::Engine;

impl Engine {
    /// The run of the workflow is paused or held: the agent's run ends, if it is at work.
    pub(super) fn end_agents_run(&mut self) {
        if self.has_begun() {
            self.ending.begin();
        }
    }

    /// Restores the end of the agent's run when the session is taken up: the run of the workflow may have ended in the
    /// run of the agent that is at work. After a trap of the component in the middle of the agent's run, this is not
    /// known and is assumed. The agent of a branch that has ended gets no other prompt.
    pub(super) fn take_up_end(&mut self, restarted: bool) {
        let Some(state) = self.run.state().filter(|state| !state.is_running()) else { return };
        let of_branch = state.progress.branch.is_some();
        if of_branch || restarted && self.activity.is_working() {
            self.ending.run_ended(of_branch);
        }
    }

    /// Drops the end of the agent's run where the run of the workflow goes on.
    pub(super) fn forget_ending(&mut self) {
        if self.ending.is_begun() && self.pause_reason().is_none() && self.held().is_none() {
            self.ending.end_pause();
        }
    }

    /// Refuses a tool call behind the end of a run. A call for the status gets it in the refusal.
    pub(super) fn refuse_behind_end(&mut self, name: &str, cx: &Cx) -> Reply {
        if is_for_status(name, cx) { Reply::Stop(self.status().0) } else { Reply::Stop(text::BEHIND_END.into()) }
    }

    /// Refuses a tool call if the agent's run ends. A call for the status gets it in the refusal.
    pub(super) fn stop_at_end(&mut self, name: &str, cx: &Cx) -> Option<Reply> {
        if !self.ending.is_begun() {
            return None;
        }
        if is_for_status(name, cx) {
            return Some(Reply::Stop(self.status().0));
        }
        let action = action_of(name, cx);
        let (rule, text) = match self.held() {
            Some(reason) => (Rule::Seal, self.held_text(&action, &reason)),
            None => (Rule::Pause, text::paused(&self.active()?)?),
        };
        Some(self.stop(rule, text))
    }

    /// Refuses a tool call by this rule, counts it, and ends the agent's run.
    pub(super) fn stop(&mut self, rule: Rule, text: impl Into<String>) -> Reply {
        self.end_agents_run();
        self.meter.refused(rule);
        Reply::Stop(text.into())
    }
}

/// The user has ended the run while the agent works: the agent stops at once, unless a message waits for the agent:
/// pi would not deliver the message then.
pub(super) fn stop_behind_end(cx: &mut Cx) {
    if !cx.has_waiting_message() {
        cx.push(Effect::Abort);
    }
}

/// The action of a call of `workflow_step`; empty for other tools.
fn action_of(name: &str, cx: &Cx) -> String {
    let action = (name == STEP_TOOL_NAME).then(|| cx.host.call_argument("action").ok().flatten());
    action.flatten().unwrap_or_default()
}

fn is_for_status(name: &str, cx: &Cx) -> bool {
    action_of(name, cx) == "status"
}
