//! Reads a run from the entries of a session.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use crate::definition::{Budget, MAX_NESTING, Measure, Model, ModelSetting, Thinking, seal};
use crate::usage::{MAX_NAMES, Usage};

use super::progress::{MAX_EVIDENCE, MAX_VISITS};
use super::rules::PROGRESS_VERSION;
use super::{
    Allowance, Evidence, PassReason, PassedOver, Pause, PauseReason, Pick, Progress, RunState,
    RunStatus, Seal, Segment, Summary, UsersModel, Visit,
};

/// Maximum length of an entry, in bytes of JSON.
const MAX_ENTRY: usize = 4 << 20;
/// Maximum number of entries without a workflow that are skipped.
const MAX_PASSED_OVER: usize = 10_000;
/// Maximum number of scopes of a path.
const MAX_PATH: usize = MAX_NESTING + 1;
/// Maximum number of counted scopes, and of counted gates.
const MAX_COUNTS: usize = 1000;
/// Maximum length of a text, in bytes.
const MAX_TEXT: usize = 1 << 20;
/// Maximum size of unknown fields that are kept, in bytes of JSON.
const MAX_OTHERS: usize = 64 << 10;

/// Errors in a stored state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    /// The newest entry is too long.
    TooLong,
    /// The newest entry is no JSON, or nested too deep.
    NotJson,
    /// A list of it has too many items.
    TooMany {
        /// The name of the list.
        list: &'static str,
        /// Its maximum number of items.
        most: usize,
    },
    /// A text of it is too long.
    LongText,
    /// Too many entries name no workflow.
    TooManyEntries,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "it is longer than {MAX_ENTRY} bytes"),
            Self::NotJson => f.write_str("it is not JSON, or nested too deep"),
            Self::TooMany { list, most } => write!(f, "its `{list}` has more than {most} items"),
            Self::LongText => write!(f, "a text in it is longer than {MAX_TEXT} bytes"),
            Self::TooManyEntries => {
                write!(f, "the newest {MAX_PASSED_OVER} entries name no workflow")
            }
        }
    }
}

/// Returns the newest state among the data of a session's state entries, given newest first.
///
/// Entries without a workflow are skipped; the first one with a workflow decides. If it is
/// malformed there is no run. Two older forms are read too.
///
/// # Errors
///
/// If the entry that decides is beyond the bounds of what is read, or none is found within them.
///
/// Specification: state management, "Reconstruction (Crash Recovery)".
pub fn restore<S: AsRef<str>>(
    entries: impl IntoIterator<Item = S>,
) -> Result<Option<RunState>, Unusable> {
    for (index, entry) in entries.into_iter().enumerate() {
        let entry = entry.as_ref();
        if entry.len() > MAX_ENTRY {
            return Err(Unusable::TooLong);
        }
        if index >= MAX_PASSED_OVER {
            return Err(Unusable::TooManyEntries);
        }
        let data: Value = serde_json::from_str(entry).map_err(|_| Unusable::NotJson)?;
        if get(&data, "workflowKey").is_some_and(|key| !key.is_null()) {
            measure(&data)?;
            return Ok(state_of(&data));
        }
    }
    Ok(None)
}

/// Checks the bounds of the lists and texts of a state.
fn measure(data: &Value) -> Result<(), Unusable> {
    let bounded = |data: &Value, list: &'static str, most| {
        let length = match get(data, list) {
            Some(Value::Array(items)) => items.len(),
            Some(Value::Object(fields)) => fields.len(),
            _ => 0,
        };
        if length > most { Err(Unusable::TooMany { list, most }) } else { Ok(()) }
    };
    bounded(data, "currentPath", MAX_PATH)?;
    if let Some(progress) = get(data, "progress") {
        bounded(progress, "gateAttempts", MAX_COUNTS)?;
        bounded(progress, "loops", MAX_COUNTS)?;
        bounded(progress, "visits", MAX_VISITS)?;
        bounded(progress, "inputs", MAX_COUNTS)?;
        bounded(progress, "outcomes", MAX_VISITS)?;
        bounded(progress, "passedOver", MAX_VISITS)?;
        bounded(progress, "toolsAdded", MAX_COUNTS)?;
        bounded(progress, "toolsHidden", MAX_COUNTS)?;
        let visits = get(progress, "visits").and_then(Value::as_object);
        for visit in visits.into_iter().flat_map(Map::values) {
            bounded(visit, "evidence", MAX_EVIDENCE)?;
        }
    }
    if has_long_text(data) { Err(Unusable::LongText) } else { Ok(()) }
}

