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
use super::state::{Agent, AgentOf, Engine, Run};
use super::step_tool::{held_text, status};

impl Agent {
    /// Restores the end of the agent's run when the session begins: the run of the workflow may have ended in the
    /// run of the agent that is at work. After a trap of the component in the middle of the agent's run, this is not
    /// known and is assumed. The agent of a branch that has ended gets no other prompt.
    pub fn restore_end(&mut self, run: &Run, restarted: bool) {
        let Some(state) = run.state().filter(|state| !state.is_running()) else { return };
        let of = AgentOf::run(state);
        if !of.is_prompted_again || restarted && self.activity.is_working() {
            self.ending.run_ended(of);
        }
    }

    /// Drops the end of the agent's run where the run of the workflow goes on.
    pub fn forget_end(&mut self, run: &Run) {
        if self.ending.is_begun() && run.pause_reason().is_none() && run.held().is_none() {
            self.ending.end_pause();
        }
    }
}

impl Engine {
    /// Refuses a tool call if the agent's run ends. A call for the status gets it in the refusal.
    pub(super) fn stop_at_end(&mut self, name: &str, cx: &Cx) -> Option<Reply> {
        if !self.agent.ending.is_begun() {
            return None;
        }
        if is_for_status(name, cx) {
            return Some(Reply::Stop(status(&self.run).0));
        }
        let action = action_of(name, cx);
        let (rule, text) = match self.run.held() {
            Some(reason) => (Rule::Seal, held_text(&action, reason, &self.run)),
            None => (Rule::Pause, text::paused(&self.run.active()?)?),
        };
        Some(self.stop(rule, text))
    }

    /// Refuses a tool call by this rule, counts it, and ends the agent's run.
    pub(super) fn stop(&mut self, rule: Rule, text: impl Into<String>) -> Reply {
        self.agent.end_run();
        self.meter.refused(rule);
        Reply::Stop(text.into())
    }
}

/// Refuses a tool call behind the end of a run. A call for the status gets it in the refusal.
pub(super) fn refuse_behind_end(name: &str, run: &Run, cx: &Cx) -> Reply {
    Reply::Stop(if is_for_status(name, cx) { status(run).0 } else { text::BEHIND_END.into() })
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
