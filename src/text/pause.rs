//! Texts about paused runs, and the last line of a process.

use std::fmt;

use serde_json::Value;

use crate::definition::{Diagnostic, Library, Work, on_one_line};
use crate::run::{
    Active, Bound, Broken, ClaimObstacle, Evidence, MAX_LOOPS, PauseReason, RunState, RunStatus, Seal, cut,
    pause_reason,
};

use super::budget;
use super::diagnostics::diagnostic_text;
use super::exact::{framed, quoted};
use super::gate::failure_lines;
use super::questions::{Dialog, Question, Title, by_program, counted, in_terminal, replacement_notice};

use super::names::{phase_title, short_name};
use super::step_result::local_time;
use super::usage::duration;
use super::ways::short;

/// Maximum length of the reason why an entry has not ended, in characters.
const MAX_WHY: usize = 200;

/// The text after "paused: ".
impl fmt::Display for PauseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str("you asked for it"),
            Self::Aborted => f.write_str("you stopped the agent"),
            Self::Cancel => f.write_str("the agent wants to cancel it"),
            Self::Conversation => f.write_str("it waits for your message"),
            Self::Running => f.write_str("a tool call did not end, and the agent could not leave the phase"),
            Self::Idle { times } => {
                write!(f, "the agent did nothing in {}", counted(times, "automatic continuation"))
            }
            Self::Repeats { times } => {
                write!(f, "{} in a row brought nothing new", counted(times, "tool call"))
            }
            Self::CutOff { times: 1 } => f.write_str("an answer of the agent was cut off at the model's output limit"),
            Self::CutOff { times } => {
                write!(f, "{times} answers of the agent in a row were cut off at the model's output limit")
            }
            Self::Limit { times } => {
                write!(f, "{times} automatic continuations in one phase are the bound")
            }
            Self::Silent { times, ms } => {
                let (times, ms) = (counted(times, "time"), duration(*ms));
                write!(f, "nothing new came of the agent for {ms}, {times} in this phase")
            }
            Self::Gate { name, times } => {
                let (times, name) = (counted(times, "attempt"), short_name(name));
                write!(f, "the gate was not passed in {times}; last: {name}")
            }
            Self::Loops { of, outcome, .. } => {
                write!(f, "“{}” leads back with `{}`, after {MAX_LOOPS} loops", short(of), short(outcome))
            }
            Self::Way { of, outcome, times } => {
                let (of, outcome, times) = (short(of), short(outcome), counted(times, "time"));
                write!(f, "“{of}” was left with `{outcome}` {times} (max)")
            }
            Self::Outputs { of, times } => {
                write!(f, "the agent gave missing or wrong outputs of “{}” in {}", short(of), counted(times, "call"))
            }
            Self::MissingOutput { of, input, output } => {
                let (of, input, output) = (short(of), short(input), short(output));
                write!(f, "“{of}” needs `{output}` for its input `{input}`, and the phase was left without it")
            }
            Self::Question { question } => {
                write!(f, "it waits for your answer to “{}”", short_name(question))
            }
            Self::Commands { value: true, .. } => f.write_str("it runs a command that you have not allowed"),
            Self::Commands { package: None, .. } => {
                f.write_str("it runs commands of this project that you have not allowed")
            }
            Self::Commands { package: Some(package), .. } => {
                write!(f, "it runs commands of the package “{}” that you have not allowed", short(package))
            }
            Self::Step { of, why } => write!(f, "“{}” has not ended: {}", short(of), cut(&on_one_line(why), MAX_WHY)),
            Self::Budget { of, measure, spent, limit } => {
                let bound = Bound { measure: *measure, spent: *spent, limit: *limit, is_lower_bound: false };
                write!(f, "the budget of “{}” is used up: {}", short(of), budget::spent(&bound))
            }
            Self::UnknownCost { of } => write!(
                f,
                "the budget of “{}” bounds the cost, and the cost of an answer is not known: its model has no price, or its provider told no usage",
                short(of)
            ),
            Self::RulesChanged => f.write_str("its rules are no longer those with which it was started"),
            Self::RulesUnknown => f.write_str(
                "the rules with which it was started are not known, for its stored state cannot be read in full",
            ),
            Self::Broken(Broken { why, .. }) => {
                write!(f, "its stored state cannot be read in full: {why}")
            }
            Self::OtherProcess(obstacle) => f.write_str(&obstacle_in_words(obstacle)),
            Self::LaterVersion => f.write_str("a later version of this package stored it"),
            Self::FilesUnreadable { workflow } => {
                write!(f, "the files of the workflow “{}” cannot be read", short(workflow))
            }
            Self::PhaseGone => f.write_str("its files no longer have the phase that it is in"),
            Self::ModelError => f.write_str("the model failed"),
            Self::Quota { until, goes_on_at, utc_offset } => {
                f.write_str(&quota_in_words(*until, *goes_on_at, *utc_offset))
            }
            Self::Unknown(reason) => match reason.get("kind").and_then(Value::as_str) {
                Some(kind) => {
                    write!(f, "“{}”, a reason that this version does not know", short(kind))
                }
                None => f.write_str("a reason that this version does not know"),
            },
        }
    }
}

