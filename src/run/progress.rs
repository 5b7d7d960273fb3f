//! What a run keeps besides the reference's fields: which phases it went through, whether it pauses,
//! how often it was told to go on and restarted.
//!
//! The reference ignores it, and stores it on unchanged; so it may be out of date.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Evidence, RunState, Seal, Segment, Summary};

/// Maximum number of visits that are kept, the last ones.
pub(super) const MAX_VISITS: usize = 5000;
/// Maximum number of checks that are kept of a visit, and in all, the last ones.
pub(super) const MAX_EVIDENCE: usize = 2000;

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// The version of this record; 0 for a run that has no seal yet.
    #[serde(skip_serializing_if = "is_zero")]
    pub version: u32,
    /// The seal of the rules with which it was started, or which the user accepted last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal: Option<Seal>,
    /// A seal of a later version, as it was stored.
    #[serde(rename = "seal", skip_serializing_if = "Option::is_none")]
    pub later_seal: Option<Value>,
    /// Set while the run waits for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<Pause>,
    /// Automatic continuations since the current phase began.
    #[serde(skip_serializing_if = "is_zero")]
    pub continuations: u32,
    /// Those of them at the end in which the agent did nothing.
    #[serde(skip_serializing_if = "is_zero")]
    pub idle: u32,
    /// Failed attempts of each gate ahead since the current phase began, by
    /// [`GateAhead::key`](super::GateAhead::key).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub gate_attempts: BTreeMap<String, u32>,
    /// How often each scope on the path was restarted since it was entered, by [`scope_key`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub loops: BTreeMap<String, u32>,
    /// The last visit of each phase, by [`phase_key`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub visits: BTreeMap<String, Visit>,
    /// Fields of other versions of this package, as they were stored: they are stored on.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// Why and since when a run waits for the user.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pause {
    /// Why.
    pub reason: PauseReason,
    /// Since when, in milliseconds since 1970.
    pub at: u64,
}

/// Why a run waits for the user.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum PauseReason {
    /// The user asked for it.
    #[serde(rename = "person")]
    User,
    /// The user stopped the agent.
    Aborted,
    /// The agent did nothing in so many automatic continuations.
    Idle {
        /// How many.
        times: u32,
    },
    /// The phase took so many automatic continuations.
    Limit {
        /// How many.
        times: u32,
    },
    /// A gate was not passed in as many attempts as it allows, or its failure leads back once too often.
    Gate {
        /// The check that failed last.
        label: String,
        /// How many attempts.
        times: u32,
    },
    /// A user has not answered yet.
    Approval {
        /// The question.
        question: String,
    },
    /// The user has not allowed the commands of a gate.
    Commands,
    /// The files give other rules than those with which the run was started.
    RulesChanged,
    /// The rules with which the run was started are not known: its state could not be read in full.
    RulesUnknown,
    /// A later version of this package stored the run.
    LaterVersion,
    /// The files of a workflow on the path cannot be read, or are not there.
    FilesUnreadable {
        /// The key of the workflow.
        workflow: String,
    },
    /// The files have no phase where the run is.
    PhaseGone,
    /// The model failed, and pi's own retries did not help.
    ModelError,
    /// A reason that this version does not know, as it was stored.
    #[serde(untagged)]
    Unknown(Value),
}

impl PauseReason {
    /// Whether a gate is why, so that it ends where the gate does.
    pub fn is_of_gate(&self) -> bool {
        matches!(self, Self::Gate { .. } | Self::Approval { .. } | Self::Commands)
    }

    /// Tests if `/workflow :resume` checks the gate again: it waits for an answer of the user.
    pub fn waits_at_gate(&self) -> bool {
        matches!(self, Self::Approval { .. } | Self::Commands)
    }

    /// Tests if the agent must not leave the phase before the user resumes the run.
    pub fn keeps_phase(&self) -> bool {
        self.is_of_gate() || self.needs_resume()
    }

    /// Tests if only `/workflow :resume` ends it, not a message of the user.
    pub fn needs_resume(&self) -> bool {
        self.is_of_rules() || matches!(self, Self::Unknown(_))
    }
}

/// The last visit of a phase.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Visit {
    /// When it began, in milliseconds since 1970.
    pub started_at: u64,
    /// When it ended; not yet, if it is the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<u64>,
    /// Whether it was passed over.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    /// How many visits there were.
    pub passes: u32,
    /// What the phase handed over, in this visit or the last one that did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// What became of the checks of its gate, in the last attempt to leave it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// How a phase was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaving {
    /// It is done.
    Done,
    /// It was passed over.
    Skipped,
    /// The run went back or began its scope again.
    Again,
}

