//! Comparison of a run's rules with the rules with which it was started.
//!
//! **Invariant: one function decides.** [`reason_to_hold`] compares the seal of the run with the seal of the files as
//! they were last read. The engine calls this function with each new state and each reading of the files, and nowhere
//! else: a run is held exactly as long as the files do not give its seal, or another process has the session.

use crate::definition::{Library, seal};

use super::pause::{ClaimObstacle, PauseReason};
use super::progress::{PROGRESS_VERSION, Progress, Seal};
use super::{active::Active, state::RunState, transition::enter};

impl Seal {
    /// The seal of a run of this workflow; `None` if the library lacks the workflow.
    pub fn of(state: &RunState, library: &Library) -> Option<Self> {
        let key = &state.current_path.first()?.workflow_key;
        let hash = library.seal(key)?;
        let used = library.inputs_of_rules(key);
        if used.is_empty() {
            return Some(Self { version: seal::VERSION, hash });
        }
        let values = state.inputs(1, library);
        let values = used.keys().filter_map(|name| Some((*name, &**values.get(*name)?)));
        Some(Self { version: seal::VERSION, hash: seal::with_values(&hash, values) })
    }
}

/// The reason why the rules of an active run do not hold; `None` while they do.
pub fn reason_to_hold(state: &RunState, library: &Library) -> Option<PauseReason> {
    if !state.is_running() {
        return None;
    }
    if let Some(obstacle) = &state.progress.claim_obstacle {
        return Some(PauseReason::OtherProcess(obstacle.clone()));
    }
    let broken = state.progress.broken.as_ref();
    if let Some(broken) = broken.filter(|broken| !broken.is_usable) {
        return Some(PauseReason::Broken(broken.clone()));
    }
    let missing = state.current_path.iter().find(|at| library.get(&at.workflow_key).is_none());
    if let Some(segment) = missing {
        return Some(PauseReason::FilesUnreadable { workflow: segment.workflow_key.clone() });
    }
    if Active::resolve(state, library).is_none() {
        return Some(PauseReason::PhaseGone);
    }
    if let Some(broken) = broken {
        return Some(PauseReason::Broken(broken.clone()));
    }
    let Progress { version, seal, paused, .. } = &state.progress;
    if is_of_later_version(state) {
        return Some(PauseReason::LaterVersion);
    }
    match seal {
        Some(_) if *seal == Seal::of(state, library) => None,
        Some(_) => Some(PauseReason::RulesChanged),
        // The reference wrote this state.
        None if *version == 0 => None,
        None => Some(match paused.as_ref().map(|pause| &pause.reason) {
            Some(PauseReason::RulesChanged) => PauseReason::RulesChanged,
            _ => PauseReason::RulesUnknown,
        }),
    }
}

/// The reason why an active run waits for the user; `None` if it does not.
pub fn pause_reason(state: &RunState, library: &Library) -> Option<PauseReason> {
    let paused = state.progress.paused.as_ref().filter(|_| state.is_running());
    reason_to_hold(state, library).or_else(|| paused.map(|pause| pause.reason.clone()))
}

/// Returns true if a later version of this package stored the run.
pub fn is_of_later_version(state: &RunState) -> bool {
    state.progress.version > PROGRESS_VERSION || state.progress.later_seal.is_some()
}

/// The reason why an active run waits for the user, as far as its stored state tells; `None` if it does not wait.
pub fn stored_pause(state: &RunState) -> Option<PauseReason> {
    let Progress { broken, paused, .. } = &state.progress;
    let reason = match broken {
        Some(broken) => Some(PauseReason::Broken(broken.clone())),
        None if is_of_later_version(state) => Some(PauseReason::LaterVersion),
        None => paused.as_ref().map(|pause| pause.reason.clone()),
    };
    reason.filter(|_| state.is_running())
}

impl RunState {
    /// Returns the run as it is while this process does not have the claim of the session, or has it (`None`).
    pub fn with_claim_obstacle(mut self, obstacle: Option<ClaimObstacle>) -> Self {
        self.progress.claim_obstacle = obstacle;
        self
    }

    /// Returns the run, sealed with the rules of these files if it has no seal yet. A path that ends at a nested
    /// workflow, as the reference leaves it after a loop, is moved to the first phase in it.
    pub fn sealed(self, library: &Library) -> Self {
        if !self.is_running() || reason_to_hold(&self, library).is_some() {
            return self;
        }
        let mut new = enter(&self, library);
        if new.progress.seal.is_none() {
            new.progress.seal = Seal::of(&new, library);
            new.progress.version = PROGRESS_VERSION;
        }
        new
    }

    /// Returns the run, sealed with the rules of these files, which the user accepts in place of the old rules; `None`
    /// if the files cannot be read.
    pub fn with_accepted_rules(&self, library: &Library) -> Option<Self> {
        Active::resolve(self, library)?;
        let mut new = self.clone();
        new.progress.version = 0;
        (new.progress.seal, new.progress.later_seal) = (None, None);
        new.progress.broken = None;
        Some(new.sealed(library))
    }
}
