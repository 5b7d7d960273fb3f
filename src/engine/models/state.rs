//! The user's model, while a run uses another one.

use crate::definition::{Model, ModelSetting, short};
use crate::engine::context::Cx;
use crate::engine::effect::Effect;
use crate::run::{Pick, RunState, UsersModel};
use crate::sorted::Set;

/// Maximum length of a model's provider and id together, in bytes. A run remembers the user's model to set it again, so
/// the name cannot be cut; a longer name counts as unknown.
const MAX_MODEL: usize = 1000;
/// Maximum length of the name of a visit's model, in characters.
const MAX_SHOWN: usize = 100;

/// Keeps the user's model while the run uses another one, and sets it again. The newest state entry remembers the
/// user's model, until an entry follows in which that model is in use: pi may end before a model is set.
#[derive(Debug, Default)]
pub struct ModelKeeper {
    in_use: InUse,
    /// The visit that the model in use was chosen for; `None` if no phase is in effect.
    visit: Option<VisitId>,
    /// The model that the effects of this event set.
    set: Option<ModelSetting>,
    /// The phases of which the user was told that none of their models can be used, each with its models.
    told: Set<String>,
    /// The task id of the run whose prompt was compared with the context window of the model.
    compared: Option<String>,
}

#[derive(Debug, Default)]
enum InUse {
    /// The user's own.
    #[default]
    Users,
    /// A model of the run; the value is the user's model.
    Runs(UsersModel),
    /// The user's own is set again with the state that follows.
    Returning(UsersModel),
    /// The user's own was set again, and the newest state entry, of this state, still remembers it.
    Returned(UsersModel, Box<RunState>),
}

/// One visit of a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitId {
    pub task_id: String,
    /// See [`PhasePath::key`](crate::run::PhasePath::key).
    pub phase: String,
    pub number: u32,
}

impl ModelKeeper {
    pub fn begin_event(&mut self) {
        self.set = None;
    }

    /// Returns true if the user was not told of this phase with these models. The user is told from now on.
    pub fn is_to_tell(&mut self, phase: String) -> bool {
        self.told.insert(phase)
    }

    /// Returns true if no prompt of this run was compared with the context window of the model. The prompt counts as
    /// compared from now on.
    pub fn is_to_compare(&mut self, task_id: &str) -> bool {
        let is_new = self.compared.as_deref() != Some(task_id);
        self.compared = Some(task_id.to_owned());
        is_new
    }

    /// The visit that the model in use was chosen for.
    pub fn visit(&self) -> Option<&VisitId> {
        self.visit.as_ref()
    }

    /// The user's model, if the run uses another one.
    pub fn users(&self) -> Option<&UsersModel> {
        match &self.in_use {
            InUse::Runs(users) => Some(users),
            InUse::Users | InUse::Returning(_) | InUse::Returned(..) => None,
        }
    }

    /// The model as the effects up to now leave it.
    pub fn current(&self, cx: &mut Cx) -> Option<ModelSetting> {
        if self.set.is_some() {
            return self.set.clone();
        }
        let setting = cx.unless_gone(cx.host.model_setting())?;
        let Model { provider, id } = &setting.model;
        (provider.len() + id.len() <= MAX_MODEL).then_some(setting)
    }

    /// The user's own model: the kept one while the run uses another, or the one as the effects up to now leave it.
    pub fn users_own(&self, cx: &mut Cx) -> Option<ModelSetting> {
        self.users().map(|users| users.user.clone()).or_else(|| self.current(cx))
    }

    /// The session moved: its run remembers this model, or there is none. A model of the user that the run before has
    /// kept takes precedence: the model in the session may be older. Neither counts if the user has chosen another
    /// model since, that is, if the current model is neither a model of the run nor the kept model of the user.
    /// Thinking levels are not compared: the user's level may not have been set again yet.
    pub fn set_stored(&mut self, stored: Option<UsersModel>, cx: &mut Cx) {
        let is_set = |users: &UsersModel| {
            let known = [&users.run, &users.before, &users.user.model];
            self.current(cx).is_some_and(|current| known.contains(&&current.model))
        };
        let kept = self.users().cloned().or(stored).filter(is_set);
        self.in_use = kept.map_or(InUse::Users, InUse::Runs);
        self.visit = None;
    }

    /// The state that was restored is in effect; its entry remembers this model.
    pub fn restored(&mut self, stored: Option<UsersModel>, state: &RunState) {
        if self.users().is_none() {
            let returned = |users| InUse::Returned(users, Box::new(state.clone()));
            self.in_use = stored.map_or(InUse::Users, returned);
        }
    }

    /// A visit is in effect whose model is not known, or that names no model: the model in use stays.
    pub fn stay(&mut self, visit: Option<VisitId>) {
        self.visit = visit;
    }

    /// Another visit is in effect, with this model of the run, or with the user's own. Returns the effects that set
    /// this model.
    pub fn enter(&mut self, visit: Option<VisitId>, current: ModelSetting, run: Option<ModelSetting>) -> Vec<Effect> {
        self.visit = visit;
        let (to, of_run) = match (run, std::mem::take(&mut self.in_use)) {
            (Some(run), before) => {
                let (user, of_run) = match before {
                    InUse::Runs(users) => (users.user, true),
                    InUse::Users | InUse::Returning(_) | InUse::Returned(..) => (current.clone(), false),
                };
                let before = current.model.clone();
                self.in_use = InUse::Runs(UsersModel { user, run: run.model.clone(), before });
                (run, of_run)
            }
            (None, InUse::Runs(users)) => {
                let user = users.user.clone();
                self.in_use = InUse::Returning(users);
                (user, false)
            }
            (None, before) => {
                self.in_use = before;
                return Vec::new();
            }
        };
        self.set(&current, to, of_run)
    }

