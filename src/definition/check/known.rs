//! The workflows that a check knows, and facts of them that are looked up again and again.

use std::cell::RefCell;

use crate::definition::model::{
    Decide, Each, Entry, EntryKind, MAX_NESTING, RuleUse, Target, Workflow, inputs_of_rules,
};
use crate::sorted::{Map, Set};

use super::work::Work;

pub(crate) type Workflows<'a> = Map<&'a str, &'a Workflow>;

/// The workflows around those that are checked, and facts of them that were found before.
pub(crate) struct Known<'a> {
    pub workflows: Workflows<'a>,
    pub work: &'a Work,
    /// The number of entries of all workflows.
    pub(super) entries: usize,
    exits: RefCell<Map<&'a str, Set<&'a str>>>,
    sizes: RefCell<Map<&'a str, (usize, bool)>>,
    rule_inputs: RefCell<Map<&'a str, Map<&'a str, RuleUse>>>,
}

impl<'a> Known<'a> {
    pub fn new(workflows: impl Iterator<Item = &'a Workflow>, work: &'a Work) -> Self {
        let workflows: Workflows = workflows.map(|workflow| (workflow.key.as_str(), workflow)).collect();
        let entries = workflows.values().map(|workflow| workflow.phases.len()).sum();
        let (exits, sizes, rule_inputs) = Default::default();
        Self { workflows, work, entries, exits, sizes, rule_inputs }
    }

    /// Returns the outcomes with which a workflow may end; also some with which it does not, where conditions decide.
    /// References to workflows that are not there, or that lead to a cycle, count as workflows without outcomes.
    pub fn exits(&self, key: &str) -> Set<&'a str> {
        self.exits_of(key, 0)
    }

    /// Does the same; one that is nested too deep has none.
    pub(super) fn exits_of(&self, key: &str, depth: usize) -> Set<&'a str> {
        if let Some(exits) = self.exits.borrow().get(key) {
            return exits.clone();
        }
        let Some(workflow) = self.workflows.get(key).copied().filter(|_| depth <= MAX_NESTING) else {
            return Set::new();
        };
        // For a workflow that leads back to itself, which is left out.
        self.exits.borrow_mut().insert(&workflow.key, Set::new());
        let found = match workflow.parallel.as_ref().map(|parallel| &parallel.decide) {
            Some(None) => Set::new(),
            Some(Some(Decide::First(names))) => {
                let ends = self.ends(workflow, depth).into_iter();
                ends.filter(|name| names.iter().any(|other| other == name)).collect()
            }
            None | Some(Some(Decide::Majority)) => self.ends(workflow, depth),
        };
        if self.work.is_over() {
            self.exits.borrow_mut().remove(key);
        } else {
            self.exits.borrow_mut().insert(&workflow.key, found.clone());
        }
        found
    }

    /// Returns the outcomes with which the branches of a parallel group may end, as [`Known::exits`] does of a workflow.
    pub fn exits_of_branches(&self, group: &'a Workflow) -> Set<&'a str> {
        self.ends(group, 0)
    }

    /// The outcomes with which the entries of a workflow lead to its end; each entry of a parallel group ends its branch.
    pub(super) fn ends(&self, workflow: &'a Workflow, depth: usize) -> Set<&'a str> {
        let is_certain = |entry: &Entry| {
            let group = entry.group_key().and_then(|key| self.workflows.get(key));
            let is_each = group.is_some_and(|group| matches!(group.each, Some(Each::Of(_))));
            entry.when.is_empty() && !is_each
        };
        // From there on all entries may be passed over: the end may follow on the entry before it, and on each later one.
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
            if !self.work.spend(names.len() + entry.outcomes().len() * workflow.phases.len()) {
                return found;
            }
            let ends = |name: &&str| {
                let Some(outcome) = entry.outcome(name) else { return may_end_next };
                outcome.targets().any(|target| match workflow.target(index, target) {
                    Some(target) => target >= optional_from,
                    // It may be any entry: that it is none is an error.
                    None => matches!(target, Target::Entry(_)),
                })
            };
            found.extend(names.into_iter().filter(ends));
        }
        found
    }

    /// The number of entries of a workflow with those of nested ones, and true if one of these has conditions or
    /// outcomes.
    pub(super) fn size(&self, key: &'a str, depth: usize) -> (usize, bool) {
        if let Some(size) = self.sizes.borrow().get(key) {
            return *size;
        }
        let Some(workflow) = self.workflows.get(key).filter(|_| depth <= MAX_NESTING) else {
            return (0, false);
        };
        // For a workflow that leads back to itself, which is left out.
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

    /// The inputs that the rules of a workflow use, by name.
    pub(super) fn rule_inputs(&self, key: &str) -> Map<&'a str, RuleUse> {
        inputs_of_rules(key, 0, &|key| self.workflows.get(key).copied(), &mut self.rule_inputs.borrow_mut())
    }
}
