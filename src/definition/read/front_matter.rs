//! Splits a phase file into front matter and body.

use std::ops::Range;

use crate::definition::diagnostic::Place;
use crate::definition::model::is_space;

/// A Markdown file, split as pi splits it.
#[derive(Debug, PartialEq)]
pub(crate) struct Document {
    /// With `\n` at the ends of lines.
    text: String,
    front_matter: Range<usize>,
    body: Range<usize>,
    /// Number of lines before the first line of the YAML.
    pub lines_before: usize,
}

impl Document {
    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the YAML between the two `---` lines; empty without front matter.
    pub fn front_matter(&self) -> &str {
        self.text.get(self.front_matter.clone()).unwrap_or_default()
    }

    /// Returns true if the front matter is opened by `---` and never closed.
    pub fn is_unclosed(&self) -> bool {
        let opens = self.text.lines().next().is_some_and(|line| line.trim_end() == "---");
        opens && self.front_matter.end == 0
    }

    /// Returns the text from the end of the fence that closes the front matter, and its line; `None` without front
    /// matter.
    pub fn below_front_matter(&self) -> Option<(usize, &str)> {
        let end = Some(self.front_matter.end).filter(|end| *end > 0)? + "\n---".len();
        Some((self.text.get(..end)?.matches('\n').count() + 1, self.text.get(end..)?))
    }

    /// Returns the Markdown below the front matter, without white space at its ends.
    pub fn body(&self) -> &str {
        self.text.get(self.body.clone()).unwrap_or_default()
    }

    /// Returns the body, without a copy.
    pub fn into_body(mut self) -> String {
        self.text.truncate(self.body.end);
        self.text.drain(..self.body.start);
        self.text
    }

    /// Returns the place in the file at which the body begins.
    pub fn body_place(&self) -> Place {
        let before = self.text.get(..self.body.start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        Place { line: before.matches('\n').count() + 1, column }
    }
}

/// Splits a file as pi's own front matter parser does, so that both read the same: line ends become `\n`, the YAML
/// reaches from the fourth character to the next line that begins with `---`, and a file without front matter is all
/// body.
pub(crate) fn split(mut text: String) -> Document {
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    if text.contains('\r') {
        text = text.replace("\r\n", "\n").replace('\r', "\n");
    }
    let parts = text.strip_prefix("---").and_then(|rest| {
        // A search line by line is faster than a search for the four characters.
        let (end, _) =
            rest.match_indices('\n').find(|&(at, _)| rest.get(at + 1..).is_some_and(|line| line.starts_with("---")))?;
        let mut yaml = rest.get(..end)?.chars();
        let opening = yaml.next();
        let end = end + "---".len();
        let front_matter = end - yaml.as_str().len()..end;
        Some((opening == Some('\n'), front_matter, end + "\n---".len()))
    });
    let (newline, front_matter, below) = parts.unwrap_or((false, 0..0, 0));
    let body = text.get(below..).unwrap_or_default().trim_start_matches(is_space);
    let body_start = text.len() - body.len();
    let body_end = body_start + body.trim_end_matches(is_space).len();
    Document { front_matter, body: body_start..body_end, lines_before: usize::from(newline), text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_cut_at_its_marks() {
        for (content, front_matter, body) in [
            ("---\nid: a\n---\n\n# Do\n", "id: a", "# Do"),
            ("\u{feff}---\r\nid: a\r\nname: b\r\n---\r\nDo\r\n", "id: a\nname: b", "Do"),
            ("---\n---\nDo", "", "Do"),
            ("---\nid: a\n---", "id: a", ""),
            ("---\nid: a\nDo", "", "---\nid: a\nDo"),
            ("Do --- this\n---\n", "", "Do --- this\n---"),
            ("", "", ""),
            ("---", "", "---"),
            ("----\nid: a\n", "", "----\nid: a"),
            ("---é\nid: a\n---\nDo", "\nid: a", "Do"),
        ] {
            let document = split(content.into());
            assert_eq!((document.front_matter(), document.body()), (front_matter, body), "{content:?}");
            let unclosed = ["---\nid: a\nDo", "---"].contains(&content);
            assert_eq!(document.is_unclosed(), unclosed, "{content:?}");
            assert_eq!(document.into_body(), body, "{content:?}");
        }
        let place = |content: &str| split(content.into()).body_place();
        assert_eq!(place("---\r\nid: a\r\n---\r\n\r\n  Do"), Place { line: 5, column: 3 });
        assert_eq!(place("--- x"), Place { line: 1, column: 1 });
    }
}
