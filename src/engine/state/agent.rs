//! The state of the agent, and of one turn of it.

use crate::engine::event::Stop;

/// The agent of the session.
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
    /// It was aborted for a move of the user, which ends its tool calls, and is not at rest yet.
    pub is_stopping: bool,
    /// Prompts it when it is at rest: it goes on in another phase.
    pub prompt_at_rest: Option<String>,
    /// The messages in the user's role that were given while it works, and that it has not got.
    pub queue: Queue,
}

/// Messages in the user's role that wait for the agent: pi says that one of them has reached it, and not which.
#[derive(Debug, Default)]
pub struct Queue {
    of_user: u32,
    of_others: u32,
}

impl Queue {
    /// A message waits.
    pub fn push(&mut self, from_user: bool) {
        let count = if from_user { &mut self.of_user } else { &mut self.of_others };
        *count = count.saturating_add(1);
    }

    /// A message has reached the agent. Returns true if it is certainly one of the user.
    pub fn pop(&mut self) -> bool {
        if let Some(rest) = self.of_others.checked_sub(1) {
            self.of_others = rest;
            return false;
        }
        let rest = self.of_user.checked_sub(1);
        self.of_user = rest.unwrap_or(0);
        rest.is_some()
    }

    /// Returns true if a message of the user waits.
    pub fn has_users(&self) -> bool {
        self.of_user > 0
    }
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
}
