//! The answers to requests: an answer goes on with what its request belongs to, if that still stands.

use serde_json::json;

use crate::run::PauseReason;
use crate::text;

use super::ask::{Then, UsersWord, Waiting};
use super::context::Cx;
use super::effect::Reply;
use super::event::Answer;
use super::new_workflow;
use super::state::{Agent, Engine, Place, Run, Waiter};
use super::step_tool::{RUN_ENDED, result};

/// Results of a call whose gate, or entry without the model, the user has stopped.
const GATE_STOPPED: &str = "The user stopped the checks of the gate.";
const ENTRY_STOPPED: &str = "The user stopped the work at this entry of the workflow.";

/// The run, as the answer for a place finds it.
enum Found {
    /// At the place, and its rules hold.
    There,
    /// At the place, but its rules do not hold.
    Held(PauseReason),
    /// The user did something else, or the run has left the place.
    Left,
}

impl Engine {
    /// Goes on with the answer to a request; an unknown ticket has no effect.
    pub(super) fn answered(&mut self, ticket: u64, answer: Answer, cx: &mut Cx) -> Reply {
        let Some(Waiting { waiter, is_withdrawn, then, .. }) = self.pending.remove(ticket) else { return Reply::None };
        let found = |place: &Place| match self.run.running().filter(|state| !is_withdrawn && place.has(state)) {
            Some(_) => self.run.held().map_or(Found::There, |reason| Found::Held(reason.clone())),
            None => Found::Left,
        };
        let reply = match then {
            Then::Gate(mut gate, asked) => match found(&gate.place) {
                Found::There => self.gate_answered(*gate, asked, answer, cx),
                Found::Held(reason) => {
                    gate.keep(&asked, answer);
                    self.gate_held(&gate, &reason, cx)
                }
                Found::Left => overtaken(&gate.place, GATE_STOPPED, waiter, &self.run, &mut self.agent),
            },
            Then::Entry(entry, asked) => match found(&entry.place) {
                Found::There => self.entry_answered(*entry, asked, answer, cx),
                Found::Held(_) | Found::Left => {
                    self.briefing.note_all(&entry.reply.prompts);
                    overtaken(&entry.place, ENTRY_STOPPED, waiter, &self.run, &mut self.agent)
                }
            },
            Then::Start(asked) => self.start_answered(asked, answer, cx),
            Then::Proposal(asked) => {
                let next = self.proposals.answered(asked, answer, &mut self.run, &mut self.session, cx);
                self.proposals.reply(next, &mut self.pending, &mut self.agent)
            }
            Then::New(new) => {
                let reply = new_workflow::answered(new, answer, &mut self.run, &mut self.pending, cx);
                self.agent.wait_after_dialog(!self.pending.is_empty(), &self.run, cx);
                reply
            }
            Then::Cancel { task_id } => self.cancel_answered(&task_id, answer.yes(), cx),
            Then::AcceptRules { reason, rules, more } => {
                self.rules_answered((&reason, &rules), &more, UsersWord::of_yes(&answer), cx)
            }
            Then::TakeOver { more } => self.take_over_answered(&more, UsersWord::of_yes(&answer), cx),
            Then::GiveMore { task_id, reason, was_at_rest } => {
                self.give_more(&task_id, &reason, was_at_rest, UsersWord::of_text(answer), cx)
            }
            Then::ConfirmMore { task_id, reason, was_at_rest, more } => {
                let word = UsersWord::of_yes(&answer);
                self.more_confirmed(&task_id, &reason, was_at_rest, (word, &more), cx)
            }
        };
        self.follow_entries(reply, waiter, cx)
    }
}

/// The reply where an answer has no effect any more; `stopped` if the run is still at the place.
fn overtaken(place: &Place, stopped: &str, waiter: Waiter, run: &Run, agent: &mut Agent) -> Reply {
    // The user's command gets no answer about a place that the run has left.
    if waiter == Waiter::User {
        return Reply::None;
    }
    let text = match (run.held(), run.active()) {
        (Some(reason), _) => text::held(reason),
        (None, Some(active)) => text::paused(&active).unwrap_or_else(|| match place.has(active.state) {
            true => stopped.to_owned(),
            false => text::outdated(&active),
        }),
        (None, None) => RUN_ENDED.to_owned(),
    };
    if run.held().is_some() || run.pause_reason().is_some() {
        agent.end_run();
    }
    result(text, json!({ "active": true, "gate": "overtaken" }))
}
