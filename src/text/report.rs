//! The report of a run: its outcome, its phases, and their usage.
//!
//! Names, tasks and summaries come from files and models. In Markdown none of them can end a table cell, a list item or
//! a code block.

use std::borrow::Cow;

use crate::sorted::Map;

use serde::Serialize;

use crate::definition::{Stale, is_group_key, on_one_line, short};
use crate::run::{
    BranchEnd, Evidence, MAX_TASK, OutputValue, Outputs, PauseReason, PhasePath, QuotaWaits, Records, RunDir, RunState,
    RunStatus, cut,
};
use crate::usage::Usage;

use super::gate::{evidence_lines, fenced};
use super::names::{MAX_NAME, short_name};
use super::outputs::output_on_one_line;
use super::step_result::local_time;
use super::task::task;
use super::usage::duration;
use super::usage::{cost, tokens, warm_ups};

/// Maximum number of phases in Markdown, and of checks; JSON has all.
const MAX_ROWS: usize = 200;
/// Maximum length of the line of a check in Markdown, in characters.
const MAX_CHECK: usize = 300;
/// Maximum length of a summary, and of a command's output, in Markdown, in characters.
const MAX_BLOCK: usize = 4000;

/// The columns of the table of figures. A wider table would not fit into 80 columns.
const FIGURES: [&str; 7] = ["Phase", "Visits", "At work", "Waiting", "Turns", "Tokens", "Cost"];
/// The columns of the table below the figures.
const DETAILS: [&str; 5] = ["Phase", "Outcome", "Models", "Gate attempts", "Refused calls"];

/// The cell of a table for something that is not known, or is 0 everywhere in its row.
const NONE: &str = "–";

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report<'a> {
    pub task_id: &'a str,
    pub workflow: &'a str,
    pub task: Cow<'a, str>,
    pub outcome: Outcome,
    /// The reason for the pause, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pause: Option<String>,
    /// The limit of the model at which the run is paused, and its waits for the ends of such limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    quota: Option<QuotaReport>,
    /// The values of the inputs, by name.
    #[serde(skip_serializing_if = "Records::is_empty")]
    inputs: &'a Records<String>,
    /// The path of the folder of the run, from the project's directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_dir: Option<String>,
    /// The agent has proposed the run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    proposed: bool,
    pub started_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<u64>,
    /// The version of the seal and its hash, `3:HASH`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    pub usage: Usage,
    /// The number of visits besides the first one of each phase; `None` if visits are not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated_visits: Option<u64>,
    /// Transitions.
    pub steps: u64,
    /// The phases that the run visited, in the order of the workflow.
    pub phases: Vec<PhaseReport<'a>>,
    /// The phases and nested workflows that were passed over when the run came to them last, in the order of the
    /// workflow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    passed_over: Vec<PassedReport<'a>>,
    /// The branches of parallel groups, each from the last time that the run came to its group.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    branches: Vec<BranchReport<'a>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct QuotaReport {
    /// The end of the limit, in milliseconds since 1970, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<u64>,
    /// The time at which the run goes on by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    goes_on_at: Option<u64>,
    /// The number of waits that are over.
    waits: u32,
    /// Their time, in milliseconds.
    waited_ms: u64,
}

