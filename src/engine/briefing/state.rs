//! The part of the run that the model has in view, and the part that it is still to be told.

use crate::run::{Active, Arrival};
use crate::text::{self, DefaultRole};

/// The model's knowledge of the run. The model has a context prompt in view until the conversation is compacted, or
/// another branch or session begins; if the prompt would differ now, because another phase began or a file
/// changed, the prompt is given again.
#[derive(Debug, Default)]
pub struct Briefing {
    /// The agent's role where the workflow does not say it.
    role: DefaultRole,
    /// The context prompt in view.
    in_view: Option<String>,
    /// The note that comes with the next context prompt.
    note: Option<String>,
    /// The origin of a move that the model does not know of in this turn.
    untold_move: Option<Mover>,
}

/// Origin of a move that the model does not know of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mover {
    /// The user, by a command.
    User,
    /// The phase, which had used up its budget.
    Budget,
    /// A nested call of `workflow_step`, whose result goes to the calling tool.
    NestedCall,
}

/// A move of the run by the user, or at the end of a budget.
pub struct Moved {
    /// The sentence for the agent.
    pub told: String,
    /// The phases between which the run moved.
    pub from_to: String,
    pub arrival: Arrival,
    /// The running tool calls and the agent were stopped.
    pub stopped: bool,
}

impl Briefing {
    /// A session begins whose model has this context prompt in view.
    pub fn begin_session(&mut self, in_view: Option<String>) {
        (self.in_view, self.note) = (in_view, None);
    }

    /// The session ends.
    pub fn shut_down(&mut self) {
        *self = Self::default();
    }

    pub fn set_role(&mut self, role: DefaultRole) {
        self.role = role;
    }

    /// The model gets its next request, or is at rest: the model has been told of all moves.
    pub fn begin_turn(&mut self) {
        self.untold_move = None;
    }

    /// The run was moved, and the agent goes on with its turn.
    pub fn moved(&mut self, mover: Mover) {
        self.untold_move = Some(mover);
    }

    pub fn untold_move(&self) -> Option<Mover> {
        self.untold_move
    }

    /// Tells the model something with the next context prompt.
    pub fn note(&mut self, note: String) {
        self.note = Some(note);
    }

    /// The model does not get these prompts now: the last one comes with the next context prompt.
    pub fn note_all(&mut self, prompts: &[String]) {
        prompts.iter().for_each(|prompt| self.note(prompt.clone()));
    }

    /// Takes the note for the model; the note counts as told.
    pub fn take_note(&mut self) -> Option<String> {
        self.note.take()
    }

    /// The context prompt of a phase.
    pub fn prompt(&self, active: &Active) -> String {
        text::context_prompt(active, self.role)
    }

    pub fn has_in_view(&self, prompt: &str) -> bool {
        self.in_view.as_deref() == Some(prompt)
    }

    pub fn has_none_in_view(&self) -> bool {
        self.in_view.is_none()
    }

    /// The model gets this context prompt, and has it in view from now on.
    pub fn give(&mut self, prompt: String) -> String {
        self.in_view.insert(prompt).clone()
    }

    /// Like [`Self::give`], but returns `None` if the model has this prompt in view.
    pub fn give_if_missing(&mut self, prompt: String) -> Option<String> {
        (!self.has_in_view(&prompt)).then(|| self.give(prompt))
    }

    /// The model has no context prompt in view.
    pub fn lose(&mut self) {
        self.in_view = None;
    }

    /// Returns a message for the model with the note in front; the note counts as told.
    pub fn with_note(&mut self, message: String) -> String {
        match self.note.take() {
            Some(note) => format!("{note}\n\n{message}"),
            None => message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_given_until_the_model_has_it_in_view() {
        let mut briefing = Briefing::default();
        assert_eq!(briefing.give_if_missing("a".into()).as_deref(), Some("a"));
        assert_eq!(briefing.give_if_missing("a".into()), None);
        assert_eq!(briefing.give_if_missing("b".into()).as_deref(), Some("b"), "it differs");
        briefing.lose();
        assert!(briefing.has_none_in_view());
        assert_eq!(briefing.give_if_missing("b".into()).as_deref(), Some("b"));
        briefing.begin_session(Some("c".into()));
        assert_eq!(briefing.give_if_missing("c".into()), None);
    }

    #[test]
    fn a_note_is_told_once() {
        let mut briefing = Briefing::default();
        briefing.note("The user went back.".into());
        assert_eq!(briefing.with_note("x".into()), "The user went back.\n\nx");
        assert_eq!(briefing.with_note("x".into()), "x");
        briefing.note("The user went back.".into());
        briefing.begin_session(None);
        assert_eq!(briefing.with_note("x".into()), "x", "of the session that was left");
    }
}
