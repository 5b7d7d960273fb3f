//! Warnings about outcomes from which no way leads to the end.
//!
//! An entry with conditions counts as entered and as passed over: every warning is true, but some problems are not found.

use crate::sorted::{Map, Set};

use super::fuel::Fuel;
use crate::definition::diagnostic::{Anchored, WorkflowProblem};
use crate::definition::model::{EntryKind, Library, Target, Workflow};

pub(crate) fn report(library: &Library, fuel: &Fuel, anchored: &mut Vec<Anchored>) {
    // The end of a branch needs no way.
    for workflow in library.scopes().filter(|scope| !scope.has_branches_beside()) {
        if workflow.phases.iter().any(|entry| !entry.outcomes().is_empty()) {
            fuel.begin([workflow]);
            report_in(workflow, fuel, anchored);
        }
    }
}

/// A step of a way: from an entry with an outcome, given by its index, or past an entry. The number of entries is the
/// end.
struct Edge {
    from: usize,
    outcome: Option<usize>,
    to: usize,
}

fn report_in(workflow: &Workflow, fuel: &Fuel, anchored: &mut Vec<Anchored>) {
    let end = workflow.phases.len();
    let mut edges = Vec::new();
    for (from, entry) in workflow.phases.iter().enumerate() {
        let leads_on = match &entry.kind {
            EntryKind::Phase(phase) => phase.outcomes.is_empty() || !entry.when.is_empty(),
            EntryKind::Workflow { .. } => true,
        };
        edges.extend(leads_on.then_some(Edge { from, outcome: None, to: from + 1 }));
        for (number, outcome) in entry.outcomes().iter().enumerate() {
            // Each target is looked up among the entries.
            if !fuel.spend(2 * end) {
                return;
            }
            let target = |target: &Target| workflow.target(from, target).or((*target == Target::Stop).then_some(end));
            edges.extend(outcome.targets().filter_map(target).map(|to| Edge { from, outcome: Some(number), to }));
        }
    }
    let mut sources: Map<usize, Vec<usize>> = Map::new();
    edges.iter().for_each(|edge| sources.entry(edge.to).or_default().push(edge.from));
    let (mut ending, mut ahead) = (Set::new(), vec![end]);
    while let Some(entry) = ahead.pop() {
        if ending.insert(entry) {
            ahead.extend(sources.remove(&entry).unwrap_or_default());
        }
    }
    let to_end = edges.iter().filter(|edge| ending.contains(&edge.to));
    let to_end: Set<(usize, Option<usize>)> = to_end.map(|edge| (edge.from, edge.outcome)).collect();
    for (index, entry) in workflow.phases.iter().enumerate() {
        for (number, outcome) in entry.outcomes().iter().enumerate() {
            if to_end.contains(&(index, Some(number))) {
                continue;
            }
            let problem = WorkflowProblem::NoEnd { outcome: outcome.name.clone(), workflow: workflow.in_words() };
            anchored.push(Anchored::of_outcome((workflow, index), outcome, problem, &[]));
        }
    }
}
