//! Gates: the checks before a phase is left.
//!
//! Checks are made one after another and stop at the first check that fails. A command or a question to the user is a
//! pending request; until its answer comes the run stays as it is. An answer for a phase that the run has left has no
//! effect.
//!
//! | file | content |
//! | --- | --- |
//! | `consent` | the user's consent to commands, and approvals |
//! | `files` | checks of files |
//! | `verdict` | the end of the checks: the run moves, stays, goes back or pauses |

mod consent;
mod files;
mod standing;
pub(super) mod state;
mod verdict;

use crate::definition::{CheckKind, Stale};
use crate::run::{PauseReason, ProjectState};
use crate::text;

use super::ask::{Command, Ran};
use super::context::Cx;
use super::effect::Reply;
use super::event::CommandEnd;
use super::gate::state::{CheckResult, OpenGate, Requester};
use super::state::Engine;
use super::step_tool::handing_over;

pub(super) use consent::{ONCE, ONCE_IN_RUN, dialog, title_of};
use files::{FileFailure, Work, check_file};
use standing::{if_stands, if_stands_or_record};
use verdict::Outcome;

impl Engine {
    /// The gates that the run must pass to leave its phase with this outcome; `None` if there are none.
    pub(super) fn gates_ahead(&self, requester: Requester, outcome: Option<String>) -> Option<OpenGate> {
        let active = self.active()?;
        // The commands of the gate get the values that the call hands over.
        let state = handing_over(&active, requester.caller());
        OpenGate::ahead_of(&active.with(&state), requester, outcome)
    }

    /// Begins with a gate: with the consent to its commands, if that is needed.
    pub(super) fn begin_gate(&mut self, mut gate: OpenGate, cx: &mut Cx) -> Reply {
        let foreign = gate.foreign_commands();
        let Some(asked) = self.unallowed(foreign.into_iter().map(|(command, ..)| command), self.allowed_in_run(), cx)
        else {
            return self.make_checks(gate, cx);
        };
        gate.wait();
        let (of, source) = gate.source_of(&asked.commands);
        let question = |commands: &[String], dialog| text::consent_question(of, source, commands, dialog);
        let (title, options) = asked.dialog(ONCE, question, cx);
        let package = source.package();
        let then = move |engine: &mut Self, gate: OpenGate, chosen, cx: &mut Cx| match engine.allow(&asked, chosen, cx)
        {
            true => engine.make_checks(gate, cx),
            false => engine.close_gate(gate, Outcome::Paused(PauseReason::Commands { package }), cx),
        };
        self.select(gate.stand.purpose(), title, options, if_stands(gate, then))
    }

    /// Makes the checks that are left, up to the first that fails or needs an answer.
    fn make_checks(&mut self, mut gate: OpenGate, cx: &mut Cx) -> Reply {
        let mut work = Work::default();
        loop {
            let asks = self.running().and_then(|state| gate.files_to_ask(state));
            if let Some(since) = asks {
                match cx.host.can_tell_changes() {
                    Ok(Ok(())) => {
                        let purpose = gate.stand.purpose();
                        return self.project_state(purpose, since, if_stands(gate, Self::files_known));
                    }
                    Ok(Err(_)) => gate.take_files(None),
                    Err(Stale) => return Reply::None,
                }
            }
            let Some(check) = gate.current().cloned() else {
                if self.active().is_some_and(|active| gate.add_rechecks(&active)) {
                    return self.begin_gate(gate, cx);
                }
                if gate.is_at_end() && self.running().is_some_and(|state| state.progress.rechecks_lost) {
                    let reason = PauseReason::Gate { label: text::RECHECKS_LOST.to_owned(), times: 1 };
                    return self.close_gate(gate, Outcome::Paused(reason), cx);
                }
                return self.close_gate(gate, Outcome::Passed, cx);
            };
            match check.kind {
                CheckKind::Run { command, timeout_ms } => {
                    let (number, of) = gate.position();
                    let progress = text::gate_progress(&check.label, number, of);
                    let env = match gate.env() {
                        Ok(env) => env,
                        Err(why) => {
                            gate.record(CheckResult::new(false, why));
                            return self.close_gate(gate, Outcome::Failed, cx);
                        }
                    };
                    let line = command.line().to_owned();
                    let command = Command { line, env, timeout_ms, progress, apart: false, output_file: None };
                    let purpose = gate.stand.purpose();
                    let then = if_stands_or_record(gate, keep_result, Self::command_ran);
                    return self.exec(purpose, command, then);
                }
                CheckKind::Approve { question } => return self.ask_approval(gate, &question, cx),
                CheckKind::File { path, contains } => {
                    let found = check_file(cx.host, &path, contains.as_ref(), &mut work);
                    let (passed, result) = match found {
                        Ok(found) => (true, found),
                        Err(FileFailure::Gone) => return Reply::None,
                        Err(FileFailure::Because(why)) => (false, why),
                    };
                    gate.record(CheckResult::new(passed, result));
                    if !passed {
                        return self.close_gate(gate, Outcome::Failed, cx);
                    }
                }
            }
        }
    }

    /// Goes on with the state of the project's files.
    fn files_known(&mut self, mut gate: OpenGate, files: Option<Result<ProjectState, String>>, cx: &mut Cx) -> Reply {
        let Some(files) = files else {
            let text = "The gate was interrupted before it was passed.".to_owned();
            return self.close_gate(gate, Outcome::Interrupted(text), cx);
        };
        gate.take_files(files.ok());
        self.make_checks(gate, cx)
    }

    /// Goes on after the command of the current check.
    fn command_ran(&mut self, gate: OpenGate, ran: Ran, cx: &mut Cx) -> Reply {
        let result = match ran {
            Ran::Ended { end: CommandEnd::Cancelled, .. } | Ran::Cancelled => {
                let label = gate.current().map_or("", |check| &check.label);
                let text = format!("The gate was interrupted: {label} was stopped.");
                return self.close_gate(gate, Outcome::Interrupted(text), cx);
            }
            Ran::Ended { end, duration_ms, output, .. } => {
                let failed = end != CommandEnd::Exited(0);
                let tail = if failed { text::gate_tail(&output) } else { String::new() };
                command_result(&end, duration_ms, tail)
            }
            Ran::NotHere => CheckResult::new(false, "commands cannot be run here"),
        };
        self.checked(gate, result, cx)
    }

    /// Continues after a check.
    fn checked(&mut self, mut gate: OpenGate, result: CheckResult, cx: &mut Cx) -> Reply {
        let passed = result.passed;
        gate.record(result);
        if passed { self.make_checks(gate, cx) } else { self.close_gate(gate, Outcome::Failed, cx) }
    }
}

/// Keeps the result of a command that ran while the rules of the run came not to hold.
fn keep_result(gate: &mut OpenGate, ran: Ran) {
    if let Ran::Ended { end, duration_ms, output, .. } = ran {
        gate.record(command_result(&end, duration_ms, text::gate_tail(&output)));
    }
}

fn command_result(end: &CommandEnd, duration_ms: u64, tail: String) -> CheckResult {
    let passed = *end == CommandEnd::Exited(0);
    CheckResult { passed, result: end.to_string(), duration_ms, tail }
}
