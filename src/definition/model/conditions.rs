//! Conditions of an entry: the run passes over it unless all of them hold.

use std::fmt;

/// A condition: a value of the run is one of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The value of the run.
    pub of: Source,
    /// The values with which it holds; at least one.
    pub values: Vec<String>,
}

/// A value of a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The input of this name.
    Input(String),
    /// The outcome of the phase of this id, or of the nested workflow of this key.
    Outcome(String),
}

impl Source {
    pub(crate) fn of(key: &str) -> Option<Self> {
        match key.split_once('.')? {
            ("input", name) => Some(Self::Input(name.to_owned())),
            ("outcome", id) => Some(Self::Outcome(id.to_owned())),
            _ => None,
        }
    }
}

/// The key of a condition: `input.NAME` or `outcome.ID`.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(name) => write!(f, "input.{name}"),
            Self::Outcome(id) => write!(f, "outcome.{id}"),
        }
    }
}
