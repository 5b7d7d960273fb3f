//! Effects and replies.

use serde_json::Value;

use crate::definition::{Model, ModelSetting, Thinking};
use crate::run::Active;
use crate::text::{self, Title};

/// Something to be done. Effects are performed in their order.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Effect {
    /// Appends a custom entry to the session.
    AppendEntry {
        /// Its type.
        custom_type: &'static str,
        /// Its data.
        data: Value,
    },
    /// Writes the session's file, if pi has not written it yet.
    WriteSession,
    /// Gives the claim of the session back, after the entries of this event.
    ReleaseClaim {
        /// No run is left that another process could go on with.
        is_over: bool,
    },
    /// Prompts the agent in the user's place; after its work, if it is at work.
    SendUserMessage(String),
    /// Tells the agent something before its next request to the model.
    Steer(String),
    /// Tells the agent, which has just started, something with its first request to the model.
    TellAtStart(String),
    /// Gives the agent the context prompt before its next request to the model.
    Brief(String),
    /// Cancels a pending request; it resumes as [`Answer::Cancelled`](super::Answer::Cancelled).
    CancelRequest {
        /// The ticket of [`Reply::Ask`].
        ticket: u64,
    },
    /// Aborts the agent.
    Abort,
    /// Registers `workflow_propose` with this description, or registers it anew.
    OfferTool(String),
    /// Sets the tools that the model is shown.
    SetActiveTools(Vec<String>),
    /// Begins a new view of the conversation: until the turn that follows ends, the model is sent this text and what is
    /// added to the session from now on.
    BeginView(Summary),
    /// Sets the model; the thinking level is then pi's level for this model.
    SetModel(Model),
    /// Sets the thinking level, after the model.
    SetThinking(Thinking),
    /// Stores a value beyond the session, outside the project.
    Remember {
        /// Its key.
        key: String,
        /// The value.
        value: String,
    },
    /// Sets the exit status of a process that ends with its prompt.
    SetExitCode(u8),
    /// Names the session.
    SetSessionName(String),
    /// Sets or clears the text in the status bar.
    SetStatus(Option<String>),
    /// Sets or clears the countdown above the editor.
    SetCountdown(Option<String>),
    /// Sets or clears the panel above the editor.
    SetPanel(Option<Vec<String>>),
    /// Shows a notice.
    Notify {
        /// Its level.
        level: Level,
        /// Its text.
        text: String,
    },
    /// Starts a timer that ends with [`Event::Timer`](super::Event::Timer).
    StartTimer {
        /// Its id; a running timer of this id is replaced.
        id: u64,
        /// Its duration, in milliseconds.
        delay_ms: u32,
    },
    /// Like [`Self::StartTimer`], but the delay begins anew with each new output of the agent.
    StartTimerAtSilence {
        /// Its id.
        id: u64,
        /// The delay, in milliseconds.
        delay_ms: u32,
    },
    /// Begins or ends to report [`Event::TimeSkipped`](super::Event::TimeSkipped).
    WatchClock(bool),
    /// Stops a timer.
    StopTimer {
        /// Its id.
        id: u64,
    },
    /// Runs a command of this extension as if the user had given it, behind this event.
    RunCommand {
        /// Its name.
        name: &'static str,
        /// The text behind the name.
        arguments: &'static str,
    },
    /// Starts a child. [`Event::Child`](super::Event::Child) reports the child.
    StartChild(Box<ChildStart>),
    /// Aborts a child, if it works.
    AbortChild {
        /// Its key.
        key: String,
    },
    /// Sets the text that is shown while [`Request::Children`] is pending.
    ShowChildren(String),
    /// Begins or ends to report keys that are pressed in the terminal.
    WatchTerminal(bool),
    /// Shows that pi waits for the user, with the reason; `None` shows that pi does not wait.
    SetBlocked(Option<String>),
    /// Gives a line to the program that watches the run.
    TellWatcher(String),
    /// Gives a line to a program of the user's, unless the user is there.
    RunProgram {
        /// The kind of the line.
        kind: &'static str,
        /// The program and its arguments.
        program: Vec<String>,
        /// The line; empty if the program only is to stay as it is.
        line: String,
    },
}

/// A child to be started.
#[derive(Debug, Clone, PartialEq)]
pub struct ChildStart {
    /// Its key.
    pub key: String,
    /// The words with which its dialogs and notices begin.
    pub label: String,
    /// The file of the session that the child continues; `None` for a new session.
    pub session: Option<String>,
    /// The entries of a new session: types and data.
    pub entries: Vec<(&'static str, Value)>,
    /// The prompt with which its agent begins.
    pub prompt: String,
    /// Its model and thinking level at the beginning; `None` for the setting of this session.
    pub setting: Option<ModelSetting>,
    /// Its active tools; `None` for the tools of this session.
    pub tools: Option<Vec<String>>,
    /// The commands that the user has allowed for the session or the run; a child has them in memory only.
    pub allowed: Vec<String>,
}

/// A text and images for the model in place of earlier messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its text.
    pub text: String,
    /// The ids of the user's messages whose images follow it.
    pub images_of: Vec<String>,
}

/// Level of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Worth knowing.
    Info,
    /// Something needs attention.
    Warning,
    /// Something failed.
    Error,
}

