//! The work of a step and of a question: a command runs, or the user answers.

use serde_json::{Value, json};

use crate::definition::{Answer as Choice, AnswerText, Step, as_name, is_blank, make_different};
use crate::engine::consent::{ONCE, dialog, title_of};
use crate::engine::context::Cx;
use crate::engine::effect::{Effect, Level, Request};
use crate::engine::event::{Answer, CommandEnd, NotRun, Ran};
use crate::engine::state::{Run, Session};
use crate::protocol::{QUESTION_TYPE, STATUS_TYPE};
use crate::run::{Active, Evidence, Outputs, PauseReason, RunState, given_outputs};
use crate::text;

use super::state::{EntryAsked, OpenEntry, OpenStep, Work};

/// The option of a question without an answer.
const NOT_YET: &str = "Not yet";

/// The next action for an entry without the model.
pub enum Next {
    /// An answer.
    Ask(Request, EntryAsked),
    /// Children for its branches.
    BeginBranches,
    /// Nothing: it has ended with this state of the run, and with this outcome.
    Ended(RunState, Option<String>),
    /// It has not ended, for this reason, and the run pauses, in this state if it has changed.
    NotEnded(Option<RunState>, String),
    /// The run waits for the user.
    Pause(PauseReason),
    /// The run has no phase any more.
    Left,
}

impl OpenEntry {
    /// Begins with the entry.
    pub fn begin(&self, run: &Run, session: &Session, cx: &mut Cx) -> Next {
        match &self.work {
            Work::Step(step) => self.begin_step(step, run, session, cx),
            Work::Question { text, answers } => self.ask_question(text, answers, run, cx),
            Work::Branches => Next::BeginBranches,
        }
    }

    /// Goes on with an answer.
    pub fn answered(
        &self,
        asked: EntryAsked,
        answer: Answer,
        (run, session): (&Run, &mut Session),
        cx: &mut Cx,
    ) -> Next {
        match (&self.work, asked) {
            (Work::Step(step), EntryAsked::Consent(asked)) => {
                if session.allow(&asked, answer.chosen(), run, cx) {
                    return self.run_step(step);
                }
                let package = step.run.source.as_ref().and_then(text::GateSource::package);
                Next::Pause(PauseReason::Commands { package, value: asked.only_values })
            }
            (Work::Step(_), EntryAsked::Command) => match answer.ran() {
                Ok(ran) => self.step_ran(ran, run, cx),
                Err(NotRun::NotHere) => Next::NotEnded(None, "commands cannot be run here".to_owned()),
                Err(NotRun::Stopped) => Next::NotEnded(None, CommandEnd::Cancelled.to_string()),
            },
            (Work::Question { text, answers }, EntryAsked::Question) => {
                let chosen = answer.chosen().and_then(|index| index.checked_sub(1));
                match chosen.and_then(|index| answers.get(index)) {
                    Some(answer) if answer.text == AnswerText::None => question_answered(answer, "", run, cx),
                    Some(answer) => ask_text(answer),
                    None => Next::Pause(PauseReason::Question { question: text.clone() }),
                }
            }
            (Work::Question { text, .. }, EntryAsked::Text(of)) => match answer.entered() {
                Some(given) if of.text == AnswerText::Required && is_blank(&given) => ask_text(&of),
                Some(given) => question_answered(&of, &given, run, cx),
                None => Next::Pause(PauseReason::Question { question: text.clone() }),
            },
            // Not reached: each request is made for its own work.
            (Work::Step(_) | Work::Question { .. } | Work::Branches, _) => Next::Left,
        }
    }

    /// Asks the user. A key that was meant for the editor chooses the first option: that option does no harm.
    fn ask_question(&self, question: &str, answers: &[Choice], run: &Run, cx: &mut Cx) -> Next {
        let answers = answers.iter().map(|answer| answer.name.clone());
        let mut options: Vec<String> = std::iter::once(NOT_YET.to_owned()).chain(answers).collect();
        make_different(options.iter_mut(), usize::MAX);
        let active = run.active();
        let workflow = active.as_ref().map_or("", |active| &active.root.name);
        let dialog = dialog(options.len(), cx);
        // The question may be about the summary and the checks. The model does not get them.
        if let Some(subject) = active.filter(|_| cx.ui.exists()).and_then(|active| text::question_subject(&active)) {
            cx.show(QUESTION_TYPE, subject);
        }
        let title = title_of(text::entry_question(&self.of, workflow, question, dialog), cx);
        Next::Ask(Request::Select { title, options }, EntryAsked::Question)
    }

    /// Begins a step: with the consent to its command, if that is needed.
    fn begin_step(&self, step: &OpenStep, run: &Run, session: &Session, cx: &mut Cx) -> Next {
        let Some(asked) = session.unallowed(step.run.agreements(), session.allowed_in_run(run), cx) else {
            return self.run_step(step);
        };
        let asked = asked.with_values(step.run.command.value().is_some());
        let source = step.run.source.as_ref().unwrap_or(&text::GateSource::Project);
        let question = |commands: &[String], dialog| text::consent_question(&self.of, true, source, commands, dialog);
        Next::Ask(asked.dialog(ONCE, question, cx), EntryAsked::Consent(asked))
    }