/// Returns the obstacle that keeps this process from a run.
fn obstacle_in_words(obstacle: &ClaimObstacle) -> String {
    match obstacle {
        ClaimObstacle::Living(pid) => format!("another process ({pid}) works on it"),
        ClaimObstacle::Unknown(0) => "another process may work on it".to_owned(),
        ClaimObstacle::Unknown(pid) => {
            format!("a process of another host or container ({pid}) may work on it")
        }
        ClaimObstacle::Changed => "another process has worked on it since this session was opened".to_owned(),
        ClaimObstacle::Failed(why) => {
            format!("other processes cannot be kept from it: {}", cut(&on_one_line(why), MAX_WHY))
        }
    }
}

/// Returns the state of a wait for the end of a limit; times in milliseconds since 1970.
fn quota_in_words(until: Option<u64>, goes_on_at: Option<u64>, utc_offset: i16) -> String {
    let at = |time| local_time(time, utc_offset);
    match (until, goes_on_at) {
        (Some(until), None) => format!("a limit of the model is reached, until {}", at(until)),
        (_, Some(goes_on_at)) => {
            format!("a limit of the model is reached; it goes on by itself at {}", at(goes_on_at))
        }
        (None, None) => "a limit of the model is reached, and its end is not known".to_owned(),
    }
}

/// The message for the agent after an answer that was cut off.
pub const CUT_OFF: &str = "Your last answer was cut off at the model's output limit. Take smaller steps: give shorter answers, and write long texts into files, part by part.";

/// Returns the message for the agent half-way to the bound of calls that bring nothing new.
pub fn repeats(times: u32, bound: u32) -> String {
    format!(
        "Your last {times} tool calls brought nothing new: they were refused, or repeated earlier calls with the same results.\nDo something else, or leave the phase with workflow_step. After {bound} such calls in a row the workflow pauses."
    )
}

impl PauseReason {
    /// Returns the reason in a few words, for the status line.
    pub(super) fn in_brief(&self) -> &'static str {
        match self {
            Self::User => "you asked for it",
            Self::Aborted => "you stopped the agent",
            Self::Conversation => "it waits for your message",
            Self::Running => "a tool call did not end",
            Self::Idle { .. } => "the agent does nothing",
            Self::Repeats { .. } => "the agent repeats itself",
            Self::CutOff { .. } => "answers are cut off",
            Self::Limit { .. } => "too many continuations",
            Self::Silent { .. } => "the agent is silent",
            Self::Gate { .. } => "the gate is not passed",
            Self::Loops { .. } => "too many loops",
            Self::Way { .. } => "an outcome came too often",
            Self::Outputs { .. } => "outputs are wrong",
            Self::MissingOutput { .. } => "an output is missing",
            Self::Question { .. } => "it waits for your answer",
            Self::Commands { .. } => "commands are not allowed",
            Self::Step { .. } => "a step has not ended",
            Self::Budget { .. } => "the budget is used up",
            Self::UnknownCost { .. } => "the cost is unknown",
            Self::RulesChanged => "its rules have changed",
            Self::RulesUnknown => "its rules are not known",
            Self::Broken(_) => "its state cannot be read",
            Self::OtherProcess(ClaimObstacle::Changed) => "open the session again",
            Self::OtherProcess(ClaimObstacle::Failed(_)) => "it cannot be claimed",
            Self::OtherProcess(_) => "another process works on it",
            Self::LaterVersion => "a later version stored it",
            Self::FilesUnreadable { .. } => "its files cannot be read",
            Self::PhaseGone => "its phase is gone",
            Self::ModelError => "the model failed",
            Self::Quota { .. } => "a limit of the model",
            Self::Cancel => "the agent wants to cancel",
            Self::Unknown(_) => "for an unknown reason",
        }
    }
}

