//! The run in progress, with the workflows by which it is resolved.
//!
//! **Invariant: one writer of the run.** Only this file can assign the state, and it resolves the run anew with each
//! new state: the rules are compared once for a state and a library, not at each question.

use serde_json::Value;

use crate::definition::{Diagnostic, Library, Stale};
use crate::run::{Active, ClaimObstacle, Journal, Mark, Pause, PauseReason, RunState, RunStatus, Seal, reason_to_hold};
use crate::text;

use crate::engine::effect::Effect;
use crate::engine::host::Host;

use super::agent_of::AgentOf;
use super::definitions::Definitions;

/// The workflows as they were last read, the run in progress, and the end of the last run.
#[derive(Debug, Default)]
pub struct Run {
    definitions: Definitions,
    /// The run in progress, or a run that has ended and is still to be announced.
    state: Option<RunState>,
    /// The reason why the rules of the run do not hold in the library as it was last read, or why the run is not this
    /// process's.
    held: Option<PauseReason>,
    /// This process has the claim of the session.
    has_claim: bool,
    /// Writes the entries of the session.
    journal: Journal,
    /// The rules of the run, as [`text::rule_lines`] shows them, when they held last in this process.
    known_rules: Option<Vec<String>>,
    /// Set while the rules of the run do not hold and the user knows it.
    pub told_hold: Option<ToldHold>,
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
    /// The run is in this phase of the agent, and its rules hold.
    Phase(Active<'a>),
    /// The run is at this entry without the model, and its rules hold.
    Entry(Active<'a>),
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

    /// The run in progress, whether or not its rules hold.
    pub fn running(&self) -> Option<&RunState> {
        self.state().filter(|state| state.is_running())
    }

    /// The agent that works on the run in progress, or on the next run.
    pub fn agent_of(&self) -> &'static AgentOf {
        AgentOf::run(self.running())
    }

    /// The reason for the pause of the run in progress, if it is paused.
    pub fn pause_reason(&self) -> Option<&PauseReason> {
        self.running()?.progress().paused.as_ref().map(|pause| &pause.reason)
    }

    /// The reason why the rules of the run do not hold; `None` while they do, or without a run.
    pub fn held(&self) -> Option<&PauseReason> {
        self.held.as_ref()
    }

    /// The run with its phase if its rules hold, or else the reason for the hold.
    pub fn standing(&self) -> Standing<'_> {
        match &self.held {
            Some(reason) => Standing::Held(reason),
            None => match self.shown() {
                Some(active) if active.phase.is_of_agent() => Standing::Phase(active),
                Some(active) => Standing::Entry(active),
                None => Standing::NoRun,
            },
        }
    }

