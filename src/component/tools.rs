//! The exported `pi-workflows:tools/workflows`.

use crate::definition::{
    Diagnostic, Library, Phase, Severity, Stale, Surroundings, Workflow, WorkflowFiles,
};
use crate::definition::{is_within, nearest, skeleton, writes_path};
use crate::engine::{Host, all_ways, may, run_through};
use crate::run::{Broken, PROGRESS_VERSION, restore};
use crate::text::{self, Circumstances, Report};

use super::Component;
use super::bindings::exports::pi_workflows::tools::workflows as wit;
use super::convert::json;
use super::host::{Checked, Files};

impl wit::Guest for Component {
    fn check(
        surroundings: wit::Surroundings,
        folder: Option<String>,
    ) -> Result<wit::Report, String> {
        let files = Checked { files: Files, surroundings: surroundings.into() };
        let (library, mut diagnostics) = Library::check(&files).map_err(words)?;
        let root = files.roots().map_err(words)?.pop().map_or_else(String::new, |root| root.path);
        let asked = folder.map(|folder| format!("{root}/{folder}"));
        let is_asked = |own: &str| asked.as_ref().is_none_or(|asked| is_within(asked, own));
        diagnostics.retain(|diagnostic| {
            asked.as_ref().is_none_or(|asked| library.concerns(asked, &diagnostic.file))
        });
        let workflows = || library.iter().filter(|workflow| is_asked(&workflow.folder));
        let left_out = library.left_out().iter().filter(|left_out| is_asked(&left_out.folder));
        let mut summary = text::check_summary(workflows().count(), left_out.count(), &diagnostics);
        summary.extend(text::package_counts(workflows()));
        Ok(wit::Report { diagnostics: diagnostics.into_iter().map(Into::into).collect(), summary })
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
        Ok(text::mermaid(find(&library, &name)?, &library, None))
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
    ) -> Result<String, String> {
        let library = library()?;
        let workflow = find(&library, &name)?;
        if workflow.command_name.is_empty() {
            return Err(format!("\"{name}\" can only run as part of another workflow."));
        }
        run_through(&Files, &library, workflow, &task, &inputs, &outcomes)
    }

    fn all_ways(name: String, inputs: Vec<(String, String)>) -> Result<String, String> {
        let library = library()?;
        all_ways(&library, find(&library, &name)?, &inputs)
    }

    fn may(
        name: String,
        phase: String,
        tool: String,
        argument: Option<String>,
    ) -> Result<wit::Decision, String> {
        let library = library()?;
        let workflow = find(&library, &name)?;
        let phase = find_phase(workflow, &phase)?;
        if argument.is_none() && writes_path(&tool) {
            return Err(format!("{tool} needs an ARGUMENT: the path of the file."));
        }
        let decision = may((phase, workflow), &tool, argument.as_deref(), &Files).map_err(words)?;
        Ok(wit::Decision { allowed: decision.allowed, text: decision.text })
    }

    fn skeleton(name: String) -> Result<Vec<wit::NewFile>, String> {
        let files = skeleton(&name)?;
        Ok(files.into_iter().map(|(path, text)| wit::NewFile { path: path.into(), text }).collect())
    }

    fn report_run(run: wit::StoredRun) -> Result<wit::RunReport, String> {
        let wit::StoredRun { states, since, ended_ms, replaced } = run;
        let state = restore(states).ok_or("The run cannot be read: its state is incomplete.")?;
        if let Some(Broken { why, .. }) = &state.progress.broken {
            return Err(format!("The run cannot be read: {why}."));
        }
        let progress = &state.progress;
        if progress.version > PROGRESS_VERSION || progress.later_seal.is_some() {
            return Err("The run cannot be read: a later version of pi-workflows stored it.".into());
        }
        let pause = progress.paused.as_ref().map(|pause| pause.reason.clone());
        let state = match &since {
            Some(used) => state.clone().with_usage(&state, &used.into()),
            None => state,
        };
        let report = Report::of(&state, Circumstances { pause, ended_at: ended_ms, replaced });
        let data = serde_json::to_value(&report).unwrap_or_default();
        let markdown = report.markdown(|time| Files.utc_offset(time)).map_err(words)?;
        Ok(wit::RunReport { markdown, json: json(&data) })
    }
}

fn library() -> Result<Library, String> {
    Library::load(&Files).map(|(library, _)| library).map_err(words)
}

/// The name that starts a workflow; its command name if that starts another one.
fn start_name(workflow: &Workflow, library: &Library) -> String {
    library.start_name(workflow).unwrap_or_else(|| workflow.command_name.clone())
}

fn words(error: Stale) -> String {
    error.to_string()
}

/// The workflow of a command name or a key.
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

/// The phase of an id.
fn find_phase<'a>(workflow: &'a Workflow, id: &str) -> Result<&'a Phase, String> {
    workflow.own_phases().find(|phase| phase.id == id).ok_or_else(|| {
        let ids: Vec<&str> = workflow.own_phases().map(|phase| &*phase.id).collect();
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
        let wit::Surroundings { tools, more_tools, profiles } = surroundings;
        Self { tools, more_tools, profiles, ..Self::default() }
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