/// Recursive; the parser bounds the depth.
fn has_long_text(data: &Value) -> bool {
    match data {
        Value::String(text) => text.len() > MAX_TEXT,
        Value::Array(items) => items.iter().any(has_long_text),
        Value::Object(fields) => {
            fields.iter().any(|(name, value)| name.len() > MAX_TEXT || has_long_text(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
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
        status: status(data)?,
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
        progress: match get(data, "progress") {
            None | Some(Value::Null) => Progress::default(),
            Some(stored) => progress(stored),
        },
    })
}

/// The status of a run, which is stored as three booleans. An active run is running, whatever the others say.
fn status(data: &Value) -> Option<RunStatus> {
    let active = get(data, "active")?.as_bool()?;
    let (announced, cancelled) = (flag(data, "completionNotified")?, flag(data, "cancelled")?);
    Some(match (active, cancelled) {
        (true, _) => RunStatus::Running,
        (false, false) => RunStatus::Done { announced },
        (false, true) => RunStatus::Cancelled { announced },
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

/// Any number, rounded down to a whole one from 0.
fn count_of(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().map(|number| number as u64))
}

fn text(data: &Value, field: &str) -> Option<String> {
    get(data, field).map_or(Some(String::new()), string)
}

fn flag(data: &Value, field: &str) -> Option<bool> {
    get(data, field).map_or(Some(false), Value::as_bool)
}

/// Reads the known fields of the progress one by one; other fields are kept unchanged. Written by hand: the code that
/// serde derives for it is a twentieth of the component.
fn progress(data: &Value) -> Progress {
    let mut progress = Progress::default();
    let Some(fields) = data.as_object() else {
        return Progress { version: PROGRESS_VERSION, ..progress };
    };
    // The seal, and `gates`, which an earlier version stored in its place.
    let mut sealing = Map::new();
    let mut room = MAX_OTHERS;
    for (name, value) in fields {
        match &**name {
            "version" | "seal" | "gates" => {
                sealing.insert(name.clone(), value.clone());
            }
            "paused" if !value.is_null() => progress.paused = Some(pause(value)),
            "paused" => {}
            "continuations" => progress.continuations = number(value).unwrap_or_default(),
            "idle" => progress.idle = number(value).unwrap_or_default(),
            "gateAttempts" => progress.gate_attempts = map(value, number),
            "loops" => progress.loops = map(value, number),
            "visits" => progress.visits = map(value, visit),
            "toolsAdded" => progress.tools_added = strings(value),
            "toolsHidden" => progress.tools_hidden = strings(value),
            "forgotten" => progress.forgotten = usage(value),
            "inputs" => progress.inputs = map(value, string),
            "outcomes" => progress.outcomes = map(value, string),
            "passedOver" => progress.passed_over = map(value, passed_over),
            "allowances" => progress.allowances = map(value, allowance),
            "freshStart" => progress.fresh_start = *value == Value::Bool(true),
            "usersModel" => progress.users_model = users_model(value),
            _ => {
                let size = name.len().saturating_add(value.to_string().len());
                if let Some(left) = room.checked_sub(size) {
                    room = left;
                    progress.others.insert(name.clone(), value.clone());
                }
            }
        }
    }
    let is_complete = |progress: &Progress| {
        let read = serde_json::to_value(progress).unwrap_or_default();
        let held = progress.paused.as_ref().is_some_and(|pause| pause.reason.needs_resume());
        let stored = fields.iter().filter(|(name, _)| !sealing.contains_key(*name));
        !held
            && progress.others.is_empty()
            && read.as_object().is_some_and(|read| stored.clone().count() == read.len())
            && stored.clone().all(|(name, value)| read.get(name) == Some(value))
    };
    let version = match sealing.get("version") {
        None => 0,
        // A version that is not a number is an unknown one.
        Some(version) => number(version).unwrap_or(u32::MAX),
    };
    let stored_seal = sealing.get("seal").unwrap_or(&Value::Null);
    let seal_version = get(stored_seal, "version").and_then(number);
    // A seal is taken anew only in place of an older one, and if all of the progress is known.
    let older = version == 0 && stored_seal.is_null()
        || version <= PROGRESS_VERSION
            && seal_version.is_some_and(|version| version < seal::FIRST_VERSION);
    if older && is_complete(&progress) {
        return progress;
    }
    progress.version = version.max(PROGRESS_VERSION);
    match seal_version {
        Some(version @ seal::FIRST_VERSION..=seal::VERSION) => {
            let hash = get(stored_seal, "hash").and_then(string);
            progress.seal = hash.map(|hash| Seal { version, hash });
        }
        Some(version) if version > seal::VERSION => {
            progress.later_seal = Some(within(stored_seal, MAX_OTHERS));
        }
        Some(_) | None => {}
    }
    progress
}

/// A run with an unknown reason stays paused.
fn pause(data: &Value) -> Pause {
    let reason = get(data, "reason").unwrap_or(&Value::Null);
    Pause {
        reason: known_reason(reason)
            .unwrap_or_else(|| PauseReason::Unknown(within(reason, MAX_REASON))),
        at: get(data, "at").and_then(Value::as_u64).unwrap_or_default(),
    }
}

/// Maximum length of an unknown reason, in bytes of JSON.
const MAX_REASON: usize = 4 << 10;

/// A value of another version, or null if it is longer than `most` bytes of JSON.
fn within(value: &Value, most: usize) -> Value {
    if value.to_string().len() > most { Value::Null } else { value.clone() }
}

fn known_reason(reason: &Value) -> Option<PauseReason> {
    let times = || number(get(reason, "times")?);
    Some(match get(reason, "kind")?.as_str()? {
        "person" => PauseReason::User,
        "aborted" => PauseReason::Aborted,
        "idle" => PauseReason::Idle { times: times()? },
        "limit" => PauseReason::Limit { times: times()? },
        "gate" => PauseReason::Gate { label: string(get(reason, "label")?)?, times: times()? },
        "loops" => PauseReason::Loops {
            of: string(get(reason, "of")?)?,
            outcome: string(get(reason, "outcome")?)?,
            times: times()?,
        },
        "approval" => PauseReason::Approval { question: string(get(reason, "question")?)? },
        "commands" => PauseReason::Commands,
        "budget" => PauseReason::Budget {
            of: string(get(reason, "of")?)?,
            measure: Measure::from_name(get(reason, "measure")?.as_str()?)?,
            spent: get(reason, "spent")?.as_u64()?,
            limit: get(reason, "limit")?.as_u64()?,
        },
        "unknownCost" => PauseReason::UnknownCost { of: string(get(reason, "of")?)? },
        "unknownUsage" => PauseReason::UnknownUsage { of: string(get(reason, "of")?)? },
        // The name that an earlier version used, which compared gates only.
        "rulesChanged" | "gatesChanged" => PauseReason::RulesChanged,
        "modelError" => PauseReason::ModelError,
        _ => return None,
    })
}

fn visit(data: &Value) -> Option<Visit> {
    Some(Visit {
        name: get(data, "name").and_then(string).unwrap_or_default(),
        started_at: get(data, "startedAt")?.as_u64()?,
        step: get(data, "step").and_then(Value::as_u64).unwrap_or_default(),
        ended_at: get(data, "endedAt").and_then(Value::as_u64),
        skipped: get(data, "skipped").and_then(Value::as_bool).unwrap_or_default(),
        passes: get(data, "passes").and_then(number)?,
        summary: get(data, "summary").and_then(summary),
        usage: get(data, "usage").map(usage).unwrap_or_default(),
        earlier: get(data, "earlier").map(usage).unwrap_or_default(),
        evidence: get(data, "evidence").map(evidence).unwrap_or_default(),
        model: get(data, "model").and_then(string),
        picked: match get(data, "picked").and_then(Value::as_str) {
            Some("model") => Some(Pick::Model),
            Some("thinking") => Some(Pick::Thinking),
            Some(_) | None => None,
        },
    })
}

fn users_model(data: &Value) -> Option<UsersModel> {
    let model = |data: &Value, field| {
        let model = get(data, field)?;
        let (provider, id) = (string(get(model, "provider")?)?, string(get(model, "id")?)?);
        Some(Model { provider, id })
    };
    let user = get(data, "user")?;
    let thinking = get(user, "thinking").and_then(Value::as_str).and_then(Thinking::from_name);
    let user = ModelSetting { model: model(user, "model")?, thinking };
    Some(UsersModel { user, run: model(data, "run")?, before: model(data, "before")? })
}

fn summary(data: &Value) -> Option<Summary> {
    Some(Summary {
        id: string(get(data, "id")?)?,
        name: string(get(data, "name")?)?,
        text: string(get(data, "text")?)?,
        step: get(data, "step")?.as_u64()?,
    })
}

fn allowance(data: &Value) -> Option<Allowance> {
    let is = |field| get(data, field) == Some(&Value::Bool(true));
    let added = get(data, "added").and_then(Value::as_object).into_iter().flatten();
    let added =
        added.filter_map(|(name, value)| Some((Measure::from_name(name)?, value.as_u64()?)));
    let added = Budget(added.collect());
    let (unknown_cost, unknown_tokens) = (is("unknownCost"), is("unknownTokens"));
    Some(Allowance { added, unknown_cost, unknown_tokens, told: is("told") })
}

fn passed_over(data: &Value) -> Option<PassedOver> {
    let because = match get(data, "kind")?.as_str()? {
        "condition" => PassReason::Condition {
            of: string(get(data, "of")?)?,
            value: get(data, "value").and_then(string),
            wanted: strings(get(data, "wanted")?),
        },
        "outcome" => PassReason::Outcome {
            of: string(get(data, "of")?)?,
            outcome: string(get(data, "outcome")?)?,
        },
        _ => return None,
    };
    let name = get(data, "name").and_then(string).unwrap_or_default();
    Some(PassedOver { name, step: get(data, "step")?.as_u64()?, because })
}

fn usage(data: &Value) -> Usage {
    let count = |field| get(data, field).and_then(number).unwrap_or_default();
    let total = |field| get(data, field).and_then(Value::as_u64).unwrap_or_default();
    let cost = |field| get(data, field).and_then(Value::as_f64).unwrap_or_default().max(0.0);
    let counts = |field| -> BTreeMap<String, u32> {
        let counts = get(data, field).map(|counts| map(counts, number)).unwrap_or_default();
        counts.into_iter().take(MAX_NAMES).collect()
    };
    Usage {
        turns: count("turns"),
        input: total("input"),
        output: total("output"),
        cache_read: total("cacheRead"),
        cache_write: total("cacheWrite"),
        reasoning: total("reasoning"),
        cost: cost("cost"),
        unpriced: count("unpriced"),
        unreported: count("unreported"),
        tool_calls: count("toolCalls"),
        refusals: counts("refusals"),
        gate_attempts: count("gateAttempts"),
        gate_failures: count("gateFailures"),
        work_ms: total("workMs"),
        wait_ms: total("waitMs"),
        warm_ups: count("warmUps"),
        warm_tokens: total("warmTokens"),
        warm_cost: cost("warmCost"),
        models: counts("models"),
    }
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(string).collect()
}

fn evidence(checks: &Value) -> Vec<Evidence> {
    let check = |data: &Value| {
        Some(Evidence {
            label: string(get(data, "label")?)?,
            passed: get(data, "passed")?.as_bool()?,
            result: string(get(data, "result")?)?,
            duration_ms: get(data, "durationMs")?.as_u64()?,
            attempt: number(get(data, "attempt")?)?,
            tail: get(data, "tail").and_then(string).unwrap_or_default(),
        })
    };
    checks.as_array().into_iter().flatten().filter_map(check).collect()
}

/// The entries that can be read.
fn map<T>(data: &Value, read: fn(&Value) -> Option<T>) -> BTreeMap<String, T> {
    let entries = data.as_object().into_iter().flatten();
    entries.filter_map(|(key, value)| Some((key.clone(), read(value)?))).collect()
}

/// As `Value::get`, but compares names instead of hashing one: faster for a few fields.
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

    fn restored<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> Option<RunState> {
        restore(entries).unwrap()
    }

    const STATE: &str = r#"{"active":true,"workflowKey":"a","currentPath":[{"workflowKey":"a","phaseIndex":1}],"globalStepCount":4,"taskId":"t","taskDescription":"d","startedAt":5,"completionNotified":false,"cancelled":false,"_cancelPending":true}"#;

    #[test]
    fn the_newest_entry_with_a_workflow_decides() {
        let state = restored(["null", "7", "{}", r#"{"workflowKey":null}"#, STATE, "{"]).unwrap();
        assert_eq!(path(&state), [("a", 1)]);
        assert_eq!(state.global_step_count, 4);
        assert_eq!(restored([r#"{"workflowKey":"a"}"#, STATE]), None);
        assert_eq!(restored::<&str>([]), None);
    }

    #[test]
    fn the_old_form_has_one_index() {
        let state = restored([
            r#"{"active":true,"workflowKey":"a","currentPhaseIndex":3,"taskId":"t","taskDescription":"d","startedAt":5}"#,
        ])
        .unwrap();
        assert_eq!(path(&state), [("a", 3)]);
        assert_eq!(state.global_step_count, 3);
        assert_eq!(state.status, RunStatus::Running);
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
            assert_eq!(restored([STATE.replacen(from, to, 1)]), None, "{to}");
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
            assert!(restored([STATE.replacen(from, to, 1)]).is_some(), "{to}");
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
        let usage = Usage {
            turns: 1,
            input: 2,
            output: 3,
            cache_read: 4,
            cache_write: 5,
            reasoning: 6,
            cost: 0.1 + 0.2,
            unpriced: 7,
            unreported: 15,
            tool_calls: 8,
            refusals: [("tools".to_owned(), 9)].into(),
            gate_attempts: 10,
            gate_failures: 11,
            work_ms: 12,
            wait_ms: 13,
            warm_ups: 16,
            warm_tokens: 17,
            warm_cost: 0.3,
            models: [("p/m".to_owned(), 14)].into(),
        };
        let visit = Visit {
            name: "n".into(),
            started_at: 1,
            step: 18,
            ended_at: Some(2),
            skipped: true,
            passes: 3,
            summary: Some(summary),
            usage: usage.clone(),
            earlier: Usage { turns: 1, ..Usage::default() },
            evidence: vec![evidence.clone(), Evidence { tail: String::new(), ..evidence }],
            model: Some("p/m:high".into()),
            picked: Some(Pick::Model),
        };
        let model = |id: &str| Model { provider: "p".into(), id: id.into() };
        let of = "w".to_owned();
        let begun = Visit {
            ended_at: None,
            skipped: false,
            summary: None,
            picked: Some(Pick::Thinking),
            ..visit.clone()
        };
        for reason in [
            PauseReason::User,
            PauseReason::Aborted,
            PauseReason::Idle { times: 1 },
            PauseReason::Limit { times: 2 },
            PauseReason::Gate { label, times: 3 },
            PauseReason::Loops { of: "r".into(), outcome: "o".into(), times: 2 },
            PauseReason::Approval { question },
            PauseReason::Commands,
            PauseReason::Budget { of, measure: Measure::OutputTokens, spent: 5, limit: 4 },
            PauseReason::UnknownCost { of: "w".into() },
            PauseReason::UnknownUsage { of: "w".into() },
            PauseReason::RulesChanged,
            PauseReason::Unknown(serde_json::json!({ "kind": "quota", "usd": 3 })),
            PauseReason::Unknown(Value::Null),
            PauseReason::ModelError,
        ] {
            let progress = Progress {
                version: 1,
                seal: Some(Seal { version: 1, hash: "s".into() }),
                later_seal: None,
                others: Map::from_iter([("future".to_owned(), Value::from(1))]),
                paused: Some(Pause { reason, at: 9 }),
                continuations: 1,
                idle: 2,
                gate_attempts: [("g".to_owned(), 3)].into(),
                loops: [("l".to_owned(), 4), ("m".to_owned(), 5)].into(),
                visits: [("v".to_owned(), visit.clone()), ("w".to_owned(), begun.clone())].into(),
                tools_added: vec!["grep".into()],
                tools_hidden: vec!["bash".into(), "edit".into()],
                fresh_start: true,
                users_model: Some(UsersModel {
                    user: ModelSetting { model: model("m"), thinking: Some(Thinking::Max) },
                    run: model("n"),
                    before: model("o"),
                }),
                forgotten: usage.clone(),
                inputs: [("i".to_owned(), "v".to_owned())].into(),
                outcomes: [("a:0".to_owned(), "small".to_owned())].into(),
                passed_over: [
                    PassReason::Condition {
                        of: "outcome.t".into(),
                        value: Some("v".into()),
                        wanted: vec!["w".into()],
                    },
                    PassReason::Outcome { of: "t".into(), outcome: "o".into() },
                ]
                .into_iter()
                .enumerate()
                .map(|(index, because)| {
                    (format!("a:{index}"), PassedOver { name: "N".into(), step: 2, because })
                })
                .collect(),
                allowances: [(
                    "a:0".to_owned(),
                    Allowance {
                        added: Budget([(Measure::OutputTokens, 5)].into()),
                        unknown_cost: true,
                        unknown_tokens: true,
                        told: true,
                    },
                )]
                .into(),
            };
            let state = RunState { progress, ..RunState::new("a", "", 0, 0) };
            assert_eq!(restored([serde_json::to_string(&state).unwrap()]), Some(state));
        }
    }

    /// The progress of [`STATE`] with this one.
    fn progress_of(stored: &str) -> Progress {
        let state = STATE.replacen('{', &format!(r#"{{"progress":{stored},"#), 1);
        restored([state]).unwrap().progress
    }

    #[test]
    fn of_progress_that_does_not_fit_the_rest_is_used() {
        for (stored, version) in [
            ("null", 0),
            ("{}", 0),
            (r#"{"gates":"0123456789abcdef"}"#, 0),
            (r#"{"version":1,"seal":{"version":0,"hash":"x"}}"#, 0),
            ("7", 1),
            ("[]", 1),
            (r#"{"loops":7}"#, 1),
            (r#"{"loops":{"a":-1}}"#, 1),
            (r#"{"continuations":4294967296}"#, 1),
            (r#"{"visits":{"a:0":{"startedAt":1}}}"#, 1),
            (r#"{"version":1}"#, 1),
            (r#"{"version":1,"seal":7}"#, 1),
            (r#"{"version":1,"seal":{"version":1,"hash":7}}"#, 1),
            (r#"{"version":1,"loops":7,"seal":{"version":0,"hash":"x"}}"#, 1),
            (r#"{"version":2}"#, 2),
            (r#"{"version":"2"}"#, u32::MAX),
            (r#"{"version":null}"#, u32::MAX),
        ] {
            assert_eq!(
                progress_of(stored),
                Progress { version, ..Progress::default() },
                "{stored}"
            );
        }
        let progress = progress_of(
            r#"{"idle":2,"loops":{"a":-1,"b":2},"new":[1],"seal":{"version":1,"hash":"h"},"visits":{"a:0":7,"a:1":
                {"startedAt":1,"passes":1,"endedAt":"x","evidence":[{},7],"summary":{"id":"i","name":"n","text":"t","step":6}},
                "a:2":{"startedAt":1,"passes":1,"summary":{}}}}"#,
        );
        assert_eq!((progress.idle, progress.loops), (2, [("b".to_owned(), 2)].into()));
        assert_eq!(progress.others, Map::from_iter([("new".to_owned(), serde_json::json!([1]))]));
        assert_eq!(progress.seal.unwrap().hash, "h");
        assert_eq!(progress.visits.keys().collect::<Vec<_>>(), ["a:1", "a:2"]);
        assert_eq!(progress.visits["a:1"].summary.as_ref().unwrap().text, "t");
    }

    #[test]
    fn a_pause_of_any_kind_is_a_pause() {
        let reason = |paused: &str| {
            let pause = progress_of(&format!(r#"{{"paused":{paused},"gates":"x"}}"#)).paused;
            pause.map(|pause| serde_json::to_string(&pause.reason).unwrap())
        };
        assert_eq!(reason("null"), None);
        let budget = r#"{"kind":"budget","usd":3}"#;
        assert_eq!(reason(&format!(r#"{{"reason":{budget},"at":1}}"#)).as_deref(), Some(budget));
        let idle = r#"{"kind":"idle"}"#;
        assert_eq!(reason(&format!(r#"{{"reason":{idle},"at":1}}"#)).as_deref(), Some(idle));
        assert_eq!(reason("7").as_deref(), Some("null"));
        let long = format!(r#"{{"reason":"{}"}}"#, "x".repeat(MAX_REASON));
        assert_eq!(reason(&long).as_deref(), Some("null"));
        let changed = r#"{"reason":{"kind":"gatesChanged"},"at":1}"#;
        assert_eq!(reason(changed).as_deref(), Some(r#"{"kind":"rulesChanged"}"#));
        for paused in [changed, r#"{"reason":{"kind":"budget"},"at":1}"#] {
            let progress = progress_of(&format!(r#"{{"gates":"x","paused":{paused}}}"#));
            assert_eq!((progress.version, progress.seal), (1, None), "no seal is taken anew");
        }
    }

    #[test]
    fn what_other_versions_stored_is_stored_on() {
        let stored = format!(
            r#"{{"version":2,"others":{{"a":1}},"long":"{}","budget":[1,{{}}],"seal":{{"version":9,"tree":[]}}}}"#,
            "x".repeat(MAX_OTHERS)
        );
        let again = serde_json::to_value(progress_of(&stored)).unwrap();
        let expected =
            r#"{"version":2,"others":{"a":1},"budget":[1,{}],"seal":{"version":9,"tree":[]}}"#;
        assert_eq!(again, serde_json::from_str::<Value>(expected).unwrap());
    }

    #[test]
    fn what_is_beyond_the_bounds_is_no_run() {
        let with = |field: &str, value: &Value| {
            let mut state: Value = serde_json::from_str(STATE).unwrap();
            state[field] = value.clone();
            restore([state.to_string(), STATE.to_owned()]).map(|state| state.is_some())
        };
        let many = |count: usize, value: Value| -> Value {
            (0..count).map(|key| (key.to_string(), value.clone())).collect::<Map<_, _>>().into()
        };
        let path =
            |length| vec![serde_json::json!({ "workflowKey": "a", "phaseIndex": 0 }); length];
        assert_eq!(with("currentPath", &path(MAX_PATH).into()), Ok(true));
        let list = "currentPath";
        let error = Unusable::TooMany { list, most: MAX_PATH };
        assert_eq!(with("currentPath", &path(10_000).into()), Err(error));
        let visit = serde_json::json!({ "startedAt": 1, "passes": 1 });
        for (list, most, value) in [
            ("visits", MAX_VISITS, visit),
            ("loops", MAX_COUNTS, 1.into()),
            ("gateAttempts", MAX_COUNTS, 1.into()),
        ] {
            let progress = |count| serde_json::json!({ list: many(count, value.clone()) });
            assert_eq!(with("progress", &progress(most)), Ok(true));
            assert_eq!(
                with("progress", &progress(most + 1)),
                Err(Unusable::TooMany { list, most })
            );
        }
        let evidence = vec![Value::Null; MAX_EVIDENCE + 1];
        let error = Unusable::TooMany { list: "evidence", most: MAX_EVIDENCE };
        let progress = serde_json::json!({ "visits": { "a:0": { "evidence": evidence } } });
        assert_eq!(with("progress", &progress), Err(error));
        let text = |length: usize| Value::from("x".repeat(length));
        assert_eq!(with("taskDescription", &text(MAX_TEXT)), Ok(true));
        assert_eq!(with("taskDescription", &text(MAX_TEXT + 1)), Err(Unusable::LongText));
        assert_eq!(with("other", &text(MAX_ENTRY)), Err(Unusable::TooLong));
        let mut deep = Value::Null;
        for _ in 0..200 {
            deep = vec![deep].into();
        }
        assert_eq!(with("progress", &deep), Err(Unusable::NotJson));
        let empty = |count| restore(vec!["{}"; count].into_iter().chain([STATE]));
        assert!(empty(MAX_PASSED_OVER - 1).unwrap().is_some());
        assert_eq!(empty(100_000), Err(Unusable::TooManyEntries));
    }
}
