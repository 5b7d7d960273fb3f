//! The exported `pi-workflows:tools/workflows`.

use crate::sorted::{Map, Set};
use std::cell::RefCell;

use crate::definition::{
    Diagnostic, Library, OwnLimits, Phase, Severity, Stale, Surroundings, Workflow, WorkflowFiles,
};
use crate::definition::{Measure, PlainFile, read_plain};
use crate::definition::{Skeleton, is_within, nearest, skeleton, writes_path};
use crate::engine::bound;
use crate::engine::{Given, Host, May, may, run_through};
use crate::run::{Broken, PauseReason, Restored, RunState};
use crate::run::{is_of_later_version, restore_with_mark, stored_pause};
use crate::text::{self, Circumstances, Outcome, PhaseReport, Report};
use crate::usage::Usage;
use crate::watch;

use super::Component;
use super::bindings::exports::pi_workflows::tools::workflows as wit;
use super::bindings::pi::extension::session;
use super::convert::json;
use super::host::{Files, with_profiles};

impl wit::Guest for Component {
    fn check(surroundings: wit::Surroundings, folder: Option<String>) -> Result<wit::Report, String> {
        let surroundings = with_profiles(surroundings.into()).map_err(words)?;
        let (library, mut diagnostics) = Library::check_in(&surroundings, &Files).map_err(words)?;
        let root = Files.roots().map_err(words)?.pop().map_or_else(String::new, |root| root.path);
        let asked = folder.map(|folder| format!("{root}/{folder}"));
        let is_asked = |own: &str| asked.as_ref().is_none_or(|asked| is_within(asked, own));
        diagnostics.retain(|diagnostic| asked.as_ref().is_none_or(|asked| library.concerns(asked, &diagnostic.file)));
        let workflows = || library.iter().filter(|workflow| is_asked(&workflow.folder) && !workflow.is_builtin());
        let left_out = library.left_out().iter().filter(|left_out| is_asked(&left_out.folder));
        let mut summary = text::check_summary(workflows().count(), left_out.count(), &diagnostics);
        summary.extend(text::package_counts(workflows()));
        let limits =
            workflows().flat_map(|workflow| workflow.own_phases().map(|phase| &phase.limits).chain([&workflow.limits]));
        let git_rules: Set<_> = limits.flat_map(OwnLimits::git_rules).collect();
        let git_rules = git_rules.into_iter().map(|(field, path)| (field.into(), path.into())).collect();
        let names_models = library.iter().any(|workflow| library.names_models(&workflow.key));
        let diagnostics = diagnostics.into_iter().map(Into::into).collect();
        Ok(wit::Report { diagnostics, summary, git_rules, names_models })
    }

    fn all() -> Result<Vec<wit::Entry>, String> {
        let library = library()?;
        let entry = |workflow: &Workflow| wit::Entry {
            key: workflow.key.clone(),
            command_name: start_name(workflow, &library),
            package: workflow.package().map(Into::into),
            name: workflow.name.clone(),
            description: text::description(workflow, &library),
            folder: workflow.folder.clone(),
        };
        Ok(library.iter().map(entry).collect())
    }

    fn graph(name: String) -> Result<String, String> {
        let library = library()?;
        Ok(text::mermaid(find(&library, &name)?, &library))
    }

    fn show(name: String, task: String) -> Result<String, String> {
        let library = library()?;
        Ok(text::preview(find(&library, &name)?, &library, &task))
    }

    fn run_through(
        name: String,
        task: String,
        inputs: Vec<(String, String)>,
        outcomes: Vec<(String, Vec<String>)>,
        outputs: Vec<(String, String)>,
        items: Vec<(String, String)>,
    ) -> Result<String, String> {
        let library = library()?;
        let workflow = find(&library, &name)?;
        if workflow.command_name.is_empty() {
            return Err(format!("\"{name}\" can only run as part of another workflow."));
        }
        let given = Given { inputs: &inputs, outcomes: &outcomes, outputs: &outputs, items: &items };
        run_through(&Files, &library, workflow, &task, given)
    }

