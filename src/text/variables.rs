//! Values of the variables of templates.

use std::borrow::Cow;

use crate::definition::{Entry, Library, ToolPolicy, ValueName, Workflow};
use crate::protocol::STEP_TOOL_NAME;
use crate::run::{Active, RunState};

use super::outputs::output_text;
use super::results;
use super::task::task;

/// Replacement for a missing value, such as a summary or a list of profiles.
pub(super) const NONE: &str = "(none)";

/// Returns the value of a variable of the text of a phase, in a template of the workflow at this depth.
pub(super) fn phase_variable<'a>(name: &str, active: &Active<'a>, depth: usize) -> Option<Cow<'a, str>> {
    let entry_name = |entry: Option<&'a Entry>, none: &'static str| {
        Cow::Borrowed(entry.map_or(none, |entry| active.library.entry_name(entry)))
    };
    Some(match name {
        "workflowName" => Cow::Borrowed(&active.root.name),
        "workflowKey" => Cow::Borrowed(&active.state.workflow_key),
        "description" => task(active.state),
        "taskId" => Cow::Borrowed(&active.state.task_id),
        "phaseId" => Cow::Borrowed(&active.phase.id),
        "phaseName" => Cow::Borrowed(&active.phase.name),
        "previousPhaseName" => entry_name(active.previous(), "(start)"),
        "nextPhaseName" => entry_name(active.next(), "DONE"),
        "blockedToolsList" => match &active.phase.tools {
            ToolPolicy::Except(refused) if !refused.is_empty() => Cow::Owned(refused.join(", ")),
            _ => NONE.into(),
        },
        "toolName" => STEP_TOOL_NAME.into(),
        "breadcrumbPath" => Cow::Owned(active.breadcrumb().join(" > ")),
        "globalStepCount" => Cow::Owned(active.state.global_step_count.to_string()),
        _ => run_variable(name, active.state, depth, active.library)?,
    })
}

/// Returns the value of a variable that names an input, an output, an outcome or a summary: `input.NAME`,
/// `output.ID.NAME`, `outcome.ID`, `previousSummary` or `summary.ID`. `None` for any other name, and for an input or a
/// phase that does not exist.
///
/// `depth` is the depth of the workflow that has the template, from 1 for the root. An input is an input of this
/// workflow; the phases of this workflow come before the phases of the workflows around it.
pub(super) fn run_variable<'a>(
    name: &str,
    state: &'a RunState,
    depth: usize,
    library: &Library,
) -> Option<Cow<'a, str>> {
    let root = library.get(&state.current_path.first()?.workflow_key)?;
    let summary = match name.strip_prefix("summary.") {
        None if name == "previousSummary" => results::previous(state).map(Cow::Borrowed),
        None => return value_variable(name, state, depth, library),
        Some(id) => match state.value(&ValueName::Summary(id.to_owned()), depth, library) {
            None if !library.entries(root).any(|entry| entry.is_called(id)) => return None,
            found => found.map(|summary| Cow::Owned(output_text(&summary))),
        },
    };
    Some(summary.unwrap_or(Cow::Borrowed(NONE)))
}

fn is_step(entry: &Entry, id: &str) -> bool {
    entry.as_phase().is_some_and(|phase| phase.id == *id && phase.step().is_some())
}

/// Returns the value of a variable that names any value but a summary, as [`run_variable`] does.
pub(super) fn value_variable(
    name: &str,
    state: &RunState,
    depth: usize,
    library: &Library,
) -> Option<Cow<'static, str>> {
    let name = ValueName::parse(name).ok()?;
    // The innermost workflow around the template, with its depth, that has such an entry.
    let find =
        |has: &dyn Fn(&Workflow) -> bool| (1..=depth).rev().find(|depth| state.scope(*depth, library).is_some_and(has));
    let depth = match &name {
        ValueName::Output { phase, name } => find(&|scope| library.output(scope, phase, name).is_some())?,
        ValueName::Outcome(id) => {
            find(&|scope| library.entries_of_file(scope).iter().any(|of| of.entry.is_called(id)))?
        }
        ValueName::Log(id) => find(&|scope| library.entries_of_file(scope).iter().any(|of| is_step(of.entry, id)))?,
        ValueName::Summary(_) | ValueName::Task => return None,
        ValueName::Input(_)
        | ValueName::Item
        | ValueName::ItemField(_)
        | ValueName::ItemNumber
        | ValueName::ItemCount
        | ValueName::RunDir
        | ValueName::WorkflowDir => depth,
    };
    let value = match &name {
        ValueName::Log(id) => state.log(id, library),
        _ => state.value(&name, depth, library),
    };
    match (value, &name) {
        (Some(value), _) => Some(Cow::Owned(output_text(&value))),
        (None, ValueName::Input(name)) => state.scope(depth, library)?.input(name).map(|_| Cow::Borrowed(NONE)),
        // The record lacks an optional field; other names are no variables.
        (None, ValueName::ItemField(_)) => {
            find(&|scope| library.type_of(scope, &name).is_some()).map(|_| Cow::Borrowed(NONE))
        }
        (None, _) => Some(Cow::Borrowed(NONE)),
    }
}
