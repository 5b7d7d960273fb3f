//! Notifications outside of pi, by the user's `notify.yaml`, when the run waits or has ended; pi itself shows a wait
//! too.

pub(super) mod state;

use crate::definition::{Occasion, Stale};
use crate::run::{RunState, RunStatus};
use crate::text;

use super::attention::state::Wait;
use super::context::Cx;
use super::effect::Level;
use super::state::Engine;

impl Engine {
    /// Reads `notify.yaml` at the beginning of a session, and tells the user if the file has errors.
    ///
    /// # Errors
    ///
    /// If the session is gone.
    pub(super) fn take_up_attention(&mut self, cx: &mut Cx) -> Result<(), Stale> {
        self.attention.begin_session();
        self.refresh_attention(cx)
    }

    /// Notifies the user outside of pi of a wait or an end that this event has brought.
    ///
    /// # Errors
    ///
    /// If the session is gone.
    pub(super) fn call_for_attention(&mut self, cx: &mut Cx) -> Result<(), Stale> {
        let wait = self.wait(cx);
        let is_branch = self.running().is_some_and(|state| state.progress.branch.is_some());
        let shows_blocked = cx.ui.is_terminal() && !is_branch;
        if self.attention.follow(wait, shows_blocked, &mut cx.effects) {
            self.refresh_attention(cx)?;
            self.attention.tell(&mut cx.effects);
        }
        Ok(())
    }

    fn refresh_attention(&mut self, cx: &mut Cx) -> Result<(), Stale> {
        if let Some(warning) = self.attention.refresh(cx.host)? {
            cx.notify(Level::Warning, warning);
        }
        Ok(())
    }

    /// Notes the shown end of a run for a notification outside of pi, unless the run was cancelled. The user is
    /// notified of the end of a branch with the end of the run that contains the branch.
    pub(super) fn note_end(&mut self, state: &RunState) {
        let (occasion, is_done) = match state.status {
            RunStatus::Done { .. } => (Occasion::Done, true),
            RunStatus::Stopped { .. } => (Occasion::Stopped, false),
            RunStatus::Running | RunStatus::Cancelled { .. } => return,
        };
        if state.progress.branch.is_none() {
            let notification = text::run_ended(state, self.definitions.library(), is_done);
            self.attention.end(occasion, notification);
        }
    }

    /// The wait of the run for the user; `None` while the agent works without a dialog. In a branch only dialogs count;
    /// the run that contains the branch reports every other wait.
    fn wait(&self, cx: &Cx) -> Option<Wait> {
        let state = self.running()?;
        let library = self.definitions.library();
        let wait = |reason: &str, dialog| Some(Wait { notification: text::run_waits(state, library, reason), dialog });
        if let Some(ticket) = self.pending.dialog().filter(|_| cx.ui.exists()) {
            return wait("it waits for your answer", Some(ticket));
        }
        if self.activity.is_working() || state.progress.branch.is_some() {
            return None;
        }
        match self.held().as_ref().or(self.pause_reason()) {
            Some(reason) => wait(&reason.to_string(), None),
            None if self.activity.is_waiting() => wait("it waits for your message", None),
            None => None,
        }
    }
}
