//! Events of the session.

use crate::definition::{OnEvent, Stale};
use crate::run::{Mark, RunState, RunStatus};
use crate::text;

use super::context::Cx;
use super::effect::{Effect, Level};
use super::event::Facts;
use super::long_task;
use super::quota;
use super::run_dir::restore_run_dir;
use super::state::Engine;
use super::tools::with_tools;

impl Engine {
    /// Loads the workflows and restores the run that the session stores.
    ///
    /// Specification: hook lifecycle, "updateStatus"; state management, "When reconstruction runs".
    pub(super) fn session(
        &mut self,
        stored: Option<RunState>,
        in_view: Option<String>,
        facts: Facts,
        cx: &mut Cx,
    ) -> Result<(), Stale> {
        self.agent.activity.stop(cx);
        self.children.forget(cx);
        self.pending.withdraw_gates(cx);
        self.pending.clear();
        self.meter.forget();
        self.fresh_start.forget();
        self.briefing.begin_session(in_view);
        let Facts { panel, mark, at_work, watching, restarted, same_session, .. } = facts;
        self.session.read_bound(facts.budget.as_deref(), cx);
        self.session.read_wait(facts.wait.as_deref(), cx);
        self.session.read_silence(facts.silence.as_deref(), cx);
        self.session.allowed_commands.extend(facts.allowed.iter().cloned());
        self.session.facts = facts;
        self.display.begin_session(panel, cx);
        self.agent.begin_session(at_work);
        self.limits.begin_session(same_session, cx)?;
        cx.update_status();
        if let Some(notice) = self.run.read_files(|definitions| definitions.reload(cx.host))? {
            cx.notify(Level::Error, notice);
        }
        let on_event = self.run.library().settings().on_event.clone();
        if let Some(OnEvent { program, .. }) = &on_event {
            // From here on no confined command changes it.
            cx.push(Effect::RunProgram { kind: "", program: program.clone(), line: String::new() });
        }
        self.watch.begin_session(watching, on_event);
        self.restore_run(stored, mark, cx)?;
        self.proposals.begin_session(&self.run, cx)?;
        if let Some(state) = self.run.running() {
            self.watch.follow(state, &self.run, true, cx);
        }
        if !self.run.agent_of().takes_options {
            // The options are for the run that the branch is part of.
            (self.session.facts.accept_rules, self.session.facts.more) = (None, None);
        }
        quota::restore(&mut self.run, &self.session, same_session, cx);
        self.accept_by_option(cx);
        if self.run.held().is_none() {
            restore_run_dir(&mut self.run, cx)?;
            // Not every version of pi stores the active tools.
            if let Some(state) = self.run.state().cloned() {
                let state = with_tools(state, self.run.library(), cx);
                self.run.change_unstored(|_, _| state);
            }
            self.agent.wait_for_user(&self.run, cx);
        }
        self.tell_hold(cx);
        let begins = !(same_session || at_work || restarted) && self.run.held().is_none();
        let tells = begins && cx.ui.is_terminal() && self.run.agent_of().tells_user;
        let is_paused = self.run.pause_reason().is_some();
        // An entry without the model pauses at the end of this event, and that is told then.
        if let Some(active) = self.run.active().filter(|active| tells && (is_paused || active.phase.is_of_agent())) {
            cx.notify(Level::Info, text::goes_on(&active));
        }
        if is_paused {
            self.agent.end_run();
        }
        self.agent.restore_end(&self.run, restarted);
        Ok(())
    }

    /// Restores the run that the session stores, and sets its model, or the user's again.
    pub(super) fn restore_run(&mut self, stored: Option<RunState>, mark: Mark, cx: &mut Cx) -> Result<(), Stale> {
        let model = stored.as_ref().and_then(|state| state.progress().users_model.clone());
        let stored =
            stored.map(|state| long_task::restore(state, cx).with_users_model(None).bounded(&self.session.bound));
        self.run.restore(stored, mark);
        if self.run.running().is_some() && self.works_on_run() {
            self.run.claim(false, cx.host)?;
        }
        self.meter.begin_session(self.run.state().is_some_and(|state| !state.is_running()));
        self.keeper.restore(model, &mut self.run, cx);
        Ok(())
    }

    /// Clears everything at the end of the session. Without a user interface the last line of the process tells the
    /// status of the run, and the exit status is 0 only if the run is done.
    pub(super) fn session_shutdown(&mut self, cx: &mut Cx) {
        self.agent.activity.stop(cx);
        let last = std::mem::take(self);
        // Kept: the used tickets, the errors that the user was told of, and the setting of the host.
        self.pending = last.pending;
        self.pending.clear();
        self.run = last.run.after_shutdown();
        self.briefing = last.briefing;
        self.briefing.shut_down();
        if cx.ui.exists() {
            return;
        }
        let state = last.run.running();
        if !last.run.agent_of().tells_user {
            return;
        }
        let (text, done) = match (state, &last.run.ended) {
            (Some(state), _) => (text::unfinished_line(state, last.run.library()), false),
            (None, Some(ended)) => {
                let is_done = matches!(ended.how, RunStatus::Done { .. });
                (text::ended_line(&ended.workflow, ended.how), is_done)
            }
            (None, None) => return,
        };
        cx.notify(Level::Info, text);
        if !done {
            cx.push(Effect::SetExitCode(1));
        }
    }
}
