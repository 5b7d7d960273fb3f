//! Merges the entries of a session into the newest state of a run.

use serde_json::{Map, Value};

use super::broken::{Broken, BrokenReason, MAX_ENTRY, MAX_TEXT, MAX_WITHOUT_WORKFLOW};
use super::mark::{MARK, MAX_PARTS, MAX_PARTS_LENGTH, Mark};
use super::progress::{MAX_EVIDENCE, PROGRESS_VERSION};
use super::state::RunState;
use super::stored::{MAX_PATH, MAX_TOOLS, RECORDS, add_records, get, number, state_of};

/// Maximum number of entries that are read below the newest entry of a run, including the copies that the reference
/// made of parts.
const MAX_OLDER: u64 = 3 * MAX_PARTS;
/// Maximum length of the entries below the newest entry together, in bytes of JSON.
const MAX_OLDER_LENGTH: u64 = 4 * MAX_PARTS_LENGTH;

/// The workflow key of a run of which nothing can be read: no folder has this name, and the reference reads it as a
/// key.
const UNKNOWN_WORKFLOW: &str = "?";

/// A run as a session stores it.
#[derive(Debug, Clone, PartialEq)]
pub struct Restored {
    pub state: RunState,
    /// The place of its newest entry.
    pub mark: Mark,
}

/// Returns the newest run among state entries, see [`restore_with_mark`].
pub fn restore<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> Option<RunState> {
    restore_with_mark(entries).map(|restored| restored.state)
}

/// Returns the newest run among the data of a session's state entries, given newest first.
///
/// Entries without a workflow are skipped; the first entry with a workflow decides. If it is a part, the entries that
/// it continues are read too. An empty string stands for entries that are missing.
///
/// A run that may be active and cannot be read in full has [`Progress::broken`] set, and keeps the part that can be
/// read: the run is held. An unknown run is held, too, where entries are missing after a run that has ended, or where
/// no entry with a workflow is left.
///
/// Specification: state management, "Reconstruction (Crash Recovery)".
pub fn restore_with_mark<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> Option<Restored> {
    let mut entries = entries.into_iter();
    let mut without_workflow = 0;
    let mut gap = None;
    while let Some(entry) = entries.next() {
        if entry.as_ref().is_empty() {
            gap = Some(BrokenReason::Gap);
            continue;
        }
        let mut data = match parse(entry.as_ref()) {
            Ok(data) => data,
            Err(why) => return Some(Restored::unreadable(why)),
        };
        if get(&data, "workflowKey").is_some_and(|key| !key.is_null()) {
            let mark = get(&data, "progress").map(mark).unwrap_or_default();
            let is_part = get(&data, "progress").is_some_and(is_part);
            let is_short = !is_part && entry.as_ref().len() <= MAX_TEXT;
            let merged = merge(&mut data, entries);
            // Both are done: `bound` takes out the data beyond the bounds.
            let bounded = bound(&mut data, is_short);
            let why = merged.and(bounded).err();
            let state = state_of(&data);
            // Another run may have begun since.
            let is_over = get(&data, "active") == Some(&Value::Bool(false));
            if let Some(gap) = gap.as_ref().filter(|_| is_over) {
                return Some(Restored::unreadable(gap.clone()));
            }
            return match (state, why.or(gap)) {
                (Some(state), None) => Some(Restored { state, mark }),
                (Some(mut state), Some(why)) => {
                    state.progress.broken = Some(Broken { why, is_usable: true });
                    Some(Restored { state, mark })
                }
                // The reference takes such a run for ended too.
                (None, _) if is_over => None,
                (None, why) => Some(Restored::unreadable(why.unwrap_or(BrokenReason::Malformed))),
            };
        }
        without_workflow += 1;
        if without_workflow >= MAX_WITHOUT_WORKFLOW {
            return Some(Restored::unreadable(BrokenReason::TooManyEntries));
        }
    }
    gap.map(Restored::unreadable)
}

/// Returns the state in an entry, also in a part if the state before is given; `None` if it has no state of a run.
pub fn restore_after(entry: String, before: Option<&RunState>) -> Option<RunState> {
    // A vector, as where the component reads a run: the reader is compiled once.
    let mut state = restore_with_mark(vec![entry])?.state;
    match (state.progress.broken.take(), before) {
        (Some(Broken { is_usable: false, .. }), _) => return None,
        (Some(Broken { why: BrokenReason::MissingPart, .. }), Some(before)) => {
            add_records(&mut state.progress, &before.progress);
        }
        _ => {}
    }
    Some(state)
}

