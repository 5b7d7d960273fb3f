//! What comes in.

use crate::run::RunState;
use crate::text::DefaultRole;

/// The time and the luck of one event.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moment {
    /// Milliseconds since 1970.
    pub unix_ms: u64,
    /// 64 random bits.
    pub random: u64,
}

/// Something that happened.
#[derive(Debug, Clone)]
pub enum Event<'a> {
    /// A session is there: started, moved to another branch, or found again after a trap.
    Session {
        /// The run that its entries tell of; see [`crate::run::restore`].
        stored: Option<RunState>,
        /// The newest context prompt that the model still has in view, where that is certain.
        in_view: Option<String>,
    },
    /// The session ends. Its timers are stopped already.
    SessionShutdown {
        /// Whether there is a user interface.
        has_ui: bool,
    },
    /// A prompt was given.
    Input {
        /// By a person, not by an extension in a person's place.
        from_person: bool,
    },
    /// A key was pressed in the terminal.
    TerminalInput,
    /// The agent is about to run.
    BeforeAgentStart {
        /// Which role the agent has where the workflow does not say it.
        role: DefaultRole,
    },
    /// The conversation was compacted.
    Compacted,
    /// Which role the agent has where the workflow does not say it.
    Role(DefaultRole),
    /// The agent runs.
    AgentStart,
    /// An answer of the model and its tool calls are done.
    TurnEnd,
    /// The agent has stopped; it may start again by itself.
    AgentEnd {
        /// How its last answer ended.
        stop: Stop,
    },
    /// The agent has stopped, and would be at rest if nobody wants it to go on.
    BeforeSettle {
        /// Whether there is a user interface.
        has_ui: bool,
    },
    /// The agent is at rest.
    AgentSettled {
        /// Whether there is a user interface.
        has_ui: bool,
    },
    /// The model calls a tool.
    ToolCall {
        /// Its name.
        name: &'a str,
    },
    /// The model calls `workflow_step`.
    Step {
        /// The arguments, any JSON.
        input: &'a str,
    },
    /// The person runs a command.
    Command {
        /// Its name, without the slash.
        name: &'a str,
        /// What stands behind it.
        arguments: &'a str,
        /// Whether there is a user interface.
        has_ui: bool,
    },
    /// A question was answered.
    Answer {
        /// That of [`Reply::Ask`](super::Reply::Ask).
        ticket: u64,
        /// What came of it.
        answer: Answer,
    },
    /// A timer ran out.
    Timer {
        /// That of [`Effect::StartTimer`](super::Effect::StartTimer).
        id: u64,
        /// Whether a prompt could be given now.
        idle: bool,
    },
}

/// How the agent's last answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stop {
    /// By itself.
    #[default]
    Completed,
    /// The person stopped it.
    Aborted,
    /// The model failed.
    Failed,
}

/// What came of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The person said yes or no.
    Confirmed(bool),
    /// The person gave no answer.
    Cancelled,
    /// Nobody was there to answer.
    NoUi,
}
