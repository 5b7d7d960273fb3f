//! The text in the status bar.

use crate::definition::Library;
use crate::run::{Item, PauseReason, RunState, pause_reason};

use super::branches::branches_ended;
use super::pause::{brief_reason, run_name};

use super::names::short_name;

/// Returns the status line of a run; `None` without an active run.
///
/// `WORKFLOW > NESTED [2/3] > EMOJI PHASE [1/2]`, a part for every scope. With `⏸`: the reason of a pause in a few
/// words at the time `now`, or that the run `waits` for the user.
///
/// Specification: hook lifecycle, "updateStatus".
pub fn status_line(state: Option<&RunState>, library: &Library, waits: bool, now: u64) -> Option<String> {
    line(state, library, waits.then_some("waits for you"), |reason| brief_reason(reason, now))
}

/// Returns the words with which pi shows that a run waits for the user.
pub fn waits_for_user(state: &RunState, library: &Library) -> String {
    format!("Workflow {} waits for you", run_name(state, library))
}

/// Returns the status line with the whole reason of a pause, or with an instruction if the run `waits` for the user.
pub(super) fn full_status_line(state: &RunState, library: &Library, waits: bool) -> Option<String> {
    line(Some(state), library, waits.then_some(WAITS), PauseReason::to_string)
}

fn line(
    state: Option<&RunState>,
    library: &Library,
    waits: Option<&str>,
    words: impl Fn(&PauseReason) -> String,
) -> Option<String> {
    let state = state.filter(|state| state.is_running())?;
    let place = place(state, library);
    let Some(reason) = pause_reason(state, library) else {
        return match waits {
            Some(waits) => Some(format!("⏸ {} ({waits})", place?)),
            None => place,
        };
    };
    let place = place.unwrap_or_else(|| run_name(state, library));
    Some(format!("⏸ {place} (paused: {})", words(&reason)))
}

/// Returns the position of a run; `None` if it cannot be found in the library.
pub(super) fn place(state: &RunState, library: &Library) -> Option<String> {
    let root = library.get(&state.current_path.first()?.workflow_key)?;
    let mut line = short_name(&root.name);
    for (depth, segment) in (1..).zip(state.current_path.iter()) {
        if segment.item.is_some()
            && let Some(Item { number, count, .. }) = state.item(depth, library)
        {
            line.push_str(&format!(" [{number}/{count}]"));
        }
        let phases = &library.get(&segment.workflow_key)?.phases;
        let entry = phases.get(segment.phase_index)?;
        line.push_str(" > ");
        if let Some(phase) = library.phase_at(entry).filter(|phase| !phase.emoji.is_empty()) {
            line.push_str(&short_name(&phase.emoji));
            line.push(' ');
        }
        line.push_str(&short_name(library.entry_name(entry)));
        let branches = branches_ended(state, library).filter(|_| depth == state.current_path.len());
        line.extend(branches.map(|branches| format!(" ({branches})")));
        // For a repeated group the items are counted, not the place of the group.
        let is_repeated = state.current_path.get(depth).is_some_and(|inner| inner.item.is_some());
        if !is_repeated {
            line.push_str(&format!(" [{}/{}]", segment.phase_index + 1, phases.len()));
        }
    }
    Some(line)
}

/// Instruction for a run that waits for the user.
const WAITS: &str = "waits for you: send a message, or /workflow :resume";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::library;
    use crate::run::path::path_to;

    #[test]
    fn every_scope_shows_its_own_progress() {
        let library = library(&[
            ("release", &["build", "@review", "deploy"]),
            ("review", &["check", "@tests"]),
            ("tests", &["unit"]),
        ]);
        for (path, line) in [
            (&[("release", 0)][..], Some("The release > 🔹 Build [1/3]")),
            (&[("release", 1), ("review", 0)], Some("The release > The review [2/3] > 🔹 Check [1/2]")),
            (
                &[("release", 1), ("review", 1), ("tests", 0)],
                Some("The release > The review [2/3] > The tests [2/2] > 🔹 Unit [1/1]"),
            ),
            (&[("release", 1)], Some("The release > The review [2/3]")),
            (&[("release", 3)], Some("⏸ The release (paused: its phase is gone)")),
            (&[("gone", 0)], Some("⏸ gone (paused: its files cannot be read)")),
            (&[("release", 1), ("gone", 0)], Some("⏸ The release (paused: its files cannot be read)")),
        ] {
            let state = RunState::new(path[0].0, "", 0, 0).at(path_to(path));
            assert_eq!(status_line(Some(&state), &library, false, 0).as_deref(), line);
            let is_held = |line: &str| line.starts_with('⏸');
            let waits = line.map(|line| match is_held(line) {
                true => line.to_owned(),
                false => format!("⏸ {line} (waits for you)"),
            });
            assert_eq!(status_line(Some(&state), &library, true, 0), waits);
            assert_eq!(status_line(Some(&state.cancelled()), &library, true, 0), None);
        }
        assert_eq!(status_line(None, &library, true, 0), None);
    }
}
