//! References between workflows: every one must lead to a workflow, and none in a circle.

use std::collections::{BTreeMap, BTreeSet};

use super::library::LeftOut;
use super::nearest::nearest;
use super::{Entry, Fault, Problem, Workflow};

/// How deep workflows may be nested: what walks along a nesting needs no other bound.
pub(super) const MAX_NESTING: usize = 100;

/// Leaves out the workflows whose references cannot be followed, and reports each.
///
/// First those in a circle, then, until nothing changes, those that refer to one that is not there.
/// A reference whose case differs from the only key that it can mean is set right: file systems that
/// ignore case hand out folder names in either.
///
/// Specification: configuration reference, "Cycle Detection" and "Broken Subworkflow References".
pub(super) fn resolve(
    workflows: &mut Vec<Workflow>,
    left_out: &mut Vec<LeftOut>,
    faults: &mut Vec<Fault>,
) {
    let all: Vec<(String, String)> =
        workflows.iter().map(|workflow| (workflow.key.clone(), workflow.folder.clone())).collect();
    set_case_right(workflows);
    let (circles, too_deep) = circles(workflows);
    for circle in &circles {
        let mut keys: Vec<String> =
            circle.iter().filter_map(|&index| Some(workflows.get(index)?.key.clone())).collect();
        keys.extend(keys.first().cloned());
        for &index in circle {
            if let Some(workflow) = workflows.get(index) {
                faults.push(fault(workflow, Problem::Cycle { keys: keys.clone() }));
            }
        }
    }
    let key_of = |&index: &usize| Some(workflows.get(index)?.key.clone());
    let in_circle: BTreeSet<String> = circles.iter().flatten().filter_map(key_of).collect();
    let too_deep: BTreeSet<String> = too_deep.iter().filter_map(key_of).collect();
    workflows.retain(|workflow| {
        if too_deep.contains(&workflow.key) && !in_circle.contains(&workflow.key) {
            faults.push(fault(workflow, Problem::NestedTooDeep { limit: MAX_NESTING }));
        }
        !in_circle.contains(&workflow.key) && !too_deep.contains(&workflow.key)
    });
    let broken = left_out.iter().map(|left_out| left_out.key.as_str());
    let known: BTreeSet<&str> = all.iter().map(|(key, _)| key.as_str()).chain(broken).collect();
    loop {
        let keys: BTreeSet<String> =
            workflows.iter().map(|workflow| workflow.key.clone()).collect();
        let before = workflows.len();
        workflows.retain(|workflow| {
            let Some(reference) = references(workflow).find(|&reference| !keys.contains(reference))
            else {
                return true;
            };
            let (circle, workflow_key, reference) =
                (in_circle.contains(reference), workflow.key.clone(), reference.to_owned());
            let problem = if circle {
                Problem::InCycle { workflow: workflow_key, reference }
            } else if known.contains(reference.as_str()) {
                Problem::BrokenWorkflow { workflow: workflow_key, reference }
            } else {
                let others = known.iter().copied().filter(|key| *key != workflow_key);
                let nearest = nearest(&reference, others).map(Into::into);
                Problem::UnknownWorkflow { workflow: workflow_key, reference, nearest }
            };
            faults.push(fault(workflow, problem));
            false
        });
        if workflows.len() == before {
            break;
        }
    }
    let kept: BTreeSet<&str> = workflows.iter().map(|workflow| &*workflow.key).collect();
    let gone = all.into_iter().filter(|(key, _)| !kept.contains(key.as_str()));
    left_out.extend(gone.map(|(key, folder)| LeftOut { key, folder }));
    left_out.sort();
    left_out.dedup();
}

fn fault(workflow: &Workflow, problem: Problem) -> Fault {
    Fault::of(workflow.file(), problem)
}

fn references(workflow: &Workflow) -> impl Iterator<Item = &str> {
    workflow.phases.iter().filter_map(|entry| match entry {
        Entry::Workflow(key) => Some(key.as_str()),
        Entry::Phase(_) => None,
    })
}

fn set_case_right(workflows: &mut [Workflow]) {
    let mut by_lower_case: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for workflow in workflows.iter() {
        by_lower_case.entry(workflow.key.to_lowercase()).or_default().push(workflow.key.clone());
    }
    for entry in workflows.iter_mut().flat_map(|workflow| &mut workflow.phases) {
        if let Entry::Workflow(reference) = entry
            && let Some([only]) = by_lower_case.get(&reference.to_lowercase()).map(Vec::as_slice)
        {
            only.clone_into(reference);
        }
    }
}

/// The circles that a depth-first search finds, each as the indices along it; and the workflows that
/// are nested too deep. A workflow that is searched through is not searched again, so the work is
/// linear in the number of references.
fn circles(workflows: &[Workflow]) -> (Vec<Vec<usize>>, Vec<usize>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let index_of: BTreeMap<&str, usize> =
        workflows.iter().enumerate().map(|(index, workflow)| (&*workflow.key, index)).collect();
    let targets: Vec<Vec<usize>> = workflows
        .iter()
        .map(|workflow| references(workflow).filter_map(|key| index_of.get(key).copied()).collect())
        .collect();
    let mut marks = vec![Mark::New; workflows.len()];
    let mut depths = vec![0_usize; workflows.len()];
    let (mut circles, mut too_deep) = (Vec::new(), Vec::new());
    for start in 0..workflows.len() {
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
                let below = targets.get(index).into_iter().flatten();
                let depth =
                    below.filter_map(|&target| depths.get(target)).max().map_or(0, |d| d + 1);
                if depth > MAX_NESTING {
                    too_deep.push(index);
                }
                if let (Some(mark), Some(own)) = (marks.get_mut(index), depths.get_mut(index)) {
                    (*mark, *own) = (Mark::Done, depth);
                }
                path.pop();
                continue;
            };
            *followed += 1;
            match marks.get_mut(target) {
                Some(mark @ Mark::New) => {
                    *mark = Mark::Open;
                    path.push((target, 0));
                }
                Some(Mark::Open) => circles.push(
                    path.iter()
                        .map(|(index, _)| *index)
                        .skip_while(|&index| index != target)
                        .collect(),
                ),
                _ => {}
            }
        }
    }
    (circles, too_deep)
}
