//! Results of the `workflow_step` tool.

use std::time::{Duration, UNIX_EPOCH};

use crate::run::{Active, Outline, RunState, Segment};

use super::branches::branch_name;
use super::calls::call_again;
use super::context_prompt::phase_instructions;
use super::names::phase_title;
use super::task::task;
use super::ways::{entries_passed_over, passed};
use super::{limits, outline, results};

/// The latest time whose year has four digits: 9999-12-31T23:59:59.999Z.
const MAX_UNIX_MS: u64 = 253_402_300_799_999;

/// Replacement of the context prompt in the result of a nested call.
pub const PROMPT_FOLLOWS: &str = "The instructions of this phase follow the result of the call that made this one.";

/// Returns the result of a `next` with this outcome that led to another phase. The context prompt of that phase follows
/// the result.
pub fn advanced(before: &Active, after: &Active, outcome: Option<&str>) -> String {
    let seen = after.seen();
    let after = &after.with(&seen);
    let depth = |active: &Active| active.state.current_path.len();
    let verb = if let Some((number, count)) = next_item(before, after) {
        format!("Went on to item {number} of {count}")
    } else if depth(after) > depth(before) {
        format!("Entered {} '{}'", kind(after), after.scope.name)
    } else if depth(after) < depth(before) {
        format!("Exited {}, returning to {}", kind(before), after.breadcrumb().join(" > "))
    } else if before.state.current_path.starts_with(outer(after)) && after.index <= before.index {
        "Went back".to_owned()
    } else {
        "Advanced".to_owned()
    };
    let verb = outcome.map_or(verb.clone(), |outcome| format!("{verb} with `{outcome}`"));
    let (phase, current) = (before.phase, after.phase);
    let mut text = format!("✓ {verb}: {} → {}\n", phase.name, current.title());
    text.extend(passed_over(after.state).map(|line| format!("{line}\n")));
    text.push_str(&format!("\n{}\n\n", position(after)));
    text
}

/// Returns the word for the innermost scope.
fn kind(active: &Active) -> &'static str {
    if active.scope.group.is_some() { "group" } else { "subworkflow" }
}

/// Returns the number of the next item and the number of items, if a run has gone on to the next item of a group.
fn next_item(before: &Active, after: &Active) -> Option<(usize, usize)> {
    let (from, to) = (&before.state.current_path, &after.state.current_path);
    let depth = from.iter().zip(to.iter()).position(|(from, to)| from != to)?;
    let (from, to) = (from.get(depth)?, to.get(depth)?);
    if from.workflow_key != to.workflow_key || from.item? >= to.item? {
        return None;
    }
    let item = after.state.item(depth + 1, after.library)?;
    Some((item.number, item.count))
}

/// Returns the path of the scopes around the innermost scope.
fn outer<'a>(active: &Active<'a>) -> &'a [Segment] {
    active.state.current_path.split_last().map_or(&[], |(_, outer)| outer)
}

/// The beginning of the line with the entries that a transition passed over.
pub(super) const PASSED_OVER: &str = "Passed over: ";

/// Returns a line with the entries that the last transition passed over.
fn passed_over(state: &RunState) -> Option<String> {
    let passed = state.progress().passed_over.values().filter(|passed| passed.step == state.global_step_count);
    entries_passed_over(passed).map(|passed| format!("{PASSED_OVER}{passed}"))
}

