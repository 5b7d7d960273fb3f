//! Why a run waits, and how it stands when a process ends.

use std::fmt;

use crate::definition::Library;
use crate::run::{Active, PauseReason, RunState};

use super::names::{phase_title, short_name};

/// The words that follow "paused: ".
impl fmt::Display for PauseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person => f.write_str("you asked for it"),
            Self::Aborted => f.write_str("you stopped the agent"),
            Self::Idle { times } => write!(
                f,
                "the agent did nothing in {times} automatic continuation{}",
                if *times == 1 { "" } else { "s" }
            ),
            Self::Limit { times } => {
                write!(f, "{times} automatic continuations in one phase are the limit")
            }
            Self::Gate { label, times } => {
                let s = if *times == 1 { "" } else { "s" };
                let label = short_name(label);
                write!(f, "the gate was not passed in {times} attempt{s}; last: {label}")
            }
            Self::Approval { question } => {
                write!(f, "it waits for your answer to “{}”", short_name(question))
            }
            Self::Commands => f.write_str(
                "its gate runs commands of this project that you have not allowed (see --allow-workflow-commands)",
            ),
            Self::GatesChanged => {
                f.write_str("its gates are no longer those with which it was started")
            }
            Self::ModelError => f.write_str("the model failed"),
        }
    }
}

/// What the person is told when a run begins to wait.
pub fn pause_notice(active: &Active) -> Option<String> {
    let pause = active.state.progress.paused.as_ref()?;
    let how = match pause.reason {
        PauseReason::GatesChanged => "/workflow :resume goes on with the gates as they are now.",
        _ => "Your next message resumes it, or /workflow :resume.",
    };
    Some(format!(
        "⏸ {} is paused in {}: {}.\n{how}",
        short_name(&active.root.name),
        phase_title(active.phase),
        pause.reason
    ))
}

/// What the agent is told that wants to move a paused run on.
pub fn paused(active: &Active) -> Option<String> {
    let pause = active.state.progress.paused.as_ref()?;
    Some(format!("The workflow is paused: {}. Stop here and wait for the person.", pause.reason))
}

/// The last line of a process that ends with a run in progress.
pub fn unfinished_line(state: &RunState, library: &Library) -> String {
    let Some(active) = Active::resolve(state, library) else {
        return format!("Workflow {}: not finished; its files are gone.", state.workflow_key);
    };
    let phase = phase_title(active.phase);
    let workflow = short_name(&active.root.name);
    match &state.progress.paused {
        Some(pause) => {
            format!("Workflow {workflow}: paused in {phase}: {}.", pause.reason)
        }
        None => format!("Workflow {workflow}: not finished, in {phase}."),
    }
}

/// The last line of a process in which a run ended.
pub fn ended_line(workflow: &str, cancelled: bool) -> String {
    format!("Workflow {}: {}.", short_name(workflow), if cancelled { "cancelled" } else { "DONE" })
}
