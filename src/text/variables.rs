//! Values of the variables of templates.

use std::borrow::Cow;

use crate::definition::{Entry, Library, ToolPolicy, ValueName, Workflow};
use crate::protocol::STEP_TOOL_NAME;
use crate::run::{Active, RunState};

use super::inputs::value_text;
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
    if let Some(value) = value_variable(name, state, depth, library) {
        return Some(value);
    }
    let root = library.get(&state.current_path.first()?.workflow_key)?;
    let summary = match name.strip_prefix("summary.") {
        None if name == "previousSummary" => results::previous(state),
        None => return None,
        Some(id) => match results::summary_of(state, id, library) {
            None if !library.entries(root).any(|entry| entry.is_called(id)) => return None,
            found => found,
        },
    };
    Some(Cow::Borrowed(summary.unwrap_or(NONE)))
}

/// Returns the value of a variable that names an input, an output, an outcome or the folder of the run, as
/// [`run_variable`] does.
pub(super) fn value_variable<'a>(
    name: &str,
    state: &'a RunState,
    depth: usize,
    library: &Library,
) -> Option<Cow<'a, str>> {
    if name == ValueName::RUN_DIR {
        return Some(Cow::Borrowed(state.run_dir_path().unwrap_or(NONE)));
    }
    if ["item", "itemNumber", "itemCount"].contains(&name) {
        let value = state.item(depth, library).map(|item| match name {
            // The item is not known yet: the list has no text for it.
            "item" if item.text.is_empty() => NONE.to_owned(),
            "item" => item.text,
            "itemNumber" => item.number.to_string(),
            _ => item.count.to_string(),
        });
        return Some(value.map_or(Cow::Borrowed(NONE), Cow::Owned));
    }
    if let Some(name) = name.strip_prefix("input.") {
        let value = state.inputs(depth, library).remove(name);
        let path = state.current_path.at_depth(depth);
        let workflow = path.last().and_then(|segment| library.get(&segment.workflow_key));
        let input = workflow.and_then(|workflow| workflow.inputs.iter().find(|i| i.name == name));
        return match (input, value) {
            (Some(input), Some(value)) => Some(Cow::Owned(value_text(&input.kind, value))),
            (None, value) => value.map(Cow::Owned),
            // A nested workflow has begun without the output that gives the input.
            (Some(_), None) => Some(Cow::Borrowed(NONE)),
        };
    }
    // The innermost workflow around the template, with its depth, that has such an entry.
    let find = |has: &dyn Fn(&Workflow) -> bool| {
        (1..=depth).rev().find(|depth| {
            let segment = state.current_path.get(depth - 1);
            segment.and_then(|segment| library.get(&segment.workflow_key)).is_some_and(has)
        })
    };
    if let Some(of) = name.strip_prefix("output.") {
        // The id of a phase may have dots.
        let (id, name) = of.rsplit_once('.')?;
        let depth = find(&|workflow| library.output(workflow, id, name).is_some())?;
        let value = state.output(depth, (id, name), library);
        return Some(value.map_or(Cow::Borrowed(NONE), |value| Cow::Owned(output_text(value))));
    }
    let id = name.strip_prefix("outcome.")?;
    let depth = find(&|workflow| library.entries_of_file(workflow).iter().any(|of| of.entry.is_called(id)))?;
    Some(Cow::Borrowed(state.outcome(depth, id, library).unwrap_or(NONE)))
}
