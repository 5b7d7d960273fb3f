//! What the model is told about its phase, and when: the whole context prompt once, then reminders.
//!
//! The engine keeps the text of the last context prompt that it gave. The model has it in view until the
//! conversation is compacted or another branch or session is taken up; and a prompt that would read
//! otherwise, because another phase began or a file changed, is given again.

use crate::definition::ContextInjection;
use crate::text;

use super::{CONTEXT_MESSAGE_TYPE, Effect, Engine, Mover, Output, REMINDER_MESSAGE_TYPE, Reply};

impl Engine {
    /// Goes before a run of the agent: the context prompt, or a reminder where the model has it in view.
    ///
    /// Specification: hook lifecycle, "handleBeforeAgentStart".
    pub(super) fn briefing(&mut self) -> Output {
        let Some(active) = self.active() else { return Output::default() };
        let every_run = active.root.context_injection == ContextInjection::EveryRun;
        let prompt = text::context_prompt(&active, self.role);
        let (custom_type, content) = if self.in_view.as_ref() == Some(&prompt) && !every_run {
            (REMINDER_MESSAGE_TYPE, text::context_reminder(&active))
        } else {
            (CONTEXT_MESSAGE_TYPE, prompt.clone())
        };
        self.in_view = Some(prompt);
        let content = match self.note.take() {
            Some(note) => format!("{note}\n\n{content}"),
            None => content,
        };
        let mut effects = Vec::new();
        if self.keeps_newest != every_run {
            self.keeps_newest = every_run;
            effects.push(Effect::KeepNewestContext(every_run));
        }
        Output { effects, reply: Reply::Inject { custom_type, content } }
    }

    /// The context prompt of the current phase; whoever asks gives it to the model.
    pub(super) fn prompt(&mut self) -> String {
        let prompt = self.active().map(|active| text::context_prompt(&active, self.role));
        self.in_view.clone_from(&prompt);
        prompt.unwrap_or_default()
    }

    /// The context prompt of the current phase for a result of `workflow_step`. The model does not see the result
    /// of a nested call; it is given the prompt after the call that made it.
    pub(super) fn prompt_in_result(&mut self, nested: bool) -> String {
        if !nested {
            return self.prompt();
        }
        self.in_view = None;
        self.untold_move = Some(Mover::NestedCall);
        text::PROMPT_FOLLOWS.to_owned()
    }

    /// The context prompt for an agent at work that does not have any in view.
    pub(super) fn brief_unseen(&mut self) -> Option<Effect> {
        (self.agent.running && self.in_view.is_none())
            .then(|| self.missing_prompt().map(Effect::Brief))
            .flatten()
    }

    /// What an agent is told that stopped too early. A context prompt goes with the run that follows.
    pub(super) fn not_done(&self) -> Option<String> {
        let active = self.active()?;
        let every_run = active.root.context_injection == ContextInjection::EveryRun;
        Some(text::not_done_reminder(&active, !every_run))
    }

    /// The same, where the run at hand goes on and no context prompt comes with it.
    pub(super) fn not_done_in_run(&mut self) -> Option<String> {
        let reminder = self.not_done()?;
        Some(match self.missing_prompt() {
            Some(prompt) => format!("{reminder}\n\n{prompt}"),
            None => reminder,
        })
    }

    /// The conversation was compacted. An agent that is at work is told its phase again.
    pub(super) fn compacted(&mut self) -> Output {
        self.in_view = None;
        self.brief_unseen().map_or_else(Output::default, Output::effect)
    }

    /// The context prompt, if the model does not have it in view.
    fn missing_prompt(&mut self) -> Option<String> {
        let prompt = text::context_prompt(&self.active()?, self.role);
        (self.in_view.as_ref() != Some(&prompt)).then(|| self.in_view.insert(prompt).clone())
    }
}
