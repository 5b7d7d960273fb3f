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
            Self::String => "a string",
            Self::List => "a list",
            Self::Mapping => "a mapping",
        })
    }
}

/// The value that a field must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    String,
    /// A value that these words describe, with an article.
    Other(&'static str),
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String => ValueKind::String.fmt(f),
            Self::Other(words) => f.write_str(words),
        }
    }
}

impl From<&'static str> for Expected {
    fn from(words: &'static str) -> Self {
        Self::Other(words)
    }
}

/// The required fields of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Needs {
    /// The thing that the file defines, with an article.
    pub what: &'static str,
    pub fields: &'static [&'static str],
}
