//! Reads the state of a run from its JSON.

use crate::sorted;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::definition::{Budget, LONGEST_WAIT_MS, MAX_NESTING, Measure, Model, ModelSetting, Thinking, seal};
use crate::usage::{MAX_NAMES, Usage};

use super::branch::{Branch, BranchEnd, BranchRun};
use super::evidence::Evidence;
use super::outputs::{HandedOutputs, OutputValue};
use super::path::{PhasePath, Segment};
use super::pause::{Pause, PauseReason};
use super::progress::{Allowance, MAX_VISITS, PROGRESS_VERSION, Progress, Seal, UsersModel};
use super::quota::QuotaWaits;
use super::state::{RunState, RunStatus};
use super::visit::{PassedOver, PassedOverReason, Pick, Summary, Visit};
use super::{long_task::LongTask, mark::MARK, records::Records, run_dir::RunDir};

/// Maximum number of scopes of a path.
pub(super) const MAX_PATH: usize = MAX_NESTING + 1;
/// Maximum number of counted scopes, and of counted gates.
pub(super) const MAX_COUNTS: usize = 1000;
/// Maximum number of tools that the run added.
pub(super) const MAX_TOOLS: usize = 10_000;
/// Maximum size of unknown fields that are kept, in bytes of JSON.
pub(super) const MAX_OTHERS: usize = 64 << 10;

/// The latest time that a host can show, in milliseconds since 1970.
pub(super) const LATEST_MS: u64 = 8_640_000_000_000_000;

/// The fields of [`Progress`] with records by key: each with its name, the maximum number of its records, and the
/// function that reads a record. All other fields stand in every entry in full.
macro_rules! records {
    ($($field:ident: $name:literal, $most:expr, $read:expr;)*) => {
        pub(super) const RECORDS: &[(&str, usize)] = &[$(($name, $most)),*];

        /// Reads a field; returns false if the field has no records.
        fn read_records(progress: &mut Progress, name: &str, value: &Value) -> bool {
            match name {
                $($name => progress.$field = records(value, $read),)*
                _ => return false,
            }
            true
        }

        pub(super) fn records_of(progress: &Progress) -> usize {
            0 $(+ progress.$field.len())*
        }

        /// Adds the records of an older state that a part of a newer one does not have.
        pub(super) fn add_records(part: &mut Progress, older: &Progress) {
            $(part.$field.add_older(&older.$field);)*
        }

        /// Takes out all records, and returns the records that the other state lacks or has with another value.
        pub(super) fn take_changes(progress: &mut Progress, old: &Progress) -> Map<String, Value> {
            let mut changed = Map::new();
            $(add_changes(&mut changed, $name, &std::mem::take(&mut progress.$field), &old.$field);)*
            changed
        }
    };
}

records! {
    visits: "visits", MAX_VISITS, visit;
    outcomes: "outcomes", MAX_VISITS, string;
    outputs: "outputs", MAX_VISITS, outputs;
    passed_over: "passedOver", MAX_VISITS, passed_over;
    allowances: "allowances", MAX_VISITS, allowance;
    branches: "branches", MAX_VISITS, branch_run;
    loops: "loops", MAX_COUNTS, number;
    ways: "ways", MAX_COUNTS, number;
    inputs: "inputs", MAX_COUNTS, string;
}

fn add_changes<V: Serialize + PartialEq>(
    changed: &mut Map<String, Value>,
    name: &str,
    new: &Records<V>,
    old: &Records<V>,
) {
    let changes = new.changes_since(old).into_iter();
    let changes: Map<String, Value> =
        changes.map(|(key, value)| (key.to_owned(), serde_json::to_value(value).unwrap_or_default())).collect();
    if !changes.is_empty() {
        changed.insert(name.to_owned(), changes.into());
    }
}

