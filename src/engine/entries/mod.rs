//! Entries without the model. The engine works through such entries one after the other when the run arrives, within
//! the call or the command that moved the run there, until the run is at a phase of the agent, has ended, or pauses.
//!
//! The agent has no tools meanwhile. An entry that may have been interrupted, by the end of the process or another
//! session, is not begun again without the user's `/workflow :resume`: the entry may not be repeatable.

pub(super) mod state;
mod work;

use serde_json::Value;

use crate::definition::{is_space, trim};
use crate::run::{Active, Arrival, Leaving, PauseReason, leave};
use crate::text;

use super::ask::{Pending, Then};
use super::briefing::state::Mover;
use super::context::Cx;
use super::effect::{Effect, Level, Reply, ToolResult};
use super::ending::stop_behind_end;
use super::event::Answer;
use super::state::{Engine, Run, Waiter};
use super::step_tool::{loops_reason, result};
use state::{EntryAsked, OpenEntry, OpenReply};
use work::question_answered;
pub(super) use work::{Next, show_outcome};

/// The reason for the pause of an entry to which the end of a budget has led.
pub(super) const LED_BY_BUDGET: &str = "the end of a budget led to it, and it is not begun by itself";
/// The reason for the pause of an entry that was begun before, as far as anyone knows.
pub(super) const MAY_HAVE_RUN: &str = "it may have been interrupted, and is not begun again by itself";

/// Returns true if the run has arrived at an entry without the model, which is neither paused nor begun.
fn is_ahead(run: &Run, pending: &Pending) -> bool {
    run.at_entry().is_some() && run.pause_reason().is_none() && !pending.has_open_gate()
}

impl Engine {
    /// Works through the entries without the model at which a call or a command has arrived with this reply.
    pub(super) fn follow_entries(&mut self, reply: Reply, waiter: Waiter, cx: &mut Cx) -> Reply {
        if cx.gone || !is_ahead(&self.run, &self.pending) {
            return reply;
        }
        let (told, details) = match reply {
            Reply::Tool(ToolResult { text, details }) => (vec![text], details),
            Reply::None | Reply::Settle => (Vec::new(), Value::Null),
            other => return other,
        };
        let prompts = cx.take_prompts();
        self.follow_entry(OpenReply { waiter, told, prompts, details }, cx)
    }

    /// Pauses a run that has arrived at an entry without the model, for this reason, unless the entry is begun.
    pub(super) fn pause_unless_begun(&mut self, why: &str, cx: &mut Cx) {
        if is_ahead(&self.run, &self.pending) {
            self.pause_entry(why, cx);
        }
    }

    /// Begins the entry at which the run is, or gives the open reply.
    pub(super) fn follow_entry(&mut self, reply: OpenReply, cx: &mut Cx) -> Reply {
        let active = self.run.active().filter(|_| is_ahead(&self.run, &self.pending));
        let Some(entry) = active.and_then(|active| OpenEntry::at(&active, reply.clone())) else {
            return self.give_reply(reply, cx);
        };
        // pi writes the session's file only with a message of the conversation: without this effect, a run that begins
        // with such entries would be lost when pi ends.
        cx.push(Effect::WriteSession);
        let next = entry.begin(&self.run, &self.session, cx);
        self.follow_work(entry, next, cx)
    }

    /// Goes on with an entry after an answer.
    pub(super) fn entry_answered(
        &mut self,
        mut entry: OpenEntry,
        asked: EntryAsked,
        answer: Answer,
        cx: &mut Cx,
    ) -> Reply {
        let next = match asked {
            EntryAsked::Branches => self.branches_ended(&mut entry.reply, answer.has_children(), cx),
            asked => entry.answered(asked, answer, (&self.run, &mut self.session), cx),
        };
        self.follow_work(entry, next, cx)
    }

    fn follow_work(&mut self, mut entry: OpenEntry, next: Next, cx: &mut Cx) -> Reply {
        let next = match next {
            Next::BeginBranches => self.begin_branches(&mut entry.reply, cx),
            next => next,
        };
        match next {
            Next::Ask(request, asked) => {
                return self.pending.ask(entry.reply.waiter, request, Then::Entry(Box::new(entry), asked));
            }
            Next::Ended(state, outcome) => {
                self.run.change_unstored(|_, _| state);
                return self.end_entry(entry.reply, outcome.as_deref(), cx);
            }
            Next::NotEnded(state, why) => {
                self.run.change_unstored(|now, _| state.unwrap_or(now));
                match self.run.running().filter(|state| state.progress().paused.is_some()).cloned() {
                    // The pause has stopped the entry: it has the cause.
                    Some(paused) => self.transition(paused, cx),
                    None => self.pause_entry(&why, cx),
                }
            }
            Next::Pause(reason) => self.pause(reason, cx),
            Next::BeginBranches | Next::Left => {}
        }
        self.give_reply(entry.reply, cx)
    }

