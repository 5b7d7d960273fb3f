//! Loads the workflows of all roots.

use crate::sorted::Map;

use super::diagnostic::report::{self};
use super::diagnostic::{
    Anchored, Diagnostic, PathPart, PhaseProblem, Problem, ToolProblem, VariableProblem, WorkflowProblem,
};
use super::model::{
    BUILTIN_ROOT, LEFT_OVER, LEFT_OVER_LIMITS, LeftOut, Library, PackageScope, Parts, Replacing, Root, Stale,
    Surroundings, Workflow, WorkflowFiles, last_part, package_of,
};
use super::read::bounded::Bounded;
use super::read::root::RootReader;
use super::read::sources::Sources;
use super::users_settings::{self, UsersSettings, report_left_over};
use super::validate::fuel::Fuel;
use super::validate::{limits, models, references, starts, variables, ways};

impl Library {
    /// Makes a library of workflows, and leaves out workflows whose references cannot be followed.
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "for tests"))]
    pub fn new(workflows: Vec<Workflow>, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut anchored = Vec::new();
        let parts = Parts { workflows, ..Parts::default() };
        let library = build(parts, &Fuel::new(), &mut anchored);
        diagnostics.extend(anchored.into_iter().map(|Anchored { diagnostic, .. }| diagnostic));
        library
    }

    /// Reads all roots. A workflow in a later root replaces the workflow with the same key in an earlier root. The key
    /// of a package's workflow begins with the package, so such a workflow replaces no workflow of the user or the
    /// project.
    ///
    /// Returns the workflows that could be loaded, and the diagnostics of the other workflows.
    ///
    /// Specification: configuration reference, all of it.
    pub fn load(files: &dyn WorkflowFiles) -> Result<(Self, Vec<Diagnostic>), Stale> {
        read(files, None, &Fuel::new())
    }

    /// Like [`Self::load`], with warnings.
    pub fn check(files: &dyn WorkflowFiles) -> Result<(Self, Vec<Diagnostic>), Stale> {
        Self::check_in(&files.surroundings()?, files)
    }

    /// Like [`Self::check`], with these names of tools, profiles and models.
    pub fn check_in(surroundings: &Surroundings, files: &dyn WorkflowFiles) -> Result<(Self, Vec<Diagnostic>), Stale> {
        read(files, Some(surroundings), &Fuel::new())
    }
}

pub(super) fn read(
    files: &dyn WorkflowFiles,
    check: Option<&Surroundings>,
    fuel: &Fuel,
) -> Result<(Library, Vec<Diagnostic>), Stale> {
    let UsersSettings { settings, tree, of_limits, of_others: mut diagnostics, .. } =
        users_settings::read(files, check)?;
    if check.is_some() {
        // Elsewhere the limits of the session tell their errors.
        diagnostics.extend(of_limits);
        report_left_over(&[LEFT_OVER_LIMITS, LEFT_OVER].concat(), tree.as_deref(), files, &mut diagnostics)?;
    }
    let mut parts = Parts { settings, ..Parts::default() };
    let mut index: Map<String, usize> = Map::new();
    let mut replaced = Vec::new();
    let mut taken = Taken::default();
    let roots = files.roots()?;
    let mut bounded = Bounded::new(files);
    let mut sources = Sources::default();
    for (number, root) in roots.iter().enumerate() {
        if bounded.reached_at().is_some() {
            break;
        }
        if root.name == BUILTIN_ROOT && !parts.settings.builtin {
            continue;
        }
        let reader = RootReader::new(&mut bounded, root, check, &mut sources, &mut diagnostics);
        let Parts { workflows, left_out, skipped, mut listed, .. } = reader.read()?;
        if number + 1 < roots.len() {
            taken.add(&workflows, &left_out, number);
        }
        parts.left_out.extend(left_out);
        parts.skipped.extend(skipped);
        parts.listed.append(&mut listed);
        for workflow in workflows {
            match index.get(&workflow.key).and_then(|&at| parts.workflows.get_mut(at)) {
                Some(earlier) => {
                    let key = workflow.key.clone();
                    let problem = WorkflowProblem::Replaces { key, other: earlier.folder.clone() };
                    replaced.push(Anchored::new(&workflow, problem, &[PathPart::Key("name")]));
                    *earlier = workflow;
                }
                None => {
                    index.insert(workflow.key.clone(), parts.workflows.len());
                    parts.workflows.push(workflow);
                }
            }
        }
    }
    parts.replacing = taken.replacing(&parts.workflows, &roots);
    let mut anchored = Vec::new();
    let library = build(parts, fuel, &mut anchored);
    if let Some(surroundings) = check {
        diagnostics.extend(profiles_outside(surroundings));
        anchored.extend(replaced);
        starts::similar_command_names(&library, &mut anchored);
        limits::report(&library, surroundings, files, fuel, &mut anchored)?;
        ways::report(&library, fuel, &mut anchored);
        models::report(&library, surroundings, &mut anchored);
        starts::offers(&library, &mut anchored);
    }
    diagnostics.extend(sources.place(anchored));
    suggest_references(&library, &mut diagnostics);
    if check.is_some() {
        variables::remove_known_values(&library, fuel, &mut diagnostics);
    } else {
        // Without a check nothing tells if the variable is known around the text.
        diagnostics.retain(|one| !matches!(one.problem, Problem::Variable(VariableProblem::NoItem { .. })));
    }
    report::sort(&mut diagnostics);
    Ok((library, diagnostics))
}

