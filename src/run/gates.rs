//! The gates ahead of a run, and the evidence of their checks.

use crate::definition::Check;

use super::progress::MAX_EVIDENCE;
use super::{active::Active, evidence::Evidence, state::RunState, transition::leave};

impl<'a> Active<'a> {
    /// The checks of the gate that `next` with this outcome must pass; none without a gate. An outcome that stops the run
    /// has no gate.
    pub fn checks_ahead(&self, outcome: Option<&str>) -> Vec<&'a Check> {
        let Some(gate) = self.phase.gate.as_ref().filter(|_| !self.stops(outcome)) else { return Vec::new() };
        let is_made = |check: &&Check| check.outcome.as_ref().is_none_or(|of| Some(of.as_str()) == outcome);
        gate.checks.iter().filter(is_made).collect()
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
        evidence.drain(..evidence.len().saturating_sub(MAX_EVIDENCE));
        if let Some(visit) = new.progress.visits.get_mut(&self.current_path.key()) {
            visit.evidence = evidence;
        }
        new.forget_oldest();
        new
    }

    /// Returns the run with one more failed attempt of the gate of its phase.
    pub fn gate_failed(self) -> Self {
        self.changed(|progress| progress.gate_attempts = progress.gate_attempts.saturating_add(1))
    }
}
