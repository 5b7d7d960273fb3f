//! The transitions of a run.

use std::fmt;

use crate::definition::{Entry, Library};

use super::{RunState, RunStatus, Segment, scope_key};

/// The destination of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// At a phase.
    Phase,
    /// At the end of the root workflow.
    Done,
}

/// An error of [`restart`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopError {
    /// The workflow says `loopable: false`.
    Disabled,
    /// It was restarted as often as its `maxLoops` allows.
    Exhausted { max_loops: u32 },
    /// The library lacks the workflow.
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
            Self::NotFound => f.write_str("The workflow is no longer available."),
        }
    }
}

/// Moves a run to its next phase, or to its end.
///
/// At a nested workflow: into it, down to the first phase. At a phase with another entry behind it
/// in its scope: to that entry. At the last of a nested scope: out of every scope that has no more,
/// and on. At the last of the root: the run is done.
///
/// A scope that the library lacks has no more entries.
///
/// Specification: state management, "Phase Transitions", cases 1 to 4.
pub fn advance(state: &RunState, library: &Library) -> (RunState, Arrival) {
    let mut new = state.clone();
    new.global_step_count = new.global_step_count.saturating_add(1);
    if let Some(Entry::Workflow(_)) = current_entry(&new, library) {
        return (enter(&new, library), Arrival::Phase);
    }
    let depth = new.current_path.iter().rposition(|segment| {
        library
            .get(&segment.workflow_key)
            .is_some_and(|scope| segment.phase_index.saturating_add(1) < scope.phases.len())
    });
    match depth.and_then(|depth| {
        new.current_path.truncate(depth + 1);
        new.current_path.last_mut()
    }) {
        Some(segment) => {
            segment.phase_index += 1;
            (enter(&new, library), Arrival::Phase)
        }
        None => {
            // A run that ends inside a nested workflow has left it: its path is behind the root's
            // last entry.
            if new.current_path.len() > 1 {
                new.current_path.truncate(1);
                if let Some(root) = new.current_path.first_mut()
                    && let Some(workflow) = library.get(&root.workflow_key)
                {
                    root.phase_index = workflow.phases.len();
                }
            }
            new.status = RunStatus::Done { announced: false };
            (new, Arrival::Done)
        }
    }
}

/// Moves a run to the first phase of its innermost scope.
///
/// # Errors
///
/// If that workflow says `loopable: false`, was restarted as often as it allows, or is gone.
///
/// Specification: state management, "Loop Phase".
pub fn restart(state: &RunState, library: &Library) -> Result<RunState, LoopError> {
    let mut new = state.clone();
    let segment = new.current_path.last_mut().ok_or(LoopError::NotFound)?;
    let scope = library.get(&segment.workflow_key).ok_or(LoopError::NotFound)?;
    if !scope.loopable {
        return Err(LoopError::Disabled);
    }
    segment.phase_index = 0;
    new.global_step_count = new.global_step_count.saturating_add(1);
    let loops = new.progress.loops.entry(scope_key(&new.current_path)).or_default();
    if *loops >= scope.max_loops {
        return Err(LoopError::Exhausted { max_loops: scope.max_loops });
    }
    *loops += 1;
    Ok(enter(&new, library))
}

/// Moves a run whose path ends at a nested workflow to the first phase in it.
///
/// Specification: state management, "Case 1"; the number of steps does not change.
pub fn enter(state: &RunState, library: &Library) -> RunState {
    let mut new = state.clone();
    while let Some(Entry::Workflow(key)) = current_entry(&new, library) {
        new.current_path.push(Segment::first(key));
    }
    new
}

/// Moves a run to the phase at a path.
pub fn go_to(state: &RunState, path: Vec<Segment>) -> RunState {
    RunState {
        current_path: path,
        global_step_count: state.global_step_count.saturating_add(1),
        ..state.clone()
    }
}

fn current_entry<'a>(state: &RunState, library: &'a Library) -> Option<&'a Entry> {
    let segment = state.current_path.last()?;
    library.get(&segment.workflow_key)?.phases.get(segment.phase_index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::library;

    fn at(path: &[(&str, usize)]) -> RunState {
        RunState {
            current_path: path
                .iter()
                .map(|(key, index)| Segment { workflow_key: (*key).into(), phase_index: *index })
                .collect(),
            ..RunState::new(path[0].0, "task", 0, 0)
        }
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
