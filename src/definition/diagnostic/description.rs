//! Severity, message and help of a problem.

use std::fmt;

use super::meant::Mapping;
use crate::definition::model::{list, tool_in_another_case};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The workflow loads.
    Warning,
    /// The workflow loads, and `check` reports an error: something could not be checked.
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
        let Some(word) = word else { return self };
        let word = word.as_ref();
        let kind = if word.starts_with("- ") { "the entry " } else { "" };
        self.help(format!("did you mean {kind}`{word}`?"))
    }

    /// Suggests quotes if the found value would be a string in them.
    pub fn quotes(self, expected: &str, found: ValueKind) -> Self {
        match found {
            _ if expected != STRING && !expected.starts_with("the name of a model") => self,
            ValueKind::Boolean | ValueKind::Number => self.help("put the value in quotes"),
            // An unquoted `{description}`.
            ValueKind::Mapping if expected == STRING => {
                self.help("put a text that begins with `{`, or contains `: `, in quotes")
            }
            ValueKind::Null | ValueKind::String | ValueKind::List | ValueKind::Mapping => self,
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

/// Returns the items that a text in the place of a list means. Names of tools stand between blanks too, and without what
/// stands in parentheses.
pub(crate) fn items_meant(text: &str, are_tools: bool) -> Vec<&str> {
    let mut depth = 0_usize;
    let is_between = |c: char| {
        match c {
            '{' | '(' => depth += 1,
            '}' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c == ',' || are_tools && c.is_whitespace())
    };
    let in_case = |tool| tool_in_another_case(tool, &[]).filter(|_| are_tools).unwrap_or(tool);
    let items = text.split(is_between);
    let items = items.map(|item| item.split('(').next().filter(|_| are_tools).unwrap_or(item).trim());
    items.filter(|item| !item.is_empty()).map(in_case).collect()
}

/// Returns a list of texts in one line of YAML, in quotes where a text needs them.
pub(crate) fn list_in_yaml(items: &[&str]) -> String {
    format!("[{}]", items.iter().map(|item| in_yaml(item)).collect::<Vec<_>>().join(", "))
}

/// Returns a text in YAML, in quotes where it needs them.
pub(crate) fn in_yaml(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || " ./_=-*".contains(c);
    let begins = text.trim_start_matches(['.', '_']).starts_with(|c: char| c.is_alphabetic() || c == '/');
    let is_word = ["true", "false", "null", ".inf", ".nan"].iter().any(|word| word.eq_ignore_ascii_case(text));
    match begins && !is_word && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "''")),
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

/// A value of YAML, as messages name it.
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
