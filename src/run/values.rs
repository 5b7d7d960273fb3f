//! The values of a run, by their names.

use crate::sorted::Map;

use crate::definition::{
    BoundValue, Condition, Entry, EntryKind, Gate, Given, Input, Library, Parallel, PathVariable, Phase, ValueName,
    ValueType, Workflow, record_of, short, with_emoji,
};

use super::outputs::{HandedOutputs, MAX_NAME, MAX_OUTPUTS, OutputValue, Outputs};
use super::records::Records;
use super::{items::RecordPlace, path::PhasePath, pause::PauseReason, state::RunState};

impl RunState {
    /// Returns the values of the inputs of the workflow at this depth of the path, by name; 1 is the root.
    ///
    /// The inputs of the root are stored with the run; an input that the files got later has its default. The inputs of
    /// a nested workflow follow from the entry that nests it: the entry gives a value, an input of the outer workflow,
    /// or an output. Every other input has its default, and so has an input whose output the phase did not hand over.
    pub fn inputs(&self, depth: usize, library: &Library) -> Map<String, String> {
        let stored = self.progress.inputs.iter();
        let mut values: Map<String, String> = stored.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        let root = self.current_path.first().and_then(|root| library.get(&root.workflow_key));
        for input in root.map(|root| &root.inputs[..]).unwrap_or_default() {
            if let (Some(default), None) = (&input.default, values.get(&input.name)) {
                values.insert(input.name.clone(), default.clone());
            }
        }
        let path = self.current_path.get(..depth).unwrap_or_default();
        for (depth, nesting) in (1..).zip(path.windows(2)) {
            let [outer, inner] = nesting else { continue };
            let entry = library
                .get(&outer.workflow_key)
                .and_then(|outer_workflow| outer_workflow.phases.get(outer.phase_index));
            let with = match entry.map(|entry| &entry.kind) {
                Some(EntryKind::Workflow { with, .. }) => with,
                Some(EntryKind::Phase(_)) | None => return Map::new(),
            };
            let value = |input: &Input| match with.get(&input.name) {
                Some(Given::Name(ValueName::Input(name))) => values.get(name).or(input.default.as_ref()).cloned(),
                Some(Given::Name(name)) => {
                    let given = self.value_if(name, depth, library, |_| true);
                    given.map(|given| given.text().into_owned()).or_else(|| input.default.clone())
                }
                Some(given) => given.value(&input.kind),
                None => input.default.clone(),
            };
            let inputs = library.get(&inner.workflow_key).map(|nested| &nested.inputs[..]);
            let inputs = inputs.unwrap_or_default().iter();
            values = inputs.filter_map(|input| Some((input.name.clone(), value(input)?))).collect();
        }
        values
    }

    /// Returns the value of this name in the workflow at this depth of the path, for every place that names a value;
    /// `None` if the run does not have the value.
    pub fn value(&self, name: &ValueName, depth: usize, library: &Library) -> Option<OutputValue> {
        self.value_if(name, depth, library, |handed| !handed.is_hidden)
    }

    /// Returns the output of a step for readers: where it is cut, it begins with a line that says so.
    pub fn log(&self, id: &str, library: &Library) -> Option<OutputValue> {
        let summaries = self.summaries_of(id, library).into_iter();
        joined(summaries.filter_map(|of| Some(format!("{}{}", of.log_note, of.log.as_ref()?))), "\n")
    }