impl QuotaReport {
    /// `None` without a limit and a wait.
    fn of(state: &RunState, pause: Option<&PauseReason>) -> Option<Self> {
        let QuotaWaits { count: waits, ms: waited_ms, .. } = state.progress().quota;
        let limit = match pause {
            Some(PauseReason::Quota { until, goes_on_at, .. }) => Some((*until, *goes_on_at)),
            _ => None,
        };
        let (until, goes_on_at) = limit.or((waits > 0).then_some((None, None)))?;
        Some(Self { until, goes_on_at, waits, waited_ms })
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct BranchReport<'a> {
    /// See [`Branch::key`](crate::run::Branch::key).
    key: &'a str,
    name: &'a str,
    /// `done`, `failed`, `waits`, or `open`.
    end: &'static str,
    /// The outcome that the branch ended with, or the reason why it failed or waits, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    how: Option<&'a str>,
    /// The time from the beginning to the end of the branch on the clock, in milliseconds, including waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_ms: Option<u64>,
    /// The file of the branch's session.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Running,
    Paused,
    Done,
    Stopped,
    Cancelled,
    /// Another run was started in place of this run.
    Replaced,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct PassedReport<'a> {
    /// See [`PhasePath::key`].
    key: &'a str,
    name: &'a str,
    /// The reason, in words.
    because: String,
    #[serde(skip)]
    path: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PhaseReport<'a> {
    /// See [`PhasePath::key`].
    pub key: &'a str,
    pub name: &'a str,
    /// The number of scopes around the phase, without the root.
    depth: usize,
    /// The key of the nested workflow that lists the phase; `None` for a phase of the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    nested_in: Option<String>,
    /// The number of visits.
    pub passes: u32,
    /// Start of the last visit, in milliseconds since 1970.
    pub started_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<u64>,
    /// The outcome with which the phase was left last.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'a str>,
    /// The user skipped the phase.
    pub skipped: bool,
    /// The run is in the phase.
    current: bool,
    /// The phase is done, and the run has not gone back to a place before the phase.
    #[serde(skip)]
    finished: bool,
    /// The usage of all visits.
    pub usage: Usage,
    /// pi's names for the models that answered in the phase.
    models: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'a str>,
    /// The outputs with which the phase was left last, each as JSON of its own type.
    #[serde(skip_serializing_if = "Option::is_none")]
    outputs: Option<&'a Outputs>,
    /// The evidence of the gate at the last attempt to leave the phase.
    evidence: &'a [Evidence],
    /// The indices of the entries in the key.
    #[serde(skip)]
    pub path: Vec<usize>,
}

/// The facts about a run that its newest state does not have.
#[derive(Debug, Clone, Default)]
pub struct Circumstances {
    /// The reason for the pause of the run.
    pub pause: Option<PauseReason>,
    /// The end of the run, in milliseconds since 1970, if the visits do not tell the end.
    pub ended_at: Option<u64>,
    /// Another run was started in place of this run.
    pub replaced: bool,
}

impl<'a> Report<'a> {
    /// Returns the report of a run. The workflow's files are not needed.
    pub fn of(state: &'a RunState, circumstances: Circumstances) -> Self {
        let Circumstances { pause, ended_at, replaced } = circumstances;
        let progress = state.progress();
        let outcome = match state.status {
            RunStatus::Done { .. } => Outcome::Done,
            RunStatus::Stopped { .. } => Outcome::Stopped,
            RunStatus::Cancelled { .. } => Outcome::Cancelled,
            RunStatus::Running if replaced => Outcome::Replaced,
            RunStatus::Running if pause.is_some() => Outcome::Paused,
            RunStatus::Running => Outcome::Running,
        };
        let ends = || progress.visits.values().filter_map(|visit| Some((visit.step, visit.ended_at?)));
        let last_visit = || ends().max().map(|(_, ended_at)| ended_at);
        let pause = pause.filter(|_| outcome == Outcome::Paused);
        let seal = progress.seal.as_ref();
        let repeated = progress.visits.values().map(|visit| visit.number.saturating_sub(1));
        Self {
            task_id: &state.task_id,
            workflow: &state.workflow_key,
            task: task(state),
            outcome,
            quota: QuotaReport::of(state, pause.as_ref()),
            pause: pause.map(|reason| reason.to_string()),
            inputs: &progress.inputs,
            run_dir: progress.run_dir.as_ref().map(RunDir::shown),
            proposed: progress.proposed,
            started_at: state.started_at,
            ended_at: match outcome {
                Outcome::Done | Outcome::Stopped => last_visit().or(ended_at),
                Outcome::Cancelled | Outcome::Replaced => ended_at,
                Outcome::Running | Outcome::Paused => None,
            }
            .map(|end| end.max(state.started_at)),
            fingerprint: seal.map(ToString::to_string),
            usage: state.usage(),
            repeated_visits: (!progress.visits.is_empty()).then(|| repeated.map(u64::from).sum()),
            steps: state.global_step_count,
            phases: phases(state, matches!(outcome, Outcome::Running | Outcome::Paused)),
            passed_over: passed_over(state),
            branches: branches(state),
        }
    }

