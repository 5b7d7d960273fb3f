//! A command of the run, and the variables of its environment.

use std::iter::once;

use crate::definition::{Agreement, BoundValue, Command, ValueName, Variable};
use crate::run::Active;
use crate::text;

use super::effect::{OutputFile, Request};

/// Maximum length of a value in the environment, in bytes: Linux bounds a variable by 128 KiB.
const MAX_VARIABLE: usize = 100_000;

/// A command that is to run, as it was when the run came to its gate or step: the files may change meanwhile.
#[derive(Debug)]
pub(super) struct OpenCommand {
    pub command: Command,
    /// In milliseconds.
    timeout_ms: u32,
    /// `None` if the command runs without a question.
    pub source: Option<text::GateSource>,
    /// The words for the `scripts/` of its workflow in a consent.
    scripts: Option<String>,
    /// Its variables, each with its value or the reason why the run lacks it.
    env: Vec<(String, Result<String, &'static str>)>,
}

impl OpenCommand {
    /// A command of the current phase, with its line.
    pub fn of(command: Command, timeout: &BoundValue<u32>, active: &Active) -> Self {
        Self {
            timeout_ms: active.state.time_limit(timeout, active.library),
            source: text::GateSource::of_command(&command, active.scope),
            scripts: text::scripts_to_allow(active.scope),
            env: environment(&command, active),
            command,
        }
    }

    /// The texts that the user must agree to.
    pub fn agreements(&self) -> impl Iterator<Item = Agreement<'_>> {
        let scripts = self.scripts.as_deref().map(Agreement::of_files);
        once(self.command.agreement()).chain(scripts).filter(|_| self.source.is_some())
    }

    /// The request that runs the command.
    ///
    /// # Errors
    ///
    /// The reason in words, if the run lacks a value, or a value cannot be part of an environment (it has a NUL character,
    /// or more than [`MAX_VARIABLE`] bytes).
    pub fn request(&self, progress: String, apart: bool, output_file: Option<OutputFile>) -> Result<Request, String> {
        let command = self.command.line().to_owned();
        if command.is_empty() {
            return Err(text::NO_COMMAND.to_owned());
        }
        let mut env = Vec::new();
        for (name, value) in &self.env {
            let value = value.as_ref().map_err(|why| format!("{name} has no value: {why}"))?;
            if value.contains('\0') {
                return Err(format!("the value of {name} has a NUL character"));
            }
            if value.len() > MAX_VARIABLE {
                return Err(format!("the value of {name} is longer than {MAX_VARIABLE} bytes"));
            }
            env.push((name.clone(), value.clone()));
        }
        Ok(Request::Exec { command, env, timeout_ms: self.timeout_ms, progress, apart, output_file })
    }
}

/// The variables of a command of the current phase, with their values. A value that the run lacks
/// is empty, with three exceptions, which are errors: the paths of folders, because a command would take an empty path for
/// the root, and the whole task.
fn environment(command: &Command, active: &Active) -> Vec<(String, Result<String, &'static str>)> {
    let Active { state, library, .. } = *active;
    let depth = state.current_path.len();
    let value = |name: &ValueName| state.value(name, depth, library).map(|value| value.text().into_owned());
    let given = |of: &Variable| match &of.value {
        ValueName::RunDir => value(&of.value).ok_or(text::NO_RUN_DIR),
        ValueName::WorkflowDir => value(&of.value).filter(|path| !path.is_empty()).ok_or(text::NO_WORKFLOW_DIR),
        ValueName::Task => value(&of.value).ok_or(text::NO_WHOLE_TASK),
        other => Ok(value(other).unwrap_or_default()),
    };
    command.env().iter().map(|of| (of.name.clone(), given(of))).collect()
}
