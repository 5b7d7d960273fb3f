//! Finds rules at the beginning of a text, where nothing reads them.

use super::fields::{Fields, OF_PHASE};
use super::yaml::{self, Yaml};
use crate::definition::diagnostic::Mapping;
use crate::definition::model::{Phase, is_blank, is_invisible, is_space};

/// Maximum number of lines in which rules are looked for.
const MAX_LINES: usize = 200;

/// A key in a text: its line, from 0, and its name.
type Found = (usize, &'static str);

/// Returns the first key of a text without front matter that was meant as a field: at its beginning, below titles and
/// a line that looks like a fence, a rule; or the first field between the beginning, or such a line, and such a line.
pub(super) fn in_text(text: &str) -> Option<Found> {
    let lines = lines(text);
    let mut may_begin = true;
    let mut is_first = true;
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !is_blank(line)) {
        if may_begin {
            let block = block(&lines, at);
            let is_closed = lines.get(at + block.len()).is_some_and(|line| is_fence(line));
            let first = key(line).filter(|_| is_closed).and_then(field);
            if let Some(found) = rule(&block).or(first.map(|field| (0, field))) {
                return Some((at + found.0, found.1));
            }
        }
        may_begin = is_fence(line) || is_first && line.starts_with("```") && is_in_fence(text);
        is_first = false;
        if !may_begin && !line.starts_with(['#', '<']) {
            return None;
        }
    }
    None
}

/// Returns the first rule below front matter: directly below the fence that closes it, or in another block between
/// fences, or lines like them, after blank lines only. The text begins with the rest of the line of the fence.
pub(super) fn below(text: &str) -> Option<Found> {
    let lines = lines(text);
    let first = (1..lines.len()).find(|at| lines.get(*at).is_some_and(|line| !is_blank(line)))?;
    let rest = lines.get(first + 1..).unwrap_or_default();
    let (start, found) = match lines.get(first).is_some_and(|line| is_fence(line)) {
        true => {
            let rest = rest.get(..rest.iter().position(|line| is_fence(line))?)?;
            let begin = rest.iter().position(|line| !is_blank(line) && !line.starts_with('#'))?;
            let block = block_with_blanks(rest.get(begin..)?);
            let is_of_fields = |line: &&&str| key(line).is_some() || line.trim_start().starts_with('{');
            block.first().filter(is_of_fields)?;
            (first + 1 + begin, rule(&block)?)
        }
        false if first == 1 => (first, rule(&block(&lines, first))?),
        false => return None,
    };
    Some((start + found.0, found.1))
}

/// Returns true if the fence of code that a text begins with ends with the text, or never.
fn is_in_fence(text: &str) -> bool {
    let mut lines = text.trim_start().lines().skip(1).skip_while(|line| !line.trim_start().starts_with("```"));
    lines.next();
    lines.all(is_blank)
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().take(MAX_LINES).map(|line| line.trim_start_matches(is_invisible)).collect()
}

/// Returns true for a line of `---`, or of other characters that look like it or mark front matter elsewhere.
fn is_fence(line: &str) -> bool {
    let mut marks = line.chars().filter(|&c| !is_space(c) && !is_invisible(c)).peekable();
    marks.peek().is_some() && marks.all(|c| "-‐‑‒–—―−─━﹘－+*=_".contains(c))
}

/// Returns the key of a line that has the form of a field.
fn key(line: &str) -> Option<&str> {
    let (key, _) = line.split_once([':', '='])?;
    let key = key.trim().trim_matches(['"', '\'']);
    let is_name = |key: &str| key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    (!key.is_empty() && is_name(key)).then_some(key)
}

fn field(key: &str) -> Option<&'static str> {
    OF_PHASE.into_iter().find(|field| *field == key)
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the lines from a line on that have the form of fields.
fn block<'t>(lines: &[&'t str], at: usize) -> Vec<&'t str> {
    let lines = lines.get(at..).unwrap_or_default();
    let first = lines.first().map_or(0, |line| indentation(line));
    let is_object = lines.first().is_some_and(|line| line.trim_start().starts_with('{'));
    let is_of_block = |line: &&&str| {
        let is_part = indentation(line) > first || line.trim_start().starts_with(['-', '}', ']']);
        !is_blank(line) && (is_object || key(line).is_some() || is_part && !is_fence(line))
    };
    lines.iter().take_while(is_of_block).copied().collect()
}

/// Returns the lines from the first on that have the form of fields, with blank lines and comments between them.
fn block_with_blanks<'t>(lines: &[&'t str]) -> Vec<&'t str> {
    let mut of_block = block(lines, 0);
    while let Some(more) = lines.get(of_block.len()..).filter(|more| !of_block.is_empty() && !more.is_empty()) {
        let between = more.iter().take_while(|line| is_blank(line) || line.starts_with('#')).count();
        let next = block(more, between);
        if between + next.len() == 0 {
            break;
        }
        of_block.extend(more.get(..between).unwrap_or_default());
        of_block.extend(next);
    }
    of_block
}

/// Returns the first rule in a block of fields, or in an object of JSON.
fn rule(block: &[&str]) -> Option<Found> {
    let first = block.first()?;
    if first.trim_start().starts_with('{') {
        let end =
            (1..=block.len()).find(|end| block.get(end - 1).is_some_and(|line| line.trim_end().ends_with('}')))?;
        let ends = (end..=block.len()).filter_map(|end| block.get(..end));
        let Yaml::Map(entries) = ends.filter_map(|lines| yaml::parse(&lines.join("\n")).ok()).next()?.root else {
            return None;
        };
        return entries.into_iter().find_map(|(key, value)| rule_of(&key, value)).map(|field| (0, field));
    }
    let outer = indentation(first);
    let begins_field = |line: &str| indentation(line) <= outer && key(line).is_some();
    block.iter().enumerate().filter(|(_, line)| begins_field(line)).find_map(|(at, line)| {
        field(key(line)?)?;
        let rest = block.get(at + 1..).unwrap_or_default();
        let inner = rest.iter().take_while(|line| !begins_field(line));
        let first = if line.find('=') < line.find(':') && line.contains('=') || !line.contains(':') {
            line.replacen('=', ": ", 1)
        } else {
            (*line).to_owned()
        };
        let text = inner.fold(first, |text, line| format!("{text}\n{line}"));
        let Yaml::Map(entries) = yaml::parse(&text).ok()?.root else { return None };
        let (key, value) = entries.into_iter().next()?;
        Some((at, rule_of(&key, value)?))
    })
}

/// Returns the field that a key is, if it is a rule and takes the value.
fn rule_of(key: &str, value: Yaml) -> Option<&'static str> {
    let field = Phase::FIELDS.iter().find(|field| field.name == key && field.is_rule())?;
    // Sentences are no names of models.
    let is_sentence = matches!(&value, Yaml::String(text) if key == "model" && text.trim().contains(' '));
    let tree = yaml::Tree::of(Yaml::Map(vec![(key.to_owned(), value)]));
    let mut diagnostics = Vec::new();
    let of = (Mapping::Phase, &OF_PHASE[..]);
    let mut fields = Fields::of_part(("", "", &tree), &[], of, (&mut diagnostics, 0))?;
    let _ = Phase::read(&mut fields);
    fields.check_values(Phase::FIELDS);
    (diagnostics.is_empty() && !is_sentence).then_some(field.name)
}
