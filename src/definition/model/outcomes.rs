//! Outcomes: the ways in which a phase or a nested workflow can be left.

use super::bound_values::BoundValue;

/// A way in which an entry can be left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    pub target: Target,
    /// The entry of the workflow gives the target, not the file of the phase.
    pub of_entry: bool,
    /// The bound of the number of times that the outcome leads to its target, if any.
    pub bound: Option<WayBound>,
}

/// A bound of the number of times that an outcome leads to its target, since the run came to the scope.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WayBound {
    /// From 1 to [`WayBound::LIMIT`].
    pub max: BoundValue<u32>,
    /// The target once the bound is reached; without a target the run pauses.
    pub then: Option<Target>,
}

impl WayBound {
    /// Maximum of a bound.
    pub const LIMIT: u32 = 1_000_000;
}

impl Outcome {
    /// Returns the outcome of a phase's file.
    pub fn new(name: impl Into<String>, target: Target) -> Self {
        Self { name: name.into(), target, of_entry: false, bound: None }
    }

    /// Returns the target, and then the target once the bound is reached.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        let then = self.bound.as_ref().and_then(|bound| bound.then.as_ref());
        std::iter::once(&self.target).chain(then)
    }

    /// Returns the outcome with the amount of its bound; `value_of` returns the value of an input.
    pub fn resolved(&self, value_of: impl Fn(&str) -> f64) -> Self {
        let amount = |bound: &WayBound| WayBound { max: bound.max.resolve(value_of).into(), then: bound.then.clone() };
        Self { bound: self.bound.as_ref().map(amount), ..self.clone() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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
    /// The end of a repeated group, of which the entry is an entry: no further item follows.
    End,
}

impl Target {
    /// The targets that have a word of their own.
    pub const WORDS: [&str; 5] = ["next", "loop", "done", "stop", "end"];

    pub(crate) fn of(word: &str) -> Self {
        match word {
            "next" => Self::Next,
            "loop" => Self::Loop,
            "done" => Self::Done,
            "stop" => Self::Stop,
            "end" => Self::End,
            id => Self::Entry(id.to_owned()),
        }
    }

    /// Returns the word or id by which a file names the target.
    pub fn word(&self) -> &str {
        match self {
            Self::Next => "next",
            Self::Loop => "loop",
            Self::Done => "done",
            Self::Stop => "stop",
            Self::End => "end",
            Self::Entry(id) => id,
        }
    }
}
