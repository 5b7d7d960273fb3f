//! A place in a text file, and the line that it is in, with a mark under the place.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

/// Maximum length of the shown part of a line, in characters.
const MAX_LENGTH: usize = 100;

/// Maximum number of characters of a long line before the mark.
const LEAD: usize = 40;

/// A line with a marked part.
#[derive(Debug, Clone, PartialEq)]
pub struct Excerpt {
    /// The line's number, from 1.
    pub line: usize,
    /// The line, or a part of a long one. Without control characters.
    pub text: String,
    /// Number of characters of `text` before the mark.
    pub before: usize,
    /// Number of marked characters, at least one.
    pub marked: usize,
}

impl Excerpt {
    /// Returns the line of a text at a place; the file has `lines_before` more lines before the text.
    ///
    /// The mark covers the value that begins at the place: up to the end of an item of a flow collection, or else to
    /// the end of the line.
    pub fn of(text: &str, place: Place, lines_before: usize) -> Option<Self> {
        let line: Vec<char> = text.lines().nth(place.line.checked_sub(1)?)?.chars().collect();
        let column = place.column.saturating_sub(1).min(line.len());
        let start = if line.len() <= MAX_LENGTH { 0 } else { column.saturating_sub(LEAD) };
        let end = line.len().min(start + MAX_LENGTH);
        let marked = value_length(line.get(..column)?, line.get(column..)?);
        let mut text: String = line.get(start..end)?.iter().copied().map(printable).collect();
        let mut before = column - start;
        if start > 0 {
            text.insert(0, '…');
            before += 1;
        }
        let shown = text.chars().count() - before;
        if end < line.len() {
            text.push('…');
        }
        let marked = marked.min(shown).max(1);
        Some(Self { line: place.line + lines_before, text, before, marked })
    }

    /// Returns the excerpt with a mark of another length, in characters.
    pub fn marking(self, length: usize) -> Self {
        let shown = self.text.chars().count().saturating_sub(self.before);
        Self { marked: length.min(shown).max(1), ..self }
    }
}

/// Two lines: the text behind its number, the mark under it.
impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let width = |skip: usize, take: usize| -> usize { self.text.chars().skip(skip).take(take).map(columns).sum() };
        writeln!(f, "{number} | {}", self.text.trim_end())?;
        write!(
            f,
            "{:gutter$} | {:before$}{:^<marked$}",
            "",
            "",
            "",
            gutter = number.len(),
            before = width(0, self.before),
            marked = width(self.before, self.marked).max(1),
        )
    }
}

/// Returns a text on one line without characters that control a terminal or change the direction of writing.
pub fn on_one_line(text: &str) -> String {
    text.chars().map(printable).collect()
}

/// Returns a character, or U+FFFD in place of a character that could control a terminal.
fn printable(c: char) -> char {
    match c {
        '\t' | '\n' => ' ',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// Returns the length of the value at the beginning of `rest`, in characters.
fn value_length(before: &[char], rest: &[char]) -> usize {
    let count = |brackets: [char; 2]| before.iter().filter(|c| brackets.contains(c)).count();
    let mut open = 0_usize;
    let mut end = rest.len();
    if count(['[', '{']) > count([']', '}']) {
        for (index, c) in rest.iter().enumerate() {
            match c {
                '[' | '{' => open += 1,
                ']' | '}' | ',' if open == 0 => {
                    end = index;
                    break;
                }
                ']' | '}' => open -= 1,
                _ => {}
            }
        }
    }
    let comment = rest.windows(2).position(|pair| matches!(pair, [' ', '#']));
    let value = rest.get(..comment.unwrap_or(end).min(end)).unwrap_or_default();
    value.len() - value.iter().rev().take_while(|c| c.is_whitespace()).count()
}

/// Returns the approximate number of columns of a terminal that a character takes.
pub fn columns(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36f | 0x200b..=0x200f | 0xfe00..=0xfe0f | 0x1f3fb..=0x1f3ff => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn shows(text: &str, line: usize, column: usize, expected: &str) {
        let excerpt = Excerpt::of(text, Place { line, column }, 0).unwrap();
        assert_eq!(excerpt.to_string(), expected);
    }

    #[test]
    fn the_value_is_marked() {
        shows("a: 1\nname: x y  # no\n", 2, 7, "2 | name: x y  # no\n  |       ^^^");
        shows("p: [a, {b: [c]}, d]", 1, 8, "1 | p: [a, {b: [c]}, d]\n  |        ^^^^^^^^");
        shows("p: [a]", 1, 5, "1 | p: [a]\n  |     ^");
        shows("emoji: 🔍 x", 1, 10, "1 | emoji: 🔍 x\n  |           ^");
        shows("日本: x", 1, 5, "1 | 日本: x\n  |       ^");
        shows("a:", 1, 3, "1 | a:\n  |   ^");
        assert_eq!(Excerpt::of("a", Place { line: 3, column: 1 }, 0), None);
    }

    #[test]
    fn what_would_harm_a_terminal_is_not_shown() {
        shows("\ta: \u{1b}[31m\u{202e}x", 1, 5, "1 |  a: \u{fffd}[31m\u{fffd}x\n  |     ^^^^^^^");
        let long = format!("{}: {}", "k".repeat(100), "v".repeat(100_000));
        let excerpt = Excerpt::of(&long, Place { line: 1, column: 103 }, 7).unwrap();
        assert_eq!((excerpt.line, excerpt.text.chars().count()), (8, MAX_LENGTH + 2));
        assert!(excerpt.to_string().ends_with(&format!("  | {:41}{:^<60}", "", "")));
    }
}
