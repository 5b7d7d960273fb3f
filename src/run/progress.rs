//! The fields of a run that the reference does not have: visits of phases, pause, continuations, loops.
//!
//! The reference ignores these fields and stores them unchanged, so they may be out of date.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::definition::{Condition, Measure, Model, ModelSetting, short};
use crate::usage::{Usage, is_default};

use super::{
    Allowance, Branch, BranchRun, Broken, Evidence, HandedOutputs, LongTask, PhasePath, Records, RunDir, RunState,
    Seal, Summary,
};

/// Maximum number of visits that are kept; the oldest visits are dropped.
pub(super) const MAX_VISITS: usize = 5000;
/// Maximum number of checks that are kept of a visit, and in all; the oldest checks are dropped.
pub(super) const MAX_EVIDENCE: usize = 2000;

/// Maximum length of the name of an entry, and of a value in a reason, in characters.
pub(super) const MAX_NAME: usize = 80;

/// The fields of a run that the reference does not have.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// The version of this record; 0 for a run that has no seal yet.
    #[serde(skip_serializing_if = "is_default")]
    pub version: u32,
    /// The seal of the rules with which the run was started, or which the user accepted last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal: Option<Seal>,
    /// A seal of a later version, as it was stored.
    #[serde(rename = "seal", skip_serializing_if = "Option::is_none")]
    pub later_seal: Option<Value>,
    /// Set while the run waits for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<Pause>,
    /// Automatic continuations since the current phase began.
    #[serde(skip_serializing_if = "is_default")]
    pub continuations: u32,
    /// The number of the last automatic continuations, one after the other, in which the agent did nothing.
    #[serde(skip_serializing_if = "is_default")]
    pub idle: u32,
    /// Failed attempts of each gate ahead since the current phase began, by
    /// [`GateAhead::key`](super::GateAhead::key).
    #[serde(skip_serializing_if = "Records::is_empty")]
    pub gate_attempts: Records<u32>,
    /// Restarts of each scope on the path since it was entered, by [`PhasePath::scope_key`].
    #[serde(skip_serializing_if = "Records::is_empty")]
    pub loops: Records<u32>,
    /// The number of times that each bounded outcome led to its target since the run came to the scope, by
    /// [`PhasePath::key`] of the entry, a blank and the name of the outcome.
    #[serde(skip_serializing_if = "Records::is_empty")]
    pub ways: Records<u32>,
    /// The last visit of each phase, by [`PhasePath::key`].
    #[serde(skip_serializing_if = "Records::is_empty")]
    pub visits: Records<Visit>,
    /// The tools that the run added to the user's tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools_added: Vec<String>,
    /// The current phase was entered, and the model has not been shown its context prompt alone yet. Without effect in
    /// a phase that shares the context.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fresh_start: bool,
    /// The user's model while the run uses another model, or another thinking level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users_model: Option<UsersModel>,
    /// The values of the inputs that the run was started with, by name.
    #[serde(skip_serializing_if = "Records::is_empty")]
    pub inputs: Records<String>,
    /// The outcome with which each phase and each nested workflow was left last, by the [`PhasePath::key`] of its
    /// entry.
    #[serde(skip_serializing_if = "Records::is_empty")]
    pub outcomes: Records<String>,
    /// The outputs with which each phase was left last, by [`PhasePath::key`]; a phase that was left without outputs
    /// has none. The current phase has the outputs that it has handed over in this visit, or else the outputs of its
    /// last visit.
    #[serde(skip_serializing_if = "Records::is_empty")]
    pub outputs: Records<HandedOutputs>,
    /// The entries that were passed over when the run came to them last, by [`PhasePath::key`].
    #[serde(skip_serializing_if = "Records::is_empty")]
    pub passed_over: Records<PassedOver>,
    /// The decisions of the user about budgets, by [`PhasePath::key`] or [`PhasePath::scope_key`]; a decision about a
    /// phase holds for its last visit.
    #[serde(skip_serializing_if = "Records::is_empty")]
    pub allowances: Records<Allowance>,
    /// The models without a price whose answers no bound on the cost counts: the user was told so when the run started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unpriced: Vec<String>,
    /// The user has started the run although nothing else bounds some of its phases.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub uncounted: bool,
    /// The usage of the visits that are not kept.
    #[serde(skip_serializing_if = "Usage::is_empty")]
    pub forgotten: Usage,
    /// The results of checks with `recheck` were dropped beyond the bounds: the run cannot tell which checks to make
    /// again, so it does not come to DONE by itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rechecks_lost: bool,
    /// The branch that this run works on, if it is the run of a child.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<Branch>,
    /// The work on the branches of parallel groups, by [`Branch::key`].
    #[serde(skip_serializing_if = "Records::is_empty")]
    pub branches: Records<BranchRun>,
    /// The length of the task, and the whole task, if the run has only the beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_task: Option<LongTask>,
    /// The folder of the run, if the workflow names it or the task is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_dir: Option<RunDir>,
    /// The error in the entries from which the run was read: the user decides on it.
    #[serde(skip)]
    pub broken: Option<Broken>,
    /// Fields of other versions of this package; they are stored unchanged.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// The user's model while the run uses another model, or another thinking level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UsersModel {
    pub user: ModelSetting,
    /// The model that the run sets with this state.
    pub run: Model,
    /// The model that was in use before: pi may end before it sets the model of the run.
    pub before: Model,
}

