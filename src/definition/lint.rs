//! Warnings of a check that a load does not look for.

use std::collections::{BTreeMap, BTreeSet};

use super::bounded::{Bounded, Stop};
use super::diagnostic::{Diagnostic, Place, Problem, Severity};
use super::files::{FileKind, Root, Surroundings};
use super::library::Listed;
use super::nearest::nearest;
use super::paths::{join, last_part};
use super::references::{Anchor, Unplaced};
use super::{EntryKind, Library, Show, Workflow, front_matter, phase_file, yaml};

/// Collects the files of one root, and which of them workflows list.
pub(super) struct Lint<'a> {
    surroundings: &'a Surroundings,
    /// Everything that is not a folder.
    others: Vec<(String, FileKind)>,
    /// The phase files that workflows list.
    listed: Vec<Listed>,
    /// Their paths, in lower case.
    listed_paths: BTreeSet<String>,
    /// The paths that are suggested in place of missing files, in lower case.
    suggested: BTreeSet<String>,
    /// The phases of some workflow are not known.
    misses_phases: bool,
}

impl<'a> Lint<'a> {
    pub fn new(surroundings: &'a Surroundings) -> Self {
        Self {
            surroundings,
            others: Vec::new(),
            listed: Vec::new(),
            listed_paths: BTreeSet::new(),
            suggested: BTreeSet::new(),
            misses_phases: false,
        }
    }

    pub fn surroundings(&self) -> &'a Surroundings {
        self.surroundings
    }

    /// Adds a directory entry that is not a folder.
    pub fn meet(&mut self, path: String, kind: FileKind) {
        self.others.push((path, kind));
    }

    /// Adds a phase file that a workflow lists.
    pub fn list(&mut self, path: &str, listed: Listed) {
        self.listed_paths.insert(path.to_lowercase());
        self.listed.push(listed);
    }

    /// Adds a file that is suggested in place of a missing one: it is not reported as unused.
    pub fn suggest(&mut self, path: &str) {
        self.suggested.insert(path.to_lowercase());
    }

    /// Records that the phases of a workflow are not known: any file may be one of them.
    pub fn miss_phases(&mut self) {
        self.misses_phases = true;
    }

    pub fn into_listed(self) -> Vec<Listed> {
        self.listed
    }

    /// Reports phase files that no workflow lists, and entries that cannot be read at all.
    pub fn report_unused(
        &mut self,
        files: &mut Bounded,
        root: &Root,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<(), Stop> {
        for (path, kind) in std::mem::take(&mut self.others) {
            let lower = path.to_lowercase();
            if self.listed_paths.contains(&lower) {
                continue;
            }
            let file = join(&root.path, &path);
            match kind {
                FileKind::Other => diagnostics.push(Diagnostic::new(file, Problem::Skipped)),
                FileKind::File if lower.ends_with(".md") && !self.misses_phases => {
                    let Ok(bytes) = files.read(&root.name, &path)? else { continue };
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    let suggested = self.suggested.contains(&lower);
                    self.report_unused_phase(&file, text, suggested, files, diagnostics)?;
                }
                FileKind::File | FileKind::Directory => {}
            }
        }
        Ok(())
    }

    fn report_unused_phase(
        &self,
        file: &str,
        text: String,
        suggested: bool,
        files: &Bounded,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<(), Stop> {
        let document = front_matter::split(text.clone());
        // Other Markdown may have front matter too.
        let yaml = yaml::parse(document.front_matter());
        if !yaml.is_ok_and(|yaml| yaml.get("emoji").is_some()) {
            return Ok(());
        }
        if !suggested {
            let place = Some(Place { line: 1, column: 1 });
            diagnostics.push(Diagnostic::new(file, Problem::UnusedPhase).at(&text, place, 0));
        }
        // Its errors leave nothing out as long as nothing uses it.
        let mut own = Vec::new();
        phase_file::read(file, text, files, Some(self.surroundings), &mut own)?;
        own.retain(|diagnostic| diagnostic.severity() == Severity::Warning);
        diagnostics.append(&mut own);
        Ok(())
    }
}

/// Reports the folders of subagent profiles that are not read.
pub(super) fn profiles_outside(surroundings: &Surroundings) -> impl Iterator<Item = Diagnostic> {
    let folders = surroundings.profiles_outside.iter();
    folders.map(|folder| Diagnostic::new(folder, Problem::ProfilesOutside))
}

/// Reports command names that differ from an earlier one in case only.
pub(super) fn similar_command_names<'a>(
    workflows: impl Iterator<Item = &'a Workflow>,
    unplaced: &mut Vec<Unplaced>,
) {
    let mut by_name: BTreeMap<String, &Workflow> = BTreeMap::new();
    // A workflow of a package can be started by the name of the package too.
    let of_users =
        |workflow: &&Workflow| workflow.show == Show::User && workflow.package().is_none();
    for workflow in workflows.filter(of_users) {
        let first = *by_name.entry(workflow.command_name.to_ascii_lowercase()).or_insert(workflow);
        if first.command_name != workflow.command_name {
            let problem = Problem::SimilarCommandName {
                names: [first.command_name.clone(), workflow.command_name.clone()],
                keys: [first.key.clone(), workflow.key.clone()],
            };
            unplaced.push(Unplaced::new(workflow, problem, Anchor::CommandName));
        }
    }
}

