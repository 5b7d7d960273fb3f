//! The parts of the engine: each part follows a rule of its own, and keeps its fields private. This module puts the
//! parts together.
//!
//! **Invariant: one writer of the run.** Every transition goes through [`Engine::transition`], which persists the new
//! state and updates every display of it. The state itself is private to the file `run`.

mod activity;
mod agent;
mod definitions;
mod pending;
pub(super) mod place;
mod purpose;
mod run;
mod session;

use serde_json::Value;

#[cfg(test)]
use crate::definition::Library;
use crate::definition::Stale;
use crate::protocol::{PANEL_FIELD, STATE_ENTRY_TYPE};
use crate::run::{Active, Mark, PauseReason, Progress, RunState, Seal};
use crate::text;

use super::attention::state::Attention;
use super::branches::state::Children;
use super::briefing::state::Briefing;
use super::budget::state::Meter;
use super::context::{Cx, Ui};
use super::effect::Effect;
use super::ending::state::Ending;
use super::fresh_start::state::FreshStart;
use super::limits::state::Limits;
use super::long_task;
use super::models::state::ModelKeeper;
use super::repetition::state::Repetition;

pub(super) use activity::Activity;
pub(super) use agent::{Agent, Origin, Turn};
pub(super) use definitions::Definitions;
pub(super) use pending::{Pending, Waiting};
pub(super) use place::Stand;
pub(super) use purpose::{Purpose, Waiter};
pub(super) use run::{Ended, Run, Standing, ToldHold};
pub(super) use session::{Session, fingerprint};

/// Workflows in one session: their definitions, and the run in progress.
#[derive(Debug, Default)]
pub struct Engine {
    pub(super) definitions: Definitions,
    pub(super) session: Session,
    pub(super) run: Run,
    pub(super) agent: Agent,
    pub(super) activity: Activity,
    pub(super) ending: Ending,
    pub(super) repetition: Repetition,
    pub(super) meter: Meter,
    pub(super) briefing: Briefing,
    pub(super) fresh_start: FreshStart,
    pub(super) keeper: ModelKeeper,
    pub(super) turn: Turn,
    pub(super) pending: Pending,
    pub(super) children: Children,
    pub(super) limits: Limits,
    pub(super) attention: Attention,
}

impl Engine {
    /// Returns true if a run is in progress whose rules hold.
    pub fn is_running(&self) -> bool {
        self.active().is_some()
    }

    /// Returns true if a run is in progress, also if its rules do not hold.
    pub fn has_run(&self) -> bool {
        self.running().is_some()
    }

    /// Returns true if tool calls are to be refused while this instance cannot decide on them: in a run, and under the
    /// user's limits, and behind the end of a run.
    pub fn guards_tools(&self) -> bool {
        self.has_run() || self.limits.hold() || self.ending.is_behind_end()
    }

    /// The session did not take the newest state entry.
    pub fn state_not_stored(&mut self) {
        self.run.not_stored();
    }

    /// Returns the data of a complete state entry. It replaces an entry that the same event made before the session
    /// refused another entry.
    pub fn state_again(&mut self) -> Option<Value> {
        let again = self.run.entry_again();
        again.map(|data| self.with_panel(data))
    }

    /// Returns true if the agent works on a branch that has ended: nothing is left to say.
    pub fn has_branch_ended(&self) -> bool {
        self.ending.is_of_branch()
    }

    /// Returns true if the agent is at work.
    pub fn is_at_work(&self) -> bool {
        self.activity.is_working()
    }

    /// Returns true if the agent is at work, or about to start.
    pub(super) fn has_begun(&self) -> bool {
        self.is_at_work() || self.agent.is_starting
    }

    /// The run in progress.
    pub(super) fn running(&self) -> Option<&RunState> {
        self.run.state().filter(|state| state.is_running())
    }

    /// Returns true if the run in progress is the run of a branch.
    pub(super) fn is_branch(&self) -> bool {
        self.running().is_some_and(|state| state.progress.branch.is_some())
    }

    /// The reason for the pause of the run in progress, if it is paused.
    pub(super) fn pause_reason(&self) -> Option<&PauseReason> {
        self.running()?.progress.paused.as_ref().map(|pause| &pause.reason)
    }

