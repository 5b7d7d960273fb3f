//! Reads a run from the entries of a session.

use crate::sorted;
use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::definition::{Budget, MAX_NESTING, Measure, Model, ModelSetting, Thinking, seal};
use crate::usage::{MAX_NAMES, Usage};

use super::journal::{MARK, MAX_PARTS, MAX_PARTS_LENGTH, Mark};
use super::progress::{MAX_EVIDENCE, MAX_VISITS};
use super::rules::PROGRESS_VERSION;
use super::{
    Allowance, Branch, BranchEnd, BranchRun, Broken, Changed, CheckPlace, CheckedFiles, Evidence, HandedOutputs,
    LongTask, OutputValue, PassedOver, PassedOverReason, Pause, PauseReason, PhasePath, Pick, Progress, Records,
    RunDir, RunState, RunStatus, Seal, Segment, Summary, UsersModel, Visit,
};

/// Maximum length of an entry, in bytes of JSON.
const MAX_ENTRY: usize = 4 << 20;
/// Maximum number of entries without a workflow that are skipped.
const MAX_PASSED_OVER: usize = 10_000;
/// Maximum number of entries that are read below the newest one of a run, with the copies that the reference made of
/// parts.
const MAX_OLDER: u64 = 3 * MAX_PARTS;
/// Maximum length of these entries together, in bytes of JSON.
const MAX_OLDER_LENGTH: u64 = 4 * MAX_PARTS_LENGTH;
/// Maximum number of scopes of a path.
const MAX_PATH: usize = MAX_NESTING + 1;
/// Maximum number of counted scopes, and of counted gates.
const MAX_COUNTS: usize = 1000;
/// Maximum number of tools that the run added, and of those that it hid.
pub(super) const MAX_TOOLS: usize = 10_000;
/// Maximum length of a text, in bytes.
const MAX_TEXT: usize = 1 << 20;
/// Maximum size of unknown fields that are kept, in bytes of JSON.
const MAX_OTHERS: usize = 64 << 10;

/// The fields of [`Progress`] with records by key: each with its name, the maximum number of its records, and what reads
/// one. All other fields stand in every entry in full.
macro_rules! records {
    ($($field:ident: $name:literal, $most:expr, $read:expr;)*) => {
        const RECORDS: &[(&str, usize)] = &[$(($name, $most)),*];

        /// Reads a field; returns false if it is none of these.
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

        /// Takes out all records, and returns those that another state lacks or has otherwise.
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
    gate_attempts: "gateAttempts", MAX_COUNTS, number;
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

/// The workflow of a run of which nothing can be read: no folder has this name, and the reference reads a key from it.
const UNKNOWN_WORKFLOW: &str = "?";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    TooLong,
    /// An entry is no JSON, or nested too deep.
    NotJson,
    /// An entry of an active run lacks what a run needs.
    Malformed,
    TooMany {
        list: &'static str,
        /// Its maximum number of items.
        most: usize,
    },
    LongText,
    /// Too many entries name no workflow.
    TooManyEntries,
    /// An entry that the newest one continues is missing.
    MissingPart,
    /// The run has more entries than are read.
    TooManyParts,
    /// Entries that followed the newest one are missing; there may have been newer ones of the run.
    Gap,
    /// The host did not hand the entries over.
    NotHandedOver,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "an entry is longer than {MAX_ENTRY} bytes"),
            Self::NotJson => f.write_str("an entry is not JSON, or nested too deep"),
            Self::Malformed => f.write_str("an entry is malformed"),
            Self::TooMany { list, most } => write!(f, "its `{list}` has more than {most} items"),
            Self::LongText => write!(f, "a text in it is longer than {MAX_TEXT} bytes"),
            Self::TooManyEntries => {
                write!(f, "the newest {MAX_PASSED_OVER} entries name no workflow")
            }
            Self::MissingPart => f.write_str("an earlier entry that it continues is missing"),
            Self::TooManyParts => f.write_str("it continues more entries than are read"),
            Self::Gap => f.write_str("entries of the session after its newest one are missing"),
            Self::NotHandedOver => f.write_str("the session does not give its entries"),
        }
    }
}

