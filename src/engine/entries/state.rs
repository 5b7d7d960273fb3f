//! An entry without the model that is being worked through.

use serde_json::Value;

use crate::definition::{Answer, Command};
use crate::run::Active;
use crate::text;

use crate::engine::OutputFile;
use crate::engine::environment::{Planned, checked_env, environment};
use crate::engine::state::Waiter;
use crate::engine::state::place::Stand;

/// The call or the command that has brought the run to an entry without the model. It is answered when the run has left
/// the last of these entries, or pauses at an entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    pub waiter: Waiter,
    /// The events so far, for the agent.
    pub told: Vec<String>,
    /// The prompts that the agent gets at the end.
    pub prompts: Vec<String>,
    /// The details of the result of a call.
    pub details: Value,
}

/// A step whose command is to run, or runs, as it was when the run arrived: the files may change meanwhile.
#[derive(Debug)]
pub struct OpenStep {
    /// The name of the entry.
    pub of: String,
    pub command: Command,
    /// In milliseconds.
    pub timeout_ms: u32,
    pub has_outputs: bool,
    /// The file for its output.
    pub output_file: OutputFile,
    /// `None` for the user's own workflows, whose commands run without a question.
    pub source: Option<text::GateSource>,
    pub passage: Passage,
    pub stand: Stand,
    env: Planned,
}

/// A question that the user is asked, as it was when the run arrived.
#[derive(Debug)]
pub struct OpenQuestion {
    /// The question, with the values of its variables.
    pub text: String,
    pub answers: Vec<Answer>,
    /// The name of the entry.
    pub of: String,
    pub passage: Passage,
    pub stand: Stand,
}

/// A parallel group whose branches are to work, or work, as it was when the run arrived.
#[derive(Debug)]
pub struct OpenGroup {
    pub passage: Passage,
    pub stand: Stand,
}

impl OpenGroup {
    /// The parallel group at which the run is; `None` at any other entry.
    pub fn at(active: &Active, passage: &Passage) -> Option<Self> {
        active.state.parallel_group(active.library)?;
        Some(Self { passage: passage.clone(), stand: Stand::at(active.state, passage.waiter) })
    }
}

impl OpenQuestion {
    /// The question at which the run is; `None` at any other entry.
    pub fn at(active: &Active, passage: &Passage) -> Option<Self> {
        let question = active.phase.question()?;
        let depth = active.state.current_path.len();
        Some(Self {
            text: text::in_words(&question.text, active, depth),
            answers: question.answers.clone(),
            of: active.phase.name.clone(),
            passage: passage.clone(),
            stand: Stand::at(active.state, passage.waiter),
        })
    }
}

impl OpenStep {
    /// The step at which the run is; `None` at any other entry.
    pub fn at(active: &Active, passage: &Passage) -> Option<Self> {
        let step = active.phase.step()?;
        Some(Self {
            of: active.phase.name.clone(),
            command: step.command.clone(),
            timeout_ms: step.timeout_ms,
            has_outputs: !active.phase.outputs.is_empty(),
            output_file: OutputFile { key: active.state.task_id.clone(), name: text::output_file_name(active) },
            source: text::GateSource::of(active.scope),
            passage: passage.clone(),
            stand: Stand::at(active.state, passage.waiter),
            env: environment(&step.command, active, active.state.current_path.len()),
        })
    }

    /// The variables of the command, with their values.
    ///
    /// # Errors
    ///
    /// The reason, in words, if a value cannot be part of an environment.
    pub fn env(&self) -> Result<Vec<(String, String)>, String> {
        checked_env(&self.env)
    }
}
