//! Reads the few forms of YAML in which nearly every file is written, many times faster than the parser.
//!
//! **Invariant: it has no opinion of its own.** What it reads, the parser reads the same; whatever it does not
//! know, it leaves to the parser, and every diagnostic too.
//!
//! ```yaml
//! # a comment on a line of its own
//! key: words, or "words" or 'words' without anything escaped, or 7, true, false, null
//! list: [some, words]
//! lists:
//!   - words
//!   - key: words
//! mappings:
//!   key: words
//! text: |
//!   lines as they stand
//! ```

use std::borrow::Cow;

use super::{MAX_KEYS, Yaml};

/// How deep lists and mappings may be in each other.
const MAX_DEPTH: usize = 8;

/// How long a key may be, in bytes. The parser's own limit lies above.
const MAX_KEY_LENGTH: usize = 100;

/// The value of a text; `None` if only the parser can tell.
pub(super) fn read(text: &str) -> Option<Yaml<'_>> {
    // Nearly all of it are bytes that need no decoding.
    let odd = text.bytes().position(|byte| !matches!(byte, b'\n' | b' '..=b'~'));
    if !odd.is_none_or(|at| text.get(at..).is_some_and(|rest| rest.chars().all(is_usual))) {
        return None;
    }
    let mut lines = Lines { next: None, rest: text };
    lines.advance();
    let value = lines.mapping(0, MAX_DEPTH)?;
    lines.next.is_none().then_some(value)
}

/// Whether a character is a line end or one that every reader of YAML takes for text.
fn is_usual(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..)
}

/// A line that says something.
#[derive(Clone, Copy)]
struct Line<'a> {
    /// How many spaces stand before it.
    indent: usize,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn of(line: &'a str) -> Self {
        let indent = line.bytes().take_while(|byte| *byte == b' ').count();
        Self { indent, text: line.get(indent..).unwrap_or_default() }
    }

    /// What stands behind the dash, if this is an item of a list.
    fn item(self) -> Option<&'a str> {
        self.text.strip_prefix("- ")
    }
}

struct Lines<'a> {
    next: Option<Line<'a>>,
    /// What follows the next line.
    rest: &'a str,
}

impl<'a> Lines<'a> {
    /// Goes on to the next line that is not empty and no comment.
    fn advance(&mut self) {
        self.next = None;
        while self.next.is_none() && !self.rest.is_empty() {
            let (line, rest) = cut(self.rest, b'\n').unwrap_or((self.rest, ""));
            self.rest = rest;
            self.next = (!line.is_empty() && !line.starts_with('#')).then(|| Line::of(line));
        }
    }

    /// The next line, if it stands this deep.
    fn at(&self, indent: usize) -> Option<Line<'a>> {
        self.next.filter(|line| line.indent == indent)
    }

    fn is_deeper(&self, indent: usize) -> bool {
        self.next.is_some_and(|line| line.indent > indent)
    }

    fn mapping(&mut self, indent: usize, depth: usize) -> Option<Yaml<'a>> {
        let mut entries: Vec<(Cow<str>, Yaml)> = Vec::new();
        while let Some(line) = self.at(indent).filter(|line| line.item().is_none()) {
            let (key, words) = key(line.text)?;
            let value = match words {
                "" => self.below(indent, depth.checked_sub(1)?)?,
                "|" => self.block(indent)?,
                words => {
                    self.advance();
                    value(words)?
                }
            };
            // What goes on below a value is more of it.
            if self.is_deeper(indent) || entries.len() >= MAX_KEYS {
                return None;
            }
            if entries.iter().any(|(other, _)| other == key) {
                return None;
            }
            entries.push((key.into(), value));
        }
        (!entries.is_empty()).then_some(Yaml::Map(entries))
    }

    /// The value of the key on this line, which has none there.
    fn below(&mut self, indent: usize, depth: usize) -> Option<Yaml<'a>> {
        self.advance();
        let Some(line) = self.next else { return Some(Yaml::Null) };
        match line.item() {
            Some(_) if line.indent >= indent => self.list(line.indent),
            None if line.indent > indent => self.mapping(line.indent, depth),
            _ => Some(Yaml::Null),
        }
    }

    fn list(&mut self, indent: usize) -> Option<Yaml<'a>> {
        let mut items = Vec::new();
        while let Some(item) = self.at(indent).and_then(Line::item) {
            self.advance();
            items.push(match key(item) {
                Some((_, "")) => return None,
                Some((key, words)) => Yaml::Map(vec![(key.into(), value(words)?)]),
                None => value(item)?,
            });
            if self.is_deeper(indent) {
                return None;
            }
        }
        Some(Yaml::List(items))
    }

    /// The lines below a key, as they stand, each without the spaces before the first of them.
    fn block(&mut self, indent: usize) -> Option<Yaml<'a>> {
        let mut text = String::new();
        let mut spaces = None;
        let mut empty = 0;
        while !self.rest.is_empty() {
            let (line, rest) = cut(self.rest, b'\n').unwrap_or((self.rest, ""));
            let Line { indent: before, text: words } = Line::of(line);
            if line.is_empty() {
                empty += 1;
            } else if words.is_empty()
                || spaces.is_some_and(|spaces| before > indent && before < spaces)
            {
                return None;
            } else if before <= indent {
                break;
            } else {
                text.extend(std::iter::repeat_n('\n', empty));
                empty = 0;
                text.push_str(line.get(*spaces.get_or_insert(before)..)?);
                text.push('\n');
            }
            self.rest = rest;
        }
        self.advance();
        spaces.map(|_| Yaml::String(text.into()))
    }
}