    fn may(name: String, phase: String, tool: String, argument: Option<String>) -> Result<wit::Decision, String> {
        let library = library()?;
        let workflow = find(&library, &name)?;
        let phase = find_phase(&library, workflow, &phase)?;
        if argument.is_none() && writes_path(&tool) {
            return Err(format!("{tool} needs an ARGUMENT: the path of the file."));
        }
        let decision = may(Some((phase, workflow, &library)), &tool, argument.as_deref(), &Files);
        decision.map(Into::into).map_err(words)
    }

    fn may_without_run(tool: String, argument: Option<String>) -> Result<wit::Decision, String> {
        if argument.is_none() && writes_path(&tool) {
            return Err(format!("{tool} needs an ARGUMENT: the path of the file."));
        }
        may(None, &tool, argument.as_deref(), &Files).map(Into::into).map_err(words)
    }

    fn skeleton(name: String, places: Vec<String>, answers: Vec<String>) -> Result<wit::SkeletonStep, String> {
        Ok(match skeleton(&name, &places, &answers)? {
            Skeleton::Ask { title, options } => wit::SkeletonStep::Ask(wit::Question { title: title.into(), options }),
            Skeleton::Done { text, place } => {
                wit::SkeletonStep::Done(wit::NewFile { text, place: u32::try_from(place).unwrap_or_default() })
            }
        })
    }

    fn definition(name: String) -> Result<String, String> {
        let library = library()?;
        let roots = Files.roots().map_err(words)?;
        let mut ahead = vec![find(&library, &name)?];
        let mut seen: Vec<&str> = Vec::new();
        let mut text = String::new();
        while let Some(workflow) = ahead.pop() {
            if seen.contains(&&*workflow.key) {
                continue;
            }
            seen.push(&workflow.key);
            text.push_str(&format!("{workflow:?}\n"));
            ahead.extend(workflow.phases.iter().filter_map(|entry| library.get(entry.nested_key()?)));
        }
        for root in roots.iter().filter(|root| !root.path.is_empty()) {
            text = text.replace(&format!("{}/", root.path), "");
        }
        Ok(text)
    }

    fn read_yaml(file: String, text: String, front_matter: bool) -> Result<wit::YamlFile, String> {
        let file = read_plain(&file, text, front_matter).map_err(|problem| text::diagnostic_text(&problem))?;
        let PlainFile { value, body, places } = file;
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let places = places.into_iter().map(|(name, place)| (name, number(place.line), number(place.column)));
        Ok(wit::YamlFile { json: value.to_string(), body, places: places.collect() })
    }

    #[allow(clippy::cast_precision_loss, reason = "the maxima are far below 2^53")]
    fn read_bounds(text: String) -> Result<wit::Bounds, String> {
        let budget = bound(&text)?;
        Ok(wit::Bounds {
            cost: budget.get(Measure::Cost).map(|millionths| millionths as f64 / 1e6),
            time_ms: budget.get(Measure::Time),
            turns: budget.get(Measure::Turns),
        })
    }

    type Course = Course;

    fn read_run(run: wit::StoredRun) -> Result<wit::Run, String> {
        let wit::StoredRun { states, since, replaced } = run;
        let Restored { state, mark } = usable(states)?;
        let pause = stored_pause(&state);
        let kind = pause.as_ref().map(PauseReason::kind);
        let state = with_later(state, since.as_ref());
        let report = Report::of(&state, Circumstances { pause, ended_at: None, replaced });
        let phase_key = state.last_phase_key();
        let phase = report.phases.iter().find(|phase| phase.key == phase_key);
        let [phase_name, phase_title] = match phase {
            Some(phase) => [phase.name.to_owned(), phase.place()],
            None => [phase_key.clone(), phase_key.clone()],
        };
        Ok(wit::Run {
            task_id: report.task_id.to_owned(),
            workflow: report.workflow.to_owned(),
            task: report.task.into_owned(),
            outcome: report.outcome.into(),
            pause: kind.filter(|_| report.outcome == Outcome::Paused),
            phase_key,
            phase_name,
            phase_title,
            started_at: report.started_at,
            ended_at: report.ended_at,
            steps: report.steps,
            usage: report.repeated_visits.map(|_| (&report.usage).into()),
            phases: report.phases.iter().map(Into::into).collect(),
            fingerprint: report.fingerprint,
            older: mark.parts,
        })
    }
}

