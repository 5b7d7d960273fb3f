//! The visits of a run and its pauses: what a move begins and ends, and what is dropped beyond the bounds.

use crate::definition::short;
use crate::usage::Usage;

use super::pause::{Pause, PauseReason};
use super::progress::{MAX_EVIDENCE, MAX_VISITS};
use super::visit::{MAX_NAME, Pick, Visit};
use super::{path::PhasePath, state::RunState};

/// The way in which a phase is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaving {
    Done,
    Skipped,
    /// The run went back or began its scope again.
    Again,
    /// The phase has used up its budget, and the run goes on.
    OverBudget,
}

impl RunState {
    /// Returns a new run with the visit of its first phase.
    pub fn begun(mut self, now: u64) -> Self {
        self.visit(now);
        self
    }

    /// Returns this state, which a transition made of `before`, with the visits and counters that follow from it.
    pub fn moved_from(mut self, before: &RunState, leaving: Leaving, now: u64) -> Self {
        if let Some(visit) = self.progress.visits.get_mut(&before.current_path.key()) {
            visit.ended_at = Some(now.max(visit.started_at));
            visit.skipped = leaving == Leaving::Skipped;
            visit.unfinished = matches!(leaving, Leaving::Again | Leaving::OverBudget);
        }
        (self.progress.continuations, self.progress.idle) = (0, 0);
        self.progress.gate_attempts = 0;
        self = self.waited(now);
        let paused = self.progress.paused.take().filter(|_| self.is_running());
        self.progress.paused = paused.and_then(Pause::after_move);
        // A scope that was left begins anew when it is entered again.
        let open: Vec<String> = self.current_path.scopes().map(|path| path.scope_key()).collect();
        self.progress.loops.keep(|scope| open.iter().any(|open| open == scope));
        let scope_of_way = |way: &str| {
            let (entry, _) = way.rsplit_once(' ')?;
            Some(PhasePath::parse(entry)?.scope_key())
        };
        self.progress.ways.keep(|way| scope_of_way(way).is_some_and(|scope| open.contains(&scope)));
        if self.is_running() {
            self.visit(now);
        }
        self
    }

    /// Returns the run whose current phase has started fresh.
    pub fn started_fresh(&self) -> Self {
        self.clone().changed(|progress| progress.fresh_start = false)
    }

    /// Returns this state, which follows `before`, with the usage since `before` was stored. The usage belongs to the
    /// phase where the run was then.
    pub fn with_usage(mut self, before: &RunState, used: &Usage) -> Self {
        let key = before.current_path.key();
        let number = before.progress.visits.get(&key).map(|visit| visit.number);
        if let Some(visit) = self.progress.visits.get_mut(&key) {
            let again = number.is_some_and(|number| number < visit.number);
            if again { &mut visit.earlier } else { &mut visit.usage }.add(used);
        } else {
            self.progress.forgotten.add(used);
        }
        self
    }

    /// Returns the run with one more automatic continuation of its phase.
    pub fn continued(self) -> Self {
        self.changed(|progress| progress.continuations = progress.continuations.saturating_add(1))
    }

    /// Returns the run with this number of continuations, one after the other, in which the agent did nothing.
    pub fn with_idle(self, idle: u32) -> Self {
        self.changed(|progress| progress.idle = idle)
    }

    /// Returns the run with one more call of this visit that was refused because of its outputs.
    pub fn outputs_refused(self) -> Self {
        self.change_visit(|visit| visit.outputs_refused = visit.outputs_refused.saturating_add(1))
    }

    /// Returns the run with a choice of the user for this visit.
    pub fn picked(self, pick: Pick) -> Self {
        self.change_visit(|visit| visit.picked = visit.picked.max(Some(pick)))
    }

    /// Returns the run with the model in use at the end of a visit: of the phase of this key, with this number.
    pub fn with_model(mut self, key: &str, number: u32, model: String) -> Self {
        if let Some(visit) = self.progress.visits.get_mut(key).filter(|visit| visit.number == number) {
            visit.model = Some(model);
        }
        self
    }

    fn change_visit(mut self, change: impl FnOnce(&mut Visit)) -> Self {
        if let Some(visit) = self.progress.visits.get_mut(&self.current_path.key()) {
            change(visit);
        }
        self
    }

    /// Returns this state, whose current phase has this name.
    pub fn named(self, name: &str) -> Self {
        self.change_visit(|visit| visit.name = short(name, MAX_NAME))
    }

    /// Returns the usage of the run, up to the newest state entry.
    pub fn usage(&self) -> Usage {
        let mut all = self.progress.forgotten.clone();
        for visit in self.progress.visits.values() {
            all.add(&visit.earlier);
            all.add(&visit.usage);
        }
        all
    }

    /// Returns the key of the current phase, or of the last phase of a run that has ended: a run that ended in a nested
    /// workflow has a path behind the last entry.
    pub fn last_phase_key(&self) -> String {
        let visits = &self.progress.visits;
        let key = self.current_path.key();
        if self.is_running() || visits.contains_key(&key) {
            return key;
        }
        // The visit of a parallel group stands for those of its branches, unless this is the run of a branch.
        let is_of_branch = |key: &str| {
            let above = PhasePath::parse(key).filter(|path| self.progress.branch.is_none() && path.len() > 1);
            above.is_some_and(|path| path.scopes().rev().skip(1).any(|above| visits.contains_key(&above.key())))
        };
        let last = visits.iter().filter(|(key, _)| !is_of_branch(key)).max_by_key(|(_, visit)| visit.step);
        last.map_or(key, |(last, _)| last.to_owned())
    }