/// A run as a session stores it.
#[derive(Debug, Clone, PartialEq)]
pub struct Restored {
    pub state: RunState,
    /// The place of its newest entry.
    pub mark: Mark,
}

/// Returns the state of [`take_up`].
pub fn restore<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> Option<RunState> {
    take_up(entries).map(|restored| restored.state)
}

/// Returns the newest run among the data of a session's state entries, given newest first.
///
/// Entries without a workflow are skipped; the first one with a workflow decides. If it is a part, the entries that it
/// continues are read too. An empty string stands for entries that are missing.
///
/// A run that may be active and cannot be read in full has [`Progress::broken`] set, and what can be read of it: it is
/// held. So is an unknown run where entries are missing after one that has ended, or where no entry with a workflow is
/// left.
///
/// Specification: state management, "Reconstruction (Crash Recovery)".
pub fn take_up<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> Option<Restored> {
    let mut entries = entries.into_iter();
    let mut passed_over = 0;
    let mut gap = None;
    while let Some(entry) = entries.next() {
        if entry.as_ref().is_empty() {
            gap = Some(Unusable::Gap);
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
            // Both: what is beyond the bounds is taken out.
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
                // The reference takes it for ended too.
                (None, _) if is_over => None,
                (None, why) => Some(Restored::unreadable(why.unwrap_or(Unusable::Malformed))),
            };
        }
        passed_over += 1;
        if passed_over >= MAX_PASSED_OVER {
            return Some(Restored::unreadable(Unusable::TooManyEntries));
        }
    }
    gap.map(Restored::unreadable)
}

impl Restored {
    pub fn unreadable(why: Unusable) -> Self {
        let mut state = RunState::new(UNKNOWN_WORKFLOW, "", 0, 0);
        state.progress.broken = Some(Broken { why, is_usable: false });
        Self { state, mark: Mark::default() }
    }
}

fn parse(entry: &str) -> Result<Value, Unusable> {
    if entry.len() > MAX_ENTRY {
        return Err(Unusable::TooLong);
    }
    serde_json::from_str(entry).map_err(|_| Unusable::NotJson)
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

/// Merges the entries that the newest one continues into it, if it is a part. Entries of other runs between them are
/// skipped, and so are those with the number of the one above: the reference copies what it does not know.
///
/// # Errors
///
/// If one cannot be read. What was found is merged.
fn merge<S: AsRef<str>>(newest: &mut Value, older: impl Iterator<Item = S>) -> Result<(), Unusable> {
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
) -> Result<(), Unusable> {
    let mut wanted = mark(progress).number - 1;
    let (mut count, mut length) = (0, 0);
    has_records(progress)?;
    for entry in older {
        let entry = entry.as_ref();
        (count, length) = (count + 1, length + entry.len() as u64);
        if count > MAX_OLDER || length > MAX_OLDER_LENGTH {
            return Err(Unusable::TooManyParts);
        }
        // Only a part that is missing matters, and its number tells.
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
            return Err(Unusable::MissingPart);
        }
        let is_last = !is_part(&found);
        if !is_last {
            has_records(&found)?;
        }
        let version = get(&found, "version").map_or(Some(0), number);
        if is_last && version.is_none_or(|version| version > PROGRESS_VERSION) {
            return Err(Unusable::MissingPart);
        }
        add_older(progress, found);
        if is_last {
            return Ok(());
        }
        wanted = wanted.saturating_sub(1);
    }
    Err(Unusable::MissingPart)
}

/// Checks that the records of a part can be read: it would hide those of older entries.
fn has_records(part: &Value) -> Result<(), Unusable> {
    let fields = RECORDS.iter().filter_map(|(name, _)| get(part, name));
    if fields.into_iter().all(Value::is_object) { Ok(()) } else { Err(Unusable::Malformed) }
}

/// Adds the records of an older entry that the newer ones do not have.
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

