//! Validates the ways through a workflow: outcomes, conditions and values for nested workflows must name existing things.

use std::borrow::Cow;

use crate::sorted::{Map, Set};

use super::fuel::Fuel;
use super::known::Known;

use crate::definition::diagnostic::{Anchored, FieldProblem, PathPart, Problem, WorkflowProblem};
use crate::definition::model::{
    Check, CheckKind, Command, Condition, Each, Entry, EntryKind, FileEntry, Gate, Given, Group, Input, Phase, Results,
    Target, TypeOf, ValueName, ValueType, Variable, Workflow, WorkflowOutput, either, fields_of_item, group_key,
    output_of, outputs_of, type_of,
};

/// Maximum number of entries of a workflow with conditions or outcomes, including nested workflows: the run keeps the
/// outcome of each entry, and the reason why an entry was passed over.
const MAX_ENTRIES: usize = 5000;

/// Returns the errors in the outcomes, conditions and values of a workflow. Nested workflows have no errors, except for
/// groups in the same file. `all` are the entries of the file. `are_all_known` is true if no workflow is left out.
pub(crate) fn errors<'a>(
    workflow: &'a Workflow,
    known: &Known<'a>,
    all: &[FileEntry<'a>],
    are_all_known: bool,
) -> Vec<Anchored> {
    let anchored = Vec::new();
    let is_target = |entry: &&Entry| Target::WORDS.iter().any(|word| entry.is_called(word));
    let words = all.iter().map(|of| of.entry).filter(is_target).collect();
    let mut errors = Errors { workflow, known, fuel: known.fuel, are_all_known, all, words, anchored };
    for (index, entry) in workflow.phases.iter().enumerate() {
        if errors.fuel.is_over() {
            break;
        }
        let own = [PathPart::Key("phases"), PathPart::Item(index)];
        for condition in &entry.when {
            errors.condition(index, &own, condition);
        }
        let question = entry.as_phase().and_then(Phase::question);
        for answer in question.iter().flat_map(|question| &question.answers) {
            let at = [own[0], own[1], PathPart::Key("outcomes"), PathPart::Key(&answer.outcome)];
            for condition in &answer.when {
                errors.condition(index, &at, condition);
            }
        }
        errors.outcomes(index, entry);
        match &entry.kind {
            EntryKind::Phase(phase) => {
                errors.results(phase);
                errors.variables(index, phase);
                errors.variables_of_step(index, phase);
                errors.paths(phase.gate.as_ref(), &phase.limits, Some(phase));
            }
            EntryKind::Workflow { key, with, outcomes, .. } => {
                errors.values(index, key, with);
                errors.exits_of_entry(index, key, outcomes);
            }
        }
    }
    // A group has the paths and inputs of its file.
    if workflow.group.is_none() {
        errors.paths(None, &workflow.limits, None);
        errors.inputs_in_paths();
        errors.outputs_of_workflow();
    }
    errors.bounds();
    errors.each();
    if let (MAX_ENTRIES.., true) = known.size(&workflow.key, 0) {
        let problem = WorkflowProblem::TooManyEntries { limit: MAX_ENTRIES };
        errors.report(problem, &[PathPart::Key("phases")]);
    }
    errors.anchored
}

pub(super) struct Errors<'a, 'k> {
    pub workflow: &'a Workflow,
    pub known: &'k Known<'a>,
    pub fuel: &'k Fuel,
    are_all_known: bool,
    /// The entries of the file of the workflow.
    pub(super) all: &'k [FileEntry<'a>],
    /// Those whose id is the word for a target.
    pub(super) words: Vec<&'a Entry>,
    pub(super) anchored: Vec<Anchored>,
}