    /// Returns the report in Markdown. `utc_offset` returns the user's offset from UTC at an instant.
    pub fn markdown(&self, utc_offset: impl Fn(u64) -> Result<i16, Stale>) -> Result<String, Stale> {
        let time = self.time(utc_offset)?;
        let mut sections = vec![format!("# Run of {}", name(self.workflow)), self.head(&time)];
        if !self.task.is_empty() {
            sections.push(format!("**Task:**\n\n{}", block(&self.task, MAX_TASK)));
        }
        sections.extend(self.tables());
        sections.extend(section("Skipped by the user", self.skipped()));
        sections.extend(section("Passed over", self.passed_over()));
        sections.extend(section("Branches", self.branches()));
        sections.extend(section("Gates", self.checks()));
        sections.extend(section("Outputs", self.outputs()));
        sections.extend(section("Summaries", self.summaries()));
        Ok(sections.join("\n\n"))
    }

    /// Returns the outcome with its times, and the task, each on one line of plain text.
    pub fn end(&self, utc_offset: impl Fn(u64) -> Result<i16, Stale>) -> Result<String, Stale> {
        let plain = |text| short_name(&on_one_line(text));
        let (workflow, outcome, time) = (plain(self.workflow), self.outcome(), self.time(utc_offset)?);
        Ok(format!("{workflow}: {outcome}, {time}\nTask: {}", plain(&self.task)))
    }

    fn time(&self, utc_offset: impl Fn(u64) -> Result<i16, Stale>) -> Result<String, Stale> {
        let local = |time| Ok(local_time(time, utc_offset(time)?));
        let start = local(self.started_at)?;
        Ok(match self.ended_at {
            Some(end) => {
                let took = duration(whole_seconds(end.saturating_sub(self.started_at)));
                format!("{start} to {} ({took})", local(end)?)
            }
            None => format!("started {start}"),
        })
    }

    fn outcome(&self) -> String {
        match (self.outcome, &self.pause) {
            (Outcome::Running, _) => "not finished".to_owned(),
            (Outcome::Paused, Some(pause)) => format!("paused: {}", inline(pause, MAX_CHECK)),
            (Outcome::Paused, None) => "paused".to_owned(),
            (Outcome::Done, _) => "done".to_owned(),
            (Outcome::Stopped, _) => "stopped".to_owned(),
            (Outcome::Cancelled, _) => "cancelled".to_owned(),
            (Outcome::Replaced, _) => "replaced by another run before its end".to_owned(),
        }
    }

    /// Returns the list of what concerns the whole run; `time` is its line of times.
    fn head(&self, time: &str) -> String {
        let outcome = self.outcome();
        let repeated = self.repeated_visits.map(|visits| format!(", **repeated visits:** {visits}"));
        let mut items = vec![
            format!("**Outcome:** {outcome}"),
            format!("**Time:** {time}"),
            format!("**Transitions:** {}{}", self.steps, repeated.unwrap_or_default()),
            format!("**Task ID:** {}", name(self.task_id)),
        ];
        if let Some(QuotaReport { waits: waits @ 1.., waited_ms, .. }) = self.quota {
            let waited = duration(whole_seconds(waited_ms));
            items.push(format!("**Waits for limits of the model:** {waits}, {waited}"));
        }
        items.extend(self.run_dir.iter().map(|path| format!("**Folder:** `{path}`")));
        items.extend(self.proposed.then(|| "**Proposed** by the agent, and allowed by the user".to_owned()));
        let inputs = self.inputs.iter();
        let inputs: Vec<String> = inputs.map(|(input, value)| format!("{}: {}", name(input), name(value))).collect();
        if !inputs.is_empty() {
            items.push(format!("**Inputs:** {}", inputs.join(", ")));
        }
        items.extend(self.only_model().map(|model| format!("**Model:** {}", name(model))));
        items.extend(
            warm_ups(&self.usage)
                .map(|warm| format!("**Prompt cache kept between answers:** {}", warm.replace('$', "\\$"))),
        );
        items.extend(self.fingerprint.as_deref().map(|of| format!("**Fingerprint:** {}", name(of))));
        items.iter().map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n")
    }

    /// Returns the model if all answers are from the same one.
    fn only_model(&self) -> Option<&str> {
        let mut models = self.usage.models.keys();
        models.next().filter(|_| models.next().is_none()).map(String::as_str)
    }

