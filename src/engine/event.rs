//! Events, and answers to requests.

use std::fmt;

use crate::run::{Mark, Pick, RunState};
use crate::text::DefaultRole;
use crate::usage::Usage;

use super::pace::Pace;

/// An event: something that happened in pi.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "an event is made and used up at once")]
pub enum Event<'a> {
    /// A session started, moved to another branch, or begins again after a trap.
    Session {
        /// The run that its entries store; see [`crate::run::restore`].
        stored: Option<RunState>,
        /// The newest context prompt that the model still has in view, where that is certain.
        in_view: Option<String>,
        /// Facts that hold for the whole session.
        facts: Facts,
    },
    /// The session ends. Its timers are stopped already.
    SessionShutdown,
    /// A prompt was given.
    Input {
        /// The user gave it, not an extension.
        from_user: bool,
    },
    /// A key was pressed in the terminal.
    TerminalInput {
        /// The key is pi's interrupt key.
        interrupts: bool,
    },
    /// The agent is about to run.
    BeforeAgentStart {
        /// The agent's role where the workflow does not say it.
        role: DefaultRole,
    },
    /// The conversation was compacted.
    Compacted,
    /// The agent's role where the workflow does not say it.
    Role(DefaultRole),
    /// A message in the user's role has reached the agent.
    MessageStart {
        /// The user gave it, not an extension, as far as that is certain.
        from_user: bool,
    },
    /// The agent runs.
    AgentStart,
    /// A turn begins: a request to the model follows.
    TurnStart,
    /// A turn is over: an answer of the model, and its tool calls.
    TurnEnd {
        /// The user has queued a message, which the agent gets next.
        queued: bool,
        /// The calls of the answer, with their results. Without calls the agent stops by itself.
        calls: &'a [EndedCall],
    },
    /// The agent has stopped; pi may start it again by itself.
    AgentEnd {
        /// The end of its last turn.
        stop: Stop,
    },
    /// The agent has stopped, and comes to rest unless it is told to continue.
    BeforeSettle,
    /// The agent is at rest.
    AgentSettled,
    /// The model or another tool calls a tool.
    ToolCall {
        /// The tool's name.
        name: &'a str,
        /// The tool only calls or finds other tools; each carried call is an event of its own.
        carries_calls: bool,
    },
    /// The model or another tool calls `workflow_step`.
    Step {
        /// The arguments, any JSON.
        input: &'a str,
        /// Another tool makes the call: the model does not see the result.
        nested: bool,
    },
    /// The model or another tool calls `workflow_propose`; the fields are as above.
    Propose { input: &'a str, nested: bool },
    /// The user runs a command.
    Command {
        /// Its name, without the slash.
        name: &'a str,
        /// The text behind the name.
        arguments: &'a str,
    },
    /// A pending request was answered.
    Answer {
        /// The ticket of [`Reply::Ask`](super::Reply::Ask); an unknown ticket has no effect.
        ticket: u64,
        /// The answer.
        answer: Answer,
    },
    /// A model was selected, or a thinking level.
    Select {
        /// The part that was selected.
        pick: Pick,
        /// The engine set it.
        own: bool,
    },
    /// A child did something, or ended.
    Child {
        /// Its state.
        report: ChildReport,
        /// The end of the child; `None` while the child works.
        ended: Option<ChildEnd>,
    },
    /// The host has begun the view of [`Effect::BeginView`](super::Effect::BeginView).
    ViewBegun {
        /// The first entry of the session in the view, if there is one.
        first_kept: Option<String>,
    },
    /// The session did not take a state entry.
    NotStored {
        /// The entry was the newest; otherwise, later entries of the same effects were not appended either.
        is_newest: bool,
    },
    /// The system slept, the process was stopped, or the clock was changed.
    TimeSkipped {
        /// The milliseconds that the clock went on without work; 0 if it went back.
        ms: u64,
    },
    /// A timer ran out.
    Timer {
        /// The id of [`Effect::StartTimer`](super::Effect::StartTimer).
        id: u64,
        /// pi takes a prompt now.
        idle: bool,
    },
}

impl Event<'_> {
    /// Returns true if the state that lasts for one turn of the agent is over.
    pub(super) fn begins_turn(&self) -> bool {
        matches!(
            self,
            Self::Session { .. }
                | Self::SessionShutdown
                | Self::BeforeAgentStart { .. }
                | Self::TurnEnd { .. }
                | Self::AgentSettled
        )
    }
}

/// A tool call of the model that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedCall {
    /// The tool's name.
    pub name: String,
    /// A hash of the tool, the arguments and the result: calls with the same hash are the same call with the same
    /// result.
    pub hash: u64,
    /// The call was refused, by this extension or by pi.
    pub refused: bool,
    /// The time that the call took, in milliseconds.
    pub duration_ms: u64,
    /// The answer with the call was cut off at the model's output limit: pi makes none of its calls.
    pub cut_off: bool,
}

/// The end of the agent's last turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stop {
    /// The model finished the turn.
    #[default]
    Completed,
    /// The answer was cut off at the model's output limit.
    CutOff,
    /// The user stopped the agent.
    Aborted,
    /// The model failed.
    Failed,
}

impl Stop {
    /// Returns true if the agent has stopped by itself.
    pub(super) fn is_of_agent(self) -> bool {
        match self {
            Self::Completed | Self::CutOff => true,
            Self::Aborted | Self::Failed => false,
        }
    }
}