impl<'a> Errors<'a, '_> {
    /// Returns true if the workflow is a repeated group, or lies in one.
    pub(super) fn is_repeated(&self) -> bool {
        let Some(Group { file, at }) = &self.workflow.group else { return false };
        let groups = (1..=at.len()).filter_map(|depth| at.get(..depth));
        let mut groups = groups.filter_map(|at| self.known.workflows.get(&*group_key(file, at)));
        groups.any(|group| group.each.is_some())
    }

    /// Checks the items of a repeated group: a list of the file that comes before the group.
    fn each(&mut self) {
        let Some(Each::Of(names)) = &self.workflow.each else { return };
        let at = self.workflow.group.as_ref().map_or(&[][..], |group| &group.at);
        let before = self.all.iter().filter(|of| of.is_before(at));
        let earlier: Vec<&'a Entry> = before.map(|of| of.entry).collect();
        for (index, of) in names.iter().enumerate() {
            let (found, suggestion) = match self.kind(of, at, &earlier).as_deref() {
                Ok(ValueType::List { .. }) if self.is_optional(of) => (format!("`{of}`, which is optional"), None),
                Ok(ValueType::List { .. }) => continue,
                Ok(kind) => (format!("`{of}`, which is {}", kind.expected()), None),
                Err(unknown) => (unknown.found.clone(), unknown.suggestion.clone()),
            };
            let expected = "an input or an output of an earlier phase that is a list";
            let problem = FieldProblem::bad("each", expected, found).suggest(suggestion);
            let item = (names.len() > 1).then_some(PathPart::Item(index));
            self.report(problem, &[PathPart::Key("each")].into_iter().chain(item).collect::<Vec<_>>());
        }
    }

    /// Returns the type of the value of this name for the entry at the indices `at`, behind the entries `earlier`: of
    /// an input, or of an output.
    fn kind(&self, name: &ValueName, at: &[usize], earlier: &[&'a Entry]) -> Result<Cow<'a, ValueType>, UnknownName> {
        let kind = self.declared(name, earlier)?;
        let whole = type_of((self.workflow, at), name, self.all, &|key| self.known.workflows.get(key).copied());
        Ok(whole.map_or(Cow::Borrowed(kind), TypeOf::whole))
    }

    /// Returns the type with which an input, or an output of one of these entries, is declared.
    fn declared(&self, name: &ValueName, entries: &[&'a Entry]) -> Result<&'a ValueType, UnknownName> {
        match name {
            ValueName::Input(name) => self.input(name),
            ValueName::Output { phase, name } => self.output(entries, phase, name),
            // Other names are refused when the file is read.
            _ => Ok(&ValueType::TEXT),
        }
    }

    /// Returns true if a value is an input that a run may have no value for.
    fn is_optional(&self, name: &ValueName) -> bool {
        matches!(name, ValueName::Input(name) if self.workflow.input(name).is_some_and(|input| input.is_optional))
    }

    /// Returns the names of the fields of the items around the entries.
    pub(super) fn fields_of_item(&self) -> Set<&'a str> {
        let fields = fields_of_item(self.workflow, self.all, &|key| self.known.workflows.get(key).copied());
        fields.into_iter().map(|field| &*field.name).collect()
    }

    fn entries(&self) -> impl Iterator<Item = &'a Entry> + Clone {
        self.all.iter().map(|of| of.entry)
    }

    /// Returns the entries of the file before the entry at `index`.
    fn before(&self, index: usize) -> Vec<&'a Entry> {
        if !self.fuel.spend(self.all.len()) {
            return Vec::new();
        }
        let at = self.workflow.place_of(index);
        self.all.iter().filter(|of| of.is_before(&at)).map(|of| of.entry).collect()
    }

    pub(super) fn report(&mut self, problem: impl Into<Problem>, at: &[PathPart]) {
        self.anchored.push(Anchored::new(self.workflow, problem, at));
    }

    /// Reports a problem in the file of a phase, or in the workflow.
    pub(super) fn report_in(&mut self, phase: Option<&Phase>, problem: impl Into<Problem>, at: &[PathPart]) {
        match phase {
            Some(phase) => self.anchored.push(Anchored::of_phase(phase, problem, at)),
            None => self.report(problem, at),
        }
    }

    fn results(&mut self, phase: &Phase) {
        let Results::Of(names) = &phase.results else { return };
        for (index, name) in names.iter().enumerate() {
            if !self.fuel.spend(self.all.len()) {
                return;
            }
            if self.entries().any(|entry| entry.is_called(name)) {
                continue;
            }
            let expected =
                format!("the id of a phase or the key of a nested workflow of the workflow \"{}\"", self.workflow.key);
            let problem = FieldProblem::bad("results", expected, format!("`{name}`"))
                .suggest(self.fuel.nearest(name, self.entries().map(Entry::id)));
            self.report_in(Some(phase), problem, &[PathPart::Key("results"), PathPart::Item(index)]);
        }
    }

    /// Checks the outcomes of the checks of a phase's gate.
    pub(super) fn checks(&mut self, gate: &Gate, names: &Set<&str>, phase: &Phase) {
        for (index, Check { outcome, .. }) in gate.checks.iter().enumerate() {
            let Some(outcome) = outcome.as_deref().filter(|outcome| !names.contains(outcome)) else {
                continue;
            };
            let problem =
                FieldProblem::bad("gate.outcome", listed(names, "an outcome of the phase"), format!("`{outcome}`"))
                    .suggest(self.fuel.nearest(outcome, names.iter().copied()));
            let at = [PathPart::Key("gate"), PathPart::Item(index), PathPart::Key("outcome")];
            self.report_in(Some(phase), problem, &at);
        }
    }

    /// Checks the values of the variables of the commands of a phase's gate.
    fn variables(&mut self, index: usize, phase: &Phase) {
        let checks = phase.gate.iter().flat_map(|gate| &gate.checks).enumerate();
        let commands = checks.filter_map(|(index, check)| match &check.kind {
            CheckKind::Run { command, .. } => Some((index, command)),
            CheckKind::File { .. } => None,
        });
        for (check, command) in commands {
            let at = [PathPart::Key("gate"), PathPart::Item(check)];
            if let Some(problem) = self.bad_line("gate.run", command, index) {
                self.report_in(Some(phase), problem, &[at[0], at[1], PathPart::Key("run")]);
            }
            for (name, problem) in self.unknown_values("gate.env", command) {
                let at = [at[0], at[1], PathPart::Key("env"), PathPart::Key(&name)];
                self.report_in(Some(phase), problem, &at);
            }
        }
    }

    fn variables_of_step(&mut self, index: usize, phase: &Phase) {
        let Some(step) = phase.step() else { return };
        if let Some(problem) = self.bad_line("run", &step.command, index) {
            self.report(problem, &[PathPart::Key("phases"), PathPart::Item(index), PathPart::Key("run")]);
        }
        for (name, problem) in self.unknown_values("env", &step.command) {
            let at = [PathPart::Key("phases"), PathPart::Item(index), PathPart::Key("env"), PathPart::Key(&name)];
            self.report(problem, &at);
        }
    }

    /// Returns the problem of a command of the entry at `index` that is a value of the run, but no command by its type.
    fn bad_line(&self, of: &str, command: &Command, index: usize) -> Option<FieldProblem> {
        let value = command.value()?;
        let (found, suggestion) = match self.kind(value, &self.workflow.place_of(index), &self.before(index)) {
            Ok(kind) if *kind == ValueType::Command => return None,
            Ok(kind) => (format!("`{value}`, which is {}", kind.expected()), None),
            Err(unknown) => (unknown.found, unknown.suggestion),
        };
        let expected = "a command, or an input or an output of an earlier step with `type: command`";
        Some(FieldProblem::bad(of, expected, found).suggest(suggestion))
    }

    /// Returns the variables of a command whose values are unknown, by name, each with its problem. `of` is the field.
    fn unknown_values(&mut self, of: &str, command: &Command) -> Vec<(String, FieldProblem)> {
        let mut problems = Vec::new();
        for Variable { name, value } in command.env() {
            let Some((expected, suggestion)) = self.unknown(value) else { continue };
            let problem = FieldProblem::bad(format!("{of}.{name}"), expected, format!("`{value}`")).suggest(suggestion);
            problems.push((name.clone(), problem));
        }
        problems
    }

    /// Returns what is expected in the place of a value that the workflow does not have, and the name that may be
    /// meant; `None` if it has the value.
    pub(super) fn unknown(&self, value: &ValueName) -> Option<(String, Option<String>)> {
        let meant = |of: &str, word, known: &mut dyn Iterator<Item = &'a str>| {
            self.fuel.nearest(of, known).map(|meant| format!("{word}.{meant}"))
        };
        match value {
            ValueName::Outcome(_) | ValueName::Output { .. } | ValueName::Log(_)
                if !self.fuel.spend(self.all.len()) =>
            {
                None
            }
            ValueName::Input(name) => {
                let unknown = self.input(name).err()?;
                Some((unknown.expected, unknown.suggestion))
            }
            ValueName::Outcome(id) => {
                let has_outcomes = |entry: &&Entry| entry.as_phase().is_none_or(|phase| !phase.outcomes.is_empty());
                let mut ids = self.entries().filter(has_outcomes);
                let expected = "the outcome of a phase with outcomes, or of a nested workflow, of the workflow";
                let is_known = ids.clone().any(|entry| entry.is_called(id));
                (!is_known).then(|| (expected.to_owned(), meant(id, "outcome", &mut ids.by_ref().map(Entry::id))))
            }
            ValueName::Summary(id) => {
                let mut own = self.entries();
                if !self.fuel.spend(self.all.len()) || own.any(|entry| entry.is_called(id)) {
                    return None;
                }
                if !self.fuel.spend(self.known.entries) {
                    return None;
                }
                let all = self.known.workflows.values().flat_map(|workflow| &workflow.phases);
                let is_known = all.clone().any(|entry| entry.is_called(id));
                let expected = "the summary of a phase, or of a nested workflow".to_owned();
                (!is_known && self.are_all_known).then(|| (expected, meant(id, "summary", &mut all.map(Entry::id))))
            }
            ValueName::Log(id) => {
                let mut steps = self.entries().filter_map(Entry::as_phase).filter(|phase| phase.step().is_some());
                let is_known = steps.clone().any(|step| step.id == *id);
                let mut ids = steps.by_ref().map(|step| &*step.id);
                (!is_known).then(|| ("the output of a step of the workflow".to_owned(), meant(id, "log", &mut ids)))
            }
            ValueName::Output { phase, name } => {
                let entries: Vec<&'a Entry> = self.entries().collect();
                let unknown = self.output(&entries, phase, name).err()?;
                Some(("an output of an entry of the workflow".to_owned(), unknown.suggestion))
            }
            ValueName::ItemField(name) => {
                let names = self.fields_of_item();
                (!names.contains(&**name))
                    .then(|| (listed(&names, FIELD_OF_ITEM), meant(name, "item", &mut names.iter().copied())))
            }
            ValueName::Item | ValueName::ItemNumber | ValueName::ItemCount if !self.is_repeated() => {
                Some((format!("`{value}` in a group with `each`"), None))
            }
            ValueName::Item
            | ValueName::ItemNumber
            | ValueName::ItemCount
            | ValueName::Task
            | ValueName::RunDir
            | ValueName::WorkflowDir => None,
        }
    }

    /// Checks that the values of the outputs of the workflow are there.
    fn outputs_of_workflow(&mut self) {
        let workflow = self.workflow;
        for WorkflowOutput { name, of } in &workflow.outputs {
            let Some((expected, suggestion)) = self.unknown(of) else { continue };
            let problem = FieldProblem::bad(format!("outputs.{name}"), expected, format!("`{of}`")).suggest(suggestion);
            self.report(problem, &[PathPart::Key("outputs"), PathPart::Key(name)]);
        }
    }

    /// Checks a condition in the `when` of the mapping at a path, which is the entry at `index` or a part of it.
    fn condition(&mut self, index: usize, of: &[PathPart], condition: &Condition) {
        let key = condition.of.to_string();
        let when = |last| [of, &[PathPart::Key("when"), last]].concat();
        let at = when(PathPart::Key(&key));
        let earlier = self.before(index);
        if condition.is_of_any() {
            return self.given(&when(PathPart::Key(Condition::GIVEN)), &earlier, &condition.of);
        }
        let (expected, found, suggestion) = match &condition.of {
            name @ (ValueName::Input(_) | ValueName::Output { .. }) => match self.declared(name, &earlier) {
                Ok(kind) => return self.condition_on(of, condition, kind),
                Err(unknown) => (unknown.expected, unknown.found, unknown.suggestion),
            },
            ValueName::Outcome(id) => {
                let mut names = Set::new();
                let called = earlier.iter().copied().filter(|entry| entry.is_called(id));
                let called: Vec<&'a Entry> = called.collect();
                for entry in &called {
                    match &entry.kind {
                        EntryKind::Phase(phase) => {
                            names.extend(phase.outcomes.iter().map(|outcome| &*outcome.name));
                        }
                        EntryKind::Workflow { key, .. } => {
                            names.extend(self.known.exits(key));
                        }
                    }
                }
                if !names.is_empty() {
                    let is_wrong = |value: &&String| !names.contains(value.as_str());
                    let Some(wrong) = condition.values.iter().find(is_wrong) else { return };
                    let problem = FieldProblem::bad(
                        format!("when.{key}"),
                        listed(&names, &format!("an outcome of `{id}`")),
                        format!("`{wrong}`"),
                    )
                    .suggest(meant_value(self.fuel, wrong, &Vec::from_iter(names)));
                    return self.report(problem, &at);
                }
                let why = if !called.is_empty() {
                    ", which has no outcomes"
                } else if self.entries().any(|entry| entry.is_called(id)) {
                    ", which does not come earlier"
                } else {
                    ""
                };
                let ids = earlier.iter().filter_map(|entry| entry.as_phase());
                let ids = ids.filter(|phase| !phase.outcomes.is_empty());
                let meant = self.fuel.nearest(id, ids.map(|phase| phase.id.as_str()));
                let meant = meant.filter(|_| why.is_empty()).map(|id| format!("outcome.{id}"));
                let expected = "the outcome of an earlier phase or nested workflow".to_owned();
                (expected, format!("`{key}`{why}"), meant)
            }
            ValueName::ItemField(name) => {
                let get = |key: &str| self.known.workflows.get(key).copied();
                let kind = type_of((self.workflow, &self.workflow.place_of(index)), &condition.of, self.all, &get);
                if let Some(kind) = kind.map(TypeOf::of_one) {
                    return self.condition_on(of, condition, kind);
                }
                let names = self.fields_of_item();
                let meant = self.fuel.nearest(name, names.iter().copied()).map(|name| format!("item.{name}"));
                (listed(&names, FIELD_OF_ITEM), format!("`{key}`"), meant)
            }
            // Other names are refused when the file is read.
            _ => return,
        };
        let problem = FieldProblem::bad("when", expected, found).suggest(suggestion);
        self.report(problem, &when(PathPart::Name(&key)));
    }

    /// Checks a value that the run must have for a condition: an input or an output of an earlier phase that is optional.
    fn given(&mut self, at: &[PathPart], earlier: &[&'a Entry], of: &ValueName) {
        let is_optional = match of {
            ValueName::Output { phase, name } => self.output(earlier, phase, name).map(|_| {
                let mut called = earlier.iter().filter(|entry| entry.is_called(phase));
                let get = |key: &str| self.known.workflows.get(key).copied();
                called.any(|entry| output_of(entry, name, &get).is_some_and(|output| output.is_optional))
            }),
            ValueName::Input(name) => self.input(name).map(|_| self.is_optional(of)),
            // Other names are refused when the file is read.
            _ => return,
        };
        let (found, meant) = match is_optional {
            Ok(true) => return,
            Ok(false) => (format!("`{of}`, which a run always has"), None),
            Err(unknown) => (unknown.found, unknown.suggestion),
        };
        let expected = "an input, or an output of an earlier phase, that is optional";
        self.report(FieldProblem::bad("when.given", expected, found).suggest(meant), at);
    }

    /// Checks a condition on a value of this type; the path is as for [`Self::condition`].
    fn condition_on(&mut self, of: &[PathPart], condition: &Condition, kind: &ValueType) {
        let key = condition.of.to_string();
        let when = |last| [of, &[PathPart::Key("when"), last]].concat();
        if let ValueType::List { .. } = kind {
            let problem = FieldProblem::bad("when", "a value that is no list", format!("`{key}`"));
            return self.report(problem, &when(PathPart::Name(&key)));
        }
        let is_of_item = matches!(condition.of, ValueName::ItemField(_));
        if is_of_item && !matches!(kind, ValueType::Choice(_) | ValueType::Flag) {
            let problem = FieldProblem::bad("when", "a choice or a flag", format!("`{key}`"));
            return self.report(problem, &when(PathPart::Name(&key)));
        }
        let is_wrong = |value: &&String| kind.value(value).is_none();
        let Some(wrong) = condition.values.iter().find(is_wrong) else { return };
        let problem = FieldProblem::bad(format!("when.{key}"), kind.expected(), format!("`{wrong}`"))
            .suggest(meant_value(self.fuel, wrong, &kind.options()));
        self.report(problem, &when(PathPart::Key(&key)));
    }

    fn input(&self, name: &str) -> Result<&'a ValueType, UnknownName> {
        let names = || self.workflow.inputs.iter().map(|input| &*input.name);
        self.workflow.input(name).map(|input| &input.kind).ok_or_else(|| UnknownName {
            expected: listed(&names().collect(), "an input of the workflow"),
            found: format!("`input.{name}`, which the workflow does not have"),
            suggestion: self.fuel.nearest(name, names()).map(|name| format!("input.{name}")),
        })
    }

    fn output(&self, entries: &[&'a Entry], phase: &str, name: &str) -> Result<&'a ValueType, UnknownName> {
        let get = |key: &str| self.known.workflows.get(key).copied();
        let outputs = |entry: &'a Entry| outputs_of(entry, &get);
        let is_called = |entry: &&Entry| entry.id() == phase && entry.group_key().is_none();
        let mut found = entries.iter().copied().filter(is_called);
        if let Some(output) = found.clone().find_map(|entry| output_of(entry, name, &get)) {
            return Ok(&output.kind);
        }
        let why = if found.any(|entry| outputs(entry).is_empty()) {
            ", which has no outputs"
        } else if self.entries().any(|entry| is_called(&entry)) && !entries.iter().any(is_called) {
            ", which does not come earlier"
        } else {
            ""
        };
        let fits = self.fuel.spend(entries.iter().map(|entry| outputs(entry).len()).sum());
        let names: Vec<String> = entries
            .iter()
            .filter(|_| fits)
            .flat_map(|entry| outputs(entry).iter().map(|output| format!("output.{}.{}", entry.id(), output.name)))
            .collect();
        let unknown = format!("output.{phase}.{name}");
        let meant = self.fuel.nearest(&unknown, names.iter().map(String::as_str)).map(ToOwned::to_owned);
        Err(UnknownName {
            expected: "an output of an earlier phase".into(),
            found: format!("`{unknown}`{why}"),
            suggestion: meant.filter(|_| why.is_empty()),
        })
    }

    /// Checks the values that an entry gives a nested workflow.
    fn values(&mut self, index: usize, key: &str, with: &Map<String, Given>) {
        let Some(nested) = self.known.workflows.get(key).copied() else { return };
        let here = [PathPart::Key("phases"), PathPart::Item(index)];
        let earlier = self.before(index);
        let used = self.known.rule_inputs(key);
        for (name, given) in with {
            let Some(input) = nested.input(name) else {
                let names: Set<&str> = nested.inputs.iter().map(|input| &*input.name).collect();
                let problem = FieldProblem::bad(
                    "with",
                    listed(&names, &format!("an input of the workflow \"{key}\"")),
                    format!("`{name}`"),
                )
                .suggest(self.fuel.nearest(name, names.iter().copied()));
                self.report(problem, &[here[0], here[1], PathPart::Key("with"), PathPart::Name(name)]);
                continue;
            };
            if let Some(problem) = used.get(&**name).and_then(|as_what| Self::bad_in_rule(*as_what, name, given)) {
                self.report(problem, &[here[0], here[1], PathPart::Key("with"), PathPart::Key(name)]);
                continue;
            }
            let (found, suggestion) = match given {
                given if given.value(&input.kind).is_some() => continue,
                Given::Value(value) => {
                    let meant = self.fuel.nearest(value, input.kind.options()).map(ToOwned::to_owned);
                    (format!("`{value}`"), meant)
                }
                Given::List(_) => ("a list".to_owned(), None),
                Given::Name(of) if self.is_optional(of) && input.is_required() => {
                    (format!("`{of}`, which is optional"), None)
                }
                Given::Name(of @ (ValueName::Input(_) | ValueName::Output { .. })) => {
                    match self.kind(of, &self.workflow.place_of(index), &earlier) {
                        Ok(kind) if input.kind.accepts(&kind) => continue,
                        Ok(kind) => (format!("`{of}`, which is {}", kind.expected()), None),
                        Err(unknown) => (unknown.found, unknown.suggestion),
                    }
                }
                Given::Name(of @ ValueName::ItemField(_)) => {
                    let get = |key: &str| self.known.workflows.get(key).copied();
                    match type_of((self.workflow, &self.workflow.place_of(index)), of, self.all, &get) {
                        Some(kind) if input.kind.accepts(kind.of_one()) => continue,
                        Some(kind) => (format!("`{of}`, which is {}", kind.of_one().expected()), None),
                        None => (format!("`{of}`, which is no field of the items"), None),
                    }
                }
                Given::Name(ValueName::Item) => match (self.is_repeated(), &input.kind) {
                    (true, ValueType::Text(_)) => continue,
                    (true, _) => ("`item`, which is a text".to_owned(), None),
                    (false, _) => ("`item`, which is that of a group with `each`".to_owned(), None),
                },
                // Other names are refused when the file is read.
                Given::Name(_) => continue,
            };
            let problem = FieldProblem::bad(format!("with.{name}"), input.kind.expected(), found).suggest(suggestion);
            self.report(problem, &[here[0], here[1], PathPart::Key("with"), PathPart::Key(name)]);
        }
        let names = || nested.inputs.iter().map(|input| &*input.name);
        let unknown: Vec<&String> = with.keys().filter(|name| names().all(|other| other != name.as_str())).collect();
        // An unknown name that suggests this input is already reported.
        let is_meant =
            |input: &Input| unknown.iter().any(|name| self.fuel.nearest(name, names()) == Some(input.name.as_str()));
        let is_missing = |input: &&Input| input.is_required() && !with.contains_key(&input.name) && !is_meant(input);
        let missing: Vec<&Input> = nested.inputs.iter().filter(is_missing).collect();
        for input in missing {
            let (reference, name) = (key.to_owned(), input.name.clone());
            let problem = WorkflowProblem::MissingInput { reference, name, expected: input.kind.expected() };
            self.report(problem, &here);
        }
    }
}

/// A name that names nothing.
struct UnknownName {
    expected: String,
    found: String,
    suggestion: Option<String>,
}

/// Returns the value that a wrong value means: for `!a` all other values, because a condition cannot be negated.
fn meant_value(fuel: &Fuel, wrong: &str, values: &[&str]) -> Option<String> {
    let Some(negated) = wrong.strip_prefix('!').map(str::trim) else {
        return fuel.nearest(wrong, values.iter().copied()).map(Into::into);
    };
    let others: Vec<&str> = values.iter().copied().filter(|value| *value != negated).collect();
    match others[..] {
        [] => None,
        [other] => Some(other.to_owned()),
        _ => Some(format!("[{}]", others.join(", "))),
    }
}

/// The field of an item, where another name stands.
pub(super) const FIELD_OF_ITEM: &str = "a field of the items of the group with `each`, which are records";

/// Maximum number of names in a message.
const MAX_LISTED: usize = 20;

/// Returns the words `one` followed by the names; the words alone if there are too many names.
pub(crate) fn listed(names: &Set<&str>, one: &str) -> String {
    if names.is_empty() || names.len() > MAX_LISTED {
        return one.to_owned();
    }
    let names: Vec<&str> = names.iter().copied().collect();
    format!("{one}: {}", either(&names))
}
