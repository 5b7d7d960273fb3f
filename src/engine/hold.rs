//! A run whose rules do not hold, or that another process works on. The run waits until the user accepts the rules that the files have now, fixes the
//! files or cancels, and every tool call is refused but `status`. See [`crate::run::reason_to_hold`].

use crate::run::{ClaimObstacle, PauseReason, RunState, Seal};
use crate::text::{self, Title};

use super::ask::{Then, UsersWord};
use super::consent::{dialog, title_of};
use super::context::{Cx, Ui};
use super::effect::{Level, Reply, Request, YesOrNo};
use super::run_dir::restore_run_dir;
use super::state::{Engine, Run, Session, ToldHold, Waiter};

impl Engine {
    /// Tells the user that the rules of the run do not hold any more, or that they hold again. Called before and after
    /// every event: the files may have been read.
    pub(super) fn tell_hold(&mut self, cx: &mut Cx) {
        let Some(state) = self.run.running() else {
            self.run.told_hold = None;
            return;
        };
        let is_sealed = state.progress().seal.is_some();
        let reason = self.run.held().cloned();
        let is_told = reason.as_ref() == self.run.told_hold.as_ref().map(|told| &told.reason);
        if !is_told || !is_sealed {
            self.run.change_unstored(RunState::sealed);
        }
        if is_told {
            return;
        }
        let was_of_other_process =
            self.run.told_hold.as_ref().is_some_and(|told| matches!(told.reason, PauseReason::OtherProcess(_)));
        self.run.told_hold = reason.clone().map(|reason| ToldHold { reason, with_message: false });
        if reason.is_some() {
            self.agent.end_run();
        } else if restore_run_dir(&mut self.run, cx).is_err() {
            cx.gone = true;
            return;
        }
        if self.keeper.is_overtaken(&self.run)
            && let Some(state) = self.run.running().cloned()
        {
            self.transition(state, cx);
        }
        self.agent.wait_for_user(&self.run, cx);
        cx.update_status();
        let (level, text) = match reason {
            Some(_) => (Level::Warning, held_notice(&self.run, &self.session, cx.ui)),
            None if was_of_other_process => (Level::Info, "The workflow goes on here.".into()),
            None => (Level::Info, "The workflow goes on: its files have its rules again.".into()),
        };
        if cx.ui.exists() {
            cx.notify(level, text);
        }
    }

    /// Accepts the files' current rules when the session begins, if the command line names their seal.
    pub(super) fn accept_by_option(&mut self, cx: &mut Cx) {
        let Some(rules) = acceptable_rules(&self.run).map(|rules| rules.to_string()) else { return };
        if let Some((word, _)) = UsersWord::of_option(&mut self.session.facts.accept_rules, |given| given == rules) {
            self.accept_rules(word, cx);
        }
    }

    /// Goes on with a run whose rules do not hold, if the user accepts the rules that the files have now in a dialog
    /// that shows what has changed.
    pub(super) fn resume_held(&mut self, more: &str, cx: &mut Cx) -> Reply {
        if let Some(reason @ PauseReason::OtherProcess(ClaimObstacle::Unknown(_))) = self.run.held()
            && cx.ui.exists()
        {
            let title = "Take the run over from another process?";
            let message = format!("As far as can be told, {reason}.");
            let request = Request::yes_or_no(if cx.ui.is_terminal() {
                let title = Title::new(title, &format!("\n{message}"));
                YesOrNo::Choice { title, no: "No, leave it to that process", yes: "Yes, that process works no more" }
            } else {
                YesOrNo::Confirmation { title, message }
            });
            return self.pending.ask(Waiter::User, request, Then::TakeOver { more: more.to_owned() });
        }
        let rules = acceptable_rules(&self.run).filter(|_| cx.ui.exists());
        let (Some(rules), Some(reason)) = (rules, self.run.held().cloned()) else {
            cx.fail(Level::Warning, held_notice(&self.run, &self.session, cx.ui));
            return Reply::None;
        };
        let dialog = dialog(2, cx);
        let question = self.run.rules_question(&replacements_of_run(&self.run, &self.session), dialog);
        let title = title_of(question, cx);
        let request = Request::yes_or_no(if cx.ui.is_terminal() {
            YesOrNo::Choice { title, no: "No, leave it paused", yes: "Yes, go on with them" }
        } else {
            let message = title.into();
            YesOrNo::Confirmation { title: "Accept the rules of the workflow as they are now?", message }
        });
        self.pending.ask(Waiter::User, request, Then::AcceptRules { reason, rules, more: more.to_owned() })
    }

