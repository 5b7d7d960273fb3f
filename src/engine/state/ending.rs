//! The end of the agent's run, because the run of the workflow is paused.

/// The end of the agent's run: all tool calls are refused, and the model gives at most one more answer after the one at
/// hand.
#[derive(Debug, Default)]
pub struct Ending(Option<Stage>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The turn in which it began is not over.
    Begun,
    /// The last answer.
    LastAnswer,
    /// The last answer was given: a further request to the model is prevented.
    Over,
}

impl Ending {
    /// The agent's run is to end.
    pub fn begin(&mut self) {
        self.0.get_or_insert(Stage::Begun);
    }

    /// The agent's run goes on, or is another one.
    pub fn forget(&mut self) {
        self.0 = None;
    }

    pub fn is_begun(&self) -> bool {
        self.0.is_some()
    }

    /// Returns true if the model is to be sent no more requests.
    pub fn is_over(&self) -> bool {
        self.0 == Some(Stage::Over)
    }

    /// A turn is over. `queued`: the agent gets a message of the user next, which the last answer is for.
    pub fn turn_over(&mut self, queued: bool) {
        self.0 = self.0.map(|stage| match stage {
            Stage::Begun => Stage::LastAnswer,
            Stage::LastAnswer if queued => Stage::LastAnswer,
            Stage::LastAnswer | Stage::Over => Stage::Over,
        });
    }

    /// The answer failed: pi asks for it again.
    pub fn answer_failed(&mut self) {
        if self.is_over() {
            self.0 = Some(Stage::LastAnswer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_more_answer_follows_the_turn_at_hand() {
        let mut ending = Ending::default();
        ending.turn_over(false);
        assert!(!ending.is_begun(), "it begins only by a pause");
        ending.begin();
        ending.turn_over(false);
        assert!(!ending.is_over());
        ending.begin();
        ending.turn_over(true);
        assert!(!ending.is_over(), "a message of the user is answered");
        ending.turn_over(false);
        assert!(ending.is_over());
        ending.answer_failed();
        assert!(ending.is_begun() && !ending.is_over());
    }
}
