//! The work of a phase: the agent's work, or something that the run does without the model.

use super::bound_values::BoundValue;
use super::gate::Command;
use super::parallel::Parallel;
use super::values::Condition;

#[derive(Debug, Clone, PartialEq, Hash, Default)]
pub enum Work {
    /// The agent follows the instructions of the phase.
    #[default]
    Agent,
    /// The engine runs a command.
    Run(Step),
    Ask(Question),
    /// Child agents work on the branches of a parallel group.
    Branches,
}

/// A question to the user that is an entry of its own.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Question {
    /// A template; not blank.
    pub text: String,
    /// The answers, one for each outcome, in their order.
    pub answers: Vec<Answer>,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Answer {
    pub outcome: String,
    /// Its words for the user; not blank, on one line.
    pub name: String,
    /// The text that the user gives with it.
    pub text: AnswerText,
    /// It is offered only if all of these hold.
    pub when: Vec<Condition>,
}

/// The need for a text of the user with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AnswerText {
    None,
    Optional,
    Required,
}

impl AnswerText {
    /// The words in a file, in the order of the variants that have a word.
    pub const WORDS: [&str; 2] = ["required", "optional"];
}

impl Question {
    /// The symbol of questions in the status line.
    pub const EMOJI: &str = "❓";
}

impl Work {
    /// Returns the symbol in the status line; empty for the work of the agent, whose phases have their own symbols.
    pub fn emoji(&self) -> &'static str {
        match self {
            Self::Agent => "",
            Self::Run(_) => Step::EMOJI,
            Self::Ask(_) => Question::EMOJI,
            Self::Branches => Parallel::EMOJI,
        }
    }
}

/// A command that is an entry of its own.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Step {
    pub command: Command,
    /// Its time limit, in milliseconds; see [`BoundValue::milliseconds`].
    pub timeout: BoundValue<u32>,
}

impl Step {
    /// The outcome of a command that ends with exit status 0.
    pub const OK: &str = "ok";
    /// The outcome of a command that fails.
    pub const FAILED: &str = "failed";
    /// The symbol of steps in the status line.
    pub const EMOJI: &str = "⚙️";
}
