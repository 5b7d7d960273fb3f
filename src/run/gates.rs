//! The gates ahead of a run, and the evidence of their checks.

use crate::definition::{Check, CheckKind, Entry, Gate, Outcome, Workflow};

use super::evidence::{CheckPlace, CheckedFiles, Evidence, ProjectState};
use super::state::{RunState, RunStatus};
use super::{active::Active, path::PhasePath, transition::leave};

/// A gate that a run must pass to leave its phase.
#[derive(Debug, Clone)]
pub struct GateAhead<'a> {
    pub gate: &'a Gate,
    /// The checks of the gate that are made for the outcome; at least one.
    pub checks: Vec<&'a Check>,
    /// The name of the phase with the gate.
    pub of: &'a str,
    /// The identity of the gate: [`PhasePath::key`] of its phase.
    pub key: String,
    /// The workflow whose files have the gate.
    pub scope: &'a Workflow,
    /// The number of scopes on the path down to the workflow of the gate, including that workflow.
    pub depth: usize,
}

/// A check that has passed and is made again before DONE if files have changed.
#[derive(Debug, Clone)]
pub struct Recheck<'a> {
    pub gate: &'a Gate,
    pub check: &'a Check,
    /// The name of the phase with the check.
    pub of: &'a str,
    /// The workflow whose files have the check.
    pub scope: &'a Workflow,
    /// See [`GateAhead::depth`].
    pub depth: usize,
    /// The run as it was at the phase of the check, for the values of the check.
    pub there: RunState,
    pub evidence: &'a Evidence,
    pub place: &'a CheckPlace,
}

impl<'a> Active<'a> {
    /// The gate that `next` with this outcome must pass, without the checks of other outcomes. An outcome that stops
    /// the run has no gate.
    pub fn gate_ahead(&self, outcome: Option<&str>) -> Option<GateAhead<'a>> {
        let gate = self.phase.gate.as_ref().filter(|_| !self.stops(outcome))?;
        let is_made = |check: &&Check| check.outcome.as_ref().is_none_or(|of| Some(of.as_str()) == outcome);
        let checks: Vec<&Check> = gate.checks.iter().filter(is_made).collect();
        let path = &self.state.current_path;
        let (of, key) = (&*self.phase.name, path.key());
        let ahead = GateAhead { gate, checks, of, key, scope: self.scope, depth: path.len() };
        (!ahead.checks.is_empty()).then_some(ahead)
    }

    /// Returns true if the run is done after the current phase with this outcome. The end of a branch is not the end of
    /// the run.
    pub fn is_done_after(&self, outcome: Option<&str>) -> bool {
        let after = self.after(outcome).filter(|_| self.state.progress.branch.is_none());
        after.is_some_and(|after| matches!(after.status, RunStatus::Done { .. }))
    }

    /// Returns true if the run may still come to a gate that asks the user, who is shown which files have changed: on
    /// any way from the current entry on, whatever its conditions.
    pub fn asks_later(&self) -> bool {
        let asks = |entry: &Entry| {
            let gate = entry.as_phase().and_then(|phase| phase.gate.as_ref());
            gate.is_some_and(|gate| gate.checks.iter().any(|check| matches!(check.kind, CheckKind::Approve { .. })))
        };
        self.state.current_path.iter().any(|segment| {
            let Some(scope) = self.library.get(&segment.workflow_key) else { return false };
            let on = |from: usize| (from..).zip(scope.phases.get(from..).unwrap_or_default());
            let leads_back = |(index, entry): (usize, &Entry)| {
                let over_budget = entry.as_phase().and_then(|phase| phase.on_budget.as_ref());
                let mut targets = entry.outcomes().iter().flat_map(Outcome::targets).chain(over_budget);
                targets.any(|target| scope.target(index, target).is_some_and(|target| target <= index))
            };
            let is_repeated = scope.loopable || segment.item.is_some() || on(segment.phase_index).any(leads_back);
            let mut ahead = on(if is_repeated { 0 } else { segment.phase_index + 1 }).map(|(_, entry)| entry);
            let nested = |entry: &Entry| entry.nested_key().and_then(|key| self.library.get(key));
            ahead.any(|entry| asks(entry) || nested(entry).is_some_and(|of| self.library.entries(of).any(asks)))
        })
    }

    /// Returns true if a check of a gate has passed to which the project's files matter.
    pub fn has_checked_files(&self) -> bool {
        let asks = self.asks_later();
        let mut checks = self.state.progress.visits.values().flat_map(|visit| &visit.evidence);
        checks.any(|check| check.passed && (asks || check.recheck.is_some() || check.files.tree().is_some()))
    }

    /// The checks with `recheck` that have passed, in the order of their phases.
    pub fn rechecks(&self) -> Vec<Recheck<'a>> {
        let visits = self.state.visits_by(|visit| Some(visit.step)).into_iter();
        let all = visits
            .flat_map(|(key, visit)| visit.evidence.iter().filter_map(move |evidence| self.recheck(key, evidence)));
        all.collect()
    }

    fn recheck(&self, visited: &str, evidence: &'a Evidence) -> Option<Recheck<'a>> {
        let place = evidence.recheck.as_ref().filter(|_| evidence.is_rechecked())?;
        let path = PhasePath::parse(visited)?;
        let (depth, segment) = (path.len(), path.last().filter(|_| path.key() == place.gate)?);
        let scope = self.library.get(&segment.workflow_key)?;
        let phase = scope.phases.get(segment.phase_index)?.as_phase()?;
        let (gate, of) = (phase.gate.as_ref()?, &phase.name);
        let check = gate.checks.get(place.index as usize).filter(|check| check.recheck)?;
        let there = self.state.at(path);
        Some(Recheck { gate, check, of, scope, depth, there, evidence, place })
    }

    /// The outcomes of the current phase, or `None` alone for a phase without outcomes, and for a parallel group all of
    /// whose branches are passed over.
    pub fn outcomes(&self) -> Vec<Option<&'a str>> {
        let has_branches = || {
            let is_group = self.state.parallel_group(self.library).is_some();
            !is_group || !self.state.branches(self.library).is_empty()
        };
        match &self.phase.outcomes[..] {
            outcomes if outcomes.is_empty() || !has_branches() => vec![None],
            outcomes => outcomes.iter().map(|outcome| Some(outcome.name.as_str())).collect(),
        }
    }

    /// Returns true if this outcome of the current phase stops the run.
    pub fn stops(&self, outcome: Option<&str>) -> bool {
        self.after(outcome).is_some_and(|after| after.is_stopped())
    }

    /// The run after the current phase with this outcome; `None` if the outcome leads nowhere, as after the last loop.
    pub fn after(&self, outcome: Option<&str>) -> Option<RunState> {
        leave(self.state, outcome, self.library).ok().map(|(after, _)| after)
    }
}

