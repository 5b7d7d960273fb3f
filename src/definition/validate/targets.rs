//! Validates the targets of outcomes.

use super::flow::{Errors, listed};
use crate::definition::diagnostic::{Anchored, FieldProblem, GateProblem, PathPart, PhaseProblem, Problem};
use crate::definition::model::{Entry, Outcome, Target, is_group_key};

impl<'a> Errors<'a, '_> {
    /// Checks the targets of the outcomes of the entry at `index`, and the outcomes of the checks of its gate.
    pub(super) fn outcomes(&mut self, index: usize, entry: &Entry) {
        for outcome in entry.outcomes() {
            let (to, then) = match &outcome.bound {
                None => (&[][..], None),
                Some(bound) => (&[PathPart::Key("to")][..], bound.then.as_ref()),
            };
            let named = |part: &[PathPart]| match part {
                [PathPart::Key(part)] => format!("outcomes.{}.{part}", outcome.name),
                _ => format!("outcomes.{}", outcome.name),
            };
            // The target of a step without `outcomes` has no word.
            let is_written = outcome.of_entry || entry.as_phase().is_none_or(|phase| phase.step().is_none());
            let problem = is_written.then(|| self.target_problem(named(to), &outcome.target)).flatten();
            let then_problem = then.and_then(|then| {
                let own = self.workflow.target(index, &outcome.target);
                let is_same = own.is_some() && own == self.workflow.target(index, then);
                let field = named(&[PathPart::Key("then")]);
                let same = || {
                    FieldProblem::bad(field.clone(), "another target than that of `to`", format!("`{}`", then.word()))
                };
                let problem = self.target_problem(field.clone(), then);
                problem.or_else(|| is_same.then(|| same().into()))
            });
            for (problem, part) in [(problem, to), (then_problem, &[PathPart::Key("then")])] {
                let Some(problem) = problem else { continue };
                self.anchored.push(Anchored::of_outcome((self.workflow, index), outcome, problem, part));
            }
        }
        if let Some(phase) = entry.as_phase()
            && let Some(target) = &phase.on_budget
            && let Some(problem) = self.target_problem("onBudget".into(), target)
        {
            self.report_in(Some(phase), problem, &[PathPart::Key("onBudget")]);
        }
        if let Some(phase) = entry.as_phase()
            && let Some(gate) = &phase.gate
        {
            let names = phase.outcomes.iter().map(|outcome| outcome.name.as_str()).collect();
            self.checks(gate, &names, phase);
        }
    }

    /// Returns the problem of a target that a field names; `None` for a good target.
    fn target_problem(&self, field: String, target: &Target) -> Option<Problem> {
        if let Some(same) = self.words.iter().find(|entry| entry.is_called(target.word())) {
            let (id, of) = (target.word().to_owned(), same.written());
            return Some(PhaseProblem::IdOfTarget { field, id, of }.into());
        }
        // `parallel.rs` covers the targets of an entry that is a branch.
        if self.workflow.has_branches_beside() {
            return None;
        }
        let id = match target {
            Target::Loop if !self.workflow.loopable => {
                return Some(GateProblem::LoopForbidden { field }.into());
            }
            Target::Entry(_) if !self.fuel.spend(self.all.len()) => return None,
            Target::Entry(id) if !self.is_target(id) => id,
            Target::End if self.workflow.each.is_none() || self.workflow.parallel.is_some() => {
                let expected = "`end` in a group with `each` that is not parallel";
                let found = format!("`end` in {}", self.workflow.in_words());
                return Some(FieldProblem::bad(field, expected, found).suggest(Some("done")).into());
            }
            Target::Next | Target::Loop | Target::Done | Target::Stop | Target::End | Target::Entry(_) => return None,
        };
        let ids = self.workflow.phases.iter().map(Entry::id).filter(|other| other != id);
        let is_several = self.workflow.position(id).is_some();
        let is_elsewhere = self.all.iter().any(|of| of.entry.is_called(id));
        let why = match (is_several, is_elsewhere, &self.workflow.group) {
            (true, _, _) => ", which is several nested workflows without an `id`",
            (false, true, Some(_)) => ", which is outside of it: `outcomes` of the group lead there",
            (false, true, None) => ", which is inside of a group: a target outside is the group",
            (false, false, _) => "",
        };
        let problem = FieldProblem::bad(
            field,
            format!("`next`, `loop`, `done`, `stop` or the id of an entry of {}", self.workflow.in_words()),
            match id.contains(' ') {
                true => format!("the text `{id}`: the text of the phase says when to take an outcome"),
                false => format!("`{id}`{why}"),
            },
        )
        .suggest(self.fuel.nearest(id, ids.chain(Target::WORDS)).filter(|_| why.is_empty()));
        Some(problem.into())
    }

    /// Returns true if the id means one entry: a phase, or the only nested workflow with this id.
    fn is_target(&self, id: &str) -> bool {
        let mut entries = self.workflow.phases.iter().filter(|entry| entry.is_called(id));
        let has_phase = entries.clone().any(|entry| entry.as_phase().is_some());
        has_phase || entries.by_ref().count() == 1
    }

    /// Checks the outcomes of a nested workflow for which the entry at `index` gives targets.
    pub(super) fn exits_of_entry(&mut self, index: usize, key: &'a str, outcomes: &[Outcome]) {
        if outcomes.is_empty() {
            return;
        }
        let group = self.known.workflows.get(key).copied().filter(|group| group.parallel.is_some());
        let names = group.map_or_else(|| self.known.exits(key), |group| self.known.exits_of_branches(group));
        let of = if is_group_key(key) { "the group".into() } else { format!("the workflow \"{key}\"") };
        for Outcome { name, .. } in outcomes {
            if names.contains(name.as_str()) {
                continue;
            }
            let problem = FieldProblem::bad(
                "outcomes",
                match names.is_empty() {
                    true => format!("no `outcomes`: {of} ends without one"),
                    false => listed(&names, &format!("an outcome with which {of} ends")),
                },
                format!("`{name}`"),
            )
            .suggest(self.fuel.nearest(name, names.iter().copied()));
            let at = [PathPart::Key("phases"), PathPart::Item(index), PathPart::Key("outcomes"), PathPart::Name(name)];
            self.report(problem, &at);
        }
    }
}
