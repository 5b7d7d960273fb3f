//! The place of a run, at which an answer has an effect.

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

    /// Returns true if it is one of this run.
    pub fn is_of(&self, state: &RunState) -> bool {
        self.task_id == state.task_id
    }
}
