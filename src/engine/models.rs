//! The model and the thinking level of a phase.
//!
//! They are set when a phase is entered, and the user's own are set again when the run ends, pauses, or enters a phase that
//! names none. In between the state of the run remembers the user's, so that they are set again after a restart. A model
//! or a level that the user selects in a phase holds for this visit, and is the user's own from then on.

use crate::definition::{Model, ModelSetting, Phase, Stale, choose, short};
use crate::run::{Active, PauseReason, Pick, RunState, UsersModel, hold, phase_key};
use crate::text;

use super::context::Cx;
use super::effect::{Effect, Level};
use super::state::{Engine, VisitId};

/// Maximum length of a model's provider and id together, in bytes. A run remembers the user's model to set it again, so the name
/// cannot be cut; a longer one counts as unknown.
const MAX_MODEL: usize = 1000;
/// Maximum length of the name of a visit's model, in characters.
const MAX_SHOWN: usize = 100;

/// The model that follows from a state.
#[derive(Debug, Default)]
pub(super) struct Set {
    /// The effects that set it.
    pub effects: Vec<Effect>,
    /// It is the user's own again.
    pub is_users: bool,
    /// The visit that it was chosen for; `None` if no phase is in effect.
    pub visit: Option<VisitId>,
}

impl Engine {
    /// Returns the state with the user's model that it remembers, and what sets the model. It is set only if another visit
    /// of a phase is in effect than before.
    pub(super) fn with_model(&mut self, mut new: RunState, cx: &mut Cx) -> (RunState, Set) {
        new.progress.users_model =
            self.run.state().and_then(|state| state.progress.users_model.clone());
        let visit = self.visit_in_effect(&new);
        if visit == self.run.model.visit {
            return (new, Set { visit, ..Set::default() });
        }
        self.enter_model(new, visit, cx)
    }

    /// Does the same for a visit that is not the one before.
    pub(super) fn enter_model(
        &mut self,
        mut new: RunState,
        visit: Option<VisitId>,
        cx: &mut Cx,
    ) -> (RunState, Set) {
        let users = new.progress.users_model.clone();
        let same = Set { visit, ..Set::default() };
        if users.is_none() && !self.definitions.library.names_models(&new.workflow_key) {
            return (new, same);
        }
        let Some(current) = current(cx) else { return (new, same) };
        let visit = same.visit;
        if let Some(left) = self.run.model.visit.as_ref().filter(|left| left.task_id == new.task_id)
            && let Some(visit) = new.progress.visits.get_mut(&left.phase)
            && visit.passes == left.pass
        {
            visit.model = Some(short(&current.to_string(), MAX_SHOWN));
        }
        let user = users.as_ref().map_or(&current, |users| &users.user).clone();
        let run = if visit.is_some() { self.setting_of_phase(&new, &user, cx) } else { None };
        let (effects, is_users) = match (run, &users) {
            (Some(run), _) => {
                let effects = set(&current, &run, users.is_some(), cx);
                let (run, before) = (run.model, current.model);
                new.progress.users_model = Some(UsersModel { user, run, before });
                (effects, false)
            }
            (None, Some(_)) => (set(&current, &user, false, cx), true),
            (None, None) => (Vec::new(), false),
        };
        (new, Set { effects, is_users, visit })
    }

    /// The visit of the phase whose model is to be set: the run is in it, and neither paused nor held.
    pub(super) fn visit_in_effect(&self, state: &RunState) -> Option<VisitId> {
        let library = &self.definitions.library;
        Active::resolve(state, library)?;
        if state.progress.paused.is_some() || hold(state, library).is_some() {
            return None;
        }
        let (task_id, phase) = (state.task_id.clone(), phase_key(&state.current_path));
        Some(VisitId { task_id, phase, pass: state.pass() })
    }

