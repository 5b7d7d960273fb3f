//! Texts about the way of a run: outcomes, and entries that were passed over.

use std::fmt;

use super::names::{phase_title, short_name};
use crate::definition::{BoundValue, Condition, Library, Outcome, Phase, Target, Workflow, nearest, on_one_line};
use crate::run::{Active, MAX_LOOPS, PassedOver, PassedOverReason, PhasePath, RunState, cut};

/// The reason in a few words, such as "outcome.triage is small, not large".
impl fmt::Display for PassedOverReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Condition { of, value, wanted } => {
                let (is_of_any, wanted) = (wanted.is_empty(), any_of(wanted));
                match value {
                    _ if is_of_any => write!(f, "{} is not given", short(of)),
                    Some(value) => write!(f, "{} is {}, not {wanted}", short(of), short(value)),
                    None => write!(f, "{} is not known; it must be {wanted}", short(of)),
                }
            }
            Self::Budget { of } => write!(f, "the budget of {} leads past it", short(of)),
            Self::NoItems { of } => write!(f, "{} has no items", short(of)),
            Self::Outcome { of, outcome } => {
                write!(f, "`{}` of {} leads past it", short(outcome), short(of))
            }
        }
    }
}

fn any_of(values: &[String]) -> String {
    let values: Vec<String> = values.iter().map(|value| short(value)).collect();
    short(&values.join(" or "))
}

/// Returns a note on the conditions of an entry; `None` if it has none.
pub(super) fn when_note(when: &[Condition]) -> Option<String> {
    let condition = |condition: &Condition| {
        let is = if condition.is_of_any() { "given".to_owned() } else { any_of(&condition.values) };
        format!("{} is {is}", short(&condition.of.to_string()))
    };
    let all: Vec<String> = when.iter().map(condition).collect();
    (!all.is_empty()).then(|| format!("when: {}", all.join(", ")))
}

pub(super) fn short(text: &str) -> String {
    cut(&on_one_line(text), 60)
}

/// Returns the passed-over entry of the step at this path: the entry of the step itself, or of a workflow around it.
pub(super) fn passed<'a>(state: &'a RunState, path: &PhasePath) -> Option<&'a PassedOver> {
    path.scopes().find_map(|path| state.progress().passed_over.get(&path.key()))
}

/// Returns these entries, each with the reason why it was passed over; `None` if there are none.
pub(super) fn entries_passed_over<'a>(entries: impl Iterator<Item = &'a PassedOver>) -> Option<String> {
    let entries: Vec<String> = entries.map(|passed| format!("{} ({})", passed.name, passed.because)).collect();
    (!entries.is_empty()).then(|| entries.join(", "))
}

/// Returns an outcome of a phase with its target.
pub(super) fn outcome_line(active: &Active, outcome: &Outcome) -> String {
    let is_branch = active.state.progress().branch.is_some();
    let to = match outcome.target {
        Target::Next | Target::Done if active.is_whole_branch() => "the end of this branch".to_owned(),
        Target::Stop if is_branch => "the end of this branch, as failed".to_owned(),
        Target::Next | Target::Done | Target::Stop | Target::End | Target::Loop | Target::Entry(_) => {
            way(&active.with_bound(outcome))
        }
    };
    format!("`{}`: {to}", outcome.name)
}

/// Returns the target of an outcome, and its bound, in words.
pub fn way(outcome: &Outcome) -> String {
    let to = target(&outcome.target);
    match outcome.bound.as_ref().map(|bound| (&bound.max, &bound.then)) {
        None => to,
        Some((max, None)) => format!("{to}, at most {}", times(max)),
        Some((max, Some(then))) => format!("{to}, at most {}, then {}", times(max), target(then)),
    }
}

pub(super) fn times(count: &BoundValue<u32>) -> String {
    if *count == BoundValue::Fixed(1) { "once".to_owned() } else { format!("{count} times") }
}

