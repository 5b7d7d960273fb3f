//! The panels of `/workflow :status` and `/workflow :panel`.

use std::time::Duration;

use crate::definition::{ModelSetting, on_one_line, short};
use crate::run::{Active, Branch, NumberedPhase, Outline, RunState, Visit};

use super::branches::{BranchNow, branch_files, branch_lines};
use super::inputs::inputs;
use super::questions::TerminalSize;
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
        let evidence = visit.into_iter().flat_map(|visit| gate::evidence_lines(&visit.evidence));
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
/// with its tokens, cost and time at work. The current phase says so if the run `waits` for the user. The panel takes at
/// most a third of the `terminal`'s lines: the branches of the current entry first, then the entries behind it, then
/// those before it.
pub fn phase_panel(
    active: &Active,
    waits: bool,
    terminal: Option<TerminalSize>,
    branch: &dyn Fn(&Branch) -> BranchNow,
) -> Vec<String> {
    let outline = Outline::of(active);
    let columns = terminal.map_or(MAX_PANEL_LINE, |terminal| terminal.columns.clamp(MIN_PANEL_LINE, MAX_PANEL_LINE));
    let most = panel_lines(terminal);
    // A line for the position, and three for the current entry and those that are folded.
    let of_branches = branch_lines(active.state, &active.state.current_path, active.library, branch);
    let at_current = folded(of_branches, most.saturating_sub(4).max(1));
    let room = most.saturating_sub(1 + at_current.len()).max(3) as u64;
    let (first, last) = window(outline.current, outline.total, room);
    let phases = Outline::phases(
        active,
        first,
        usize::try_from(last.saturating_add(1).saturating_sub(first)).unwrap_or_default(),
    );
    let mut lines: Vec<String> = place(active.state, active.library).into_iter().collect();
    lines.extend((first > 1).then(|| format!("… {} before", first - 1)));
    lines.extend(phases.iter().flat_map(|at| {
        let visit = active.state.progress().visits.get(&at.path.key());
        let current = at.number == outline.current;
        let passed = passed(active.state, &at.path).filter(|_| !current);
        let marked = marked(active.state, at, visit, passed.is_some(), current);
        if let Some(passed) = passed {
            return vec![short(&format!("{marked}  {}", passed.because), columns)];
        }
        let mut line = String::new();
        let outcomes = &active.state.progress().outcomes;
        let outcome = outcomes.get(&at.path.key()).filter(|_| !current);
        line.extend(outcome.map(|outcome| format!("  {}", short(outcome, MAX_PANEL_LINE))));
        let took = visit.and_then(|visit| short_usage(&visit.all_usage()));
        line.extend(took.into_iter().flat_map(|took| ["  ".to_owned(), took]));
        line.push_str(if current && waits { "  waits for you" } else { "" });
        let room = columns.saturating_sub(line.chars().count()).max(MIN_PANEL_LINE / 2);
        let line = format!("{}{line}", short(&marked, room));
        let of_branches: &[String] = if current { &at_current } else { &[] };
        let of_branches = of_branches.iter().map(|line| short(&format!("   {line}"), columns));
        std::iter::once(line).chain(of_branches).collect()
    }));
    lines.extend((last < outline.total).then(|| format!("… {} to come", outline.total - last)));
    lines
}

/// Returns the maximum number of lines above the editor in a terminal of this size.
fn panel_lines(terminal: Option<TerminalSize>) -> usize {
    terminal.map_or(PANEL_LINES, |terminal| (terminal.lines / 3).clamp(LEAST_LINES, MOST_LINES))
}

/// Returns the numbers of the first and the last entry that `room` lines, at least 3, show around the current entry, with
/// a line for those before them and a line for those behind them. Of too many the entries before the current one are
/// left out first.
fn window(current: u64, total: u64, room: u64) -> (u64, u64) {
    if total <= room {
        return (1, total);
    }
    let current = current.min(total).max(1);
    let (before, behind) = (current - 1, total.saturating_sub(current));
    let left = room - 1 - u64::from(before > 0);
    let last = if behind <= left { total } else { current + left - 1 };
    let left = room - 1 - behind.min(left);
    (if before <= left { 1 } else { current + 1 - left }, last)
}

/// Returns the lines of branches that fit into a terminal of this size.
pub fn fitting_branches(branches: Vec<String>, terminal: Option<TerminalSize>) -> Vec<String> {
    match terminal {
        Some(_) => folded(branches, panel_lines(terminal)),
        None => branches,
    }
}

/// Returns the lines of branches, at most this number: the ended branches are left out first, and counted.
fn folded(branches: Vec<String>, most: usize) -> Vec<String> {
    if branches.len() <= most {
        return branches;
    }
    let (ended, mut shown): (Vec<String>, Vec<String>) =
        branches.into_iter().partition(|line| line.starts_with(['✓', '✗']));
    shown.extend(ended);
    let more = shown.split_off(most.saturating_sub(1));
    shown.push(format!("… {} more", more.len()));
    shown
}

/// Maximum number of lines of the panel where the size of the terminal is not known: pi shows 10 lines of a list.
const PANEL_LINES: usize = 10;
/// The same number in the smallest and in the largest terminals.
const LEAST_LINES: usize = 5;
const MOST_LINES: usize = 100;
/// Minimum and maximum length of a line of the panel, in characters.
const MIN_PANEL_LINE: usize = 40;
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
        assert_eq!(folded(few.clone(), 6), few);
        let many = lines(&["✓ a", "● b", "✗ c", "○ d", "● e", "✓ f", "● g", "● h"]);
        assert_eq!(folded(many, 6), lines(&["● b", "○ d", "● e", "● g", "● h", "… 3 more"]));
    }

    #[test]
    fn the_panel_has_the_lines_that_there_are() {
        for (total, room) in (1..20).flat_map(|total| (3..22).map(move |room| (total, room))) {
            for current in 1..=total {
                let (first, last) = window(current, total, room);
                assert!(1 <= first && first <= current && current <= last && last <= total);
                let folds = u64::from(first > 1) + u64::from(last < total);
                let lines = last + 1 - first + folds;
                assert!(lines <= room && (lines == room || total < room), "{current} of {total} in {room}");
            }
        }
        assert_eq!([window(9, 12, 6), window(9, 20, 6), window(1, 9, 4)], [(8, 12), (9, 12), (1, 3)]);
    }
}
