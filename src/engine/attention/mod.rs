//! Notifications outside of pi, by the user's `notify.yaml`, when the run waits or has ended; pi itself shows a wait
//! too.

pub(super) mod state;

use crate::definition::{Library, Occasion, Stale};
use crate::run::{PauseReason, RunState, RunStatus};
use crate::text;

use super::ask::Pending;
use super::context::Cx;
use super::effect::Level;
use super::state::{Agent, AgentOf, Run};
use state::{Attention, Wait};

impl Attention {
    /// Reads `notify.yaml` at the beginning of a session, and tells the user if the file has errors.
    ///
    /// # Errors
    ///
    /// If the session is gone.
    pub fn begin_session(&mut self, cx: &mut Cx) -> Result<(), Stale> {
        self.reset();
        self.read(cx)
    }

    /// Notifies the user outside of pi of a wait or an end that this event has brought.
    ///
    /// # Errors
    ///
    /// If the session is gone.
    pub fn update(&mut self, run: &Run, agent: &Agent, pending: &Pending, cx: &mut Cx) -> Result<(), Stale> {
        let shows_blocked = cx.ui.is_terminal() && run.agent_of().tells_user;
        if self.follow(wait(run, agent, pending, cx), shows_blocked, &mut cx.effects) {
            self.read(cx)?;
            self.tell(&mut cx.effects);
        }
        Ok(())
    }

    fn read(&mut self, cx: &mut Cx) -> Result<(), Stale> {
        if let Some(warning) = self.refresh(cx.host)? {
            cx.notify(Level::Warning, warning);
        }
        Ok(())
    }

    /// Notes the shown end of a run for a notification outside of pi, unless the run was cancelled. The user is
    /// notified of the end of a branch with the end of the run that contains the branch.
    pub fn note_end(&mut self, state: &RunState, library: &Library) {
        let (occasion, is_done) = match state.status {
            RunStatus::Done { .. } => (Occasion::Done, true),
            RunStatus::Stopped { .. } => (Occasion::Stopped, false),
            RunStatus::Running | RunStatus::Cancelled { .. } => return,
        };
        if AgentOf::run(state).tells_user {
            self.end(occasion, text::run_ended(state, library, is_done));
        }
    }
}

/// The wait of the run for the user; `None` while the agent works without a dialog. In a branch only dialogs count; the
/// run that contains the branch reports every other wait.
fn wait(run: &Run, agent: &Agent, pending: &Pending, cx: &Cx) -> Option<Wait> {
    let state = run.running()?;
    let wait =
        |reason: &str, dialog| Some(Wait { notification: text::run_waits(state, run.library(), reason), dialog });
    if let Some(ticket) = pending.dialog().filter(|_| cx.ui.exists()) {
        return wait("it waits for your answer", Some(ticket));
    }
    if agent.activity.is_working() || !run.agent_of().tells_user {
        return None;
    }
    if run.held().is_none() && state.goes_on_at().is_some() {
        // It waits for the end of a limit, not for the user.
        return None;
    }
    match run.held().or(run.pause_reason()) {
        Some(PauseReason::OtherProcess(_)) => None,
        Some(reason) => wait(&reason.to_string(), None),
        None if agent.activity.is_waiting() => wait("it waits for your message", None),
        None => None,
    }
}
