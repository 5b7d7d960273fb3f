//! The transitions of a run.

use std::fmt;

use crate::definition::{Entry, EntryKind, Library, OnMaxLoops, Workflow, short};

use super::progress::MAX_NAME;
use super::{PassedOver, PassedOverReason, PhasePath, RunState, RunStatus};

/// The destination of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// At a phase.
    Phase,
    /// At the end of the root workflow.
    Done,
}

/// An error of [`restart`] and [`leave`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopError {
    /// The workflow says `loopable: false`.
    Disabled,
    /// It was restarted as often as its `maxLoops` allows.
    Exhausted { max_loops: u32 },
    /// The conditions of all entries from there up to the current phase do not hold.
    PassedOver,
    /// The library lacks the workflow, or the phase lacks the outcome.
    NotFound,
}

impl fmt::Display for LoopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("Looping is disabled for this workflow."),
            Self::Exhausted { max_loops } => write!(
                f,
                "This workflow has been looped {max_loops} times, which is all it allows (maxLoops). Go on with action='next', or leave it to the user."
            ),
            Self::PassedOver => f.write_str(
                "The conditions of all phases from there on do not hold, up to the current one.",
            ),
            Self::NotFound => f.write_str("The workflow is no longer available."),
        }
    }
}

/// Moves a run to its next phase, or to its end. The current phase has no outcome.
///
/// At a nested workflow: into it. At a phase with another entry behind it in its scope: to that entry. At the last of a
/// nested scope: out of every scope that has no more, and on. At the last of the root: the run is done. Entries whose
/// conditions do not hold are passed over.
///
/// A scope that the library lacks has no more entries.
///
/// Specification: state management, "Phase Transitions", cases 1 to 4.
pub fn advance(state: &RunState, library: &Library) -> (RunState, Arrival) {
    let mut new = state.stepped();
    if let Some(EntryKind::Workflow { .. }) = current_entry(&new, library).map(|entry| &entry.kind)
    {
        return new.arrive(None, state, library);
    }
    new.progress.outcomes.remove(&new.current_path.key());
    let next = current_index(&new).saturating_add(1);
    new.current_path.set_index(next);
    new.arrive(None, state, library)
}

/// Moves a run to where this outcome of its phase leads; without one, to its next phase or to its end.
///
/// # Errors
///
/// If the outcome leads back and the scope was restarted as often as it allows, unless its workflow goes to the next entry
/// then; or if the phase has no such outcome.
pub fn leave(
    state: &RunState,
    outcome: Option<&str>,
    library: &Library,
) -> Result<(RunState, Arrival), LoopError> {
    match outcome {
        Some(outcome) => follow(state, outcome, library),
        None => Ok(advance(state, library)),
    }
}

/// Moves a run to where this outcome of its phase leads.
fn follow(
    state: &RunState,
    outcome: &str,
    library: &Library,
) -> Result<(RunState, Arrival), LoopError> {
    let mut new = state.stepped();
    let key = new.current_path.key();
    let segment = new.current_path.last_mut().ok_or(LoopError::NotFound)?;
    let scope = library.get(&segment.workflow_key).ok_or(LoopError::NotFound)?;
    let phase = scope.phases.get(segment.phase_index).and_then(Entry::as_phase);
    let phase = phase.ok_or(LoopError::NotFound)?;
    let taken = phase.outcomes.iter().find(|other| other.name == outcome);
    let target = &taken.ok_or(LoopError::NotFound)?.target;
    let (from, next) = (segment.phase_index, segment.phase_index.saturating_add(1));
    let mut to = scope.target(from, target).ok_or(LoopError::NotFound)?;
    new.progress.outcomes.insert(key, outcome.to_owned());
    if to <= from {
        match (new.count_loop(scope, library), scope.on_max_loops) {
            (Err(LoopError::Exhausted { .. }), OnMaxLoops::Next) => to = next,
            (counted, OnMaxLoops::Pause | OnMaxLoops::Next) => counted?,
        }
    }
    for index in next..to {
        let because = PassedOverReason::Outcome {
            of: short(&phase.id, MAX_NAME),
            outcome: outcome.to_owned(),
        };
        new.current_path.set_index(index);
        new.pass_over(scope.phases.get(index), because, library);
    }
    new.current_path.set_index(to);
    Ok(new.arrive(Some(outcome), state, library))
}

/// Moves a run to the beginning of its innermost scope.
///
/// # Errors
///
/// If that workflow says `loopable: false`, was restarted as often as it allows, or is gone; or if the run would pass over
/// all phases up to the current one.
///
/// Specification: state management, "Loop Phase".
pub fn restart(state: &RunState, library: &Library) -> Result<RunState, LoopError> {
    let mut new = state.stepped();
    let segment = new.current_path.last().ok_or(LoopError::NotFound)?;
    let scope = library.get(&segment.workflow_key).ok_or(LoopError::NotFound)?;
    if !scope.loopable {
        return Err(LoopError::Disabled);
    }
    new.count_loop(scope, library)?;
    new.current_path.set_index(0);
    new.arrive_again(state, library)
}

/// Moves a new run to its first phase; to its end, if no entry can be entered.
pub fn begin(state: &RunState, library: &Library) -> (RunState, Arrival) {
    state.clone().arrive(None, state, library)
}

/// Moves a run whose path ends at a nested workflow to the first phase in it, whatever its conditions.
///
/// Specification: state management, "Case 1"; the number of steps does not change.
pub fn enter(state: &RunState, library: &Library) -> RunState {
    let mut new = state.clone();
    while let Some(EntryKind::Workflow { key, .. }) =
        current_entry(&new, library).map(|entry| &entry.kind)
    {
        new.current_path.enter(key);
    }
    new
}

