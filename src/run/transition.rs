//! The transitions of a run.

use std::fmt;

use crate::definition::{Entry, EntryKind, Library, Outcome, Target, WayBound, short};

use super::state::{RunState, RunStatus};
use super::visit::{MAX_NAME, PassedOver, PassedOverReason};
use super::{active::Active, outline::Outline, path::PhasePath};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    Phase,
    /// At the end of the run: of the root workflow, or where an outcome has stopped it.
    Done,
}

/// Maximum number of loops of a scope: by the agent, and by outcomes that lead back and have no `max`.
pub const MAX_LOOPS: u32 = 20;

/// An error of [`restart`] and [`leave`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopError {
    /// The workflow says `loopable: false`.
    Disabled,
    /// The workflow was restarted [`MAX_LOOPS`] times.
    Exhausted,
    /// The outcome led to its target as often as its `max` allows, and has no other target.
    UsedUp { max: u32 },
    /// The conditions of all entries from the target up to the current phase do not hold.
    PassedOver,
    /// The library lacks the workflow, or the phase lacks the outcome.
    NotFound,
}

impl fmt::Display for LoopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("Looping is disabled for this workflow."),
            Self::Exhausted => write!(
                f,
                "This workflow has been looped {MAX_LOOPS} times, which is all it allows. Go on with action='next', or leave it to the user."
            ),
            Self::UsedUp { max } => {
                write!(f, "This outcome has led there {max} times, which is all it allows (max). Leave it to the user.")
            }
            Self::PassedOver => {
                f.write_str("The conditions of all phases from there on do not hold, up to the current one.")
            }
            Self::NotFound => f.write_str("The workflow is no longer available."),
        }
    }
}

/// Moves a run to its next phase, or to its end. The current phase has no outcome.
///
/// At a nested workflow: into it. At a phase with another entry behind it in its scope: to that entry. At the last
/// entry of a nested scope: out of every scope without further entries, and on. At the last entry of the root: the run
/// is done. Entries whose conditions do not hold are passed over.
///
/// A scope that the library lacks has no more entries.
///
/// Specification: state management, "Phase Transitions", cases 1 to 4.
pub fn advance(state: &RunState, library: &Library) -> (RunState, Arrival) {
    let mut new = state.stepped();
    let entry = current_entry(&new, library);
    if entry.is_some_and(|entry| library.phase_at(entry).is_none()) {
        return new.arrive(state, library);
    }
    new.progress.outcomes.remove(&new.current_path.key());
    let next = current_index(&new).saturating_add(1);
    new.current_path.set_index(next);
    new.arrive(state, library)
}

/// Moves a run to the target of this outcome of its phase; without an outcome, to its next phase or to its end.
///
/// A nested workflow that ends with the outcome has the same outcome, and its entry gives the target.
///
/// # Errors
///
/// If the outcome leads back and the scope was restarted as often as it allows; if the outcome led to its target as
/// often as it allows, and has no other target; or if the phase has no such outcome.
pub fn leave(state: &RunState, outcome: Option<&str>, library: &Library) -> Result<(RunState, Arrival), LoopError> {
    match outcome {
        Some(outcome) => follow(state, outcome, library, &mut None),
        None => Ok(advance(state, library)),
    }
}

/// Returns the [`PhasePath::scope_key`] of the scope in which this outcome of the run's phase leads back, the outermost
/// of several; `None` if the outcome does not lead back, or does not exist.
pub fn way_back(state: &RunState, outcome: &str, library: &Library) -> Option<String> {
    let mut back = None;
    // An error is about the way back, which is noted already.
    let _ = follow(state, outcome, library, &mut back);
    back
}

impl Active<'_> {
    /// Returns true if this outcome of the phase leads neither back nor to the end of the run as stopped, nor nowhere.
    pub fn leads_on(&self, outcome: &str) -> bool {
        let after = self.after(Some(outcome));
        way_back(self.state, outcome, self.library).is_none() && after.is_some_and(|after| !after.is_stopped())
    }
}

struct Way<'a> {
    target: &'a Target,
    /// The key of the outcome's number in [`Progress::ways`](super::Progress::ways), if the outcome has a bound that is
    /// not used up.
    counted: Option<String>,
}

