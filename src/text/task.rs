//! The task of a run, and texts about long ones.

use std::borrow::Cow;

use crate::run::{MAX_WHOLE_TASK, RunDir, RunState, TASK_FILE};

/// The reason for a value of a run whose session lacks its whole task.
pub const NO_WHOLE_TASK: &str = "the session does not have the whole task";

/// Returns the task for the agent and in messages; for a long task its beginning, and the file with the whole task.
pub fn task(state: &RunState) -> Cow<'_, str> {
    let Some(long) = &state.progress().long_task else { return Cow::Borrowed(&state.task_description) };
    let length = long.length;
    let place = match &state.progress().run_dir {
        Some(dir) => format!("The whole task is in {}/{TASK_FILE}: read that file first.", RunDir::shown(dir)),
        None => "The file with the whole task cannot be written.".to_owned(),
    };
    Cow::Owned(format!(
        "{}…\n\n[This is the beginning of the task, which has {length} characters. {place}]",
        state.task_description
    ))
}

/// Returns the refusal of a task of this length in bytes.
pub fn task_too_long(length: usize) -> String {
    format!(
        "The task has {length} bytes; at most {MAX_WHOLE_TASK} can be, so nothing was started. Write it to a file, and name the file in the task."
    )
}
