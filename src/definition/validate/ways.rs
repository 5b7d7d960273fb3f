//! Warnings about the ways through a workflow: phases that no way reaches, and outcomes from which no way
//! leads to the end.
//!
//! Ways are followed with the set of values that each input and each outcome may have. The sets are independent of each
//! other, so validation follows more ways than a run can take: every warning is true, but some problems are not found.

use crate::sorted::{Map, Set};

use super::fuel::Fuel;
use super::known::Known;
use crate::definition::diagnostic::{Anchored, PathPart, WorkflowProblem};
use crate::definition::model::work::Step;
use crate::definition::model::{
    Condition, Each, Entry, EntryKind, FileEntry, Library, Outcome, Output, Show, Target, TypeOf, ValueName, ValueType,
    Workflow, entries_of_file, output_of, type_of,
};

/// Maximum number of values that are looked at, in all workflows together. Workflows that need more get no warnings.
const MAX_FUEL: usize = 4_000_000;

/// Reports the warnings of all workflows with conditions or outcomes.
pub(crate) fn report(library: &Library, fuel: &Fuel, anchored: &mut Vec<Anchored>) {
    let known = Known::new(library.scopes(), fuel);
    let mut fuel_left = MAX_FUEL;
    for workflow in library.scopes() {
        fuel.begin([workflow]);
        let has_ways = |entry: &Entry| !entry.when.is_empty() || !entry.outcomes().is_empty();
        if workflow.phases.iter().any(has_ways)
            && let Some(ways) = Ways::follow(workflow, &known, &mut fuel_left)
        {
            ways.report(anchored);
        }
    }
}

/// A value of an input or an outcome; `None` stands for no value, and for a value that no condition names.
type Value<'a> = Option<&'a str>;

/// The possible values of each source that a condition names.
type Values<'a> = Vec<Set<Value<'a>>>;

/// A step of a way: from an entry with an outcome, if it has outcomes, to another entry. The number of entries is the
/// end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: usize,
    /// The index of the outcome.
    outcome: Option<usize>,
    to: usize,
}

/// The number of sources and of their values.
fn size(values: &Values) -> usize {
    values.iter().map(|values| 1 + values.len()).sum()
}

struct Ways<'a, 'k> {
    workflow: &'a Workflow,
    known: &'k Known<'a>,
    /// The entries of the file of the workflow.
    all: Vec<FileEntry<'a>>,
    sources: Vec<&'a ValueName>,
    /// The values with which each entry may be entered; `None` for an entry that no way reaches.
    entered: Vec<Option<Values<'a>>>,
    /// The entries whose values have changed since they were left.
    ahead: Set<usize>,
    edges: Set<Edge>,
    /// A run may have nothing to do.
    may_be_empty: bool,
    fuel_left: &'k mut usize,
}

impl<'a, 'k> Ways<'a, 'k> {
    /// Follows all ways; `None` if that takes more fuel than is left.
    fn follow(workflow: &'a Workflow, known: &'k Known<'a>, fuel_left: &'k mut usize) -> Option<Self> {
        let mut sources: Vec<&ValueName> = Vec::new();
        let conditions = workflow.phases.iter().flat_map(|entry| &entry.when);
        sources.extend(conditions.map(|condition| &condition.of));
        sources.sort_unstable();
        sources.dedup();
        let entered = vec![None; workflow.phases.len()];
        let mut ways = Self {
            workflow,
            known,
            all: entries_of_file(workflow, &|key| known.workflows.get(key).copied()),
            sources,
            entered,
            ahead: Set::new(),
            edges: Set::new(),
            may_be_empty: false,
            fuel_left,
        };
        let first: Values = ways.sources.iter().map(|source| ways.initial(source)).collect();
        let is_first = |index: &usize| *index == 0 || workflow.has_branches_beside();
        ways.may_be_empty = true;
        for index in (0..workflow.phases.len()).filter(is_first) {
            ways.may_be_empty &= ways.arrive(None, index, first.clone())?;
        }
        while let Some(index) = ways.ahead.pop_first() {
            ways.leave(index)?;
        }
        Some(ways)
    }

