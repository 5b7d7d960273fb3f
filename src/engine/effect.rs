//! What goes out.

use serde_json::Value;

/// Something to be done. The order of effects is that in which they are to be done.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Effect {
    /// Append a custom entry to the session.
    AppendEntry {
        /// Its type.
        custom_type: &'static str,
        /// Its data.
        data: Value,
    },
    /// Prompt the agent in the user's place; after its work, if it is at work.
    SendUserMessage(String),
    /// Tell the agent something before its next request.
    Steer(String),
    /// Tell the agent its phase again, before its next request.
    Brief(String),
    /// Whether the model is to get the newest context prompt only, or all that it was given.
    KeepNewestContext(bool),
    /// Give up what was asked for by [`Reply::Ask`]: an answer comes as if the user had done so.
    Withdraw {
        /// That of the question.
        ticket: u64,
    },
    /// Keep a value beyond the session, outside the project.
    Remember {
        /// Its key.
        key: String,
        /// The value.
        value: String,
    },
    /// The exit status of a process that ends with its prompt.
    SetExitCode(u8),
    /// Name the session.
    SetSessionName(String),
    /// Set or clear the text in the status bar.
    SetStatus(Option<String>),
    /// Set or clear the line above the editor.
    SetCountdown(Option<String>),
    /// Set or clear the panel above the editor.
    SetPanel(Option<Vec<String>>),
    /// Show a notice.
    Notify {
        /// How urgent it is.
        level: Level,
        /// What it says.
        text: String,
    },
    /// Call for [`Event::Timer`](super::Event::Timer) after a while.
    StartTimer {
        /// Which one; a running one of this id is replaced.
        id: u64,
        /// The while, in milliseconds.
        delay_ms: u32,
    },
    /// Stop a timer.
    StopTimer {
        /// Which one.
        id: u64,
    },
    /// Begin or end to tell of keys pressed in the terminal.
    WatchTerminal(bool),
}

/// How urgent a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// It is worth knowing.
    Info,
    /// Something is not as it should be.
    Warning,
    /// Something did not work.
    Error,
}

/// The answer to the event itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Reply {
    /// None is needed.
    #[default]
    None,
    /// The tool call is refused, for this reason.
    Block(String),
    /// The agent is told this with the run, and the user does not see it.
    Inject {
        /// The message's type.
        custom_type: &'static str,
        /// What it says.
        content: String,
    },
    /// The agent is told this, and goes on at once.
    Continue(String),
    /// The tool's result.
    Tool(ToolResult),
    /// The command is done when the agent has come to rest.
    Settle,
    /// Something of the user or the host is needed first.
    Ask {
        /// Comes back with the answer.
        ticket: u64,
        /// What is needed.
        request: Request,
    },
}

/// What the user or the host is asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Yes or no.
    Confirm {
        /// The question's title.
        title: String,
        /// Its text.
        message: String,
    },
    /// One of a few.
    Select {
        /// The question.
        title: String,
        /// What there is to choose from.
        options: Vec<String>,
    },
    /// A line of text.
    Input {
        /// The question.
        title: String,
    },
    /// The end of a command, run by the shell in the project's directory.
    Exec {
        /// The command line.
        command: String,
        /// After how many milliseconds it is stopped.
        timeout_ms: u32,
        /// What is shown while it runs.
        progress: String,
    },
    /// What [`Effect::Remember`] kept, at once.
    Recall {
        /// The keys.
        keys: Vec<String>,
    },
}

/// The result of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// What the model reads.
    pub text: String,
    /// Data for the session.
    pub details: Value,
}

/// What is to be done after an event.
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use]
pub struct Output {
    /// First these, in order.
    pub effects: Vec<Effect>,
    /// Then this answer.
    pub reply: Reply,
}

impl Output {
    /// One effect, no answer.
    pub fn effect(effect: Effect) -> Self {
        vec![effect].into()
    }

    /// An answer, no effects.
    pub fn reply(reply: Reply) -> Self {
        Self { effects: Vec::new(), reply }
    }

    /// The same effects with an answer.
    pub fn with(self, reply: Reply) -> Self {
        Self { reply, ..self }
    }
}

impl From<Vec<Effect>> for Output {
    fn from(effects: Vec<Effect>) -> Self {
        Self { effects, reply: Reply::None }
    }
}
