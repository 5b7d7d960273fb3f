//! The checks of a gate, one after another, up to the first check that fails or needs an answer.

use crate::engine::consent::ONCE;
use crate::engine::context::Cx;
use crate::engine::effect::{OutputFile, Request};
use crate::engine::environment::OpenCommand;
use crate::engine::event::{Answer, CommandEnd, NotRun, Ran};
use crate::engine::state::{Run, Session};
use crate::run::{PauseReason, Tail};
use crate::text;

use super::files::{FileFailure, Work, check_file};
use super::state::{CheckResult, CheckWork, GateAsked, OpenGate};

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
        let commands = self.commands().flat_map(OpenCommand::agreements);
        let Some(asked) = session.unallowed(commands, session.allowed_in_run(run), cx) else {
            return self.check(run, cx);
        };
        let asked = asked.with_values(self.commands().any(|of| of.command.value().is_some()));
        let source = self.source_of(&asked.commands);
        let question = |commands: &[String], dialog| text::consent_question(&self.of, false, source, commands, dialog);
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
                        let name = self.current().map_or("", |check| &*check.name);
                        let text = format!("The gate was interrupted: {name} was stopped.");
                        return Next::Close(Outcome::Interrupted(text));
                    }
                    Err(NotRun::NotHere) => CheckResult::new(false, "commands cannot be run here"),
                };
                if self.record(result) { self.check(run, cx) } else { Next::Close(Outcome::Failed) }
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
        while let Some(check) = self.current() {
            let result = match &check.work {
                CheckWork::Run(command) => {
                    let (number, of) = self.position();
                    let progress = text::gate_progress(&check.name, number, of);
                    let output_file = run.active().map(|active| OutputFile::of(&active));
                    match command.request(progress, false, output_file) {
                        Ok(request) => return Next::Ask(request, GateAsked::Command),
                        Err(why) => CheckResult::new(false, why),
                    }
                }
                CheckWork::File { path, contains } => match check_file(cx.host, path, contains.as_ref(), &mut work) {
                    Ok(found) => CheckResult::new(true, found),
                    Err(FileFailure::Gone) => return Next::Gone,
                    Err(FileFailure::Because(why)) => CheckResult::new(false, why),
                },
            };
            if !self.record(result) {
                return Next::Close(Outcome::Failed);
            }
        }
        Next::Close(Outcome::Passed)
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
