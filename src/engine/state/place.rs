//! The place of a run at which an answer has an effect, and the party that waits for the answer.

use crate::run::{PhasePath, RunState};

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

    /// Returns true if a run is still at this place.
    pub fn has(&self, state: &RunState) -> bool {
        *self == Self::of(state)
    }

    /// Returns true if the place belongs to this run.
    pub fn is_of(&self, state: &RunState) -> bool {
        self.task_id == state.task_id
    }
}

/// The party that waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiter {
    /// The user, by a command.
    User,
    /// The agent, by a call of its tool.
    Call {
        /// Another tool made the call.
        nested: bool,
    },
}
