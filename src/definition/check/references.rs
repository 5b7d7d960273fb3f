//! References between workflows: each must lead to a workflow, and none may be part of a cycle.

use crate::sorted::{Map, Set};

use super::flow;
use crate::definition::diagnostic::anchor::{Step, Unplaced};
use crate::definition::diagnostic::workflow::WorkflowProblem;
use crate::definition::model::library::{LeftOut, MAX_NESTING};
use crate::definition::model::nearest::nearest;
use crate::definition::model::paths::{is_group_key, last_part, package_of};
use crate::definition::model::workflow::{Entry, EntryKind, Workflow};

/// Leaves out the workflows whose references cannot be followed, and reports each.
///
/// First those in a cycle, then, until nothing changes, those that refer to one that is not there.
/// Each reference is rewritten to the key that it means, see [`rewrite_to_keys`].
///
/// Specification: configuration reference, "Cycle Detection" and "Broken Subworkflow References".
pub(crate) fn resolve(
    workflows: &mut Vec<Workflow>,
    left_out: &mut Vec<LeftOut>,
    unplaced: &mut Vec<Unplaced>,
) {
    #[derive(Clone, Copy, PartialEq)]
    enum Fate {
        Kept,
        InCycle,
        LeftOut,
    }
    rewrite_to_keys(workflows, left_out);
    let targets = targets(workflows);
    let (cycles, depths) = cycles(&targets);
    let mut fates = vec![Fate::Kept; workflows.len()];
    for Cycle { path, members } in &cycles {
        let is_file = |workflow: &&Workflow| workflow.group.is_none();
        let on_path = || path.iter().filter_map(|&index| workflows.get(index)).filter(is_file);
        let keys = on_path().chain(on_path().take(1)).map(|workflow| workflow.key.clone());
        let mut keys: Vec<String> = keys.collect();
        if path.len() == MAX_PATH {
            keys.insert(MAX_PATH, "…".into());
        }
        for &index in members {
            let problem = WorkflowProblem::Cycle { keys: keys.clone() };
            let workflow = workflows.get(index);
            // One cycle is one error, however many groups it leads through.
            let reports = |workflow: &&Workflow| {
                !workflow.phases.iter().filter_map(Entry::group_key).any(|key| {
                    let is_group = |index: &usize| workflows.get(*index).is_some_and(|of| of.key == key);
                    members.iter().any(is_group)
                })
            };
            let workflow = workflow.filter(reports);
            unplaced.extend(workflow.map(|workflow| at_reference(workflow, &keys, problem)));
            if let Some(fate) = fates.get_mut(index) {
                *fate = Fate::InCycle;
            }
        }
    }
    for ((workflow, fate), depth) in workflows.iter().zip(&mut fates).zip(depths) {
        if depth > MAX_NESTING && *fate == Fate::Kept {
            let problem = WorkflowProblem::NestedTooDeep { limit: MAX_NESTING };
            unplaced.push(Unplaced::new(workflow, problem, &[Step::Key("phases")]));
            *fate = Fate::LeftOut;
        }
    }
    let by_key: flow::Workflows =
        workflows.iter().map(|workflow| (workflow.key.as_str(), workflow)).collect();
    for (workflow, fate) in workflows.iter().zip(&mut fates) {
        let errors = flow::errors(workflow, &by_key);
        if *fate == Fate::Kept && !errors.is_empty() {
            *fate = Fate::LeftOut;
            unplaced.extend(errors);
        }
    }
    let mut known = Set::new();
    let files = workflows.iter().filter(|workflow| workflow.group.is_none());
    known.extend(files.map(|workflow| workflow.key.as_str()));
    known.extend(left_out.iter().map(|left_out| left_out.key.as_str()));
    let mut keys_of_commands = Map::new();
    for workflow in workflows.iter().filter(|workflow| !workflow.command_name.is_empty()) {
        keys_of_commands.entry(workflow.command_name.as_str()).or_insert(workflow.key.as_str());
    }
    loop {
        let before = fates.clone();
        let fate_of = |target: &Option<usize>| before.get((*target)?);
        let all = workflows.iter().zip(&mut fates).zip(&targets);
        for ((workflow, fate), targets) in all.filter(|((_, fate), _)| **fate == Fate::Kept) {
            let mut references = references(workflow).zip(targets.iter().map(fate_of));
            let Some((reference, target)) = references.find(|(_, fate)| *fate != Some(&Fate::Kept))
            else {
                continue;
            };
            *fate = Fate::LeftOut;
            // Its own error is reported.
            if is_group_key(reference) {
                continue;
            }
            let file = workflow.group.as_ref().map_or(&workflow.key, |group| &group.file);
            let (workflow_key, reference) = (file.clone(), reference.to_owned());
            let keys = [reference.clone()];
            let problem = if target == Some(&Fate::InCycle) {
                WorkflowProblem::InCycle { workflow: workflow_key, reference }
            } else if known.contains(reference.as_str()) {
                WorkflowProblem::BrokenWorkflow { workflow: workflow_key, reference }
            } else if let Some(key) = keys_of_commands.get(reference.as_str()) {
                let key = (*key).to_owned();
                WorkflowProblem::CommandNameAsReference { workflow: workflow_key, reference, key }
            } else {
                let others = known.iter().copied().filter(|key| *key != workflow_key);
                // A path to the folder has its name at the end.
                let name = reference.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next();
                let name = name.unwrap_or(&reference);
                let of_package = others.clone().find(|key| last_part(key) == name);
                let suggestion = of_package.or_else(|| nearest(name, others)).map(Into::into);
                WorkflowProblem::UnknownWorkflow { workflow: workflow_key, reference, suggestion }
            };
            unplaced.push(at_reference(workflow, &keys, problem));
        }
        if fates == before {
            break;
        }
    }
    // The groups of a workflow that is left out, which nothing reaches.
    let kept = workflows.iter().zip(&fates).filter(|(_, fate)| **fate == Fate::Kept);
    let kept: Set<String> = kept.map(|(workflow, _)| workflow.key.clone()).collect();
    let is_kept = |workflow: &Workflow| {
        let file = workflow.group.as_ref().map(|group| &group.file);
        kept.contains(&workflow.key) && file.is_none_or(|file| kept.contains(file))
    };
    let gone: Vec<Workflow> = workflows.extract_if(.., |workflow| !is_kept(workflow)).collect();
    let gone = gone.into_iter().filter(|workflow| workflow.group.is_none());
    let gone = gone.map(|Workflow { key, folder, command_name, .. }| {
        let command_name = Some(command_name).filter(|name| !name.is_empty());
        LeftOut { key, folder, command_name }
    });
    for workflow in std::mem::take(left_out).into_iter().chain(gone) {
        if let Err(at) = left_out.binary_search(&workflow) {
            left_out.insert(at, workflow);
        }
    }
}