    /// There is no run: returns the effects that set the user's own.
    pub fn give_back(&mut self, cx: &mut Cx) -> Vec<Effect> {
        let InUse::Runs(users) = std::mem::take(&mut self.in_use) else { return Vec::new() };
        let Some(current) = self.current(cx) else { return Vec::new() };
        self.set(&current, users.user, false)
    }

    /// Notes the model in use in the visit that is left.
    pub fn leave(&self, state: &mut RunState, current: &ModelSetting) {
        if let Some(left) = self.visit.as_ref().filter(|left| left.task_id == state.task_id) {
            *state = state.clone().with_model(&left.phase, left.number, short(&current.to_string(), MAX_SHOWN));
        }
    }

    /// The user has selected a model or a level in place of the run's.
    pub fn picked(&mut self, pick: Pick, current: &ModelSetting) {
        match (&mut self.in_use, pick) {
            (InUse::Runs(users), Pick::Thinking) => users.user.thinking = current.thinking,
            (in_use @ InUse::Runs(_), Pick::Model) => *in_use = InUse::Users,
            (InUse::Users | InUse::Returning(_) | InUse::Returned(..), _) => {}
        }
    }

    /// The user's model that a state entry of this event remembers, also if this event sets the model again.
    pub fn to_store(&self) -> Option<UsersModel> {
        match &self.in_use {
            InUse::Runs(users) | InUse::Returning(users) => Some(users.clone()),
            InUse::Returned(users, _) => Some(users).filter(|_| self.set.is_some()).cloned(),
            InUse::Users => None,
        }
    }

    /// This state was stored with [`Self::to_store`].
    pub fn stored(&mut self, state: &RunState) {
        self.in_use = match std::mem::take(&mut self.in_use) {
            InUse::Returning(users) => InUse::Returned(users, Box::new(state.clone())),
            InUse::Returned(users, _) if self.set.is_some() => InUse::Returned(users, Box::new(state.clone())),
            InUse::Returned(..) | InUse::Users => InUse::Users,
            InUse::Runs(users) => InUse::Runs(users),
        };
    }

    /// The user has chosen another model: returns the newest state, to be stored anew, if its entry remembers the
    /// earlier model of the user.
    pub fn forget_returned(&mut self) -> Option<RunState> {
        match std::mem::take(&mut self.in_use) {
            InUse::Returned(_, state) => Some(*state),
            other => {
                self.in_use = other;
                None
            }
        }
    }

    /// Returns the effects that set a model and a level. `of_run`: the run has set the current level.
    fn set(&mut self, now: &ModelSetting, to: ModelSetting, of_run: bool) -> Vec<Effect> {
        let mut effects = Vec::new();
        // pi chooses a level only when the model is set.
        if now.model != to.model || of_run && to.thinking.is_none() {
            effects.push(Effect::SetModel(to.model.clone()));
        }
        if let Some(level) = to.thinking
            && (!effects.is_empty() || now.thinking != Some(level))
        {
            effects.push(Effect::SetThinking(level));
        }
        if !effects.is_empty() {
            self.set = Some(to);
        }
        effects
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Thinking;

    fn setting(id: &str, thinking: Option<Thinking>) -> ModelSetting {
        ModelSetting { model: Model { provider: "a".into(), id: id.into() }, thinking }
    }

    fn visit(number: u32) -> Option<VisitId> {
        Some(VisitId { task_id: "wf-1".into(), phase: "w:0".into(), number })
    }

    #[test]
    fn the_users_model_is_remembered_until_a_state_follows_its_return() {
        let state = RunState::new("w", "x", 0, 0);
        let mut keeper = ModelKeeper::default();
        let own = setting("user", Some(Thinking::Low));
        let effects = keeper.enter(visit(1), own.clone(), Some(setting("run", None)));
        assert_eq!(effects, [Effect::SetModel(setting("run", None).model)]);
        assert_eq!(keeper.to_store().unwrap().user, own);
        keeper.stored(&state);

        keeper.begin_event();
        let effects = keeper.enter(visit(2), setting("run", None), None);
        let set = [Effect::SetModel(own.model.clone()), Effect::SetThinking(Thinking::Low)];
        assert_eq!(effects, set);
        for _ in 0..2 {
            assert_eq!(keeper.to_store().unwrap().user, own, "each state of the event has it");
            keeper.stored(&state);
            assert_eq!(keeper.users(), None);
        }

        keeper.begin_event();
        assert_eq!(keeper.to_store(), None);
        keeper.stored(&state);
        assert_eq!(keeper.forget_returned(), None);
    }

    #[test]
    fn a_model_that_the_user_picks_is_the_users_own() {
        let mut keeper = ModelKeeper::default();
        let own = setting("user", Some(Thinking::Low));
        keeper.enter(visit(1), own, Some(setting("run", None)));
        keeper.picked(Pick::Thinking, &setting("run", Some(Thinking::High)));
        assert_eq!(keeper.users().unwrap().user, setting("user", Some(Thinking::High)));
        keeper.picked(Pick::Model, &setting("other", None));
        assert_eq!(keeper.users(), None);
        assert_eq!(keeper.enter(visit(2), setting("other", None), None), []);
    }

    #[test]
    fn a_return_that_the_session_remembers_is_forgotten_with_another_choice() {
        let state = RunState::new("w", "x", 0, 0);
        let user = setting("user", None);
        let stored = UsersModel { run: setting("run", None).model, before: user.model.clone(), user };
        let mut keeper = ModelKeeper::default();
        keeper.restored(Some(stored), &state);
        assert_eq!(keeper.forget_returned(), Some(state));
        assert_eq!(keeper.forget_returned(), None);
    }
}
