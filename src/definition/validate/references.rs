//! References between workflows: each must lead to a workflow, and none may be part of a cycle.

use crate::sorted::{Map, Set};

use super::fuel::Fuel;
use super::known::Known;
use super::{flow, parallel};
use crate::definition::diagnostic::{Anchored, PathPart, WorkflowProblem};
use crate::definition::model::{
    Entry, EntryKind, LeftOut, MAX_NESTING, Workflow, entries_of_file, is_group_key, last_part, package_of, with_types,
};

/// Leaves out the workflows with errors in their references or beside each other, and reports these errors.
///
/// A workflow is validated together with the workflows nested in it if none of these has errors. A workflow whose
/// references lead into a cycle, or to a workflow that is missing or has errors, is reported for these references
/// alone. Each reference is rewritten to the key that it means, see [`rewrite_to_keys`].
///
/// Specification: configuration reference, "Cycle Detection" and "Broken Subworkflow References".
///
/// A workflow whose validation would need more `fuel` than it has is reported for that alone.
pub(crate) fn resolve(
    workflows: &mut Vec<Workflow>,
    left_out: &mut Vec<LeftOut>,
    fuel: &Fuel,
    anchored: &mut Vec<Anchored>,
) {
    rewrite_to_keys(workflows, left_out);
    let targets = targets(workflows);
    let (cycles, depths) = cycles(&targets);
    add_types(workflows, &depths);
    // The files in a cycle, and all files that are left out, by the key of their workflow.
    let (mut in_cycle, mut gone) = (Set::new(), Set::new());
    for Cycle { path, members } in &cycles {
        let on_path = || path.iter().filter_map(|&index| workflows.get(index)).filter(|of| of.group.is_none());
        let keys = on_path().chain(on_path().take(1)).map(|workflow| workflow.key.clone());
        let mut keys: Vec<String> = keys.collect();
        if path.len() == MAX_PATH {
            // The groups on the path are not named.
            keys.insert(keys.len().saturating_sub(1), "…".into());
        }
        let members = || members.iter().filter_map(|&index| workflows.get(index));
        let groups: Set<&str> = members().filter(|of| of.group.is_some()).map(|of| &*of.key).collect();
        for workflow in members() {
            in_cycle.insert(file_key(workflow));
            // One cycle is one error, however many groups it leads through.
            let mut inner = workflow.phases.iter().filter_map(Entry::group_key);
            if !inner.any(|key| groups.contains(key)) {
                let problem = WorkflowProblem::Cycle { keys: keys.clone() };
                anchored.push(at_reference(workflow, &keys, problem));
            }
        }
    }
    gone.extend(in_cycle.iter().copied());
    for (workflow, depth) in workflows.iter().zip(&depths) {
        if *depth > MAX_NESTING && !in_cycle.contains(file_key(workflow)) {
            let problem = WorkflowProblem::NestedTooDeep { limit: MAX_NESTING };
            anchored.push(Anchored::new(workflow, problem, &[PathPart::Key("phases")]));
            gone.insert(file_key(workflow));
        }
    }
    let names = Names::of(workflows, left_out);
    let known = Known::new(workflows.iter(), fuel);
    // Each file with its groups; the files of nested workflows come first.
    let mut files: Vec<(&[Workflow], usize)> = Vec::new();
    let mut depths = &depths[..];
    for file in workflows.chunk_by(|_, next| next.group.is_some()) {
        let (own, rest) = depths.split_at_checked(file.len()).unwrap_or_default();
        files.push((file, own.first().copied().unwrap_or_default()));
        depths = rest;
    }
    files.sort_by_key(|(_, depth)| *depth);
    for (file, _) in files {
        let Some(key) = file.first().map(|workflow| workflow.key.as_str()) else { continue };
        if gone.contains(key) {
            continue;
        }
        let mut errors = Vec::new();
        for workflow in file {
            let mut seen = Set::new();
            for reference in references(workflow).filter(|key| !is_group_key(key) && seen.insert(*key)) {
                let (of, to) = (key.to_owned(), reference.to_owned());
                let problem = if in_cycle.contains(reference) {
                    WorkflowProblem::InCycle { workflow: of, reference: to }
                } else if gone.contains(reference) || !known.workflows.contains_key(reference) {
                    let broken = WorkflowProblem::BrokenWorkflow { workflow: of, reference: to };
                    names.problem_of(fuel, key, reference).unwrap_or(broken)
                } else {
                    continue;
                };
                errors.push(at_reference(workflow, &[reference.to_owned()], problem));
            }
        }
        if errors.is_empty() {
            let all = file.first().map(|first| entries_of_file(first, &|key| known.workflows.get(key).copied()));
            let all = all.unwrap_or_default();
            fuel.begin(file);
            for workflow in file {
                errors.append(&mut flow::errors(workflow, &known, &all, left_out.is_empty()));
                errors.append(&mut parallel::errors(workflow, &known, &all));
            }
            if let (true, Some(workflow)) = (fuel.is_over(), file.first()) {
                errors = vec![Anchored::new(workflow, WorkflowProblem::TooLarge, &[PathPart::Key("phases")])];
            }
        }
        if !errors.is_empty() {
            gone.insert(key);
        }
        anchored.append(&mut errors);
    }
    let gone: Set<String> = gone.into_iter().map(ToOwned::to_owned).collect();
    for workflow in workflows.iter().filter(|workflow| gone.contains(&workflow.key)) {
        let command_name = Some(workflow.command_name.clone()).filter(|name| !name.is_empty());
        left_out.push(LeftOut { key: workflow.key.clone(), folder: workflow.folder.clone(), command_name });
    }
    workflows.retain(|workflow| !gone.contains(file_key(workflow)));
    left_out.sort();
    left_out.dedup();
}

