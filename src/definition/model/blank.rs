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