/// A choice of the user that holds for the visit, whatever the phase says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pick {
    Thinking,
    /// A model, and with it the thinking level.
    Model,
}

/// A pause: the run waits for the user.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pause {
    pub reason: PauseReason,
    /// Its beginning, in milliseconds since 1970.
    pub at: u64,
}

impl Pause {
    /// The pause after the run has left the phase; `None` if the pause was about that phase, and is over.
    fn after_move(self) -> Option<Self> {
        let reason = match self.reason {
            // The user stopped the agent and moved the run: the run waits because the user wants it to.
            PauseReason::User | PauseReason::Aborted => PauseReason::User,
            PauseReason::Cancel
            | PauseReason::Conversation
            | PauseReason::Running
            | PauseReason::Idle { .. }
            | PauseReason::Repeats { .. }
            | PauseReason::CutOff { .. }
            | PauseReason::Limit { .. }
            | PauseReason::Gate { .. }
            | PauseReason::Loops { .. }
            | PauseReason::Way { .. }
            | PauseReason::Outputs { .. }
            | PauseReason::MissingOutput { .. }
            | PauseReason::Approval { .. }
            | PauseReason::Commands { .. }
            | PauseReason::Step { .. }
            | PauseReason::ModelError => return None,
            reason @ (PauseReason::Budget { .. }
            | PauseReason::UnknownCost { .. }
            | PauseReason::UnknownUsage { .. }
            | PauseReason::RulesChanged
            | PauseReason::RulesUnknown
            | PauseReason::LaterVersion
            | PauseReason::Broken(_)
            | PauseReason::FilesUnreadable { .. }
            | PauseReason::PhaseGone
            | PauseReason::Unknown(_)) => reason,
        };
        Some(Self { reason, ..self })
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum PauseReason {
    /// The user asked for the pause.
    #[serde(rename = "person")]
    User,
    /// The user stopped the agent.
    Aborted,
    /// The agent wants to cancel the run, and there is no user interface to ask the user.
    Cancel,
    /// The phase is a conversation with the user, and there is no user interface.
    Conversation,
    /// The agent tries again and again to leave the phase while one of its tool calls runs.
    Running,
    /// The agent did nothing in this number of automatic continuations.
    Idle { times: u32 },
    /// This number of tool calls in a row brought nothing new.
    Repeats { times: u32 },
    /// This number of answers in a row was cut off at the model's output limit.
    CutOff { times: u32 },
    /// The phase took this number of automatic continuations.
    Limit { times: u32 },
    /// A gate was not passed in as many attempts as it allows, or its failure leads back once too often.
    Gate {
        /// The label of the check that failed last.
        label: String,
        times: u32,
    },
    /// An outcome leads back, and the workflow was restarted as often as it allows.
    Loops {
        /// The name of the phase.
        of: String,
        outcome: String,
        times: u32,
        /// [`PhasePath::scope_key`] of the scope, if it is not the innermost.
        #[serde(skip_serializing_if = "Option::is_none")]
        scope: Option<String>,
    },
    /// An outcome led to its target as often as it may.
    Way {
        /// The name of the phase.
        of: String,
        outcome: String,
        times: u32,
    },
    /// The agent has tried this number of times to leave the phase with missing or wrong outputs.
    Outputs {
        /// The name of the phase.
        of: String,
        times: u32,
    },
    /// A nested workflow has begun without an output that `with` gives it: the phase was left without it.
    MissingOutput {
        /// The name of the nested workflow.
        of: String,
        input: String,
        /// `output.ID.NAME`.
        output: String,
    },
    /// The user has not approved yet.
    Approval { question: String },
    /// The user has not allowed the commands of a gate.
    Commands {
        /// The package that has the commands; `None` for the project.
        #[serde(skip_serializing_if = "Option::is_none")]
        package: Option<String>,
    },
    /// An entry without the model has not ended: its command failed, was stopped, or may have been interrupted.
    Step {
        /// The name of the entry.
        of: String,
        /// The reason, in words.
        why: String,
    },
    Budget {
        /// The name of the phase or workflow with the budget.
        of: String,
        measure: Measure,
        spent: u64,
        limit: u64,
    },
    /// A budget bounds the cost, and a model without a price has answered.
    UnknownCost {
        /// The name of the phase or workflow with the budget.
        of: String,
    },
    /// A budget bounds the cost or the tokens, and an answer came without usage.
    UnknownUsage {
        /// The name of the phase or workflow with the budget.
        of: String,
    },
    /// The files give other rules than the run was started with.
    RulesChanged,
    /// The rules with which the run was started are not known: its state could not be read in full.
    RulesUnknown,
    /// A later version of this package stored the run.
    LaterVersion,
    /// The entries of the run cannot be read in full.
    #[serde(skip)]
    Broken(Broken),
    /// The files of a workflow on the path cannot be read, or are not there.
    FilesUnreadable { workflow: String },
    /// The files have no phase where the run is.
    PhaseGone,
    /// The model failed, and pi's own retries did not help.
    ModelError,
    /// A reason that this version does not know, as it was stored.
    #[serde(untagged)]
    Unknown(Value),
}

impl PauseReason {
    /// Returns the name of the reason in stored states; `unreadable` for a state that cannot be read in full, a reason
    /// that is not stored.
    pub fn kind(&self) -> String {
        if matches!(self, Self::Broken(_)) {
            return "unreadable".to_owned();
        }
        let stored = serde_json::to_value(self).unwrap_or_default();
        stored.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// Returns true if the phase cannot be left as the agent or the user wants.
    pub fn is_at_exit(&self) -> bool {
        matches!(
            self,
            Self::Gate { .. }
                | Self::Loops { .. }
                | Self::Way { .. }
                | Self::Outputs { .. }
                | Self::Approval { .. }
                | Self::Commands { .. }
        )
    }

    pub fn is_of_budget(&self) -> bool {
        matches!(self, Self::Budget { .. }) || self.is_unknown_amount()
    }

    /// Returns true if a budget bounds an amount that is not known.
    pub fn is_unknown_amount(&self) -> bool {
        matches!(self, Self::UnknownCost { .. } | Self::UnknownUsage { .. })
    }

    /// Returns true if `/workflow :resume` checks the gate again: the gate waits for an answer of the user.
    pub fn waits_at_gate(&self) -> bool {
        matches!(self, Self::Approval { .. } | Self::Commands { .. })
    }

    /// Returns true if the agent must not leave the phase before the user resumes the run.
    pub fn keeps_phase(&self) -> bool {
        self.is_at_exit() || self.needs_resume()
    }

    /// Returns true if only `/workflow :resume` ends the pause, not a message of the user.
    pub fn needs_resume(&self) -> bool {
        self.is_of_rules()
            || self.is_of_budget()
            || matches!(self, Self::MissingOutput { .. } | Self::Step { .. } | Self::Unknown(_))
    }
}

/// The last visit of a phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Visit {
    /// The name of the phase, for readers of the session without the files.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its beginning, in milliseconds since 1970.
    pub started_at: u64,
    /// The number of transitions of the run when the visit began. This number orders the visits: a clock can be set back.
    #[serde(skip_serializing_if = "is_default")]
    pub step: u64,
    /// Its end, in milliseconds since 1970; `None` for the current visit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    /// The run left the visit on a way back, or because a budget was used up, or was cancelled in the visit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// The number of this visit among the visits of the phase, from 1.
    #[serde(rename = "passes")]
    pub number: u32,
    /// The summary that the phase handed over, in this visit or in the last visit with a summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// The usage of this visit, up to the newest state entry.
    #[serde(skip_serializing_if = "Usage::is_empty")]
    pub usage: Usage,
    /// The usage of the earlier visits.
    #[serde(skip_serializing_if = "Usage::is_empty")]
    pub earlier: Usage,
    /// The number of calls in this visit that were refused because outputs were missing or wrong.
    #[serde(skip_serializing_if = "is_default")]
    pub outputs_refused: u32,
    /// The evidence of its gate, of the last attempt to leave it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// The model with which the visit ended, as [`ModelSetting`] is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The user's choice in this visit, in place of the setting of the phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picked: Option<Pick>,
}

impl Visit {
    /// Returns the usage of all visits of the phase, including this visit.
    pub fn all_usage(&self) -> Usage {
        let mut all = self.earlier.clone();
        all.add(&self.usage);
        all
    }
}

/// An entry that was passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PassedOver {
    /// Its name, for readers of the session without the files.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The number of transitions of the run when the entry was passed over.
    pub step: u64,
    #[serde(flatten)]
    pub because: PassedOverReason,
}

/// The reason why an entry was passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum PassedOverReason {
    /// A condition of the entry did not hold.
    Condition {
        /// Its key: `input.NAME`, `output.ID.NAME` or `outcome.ID`.
        of: String,
        /// The value of the run; `None` if the run had no value.
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<String>,
        /// The first values with which the condition holds.
        wanted: Vec<String>,
    },
    /// The outcome of the phase of this id led past the entry.
    Outcome { of: String, outcome: String },
    /// The phase of this name had used up its budget, which leads past the entry.
    Budget { of: String },
    /// The list of this name, for whose items the group is repeated, is empty or absent.
    NoItems { of: String },
}

