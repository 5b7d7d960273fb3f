//! The workflows that validation knows, and facts about them that are found once.

use std::cell::RefCell;

use crate::definition::model::{Each, Entry, EntryKind, MAX_NESTING, RuleUse, Target, Workflow, inputs_of_rules};
use crate::sorted::{Map, Set};

use super::fuel::Fuel;

pub(crate) type Workflows<'a> = Map<&'a str, &'a Workflow>;

/// The workflows that validation knows, and the facts about them that were found so far.
pub(crate) struct Known<'a> {
    pub workflows: Workflows<'a>,
    pub fuel: &'a Fuel,
    /// The number of entries of all workflows.
    pub(super) entries: usize,
    exits: RefCell<Map<&'a str, Set<&'a str>>>,
    sizes: RefCell<Map<&'a str, (usize, bool)>>,
    rule_inputs: RefCell<Map<&'a str, Map<&'a str, RuleUse>>>,
}

impl<'a> Known<'a> {
    pub fn new(workflows: impl Iterator<Item = &'a Workflow>, fuel: &'a Fuel) -> Self {
        let workflows: Workflows = workflows.map(|workflow| (workflow.key.as_str(), workflow)).collect();
        let entries = workflows.values().map(|workflow| workflow.phases.len()).sum();
        let (exits, sizes, rule_inputs) = Default::default();
        Self { workflows, fuel, entries, exits, sizes, rule_inputs }
    }

    /// Returns the outcomes with which a workflow may end. Where conditions decide, some of these outcomes may be
    /// impossible. A reference to a missing workflow, or into a cycle, counts as a workflow without outcomes.
    pub fn exits(&self, key: &str) -> Set<&'a str> {
        self.exits_of(key, 0)
    }

    /// Like [`Self::exits`]; a workflow that is nested too deep has no outcomes.
    fn exits_of(&self, key: &str, depth: usize) -> Set<&'a str> {
        if let Some(exits) = self.exits.borrow().get(key) {
            return exits.clone();
        }
        let Some(workflow) = self.workflows.get(key).copied().filter(|_| depth <= MAX_NESTING) else {
            return Set::new();
        };
        // Ends the recursion at a workflow that leads back to itself; such a workflow is left out.
        self.exits.borrow_mut().insert(&workflow.key, Set::new());
        let mut found = self.ends(workflow, depth);
        if let Some(place) = &workflow.place {
            found.retain(|name| place.outcomes.iter().any(|outcome| outcome.name == *name));
        }
        if self.fuel.is_over() {
            self.exits.borrow_mut().remove(key);
        } else {
            self.exits.borrow_mut().insert(&workflow.key, found.clone());
        }
        found
    }

    /// Returns the outcomes with which the branches of a parallel group may end. See [`Known::exits`].
    pub fn exits_of_branches(&self, group: &'a Workflow) -> Set<&'a str> {
        self.ends(group, 0)
    }

    /// Returns the outcomes with which a workflow ends; each entry of a parallel group ends its branch.
    fn ends(&self, workflow: &'a Workflow, depth: usize) -> Set<&'a str> {
        let is_certain = |entry: &Entry| {
            let group = entry.group_key().and_then(|key| self.workflows.get(key));
            let is_each = group.is_some_and(|group| matches!(group.each, Some(Each::Of(_))));
            entry.when.is_empty() && !is_each
        };
        // From this index on all entries may be passed over: the end may follow the entry before, and each later entry.
        let optional_from = workflow.phases.iter().rposition(is_certain).map_or(0, |last| last + 1);
        let optional_from = if workflow.has_branches_beside() { 0 } else { optional_from };
        let mut found = Set::new();
        for (index, entry) in workflow.phases.iter().enumerate() {
            let may_end_next = index + 1 >= optional_from;
            let names: Set<&str> = match &entry.kind {
                EntryKind::Phase(phase) => phase.outcomes.iter().map(|outcome| outcome.name.as_str()).collect(),
                EntryKind::Workflow { key, .. } => self.exits_of(key, depth + 1),
            };
            // Each target is looked up among the entries.
            if !self.fuel.spend(names.len() + entry.outcomes().len() * workflow.phases.len()) {
                return found;
            }
            let ends = |name: &&str| {
                let Some(outcome) = entry.outcome(name) else { return may_end_next };
                outcome.targets().any(|target| match workflow.target(index, target) {
                    Some(target) => target >= optional_from,
                    // An unknown id counts as a way to the end; the id itself is an error.
                    None => matches!(target, Target::Entry(_)),
                })
            };
            found.extend(names.into_iter().filter(ends));
        }
        found
    }

    /// Returns the number of entries of a workflow, including nested workflows, and true if an entry has conditions or
    /// outcomes.
    pub(super) fn size(&self, key: &'a str, depth: usize) -> (usize, bool) {
        if let Some(size) = self.sizes.borrow().get(key) {
            return *size;
        }
        let Some(workflow) = self.workflows.get(key).filter(|_| depth <= MAX_NESTING) else {
            return (0, false);
        };
        // Ends the recursion at a workflow that leads back to itself; such a workflow is left out.
        self.sizes.borrow_mut().insert(key, (0, false));
        let (mut count, mut has_ways) = (0_usize, false);
        for entry in &workflow.phases {
            has_ways |= !entry.when.is_empty() || !entry.outcomes().is_empty();
            count = count.saturating_add(1);
            match &entry.kind {
                EntryKind::Phase(_) => {}
                EntryKind::Workflow { key, .. } => {
                    let (nested, nested_has) = self.size(key, depth + 1);
                    count = count.saturating_add(nested);
                    has_ways |= nested_has;
                }
            }
        }
        self.sizes.borrow_mut().insert(key, (count, has_ways));
        (count, has_ways)
    }

    /// Returns the inputs that the rules of a workflow use, by name.
    pub(super) fn rule_inputs(&self, key: &str) -> Map<&'a str, RuleUse> {
        inputs_of_rules(key, 0, &|key| self.workflows.get(key).copied(), &mut self.rule_inputs.borrow_mut())
    }
}