/// Takes out the lists and texts of a state that are beyond their bounds; in one that `is_short` no text is.
///
/// # Errors
///
/// If there are any.
fn bound(data: &mut Value, is_short: bool) -> Result<(), Unusable> {
    let mut result = Ok(());
    let mut bounded = |data: &mut Value, list: &'static str, most| {
        let length = match get(data, list) {
            Some(Value::Array(items)) => items.len(),
            Some(Value::Object(fields)) => fields.len(),
            _ => 0,
        };
        if length > most {
            result = Err(Unusable::TooMany { list, most });
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
    if !is_short && take_out_long(data) { Err(Unusable::LongText) } else { result }
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

fn state_of(data: &Value) -> Option<RunState> {
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
        bound: Budget::default(),
        progress: match get(data, "progress") {
            None | Some(Value::Null) => Progress::default(),
            Some(stored) => progress(stored),
        },
    })
}

/// The status of a run, which is stored as booleans. An active run is running, whatever the others say.
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
    let mut room = MAX_OTHERS;
    for (name, value) in fields {
        match &**name {
            // Below.
            "version" | "seal" => {}
            "paused" if !value.is_null() => progress.paused = Some(pause(value)),
            "paused" => {}
            "continuations" => progress.continuations = number(value).unwrap_or_default(),
            "idle" => progress.idle = number(value).unwrap_or_default(),
            // Of another kind it holds as well.
            "rechecksLost" => progress.rechecks_lost |= *value != Value::Bool(false),
            "toolsAdded" => progress.tools_added = strings(value),
            // What cannot be read is not told.
            "unpriced" => progress.unpriced = strings(value).into_iter().take(MAX_NAMES).collect(),
            "uncounted" => progress.uncounted = *value == Value::Bool(true),
            "forgotten" => progress.forgotten = usage(value),
            // Another name is none: the run gets a folder of its own.
            "runDir" => progress.run_dir = value.as_str().and_then(RunDir::stored),
            // Of another kind it has no text: its commands fail.
            "longTask" => progress.long_task = Some(LongTask::stored(number(value).unwrap_or_default())),
            "branch" => progress.branch = branch(value),
            // Of the entry, not of the run.
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
    let visits = fields.get("visits").unwrap_or(&Value::Null);
    progress.rechecks_lost |= has_unread_recheck(visits, &progress.visits);
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
        // A version that is not a number is an unknown one.
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
const MAX_REASON: usize = 4 << 10;

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
        "gate" => PauseReason::Gate { label: text("label")?, times: times()? },
        "loops" => {
            let scope = get(reason, "scope").map_or(Some(None), |scope| string(scope).map(Some))?;
            PauseReason::Loops { of: of()?, outcome: text("outcome")?, times: times()?, scope }
        }
        "way" => PauseReason::Way { of: of()?, outcome: text("outcome")?, times: times()? },
        "outputs" => PauseReason::Outputs { of: of()?, times: times()? },
        "missingOutput" => PauseReason::MissingOutput { of: of()?, input: text("input")?, output: text("output")? },
        "approval" => PauseReason::Approval { question: text("question")? },
        "commands" => PauseReason::Commands { package: text("package") },
        "step" => PauseReason::Step { of: of()?, why: text("why")? },
        "budget" => {
            let measure = Measure::from_name(get(reason, "measure")?.as_str()?)?;
            PauseReason::Budget { of: of()?, measure, spent: amount("spent")?, limit: amount("limit")? }
        }
        "unknownCost" => PauseReason::UnknownCost { of: of()? },
        "unknownUsage" => PauseReason::UnknownUsage { of: of()? },
        "rulesChanged" => PauseReason::RulesChanged,
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
        step: get(data, "step")?.as_u64()?,
    })
}

