//! The files in `scripts/` of the workflows of a run. A command reads them from the disk, so what the seal has of them is
//! compared with them before a command can begin.

use crate::definition::{Stale, ValueName};
use crate::run::RunState;

use super::context::Cx;
use super::event::Event;
use super::state::Run;

/// Reads the workflow files again, unless they are unchanged, before an event after which a command of the run can begin.
///
/// # Errors
///
/// If the session is gone.
pub(super) fn follow_scripts(run: &mut Run, event: &Event, cx: &Cx) -> Result<(), Stale> {
    if !matches!(event, Event::Step { .. } | Event::Command { .. } | Event::Answer { .. }) {
        return Ok(());
    }
    let library = run.library();
    let has_scripts = |state: &RunState| {
        let key = &state.workflow_key;
        !library.script_folders(key).is_empty() || library.names(key, &ValueName::WorkflowDir)
    };
    if run.running().is_some_and(has_scripts) {
        run.read_files(|definitions| definitions.refresh(cx.host))?;
    }
    Ok(())
}

/// Reads the workflow files again, unless they are unchanged, before a run that the user was asked about goes on to its
/// start. Without the session nothing goes on.
pub(super) fn read_before_start(run: &mut Run, cx: &mut Cx) {
    cx.gone |= run.read_files(|definitions| definitions.refresh(cx.host)).is_err();
}
