//! Texts: lists of words for messages, the beginning of a text, and white space by the rules of JavaScript.

use crate::sorted::Set;

/// Words in backticks, joined by commas and "and".
pub(crate) fn list(words: &[&str]) -> String {
    joined(words, "and")
}

/// Words in backticks, joined by commas and "or".
pub(crate) fn either(words: &[&str]) -> String {
    joined(words, "or")
}

fn joined(words: &[&str], by: &str) -> String {
    match words.split_last() {
        Some((last, [])) => format!("`{last}`"),
        Some((last, others)) => format!("`{}` {by} `{last}`", others.join("`, `")),
        None => String::new(),
    }
}

/// The beginning of a text on one line, with at most so many characters; the last one is `…` if it is cut.
pub fn short(text: &str, limit: usize) -> String {
    let on_line = |c: char| if c == '\n' { ' ' } else { c };
    let mut line: String = text.chars().take(limit).map(on_line).collect();
    if text.chars().nth(limit).is_some() {
        line.pop();
        line.push('…');
    }
    line
}

/// Shortens names to this number of characters, and adds a number to each name that an earlier name has.
pub fn make_different<'a>(names: impl Iterator<Item = &'a mut String>, limit: usize) {
    let mut known = Set::new();
    for name in names {
        let own = short(name, limit);
        let mut number = 1;
        name.clone_from(&own);
        while !known.insert(name.clone()) {
            number += 1;
            let mark = format!(" ({number})");
            *name = short(&own, limit.saturating_sub(mark.len())) + &mark;
        }
    }
}

/// Returns a name with an emoji before it, if there is one.
pub fn with_emoji(emoji: &str, name: &str) -> String {
    if emoji.is_empty() { name.to_owned() } else { format!("{emoji} {name}") }
}

/// Returns the words of a name of a file or folder, each with a capital: `fix-it` is "Fix It".
pub(crate) fn title_case(name: &str) -> String {
    let words = name.split(['-', '_', '.', ' ']).filter(|word| !word.is_empty());
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
    };
    let words: Vec<String> = words.map(capital).collect();
    if words.is_empty() { name.to_owned() } else { words.join(" ") }
}

/// Returns true if a text has nothing but white space, by the rules of JavaScript's `trim`.
pub(crate) fn is_blank(text: &str) -> bool {
    trim(text).is_empty()
}

/// Removes white space at both ends, as JavaScript's `trim` does.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Returns true if a character is white space for JavaScript's `trim` and `\s`: the byte order mark is, the control
/// character U+0085 is not.
pub(crate) fn is_space(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

/// Returns true if a character is invisible and changes a name all the same. Joiners are part of words and of emojis.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined_by_commas_and_and() {
        for (words, expected) in
            [(&["a"][..], "`a`"), (&["a", "b"], "`a` and `b`"), (&["a", "b", "c"], "`a`, `b` and `c`")]
        {
            assert_eq!(list(words), expected);
        }
        assert_eq!(list(&[]), "");
    }

    #[test]
    fn a_title_has_capitals() {
        for (name, title) in [("fix-it", "Fix It"), ("01_plan.b", "01 Plan B"), ("éa", "Éa"), ("_-", "_-"), ("", "")]
        {
            assert_eq!(title_case(name), title);
        }
    }
}