    /// The run with its phase if its rules hold, or else the reason for the hold.
    pub(super) fn standing(&self) -> Standing<'_> {
        self.run.standing(self.definitions.library())
    }

    /// The reason why the rules of the run do not hold; `None` while they do, or without a run.
    pub(super) fn held(&self) -> Option<PauseReason> {
        self.run.held().cloned()
    }

    /// The run in progress with its phase, if its rules hold: nothing is done by other rules.
    pub(super) fn active(&self) -> Option<Active<'_>> {
        match self.standing() {
            Standing::Active(active) => Some(active),
            Standing::NoRun | Standing::Held(_) => None,
        }
    }

    /// Reads workflow files, and resolves the run with them.
    pub(super) fn read_files<T>(
        &mut self,
        read: impl FnOnce(&mut Definitions) -> Result<T, Stale>,
    ) -> Result<T, Stale> {
        if self.active().is_some() {
            self.run.known_rules = self.run.rule_lines(self.definitions.library());
        }
        let read = read(&mut self.definitions);
        self.run.resolve(self.definitions.library());
        read
    }

    #[cfg(test)]
    pub(super) fn set_library(&mut self, library: Library) {
        self.definitions.set_library(library);
        self.run.resolve(self.definitions.library());
    }

    /// The run in progress with its phase, whether or not its rules hold: for display only.
    pub(super) fn shown(&self) -> Option<Active<'_>> {
        Active::resolve(self.run.state()?, self.definitions.library())
    }

    /// The seal of the run's workflow as its files were last read.
    pub(super) fn seal_of_files(&self) -> Option<Seal> {
        Seal::of(self.run.state()?, self.definitions.library())
    }

    /// Replaces the state of the run: stores it in the session and updates the status line. A run whose end is
    /// announced is forgotten.
    ///
    /// Specification: state management, "Persistence".
    pub(super) fn transition(&mut self, new: RunState, cx: &mut Cx) {
        let new = self.with_usage(new, cx);
        if cx.gone {
            return;
        }
        let mut new = self.with_tools(new, cx);
        if cx.gone {
            return;
        }
        let active = Active::resolve(&new, self.definitions.library());
        let phase = active.map(|active| (active.phase.name.clone(), active.is_fresh()));
        new.progress.fresh_start &= phase.as_ref().is_some_and(|(_, is_fresh)| *is_fresh);
        if let Some((name, _)) = phase {
            new = new.named(&name);
        }
        let model = self.follow_model(&mut new, cx);
        // The state comes first: pi may end before the model is set.
        new.progress.users_model = self.keeper.to_store();
        self.store(&mut new, cx);
        new.progress.users_model = None;
        self.keeper.stored(&new);
        cx.effects.extend(model);
        let (ends, of_branch) = (self.has_run() && !new.is_running(), new.progress.branch.is_some());
        self.run.replace(new, self.definitions.library());
        if ends && self.has_begun() {
            self.ending.run_ended(of_branch);
        }
        self.set_status(cx);
    }

    /// Stores a state in the session. While entries of the run cannot be read the session stays as it is, until the
    /// user has decided.
    fn store(&mut self, state: &mut RunState, cx: &mut Cx) {
        if state.is_running() && state.progress.broken.is_some() {
            return;
        }
        let newest = || cx.host.entry(STATE_ENTRY_TYPE, 0).ok().flatten();
        let data = self.run.entry(state, newest);
        let data = self.with_panel(data);
        cx.push(Effect::AppendEntry { custom_type: STATE_ENTRY_TYPE, data });
    }

    fn with_panel(&self, mut data: Value) -> Value {
        if let Some(fields) = data.as_object_mut().filter(|_| self.session.panel) {
            fields.insert(PANEL_FIELD.to_owned(), true.into());
        }
        data
    }

    /// Stores the newest state anew after the user has chosen another model, if its entry still remembers the earlier
    /// model of the user, which was set again.
    pub(super) fn forget_returned_model(&mut self, cx: &mut Cx) {
        let Some(mut state) = self.keeper.forget_returned() else { return };
        match self.running().cloned() {
            Some(state) => self.transition(state, cx),
            None => self.store(&mut state, cx),
        }
    }

    /// Takes up the run that the session stores, and sets its model, or the user's again.
    pub(super) fn restore(&mut self, mut stored: Option<RunState>, mark: Mark, cx: &mut Cx) {
        let model = stored.as_mut().and_then(|state| state.progress.users_model.take());
        if let Some(state) = &mut stored {
            long_task::take_up(state, cx);
        }
        let stored = stored.map(|state| state.bounded(&self.session.bound));
        self.run.take_up(stored, mark, self.definitions.library());
        self.meter.take_up(self.run.state().is_some() && !self.has_run());
        self.restore_model(model, cx);
    }

    /// Sets the tools of the run that the session stores: not every version of pi stores the active tools.
    pub(super) fn restore_tools(&mut self, cx: &mut Cx) {
        let state = self.run.state().cloned().map(|state| self.with_tools(state, cx));
        if let Some(state) = state {
            self.run.amend(self.definitions.library(), |_| state);
        }
    }

    /// Seals the run with the rules of its files if it has no seal yet; stored with the next transition.
    pub(super) fn seal_run(&mut self) {
        let library = self.definitions.library();
        self.run.amend(library, |state| state.sealed(library));
    }

    /// Changes the progress of the run; stored with the next transition.
    pub(super) fn amend(&mut self, change: impl FnOnce(&mut Progress)) {
        self.run.amend(self.definitions.library(), |mut state| {
            change(&mut state.progress);
            state
        });
    }

    /// Shows the run in the status line.
    pub(super) fn set_status(&self, cx: &mut Cx) {
        let waits = self.activity.is_waiting();
        cx.status_shows_wait = Some(waits);
        let line = text::status_line(self.run.state(), self.definitions.library(), waits);
        let limits = text::limits_in_brief(self.limits.found(), self.limits.are_off());
        let line = match (line, limits) {
            (Some(line), Some(limits)) => Some(format!("{line} · {limits}")),
            (line, limits) => line.or_else(|| limits.map(Into::into)),
        };
        cx.push(Effect::SetStatus(line));
    }

    /// Returns true if a dialog hides the panel: a small terminal has no room for the options beside both.
    pub(super) fn hides_panel(&self, ui: Ui) -> bool {
        ui.is_terminal() && self.pending.is_for_user()
    }
}
