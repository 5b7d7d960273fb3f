//! The parts of the engine: each part follows a rule of its own, and keeps its fields private. This module puts the
//! parts together.
//!
//! **Invariant: one writer of the run.** Every transition goes through [`Engine::transition`], which persists the new
//! state and updates every display of it. The state itself is private to the file `run`.

mod activity;
mod agent;
mod agent_of;
mod definitions;
pub(super) mod place;
mod run;
mod session;

use serde_json::Value;

use crate::protocol::{PANEL_FIELD, STATE_ENTRY_TYPE};
use crate::run::{Active, Progress, RunState};

use super::ask::Pending;
use super::branches::state::Children;
use super::briefing::state::Briefing;
use super::budget::state::UsageMeter;
use super::context::Cx;
use super::deadlines::state::Deadlines;
use super::display::Display;
use super::effect::Effect;
use super::fresh_start::state::FreshStart;
use super::limits::state::Limits;
use super::models::state::ModelKeeper;
use super::proposals::state::Proposals;
use super::quota::state::Quota;
use super::repetition::state::Repetition;
use super::tools;
use super::watching::state::Watch;

pub(super) use activity::Activity;
pub(super) use agent::{Agent, Origin, Turn};
pub(super) use agent_of::AgentOf;
pub(super) use place::{Place, Waiter};
pub(super) use run::{Ended, Run, Standing, ToldHold};
pub(super) use session::{Session, fingerprint};

/// Workflows in one session: their definitions, and the run in progress.
#[derive(Debug, Default)]
pub struct Engine {
    pub(super) session: Session,
    pub(super) run: Run,
    pub(super) agent: Agent,
    pub(super) repetition: Repetition,
    pub(super) meter: UsageMeter,
    pub(super) briefing: Briefing,
    pub(super) fresh_start: FreshStart,
    pub(super) keeper: ModelKeeper,
    pub(super) turn: Turn,
    pub(super) pending: Pending,
    pub(super) proposals: Proposals,
    pub(super) children: Children,
    pub(super) limits: Limits,
    pub(super) quota: Quota,
    pub(super) deadlines: Deadlines,
    pub(super) display: Display,
    pub(super) watch: Watch,
}

impl Engine {
    /// Returns true if a run is in progress whose rules hold.
    pub fn is_running(&self) -> bool {
        self.run.active().is_some()
    }

    /// Returns true if a run is in progress, also if its rules do not hold.
    pub fn has_run(&self) -> bool {
        self.run.running().is_some()
    }

    /// Returns true if tool calls are to be refused while this instance cannot decide on them: in a run, and under the
    /// user's limits, and behind the end of a run.
    pub fn guards_tools(&self) -> bool {
        self.has_run() || self.limits.hold() || self.agent.ending.is_behind_end()
    }

    /// Returns true if the agent works on a branch that has ended: nothing is left to say.
    pub fn has_branch_ended(&self) -> bool {
        self.agent.ending.is_of_branch()
    }

    /// Returns true if this process works on a run, and needs the claim of the session: until a pause or changed rules,
    /// and the end of what the agent, its branches and commands do, or until the end of the run is announced.
    pub(super) fn works_on_run(&self) -> bool {
        let is_busy = self.is_at_work() || !self.pending.is_empty();
        let goes_on = self.run.held().is_none() && self.run.pause_reason().is_none();
        self.run.state().is_some() && !self.run.is_of_other_process() && (is_busy || goes_on)
    }

    /// Returns true if the agent is at work.
    pub fn is_at_work(&self) -> bool {
        self.agent.activity.is_working()
    }

    /// Replaces the state of the run: stores it in the session and updates the status line. A run whose end is
    /// announced is forgotten.
    ///
    /// Specification: state management, "Persistence".
    pub(super) fn transition(&mut self, new: RunState, cx: &mut Cx) {
        let new = self.meter.count(new, &self.run, &self.agent, cx);
        if cx.gone {
            return;
        }
        let mut new = tools::with_tools(new, self.run.library(), cx);
        if cx.gone {
            return;
        }
        let active = Active::resolve(&new, self.run.library());
        let phase = active.map(|active| (active.phase.name.clone(), active.is_fresh()));
        if !phase.as_ref().is_some_and(|(_, is_fresh)| *is_fresh) {
            new = new.started_fresh();
        }
        if let Some((name, _)) = phase {
            new = new.named(&name);
        }
        let model = self.keeper.follow(&mut new, self.run.library(), cx);
        // The state comes first: pi may end before the model is set.
        new = new.with_users_model(self.keeper.to_store());
        self.store(&mut new, cx);
        let new = new.with_users_model(None);
        self.keeper.stored(&new);
        cx.effects.extend(model);
        if self.run.running().is_some() && !new.is_running() {
            self.agent.run_ended(AgentOf::run(&new));
        }
        self.watch.follow(&new, &self.run, false, cx);
        self.run.set_stored(new);
        cx.update_status();
    }

    /// Stores a state in the session. While entries of the run cannot be read the session stays as it is, until the
    /// user has decided, and so it does while another process has the session.
    fn store(&mut self, state: &mut RunState, cx: &mut Cx) {
        let Progress { broken, claim_obstacle, .. } = state.progress();
        if state.is_running() && (broken.is_some() || claim_obstacle.is_some()) {
            return;
        }
        let newest = || cx.host.entry(STATE_ENTRY_TYPE, 0).ok().flatten();
        let data = self.run.entry(state, newest);
        cx.push(Effect::AppendEntry { custom_type: STATE_ENTRY_TYPE, data: with_panel(data, &self.display) });
    }

    /// The session did not take a state entry: the next entry is complete. Entries that were to follow in the same event
    /// are replaced by a complete one.
    pub(super) fn not_stored(&mut self, is_newest: bool, cx: &mut Cx) {
        self.run.not_stored();
        if let Some(data) = self.run.entry_again().filter(|_| !is_newest) {
            cx.push(Effect::AppendEntry { custom_type: STATE_ENTRY_TYPE, data: with_panel(data, &self.display) });
        }
    }

    /// Stores the newest state anew after the user has chosen another model, if its entry still remembers the earlier
    /// model of the user, which was set again.
    pub(super) fn forget_returned_model(&mut self, cx: &mut Cx) {
        let Some(mut state) = self.keeper.forget_returned() else { return };
        match self.run.running().cloned() {
            Some(state) => self.transition(state, cx),
            None => self.store(&mut state, cx),
        }
    }
}

fn with_panel(mut data: Value, display: &Display) -> Value {
    if let Some(fields) = data.as_object_mut().filter(|_| display.has_panel()) {
        fields.insert(PANEL_FIELD.to_owned(), true.into());
    }
    data
}
