//! The state of a run.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::sorted::Map;

use crate::definition::{Budget, Input, Workflow};

use super::progress::{Progress, UsersModel};
use super::{long_task::divided, path::PhasePath, run_dir::RunDir};

/// A run of a workflow.
///
/// Specification: state management, "WorkflowState Fields".
#[derive(Debug, Clone, PartialEq)]
pub struct RunState {
    /// Running, done, stopped or cancelled.
    pub status: RunStatus,
    /// The key of the workflow that was started.
    pub workflow_key: String,
    pub current_path: PhasePath,
    /// The number of transitions; never decreases.
    pub global_step_count: u64,
    /// `wf-MILLISECONDS-RANDOM6`.
    pub task_id: String,
    /// The task, or the beginning of a [long one](super::LongTask).
    pub task_description: String,
    /// Start of the run, in milliseconds since 1970.
    pub started_at: u64,
    /// Fields that the reference does not have. Only `src/run` changes them.
    pub(super) progress: Progress,
    /// The bound of the command line for the whole run. The bound is not stored: each process has its own.
    pub bound: Budget,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStatus {
    /// The agent is to work on the phases of the run.
    Running,
    /// The run went through its last phase.
    Done {
        announced: bool,
    },
    /// An outcome whose target is `stop` ended the run, at the phase of its path.
    Stopped {
        announced: bool,
    },
    Cancelled {
        announced: bool,
    },
}

/// The form that is stored in the session: the status as booleans.
impl Serialize for RunState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("RunState", 11)?;
        fields.serialize_field("active", &self.is_running())?;
        fields.serialize_field("workflowKey", &self.workflow_key)?;
        fields.serialize_field("currentPath", &self.current_path)?;
        fields.serialize_field("globalStepCount", &self.global_step_count)?;
        fields.serialize_field("taskId", &self.task_id)?;
        fields.serialize_field("taskDescription", &self.task_description)?;
        fields.serialize_field("startedAt", &self.started_at)?;
        fields.serialize_field("completionNotified", &self.is_announced())?;
        // The reference, which knows no other end before the last phase, takes a stopped run for a cancelled one.
        fields.serialize_field("cancelled", &(self.is_cancelled() || self.is_stopped()))?;
        match self.is_stopped() {
            true => fields.serialize_field("stopped", &true)?,
            false => fields.skip_field("stopped")?,
        }
        fields.serialize_field("progress", &self.progress)?;
        fields.end()
    }
}

impl RunState {
    /// Returns a new run, at the first entry of its workflow.
    ///
    /// `unix_ms` is the time and `random` 64 random bits; together they make the task id.
    pub fn new(workflow_key: &str, task: &str, unix_ms: u64, random: u64) -> Self {
        let (task_description, long_task) = divided(task);
        Self {
            status: RunStatus::Running,
            workflow_key: workflow_key.to_owned(),
            current_path: PhasePath::start(workflow_key),
            global_step_count: 0,
            task_id: format!("wf-{unix_ms}-{}", base36(random)),
            task_description,
            started_at: unix_ms,
            bound: Budget::default(),
            progress: Progress { long_task, ..Progress::default() },
        }
    }

    /// Returns the run with these values of the workflow's inputs, and the defaults of the other inputs.
    pub fn with_inputs(mut self, workflow: &Workflow, values: &Map<String, String>) -> Self {
        let given = |input: &Input| values.get(&input.name).or(input.default.as_ref()).cloned();
        let inputs = workflow.inputs.iter();
        self.progress.inputs = inputs.filter_map(|input| Some((input.name.clone(), given(input)?))).collect();
        self
    }

    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    #[cfg(test)]
    pub fn progress_mut(&mut self) -> &mut Progress {
        &mut self.progress
    }

    /// Returns the run with a change of its progress.
    pub(super) fn changed(mut self, change: impl FnOnce(&mut Progress)) -> Self {
        change(&mut self.progress);
        self
    }

    /// Returns the run with its folder.
    pub fn with_run_dir(self, dir: RunDir) -> Self {
        self.changed(|progress| progress.run_dir = Some(dir))
    }

    /// Returns the run with these tools added to the user's.
    pub fn with_tools(self, added: Vec<String>) -> Self {
        self.changed(|progress| progress.tools_added = added)
    }

    /// Returns the run with the user's model, while the run uses another one.
    pub fn with_users_model(self, model: Option<UsersModel>) -> Self {
        self.changed(|progress| progress.users_model = model)
    }