    /// Like [`Self::value`]; of outputs only those that `counts` accepts.
    pub(super) fn value_if(
        &self,
        name: &ValueName,
        depth: usize,
        library: &Library,
        counts: fn(&HandedOutputs) -> bool,
    ) -> Option<OutputValue> {
        let item = || self.item(depth, library);
        Some(match name {
            ValueName::Input(name) => {
                let value = self.inputs(depth, library).remove(name)?;
                match self.scope(depth, library).and_then(|scope| scope.input(name)) {
                    Some(input) => OutputValue::of_input(&input.kind, value),
                    None => OutputValue::Text(value),
                }
            }
            ValueName::Output { phase, name } => {
                let places = self.places(depth, phase, library).into_iter();
                let nested: Vec<_> =
                    places.filter_map(|(entry, place)| Some((source(entry, name, library)?, place))).collect();
                if !nested.is_empty() {
                    return self.of_workflows(nested, library, counts);
                }
                match self.of_entry(depth, phase, library, &self.progress.outputs)? {
                    OfEntry::One(handed) => Some(handed).filter(|of| counts(of))?.values.get(name)?.clone(),
                    OfEntry::Items(handed) => {
                        let handed = handed.into_iter().filter(|of| counts(of));
                        OutputValue::joined(handed.filter_map(|of| of.values.get(name)))
                    }
                }
            }
            ValueName::Outcome(id) => match self.of_entry(depth, id, library, &self.progress.outcomes)? {
                OfEntry::One(outcome) => OutputValue::Text(outcome.clone()),
                OfEntry::Items(outcomes) => OutputValue::List(outcomes.into_iter().cloned().collect()),
            },
            ValueName::Summary(id) => {
                joined(self.summaries_of(id, library).into_iter().map(|of| of.text.clone()), "\n\n")?
            }
            ValueName::Log(id) => {
                let summaries = self.summaries_of(id, library);
                joined(summaries.into_iter().filter_map(|of| of.log.clone()), "\n")?
            }
            // The list may no longer have the item.
            ValueName::Item => OutputValue::Text(item().map(|item| item.text).filter(|text| !text.is_empty())?),
            ValueName::ItemField(name) => OutputValue::of_json(record_of(&item()?.text)?.get(name)?.clone())?,
            ValueName::ItemNumber => OutputValue::Number(item()?.number.into()),
            ValueName::ItemCount => OutputValue::Number(item()?.count.into()),
            ValueName::Task => OutputValue::Text(self.whole_task()?.to_owned()),
            ValueName::RunDir => OutputValue::Text(self.run_dir_path()?.to_owned()),
            ValueName::WorkflowDir => OutputValue::Text(self.scope(depth, library)?.dir.clone()),
        })
    }

