//! Notifications outside of pi: a run waits or has ended. Each text begins with words of this program, so that no
//! program takes the text for an option or a file when it gets the text as an argument.

use crate::definition::{Diagnostic, Library, on_one_line};
use crate::run::{Active, RunState, cut};

use super::names::phase_title;
use super::pause::run_name;

/// Maximum length of a text, in characters.
const MAX_TEXT: usize = 200;

/// A notification: its title and its text, each one line without control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    pub title: String,
    pub text: String,
}

/// Returns the notification of a run that waits, for this reason.
pub fn run_waits(state: &RunState, library: &Library, reason: &str) -> Notification {
    let phase = Active::resolve(state, library).map(|active| phase_title(active.phase));
    let place = phase.map_or_else(|| "Paused".to_owned(), |phase| format!("In {phase}"));
    notification(state, library, "waits for you", &format!("{place}: {reason}"))
}

/// Returns the notification of a run that has ended: it is done, or an outcome has stopped it.
pub fn run_ended(state: &RunState, library: &Library, is_done: bool) -> Notification {
    let how = if is_done { "is done" } else { "was stopped" };
    notification(state, library, how, &format!("Task: {}", state.task_description))
}

fn notification(state: &RunState, library: &Library, how: &str, text: &str) -> Notification {
    let title = format!("Workflow {} {how}", run_name(state, library));
    Notification { title: line(&title), text: line(text) }
}

fn line(text: &str) -> String {
    cut(&on_one_line(text), MAX_TEXT)
}

/// Returns the warning that a `notify.yaml` has no effect because of this error.
pub fn unusable_notifications(problem: &Diagnostic) -> String {
    let (place, message) = (problem.location(), problem.message());
    format!("You are not notified outside of pi: {place}: {message}")
}