fn outputs(data: &Value) -> Option<HandedOutputs> {
    let value = |value: &Value| {
        Some(match value {
            Value::Bool(flag) => OutputValue::Flag(*flag),
            Value::Number(number) => OutputValue::Number(number.clone()),
            Value::Array(_) => OutputValue::List(strings(value)),
            Value::String(text) => OutputValue::Text(text.clone()),
            Value::Null | Value::Object(_) => return None,
        })
    };
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
    let (unknown_cost, unknown_tokens) = (is("unknownCost"), is("unknownTokens"));
    Some(Allowance { added, unknown_cost, unknown_tokens, told: is("told") })
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
            label: string(get(data, "label")?)?,
            passed: get(data, "passed")?.as_bool()?,
            result: string(get(data, "result")?)?,
            duration_ms: get(data, "durationMs")?.as_u64()?,
            attempt: number(get(data, "attempt")?)?,
            tail: get(data, "tail").and_then(string).unwrap_or_default(),
            file: get(data, "file").and_then(string).unwrap_or_default(),
            files: checked_files(data),
            recheck: get(data, "recheck").and_then(check_place),
            changed: get(data, "changed").and_then(changed),
        })
    };
    checks.as_array().into_iter().flatten().filter_map(check).collect()
}

/// Fields that cannot be read are an unknown state, which never says that nothing has changed.
fn checked_files(data: &Value) -> CheckedFiles {
    let files = match get(data, "changedMeanwhile") {
        Some(meanwhile) => changed(meanwhile).map(CheckedFiles::ChangedMeanwhile),
        None => get(data, "tree").and_then(string).filter(|tree| !tree.is_empty()).map(CheckedFiles::Tree),
    };
    files.unwrap_or_default()
}

/// Returns true if a check of these stored visits has `recheck` and could not be read: it cannot be made again.
fn has_unread_recheck(stored: &Value, read: &Records<Visit>) -> bool {
    let visits = stored.as_object().into_iter().flat_map(Map::values);
    let lists = visits.filter_map(|visit| get(visit, "evidence")?.as_array());
    let places = lists.flatten().filter_map(|check| get(check, "recheck"));
    let checks = read.values().flat_map(|visit| &visit.evidence);
    places.filter(|place| !place.is_null()).count() > checks.filter(|check| check.recheck.is_some()).count()
}

fn check_place(data: &Value) -> Option<CheckPlace> {
    Some(CheckPlace { gate: string(get(data, "gate")?)?, index: number(get(data, "index")?)? })
}

