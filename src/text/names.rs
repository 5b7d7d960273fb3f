//! Names and tasks shortened to one line, for the status bar, notices and questions.

use crate::definition::{Phase, Workflow, short};
use crate::run::MAX_TASK;

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 100;

/// Returns the name of a workflow or a phase on one line.
pub fn short_name(name: &str) -> String {
    short(name, MAX_NAME)
}

/// Returns the origin of a workflow: its package, or its folder.
pub fn origin(workflow: &Workflow) -> String {
    match workflow.package() {
        Some(package) => format!("package {package}"),
        None => workflow.folder.clone(),
    }
}

pub fn phase_title(phase: &Phase) -> String {
    format!("{} {}", short_name(&phase.emoji), short_name(&phase.name))
}

/// Returns the refusal of a task of this length in characters.
pub fn task_too_long(length: usize) -> String {
    format!(
        "The task has {length} characters; at most {MAX_TASK} are kept with a run, so nothing was started. Write it to a file, and name the file in the task."
    )
}
