//! Finds a run again in the entries of a session.

use serde_json::{Map, Value};

use super::{RunState, Segment};

/// The custom type of the entries that hold a run's state.
pub const STATE_ENTRY_TYPE: &str = "workflow:state";

/// The newest state among the data of a session's state entries, given newest first.
///
/// Entries without a workflow are passed over; the first one with a workflow decides. If it is
/// malformed there is no run. Two older forms are read too.
///
/// Specification: state management, "Reconstruction (Crash Recovery)".
pub fn restore<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> Option<RunState> {
    entries
        .into_iter()
        .filter_map(|entry| serde_json::from_str::<Map<String, Value>>(entry.as_ref()).ok())
        .find(|data| data.get("workflowKey").is_some_and(|key| !key.is_null()))
        .and_then(|data| state_of(&data))
}

fn state_of(data: &Map<String, Value>) -> Option<RunState> {
    let workflow_key = data.get("workflowKey")?.as_str()?.to_owned();
    let current_path = match data.get("currentPath") {
        // The form without nested workflows.
        None | Some(Value::Null) => vec![Segment {
            workflow_key: workflow_key.clone(),
            phase_index: index(data.get("currentPhaseIndex")?)?,
        }],
        Some(path) => path.as_array()?.iter().map(segment).collect::<Option<Vec<_>>>()?,
    };
    let first_index = current_path.first()?.phase_index;
    Some(RunState {
        active: data.get("active")?.as_bool()?,
        workflow_key,
        global_step_count: match data.get("globalStepCount") {
            // The form before steps were counted.
            None => first_index as u64,
            Some(count) => count_of(count)?,
        },
        current_path,
        task_id: text(data, "taskId")?,
        task_description: match data.get("taskDescription") {
            Some(Value::String(task)) => task.clone(),
            _ => String::new(),
        },
        started_at: count_of(data.get("startedAt")?)?,
        completion_notified: flag(data, "completionNotified")?,
        cancelled: flag(data, "cancelled")?,
        progress: data
            .get("progress")
            .and_then(|progress| serde_json::from_value(progress.clone()).ok())
            .unwrap_or_default(),
    })
}

fn segment(value: &Value) -> Option<Segment> {
    Some(Segment {
        workflow_key: value.get("workflowKey")?.as_str()?.to_owned(),
        phase_index: index(value.get("phaseIndex")?)?,
    })
}

/// A whole number from 0 that JavaScript can hold exactly.
fn index(value: &Value) -> Option<usize> {
    let number = value.as_f64()?;
    (number >= 0.0 && number.fract() == 0.0 && number <= 9_007_199_254_740_991.0)
        .then(|| usize::try_from(number as u64).unwrap_or(usize::MAX))
}

/// Any number, brought to a whole one from 0.
fn count_of(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().map(|number| number as u64))
}

fn text(data: &Map<String, Value>, field: &str) -> Option<String> {
    match data.get(field) {
        None => Some(String::new()),
        Some(value) => value.as_str().map(str::to_owned),
    }
}

fn flag(data: &Map<String, Value>, field: &str) -> Option<bool> {
    data.get(field).map_or(Some(false), Value::as_bool)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(state: &RunState) -> Vec<(&str, usize)> {
        state.current_path.iter().map(|s| (&*s.workflow_key, s.phase_index)).collect()
    }

    const STATE: &str = r#"{"active":true,"workflowKey":"a","currentPath":[{"workflowKey":"a","phaseIndex":1}],"globalStepCount":4,"taskId":"t","taskDescription":"d","startedAt":5,"completionNotified":false,"cancelled":false,"_cancelPending":true}"#;

    #[test]
    fn the_newest_entry_with_a_workflow_decides() {
        let state = restore(["null", "7", "{}", r#"{"workflowKey":null}"#, STATE, "{"]).unwrap();
        assert_eq!(path(&state), [("a", 1)]);
        assert_eq!(state.global_step_count, 4);
        assert_eq!(restore([r#"{"workflowKey":"a"}"#, STATE]), None);
        assert_eq!(restore::<&str>([]), None);
    }

    #[test]
    fn the_old_form_has_one_index() {
        let state = restore([
            r#"{"active":true,"workflowKey":"a","currentPhaseIndex":3,"taskId":"t","taskDescription":"d","startedAt":5}"#,
        ])
        .unwrap();
        assert_eq!(path(&state), [("a", 3)]);
        assert_eq!(state.global_step_count, 3);
        assert!(!state.cancelled && !state.completion_notified);
    }

    #[test]
    fn a_malformed_state_is_no_run() {
        for (from, to) in [
            (r#"[{"workflowKey":"a","phaseIndex":1}]"#, "[]"),
            (r#"[{"workflowKey":"a","phaseIndex":1}]"#, "{}"),
            (r#"[{"workflowKey":"a","phaseIndex":1}]"#, "7"),
            (r#""phaseIndex":1"#, r#""phaseIndex":-1"#),
            (r#""phaseIndex":1"#, r#""phaseIndex":0.5"#),
            (r#""phaseIndex":1"#, r#""phaseIndex":1e300"#),
            (r#""phaseIndex":1"#, r#""phaseIndex":"1""#),
            (r#"[{"workflowKey":"a""#, r#"[{"workflowKey":1"#),
            (r#""active":true"#, r#""active":"yes""#),
            (r#""workflowKey":"a","c"#, r#""workflowKey":["a"],"c"#),
            (r#""globalStepCount":4"#, r#""globalStepCount":"4""#),
            (r#""globalStepCount":4"#, r#""globalStepCount":null"#),
            (r#""startedAt":5"#, r#""startedAt":null"#),
            (r#""taskId":"t""#, r#""taskId":7"#),
            (r#""cancelled":false"#, r#""cancelled":0"#),
            (r#""completionNotified":false"#, r#""completionNotified":null"#),
        ] {
            assert!(STATE.contains(from), "{from}");
            assert_eq!(restore([STATE.replacen(from, to, 1)]), None, "{to}");
        }
    }

    #[test]
    fn odd_numbers_do_no_harm() {
        for (from, to) in [
            (r#""globalStepCount":4"#, r#""globalStepCount":-4.5"#),
            (r#""globalStepCount":4"#, r#""globalStepCount":1e300"#),
            (r#""startedAt":5"#, r#""startedAt":-1e99"#),
            (r#""phaseIndex":1"#, r#""phaseIndex":9007199254740991"#),
        ] {
            assert!(restore([STATE.replacen(from, to, 1)]).is_some(), "{to}");
        }
    }
}
