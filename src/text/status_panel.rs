//! The panels of `/workflow :status` and `/workflow :panel`.

use std::time::Duration;

use crate::definition::{ModelSetting, on_one_line, short};
use crate::run::{Active, Branch, NumberedPhase, Outline, RunState, Visit};

use super::branches::{BranchNow, branch_files, branch_lines};
use super::inputs::inputs;
use super::status_line::{full_status_line, place};
use super::task::task;
use super::usage::{short_usage, usage, warm_ups};
use super::ways::passed;
use super::{budget, gate, items, limits, outline, results, step_result};

/// Maximum number of phases in the panel of `/workflow :status`.
const MAX_STEPS: usize = 200;

/// Returns all phases of a run with their marks (`✓` done, `▸` current, `⤼` skipped, `○` to come), durations and limits,
/// and the state of the run. `branch` returns the newest activity of a branch. `now` is the time in milliseconds since
/// 1970; `waits` as in [`status_line`]; `in_use` is the model in use; `utc_offset` is the user's offset from UTC at the
/// start of the run.
pub fn status_panel(
    active: &Active,
    now: u64,
    waits: bool,
    in_use: Option<&ModelSetting>,
    utc_offset: i16,
    branch: &dyn Fn(&Branch) -> BranchNow,
) -> String {
    let state = active.state;
    let progress = state.progress();
    let outline = Outline::of(active);
    let mut lines = vec![
        full_status_line(state, active.library, waits).unwrap_or_default(),
        format!("Task: {}", task(state)),
        format!(
            "{}, started {} ({} ago)",
            state.task_id,
            step_result::local_time(state.started_at, utc_offset),
            duration(state.started_at, now)
        ),
    ];
    lines.extend(inputs(active, 1).map(|inputs| format!("Inputs: {inputs}")));
    lines.extend(progress.run_dir.iter().map(|of| format!("Folder: {}", of.shown())));
    lines.push(String::new());
    let phases = Outline::phases(active, 1, MAX_STEPS);
    let before = std::iter::once(None).chain(phases.iter().map(Some));
    for (at, before) in phases.iter().zip(before) {
        lines.extend(items::lines(active, at, before));
        let visit = progress.visits.get(&at.path.key());
        let current = at.number == outline.current;
        let passed = passed(state, &at.path).filter(|_| !current);
        let mut line = marked(active.state, at, visit, passed.is_some(), current);
        if let Some(passed) = passed {
            line.push_str(&format!("  passed over: {}", passed.because));
        } else if let Some(visit) = visit {
            let end = if current { now } else { visit.ended_at.unwrap_or(now) };
            line.push_str(&format!("  {}", duration(visit.started_at, end)));
            if visit.number > 1 {
                line.push_str(&format!(", {} visits", visit.number));
            }
            let in_use = in_use.filter(|_| current).map(ToString::to_string);
            if let Some(model) = in_use.as_ref().or(visit.model.as_ref()) {
                line.push_str(&format!(", {}", on_one_line(model)));
            }
            if let Some(outcome) = progress.outcomes.get(&at.path.key()).filter(|_| !current) {
                line.push_str(&format!(", outcome {}", on_one_line(outcome)));
            }
        }
        lines.push(line);
        let scope = at.path.last().and_then(|scope| active.library.get(&scope.workflow_key));
        let limits = scope.and_then(|scope| limits::limits_note(at.phase, scope));
        lines.extend(limits.map(|note| format!("     {note}")));
        let took = visit.and_then(|visit| usage(&visit.all_usage()));
        lines.extend(took.map(|took| format!("     {took}")));
        let summary = visit.and_then(|visit| visit.summary.as_ref());
        let evidence = gate::phase_evidence_lines(state, &at.path);
        lines.extend(evidence.map(|line| format!("     {line}")));
        let of_branches = branch_lines(state, &at.path, active.library, branch);
        let files = branch_files(state, &at.path, active.library);
        for (line, file) in of_branches.iter().zip(files) {
            lines.push(format!("     {line}"));
            lines.extend(file.map(|file| format!("       Session: {file}")));
        }
        let handed = progress.outputs.get(&at.path.key());
        let excerpt = results::excerpt_of(summary, handed.map(|handed| &handed.values));
        lines.extend(excerpt.iter().map(|line| format!("     {line}")));
    }
    if outline.total > phases.len() as u64 {
        lines.push(format!("… {} more", outline.total - phases.len() as u64));
    }
    lines.push(String::new());
    lines.extend(usage(&state.usage()).map(|took| format!("In all: {took}.")));
    let warm = warm_ups(&state.usage());
    lines.extend(warm.map(|warm| format!("Prompt cache kept between answers: {warm}.")));
    lines.extend(budget::budget_lines(active));
    let loops = progress.loops.values().fold(0_u32, |sum, loops| sum.saturating_add(*loops));
    lines.push(format!(
        "Automatic continuations in this phase: {}. Loops: {loops}. Transitions: {}.",
        progress.continuations, state.global_step_count
    ));
    lines.join("\n")
}

