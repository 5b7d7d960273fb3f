//! The end of the agent's run when the run of the workflow pauses.
//!
//! A refused call that leaves the agent's run as it is can be repeated for ever. So a pause ends the agent's run: every
//! tool call is refused such that a turn of refused calls is the last one, and after one more answer of the model the
//! agent is aborted if anything else, say a call of an unknown tool, keeps it going. A message of the user begins anew.

use crate::protocol::STEP_TOOL_NAME;
use crate::text;
use crate::usage::Rule;

use super::context::Cx;
use super::effect::{Effect, Reply};
use super::state::Engine;

impl Engine {
    /// The run of the workflow is paused or held: the agent's run ends, if it is at work.
    pub(super) fn end_agents_run(&mut self) {
        if self.activity.is_working() {
            self.ending.begin();
        }
    }

    /// Drops the end of the agent's run where the run of the workflow goes on.
    pub(super) fn forget_ending(&mut self) {
        if self.ending.is_begun() && self.pause_reason().is_none() && self.held().is_none() {
            self.ending.forget();
        }
    }

    /// Refuses a tool call if the agent's run ends. A call for the status gets it in the refusal.
    pub(super) fn stop_at_end(&mut self, name: &str, cx: &Cx) -> Option<Reply> {
        if !self.ending.is_begun() {
            return None;
        }
        let action = match name {
            STEP_TOOL_NAME => cx.host.call_argument("action").ok().flatten(),
            _ => None,
        };
        let action = action.unwrap_or_default();
        if action == "status" {
            return Some(Reply::Stop(self.status().0));
        }
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

    /// A request to the model follows; there is none after the last answer.
    pub(super) fn turn_start(&mut self, cx: &mut Cx) {
        if self.ending.is_over() {
            cx.push(Effect::Abort);
        }
    }
}