/// What stands before and behind the first of an ASCII character, if there is one.
fn cut(text: &str, character: u8) -> Option<(&str, &str)> {
    let at = text.bytes().position(|byte| byte == character)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// A key, and what stands behind its colon.
fn key(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = cut(line, b':')?;
    let mut bytes = key.bytes();
    let sound = bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        && key.len() <= MAX_KEY_LENGTH
        && !may_mean_else(key);
    let words = Line::of(rest);
    (sound && (rest.is_empty() || (words.indent > 0 && !words.text.is_empty())))
        .then_some((key, words.text))
}

/// A value on one line.
fn value(text: &str) -> Option<Yaml<'_>> {
    match text.bytes().next()? {
        b'[' => flow_list(text.strip_prefix('[')?.strip_suffix(']')?),
        quote @ (b'"' | b'\'') => quoted(text, quote),
        _ => plain(text),
    }
}

fn flow_list(list: &str) -> Option<Yaml<'_>> {
    let mut items = Vec::new();
    let mut rest = Some(list).filter(|list| !list.is_empty());
    while let Some(list) = rest {
        let (words, more) =
            cut(list, b',').map_or((list, None), |(words, more)| (words, Some(more)));
        let words = words.trim_matches(' ');
        let is_simple = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'"' | b'\'')
        };
        items.push(words.bytes().all(is_simple).then(|| value(words))??);
        rest = more;
    }
    Some(Yaml::List(items))
}

/// Words in quotes, with nothing escaped in them.
fn quoted(text: &str, quote: u8) -> Option<Yaml<'_>> {
    let words = text.get(1..text.len().checked_sub(1).filter(|end| *end > 0)?)?;
    let escaped = |byte: u8| byte == quote || (byte == b'\\' && quote == b'"');
    let closed = text.bytes().next_back() == Some(quote);
    (closed && !words.bytes().any(escaped)).then(|| Yaml::String(words.into()))
}

/// Words without quotes, or a short number.
fn plain(text: &str) -> Option<Yaml<'_>> {
    let bytes = text.as_bytes();
    let first = *bytes.first()?;
    if first.is_ascii_digit() {
        let short = bytes.len() < 10 && bytes.iter().all(u8::is_ascii_digit);
        let number = short && (first != b'0' || bytes.len() == 1);
        return number.then(|| Some(Yaml::Number(text.parse::<u32>().ok()?.into())))?;
    }
    let odd = bytes.windows(2).any(|pair| matches!(pair, b": " | b" #"))
        || matches!(bytes.last(), Some(b':' | b' '));
    let path = text.starts_with("./") || text.starts_with("../");
    if odd || !(first.is_ascii_alphabetic() || !first.is_ascii() || path) {
        return None;
    }
    match text {
        "null" => Some(Yaml::Null),
        "true" => Some(Yaml::Bool(true)),
        "false" => Some(Yaml::Bool(false)),
        _ => (!may_mean_else(text)).then(|| Yaml::String(text.into())),
    }
}