/// Returns the result of a `next` with this outcome that led to DONE.
pub fn done(before: &Active, outcome: Option<&str>, after: &RunState) -> String {
    let branch = after.progress().branch.as_ref().map(branch_name);
    if let Some(outcome) = after.stopped_with() {
        let phase = phase_title(before.phase);
        if let Some(name) = branch {
            return format!("⛔ The branch “{name}” is stopped: {phase} was left with `{outcome}`. Stop here.");
        }
        return format!(
            "⛔ The workflow is stopped: {phase} was left with `{outcome}`. Stop here, and tell the user why."
        );
    }
    let with = outcome.map_or(String::new(), |outcome| format!(" with `{outcome}`"));
    let passed = passed_over(after).map_or(String::new(), |line| format!("\n{line}"));
    let from = &before.phase.name;
    if let Some(name) = branch {
        return format!(
            "✓ Advanced{with}: {from} → the end of the branch “{name}”{passed}\n\nStop here: the workflow goes on when its other branches have ended too."
        );
    }
    format!("✓ Advanced{with}: {from} → DONE{passed}\n\n🎉 **All phases complete!**")
}

/// Returns the result of a `loop` of the scope with this name. The context prompt of the first phase follows.
pub fn looped(scope: &str, after: &Active) -> String {
    format!("🔄 Looped '{scope}' back to: {}\n\n", after.phase.title())
}

/// Returns the refusal of a `next` without the summary that the phase requires.
pub fn summary_missing(active: &Active) -> String {
    format!(
        "⚠️ The phase {} cannot be left without a summary: what this phase found or did, as far as later phases must know it.{}",
        active.phase.title(),
        call_again(active)
    )
}

/// Returns the refusal of a call whose summary is the placeholder of an example.
pub fn summary_is_placeholder(active: &Active) -> String {
    format!(
        "⚠️ The summary is the placeholder of the example. Write what this phase found or did.{}",
        call_again(active)
    )
}

/// Returns the refusal of a call with an unknown action.
pub fn unknown_action(active: Option<&Active>) -> String {
    let again = active.map_or_else(String::new, call_again);
    format!("Unknown action. Call workflow_step with action='next', 'status', 'loop' or 'cancel'.{again}")
}

/// Returns the result of a call that refers to a phase the run has already left.
pub fn outdated(now: &Active) -> String {
    format!(
        "The user has moved the workflow meanwhile; this call had no effect. The current phase is {}. Its instructions follow.",
        now.phase.title(),
    )
}

/// Returns the result of a call after a nested call that moved the run in the same answer of the model.
pub fn outdated_in_script(now: &Active) -> String {
    format!(
        "The workflow has moved already, by a call that another tool made; this call had no effect. The current phase is {}. {PROMPT_FOLLOWS}",
        now.phase.title(),
    )
}

/// The result of a call that would move the run a second time in one answer of the model.
pub const MOVED_IN_ANSWER: &str =
    "The phase has changed with an earlier call of this answer; read its instructions first. This call had no effect.";

/// Returns the result of `status` while a run is active.
pub fn status(active: &Active) -> String {
    let seen = active.seen();
    let active = &active.with(&seen);
    let state = active.state;
    let phase = active.phase;
    let mut progress = phase.title();
    if !active.is_whole_branch() {
        progress.push_str(&format!(" [{}/{}]", active.index + 1, active.scope.phases.len()));
    }
    let mut lines = vec![
        format!("**Workflow:** {} ({})", active.root.name, state.workflow_key),
        format!("**Task ID:** {}", state.task_id),
        format!("**Description:** {}", task(state)),
    ];
    if active.is_nested() {
        lines.push(format!("**Path:** {}", active.breadcrumb().join(" > ")));
        lines.push(format!("**Phase:** {progress} (step {})", state.global_step_count));
    } else {
        lines.push(format!("**Phase:** {progress}"));
    }
    lines.push(format!("**Started:** {}", timestamp(state.started_at)));
    lines.extend([String::new(), "**What to do:**".into(), phase_instructions(active), String::new()]);
    if let Some(results) = results::results(state, active.library) {
        lines.extend([results, String::new()]);
    }
    let profiles = phase.profiles.as_ref().map_or("(none)".to_owned(), |names| names.join(", "));
    lines.push(format!("**Available profiles:** {profiles}"));
    lines.extend(limits::limits_line(active));
    lines.extend(limits::hidden_line(active));
    lines.join("\n")
}