/// Moves a run to the target of this outcome of its phase.
fn follow(
    state: &RunState,
    outcome: &str,
    library: &Library,
    back: &mut Option<String>,
) -> Result<(RunState, Arrival), LoopError> {
    let mut new = state.stepped();
    let entry = current_entry(&new, library).ok_or(LoopError::NotFound)?;
    let phase = library.phase_at(entry).ok_or(LoopError::NotFound)?;
    let taken = phase.outcomes.iter().find(|other| other.name == outcome);
    let mut taken = Some(taken.ok_or(LoopError::NotFound)?);
    let mut reached = Reached::Left { outcome: Some(outcome) };
    loop {
        let left = match reached {
            Reached::Phase => return Ok((new, Arrival::Phase)),
            Reached::End => return Ok((new.ended(state, library), Arrival::Done)),
            Reached::Left { outcome } => outcome,
        };
        let way = left.and(taken).map(|taken| new.way(taken, library)).transpose()?;
        if let (Some(outcome), Some(Way { target: Target::Stop, .. })) = (left, &way) {
            return Ok((state.stepped().stopped(outcome), Arrival::Done));
        }
        new.leave_entry(left, way, library, back)?;
        reached = new.reach(left, library);
        taken = current_entry(&new, library).and_then(|entry| entry.outcome(outcome));
    }
}

/// The outcome of a phase that has used up its budget, where its `onBudget` stops the run.
const BUDGET: &str = "budget";

/// Moves a run whose phase has used up its budget to the target of the phase's `onBudget`. The phase then has no
/// outcome.
///
/// # Errors
///
/// If the target leads back and the scope was restarted as often as it allows; or if the target is gone.
pub fn leave_over_budget(
    state: &RunState,
    target: &Target,
    library: &Library,
) -> Result<(RunState, Arrival), LoopError> {
    let mut new = state.stepped();
    if *target == Target::Stop {
        return Ok((new.stopped(BUDGET), Arrival::Done));
    }
    new.progress.outcomes.remove(&new.current_path.key());
    let way = Way { target, counted: None };
    let because = |of| PassedOverReason::Budget { of };
    new.take_way(way, because, library, &mut None)?;
    Ok(new.arrive(state, library))
}

/// Moves a run to the beginning of its innermost scope.
///
/// # Errors
///
/// If that workflow says `loopable: false`, was restarted as often as it allows, or is gone; or if the run would pass
/// over all phases up to the current one.
///
/// Specification: state management, "Loop Phase".
pub fn restart(state: &RunState, library: &Library) -> Result<RunState, LoopError> {
    let mut new = state.stepped();
    let segment = new.current_path.last().ok_or(LoopError::NotFound)?;
    let scope = library.get(&segment.workflow_key).ok_or(LoopError::NotFound)?;
    if !scope.loopable {
        return Err(LoopError::Disabled);
    }
    new.count_loop()?;
    new.current_path.set_index(0);
    let (new, arrival) = new.arrive(state, library);
    // Behind the current phase, gates would be passed that are not checked.
    let stays = new.current_path.indices() <= state.current_path.indices();
    if arrival == Arrival::Phase && stays { Ok(new) } else { Err(LoopError::PassedOver) }
}

/// Moves a run to the next item of the innermost group that is repeated, or out of it; `None` outside of such a group.
pub fn skip_item(state: &RunState, library: &Library) -> Option<(RunState, Arrival)> {
    let depth = 1 + state.item_segment()?;
    let mut new = state.stepped();
    new.progress.outcomes.remove(&new.current_path.key());
    new.current_path.truncate(depth);
    let group = library.get(&new.current_path.last()?.workflow_key)?;
    new.current_path.set_index(group.phases.len());
    Some(new.arrive(state, library))
}

/// Moves a run to the phase before the current one, whatever the conditions; from the beginning of a later item of a
/// group to the beginning of the item before. `None` at the first phase.
pub fn back(state: &RunState, library: &Library) -> Option<RunState> {
    let active = Active::resolve(state, library)?;
    let mut number = Outline::of(&active).current;
    let before = loop {
        number = number.saturating_sub(1);
        let [at] = match <[_; 1]>::try_from(Outline::phases(&active, number, 1)) {
            Ok(at) if number > 0 => at,
            Ok(_) | Err(_) => break None,
        };
        let new = jump_to(state, at.path, library);
        // A phase of a group without an item does not count.
        if new.depth_without_item(library).is_none() {
            break Some(new);
        }
    };
    let innermost = state.item_segment();
    let scope = |new: &RunState| {
        let path = &new.current_path;
        innermost.filter(|depth| path.len() > *depth).map(|depth| path.at_depth(depth + 1).scope_key())
    };
    match before.as_ref().is_some_and(|before| scope(before) == scope(state)) {
        true => before,
        false => item_before(state, library).or(before),
    }
}

