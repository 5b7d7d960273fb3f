//! Texts about entries without the model.

use crate::definition::Step;
use crate::run::Active;

use super::exact::quoted;
use super::names::{phase_title, short_name};
use super::questions::{Dialog, GateSource, Question, consent_question_of};

/// Maximum length of a step's summary, in characters.
const MAX_SUMMARY: usize = 4000;

/// Returns the text that is shown while the command of a step runs.
pub fn step_progress(of: &str) -> String {
    format!("{} {}", Step::EMOJI, short_name(of))
}

/// Returns the summary of a step: the end of its output.
pub fn step_summary(output: &str) -> String {
    let output = output.trim();
    let from = output.chars().count().saturating_sub(MAX_SUMMARY);
    let end: String = output.chars().skip(from).collect();
    if end.is_empty() { "(no output)".to_owned() } else { end }
}

/// Returns why a step has failed: how its command ended, and the last line of its output.
pub fn step_failed(end: &str, output: &str) -> String {
    match output.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => format!("it failed, {end}: {}", line.trim()),
        None => format!("it failed, {end}"),
    }
}

/// Returns the refusal of a tool call while the run is at an entry without the model.
pub fn at_entry(active: &Active) -> String {
    let title = phase_title(active.phase);
    format!(
        "The workflow is at {title}, which it does without you. All tool calls are refused until it has moved on; only workflow_step with action='status' answers. Stop here and wait."
    )
}

/// Returns the context prompt for a message of the user while the run is at an entry without the model.
pub fn entry_prompt(active: &Active) -> String {
    let path = active.breadcrumb().join(" > ");
    format!(
        "[Workflow path: {path} ▸ {}]\n\n**Task:** {}\n\n{} Answer the message of the user without tools; the workflow is moved on by the user alone.",
        phase_title(active.phase),
        active.state.task_description,
        at_entry(active),
    )
}

/// Returns the question about the command of a step of a project or a package.
pub fn step_consent(
    of: &str,
    source: Option<&GateSource>,
    commands: &[String],
    dialog: Dialog,
) -> Question {
    let source = source.unwrap_or(&GateSource::Project);
    let name = match source {
        GateSource::Project => "project",
        GateSource::Package(_) => "package",
    };
    let first = format!("Allow {name} step {}?", quoted(of, 18));
    let runs = source.runs_step(&quoted(of, 18));
    consent_question_of(first, runs, source, commands, dialog)
}
