//! The place of a run, at which an answer has an effect.

use crate::run::{PhasePath, RunState};

use super::purpose::{Purpose, Waiter, Withdrawal};

/// A run, and its visit of a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    task_id: String,
    step: u64,
    path: PhasePath,
}

impl Place {
    pub fn of(state: &RunState) -> Self {
        Self { task_id: state.task_id.clone(), step: state.global_step_count, path: state.current_path.clone() }
    }

    /// Returns true if the place belongs to this run.
    pub fn is_of(&self, state: &RunState) -> bool {
        self.task_id == state.task_id
    }
}

/// The place at which something waits for an answer, and the party that waits.
#[derive(Debug)]
pub struct Stand {
    place: Place,
    waiter: Waiter,
    withdrawal: Withdrawal,
}

impl Stand {
    pub fn at(state: &RunState, waiter: Waiter) -> Self {
        Self { place: Place::of(state), waiter, withdrawal: Withdrawal::default() }
    }

    /// Returns true if the run is still at this place.
    pub fn is_at(&self, state: &RunState) -> bool {
        self.place == Place::of(state)
    }

    /// Returns true if an answer has an effect: the user did nothing else, and the run is still at this place.
    pub fn stands(&self, state: Option<&RunState>) -> bool {
        !self.withdrawal.is_withdrawn() && state.is_some_and(|state| self.is_at(state))
    }

    /// The purpose of a request that is made at this place.
    pub fn purpose(&self) -> Purpose {
        Purpose { waiter: self.waiter, gate: Some(self.withdrawal.clone()) }
    }
}