/// Returns the run, moved to the beginning of an earlier item of its innermost group: the last earlier item with a
/// phase that can be entered.
fn item_before(state: &RunState, library: &Library) -> Option<RunState> {
    let depth = state.item_segment()?;
    let mut path = state.current_path.at_depth(depth + 1);
    let items = path.get(depth)?.item?;
    (0..items).rev().find_map(|item| {
        path.set_item(item);
        let (new, arrival) = jump_past_empty_groups(state, path.clone(), library);
        let is_before = new.current_path.indices() < state.current_path.indices();
        (arrival == Arrival::Phase && is_before && !new.has_left_branch()).then_some(new)
    })
}

/// Moves a run to the entry of this index in its innermost scope, whatever its conditions; over a group without an
/// item. `None` if the entry is another branch than the run's.
pub fn skip_to(state: &RunState, index: usize, library: &Library) -> Option<(RunState, Arrival)> {
    let mut path = state.current_path.clone();
    path.set_index(index);
    let (new, arrival) = jump_past_empty_groups(state, path, library);
    (!new.has_left_branch()).then_some((new, arrival))
}

/// Moves a run to the phase at a path, see [`jump_to`]; over groups there that have no item.
fn jump_past_empty_groups(state: &RunState, path: PhasePath, library: &Library) -> (RunState, Arrival) {
    let mut new = jump_to(state, path, library);
    match new.depth_without_item(library) {
        Some(depth) => {
            new.current_path.truncate(depth);
            new.arrive(state, library)
        }
        None => (new, Arrival::Phase),
    }
}

/// Moves a new run to its first phase; to its end, if no entry can be entered.
pub fn begin(state: &RunState, library: &Library) -> (RunState, Arrival) {
    state.clone().arrive(state, library)
}

/// The end of a part of the way of a run, see [`RunState::reach`].
enum Reached<'o> {
    Phase,
    /// The run is at the entry of a nested workflow that has no more entries, and that ends with this outcome.
    Left {
        outcome: Option<&'o str>,
    },
    /// The root has no more entries.
    End,
}

/// Moves a run whose path ends at a nested workflow to the first phase in it, whatever its conditions.
///
/// Specification: state management, "Case 1"; the number of transitions does not change.
pub fn enter(state: &RunState, library: &Library) -> RunState {
    let mut new = state.clone();
    while let Some(key) = new.nested_ahead(library) {
        new.enter_nested(key, library);
    }
    new
}

impl RunState {
    /// The index of the innermost segment of its path that is an item, in its branch if it has one.
    fn item_segment(&self) -> Option<usize> {
        let branch = self.progress.branch.as_ref();
        let own = branch.map_or(0, |branch| branch.depth().saturating_sub(1));
        let innermost = self.current_path.iter().rposition(|segment| segment.item.is_some());
        innermost.filter(|segment| *segment >= own)
    }

