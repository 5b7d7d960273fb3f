//! Spelling suggestions by edit distance.

/// Returns the known word with the smallest edit distance, at most a third of its letters. Case is ignored.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_within(word, known, &mut |_| true)
}

/// Like `nearest`; `spend` counts the letters before each comparison. `None` as soon as `spend` returns false.
pub(crate) fn nearest_within<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
    spend: &mut dyn FnMut(usize) -> bool,
) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    if length > MAX_LENGTH {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for known in known {
        if !spend(1) {
            return None;
        }
        let too_long = word.len().max(known.len()) > 4 * MAX_LENGTH;
        let other = if too_long { 0 } else { known.chars().count() };
        // A word of two letters with another one is another word.
        let limit = if length < 3 { 0 } else { length.max(other) / 3 };
        // The distance is at least the difference of the lengths.
        if too_long || length.abs_diff(other) > limit {
            continue;
        }
        if !spend(length * other) {
            return None;
        }
        let distance = distance(&word, &known.to_lowercase());
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, known));
        }
    }
    best.map(|(_, known)| known)
}

/// Maximum length of a compared word, in characters.
const MAX_LENGTH: usize = 64;

/// The optimal string alignment distance: the number of letters to insert, delete, replace, or swap with their
/// neighbour.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut two_above: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut last = None;
    for (row, a) in a.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, &other) in b.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX);
            let replaced = at(&above, column) + usize::from(a != other);
            let mut least = replaced.min(at(&above, column + 1) + 1).min(at(&current, column) + 1);
            let swapped = column > 0 && last == Some(other) && b.get(column - 1) == Some(&a);
            if swapped && row > 0 {
                least = least.min(at(&two_above, column - 1) + 1);
            }
            current.push(least);
        }
        two_above = std::mem::replace(&mut above, current);
        last = Some(a);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_is_recognised_and_another_word_is_not() {
        let known = ["commandName", "name", "phases", "edit", "whitelist"];
        for (word, meant) in [
            ("comandName", Some("commandName")),
            ("command_name", Some("commandName")),
            ("commandname", Some("commandName")),
            ("NAME", Some("name")),
            ("naem", Some("name")),
            ("edti", Some("edit")),
            ("withelist", Some("whitelist")),
            ("color", None),
            ("x", None),
            ("ed", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
        assert_eq!(nearest(&"a".repeat(1_000_000), known), None);
        for (a, b, expected) in [("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("ab", "ba", 1), ("ca", "abc", 3)] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }
}
