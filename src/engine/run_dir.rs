//! The folder of a run in the project: made when the run starts, and when a session takes the run up.

use crate::definition::Stale;
use crate::run::{RunDir, RunState};
use crate::text;

use super::context::Cx;
use super::effect::Level;
use super::state::Engine;

impl Engine {
    /// Returns a run that starts, with its folder if the workflow names it. `None` if the folder cannot be made: then
    /// the user is told.
    ///
    /// # Errors
    ///
    /// If the session is gone.
    pub(super) fn with_run_dir(&self, mut state: RunState, cx: &mut Cx) -> Result<Option<RunState>, Stale> {
        match self.opened_run_dir(&state, cx)? {
            Some(Ok(opened)) => state.progress.run_dir = Some(opened),
            Some(Err(reason)) => {
                cx.fail(Level::Error, text::not_started_without_run_dir(&reason));
                return Ok(None);
            }
            None => {}
        }
        Ok(Some(state))
    }

    /// Makes the folder of the run that is taken up, or gets its path: a fork of the session has a folder of its own,
    /// which begins as a copy. The name is stored with the next transition. If it cannot be made, the user is told, and
    /// the run has none.
    ///
    /// # Errors
    ///
    /// If the session is gone.
    pub(super) fn take_up_run_dir(&mut self, cx: &mut Cx) -> Result<(), Stale> {
        let Some(state) = self.running().filter(|state| state.run_dir_path().is_none()) else {
            return Ok(());
        };
        match self.opened_run_dir(state, cx)? {
            Some(Ok(opened)) => self.amend(|progress| progress.run_dir = Some(opened)),
            Some(Err(reason)) => cx.notify(Level::Error, text::run_without_run_dir(&reason)),
            None => {}
        }
        Ok(())
    }

    /// `None` if the workflow does not name the folder.
    fn opened_run_dir(&self, state: &RunState, cx: &Cx) -> Result<Option<Result<RunDir, String>>, Stale> {
        if !self.definitions.library().names_run_dir(&state.workflow_key) {
            return Ok(None);
        }
        let copy_of = state.progress.run_dir.as_ref().map(RunDir::name);
        cx.host.open_run_dir(&state.task_id, copy_of).map(Some)
    }
}
