//! The state of the run.

use crate::run::{Journal, Pause, PauseReason, Pick, RunState, Seal, UsersModel, phase_key};

/// The run in progress, and how the last one ended.
#[derive(Debug, Default)]
pub struct Run {
    /// The run in progress, or one that has ended and is still to be announced.
    pub(super) state: Option<RunState>,
    /// Writes the entries of the session.
    pub(super) journal: Journal,
    /// The session stored this state, and the run had ended: what followed is not part of it.
    pub is_past: bool,
    /// Set while the rules of the run do not hold and the user knows it.
    pub told_hold: Option<ToldHold>,
    /// The pause in which the user sent a message and was told that only `/workflow :resume` ends it.
    pub told_pause: Option<Pause>,
    /// The end of the last run of this session.
    pub ended: Option<Ended>,
    /// The model of the run.
    pub model: RunModel,
}

/// The model of the run, as the engine has set it.
#[derive(Debug, Default)]
pub struct RunModel {
    /// The visit whose model is set; `None` while the user's is.
    pub visit: Option<VisitId>,
    /// The newest state, if it is stored with the user's model, which was set again.
    pub left: Option<Left>,
}

/// A state that is stored with the user's model.
#[derive(Debug)]
pub struct Left {
    /// The state without it.
    pub state: RunState,
    pub users: UsersModel,
}

/// One visit of a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitId {
    pub task_id: String,
    /// See [`phase_key`](crate::run::phase_key).
    pub phase: String,
    /// The number of the visit.
    pub pass: u32,
}

/// A hold that the user was told of.
#[derive(Debug)]
pub struct ToldHold {
    pub reason: PauseReason,
    /// The seal of the rules that the files had when the user was told: only these can be accepted.
    pub rules: Option<Seal>,
    /// The user sent a message since, and was told again.
    pub with_message: bool,
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

    /// The state entries of this event may be dropped.
    pub fn doubt_stored(&mut self) {
        self.journal.doubt();
    }

    /// Changes the user's model that the run remembers, and what the user has picked in the current visit; stored with the
    /// next transition.
    pub fn pick(&mut self, pick: Pick, users_model: Option<UsersModel>) {
        let Some(state) = &mut self.state else { return };
        state.progress.users_model = users_model;
        if let Some(visit) = state.progress.visits.get_mut(&phase_key(&state.current_path)) {
            visit.picked = visit.picked.max(Some(pick));
        }
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
