//! The run in progress.
//!
//! **Invariant: one writer of the run.** Only this file can assign the state, and it resolves the run anew with each
//! new state: the rules are compared once for a state and a library, not at each question.

use serde_json::Value;

use crate::definition::Library;
use crate::run::{Active, Journal, Mark, Pause, PauseReason, RunState, RunStatus, reason_to_hold};
use crate::text;

/// The run in progress, and the end of the last run.
#[derive(Debug, Default)]
pub struct Run {
    /// The run in progress, or a run that has ended and is still to be announced.
    state: Option<RunState>,
    /// The reason why the rules of the run do not hold in the library as it was last read.
    held: Option<PauseReason>,
    /// Writes the entries of the session.
    journal: Journal,
    /// Set while the rules of the run do not hold and the user knows it.
    pub told_hold: Option<ToldHold>,
    /// The rules of the run, as [`text::rule_lines`] shows them, when they held last in this process.
    pub known_rules: Option<Vec<String>>,
    /// The pause in which the user sent a message and was told that only `/workflow :resume` ends it.
    pub told_pause: Option<Pause>,
    /// The end of the last run of this session.
    pub ended: Option<Ended>,
}

/// The run with its phase if its rules hold, or else the reason for the hold.
pub enum Standing<'a> {
    NoRun,
    /// The rules of the run do not hold, for this reason: nothing is done by other rules.
    Held(&'a PauseReason),
    /// The run is in this phase, and its rules hold.
    Active(Active<'a>),
}

/// A hold that the user was told of.
#[derive(Debug)]
pub struct ToldHold {
    pub reason: PauseReason,
    /// The user sent a message since, and was told again.
    pub with_message: bool,
}

#[derive(Debug)]
pub struct Ended {
    pub workflow: String,
    pub how: RunStatus,
}

impl Run {
    /// The run in progress, or a run that has ended and is still to be announced.
    pub fn state(&self) -> Option<&RunState> {
        self.state.as_ref()
    }

    /// The reason why the rules of the run do not hold; `None` while they do, or without a run.
    pub fn held(&self) -> Option<&PauseReason> {
        self.held.as_ref()
    }

    /// The rules that the files give the run, as [`text::rule_lines`] shows them.
    pub fn rule_lines(&self, library: &Library) -> Option<Vec<String>> {
        let root = library.get(&self.state.as_ref()?.current_path.first()?.workflow_key)?;
        Some(text::rule_lines(root, library))
    }

    /// The run with its phase, or the reason for its hold; `library` is the library with which the run was resolved.
    pub fn standing<'a>(&'a self, library: &'a Library) -> Standing<'a> {
        let active = || Active::resolve(self.state()?, library);
        match &self.held {
            Some(reason) => Standing::Held(reason),
            None => active().map_or(Standing::NoRun, Standing::Active),
        }
    }

    /// Takes up the run that the session stores, sealed with the rules of its files if it has no seal yet.
    pub fn take_up(&mut self, stored: Option<RunState>, mark: Mark, library: &Library) {
        self.journal = stored.as_ref().map(|state| Journal::after(state, mark)).unwrap_or_default();
        let task = |state: &RunState| state.task_id.clone();
        // pi starts a session twice when another session is opened: the user is told once of a run that stays held.
        if self.state.as_ref().map(task) != stored.as_ref().map(task) {
            self.told_hold = None;
        }
        self.told_pause = None;
        self.set(stored.map(|state| state.sealed(library)), library);
    }

    /// Replaces the state by a state that was stored. A run whose end is announced is forgotten.
    pub fn replace(&mut self, new: RunState, library: &Library) {
        self.set(Some(new).filter(|new| !new.is_announced()), library);
    }

    /// Changes the state; the change is stored with the next state.
    pub fn amend(&mut self, library: &Library, change: impl FnOnce(RunState) -> RunState) {
        if let Some(state) = self.state.take() {
            self.set(Some(change(state)), library);
        }
    }

    /// The files were read: the run is resolved anew.
    pub fn resolve(&mut self, library: &Library) {
        self.held = self.state.as_ref().and_then(|state| reason_to_hold(state, library));
    }

    /// Returns true if the run is resolved with this library.
    pub fn is_resolved(&self, library: &Library) -> bool {
        self.held == self.state.as_ref().and_then(|state| reason_to_hold(state, library))
    }

    fn set(&mut self, state: Option<RunState>, library: &Library) {
        self.state = state;
        self.resolve(library);
    }

    /// The entry that stores a state; the part beyond the bounds of an entry is dropped from the state too. `newest`:
    /// the newest state entry of the session.
    pub fn entry(&mut self, state: &mut RunState, newest: impl FnOnce() -> Option<String>) -> Value {
        self.journal.entry(state, newest)
    }

    /// The state entries of this event may be dropped.
    pub fn doubt_stored(&mut self) {
        self.journal.doubt();
    }

    /// The session did not take the newest state entry.
    pub fn not_stored(&mut self) {
        self.journal.refused();
    }

    /// The data of a complete state entry. It replaces an entry that the same event made before the session refused
    /// another entry.
    pub fn entry_again(&mut self) -> Option<Value> {
        self.journal.again()
    }
}