/// The reply to the event itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Reply {
    /// The event goes on as without the engine.
    #[default]
    None,
    /// The tool call is refused, for this reason.
    Block(String),
    /// The tool call is refused, for this reason; the agent's run ends with the tool calls of its turn if all of them
    /// are refused with `Stop`.
    Stop(String),
    /// The tool call is allowed within limits.
    Confine {
        /// The files and directories that may be written; see [`Permission`](crate::definition::Permission).
        writable: Vec<String>,
        /// The files and directories that cannot be read or written; see [`Permission`](crate::definition::Permission).
        hidden: Vec<String>,
        /// pi's agent folder stays as it is, also in a writable directory.
        keeps_agent_folder: bool,
        /// Absolute paths of folders that stay as they are, also in a writable directory.
        kept: Vec<String>,
        /// Commands have the network.
        network: bool,
        /// Appended to the result of a command that fails because of these limits.
        notice: String,
        /// Parts of the output of such a command, in lower case.
        signs: Vec<&'static str>,
    },
    /// The prompt reaches nobody.
    Drop,
    /// A message that goes to the model with the agent's run, not shown to the user.
    Inject {
        /// Its type.
        custom_type: &'static str,
        /// Its text.
        content: String,
    },
    /// A message with which the agent continues at once.
    Continue(String),
    /// At the end of a turn, or before the agent comes to rest: a compaction. Entries of the same output are appended
    /// after it.
    Compact {
        /// Its summary.
        summary: Summary,
        /// The first entry of the session that is kept, if the host has begun the view of [`Effect::BeginView`].
        first_kept: Option<String>,
        /// The context prompt with which the agent continues; nothing else is kept. `None` if the view is kept.
        prompt: Option<String>,
    },
    /// The tool's result.
    Tool(ToolResult),
    /// The tool's result, with which the agent's run ends.
    LastTool(ToolResult),
    /// The command ends when the agent is at rest.
    Settle,
    /// The reply needs an answer of the user or the host first.
    Ask {
        /// Comes back in [`Event::Answer`](super::Event::Answer).
        ticket: u64,
        /// The request.
        request: Request,
    },
}

impl Reply {
    /// Returns the reply if it refuses or confines a tool call, and otherwise [`Reply::None`]. A refusal or limits hold
    /// even when the session is gone.
    pub fn restriction(self) -> Self {
        match self {
            Self::Block(_) | Self::Stop(_) | Self::Confine { .. } => self,
            _ => Self::None,
        }
    }
}

/// A request to the user or the host.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// A dialog for yes or no.
    Confirm {
        /// Its title.
        title: Title,
        /// Its text.
        message: String,
    },
    /// A dialog to choose an option.
    Select {
        /// Its title.
        title: Title,
        /// The options.
        options: Vec<String>,
    },
    /// A dialog for a line of text.
    Input {
        /// Its title.
        title: Title,
    },
    /// A command, run by the shell in the project's directory.
    Exec {
        /// The command line.
        command: String,
        /// Variables of its environment, with their values, which have no NUL.
        env: Vec<(String, String)>,
        /// Its time limit, in milliseconds.
        timeout_ms: u32,
        /// The text that is shown while it runs.
        progress: String,
        /// Its standard output is returned apart from standard error.
        apart: bool,
        /// The file for its whole output.
        output_file: Option<OutputFile>,
    },
    /// A wait until no child works.
    Children {
        /// The text that is shown meanwhile, until [`Effect::ShowChildren`].
        progress: String,
    },
}

impl Request {
    /// A question for yes or no: in a terminal a choice, elsewhere a confirmation. The choice offers no first: a key
    /// that was meant for the editor chooses the first option.
    pub(super) fn yes_or_no(request: YesOrNo) -> Self {
        match request {
            YesOrNo::Choice { title, no, yes } => Self::Select { title, options: vec![no.into(), yes.into()] },
            YesOrNo::Confirmation { title, message } => Self::Confirm { title: Title::new(title, ""), message },
        }
    }

    /// Returns true if the user has a dialog for the request.
    pub(super) fn is_for_user(&self) -> bool {
        match self {
            Self::Confirm { .. } | Self::Select { .. } | Self::Input { .. } => true,
            Self::Exec { .. } | Self::Children { .. } => false,
        }
    }
}

/// A question for yes or no.
pub(super) enum YesOrNo {
    /// A choice, in a terminal.
    Choice { title: Title, no: &'static str, yes: &'static str },
    /// A confirmation, in a program.
    Confirmation { title: &'static str, message: String },
}

/// A file for the whole output of a command, in the folder of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// The key of the folder.
    pub key: String,
    /// The beginning of its name, as the interface allows it.
    pub name: String,
}

impl OutputFile {
    /// A file for a command of the phase at which the run is.
    pub fn of(active: &Active) -> Self {
        Self { key: active.state.task_id.clone(), name: text::output_file_name(active) }
    }
}

/// The result of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The text for the model.
    pub text: String,
    /// Data for the session.
    pub details: Value,
}

/// The result of an event.
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use]
pub struct Output {
    /// Performed first, in order.
    pub effects: Vec<Effect>,
    /// Returned after the effects.
    pub reply: Reply,
}
