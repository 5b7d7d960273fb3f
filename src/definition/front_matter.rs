//! A phase file's two parts.

use super::trim;

/// A Markdown file, cut where pi cuts it.
#[derive(Debug, PartialEq)]
pub(super) struct Document {
    /// The YAML between the two `---` lines; empty if there is none.
    pub front_matter: String,
    /// How many lines stand before the first line of the YAML.
    pub lines_before: usize,
    /// The Markdown below it, without white space at its ends.
    pub body: String,
}

/// Cuts a file as pi's own front matter parser does, so that a phase file means the same to both:
/// line ends become `\n`, the YAML reaches from the fourth character to the next line that begins
/// with `---`, and without front matter all is body.
pub(super) fn split(content: &str) -> Document {
    let content = content.strip_prefix('\u{feff}').unwrap_or(content);
    let content = content.replace("\r\n", "\n").replace('\r', "\n");
    let parts = content.strip_prefix("---").and_then(|rest| {
        let end = rest.find("\n---")?;
        let mut yaml = rest.get(..end)?.chars();
        let opening = yaml.next();
        Some((opening == Some('\n'), yaml.as_str(), rest.get(end + 4..)?))
    });
    match parts {
        Some((newline, yaml, body)) => Document {
            front_matter: yaml.to_owned(),
            lines_before: usize::from(newline),
            body: trim(body).to_owned(),
        },
        None => Document {
            front_matter: String::new(),
            lines_before: 0,
            body: trim(&content).to_owned(),
        },
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
    }
}
