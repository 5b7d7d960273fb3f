//! The checks of a gate, one after another, up to the first check that fails or needs an answer.

use crate::definition::{CheckKind, Stale};
use crate::engine::consent::{ONCE, dialog, title_of};
use crate::engine::context::Cx;
use crate::engine::effect::{OutputFile, Request};
use crate::engine::event::{Answer, CommandEnd, NotRun, Ran};
use crate::engine::state::{Run, Session};
use crate::protocol::APPROVAL_TYPE;
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

/// The user's answer to an approval question.
#[derive(Clone, Copy)]
enum Approval {
    NotYet,
    Yes,
    No,
}

impl Approval {
    /// The options, in the order of the dialog.
    const OPTIONS: [(Self, &'static str); 3] = [(Self::NotYet, "Not yet"), (Self::Yes, "Yes"), (Self::No, "No")];

    /// The option that was chosen; no option is [`Self::NotYet`].
    fn of(chosen: Option<usize>) -> Self {
        let chosen = chosen.and_then(|index| Self::OPTIONS.get(index));
        chosen.map_or(Self::NotYet, |(approval, _)| *approval)
    }
}

impl OpenGate {
    /// Begins with the consent to its commands, if that is needed.
    pub fn begin(&mut self, run: &Run, session: &Session, cx: &mut Cx) -> Next {
        let foreign = self.foreign_commands();
        let commands = foreign.into_iter().map(|(command, ..)| command);
        let Some(asked) = session.unallowed(commands, session.allowed_in_run(run), cx) else {
            return self.check(run, session, cx);
        };
        let asked = asked.with_values(self.has_values());
        self.wait();
        let (of, source) = self.source_of(&asked.commands);
        let question = |commands: &[String], dialog| text::consent_question(of, source, commands, dialog);
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
                    return self.check(run, session, cx);
                }
                let package = self.source_of(&asked.commands).1.package();
                let value = asked.only_values;
                Next::Close(Outcome::Paused(PauseReason::Commands { package, value }))
            }
            GateAsked::Files => match answer.project_state() {
                Some(files) => {
                    self.take_files(files.ok());
                    self.check(run, session, cx)
                }
                None => Next::Close(Outcome::Interrupted("The gate was interrupted before it was passed.".to_owned())),
            },
            GateAsked::Command => {
                let result = match answer.ran() {
                    Ok(ran) => command_result(&ran),
                    Err(NotRun::Stopped) => {
                        let label = self.current().map_or("", |check| &check.label);
                        let text = format!("The gate was interrupted: {label} was stopped.");
                        return Next::Close(Outcome::Interrupted(text));
                    }
                    Err(NotRun::NotHere) => CheckResult::new(false, "commands cannot be run here"),
                };
                self.checked(result, run, session, cx)
            }
            GateAsked::Approval => match Approval::of(answer.chosen()) {
                Approval::Yes => self.checked(CheckResult::new(true, "the user said yes"), run, session, cx),
                Approval::No => {
                    let title = text::Title::new("Why not? The agent is told.", "");
                    Next::Ask(Request::Input { title }, GateAsked::Reason)
                }
                Approval::NotYet => {
                    let question = match self.current().map(|check| &check.kind) {
                        Some(CheckKind::Approve { question }) => question.clone(),
                        Some(CheckKind::Run { .. } | CheckKind::File { .. }) | None => String::new(),
                    };
                    Next::Close(Outcome::Paused(PauseReason::Approval { question }))
                }
            },
            GateAsked::Reason => {
                let reason = answer.entered().unwrap_or_default();
                let result = match reason.trim() {
                    "" => "the user said no".to_owned(),
                    reason => format!("the user said no: {reason}"),
                };
                self.checked(CheckResult::new(false, result), run, session, cx)
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
    fn check(&mut self, run: &Run, session: &Session, cx: &mut Cx) -> Next {
        let mut work = Work::default();
        loop {
            if let Some(since) = run.running().and_then(|state| self.files_to_ask(state)) {
                match cx.host.can_tell_changes() {
                    Ok(Ok(())) => return Next::Ask(Request::ProjectState { since }, GateAsked::Files),
                    Ok(Err(_)) => self.take_files(None),
                    Err(Stale) => return Next::Gone,
                }
            }
            let Some(check) = self.current().cloned() else {
                if run.active().is_some_and(|active| self.add_rechecks(&active)) {
                    return self.begin(run, session, cx);
                }
                if self.is_at_end() && run.running().is_some_and(|state| state.progress().rechecks_lost) {
                    let reason = PauseReason::Gate { label: text::RECHECKS_LOST.to_owned(), times: 1 };
                    return Next::Close(Outcome::Paused(reason));
                }
                return Next::Close(Outcome::Passed);
            };
            match check.kind {
                CheckKind::Run { command, timeout: _ } => {
                    if command.line().is_empty() {
                        return self.checked(CheckResult::new(false, text::NO_COMMAND), run, session, cx);
                    }
                    let (number, of) = self.position();
                    let progress = text::gate_progress(&check.label, number, of);
                    let env = match self.env() {
                        Ok(env) => env,
                        Err(why) => return self.checked(CheckResult::new(false, why), run, session, cx),
                    };
                    let (command, timeout_ms) = (command.line().to_owned(), self.timeout_ms());
                    let output_file = run.active().map(|active| OutputFile::of(&active));
                    let request = Request::Exec { command, env, timeout_ms, progress, apart: false, output_file };
                    return Next::Ask(request, GateAsked::Command);
                }
                CheckKind::Approve { question } => return self.ask_approval(&question, run, cx),
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
    fn checked(&mut self, result: CheckResult, run: &Run, session: &Session, cx: &mut Cx) -> Next {
        let passed = result.passed;
        self.record(result);
        if passed { self.check(run, session, cx) } else { Next::Close(Outcome::Failed) }
    }

    fn ask_approval(&self, question: &str, run: &Run, cx: &mut Cx) -> Next {
        let of = self.current_gate().map_or("", |gate| &gate.of);
        let active = run.active();
        let workflow = active.as_ref().map_or("", |active| &active.root.name);
        let options: Vec<String> = Approval::OPTIONS.map(|(_, option)| option.into()).into();
        let question = text::approval_question(of, workflow, question, dialog(options.len(), cx));
        self.show_subject(run, cx);
        Next::Ask(Request::Select { title: title_of(question, cx), options }, GateAsked::Approval)
    }

    /// Shows the subject of an approval above its question: the summary of the phase, and the checks so far. The model
    /// does not get it.
    fn show_subject(&self, run: &Run, cx: &mut Cx) {
        let Some(active) = run.active().filter(|_| cx.ui.exists()) else { return };
        let summaries = active.state.summaries();
        let stored = || summaries.last().filter(|_| active.state.has_handed_over());
        let call = self.requester().call();
        let summary = call.and_then(|call| call.summary.as_deref());
        let summary = summary.or_else(|| stored().map(|(_, summary)| &*summary.text));
        let outputs = call.and_then(|call| call.outputs.as_ref());
        let outputs = outputs.or_else(|| active.state.handed_outputs()).cloned().unwrap_or_default();
        let now = self.with_changes(active.state);
        let changed = text::changed_since(&now, active.library);
        let subject = text::approval_subject(active.phase, self.evidence(), &changed, summary, &outputs);
        if let Some(content) = subject {
            cx.show(APPROVAL_TYPE, content);
        }
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