/// Returns the previous, the current and the next phase.
fn position(active: &Active) -> String {
    let outline = Outline::of(active);
    let first = outline.current.saturating_sub(1).max(1);
    let around = Outline::phases(active, first, 2);
    let line = |label: &str, number: u64, none: &str| {
        let Some(at) = around.iter().find(|at| at.number == number) else {
            return format!("**{label}:** {none}");
        };
        let passed = passed(active.state, &at.path).filter(|_| number != outline.current);
        let note = passed.map_or("", |_| " (passed over)");
        format!("**{label}:** {}{note}", outline::name(at))
    };
    [
        line("Previous", outline.current - 1, "(start)"),
        line("Current", outline.current, "") + &format!(" ({}/{})", outline.current, outline.total),
        format!("**Next:** {}", next(active, outline)),
    ]
    .join("\n")
}

/// Returns the next phase; if an outcome or an output decides on it, returns the phase that is next in order.
fn next(active: &Active, outline: Outline) -> String {
    let leads_one_way = active.phase.outcomes.is_empty() && active.phase.outputs.is_empty();
    let after = active.after(None).filter(|_| leads_one_way);
    let number = match &after {
        Some(after) => Active::resolve(after, active.library).map(|next| Outline::of(&next).current),
        None => Some(outline.current.saturating_add(1)),
    };
    let phases = number.map(|number| Outline::phases(active, number, 1)).unwrap_or_default();
    phases.first().map_or_else(|| "DONE".to_owned(), outline::name)
}

/// Returns a time in the format of JavaScript's `toISOString`.
pub(super) fn timestamp(unix_ms: u64) -> String {
    let time = UNIX_EPOCH + Duration::from_millis(unix_ms.min(MAX_UNIX_MS));
    humantime::format_rfc3339_millis(time).to_string()
}

