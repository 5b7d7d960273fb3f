//! The context prompt: the model gets it whole once, then reminders.

pub(super) mod state;

use crate::protocol::{CONTEXT_MESSAGE_TYPE, REMINDER_MESSAGE_TYPE};
use crate::text;

use super::context::Cx;
use super::effect::{Effect, Reply};
use super::ending::stop_behind_end;
use super::event::Stop;
use super::fresh_start::state::is_to_start_fresh;
use super::models::state::ModelKeeper;
use super::state::{Agent, Run};
use state::{Briefing, Mover};

impl Briefing {
    /// Returns the context prompt for a run of the agent, or a reminder where the model has the prompt in view.
    ///
    /// Specification: hook lifecycle, "handleBeforeAgentStart".
    pub fn at_start(&mut self, run: &Run, keeper: &mut ModelKeeper, cx: &mut Cx) -> Reply {
        if let Some(active) = run.at_entry() {
            self.lose();
            return Reply::Inject { custom_type: CONTEXT_MESSAGE_TYPE, content: text::entry_prompt(&active) };
        }
        let Some(active) = run.at_phase() else { return Reply::None };
        let prompt = self.prompt(&active);
        let has_it = self.has_in_view(&prompt) && !is_to_start_fresh(&active);
        let (custom_type, content) = if has_it {
            (REMINDER_MESSAGE_TYPE, text::context_reminder(&active))
        } else {
            keeper.compare_window(run, &prompt, cx);
            (CONTEXT_MESSAGE_TYPE, prompt.clone())
        };
        self.give(prompt);
        Reply::Inject { custom_type, content: self.with_note(content) }
    }

    /// Returns the context prompt of the current phase. The caller gives the prompt to the model, and the prompt counts
    /// as in view from then on. A phase that is to start fresh gets the prompt with the fresh start.
    pub fn give_prompt(&mut self, run: &Run) -> String {
        match run.at_phase() {
            Some(active) if is_to_start_fresh(&active) => text::STARTS_FRESH.to_owned(),
            Some(active) => self.give(self.prompt(&active)),
            None => {
                self.lose();
                String::new()
            }
        }
    }

    /// Returns the context prompt of the current phase for a result of `workflow_step`. The model does not see the
    /// result of a nested call; the model gets the prompt after the outer call.
    pub fn give_prompt_in_result(&mut self, nested: bool, run: &Run) -> String {
        if !nested || run.at_entry().is_some() {
            return self.give_prompt(run);
        }
        self.lose();
        self.moved(Mover::NestedCall);
        text::PROMPT_FOLLOWS.to_owned()
    }

    /// Returns the context prompt for an agent at work that has none in view; the prompt counts as in view from then
    /// on.
    pub fn unseen_prompt(&mut self, run: &Run, agent: &Agent) -> Option<String> {
        let active = run.at_phase()?;
        let lacks_it = agent.activity.is_working() && self.has_none_in_view() && !agent.ending.is_begun();
        if lacks_it && !is_to_start_fresh(&active) { self.give_missing_prompt(run) } else { None }
    }

    /// Returns the reminder of [`not_done`] for an agent that continues in the same run, with the context prompt if the
    /// model does not have it in view; the prompt counts as in view from then on.
    pub fn give_not_done_in_run(&mut self, run: &Run, agent: &Agent) -> Option<String> {
        let reminder = not_done(run, agent)?;
        Some(match self.give_missing_prompt(run) {
            Some(prompt) => format!("{reminder}\n\n{prompt}"),
            None => reminder,
        })
    }

    /// The conversation was compacted: the model has no context prompt in view. An agent at work gets the prompt with
    /// its next request.
    pub fn compacted(&mut self, run: &Run, agent: &Agent) -> Reply {
        self.lose();
        let content = self.unseen_prompt(run, agent);
        content.map_or(Reply::None, |content| Reply::Inject { custom_type: CONTEXT_MESSAGE_TYPE, content })
    }

    /// Returns the context prompt if the model does not have it in view; the prompt counts as in view from then on.
    pub fn give_missing_prompt(&mut self, run: &Run) -> Option<String> {
        let prompt = self.prompt(&run.active()?);
        self.give_if_missing(prompt)
    }

    /// Tells the started agent of the moves that the user made while other extensions handled `before_agent_start`.
    pub fn tell_at_start(&mut self, run: &Run, agent: &Agent, cx: &mut Cx) {
        if agent.ending.is_behind_end() {
            stop_behind_end(cx);
        } else if !agent.ending.is_begun() && run.at_phase().is_some() {
            let texts: Vec<String> = self.take_note().into_iter().chain(self.give_missing_prompt(run)).collect();
            if !texts.is_empty() {
                cx.push(Effect::TellAtStart(texts.join("\n\n")));
            }
        }
    }

    /// Tells the agent of a move: with its start, if it is about to start, else by a prompt.
    pub fn tell_or_prompt(&mut self, text: String, agent: &Agent, cx: &mut Cx) {
        if agent.is_starting { self.note(text) } else { cx.prompt(text) }
    }
}

/// Returns the reminder for an agent that stopped before DONE. The context prompt comes with the agent's next run. In a
/// conversation there is a reminder only when the user resumes the run.
pub(super) fn not_done(run: &Run, agent: &Agent) -> Option<String> {
    let active = run.at_phase()?;
    if active.phase.interactive {
        return Some(text::conversation_resumed(active.phase));
    }
    let reminder = text::not_done_reminder(&active);
    Some(if agent.last_stop == Stop::CutOff { format!("{}\n\n{reminder}", text::CUT_OFF) } else { reminder })
}
