//! Names and tasks where there is room for one short line: the status bar, notices, questions.

use crate::definition::{Phase, short};
use crate::run::{MAX_TASK, RunState};

/// Maximum length of a name on such a line, in characters.
const MAX_NAME: usize = 100;
/// Maximum length of a task on such a line, in characters.
const MAX_SHORT_TASK: usize = 200;

/// The name of a workflow or a phase.
pub fn short_name(name: &str) -> String {
    short(name, MAX_NAME)
}

/// A phase with its emoji.
pub fn phase_title(phase: &Phase) -> String {
    format!("{} {}", short_name(&phase.emoji), short_name(&phase.name))
}

/// The task of a run.
pub fn short_task(state: &RunState) -> String {
    short(&state.task_description, MAX_SHORT_TASK)
}

/// Refusal of a task of this length, in characters.
pub fn task_too_long(length: usize) -> String {
    format!(
        "The task has {length} characters; at most {MAX_TASK} are kept with a run, so nothing was started. Write it to a file, and name the file in the task."
    )
}
