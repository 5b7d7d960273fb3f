//! A run whose rules do not hold: it waits until the user accepts the rules that the files have now, fixes the files
//! or cancels, and every tool call is refused but `status`. See [`hold`].

use crate::run::{Active, PauseReason, Seal, hold};
use crate::text;

use super::{Effect, Engine, Level, Output, persist};

impl Engine {
    /// The reason why the rules of the run do not hold; `None` while they do, or without a run.
    pub(super) fn hold(&self) -> Option<PauseReason> {
        hold(self.run.as_ref()?, &self.library)
    }

    /// Shows that the rules of the run do not hold any more, or that they hold again. Goes before and after every
    /// event: the files may have been read.
    pub(super) fn tell_hold(&mut self) -> Vec<Effect> {
        let Some(state) = self.run.take_if(|state| state.active) else {
            self.told_hold = None;
            return Vec::new();
        };
        let reason = hold(&state, &self.library);
        let settled = reason == self.told_hold && state.progress.seal.is_some();
        self.run = Some(if settled { state } else { state.sealed(&self.library) });
        if reason == self.told_hold {
            return Vec::new();
        }
        self.told_hold.clone_from(&reason);
        let mut effects = self.stop_countdown();
        effects.extend(self.rest_or_status());
        let (level, text) = match reason {
            Some(reason) => (Level::Warning, self.held_notice(&reason)),
            None => (Level::Info, "The workflow goes on: its files have its rules again.".into()),
        };
        if self.has_ui {
            effects.push(Effect::Notify { level, text });
        }
        effects
    }

    /// The seal of the workflow of the run as its files were last read.
    pub(super) fn seal_of_files(&self) -> Option<Seal> {
        Seal::of(self.run.as_ref()?, &self.library)
    }

    /// The user accepts the rules that the files have now, if they are those that the user was told of before: an
    /// agent may change them at any time.
    pub(super) fn accept_rules(&mut self, reason: &PauseReason) -> Result<Vec<Effect>, Output> {
        let now = self.seal_of_files();
        if reason.can_be_accepted() && self.offered != now {
            return Err(self.refuse_control(reason));
        }
        self.accepted_replacements.extend(self.replacements_of_run());
        let state = self.run.as_ref().filter(|_| reason.can_be_accepted());
        let Some(new) = state.and_then(|state| state.with_accepted_rules(&self.library)) else {
            return Err(self.refuse_control(reason));
        };
        let new = if new.progress.paused.as_ref().is_some_and(|pause| pause.reason.is_of_rules()) {
            new.resumed()
        } else {
            new
        };
        let effect = persist(&new);
        self.run = Some(new);
        self.told_hold = None;
        Ok(vec![effect, self.status()])
    }

    /// The answer to a control that cannot be obeyed now.
    pub(super) fn refuse_control(&self, reason: &PauseReason) -> Output {
        Output::effect(Effect::Notify { level: Level::Warning, text: self.held_notice(reason) })
    }

    /// The run with what it stands in, whether or not its rules hold: for what is only shown.
    pub(super) fn shown(&self) -> Option<Active<'_>> {
        Active::resolve(self.run.as_ref()?, &self.library)
    }

    /// The keys of the project's workflows that the run reaches in the place of the user's own, and that the user has
    /// not accepted in this session.
    fn replacements_of_run(&self) -> Vec<String> {
        let root = self.run.as_ref().and_then(|state| self.library.get(&state.workflow_key));
        let mut keys = root.map(|root| self.library.replacements_in(root)).unwrap_or_default();
        keys.retain(|key| !self.accepted_replacements.contains(key));
        keys
    }

    fn held_notice(&self, reason: &PauseReason) -> String {
        let Some(state) = &self.run else { return String::new() };
        let diagnostic = match reason {
            PauseReason::FilesUnreadable { workflow } => {
                let mut left_out = self.library.left_out().iter();
                let left_out = left_out.find(|left_out| left_out.key == *workflow);
                left_out.and_then(|left_out| {
                    let prefix = format!("{}/", left_out.folder);
                    self.errors.iter().find(|diagnostic| diagnostic.file.starts_with(&prefix))
                })
            }
            _ => None,
        };
        text::held_notice(state, &self.library, reason, diagnostic, &self.replacements_of_run())
    }
}
