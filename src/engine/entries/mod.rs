//! Entries without the model. The engine works through such entries one after the other when the run arrives, within
//! the call or the command that moved the run there, until the run is at a phase of the agent, has ended, or pauses.
//!
//! The agent has no tools meanwhile. An entry that may have been interrupted, by the end of the process or another
//! session, is not begun again without the user's `/workflow :resume`: the entry may not be repeatable.

pub(super) mod state;

use serde_json::{Value, json};

use crate::definition::{Answer, AnswerText, Step, is_blank, is_space, label_of, trim};
use crate::protocol::APPROVAL_TYPE;
use crate::run::{Active, Arrival, Evidence, Leaving, Outputs, PauseReason, given_outputs, leave};
use crate::text;

use super::ask::{Command, Ran};
use super::briefing::state::Mover;
use super::context::Cx;
use super::effect::{Effect, Level, Reply, ToolResult};
use super::ending::stop_behind_end;
use super::entries::state::{OpenGroup, OpenQuestion, OpenStep, Passage};
use super::event::CommandEnd;
use super::gate::state::Requester;
use super::gate::{ONCE, dialog, title_of};
use super::state::{Engine, Stand, Waiter};
use super::step_tool::{RUN_ENDED, result};

/// The option of a question without an answer.
const NOT_YET: &str = "Not yet";

/// The reason for the pause of an entry to which the end of a budget has led.
const LED_BY_BUDGET: &str = "the end of a budget led to it, and it is not begun by itself";
/// The reason for the pause of an entry that was begun before, as far as anyone knows.
const MAY_HAVE_RUN: &str = "it may have been interrupted, and is not begun again by itself";

