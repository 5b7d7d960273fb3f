//! Reads the few forms of YAML in which nearly every file is written, many times faster than the parser.
//!
//! **Invariant: it has no opinion of its own.** What it reads, the parser reads the same; whatever it does not
//! know, it leaves to the parser, and every fault too.
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
//! ```

use std::iter::Peekable;

use super::{MAX_KEYS, Yaml};

/// How deep lists and mappings may be in each other.
const MAX_DEPTH: usize = 8;

/// How long a key may be, in bytes. The parser's own limit lies above.
const MAX_KEY_LENGTH: usize = 100;

/// The value of a text; `None` if only the parser can tell.
pub(super) fn read(text: &str) -> Option<Yaml> {
    if !text.chars().all(is_usual) {
        return None;
    }
    let lines = text.split('\n').filter(|line| !line.is_empty() && !line.starts_with('#'));
    let lines: Box<dyn Iterator<Item = Line>> = Box::new(lines.map(Line::of));
    let mut lines = Lines(lines.peekable());
    let value = lines.mapping(0, MAX_DEPTH)?;
    lines.0.next().is_none().then_some(value)
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
        let text = line.trim_start_matches(' ');
        Self { indent: line.len() - text.len(), text }
    }

    /// What stands behind the dash, if this is an item of a list.
    fn item(self) -> Option<&'a str> {
        self.text.strip_prefix("- ")
    }
}

struct Lines<'a>(Peekable<Box<dyn Iterator<Item = Line<'a>> + 'a>>);

impl<'a> Lines<'a> {
    /// The next line, if it stands this deep.
    fn at(&mut self, indent: usize) -> Option<Line<'a>> {
        self.0.peek().copied().filter(|line| line.indent == indent)
    }

    fn is_deeper(&mut self, indent: usize) -> bool {
        self.0.peek().is_some_and(|line| line.indent > indent)
    }

    fn mapping(&mut self, indent: usize, depth: usize) -> Option<Yaml> {
        let mut entries: Vec<(String, Yaml)> = Vec::new();
        while let Some(line) = self.at(indent).filter(|line| line.item().is_none()) {
            self.0.next();
            let (key, rest) = key(line.text)?;
            let value = match rest {
                "" => self.below(indent, depth.checked_sub(1)?)?,
                words => value(words)?,
            };
            // What goes on below a value is more of it.
            if self.is_deeper(indent) || entries.len() >= MAX_KEYS {
                return None;
            }
            if entries.iter().any(|(other, _)| other == key) {
                return None;
            }
            entries.push((key.to_owned(), value));
        }
        (!entries.is_empty()).then_some(Yaml::Map(entries))
    }

    /// The value of a key that has none on its line.
    fn below(&mut self, indent: usize, depth: usize) -> Option<Yaml> {
        let Some(&line) = self.0.peek() else { return Some(Yaml::Null) };
        match line.item() {
            Some(_) if line.indent >= indent => self.list(line.indent),
            None if line.indent > indent => self.mapping(line.indent, depth),
            _ => Some(Yaml::Null),
        }
    }

    fn list(&mut self, indent: usize) -> Option<Yaml> {
        let mut items = Vec::new();
        while let Some(item) = self.at(indent).and_then(Line::item) {
            self.0.next();
            items.push(match key(item) {
                Some((_, "")) => return None,
                Some((key, words)) => Yaml::Map(vec![(key.to_owned(), value(words)?)]),
                None => value(item)?,
            });
            if self.is_deeper(indent) {
                return None;
            }
        }
        Some(Yaml::List(items))
    }
}

/// A key, and what stands behind its colon.
fn key(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.split_once(':')?;
    let mut bytes = key.bytes();
    let sound = bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        && key.len() <= MAX_KEY_LENGTH
        && matches!(word(key), Some(Yaml::String(_)))
        && (rest.is_empty() || rest.starts_with(' '));
    sound
        .then(|| (key, rest.trim_start_matches(' ')))
        .filter(|(_, words)| rest.is_empty() || !words.is_empty())
}

/// A value on one line.
fn value(text: &str) -> Option<Yaml> {
    match text.strip_prefix('[') {
        Some(list) => flow_list(list.strip_suffix(']')?),
        None => quoted(text).or_else(|| plain(text)),
    }
}

fn flow_list(list: &str) -> Option<Yaml> {
    if list.is_empty() {
        return Some(Yaml::List(Vec::new()));
    }
    let item = |item: &str| {
        let is_simple = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        let bare = item.trim_matches(['"', '\'']);
        if !bare.chars().all(is_simple) {
            return None;
        }
        quoted(item).or_else(|| plain(item))
    };
    list.split(',')
        .map(|words| item(words.trim_matches(' ')))
        .collect::<Option<_>>()
        .map(Yaml::List)
}

/// Words in quotes, with nothing escaped in them.
fn quoted(text: &str) -> Option<Yaml> {
    let within = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    let words = match within('"') {
        Some(words) => (!words.contains(['"', '\\'])).then_some(words),
        None => within('\'').filter(|words| !words.contains('\'')),
    };
    words.map(|words| Yaml::String(words.to_owned()))
}

/// Words without quotes, or a short number.
fn plain(text: &str) -> Option<Yaml> {
    let first = text.chars().next()?;
    if first.is_ascii_digit() {
        let short = text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = short && (first != '0' || text.len() == 1);
        return number.then(|| text.parse().ok().map(Yaml::Number))?;
    }
    let odd = text.contains(": ") || text.contains(" #") || text.ends_with([':', ' ']);
    let path = text.starts_with("./") || text.starts_with("../");
    ((first.is_ascii_alphabetic() || !first.is_ascii() || path) && !odd).then(|| word(text))?
}

/// A word that may stand for something else than itself.
fn word(text: &str) -> Option<Yaml> {
    match text {
        "null" => Some(Yaml::Null),
        "true" => Some(Yaml::Bool(true)),
        "false" => Some(Yaml::Bool(false)),
        _ if ["null", "true", "false"].iter().any(|word| word.eq_ignore_ascii_case(text)) => None,
        _ => Some(Yaml::String(text.to_owned())),
    }
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
            "a: |\n  b",
            "a: &b c",
            "a: *b",
            "a: !b c",
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
            agrees(&format!("k: \"{text}\"\nl: '{more}'"));
        }
    }
}
