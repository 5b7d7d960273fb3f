//! Diagnostics of workflow files: severity, place, message and help.

use crate::sorted::{Map, Set};
use std::fmt;

use super::description::Severity;
use super::excerpt::{Excerpt, Place, on_one_line};
use super::problem::Problem;

#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// The file or folder, as a user would write it.
    pub file: String,
    /// Line and column in it, both from 1, where a place is known.
    pub place: Option<Place>,
    /// The line at the place.
    pub excerpt: Option<Excerpt>,
    pub problem: Problem,
}

impl Diagnostic {
    /// Creates a diagnostic of a file or folder as a whole.
    pub fn new(file: impl Into<String>, problem: impl Into<Problem>) -> Self {
        Self { file: file.into(), place: None, excerpt: None, problem: problem.into() }
    }

    /// Returns the diagnostic at a place in a text; the file has `lines_before` more lines before the text.
    pub fn at(self, text: &str, place: Option<Place>, lines_before: usize) -> Self {
        let Some(mut place) = place else { return self };
        let lines = text.lines().count();
        if place.line > lines
            && let Some(last) = text.lines().next_back()
        {
            // An error at the end of a file is shown behind its last line.
            place = Place { line: lines, column: last.chars().count() + 1 };
        }
        let mut excerpt = Excerpt::of(text, place, lines_before);
        if let Some(length) = self.problem.describe().marked {
            excerpt = excerpt.map(|excerpt| excerpt.marking(length));
        }
        let place = Place { line: place.line + lines_before, ..place };
        Self { place: Some(place), excerpt, ..self }
    }

    /// Returns the severity. Only an error leaves the workflow out.
    pub fn severity(&self) -> Severity {
        self.problem.describe().severity
    }

    /// Returns `FILE:LINE:COLUMN`, or the file alone without a place.
    pub fn location(&self) -> String {
        let file = on_one_line(&self.file);
        match self.place {
            Some(Place { line, column }) => format!("{file}:{line}:{column}"),
            None => file,
        }
    }

    /// Returns the message, on one line.
    pub fn message(&self) -> String {
        on_one_line(&self.problem.describe().message)
    }

    /// Returns a hint for the fix, on one line, where the fix does not follow from the message.
    pub fn help(&self) -> Option<String> {
        self.problem.describe().help.map(|help| on_one_line(&help))
    }
}

/// `FILE:LINE:COLUMN: message`, the form that editors and terminals make into a link.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location(), self.message())
    }
}

/// Sorts diagnostics by file, in the order of their first occurrence, and by place. Removes duplicates: a file that
/// several workflows use is read for each of them.
pub(crate) fn sort(diagnostics: &mut Vec<Diagnostic>) {
    let mut index_of: Map<String, usize> = Map::new();
    for diagnostic in diagnostics.iter() {
        let next = index_of.len();
        index_of.entry(diagnostic.file.clone()).or_insert(next);
    }
    diagnostics.sort_by_key(|diagnostic| (index_of.get(&diagnostic.file).copied(), diagnostic.place));
    // Equal diagnostics have the same place.
    let mut at = (String::new(), None);
    let mut seen = Set::new();
    diagnostics.retain(|diagnostic| {
        if at.0 != diagnostic.file || at.1 != diagnostic.place {
            at = (diagnostic.file.clone(), diagnostic.place);
            seen.clear();
        }
        seen.insert(diagnostic.to_string())
    });
}
