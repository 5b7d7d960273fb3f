//! The state of the engine: one type each for the definitions, the session, the run, the agent, the turn and the pending
//! requests.
//!
//! **Invariant: one writer of the run.** Every transition goes through [`Engine::transition`], which persists the new
//! state and updates what shows it. The state is private to this module.

mod activity;
mod agent;
mod briefing;
mod definitions;
mod ending;
mod fresh_start;
mod gate;
mod meter;
mod pending;
mod run;
mod session;

use serde_json::Value;

use crate::protocol::{PANEL_FIELD, STATE_ENTRY_TYPE};
use crate::run::{Active, Journal, Mark, PauseReason, RunState, Seal, UsersModel, hold};
use crate::text;

use super::context::{Cx, Ui};
use super::effect::Effect;
use super::models;

pub(super) use activity::Activity;
pub(super) use agent::{Agent, Origin, Turn};
pub(super) use briefing::{Briefing, Mover};
pub(super) use definitions::Definitions;
pub(super) use ending::Ending;
pub(super) use fresh_start::FreshStart;
pub(super) use gate::{Awaited, Caller, CheckResult, OpenGate, Requester};
pub(super) use meter::Meter;
pub(super) use pending::{
    Pending, PendingRequest, Replacement, ReplacementStep, Start, StartConsent,
};
pub(super) use run::{Ended, Left, Run, RunModel, ToldHold, VisitId};
pub(super) use session::Session;
pub(super) use session::fingerprint;

/// Workflows in one session: their definitions, and the run in progress.
#[derive(Debug, Default)]
pub struct Engine {
    pub(super) definitions: Definitions,
    pub(super) session: Session,
    pub(super) run: Run,
    pub(super) agent: Agent,
    pub(super) activity: Activity,
    pub(super) ending: Ending,
    pub(super) meter: Meter,
    pub(super) briefing: Briefing,
    pub(super) fresh_start: FreshStart,
    pub(super) turn: Turn,
    pub(super) pending: Pending,
}

impl Engine {
    /// Tests if a run is in progress whose rules hold.
    pub fn is_running(&self) -> bool {
        self.active().is_some()
    }

    /// Tests if a run is in progress, also one whose rules do not hold.
    pub fn has_run(&self) -> bool {
        self.running().is_some()
    }

    /// The session did not take the newest state entry.
    pub fn state_not_stored(&mut self) {
        self.run.journal.refused();
    }

    /// Returns the data of a complete state entry in place of one that the same event made before the session refused another.
    pub fn state_again(&mut self) -> Option<Value> {
        let again = self.run.journal.again();
        again.map(|data| self.with_panel(data))
    }

    /// Tests if the agent is at work.
    pub fn is_at_work(&self) -> bool {
        self.activity.is_working()
    }

    /// The run in progress.
    pub(super) fn running(&self) -> Option<&RunState> {
        self.run.state().filter(|state| state.is_running())
    }

    /// The reason for the pause of the run in progress, if it is paused.
    pub(super) fn pause_reason(&self) -> Option<&PauseReason> {
        self.running()?.progress.paused.as_ref().map(|pause| &pause.reason)
    }

    /// The reason why the rules of the run do not hold; `None` while they do, or without a run.
    pub(super) fn hold(&self) -> Option<PauseReason> {
        hold(self.run.state()?, &self.definitions.library)
    }

