//! An entry without the model that is being worked through.

use serde_json::Value;

use crate::definition::{self, Answer};
use crate::run::Active;
use crate::text;

use crate::engine::OutputFile;
use crate::engine::consent::Unallowed;
use crate::engine::environment::OpenCommand;
use crate::engine::state::{Place, Waiter};

/// The reply to the call or the command that has brought the run to an entry without the model. The reply stays open
/// until the run has left the last of these entries, or pauses at an entry.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenReply {
    pub waiter: Waiter,
    /// The events so far, for the agent.
    pub told: Vec<String>,
    /// The prompts that the agent gets at the end.
    pub prompts: Vec<String>,
    /// The details of the result of a call.
    pub details: Value,
}

impl OpenReply {
    /// The reply to a command of the user, without anything to tell yet.
    pub fn to_user() -> Self {
        Self { waiter: Waiter::User, told: Vec::new(), prompts: Vec::new(), details: Value::Null }
    }

    /// Returns the reply with another event for the agent.
    pub fn with(mut self, told: String) -> Self {
        self.told.push(told);
        self
    }
}

/// An entry without the model that is to be worked through, as it was when the run arrived: the files may change
/// meanwhile.
#[derive(Debug)]
pub struct OpenEntry {
    pub reply: OpenReply,
    /// The visit of the entry.
    pub place: Place,
    /// The name of the entry.
    pub of: String,
    pub work: Work,
}

/// The work of an entry without the model.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a run has at most one")]
pub enum Work {
    /// A command is to run, or runs.
    Step(OpenStep),
    /// The user is to be asked, or is asked.
    Question {
        /// The question, with the values of its variables.
        text: String,
        answers: Vec<Answer>,
    },
    /// The branches of a parallel group are to be worked on.
    Branches,
}

#[derive(Debug)]
pub struct OpenStep {
    pub run: OpenCommand,
    pub has_outputs: bool,
    /// The file for its output.
    pub output_file: OutputFile,
}

/// A request of an entry without the model.
#[derive(Debug)]
pub enum EntryAsked {
    /// The consent to the command of a step.
    Consent(Unallowed),
    /// The result of the command of a step.
    Command,
    /// The user's answer to the question.
    Question,
    /// The text behind this answer to the question.
    Text(Answer),
    /// The end of all branches.
    Branches,
}

impl OpenEntry {
    /// The entry at which the run is; `None` at a phase of the agent.
    pub fn at(active: &Active, reply: OpenReply) -> Option<Self> {
        let work = match &active.phase.work {
            definition::Work::Agent => return None,
            definition::Work::Run(step) => Work::Step(OpenStep {
                run: OpenCommand::of(text::with_value(&step.command, active), &step.timeout, active),
                has_outputs: !active.phase.outputs.is_empty(),
                output_file: OutputFile::of(active),
            }),
            definition::Work::Ask(_) => {
                let question = active.question()?;
                let text = text::in_words(&question.text, active);
                Work::Question { text, answers: question.answers }
            }
            definition::Work::Branches => Work::Branches,
        };
        Some(Self { reply, place: Place::of(active.state), of: active.phase.name.clone(), work })
    }
}
