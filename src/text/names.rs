//! Names and tasks shortened to one line, for the status bar, notices and questions.

use crate::definition::{Phase, Workflow, short, with_emoji};

/// Maximum length of a name, in characters.
pub(super) const MAX_NAME: usize = 100;

/// Returns the name of a workflow or a phase on one line.
pub fn short_name(name: &str) -> String {
    short(name, MAX_NAME)
}

/// Returns the first names, at most this number, and the number of the other names.
pub(super) fn first_of(names: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let more = match names.len().saturating_sub(most) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.take(most).collect::<Vec<_>>().join(", ") + &more
}

/// Returns the origin of a workflow: its package, or its folder.
pub fn origin(workflow: &Workflow) -> String {
    match workflow.package() {
        Some(package) => format!("package {package}"),
        None => workflow.folder.clone(),
    }
}

pub fn phase_title(phase: &Phase) -> String {
    with_emoji(&short_name(&phase.emoji), &short_name(&phase.name))
}