/// Returns the notice to the user who lets a run wait for the ends of limits. `is_beyond`: the limit at which it is lasts
/// longer.
pub fn waits_up_to(max_ms: u64, is_beyond: bool) -> String {
    match max_ms {
        0 => "The run does not go on by itself after a limit of the model.".to_owned(),
        ms if is_beyond => {
            format!("This limit does not end within {}. A longer time: /workflow :wait TIME", duration(ms))
        }
        ms => format!("The run goes on by itself after limits of the model, which may take {} in all.", duration(ms)),
    }
}

/// Returns the reason of a pause in a few words, with the time that is left of a wait.
pub(super) fn brief_reason(reason: &PauseReason, now: u64) -> String {
    let words = reason.in_brief();
    match reason {
        PauseReason::Quota { goes_on_at: Some(at), .. } => {
            let left = at.saturating_sub(now);
            // Minutes, and seconds in the last one: a part that has begun counts.
            let unit = if left > 60_000 { 60_000 } else { 1000 };
            format!("{words}, goes on in {}", duration(left.div_ceil(unit).max(1) * unit))
        }
        PauseReason::Quota { until: Some(until), utc_offset, .. } => {
            let at = local_time(*until, *utc_offset);
            // The status bar has little room: the time of today, or the day.
            let part = if until.saturating_sub(now) < 86_400_000 { at.get(11..16) } else { at.get(..10) };
            format!("{words}, until {}", part.unwrap_or(&at))
        }
        _ => words.to_owned(),
    }
}

/// Returns the question if a run goes on with the rules that the files give now. The question shows the changes since
/// the rules `before`, or all rules if `before` is not known.
pub fn rules_question(
    workflow: &str,
    before: Option<&[String]>,
    now: &[String],
    replaced: &[String],
    dialog: Dialog,
) -> Question {
    let mut lines: Vec<String> = replaced.iter().map(|key| replacement_notice(key, workflow)).collect();
    match before {
        Some(before) => {
            let without = |lines: &[String], others: &[String], sign| -> Vec<String> {
                lines.iter().filter(|line| !others.contains(line)).map(|line| format!("{sign} {line}")).collect()
            };
            let changes = [without(before, now, '-'), without(now, before, '+')].concat();
            let is_seen = !changes.is_empty();
            lines.extend(changes);
            lines.extend((!is_seen).then(|| "A rule has changed that the list of phases does not show.".to_owned()));
        }
        None => lines.extend(now.iter().cloned()),
    }
    let lines = framed(&lines.join("\n"));
    let what = if before.is_some() { "What has changed" } else { "Its rules as they are now" };
    match dialog {
        Dialog::Terminal(room) => {
            let first = Title::new("Accept the rules of ", &format!("{}?", quoted(workflow, room.name(16))));
            in_terminal(first, lines, room, what, &format!("{what}:"))
        }
        Dialog::Program => by_program(Title::new(what, &format!(" in the rules of {}:", quoted(workflow, 60))), lines),
    }
}

/// The check that failed last in the phase at which a run is.
fn last_failure(state: &RunState) -> Option<&Evidence> {
    let visit = state.progress().visits.get(&state.current_path.key())?;
    visit.evidence.iter().rev().find(|check| !check.passed)
}