    /// The key of the workflow that is nested in the entry at its path, if the run goes into it: not into a parallel
    /// group.
    fn nested_ahead<'a>(&self, library: &'a Library) -> Option<&'a str> {
        let entry = current_entry(self, library)?;
        entry.nested_key().filter(|_| library.phase_at(entry).is_none())
    }

    /// Returns the run with one more transition, which leaves its phase: with the outputs that this visit has handed
    /// over, or with none. Records of the branches of a parallel group have numbers of their own, and later records are
    /// newer.
    pub(super) fn stepped(&self) -> Self {
        let newest = self.progress.visits.values().map(|visit| visit.step).max();
        let global_step_count = newest.max(Some(self.global_step_count)).unwrap_or_default().saturating_add(1);
        let mut new = Self { global_step_count, ..self.clone() };
        if self.handed_outputs().is_none() {
            new.progress.outputs.remove(&self.current_path.key());
        }
        new
    }

    fn count_loop(&mut self) -> Result<(), LoopError> {
        let loops = self.progress.loops.get_or_insert(&self.current_path.scope_key(), u32::default);
        if *loops >= MAX_LOOPS {
            return Err(LoopError::Exhausted);
        }
        *loops += 1;
        Ok(())
    }

    pub(super) fn pass_over(&mut self, entry: Option<&Entry>, because: PassedOverReason, library: &Library) {
        let name = short(entry.map_or("", |entry| library.entry_name(entry)), MAX_NAME);
        let passed = PassedOver { name, step: self.global_step_count, because };
        self.progress.passed_over.insert(self.current_path.key(), passed);
    }

    /// Resets the nested workflow of the current entry, which begins anew: drops its counts, outcomes, outputs, and the
    /// entries that were passed over.
    fn forget_below(&mut self) {
        let below = self.current_path.below();
        self.progress.loops.keep(|key| !key.starts_with(&below));
        self.progress.ways.keep(|key| !key.starts_with(&below));
        self.progress.outcomes.keep(|key| !key.starts_with(&below));
        self.progress.outputs.keep(|key| !key.starts_with(&below));
        self.progress.passed_over.keep(|key| !key.starts_with(&below));
    }

    /// Moves the run from the entry at its path, which it has not entered yet, to the first phase that it can enter:
    /// over entries whose conditions do not hold, into nested workflows, and out of nested workflows that have no more
    /// entries, without an outcome. `before` is the run at the phase that it leaves.
    pub(super) fn arrive(mut self, before: &Self, library: &Library) -> (Self, Arrival) {
        loop {
            match self.reach(None, library) {
                Reached::Phase => return (self, Arrival::Phase),
                Reached::End => return (self.ended(before, library), Arrival::Done),
                Reached::Left { .. } => {
                    self.progress.outcomes.remove(&self.current_path.key());
                    self.current_path.set_index(current_index(&self).saturating_add(1));
                }
            }
        }
    }

    /// The way of an outcome of the entry at its path.
    ///
    /// # Errors
    ///
    /// If the outcome led to its target as often as it may, and has no other target.
    fn way<'a>(&self, taken: &'a Outcome, library: &Library) -> Result<Way<'a>, LoopError> {
        let Some(WayBound { max, then }) = &taken.bound else {
            return Ok(Way { target: &taken.target, counted: None });
        };
        // No name contains a blank.
        let key = format!("{} {}", self.current_path.key(), taken.name);
        let times = self.progress.ways.get(&key).copied().unwrap_or(0);
        let max = max.resolve(|name| self.number(name, self.current_path.len(), library));
        if times < max {
            return Ok(Way { target: &taken.target, counted: Some(key) });
        }
        let target = then.as_ref().ok_or(LoopError::UsedUp { max })?;
        Ok(Way { target, counted: None })
    }

    /// Leaves the entry at its path, which has this outcome, by this way; without a way, to the next entry.
    ///
    /// # Errors
    ///
    /// If the scope was restarted as often as it allows; or if the target is gone.
    fn leave_entry(
        &mut self,
        outcome: Option<&str>,
        way: Option<Way>,
        library: &Library,
        back: &mut Option<String>,
    ) -> Result<(), LoopError> {
        let key = self.current_path.key();
        match outcome {
            Some(outcome) => self.progress.outcomes.insert(key, outcome.to_owned()),
            None => drop(self.progress.outcomes.remove(&key)),
        }
        let Some((outcome, way)) = outcome.zip(way) else {
            self.current_path.set_index(current_index(self).saturating_add(1));
            return Ok(());
        };
        let because = |of| PassedOverReason::Outcome { of, outcome: outcome.to_owned() };
        self.take_way(way, because, library, back)
    }

    /// Goes from the entry at its path to the target of a way, and passes over the entries between, for the reason that
    /// follows from the name of the entry.
    ///
    /// # Errors
    ///
    /// As [`Self::leave_entry`].
    fn take_way(
        &mut self,
        Way { target, counted }: Way,
        because: impl Fn(String) -> PassedOverReason,
        library: &Library,
        back: &mut Option<String>,
    ) -> Result<(), LoopError> {
        let from = current_index(self);
        let next = from.saturating_add(1);
        let segment = self.current_path.last().ok_or(LoopError::NotFound)?;
        let scope = library.get(&segment.workflow_key).ok_or(LoopError::NotFound)?;
        let to = scope.target(from, target).ok_or(LoopError::NotFound)?;
        if to <= from {
            *back = Some(self.current_path.scope_key());
            if counted.is_none() {
                self.count_loop()?;
            }
        }
        if let Some(key) = counted {
            *self.progress.ways.get_or_insert(&key, u32::default) += 1;
        }
        let of = scope.phases.get(from).map_or("", Entry::id);
        for index in next..to {
            self.current_path.set_index(index);
            let because = because(short(of, MAX_NAME));
            self.pass_over(scope.phases.get(index), because, library);
        }
        if *target == Target::End {
            self.skip_to_last_item(library);
        }
        self.current_path.set_index(to);
        Ok(())
    }

    /// Moves the run from the entry at its path, which it has not entered yet, to the first phase that it can enter, or
    /// out of a scope that has no more entries, see [`Reached`]. A nested workflow ends with `outcome`, the outcome of
    /// the phase that the run leaves, unless the run has entered the workflow on this way.
    fn reach<'o>(&mut self, mut outcome: Option<&'o str>, library: &Library) -> Reached<'o> {
        // The inputs of the innermost workflow, read once: it may have thousands of entries.
        let mut inputs = self.inputs(self.current_path.len(), library);
        while let Some(last) = self.current_path.last() {
            if self.has_left_branch() {
                return Reached::End;
            }
            let (key, index) = (self.current_path.key(), last.phase_index);
            let entry = library.get(&last.workflow_key).and_then(|scope| scope.phases.get(index));
            let Some(entry) = entry else {
                if self.is_in_item_of_branch() {
                    let item = self.current_path.scope_key();
                    match outcome {
                        Some(outcome) => self.progress.outcomes.insert(item, outcome.to_owned()),
                        None => drop(self.progress.outcomes.remove(&item)),
                    }
                    return Reached::End;
                }
                if self.next_item(library) {
                    outcome = None;
                    continue;
                }
                return match self.current_path.leave() {
                    true => Reached::Left { outcome },
                    false => Reached::End,
                };
            };
            if let Some((condition, value)) = self.refusal_with(&entry.when, &inputs, library) {
                let because = PassedOverReason::refused(condition, value);
                self.pass_over(Some(entry), because, library);
                self.current_path.set_index(index + 1);
                continue;
            }
            self.progress.passed_over.remove(&key);
            match &entry.kind {
                EntryKind::Phase(_) => return Reached::Phase,
                EntryKind::Workflow { key: nested, .. } => {
                    self.forget_below();
                    let items = self.items(self.current_path.len(), nested, library);
                    if items.is_some_and(|items| items.is_empty()) {
                        let of = library.get(nested).and_then(|group| group.each.as_ref());
                        let of = of.map(ToString::to_string).unwrap_or_default();
                        self.pass_over(Some(entry), PassedOverReason::NoItems { of }, library);
                        self.current_path.set_index(index + 1);
                        continue;
                    }
                    if self.parallel_group(library).is_some() {
                        return Reached::Phase;
                    }
                    self.enter_nested(nested, library);
                    inputs = self.inputs(self.current_path.len(), library);
                    outcome = None;
                }
            }
        }
        Reached::End
    }

    /// Returns the run, ended at its phase, which has this outcome.
    pub fn stopped(mut self, outcome: &str) -> Self {
        self.progress.outcomes.insert(self.current_path.key(), outcome.to_owned());
        self.status = RunStatus::Stopped { announced: false };
        self
    }

    /// Ends a run that has no more entries; `before` is the run at its last phase.
    fn ended(mut self, before: &Self, library: &Library) -> Self {
        self.current_path.clone_from(&before.current_path);
        self.status = RunStatus::Done { announced: false };
        // A run that ends inside a nested workflow has left it: its path is behind the root's last entry. The run of a
        // branch stays at its last phase.
        if self.progress.branch.is_none() {
            self.current_path.truncate(1);
            if before.current_path.len() > 1
                && let Some(root) = self.current_path.first_mut()
                && let Some(workflow) = library.get(&root.workflow_key)
            {
                root.phase_index = workflow.phases.len();
            }
        }
        self
    }
}

