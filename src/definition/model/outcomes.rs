//! Outcomes of a phase: the ways in which it can be left.

/// A way in which a phase can be left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// Its target.
    pub target: Target,
}

/// The target of an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The next entry of the workflow.
    Next,
    /// The first entry of the workflow.
    Loop,
    /// The end of the workflow.
    Done,
    /// The phase of this id in the same workflow.
    Phase(String),
}

impl Target {
    /// The targets that have a word of their own.
    pub const WORDS: [&str; 3] = ["next", "loop", "done"];

    pub(crate) fn of(word: &str) -> Self {
        match word {
            "next" => Self::Next,
            "loop" => Self::Loop,
            "done" => Self::Done,
            id => Self::Phase(id.to_owned()),
        }
    }

    /// The word or id by which a phase file names it.
    pub fn word(&self) -> &str {
        match self {
            Self::Next => "next",
            Self::Loop => "loop",
            Self::Done => "done",
            Self::Phase(id) => id,
        }
    }
}