/// Suggests the reference to a workflow where an entry of `phases` is not a file but the name of a workflow.
fn suggest_references(library: &Library, diagnostics: &mut [Diagnostic]) {
    for diagnostic in diagnostics {
        let Problem::Phase(PhaseProblem::PhaseUnreadable { path, suggestion, .. }) = &mut diagnostic.problem else {
            continue;
        };
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        if suggestion.as_ref().is_some_and(|file| *file == format!("{path}.md")) {
            continue;
        }
        let left_out = library.left_out().iter().find(|left_out| left_out.key == name);
        let known = library.get(name).or_else(|| library.by_command_name(name));
        let known = known.or_else(|| library.iter().find(|other| last_part(&other.key) == name));
        let known = known.map(|workflow| (&workflow.key, &workflow.folder));
        if let Some((key, folder)) = known.or_else(|| left_out.map(|left_out| (&left_out.key, &left_out.folder)))
            && diagnostic.file != format!("{folder}/workflow.yaml")
        {
            *suggestion = Some(format!("subworkflow: {key}"));
        }
    }
}

/// The keys and command names of all workflows, also of those with errors, and the first root that has each.
#[derive(Default)]
struct Taken {
    /// In lower case.
    keys: Map<String, usize>,
    commands: Map<String, usize>,
}

impl Taken {
    fn add(&mut self, found: &[Workflow], left_out: &[LeftOut], root: usize) {
        for workflow in found {
            let Workflow { key, command_name, .. } = workflow;
            self.keys.entry(key.to_lowercase()).or_insert(root);
            if !command_name.is_empty() && workflow.package().is_none() {
                self.commands.entry(command_name.clone()).or_insert(root);
            }
        }
        for LeftOut { key, command_name, .. } in left_out {
            self.keys.entry(key.to_lowercase()).or_insert(root);
            if package_of(key).is_some() {
                continue;
            }
            // Without a readable command name, the folder's name stands in for it.
            self.commands.entry(command_name.as_ref().unwrap_or(key).clone()).or_insert(root);
        }
    }

    fn replacing(&self, workflows: &[Workflow], roots: &[Root]) -> Replacing {
        let mut replacing = Replacing::default();
        for workflow in workflows {
            let root = roots.iter().position(|root| root.name == workflow.root);
            let is_earlier = |first: Option<&usize>| first.copied() < root && first.is_some();
            let first = self.keys.get(&workflow.key.to_lowercase());
            let scope_of = |root: &usize| roots.get(*root)?.package.as_ref().map(|package| package.scope);
            // A package in the user's settings replaces no package with the same name.
            let is_of_project = root.as_ref().and_then(scope_of) != Some(PackageScope::User);
            if is_of_project && is_earlier(first) {
                replacing.keys.insert(workflow.key.clone());
            }
            if workflow.package().is_none() && is_earlier(self.commands.get(&workflow.command_name)) {
                replacing.commands.insert(workflow.key.clone());
            }
        }
        replacing
    }
}

/// Reports the folders of subagent profiles that are not read.
pub(crate) fn profiles_outside(surroundings: &Surroundings) -> impl Iterator<Item = Diagnostic> {
    let folders = surroundings.profiles_outside.iter();
    folders.map(|folder| Diagnostic::new(folder, ToolProblem::ProfilesOutside))
}

/// Makes a library of the parts that were read, and leaves out the workflows with errors.
fn build(mut parts: Parts, fuel: &Fuel, anchored: &mut Vec<Anchored>) -> Library {
    parts.workflows = with_groups(parts.workflows);
    references::resolve(&mut parts.workflows, &mut parts.left_out, fuel, anchored);
    let library = Library::of(parts);
    starts::report_duplicates(&library, anchored);
    library
}

/// Returns the workflows with the groups in them, each group behind its workflow.
fn with_groups(workflows: Vec<Workflow>) -> Vec<Workflow> {
    let with_groups = |mut workflow: Workflow| {
        let groups = std::mem::take(&mut workflow.groups);
        std::iter::once(workflow).chain(groups)
    };
    workflows.into_iter().flat_map(with_groups).collect()
}