    /// Returns the workflow or the group at this depth of the path.
    pub fn scope<'a>(&self, depth: usize, library: &'a Library) -> Option<&'a Workflow> {
        library.get(&self.current_path.at_depth(depth).last()?.workflow_key)
    }

    /// Returns the number that an input of the workflow at this depth has, for a bound: a stored number that the input
    /// may not have counts as the nearest that it may have, and no number as the least.
    pub(super) fn number(&self, name: &str, depth: usize, library: &Library) -> f64 {
        let input = self.scope(depth, library).and_then(|scope| scope.input(name));
        let Some(ValueType::Number(bounds)) = input.map(|input| &input.kind) else { return 0.0 };
        let value = self.inputs(depth, library).remove(name).and_then(|value| value.parse::<f64>().ok());
        bounds.nearest(value.unwrap_or(f64::NEG_INFINITY))
    }

    /// Returns the time limit of a command of the current phase, in milliseconds.
    pub fn time_limit(&self, timeout: &BoundValue<u32>, library: &Library) -> u32 {
        timeout.milliseconds(|name| self.number(name, self.current_path.len(), library))
    }

    /// Returns the number of agents that work at a time on the branches of the group at which the run is.
    pub fn at_once(&self, parallel: &Parallel, library: &Library) -> u32 {
        parallel.at_once.resolve(|name| self.number(name, self.current_path.len(), library)).max(1)
    }

    /// Returns the number of failures of a gate of the current phase after which the run pauses.
    pub fn gate_attempts(&self, gate: &Gate, library: &Library) -> u32 {
        gate.attempts.resolve(|name| self.number(name, self.current_path.len(), library))
    }

    /// Returns the value of a variable in a path of the workflow at this depth.
    pub fn path_value(&self, variable: &PathVariable, depth: usize, library: &Library) -> Option<String> {
        self.value(&variable.value(), depth, library).map(|value| value.text().into_owned())
    }

    /// Returns the records of an entry of this name in the file of the workflow at this depth of the path: of the last
    /// entry before the current entry that has records, or else of the last entry of all that has.
    fn of_entry<'a, T>(
        &self,
        depth: usize,
        id: &str,
        library: &Library,
        records: &'a Records<T>,
    ) -> Option<OfEntry<'a, T>> {
        let mut is_of_items = false;
        for (_, place) in self.places(depth, id, library) {
            is_of_items |= place.is_of_items();
            match &place.records(records)[..] {
                [] => {}
                found if place.is_of_items() => return Some(OfEntry::Items(found.to_vec())),
                [one, ..] => return Some(OfEntry::One(one)),
            }
        }
        is_of_items.then(|| OfEntry::Items(Vec::new()))
    }

    /// Returns the entries of this name in the file of the workflow at this depth of the path, each with the place of its
    /// records, in the order in which they count: see [`Self::of_entry`].
    fn places<'a>(&self, depth: usize, id: &str, library: &'a Library) -> Vec<(&'a Entry, RecordPlace)> {
        let path = self.current_path.at_depth(depth);
        let Some((segment, workflow)) = path.last().and_then(|of| Some((of, library.get(&of.workflow_key)?))) else {
            return Vec::new();
        };
        let current = workflow.place_of(segment.phase_index);
        let around = path.at_depth(depth - (current.len() - 1).min(depth - 1));
        let entries = library.entries_of_file(workflow);
        let called = entries.iter().filter(|of| of.entry.is_called(id));
        let (earlier, others): (Vec<_>, Vec<_>) = called.partition(|of| of.is_before(&current));
        let latest_first = earlier.into_iter().rev().chain(others.into_iter().rev());
        latest_first.filter_map(|of| Some((of.entry, self.place_of(&around, of, library)?))).collect()
    }

    /// Returns the output of the workflows that are nested at these places: the value that the nested workflow has at its
    /// end. Of several the first one counts in which the run has outputs, or else the first one.
    fn of_workflows(
        &self,
        nested: Vec<((&Workflow, &ValueName), RecordPlace)>,
        library: &Library,
        counts: fn(&HandedOutputs) -> bool,
    ) -> Option<OutputValue> {
        let outputs = &self.progress.outputs;
        let has_outputs = |path: &PhasePath| {
            let below = path.below();
            outputs.keys().any(|key| key.starts_with(&below))
        };
        let value = |(nested, source): (&Workflow, &ValueName), mut path: PhasePath| {
            path.enter(&nested.key, None);
            path.set_index(nested.phases.len());
            let depth = path.len();
            self.at(path).value_if(source, depth, library, counts)
        };
        let is_of_items = nested.iter().any(|(_, place)| place.is_of_items());
        let mut first = None;
        for (of, place) in nested {
            let mut paths = place.paths(outputs);
            if place.is_of_items() {
                let values: Vec<OutputValue> = paths.into_iter().filter_map(|path| value(of, path)).collect();
                if !values.is_empty() {
                    return Some(OutputValue::joined(values.iter()));
                }
            } else if let Some(path) = paths.pop() {
                if !has_outputs(&path) {
                    first = first.or(Some((of, path)));
                } else if let Some(found) = value(of, path) {
                    return Some(found);
                }
            }
        }
        if is_of_items {
            return Some(OutputValue::List(Vec::new()));
        }
        first.and_then(|(of, path)| value(of, path))
    }

    /// Returns the first condition in `when`, of an entry of the innermost workflow, that does not hold, with the value
    /// of the run, if the run has a value.
    pub fn refusal<'a>(&self, when: &'a [Condition], library: &Library) -> Option<(&'a Condition, Option<String>)> {
        if when.is_empty() {
            return None;
        }
        self.refusal_with(when, &self.inputs(self.current_path.len(), library), library)
    }

    /// As [`Self::refusal`], with the inputs of the innermost workflow.
    pub(super) fn refusal_with<'a>(
        &self,
        when: &'a [Condition],
        inputs: &Map<String, String>,
        library: &Library,
    ) -> Option<(&'a Condition, Option<String>)> {
        let depth = self.current_path.len();
        let workflow = library.get(&self.current_path.last()?.workflow_key)?;
        when.iter().find_map(|condition| {
            let value = match &condition.of {
                ValueName::Input(name) => inputs.get(name).cloned().map(OutputValue::Text),
                of => self.value(of, depth, library),
            };
            let kind = library.type_of(workflow, &condition.of);
            let holds = kind.zip(value.as_ref());
            let holds = holds.is_some_and(|(kind, value)| match value {
                // Each item has given a value.
                OutputValue::List(items) => {
                    !items.is_empty() && items.iter().all(|item| condition.holds_for(kind, item))
                }
                value => condition.holds_for(kind, &value.text()),
            });
            (!holds).then(|| (condition, value.map(|value| value.text().into_owned())))
        })
    }

    /// Returns the run with these outputs of its current phase; unchanged without outputs.
    pub fn with_outputs(&self, phase: &Phase, values: Outputs) -> Self {
        let mut new = self.clone();
        if values.is_empty() {
            return new;
        }
        let name = with_emoji(&short(&phase.emoji, MAX_NAME), &short(&phase.name, MAX_NAME));
        let handed = HandedOutputs { name, step: self.global_step_count, values, is_hidden: false };
        new.progress.outputs.insert(self.current_path.key(), handed);
        new
    }

    /// Returns the outputs that the current phase has handed over in this visit.
    pub fn handed_outputs(&self) -> Option<&Outputs> {
        let handed = self.progress.outputs.get(&self.current_path.key())?;
        (handed.step == self.global_step_count).then_some(&handed.values)
    }

    /// Returns true if there is room for these outputs of the current phase, see [`MAX_OUTPUTS`].
    pub fn has_room_for(&self, outputs: &Outputs) -> bool {
        let current = self.current_path.key();
        let others = self.progress.outputs.iter().filter(|(key, _)| **key != *current);
        others.map(|(_, handed)| length(&handed.values)).sum::<usize>() + length(outputs) <= MAX_OUTPUTS
    }

    /// Returns the reason to pause if a nested workflow that the run has entered, coming from the path `before`, lacks
    /// a value: `with` gives an input without a default an output that its phase did not hand over.
    pub fn missing_value(&self, before: &PhasePath, library: &Library) -> Option<PauseReason> {
        let was_entered = |depth| before.len() > depth && before.at_depth(depth) == self.current_path.at_depth(depth);
        let mut entered = (1..).zip(self.current_path.windows(2)).filter(|(depth, _)| !was_entered(*depth));
        entered.find_map(|(depth, scopes)| {
            let [outer, inner] = scopes else { return None };
            let entry = library.get(&outer.workflow_key)?.phases.get(outer.phase_index)?;
            let EntryKind::Workflow { with, .. } = &entry.kind else { return None };
            let nested = library.get(&inner.workflow_key)?;
            with.iter().find_map(|(name, given)| {
                let Given::Name(given @ ValueName::Output { .. }) = given else { return None };
                let input = nested.input(name)?;
                let is_missing = self.value(given, depth, library).is_none();
                (is_missing && input.is_required()).then(|| PauseReason::MissingOutput {
                    of: short(&nested.name, MAX_NAME),
                    input: name.clone(),
                    output: given.to_string(),
                })
            })
        })
    }
}

