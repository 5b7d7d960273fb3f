//! Texts about gates: requirements, failures, evidence.

use std::borrow::Cow;

use super::outputs::output_lines;
use super::template::resolve_with;
use super::usage::duration;
use super::variables::phase_variable;
use crate::definition::{
    Check, CheckKind, Command, Library, Phase, ValueType, Variable, as_name, on_one_line, resolve_path, short,
    unescaped,
};
use crate::run::{Active, Evidence, PhasePath, RunState, Tail, Visit};

/// Maximum number of lines of a command's output for the agent.
const MAX_TAIL_LINES: usize = 40;
/// Maximum number of characters of a command's output for the agent.
const MAX_TAIL: usize = 4096;
/// Maximum number of characters of a command's output in the session.
const MAX_KEPT_TAIL: usize = 1024;

/// Refusal of a tool call while a gate is checked.
pub const GATE_OPEN: &str = "[workflow] The gate of the current phase is being checked. Wait for its result.";

/// The message after the answers of an agent that was stopped after the end of a run.
pub const STOPPED_BEHIND_END: &str = "The workflow has ended. The agent called tools after that, and was stopped.";

/// Refusal of a tool call after the end of a run.
pub const BEHIND_END: &str = "[workflow] The workflow has ended: no more tools can be called. With the user's next message you have all tools again.";

/// Prompt for an agent that was stopped because nothing new came of it, or of these tools, for this time.
pub fn silent(tools: &[String], ms: u64) -> String {
    let (of, how) = match tools {
        [] => ("your answer".to_owned(), ""),
        tools => (
            tools.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", "),
            " A command that takes so long must print its progress; one that does not end by itself must run in the background.",
        ),
    };
    format!("[workflow] Nothing new came of {of} for {}, so you were stopped.{how} Go on with the phase.", duration(ms))
}

/// Refusal of a move while calls of these tools run.
pub fn still_running(tools: &[String]) -> String {
    let tools: Vec<String> = tools.iter().map(|tool| format!("`{tool}`")).collect();
    let tools = tools.join(", ");
    format!(
        "⚠️ The phase is not left while a tool call runs: {tools}. Wait until it has ended, then call workflow_step again. This call had no effect."
    )
}

/// Refusal of a `next` after another gate was checked in the same answer of the model.
pub const GATE_HAD: &str =
    "[workflow] A gate was checked in this answer already. Read its result before you call workflow_step again.";

/// Returns the part of the context prompt about the gates ahead; `None` without gates.
pub(super) fn requirements(active: &Active) -> Option<String> {
    let mut lines = vec!["**Gate:** `next` is accepted only if all of this holds; it is checked for you:".to_owned()];
    let outcomes = active.outcomes();
    // Each check once, with the outcomes for which it is made.
    let mut checks: Vec<(&Check, Vec<&str>)> = Vec::new();
    for outcome in &outcomes {
        for check in active.checks_ahead(*outcome) {
            match checks.iter_mut().find(|(known, _)| std::ptr::eq(*known, check)) {
                Some((_, of)) => of.extend(outcome),
                None => checks.push((check, outcome.iter().copied().collect())),
            }
        }
    }
    lines.extend(checks.iter().map(|(check, of)| {
        let of = if of.len() == outcomes.len() || of.is_empty() {
            String::new()
        } else {
            format!("with outcome `{}`: ", of.join("`, `"))
        };
        format!("- {of}{}", requirement(&with_values(check, active)))
    }));
    (lines.len() > 1).then(|| lines.join("\n"))
}

/// Returns a text for the user with the values of its variables, each quoted on one line.
pub fn in_words(text: &str, active: &Active) -> String {
    resolve_with(text, |name: &str| {
        let value = phase_variable(name, active, active.state.current_path.len())?;
        Some(Cow::Owned(format!("“{}”", short(&on_one_line(&value), MAX_VALUE))))
    })
}

/// Returns a check of the current phase with the values of its variables: literal text in a path, quoted on one line in
/// a name. A path stays as it is, and matches no file, if a value cannot be part of a path.
pub fn with_values(check: &Check, active: &Active) -> Check {
    let in_words = |text: &str| in_words(text, active);
    let mut check = check.clone();
    match &mut check.kind {
        CheckKind::Run { command, .. } => {
            let has_name = check.name != as_name(command.line());
            *command = with_value(command, active);
            if has_name {
                check.name = in_words(&check.name);
            } else if !command.line().is_empty() {
                check.name = as_name(command.line());
            }
        }
        CheckKind::File { path, .. } => {
            let has_name = check.name != as_name(path);
            let depth = active.state.current_path.len();
            let value = |variable: &_| active.state.path_value(variable, depth, active.library);
            *path = resolve_path(path, value).unwrap_or_else(|_| path.clone());
            let name = if has_name { in_words(&check.name) } else { unescaped(path).into() };
            check.name = name;
        }
    }
    check.name = as_name(&check.name);
    check
}

