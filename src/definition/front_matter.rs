//! A phase file's two parts.

use std::borrow::Cow;

use super::{Place, is_space, trim};

/// A Markdown file, cut where pi cuts it.
#[derive(Debug, PartialEq)]
pub(super) struct Document {
    /// The YAML between the two `---` lines; empty if there is none.
    pub front_matter: String,
    /// How many lines stand before the first line of the YAML.
    pub lines_before: usize,
    /// The Markdown below it, without white space at its ends.
    pub body: String,
    /// Where the body begins in the file.
    pub body_place: Place,
}

/// Cuts a file as pi's own front matter parser does, so that a phase file means the same to both:
/// line ends become `\n`, the YAML reaches from the fourth character to the next line that begins
/// with `---`, and without front matter all is body.
pub(super) fn split(content: &str) -> Document {
    let content = content.strip_prefix('\u{feff}').unwrap_or(content);
    let content = if content.contains('\r') {
        Cow::Owned(content.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(content)
    };
    let parts = content.strip_prefix("---").and_then(|rest| {
        // Line by line, which is faster than to look for the four characters everywhere.
        let (end, _) = rest
            .match_indices('\n')
            .find(|&(at, _)| rest.get(at + 1..).is_some_and(|line| line.starts_with("---")))?;
        let mut yaml = rest.get(..end)?.chars();
        let opening = yaml.next();
        Some((opening == Some('\n'), yaml.as_str(), rest.get(end + 4..)?))
    });
    let (newline, yaml, body) = parts.unwrap_or((false, "", &content));
    let space = body.len() - body.trim_start_matches(is_space).len();
    let before = content.get(..content.len() - body.len() + space).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    Document {
        front_matter: yaml.to_owned(),
        lines_before: usize::from(newline),
        body: trim(body).to_owned(),
        body_place: Place { line: before.matches('\n').count() + 1, column },
    }
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
            ("---é\nid: a\n---\nDo", "\nid: a", "Do"),
        ] {
            let document = split(content);
            assert_eq!(
                (&*document.front_matter, &*document.body),
                (front_matter, body),
                "{content:?}"
            );
        }
        let place = |content| split(content).body_place;
        assert_eq!(place("---\r\nid: a\r\n---\r\n\r\n  Do"), Place { line: 5, column: 3 });
        assert_eq!(place("--- x"), Place { line: 1, column: 1 });
    }
}
