//! References between workflows: every one must lead to a workflow, and none in a cycle.

use std::collections::{BTreeMap, BTreeSet};

use super::library::LeftOut;
use super::nearest::nearest;
use super::{Diagnostic, Entry, Problem, Workflow};

/// How deep workflows may be nested: what walks along a nesting needs no other bound.
pub const MAX_NESTING: usize = 100;

/// Leaves out the workflows whose references cannot be followed, and reports each.
///
/// First those in a cycle, then, until nothing changes, those that refer to one that is not there.
/// A reference whose case differs from the only key that it can mean is set right: file systems that
/// ignore case hand out folder names in either.
///
/// Specification: configuration reference, "Cycle Detection" and "Broken Subworkflow References".
pub(super) fn resolve(
    workflows: &mut Vec<Workflow>,
    left_out: &mut Vec<LeftOut>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    #[derive(Clone, Copy, PartialEq)]
    enum Lot {
        Kept,
        InCircle,
        LeftOut,
    }
    set_case_right(workflows);
    let targets = targets(workflows);
    let (cycles, depths) = cycles(&targets);
    let mut lots = vec![Lot::Kept; workflows.len()];
    for Circle { way, members } in &cycles {
        let on_way = || way.iter().filter_map(|&index| workflows.get(index));
        let keys = on_way().chain(on_way().take(1)).map(|workflow| workflow.key.clone());
        let mut keys: Vec<String> = keys.collect();
        if way.len() == MAX_WAY {
            keys.insert(MAX_WAY, "…".into());
        }
        for &index in members {
            let problem = Problem::Cycle { keys: keys.clone() };
            diagnostics.extend(workflows.get(index).map(|workflow| diagnostic(workflow, problem)));
            if let Some(lot) = lots.get_mut(index) {
                *lot = Lot::InCircle;
            }
        }
    }
    for ((workflow, lot), depth) in workflows.iter().zip(&mut lots).zip(depths) {
        if depth > MAX_NESTING && *lot == Lot::Kept {
            diagnostics.push(diagnostic(workflow, Problem::NestedTooDeep { limit: MAX_NESTING }));
            *lot = Lot::LeftOut;
        }
    }
    let mut known = BTreeSet::new();
    known.extend(workflows.iter().map(|workflow| workflow.key.as_str()));
    known.extend(left_out.iter().map(|left_out| left_out.key.as_str()));
    let mut keys_of_commands = BTreeMap::new();
    for workflow in workflows.iter().filter(|workflow| !workflow.command_name.is_empty()) {
        keys_of_commands.entry(workflow.command_name.as_str()).or_insert(workflow.key.as_str());
    }
    loop {
        let before = lots.clone();
        let lot_of = |target: &Option<usize>| before.get((*target)?);
        let all = workflows.iter().zip(&mut lots).zip(&targets);
        for ((workflow, lot), targets) in all.filter(|((_, lot), _)| **lot == Lot::Kept) {
            let mut references = references(workflow).zip(targets.iter().map(lot_of));
            let Some((reference, target)) = references.find(|(_, lot)| *lot != Some(&Lot::Kept))
            else {
                continue;
            };
            *lot = Lot::LeftOut;
            let (workflow_key, reference) = (workflow.key.clone(), reference.to_owned());
            let problem = if target == Some(&Lot::InCircle) {
                Problem::InCycle { workflow: workflow_key, reference }
            } else if known.contains(reference.as_str()) {
                Problem::BrokenWorkflow { workflow: workflow_key, reference }
            } else if let Some(key) = keys_of_commands.get(reference.as_str()) {
                let key = (*key).to_owned();
                Problem::CommandNameAsReference { workflow: workflow_key, reference, key }
            } else {
                let others = known.iter().copied().filter(|key| *key != workflow_key);
                // A path to the folder has its name at the end.
                let name = reference.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next();
                let nearest = nearest(name.unwrap_or(&reference), others).map(Into::into);
                Problem::UnknownWorkflow { workflow: workflow_key, reference, nearest }
            };
            diagnostics.push(diagnostic(workflow, problem));
        }
        if lots == before {
            break;
        }
    }
    let mut lots = lots.into_iter();
    let gone = workflows.extract_if(.., |_| lots.next() != Some(Lot::Kept));
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

fn diagnostic(workflow: &Workflow, problem: Problem) -> Diagnostic {
    Diagnostic::of(workflow.file(), problem)
}

fn references(workflow: &Workflow) -> impl Iterator<Item = &str> {
    workflow.phases.iter().filter_map(|entry| match entry {
        Entry::Workflow(key) => Some(key.as_str()),
        Entry::Phase(_) => None,
    })
}

fn set_case_right(workflows: &mut [Workflow]) {
    let keys: Vec<String> = workflows.iter().map(|workflow| workflow.key.clone()).collect();
    let mut by_lower_case = BTreeMap::new();
    for (index, key) in keys.iter().enumerate() {
        // Of keys that differ in case alone none is meant: no key has the index.
        let several = |first: &mut usize| *first = usize::MAX;
        by_lower_case.entry(key.to_lowercase()).and_modify(several).or_insert(index);
    }
    for entry in workflows.iter_mut().flat_map(|workflow| &mut workflow.phases) {
        if let Entry::Workflow(reference) = entry
            && let Some(&index) = by_lower_case.get(&reference.to_lowercase())
            && let Some(only) = keys.get(index)
        {
            only.clone_into(reference);
        }
    }
}

/// For each workflow the index of each one that it refers to, if there is one.
fn targets(workflows: &[Workflow]) -> Vec<Vec<Option<usize>>> {
    let mut index_of = BTreeMap::new();
    index_of.extend(workflows.iter().enumerate().map(|(index, workflow)| (&*workflow.key, index)));
    let target = |key: &str| index_of.get(key).copied();
    workflows.iter().map(|workflow| references(workflow).map(target).collect()).collect()
}

/// Maximum number of workflows that a diagnostic names of a cycle.
const MAX_WAY: usize = 10;

/// A cycle of references, as indices of workflows.
struct Circle {
    /// Along it, the first [`MAX_WAY`].
    way: Vec<usize>,
    /// Those in no cycle found before; at least one.
    members: Vec<usize>,
}

/// The cycles that a depth-first search finds, each with a workflow that none before it has; and how deep the nesting
/// of each workflow is. A workflow that is searched through is not searched again, so the work is
/// linear in the number of references.
fn cycles(targets: &[Vec<Option<usize>>]) -> (Vec<Circle>, Vec<usize>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; targets.len()];
    let mut depths = vec![0_usize; targets.len()];
    let mut cycles = Vec::new();
    let mut in_circle = vec![false; targets.len()];
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
                    let is_new = |index: &usize| in_circle.get(*index) == Some(&false);
                    let members: Vec<usize> = around().filter(is_new).collect();
                    if members.is_empty() {
                        continue;
                    }
                    for &index in &members {
                        in_circle.get_mut(index).into_iter().for_each(|mark| *mark = true);
                    }
                    cycles.push(Circle { way: around().take(MAX_WAY).collect(), members });
                }
                _ => {}
            }
        }
    }
    (cycles, depths)
}