impl RunState {
    /// Returns the run with this evidence of its current phase, in place of the evidence of an earlier attempt.
    pub fn with_evidence(&self, mut evidence: Vec<Evidence>) -> Self {
        let mut new = self.clone();
        new.progress.bound_evidence(&mut evidence);
        if let Some(visit) = new.progress.visits.get_mut(&self.current_path.key()) {
            visit.evidence = evidence;
        }
        new.forget_oldest();
        new
    }

    /// Returns the run with the files that have changed since each of its checks; a check that was made again has no
    /// changes.
    pub fn with_changes(&self, now: &ProjectState, made_again: &[CheckPlace]) -> Self {
        let mut new = self.clone();
        for key in self.progress.visits.keys() {
            let visit = new.progress.visits.get_mut(key);
            for evidence in visit.into_iter().flat_map(|visit| &mut visit.evidence) {
                evidence.note_changes(now);
                if evidence.recheck.as_ref().is_some_and(|of| made_again.contains(of)) {
                    evidence.note_repetition();
                }
            }
        }
        new
    }

    /// The states of the project's files in which checks of the run have passed, each once, including the checks of
    /// `newer`, which the run has not stored yet.
    pub fn checked_trees(&self, newer: &[Evidence]) -> Vec<String> {
        let stored = self.progress.visits.values().flat_map(|visit| &visit.evidence);
        let trees = stored.chain(newer).filter_map(|evidence| evidence.files.tree());
        let mut trees: Vec<String> = trees.cloned().collect();
        trees.sort_unstable();
        trees.dedup();
        trees
    }

    /// Returns true if a check that is made again before DONE has passed on files whose state was not known, or is not
    /// known any more.
    pub fn has_unknown_changes(&self, now: Option<&ProjectState>) -> bool {
        let mut checks = self.progress.visits.values().flat_map(|visit| &visit.evidence);
        checks.any(|check| {
            check.is_rechecked()
                && match &check.files {
                    CheckedFiles::Unknown => true,
                    CheckedFiles::Tree(tree) => now.is_some_and(|now| now.changed_since(tree).is_none()),
                    CheckedFiles::ChangedMeanwhile(_) => false,
                }
        })
    }

    /// Returns the run with one more failed attempt of this gate, and the number of failed attempts.
    pub fn gate_failed(&self, key: &str) -> (Self, u32) {
        let mut new = self.clone();
        let attempts = new.progress.gate_attempts.get_or_insert(key, u32::default);
        *attempts = attempts.saturating_add(1);
        let times = *attempts;
        (new, times)
    }
}
