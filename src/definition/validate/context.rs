//! Warnings about `context` and `results`, and about values that a phase never gets.

use super::fuel::Fuel;
use crate::definition::diagnostic::{Anchored, PathPart, PhaseProblem, VariableProblem, WorkflowProblem};
use crate::definition::model::{ContextMode, Entry, EntryKind, Library, Outcome, Phase, Results, Workflow};
/// Reports phases that say `summary: optional` although the next one starts fresh, `results` of phases that come later,
/// and variables in texts that have no value.
pub(crate) fn report(library: &Library, fuel: &Fuel, anchored: &mut Vec<Anchored>) {
    for workflow in library.scopes() {
        // A reference from a branch to another branch is an error.
        if workflow.has_branches_beside() {
            continue;
        }
        fuel.begin([workflow]);
        later_results(workflow, fuel, anchored);
        missing_values(workflow, fuel, anchored);
        if fuel.is_over() {
            anchored.push(Anchored::new(workflow, WorkflowProblem::UncheckedCalls, &[PathPart::Key("phases")]));
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

/// Reports variables in the texts of phases for summaries and outputs that the `results` of the phase leave out, and
/// for outputs of entries behind the phase, if no outcome and no budget leads back from there to the phase.
fn missing_values(workflow: &Workflow, fuel: &Fuel, anchored: &mut Vec<Anchored>) {
    for (own, phase) in workflow.phases.iter().enumerate() {
        let Some(phase) = phase.as_phase() else { continue };
        if !fuel.spend_on(&phase.instructions) {
            return;
        }
        for name in names_in(&phase.instructions) {
            let of_output = name.strip_prefix("output.").and_then(|of| Some(of.rsplit_once('.')?.0));
            let of_text = name.strip_prefix("summary.").or_else(|| name.strip_prefix("log."));
            let Some(of) = of_text.or(of_output) else { continue };
            if !fuel.spend(2 * workflow.phases.len()) {
                return;
            }
            let Some(first) = workflow.phases.iter().position(|entry| entry.is_called(of)) else {
                continue;
            };
            let is_left_out = match &phase.results {
                Results::All => false,
                Results::Of(names) => {
                    let entry = workflow.phases.get(first);
                    entry.is_some_and(|entry| !names.iter().any(|name| entry.is_called(name)))
                }
            };
            let name = name.to_owned();
            if is_left_out {
                let problem = VariableProblem::LeftOut { name };
                anchored.push(Anchored::of_phase(phase, problem, &[PathPart::Key("results")]));
            } else if of_output.is_some() && first > own && !leads_back(workflow, first, own) {
                let problem = VariableProblem::LaterOutput { name };
                anchored.push(Anchored::of_phase(phase, problem, &[PathPart::Key("id")]));
            }
        }
    }
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
