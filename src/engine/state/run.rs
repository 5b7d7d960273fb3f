//! The state of the run.

use crate::run::{PauseReason, RunState, Seal};

/// The run in progress, and how the last one ended.
#[derive(Debug, Default)]
pub struct Run {
    /// The run in progress, or one that has ended and is still to be announced.
    pub(super) state: Option<RunState>,
    /// Set while the rules of the run do not hold and the user knows it.
    pub told_hold: Option<ToldHold>,
    /// The end of the last run of this session.
    pub ended: Option<Ended>,
}

/// A hold that the user was told of.
#[derive(Debug)]
pub struct ToldHold {
    pub reason: PauseReason,
    /// The seal of the rules that the files had when the user was told: only these can be accepted.
    pub rules: Option<Seal>,
}

/// The end of a run.
#[derive(Debug)]
pub struct Ended {
    pub workflow: String,
    pub cancelled: bool,
}

impl Run {
    /// The run in progress, or one that has ended and is still to be announced.
    pub fn state(&self) -> Option<&RunState> {
        self.state.as_ref()
    }

    /// Counts an automatic continuation; stored with the next transition.
    pub fn count_continuation(&mut self) {
        if let Some(state) = &mut self.state {
            state.progress.continuations = state.progress.continuations.saturating_add(1);
        }
    }

    /// Sets the number of continuations in which the agent did nothing; stored with the next transition.
    pub fn set_idle(&mut self, idle: u32) {
        if let Some(state) = &mut self.state {
            state.progress.idle = idle;
        }
    }
}