/// A diagnostic at the first reference to one of these keys.
fn at_reference(workflow: &Workflow, keys: &[String], problem: WorkflowProblem) -> Unplaced {
    let is_meant = |entry: &Entry| match &entry.kind {
        EntryKind::Workflow { key, .. } => keys.contains(key),
        EntryKind::Phase(_) => false,
    };
    let index = workflow.phases.iter().position(is_meant).unwrap_or_default();
    Unplaced::new(workflow, problem, &[Step::Key("phases"), Step::Item(index)])
}

fn references(workflow: &Workflow) -> impl Iterator<Item = &str> {
    workflow.phases.iter().filter_map(Entry::nested_key)
}

/// Rewrites each reference to the key that it means; one that means none stays as it is.
///
/// In a package's workflow a reference means the workflow of that folder in the same package, otherwise that of this key.
/// In every other workflow it means that of this key, otherwise the first workflow of a package in a folder of that name.
/// A reference whose case differs from the only key that it can mean is corrected: file systems that ignore case return
/// folder names in either.
fn rewrite_to_keys(workflows: &mut [Workflow], left_out: &[LeftOut]) {
    let keys: Vec<String> = workflows.iter().map(|workflow| workflow.key.clone()).collect();
    let all: Set<&str> = keys
        .iter()
        .chain(left_out.iter().map(|left_out| &left_out.key))
        .map(|key| &**key)
        .collect();
    let mut by_lower_case = Map::new();
    for (index, key) in keys.iter().enumerate() {
        // Of keys that differ in case alone none is meant: no key has the index.
        let several = |first: &mut usize| *first = usize::MAX;
        by_lower_case.entry(key.to_lowercase()).and_modify(several).or_insert(index);
    }
    let mut of_packages: Map<String, &str> = Map::new();
    for key in keys.iter().chain(left_out.iter().map(|left_out| &left_out.key)) {
        if package_of(key).is_some() {
            of_packages.entry(last_part(key).to_lowercase()).or_insert(key);
        }
    }
    let find = |key: &str| {
        let only = by_lower_case.get(&key.to_lowercase()).and_then(|&index| keys.get(index));
        only.map(|key| &**key).or_else(|| all.get(key).copied())
    };
    for workflow in workflows {
        let package = package_of(&workflow.key);
        for entry in &mut workflow.phases {
            let EntryKind::Workflow { key: reference, .. } = &mut entry.kind else { continue };
            if is_group_key(reference) {
                continue;
            }
            let key = match package {
                Some(package) => {
                    find(&format!("{package}/{reference}")).or_else(|| find(reference))
                }
                None => {
                    find(reference).or_else(|| of_packages.get(&reference.to_lowercase()).copied())
                }
            };
            if let Some(key) = key {
                key.clone_into(reference);
            }
        }
    }
}

/// For each workflow the index of each one that it refers to, `None` for one that does not exist.
fn targets(workflows: &[Workflow]) -> Vec<Vec<Option<usize>>> {
    let mut index_of = Map::new();
    index_of.extend(workflows.iter().enumerate().map(|(index, workflow)| (&*workflow.key, index)));
    let target = |key: &str| index_of.get(key).copied();
    workflows.iter().map(|workflow| references(workflow).map(target).collect()).collect()
}

/// Maximum number of workflows that a diagnostic names of a cycle.
const MAX_PATH: usize = 10;

/// A cycle of references, as indices of workflows.
struct Cycle {
    /// Its first workflows, [`MAX_PATH`] at most.
    path: Vec<usize>,
    /// Those in no cycle found before; at least one.
    members: Vec<usize>,
}

/// The cycles that a depth-first search finds, each with a workflow that none before it has; and the depth of the
/// nesting of each workflow. The work is linear in the number of references.
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
        // The path from `start`, each with the number of its references that were followed.
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        if let Some(mark) = marks.get_mut(start) {
            *mark = Mark::Open;
        }
        while let Some((index, followed)) = path.last_mut() {
            let index = *index;
            let Some(&target) = targets.get(index).and_then(|targets| targets.get(*followed))
            else {
                let below = targets.get(index).into_iter().flatten().flatten();
                let depth =
                    below.filter_map(|&target| depths.get(target)).max().map_or(0, |d| d + 1);
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
                    let around =
                        || path.iter().map(|(index, _)| *index).skip_while(|&at| at != target);
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
