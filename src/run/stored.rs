//! Finds a run again in the entries of a session.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Evidence, Pause, PauseReason, Progress, RunState, Segment, Summary, Visit};

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
        .filter_map(|entry| serde_json::from_str::<Value>(entry.as_ref()).ok())
        .find(|data| get(data, "workflowKey").is_some_and(|key| !key.is_null()))
        .and_then(|data| state_of(&data))
}

fn state_of(data: &Value) -> Option<RunState> {
    let workflow_key = get(data, "workflowKey")?.as_str()?.to_owned();
    let current_path = match get(data, "currentPath") {
        // The form without nested workflows.
        None | Some(Value::Null) => vec![Segment {
            workflow_key: workflow_key.clone(),
            phase_index: index(get(data, "currentPhaseIndex")?)?,
        }],
        Some(path) => path.as_array()?.iter().map(segment).collect::<Option<Vec<_>>>()?,
    };
    let first_index = current_path.first()?.phase_index;
    Some(RunState {
        active: get(data, "active")?.as_bool()?,
        workflow_key,
        global_step_count: match get(data, "globalStepCount") {
            // The form before steps were counted.
            None => first_index as u64,
            Some(count) => count_of(count)?,
        },
        current_path,
        task_id: text(data, "taskId")?,
        task_description: match get(data, "taskDescription") {
            Some(Value::String(task)) => task.clone(),
            _ => String::new(),
        },
        started_at: count_of(get(data, "startedAt")?)?,
        completion_notified: flag(data, "completionNotified")?,
        cancelled: flag(data, "cancelled")?,
        progress: get(data, "progress").and_then(progress).unwrap_or_default(),
    })
}

