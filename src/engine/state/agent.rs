//! The state of the agent, and the state of its turn.

use crate::engine::event::Stop;
use crate::run::RunState;

#[derive(Debug, Default)]
pub struct Agent {
    /// The origin of the prompt that the agent works on, or worked on last.
    pub origin: Origin,
    /// Since its prompt the agent did more than talk and ask for status.
    pub worked: bool,
    /// The agent's last action was a first call of `cancel`. Never stored.
    pub cancel_asked: bool,
    /// The moves in this agent run that were refused while a tool call ran.
    pub refused_moves: u32,
    /// The end of its last turn.
    pub last_stop: Stop,
    /// The agent is about to start: other extensions may delay the start, and a prompt would not begin another run.
    pub is_starting: bool,
    /// The agent was aborted for a move of the user, which ends its tool calls, and is not at rest yet.
    pub is_stopping: bool,
    /// The prompt for the agent when it is at rest, to go on in another phase.
    pub prompt_at_rest: Option<String>,
}

/// Origin of a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Origin {
    /// The user or another extension.
    #[default]
    Other,
    /// The engine, which has sent a prompt to continue that pi has not reported yet.
    OwnUnreported,
    /// The engine: the agent continues automatically.
    Own,
}

/// State that lasts for one turn of the agent; a new turn is `Turn::default()`.
#[derive(Debug, Default)]
pub struct Turn {
    /// A gate was already checked for the agent: a second `next` in the same turn comes too early.
    pub gate_checked: bool,
    /// The run before the agent's first move in this answer: the calls behind it were meant for the phase that was
    /// left.
    pub left: Option<RunState>,
}