    /// Returns the run that the agent has proposed, if so, and that the user has allowed.
    pub fn with_proposed(self, proposed: bool) -> Self {
        self.changed(|progress| progress.proposed = proposed)
    }

    /// Returns the run with this text as its whole task, if the text is the task.
    pub fn with_whole_task(mut self, text: &str) -> Self {
        if let Some(long) = &mut self.progress.long_task {
            long.set_text(text);
        }
        self
    }

    /// The whole task; `None` if it is a long task that the session does not have.
    pub fn whole_task(&self) -> Option<&str> {
        match &self.progress.long_task {
            Some(long) => long.text(),
            None => Some(&self.task_description),
        }
    }

    /// The path of the folder of the run from the working directory, if the run has a folder that is open.
    pub fn run_dir_path(&self) -> Option<&str> {
        self.progress.run_dir.as_ref()?.path()
    }

    /// Returns the run at another entry of its workflow, to read its values there.
    pub fn at(&self, path: PhasePath) -> Self {
        Self { current_path: path, ..self.clone() }
    }

    /// Returns true if the agent is to work on its phases.
    pub fn is_running(&self) -> bool {
        self.status == RunStatus::Running
    }

    pub fn is_cancelled(&self) -> bool {
        matches!(self.status, RunStatus::Cancelled { .. })
    }

    /// Returns true if the run has ended and its end was announced.
    pub fn is_announced(&self) -> bool {
        match self.status {
            RunStatus::Running => false,
            RunStatus::Done { announced } | RunStatus::Stopped { announced } | RunStatus::Cancelled { announced } => {
                announced
            }
        }
    }

    /// Returns true if the run has ended and its end is still to be announced.
    pub fn is_unannounced(&self) -> bool {
        !self.is_running() && !self.is_announced()
    }

    pub fn is_stopped(&self) -> bool {
        matches!(self.status, RunStatus::Stopped { .. })
    }

    /// Returns the outcome that has stopped the run.
    pub fn stopped_with(&self) -> Option<&str> {
        let outcome = self.progress.outcomes.get(&self.current_path.key());
        outcome.filter(|_| self.is_stopped()).map(String::as_str)
    }

    pub fn cancelled(&self) -> Self {
        Self { status: RunStatus::Cancelled { announced: false }, ..self.resumed() }
    }

    pub fn announced(&self) -> Self {
        let status = match self.status {
            RunStatus::Running => RunStatus::Running,
            RunStatus::Done { .. } => RunStatus::Done { announced: true },
            RunStatus::Stopped { .. } => RunStatus::Stopped { announced: true },
            RunStatus::Cancelled { .. } => RunStatus::Cancelled { announced: true },
        };
        Self { status, ..self.clone() }
    }
}

/// Six digits of base 36.
fn base36(random: u64) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut rest = random;
    std::iter::repeat_with(|| {
        let digit = DIGITS.get((rest % 36) as usize).copied().unwrap_or(b'0');
        rest /= 36;
        char::from(digit)
    })
    .take(6)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::path::path_to;

    #[test]
    fn a_task_id_has_the_time_and_six_random_digits() {
        let state = RunState::new("rpir", "  Do it \n", 1_747_234_567_890, u64::MAX);
        let random = state.task_id.strip_prefix("wf-1747234567890-").unwrap();
        assert_eq!(random.len(), 6);
        assert!(random.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase()));
        assert_eq!(state.task_description, "Do it");
        assert!(RunState::new("rpir", "", 0, 0).task_id.ends_with("-000000"));
    }

    #[test]
    fn the_stored_form_is_that_of_the_specification() {
        let state = RunState {
            current_path: path_to(&[("rpir", 2)]),
            global_step_count: 2,
            task_id: "wf-1747234567890-a3f9k2".into(),
            ..RunState::new("rpir", "Refactor authentication module", 1_747_234_567_890, 1)
        };
        assert_eq!(
            serde_json::to_string(&state).unwrap(),
            r#"{"active":true,"workflowKey":"rpir","currentPath":[{"workflowKey":"rpir","phaseIndex":2}],"globalStepCount":2,"taskId":"wf-1747234567890-a3f9k2","taskDescription":"Refactor authentication module","startedAt":1747234567890,"completionNotified":false,"cancelled":false,"progress":{}}"#
        );
    }
}