    /// Returns the tables of the phases: the figures of all phases, and the details of the phases that have details.
    fn tables(&self) -> Vec<String> {
        let has_models = self.only_model().is_none();
        let mut figures = Vec::new();
        let mut details = Vec::new();
        for phase in self.phases.iter().take(MAX_ROWS) {
            let mark = match phase {
                PhaseReport { current: true, .. } => "▸",
                PhaseReport { skipped: true, .. } => "⤼",
                PhaseReport { finished: true, .. } => "✓",
                PhaseReport { finished: false, .. } => "○",
            };
            let title = format!("{mark} {}", phase.title());
            figures.push(figures_row(title.clone(), phase.passes.to_string(), &phase.usage));
            details.push(details_row(title, phase.outcome, &phase.usage, has_models));
        }
        let whole = "**In all**".to_owned();
        figures.push(figures_row(whole.clone(), String::new(), &self.usage));
        details.push(details_row(whole, None, &self.usage, has_models));
        details.retain(|row| row.iter().skip(1).any(|cell| !cell.is_empty()));

        let mut tables = vec![grid(FIGURES, &figures)];
        if self.phases.is_empty() {
            tables.push("The phases of this run are not recorded.".to_owned());
        }
        if let Some(more) = self.phases.len().checked_sub(MAX_ROWS).filter(|more| *more > 0) {
            tables.push(format!("… {more} more phases"));
        }
        if !details.is_empty() {
            tables.push(grid(DETAILS, &details));
        }
        tables
    }

    fn skipped(&self) -> Vec<String> {
        let skipped = self.phases.iter().filter(|phase| phase.skipped).take(MAX_ROWS);
        list(skipped.map(|phase| format!("⤼ {}", phase.title())))
    }

    fn passed_over(&self) -> Vec<String> {
        let passed_over = self.passed_over.iter().take(MAX_ROWS);
        list(passed_over.map(|passed| format!("⤼ {}: {}", name(passed.name), inline(&passed.because, MAX_CHECK))))
    }

    fn branches(&self) -> Vec<String> {
        list(self.branches.iter().take(MAX_ROWS).map(|branch| {
            let how = branch.how.map(|how| format!(": {}", inline(how, MAX_CHECK)));
            let file = branch.session.map(|file| format!(", session {}", inline(file, MAX_BLOCK)));
            let time = branch.clock_ms.map(|ms| format!(", {}", duration(whole_seconds(ms))));
            let words = [how, time, file].map(Option::unwrap_or_default).concat();
            format!("{}: {}{words}", name(branch.name), branch.end)
        }))
    }

    /// Returns the checks of each phase, with the output of failed checks.
    fn checks(&self) -> Vec<String> {
        let mut left = MAX_ROWS;
        let mut parts = Vec::new();
        for phase in &self.phases {
            let checks = phase.evidence.get(..left).unwrap_or(phase.evidence);
            if checks.is_empty() {
                continue;
            }
            left -= checks.len();
            let lines: Vec<String> =
                evidence_lines(checks).map(|line| format!("- {}", inline(&line, MAX_CHECK))).collect();
            parts.push(format!("**{}**\n\n{}", phase.title(), lines.join("\n")));
            for check in checks.iter().filter(|check| !check.passed && !check.tail.is_empty()) {
                let tail = block(&check.shown_tail(), MAX_BLOCK);
                parts.push(format!("The end of the output of {}:\n\n{tail}", name(&check.name)));
            }
        }
        parts
    }

    fn outputs(&self) -> Vec<String> {
        let phases = self.phases.iter().filter_map(|phase| Some((phase, phase.outputs?)));
        let line = |(output, value): (&String, &OutputValue)| {
            format!("- {}: {}", name(output), inline(&output_on_one_line(value), MAX_BLOCK))
        };
        let outputs = |(phase, outputs): (&PhaseReport, &Outputs)| {
            let lines: Vec<String> = outputs.iter().map(line).collect();
            format!("**{}**\n\n{}", phase.title(), lines.join("\n"))
        };
        phases.take(MAX_ROWS).map(outputs).collect()
    }

