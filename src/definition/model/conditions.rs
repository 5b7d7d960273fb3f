//! Conditions of an entry: the run passes over it unless all of them hold.

use super::values::ValueName;

/// A condition: a value of the run is one of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The value of the run: one of [`Self::FORMS`].
    pub of: ValueName,
    /// The values with which it holds; at least one.
    pub values: Vec<String>,
}

impl Condition {
    /// The forms of the names that a condition may have.
    pub const FORMS: [&str; 3] = [ValueName::INPUT, ValueName::OUTPUT, ValueName::OUTCOME];
}