const UNREADABLE: &str = "The run cannot be read";

/// Returns the run that these states store, in full or as far as the run can go on.
fn usable(states: Vec<String>) -> Result<Restored, String> {
    let why = match restore_with_mark(states) {
        None => "its state is incomplete".to_owned(),
        Some(restored) => match &restored.state.progress().broken {
            Some(Broken { why, is_usable: false }) => why.to_string(),
            Some(_) | None => return Ok(restored),
        },
    };
    Err(format!("{UNREADABLE}: {why}."))
}

/// Returns a run with the usage after its newest state entry.
fn with_later(state: RunState, since: Option<&session::Usage>) -> RunState {
    match since {
        Some(used) => state.clone().with_usage(&state, &used.into()),
        None => state,
    }
}

/// The course of a run that is being read.
#[derive(Default)]
pub struct Course(RefCell<watch::Course>);

impl wit::GuestCourse for Course {
    fn new() -> Self {
        Self::default()
    }

    fn add(&self, entries: Vec<wit::BranchEntry>) {
        let mut course = self.0.borrow_mut();
        for wit::BranchEntry { at, kind } in entries {
            match kind {
                wit::EntryKind::State(data) => course.add_state(data, at),
                wit::EntryKind::Work => course.add(Some("work"), at),
                wit::EntryKind::Wait => course.add(Some("wait"), at),
                wit::EntryKind::Other => course.add(None, at),
            }
        }
    }

    fn report(&self, run: wit::StoredRun) -> Result<wit::RunReport, String> {
        let wit::StoredRun { states, since, replaced } = run;
        let mut course = self.0.take();
        course.end(replaced);
        let state = usable(states)?.state;
        if is_of_later_version(&state) {
            return Err(format!("{UNREADABLE}: a later version of pi-workflows stored it."));
        }
        let pause = stored_pause(&state);
        let state = with_later(state, since.as_ref());
        let report = Report::of(&state, Circumstances { pause, ended_at: course.ended_at, replaced });
        let mut data = serde_json::to_value(&report).unwrap_or_default();
        if let Some(data) = data.as_object_mut() {
            data.insert("course".into(), serde_json::to_value(&course).unwrap_or_default());
        }
        let markdown = report.markdown(|time| Files.utc_offset(time)).map_err(words)?;
        Ok(wit::RunReport { markdown, json: json(&data) })
    }
}

impl From<Outcome> for wit::Outcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Running => Self::Running,
            Outcome::Paused => Self::Paused,
            Outcome::Done => Self::Done,
            Outcome::Stopped => Self::Stopped,
            Outcome::Cancelled => Self::Cancelled,
            Outcome::Replaced => Self::Replaced,
        }
    }
}

impl From<&PhaseReport<'_>> for wit::Visited {
    fn from(phase: &PhaseReport) -> Self {
        let index = |index: &usize| u32::try_from(*index).unwrap_or(u32::MAX);
        Self {
            key: phase.key.to_owned(),
            name: phase.name.to_owned(),
            title: phase.place(),
            place: phase.path.iter().map(index).collect(),
            passes: phase.passes,
            started_at: phase.started_at,
            ended_at: phase.ended_at,
            skipped: phase.skipped,
            usage: (&phase.usage).into(),
        }
    }
}