/// Returns the notice to the user about a run that has paused; `None` if it is not paused.
pub fn pause_notice(active: &Active) -> Option<String> {
    let pause = active.state.progress().paused.as_ref()?;
    let how = match &pause.reason {
        PauseReason::Budget { measure, .. } => &*format!("To allow more: {}", budget::command(*measure)),
        PauseReason::UnknownCost { .. } => "/workflow :resume goes on, and the cost of such answers is not counted.",
        PauseReason::Commands { .. } if active.phase.is_of_agent() => {
            "Your next message resumes it, or /workflow :resume; then the gate asks you again."
        }
        PauseReason::MissingOutput { .. } => {
            "/workflow :resume goes on without it; /workflow :back goes to the phase before."
        }
        PauseReason::Gate { .. } => &*format!(
            "{}/workflow :resume, or your next message, gives as many attempts again.",
            last_failure(active.state).map_or_else(String::new, |failed| failure_lines(failed) + "\n")
        ),
        PauseReason::Quota { goes_on_at: Some(_), .. } => {
            "Escape, /workflow :pause or your next message ends the wait; /workflow :resume goes on now."
        }
        PauseReason::Quota { .. } if active.phase.is_of_agent() => {
            "Your next message resumes it, or /workflow :resume; /workflow :wait has it go on by itself."
        }
        _ if active.phase.question().is_some() => {
            "/workflow :answer OUTCOME TEXT answers; /workflow :resume asks again."
        }
        _ if active.phase.work == Work::Branches => {
            "/workflow :resume goes on with the branches that have not ended, :retry BRANCH begins one anew; /workflow :next goes on without them."
        }
        _ if !active.phase.is_of_agent() => "/workflow :resume begins it again; /workflow :next goes on without it.",
        reason if reason.needs_resume() => "/workflow :resume ends the pause.",
        _ => "Your next message resumes it, or /workflow :resume.",
    };
    Some(format!(
        "⏸ {} is paused in {}: {}.\n{how}",
        short_name(&active.root.name),
        phase_title(active.phase),
        pause.reason
    ))
}

/// Returns the notice to the user about the run in which a session begins.
pub fn goes_on(active: &Active) -> String {
    pause_notice(active).unwrap_or_else(|| {
        let how = match active.phase.interactive {
            true => "Your next message goes on with it; /workflow :next leaves the phase.",
            false => "Your next message goes on with it, or /workflow :resume.",
        };
        // The status line has the phase. The name may be of a project's file, and imitate lines of this package.
        format!("The run of {} has not ended.\n{how}", quoted(&active.root.name, 60))
    })
}

/// Returns the refusal of the agent's call to move a paused run; `None` if it is not paused.
pub fn paused(active: &Active) -> Option<String> {
    let pause = active.state.progress().paused.as_ref()?;
    Some(format!("The workflow is paused: {}. Stop here and wait for the user.", pause.reason))
}

