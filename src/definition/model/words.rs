//! Lists of words, for messages.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined_by_commas_and_and() {
        for (words, expected) in [
            (&["a"][..], "`a`"),
            (&["a", "b"], "`a` and `b`"),
            (&["a", "b", "c"], "`a`, `b` and `c`"),
        ] {
            assert_eq!(list(words), expected);
        }
        assert_eq!(list(&[]), "");
    }
}