pub(super) fn state_of(data: &Value) -> Option<RunState> {
    let workflow_key = get(data, "workflowKey")?.as_str()?.to_owned();
    let current_path = match get(data, "currentPath") {
        // The form without nested workflows.
        None | Some(Value::Null) => vec![Segment {
            workflow_key: workflow_key.clone(),
            phase_index: index(get(data, "currentPhaseIndex")?)?,
            item: None,
        }],
        Some(path) => path.as_array()?.iter().map(segment).collect::<Option<Vec<_>>>()?,
    };
    let current_path = PhasePath::of(current_path)?;
    let first_index = current_path.first()?.phase_index;
    Some(RunState {
        status: status(data)?,
        workflow_key,
        global_step_count: match get(data, "globalStepCount") {
            // The form before transitions were counted.
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
        bound: Budget::default(),
        progress: match get(data, "progress") {
            None | Some(Value::Null) => Progress::default(),
            Some(stored) => progress(stored),
        },
    })
}

/// The status of a run, which is stored as booleans. An active run is running, whatever the other fields say.
fn status(data: &Value) -> Option<RunStatus> {
    let active = get(data, "active")?.as_bool()?;
    let (announced, cancelled) = (flag(data, "completionNotified")?, flag(data, "cancelled")?);
    let stopped = get(data, "stopped") == Some(&Value::Bool(true));
    Some(match (active, cancelled) {
        (true, _) => RunStatus::Running,
        (false, _) if stopped => RunStatus::Stopped { announced },
        (false, false) => RunStatus::Done { announced },
        (false, true) => RunStatus::Cancelled { announced },
    })
}

fn segment(value: &Value) -> Option<Segment> {
    Some(Segment {
        workflow_key: get(value, "workflowKey")?.as_str()?.to_owned(),
        phase_index: index(get(value, "phaseIndex")?)?,
        item: match get(value, "item") {
            Some(item) => Some(index(item)?),
            None => None,
        },
    })
}

/// A whole number from 0 that JavaScript can hold exactly.
fn index(value: &Value) -> Option<usize> {
    let number = value.as_f64()?;
    (number >= 0.0 && number.fract() == 0.0 && number <= 9_007_199_254_740_991.0)
        .then(|| usize::try_from(number as u64).unwrap_or(usize::MAX))
}

/// Any number, rounded down to a whole number from 0.
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
/// serde derives for this takes a twentieth of the component.
fn progress(data: &Value) -> Progress {
    let mut progress = Progress::default();
    let Some(fields) = data.as_object() else {
        return Progress { version: PROGRESS_VERSION, ..progress };
    };
    let mut room = MAX_OTHERS;
    for (name, value) in fields {
        match &**name {
            // Read below.
            "version" | "seal" => {}
            "paused" if !value.is_null() => progress.paused = Some(pause(value)),
            "paused" => {}
            "quota" => progress.quota = quota_waits(value),
            "continuations" => progress.continuations = number(value).unwrap_or_default(),
            "gateAttempts" => progress.gate_attempts = number(value).unwrap_or_default(),
            "idle" => progress.idle = number(value).unwrap_or_default(),
            "toolsAdded" => progress.tools_added = strings(value),
            // The user counts as not told of a name that cannot be read.
            "proposed" => progress.proposed = *value == Value::Bool(true),
            "forgotten" => progress.forgotten = usage(value),
            // An invalid name counts as absent; the run gets a new folder.
            "runDir" => progress.run_dir = value.as_str().and_then(RunDir::stored),
            // A value of another type gives a task without its text: the commands that get the task fail.
            "longTask" => progress.long_task = Some(LongTask::stored(number(value).unwrap_or_default())),
            "branch" => progress.branch = branch(value),
            // A field of the entry, not of the run.
            MARK => {}
            "freshStart" => progress.fresh_start = *value == Value::Bool(true),
            "usersModel" => progress.users_model = users_model(value),
            _ if read_records(&mut progress, name, value) => {}
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
        let stored = fields.iter().filter(|(name, _)| *name != MARK);
        !held
            && progress.others.is_empty()
            && read.as_object().is_some_and(|read| stored.clone().count() == read.len())
            && stored.clone().all(|(name, value)| read.get(name) == Some(value))
    };
    let version = match fields.get("version") {
        None => 0,
        // A version that is not a number is an unknown version.
        Some(version) => number(version).unwrap_or(u32::MAX),
    };
    let stored_seal = fields.get("seal").unwrap_or(&Value::Null);
    // A run gets a seal only if it has none, and if all of the progress is known.
    if version == 0 && stored_seal.is_null() && is_complete(&progress) {
        return progress;
    }
    progress.version = version.max(PROGRESS_VERSION);
    match get(stored_seal, "version").and_then(number) {
        Some(version @ seal::VERSION) => {
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
        reason: known_reason(reason).unwrap_or_else(|| PauseReason::Unknown(within(reason, MAX_REASON))),
        at: get(data, "at").and_then(Value::as_u64).unwrap_or_default(),
    }
}

/// Maximum length of an unknown reason, in bytes of JSON.
pub(super) const MAX_REASON: usize = 4 << 10;

/// A value of another version, or null if it is longer than `most` bytes of JSON.
fn within(value: &Value, most: usize) -> Value {
    if value.to_string().len() > most { Value::Null } else { value.clone() }
}

fn known_reason(reason: &Value) -> Option<PauseReason> {
    let text = |field| get(reason, field).and_then(string);
    let amount = |field| get(reason, field).and_then(Value::as_u64);
    let times = || number(get(reason, "times")?);
    let of = || text("of");
    Some(match get(reason, "kind")?.as_str()? {
        "person" => PauseReason::User,
        "aborted" => PauseReason::Aborted,
        "cancel" => PauseReason::Cancel,
        "conversation" => PauseReason::Conversation,
        "running" => PauseReason::Running,
        "idle" => PauseReason::Idle { times: times()? },
        "repeats" => PauseReason::Repeats { times: times()? },
        "cutOff" => PauseReason::CutOff { times: times()? },
        "limit" => PauseReason::Limit { times: times()? },
        "silent" => PauseReason::Silent { times: times()?, ms: amount("ms")? },
        "gate" => PauseReason::Gate { name: text("name")?, times: times()? },
        "loops" => {
            let scope = get(reason, "scope").map_or(Some(None), |scope| string(scope).map(Some))?;
            PauseReason::Loops { of: of()?, outcome: text("outcome")?, scope }
        }
        "way" => PauseReason::Way { of: of()?, outcome: text("outcome")?, times: times()? },
        "outputs" => PauseReason::Outputs { of: of()?, times: times()? },
        "missingOutput" => PauseReason::MissingOutput { of: of()?, input: text("input")?, output: text("output")? },
        "question" => PauseReason::Question { question: text("question")? },
        "commands" => {
            let value = get(reason, "value").and_then(Value::as_bool).unwrap_or_default();
            PauseReason::Commands { package: text("package"), value }
        }
        "step" => PauseReason::Step { of: of()?, why: text("why")? },
        "budget" => {
            let measure = Measure::from_name(get(reason, "measure")?.as_str()?)?;
            PauseReason::Budget { of: of()?, measure, spent: amount("spent")?, limit: amount("limit")? }
        }
        "unknownCost" => PauseReason::UnknownCost { of: of()? },
        "rulesChanged" => PauseReason::RulesChanged,
        "modelError" => PauseReason::ModelError,
        "quota" => PauseReason::Quota {
            until: amount("until").map(|at| at.min(LATEST_MS)),
            goes_on_at: amount("goesOnAt").map(|at| at.min(LATEST_MS)),
            utc_offset: get(reason, "utcOffset").and_then(Value::as_i64).and_then(|of| of.try_into().ok())?,
        },
        _ => return None,
    })
}

fn quota_waits(data: &Value) -> QuotaWaits {
    let amount = |field| get(data, field).and_then(Value::as_u64);
    let times = |field| get(data, field).and_then(number).unwrap_or_default();
    QuotaWaits {
        max_ms: amount("maxMs").map(|ms| ms.min(LONGEST_WAIT_MS)),
        in_row: times("inRow"),
        unattended_ms: amount("unattendedMs").unwrap_or_default(),
        worked: amount("worked").unwrap_or_default(),
        count: times("count"),
        ms: amount("ms").unwrap_or_default(),
    }
}

fn visit(data: &Value) -> Option<Visit> {
    Some(Visit {
        name: get(data, "name").and_then(string).unwrap_or_default(),
        started_at: get(data, "startedAt")?.as_u64()?,
        step: get(data, "step").and_then(Value::as_u64).unwrap_or_default(),
        ended_at: get(data, "endedAt").and_then(Value::as_u64),
        skipped: get(data, "skipped").and_then(Value::as_bool).unwrap_or_default(),
        unfinished: get(data, "unfinished").and_then(Value::as_bool).unwrap_or_default(),
        number: get(data, "passes").and_then(number)?,
        summary: get(data, "summary").and_then(summary),
        usage: get(data, "usage").map(usage).unwrap_or_default(),
        earlier: get(data, "earlier").map(usage).unwrap_or_default(),
        outputs_refused: get(data, "outputsRefused").and_then(number).unwrap_or_default(),
        evidence: get(data, "evidence").map(evidence).unwrap_or_default(),
        model: get(data, "model").and_then(string),
        picked: match get(data, "picked").and_then(Value::as_str) {
            Some("model") => Some(Pick::Model),
            Some("thinking") => Some(Pick::Thinking),
            Some(_) | None => None,
        },
    })
}

fn branch(data: &Value) -> Option<Branch> {
    let (key, name) = (string(get(data, "key")?)?, string(get(data, "name")?)?);
    Some(Branch { key, name, step: get(data, "step")?.as_u64()? })
}

fn branch_run(data: &Value) -> Option<BranchRun> {
    Some(BranchRun {
        name: string(get(data, "name")?)?,
        given: string(get(data, "given")?)?,
        started_at: get(data, "startedAt")?.as_u64()?,
        ended_at: get(data, "endedAt").and_then(Value::as_u64),
        session: get(data, "session").and_then(string),
        end: match get(data, "end") {
            Some(end) => Some(branch_end(end)?),
            None => None,
        },
        waits: get(data, "waits").and_then(string),
    })
}

fn branch_end(data: &Value) -> Option<BranchEnd> {
    Some(match get(data, "kind")?.as_str()? {
        "done" => BranchEnd::Done { outcome: get(data, "outcome").and_then(string) },
        "failed" => BranchEnd::Failed { why: string(get(data, "why")?)? },
        _ => return None,
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
        log: get(data, "log").and_then(string),
        log_note: get(data, "logNote").and_then(string).unwrap_or_default(),
        step: get(data, "step")?.as_u64()?,
    })
}

fn outputs(data: &Value) -> Option<HandedOutputs> {
    let value = |value: &Value| OutputValue::of_json(value.clone());
    Some(HandedOutputs {
        name: string(get(data, "name")?)?,
        step: get(data, "step")?.as_u64()?,
        values: map(get(data, "values")?, value),
        is_hidden: false,
    })
}

fn allowance(data: &Value) -> Option<Allowance> {
    let is = |field| get(data, field) == Some(&Value::Bool(true));
    let added = get(data, "added").and_then(Value::as_object).into_iter().flatten();
    let added = added.filter_map(|(name, value)| Some((Measure::from_name(name)?, value.as_u64()?)));
    let added = Budget(added.collect());
    Some(Allowance { added, unknown_cost: is("unknownCost"), told: is("told") })
}

fn passed_over(data: &Value) -> Option<PassedOver> {
    let text = |field| get(data, field).and_then(string);
    let of = text("of")?;
    let because = match get(data, "kind")?.as_str()? {
        "condition" => PassedOverReason::Condition { of, value: text("value"), wanted: strings(get(data, "wanted")?) },
        "outcome" => PassedOverReason::Outcome { of, outcome: text("outcome")? },
        "budget" => PassedOverReason::Budget { of },
        "noItems" => PassedOverReason::NoItems { of },
        _ => return None,
    };
    Some(PassedOver { name: text("name").unwrap_or_default(), step: get(data, "step")?.as_u64()?, because })
}

fn usage(data: &Value) -> Usage {
    let count = |field| get(data, field).and_then(number).unwrap_or_default();
    let total = |field| get(data, field).and_then(Value::as_u64).unwrap_or_default();
    let cost = |field| get(data, field).and_then(Value::as_f64).unwrap_or_default().max(0.0);
    let counts = |field| -> sorted::Map<String, u32> {
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
            name: string(get(data, "name")?)?,
            passed: get(data, "passed")?.as_bool()?,
            result: string(get(data, "result")?)?,
            duration_ms: get(data, "durationMs")?.as_u64()?,
            attempt: number(get(data, "attempt")?)?,
            tail: get(data, "tail").and_then(string).unwrap_or_default(),
            missing: get(data, "missing").and_then(Value::as_u64).unwrap_or_default(),
            file: get(data, "file").and_then(string).unwrap_or_default(),
        })
    };
    checks.as_array().into_iter().flatten().filter_map(check).collect()
}

/// The records that can be read.
fn records<T>(data: &Value, read: fn(&Value) -> Option<T>) -> Records<T> {
    let entries = data.as_object().into_iter().flatten();
    entries.filter_map(|(key, value)| Some((&**key, read(value)?))).collect()
}

/// The entries that can be read.
fn map<T>(data: &Value, read: fn(&Value) -> Option<T>) -> sorted::Map<String, T> {
    let entries = data.as_object().into_iter().flatten();
    entries.filter_map(|(key, value)| Some((key.clone(), read(value)?))).collect()
}

/// Like `Value::get`, but compares names instead of hashing one: faster for a few fields.
pub(super) fn get<'a>(data: &'a Value, field: &str) -> Option<&'a Value> {
    data.as_object()?.iter().find(|(name, _)| *name == field).map(|(_, value)| value)
}

pub(super) fn number(value: &Value) -> Option<u32> {
    value.as_u64()?.try_into().ok()
}

fn string(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}
