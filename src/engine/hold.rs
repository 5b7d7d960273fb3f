//! A run whose rules do not hold: it waits until the user accepts the rules that the files have now, fixes the files
//! or cancels, and every tool call is refused but `status`. See [`crate::run::reason_to_hold`].

use crate::definition::Workflow;
use crate::run::PauseReason;
use crate::text;

use super::context::Cx;
use super::effect::Level;
use super::state::{Engine, ToldHold};

impl Engine {
    /// Tells the user that the rules of the run do not hold any more, or that they hold again. Called before and after
    /// every event: the files may have been read.
    pub(super) fn tell_hold(&mut self, cx: &mut Cx) {
        let Some(state) = self.running() else {
            self.run.told_hold = None;
            return;
        };
        let is_sealed = state.progress.seal.is_some();
        let reason = self.held();
        let is_told = reason.as_ref() == self.run.told_hold.as_ref().map(|told| &told.reason);
        if !is_told || !is_sealed {
            self.seal_run();
        }
        if is_told {
            return;
        }
        self.run.told_hold = reason.clone().map(|reason| ToldHold { reason, rules: None, with_message: false });
        if reason.is_some() {
            self.end_agents_run();
        }
        if reason.is_none() && self.take_up_run_dir(cx).is_err() {
            cx.gone = true;
            return;
        }
        self.follow_hold(cx);
        self.wait_or_set_status(cx);
        let (level, text) = match reason {
            Some(reason) => (Level::Warning, self.held_notice(&reason)),
            None => (Level::Info, "The workflow goes on: its files have its rules again.".into()),
        };
        if cx.ui.exists() {
            cx.notify(level, text);
        }
    }

    /// Notes the rules that the files have now as those that the user was told of: these can be accepted.
    pub(super) fn offer_rules(&mut self) {
        let rules = self.seal_of_files();
        if let Some(told) = &mut self.run.told_hold {
            told.rules = rules;
        }
    }

    /// The user accepts the rules that the files have now, if they are those that the user was told of: an agent may
    /// change them at any time.
    ///
    /// # Errors
    ///
    /// The notice to the user, if they cannot be accepted.
    pub(super) fn accept_rules(&mut self, reason: &PauseReason, cx: &mut Cx) -> Result<(), String> {
        let offered = self.run.told_hold.as_ref().and_then(|told| told.rules.as_ref());
        let is_offered = offered == self.seal_of_files().as_ref();
        if reason.can_be_accepted() && !is_offered {
            return Err(self.held_notice(reason));
        }
        self.session.accepted_replacements.extend(self.replacements_of_run());
        let state = self.run.state().filter(|_| reason.can_be_accepted());
        let library = self.definitions.library();
        let Some(new) = state.and_then(|state| state.with_accepted_rules(library)) else {
            return Err(self.held_notice(reason));
        };
        let pause = new.progress.paused.as_ref();
        let new = if pause.is_some_and(|pause| pause.reason.is_of_rules()) { new.resumed() } else { new };
        self.run.told_hold = None;
        // Its checks are those of the old rules.
        self.pending.withdraw_gates(cx);
        self.transition(new, cx);
        cx.gone |= self.take_up_run_dir(cx).is_err();
        Ok(())
    }

    /// The keys of the project's workflows that the run reaches in the place of the user's own, and that the user has
    /// not accepted in this session.
    fn replacements_of_run(&self) -> Vec<String> {
        let library = self.definitions.library();
        let root = self.run.state().and_then(|state| library.get(&state.workflow_key));
        root.map(|root| self.unaccepted_replacements(root)).unwrap_or_default()
    }

    /// The keys of the project's workflows that this workflow reaches in the place of the user's own, and that the user
    /// has not accepted in this session.
    pub(super) fn unaccepted_replacements(&self, workflow: &Workflow) -> Vec<String> {
        let mut keys = self.definitions.library().replacements_in(workflow);
        keys.retain(|key| !self.session.accepted_replacements.contains(key));
        keys
    }

    /// The notice to the user that the rules of the run do not hold.
    pub(super) fn held_notice(&self, reason: &PauseReason) -> String {
        let Some(state) = self.run.state() else { return String::new() };
        let library = self.definitions.library();
        let left_out = if let PauseReason::FilesUnreadable { workflow } = reason {
            library.left_out().iter().find(|left_out| left_out.key == *workflow)
        } else {
            None
        };
        let diagnostic = left_out.and_then(|left_out| {
            let prefix = format!("{}/", left_out.folder);
            let mut errors = self.definitions.errors.iter();
            errors.find(|diagnostic| diagnostic.file.starts_with(&prefix))
        });
        text::held_notice(state, library, reason, diagnostic, &self.replacements_of_run())
    }
}