/// Moves a run to the phase at a path, or to the first phase of the nested workflow there, whatever the conditions. The
/// phase that the run leaves then has no outcome.
pub fn jump_to(state: &RunState, path: PhasePath, library: &Library) -> RunState {
    let mut new = RunState { current_path: path, ..state.stepped() };
    new.progress.outcomes.remove(&state.current_path.key());
    while let Some(key) = new.nested_ahead(library) {
        new.forget_below();
        new.enter_nested(key, library);
    }
    for entry in new.current_path.scopes() {
        new.progress.passed_over.remove(&entry.key());
    }
    new
}

/// The index of the current entry in the innermost scope.
fn current_index(state: &RunState) -> usize {
    state.current_path.last().map_or(0, |entry| entry.phase_index)
}

fn current_entry<'a>(state: &RunState, library: &'a Library) -> Option<&'a Entry> {
    let segment = state.current_path.last()?;
    library.get(&segment.workflow_key)?.phases.get(segment.phase_index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::{library, phase, workflow};
    use crate::definition::{Target, ValueName, Workflow};
    use crate::run::OutputValue;
    use crate::run::path::path_to;

    fn at(path: &[(&str, usize)]) -> RunState {
        RunState { current_path: path_to(path), ..RunState::new(path[0].0, "task", 0, 0) }
    }

    fn path(state: &RunState) -> Vec<(&str, usize)> {
        state.current_path.iter().map(|s| (&*s.workflow_key, s.phase_index)).collect()
    }

    #[track_caller]
    fn advances(from: &[(&str, usize)], to: &[(&str, usize)], arrival: Arrival) {
        let library = library(&[
            ("release", &["build", "@review", "deploy"]),
            ("review", &["static", "@security"]),
            ("security", &["scan", "report"]),
            ("deep", &["@review"]),
            ("flat", &["a", "b"]),
        ]);
        let before = at(from);
        let (after, arrived) = advance(&before, &library);
        assert_eq!((path(&after), arrived), (to.to_vec(), arrival));
        assert_eq!(after.is_running(), arrival == Arrival::Phase);
        assert_eq!(after.global_step_count, 1);
        assert_eq!(before, at(from), "the old state is untouched");
    }

    #[test]
    fn a_phase_is_followed_by_the_next_of_its_scope() {
        advances(&[("flat", 0)], &[("flat", 1)], Arrival::Phase);
    }

    #[test]
    fn a_nested_workflow_is_entered_down_to_its_first_phase() {
        advances(&[("release", 0)], &[("release", 1), ("review", 0)], Arrival::Phase);
        advances(&[("release", 1)], &[("release", 1), ("review", 0)], Arrival::Phase);
        advances(&[("deep", 0)], &[("deep", 0), ("review", 0)], Arrival::Phase);
    }

    #[test]
    fn exhausted_scopes_are_left_all_at_once() {
        advances(&[("release", 1), ("review", 1), ("security", 1)], &[("release", 2)], Arrival::Phase);
    }

    #[test]
    fn the_last_phase_of_the_root_ends_the_run() {
        advances(&[("flat", 1)], &[("flat", 1)], Arrival::Done);
        advances(&[("deep", 0), ("review", 1), ("security", 1)], &[("deep", 1)], Arrival::Done);
        // A stored index is anything that JavaScript can count.
        let odd = [("release", 9_007_199_254_740_991), ("security", 1)];
        advances(&odd, &[("release", 3)], Arrival::Done);
    }

    #[test]
    fn a_phase_that_the_run_goes_to_is_not_passed_over_and_the_one_before_has_no_outcome() {
        let mut state = at(&[("release", 0)]);
        for index in [1, 2] {
            state.current_path.set_index(index);
            let because = PassedOverReason::Outcome { of: "build".into(), outcome: "a".into() };
            state.pass_over(None, because, &Library::default());
        }
        state.current_path.set_index(0);
        for entry in ["release:0", "release:2"] {
            state.progress.outcomes.insert(entry, "a".into());
        }
        let library = library(&[("release", &["build", "@review"]), ("review", &["static"])]);
        let new = jump_to(&state, at(&[("release", 1), ("review", 0)]).current_path, &library);
        assert!(new.progress.passed_over.keys().eq(["release:2"]));
        assert!(new.progress.outcomes.keys().eq(["release:2"]), "the phase was left without one");
    }

    /// The workflow `outer` of `a` and `inner`, which ends with `x` or `y` and whose `x` leads back to `a`.
    fn nested_with_outcomes() -> Library {
        let mut inner = workflow("inner", &["b"]);
        let mut phase = phase("b");
        phase.outcomes = vec![Outcome::new("x", Target::Next), Outcome::new("y", Target::Next)];
        inner.phases[0] = Entry::phase(phase);
        let mut outer = workflow("outer", &["a", "@inner", "c", "d"]);
        if let EntryKind::Workflow { outcomes, .. } = &mut outer.phases[1].kind {
            *outcomes =
                vec![Outcome::new("x", Target::Entry("a".into())), Outcome::new("y", Target::Entry("d".into()))];
        }
        Library::new(vec![outer, inner], &mut Vec::new())
    }

    #[test]
    fn an_entry_says_where_the_outcome_of_its_nested_workflow_leads() {
        let library = nested_with_outcomes();
        let before = at(&[("outer", 1), ("inner", 0)]);
        let (on, _) = leave(&before, Some("y"), &library).unwrap();
        assert_eq!(path(&on), [("outer", 3)]);
        assert!(on.progress.passed_over.keys().eq(["outer:2"]));
        let outcome = on.value(&ValueName::Outcome("inner".into()), 1, &library);
        assert_eq!(outcome, Some(OutputValue::Text("y".into())));
        assert_eq!(way_back(&before, "y", &library), None);

        let (back, _) = leave(&before, Some("x"), &library).unwrap();
        assert_eq!(path(&back), [("outer", 0)]);
        assert_eq!(back.progress.loops.get("/outer"), Some(&1));
        let mut again = RunState { current_path: before.current_path.clone(), ..back };
        again.progress.loops.insert("/outer", MAX_LOOPS);
        assert_eq!(leave(&again, Some("x"), &library), Err(LoopError::Exhausted));
        let scope = way_back(&again, "x", &library).unwrap();
        assert_eq!(scope, "/outer");
        let reason = crate::run::PauseReason::Loops { of: "b".into(), outcome: "x".into(), scope: Some(scope) };
        let resumed = again.paused(reason, 0).resumed();
        assert_eq!(resumed.progress.loops.get("/outer"), None, "its count begins anew");
    }

    #[test]
    fn an_outcome_can_stop_the_whole_run_where_it_is() {
        let mut inner = workflow("inner", &["b"]);
        let mut with_stop = phase("b");
        with_stop.outcomes = vec![Outcome::new("no", Target::Stop), Outcome::new("x", Target::Next)];
        inner.phases[0] = Entry::phase(with_stop);
        let mut outer = workflow("outer", &["a", "@inner", "c"]);
        if let EntryKind::Workflow { outcomes, .. } = &mut outer.phases[1].kind {
            *outcomes = vec![Outcome::new("x", Target::Stop)];
        }
        let library = Library::new(vec![outer, inner], &mut Vec::new());
        let before = at(&[("outer", 1), ("inner", 0)]);
        for outcome in ["no", "x"] {
            let (stopped, arrival) = leave(&before, Some(outcome), &library).unwrap();
            assert_eq!(arrival, Arrival::Done);
            assert_eq!((stopped.is_stopped(), stopped.stopped_with()), (true, Some(outcome)));
            assert_eq!(stopped.current_path, before.current_path);
            let stored = serde_json::to_string(&stopped).unwrap();
            assert!(stored.contains(r#""active":false"#) && stored.contains(r#""cancelled":true"#));
            assert_eq!(crate::run::restore([stored]), Some(stopped.clone()));
            let told = stopped.announced();
            assert_eq!((told.is_announced(), told.is_stopped()), (true, true));
        }
    }

    /// `r` has a and b; `no` of b leads to a as often as the bound says.
    fn with_bound(bound: WayBound) -> Workflow {
        let mut root = workflow("r", &["a", "b", "c"]);
        let mut b = phase("b");
        let no = Outcome::new("no", Target::Loop);
        b.outcomes = vec![Outcome { bound: Some(bound), ..no }];
        root.phases[1] = Entry::phase(b);
        root
    }

    /// Returns the run, back at b and left with `no` again.
    fn left_again(state: &RunState, library: &Library) -> Result<RunState, LoopError> {
        let mut at_b = state.clone();
        at_b.current_path.set_index(1);
        let (new, _) = leave(&at_b, Some("no"), library)?;
        Ok(new.moved_from(&at_b, super::super::Leaving::Done, 0))
    }

    #[test]
    fn a_bounded_way_is_taken_as_often_as_it_may_and_counts_are_stored() {
        let bound = WayBound { max: 2.into(), then: Some(Target::Stop) };
        let library = Library::new(vec![with_bound(bound)], &mut Vec::new());
        let mut state = at(&[("r", 0)]);
        for times in 1..=2 {
            state = left_again(&state, &library).unwrap();
            assert_eq!((state.is_running(), path(&state)), (true, vec![("r", 0)]));
            assert_eq!(state.progress.ways.get("r:1 no"), Some(&times));
            let stored = serde_json::to_string(&state).unwrap();
            state = crate::run::restore([stored]).unwrap();
        }
        let stopped = left_again(&state, &library).unwrap();
        assert_eq!((stopped.stopped_with(), path(&stopped)), (Some("no"), vec![("r", 1)]));

        let without = WayBound { max: 2.into(), then: None };
        let library = Library::new(vec![with_bound(without)], &mut Vec::new());
        assert_eq!(left_again(&state, &library), Err(LoopError::UsedUp { max: 2 }));
        let reason = |outcome: &str| crate::run::PauseReason::Way { of: "b".into(), outcome: outcome.into(), times: 2 };
        let mut at_b = state.clone();
        at_b.current_path.set_index(1);
        let other = at_b.paused(reason("other"), 0).resumed();
        assert_eq!(other.progress.ways.get("r:1 no"), Some(&2));
        let resumed = at_b.paused(reason("no"), 0).resumed();
        assert!(resumed.progress.ways.is_empty(), "its count begins anew");
        assert!(left_again(&resumed, &library).is_ok());
    }

    #[test]
    fn the_counts_of_a_scope_begin_anew_when_it_does() {
        let mut inner = with_bound(WayBound { max: 2.into(), then: None });
        inner.key = "inner".into();
        inner.phases.pop();
        let mut outer = workflow("outer", &["@inner", "z"]);
        let EntryKind::Workflow { outcomes, .. } = &mut outer.phases[0].kind else { panic!() };
        *outcomes = vec![Outcome::new("out", Target::Loop)];
        if let EntryKind::Phase(b) = &mut inner.phases[1].kind {
            std::rc::Rc::make_mut(b).outcomes.push(Outcome::new("out", Target::Next));
        }
        let library = Library::new(vec![outer, inner], &mut Vec::new());
        let mut state = at(&[("outer", 0), ("inner", 0)]);
        for _ in 0..2 {
            state = left_again(&state, &library).unwrap();
        }
        assert_eq!(state.progress.ways.get("outer:0/inner:1 no"), Some(&2));
        assert_eq!(state.progress.loops.get("outer:0/inner"), None, "a bounded way is no loop");
        state.current_path.set_index(1);
        // The nested workflow leads back to itself: it is entered again.
        let (again, _) = leave(&state, Some("out"), &library).unwrap();
        let again = again.moved_from(&state, super::super::Leaving::Done, 0);
        assert_eq!(path(&again), [("outer", 0), ("inner", 0)]);
        assert!(again.progress.ways.is_empty());
        assert!(again.progress.loops.keys().eq(["/outer"]));
    }

    #[test]
    fn a_loop_restarts_the_innermost_scope() {
        let library = library(&[("r", &["a", "@s"]), ("s", &["@t", "x"]), ("t", &["b", "c"])]);
        let after = restart(&at(&[("r", 1), ("s", 0), ("t", 1)]), &library).unwrap();
        assert_eq!(path(&after), [("r", 1), ("s", 0), ("t", 0)]);
        let after = restart(&at(&[("r", 1), ("s", 1)]), &library).unwrap();
        assert_eq!(path(&after), [("r", 1), ("s", 0), ("t", 0)]);
        assert_eq!(after.global_step_count, 1);
        assert_eq!(restart(&at(&[("gone", 0)]), &library), Err(LoopError::NotFound));
    }
}