/// Returns the panel above the editor: the position as in the status line, and the phases around the current one, each
/// with its tokens, cost and time at work. The current phase says so if the run `waits` for the user.
pub fn phase_panel(active: &Active, waits: bool, branch: &dyn Fn(&Branch) -> BranchNow) -> Vec<String> {
    let outline = Outline::of(active);
    let at_current = folded(branch_lines(active.state, &active.state.current_path, active.library, branch));
    // The branches of the current entry come first; then the entries around it, fewer of those before it.
    let room = PANEL_LINES.saturating_sub(at_current.len()).max(1);
    let last_first = outline.total.saturating_sub(room as u64 - 1).max(1);
    let first = outline.current.saturating_sub(room as u64 / 3).clamp(1, last_first);
    let phases = Outline::phases(active, first, room);
    let mut lines: Vec<String> = place(active.state, active.library).into_iter().collect();
    lines.extend(phases.iter().flat_map(|at| {
        let visit = active.state.progress().visits.get(&at.path.key());
        let current = at.number == outline.current;
        let passed = passed(active.state, &at.path).filter(|_| !current);
        let mut line = short(&marked(active.state, at, visit, passed.is_some(), current), MAX_PANEL_LINE);
        if let Some(passed) = passed {
            line.push_str(&format!("  {}", passed.because));
            return vec![line];
        }
        let outcomes = &active.state.progress().outcomes;
        let outcome = outcomes.get(&at.path.key()).filter(|_| !current);
        line.extend(outcome.map(|outcome| format!("  {}", short(outcome, MAX_PANEL_LINE))));
        let took = visit.and_then(|visit| short_usage(&visit.all_usage()));
        line.extend(took.into_iter().flat_map(|took| ["  ".to_owned(), took]));
        line.push_str(if current && waits { "  waits for you" } else { "" });
        let of_branches: &[String] = if current { &at_current } else { &[] };
        let of_branches = of_branches.iter().map(|line| short(&format!("   {line}"), MAX_PANEL_LINE));
        std::iter::once(line).chain(of_branches).collect()
    }));
    lines
}

/// Returns the lines of branches for the panel, at most [`PANEL_BRANCHES`]: the ended branches are left out first, and
/// counted.
fn folded(branches: Vec<String>) -> Vec<String> {
    if branches.len() <= PANEL_BRANCHES {
        return branches;
    }
    let (ended, mut shown): (Vec<String>, Vec<String>) =
        branches.into_iter().partition(|line| line.starts_with(['✓', '✗']));
    shown.extend(ended);
    let more = shown.split_off(PANEL_BRANCHES - 1);
    shown.push(format!("… {} more", more.len()));
    shown
}

/// Maximum number of lines of entries and branches in the panel above the editor: pi shows 10 lines of a panel, of which
/// the first is the position.
const PANEL_LINES: usize = 8;
/// Maximum number of branches among these lines.
const PANEL_BRANCHES: usize = 6;
/// Maximum length of a phase in the panel above the editor, in characters.
const MAX_PANEL_LINE: usize = 200;

/// Returns a phase with its mark.
fn marked(state: &RunState, at: &NumberedPhase, visit: Option<&Visit>, passed_over: bool, current: bool) -> String {
    let mark = match visit {
        _ if current => "▸",
        _ if passed_over => "⤼",
        Some(visit) if visit.skipped => "⤼",
        Some(visit) if state.has_finished(&at.path.key(), visit) => "✓",
        Some(_) | None => "○",
    };
    format!("{mark} {}. {}", at.number, outline::name(at))
}

/// Returns the time between two moments in words, in seconds.
fn duration(from: u64, to: u64) -> String {
    let seconds = Duration::from_secs(to.saturating_sub(from) / 1000);
    humantime::format_duration(seconds).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_ended_is_folded_first() {
        let lines = |of: &[&str]| of.iter().map(|line| (*line).to_owned()).collect::<Vec<String>>();
        let few = lines(&["✓ a: done", "● b: starts"]);
        assert_eq!(folded(few.clone()), few);
        let many = lines(&["✓ a", "● b", "✗ c", "○ d", "● e", "✓ f", "● g", "● h"]);
        assert_eq!(folded(many), lines(&["● b", "○ d", "● e", "● g", "● h", "… 3 more"]));
    }
}
