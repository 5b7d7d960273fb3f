//! The help for a text that is not YAML, as far as the text shows what was meant.

use crate::definition::diagnostic::{Place, SPACE_NEEDED, YamlProblem, lacks_space};
use crate::definition::model::short;

/// Returns the problem of a text that the parser refuses, in the parser's words, and the place to show. The help depends
/// on the character at the place. `begun` is the beginning of the quoted text, or of the list or mapping in brackets,
/// around the place.
pub(super) fn refusal(
    text: &str,
    words: String,
    place: Option<Place>,
    begun: Option<Place>,
) -> (YamlProblem, Option<Place>) {
    let index = place.map_or(0, |place| place.line - 1);
    let line = text.lines().nth(index).filter(|_| place.is_some()).unwrap_or_default();
    let rest = place.and_then(|place| line.char_indices().nth(place.column - 1).and_then(|(at, _)| line.get(at..)));
    let layout = place.and_then(|_| layout_help(text, index));
    let first = rest.and_then(|rest| rest.chars().next());
    let before = place.and_then(|place| line.chars().nth(place.column.checked_sub(2)?));
    let above = text.lines().take(index).filter(|line| !line.trim().is_empty()).last().unwrap_or_default();
    let is_item = |line: &str| line.trim_start().starts_with("- ");
    // A comment in the line above does not matter where the layout of the line is wrong.
    let is_layout = layout.is_some() || is_item(line) && is_item(above);
    let opened = block_without_indent(text, index);
    let help = match first {
        _ if opened.is_some() => {
            let opened = short(opened.unwrap_or_default(), 60);
            format!("indent each line of the text below `{opened}` further than the name of this field")
        }
        Some('\t') => "indent with spaces, not with tabs".to_owned(),
        Some('\0'..='\u{1f}' | '\u{7f}'..='\u{9f}') => "remove the control character".to_owned(),
        Some('-') if line.starts_with("---") => "use one `---` only, before the first field".to_owned(),
        _ if comment_in(line).is_some() || !is_layout && comment_in(above).is_some() => {
            "` #` begins a comment: put a text that contains it in quotes".to_owned()
        }
        Some('-') if rest.is_some_and(is_item) => {
            let lines = text.lines().take(index).filter(|line| is_item(line));
            let indents: Vec<usize> = lines.map(|line| line.len() - line.trim_start().len()).collect();
            let spaces =
                indents.last().map_or(String::new(), |spaces| format!(": the one above has {spaces} spaces before it"));
            format!("indent each `-` of a list alike{spaces}")
        }
        _ if line.trim_start().starts_with("* ") => "begin each item of a list with `- `".to_owned(),
        Some(':') if layout.is_none() && line.trim_start().starts_with("when:") => {
            "write the entry as `- phase: FILE`, and `when` below `phase`".to_owned()
        }
        _ => match (layout, in_quotes(line), begun) {
            (Some(layout), ..) => layout,
            (None, Some(line), _) if begun.is_none_or(|begun| begun.line == index + 1) => {
                format!("put the text in quotes: `{line}`")
            }
            (None, _, None) if first == Some(':') && lacks_colon(above) => {
                format!(
                    "write the line above as a field: its name, a colon, a space and its value, not `{}`",
                    short(above.trim(), 60)
                )
            }
            (None, ..) if first == Some(':') && begun.is_none_or(|begun| begun.line == index + 1) => {
                "put a text that contains `: ` in quotes".to_owned()
            }
            (None, _, Some(begun)) => {
                let help =
                    "close the quote or bracket here, and put a text that contains `, `, `: ` or a bracket in quotes";
                return (YamlProblem::NotYaml { words, help: help.to_owned() }, Some(begun));
            }
            (None, ..) if first.is_some_and(|c| "`@%|>&*".contains(c)) || matches!(before, Some('*' | '&')) => {
                "put a text that begins with a special character in quotes".to_owned()
            }
            _ => "look for a quote or bracket that is not closed, and put a text that begins with `{` in quotes"
                .to_owned(),
        },
    };
    (YamlProblem::NotYaml { words, help }, place)
}