/// Adds [`Workflow::given`]. `depths` are the depths of what each workflow nests: the types of an outer workflow follow from
/// those of the workflows in it, which are found once.
fn add_types(workflows: &mut [Workflow], depths: &[usize]) {
    let with_outputs =
        workflows.iter().zip(depths).enumerate().filter(|(_, (workflow, _))| !workflow.outputs.is_empty());
    let mut order: Vec<(usize, usize)> = with_outputs.map(|(at, (_, depth))| (*depth, at)).collect();
    if order.is_empty() {
        return;
    }
    order.sort_unstable();
    // Of two workflows with the same key the first counts.
    let index: Map<String, usize> = workflows.iter().enumerate().rev().map(|(at, of)| (of.key.clone(), at)).collect();
    for (_, at) in order {
        let get = |key: &str| workflows.get(*index.get(key)?);
        let given = workflows.get(at).map(|workflow| with_types(workflow, &get));
        if let (Some(workflow), Some(given)) = (workflows.get_mut(at), given) {
            workflow.given = given;
        }
    }
}

/// Returns the key of the workflow in whose file a workflow or a group stands.
fn file_key(workflow: &Workflow) -> &str {
    workflow.group.as_ref().map_or(&workflow.key, |group| &group.file)
}

/// The names that a reference may mean.
struct Names<'a> {
    /// The keys of all workflows, also of those with errors.
    keys: Set<&'a str>,
    /// The key of the workflow with each command name.
    of_commands: Map<&'a str, &'a str>,
    /// The first key of a workflow in a folder with each name.
    of_folders: Map<&'a str, &'a str>,
}

impl<'a> Names<'a> {
    fn of(workflows: &'a [Workflow], left_out: &'a [LeftOut]) -> Self {
        let mut keys = Set::new();
        let files = workflows.iter().filter(|workflow| workflow.group.is_none());
        keys.extend(files.map(|workflow| workflow.key.as_str()));
        keys.extend(left_out.iter().map(|left_out| left_out.key.as_str()));
        let mut of_commands = Map::new();
        for workflow in workflows.iter().filter(|workflow| !workflow.command_name.is_empty()) {
            of_commands.entry(workflow.command_name.as_str()).or_insert(workflow.key.as_str());
        }
        let mut of_folders = Map::new();
        for key in &keys {
            of_folders.entry(last_part(key)).or_insert(*key);
        }
        Self { keys, of_commands, of_folders }
    }

    /// Returns the problem of a reference to a missing workflow; `None` if the workflow exists and has errors.
    fn problem_of(&self, fuel: &Fuel, workflow: &str, reference: &str) -> Option<WorkflowProblem> {
        if self.keys.contains(reference) {
            return None;
        }
        let (workflow, reference) = (workflow.to_owned(), reference.to_owned());
        if let Some(key) = self.of_commands.get(reference.as_str()) {
            let key = (*key).to_owned();
            return Some(WorkflowProblem::CommandNameAsReference { workflow, reference, key });
        }
        let others = self.keys.iter().copied().filter(|key| *key != workflow);
        // A reference may be a path to the folder: the last part of the path is the name.
        let name = reference.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next();
        let name = name.unwrap_or(&reference);
        let of_package = self.of_folders.get(name).copied().filter(|key| *key != workflow);
        let suggestion = of_package.or_else(|| fuel.nearest(name, others)).map(Into::into);
        Some(WorkflowProblem::UnknownWorkflow { workflow, reference, suggestion })
    }
}

/// A diagnostic at the first reference to one of these keys.
fn at_reference(workflow: &Workflow, keys: &[String], problem: WorkflowProblem) -> Anchored {
    let is_meant = |entry: &Entry| match &entry.kind {
        EntryKind::Workflow { key, .. } => keys.contains(key),
        EntryKind::Phase(_) => false,
    };
    let index = workflow.phases.iter().position(is_meant).unwrap_or_default();
    Anchored::new(workflow, problem, &[PathPart::Key("phases"), PathPart::Item(index)])
}

fn references(workflow: &Workflow) -> impl Iterator<Item = &str> {
    workflow.phases.iter().filter_map(Entry::nested_key)
}