    fn run_step(&self, step: &OpenStep) -> Next {
        let output_file = Some(step.output_file.clone());
        match step.run.request(text::step_progress(&self.of), step.has_outputs, output_file) {
            Ok(request) => Next::Ask(request, EntryAsked::Command),
            Err(why) => Next::NotEnded(None, why),
        }
    }

    /// Goes on after the command of a step.
    fn step_ran(&self, ran: Ran, run: &Run, cx: &mut Cx) -> Next {
        let Ran { end, duration_ms, output, cut_bytes, standard_output, output_file } = ran;
        let file = output_file.transpose().map(Option::unwrap_or_default).unwrap_or_else(|why| {
            cx.notify(Level::Warning, text::output_not_kept(&self.of, &why));
            String::new()
        });
        let has_ended = match end {
            CommandEnd::Exited(_) | CommandEnd::TimedOut => true,
            CommandEnd::Cancelled | CommandEnd::NotStarted(_) => false,
        };
        if !has_ended {
            return Next::NotEnded(None, end.to_string());
        }
        let Some(active) = run.active() else { return Next::Left };
        let given = match end {
            CommandEnd::Exited(0) => {
                outputs_of(&active, standard_output.as_deref()).map_err(|why| format!("{end}, but {why}"))
            }
            _ => Err(end.to_string()),
        };
        let (passed, how) = match &given {
            Ok(_) => (true, end.to_string()),
            Err(why) => (false, why.clone()),
        };
        let evidence = Evidence {
            name: as_name(&self.of),
            passed,
            result: how.clone(),
            duration_ms,
            attempt: 1,
            tail: if passed { String::new() } else { output.clone() },
            missing: if passed { 0 } else { cut_bytes },
            file: file.clone(),
        };
        let outcome = if passed { Step::OK } else { Step::FAILED };
        let has_condition = active.scope.phases.get(active.index).is_some_and(|entry| !entry.when.is_empty());
        if let Some(told) = text::last_line(&output).filter(|_| passed && has_condition) {
            cx.notify(Level::Info, format!("{}: {told}", evidence.name));
        }
        let state = active.state.with_summary(active.phase, &text::step_summary(&output, cut_bytes, &file));
        let state = state.with_log(active.phase, &output, cut_bytes, &file, active.library);
        let state = state.with_outputs(active.phase, given.unwrap_or_default());
        let state = state.with_evidence(vec![text::kept(evidence)]);
        if active.phase.outcomes.iter().any(|other| other.name == outcome) {
            return Next::Ended(state, Some(outcome.to_owned()));
        }
        Next::NotEnded(Some(state), text::step_failed(&how, &output))
    }
}

fn ask_text(answer: &Choice) -> Next {
    let request = Request::Input { title: text::answer_text_title(answer) };
    Next::Ask(request, EntryAsked::Text(answer.clone()))
}

/// The user has answered the question at which the run is, with this text behind the answer.
pub fn question_answered(answer: &Choice, given: &str, run: &Run, cx: &mut Cx) -> Next {
    let Some(active) = run.active() else { return Next::Left };
    let summary = if is_blank(given) { &answer.name } else { given };
    let name = active.phase.question().map_or_else(String::new, |of| as_name(&text::in_words(&of.text, &active)));
    let evidence = Evidence {
        name,
        passed: true,
        result: format!("the user said “{}”", answer.name),
        attempt: 1,
        ..Evidence::default()
    };
    let mut shown = text::EntryResult::new(&format!("✓ {}: {}", evidence.name, evidence.result));
    shown.add_text(given);
    show_outcome(shown, cx);
    let state = active.state.with_summary(active.phase, summary).with_evidence(vec![evidence]);
    Next::Ended(state, Some(answer.outcome.clone()))
}

/// Shows the result of an entry without the model in the transcript; the model does not get the entry.
pub fn show_outcome(shown: text::EntryResult, cx: &mut Cx) {
    let data = json!({ "content": shown.brief, "full": shown.full });
    cx.push(Effect::AppendEntry { custom_type: STATUS_TYPE, data });
}

/// The outputs that a step gives with its standard output.
///
/// # Errors
///
/// The reason, in words, why the output does not match the outputs of the step.
fn outputs_of(active: &Active, standard_output: Option<&str>) -> Result<Outputs, String> {
    let Active { phase, state, .. } = active;
    if phase.outputs.is_empty() {
        return Ok(Outputs::new());
    }
    let Some(text) = standard_output else {
        return Err("its standard output is longer than 1 MiB, or not UTF-8".to_owned());
    };
    let Ok(Value::Object(mut fields)) = serde_json::from_str(text) else {
        return Err("its standard output is not one JSON object".to_owned());
    };
    fields.retain(|name, _| phase.outputs.iter().any(|output| output.name == *name));
    let given = Value::Object(fields);
    let expected = active.outputs();
    let outputs = given_outputs(&expected, &given).map_err(|wrong| text::wrong_outputs(phase, &wrong))?;
    if state.has_room_for(&outputs) { Ok(outputs) } else { Err(text::OUTPUTS_TOO_LONG.to_owned()) }
}
