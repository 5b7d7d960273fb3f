//! Events of the session.

use crate::definition::Stale;
use crate::run::{RunState, RunStatus};
use crate::text;

use super::context::Cx;
use super::effect::{Effect, Level};
use super::ending::state::Ending;
use super::event::Facts;
use super::state::{Activity, Engine};

impl Engine {
    /// Loads the workflows and takes up the run that the session stores.
    ///
    /// Specification: hook lifecycle, "updateStatus"; state management, "When reconstruction runs".
    pub(super) fn session(
        &mut self,
        stored: Option<RunState>,
        in_view: Option<String>,
        facts: Facts,
        cx: &mut Cx,
    ) -> Result<(), Stale> {
        self.activity.stop(cx);
        self.forget_children(cx);
        self.pending.withdraw_gates(cx);
        self.pending.clear();
        self.agent.cancel_asked = false;
        self.agent.refused_moves = 0;
        self.meter.forget();
        self.fresh_start.forget();
        self.briefing.take_up(in_view);
        let Facts {
            project,
            allow_commands,
            allowed,
            budget,
            accept_rules,
            more,
            panel,
            mark,
            at_work,
            restarted,
            same_session,
        } = facts;
        self.session.project = project;
        self.session.allow_commands = allow_commands;
        self.session.allowed_commands.extend(allowed);
        (self.session.accept_rules, self.session.more) = (accept_rules, more);
        self.take_up_bound(budget.as_deref(), cx);
        self.session.panel = panel;
        self.activity = Activity::taken_up(at_work);
        self.ending = Ending::default();
        self.agent.is_stopping = false;
        self.agent.is_starting = false;
        self.agent.prompt_at_rest = None;
        self.take_up_limits(same_session, cx)?;
        self.take_up_attention(cx)?;
        if let Some(notice) = self.read_files(|definitions| definitions.reload(cx.host))? {
            cx.notify(Level::Warning, notice);
        }
        self.restore(stored, mark, cx);
        if self.is_branch() {
            // The options are for the run that the branch is part of.
            (self.session.accept_rules, self.session.more) = (None, None);
        }
        self.accept_by_option(cx);
        if self.held().is_none() {
            self.take_up_run_dir(cx)?;
            self.restore_tools(cx);
            self.wait_or_set_status(cx);
        }
        self.tell_hold(cx);
        if self.pause_reason().is_some() {
            self.end_agents_run();
        }
        self.take_up_end(restarted);
        Ok(())
    }

    /// Clears everything at the end of the session. Without a user interface the last line of the process tells the
    /// status of the run, and the exit status is 0 only if the run is done.
    pub(super) fn session_shutdown(&mut self, cx: &mut Cx) {
        self.activity.stop(cx);
        let last = std::mem::take(self);
        // Kept: the used tickets, the errors that the user was told of, and the setting of the host.
        self.pending = last.pending;
        self.pending.clear();
        self.definitions.told.clone_from(&last.definitions.told);
        self.briefing = last.briefing;
        self.briefing.shut_down();
        if cx.ui.exists() {
            return;
        }
        let state = last.run.state().filter(|state| state.is_running());
        if state.is_some_and(|state| state.progress.branch.is_some()) {
            return;
        }
        let (text, done) = match (state, &last.run.ended) {
            (Some(state), _) => (text::unfinished_line(state, last.definitions.library()), false),
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
