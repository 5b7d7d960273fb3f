//! References between workflows: each must lead to a workflow, and none may be part of a cycle.

use crate::sorted::{Map, Set};

use super::{flow, parallel};
use crate::definition::diagnostic::anchor::{Step, Unplaced};
use crate::definition::diagnostic::gaps::Gaps;
use crate::definition::diagnostic::parallel::ParallelProblem;
use crate::definition::diagnostic::problem::Problem;
use crate::definition::diagnostic::workflow::WorkflowProblem;
use crate::definition::model::library::{LeftOut, MAX_NESTING};
use crate::definition::model::nearest::nearest;
use crate::definition::model::paths::{is_group_key, last_part, package_of};
use crate::definition::model::workflow::{Entry, EntryKind, Workflow};

/// What becomes of a workflow.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Kept,
    LeftOut,
    /// Its references cannot be followed to their end: they lead in a cycle, or are nested too deep.
    Endless {
        in_cycle: bool,
    },
}

/// Leaves out the workflows with errors in their references or beside each other, and reports each error, also those of
/// the `drafts`: the workflows with errors, as far as they could be read.
///
/// First those in a cycle, then, until nothing changes, those that refer to one that is not there or has errors.
/// Each reference is rewritten to the key that it means, see [`rewrite_to_keys`].
///
/// At the end `drafts` has all workflows with errors but those whose references have no end, which are returned, and
/// `gaps` has the places of the errors.
///
/// Specification: configuration reference, "Cycle Detection" and "Broken Subworkflow References".
pub(crate) fn resolve(
    workflows: &mut Vec<Workflow>,
    drafts: &mut Vec<Workflow>,
    gaps: &mut Gaps,
    left_out: &mut Vec<LeftOut>,
    unplaced: &mut Vec<Unplaced>,
) -> Vec<Workflow> {
    rewrite_to_keys(workflows, drafts, left_out);
    let all: Vec<&Workflow> = workflows.iter().chain(&*drafts).collect();
    let targets = targets(&all);
    let (cycles, depths) = cycles(&targets);
    let mut fates: Vec<Fate> = workflows.iter().map(|_| Fate::Kept).collect();
    fates.resize(all.len(), Fate::LeftOut);
    let mut found = Vec::new();
    for Cycle { path, members } in &cycles {
        let is_file = |workflow: &&&Workflow| workflow.group.is_none();
        let on_path = || path.iter().filter_map(|&index| all.get(index)).filter(is_file);
        let keys = on_path().chain(on_path().take(1)).map(|workflow| workflow.key.clone());
        let mut keys: Vec<String> = keys.collect();
        if path.len() == MAX_PATH {
            keys.insert(MAX_PATH, "…".into());
        }
        for &index in members {
            let problem = WorkflowProblem::Cycle { keys: keys.clone() };
            let workflow = all.get(index);
            // One cycle is one error, however many groups it leads through.
            let reports = |workflow: &&&Workflow| {
                !workflow.phases.iter().filter_map(Entry::group_key).any(|key| {
                    let is_group = |index: &usize| all.get(*index).is_some_and(|of| of.key == key);
                    members.iter().any(is_group)
                })
            };
            let workflow = workflow.filter(reports);
            found.extend(workflow.map(|workflow| at_reference(workflow, &keys, problem)));
            if let Some(fate) = fates.get_mut(index) {
                *fate = Fate::Endless { in_cycle: true };
            }
        }
    }
    for ((workflow, fate), depth) in all.iter().zip(&mut fates).zip(depths) {
        if depth > MAX_NESTING && *fate != (Fate::Endless { in_cycle: true }) {
            let problem = WorkflowProblem::NestedTooDeep { limit: MAX_NESTING };
            found.push(Unplaced::new(workflow, problem, &[Step::Key("phases")]));
            *fate = Fate::Endless { in_cycle: false };
        }
    }
    let names = Names::of(workflows, left_out);
    let mut unexplained = flow_errors((workflows, drafts), (gaps, &names.keys), &mut fates, &mut found);
    for ((workflow, fate), targets) in all.iter().zip(&mut fates).zip(&targets) {
        let missing = references(workflow).zip(targets).filter(|(_, target)| target.is_none());
        let mut seen = Set::new();
        for (reference, _) in missing.filter(|(reference, _)| seen.insert(*reference)) {
            if is_group_key(reference) {
                continue;
            }
            let file = workflow.group.as_ref().map_or(&workflow.key, |group| &group.file);
            let Some(problem) = names.problem_of(file, reference) else { continue };
            found.push(at_reference(workflow, &[reference.to_owned()], problem));
            if *fate == Fate::Kept {
                *fate = Fate::LeftOut;
            }
        }
    }
    loop {
        let before = fates.clone();
        let fate_of = |target: &Option<usize>| before.get((*target)?);
        let kept = all.iter().zip(&mut fates).zip(&targets);
        for ((workflow, fate), targets) in kept.filter(|((_, fate), _)| **fate == Fate::Kept) {
            let mut references = references(workflow).zip(targets.iter().map(fate_of));
            let Some((reference, target)) = references.find(|(_, fate)| *fate != Some(&Fate::Kept)) else {
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
            let problem = if target == Some(&(Fate::Endless { in_cycle: true })) {
                WorkflowProblem::InCycle { workflow: workflow_key, reference }
            } else {
                WorkflowProblem::BrokenWorkflow { workflow: workflow_key, reference }
            };
            found.push(at_reference(workflow, &keys, problem));
        }
        if fates != before {
            continue;
        }
        // Errors beside the workflows without errors, of those that are not left out for another reason. A group is
        // left out with its file.
        let gone = all.iter().zip(&fates).filter(|(_, fate)| **fate != Fate::Kept);
        let gone: Set<&str> = gone.map(|(workflow, _)| workflow.key.as_str()).collect();
        for ((workflow, fate), errors) in all.iter().zip(&mut fates).zip(&mut unexplained) {
            let file = workflow.group.as_ref().map_or(&workflow.key, |group| &group.file);
            if *fate == Fate::Kept && !gone.contains(file.as_str()) && !errors.is_empty() {
                *fate = Fate::LeftOut;
                found.append(errors);
            }
        }
        if fates == before {
            break;
        }
    }
    for Unplaced { diagnostic, anchor } in &found {
        // The id of an entry with the key of a workflow is known, whatever is wrong with the workflow.
        let is_gap = |problem: &WorkflowProblem| {
            use WorkflowProblem::{CommandNameAsReference, UnknownWorkflow};
            matches!(problem, UnknownWorkflow { .. } | CommandNameAsReference { .. })
        };
        // Neither is that of a phase whose text is wrong.
        let is_text = matches!(&diagnostic.problem, Problem::Parallel(ParallelProblem::ValueInText { .. }));
        if !is_text && !matches!(&diagnostic.problem, Problem::Workflow(problem) if !is_gap(problem)) {
            gaps.add(&diagnostic.file, [anchor.clone()]);
        }
    }
    unplaced.append(&mut found);
    // The groups of a workflow that is left out, which nothing reaches, and a workflow whose groups have errors.
    let kept = all.iter().zip(&fates).filter(|(_, fate)| **fate == Fate::Kept);
    let kept: Set<String> = kept.map(|(workflow, _)| workflow.key.clone()).collect();
    let mut fates = fates.into_iter();
    let mut fate_of_next = move |workflow: &Workflow| {
        let file = workflow.group.as_ref().map(|group| &group.file);
        match fates.next().unwrap_or(Fate::LeftOut) {
            Fate::Kept if file.is_some_and(|file| !kept.contains(file)) => Fate::LeftOut,
            fate => fate,
        }
    };
    let mut endless = Vec::new();
    let (mut kept, mut with_errors) = (Vec::new(), Vec::new());
    for workflow in std::mem::take(workflows) {
        let fate = fate_of_next(&workflow);
        if fate != Fate::Kept && workflow.group.is_none() {
            let command_name = Some(workflow.command_name.clone()).filter(|name| !name.is_empty());
            let (key, folder) = (workflow.key.clone(), workflow.folder.clone());
            left_out.push(LeftOut { key, folder, command_name });
        }
        match fate {
            Fate::Kept => kept.push(workflow),
            Fate::LeftOut => with_errors.push(workflow),
            Fate::Endless { .. } => endless.push(workflow),
        }
    }
    for draft in std::mem::take(drafts) {
        match fate_of_next(&draft) {
            Fate::Kept | Fate::LeftOut => with_errors.push(draft),
            Fate::Endless { .. } => endless.push(draft),
        }
    }
    (*workflows, *drafts) = (kept, with_errors);
    left_out.sort();
    left_out.dedup();
    endless
}

/// Reports the errors of workflows beside each other, and returns those errors of each workflow that are no errors once
/// the gaps are filled: it is left out for them, but they may not be true.
fn flow_errors(
    (workflows, drafts): (&[Workflow], &[Workflow]),
    (gaps, keys): (&Gaps, &Set<&str>),
    fates: &mut [Fate],
    found: &mut Vec<Unplaced>,
) -> Vec<Vec<Unplaced>> {
    let sound: flow::Workflows = workflows.iter().map(|workflow| (workflow.key.as_str(), workflow)).collect();
    // Of two of one key the one without errors is meant.
    let all: flow::Workflows =
        drafts.iter().chain(workflows).map(|workflow| (workflow.key.as_str(), workflow)).collect();
    let each = || workflows.iter().chain(drafts);
    let endless = each().zip(&*fates).filter(|(_, fate)| matches!(fate, Fate::Endless { .. }));
    let endless = endless.map(|(workflow, _)| workflow.key.as_str()).collect();
    let unknown = flow::Unknown::new(&all, gaps, keys, endless);
    let mut unexplained = Vec::new();
    for (index, (workflow, fate)) in each().zip(fates).enumerate() {
        let errors_among = |all, unknown| {
            let mut errors = flow::errors(workflow, all, unknown);
            errors.append(&mut parallel::errors(workflow, all, unknown));
            errors
        };
        let errors = errors_among(&all, Some(&unknown));
        let beside = match index < workflows.len() && errors.is_empty() {
            true => errors_among(&sound, None),
            false => Vec::new(),
        };
        if *fate == Fate::Kept && !errors.is_empty() {
            *fate = Fate::LeftOut;
        }
        found.extend(errors);
        unexplained.push(beside);
    }
    unexplained
}

/// The names that a reference may mean.
struct Names<'a> {
    /// The keys of all workflows, also of those with errors.
    keys: Set<&'a str>,
    /// The keys of the command names.
    of_commands: Map<&'a str, &'a str>,
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
        Self { keys, of_commands }
    }

    /// The problem of a reference of this workflow to no workflow that could be read; `None` if that has errors.
    fn problem_of(&self, workflow: &str, reference: &str) -> Option<WorkflowProblem> {
        if self.keys.contains(reference) {
            return None;
        }
        let (workflow, reference) = (workflow.to_owned(), reference.to_owned());
        if let Some(key) = self.of_commands.get(reference.as_str()) {
            let key = (*key).to_owned();
            return Some(WorkflowProblem::CommandNameAsReference { workflow, reference, key });
        }
        let others = self.keys.iter().copied().filter(|key| *key != workflow);
        // A path to the folder has its name at the end.
        let name = reference.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next();
        let name = name.unwrap_or(&reference);
        let of_package = others.clone().find(|key| last_part(key) == name);
        let suggestion = of_package.or_else(|| nearest(name, others)).map(Into::into);
        Some(WorkflowProblem::UnknownWorkflow { workflow, reference, suggestion })
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
/// In a package's workflow a reference means the workflow of that folder in the same package, otherwise that of this
/// key. In every other workflow it means that of this key, otherwise the first workflow of a package in a folder of
/// that name. A reference whose case differs from the only key that it can mean is corrected: file systems that ignore
/// case return folder names in either.
fn rewrite_to_keys(workflows: &mut [Workflow], drafts: &mut [Workflow], left_out: &[LeftOut]) {
    let keys: Vec<String> = workflows.iter().map(|workflow| workflow.key.clone()).collect();
    let all: Set<&str> = keys.iter().chain(left_out.iter().map(|left_out| &left_out.key)).map(|key| &**key).collect();
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
        only.map(|key| &**key).or_else(|| all.get(key).copied()).or_else(|| {
            let lower = key.to_lowercase();
            let mut left_out = left_out.iter().map(|left_out| &*left_out.key);
            left_out.find(|other| other.to_lowercase() == lower)
        })
    };
    for workflow in workflows.iter_mut().chain(drafts) {
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

/// For each workflow the index of each one that it refers to, `None` for one that does not exist or cannot be read. Of
/// two of one key the first is meant.
fn targets(workflows: &[&Workflow]) -> Vec<Vec<Option<usize>>> {
    let mut index_of = Map::new();
    let indices = workflows.iter().enumerate().rev();
    index_of.extend(indices.map(|(index, workflow)| (&*workflow.key, index)));
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