    /// Returns the values that a source may have at the start.
    fn initial(&self, source: &ValueName) -> Set<Value<'a>> {
        let ValueName::Input(name) = source else {
            if matches!(source, ValueName::ItemField(_)) {
                return self.any_value(source);
            }
            let own = self.workflow.group.as_ref().map_or(&[][..], |group| &group.at);
            return match self.is_from(source, |at| !at.starts_with(own)) {
                true => self.any_value(source),
                false => [None].into(),
            };
        };
        let input = self.workflow.input(name);
        let mut values = self.possible(source, input.map(|input| &input.kind));
        values.extend(input.and_then(|input| input.is_optional.then_some(None)));
        values
    }

    /// Returns true if a source is an outcome or output of an entry of the file at a place that `is_place` accepts.
    fn is_from(&self, source: &ValueName, is_place: impl Fn(&[usize]) -> bool) -> bool {
        let id = match source {
            ValueName::Outcome(id) | ValueName::Output { phase: id, .. } => id,
            _ => return false,
        };
        self.all.iter().any(|of| of.entry.is_called(id) && is_place(&of.at))
    }

    /// Returns all values that an outcome or output may have, and `None`.
    fn any_value(&self, source: &ValueName) -> Set<Value<'a>> {
        let mut values = self.possible(source, self.output_type(source));
        values.insert(None);
        values
    }

    fn output_type(&self, source: &ValueName) -> Option<&'a ValueType> {
        if let ValueName::ItemField(_) = source {
            let get = |key: &str| self.known.workflows.get(key).copied();
            return type_of((self.workflow, &[]), source, &self.all, &get).map(TypeOf::of_one);
        }
        let ValueName::Output { phase, name } = source else { return None };
        let mut entries = self.all.iter().map(|of| of.entry).filter(|entry| entry.id() == phase);
        entries.find_map(|entry| Some(&self.output(entry, name)?.kind))
    }

    fn output(&self, entry: &'a Entry, name: &str) -> Option<&'a Output> {
        output_of(entry, name, &|key| self.known.workflows.get(key).copied())
    }

    /// Returns the values that a source of this type may have.
    fn possible(&self, source: &ValueName, kind: Option<&'a ValueType>) -> Set<Value<'a>> {
        match kind {
            Some(ValueType::Choice(options)) => options.iter().map(|option| Some(option.as_str())).collect(),
            Some(ValueType::Flag) => [Some("true"), Some("false")].into(),
            Some(ValueType::Text(_) | ValueType::Number(_) | ValueType::Command | ValueType::List { .. }) | None => {
                let conditions = self.workflow.phases.iter().flat_map(|entry| &entry.when);
                let of_source = conditions.filter(|condition| condition.of == *source);
                let mut values: Set<Value> = [None].into();
                for condition in of_source {
                    values.extend(condition.values.iter().map(|value| Some(value.as_str())));
                    // Any value that no condition names.
                    values.extend(condition.is_of_any().then_some(Some("…")));
                }
                values
            }
        }
    }

    /// Follows the ways from an entry on.
    fn leave(&mut self, index: usize) -> Option<()> {
        let (Some(entry), Some(Some(values))) = (self.workflow.phases.get(index), self.entered.get(index).cloned())
        else {
            return Some(());
        };
        let outcomes = entry.outcomes().len();
        self.spend((3 + outcomes) * (1 + size(&values)))?;
        match &entry.kind {
            EntryKind::Phase(phase) => {
                let entered = values;
                let values = self.with_outputs(&entered, entry);
                if phase.outcomes.is_empty() {
                    self.arrive(Some((index, None)), index + 1, values.clone())?;
                }
                for (number, outcome) in phase.outcomes.iter().enumerate() {
                    let has_failed = phase.step().is_some() && outcome.name == Step::FAILED;
                    let values = match has_failed {
                        true => self.without_outputs(&entered, entry),
                        false => values.clone(),
                    };
                    self.follow_outcome(index, (number, outcome), entry, &values)?;
                }
                // A target of `onBudget` does not count as a way to the end.
                let over_budget = phase.on_budget.as_ref();
                let over_budget = over_budget.and_then(|to| self.workflow.target(index, to));
                if let Some(target) = over_budget {
                    self.arrive(None, target, values.clone())?;
                }
                if self.workflow.loopable {
                    self.arrive(None, 0, values)?;
                }
            }
            EntryKind::Workflow { key, .. } => {
                let values = self.with_outputs(&self.after_group(&values, index), entry);
                let mut exits: Set<Value> = self.known.exits(key).into_iter().map(Some).chain([None]).collect();
                self.spend(exits.len())?;
                for (number, outcome) in entry.outcomes().iter().enumerate() {
                    exits.remove(&Some(&*outcome.name));
                    self.follow_outcome(index, (number, outcome), entry, &values)?;
                }
                let values = self.with_outcome(&values, entry, exits);
                self.arrive(Some((index, None)), index + 1, values)?;
            }
        }
        Some(())
    }

    /// Follows the ways of an outcome of the entry at `index`; `number` is the index of the outcome among the outcomes
    /// with known targets.
    fn follow_outcome(
        &mut self,
        index: usize,
        (number, outcome): (usize, &'a Outcome),
        entry: &Entry,
        values: &Values<'a>,
    ) -> Option<()> {
        let values = self.with_outcome(values, entry, [Some(&*outcome.name)].into());
        let from = Some((index, Some(number)));
        for target in outcome.targets() {
            if *target == Target::Stop {
                let to = self.workflow.phases.len();
                self.edges.insert(Edge { from: index, outcome: Some(number), to });
            }
            let Some(target) = self.workflow.target(index, target) else { continue };
            self.arrive(from, target, values.clone())?;
        }
        Some(())
    }

    /// Returns the values after the entry at `index` was left. If the entry is a group, its entries may have given any
    /// values.
    fn after_group(&self, values: &Values<'a>, index: usize) -> Values<'a> {
        let mut values = values.clone();
        let own = self.workflow.place_of(index);
        for (source, set) in self.sources.iter().zip(&mut values) {
            if self.is_from(source, |at| at.len() > own.len() && at.starts_with(&own)) {
                set.extend(self.any_value(source));
            }
        }
        values
    }

    /// Returns the values after an entry was left with one of these outcomes.
    fn with_outcome(&self, values: &Values<'a>, entry: &Entry, outcomes: Set<Value<'a>>) -> Values<'a> {
        let mut values = values.clone();
        for (source, set) in self.sources.iter().zip(&mut values) {
            let ValueName::Outcome(id) = source else { continue };
            if !entry.is_called(id) {
                continue;
            }
            // If several entries have this name, the outcome of another entry may be the one that counts.
            if self.workflow.phases.iter().filter(|entry| entry.is_called(id)).count() == 1 {
                set.clear();
            }
            set.extend(&outcomes);
        }
        values
    }

    /// Returns the values after an entry was left with its outputs.
    fn with_outputs(&self, values: &Values<'a>, entry: &'a Entry) -> Values<'a> {
        let mut values = values.clone();
        for (source, set) in self.sources.iter().zip(&mut values) {
            let ValueName::Output { phase, name } = source else { continue };
            let Some(output) = self.output(entry, name).filter(|_| entry.id() == phase) else { continue };
            // A required output always has a value here: only the user leaves the phase without a value.
            *set = self.possible(source, Some(&output.kind));
            set.extend(output.is_optional.then_some(None));
        }
        values
    }

    /// Returns the values after a step has failed: a failed step has no outputs.
    fn without_outputs(&self, values: &Values<'a>, entry: &Entry) -> Values<'a> {
        let mut values = values.clone();
        for (source, set) in self.sources.iter().zip(&mut values) {
            if matches!(source, ValueName::Output { phase, .. } if entry.id() == phase) {
                *set = [None].into();
            }
        }
        values
    }

    /// Follows the ways that arrive at an entry, past entries whose conditions may not hold; returns true if a way may
    /// arrive at the end.
    fn arrive(
        &mut self,
        from: Option<(usize, Option<usize>)>,
        mut index: usize,
        mut values: Values<'a>,
    ) -> Option<bool> {
        let end = self.workflow.phases.len();
        let is_alone = self.workflow.has_branches_beside();
        if is_alone && from.is_some() {
            index = end;
        }
        while let Some(entry) = self.workflow.phases.get(index) {
            // A list may have no items.
            let group = entry.group_key().and_then(|key| self.known.workflows.get(key));
            let is_each = group.is_some_and(|group| matches!(group.each, Some(Each::Of(_))));
            let (mut parts, mut may_enter, mut may_pass) = (Vec::new(), true, is_each);
            for condition in &entry.when {
                let Ok(source) = self.sources.binary_search(&&condition.of) else { continue };
                let Some(possible) = values.get(source) else { continue };
                self.spend(1 + possible.len() * condition.values.len())?;
                let (held, failed): (Set<Value>, Set<Value>) =
                    possible.iter().partition(|value| self.holds(condition, value));
                may_enter &= !held.is_empty();
                may_pass |= !failed.is_empty();
                parts.push((source, held, failed));
            }
            if may_enter {
                let mut inside = values.clone();
                for (source, held, _) in &parts {
                    inside.get_mut(*source)?.clone_from(held);
                }
                self.enter(from, index, inside)?;
            }
            if !may_pass {
                return Some(false);
            }
            if let [(source, _, failed)] = &parts[..] {
                values.get_mut(*source)?.clone_from(failed);
            }
            index = if is_alone { end } else { index + 1 };
        }
        self.edges.extend(from.map(|(from, outcome)| Edge { from, outcome, to: index }));
        Some(true)
    }

    fn enter(&mut self, from: Option<(usize, Option<usize>)>, index: usize, values: Values<'a>) -> Option<()> {
        self.edges.extend(from.map(|(from, outcome)| Edge { from, outcome, to: index }));
        self.spend(1 + size(&values))?;
        let known = self.entered.get_mut(index)?;
        let changed = match known {
            None => {
                *known = Some(values);
                true
            }
            Some(known) => {
                let before = size(known);
                known.iter_mut().zip(values).for_each(|(known, values)| known.extend(values));
                before < size(known)
            }
        };
        if changed {
            self.ahead.insert(index);
        }
        Some(())
    }

    fn holds(&self, condition: &Condition, value: &Value) -> bool {
        match (value, &condition.of) {
            (None, _) => false,
            (Some(value), ValueName::Input(name)) => {
                self.workflow.input(name).is_some_and(|input| condition.holds_for(&input.kind, value))
            }
            (Some(value), of @ (ValueName::Output { .. } | ValueName::ItemField(_))) => {
                let kind = self.output_type(of);
                kind.is_some_and(|kind| condition.holds_for(kind, value))
            }
            (Some(value), _) => condition.values.iter().any(|wanted| wanted == value),
        }
    }

    /// Spends fuel; `None` if too little is left.
    fn spend(&mut self, fuel: usize) -> Option<()> {
        let left = self.fuel_left.checked_sub(fuel);
        *self.fuel_left = left.unwrap_or(0);
        left.map(|_| ())
    }

    /// Returns the entries from which a way leads to the end, and the end.
    fn ending(&self) -> Set<usize> {
        let mut sources: Map<usize, Vec<usize>> = Map::new();
        for edge in &self.edges {
            sources.entry(edge.to).or_default().push(edge.from);
        }
        let (mut ending, mut ahead) = (Set::new(), vec![self.workflow.phases.len()]);
        while let Some(entry) = ahead.pop() {
            if ending.insert(entry) {
                ahead.extend(sources.remove(&entry).unwrap_or_default());
            }
        }
        ending
    }

    /// Returns true if a run may pass over the entries of the file, as over the entries of this workflow or group. Other
    /// workflows that nest a workflow with `show: workflows` have something to do beside it.
    fn may_pass_file(&self) -> bool {
        let group = self.workflow.group.as_ref();
        let file = group.map_or(Some(self.workflow), |group| self.known.workflows.get(&*group.file).copied());
        if file.is_some_and(|file| file.show == Show::Workflows) {
            return false;
        }
        let mut values: Map<&ValueName, Set<Value>> = Map::new();
        let mut around: Vec<&FileEntry> = Vec::new();
        group.is_none()
            || self.all.iter().all(|of| {
                around.retain(|outer| of.at.starts_with(&outer.at));
                around.push(of);
                if of.entry.group_key().is_some() {
                    return true;
                }
                let conditions: Vec<&Condition> = around.iter().flat_map(|outer| &outer.entry.when).collect();
                let failed = conditions.iter().map(|condition| {
                    let at_start = || match matches!(condition.of, ValueName::Input(_)) {
                        true => self.initial(&condition.of),
                        false => [None].into(),
                    };
                    let possible = values.get(&condition.of).cloned().unwrap_or_else(at_start);
                    possible.into_iter().filter(|value| !self.holds(condition, value)).collect()
                });
                let failed: Vec<Set<Value>> = failed.collect();
                if let ([condition], [failed]) = (&conditions[..], &failed[..]) {
                    values.insert(&condition.of, failed.clone());
                }
                failed.iter().any(|failed| !failed.is_empty())
            })
    }

    fn report(self, anchored: &mut Vec<Anchored>) {
        let ending = self.ending();
        let to_end = self.edges.iter().filter(|edge| ending.contains(&edge.to));
        let to_end: Set<(usize, Option<usize>)> = to_end.map(|edge| (edge.from, edge.outcome)).collect();
        let entries = self.workflow.phases.iter().zip(&self.entered).enumerate();
        for (index, (entry, values)) in entries {
            let name = match &entry.kind {
                EntryKind::Phase(phase) => &phase.id,
                EntryKind::Workflow { key, id, .. } => id.as_ref().unwrap_or(key),
            };
            if values.is_none() {
                let problem = WorkflowProblem::Unreachable { entry: name.clone() };
                let at = [PathPart::Key("phases"), PathPart::Item(index)];
                anchored.push(Anchored::new(self.workflow, problem, &at));
                continue;
            }
            for (number, outcome) in entry.outcomes().iter().enumerate() {
                if !to_end.contains(&(index, Some(number))) {
                    let workflow = self.workflow.in_words();
                    let problem = WorkflowProblem::NoEnd { outcome: outcome.name.clone(), workflow };
                    let at = [PathPart::Key("outcomes"), PathPart::Key(&outcome.name)];
                    anchored.push(match entry.as_phase().filter(|_| !outcome.of_entry) {
                        Some(phase) => Anchored::of_phase(phase, problem, &at),
                        None => {
                            let at = [PathPart::Key("phases"), PathPart::Item(index), at[0], at[1]];
                            Anchored::new(self.workflow, problem, &at)
                        }
                    });
                }
            }
        }
        if self.may_be_empty && self.may_pass_file() {
            anchored.push(Anchored::new(self.workflow, WorkflowProblem::NothingToDo, &[PathPart::Key("phases")]));
        }
    }
}