/// Whether a word stands for something else than itself, in this spelling or another.
fn may_mean_else(word: &str) -> bool {
    (4..=5).contains(&word.len())
        && ["null", "true", "false"].iter().any(|other| other.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::readable;
    use super::*;

    #[track_caller]
    fn agrees(text: &str) -> bool {
        let Some(yaml) = read(text) else { return false };
        let (_, parsed) = readable(text);
        assert_eq!(parsed.ok(), Some(yaml), "{text:?}");
        true
    }

    #[test]
    fn it_reads_what_is_usual() {
        for text in [
            "a: b",
            "# note\nname: A B, c\ncommandName: a-b\n\ninitialMessage: \"Go: {description}\"\nphases:\n  - a.md\n  - ../b.md x\n  - subworkflow: c\nmaxLoops: 5\n",
            "id: a\nemoji: 🔹\ntools:\n  blacklist:\n    - edit\n    - write\n  other: [a, 'b', \"c\"]\nlist:\n- a\n- b\nshow: workflows\nx:\n",
            "a: |\n  b\n\n    c: # d\n  e\nf: g",
            "a:\n  b: |\n\n   c\n\n\n  d: |\n    e\n    \u{e9}\n# f\ng: h\n",
            "a: []\ng: [ b,c , d ]\nb: null\nc: true\nd: 0\ne:\n\n  - http://x#y\nf: it's \"so\"\n",
        ] {
            assert!(agrees(text), "{text:?}");
        }
    }

    #[test]
    fn it_leaves_the_rest_to_the_parser() {
        for text in [
            "",
            "# a",
            "a",
            "- a",
            "a: b\n c",
            "a: b\na: c",
            "a: |",
            "a: |\nb: c",
            "a: |\n   b\n  c",
            "a: |\n  b\n   \n  c",
            "a: |-\n  b",
            "a: |2\n  b",
            "a: >\n  b",
            "a: | # b\n  c",
            "a: |\n  b\n# c\n  d",
            "a: &b c",
            "a: *b",
            "a: !b c",
            "a: ! b",
            "a:\n  - !b c",
            "a: [!b c]",
            "!b a: c",
            "a: !b\n  c: d",
            "a: 'b''c'",
            "a: \"b\\n\"",
            "a: b: c",
            "a: b #c",
            "a:\tb",
            "a: b\r\n",
            "a: True",
            "a: 1.5",
            "a: 007",
            "a: -1",
            "a: ~",
            "a: [b, [c]]",
            "a: {b: c}",
            "a: b \n",
            "a:  \n",
            "a: b\n---\nc: d",
            "a:\n   b: c\n  d: e",
            "a:\n  - b\n    c",
            "a:\n  - b:\n",
            "a:\n  - - b",
            "true: a",
            "a: b\n#c\n  d",
            "\u{feff}a: b",
            "a: b\u{85}c",
            "a: b\u{2028}c",
        ] {
            assert!(!agrees(text), "{text:?}");
        }
    }

    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "a", "b", "id", "name", "phases", "true", "null", "No", "1", "0", "x y", ": ", ":",
            "\n", "\n  ", "\n    ", "\n- ", "\n  - ", " ", "- ", "\"", "'", "[", "]", ", ", ",",
            "#", " #", "{", "}", "|", ">", "&", "*", "!", "~", "?", "%", "@", "`", ".", "\\", "🔹",
            "é", "\u{a0}", "\n\n", "---", "...", "../", "a: b", "\na: ", "\nb: ", "\nc:", "[a, b]",
            "1e3", "0x1", ".inf",
        ]);
        prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_agrees_with_the_parser(text in pieces()) {
            agrees(&text);
        }

        #[test]
        fn it_agrees_with_the_parser_behind_a_key(text in pieces(), more in pieces()) {
            agrees(&format!("k: {text}"));
            agrees(&format!("k:\n  - {text}\nl: {more}"));
            agrees(&format!("k:\n  m: {text}\n  n: {more}"));
            agrees(&format!("k: [{text}, {more}]"));
            agrees(&format!("k: |\n  {text}\n  {more}"));
            agrees(&format!("k:\n  l: |\n\n   {text}\n   x{more}\nm: a"));
            agrees(&format!("k: \"{text}\"\nl: '{more}'"));
        }
    }
}
