//! Outcomes: the ways in which a phase or a nested workflow can be left.

/// A way in which an entry can be left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// Its target.
    pub target: Target,
    /// The entry of the workflow gives the target, not the file of the phase.
    pub of_entry: bool,
}

impl Outcome {
    /// Returns the outcome of a phase's file.
    pub fn new(name: impl Into<String>, target: Target) -> Self {
        Self { name: name.into(), target, of_entry: false }
    }
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
    /// The end of the whole run, as stopped.
    Stop,
    /// The entry of this id in the same workflow.
    Entry(String),
}

impl Target {
    /// The targets that have a word of their own.
    pub const WORDS: [&str; 4] = ["next", "loop", "done", "stop"];

    pub(crate) fn of(word: &str) -> Self {
        match word {
            "next" => Self::Next,
            "loop" => Self::Loop,
            "done" => Self::Done,
            "stop" => Self::Stop,
            id => Self::Entry(id.to_owned()),
        }
    }

    /// The word or id by which a file names it.
    pub fn word(&self) -> &str {
        match self {
            Self::Next => "next",
            Self::Loop => "loop",
            Self::Done => "done",
            Self::Stop => "stop",
            Self::Entry(id) => id,
        }
    }
}
