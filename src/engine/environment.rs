//! The variables of the environment of a command of the run.

use crate::definition::{Command, ValueName, Variable};
use crate::run::Active;
use crate::text;

/// The variables of a command, each with its value or the reason why the run lacks it.
pub(super) type Planned = Vec<(String, Result<String, &'static str>)>;

/// Maximum length of a value in the environment, in bytes: Linux bounds a variable by 128 KiB.
const MAX_VARIABLE: usize = 100_000;

/// The environment of a command, made of its planned variables.
///
/// # Errors
///
/// The reason in words, if the run lacks a value, or a value cannot be part of an environment.
pub(super) fn checked_env(planned: &[(String, Result<String, &str>)]) -> Result<Vec<(String, String)>, String> {
    let mut env = Vec::new();
    for (name, value) in planned {
        let value = value.as_ref().map_err(|why| format!("{name} has no value: {why}"))?;
        env.push((name.clone(), value.clone()));
        if value.contains('\0') {
            return Err(format!("the value of {name} has a NUL character"));
        }
        if value.len() > MAX_VARIABLE {
            return Err(format!("the value of {name} is longer than {MAX_VARIABLE} bytes"));
        }
    }
    Ok(env)
}

/// The variables of a command of the current phase, with their values. A value that the run lacks
/// is empty, with three exceptions, which are errors: the paths of folders, because a command would take an empty path for
/// the root, and the whole task.
pub(super) fn environment(command: &Command, active: &Active) -> Planned {
    if command.env().is_empty() {
        return Vec::new();
    }
    let Active { state, library, .. } = *active;
    let depth = state.current_path.len();
    let value = |name: &ValueName| state.value(name, depth, library).map(|value| value.text().into_owned());
    let variables = command.env().iter();
    let given = |of: &Variable| match &of.value {
        ValueName::RunDir => value(&of.value).ok_or(text::NO_RUN_DIR),
        ValueName::WorkflowDir => value(&of.value).filter(|path| !path.is_empty()).ok_or(text::NO_WORKFLOW_DIR),
        ValueName::Task => value(&of.value).ok_or(text::NO_WHOLE_TASK),
        other => Ok(value(other).unwrap_or_default()),
    };
    variables.map(|of| (of.name.clone(), given(of))).collect()
}