    pub fn paused(&self, reason: PauseReason, now: u64) -> Self {
        self.clone().changed(|progress| progress.paused = Some(Pause { reason, at: now }))
    }

    /// Returns the run without its pause; its counters begin anew.
    pub fn resumed(&self) -> Self {
        let mut new = self.clone();
        let pause = new.progress.paused.take();
        (new.progress.continuations, new.progress.idle) = (0, 0);
        match pause.map(|pause| pause.reason) {
            Some(PauseReason::Loops { scope, .. }) => {
                let scope = scope.unwrap_or_else(|| new.current_path.scope_key());
                new.progress.loops.remove(&scope);
            }
            Some(PauseReason::Way { outcome, .. }) => new.forget_ways(&outcome),
            Some(PauseReason::Outputs { .. }) => {
                if let Some(visit) = new.progress.visits.get_mut(&new.current_path.key()) {
                    visit.outputs_refused = 0;
                }
            }
            Some(reason) if reason.is_at_exit() => new.progress.gate_attempts = 0,
            Some(_) | None => {}
        }
        new
    }

    /// Begins the counts of the ways of this outcome anew, for the current phase and for the entries that contain it.
    fn forget_ways(&mut self, outcome: &str) {
        for path in self.current_path.scopes().collect::<Vec<_>>() {
            self.progress.ways.remove(&format!("{} {outcome}", path.key()));
        }
    }

    /// Returns the visits that have an `age`, with their keys, in the order of age.
    pub fn visits_by(&self, age: fn(&Visit) -> Option<u64>) -> Vec<(&str, &Visit)> {
        let visits = self.progress.visits.iter();
        let aged = visits.filter_map(|(key, visit)| Some((age(visit)?, key, visit)));
        let mut ordered: Vec<(u64, &str, &Visit)> = aged.collect();
        ordered.sort_by_key(|(age, ..)| *age);
        ordered.into_iter().map(|(_, key, visit)| (key, visit)).collect()
    }

    /// Returns true if the phase of this key is done: the run has visited the phase, has not skipped it, and has not
    /// gone back before it.
    pub fn has_finished(&self, key: &str, visit: &Visit) -> bool {
        let is_behind = || PhasePath::parse(key).is_some_and(|path| path.indices() < self.current_path.indices());
        visit.ended_at.is_some() && !visit.skipped && !visit.unfinished && (!self.is_running() || is_behind())
    }

    /// Returns the number of visits of the current phase, including this visit; from 1.
    pub fn visit_number(&self) -> u32 {
        self.progress.visits.get(&self.current_path.key()).map_or(1, |visit| visit.number)
    }

    fn visit(&mut self, now: u64) {
        let step = self.global_step_count;
        self.progress.fresh_start = true;
        self.progress.allowances.remove(&self.current_path.key());
        let visit = self.progress.visits.get_or_insert(&self.current_path.key(), Visit::default);
        let usage = std::mem::take(&mut visit.usage);
        visit.earlier.add(&usage);
        (visit.started_at, visit.step) = (now, step);
        visit.ended_at = None;
        (visit.skipped, visit.unfinished) = (false, false);
        visit.evidence.clear();
        visit.outputs_refused = 0;
        (visit.model, visit.picked) = (None, None);
        visit.number = visit.number.saturating_add(1);
        self.forget_oldest();
    }

    /// Drops the oldest visits and evidence beyond their bounds: every state entry of the session holds all visits and
    /// evidence, and a state beyond the bounds is not read back.
    pub(super) fn forget_oldest(&mut self) {
        let visits = &self.progress.visits;
        let mut checks: usize = visits.values().map(|visit| visit.evidence.len()).sum();
        let mut count = visits.len();
        if count <= MAX_VISITS && checks <= MAX_EVIDENCE {
            return;
        }
        let oldest_first = self.visits_by(|visit| Some(visit.step)).into_iter();
        let oldest_first: Vec<String> = oldest_first.map(|(key, _)| key.to_owned()).collect();
        let current = self.current_path.key();
        for key in oldest_first.iter().filter(|key| **key != current) {
            if checks > MAX_EVIDENCE {
                checks = checks.saturating_sub(self.drop_evidence(key));
            }
            if count > MAX_VISITS {
                self.forget(key);
                count -= 1;
            }
        }
    }

    /// Drops the evidence of a visit. Returns the number of dropped checks.
    pub(super) fn drop_evidence(&mut self, key: &str) -> usize {
        let visit = self.progress.visits.get_mut(key);
        visit.map_or(0, |visit| std::mem::take(&mut visit.evidence).len())
    }

    /// Drops a visit; its usage still counts.
    pub(super) fn forget(&mut self, key: &str) {
        if let Some(visit) = self.progress.visits.remove(key) {
            self.progress.forgotten.add(&visit.all_usage());
        }
    }
}