fn named(counts: &Map<String, u32>) -> Vec<(String, u32)> {
    counts.iter().map(|(name, count)| (name.clone(), *count)).collect()
}

impl From<&Usage> for wit::Took {
    fn from(usage: &Usage) -> Self {
        Self {
            turns: usage.turns,
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            reasoning: usage.reasoning,
            cost: usage.cost,
            unpriced: usage.unpriced,
            unreported: usage.unreported,
            tool_calls: usage.tool_calls,
            refusals: named(&usage.refusals),
            gate_attempts: usage.gate_attempts,
            gate_failures: usage.gate_failures,
            work_ms: usage.work_ms,
            wait_ms: usage.wait_ms,
            warm_ups: usage.warm_ups,
            warm_tokens: usage.warm_tokens,
            warm_cost: usage.warm_cost,
            models: named(&usage.models),
        }
    }
}

fn library() -> Result<Library, String> {
    Library::load(&Files).map(|(library, _)| library).map_err(words)
}

/// The name that starts a workflow, or else its command name, even if that name starts another workflow.
fn start_name(workflow: &Workflow, library: &Library) -> String {
    library.start_name(workflow).unwrap_or_else(|| workflow.command_name.clone())
}

fn words(error: Stale) -> String {
    error.to_string()
}

fn find<'a>(library: &'a Library, name: &str) -> Result<&'a Workflow, String> {
    library.by_command_name(name).or_else(|| library.get(name)).ok_or_else(|| {
        if library.left_out().iter().any(|left_out| left_out.key == name) {
            return format!("The workflow \"{name}\" has errors: pi-workflows check");
        }
        let names = library.iter().map(|workflow| match start_name(workflow, library) {
            name if name.is_empty() => workflow.key.clone(),
            name => name,
        });
        let names: Vec<String> = names.collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        unknown(&format!("workflow \"{name}\""), name, &names)
    })
}

/// The phase of an id, also in a group.
fn find_phase<'a>(library: &'a Library, workflow: &'a Workflow, id: &str) -> Result<&'a Phase, String> {
    let entries = library.entries_of_file(workflow);
    let mut phases = entries.iter().filter_map(|of| of.entry.as_phase());
    phases.clone().find(|phase| phase.id == id).ok_or_else(|| {
        let ids: Vec<&str> = phases.by_ref().map(|phase| &*phase.id).collect();
        unknown(&format!("phase \"{id}\" in the workflow \"{}\"", workflow.key), id, &ids)
    })
}

/// The error for a name that is not known; `what` describes it.
fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(meant) => format!("There is no {what}. Did you mean \"{meant}\"?"),
        None if known.is_empty() => format!("There is no {what}, and no other."),
        None => format!("There is no {what}, only {}.", known.join(", ")),
    }
}

impl From<wit::Surroundings> for Surroundings {
    fn from(surroundings: wit::Surroundings) -> Self {
        let wit::Surroundings { tools, more_tools, profiles, models } = surroundings;
        let models = models.map(|models| models.into_iter().map(Into::into).collect());
        Self { tools, more_tools, profiles, models, ..Self::default() }
    }
}

impl From<Diagnostic> for wit::Diagnostic {
    fn from(diagnostic: Diagnostic) -> Self {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let marked = diagnostic.excerpt.as_ref().map_or(1, |excerpt| excerpt.marked);
        Self {
            severity: match diagnostic.severity() {
                Severity::Warning => wit::Severity::Warning,
                Severity::Failure | Severity::Error => wit::Severity::Error,
            },
            place: diagnostic.place.map(|place| wit::Place {
                line: number(place.line),
                column: number(place.column),
                end_column: number(place.column.saturating_add(marked)),
            }),
            message: diagnostic.message(),
            help: diagnostic.help(),
            text: text::diagnostic_text(&diagnostic),
            file: diagnostic.file,
        }
    }
}

impl From<May> for wit::Decision {
    fn from(May { allowed, text }: May) -> Self {
        Self { allowed, text }
    }
}
