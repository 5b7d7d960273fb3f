//! The branches of a parallel group: the input of a child agent, and its results.
//!
//! A branch is a run of its own, with the state of the run that has the group, cut to one entry or item of the group.
//! So a branch has the same rules, values and results, and its records have the same keys as in the run.

use crate::definition::{Entry, Library, Need, Workflow, make_different, on_one_line, short};
use crate::usage::Usage;

use super::branch::{Branch, BranchEnd, BranchRun, MAX_BRANCH_NAME};
use super::path::PhasePath;
use super::state::{RunState, RunStatus};
use super::transition::{Arrival, begin};
use super::visit::{PassedOverReason, Visit};

/// The reason for the failure of a branch that has used up its budget.
pub const OVER_BUDGET: &str = "its budget is used up, or not known";

/// The status of a parallel group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Joined {
    /// Some branches have not ended.
    Open,
    /// Enough branches came to their end; the outcome that they give.
    Done(Option<String>),
    /// The run cannot go on, for this reason.
    Stuck(String),
}

impl Visit {
    /// Returns the visit without its time, as the run that has the branch counts it: branches work at the same time,
    /// and the run counts only the time on its own clock.
    fn without_time(&self) -> Self {
        let mut visit = self.clone();
        for usage in [&mut visit.usage, &mut visit.earlier] {
            (usage.work_ms, usage.wait_ms) = (0, 0);
        }
        visit
    }
}

