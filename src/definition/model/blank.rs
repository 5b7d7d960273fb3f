//! White space, by the rules of JavaScript.

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
