//! The folder of a run in the project: made when the run starts, and when a session restores the run.

use crate::definition::{Library, Stale, ValueName};
use crate::run::{LongTask, RunDir, RunState, TASK_FILE};
use crate::text;

use super::context::Cx;
use super::effect::Level;
use super::state::Run;

/// Returns a run that starts, with its folder if the run needs a folder. `None` if the folder cannot be made; the
/// user is told then.
///
/// # Errors
///
/// If the session is gone.
pub(super) fn with_run_dir(mut state: RunState, library: &Library, cx: &mut Cx) -> Result<Option<RunState>, Stale> {
    match opened_run_dir(&state, library, cx)? {
        Some(Ok(opened)) => state = state.with_run_dir(opened),
        Some(Err(reason)) => {
            cx.fail(Level::Error, text::not_started_without_run_dir(&reason));
            return Ok(None);
        }
        None => {}
    }
    Ok(Some(state))
}

/// Makes the folder of the run that is restored, or gets its path: a fork of the session has a folder of its own,
/// which begins as a copy. The name is stored with the next transition. If the folder cannot be made, the user is
/// told, and the run has no folder.
///
/// # Errors
///
/// If the session is gone.
pub(super) fn restore_run_dir(run: &mut Run, cx: &mut Cx) -> Result<(), Stale> {
    let Some(state) = run.running().filter(|state| state.run_dir_path().is_none()) else {
        return Ok(());
    };
    match opened_run_dir(state, run.library(), cx)? {
        Some(Ok(opened)) => run.change_unstored(|state, _| state.with_run_dir(opened)),
        Some(Err(reason)) => cx.notify(Level::Error, text::run_without_run_dir(&reason)),
        None => {}
    }
    Ok(())
}

/// Opens the folder, with the file of a long task. `None` if the run needs none.
fn opened_run_dir(state: &RunState, library: &Library, cx: &Cx) -> Result<Option<Result<RunDir, String>>, Stale> {
    let long_task = &state.progress().long_task;
    if long_task.is_none() && !library.names(&state.workflow_key, &ValueName::RunDir) {
        return Ok(None);
    }
    let copy_of = state.progress().run_dir.as_ref().map(RunDir::name);
    let opened = cx.host.open_run_dir(&state.task_id, copy_of)?;
    Ok(Some(match (opened, long_task.as_ref().and_then(LongTask::text)) {
        (Ok(dir), Some(text)) => cx.host.write_run_file(&state.task_id, TASK_FILE, text)?.map(|()| dir),
        (opened, _) => opened,
    }))
}