/// Removes the diagnostics of each `{input.NAME}` and `{outcome.ID}` that all workflows know in which the file is used. If there are
/// errors, all of them are removed: not all workflows are known.
pub(super) fn settle_values(library: &Library, diagnostics: &mut Vec<Diagnostic>) {
    let sound = diagnostics.iter().all(|diagnostic| diagnostic.severity() != Severity::Error);
    let phases = library.iter().flat_map(Workflow::own_phases);
    let with_outcomes = phases.filter(|phase| !phase.outcomes.is_empty()).map(|phase| &*phase.id);
    // A nested workflow knows the outcomes of those around it, and an outer one that of a nested one.
    let mut outcomes: BTreeSet<&str> = with_outcomes.collect();
    outcomes.extend(library.iter().flat_map(|workflow| [&*workflow.key, last_part(&workflow.key)]));
    diagnostics.retain_mut(|diagnostic| {
        let Problem::UnknownValue { name, suggestion } = &mut diagnostic.problem else {
            return true;
        };
        let Some((kind, of)) = name.split_once('.') else { return true };
        if kind == "outcome" {
            let meant = nearest(of, outcomes.iter().copied());
            *suggestion = meant.map(|id| format!("outcome.{id}"));
            return sound && !outcomes.contains(of);
        }
        let users = library.iter().filter(|workflow| {
            diagnostic.file == workflow.file()
                || workflow.own_phases().any(|phase| phase.file == diagnostic.file)
        });
        let lacks = |workflow: &&Workflow| workflow.inputs.iter().all(|input| input.name != of);
        let mut lacking = users.filter(lacks);
        let Some(first) = lacking.next() else { return false };
        let meant = nearest(of, first.inputs.iter().map(|input| &*input.name));
        *suggestion = meant.map(|name| format!("input.{name}"));
        sound
    });
}

/// Removes the diagnostics of each `{summary.ID}` whose phase or nested workflow exists. If there are errors, all of them are
/// removed: not all phases are known.
pub(super) fn settle_summaries<'a>(
    workflows: impl Iterator<Item = &'a Workflow>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let sound = diagnostics.iter().all(|diagnostic| diagnostic.severity() != Severity::Error);
    let names = workflows.flat_map(|workflow| &workflow.phases).flat_map(|entry| {
        let key = match &entry.kind {
            EntryKind::Phase(_) => None,
            EntryKind::Workflow { key, .. } => Some(&**key),
        };
        std::iter::once(entry.id()).chain(key)
    });
    let ids: BTreeSet<&str> = names.collect();
    diagnostics.retain_mut(|diagnostic| {
        let Problem::UnknownSummary { id, suggestion } = &mut diagnostic.problem else {
            return true;
        };
        *suggestion = nearest(id, ids.iter().copied()).map(Into::into);
        sound && !ids.contains(id.as_str())
    });
}