/// Returns a command of the current phase; one that is a value of the run has the value as its line, or none if the run
/// lacks the value.
pub fn with_value(command: &Command, active: &Active) -> Command {
    let Some(name) = command.value() else { return command.clone() };
    let value = active.state.value(name, active.state.current_path.len(), active.library);
    command.with_line(value.and_then(|value| ValueType::Command.value(&value.text())))
}

/// The reason why a command does not run that is a value of the run.
pub const NO_COMMAND: &str = "the run has no value for this command";

/// Maximum length of a value in a name or in a question, in characters.
const MAX_VALUE: usize = 200;

fn requirement(check: &Check) -> String {
    let (name, what) = match &check.kind {
        CheckKind::Run { command, .. } => {
            (command.line(), format!("`{}` ends with exit status 0{}", command.line(), env(command)))
        }
        CheckKind::File { path, contains } => {
            let contains = contains.as_ref().map_or(String::new(), |pattern| format!(" and contains /{pattern}/"));
            (path.as_str(), format!("the file `{}` exists, is not empty{contains}", unescaped(path)))
        }
    };
    if check.name == name.split_whitespace().collect::<Vec<_>>().join(" ") {
        what
    } else {
        format!("{}: {what}", check.name)
    }
}

/// Returns the variables of a command in words, in brackets.
fn env(command: &Command) -> String {
    let variable = |Variable { name, value }: &Variable| format!("`{name}` is {value}");
    let variables: Vec<String> = command.env().iter().map(variable).collect();
    if variables.is_empty() { String::new() } else { format!(" ({})", variables.join(", ")) }
}

/// Returns the text shown while a command runs.
pub fn gate_progress(name: &str, number: usize, of: usize) -> String {
    format!("Gate {number}/{of}: {name}")
}

/// Returns the report of a failed check for the agent, without its consequence. `left` is the number of remaining
/// attempts.
pub fn gate_failed(of: &str, evidence: &Evidence, left: u32) -> String {
    let took = match evidence.duration_ms {
        0 => String::new(),
        ms => format!(" after {}", duration(ms)),
    };
    let mut text = format!("✗ The gate of {of} is not passed: {}: {}{took}.", evidence.name, evidence.result);
    text.push_str(&format!(" Attempt {}, {left} left.", evidence.attempt));
    if !evidence.tail.is_empty() {
        text.push_str(&format!("\n\nThe end of its output:\n{}", fenced(&evidence.shown_tail())));
    }
    text
}

/// Returns a text as a Markdown code block with a fence that the text does not contain.
pub(super) fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.saturating_add(1).max(3));
    format!("{fence}\n{}\n{fence}", text.trim_end())
}

/// Returns the end of a command's output for the agent; the output lacks `missing` bytes already.
pub fn gate_tail(output: &str, missing: u64) -> Tail {
    Tail::of(output.trim_start_matches('\n'), missing, MAX_TAIL, MAX_TAIL_LINES)
}

/// Returns evidence with the end of its output for the session.
pub fn kept(evidence: Evidence) -> Evidence {
    let Tail { text: tail, missing } = Tail::of(&evidence.tail, evidence.missing, MAX_KEPT_TAIL, MAX_TAIL_LINES);
    Evidence { tail, missing, ..evidence }
}

/// Returns the line of a check that failed, and the end of its output, for the user.
pub(super) fn failure_lines(failed: &Evidence) -> String {
    let tail = failed.shown_tail();
    format!("{}{}{}", evidence_line(failed), if tail.is_empty() { "" } else { "\n" }, tail.trim_end())
}

/// Returns sample evidence in which every check ahead with this outcome has passed.
pub fn sample_evidence(active: &Active, outcome: Option<&str>) -> Vec<Evidence> {
    let passed = |check: &Check| {
        let (result, duration_ms) = match &check.kind {
            CheckKind::Run { .. } => ("exit status 0", 1000),
            CheckKind::File { .. } => ("it holds", 0),
        };
        let (name, result) = (with_values(check, active).name, result.to_owned());
        Evidence { name, passed: true, result, duration_ms, attempt: 1, ..Evidence::default() }
    };
    active.checks_ahead(outcome).into_iter().map(passed).collect()
}

