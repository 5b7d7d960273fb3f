//! One-line descriptions of workflows.

use crate::definition::{Library, Workflow};

/// Maximum length of a description, in characters.
const MAX_LENGTH: usize = 100;

/// The beginnings of lines that are no paragraph in Markdown: comments, quotes, tables, code, lists.
const BLOCKS: [&str; 8] = ["<", ">", "|", "```", "~~~", "- ", "* ", "+ "];

/// Returns the first line of a workflow's `description`; without one, the first paragraph of its first phase that
/// contains no `{`, on one line.
pub fn description(workflow: &Workflow, library: &Library) -> Option<String> {
    let own = workflow.description.as_deref().and_then(|text| text.trim().lines().next());
    if let Some(line) = own {
        return Some(shorten(line));
    }
    let instructions = &library.first_phase(&workflow.phases)?.instructions;
    first_paragraph(instructions).map(|text| shorten(&text))
}

/// The lines between empty lines and headings are a paragraph, as they are written.
fn first_paragraph(markdown: &str) -> Option<String> {
    let lines: Vec<&str> = markdown.lines().map(str::trim).collect();
    let parts = lines.split(|line| line.is_empty() || line.starts_with('#')).map(|lines| lines.join(" "));
    let is_paragraph = |text: &String| {
        let is_block =
            text.starts_with(|c: char| c.is_ascii_digit()) || BLOCKS.iter().any(|mark| text.starts_with(mark));
        !text.is_empty() && !text.contains('{') && !is_block
    };
    parts.into_iter().find(is_paragraph)
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
            ("# Title\n\nRead *all* of\n`src`, then plan.\n\nMore.", Some("Read *all* of `src`, then plan.")),
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