    /// Answers the question at which the run is, for the user: with an outcome, and a text behind it.
    pub(super) fn answer_by_user(&mut self, argument: &str, cx: &mut Cx) -> Reply {
        let (outcome, given) = argument.split_once(is_space).unwrap_or((argument, ""));
        let active = self.run.at_entry();
        let Some(question) = active.as_ref().and_then(Active::question) else {
            cx.fail(Level::Warning, "The run does not ask a question.");
            return Reply::None;
        };
        let given = trim(given);
        if let Some(notice) = text::bad_answer(&question, outcome, given) {
            cx.fail(Level::Warning, notice);
            return Reply::None;
        }
        let answer = question.answers.iter().find(|answer| answer.outcome == outcome);
        let Some(answer) = answer else { return Reply::None };
        let next = question_answered(answer, given, &self.run, cx);
        self.pending.withdraw_gates(cx);
        if let Next::Ended(state, outcome) = next {
            self.run.change_unstored(|_, _| state);
            return self.end_entry(OpenReply::to_user(), outcome.as_deref(), cx);
        }
        Reply::None
    }

    /// The entry at which the run is has ended with this outcome: the run moves on.
    fn end_entry(&mut self, reply: OpenReply, outcome: Option<&str>, cx: &mut Cx) -> Reply {
        let Some(before) = self.run.active() else { return self.give_reply(reply, cx) };
        let (new, arrival) = match leave(before.state, outcome, before.library) {
            Ok(moved) => moved,
            Err(error) => {
                let reason = loops_reason(&before, before.state, outcome.unwrap_or_default(), error);
                self.pause(reason, cx);
                return self.give_reply(reply, cx);
            }
        };
        let new = new.moved_from(before.state, Leaving::Done, cx.unix_ms);
        let from = before.state.current_path.clone();
        let told = match (arrival, Active::resolve(&new, before.library)) {
            (Arrival::Phase, Some(after)) => text::advanced(&before, &after, outcome),
            (Arrival::Phase | Arrival::Done, _) => text::done(&before, outcome, &new),
        };
        self.transition(new, cx);
        if arrival == Arrival::Phase {
            self.pause_without_output(&from, cx);
        }
        self.follow_entry(reply.with(told), cx)
    }

    /// Pauses the run at an entry that has not ended, for this reason.
    fn pause_entry(&mut self, why: &str, cx: &mut Cx) {
        let question = self.run.active().and_then(|active| {
            let question = active.phase.question()?;
            Some(text::in_words(&question.text, &active))
        });
        let reason = match question {
            Some(question) => PauseReason::Question { question },
            None => PauseReason::Step { of: self.run.phase_name(), why: why.to_owned() },
        };
        self.pause(reason, cx);
    }

    /// Gives the reply to the call or the command that has brought the run to entries without the model.
    fn give_reply(&mut self, mut reply: OpenReply, cx: &mut Cx) -> Reply {
        let active = self.run.active();
        let held = self.run.held().map(text::held);
        let paused = held.or_else(|| active.as_ref().and_then(text::paused));
        let is_at_phase = self.run.at_phase().is_some();
        let to = match self.run.running() {
            Some(_) => self.run.shown().map_or_else(String::new, |of| of.phase.name.clone()),
            None => "DONE".to_owned(),
        };
        reply.told.extend(paused.clone().filter(|paused| reply.told.last() != Some(paused)));
        let told = reply.told.iter().map(|text| text.trim_end()).collect::<Vec<_>>().join("\n\n");
        let Waiter::Call { nested } = reply.waiter else {
            self.give_reply_to_user(&reply, told, paused.is_some(), cx);
            return Reply::None;
        };
        let prompt = match paused {
            None if is_at_phase => self.briefing.give_prompt_in_result(nested, &self.run),
            None | Some(_) => String::new(),
        };
        let text = if prompt.is_empty() { told } else { format!("{told}\n\n{prompt}") };
        if let Some(fields) = reply.details.as_object_mut() {
            fields.insert("to".into(), to.into());
        }
        result(text, reply.details)
    }

    fn give_reply_to_user(&mut self, reply: &OpenReply, told: String, paused: bool, cx: &mut Cx) {
        let works = self.agent.activity.is_working();
        if paused {
            self.briefing.note_all(&reply.prompts);
        } else if self.run.active().is_none() {
            if works {
                stop_behind_end(cx);
            } else {
                self.announce_end(cx);
            }
        } else if works {
            self.briefing.moved(Mover::User);
            let prompt = self.briefing.give_prompt(&self.run);
            cx.push(Effect::Steer(format!("{told}\n\n{prompt}")));
        } else {
            let prompts = reply.prompts.join("\n\n");
            let prompt = if prompts.is_empty() { told } else { prompts };
            self.briefing.tell_or_prompt(prompt, &self.agent, cx);
        }
    }
}