    /// The model and the level of the current phase; `None` if they are the user's own.
    fn setting_of_phase(
        &mut self,
        state: &RunState,
        user: &ModelSetting,
        cx: &mut Cx,
    ) -> Option<ModelSetting> {
        let library = &self.definitions.library;
        let phase = Active::resolve(state, library)?.phase;
        let visit = state.progress.visits.get(&phase_key(&state.current_path));
        let picked = visit.and_then(|visit| visit.picked);
        if picked == Some(Pick::Model) || !has_setting(phase) {
            return None;
        }
        let chosen = if phase.model.is_empty() {
            None
        } else {
            let models = cx.unless_gone(cx.files.models())?;
            match choose(&phase.model, library.aliases(), &models) {
                Ok(chosen) => Some(chosen),
                Err(lacks) => {
                    let told = format!("{} {}", phase.file, phase.model.join(" "));
                    if self.session.told_models.insert(told) {
                        cx.notify(Level::Warning, text::no_model(phase, &lacks, user));
                    }
                    None
                }
            }
        };
        let level = |own| match picked {
            Some(Pick::Thinking | Pick::Model) => user.thinking,
            None => phase.thinking.or(own),
        };
        match chosen {
            Some(ModelSetting { model, thinking }) => {
                Some(ModelSetting { model, thinking: level(thinking) })
            }
            None => phase.thinking.and(level(None)).map(|thinking| ModelSetting {
                model: user.model.clone(),
                thinking: Some(thinking),
            }),
        }
    }

    /// A model or a thinking level was selected. In a phase that names its own, the user's choice holds for the visit.
    pub(super) fn selected(&mut self, pick: Pick, own: bool, cx: &mut Cx) -> Result<(), Stale> {
        if own {
            return Ok(());
        }
        let active = self.active().filter(|active| has_setting(active.phase));
        // After an error of the phase's model, or Escape, the user may select another one to go on with.
        let stopped =
            matches!(self.pause_reason(), Some(PauseReason::ModelError | PauseReason::Aborted));
        let is_in_use = stopped || self.run.model.visit.is_some();
        let Some(Active { state, .. }) = active.filter(|_| is_in_use) else {
            self.forget_left_model(cx);
            return Ok(());
        };
        let Some(current) = cx.files.model_setting()? else { return Ok(()) };
        let users = match pick {
            Pick::Model => None,
            Pick::Thinking => state.progress.users_model.clone().map(|mut users| {
                users.user.thinking = current.thinking;
                users
            }),
        };
        self.run.pick(pick, users);
        if let Some(state) = self.running().cloned() {
            self.transition(state, cx);
        }
        Ok(())
    }

    /// Sets the model anew if the run is held, or is no longer.
    pub(super) fn follow_hold(&mut self, cx: &mut Cx) {
        let Some(state) = self.running() else { return };
        let is_followed = self.visit_in_effect(state) == self.run.model.visit;
        let uses_another = state.progress.users_model.is_some()
            || self.shown().is_some_and(|active| has_setting(active.phase));
        if !is_followed && uses_another {
            let state = state.clone();
            self.transition(state, cx);
        }
    }
}

/// Tests if a phase names a model or a thinking level.
fn has_setting(phase: &Phase) -> bool {
    !phase.model.is_empty() || phase.thinking.is_some()
}

/// The model as the effects up to now leave it.
fn current(cx: &mut Cx) -> Option<ModelSetting> {
    if cx.model.is_some() {
        return cx.model.clone();
    }
    let setting = cx.unless_gone(cx.files.model_setting())?;
    let Model { provider, id } = &setting.model;
    (provider.len() + id.len() <= MAX_MODEL).then_some(setting)
}

/// Returns the user's model that a run remembers, if the model in use is one of the run, or the user's own, whose level may
/// not have been set again yet: else the user has chosen another one since.
pub(super) fn still_set(users: UsersModel, cx: &mut Cx) -> Option<UsersModel> {
    let model = current(cx)?.model;
    let is_known = [&users.run, &users.before, &users.user.model].contains(&&model);
    is_known.then_some(users)
}

/// Returns the effects that set the user's model.
pub(super) fn set_users(users: &UsersModel, cx: &mut Cx) -> Vec<Effect> {
    let current = current(cx);
    current.map(|current| set(&current, &users.user, false, cx)).unwrap_or_default()
}

/// Returns the effects that set a model and a level. `of_run`: the level now is one that the run has set.
fn set(now: &ModelSetting, to: &ModelSetting, of_run: bool, cx: &mut Cx) -> Vec<Effect> {
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
        cx.model = Some(to.clone());
    }
    effects
}