/// Returns the workflow that an entry nests, with the value that its output of this name is.
fn source<'a>(entry: &Entry, name: &str, library: &'a Library) -> Option<(&'a Workflow, &'a ValueName)> {
    let nested = library.get(entry.nested_key()?)?;
    let output = nested.outputs.iter().find(|output| output.name == name)?;
    Some((nested, &output.of))
}

/// The records of an entry.
enum OfEntry<'a, T> {
    One(&'a T),
    /// The entry is in a repeated group, seen from outside: what its items gave, in their order.
    Items(Vec<&'a T>),
}

/// Returns texts as one; `None` without any.
fn joined(texts: impl Iterator<Item = String>, between: &str) -> Option<OutputValue> {
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| OutputValue::Text(texts.join(between)))
}

/// Returns the length of all values, in bytes.
fn length(outputs: &Outputs) -> usize {
    outputs.iter().map(|(name, value)| name.len() + value.text().len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::Files;
    use crate::run::begin;

    /// Each workflow nests the next one twice, and no phase has an output.
    #[test]
    fn an_output_of_deep_nesting_that_is_missing_takes_linear_time() {
        let nested = |depth: u32| {
            let next = depth + 1;
            format!(
                "show: workflows\noutputs: {{ x: output.n{next}.x }}\nphases: [{{ subworkflow: n{next} }}, {{ subworkflow: n{next} }}]\n"
            )
        };
        let mut global: std::collections::BTreeMap<_, _> =
            (0..45).map(|depth| (format!("n{depth}/workflow.yaml"), nested(depth))).collect();
        let last = "show: workflows\noutputs: { x: output.p.x }\nphases: [{ id: p, prompt: x, outputs: { x: { type: text } } }]\n";
        global.insert("n45/workflow.yaml".into(), last.into());
        global.insert("w/workflow.yaml".into(), "phases: [{ id: a, prompt: x }, { subworkflow: n0 }]\n".into());
        let (library, diagnostics) = Library::load(&Files { global, ..Files::default() }).unwrap();
        assert_eq!(diagnostics.len(), 0, "{diagnostics:?}");
        let run = begin(&RunState::new("w", "t", 0, 0), &library).0;
        let name = ValueName::parse("output.n0.x").unwrap();
        let before = std::time::Instant::now();
        assert_eq!(run.value(&name, 1, &library), None);
        assert!(before.elapsed().as_secs() < 5);
    }
}