impl PassedOverReason {
    /// The reason that this condition does not hold with a value of the run. Long texts are shortened, and of many
    /// wanted values the first are kept: every state entry of the session holds the reason of each entry that was
    /// passed over.
    pub(super) fn refused(Condition { of, values }: &Condition, value: Option<String>) -> Self {
        let shortened = |text: &String| short(text, MAX_NAME);
        let mut room = MAX_NAME;
        let wanted = values.iter().take_while(|value| {
            let has_room = room > 0;
            room = room.saturating_sub(value.chars().count());
            has_room
        });
        Self::Condition {
            of: short(&of.to_string(), MAX_NAME),
            value: value.as_ref().map(shortened),
            wanted: wanted.map(shortened).collect(),
        }
    }
}

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
            visit.ended_at = Some(now);
            visit.skipped = leaving == Leaving::Skipped;
            visit.unfinished = matches!(leaving, Leaving::Again | Leaving::OverBudget);
        }
        (self.progress.continuations, self.progress.idle) = (0, 0);
        self.progress.gate_attempts.clear();
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
        let mut new = self.clone();
        new.progress.fresh_start = false;
        new
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

    /// Returns this state, whose current phase has this name.
    pub fn named(mut self, name: &str) -> Self {
        if let Some(visit) = self.progress.visits.get_mut(&self.current_path.key()) {
            visit.name = short(name, MAX_NAME);
        }
        self
    }

    /// Returns the usage of the run, up to the newest state entry.
    pub fn usage(&self) -> Usage {
        let mut all = self.progress.forgotten.clone();
        for visit in self.progress.visits.values() {
            all.add(&visit.all_usage());
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
        let last = visits.iter().max_by_key(|(_, visit)| visit.step);
        last.map_or(key, |(last, _)| last.to_owned())
    }

    pub fn paused(&self, reason: PauseReason, now: u64) -> Self {
        let mut new = self.clone();
        new.progress.paused = Some(Pause { reason, at: now });
        new
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
            Some(reason) if reason.is_at_exit() => new.progress.gate_attempts.clear(),
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
    /// evidence, and a state beyond the bounds is not read back. Evidence that is made again before DONE goes last.
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
        for with_rechecks in [false, true] {
            for key in oldest_first.iter().filter(|key| **key != current) {
                if checks > MAX_EVIDENCE {
                    checks = checks.saturating_sub(self.drop_evidence(key, with_rechecks));
                }
                if count > MAX_VISITS && (with_rechecks || !self.has_rechecks(key)) {
                    self.forget(key);
                    count -= 1;
                }
            }
        }
    }

    /// Returns true if a check of this visit is made again before DONE.
    pub(super) fn has_rechecks(&self, key: &str) -> bool {
        let visit = self.progress.visits.get(key);
        visit.is_some_and(|visit| visit.evidence.iter().any(Evidence::is_rechecked))
    }

    /// Drops the evidence of a visit; without `with_rechecks`, the evidence that is made again before DONE stays.
    /// Returns the number of dropped checks.
    pub(super) fn drop_evidence(&mut self, key: &str, with_rechecks: bool) -> usize {
        let has_rechecks = self.has_rechecks(key);
        let Some(visit) = self.progress.visits.get_mut(key) else { return 0 };
        let before = visit.evidence.len();
        if with_rechecks {
            visit.evidence.clear();
            self.progress.rechecks_lost |= has_rechecks;
        } else {
            visit.evidence.retain(Evidence::is_rechecked);
        }
        let after = self.progress.visits.get(key).map_or(0, |visit| visit.evidence.len());
        before.saturating_sub(after)
    }

    /// Drops a visit; its usage still counts.
    pub(super) fn forget(&mut self, key: &str) {
        self.drop_evidence(key, true);
        if let Some(visit) = self.progress.visits.remove(key) {
            self.progress.forgotten.add(&visit.all_usage());
        }
    }
}

impl Progress {
    /// Drops the first of these checks of a visit beyond their bound; the checks that are made again before DONE go
    /// last.
    pub(super) fn bound_evidence(&mut self, evidence: &mut Vec<Evidence>) {
        let mut excess = evidence.len().saturating_sub(MAX_EVIDENCE);
        evidence.retain(|check| {
            let is_dropped = excess > 0 && !check.is_rechecked();
            excess -= usize::from(is_dropped);
            !is_dropped
        });
        let rest = evidence.drain(..excess);
        self.rechecks_lost |= rest.len() > 0;
    }
}