    fn summaries(&self) -> Vec<String> {
        let phases = self.phases.iter().filter_map(|phase| Some((phase, phase.summary?)));
        let summary =
            |(phase, summary): (&PhaseReport, &str)| format!("**{}**\n\n{}", phase.title(), block(summary, MAX_BLOCK));
        phases.take(MAX_ROWS).map(summary).collect()
    }
}

/// Returns the name of the phase of this key with the keys of the nested workflows around it: `tests > Unit`.
pub fn place_of_phase(key: &str, name: &str) -> String {
    let mut title = String::new();
    if name != key {
        let path = PhasePath::parse(key);
        let scopes = path.iter().flat_map(|path| path.iter().skip(1));
        for scope in scopes {
            // Phases of a group are phases of its file.
            if !is_group_key(&scope.workflow_key) {
                title.push_str(&scope.workflow_key);
                title.push_str(" > ");
            }
            if let Some(item) = scope.item {
                title.push_str(&format!("[{}] ", item + 1));
            }
        }
    }
    title.push_str(name);
    title
}

impl PhaseReport<'_> {
    /// Returns its [`place_of_phase`].
    pub fn place(&self) -> String {
        place_of_phase(self.key, self.name)
    }

    /// Returns the place of the phase for Markdown.
    fn title(&self) -> String {
        name(&self.place())
    }
}

/// Returns the phases in the order of the workflow; phases without a place in the workflow come last.
fn phases(state: &RunState, in_progress: bool) -> Vec<PhaseReport<'_>> {
    let current = state.current_path.key();
    let mut phases: Vec<PhaseReport> = Vec::new();
    for (key, visit) in state.progress().visits.iter() {
        let path = PhasePath::parse(key);
        let scopes = path.iter().flat_map(|path| path.iter().skip(1));
        let mut workflows = scopes.filter(|scope| !is_group_key(&scope.workflow_key));
        let nested_in = workflows.next_back().map(|scope| scope.workflow_key.clone());
        let depth = path.as_ref().map_or(0, |path| path.len().saturating_sub(1));
        let path = indices(path);
        let usage = visit.all_usage();
        let phase = PhaseReport {
            key,
            name: if visit.name.trim().is_empty() { key } else { &visit.name },
            depth,
            nested_in,
            passes: visit.number,
            started_at: visit.started_at,
            ended_at: visit.ended_at.map(|end| end.max(visit.started_at)),
            outcome: state.progress().outcomes.get(key).map(String::as_str),
            skipped: visit.skipped,
            current: in_progress && *key == current,
            finished: state.has_finished(key, visit),
            models: usage.models.keys().cloned().collect(),
            usage,
            summary: visit.summary.as_ref().map(|summary| &*summary.text),
            outputs: state.progress().outputs.get(key).map(|handed| &handed.values),
            evidence: &visit.evidence,
            path,
        };
        let place = |phase: &PhaseReport| phase.path.is_empty();
        let at = phases.partition_point(|other| (place(other), &other.path) <= (place(&phase), &phase.path));
        phases.insert(at, phase);
    }
    phases
}

/// Returns the indices of a path; none without a path.
fn indices(path: Option<PhasePath>) -> Vec<usize> {
    path.map(|path| path.indices()).unwrap_or_default()
}

/// Returns the branches of parallel groups, by their keys.
fn branches(state: &RunState) -> Vec<BranchReport<'_>> {
    let runs = state.progress().branches.iter();
    let report = runs.map(|(key, run)| {
        let (end, how) = match (&run.end, &run.waits) {
            (Some(BranchEnd::Done { outcome }), _) => ("done", outcome.as_deref()),
            (Some(BranchEnd::Failed { why }), _) => ("failed", Some(&**why)),
            (None, Some(why)) => ("waits", Some(&**why)),
            (None, None) => ("open", None),
        };
        let clock_ms = run.ended_at.map(|end| end.saturating_sub(run.started_at));
        BranchReport { key, name: &run.name, end, how, clock_ms, session: run.session.as_deref() }
    });
    report.collect()
}

