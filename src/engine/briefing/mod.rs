//! The context prompt: the model gets it whole once, then reminders.

pub(super) mod state;

use crate::definition::ContextInjection;
use crate::protocol::{CONTEXT_MESSAGE_TYPE, REMINDER_MESSAGE_TYPE};
use crate::text;

use super::briefing::state::Mover;
use super::context::Cx;
use super::effect::{Effect, Reply};
use super::event::Stop;
use super::state::Engine;

impl Engine {
    /// Returns the context prompt for a run of the agent, or a reminder where the model has the prompt in view.
    ///
    /// Specification: hook lifecycle, "handleBeforeAgentStart".
    pub(super) fn briefing(&mut self, cx: &mut Cx) -> Reply {
        let Some(active) = self.active() else { return Reply::None };
        let every_run = active.root.context_injection == ContextInjection::EveryRun;
        if !active.phase.is_of_agent() {
            let content = text::entry_prompt(&active);
            self.briefing.lose();
            return Reply::Inject { custom_type: CONTEXT_MESSAGE_TYPE, content };
        }
        let prompt = self.briefing.prompt(&active);
        let has_it = self.briefing.has_in_view(&prompt) && !self.is_to_start_fresh();
        let (custom_type, content) = if has_it && !every_run {
            (REMINDER_MESSAGE_TYPE, text::context_reminder(&active))
        } else {
            self.compare_window(&prompt, cx);
            (CONTEXT_MESSAGE_TYPE, prompt.clone())
        };
        self.briefing.give(prompt);
        let content = self.briefing.with_note(content);
        if self.briefing.changes_keeping(every_run) {
            cx.push(Effect::KeepNewestContext(every_run));
        }
        Reply::Inject { custom_type, content }
    }

    /// Returns the context prompt of the current phase. The caller gives the prompt to the model, and the prompt counts
    /// as in view from then on. A phase that is to start fresh gets the prompt with the fresh start.
    pub(super) fn give_prompt(&mut self) -> String {
        if self.at_entry().is_some() {
            self.briefing.lose();
            return String::new();
        }
        if self.is_to_start_fresh() {
            return text::STARTS_FRESH.to_owned();
        }
        match self.active().map(|active| self.briefing.prompt(&active)) {
            Some(prompt) => self.briefing.give(prompt),
            None => {
                self.briefing.lose();
                String::new()
            }
        }
    }

    /// Returns the context prompt of the current phase for a result of `workflow_step`. The model does not see the
    /// result of a nested call; the model gets the prompt after the outer call.
    pub(super) fn give_prompt_in_result(&mut self, nested: bool) -> String {
        if !nested || self.at_entry().is_some() {
            return self.give_prompt();
        }
        self.briefing.lose();
        self.briefing.moved(Mover::NestedCall);
        text::PROMPT_FOLLOWS.to_owned()
    }

    /// Gives an agent at work the context prompt if the model has none in view.
    pub(super) fn brief_unseen(&mut self, cx: &mut Cx) {
        cx.effects.extend(self.unseen_prompt().map(Effect::Brief));
    }

    /// Returns the context prompt for an agent at work that has none in view; the prompt counts as in view from then
    /// on.
    fn unseen_prompt(&mut self) -> Option<String> {
        let lacks_it = self.activity.is_working()
            && self.at_entry().is_none()
            && self.briefing.has_none_in_view()
            && !self.ending.is_begun()
            && !self.is_to_start_fresh();
        if lacks_it { self.give_missing_prompt() } else { None }
    }

    /// Returns the reminder for an agent that stopped before DONE. The context prompt comes with the agent's next run.
    /// In a conversation there is a reminder only when the user resumes the run.
    pub(super) fn not_done(&self) -> Option<String> {
        let active = self.active().filter(|active| active.phase.is_of_agent())?;
        if active.phase.interactive {
            return Some(text::conversation_resumed(active.phase));
        }
        let every_run = active.root.context_injection == ContextInjection::EveryRun;
        let reminder = text::not_done_reminder(&active, !every_run);
        Some(if self.agent.last_stop == Stop::CutOff { format!("{}\n\n{reminder}", text::CUT_OFF) } else { reminder })
    }

    /// Returns the reminder of [`Self::not_done`] for an agent that continues in the same run, with the context prompt
    /// if the model does not have it in view; the prompt counts as in view from then on.
    pub(super) fn give_not_done_in_run(&mut self) -> Option<String> {
        let reminder = self.not_done()?;
        Some(match self.give_missing_prompt() {
            Some(prompt) => format!("{reminder}\n\n{prompt}"),
            None => reminder,
        })
    }

    /// The conversation was compacted: the model has no context prompt in view. An agent at work gets the prompt with
    /// its next request.
    pub(super) fn compacted(&mut self) -> Reply {
        self.briefing.lose();
        let content = self.unseen_prompt();
        content.map_or(Reply::None, |content| Reply::Inject { custom_type: CONTEXT_MESSAGE_TYPE, content })
    }

    /// Returns the context prompt if the model does not have it in view; the prompt counts as in view from then on.
    pub(super) fn give_missing_prompt(&mut self) -> Option<String> {
        let prompt = self.briefing.prompt(&self.active()?);
        self.briefing.give_if_missing(prompt)
    }
}
