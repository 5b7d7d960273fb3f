//! Removes the diagnostics of variables that the library knows.

use crate::sorted::{Map, Set};

use super::fuel::Fuel;

use crate::definition::diagnostic::{Diagnostic, Problem, VariableProblem};
use crate::definition::model::{Entry, Library, ValueType, Workflow, last_part, outputs_of};

/// Removes the diagnostics of each `{input.NAME}`, `{output.ID.NAME}`, `{outcome.ID}` and `{log.ID}` that is known in all workflows
/// that use the file. Phases of a workflow that is left out may have any outputs and outcomes.
pub(crate) fn remove_known_values(library: &Library, fuel: &Fuel, diagnostics: &mut Vec<Diagnostic>) {
    let are_all_known = library.left_out().is_empty();
    let phases = library.scopes().flat_map(Workflow::own_phases);
    let with_outcomes = phases.filter(|phase| !phase.outcomes.is_empty()).map(|phase| &*phase.id);
    // Nested workflows know the outcomes of workflows around them; outer workflows know the outcomes of nested ones.
    let mut outcomes: Set<&str> = with_outcomes.collect();
    outcomes.extend(library.iter().flat_map(|workflow| [&*workflow.key, last_part(&workflow.key)]));
    let nested = library.scopes().flat_map(|workflow| &workflow.phases);
    outcomes.extend(nested.filter(|entry| entry.nested_key().is_some()).map(Entry::id));
    let phases = library.scopes().flat_map(Workflow::own_phases);
    let steps: Set<&str> = phases.filter(|phase| phase.step().is_some()).map(|phase| &*phase.id).collect();
    let kinds = library.scopes().flat_map(|workflow| {
        let outputs = workflow.own_phases().flat_map(|phase| phase.outputs.iter().map(|output| &output.kind));
        outputs.chain(workflow.inputs.iter().map(|input| &input.kind))
    });
    let fields = kinds.filter_map(|kind| if let ValueType::List { fields, .. } = kind { Some(fields) } else { None });
    let fields: Set<&str> = fields.flatten().map(|field| &*field.name).collect();
    let mut users: Map<String, Vec<&Workflow>> = Map::new();
    for workflow in library.scopes() {
        let phases = workflow.own_phases().map(|phase| phase.file.clone());
        for file in phases.chain([workflow.file()]) {
            let of_file = users.entry(file).or_default();
            if of_file.last().is_none_or(|last| last.key != workflow.key) {
                of_file.push(workflow);
            }
        }
    }
    let of_entry = |entry| outputs_of(entry, &|key| library.get(key)).iter().map(move |of| (entry, of));
    let entries = library.scopes().flat_map(|workflow| &workflow.phases).flat_map(of_entry);
    let outputs: Set<String> = entries.map(|(entry, output)| format!("{}.{}", entry.id(), output.name)).collect();
    diagnostics.retain_mut(|diagnostic| {
        let Problem::Variable(VariableProblem::UnknownValue { name, suggestion }) = &mut diagnostic.problem else {
            return true;
        };
        let Some((kind, of)) = name.split_once('.') else { return true };
        if kind == "item" {
            let meant = fuel.nearest(of, fields.iter().copied());
            *suggestion = meant.map(|name| format!("item.{name}"));
            return are_all_known && !fields.contains(of);
        }
        if kind == "log" {
            let meant = fuel.nearest(of, steps.iter().copied());
            *suggestion = meant.map(|id| format!("log.{id}"));
            return are_all_known && !steps.contains(of);
        }
        if kind == "outcome" {
            let meant = fuel.nearest(of, outcomes.iter().copied());
            *suggestion = meant.map(|id| format!("outcome.{id}"));
            return are_all_known && !outcomes.contains(of);
        }
        if kind == "output" {
            let meant = fuel.nearest(of, outputs.iter().map(String::as_str));
            *suggestion = meant.map(|of| format!("output.{of}"));
            return are_all_known && !outputs.contains(of);
        }
        let lacking = users
            .get(&diagnostic.file)
            .into_iter()
            .flatten()
            .find(|workflow| workflow.inputs.iter().all(|input| input.name != of));
        let Some(first) = lacking else { return false };
        let meant = fuel.nearest(of, first.inputs.iter().map(|input| &*input.name));
        *suggestion = meant.map(|name| format!("input.{name}"));
        true
    });
}

/// Removes the diagnostics of each `{summary.ID}` whose phase or nested workflow exists, or may exist in a workflow that
/// is left out.
pub(crate) fn remove_known_summaries(library: &Library, fuel: &Fuel, diagnostics: &mut Vec<Diagnostic>) {
    let names = library
        .scopes()
        .flat_map(|workflow| &workflow.phases)
        .flat_map(|entry| std::iter::once(entry.id()).chain(entry.nested_key()));
    let ids: Set<&str> = names.collect();
    diagnostics.retain_mut(|diagnostic| {
        let Problem::Variable(VariableProblem::UnknownSummary { id, suggestion }) = &mut diagnostic.problem else {
            return true;
        };
        *suggestion = fuel.nearest(id, ids.iter().copied()).map(Into::into);
        library.left_out().is_empty() && !ids.contains(id.as_str())
    });
}