fn segment(value: &Value) -> Option<Segment> {
    Some(Segment {
        workflow_key: get(value, "workflowKey")?.as_str()?.to_owned(),
        phase_index: index(get(value, "phaseIndex")?)?,
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

fn text(data: &Value, field: &str) -> Option<String> {
    get(data, field).map_or(Some(String::new()), string)
}

fn flag(data: &Value, field: &str) -> Option<bool> {
    get(data, field).map_or(Some(false), Value::as_bool)
}

/// All of the progress, or nothing where a part does not fit. By hand: what serde derives for it is a
/// twentieth of the component.
fn progress(data: &Value) -> Option<Progress> {
    Some(Progress {
        paused: optional(data, "paused", pause)?,
        continuations: optional(data, "continuations", number)?.unwrap_or_default(),
        idle: optional(data, "idle", number)?.unwrap_or_default(),
        gate_attempts: map(data, "gateAttempts", number)?,
        gates: optional(data, "gates", string)?,
        loops: map(data, "loops", number)?,
        visits: map(data, "visits", visit)?,
    })
}

fn pause(data: &Value) -> Option<Pause> {
    let reason = get(data, "reason")?;
    let times = || number(get(reason, "times")?);
    let reason = match get(reason, "kind")?.as_str()? {
        "person" => PauseReason::Person,
        "aborted" => PauseReason::Aborted,
        "idle" => PauseReason::Idle { times: times()? },
        "limit" => PauseReason::Limit { times: times()? },
        "gate" => PauseReason::Gate { label: string(get(reason, "label")?)?, times: times()? },
        "approval" => PauseReason::Approval { question: string(get(reason, "question")?)? },
        "commands" => PauseReason::Commands,
        "gatesChanged" => PauseReason::GatesChanged,
        "modelError" => PauseReason::ModelError,
        _ => return None,
    };
    Some(Pause { reason, at: get(data, "at")?.as_u64()? })
}

fn visit(data: &Value) -> Option<Visit> {
    Some(Visit {
        started_at: get(data, "startedAt")?.as_u64()?,
        ended_at: optional(data, "endedAt", Value::as_u64)?,
        skipped: optional(data, "skipped", Value::as_bool)?.unwrap_or_default(),
        passes: number(get(data, "passes")?)?,
        summary: optional(data, "summary", summary)?,
        evidence: optional(data, "evidence", evidence)?.unwrap_or_default(),
    })
}

fn summary(data: &Value) -> Option<Summary> {
    Some(Summary {
        id: string(get(data, "id")?)?,
        name: string(get(data, "name")?)?,
        text: string(get(data, "text")?)?,
        step: get(data, "step")?.as_u64()?,
    })
}

fn evidence(checks: &Value) -> Option<Vec<Evidence>> {
    let check = |data: &Value| {
        Some(Evidence {
            label: string(get(data, "label")?)?,
            passed: get(data, "passed")?.as_bool()?,
            result: string(get(data, "result")?)?,
            duration_ms: get(data, "durationMs")?.as_u64()?,
            attempt: number(get(data, "attempt")?)?,
            tail: optional(data, "tail", string)?.unwrap_or_default(),
        })
    };
    checks.as_array()?.iter().map(check).collect()
}

/// `Some(None)` where the field is not there.
fn optional<T>(data: &Value, field: &str, read: fn(&Value) -> Option<T>) -> Option<Option<T>> {
    match get(data, field) {
        None | Some(Value::Null) => Some(None),
        Some(value) => read(value).map(Some),
    }
}

fn map<T>(data: &Value, field: &str, read: fn(&Value) -> Option<T>) -> Option<BTreeMap<String, T>> {
    let mut map = BTreeMap::new();
    if let Some(entries) = get(data, field) {
        for (key, value) in entries.as_object()? {
            map.insert(key.clone(), read(value)?);
        }
    }
    Some(map)
}

/// As `Value::get`: of a few names each is compared sooner than one is hashed.
fn get<'a>(data: &'a Value, field: &str) -> Option<&'a Value> {
    data.as_object()?.iter().find(|(name, _)| *name == field).map(|(_, value)| value)
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64()?.try_into().ok()
}

fn string(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
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

    #[test]
    fn the_progress_is_read_back() {
        let (label, question) = ("l".to_owned(), "q".to_owned());
        let summary = Summary { id: "i".into(), name: "n".into(), text: "t".into(), step: 6 };
        let evidence = Evidence {
            label: label.clone(),
            passed: true,
            result: "r".into(),
            duration_ms: 7,
            attempt: 8,
            tail: "e".into(),
        };
        let visit = Visit {
            started_at: 1,
            ended_at: Some(2),
            skipped: true,
            passes: 3,
            summary: Some(summary),
            evidence: vec![evidence.clone(), Evidence { tail: String::new(), ..evidence }],
        };
        let begun = Visit { ended_at: None, skipped: false, summary: None, ..visit.clone() };
        for reason in [
            PauseReason::Person,
            PauseReason::Aborted,
            PauseReason::Idle { times: 1 },
            PauseReason::Limit { times: 2 },
            PauseReason::Gate { label, times: 3 },
            PauseReason::Approval { question },
            PauseReason::Commands,
            PauseReason::GatesChanged,
            PauseReason::ModelError,
        ] {
            let progress = Progress {
                paused: Some(Pause { reason, at: 9 }),
                continuations: 1,
                idle: 2,
                gate_attempts: [("g".to_owned(), 3)].into(),
                gates: Some("s".into()),
                loops: [("l".to_owned(), 4), ("m".to_owned(), 5)].into(),
                visits: [("v".to_owned(), visit.clone()), ("w".to_owned(), begun.clone())].into(),
            };
            let state = RunState { progress, ..RunState::new("a", "", 0, 0) };
            assert_eq!(restore([serde_json::to_string(&state).unwrap()]), Some(state));
        }
    }

    #[test]
    fn progress_that_does_not_fit_is_dropped() {
        let progress = |stored: &str| {
            let state = STATE.replacen('{', &format!(r#"{{"progress":{stored},"#), 1);
            restore([state]).unwrap().progress
        };
        assert_eq!(progress(r#"{"idle":2,"new":[]}"#), Progress { idle: 2, ..Progress::default() });
        for stored in [
            "7",
            "[]",
            r#"{"idle":2,"loops":7}"#,
            r#"{"idle":2,"loops":{"a":-1}}"#,
            r#"{"idle":2,"continuations":4294967296}"#,
            r#"{"idle":2,"paused":{"reason":{"kind":"new"},"at":1}}"#,
            r#"{"idle":2,"paused":{"reason":{"kind":"idle"},"at":1}}"#,
            r#"{"idle":2,"visits":{"a:0":{"startedAt":1}}}"#,
            r#"{"idle":2,"visits":{"a:0":{"startedAt":1,"passes":1,"evidence":[{}]}}}"#,
            r#"{"idle":2,"visits":{"a:0":{"startedAt":1,"passes":1,"summary":{}}}}"#,
        ] {
            assert_eq!(progress(stored), Progress::default(), "{stored}");
        }
    }
}
