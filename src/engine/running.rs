//! The running tool calls. A phase is not left while one of its calls runs: that call would go on under the rules of
//! the next phase.

use serde_json::json;

use crate::protocol::STEP_TOOL_NAME;
use crate::run::PauseReason;
use crate::text;

use super::context::Cx;
use super::effect::{Effect, Reply};
use super::state::{Agent, Engine};
use super::step_tool::result;

/// Number of moves of the agent in one agent run that are refused while a tool call runs. The last refused move ends
/// the call and pauses the run.
const MAX_REFUSED: u32 = 10;

/// A tool call that has begun and not ended.
#[derive(Debug, Clone)]
pub struct RunningCall {
    /// pi's identifier.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The identifier of the call that made this call.
    pub parent: Option<String>,
    /// The tool only calls or finds other tools.
    pub carries_calls: bool,
}

/// The tools of these calls, except tools that only carry calls of others, the current call, and the calls that carry
/// the current call.
pub fn other_tools(mut calls: Vec<RunningCall>, at_hand: Option<String>) -> Vec<String> {
    let mut next = at_hand;
    while let Some(index) = next.take().and_then(|id| calls.iter().position(|call| call.id == id)) {
        next = calls.remove(index).parent;
    }
    calls.into_iter().filter(|call| !call.carries_calls).map(|call| call.name).collect()
}

impl Engine {
    /// Refuses the agent's move while another tool call runs. If that call did not end, the agent would repeat the move
    /// for ever: at the bound the call is ended, and the run pauses.
    pub(super) fn refuse_while_running(&mut self, cx: &mut Cx) -> Option<Reply> {
        self.run.active()?;
        let running = running(cx);
        if running.is_empty() {
            return None;
        }
        self.agent.refused_moves += 1;
        if self.agent.refused_moves < MAX_REFUSED {
            let details = json!({ "active": true, "running": running });
            return Some(result(text::still_running(&running), details));
        }
        self.agent.refused_moves = 0;
        match self.run.pause_reason() {
            // The pause may need more than a message of the user.
            Some(_) => self.agent.end_run(),
            None => {
                self.agent.stop_running_calls(cx);
                self.pause(PauseReason::Running, cx);
            }
        }
        let details = json!({ "active": true, "running": running, "paused": true });
        Some(result(text::paused(&self.run.active()?)?, details))
    }
}

impl Agent {
    /// Aborts the agent if one of its tool calls runs, which ends the calls. Returns true if the agent is aborted now,
    /// or was aborted for an earlier move and is not at rest yet: its calls may have ended already.
    pub fn stop_running_calls(&mut self, cx: &mut Cx) -> bool {
        self.is_stopping |= self.activity.is_working() && !running(cx).is_empty();
        if self.is_stopping {
            cx.push(Effect::Abort);
        }
        self.is_stopping
    }
}

/// The tools whose calls run, except `workflow_step`: a call of it waits for an answer, which has its own rules.
pub(super) fn running(cx: &mut Cx) -> Vec<String> {
    let running = cx.host.running_tools().map(Some);
    let mut running = cx.unless_gone(running).unwrap_or_default();
    running.retain(|name| name != STEP_TOOL_NAME);
    running
}