impl RunState {
    pub fn parallel_group<'a>(&self, library: &'a Library) -> Option<&'a Workflow> {
        let last = self.current_path.last()?;
        let entry = library.get(&last.workflow_key)?.phases.get(last.phase_index)?;
        let group = library.get(entry.group_key()?)?;
        (group.parallel.is_some() && self.progress.branch.is_none()).then_some(group)
    }

    /// The branches of the parallel group at which the run is, in their order, without branches whose conditions do not
    /// hold.
    pub fn branches(&self, library: &Library) -> Vec<Branch> {
        let Some(group) = self.parallel_group(library) else { return Vec::new() };
        let depth = self.current_path.len();
        let visit = self.progress.visits.get(&self.current_path.key());
        let step = visit.map_or(self.global_step_count, |visit| visit.step);
        let branch = |key, name: &str| Branch { key, name: on_one_line(&short(name, MAX_BRANCH_NAME)), step };
        if let Some(items) = self.items(depth, &group.key, library) {
            let path = |item| {
                let mut path = self.current_path.clone();
                path.enter(&group.key, Some(item));
                path.scope_key()
            };
            return different(items.iter().enumerate().map(|(item, text)| branch(path(item), text)).collect());
        }
        let mut inside = self.clone();
        inside.current_path.enter(&group.key, None);
        let inputs = inside.inputs(depth + 1, library);
        let holds = |entry: &&(usize, &Entry)| inside.refusal_with(&entry.1.when, &inputs, library).is_none();
        let entries = group.phases.iter().enumerate().collect::<Vec<_>>();
        let entries = entries.iter().filter(holds);
        let key = |index| inside.current_path.with_index(index).key();
        different(entries.map(|(index, entry)| branch(key(*index), library.entry_name(entry))).collect())
    }

    /// Returns the input of a branch, as in [`BranchRun::given`]: the work on a branch counts while its input is the
    /// same.
    pub fn given_to(&self, branch: &Branch) -> String {
        let seal = self.progress.seal.as_ref().map_or("", |seal| &seal.hash);
        let visit = self.progress.visits.get(&self.current_path.key());
        let number = visit.map_or(1, |visit| visit.number);
        format!("{number} {} {}", short(seal, 16), branch.name)
    }

    /// The work on a branch of the group at which the run is, if it belongs to this visit and had the same input.
    pub fn branch_run(&self, branch: &Branch) -> Option<&BranchRun> {
        let run = self.progress.branches.get(&branch.key)?;
        (run.given == self.given_to(branch)).then_some(run)
    }

    /// Returns the run with this work on a branch.
    pub fn with_branch_run(&self, branch: &Branch, run: BranchRun) -> Self {
        self.clone().changed(|progress| progress.branches.insert(&*branch.key, run))
    }

    /// Returns the run without the work on a branch: the branch begins anew.
    pub fn without_branch_run(&self, branch: &Branch) -> Self {
        self.clone().changed(|progress| drop(progress.branches.remove(&branch.key)))
    }

    /// Returns the run as the run of a child in this branch.
    pub fn in_branch(&self, branch: Branch) -> Self {
        self.clone().changed(|progress| progress.branch = Some(branch))
    }

    /// Returns the run of a child for a branch of the group at which this run is, at the first phase of the branch, or
    /// at its end if no entry can be entered. The run of the child lacks the records of other branches, and the results
    /// of work on this branch that was discarded in this visit of the group.
    pub fn child(&self, branch: &Branch, library: &Library, now: u64) -> Option<Self> {
        let group = self.parallel_group(library)?;
        let mut child = self.resumed();
        let below = self.current_path.below();
        let of_siblings = |key: &str| key.starts_with(&below) && !branch.has(key);
        let visits = child.progress.visits.keys().filter(|key| of_siblings(key));
        for key in visits.map(ToOwned::to_owned).collect::<Vec<_>>() {
            child.forget(&key);
        }
        let progress = &mut child.progress;
        let discarded = progress.visits.iter().filter(|(key, visit)| branch.has(key) && visit.step >= branch.step);
        for key in discarded.map(|(key, _)| key.to_owned()).collect::<Vec<_>>() {
            progress.visits.get_mut(&key).into_iter().for_each(|visit| visit.summary = None);
            progress.outcomes.remove(&key);
            progress.outputs.remove(&key);
        }
        progress.outcomes.keep(|key| !of_siblings(key));
        progress.outputs.keep(|key| !of_siblings(key));
        progress.passed_over.keep(|key| !of_siblings(key));
        progress.branches.clear();
        progress.gate_attempts = 0;
        progress.tools_added.clear();
        progress.users_model = None;
        progress.branch = Some(Branch { step: self.global_step_count, ..branch.clone() });
        child.current_path = branch.path()?;
        let is_of_group =
            child.current_path.get(self.current_path.len()).map(|at| &at.workflow_key) == Some(&group.key);
        let (child, arrival) = begin(&child, library);
        is_of_group.then(|| match arrival {
            Arrival::Phase => child.begun(now),
            Arrival::Done => child,
        })
    }

    /// Returns the run with the records of its child in a branch up to now. `used` is the usage of the child since its
    /// newest state entry.
    pub fn with_child(&self, branch: &Branch, child: &Self, used: &Usage) -> Self {
        let mut new = self.clone();
        let child = child.clone().with_usage(child, used);
        let progress = &mut new.progress;
        progress.visits.keep(|key| !branch.has(key));
        for (key, visit) in child.progress.visits.iter().filter(|(key, _)| branch.has(key)) {
            progress.visits.insert(key, visit.without_time());
        }
        progress.outcomes.replace(|key| branch.has(key), &child.progress.outcomes);
        progress.outputs.replace(|key| branch.has(key), &child.progress.outputs);
        progress.passed_over.replace(|key| branch.has(key), &child.progress.passed_over);
        new.forget_oldest();
        new
    }

    /// Returns the run with only the usage of its child in a branch: the run has left the group. `known`: the run of
    /// the child as it was counted before.
    pub fn with_usage_of_child(&self, branch: &Branch, child: &Self, known: Option<&Self>) -> Self {
        let mut new = self.clone();
        for (key, visit) in child.progress.visits.iter().filter(|(key, _)| branch.has(key)) {
            let Visit { usage, earlier, .. } = visit.without_time();
            let was_known = known.is_some_and(|known| known.progress.visits.contains_key(key));
            if let Some(own) = new.progress.visits.get_mut(key) {
                (own.usage, own.earlier) = (usage, earlier);
            } else if !was_known {
                new.progress.forgotten.add(&usage);
                new.progress.forgotten.add(&earlier);
            }
        }
        new
    }

    /// Returns the run behind the branches of its group: a branch that has failed gives no values.
    pub fn without_failed_branches(&self, library: &Library) -> Self {
        let mut new = self.clone();
        let branches = self.branches(library);
        let has_failed = |branch: &&Branch| {
            let end = self.branch_run(branch).and_then(|run| run.end.as_ref());
            matches!(end, Some(BranchEnd::Failed { .. }))
        };
        for failed in branches.iter().filter(has_failed) {
            new.progress.outputs.keep(|key| !failed.has(key));
            new.progress.outcomes.keep(|key| !failed.has(key));
        }
        new
    }

    /// Returns true if an entry belongs to a branch that has failed.
    pub(super) fn is_of_failed(&self, path: &PhasePath) -> bool {
        let key = path.key();
        self.progress.branches.iter().any(|(branch, run)| {
            let branch = Branch { key: branch.to_owned(), name: String::new(), step: 0 };
            matches!(run.end, Some(BranchEnd::Failed { .. })) && branch.has(&key)
        })
    }

    /// The end of the branch on which this run of a child has worked; `None` if it has not ended.
    pub fn branch_end(&self) -> Option<BranchEnd> {
        let branch = self.progress.branch.as_ref()?;
        let failed = |why: &str| Some(BranchEnd::Failed { why: why.to_owned() });
        match self.status {
            RunStatus::Running => match &self.progress.paused.as_ref()?.reason {
                reason if reason.is_of_budget() => failed(OVER_BUDGET),
                _ => None,
            },
            RunStatus::Cancelled { .. } => failed("it was cancelled"),
            RunStatus::Stopped { .. } => {
                let outcome = self.stopped_with().unwrap_or_default();
                failed(&format!("its outcome {outcome} stopped it"))
            }
            RunStatus::Done { .. } if !self.has_handed_something_over(branch) => failed("it handed nothing over"),
            RunStatus::Done { .. } => {
                Some(BranchEnd::Done { outcome: self.progress.outcomes.get(&branch.key).cloned() })
            }
        }
    }

    fn has_handed_something_over(&self, branch: &Branch) -> bool {
        let Self { progress, .. } = self;
        let is_new = |visit: &Visit| visit.step >= branch.step && visit.summary.is_some();
        progress.visits.iter().any(|(key, visit)| branch.has(key) && is_new(visit))
            || progress.outputs.keys().any(|key| branch.has(key))
            || progress.outcomes.keys().any(|key| branch.has(key))
    }

    /// The status of the parallel group at which the run is.
    pub fn joined(&self, library: &Library) -> Joined {
        let group = self.parallel_group(library);
        let Some(parallel) = group.and_then(|group| group.parallel.as_ref()) else {
            return Joined::Open;
        };
        let branches = self.branches(library);
        let runs = || branches.iter().map(|branch| self.branch_run(branch));
        if let Some((name, why)) = runs().flatten().find_map(|run| Some((&run.name, run.waits.as_ref()?))) {
            return Joined::Stuck(format!("{name} waits: {why}"));
        }
        if runs().any(|run| run.is_none_or(|run| run.end.is_none())) {
            return Joined::Open;
        }
        let outcome = |run: &'_ BranchRun| match &run.end {
            Some(BranchEnd::Done { outcome }) => Some(outcome.clone()),
            Some(BranchEnd::Failed { .. }) | None => None,
        };
        let outcomes: Vec<Option<String>> = runs().flatten().filter_map(outcome).collect();
        let outcomes: Vec<Option<&str>> = outcomes.iter().map(Option::as_deref).collect();
        let needed = parallel.need.of(branches.len());
        if outcomes.len() < needed {
            let (done, all) = (outcomes.len(), branches.len());
            let need = match parallel.need {
                Need::All => "all are needed".to_owned(),
                Need::AtLeast(_) => format!("{needed} are needed"),
            };
            return Joined::Stuck(format!("{done} of {all} branches came to their end, and {need}"));
        }
        let place = group.and_then(|group| group.place.as_ref());
        let mut names = place.iter().flat_map(|place| &place.outcomes).map(|outcome| &*outcome.name);
        let worst = names.find(|name| outcomes.contains(&Some(*name)));
        Joined::Done(worst.map(str::to_owned))
    }

    /// Returns true if this is the run of a branch, and its path has left the branch.
    pub(super) fn has_left_branch(&self) -> bool {
        let branch = self.progress.branch.as_ref();
        branch.is_some_and(|branch| !branch.has(&self.current_path.key()))
    }

    /// Returns true if this is the run of a branch, and its innermost scope is the item of the branch.
    pub(super) fn is_in_item_of_branch(&self) -> bool {
        let branch = self.progress.branch.as_ref();
        branch.is_some_and(|branch| branch.key == self.current_path.scope_key())
    }

    /// Notes the entries of the group at which the run is whose conditions do not hold.
    pub fn passing_over_branches(&self, library: &Library) -> Self {
        let mut new = self.clone();
        let Some(group) = self.parallel_group(library).filter(|group| group.each.is_none()) else {
            return new;
        };
        let mut inside = self.clone();
        inside.current_path.enter(&group.key, None);
        let inputs = inside.inputs(inside.current_path.len(), library);
        for (index, entry) in group.phases.iter().enumerate() {
            inside.current_path.set_index(index);
            if let Some((condition, value)) = inside.refusal_with(&entry.when, &inputs, library) {
                inside.pass_over(Some(entry), PassedOverReason::refused(condition, value), library);
            }
        }
        new.progress.passed_over = inside.progress.passed_over;
        new
    }
}

/// Makes the names of branches different.
fn different(mut branches: Vec<Branch>) -> Vec<Branch> {
    make_different(branches.iter_mut().map(|branch| &mut branch.name), MAX_BRANCH_NAME);
    branches
}
