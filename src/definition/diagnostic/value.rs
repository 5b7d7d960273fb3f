//! Values of YAML, as messages name them.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    Null,
    Boolean,
    Number,
    String,
    List,
    Mapping,
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "an empty value",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => STRING,
            Self::List => "a list",
            Self::Mapping => "a mapping",
        })
    }
}

/// The expected value of a field that is a string, as [`ValueKind`] shows it.
pub(crate) const STRING: &str = "a string";
