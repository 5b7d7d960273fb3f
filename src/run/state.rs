//! The state of a run.

use serde::Serialize;

use crate::definition::trim;

use super::Progress;

/// Maximum length of a task, in characters. It stands in every state entry of its run.
pub const MAX_TASK: usize = 10_000;

/// A run of a workflow, in the form that is stored in the session.
///
/// Specification: state management, "WorkflowState Fields".
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunState {
    /// Whether the agent is to work on its phases. False once it is done or cancelled.
    pub active: bool,
    /// The key of the workflow that was started.
    pub workflow_key: String,
    /// Where it is: the root workflow first, the innermost scope last. Never empty.
    pub current_path: Vec<Segment>,
    /// Counts every transition; never falls.
    pub global_step_count: u64,
    /// `wf-MILLISECONDS-RANDOM6`.
    pub task_id: String,
    /// What the user asked for.
    pub task_description: String,
    /// When it was started, in milliseconds since 1970.
    pub started_at: u64,
    /// Whether its end was announced.
    pub completion_notified: bool,
    /// Whether it was cancelled rather than done.
    pub cancelled: bool,
    /// What the reference does not have.
    pub progress: Progress,
}

/// One scope of a path: a workflow, and the entry of it that is current.
///
/// Specification: state management, "PathSegment".
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Segment {
    /// The workflow's key.
    pub workflow_key: String,
    /// Index into its `phases`, from 0.
    pub phase_index: usize,
}

impl Segment {
    /// The beginning of a workflow.
    pub fn first(workflow_key: &str) -> Self {
        Self { workflow_key: workflow_key.to_owned(), phase_index: 0 }
    }
}

impl RunState {
    /// A new run, at the first entry of its workflow.
    ///
    /// `unix_ms` is the time and `random` 64 random bits; together they make the task id.
    pub fn new(workflow_key: &str, task: &str, unix_ms: u64, random: u64) -> Self {
        Self {
            active: true,
            workflow_key: workflow_key.to_owned(),
            current_path: vec![Segment::first(workflow_key)],
            global_step_count: 0,
            task_id: format!("wf-{unix_ms}-{}", base36(random)),
            task_description: trim(task).to_owned(),
            started_at: unix_ms,
            completion_notified: false,
            cancelled: false,
            progress: Progress::default(),
        }
    }

    /// The run, ended by a cancellation.
    pub fn cancelled(&self) -> Self {
        let new =
            Self { active: false, cancelled: true, completion_notified: false, ..self.clone() };
        new.resumed()
    }

    /// The run, its end announced.
    pub fn notified(&self) -> Self {
        Self { completion_notified: true, ..self.clone() }
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
            current_path: vec![Segment { workflow_key: "rpir".into(), phase_index: 2 }],
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