impl Restored {
    pub fn unreadable(why: BrokenReason) -> Self {
        let mut state = RunState::new(UNKNOWN_WORKFLOW, "", 0, 0);
        state.progress.broken = Some(Broken { why, is_usable: false });
        Self { state, mark: Mark::default() }
    }
}

fn parse(entry: &str) -> Result<Value, BrokenReason> {
    if entry.len() > MAX_ENTRY {
        return Err(BrokenReason::TooLong);
    }
    serde_json::from_str(entry).map_err(|_| BrokenReason::NotJson)
}

/// The place of the entry with this progress.
fn mark(progress: &Value) -> Mark {
    let mark = get(progress, MARK).unwrap_or(&Value::Null);
    let count = |field| get(mark, field).and_then(Value::as_u64).unwrap_or_default();
    Mark { number: count("number"), parts: count("parts"), length: count("length") }
}

fn is_part(progress: &Value) -> bool {
    let Mark { number: count, parts, length: _ } = mark(progress);
    get(progress, "version").and_then(number) == Some(PROGRESS_VERSION) && parts > 0 && count > 0
}

/// Merges into the newest entry, if it is a part, the entries that it continues. Entries of other runs between them are
/// skipped, and so are entries with the number of the entry above: the reference copies fields that it does not know.
///
/// # Errors
///
/// If an entry cannot be read. The entries found before it are merged.
fn merge<S: AsRef<str>>(newest: &mut Value, older: impl Iterator<Item = S>) -> Result<(), BrokenReason> {
    let task = get(newest, "taskId").cloned();
    let Some(progress) = newest.get_mut("progress").filter(|progress| is_part(progress)) else {
        return Ok(());
    };
    let merged = merge_older(progress, task.as_ref(), older);
    if let Some(fields) = progress.as_object_mut() {
        for (name, _) in RECORDS {
            if let Some(Value::Object(records)) = fields.get_mut(*name) {
                records.retain(|_, value| !value.is_null());
            }
        }
    }
    merged
}

fn merge_older<S: AsRef<str>>(
    progress: &mut Value,
    task: Option<&Value>,
    older: impl Iterator<Item = S>,
) -> Result<(), BrokenReason> {
    let mut wanted = mark(progress).number - 1;
    let (mut count, mut length) = (0, 0);
    has_records(progress)?;
    for entry in older {
        let entry = entry.as_ref();
        (count, length) = (count + 1, length + entry.len() as u64);
        if count > MAX_OLDER || length > MAX_OLDER_LENGTH {
            return Err(BrokenReason::TooManyParts);
        }
        // Only a missing part matters, and the number of the next entry shows it.
        if entry.is_empty() {
            continue;
        }
        let mut data = parse(entry)?;
        if get(&data, "taskId") != task {
            continue;
        }
        let found = data.get_mut("progress").map(Value::take).unwrap_or_default();
        let found_number = mark(&found).number;
        if found_number == wanted + 1 {
            continue;
        }
        if found_number != wanted || wanted == 0 {
            return Err(BrokenReason::MissingPart);
        }
        let is_last = !is_part(&found);
        if !is_last {
            has_records(&found)?;
        }
        let version = get(&found, "version").map_or(Some(0), number);
        if is_last && version.is_none_or(|version| version > PROGRESS_VERSION) {
            return Err(BrokenReason::MissingPart);
        }
        add_older(progress, found);
        if is_last {
            return Ok(());
        }
        wanted = wanted.saturating_sub(1);
    }
    Err(BrokenReason::MissingPart)
}

/// Checks that the records of a part can be read: unreadable records would hide the records of older entries.
fn has_records(part: &Value) -> Result<(), BrokenReason> {
    let fields = RECORDS.iter().filter_map(|(name, _)| get(part, name));
    if fields.into_iter().all(Value::is_object) { Ok(()) } else { Err(BrokenReason::Malformed) }
}

/// Adds the records of an older entry that the newer entries do not have.
fn add_older(progress: &mut Value, mut older: Value) {
    let Some(fields) = progress.as_object_mut() else { return };
    for (name, _) in RECORDS {
        let Some(Value::Object(older)) = older.get_mut(*name).map(Value::take) else { continue };
        let newer = fields.entry(*name).or_insert_with(|| Map::new().into());
        if let Some(newer) = newer.as_object_mut() {
            for (key, value) in older {
                newer.entry(key).or_insert(value);
            }
        }
    }
}