    /// Goes on with a run whose rules do not hold, after the user's answer about these rules.
    pub(super) fn rules_answered(
        &mut self,
        (reason, rules): (&PauseReason, &Seal),
        more: &str,
        word: Option<UsersWord>,
        cx: &mut Cx,
    ) -> Reply {
        let Some(word) = word else { return Reply::None };
        // An agent may change the files at any time.
        if self.run.held() != Some(reason) || self.run.seal_of_files().as_ref() != Some(rules) {
            cx.notify(Level::Warning, "The rules have changed meanwhile: nothing was accepted.");
            return Reply::None;
        }
        self.accept_rules(word, cx);
        self.resume_with(more, None, true, cx)
    }

    /// Takes the session over from a process of which nobody can tell if it lives, and goes on, if the user says yes.
    pub(super) fn take_over_answered(&mut self, more: &str, word: Option<UsersWord>, cx: &mut Cx) -> Reply {
        if word.is_none() {
            return Reply::None;
        }
        cx.gone |= self.run.claim(true, cx.host).is_err();
        match self.run.held() {
            Some(_) => {
                cx.fail(Level::Warning, held_notice(&self.run, &self.session, cx.ui));
                Reply::None
            }
            None => {
                cx.gone |= restore_run_dir(&mut self.run, cx).is_err();
                self.resume_with(more, None, true, cx)
            }
        }
    }

    /// The user accepts the rules that the files have now.
    fn accept_rules(&mut self, _: UsersWord, cx: &mut Cx) {
        let replaced = replacements_of_run(&self.run, &self.session);
        self.session.accepted_replacements.extend(replaced);
        let Some(new) = self.run.state().and_then(|state| state.with_accepted_rules(self.run.library())) else {
            return;
        };
        let pause = new.progress().paused.as_ref();
        let new = if pause.is_some_and(|pause| pause.reason.is_of_rules()) { new.resumed() } else { new };
        self.run.told_hold = None;
        // The checks of an open gate belong to the old rules.
        self.pending.withdraw_gates(cx);
        self.transition(new, cx);
        cx.gone |= restore_run_dir(&mut self.run, cx).is_err();
    }
}

/// The seal of the files' current rules, if the user can accept them in place of the rules of the run. A branch accepts
/// nothing; the run that contains the branch does.
fn acceptable_rules(run: &Run) -> Option<Seal> {
    let can = run.held()?.can_be_accepted() && run.agent_of().takes_options;
    run.seal_of_files().filter(|_| can)
}

/// The keys of the project's workflows that the run reaches in the place of the user's own, and that the user has not
/// accepted in this session.
fn replacements_of_run(run: &Run, session: &Session) -> Vec<String> {
    let root = run.state().and_then(|state| run.library().get(&state.workflow_key));
    root.map(|root| session.unaccepted_replacements(root, run.library())).unwrap_or_default()
}

/// The notice to the user that the rules of the run do not hold; empty while they do.
pub(super) fn held_notice(run: &Run, session: &Session, ui: Ui) -> String {
    let (Some(state), Some(reason)) = (run.state(), run.held()) else { return String::new() };
    let library = run.library();
    let left_out = if let PauseReason::FilesUnreadable { workflow } = reason {
        library.left_out().iter().find(|left_out| left_out.key == *workflow)
    } else {
        None
    };
    let diagnostic = left_out.and_then(|left_out| {
        let prefix = format!("{}/", left_out.folder);
        run.errors().iter().find(|diagnostic| diagnostic.file.starts_with(&prefix))
    });
    let seal = run.seal_of_files().filter(|_| !ui.exists());
    text::held_notice(state, library, reason, diagnostic, &replacements_of_run(run, session), seal.as_ref())
}