impl RunState {
    /// Returns the run with one more step, which leaves its phase: with the outputs that this visit has handed over, or with none.
    pub(super) fn stepped(&self) -> Self {
        let global_step_count = self.global_step_count.saturating_add(1);
        let mut new = Self { global_step_count, ..self.clone() };
        if self.handed_outputs().is_none() {
            new.progress.outputs.remove(&self.current_path.key());
        }
        new
    }

    /// Counts a restart of the innermost scope.
    pub(super) fn count_loop(
        &mut self,
        scope: &Workflow,
        library: &Library,
    ) -> Result<(), LoopError> {
        let max_loops = self.max_loops(scope, library);
        let loops = self.progress.loops.get_or_insert(&self.current_path.scope_key(), u32::default);
        if *loops >= max_loops {
            return Err(LoopError::Exhausted { max_loops });
        }
        *loops += 1;
        Ok(())
    }

    /// Moves a run, whose gate has failed or whose scope begins again, from the entry at its path to the first phase that it
    /// can enter, see [`Self::arrive`]. `before` is the run at the phase where that happened.
    ///
    /// # Errors
    ///
    /// If a way back would lead past that phase, or another one out of the scope: gates would be passed that are not checked.
    pub(super) fn arrive_again(self, before: &Self, library: &Library) -> Result<Self, LoopError> {
        let (target, at) = (self.current_path.indices(), before.current_path.indices());
        let outer = target.len().saturating_sub(1);
        let (new, arrival) = self.arrive(None, before, library);
        let to = new.current_path.indices();
        let stays = if target <= at { to <= at } else { to.get(..outer) == at.get(..outer) };
        if arrival == Arrival::Phase && stays { Ok(new) } else { Err(LoopError::PassedOver) }
    }

    fn pass_over(&mut self, entry: Option<&Entry>, because: PassedOverReason, library: &Library) {
        let name = short(entry.map_or("", |entry| library.entry_name(entry)), MAX_NAME);
        let passed = PassedOver { name, step: self.global_step_count, because };
        self.progress.passed_over.insert(self.current_path.key(), passed);
    }

    /// Drops the outcomes and outputs in the nested workflow of the current entry and what was passed over in it: it begins anew.
    fn forget_below(&mut self) {
        let below = self.current_path.below();
        self.progress.outcomes.keep(|key| !key.starts_with(&below));
        self.progress.outputs.keep(|key| !key.starts_with(&below));
        self.progress.passed_over.keep(|key| !key.starts_with(&below));
    }

    /// Moves the run from the entry at its path, which it has not entered yet, to the first phase that it can enter: over
    /// entries whose conditions do not hold, into nested workflows, and out of those that have no more entries.
    ///
    /// `outcome` is that of the phase that it leaves: the workflows that end with it have the same. `before` is the run at
    /// that phase.
    pub(super) fn arrive(
        mut self,
        mut outcome: Option<&str>,
        before: &Self,
        library: &Library,
    ) -> (Self, Arrival) {
        // Those of the innermost workflow, which may have thousands of entries.
        let mut inputs = self.inputs(self.current_path.len(), library);
        while let Some(last) = self.current_path.last() {
            let (key, index) = (self.current_path.key(), last.phase_index);
            match library.get(&last.workflow_key).and_then(|scope| scope.phases.get(index)) {
                Some(entry) => {
                    if let Some((condition, value)) =
                        self.refusal_with(&entry.when, &inputs, library)
                    {
                        let because = PassedOverReason::refused(condition, value);
                        self.pass_over(Some(entry), because, library);
                        self.current_path.set_index(index + 1);
                        continue;
                    }
                    self.progress.passed_over.remove(&key);
                    match &entry.kind {
                        EntryKind::Phase(_) => return (self, Arrival::Phase),
                        EntryKind::Workflow { key: nested, .. } => {
                            self.forget_below();
                            self.current_path.enter(nested);
                            inputs = self.inputs(self.current_path.len(), library);
                            outcome = None;
                        }
                    }
                }
                None if !self.current_path.leave() => break,
                None => {
                    let key = self.current_path.key();
                    match outcome {
                        Some(outcome) => self.progress.outcomes.insert(key, outcome.to_owned()),
                        None => drop(self.progress.outcomes.remove(&key)),
                    }
                    self.current_path.set_index(current_index(&self).saturating_add(1));
                    inputs = self.inputs(self.current_path.len(), library);
                }
            }
        }
        // A run that ends inside a nested workflow has left it: its path is behind the root's last entry.
        self.current_path.clone_from(&before.current_path);
        self.current_path.truncate(1);
        if before.current_path.len() > 1
            && let Some(root) = self.current_path.first_mut()
            && let Some(workflow) = library.get(&root.workflow_key)
        {
            root.phase_index = workflow.phases.len();
        }
        self.status = RunStatus::Done { announced: false };
        (self, Arrival::Done)
    }
}

/// Moves a run to the phase at a path, whatever its conditions. The phase that it leaves has no outcome then.
pub fn go_to(state: &RunState, path: PhasePath) -> RunState {
    let mut new = RunState { current_path: path, ..state.stepped() };
    new.progress.outcomes.remove(&state.current_path.key());
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
    use crate::definition::fixtures::library;
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
        advances(
            &[("release", 1), ("review", 1), ("security", 1)],
            &[("release", 2)],
            Arrival::Phase,
        );
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
        let new = go_to(&state, at(&[("release", 1), ("review", 0)]).current_path);
        assert!(new.progress.passed_over.keys().eq(["release:2"]));
        assert!(new.progress.outcomes.keys().eq(["release:2"]), "the phase was left without one");
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
