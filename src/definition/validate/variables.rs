//! Removes the diagnostics of variables that the library knows.

use crate::sorted::{Map, Set};

use super::fuel::Fuel;

use crate::definition::diagnostic::{Diagnostic, Problem, VariableProblem};
use crate::definition::model::variables::words_of;
use crate::definition::model::{Entry, Library, ValueName, ValueType, Workflow, last_part, outputs_of};

/// Removes the diagnostics of each `{input.NAME}` that is known in all workflows that use the file, and of each
/// `{output.ID.NAME}`, `{outcome.ID}`, `{summary.ID}`, `{log.ID}` and `{item.FIELD}` that some workflow has. A workflow that
/// is left out may have any of these.
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
    let outputs: Set<&str> = outputs.iter().map(String::as_str).collect();
    let entries = library.scopes().flat_map(|workflow| &workflow.phases);
    let summaries = entries.flat_map(|entry| std::iter::once(entry.id()).chain(entry.nested_key())).collect();
    let known: [(&str, Set<&str>); 5] =
        [("item", fields), ("log", steps), ("outcome", outcomes), ("output", outputs), ("summary", summaries)];
    let repeated = repeated(library);
    diagnostics.retain_mut(|diagnostic| {
        let scopes = users.get(&diagnostic.file).map_or(&[][..], Vec::as_slice);
        let (name, suggestion) = match &mut diagnostic.problem {
            Problem::Variable(VariableProblem::UnknownValue { name, suggestion }) => (name, suggestion),
            Problem::Variable(VariableProblem::NoItem { .. }) => {
                return are_all_known && !scopes.iter().any(|scope| repeated.contains(&*scope.key));
            }
            Problem::Variable(VariableProblem::Guessed { written, suggestion }) => {
                let words = words_of(written);
                *suggestion = scopes.iter().find_map(|scope| meant(&words, scope, library, fuel));
                return suggestion.is_some() || words.iter().any(|word| ValueName::first_word(word).is_some());
            }
            _ => return true,
        };
        let Some((kind, of)) = name.split_once('.') else { return true };
        if let Some((_, known)) = known.iter().find(|(word, _)| *word == kind) {
            let meant = fuel.nearest(of, known.iter().copied());
            *suggestion = meant.map(|meant| format!("{kind}.{meant}"));
            return are_all_known && !known.contains(of);
        }
        let lacking = scopes.iter().find(|workflow| workflow.inputs.iter().all(|input| input.name != of));
        let Some(first) = lacking else { return false };
        let meant = fuel.nearest(of, first.inputs.iter().map(|input| &*input.name));
        *suggestion = meant.map(|name| format!("input.{name}"));
        true
    });
}

/// Returns the keys of the groups with `each`, and of the workflows and groups within them.
fn repeated(library: &Library) -> Set<&str> {
    let groups = library.scopes().filter(|scope| scope.each.is_some());
    let mut ahead: Vec<&str> = groups.map(|scope| &*scope.key).collect();
    let mut repeated = Set::new();
    while let Some(key) = ahead.pop() {
        if repeated.insert(key)
            && let Some(scope) = library.get(key)
        {
            ahead.extend(scope.phases.iter().filter_map(Entry::nested_key));
        }
    }
    repeated
}

/// Returns the name of the value that these words mean in a workflow or group: words of this program, or names that the
/// workflow has.
fn meant(words: &[&str], scope: &Workflow, library: &Library, fuel: &Fuel) -> Option<String> {
    let several = ValueName::meant(&words.join(".")).filter(|_| words.len() > 1);
    let entries = library.entries_of_file(scope);
    if several.is_some() || !fuel.spend(entries.len() * words.len()) {
        return several.map(|name| name.to_string());
    }
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&ValueName::first_word(word).unwrap_or(word)));
    let entry = entries.iter().map(|of| of.entry).find(|entry| words.iter().any(|word| entry.is_called(word)));
    let Some(entry) = entry else {
        let input = scope.inputs.iter().find(|input| words.contains(&&*input.name));
        let is_input = has(&["input", "args", "arguments", "params", "parameters", "vars", "variables", "with"]);
        return input.filter(|_| is_input).map(|input| format!("input.{}", input.name));
    };
    let id = entry.id();
    let outputs = outputs_of(entry, &|key| library.get(key));
    let is_step = entry.as_phase().is_some_and(|phase| phase.step().is_some());
    let output = outputs.iter().find(|output| words.contains(&&*output.name));
    Some(match output.or_else(|| outputs.first().filter(|_| has(&["output"]))) {
        Some(output) => format!("output.{id}.{}", output.name),
        None if has(&["outcome"]) && !entry.outcomes().is_empty() => format!("outcome.{id}"),
        None if is_step => format!("log.{id}"),
        None => format!("summary.{id}"),
    })
}
