//! The outputs that a phase may hand over, as far as they decide on the way of a run.

use crate::sorted::{Map, Set};

use crate::definition::{
    Each, EntryKind, Given, Library, Output, Step, ValueName, ValueType, Workflow, WorkflowOutput,
};

use super::outputs::{OutputValue, Outputs};
use super::{active::Active, state::RunState};

/// Values by the names of the outputs that may have them.
type Values = Map<String, Set<String>>;

/// Maximum number of combinations of values of the outputs of a phase.
const MAX_CHOICES: usize = 64;

impl Active<'_> {
    /// Returns the runs that have handed over the outputs of the current phase, one for each combination of values that
    /// leads another way; the run as it is if there are no outputs. `None` if there are too many.
    pub fn with_possible_outputs(&self) -> Option<Vec<RunState>> {
        let mut all = output_choices(self)?;
        // A step that has failed has no outputs.
        let may_fail = self.phase.step().is_some() && self.outcomes().contains(&Some(Step::FAILED));
        if may_fail && !all.contains(&Outputs::new()) {
            all.push(Outputs::new());
        }
        let handing_over = |outputs| self.state.with_outputs(self.phase, outputs);
        Some(all.into_iter().map(handing_over).collect())
    }
}

/// The combinations of values of the outputs of the current phase, as far as conditions and groups tell the values
/// apart: in its workflow, and through `with` in nested workflows. At least one combination; `None` if there are too
/// many.
fn output_choices(active: &Active) -> Option<Vec<Outputs>> {
    let mut all = vec![Outputs::new()];
    if active.phase.outputs.is_empty() {
        return Some(all);
    }
    let conditions = output_values(active);
    for output in &active.outputs() {
        let Some(named) = conditions.get(&*output.name) else { continue };
        let options = output.kind.options().into_iter();
        let mut values: Vec<Option<String>> = options.map(|option| Some(option.into())).collect();
        if values.is_empty() {
            values = told_apart(output, named).into_iter().map(Some).collect();
        }
        values.extend(output.is_optional.then_some(None));
        let value = |text: &String| OutputValue::of_text(&output.kind, text);
        let with = |outputs: &Outputs, text: &Option<String>| {
            let mut outputs = outputs.clone();
            if let Some(value) = text.as_ref().and_then(value) {
                outputs.insert(output.name.clone(), value);
            }
            outputs
        };
        let combined = all.iter().flat_map(|outputs| values.iter().map(move |value| with(outputs, value)));
        all = combined.take(MAX_CHOICES + 1).collect();
        if all.len() > MAX_CHOICES {
            return None;
        }
    }
    Some(all)
}

/// Values of an output whose type has many values, one for each case that conditions with these values, or a group that
/// is repeated for the items of a list, tell apart.
fn told_apart(Output { name, kind, .. }: &Output, named: &Set<String>) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for value in named {
        if kind.value(value).is_some() && !kind.is_one_of(value, &values) {
            values.push(value.clone());
        }
    }
    if let ValueType::List { min: 0, .. } = kind {
        values.push(String::new());
    }
    let other = match kind {
        ValueType::Number(bounds) => {
            let from = bounds.min.unwrap_or(1.0);
            let mut numbers = (0..=values.len()).map(|more| (from + more as f64).to_string());
            numbers.find(|number| kind.value(number).is_some() && !kind.is_one_of(number, &values))
        }
        _ => {
            let mut texts = (0..=values.len()).map(|count| kind.sample(&name.repeat(count + 1)));
            texts.find(|text| !kind.is_one_of(text, &values))
        }
    };
    values.extend(other);
    values
}

/// Outputs as a file names them: the id of the entry and the name, each with the name of the output of the current phase
/// that it is.
type Named = Map<(String, String), String>;

