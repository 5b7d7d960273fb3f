//! Outputs of a phase: values that the agent gives when it leaves the phase.

use super::value_type::ValueType;

/// A value that the agent gives when it leaves a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    pub kind: ValueType,
    /// The phase can be left without it.
    pub is_optional: bool,
    /// Its meaning, for the agent.
    pub description: Option<String>,
}
