//! Gates: the checks before a phase is left.
//!
//! Checks are made one after another and stop at the first that fails. A command or a question to the user is a pending
//! request; until its answer comes the run stays as it is. An answer for a phase that the run has left has no effect.
//!
//! | file | content |
//! | --- | --- |
//! | `consent` | the user's consent to commands, and approvals |
//! | `files` | checks of files |
//! | `verdict` | what follows from the checks: the run moves, stays, goes back or pauses |

mod consent;
mod files;
mod verdict;

use crate::definition::CheckKind;
use crate::run::PauseReason;
use crate::text;

use super::context::Cx;
use super::effect::{Effect, Reply, Request};
use super::event::{Answer, CommandEnd};
use super::state::{Awaited, CheckResult, Engine, OpenGate, PendingRequest, Requester};

use consent::Approval;
pub(super) use consent::{Consent, ONCE_IN_RUN, REMEMBERED as REMEMBERED_COMMAND, dialog};
use files::{FileFailure, Work, check_file};
use verdict::Outcome;

impl Engine {
    /// The gates that the run must pass to leave its phase with this outcome; `None` if there are none.
    pub(super) fn gates_ahead(
        &self,
        requester: Requester,
        outcome: Option<String>,
    ) -> Option<OpenGate> {
        OpenGate::ahead_of(&self.active()?, requester, outcome)
    }

    /// Tests if a call of the agent's waits for a gate.
    pub(super) fn agent_awaits_gate(&self) -> bool {
        self.pending.gates().any(|gate| gate.requester != Requester::User)
    }

    /// Tests if a gate is being checked.
    pub(super) fn gate_is_open(&self) -> bool {
        self.pending.gates().next().is_some()
    }

    /// Withdraws the gate that is being checked: the user did something else.
    pub(super) fn withdraw_gate(&mut self, cx: &mut Cx) {
        let tickets = self.pending.withdraw_gates();
        cx.effects.extend(tickets.into_iter().map(|ticket| Effect::CancelRequest { ticket }));
    }

    /// Begins with a gate: with the consent to its commands, if that is needed.
    pub(super) fn begin_gate(&mut self, gate: OpenGate, cx: &mut Cx) -> Reply {
        let unknown = self.commands_without_consent(&gate);
        if unknown.is_empty() || self.session.allow_commands {
            return self.make_checks(gate, cx);
        }
        match cx.files.project_identity() {
            Some(identity) => self.recall_consents(gate, unknown, identity),
            None => self.ask_consent(gate, unknown, None, cx),
        }
    }

    /// Makes the checks that are left, up to the first that fails or needs an answer.
    fn make_checks(&mut self, mut gate: OpenGate, cx: &mut Cx) -> Reply {
        let mut work = Work::default();
        loop {
            let Some(check) = gate.current().cloned() else {
                return self.close_gate(gate, Outcome::Passed, cx);
            };
            match check.kind {
                CheckKind::Run { command, timeout_ms } => {
                    let (number, of) = gate.position();
                    let progress = text::gate_progress(&check.label, number, of);
                    let request = Request::Exec { command, timeout_ms, progress };
                    return self.await_answer(gate, Awaited::Command, request);
                }
                CheckKind::Approve { question } => return self.ask_approval(gate, &question, cx),
                CheckKind::File { path, contains } => {
                    let found = check_file(cx.files, &path, contains.as_ref(), &mut work);
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

    /// Asks for what the current check needs.
    fn await_answer(&mut self, mut gate: OpenGate, awaited: Awaited, request: Request) -> Reply {
        gate.awaited = awaited;
        self.ask(PendingRequest::Gate(Box::new(gate)), request)
    }

    /// Continues with a gate after an answer.
    pub(super) fn answer_gate(&mut self, mut gate: OpenGate, answer: Answer, cx: &mut Cx) -> Reply {
        if gate.withdrawn || !self.running().is_some_and(|state| gate.is_at(state)) {
            return self.gate_overtaken(&gate, cx);
        }
        if let Some(reason) = self.held() {
            if gate.awaited == Awaited::Command
                && let Answer::Ran { end, duration_ms, output } = answer
            {
                gate.record(command_result(&end, duration_ms, text::gate_tail(&output)));
            }
            return self.gate_held(&gate, &reason, cx);
        }
        match gate.awaited.clone() {
            Awaited::RememberedConsents { commands, identity } => {
                let Answer::Recalled(values) = answer else {
                    let reason = not_allowed(&gate, &commands);
                    return self.close_gate(gate, Outcome::Paused(reason), cx);
                };
                let unknown = self.not_remembered(commands, &identity, values);
                if unknown.is_empty() {
                    return self.make_checks(gate, cx);
                }
                self.ask_consent(gate, unknown, Some(identity), cx)
            }
            Awaited::Consent { commands, identity } => {
                match Consent::of(&answer, identity.as_deref()) {
                    Consent::No => {
                        let reason = not_allowed(&gate, &commands);
                        return self.close_gate(gate, Outcome::Paused(reason), cx);
                    }
                    Consent::Once => {}
                    Consent::Session => self.session.allowed_commands.extend(commands),
                    Consent::Always { identity } => {
                        self.remember_consents(&commands, identity, cx);
                    }
                }
                self.make_checks(gate, cx)
            }
            Awaited::Command => match answer {
                Answer::Ran { end: CommandEnd::Cancelled, .. } | Answer::Cancelled => {
                    let label = gate.current().map_or("", |check| &check.label);
                    let text = format!("The gate was interrupted: {label} was stopped.");
                    self.close_gate(gate, Outcome::Interrupted(text), cx)
                }
                Answer::Ran { end, duration_ms, output } => {
                    let failed = end != CommandEnd::Exited(0);
                    let tail = if failed { text::gate_tail(&output) } else { String::new() };
                    self.checked(gate, command_result(&end, duration_ms, tail), cx)
                }
                _ => self.checked(gate, CheckResult::new(false, "commands cannot be run here"), cx),
            },
            Awaited::Approval => match Approval::of(&answer) {
                Approval::Yes => {
                    self.checked(gate, CheckResult::new(true, "the user said yes"), cx)
                }
                Approval::No => {
                    let title = "Why not? The agent is told.".to_owned();
                    self.await_answer(gate, Awaited::Reason, Request::Input { title })
                }
                Approval::NotYet => {
                    let question = match gate.current().map(|check| &check.kind) {
                        Some(CheckKind::Approve { question }) => question.clone(),
                        _ => String::new(),
                    };
                    let reason = PauseReason::Approval { question };
                    self.close_gate(gate, Outcome::Paused(reason), cx)
                }
            },
            Awaited::Reason => {
                let result = match answer {
                    Answer::Entered(reason) if !reason.trim().is_empty() => {
                        format!("the user said no: {}", reason.trim())
                    }
                    _ => "the user said no".to_owned(),
                };
                self.checked(gate, CheckResult::new(false, result), cx)
            }
        }
    }

    /// Continues after a check.
    fn checked(&mut self, mut gate: OpenGate, result: CheckResult, cx: &mut Cx) -> Reply {
        let passed = result.passed;
        gate.record(result);
        if passed { self.make_checks(gate, cx) } else { self.close_gate(gate, Outcome::Failed, cx) }
    }
}

fn not_allowed(gate: &OpenGate, commands: &[String]) -> PauseReason {
    PauseReason::Commands { package: gate.source_of(commands).1.package() }
}

fn command_result(end: &CommandEnd, duration_ms: u64, tail: String) -> CheckResult {
    let passed = *end == CommandEnd::Exited(0);
    CheckResult { passed, result: end.to_string(), duration_ms, tail }
}