/// The values that conditions name for outputs of the current phase, by the names of the outputs: in its file, and in the
/// files around it, where an output of the nested workflow is the value.
fn output_values(active: &Active) -> Values {
    let (phase, path) = (active.phase, &active.state.current_path);
    let own = phase.outputs.iter().map(|output| ((phase.id.clone(), output.name.clone()), output.name.clone()));
    let mut named: Named = own.collect();
    let (mut found, mut known) = (Map::new(), Map::new());
    let (mut scope, mut depth) = (active.scope, path.len());
    loop {
        values_in_file(scope, &named, active.library, (&mut found, &mut known));
        depth = depth.saturating_sub(1 + scope.group.as_ref().map_or(0, |group| group.at.len()));
        let file = scope.group.as_ref().map_or(Some(scope), |group| active.library.get(&group.file));
        let outer = depth.checked_sub(1).and_then(|outer| path.get(outer));
        let outer = outer.and_then(|at| Some((active.library.get(&at.workflow_key)?, at.phase_index)));
        let (Some(file), Some((around, index))) = (file, outer) else { return found };
        let Some(entry) = around.phases.get(index) else { return found };
        let outside = file.outputs.iter().filter_map(|WorkflowOutput { name, of }| {
            let ValueName::Output { phase, name: inner } = of else { return None };
            let own = named.get(&(phase.clone(), inner.clone()))?;
            Some(((entry.id().to_owned(), name.clone()), own.clone()))
        });
        (named, scope) = (outside.collect(), around);
        if named.is_empty() {
            return found;
        }
    }
}

/// Adds the values that conditions in the file of a workflow name for these outputs. `known` is as for
/// [`condition_values`].
fn values_in_file<'a>(
    scope: &'a Workflow,
    named: &Named,
    library: &'a Library,
    (found, known): (&mut Values, &mut Map<&'a str, Values>),
) {
    let mut add = |name: &ValueName, values: &mut dyn Iterator<Item = String>| {
        if let ValueName::Output { phase, name } = name
            && let Some(own) = named.get(&(phase.clone(), name.clone()))
        {
            found.entry(own.clone()).or_insert_with(Set::new).extend(values);
        }
    };
    for entry in library.entries_of_file(scope).into_iter().map(|of| of.entry) {
        for condition in &entry.when {
            add(&condition.of, &mut condition.values.iter().cloned());
        }
        let EntryKind::Workflow { key, with, .. } = &entry.kind else { continue };
        let each = library.get(key).and_then(|group| group.each.as_ref());
        if let Some(Each::Of(names)) = each {
            names.iter().for_each(|name| add(name, &mut std::iter::empty()));
        }
        let nested = condition_values(key, library, known);
        for (input, given) in with {
            if let (Given::Name(name), Some(values)) = (given, nested.get(input)) {
                add(name, &mut values.iter().cloned());
            }
        }
    }
}

/// Returns the inputs of a workflow that its own conditions and groups use, or, through `with`, the conditions and
/// groups of nested workflows, with the values that conditions name. `known` has the inputs of other workflows.
fn condition_values<'a>(key: &str, library: &'a Library, known: &mut Map<&'a str, Values>) -> Values {
    if let Some(used) = known.get(key) {
        return used.clone();
    }
    let Some(workflow) = library.get(key) else { return Map::new() };
    let mut used: Values = Map::new();
    for entry in &workflow.phases {
        for condition in &entry.when {
            if let ValueName::Input(name) = &condition.of {
                let values = used.entry(name.clone()).or_default();
                values.extend(condition.values.iter().cloned());
            }
        }
        let EntryKind::Workflow { key, with, .. } = &entry.kind else { continue };
        let each = library.get(key).and_then(|group| group.each.as_ref());
        if let Some(Each::Of(names)) = each {
            for name in names {
                if let ValueName::Input(name) = name {
                    used.entry(name.clone()).or_default();
                }
            }
        }
        let nested = condition_values(key, library, known);
        for (name, given) in with {
            if let (Given::Name(ValueName::Input(own)), Some(values)) = (given, nested.get(name)) {
                let own = used.entry(own.clone()).or_default();
                own.extend(values.iter().cloned());
            }
        }
    }
    known.insert(&workflow.key, used.clone());
    used
}