    /// The run in progress with its phase, if its rules hold: nothing is done by other rules.
    pub(super) fn active(&self) -> Option<Active<'_>> {
        if self.hold().is_some() { None } else { self.shown() }
    }

    /// The run in progress with its phase, whether or not its rules hold: for display only.
    pub(super) fn shown(&self) -> Option<Active<'_>> {
        Active::resolve(self.run.state()?, &self.definitions.library)
    }

    /// The seal of the run's workflow as its files were last read.
    pub(super) fn seal_of_files(&self) -> Option<Seal> {
        Seal::of(self.run.state()?, &self.definitions.library)
    }

    /// Replaces the state of the run: stores it in the session and updates the status line. A run whose end is announced
    /// is forgotten.
    ///
    /// Specification: state management, "Persistence".
    pub(super) fn transition(&mut self, new: RunState, cx: &mut Cx) {
        let new = self.with_usage(new, cx);
        if cx.gone {
            return;
        }
        let mut new = self.with_tools(new, cx);
        let active = Active::resolve(&new, &self.definitions.library);
        let phase = active.map(|active| (active.phase.name.clone(), active.is_fresh()));
        new.progress.fresh_start &= phase.as_ref().is_some_and(|(_, is_fresh)| *is_fresh);
        if let Some((name, _)) = phase {
            new = new.named(&name);
        }
        let (mut new, mut set) = self.with_model(new, cx);
        // Each state of an event that sets the user's model remembers it: pi may end before the model is set.
        if let Some(left) = self.run.model.left.as_ref().filter(|_| cx.model.is_some())
            && new.progress.users_model.is_none()
        {
            new.progress.users_model = Some(left.users.clone());
            set.is_users = true;
        }
        // The state comes first, for the same reason.
        self.store(&mut new, cx);
        let new = self.follow_model(new, set, cx);
        self.run.state = if new.is_announced() { None } else { Some(new) };
        self.set_status(cx);
    }

    /// Stores a state in the session. While entries of the run cannot be read the session stays as it is, until the user has
    /// decided.
    fn store(&mut self, state: &mut RunState, cx: &mut Cx) {
        if state.is_running() && state.progress.broken.is_some() {
            return;
        }
        let newest = || cx.files.entry(STATE_ENTRY_TYPE, 0).ok().flatten();
        let data = self.run.journal.entry(state, newest);
        let data = self.with_panel(data);
        cx.push(Effect::AppendEntry { custom_type: STATE_ENTRY_TYPE, data });
    }

    fn with_panel(&self, mut data: Value) -> Value {
        if let Some(fields) = data.as_object_mut().filter(|_| self.session.panel) {
            fields.insert(PANEL_FIELD.to_owned(), true.into());
        }
        data
    }

    /// Stores the newest state anew if it remembers the user's model, which was set again: the user has chosen another one
    /// since.
    pub(super) fn forget_left_model(&mut self, cx: &mut Cx) {
        let Some(mut left) = self.run.model.left.take() else { return };
        match self.running().cloned() {
            Some(state) => self.transition(state, cx),
            None => self.store(&mut left.state, cx),
        }
    }

    /// Takes up the run that the session stores.
    pub(super) fn restore(&mut self, stored: Option<RunState>, mark: Mark) {
        self.run.journal =
            stored.as_ref().map(|state| Journal::after(state, mark)).unwrap_or_default();
        let task = |state: &RunState| state.task_id.clone();
        // pi starts a session twice when another one is opened: of a run that stays held the user is told once.
        if self.run.state().map(task) != stored.as_ref().map(task) {
            self.run.told_hold = None;
        }
        self.run.state = stored.map(|state| state.sealed(&self.definitions.library));
        self.meter.take_up(self.run.state.is_some() && !self.has_run());
        self.run.told_pause = None;
    }

    /// Sets the tools of the run that the session stores: not every version of pi stores them.
    pub(super) fn restore_tools(&mut self, cx: &mut Cx) {
        let state = self.run.state.take();
        self.run.state = state.map(|state| self.with_tools(state, cx));
    }

    /// Sets the model of the run that the session stores, or the user's again. `before` is the user's model that the run
    /// remembered which was in progress before the session moved.
    pub(super) fn restore_model(&mut self, before: Option<UsersModel>, cx: &mut Cx) {
        self.run.model = RunModel::default();
        let stored = self.run.state.as_ref().and_then(|state| state.progress.users_model.clone());
        let left = stored.clone();
        let users = before.or(stored).and_then(|users| models::still_set(users, cx));
        match &mut self.run.state {
            Some(state) => state.progress.users_model = users,
            None => {
                if let Some(users) = users {
                    let effects = models::set_users(&users, cx);
                    cx.effects.extend(effects);
                }
                return;
            }
        }
        if let Some(state) = self.run.state.clone() {
            let visit = self.visit_in_effect(&state);
            let (new, set) = self.enter_model(state, visit, cx);
            let new = self.follow_model(new, set, cx);
            if new.progress.users_model.is_none() {
                let left = left.map(|users| Left { state: new.clone(), users });
                self.run.model.left = left;
            }
            self.run.state = Some(new);
        }
    }

    /// Sets the model that follows from a state, and returns the state. The user's own is forgotten once it is set again.
    fn follow_model(&mut self, mut new: RunState, set: models::Set, cx: &mut Cx) -> RunState {
        cx.effects.extend(set.effects);
        let left = new.progress.users_model.take_if(|_| set.is_users);
        let left = left.map(|users| Left { state: new.clone(), users });
        self.run.model = RunModel { visit: set.visit, left };
        new
    }

    /// Seals the run with the rules of its files if it has no seal yet; stored with the next transition.
    pub(super) fn seal_run(&mut self) {
        let state = self.run.state.take();
        self.run.state = state.map(|state| state.sealed(&self.definitions.library));
    }

    /// Shows the run in the status line.
    pub(super) fn set_status(&self, cx: &mut Cx) {
        let waits = self.activity.is_waiting();
        cx.status_shows_wait = Some(waits);
        cx.push(Effect::SetStatus(text::status_line(
            self.run.state(),
            &self.definitions.library,
            waits,
        )));
    }

    /// Tests if the panel is hidden by a dialog: a small terminal does not show the options beside both.
    pub(super) fn hides_panel(&self, ui: Ui) -> bool {
        ui.is_terminal() && self.pending.is_for_user()
    }
}