/// Returns true if a line is neither a field nor an item of a list.
fn lacks_colon(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.contains(": ") && !line.ends_with(':') && !line.starts_with("- ")
}

/// Returns the field of a line with its text in quotes. A text that is meant as a list or mapping has no text behind its
/// last bracket.
fn in_quotes(line: &str) -> Option<String> {
    let line = line.trim();
    let field = line.trim_start_matches("- ");
    let (key, value) = field.split_once(": ")?;
    let value = value.trim();
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let is_text = match value.chars().next()? {
        '{' | '[' => !value.ends_with(['}', ']']) && value.contains(['}', ']']),
        quote @ ('"' | '\'') => value.matches(quote).count() > 1 && !value.ends_with(quote),
        '|' | '>' => false,
        _ => true,
    };
    (is_key && is_text).then(|| format!("{key}: {}", quoted(value)))
}

/// Returns the last field up to a line that opens a text with `|` or `>`, if the text is not indented more than it.
fn block_without_indent(text: &str, index: usize) -> Option<&str> {
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
    let lines: Vec<&str> = text.lines().take(index + 1).filter(|line| !line.trim().is_empty()).collect();
    let last = lines.iter().rposition(|line| opens_block(line))?;
    let below = lines.get(last + 1)?;
    let opening = lines.get(last)?;
    (indent(below) <= indent(opening)).then(|| opening.trim_start_matches([' ', '-']))
}

/// Returns true if a line ends with the mark of a text of several lines.
fn opens_block(line: &str) -> bool {
    let line = line.trim_end().trim_end_matches(['-', '+']);
    line.ends_with(": |") || line.ends_with(": >")
}

/// Returns a text in quotes.
pub(super) fn quoted(text: &str) -> String {
    if text.contains(['"', '\\']) { format!("'{}'", text.replace('\'', "''")) } else { format!("\"{text}\"") }
}

/// Returns the comment behind a text in a line, if it seems to be meant as text: no space follows its `#`, or it has a
/// variable in it.
pub(super) fn comment_in(line: &str) -> Option<&str> {
    let (before, comment) = line.split_at_checked(line.find(" #")?)?;
    let comment = comment.trim();
    let begins_text = comment.chars().nth(1).is_some_and(|c| !matches!(c, ' ' | '\t' | '#'));
    let is_text = begins_text || comment.contains('{') && comment.contains('}');
    (is_text && !before.trim().is_empty() && !before.contains(['"', '\''])).then_some(comment)
}

/// Returns the help for a line that is not laid out as an item of a list: without a space behind its `-`, or with
/// another indentation than the fields of its item above the line.
fn layout_help(text: &str, line: usize) -> Option<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let key = |line: &str| {
        let key = line.trim_start().split_once(':')?.0;
        key.chars().all(|c| c.is_ascii_alphanumeric()).then(|| key.to_owned())
    };
    let lines: Vec<&str> = text.lines().take(line + 1).filter(|line| !line.trim().is_empty()).collect();
    let (wrong, above) = lines.split_last()?;
    if lacks_space(wrong) {
        return Some(SPACE_NEEDED.to_owned());
    }
    let (wrong_key, last) = (key(wrong)?, above.last()?);
    let item = above.iter().rev().find(|line| line.trim_start().starts_with("- "))?;
    let first = item.trim_start().strip_prefix('-')?;
    let expected = item.len() - first.trim_start().len();
    let is_field = last == item || indent(last) == expected;
    let is_open = last.trim_end().ends_with(':');
    let first = key(first)?;
    (is_field && !is_open && indent(wrong) != expected)
        .then(|| format!("indent `{wrong_key}` by {expected} spaces, as `{first}` above it"))
}
