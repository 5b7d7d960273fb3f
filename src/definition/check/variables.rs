//! Removes the diagnostics of variables that the library knows.

use crate::sorted::Set;

use super::subject::Subject;
use crate::definition::diagnostic::problem::Problem;
use crate::definition::diagnostic::report::Diagnostic;
use crate::definition::diagnostic::variable::VariableProblem;
use crate::definition::model::nearest::nearest;
use crate::definition::model::paths::last_part;
use crate::definition::model::workflow::{Entry, Workflow};

/// Removes the diagnostics of each `{input.NAME}`, `{output.ID.NAME}` and `{outcome.ID}` that all workflows know in
/// which the file is used, or that one may know by what could not be read.
pub(crate) fn remove_known_values(subject: &Subject, diagnostics: &mut Vec<Diagnostic>) {
    let hides_outcomes = subject.has_unknown_names("outcomes");
    let hides_outputs = subject.has_unknown_names("outputs");
    let phases = subject.with_endless().flat_map(Workflow::own_phases);
    let with_outcomes = phases.filter(|phase| !phase.outcomes.is_empty()).map(|phase| &*phase.id);
    // A nested workflow knows the outcomes of those around it, and an outer one that of a nested one.
    let mut outcomes: Set<&str> = with_outcomes.collect();
    let files = subject.with_endless().filter(|workflow| workflow.group.is_none());
    outcomes.extend(files.flat_map(|workflow| [&*workflow.key, last_part(&workflow.key)]));
    let nested = subject.with_endless().flat_map(|workflow| &workflow.phases);
    outcomes.extend(nested.filter(|entry| entry.nested_key().is_some()).map(Entry::id));
    let outputs: Set<String> = subject
        .with_endless()
        .flat_map(Workflow::own_phases)
        .flat_map(|phase| phase.outputs.iter().map(|output| format!("{}.{}", phase.id, output.name)))
        .collect();
    diagnostics.retain_mut(|diagnostic| {
        let Problem::Variable(VariableProblem::UnknownValue { name, suggestion }) = &mut diagnostic.problem else {
            return true;
        };
        let Some((kind, of)) = name.split_once('.') else { return true };
        if kind == "outcome" {
            let meant = nearest(of, outcomes.iter().copied());
            *suggestion = meant.map(|id| format!("outcome.{id}"));
            return !hides_outcomes && !outcomes.contains(of);
        }
        if kind == "output" {
            let meant = nearest(of, outputs.iter().map(String::as_str));
            *suggestion = meant.map(|of| format!("output.{of}"));
            return !hides_outputs && !outputs.contains(of);
        }
        let users = subject.with_endless().filter(|workflow| {
            diagnostic.file == workflow.file() || workflow.own_phases().any(|phase| phase.file == diagnostic.file)
        });
        let lacks = |workflow: &&Workflow| {
            workflow.inputs.iter().all(|input| input.name != of) && !subject.hides_inputs(workflow)
        };
        let mut lacking = users.filter(lacks);
        let Some(first) = lacking.next() else { return false };
        let meant = nearest(of, first.inputs.iter().map(|input| &*input.name));
        *suggestion = meant.map(|name| format!("input.{name}"));
        true
    });
}

/// Removes the diagnostics of each `{summary.ID}` whose phase or nested workflow exists, or may exist in what could not
/// be read.
pub(crate) fn remove_known_summaries(subject: &Subject, diagnostics: &mut Vec<Diagnostic>) {
    let hides_ids = subject.has_unknown_ids();
    let names = subject
        .with_endless()
        .flat_map(|workflow| &workflow.phases)
        .flat_map(|entry| std::iter::once(entry.id()).chain(entry.nested_key()));
    let ids: Set<&str> = names.collect();
    diagnostics.retain_mut(|diagnostic| {
        let Problem::Variable(VariableProblem::UnknownSummary { id, suggestion }) = &mut diagnostic.problem else {
            return true;
        };
        *suggestion = nearest(id, ids.iter().copied()).map(Into::into);
        !hides_ids && !ids.contains(id.as_str())
    });
}