/// Rewrites each reference to the key that it means; a reference that means no key stays as it is.
///
/// In a package's workflow a reference means the workflow of this folder in the same package, otherwise the workflow
/// with this key. In every other workflow a reference means the workflow with this key, otherwise the first workflow of
/// a package in a folder of this name. A reference that differs only in case from the only key that it can mean is
/// corrected: file systems that ignore case return folder names in either case.
fn rewrite_to_keys(workflows: &mut [Workflow], left_out: &[LeftOut]) {
    let keys: Vec<String> = workflows.iter().map(|workflow| workflow.key.clone()).collect();
    let all: Set<&str> = keys.iter().chain(left_out.iter().map(|left_out| &left_out.key)).map(|key| &**key).collect();
    let mut by_lower_case = Map::new();
    for (index, key) in keys.iter().enumerate() {
        // Several keys that differ only in case share an index that no key has: the reference means none of them.
        let several = |first: &mut usize| *first = usize::MAX;
        by_lower_case.entry(key.to_lowercase()).and_modify(several).or_insert(index);
    }
    let mut of_packages: Map<String, &str> = Map::new();
    for key in keys.iter().chain(left_out.iter().map(|left_out| &left_out.key)) {
        if package_of(key).is_some() {
            of_packages.entry(last_part(key).to_lowercase()).or_insert(key);
        }
    }
    let mut of_left_out = Map::new();
    for LeftOut { key, .. } in left_out {
        of_left_out.entry(key.to_lowercase()).or_insert(&**key);
    }
    let find = |key: &str| {
        let lower = key.to_lowercase();
        let only = by_lower_case.get(&lower).and_then(|&index| keys.get(index));
        let exact = only.map(|key| &**key).or_else(|| all.get(key).copied());
        exact.or_else(|| of_left_out.get(&lower).copied())
    };
    for workflow in workflows.iter_mut() {
        let package = package_of(&workflow.key);
        for entry in &mut workflow.phases {
            let EntryKind::Workflow { key: reference, .. } = &mut entry.kind else { continue };
            if is_group_key(reference) {
                continue;
            }
            let key = match package {
                Some(package) => find(&format!("{package}/{reference}")).or_else(|| find(reference)),
                None => find(reference).or_else(|| of_packages.get(&reference.to_lowercase()).copied()),
            };
            if let Some(key) = key {
                key.clone_into(reference);
            }
        }
    }
}

/// Returns, for each workflow, the indices of the workflows that it refers to; `None` for a workflow that does not
/// exist or cannot be read. Of two workflows with the same key the first counts.
fn targets(workflows: &[Workflow]) -> Vec<Vec<Option<usize>>> {
    let mut index_of = Map::new();
    let indices = workflows.iter().enumerate().rev();
    index_of.extend(indices.map(|(index, workflow)| (&*workflow.key, index)));
    let target = |key: &str| index_of.get(key).copied();
    workflows.iter().map(|workflow| references(workflow).map(target).collect()).collect()
}

/// Maximum number of workflows of a cycle that a diagnostic names.
const MAX_PATH: usize = 10;

/// A cycle of references, as indices of workflows.
struct Cycle {
    /// The first workflows of the cycle, [`MAX_PATH`] at most.
    path: Vec<usize>,
    /// The workflows that are in no cycle found before; at least one.
    members: Vec<usize>,
}

/// Returns the cycles that a depth-first search finds, each with a workflow that is in no earlier cycle, and the depth
/// of the nesting of each workflow. The work is linear in the number of references.
fn cycles(targets: &[Vec<Option<usize>>]) -> (Vec<Cycle>, Vec<usize>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; targets.len()];
    let mut depths = vec![0_usize; targets.len()];
    let mut cycles = Vec::new();
    let mut in_cycle = vec![false; targets.len()];
    for start in 0..targets.len() {
        if marks.get(start) != Some(&Mark::New) {
            continue;
        }
        // The path from `start`: each workflow with the number of its references that were followed.
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        if let Some(mark) = marks.get_mut(start) {
            *mark = Mark::Open;
        }
        while let Some((index, followed)) = path.last_mut() {
            let index = *index;
            let Some(&target) = targets.get(index).and_then(|targets| targets.get(*followed)) else {
                let below = targets.get(index).into_iter().flatten().flatten();
                let depth = below.filter_map(|&target| depths.get(target)).max().map_or(0, |d| d + 1);
                if let (Some(mark), Some(own)) = (marks.get_mut(index), depths.get_mut(index)) {
                    (*mark, *own) = (Mark::Done, depth);
                }
                path.pop();
                continue;
            };
            *followed += 1;
            let Some(target) = target else { continue };
            match marks.get_mut(target) {
                Some(mark @ Mark::New) => {
                    *mark = Mark::Open;
                    path.push((target, 0));
                }
                Some(Mark::Open) => {
                    let around = || path.iter().map(|(index, _)| *index).skip_while(|&at| at != target);
                    let is_new = |index: &usize| in_cycle.get(*index) == Some(&false);
                    let members: Vec<usize> = around().filter(is_new).collect();
                    if members.is_empty() {
                        continue;
                    }
                    for &index in &members {
                        in_cycle.get_mut(index).into_iter().for_each(|mark| *mark = true);
                    }
                    cycles.push(Cycle { path: around().take(MAX_PATH).collect(), members });
                }
                Some(Mark::Done) | None => {}
            }
        }
    }
    (cycles, depths)
}
