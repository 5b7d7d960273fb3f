//! A run whose rules do not hold. The run waits until the user accepts the rules that the files have now, fixes the
//! files or cancels, and every tool call is refused but `status`. See [`crate::run::reason_to_hold`].

use crate::definition::Workflow;
use crate::run::{PauseReason, Seal};
use crate::text;

use super::ask::{UsersWord, YesOrNo};
use super::context::{Cx, Ui};
use super::effect::{Level, Reply};
use super::gate::{dialog, title_of};
use super::state::{Engine, ToldHold, Waiter};

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
        self.run.told_hold = reason.clone().map(|reason| ToldHold { reason, with_message: false });
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
            Some(reason) => (Level::Warning, self.held_notice(&reason, cx.ui)),
            None => (Level::Info, "The workflow goes on: its files have its rules again.".into()),
        };
        if cx.ui.exists() {
            cx.notify(level, text);
        }
    }

    /// Accepts the files' current rules when the session is taken up, if the command line names their seal.
    pub(super) fn accept_by_option(&mut self, cx: &mut Cx) {
        let Some(rules) = self.acceptable_rules().map(|rules| rules.to_string()) else { return };
        if let Some((word, _)) = UsersWord::of_option(&mut self.session.accept_rules, |given| given == rules) {
            self.accept_rules(word, cx);
        }
    }

    /// The seal of the files' current rules, if the user can accept them in place of the rules of the run. A branch
    /// accepts nothing; the run that contains the branch does.
    fn acceptable_rules(&self) -> Option<Seal> {
        let can = self.held()?.can_be_accepted() && !self.is_branch();
        self.seal_of_files().filter(|_| can)
    }

    /// Goes on with a run whose rules do not hold, if the user accepts the rules that the files have now in a dialog
    /// that shows what has changed.
    pub(super) fn resume_held(&mut self, reason: &PauseReason, more: &str, cx: &mut Cx) -> Reply {
        let Some(rules) = self.acceptable_rules().filter(|_| cx.ui.exists()) else {
            cx.fail(Level::Warning, self.held_notice(reason, cx.ui));
            return Reply::None;
        };
        let request = if cx.ui.is_terminal() {
            let title = title_of(self.rules_question(dialog(cx.ui, 2)), cx);
            YesOrNo::Choice { title, no: "No, leave it paused", yes: "Yes, go on with them" }
        } else {
            let message = title_of(self.rules_question(dialog(cx.ui, 2)), cx).into();
            YesOrNo::Confirmation { title: "Accept the rules of the workflow as they are now?", message }
        };
        let (reason, more) = (reason.clone(), more.to_owned());
        self.ask_word(Waiter::User, request, move |engine, word, cx| {
            // An agent may change the files at any time.
            let is_same = engine.held().as_ref() == Some(&reason) && engine.seal_of_files().as_ref() == Some(&rules);
            match word {
                Some(word) if is_same => {
                    engine.accept_rules(word, cx);
                    engine.resume_with(&more, None, true, cx)
                }
                Some(_) => {
                    cx.notify(Level::Warning, "The rules have changed meanwhile: nothing was accepted.");
                    Reply::None
                }
                None => Reply::None,
            }
        })
    }

    /// The user accepts the rules that the files have now.
    fn accept_rules(&mut self, _: UsersWord, cx: &mut Cx) {
        self.session.accepted_replacements.extend(self.replacements_of_run());
        let library = self.definitions.library();
        let Some(new) = self.run.state().and_then(|state| state.with_accepted_rules(library)) else { return };
        let pause = new.progress.paused.as_ref();
        let new = if pause.is_some_and(|pause| pause.reason.is_of_rules()) { new.resumed() } else { new };
        self.run.told_hold = None;
        // The checks of an open gate belong to the old rules.
        self.pending.withdraw_gates(cx);
        self.transition(new, cx);
        cx.gone |= self.take_up_run_dir(cx).is_err();
    }

    /// The question for consent to the files' current rules, with the changes in them.
    fn rules_question(&self, dialog: text::Dialog) -> text::Question {
        let library = self.definitions.library();
        let now = self.run.rule_lines(library).unwrap_or_default();
        let name = self.run.state().map(|state| text::run_name(state, library)).unwrap_or_default();
        let replaced = self.replacements_of_run();
        text::rules_question(&name, self.run.known_rules.as_deref(), &now, &replaced, dialog)
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
    pub(super) fn held_notice(&self, reason: &PauseReason, ui: Ui) -> String {
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
        let seal = self.seal_of_files().filter(|_| !ui.exists());
        text::held_notice(state, library, reason, diagnostic, &self.replacements_of_run(), seal.as_ref())
    }
}