impl Engine {
    /// The run in progress, if it is at an entry without the model.
    pub(super) fn at_entry(&self) -> Option<Active<'_>> {
        self.active().filter(|active| !active.phase.is_of_agent())
    }

    /// Returns true if the run has arrived at an entry without the model, which is neither paused nor begun.
    fn has_entry_ahead(&self) -> bool {
        self.at_entry().is_some() && self.pause_reason().is_none() && !self.pending.has_open_gate()
    }

    /// Works through the entries without the model at which a call or a command has arrived with this reply.
    pub(super) fn follow_entries(&mut self, reply: Reply, waiter: Waiter, cx: &mut Cx) -> Reply {
        if cx.gone || !self.has_entry_ahead() {
            return reply;
        }
        let (told, details) = match reply {
            Reply::Tool(ToolResult { text, details }) => (vec![text], details),
            Reply::None | Reply::Settle => (Vec::new(), Value::Null),
            other => return other,
        };
        let mut prompts = Vec::new();
        cx.effects.retain(|effect| match effect {
            Effect::SendUserMessage(prompt) => {
                prompts.push(prompt.clone());
                false
            }
            _ => true,
        });
        cx.prompted = false;
        self.go_on(Passage { waiter, told, prompts, details }, cx)
    }

    /// Pauses a run that is at an entry without the model that nothing has begun: no call or command has brought it
    /// there.
    pub(super) fn pause_at_entry(&mut self, reply: &Reply, cx: &mut Cx) {
        if self.has_entry_ahead() && !matches!(reply, Reply::Ask { .. }) {
            self.pause_entry(MAY_HAVE_RUN, cx);
        }
    }

    /// Pauses a run that the end of a budget has brought to an entry without the model.
    pub(super) fn pause_behind_budget(&mut self, cx: &mut Cx) {
        if self.has_entry_ahead() {
            self.pause_entry(LED_BY_BUDGET, cx);
        }
    }

    /// Begins the entry at which the run is, or answers the waiting call or command.
    fn go_on(&mut self, passage: Passage, cx: &mut Cx) -> Reply {
        if !self.has_entry_ahead() {
            return self.end_passage(passage, cx);
        }
        // pi writes the session's file only with a message of the conversation: without this effect, a run that begins
        // with such entries would be lost when pi ends.
        cx.push(Effect::WriteSession);
        if let Some(step) = self.active().and_then(|active| OpenStep::at(&active, &passage)) {
            return self.begin_step(step, cx);
        }
        if let Some(question) = self.active().and_then(|active| OpenQuestion::at(&active, &passage)) {
            return self.ask_question(question, cx);
        }
        match self.active().and_then(|active| OpenGroup::at(&active, &passage)) {
            Some(group) => self.begin_branches(group, cx),
            None => self.end_passage(passage, cx),
        }
    }

    /// Asks the user. A key that was meant for the editor chooses the first option: that option does no harm.
    fn ask_question(&mut self, question: OpenQuestion, cx: &mut Cx) -> Reply {
        let answers = question.answers.iter().map(|answer| answer.label.clone());
        let mut options: Vec<String> = std::iter::once(NOT_YET.to_owned()).chain(answers).collect();
        text::make_different(&mut options);
        let workflow = self.active().map_or_else(String::new, |active| active.root.name.clone());
        let dialog = dialog(cx.ui, options.len());
        self.show_last_summary(cx);
        let asked = text::entry_question(&question.of, &workflow, &question.text, dialog);
        let title = title_of(asked, cx);
        self.select(question.stand.purpose(), title, options, move |engine, chosen, cx| {
            if let Some(reply) = engine.overtaken(&question.passage, &question.stand) {
                return reply;
            }
            let chosen = chosen.and_then(|index| index.checked_sub(1));
            match chosen.and_then(|index| question.answers.get(index)).cloned() {
                Some(answer) if answer.text == AnswerText::None => {
                    engine.question_answered(question.passage, &answer, "", cx)
                }
                Some(answer) => engine.ask_text_of_answer(question, answer),
                None => engine.question_not_answered(question, cx),
            }
        })
    }

    /// Shows the newest summary above a question, because the question may be about the summary. The model does not get
    /// it.
    fn show_last_summary(&self, cx: &mut Cx) {
        let Some(active) = self.active().filter(|_| cx.ui.exists()) else { return };
        let summaries = active.state.summaries();
        if let Some((_, summary)) = summaries.last() {
            let content = text::last_summary(summary);
            let data = json!({ "content": content });
            cx.push(Effect::AppendEntry { custom_type: APPROVAL_TYPE, data });
        }
    }

    fn ask_text_of_answer(&mut self, question: OpenQuestion, answer: Answer) -> Reply {
        let title = text::answer_text_title(&answer);
        self.ask_text(question.stand.purpose(), title, move |engine, given, cx| {
            if let Some(reply) = engine.overtaken(&question.passage, &question.stand) {
                return reply;
            }
            match given {
                Some(given) if answer.text == AnswerText::Required && is_blank(&given) => {
                    engine.ask_text_of_answer(question, answer)
                }
                Some(given) => engine.question_answered(question.passage, &answer, &given, cx),
                None => engine.question_not_answered(question, cx),
            }
        })
    }

    fn question_not_answered(&mut self, question: OpenQuestion, cx: &mut Cx) -> Reply {
        self.pause(PauseReason::Approval { question: question.text }, cx);
        self.end_passage(question.passage, cx)
    }

    /// The user has answered the question at which the run is.
    fn question_answered(&mut self, passage: Passage, answer: &Answer, given: &str, cx: &mut Cx) -> Reply {
        let Some(active) = self.active() else { return self.end_passage(passage, cx) };
        let summary = if is_blank(given) { &answer.label } else { given };
        let label = active.phase.question().map_or_else(String::new, |of| {
            label_of(&text::in_words(&of.text, &active, active.state.current_path.len()))
        });
        let evidence = Evidence {
            label,
            passed: true,
            result: format!("the user said “{}”", answer.label),
            duration_ms: 0,
            attempt: 1,
            tail: String::new(),
            ..Evidence::default()
        };
        let state = active.state.with_summary(active.phase, summary).with_evidence(vec![evidence]);
        self.run.amend(self.definitions.library(), |_| state);
        self.end_entry(passage, Some(&answer.outcome), cx)
    }

    /// Answers the question at which the run is, for the user: with an outcome, and a text behind it.
    pub(super) fn answer_by_user(&mut self, argument: &str, cx: &mut Cx) -> Reply {
        let (outcome, given) = argument.split_once(is_space).unwrap_or((argument, ""));
        let active = self.at_entry();
        let Some(question) = active.as_ref().and_then(|active| active.phase.question()) else {
            cx.fail(Level::Warning, "The run does not ask a question.");
            return Reply::None;
        };
        let given = trim(given);
        let answer = question.answers.iter().find(|answer| answer.outcome == outcome);
        let (Some(answer), None) = (answer, text::bad_answer(question, outcome, given)) else {
            let notice = text::bad_answer(question, outcome, given).unwrap_or_default();
            cx.fail(Level::Warning, notice);
            return Reply::None;
        };
        let answer = answer.clone();
        self.pending.withdraw_gates(cx);
        let passage = Passage { waiter: Waiter::User, told: Vec::new(), prompts: Vec::new(), details: Value::Null };
        self.question_answered(passage, &answer, given, cx)
    }

    /// Begins a step: with the consent to its command, if that is needed.
    fn begin_step(&mut self, step: OpenStep, cx: &mut Cx) -> Reply {
        let foreign = step.source.iter().map(|_| step.command.shown());
        let Some(asked) = self.unallowed(foreign, self.allowed_in_run(), cx) else { return self.run_step(step, cx) };
        let question =
            |commands: &[String], dialog| text::step_consent(&step.of, step.source.as_ref(), commands, dialog);
        let (title, options) = asked.dialog(ONCE, question, cx);
        self.select(step.stand.purpose(), title, options, move |engine, chosen, cx| {
            if let Some(reply) = engine.overtaken(&step.passage, &step.stand) {
                return reply;
            }
            if engine.allow(&asked, chosen, cx) {
                return engine.run_step(step, cx);
            }
            let package = step.source.as_ref().and_then(text::GateSource::package);
            engine.pause(PauseReason::Commands { package }, cx);
            engine.end_passage(step.passage, cx)
        })
    }

    fn run_step(&mut self, step: OpenStep, cx: &mut Cx) -> Reply {
        let env = match step.env() {
            Ok(env) => env,
            Err(why) => return self.step_not_ended(step.passage, &why, cx),
        };
        let command = Command {
            line: step.command.line().to_owned(),
            env,
            timeout_ms: step.timeout_ms,
            progress: text::step_progress(&step.of),
            apart: step.has_outputs,
            output_file: Some(step.output_file.clone()),
        };
        self.exec(step.stand.purpose(), command, move |engine, ran, cx| {
            match engine.overtaken(&step.passage, &step.stand) {
                Some(reply) => reply,
                None => engine.step_ran(step, ran, cx),
            }
        })
    }

    /// Goes on after the command of a step.
    fn step_ran(&mut self, step: OpenStep, ran: Ran, cx: &mut Cx) -> Reply {
        let Ran::Ended { end, duration_ms, output, standard_output, output_file } = ran else {
            let why = match ran {
                Ran::NotHere => "commands cannot be run here".to_owned(),
                Ran::Cancelled | Ran::Ended { .. } => CommandEnd::Cancelled.to_string(),
            };
            return self.step_not_ended(step.passage, &why, cx);
        };
        let file = match output_file.transpose() {
            Ok(file) => file,
            Err(why) => {
                cx.notify(Level::Warning, text::output_not_kept(&step.of, &why));
                None
            }
        };
        let has_ended = match end {
            CommandEnd::Exited(_) | CommandEnd::TimedOut => true,
            CommandEnd::Cancelled | CommandEnd::NotStarted(_) => false,
        };
        if !has_ended {
            return self.step_not_ended(step.passage, &end.to_string(), cx);
        }
        let Some(active) = self.active() else { return self.end_passage(step.passage, cx) };
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
            label: label_of(step.command.line()),
            passed,
            result: how.clone(),
            duration_ms,
            attempt: 1,
            tail: text::kept_tail(&if passed { String::new() } else { text::gate_tail(&output) }),
            file: file.clone().unwrap_or_default(),
            ..Evidence::default()
        };
        let outcome = if passed { Step::OK } else { Step::FAILED };
        let state = active.state.with_summary(active.phase, &text::step_summary(&output, file.as_deref()));
        let state = state.with_outputs(active.phase, given.unwrap_or_default());
        let has_outcome = active.phase.outcomes.iter().any(|other| other.name == outcome);
        let state = state.with_evidence(vec![evidence]);
        self.run.amend(self.definitions.library(), |_| state);
        if !has_outcome {
            let why = text::step_failed(&how, &output);
            return self.step_not_ended(step.passage, &why, cx);
        }
        self.end_entry(step.passage, Some(outcome), cx)
    }

    /// The entry at which the run is has ended with this outcome: the run leaves it when the gates ahead are passed.
    pub(super) fn end_entry(&mut self, passage: Passage, outcome: Option<&str>, cx: &mut Cx) -> Reply {
        match self.gates_ahead(Requester::Entry(passage.clone()), outcome.map(Into::into)) {
            Some(gate) => self.begin_gate(gate, cx),
            None => self.leave_entry(passage, outcome, Vec::new(), cx),
        }
    }

    /// Moves the run on from an entry without the model, its gates passed with this evidence.
    pub(super) fn leave_entry(
        &mut self,
        mut passage: Passage,
        outcome: Option<&str>,
        evidence: Vec<Evidence>,
        cx: &mut Cx,
    ) -> Reply {
        let Some(before) = self.active() else { return self.end_passage(passage, cx) };
        let visit = before.state.progress.visits.get(&before.state.current_path.key());
        let mut all = visit.map(|visit| visit.evidence.clone()).unwrap_or_default();
        all.extend(evidence);
        let left = before.state.with_evidence(all);
        let (new, arrival) = match leave(&left, outcome, before.library) {
            Ok(moved) => moved,
            Err(error) => {
                let reason = self.loops_reason(&left, outcome.unwrap_or_default(), error);
                self.pause_as(&left, reason, cx);
                return self.end_passage(passage, cx);
            }
        };
        let new = new.moved_from(before.state, Leaving::Done, cx.unix_ms);
        let from = before.state.current_path.clone();
        passage.told.push(match (arrival, Active::resolve(&new, before.library)) {
            (Arrival::Phase, Some(after)) => text::advanced(&before, &after, outcome),
            (Arrival::Phase | Arrival::Done, _) => text::done(&before, outcome, &new),
        });
        self.transition(new, cx);
        if arrival == Arrival::Phase {
            self.pause_without_output(&from, cx);
        }
        self.go_on(passage, cx)
    }

    /// The entry has not ended: the run pauses.
    pub(super) fn step_not_ended(&mut self, passage: Passage, why: &str, cx: &mut Cx) -> Reply {
        self.pause_entry(why, cx);
        self.end_passage(passage, cx)
    }

    fn pause_entry(&mut self, why: &str, cx: &mut Cx) {
        let of = self.active().map_or_else(String::new, |active| active.phase.name.clone());
        let question = self.active().and_then(|active| {
            let question = active.phase.question()?;
            Some(text::in_words(&question.text, &active, active.state.current_path.len()))
        });
        let reason = match question {
            Some(question) => PauseReason::Approval { question },
            None => PauseReason::Step { of, why: why.to_owned() },
        };
        self.pause(reason, cx);
    }

    /// The reply for an entry that the run has left, or whose rules do not hold; `None` if the entry still stands.
    pub(super) fn overtaken(&mut self, passage: &Passage, stand: &Stand) -> Option<Reply> {
        let reason = self.held();
        if stand.stands(self.running()) && reason.is_none() {
            return None;
        }
        self.drop_prompts(passage);
        if passage.waiter == Waiter::User {
            return Some(Reply::None);
        }
        let text = match (reason, self.active()) {
            (Some(reason), _) => text::held(&reason),
            (None, Some(active)) => text::paused(&active).unwrap_or_else(|| text::outdated(&active)),
            (None, None) => RUN_ENDED.to_owned(),
        };
        if self.held().is_some() || self.pause_reason().is_some() {
            self.end_agents_run();
        }
        Some(result(text, json!({ "active": true, "gate": "overtaken" })))
    }

    /// Adds a text to the passage, and goes on: the gates after an entry without the model were not passed, or led
    /// back.
    pub(super) fn after_gate_of_entry(&mut self, mut passage: Passage, text: String, cx: &mut Cx) -> Reply {
        passage.told.push(text);
        self.go_on(passage, cx)
    }

    /// Prompts that the agent does not get now come with the next context prompt.
    fn drop_prompts(&mut self, passage: &Passage) {
        for prompt in &passage.prompts {
            self.briefing.note(prompt.clone());
        }
    }

    /// Answers the call or the command that has brought the run to entries without the model.
    pub(super) fn end_passage(&mut self, mut passage: Passage, cx: &mut Cx) -> Reply {
        let paused = self.active().and_then(|active| text::paused(&active));
        let is_at_phase = self.active().is_some_and(|active| active.phase.is_of_agent());
        passage.told.extend(paused.clone());
        let told = passage.told.iter().map(|text| text.trim_end()).collect::<Vec<_>>().join("\n\n");
        match passage.waiter {
            Waiter::Call { nested } => {
                let prompt = match paused {
                    None if is_at_phase => self.give_prompt_in_result(nested),
                    None | Some(_) => String::new(),
                };
                let text = if prompt.is_empty() { told } else { format!("{told}\n\n{prompt}") };
                let to = self.active().map_or_else(|| "DONE".to_owned(), |of| of.phase.name.clone());
                let mut details = passage.details;
                if let Some(fields) = details.as_object_mut() {
                    fields.insert("to".into(), to.into());
                }
                result(text, details)
            }
            Waiter::User => {
                self.end_passage_of_user(&passage, told, paused.is_some(), cx);
                Reply::None
            }
        }
    }

    fn end_passage_of_user(&mut self, passage: &Passage, told: String, paused: bool, cx: &mut Cx) {
        let works = self.activity.is_working();
        if paused {
            self.drop_prompts(passage);
        } else if self.active().is_none() {
            if works {
                stop_behind_end(cx);
            } else {
                self.announce_end(cx);
            }
        } else if works {
            self.briefing.moved(Mover::User);
            let prompt = self.give_prompt();
            cx.push(Effect::Steer(format!("{told}\n\n{prompt}")));
        } else {
            let mut prompt = passage.prompts.join("\n\n");
            if prompt.is_empty() {
                prompt = told;
            }
            self.tell_or_prompt(prompt, cx);
        }
    }
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
    let outputs = given_outputs(phase, &given).map_err(|wrong| text::wrong_outputs(phase, &wrong))?;
    if state.has_room_for(&outputs) { Ok(outputs) } else { Err(text::OUTPUTS_TOO_LONG.to_owned()) }
}
