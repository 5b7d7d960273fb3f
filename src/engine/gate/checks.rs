//! The checks of a gate, one after another, up to the first check that fails or needs an answer.

use crate::definition::CheckKind;
use crate::engine::consent::ONCE;
use crate::engine::context::Cx;
use crate::engine::effect::{OutputFile, Request};
use crate::engine::event::{Answer, CommandEnd, NotRun, Ran};
use crate::engine::state::{Run, Session};
use crate::run::{PauseReason, Tail};
use crate::text;

use super::files::{FileFailure, Work, check_file};
use super::state::{CheckResult, GateAsked, OpenGate};

/// The end of the checks.
pub enum Outcome {
    Passed,
    /// The last check failed.
    Failed,
    /// The checks ended without a result; the text is for the agent or the user who asked to leave the phase.
    Interrupted(String),
    /// The run waits for the user.
    Paused(PauseReason),
}

/// The next action for a gate.
pub enum Next {
    /// An answer.
    Ask(Request, GateAsked),
    /// Nothing: the gate is closed.
    Close(Outcome),
    /// The session is gone.
    Gone,
}

impl OpenGate {
    /// Begins with the consent to its commands, if that is needed.
    pub fn begin(&mut self, run: &Run, session: &Session, cx: &mut Cx) -> Next {
        let commands = self.foreign_commands().into_iter().map(|(command, _)| command);
        let Some(asked) = session.unallowed(commands, session.allowed_in_run(run), cx) else {
            return self.check(run, cx);
        };
        let asked = asked.with_values(self.has_values());
        let source = self.source_of(&asked.commands);
        let question = |commands: &[String], dialog| text::consent_question(&self.of, source, commands, dialog);
        Next::Ask(asked.dialog(ONCE, question, cx), GateAsked::Consent(asked))
    }

    /// Goes on with an answer.
    pub fn answered(
        &mut self,
        asked: GateAsked,
        answer: Answer,
        (run, session): (&Run, &mut Session),
        cx: &mut Cx,
    ) -> Next {
        match asked {
            GateAsked::Consent(asked) => {
                if session.allow(&asked, answer.chosen(), run, cx) {
                    return self.check(run, cx);
                }
                let package = self.source_of(&asked.commands).package();
                let value = asked.only_values;
                Next::Close(Outcome::Paused(PauseReason::Commands { package, value }))
            }
            GateAsked::Command => {
                let result = match answer.ran() {
                    Ok(ran) => command_result(&ran),
                    Err(NotRun::Stopped) => {
                        let name = self.current().map_or("", |check| &check.name);
                        let text = format!("The gate was interrupted: {name} was stopped.");
                        return Next::Close(Outcome::Interrupted(text));
                    }
                    Err(NotRun::NotHere) => CheckResult::new(false, "commands cannot be run here"),
                };
                self.checked(result, run, cx)
            }
        }
    }

    /// Keeps the result of a command that ran while the rules of the run came not to hold.
    pub fn keep(&mut self, asked: &GateAsked, answer: Answer) {
        if let (GateAsked::Command, Ok(ran)) = (asked, answer.ran()) {
            self.record(command_result(&ran));
        }
    }

    /// Makes the checks that are left, up to the first that fails or needs an answer.
    fn check(&mut self, run: &Run, cx: &mut Cx) -> Next {
        let mut work = Work::default();
        loop {
            let Some(check) = self.current().cloned() else { return Next::Close(Outcome::Passed) };
            match check.kind {
                CheckKind::Run { command, timeout: _ } => {
                    if command.line().is_empty() {
                        return self.checked(CheckResult::new(false, text::NO_COMMAND), run, cx);
                    }
                    let (number, of) = self.position();
                    let progress = text::gate_progress(&check.name, number, of);
                    let env = match self.env() {
                        Ok(env) => env,
                        Err(why) => return self.checked(CheckResult::new(false, why), run, cx),
                    };
                    let (command, timeout_ms) = (command.line().to_owned(), self.timeout_ms());
                    let output_file = run.active().map(|active| OutputFile::of(&active));
                    let request = Request::Exec { command, env, timeout_ms, progress, apart: false, output_file };
                    return Next::Ask(request, GateAsked::Command);
                }
                CheckKind::File { path, contains } => {
                    let found = check_file(cx.host, &path, contains.as_ref(), &mut work);
                    let (passed, result) = match found {
                        Ok(found) => (true, found),
                        Err(FileFailure::Gone) => return Next::Gone,
                        Err(FileFailure::Because(why)) => (false, why),
                    };
                    self.record(CheckResult::new(passed, result));
                    if !passed {
                        return Next::Close(Outcome::Failed);
                    }
                }
            }
        }
    }

    /// Goes on after a check.
    fn checked(&mut self, result: CheckResult, run: &Run, cx: &mut Cx) -> Next {
        let passed = result.passed;
        self.record(result);
        if passed { self.check(run, cx) } else { Next::Close(Outcome::Failed) }
    }
}

fn command_result(ran: &Ran) -> CheckResult {
    let Ran { end, duration_ms, output, cut_bytes, output_file, .. } = ran;
    let passed = *end == CommandEnd::Exited(0);
    let tail = if passed { Tail::default() } else { text::gate_tail(output, *cut_bytes) };
    let file = output_file.as_ref().and_then(|file| file.as_ref().ok()).filter(|_| tail.missing > 0);
    let file = file.cloned().unwrap_or_default();
    CheckResult { passed, result: end.to_string(), duration_ms: *duration_ms, tail, file }
}
