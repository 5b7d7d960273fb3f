//! Severity, message and help of a problem.

use super::meant::Mapping;
use super::value::{STRING, ValueKind};
use crate::definition::model::list;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The workflow loads.
    Warning,
    /// A test of a phase fails: the workflow loads, and `check` reports an error.
    Failure,
    /// The workflow is left out.
    Error,
}

/// The texts of a problem, and the extent of its mark.
pub(crate) struct Description {
    pub severity: Severity,
    pub message: String,
    pub help: Option<String>,
    /// Number of characters at the place that the mark covers; `None` for the whole value there.
    pub marked: Option<usize>,
}

pub(crate) fn error(message: impl Into<String>) -> Description {
    let severity = Severity::Error;
    Description { severity, message: message.into(), help: None, marked: None }
}

pub(crate) fn failure(message: impl Into<String>) -> Description {
    Description { severity: Severity::Failure, ..error(message) }
}

pub(crate) fn warning(message: impl Into<String>) -> Description {
    Description { severity: Severity::Warning, ..error(message) }
}

impl Description {
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    pub fn suggest(self, word: Option<impl AsRef<str>>) -> Self {
        match word {
            Some(word) => self.help(format!("did you mean `{}`?", word.as_ref())),
            None => self,
        }
    }

    /// Suggests quotes if the found value would be a string in them.
    pub fn quotes(self, expected: &str, found: ValueKind) -> Self {
        match found {
            _ if expected != STRING && !expected.starts_with("the name of a model") => self,
            ValueKind::Boolean | ValueKind::Number => self.help("put the value in quotes"),
            // An unquoted `{description}`.
            ValueKind::Mapping => self.help("put a text that begins with `{`, or contains `: `, in quotes"),
            ValueKind::Null | ValueKind::String | ValueKind::List => self,
        }
    }

    /// Marks a word at the place.
    pub fn marking(self, word: &str) -> Self {
        Self { marked: Some(word.chars().count()), ..self }
    }
}

pub(crate) const LINK_OUTSIDE: &str = "put the folder itself there, or a link that stays in the project";

pub(crate) fn suggestion(word: &str, known: &[&str], of: Mapping) -> String {
    match word.trim().contains(' ') {
        true => "put a text that contains `, ` or `: ` in quotes".into(),
        false => available(known, "fields", of.page()),
    }
}

/// Maximum number of words that a help lists.
const MAX_LISTED: usize = 7;

/// Lists what is known; of more than a few, names the page of the documentation that lists them.
pub(crate) fn available(known: &[&str], what: &str, page: &str) -> String {
    if known.len() > MAX_LISTED {
        return format!("remove it; {page} of pi-workflows lists the {what}");
    }
    format!("available {what}: {}", list(known))
}
