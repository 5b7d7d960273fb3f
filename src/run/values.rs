//! The values that conditions and templates name: inputs, outcomes and outputs.

use std::borrow::Cow;

use crate::sorted::Map;

use crate::definition::{
    Condition, EntryKind, Gate, Given, Input, Library, PathVariable, Phase, ValueName, ValueType, Workflow, short,
    with_emoji,
};

use super::outputs::{HandedOutputs, MAX_NAME, MAX_OUTPUTS, OutputValue, Outputs};
use super::{path::PhasePath, pause::PauseReason, state::RunState};

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
                Some(Given::Name(ValueName::Input(name))) => values.get(name).cloned(),
                Some(Given::Name(ValueName::Output { phase, name })) => {
                    let output = self.given_output(depth, (phase, name), library);
                    output.map(|output| output.text().into_owned()).or_else(|| input.default.clone())
                }
                Some(Given::Name(ValueName::Item)) => {
                    let item = self.item(depth, library).map(|item| item.text);
                    item.filter(|item| input.kind.value(item).is_some())
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

    /// Returns the number that an input of the workflow at this depth has, for a bound; without a value, the least
    /// number that the input may have.
    pub(super) fn number(&self, name: &str, depth: usize, library: &Library) -> f64 {
        let value = self.inputs(depth, library).remove(name);
        value.and_then(|value| value.parse().ok()).unwrap_or_else(|| {
            let path = self.current_path.at_depth(depth);
            let workflow = path.last().and_then(|segment| library.get(&segment.workflow_key));
            let mut inputs = workflow.into_iter().flat_map(|workflow| &workflow.inputs);
            match inputs.find(|input| input.name == name).map(|input| &input.kind) {
                Some(ValueType::Number(bounds)) => bounds.min.unwrap_or_default(),
                _ => 0.0,
            }
        })
    }

    /// Returns the number of failures of a gate of the workflow at this depth after which the run pauses.
    pub fn gate_attempts(&self, gate: &Gate, depth: usize, library: &Library) -> u32 {
        gate.attempts.resolve(|name| self.number(name, depth, library))
    }

    /// Returns the `maxLoops` of the innermost workflow, which is `scope`.
    pub fn max_loops(&self, scope: &Workflow, library: &Library) -> u32 {
        let depth = self.current_path.len();
        scope.max_loops.resolve(|name| self.number(name, depth, library))
    }

    /// Returns the value of a variable in a path of the workflow at this depth.
    pub fn path_value(&self, variable: &PathVariable, depth: usize, library: &Library) -> Option<String> {
        match variable {
            PathVariable::Input(name) => self.inputs(depth, library).remove(name),
            PathVariable::ItemNumber => self.item(depth, library).map(|item| item.number.to_string()),
            PathVariable::RunDir => self.run_dir_path().map(ToOwned::to_owned),
        }
    }

    /// Returns the outcome with which the phase of this id, or the nested workflow of this key, was left last, in the
    /// workflow at this depth of the path; `None` if there is none. Of several entries with this name, the last entry
    /// before the current entry that has an outcome counts, or else the last entry of all.
    pub fn outcome(&self, depth: usize, id: &str, library: &Library) -> Option<&str> {
        let outcome = |key: &str| self.progress.outcomes.get(key).map(String::as_str);
        self.of_entry(depth, id, library, outcome)
    }

    /// Returns the result of `find` for an entry of this name in the file of the workflow at this depth of the path, by
    /// the key of its path: for the last entry before the current entry, or else for the last entry of all.
    pub(super) fn of_entry<T>(
        &self,
        depth: usize,
        id: &str,
        library: &Library,
        find: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let path = self.current_path.at_depth(depth);
        let segment = path.last()?;
        let workflow = library.get(&segment.workflow_key)?;
        let current = workflow.place_of(segment.phase_index);
        let around = path.at_depth(depth - (current.len() - 1).min(depth - 1));
        let entries = library.entries_of_file(workflow);
        let called = entries.iter().filter(|of| of.entry.is_called(id));
        let (earlier, others): (Vec<_>, Vec<_>) = called.partition(|of| of.is_before(&current));
        let latest_first = earlier.into_iter().rev().chain(others.into_iter().rev());
        let mut found = latest_first.filter_map(|of| find(&self.path_to(&around, of, library)?.key()));
        found.next()
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
            let (value, holds) = match &condition.of {
                ValueName::Input(name) => {
                    let value = inputs.get(name).map(|value| Cow::Borrowed(value.as_str()));
                    let input = workflow.inputs.iter().find(|input| input.name == *name);
                    let holds = input.zip(value.as_deref());
                    let holds = holds.is_some_and(|(input, value)| input.kind.is_one_of(value, &condition.values));
                    (value, holds)
                }
                ValueName::Outcome(id) => {
                    let value = self.outcome(depth, id, library);
                    let is_value = |value| condition.values.iter().any(|other| other == value);
                    (value.map(Cow::Borrowed), value.is_some_and(is_value))
                }
                ValueName::Output { phase, name } => {
                    let value = self.output(depth, (phase, name), library).map(OutputValue::text);
                    let output = library.output(workflow, phase, name);
                    let holds = output
                        .zip(value.as_deref())
                        .is_some_and(|(output, value)| output.kind.is_one_of(value, &condition.values));
                    (value, holds)
                }
                ValueName::Summary(_) | ValueName::Item | ValueName::Task | ValueName::RunDir => (None, false),
            };
            (!holds).then(|| (condition, value.map(Cow::into_owned)))
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

    /// Returns the value of the output of this name with which the phase of this id was left last, in the workflow at
    /// this depth of the path. Of several phases with this id, the last phase before the current entry that has outputs
    /// counts, or else the last phase of all.
    pub fn output(&self, depth: usize, (id, name): (&str, &str), library: &Library) -> Option<&OutputValue> {
        let handed = self.handed_by(depth, id, library).filter(|handed| !handed.is_hidden);
        handed?.values.get(name)
    }

    /// Like [`Self::output`], for an input of a nested workflow; a hidden output counts too.
    pub(super) fn given_output(
        &self,
        depth: usize,
        (id, name): (&str, &str),
        library: &Library,
    ) -> Option<&OutputValue> {
        self.handed_by(depth, id, library)?.values.get(name)
    }

    fn handed_by(&self, depth: usize, id: &str, library: &Library) -> Option<&HandedOutputs> {
        self.of_entry(depth, id, library, |key| self.progress.outputs.get(key))
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
                let Given::Name(ValueName::Output { phase, name: output }) = given else { return None };
                let input = nested.inputs.iter().find(|input| input.name == *name)?;
                let is_missing = self.output(depth, (phase, output), library).is_none();
                (is_missing && input.default.is_none()).then(|| PauseReason::MissingOutput {
                    of: short(&nested.name, MAX_NAME),
                    input: name.clone(),
                    output: format!("output.{phase}.{output}"),
                })
            })
        })
    }
}

/// Returns the length of all values, in bytes.
fn length(outputs: &Outputs) -> usize {
    outputs.iter().map(|(name, value)| name.len() + value.text().len()).sum()
}