/// Returns the entries that were passed over, in the order of the workflow.
fn passed_over(state: &RunState) -> Vec<PassedReport<'_>> {
    let passed = state.progress().passed_over.iter().map(|(key, passed)| PassedReport {
        key,
        name: if passed.name.trim().is_empty() { key } else { &passed.name },
        because: passed.because.to_string(),
        path: indices(PhasePath::parse(key)),
    });
    let mut passed: Vec<PassedReport> = passed.collect();
    passed.sort_by(|one, other| one.path.cmp(&other.path));
    passed
}

/// Returns a row below [`FIGURES`].
fn figures_row(phase: String, visits: String, usage: &Usage) -> [String; 7] {
    let time = |ms: u64| if ms == 0 { NONE.to_owned() } else { duration(whole_seconds(ms)) };
    let is_used = usage.turns > 0 || usage.tokens() > 0;
    let known = |text: Option<String>| text.unwrap_or_else(|| "unknown".to_owned());
    let used = |text: String| if is_used { text } else { NONE.to_owned() };
    [
        phase,
        visits,
        time(usage.work_ms),
        time(usage.wait_ms),
        used(usage.turns.to_string()),
        used(known(tokens(usage))),
        used(known(cost(usage)).replace('$', "\\$")),
    ]
}

/// Returns a row below [`DETAILS`].
fn details_row(phase: String, outcome: Option<&str>, usage: &Usage, has_models: bool) -> [String; 5] {
    let list = |counts: &Map<String, u32>| {
        let counts = counts.iter().map(|(what, count)| format!("{}: {count}", name(what)));
        counts.collect::<Vec<_>>().join(", ")
    };
    let models = match usage.models.len() {
        _ if !has_models => String::new(),
        1 => usage.models.keys().map(|model| name(model)).collect(),
        _ => list(&usage.models),
    };
    let attempts = match (usage.gate_attempts, usage.gate_failures) {
        (0, 0) => String::new(),
        (attempts, 0) => attempts.to_string(),
        (attempts, failures) => format!("{attempts} ({failures} failed)"),
    };
    [phase, outcome.map(name).unwrap_or_default(), models, attempts, list(&usage.refusals)]
}

/// Returns a table without the columns that are empty.
fn grid<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    let mut lines = vec![String::new(); rows.len() + 2];
    for (column, heading) in headings.into_iter().enumerate() {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(String::as_str);
        if cells.clone().all(str::is_empty) {
            continue;
        }
        for (line, cell) in lines.iter_mut().zip([heading, "---"].into_iter().chain(cells)) {
            line.push_str(&format!("| {cell} "));
        }
    }
    lines.join("|\n") + "|"
}

/// Returns a list of Markdown as one part; none without items.
fn list(items: impl Iterator<Item = String>) -> Vec<String> {
    let lines: Vec<String> = items.map(|item| format!("- {item}")).collect();
    if lines.is_empty() { lines } else { vec![lines.join("\n")] }
}

/// Returns the parts under a heading; `None` without parts.
fn section(heading: &str, parts: Vec<String>) -> Option<String> {
    if parts.is_empty() { None } else { Some(format!("## {heading}\n\n{}", parts.join("\n\n"))) }
}

fn whole_seconds(ms: u64) -> u64 {
    ms - ms % 1000
}

/// Returns a name on one line of Markdown.
fn name(text: &str) -> String {
    inline(text, MAX_NAME)
}

/// Returns a text on one line of Markdown, shortened, in which no character has a meaning. `[` is not escaped: pi
/// reads `\[` as the beginning of a formula.
fn inline(text: &str, limit: usize) -> String {
    let mut line = String::new();
    for c in plain(&short(text.trim(), limit)).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | ']' | '<' | '|' | '~' | '&' | '$') {
            line.push('\\');
        }
        line.push(c);
    }
    line
}

/// Returns a text as a code block, shortened.
fn block(text: &str, limit: usize) -> String {
    let text = cut(text.trim(), limit);
    let lines: Vec<String> = text.split('\n').map(|line| plain(line.trim_end_matches('\r'))).collect();
    fenced(&lines.join("\n"))
}

/// Returns a line without characters that could control a terminal or change the order of other characters.
fn plain(line: &str) -> String {
    on_one_line(line).replace(['\u{61c}', '\u{200e}', '\u{200f}'], "\u{fffd}")
}

#[cfg(test)]
mod tests;