    /// The run in progress with its phase, if its rules hold: nothing is done by other rules.
    pub fn active(&self) -> Option<Active<'_>> {
        match self.standing() {
            Standing::Phase(active) | Standing::Entry(active) => Some(active),
            Standing::NoRun | Standing::Held(_) => None,
        }
    }

    /// The run in progress with its phase, whether or not its rules hold: for display only.
    pub fn shown(&self) -> Option<Active<'_>> {
        Active::resolve(self.state()?, self.library())
    }

    /// The run in progress, if it is at an entry without the model.
    pub fn at_entry(&self) -> Option<Active<'_>> {
        if let Standing::Entry(active) = self.standing() { Some(active) } else { None }
    }

    /// The run in progress, if it is in a phase of the agent.
    pub fn at_phase(&self) -> Option<Active<'_>> {
        if let Standing::Phase(active) = self.standing() { Some(active) } else { None }
    }

    /// The name of the phase of the run; empty without a phase.
    pub fn phase_name(&self) -> String {
        self.active().map_or_else(String::new, |active| active.phase.name.clone())
    }

    /// The library as it was last read.
    pub fn library(&self) -> &Library {
        self.definitions.library()
    }

    /// The number of the readings of the library.
    pub fn reading(&self) -> u32 {
        self.definitions.reading()
    }

    /// The errors in the files of the library.
    pub fn errors(&self) -> &[Diagnostic] {
        &self.definitions.errors
    }

    /// Reads workflow files, and resolves the run with them.
    ///
    /// # Errors
    ///
    /// If the session is gone; the library stays as it was.
    pub fn read_files<T>(&mut self, read: impl FnOnce(&mut Definitions) -> Result<T, Stale>) -> Result<T, Stale> {
        if self.active().is_some() {
            self.known_rules = self.rule_lines();
        }
        let read = read(&mut self.definitions);
        self.resolve();
        read
    }

    #[cfg(test)]
    pub fn set_library(&mut self, library: Library) {
        self.definitions.set_library(library);
        self.resolve();
    }

    /// A new value for the next session of this process: the user is not told again of the same errors.
    pub fn after_shutdown(&self) -> Self {
        let mut next = Self::default();
        next.definitions.told.clone_from(&self.definitions.told);
        next
    }

    /// The rules that the files give the run, as [`text::rule_lines`] shows them.
    fn rule_lines(&self) -> Option<Vec<String>> {
        let root = self.library().get(&self.state.as_ref()?.current_path.first()?.workflow_key)?;
        Some(text::rule_lines(root, self.library()))
    }

    /// The seal of the run's workflow as its files were last read.
    pub fn seal_of_files(&self) -> Option<Seal> {
        Seal::of(self.state()?, self.library())
    }

    /// The question for consent to the files' current rules, with the changes in them. `replaced`: the keys of the
    /// project's workflows that the run reaches in the place of the user's own.
    pub fn rules_question(&self, replaced: &[String], dialog: text::Dialog) -> text::Question {
        let now = self.rule_lines().unwrap_or_default();
        let name = self.state().map(|state| text::run_name(state, self.library())).unwrap_or_default();
        text::rules_question(&name, self.known_rules.as_deref(), &now, replaced, dialog)
    }

    /// Restores the run that the session stores, sealed with the rules of its files if it has no seal yet.
    pub fn restore(&mut self, stored: Option<RunState>, mark: Mark) {
        self.journal = stored.as_ref().map(|state| Journal::after(state, mark)).unwrap_or_default();
        let task = |state: &RunState| state.task_id.clone();
        // pi starts a session twice when another session is opened: the user is told once of a run that stays held.
        if self.state.as_ref().map(task) != stored.as_ref().map(task) {
            self.told_hold = None;
        }
        self.told_pause = None;
        self.set(stored.map(|state| state.sealed(self.library())));
    }

    /// Takes the claim of the session, unless this process has it. The run is held while another process has it.
    ///
    /// # Errors
    ///
    /// If the session is gone.
    pub fn claim(&mut self, takes_over: bool, host: &dyn Host) -> Result<Option<ClaimObstacle>, Stale> {
        let obstacle = if self.has_claim { None } else { host.claim(takes_over)? };
        self.has_claim = obstacle.is_none();
        self.change_unstored(|state, _| state.with_claim_obstacle(obstacle.clone()));
        Ok(obstacle)
    }

    /// The effect that gives the claim back; `None` without a claim.
    pub fn release_claim(&mut self) -> Option<Effect> {
        let is_over = self.state.is_none();
        std::mem::take(&mut self.has_claim).then_some(Effect::ReleaseClaim { is_over })
    }

    /// Returns true if another process is to work on the run.
    pub fn is_of_other_process(&self) -> bool {
        matches!(self.held, Some(PauseReason::OtherProcess(_)))
    }

    /// Replaces the state by a state that was stored. A run whose end is announced is forgotten.
    pub fn set_stored(&mut self, new: RunState) {
        self.set(Some(new).filter(|new| !new.is_announced()));
    }

    /// Changes the state; the change is stored with the next state.
    pub fn change_unstored(&mut self, change: impl FnOnce(RunState, &Library) -> RunState) {
        if let Some(state) = self.state.take() {
            let changed = change(state, self.library());
            self.set(Some(changed));
        }
    }

    /// The user acts: a wait for the end of a limit ends, and the bounds of such waits begin anew. Returns the new state if
    /// it is to be stored: a wait has ended.
    pub fn attended(&mut self, now: u64) -> Option<RunState> {
        let state = self.running()?;
        let new = state.attended(now);
        if state.goes_on_at().is_some() {
            return Some(new);
        }
        if new != *state {
            self.change_unstored(|_, _| new);
        }
        None
    }

    fn set(&mut self, state: Option<RunState>) {
        self.state = state;
        self.resolve();
    }

    fn resolve(&mut self) {
        self.held = self.state.as_ref().and_then(|state| reason_to_hold(state, self.library()));
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

    /// The session did not take a state entry of the newest event.
    pub fn not_stored(&mut self) {
        self.journal.refused();
    }

    /// The newest state entry as a complete one, if the session did not take it or an entry before it.
    pub fn entry_again(&mut self) -> Option<Value> {
        self.journal.again()
    }
}
