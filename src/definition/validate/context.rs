//! Warnings about `context` and `results`, and about values that a phase never gets.

use std::cell::LazyCell;

use super::fuel::Fuel;
use crate::definition::diagnostic::{Anchored, PathPart, PhaseProblem, VariableProblem, WorkflowProblem};
use crate::definition::model::{ContextMode, Entry, EntryKind, Library, Outcome, Phase, Results, Workflow};
/// Reports phases that say `summary: optional` although the next one starts fresh, `results` of phases that come later,
/// and variables in texts that have no value.
pub(crate) fn report(library: &Library, fuel: &Fuel, anchored: &mut Vec<Anchored>) {
    for workflow in library.scopes() {
        fuel.begin([workflow]);
        left_out_values(workflow, library, fuel, anchored);
        // A reference from a branch to another branch is an error.
        let are_beside = workflow.has_branches_beside();
        if !are_beside {
            later_results(workflow, fuel, anchored);
            later_outputs(workflow, fuel, anchored);
        }
        if fuel.is_over() {
            anchored.push(Anchored::new(workflow, WorkflowProblem::UncheckedCalls, &[PathPart::Key("phases")]));
        }
        if are_beside {
            continue;
        }
        for entries in workflow.phases.windows(2) {
            let [before, next] = entries else { continue };
            let (Some(before), Some(next)) = (last(before, library), library.first_phase(std::slice::from_ref(next)))
            else {
                continue;
            };
            if next.context.or(workflow.context) == Some(ContextMode::Fresh) && before.summary_required == Some(false) {
                let problem = PhaseProblem::SummaryNeeded { next: next.id.clone() };
                anchored.push(Anchored::of_phase(before, problem, &[PathPart::Key("summary")]));
            }
        }
    }
}

/// Reports names in `results` of entries behind the phase, unless an outcome or a budget leads back to the phase.
fn later_results(workflow: &Workflow, fuel: &Fuel, anchored: &mut Vec<Anchored>) {
    for (own, phase) in workflow.phases.iter().enumerate() {
        let Some(phase) = phase.as_phase() else { continue };
        let Results::Of(names) = &phase.results else { continue };
        for (index, name) in names.iter().enumerate() {
            // Steps for the search of the entry, and for the targets of the entries behind it.
            if !fuel.spend(2 * workflow.phases.len()) {
                return;
            }
            let first = workflow.phases.iter().position(|entry| entry.is_called(name));
            if first.is_some_and(|first| first > own && !leads_back(workflow, first, own)) {
                let problem = PhaseProblem::LaterResults { name: name.clone() };
                let at = [PathPart::Key("results"), PathPart::Item(index)];
                anchored.push(Anchored::of_phase(phase, problem, &at));
            }
        }
    }
}

/// Reports variables in the texts of phases for what the `results` of the phase leave out of the summaries, the outputs
/// and the logs of its file.
fn left_out_values(workflow: &Workflow, library: &Library, fuel: &Fuel, anchored: &mut Vec<Anchored>) {
    let entries = LazyCell::new(|| library.entries_of_file(workflow));
    for phase in workflow.phases.iter().filter_map(Entry::as_phase) {
        let Results::Of(results) = &phase.results else { continue };
        if !fuel.spend_on(&phase.instructions) {
            return;
        }
        for name in names_in(&phase.instructions) {
            let of_text = name.strip_prefix("summary.").or_else(|| name.strip_prefix("log."));
            let Some(id) = of_text.or_else(|| phase_of_output(name)) else { continue };
            if !fuel.spend(2 * entries.len()) {
                return;
            }
            let Some(named) = entries.iter().find(|of| of.entry.is_called(id)) else { continue };
            let mut around = entries.iter().filter(|of| named.at.starts_with(&of.at));
            if !around.any(|of| results.iter().any(|result| of.entry.is_called(result))) {
                let problem = VariableProblem::LeftOut { name: name.to_owned() };
                anchored.push(Anchored::of_phase(phase, problem, &[PathPart::Key("results")]));
            }
        }
    }
}

/// Reports variables in the texts of phases for outputs of entries behind the phase, if no outcome and no budget leads
/// back from there to the phase.
fn later_outputs(workflow: &Workflow, fuel: &Fuel, anchored: &mut Vec<Anchored>) {
    for (own, phase) in workflow.phases.iter().enumerate() {
        let Some(phase) = phase.as_phase() else { continue };
        if !fuel.spend_on(&phase.instructions) {
            return;
        }
        for name in names_in(&phase.instructions) {
            let Some(of) = phase_of_output(name) else { continue };
            if !fuel.spend(2 * workflow.phases.len()) {
                return;
            }
            let first = workflow.phases.iter().position(|entry| entry.is_called(of));
            if first.is_some_and(|first| first > own && !leads_back(workflow, first, own)) {
                let problem = VariableProblem::LaterOutput { name: name.to_owned() };
                anchored.push(Anchored::of_phase(phase, problem, &[PathPart::Key("id")]));
            }
        }
    }
}

/// Returns the ID of `output.ID.NAME`.
fn phase_of_output(name: &str) -> Option<&str> {
    Some(name.strip_prefix("output.")?.rsplit_once('.')?.0)
}

/// Returns the names in braces in a text, each once, in alphabetical order.
pub(super) fn names_in(text: &str) -> Vec<&str> {
    let mut names: Vec<&str> = text.split('{').skip(1).filter_map(|behind| Some(behind.split_once('}')?.0)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns true if an outcome or a budget of the entries from `first` on leads to the entry at `to` or to one before
/// it.
fn leads_back(workflow: &Workflow, first: usize, to: usize) -> bool {
    let mut entries = workflow.phases.iter().enumerate().skip(first);
    entries.any(|(index, entry)| {
        let leads = |outcome: &Outcome| {
            let mut targets = outcome.targets().filter_map(|target| workflow.target(index, target));
            targets.any(|target| target <= to)
        };
        let over_budget = entry.as_phase().and_then(|phase| phase.on_budget.as_ref());
        let over_budget = over_budget.and_then(|target| workflow.target(index, target));
        entry.outcomes().iter().any(leads) || over_budget.is_some_and(|target| target <= to)
    })
}

fn last<'a>(entry: &'a Entry, library: &'a Library) -> Option<&'a Phase> {
    match &entry.kind {
        EntryKind::Phase(phase) => Some(phase),
        EntryKind::Workflow { key, .. } => last(library.get(key)?.phases.last()?, library),
    }
}
