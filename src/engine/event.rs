//! What comes in.

use std::fmt;

use crate::run::{RunState, Unusable};
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
#[allow(clippy::large_enum_variant, reason = "an event is made and used up at once")]
pub enum Event<'a> {
    /// A session is there: started, moved to another branch, or found again after a trap.
    Session {
        /// The run that its entries tell of; see [`crate::run::restore`].
        stored: Option<RunState>,
        /// The newest context prompt that the model still has in view, where that is certain.
        in_view: Option<String>,
        /// What holds for the whole session.
        facts: Facts,
    },
    /// The session ends. Its timers are stopped already.
    SessionShutdown {
        /// Whether there is a user interface.
        has_ui: bool,
    },
    /// A prompt was given.
    Input {
        /// By a user, not by an extension in a user's place.
        from_user: bool,
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
    /// The model or another tool calls a tool.
    ToolCall {
        /// Its name.
        name: &'a str,
        /// Set for a tool that only calls or finds other tools; each of those calls is an event of its own.
        carries_calls: bool,
    },
    /// The model calls `workflow_step`.
    Step {
        /// The arguments, any JSON.
        input: &'a str,
        /// Set if another tool makes the call: the model does not see the result.
        nested: bool,
    },
    /// The user runs a command.
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
        /// That of [`Reply::Ask`](super::Reply::Ask); of anything else that was asked, nothing follows.
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
    /// The user stopped it.
    Aborted,
    /// The model failed.
    Failed,
}

/// What holds for a whole session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Whether there is a user interface.
    pub has_ui: bool,
    /// The project's directory.
    pub project: String,
    /// Whether the user gave the flag by which the commands of a project's workflows run without a
    /// question.
    pub allow_commands: bool,
    /// Whether the user interface is a terminal.
    pub terminal: bool,
    /// Whether the user has the panel on; see [`PANEL_ENTRY_TYPE`](super::PANEL_ENTRY_TYPE).
    pub panel: bool,
    /// Why what the session stores is no run, if it is beyond the bounds of what is read.
    pub unusable: Option<Unusable>,
    /// Set while the agent is at work: the component may be started again in the middle of its run.
    pub at_work: bool,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandEnd {
    /// With this exit status.
    Exited(u32),
    /// It took too long, and was stopped.
    TimedOut,
    /// The user stopped it.
    Cancelled,
    /// It did not begin, for this reason.
    NotStarted(String),
}

impl fmt::Display for CommandEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(127) => f.write_str("exit status 127 (there is no such command)"),
            Self::Exited(status) => write!(f, "exit status {status}"),
            Self::TimedOut => f.write_str("it took too long and was stopped"),
            Self::Cancelled => f.write_str("it was stopped"),
            Self::NotStarted(why) => write!(f, "it did not start: {why}"),
        }
    }
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The user said yes or no.
    Confirmed(bool),
    /// The user chose the option of this index.
    Selected(usize),
    /// The user wrote this.
    Entered(String),
    /// A command ended.
    Ran {
        /// How.
        end: CommandEnd,
        /// After so many milliseconds.
        duration_ms: u64,
        /// The end of what it wrote, plain text.
        output: String,
    },
    /// What is remembered under each key.
    Recalled(Vec<Option<String>>),
    /// The user gave no answer.
    Cancelled,
    /// Nobody was there to answer, or it must not be done.
    NoUi,
}