/// Returns the subject of a question in Markdown: the checks and the summaries from the agent's last phase on, the newest
/// summary in any case, and the agent's outputs; `None` if all of these are empty. The branches of a parallel group count
/// as one phase. The agent's texts come last, so that they cannot imitate a text of this package after them.
pub fn question_subject(active: &Active) -> Option<String> {
    let state = active.state;
    let of_agent = |key: &str| phase_at(key, active.library).is_some_and(Phase::is_of_agent);
    let visits = state.visits_by(|visit| Some(visit.step));
    let last = visits.iter().rposition(|(key, _)| of_agent(key)).unwrap_or_default();
    let is_within = |key: &str, outer: &str| key.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'));
    let here = state.current_path.key();
    let is_group_of_last = |(key, _): &(&str, &Visit)| {
        !is_within(&here, key) && visits.get(last).is_some_and(|(last, _)| is_within(last, key))
    };
    let first = visits.iter().position(is_group_of_last).unwrap_or(last);
    let since = visits.get(first..).unwrap_or_default();
    let mut parts = Vec::new();
    let lines = since.iter().flat_map(|(key, visit)| visit_lines(key, visit, active.library, false));
    let checks: Vec<String> = lines.collect();
    if !checks.is_empty() {
        parts.push(format!("**Checked before:**\n{}", checks.join("\n")));
    }
    let begun = since.first().map_or(0, |(_, visit)| visit.step);
    for (number, (_, summary)) in state.summaries().iter().rev().enumerate() {
        if number == 0 || summary.step >= begun {
            parts.push(format!("**The summary of {}:**\n\n{}", summary.name, summary.text.trim()));
        }
    }
    let handed = since.iter().filter(|(key, _)| of_agent(key));
    for outputs in handed.filter_map(|(key, _)| state.progress().outputs.get(key)) {
        parts.push(format!("**The outputs of {}:**\n\n{}", outputs.name, output_lines(&outputs.values)));
    }
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// Returns one line for each check of a phase: its mark, its result and its duration.
pub(super) fn evidence_lines(evidence: &[Evidence]) -> impl Iterator<Item = String> {
    evidence.iter().map(evidence_line)
}

fn evidence_line(evidence: &Evidence) -> String {
    let mark = if evidence.passed { "✓" } else { "✗" };
    let took = match evidence.duration_ms {
        0 => String::new(),
        ms => format!(", {}", duration(ms)),
    };
    let attempt = match evidence.attempt {
        0 | 1 => String::new(),
        attempt => format!(", attempt {attempt}"),
    };
    // The result is worded for the agent; the lines are for the user.
    let result = match evidence.result.strip_prefix("the user said ") {
        Some(said) => format!("you said {said}"),
        None => evidence.result.clone(),
    };
    let file = match evidence.file.as_str() {
        "" => String::new(),
        path => format!("; its output: {path}"),
    };
    format!("{mark} {}: {result}{took}{attempt}{file}", evidence.name)
}

/// Returns the lines of [`evidence_lines`] for all phases of a run, in the order in which they were entered, and a line
/// for each gate that was skipped with its phase. With `open_only`, the lines of passed checks are left out.
pub(super) fn all_evidence_lines(state: &RunState, library: &Library, open_only: bool) -> Vec<String> {
    let visits = state.visits_by(|visit| Some(visit.step)).into_iter();
    visits.flat_map(|(key, visit)| visit_lines(key, visit, library, open_only)).collect()
}

fn visit_lines(key: &str, visit: &Visit, library: &Library, open_only: bool) -> Vec<String> {
    let phase = phase_at(key, library);
    let skipped = phase.filter(|phase| visit.skipped && phase.gate.is_some());
    let name = phase.map_or(String::new(), |phase| format!("{}: ", phase.title()));
    let checks = visit.evidence.iter().filter(|check| !open_only || !check.passed);
    let checks = checks.map(|check| format!("- {name}{}", evidence_line(check)));
    checks.chain(skipped.map(|phase| format!("- {}: ⤼ skipped", phase.title()))).collect()
}

/// Returns the phase of a [`PhasePath::key`].
pub(super) fn phase_at<'a>(key: &str, library: &'a Library) -> Option<&'a Phase> {
    let path = PhasePath::parse(key)?;
    let segment = path.last()?;
    library.phase_at(library.get(&segment.workflow_key)?.phases.get(segment.phase_index)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_gets_the_end_of_the_output() {
        let lines: Vec<String> = (1..=100).map(|number| format!("line {number}")).collect();
        let Tail { text, missing } = gate_tail(&(lines.join("\n") + "\n\n"), 0);
        assert!(text.starts_with("line 61\n") && text.ends_with("line 100"));
        assert_eq!(missing as usize, lines[..60].join("\n").len() + 1);
        assert_eq!(gate_tail("", 0), Tail::default());
        assert_eq!(fenced("a\n```\nb\n"), "````\na\n```\nb\n````");
    }
}
