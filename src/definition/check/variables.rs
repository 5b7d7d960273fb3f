//! Removes the diagnostics of variables that the library knows.

use crate::sorted::Set;

use crate::definition::diagnostic::description::Severity;
use crate::definition::diagnostic::problem::Problem;
use crate::definition::diagnostic::report::Diagnostic;
use crate::definition::diagnostic::variable::VariableProblem;
use crate::definition::model::library::Library;
use crate::definition::model::nearest::nearest;
use crate::definition::model::paths::last_part;
use crate::definition::model::workflow::{Entry, Workflow};

/// Removes the diagnostics of each `{input.NAME}`, `{output.ID.NAME}` and `{outcome.ID}` that all workflows know in which the file is used. If there are
/// errors, all of them are removed: not all workflows are known.
pub(crate) fn remove_known_values(library: &Library, diagnostics: &mut Vec<Diagnostic>) {
    let sound = diagnostics.iter().all(|diagnostic| diagnostic.severity() != Severity::Error);
    let phases = library.scopes().flat_map(Workflow::own_phases);
    let with_outcomes = phases.filter(|phase| !phase.outcomes.is_empty()).map(|phase| &*phase.id);
    // A nested workflow knows the outcomes of those around it, and an outer one that of a nested one.
    let mut outcomes: Set<&str> = with_outcomes.collect();
    outcomes.extend(library.iter().flat_map(|workflow| [&*workflow.key, last_part(&workflow.key)]));
    let nested = library.scopes().flat_map(|workflow| &workflow.phases);
    outcomes.extend(nested.filter(|entry| entry.nested_key().is_some()).map(Entry::id));
    let outputs: Set<String> = library
        .scopes()
        .flat_map(Workflow::own_phases)
        .flat_map(|phase| phase.outputs.iter().map(|output| format!("{}.{}", phase.id, output.name)))
        .collect();
    diagnostics.retain_mut(|diagnostic| {
        let Problem::Variable(VariableProblem::UnknownValue { name, suggestion }) =
            &mut diagnostic.problem
        else {
            return true;
        };
        let Some((kind, of)) = name.split_once('.') else { return true };
        if kind == "outcome" {
            let meant = nearest(of, outcomes.iter().copied());
            *suggestion = meant.map(|id| format!("outcome.{id}"));
            return sound && !outcomes.contains(of);
        }
        if kind == "output" {
            let meant = nearest(of, outputs.iter().map(String::as_str));
            *suggestion = meant.map(|of| format!("output.{of}"));
            return sound && !outputs.contains(of);
        }
        let users = library.scopes().filter(|workflow| {
            diagnostic.file == workflow.file()
                || workflow.own_phases().any(|phase| phase.file == diagnostic.file)
        });
        let lacks = |workflow: &&Workflow| workflow.inputs.iter().all(|input| input.name != of);
        let mut lacking = users.filter(lacks);
        let Some(first) = lacking.next() else { return false };
        let meant = nearest(of, first.inputs.iter().map(|input| &*input.name));
        *suggestion = meant.map(|name| format!("input.{name}"));
        sound
    });
}

/// Removes the diagnostics of each `{summary.ID}` whose phase or nested workflow exists. If there are errors, all of them are
/// removed: not all phases are known.
pub(crate) fn remove_known_summaries<'a>(
    workflows: impl Iterator<Item = &'a Workflow>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let sound = diagnostics.iter().all(|diagnostic| diagnostic.severity() != Severity::Error);
    let names = workflows
        .flat_map(|workflow| &workflow.phases)
        .flat_map(|entry| std::iter::once(entry.id()).chain(entry.nested_key()));
    let ids: Set<&str> = names.collect();
    diagnostics.retain_mut(|diagnostic| {
        let Problem::Variable(VariableProblem::UnknownSummary { id, suggestion }) =
            &mut diagnostic.problem
        else {
            return true;
        };
        *suggestion = nearest(id, ids.iter().copied()).map(Into::into);
        sound && !ids.contains(id.as_str())
    });
}