pub fn target(target: &Target) -> String {
    match target {
        Target::Next => "the next phase".to_owned(),
        Target::Loop => "back to the first phase".to_owned(),
        Target::Done => "the end of this workflow".to_owned(),
        Target::Stop => "stops the whole workflow here".to_owned(),
        Target::End => "the end of the group, without its other items".to_owned(),
        Target::Entry(id) => format!("the phase `{id}`"),
    }
}

/// Returns the error for a start whose run passes over every entry.
pub fn nothing_to_do(state: &RunState, library: &Library) -> String {
    let workflow = library.get(&state.workflow_key);
    let name = workflow.map_or("", |workflow| &workflow.name);
    let reasons = state.progress().passed_over.values().take(MAX_REASONS);
    let reasons: Vec<String> = reasons.map(|passed| format!("  {}", passed.because)).collect();
    format!("{} has nothing to do: the conditions of no phase hold.\n{}", short_name(name), reasons.join("\n"))
}

/// Maximum number of reasons in an error.
const MAX_REASONS: usize = 10;

/// Returns the refusal of `/workflow :next` with an outcome that the phase does not have.
pub fn unknown_outcome(phase: &Phase, given: &str) -> String {
    let names: Vec<&str> = phase.outcomes.iter().map(|outcome| &*outcome.name).collect();
    let title = phase_title(phase);
    if names.is_empty() {
        return format!("The phase {title} has no outcomes: /workflow :next goes on.");
    }
    let meant = meant(given, &names);
    format!("`{}` is no outcome of {title}.{meant} There are {}.", short_name(given), names.join(", "))
}

/// Returns the refusal of `/workflow :next` with an outcome that leads back, after all loops that the workflow allows.
pub fn no_more_loops() -> String {
    format!("There were {MAX_LOOPS} loops, as many as are allowed. /workflow :skip ID goes to any phase.")
}

/// Returns the refusal of `/workflow :next` with an outcome that led to its target as often as it may.
pub fn used_up(phase: &Phase, outcome: &str, max: u32) -> String {
    let (title, s) = (phase_title(phase), if max == 1 { "" } else { "s" });
    format!(
        "{title} was left with `{}` {max} time{s} (max). /workflow :skip ID goes to any phase of the workflow.",
        short_name(outcome)
    )
}

/// Returns the refusal of `/workflow :skip` with an id that no phase of the workflow has.
pub fn unknown_phase(workflow: &Workflow, given: &str) -> String {
    let ids: Vec<&str> = workflow.own_phases().map(|phase| &*phase.id).collect();
    let (name, meant) = (short_name(&workflow.name), meant(given, &ids));
    format!("{name} has no phase `{}`.{meant} There are {}.", short_name(given), short(&ids.join(", ")))
}

/// Returns the error for outcomes of a phase that neither the workflow nor the workflows nested in it have. `ids` are
/// the phases with outcomes.
pub fn no_phase_with_outcomes(given: &str, ids: &[&str]) -> String {
    let known = match ids {
        [] => " The workflow has no outcomes.".to_owned(),
        ids => format!(" There are {}.", short(&ids.join(", "))),
    };
    format!("There is no phase `{}` with outcomes.{}{known}", short_name(given), meant(given, ids))
}

/// Returns the error for items of a group that the workflow does not have, or that is not repeated. `ids` are the
/// repeated groups.
pub fn no_repeated_group(given: &str, ids: &[&str]) -> String {
    let known = match ids {
        [] => " The workflow repeats none.".to_owned(),
        ids => format!(" There are {}.", short(&ids.join(", "))),
    };
    format!("There is no repeated group `{}`.{}{known}", short_name(given), meant(given, ids))
}

/// Returns the error for an outcome that the phase of this id does not have.
pub fn no_outcome_of(id: &str, given: &str, names: &[&str]) -> String {
    let (meant, known) = (meant(given, names), names.join(", "));
    format!("`{}` is no outcome of `{id}`.{meant} There are {known}.", short_name(given))
}

fn meant(given: &str, names: &[&str]) -> String {
    let meant = nearest(given, names.iter().copied());
    meant.map_or_else(String::new, |name| format!(" Did you mean `{name}`?"))
}