/// A name for the phase at a path, unlike that of any other path.
pub fn phase_key(path: &[Segment]) -> String {
    let part = |segment: &Segment| format!("{}:{}", segment.workflow_key, segment.phase_index);
    path.iter().map(part).collect::<Vec<_>>().join("/")
}

/// A name for the innermost scope of a path.
pub fn scope_key(path: &[Segment]) -> String {
    match path.split_last() {
        Some((last, outer)) => format!("{}/{}", phase_key(outer), last.workflow_key),
        None => String::new(),
    }
}

impl RunState {
    /// The first phase of a new run begins.
    pub fn begun(mut self, now: u64) -> Self {
        self.visit(now);
        self
    }

    /// This state, as a transition from `before` made it, with the progress that goes with it: one
    /// phase is left, another one begins.
    pub fn moved_from(mut self, before: &RunState, leaving: Leaving, now: u64) -> Self {
        if let Some(visit) = self.progress.visits.get_mut(&phase_key(&before.current_path)) {
            visit.ended_at = Some(now);
            visit.skipped = leaving == Leaving::Skipped;
        }
        (self.progress.continuations, self.progress.idle) = (0, 0);
        self.progress.gate_attempts.clear();
        self.progress.paused.take_if(|pause| pause.reason.is_of_gate());
        // A scope that was left begins anew when it is entered again.
        let mut scopes =
            (1..=self.current_path.len()).filter_map(|depth| self.current_path.get(..depth));
        let open: Vec<String> = scopes.by_ref().map(scope_key).collect();
        // Not `retain`: that alone is 5 KB of the component.
        let loops = std::mem::take(&mut self.progress.loops).into_iter();
        self.progress.loops.extend(loops.filter(|(scope, _)| open.contains(scope)));
        if self.is_running() {
            self.visit(now);
        }
        self
    }

    /// The run, waiting for the user.
    pub fn paused(&self, reason: PauseReason, now: u64) -> Self {
        let mut new = self.clone();
        new.progress.paused = Some(Pause { reason, at: now });
        new
    }

    /// The run, going on: what was counted against it is forgotten.
    pub fn resumed(&self) -> Self {
        let mut new = self.clone();
        let pause = new.progress.paused.take();
        (new.progress.continuations, new.progress.idle) = (0, 0);
        if pause.is_some_and(|pause| pause.reason.is_of_gate()) {
            new.progress.gate_attempts.clear();
        }
        new
    }

    /// The visits of which `age` says something, with their keys, in its order.
    pub fn visits_by(&self, age: fn(&Visit) -> Option<u64>) -> Vec<(&str, &Visit)> {
        let mut ordered: Vec<(u64, &str, &Visit)> = Vec::new();
        for (key, visit) in &self.progress.visits {
            if let Some(age) = age(visit) {
                let at = ordered.partition_point(|(other, ..)| *other <= age);
                ordered.insert(at, (age, key, visit));
            }
        }
        ordered.into_iter().map(|(_, key, visit)| (key, visit)).collect()
    }

    /// How often the current phase was begun, this time included; from 1.
    pub fn pass(&self) -> u32 {
        self.progress.visits.get(&phase_key(&self.current_path)).map_or(1, |visit| visit.passes)
    }

    fn visit(&mut self, now: u64) {
        let visit = self.progress.visits.entry(phase_key(&self.current_path)).or_insert(Visit {
            started_at: now,
            ended_at: None,
            skipped: false,
            passes: 0,
            summary: None,
            evidence: Vec::new(),
        });
        visit.started_at = now;
        visit.ended_at = None;
        visit.skipped = false;
        visit.evidence.clear();
        visit.passes = visit.passes.saturating_add(1);
        self.forget_oldest();
    }

    /// Every state entry of the session holds all visits, and what is too much is not read back.
    pub(super) fn forget_oldest(&mut self) {
        let visits = &self.progress.visits;
        let mut checks: usize = visits.values().map(|visit| visit.evidence.len()).sum();
        let mut count = visits.len();
        if count <= MAX_VISITS && checks <= MAX_EVIDENCE {
            return;
        }
        let oldest_first = self.visits_by(|visit| Some(visit.started_at)).into_iter();
        let oldest_first: Vec<String> = oldest_first.map(|(key, _)| key.to_owned()).collect();
        let current = phase_key(&self.current_path);
        for key in oldest_first.into_iter().filter(|key| *key != current) {
            let Some(visit) = self.progress.visits.get_mut(&key) else { continue };
            if checks > MAX_EVIDENCE {
                checks -= visit.evidence.len();
                visit.evidence.clear();
            }
            if count > MAX_VISITS {
                self.progress.visits.remove(&key);
                count -= 1;
            }
        }
    }
}