/// Facts that hold for a whole session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The project's directory.
    pub project: String,
    /// The user gave [`ALLOW_COMMANDS_FLAG`](super::ALLOW_COMMANDS_FLAG).
    pub allow_commands: bool,
    /// The user gave [`ALLOW_INPUTS_FLAG`](super::ALLOW_INPUTS_FLAG).
    pub allow_inputs: bool,
    /// The commands that the user had allowed in the session of a child's parent when the child started, and the values of
    /// [`ALLOW_VALUES_FLAG`](super::ALLOW_VALUES_FLAG). A consent that is given in the child does not reach the parent.
    pub allowed: Vec<String>,
    /// The value of [`BUDGET_FLAG`](super::BUDGET_FLAG); `None` without it.
    pub budget: Option<String>,
    /// The value of [`ACCEPT_RULES_FLAG`](super::ACCEPT_RULES_FLAG).
    pub accept_rules: Option<String>,
    /// The value of [`MORE_FLAG`](super::MORE_FLAG).
    pub more: Option<String>,
    /// The value of [`WAIT_FLAG`](super::WAIT_FLAG); `None` without it.
    pub wait: Option<String>,
    /// The value of [`SILENCE_FLAG`](super::SILENCE_FLAG); `None` without it.
    pub silence: Option<String>,
    /// The bounds of automatic continuation.
    pub pace: Pace,
    /// The panel is on; see [`PANEL_ENTRY_TYPE`](crate::protocol::PANEL_ENTRY_TYPE).
    pub panel: bool,
    /// The place of the newest entry of the stored run.
    pub mark: Mark,
    /// The agent is at work: the component may be restarted in the middle of its run.
    pub at_work: bool,
    /// The program that watches the run.
    pub watching: Watching,
    /// An earlier instance of the component has trapped.
    pub restarted: bool,
    /// The session is the same as before: the user has gone to another place in its tree.
    pub same_session: bool,
}

/// The events of a run that a watching program gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Watching {
    /// No program watches.
    #[default]
    Off,
    /// All events, without texts of the user, of models and of commands.
    Names,
    /// All events, with their texts.
    Texts,
}

/// The end of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandEnd {
    /// The command ended with this exit status.
    Exited(u32),
    /// The command was stopped at its time limit.
    TimedOut,
    /// The user stopped the command.
    Cancelled,
    /// The command did not start, for this reason.
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

/// The state of a child.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChildReport {
    /// Its key.
    pub key: String,
    /// The file of its session; `None` if it is not stored.
    pub session: Option<String>,
    /// The newest state entry of its session, JSON.
    pub newest: Option<String>,
    /// Its usage since that entry.
    pub usage: Usage,
    /// The tool that it called last, with the beginning of an argument.
    pub last_call: Option<String>,
}

/// The end of a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChildEnd {
    /// Its agent is at rest.
    Settled,
    /// The child was aborted.
    Aborted,
    /// The child could not be started, or broke, for this reason.
    Failed(String),
}

/// Answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The user's yes or no.
    Confirmed(bool),
    /// The index of the option that the user chose.
    Selected(usize),
    /// The text that the user entered.
    Entered(String),
    /// The result of a command.
    Ran(Ran),
    /// No child works.
    ChildrenEnded,
    /// The user gave no answer, or the request was cancelled.
    Cancelled,
    /// There is no user interface, or the host may not fulfil the request.
    NoUi,
}

impl Answer {
    /// The index of the option that the user chose.
    pub(super) fn chosen(&self) -> Option<usize> {
        match self {
            Self::Selected(index) => Some(*index),
            _ => None,
        }
    }

    /// The user's answer to [`Request::yes_or_no`](super::Request::yes_or_no); anything but a yes counts as no. `None`
    /// if nobody can be asked.
    pub(super) fn yes(&self) -> Option<bool> {
        match self {
            Self::NoUi => None,
            Self::Selected(1) | Self::Confirmed(true) => Some(true),
            _ => Some(false),
        }
    }

    /// The text that the user entered.
    pub(super) fn entered(self) -> Option<String> {
        match self {
            Self::Entered(text) => Some(text),
            _ => None,
        }
    }

    /// The result of a command.
    ///
    /// # Errors
    ///
    /// The command was stopped, or the host may not run commands.
    pub(super) fn ran(self) -> Result<Ran, NotRun> {
        match self {
            Self::Ran(Ran { end: CommandEnd::Cancelled, .. }) | Self::Cancelled => Err(NotRun::Stopped),
            Self::Ran(ran) => Ok(ran),
            _ => Err(NotRun::NotHere),
        }
    }

    /// Returns true if the host has children.
    pub(super) fn has_children(&self) -> bool {
        matches!(self, Self::ChildrenEnded | Self::Cancelled)
    }
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// Its end.
    pub end: CommandEnd,
    /// Its duration, in milliseconds.
    pub duration_ms: u64,
    /// The end of its output, plain text.
    pub output: String,
    /// The bytes of its output that `output` lacks.
    pub cut_bytes: u64,
    /// Its standard output as it is, if it was asked for and is not too long.
    pub standard_output: Option<String>,
    /// The path of the file with its whole output, or the reason why the file is missing; `None` without output, or if
    /// no file was asked for.
    pub output_file: Option<Result<String, String>>,
}

/// The reason why a command has no result.
pub(super) enum NotRun {
    Stopped,
    NotHere,
}