fn changed(data: &Value) -> Option<Changed> {
    let paths = get(data, "paths").map(strings).unwrap_or_default();
    let paths = paths.into_iter().take(Changed::MAX_PATHS).collect();
    Some(Changed { count: get(data, "count")?.as_u64()?, paths })
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

    /// The run, if all of it can be read.
    fn restored<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> Option<RunState> {
        restore(entries).filter(|state| state.progress.broken.is_none())
    }

    /// The error, and if the run can go on.
    fn broken<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> Option<(Unusable, bool)> {
        let Broken { why, is_usable } = restore(entries)?.progress.broken?;
        Some((why, is_usable))
    }

    const STATE: &str = r#"{"active":true,"workflowKey":"a","currentPath":[{"workflowKey":"a","phaseIndex":1}],"globalStepCount":4,"taskId":"t","taskDescription":"d","startedAt":5,"completionNotified":false,"cancelled":false,"_cancelPending":true}"#;

    #[test]
    fn the_newest_entry_with_a_workflow_decides() {
        let state = restored(["null", "7", "{}", r#"{"workflowKey":null}"#, STATE, "{"]).unwrap();
        assert_eq!(path(&state), [("a", 1)]);
        assert_eq!(state.global_step_count, 4);
        assert_eq!(broken([r#"{"workflowKey":"a"}"#, STATE]), Some((Unusable::Malformed, false)));
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
            assert_eq!(broken([&malformed]), Some((Unusable::Malformed, false)), "{to}");
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
        let (label, question) = ("l".to_owned(), "q".to_owned());
        let summary = Summary { id: "i".into(), name: "n".into(), text: "t".into(), step: 6 };
        let evidence = Evidence {
            label: label.clone(),
            passed: true,
            result: "r".into(),
            duration_ms: 7,
            attempt: 8,
            tail: "e".into(),
            file: "f".into(),
            files: CheckedFiles::Tree("t".into()),
            recheck: Some(CheckPlace { gate: "/g".into(), index: 2 }),
            changed: Some(Changed { count: 9, paths: vec!["p".into()] }),
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
            evidence: vec![
                evidence.clone(),
                Evidence { tail: String::new(), files: CheckedFiles::Unknown, ..evidence.clone() },
                Evidence {
                    files: CheckedFiles::ChangedMeanwhile(Changed { count: 1, paths: vec!["q".into()] }),
                    ..evidence
                },
            ],
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
            PauseReason::Gate { label, times: 3 },
            PauseReason::Loops { of: "r".into(), outcome: "o".into(), times: 2, scope: None },
            PauseReason::Loops { of: "r".into(), outcome: "o".into(), times: 2, scope: Some("/w".into()) },
            PauseReason::Outputs { of: "r".into(), times: 5 },
            PauseReason::MissingOutput { of: "r".into(), input: "i".into(), output: "output.a.b".into() },
            PauseReason::Approval { question },
            PauseReason::Commands { package: None },
            PauseReason::Step { of: "w".into(), why: "it was stopped".into() },
            PauseReason::Commands { package: Some("@acme/kit".into()) },
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
                continuations: 1,
                idle: 2,
                gate_attempts: [("g".to_owned(), 3)].into(),
                loops: [("l".to_owned(), 4), ("m".to_owned(), 5)].into(),
                ways: [("w:0 no".to_owned(), 2)].into(),
                broken: None,
                visits: [("v".to_owned(), visit.clone()), ("w".to_owned(), begun.clone())].into(),
                tools_added: vec!["grep".into()],
                unpriced: vec!["local/llama".into()],
                uncounted: true,
                fresh_start: true,
                users_model: Some(UsersModel {
                    user: ModelSetting { model: model("m"), thinking: Some(Thinking::Max) },
                    run: model("n"),
                    before: model("o"),
                }),
                forgotten: usage.clone(),
                rechecks_lost: true,
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
    fn a_run_is_held_where_entries_after_it_are_missing() {
        let state = RunState::new("w", "the task", 1, 2).begun(1);
        let stored = serde_json::to_string(&state).unwrap();
        let ended = serde_json::to_string(&state.clone().cancelled()).unwrap();
        let why = |entries: &[&str]| {
            let restored = restore(entries).expect("a run");
            restored.progress.broken.map(|broken| (broken.why, broken.is_usable))
        };
        let none = r#"{"workflowKey":null}"#;
        assert_eq!(why(&["", &stored]), Some((Unusable::Gap, true)));
        assert_eq!(why(&[none, "", "", none, &stored]), Some((Unusable::Gap, true)));
        assert_eq!(why(&[&stored, "", &stored]), None, "the newest one is there");
        assert_eq!(why(&["", "["]), Some((Unusable::NotJson, false)));
        // An end tells that nothing runs, unless entries after it are missing: a run may have begun in them.
        let unknown = Some((Unusable::Gap, false));
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
            (r#"{"version":1,"seal":{"version":1,"hash":7}}"#, 1),
            (r#"{"version":1,"loops":7,"seal":{"version":0,"hash":"x"}}"#, 1),
            (r#"{"version":2}"#, 2),
            (r#"{"version":"2"}"#, u32::MAX),
            (r#"{"version":null}"#, u32::MAX),
        ] {
            assert_eq!(progress_of(stored), Progress { version, ..Progress::default() }, "{stored}");
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
    fn files_of_a_check_that_cannot_be_read_are_unknown() {
        let files = |fields: &str| {
            let check = format!(r#"{{"label":"l","passed":true,"result":"r","durationMs":1,"attempt":1,{fields}}}"#);
            let visits = format!(r#"{{"visits":{{"a:0":{{"startedAt":1,"passes":1,"evidence":[{check}]}}}}}}"#);
            progress_of(&visits).visits["a:0"].evidence[0].files.clone()
        };
        let meanwhile = CheckedFiles::ChangedMeanwhile(Changed { count: 2, paths: vec!["p".into()] });
        assert_eq!(files(r#""tree":"t""#), CheckedFiles::Tree("t".into()));
        assert_eq!(files(r#""changedMeanwhile":{"count":2,"paths":["p"]}"#), meanwhile);
        assert_eq!(files(r#""tree":"t","changedMeanwhile":{"count":2,"paths":["p"]}"#), meanwhile);
        for unknown in [
            r#""x":1"#,
            r#""tree":"""#,
            r#""tree":7"#,
            r#""tree":"t","changedMeanwhile":true"#,
            r#""changedMeanwhile":{}"#,
        ] {
            assert_eq!(files(unknown), CheckedFiles::Unknown, "{unknown}");
        }
    }

    #[test]
    fn a_check_that_is_made_again_and_cannot_be_read_holds_the_end() {
        let check = r#""label":"l","passed":true,"result":"r","durationMs":1,"attempt":1"#;
        let lost = |check: &str| {
            let visits =
                format!(r#"{{"visits":{{"a:0":{{"startedAt":1,"passes":1,"evidence":[{check}]}},"a:1":null}}}}"#);
            progress_of(&visits).rechecks_lost
        };
        assert!(!lost(&format!("{{{check}}}")));
        assert!(!lost(&format!(r#"{{{check},"recheck":{{"gate":"g","index":1}}}}"#)));
        assert!(!lost(&format!(r#"{{{check},"recheck":null}}"#)));
        assert!(lost(&format!(r#"{{{check},"recheck":{{"gate":"g"}}}}"#)));
        assert!(lost(r#"{"label":7,"recheck":{"gate":"g","index":1}}"#));
        let without_start = r#"{"visits":{"a:0":{"evidence":[{"recheck":{"gate":"g","index":1}}]}}}"#;
        assert!(progress_of(without_start).rechecks_lost);
        assert!(progress_of(r#"{"rechecksLost":7}"#).rechecks_lost);
        assert!(!progress_of(r#"{"rechecksLost":false}"#).rechecks_lost);
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
        let error = Unusable::TooMany { list, most: MAX_PATH };
        assert_eq!(with("currentPath", &path(10_000).into()), Some((error, false)));
        let visit = serde_json::json!({ "startedAt": 1, "passes": 1 });
        for (list, most, value) in
            [("visits", MAX_VISITS, visit), ("loops", MAX_COUNTS, 1.into()), ("gateAttempts", MAX_COUNTS, 1.into())]
        {
            let progress = |count| serde_json::json!({ list: many(count, value.clone()) });
            assert_eq!(with("progress", &progress(most)), None);
            assert_eq!(with("progress", &progress(most + 1)), Some((Unusable::TooMany { list, most }, true)));
        }
        let evidence = vec![Value::Null; MAX_EVIDENCE + 1];
        let error = Unusable::TooMany { list: "evidence", most: MAX_EVIDENCE };
        let progress = serde_json::json!({ "visits": { "a:0": { "evidence": evidence } } });
        assert_eq!(with("progress", &progress), Some((error, true)));
        let text = |length: usize| Value::from("x".repeat(length));
        assert_eq!(with("taskDescription", &text(MAX_TEXT)), None);
        assert_eq!(with("taskDescription", &text(MAX_TEXT + 1)), Some((Unusable::LongText, true)));
        assert_eq!(with("other", &text(MAX_ENTRY)), Some((Unusable::TooLong, false)));
        let mut deep = Value::Null;
        for _ in 0..200 {
            deep = vec![deep].into();
        }
        assert_eq!(with("progress", &deep), Some((Unusable::NotJson, false)));
        let empty = |count| broken(vec!["{}"; count].into_iter().chain([STATE]));
        assert_eq!(empty(MAX_PASSED_OVER - 1), None);
        assert_eq!(empty(100_000), Some((Unusable::TooManyEntries, false)));
    }
}