/// Returns the notice that the files no longer give the rules of a run. `diagnostic` is the first error in the files,
/// `replaced` has the keys of global workflows that the project's workflows would replace, `seal` is the seal of the
/// rules that the files give, if only an option can accept these rules.
pub fn held_notice(
    state: &RunState,
    library: &Library,
    reason: &PauseReason,
    diagnostic: Option<&Diagnostic>,
    replaced: &[String],
    seal: Option<&Seal>,
) -> String {
    let diagnostic = diagnostic.map_or_else(String::new, |found| format!("\n{}", diagnostic_text(found)));
    let how = if let PauseReason::Broken(Broken { is_usable, .. }) = reason {
        if *is_usable {
            "/workflow :resume asks you whether to go on with what can be read, and with the rules as they are now. Until then all tool calls are refused; /workflow :cancel ends the run."
        } else {
            "All tool calls are refused until you end the run: /workflow :cancel or /cancel-workflow."
        }
    } else if let PauseReason::OtherProcess(obstacle) = reason {
        match obstacle {
            ClaimObstacle::Living(_) => {
                "Here nothing goes on: messages are dropped, and tool calls refused. When that process has ended, or has paused the run, open the session again (/resume)."
            }
            ClaimObstacle::Unknown(_) => {
                "Here messages are dropped, and tool calls refused. If it works no more, /workflow :resume takes the run over, or pi-workflows run --continue --take-over."
            }
            ClaimObstacle::Changed => {
                "Here messages are dropped, and tool calls refused. Open the session again (/resume) to go on with the run as it is now."
            }
            ClaimObstacle::Failed(_) => {
                "Messages are dropped, and tool calls refused, until it works: with your next message, or /workflow :resume."
            }
        }
    } else if reason.can_be_accepted() {
        "/workflow :resume shows what has changed, and asks you whether to go on with the rules as they are now. Until then all tool calls are refused, unless the files give the old rules again; /workflow :cancel ends the run."
    } else {
        "All tool calls are refused until the files are there again (see /workflow :check) and you send a message or /workflow :resume. /workflow :cancel ends the run."
    };
    let option = seal.filter(|_| reason.can_be_accepted()).map(|seal| {
        format!("Nothing was accepted. To go on with the rules as they are now, and with no others: --accept-workflow-rules={seal}")
    });
    let how = option.as_deref().unwrap_or(how);
    let replaced = replaced.iter().map(|key| replacement_notice(key, &state.workflow_key));
    let replaced: String = replaced.map(|notice| format!("\n{notice}")).collect();
    let here = if matches!(reason, PauseReason::OtherProcess(_)) { " here" } else { "" };
    format!("⏸ {} is paused{here}: {reason}.{diagnostic}{replaced}\n{how}", run_name(state, library))
}

/// Returns the notice to the user whose workflow does not start because another process has the session.
pub fn not_claimed(obstacle: &ClaimObstacle) -> String {
    let reason = PauseReason::OtherProcess(obstacle.clone());
    format!("The workflow is not started, because of the session: {reason}.")
}

/// Returns the refusal of a tool call while the files do not give the rules of the run.
pub fn held(reason: &PauseReason) -> String {
    format!(
        "The workflow is paused: {reason}. All tool calls are refused until the user has decided; only workflow_step with action='status' answers. Stop here and wait for the user."
    )
}

/// Returns the last line of a process without a user interface that ends with a run in progress.
pub fn unfinished_line(state: &RunState, library: &Library) -> String {
    let name = run_name(state, library);
    let phase = match Active::resolve(state, library) {
        Some(active) => format!(" in {}", phase_title(active.phase)),
        None => String::new(),
    };
    match pause_reason(state, library) {
        Some(reason) => {
            let flag = match &reason {
                PauseReason::Commands { value: true, .. } => " (see --allow-workflow-value)".to_owned(),
                PauseReason::Commands { .. } => " (see --allow-workflow-commands)".to_owned(),
                PauseReason::Gate { .. } => {
                    last_failure(state).map_or_else(String::new, |failed| format!(" ({})", failed.result))
                }
                reason if reason.can_be_accepted() => Seal::of(state, library)
                    .map(|seal| format!(" (see --accept-workflow-rules={seal})"))
                    .unwrap_or_default(),
                _ => String::new(),
            };
            format!("Workflow {name}: paused{phase}: {reason}{flag}.")
        }
        None => format!("Workflow {name}: not finished,{phase}."),
    }
}

/// Returns the name of a run's workflow, or its key if the library does not contain it.
pub fn run_name(state: &RunState, library: &Library) -> String {
    if state.progress().broken.as_ref().is_some_and(|broken| !broken.is_usable) {
        return "The stored run".to_owned();
    }
    let root = state.current_path.first().and_then(|root| library.get(&root.workflow_key));
    root.map_or_else(|| short(&state.workflow_key), |root| short_name(&root.name))
}

/// Returns the last line of a process in which a run ended.
pub fn ended_line(workflow: &str, how: RunStatus) -> String {
    let how = match how {
        RunStatus::Stopped { .. } => "stopped",
        RunStatus::Cancelled { .. } => "cancelled",
        RunStatus::Done { .. } | RunStatus::Running => "DONE",
    };
    format!("Workflow {}: {how}.", short_name(workflow))
}