/// Returns a time for the user, in a time zone with this offset from UTC in minutes: `2025-05-14 12:26:07 UTC−02:30`.
pub(super) fn local_time(unix_ms: u64, utc_offset: i16) -> String {
    let size = u64::from(utc_offset.unsigned_abs());
    let (sign, local) = if utc_offset < 0 {
        ('−', unix_ms.saturating_sub(size * 60_000))
    } else {
        ('+', unix_ms.saturating_add(size * 60_000))
    };
    let time = UNIX_EPOCH + Duration::from_millis(local.min(MAX_UNIX_MS));
    let text = humantime::format_rfc3339_seconds(time).to_string();
    let text = text.trim_end_matches('Z').replacen('T', " ", 1);
    format!("{text} UTC{sign}{:02}:{:02}", size / 60, size % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::library;
    use crate::run::{RunState, advance, restart};

    #[test]
    fn next_says_where_the_agent_is() {
        let library = library(&[("r", &["a", "@s", "z"]), ("s", &["b", "c"])]);
        let mut state = RunState::new("r", "the task", 0, 0);
        let mut texts = Vec::new();
        loop {
            let (new, _) = advance(&state, &library);
            let before = Active::resolve(&state, &library).unwrap();
            match Active::resolve(&new, &library) {
                Some(after) => texts.push(advanced(&before, &after, None)),
                None => {
                    texts.push(done(&before, None, &new));
                    break;
                }
            }
            state = new;
        }
        assert_eq!(
            texts[0],
            "✓ Entered subworkflow 'The s': A → 🔹 B\n\n\
             **Previous:** 🔹 A\n**Current:** The s > 🔹 B (2/4)\n**Next:** The s > 🔹 C\n\n"
        );
        let heads: Vec<&str> = texts.iter().map(|text| text.lines().next().unwrap()).collect();
        assert_eq!(
            heads,
            [
                "✓ Entered subworkflow 'The s': A → 🔹 B",
                "✓ Advanced: B → 🔹 C",
                "✓ Exited subworkflow, returning to The r: C → 🔹 Z",
                "✓ Advanced: Z → DONE",
            ]
        );
        assert!(texts[2].contains("**Next:** DONE"));
    }

    #[test]
    fn status_and_loop_resolve_templates() {
        let library = library(&[("r", &["a", "@s"]), ("s", &["b"])]);
        let state = RunState::new("r", "the task", 1_747_234_567_890, 0);
        let active = Active::resolve(&state, &library).unwrap();
        assert_eq!(
            status(&active),
            format!(
                "**Workflow:** The r (r)\n**Task ID:** {}\n**Description:** the task\n\
                 **Phase:** 🔹 A [1/2]\n**Started:** 2025-05-14T14:56:07.890Z\n\n\
                 **What to do:**\nDo a for the task.\n\n**Available profiles:** (none)",
                state.task_id
            )
        );
        let nested = advance(&state, &library).0;
        let text = status(&Active::resolve(&nested, &library).unwrap());
        assert!(text.contains("**Path:** The r > The s\n**Phase:** 🔹 B [1/1] (step 1)\n"));
        let again = restart(&nested, &library).unwrap();
        assert_eq!(looped("The s", &Active::resolve(&again, &library).unwrap()), "🔄 Looped 'The s' back to: 🔹 B\n\n");
        assert_eq!(timestamp(u64::MAX), "9999-12-31T23:59:59.999Z");
        for (time, offset, expected) in [
            (1_747_234_567_890, 0, "2025-05-14 14:56:07 UTC+00:00"),
            // Newfoundland on both sides of the end of its summer time.
            (1_762_053_300_000, -150, "2025-11-02 00:45:00 UTC−02:30"),
            (1_762_056_900_000, -210, "2025-11-02 00:45:00 UTC−03:30"),
            (1_747_234_567_890, 345, "2025-05-14 20:41:07 UTC+05:45"),
            (1_747_234_567_890, 840, "2025-05-15 04:56:07 UTC+14:00"),
            (0, -210, "1970-01-01 00:00:00 UTC−03:30"),
            (u64::MAX, i16::MAX, "9999-12-31 23:59:59 UTC+546:07"),
            (0, i16::MIN, "1970-01-01 00:00:00 UTC−546:08"),
        ] {
            assert_eq!(local_time(time, offset), expected);
        }
    }

    #[test]
    fn next_names_the_item_to_which_it_has_gone_on() {
        let mut files = crate::definition::fixtures::Files::default();
        let workflow = "name: W\ncommandName: w\ninitialMessage: Go\nphases:\n  - each: [x, y]\n    phases: [a.md, { phases: [b.md], each: [p, q] }]\n";
        files.global.insert("w/workflow.yaml".into(), workflow.into());
        for id in ["a", "b"] {
            let text = format!("---\nid: {id}\nname: {id}\nemoji: '*'\n---\nDo it.\n");
            files.global.insert(format!("w/{id}.md"), text);
        }
        let (library, _) = crate::definition::Library::load(&files).unwrap();
        let (mut state, _) = crate::run::begin(&RunState::new("w", "t", 0, 0), &library);
        let mut lines = Vec::new();
        while state.is_running() {
            let (new, _) = advance(&state, &library);
            let before = Active::resolve(&state, &library).unwrap();
            let after = Active::resolve(&new, &library);
            lines.extend(after.map(|after| advanced(&before, &after, None)));
            state = new;
        }
        let lines: Vec<&str> = lines.iter().filter_map(|text| text.lines().next()).collect();
        let expected = [
            "✓ Entered group 'b': a → * b",
            "✓ Went on to item 2 of 2: b → * b",
            "✓ Went on to item 2 of 2: b → * a",
            "✓ Entered group 'b': a → * b",
            "✓ Went on to item 2 of 2: b → * b",
        ];
        assert_eq!(lines, expected);
    }
}
