//! The fields of a run that the reference does not have: visits of phases, pause, continuations, loops.
//!
//! The reference ignores these fields and stores them unchanged, so they may be out of date.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::definition::{Budget, Model, ModelSetting};
use crate::usage::{Usage, is_default};

use super::branch::{Branch, BranchRun};
use super::visit::{PassedOver, Visit};
use super::{
    broken::Broken,
    long_task::LongTask,
    outputs::HandedOutputs,
    pause::{ClaimObstacle, Pause},
    quota::QuotaWaits,
    records::Records,
    run_dir::RunDir,
};

/// Maximum number of visits that are kept; the oldest visits are dropped.
pub(super) const MAX_VISITS: usize = 5000;
/// Maximum number of checks that are kept of a visit, and in all; the oldest checks are dropped.
pub(super) const MAX_EVIDENCE: usize = 2000;

/// The version of [`Progress`] as this package stores it.
pub const PROGRESS_VERSION: u32 = 1;

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
    /// The waits for the ends of limits of the model.
    #[serde(skip_serializing_if = "is_default")]
    pub quota: QuotaWaits,
    /// Automatic continuations since the current phase began.
    #[serde(skip_serializing_if = "is_default")]
    pub continuations: u32,
    /// The number of the last automatic continuations, one after the other, in which the agent did nothing.
    #[serde(skip_serializing_if = "is_default")]
    pub idle: u32,
    /// Failed attempts of the gate of the current phase since the phase began.
    #[serde(skip_serializing_if = "is_default")]
    pub gate_attempts: u32,
    /// Restarts of each scope on the path since it was entered, by `PhasePath::scope_key`.
    #[serde(skip_serializing_if = "Records::is_empty")]
    pub loops: Records<u32>,
    /// The number of times that each bounded outcome led to its target since the run came to the scope, by
    /// `PhasePath::key` of the entry, a blank and the name of the outcome.
    #[serde(skip_serializing_if = "Records::is_empty")]
    pub ways: Records<u32>,
    /// The last visit of each phase, by `PhasePath::key`.
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
    /// The outcome with which each phase and each nested workflow was left last, by the `PhasePath::key` of its
    /// entry.
    #[serde(skip_serializing_if = "Records::is_empty")]
    pub outcomes: Records<String>,
    /// The outputs with which each phase was left last, by `PhasePath::key`; a phase that was left without outputs
    /// has none. The current phase has the outputs that it has handed over in this visit, or else the outputs of its
    /// last visit.
    #[serde(skip_serializing_if = "Records::is_empty")]
    pub outputs: Records<HandedOutputs>,
    /// The entries that were passed over when the run came to them last, by `PhasePath::key`.
    #[serde(skip_serializing_if = "Records::is_empty")]
    pub passed_over: Records<PassedOver>,
    /// The decisions of the user about budgets, by `PhasePath::key` or `PhasePath::scope_key`; a decision about a
    /// phase holds for its last visit.
    #[serde(skip_serializing_if = "Records::is_empty")]
    pub allowances: Records<Allowance>,
    /// The agent has proposed the run, and the user has allowed it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub proposed: bool,
    /// The usage of the visits that are not kept.
    #[serde(skip_serializing_if = "Usage::is_empty")]
    pub forgotten: Usage,
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
    /// The reason why another process is to work on the run.
    #[serde(skip)]
    pub claim_obstacle: Option<ClaimObstacle>,
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

/// The decisions of the user about one budget.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Allowance {
    /// The amounts that the user has added.
    #[serde(skip_serializing_if = "Budget::is_empty")]
    pub added: Budget,
    /// The user accepts answers whose cost is not known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unknown_cost: bool,
    /// The agent was told how much is left.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub told: bool,
}

/// A hash of all rules of a run, see [`seal`](crate::definition::seal).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Seal {
    /// The version of the sequence of bytes that is hashed.
    pub version: u32,
    /// SHA-256, in hexadecimal digits.
    pub hash: String,
}

/// The version and the hash, as reports and the command line have them.
impl fmt::Display for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.version, self.hash)
    }
}