/// Takes out the lists and texts of a state that are beyond their bounds; a state that `is_short` has no such text.
///
/// # Errors
///
/// If a list or a text is beyond its bounds.
fn bound(data: &mut Value, is_short: bool) -> Result<(), BrokenReason> {
    let mut result = Ok(());
    let mut bounded = |data: &mut Value, list: &'static str, most| {
        let length = match get(data, list) {
            Some(Value::Array(items)) => items.len(),
            Some(Value::Object(fields)) => fields.len(),
            _ => 0,
        };
        if length > most {
            result = Err(BrokenReason::TooMany { list, most });
            if let Some(list) = data.get_mut(list) {
                *list = Value::Null;
            }
        }
    };
    bounded(data, "currentPath", MAX_PATH);
    if let Some(progress) = data.get_mut("progress") {
        for (name, most) in RECORDS {
            bounded(progress, name, *most);
        }
        bounded(progress, "toolsAdded", MAX_TOOLS);
        let visits = progress.get_mut("visits").and_then(Value::as_object_mut);
        for visit in visits.into_iter().flat_map(Map::values_mut) {
            bounded(visit, "evidence", MAX_EVIDENCE);
        }
    }
    if !is_short && take_out_long(data) { Err(BrokenReason::LongText) } else { result }
}

