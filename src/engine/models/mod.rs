//! The model and the thinking level of a phase.
//!
//! Both are set when a phase is entered, and the user's own model and level are set again when the run ends, pauses, or
//! enters a phase that names none. Meanwhile the state of the run remembers the user's model and level, so that both
//! are set again after a restart. A model or a level that the user selects in a phase holds for this visit, and is the
//! user's own from then on.

pub(super) mod state;

use crate::definition::{Library, ModelSetting, Stale, choose};
use crate::run::{Active, PauseReason, Pick, RunState, UsersModel, reason_to_hold};
use crate::text;

use super::context::Cx;
use super::effect::{Effect, Level};
use super::models::state::{ModelKeeper, VisitId};
use super::state::{Engine, Run};

impl ModelKeeper {
    /// Returns the effects that set the model for a state. The model is set only if another visit of a phase is in
    /// effect than before.
    pub fn follow(&mut self, new: &mut RunState, library: &Library, cx: &mut Cx) -> Vec<Effect> {
        let visit = visit_in_effect(new, library);
        if visit.as_ref() == self.visit() { Vec::new() } else { self.enter_visit(new, visit, library, cx) }
    }

    /// Returns the effects that set the model of a visit, or the user's own if no phase is in effect.
    fn enter_visit(
        &mut self,
        new: &mut RunState,
        visit: Option<VisitId>,
        library: &Library,
        cx: &mut Cx,
    ) -> Vec<Effect> {
        let has_models = self.users().is_some() || library.names_models(&new.workflow_key);
        let current = if has_models { self.current(cx) } else { None };
        let Some(current) = current else {
            self.stay(visit);
            return Vec::new();
        };
        self.leave(new, &current);
        let user = self.users().map_or(&current, |users| &users.user).clone();
        let run = if visit.is_some() { self.setting_of_phase(new, library, &user, cx) } else { None };
        self.enter(visit, current, run)
    }

    /// Sets the model of the run that was restored, or the user's again. `stored`: the user's model that the state
    /// entry of the run remembers.
    pub fn restore(&mut self, stored: Option<UsersModel>, run: &mut Run, cx: &mut Cx) {
        self.set_stored(stored.clone(), cx);
        let Some(mut state) = run.state().cloned() else {
            let effects = self.give_back(cx);
            cx.effects.extend(effects);
            return;
        };
        let visit = visit_in_effect(&state, run.library());
        let effects = self.enter_visit(&mut state, visit, run.library(), cx);
        cx.effects.extend(effects);
        self.restored(stored, &state);
        run.change_unstored(|_, _| state);
    }

    /// The model and the level of the current phase; `None` if they are the user's own.
    fn setting_of_phase(
        &mut self,
        state: &RunState,
        library: &Library,
        user: &ModelSetting,
        cx: &mut Cx,
    ) -> Option<ModelSetting> {
        let active = Active::resolve(state, library)?;
        let (phase, own) = (active.phase, active.model());
        let visit = state.progress().visits.get(&state.current_path.key());
        let picked = visit.and_then(|visit| visit.picked);
        if picked == Some(Pick::Model) || !own.is_given() {
            return None;
        }
        let models = cx.unless_gone(cx.host.models())?;
        match choose(&own.names, library.aliases(), &models, Some(&user.model)) {
            Ok(chosen) if picked.is_none() => Some(chosen),
            Ok(chosen) => Some(ModelSetting { thinking: user.thinking, ..chosen }),
            Err(lacks) => {
                let told = format!("{} {:?} {}", phase.file, phase.at, own.names.join(" "));
                if self.is_to_tell(told) {
                    cx.notify(Level::Warning, text::no_model(phase, &lacks, user));
                }
                None
            }
        }
    }

    /// Tells the user once in a run that the context window of the model in use is small for the prompt of a phase.
    pub fn compare_window(&mut self, run: &Run, prompt: &str, cx: &mut Cx) {
        if !run.running().is_some_and(|state| self.is_to_compare(&state.task_id)) {
            return;
        }
        let Some(ModelSetting { model, .. }) = cx.unless_gone(cx.host.model_setting()) else { return };
        let Some(models) = cx.unless_gone(cx.host.models()) else { return };
        let window = models.into_iter().find(|known| known.model == model).map_or(0, |known| known.context_window);
        if let Some(notice) = text::small_window(&model, window, prompt) {
            cx.notify(Level::Warning, notice);
        }
    }

    /// Returns true if the model of a run is to be set again: a hold of the run has begun or ended.
    pub fn is_overtaken(&self, run: &Run) -> bool {
        let Some(state) = run.running() else { return false };
        let is_followed = visit_in_effect(state, run.library()).as_ref() == self.visit();
        !is_followed && (self.users().is_some() || run.shown().is_some_and(|active| active.model().is_given()))
    }
}

impl Engine {
    /// A model or a thinking level was selected. In a phase that names its own, the user's choice holds for the visit.
    pub(super) fn selected(&mut self, pick: Pick, own: bool, cx: &mut Cx) -> Result<(), Stale> {
        if own {
            return Ok(());
        }
        let active = self.run.active().filter(|active| active.model().is_given());
        // After an error of the phase's model, or Escape, the user may select another model to go on with.
        let stopped = matches!(
            self.run.pause_reason(),
            Some(PauseReason::ModelError | PauseReason::Quota { .. } | PauseReason::Aborted)
        );
        let is_in_use = stopped || self.keeper.visit().is_some();
        if !(is_in_use && active.is_some()) {
            self.forget_returned_model(cx);
            return Ok(());
        }
        let Some(current) = cx.host.model_setting()? else { return Ok(()) };
        self.keeper.picked(pick, &current);
        if let Some(state) = self.run.running().cloned() {
            self.transition(state.picked(pick), cx);
        }
        Ok(())
    }
}

/// The visit of the phase whose model is to be set: the run is in it, and neither paused nor held.
fn visit_in_effect(state: &RunState, library: &Library) -> Option<VisitId> {
    Active::resolve(state, library)?;
    if state.progress().paused.is_some() || reason_to_hold(state, library).is_some() {
        return None;
    }
    let (task_id, phase) = (state.task_id.clone(), state.current_path.key());
    Some(VisitId { task_id, phase, number: state.visit_number() })
}
