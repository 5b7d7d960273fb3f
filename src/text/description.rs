//! One-line descriptions of workflows.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::definition::{Library, Workflow};

/// Maximum length of a description, in characters.
const MAX_LENGTH: usize = 100;

/// Returns the first line of a workflow's `description`; without one, the first paragraph of its first phase that
/// contains no `{`, as plain text on one line.
pub fn description(workflow: &Workflow, library: &Library) -> Option<String> {
    let own = workflow.description.as_deref().and_then(|text| text.trim().lines().next());
    if let Some(line) = own {
        return Some(shorten(line));
    }
    let instructions = &library.first_phase(&workflow.phases)?.instructions;
    first_paragraph(instructions).map(|text| shorten(&text))
}

fn first_paragraph(markdown: &str) -> Option<String> {
    let mut text = String::new();
    let mut inside = false;
    for event in Parser::new(markdown) {
        match event {
            Event::Start(Tag::Paragraph) => inside = true,
            Event::End(TagEnd::Paragraph) => {
                inside = false;
                if !text.trim().is_empty() && !text.contains('{') {
                    return Some(text);
                }
                text.clear();
            }
            Event::Text(words) | Event::Code(words) if inside => text.push_str(&words),
            Event::SoftBreak | Event::HardBreak if inside => text.push(' '),
            _ => {}
        }
    }
    None
}

fn shorten(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(MAX_LENGTH) {
        Some((at, _)) => format!("{}…", words.get(..at).unwrap_or_default().trim_end()),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_paragraph_becomes_one_line() {
        for (markdown, text) in [
            ("# Title\n\nRead *all* of\n`src`, [then](x) plan.\n\nMore.", Some("Read all of src, then plan.")),
            ("# Title", None),
            ("Task: {description}\n\nFind out.", Some("Find out.")),
            ("- a list\n\nand text", Some("and text")),
            ("<!-- note -->\n\nText", Some("Text")),
        ] {
            assert_eq!(first_paragraph(markdown).map(|t| shorten(&t)).as_deref(), text, "{markdown}");
        }
        assert_eq!(shorten(&"x".repeat(101)), format!("{}…", "x".repeat(100)));
    }
}