/// Empties the texts that are too long, and tests if there are any. Recursive; the parser bounds the depth.
fn take_out_long(data: &mut Value) -> bool {
    match data {
        Value::String(text) => {
            let is_long = text.len() > MAX_TEXT;
            if is_long {
                text.clear();
            }
            is_long
        }
        Value::Array(items) => items.iter_mut().fold(false, |found, item| take_out_long(item) | found),
        Value::Object(fields) => {
            let count = fields.len();
            fields.retain(|name, _| name.len() <= MAX_TEXT);
            let found = fields.len() < count;
            fields.values_mut().fold(found, |found, value| take_out_long(value) | found)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{Budget, LONGEST_WAIT_MS, Measure, Model, ModelSetting, Thinking};
    use crate::run::progress::MAX_VISITS;
    use crate::run::quota::QuotaWaits;
    use crate::run::stored::{LATEST_MS, MAX_COUNTS, MAX_OTHERS, MAX_REASON};
    use crate::run::{
        Allowance, Branch, BranchEnd, BranchRun, Evidence, HandedOutputs, LongTask, OutputValue, PassedOver,
        PassedOverReason, Pause, PauseReason, Pick, Progress, RunDir, RunStatus, Seal, Summary, UsersModel, Visit,
    };
    use crate::usage::Usage;

    fn path(state: &RunState) -> Vec<(&str, usize)> {
        state.current_path.iter().map(|s| (&*s.workflow_key, s.phase_index)).collect()
    }

    /// The run, if all of it can be read.
    fn restored<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> Option<RunState> {
        restore(entries).filter(|state| state.progress.broken.is_none())
    }

    /// The error, and if the run can go on.
    fn broken<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> Option<(BrokenReason, bool)> {
        let Broken { why, is_usable } = restore(entries)?.progress.broken?;
        Some((why, is_usable))
    }

    const STATE: &str = r#"{"active":true,"workflowKey":"a","currentPath":[{"workflowKey":"a","phaseIndex":1}],"globalStepCount":4,"taskId":"t","taskDescription":"d","startedAt":5,"completionNotified":false,"cancelled":false,"_cancelPending":true}"#;

    #[test]
    fn stored_times_of_waits_are_bounded() {
        let mut entry: serde_json::Value = serde_json::from_str(STATE).unwrap();
        entry["progress"] = serde_json::json!({
            "quota": { "maxMs": u64::MAX },
            "paused": {
                "reason": { "kind": "quota", "until": u64::MAX, "goesOnAt": u64::MAX, "utcOffset": 0 },
                "at": 5,
            },
        });
        let state = restore([entry.to_string()]).unwrap();
        assert_eq!(state.progress.quota.max_ms, Some(LONGEST_WAIT_MS));
        let reason = PauseReason::Quota { until: Some(LATEST_MS), goes_on_at: Some(LATEST_MS), utc_offset: 0 };
        assert_eq!(state.progress.paused.unwrap().reason, reason);
    }

    #[test]
    fn the_newest_entry_with_a_workflow_decides() {
        let state = restored(["null", "7", "{}", r#"{"workflowKey":null}"#, STATE, "{"]).unwrap();
        assert_eq!(path(&state), [("a", 1)]);
        assert_eq!(state.global_step_count, 4);
        assert_eq!(broken([r#"{"workflowKey":"a"}"#, STATE]), Some((BrokenReason::Malformed, false)));
        assert_eq!(restore([r#"{"workflowKey":"a","active":false}"#, STATE]), None);
        assert_eq!(restore::<&str>([]), None);
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
    fn a_malformed_state_is_held_unless_it_has_ended() {
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
            let malformed = STATE.replacen(from, to, 1);
            assert_eq!(broken([&malformed]), Some((BrokenReason::Malformed, false)), "{to}");
            let ended = malformed.replacen(r#""active":true"#, r#""active":false"#, 1);
            let is_ended = ended.contains(r#""active":false"#);
            assert_eq!(restore([ended]).is_none(), is_ended, "{to}");
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
        let (name, question) = ("l".to_owned(), "q".to_owned());
        let summary = Summary {
            id: "i".into(),
            name: "n".into(),
            text: "t".into(),
            log: Some("l".into()),
            log_note: "… (1 bytes before)\n".into(),
            step: 6,
        };
        let evidence = Evidence {
            name: name.clone(),
            passed: true,
            result: "r".into(),
            duration_ms: 7,
            attempt: 8,
            tail: "e".into(),
            missing: 3,
            file: "f".into(),
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
            unfinished: true,
            number: 3,
            summary: Some(summary),
            usage: usage.clone(),
            earlier: Usage { turns: 1, ..Usage::default() },
            outputs_refused: 4,
            evidence: vec![evidence.clone(), Evidence { tail: String::new(), ..evidence }],
            model: Some("p/m:high".into()),
            picked: Some(Pick::Model),
        };
        let outputs = HandedOutputs {
            name: "* A".into(),
            step: 4,
            values: [
                ("flag".to_owned(), OutputValue::Flag(true)),
                ("list".to_owned(), OutputValue::List(vec!["a".into(), "b".into()])),
                ("number".to_owned(), OutputValue::Number(3.into())),
                ("text".to_owned(), OutputValue::Text("3".into())),
            ]
            .into(),
            is_hidden: false,
        };
        let model = |id: &str| Model { provider: "p".into(), id: id.into() };
        let of = "w".to_owned();
        let begun =
            Visit { ended_at: None, skipped: false, summary: None, picked: Some(Pick::Thinking), ..visit.clone() };
        for reason in [
            PauseReason::User,
            PauseReason::Aborted,
            PauseReason::Cancel,
            PauseReason::Conversation,
            PauseReason::Running,
            PauseReason::Idle { times: 1 },
            PauseReason::Repeats { times: 20 },
            PauseReason::CutOff { times: 4 },
            PauseReason::Limit { times: 2 },
            PauseReason::Silent { times: 2, ms: 9 },
            PauseReason::Gate { name, times: 3 },
            PauseReason::Loops { of: "r".into(), outcome: "o".into(), scope: None },
            PauseReason::Loops { of: "r".into(), outcome: "o".into(), scope: Some("/w".into()) },
            PauseReason::Outputs { of: "r".into(), times: 5 },
            PauseReason::MissingOutput { of: "r".into(), input: "i".into(), output: "output.a.b".into() },
            PauseReason::Question { question },
            PauseReason::Commands { package: None, value: true },
            PauseReason::Step { of: "w".into(), why: "it was stopped".into() },
            PauseReason::Commands { package: Some("@acme/kit".into()), value: false },
            PauseReason::Budget { of, measure: Measure::Turns, spent: 5, limit: 4 },
            PauseReason::UnknownCost { of: "w".into() },
            PauseReason::RulesChanged,
            PauseReason::Unknown(serde_json::json!({ "kind": "quota", "usd": 3 })),
            PauseReason::Unknown(Value::Null),
            PauseReason::ModelError,
            PauseReason::Quota { until: Some(3), goes_on_at: Some(4), utc_offset: -90 },
            PauseReason::Quota { until: None, goes_on_at: None, utc_offset: 0 },
        ] {
            let progress = Progress {
                version: 1,
                seal: Some(Seal { version: 3, hash: "s".into() }),
                later_seal: None,
                proposed: true,
                others: Map::from_iter([("future".to_owned(), Value::from(1))]),
                run_dir: RunDir::stored("0123456789abcdef0123"),
                long_task: Some(LongTask::stored(10_001)),
                branch: Some(Branch { key: "w:1/w//1@0".into(), name: "B".into(), step: 4 }),
                branches: [
                    None,
                    Some(BranchEnd::Done { outcome: None }),
                    Some(BranchEnd::Done { outcome: Some("o".into()) }),
                    Some(BranchEnd::Failed { why: "it broke".into() }),
                ]
                .into_iter()
                .enumerate()
                .map(|(index, end)| {
                    let waits = end.is_none().then(|| "for the user".to_owned());
                    let (name, given) = (format!("B{index}"), "1 s B".to_owned());
                    let session = end.is_some().then(|| "/s/1.jsonl".to_owned());
                    (
                        format!("w:{index}"),
                        BranchRun {
                            name,
                            given,
                            started_at: 3,
                            ended_at: session.as_ref().map(|_| 8),
                            session,
                            end,
                            waits,
                        },
                    )
                })
                .collect(),
                paused: Some(Pause { reason, at: 9 }),
                quota: QuotaWaits { max_ms: Some(1), in_row: 2, unattended_ms: 3, worked: 4, count: 5, ms: 6 },
                continuations: 1,
                idle: 2,
                gate_attempts: 3,
                loops: [("l".to_owned(), 4), ("m".to_owned(), 5)].into(),
                ways: [("w:0 no".to_owned(), 2)].into(),
                broken: None,
                claim_obstacle: None,
                visits: [("v".to_owned(), visit.clone()), ("w".to_owned(), begun.clone())].into(),
                tools_added: vec!["grep".into()],
                fresh_start: true,
                users_model: Some(UsersModel {
                    user: ModelSetting { model: model("m"), thinking: Some(Thinking::Max) },
                    run: model("n"),
                    before: model("o"),
                }),
                forgotten: usage.clone(),
                inputs: [("i".to_owned(), "v".to_owned())].into(),
                outcomes: [("a:0".to_owned(), "small".to_owned())].into(),
                outputs: [("a:0".to_owned(), outputs.clone())].into(),
                passed_over: [
                    PassedOverReason::Condition {
                        of: "outcome.t".into(),
                        value: Some("v".into()),
                        wanted: vec!["w".into()],
                    },
                    PassedOverReason::Outcome { of: "t".into(), outcome: "o".into() },
                ]
                .into_iter()
                .enumerate()
                .map(|(index, because)| (format!("a:{index}"), PassedOver { name: "N".into(), step: 2, because }))
                .collect(),
                allowances: [(
                    "a:0".to_owned(),
                    Allowance { added: Budget([(Measure::Turns, 5)].into()), unknown_cost: true, told: true },
                )]
                .into(),
            };
            let state = RunState { progress, ..RunState::new("a", "", 0, 0) };
            assert_eq!(restored([serde_json::to_string(&state).unwrap()]), Some(state));
        }
    }

    /// The progress that is read from [`STATE`] with this stored progress.
    fn progress_of(stored: &str) -> Progress {
        let state = STATE.replacen('{', &format!(r#"{{"progress":{stored},"#), 1);
        restored([state]).unwrap().progress
    }

    #[test]
    fn a_run_is_held_where_entries_after_it_are_missing() {
        let state = RunState::new("w", "the task", 1, 2).begun(1);
        let stored = serde_json::to_string(&state).unwrap();
        let ended = serde_json::to_string(&state.clone().cancelled()).unwrap();
        let why = |entries: &[&str]| {
            let restored = restore(entries).expect("a run");
            restored.progress.broken.map(|broken| (broken.why, broken.is_usable))
        };
        let none = r#"{"workflowKey":null}"#;
        assert_eq!(why(&["", &stored]), Some((BrokenReason::Gap, true)));
        assert_eq!(why(&[none, "", "", none, &stored]), Some((BrokenReason::Gap, true)));
        assert_eq!(why(&[&stored, "", &stored]), None, "the newest one is there");
        assert_eq!(why(&["", "["]), Some((BrokenReason::NotJson, false)));
        // An ended run shows that nothing runs, unless entries after it are missing: a run may have begun in them.
        let unknown = Some((BrokenReason::Gap, false));
        let odd_end = r#"{"workflowKey":"w","active":false}"#;
        for entries in [&[""][..], &["", none], &[none, ""], &["", &ended], &["", odd_end]] {
            assert_eq!(why(entries), unknown, "{entries:?}");
            assert!(restore(entries).unwrap().is_running());
        }
        for older in ["", "[", &stored] {
            assert!(!restore([&*ended, older, &stored]).unwrap().is_running());
            assert_eq!(restore([odd_end, older]), None);
        }
    }

    #[test]
    fn of_progress_that_does_not_fit_the_rest_is_used() {
        for (stored, version) in [
            ("null", 0),
            ("{}", 0),
            (r#"{"version":1,"seal":{"version":0,"hash":"x"}}"#, 1),
            ("7", 1),
            ("[]", 1),
            (r#"{"loops":7}"#, 1),
            (r#"{"loops":{"a":-1}}"#, 1),
            (r#"{"continuations":4294967296}"#, 1),
            (r#"{"visits":{"a:0":{"startedAt":1}}}"#, 1),
            (r#"{"version":1}"#, 1),
            (r#"{"version":1,"seal":7}"#, 1),
            (r#"{"version":1,"seal":{"version":3,"hash":7}}"#, 1),
            (r#"{"version":1,"loops":7,"seal":{"version":0,"hash":"x"}}"#, 1),
            (r#"{"version":2}"#, 2),
            (r#"{"version":"2"}"#, u32::MAX),
            (r#"{"version":null}"#, u32::MAX),
        ] {
            assert_eq!(progress_of(stored), Progress { version, ..Progress::default() }, "{stored}");
        }
        let progress = progress_of(
            r#"{"idle":2,"loops":{"a":-1,"b":2},"new":[1],"seal":{"version":3,"hash":"h"},"visits":{"a:0":7,"a:1":
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
            let pause = progress_of(&format!(r#"{{"paused":{paused}}}"#)).paused;
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
        let changed = r#"{"reason":{"kind":"rulesChanged"},"at":1}"#;
        for paused in [changed, r#"{"reason":{"kind":"budget"},"at":1}"#] {
            let progress = progress_of(&format!(r#"{{"paused":{paused}}}"#));
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
        let expected = r#"{"version":2,"others":{"a":1},"budget":[1,{}],"seal":{"version":9,"tree":[]}}"#;
        assert_eq!(again, serde_json::from_str::<Value>(expected).unwrap());
    }

    #[test]
    fn what_is_beyond_the_bounds_is_held() {
        let with = |field: &str, value: &Value| {
            let mut state: Value = serde_json::from_str(STATE).unwrap();
            state[field] = value.clone();
            broken([state.to_string(), STATE.to_owned()])
        };
        let many = |count: usize, value: Value| -> Value {
            (0..count).map(|key| (key.to_string(), value.clone())).collect::<Map<_, _>>().into()
        };
        let path = |length| vec![serde_json::json!({ "workflowKey": "a", "phaseIndex": 0 }); length];
        assert_eq!(with("currentPath", &path(MAX_PATH).into()), None);
        let list = "currentPath";
        let error = BrokenReason::TooMany { list, most: MAX_PATH };
        assert_eq!(with("currentPath", &path(10_000).into()), Some((error, false)));
        let visit = serde_json::json!({ "startedAt": 1, "passes": 1 });
        for (list, most, value) in [("visits", MAX_VISITS, visit), ("loops", MAX_COUNTS, 1.into())] {
            let progress = |count| serde_json::json!({ list: many(count, value.clone()) });
            assert_eq!(with("progress", &progress(most)), None);
            assert_eq!(with("progress", &progress(most + 1)), Some((BrokenReason::TooMany { list, most }, true)));
        }
        let evidence = vec![Value::Null; MAX_EVIDENCE + 1];
        let error = BrokenReason::TooMany { list: "evidence", most: MAX_EVIDENCE };
        let progress = serde_json::json!({ "visits": { "a:0": { "evidence": evidence } } });
        assert_eq!(with("progress", &progress), Some((error, true)));
        let text = |length: usize| Value::from("x".repeat(length));
        assert_eq!(with("taskDescription", &text(MAX_TEXT)), None);
        assert_eq!(with("taskDescription", &text(MAX_TEXT + 1)), Some((BrokenReason::LongText, true)));
        assert_eq!(with("other", &text(MAX_ENTRY)), Some((BrokenReason::TooLong, false)));
        let mut deep = Value::Null;
        for _ in 0..200 {
            deep = vec![deep].into();
        }
        assert_eq!(with("progress", &deep), Some((BrokenReason::NotJson, false)));
        let empty = |count| broken(vec!["{}"; count].into_iter().chain([STATE]));
        assert_eq!(empty(MAX_WITHOUT_WORKFLOW - 1), None);
        assert_eq!(empty(100_000), Some((BrokenReason::TooManyEntries, false)));
    }
}
