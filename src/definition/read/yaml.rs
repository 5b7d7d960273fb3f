//! YAML into a small tree, and back from a path in the tree to a place in the text.
//!
//! `serde_yaml` is the only reader: a text that it refuses is an error. Positions are not kept while parsing, as nearly every
//! file is without a diagnostic. [`locate`] parses once more and stops at the node.

use serde::de::{self, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess};
use serde::de::{VariantAccess, Visitor};
use std::cell::{Cell, RefCell};
use std::fmt;

use crate::definition::diagnostic::anchor::Step;
use crate::definition::diagnostic::field::{SPACE_NEEDED, lacks_space};
use crate::definition::diagnostic::place::Place;
use crate::definition::diagnostic::value::ValueKind;
use crate::definition::diagnostic::yaml::YamlProblem;

/// One YAML value. Keys are text, merge keys are ordinary ones (YAML 1.2).
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Yaml {
    Null,
    Bool(bool),
    Number(f64),
    String(String),
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>),
}

/// An error in a YAML text, with its place.
#[derive(Debug, PartialEq)]
pub(crate) struct YamlError {
    pub problem: YamlProblem,
    pub place: Option<Place>,
}

impl YamlError {
    fn new(problem: YamlProblem, place: Option<Place>) -> Box<Self> {
        Box::new(Self { problem, place })
    }
}

impl Yaml {
    /// The value of a key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Yaml> {
        match self {
            Self::Map(entries) => {
                entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) | Self::List(_) => None,
        }
    }

    /// The items, if this is a list.
    pub fn items(&self) -> &[Yaml] {
        match self {
            Self::List(items) => items,
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) | Self::Map(_) => &[],
        }
    }

    /// Its type.
    pub fn kind(&self) -> ValueKind {
        match self {
            Self::Null => ValueKind::Null,
            Self::Bool(_) => ValueKind::Boolean,
            Self::Number(_) => ValueKind::Number,
            Self::String(_) => ValueKind::String,
            Self::List(_) => ValueKind::List,
            Self::Map(_) => ValueKind::Mapping,
        }
    }

    /// A scalar as text, as JavaScript's `String` writes it.
    pub fn scalar_text(&self) -> Option<String> {
        match self {
            Self::Null => Some("null".into()),
            Self::Bool(value) => Some(value.to_string()),
            Self::Number(value) => Some(number_text(*value)),
            Self::String(text) => Some(text.clone()),
            Self::List(_) | Self::Map(_) => None,
        }
    }
}

/// A number as JavaScript writes it: with an exponent from 1e21 on and below 1e-6.
fn number_text(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    if (1e-6..1e21).contains(&number.abs()) || number.is_nan() {
        return number.to_string();
    }
    serde_json::to_string(&serde_json::Value::from(number)).unwrap_or_default()
}

/// Maximum length of a YAML text, in bytes. The parser's work is not always linear in it.
const MAX_LENGTH: usize = 64 * 1024;

/// Maximum number of brackets that are open at once, quoted or not.
const MAX_OPEN_BRACKETS: usize = 200;

/// Maximum number of keys of a mapping.
const MAX_KEYS: usize = 1000;

/// A directive with which the tag `!!x` reaches a visitor, as `!x`: the parser keeps the standard tags for itself.
const SHOW_STANDARD_TAGS: &str = "%TAG !! !!\n";

/// Parses one YAML document. A key that occurs twice is an error, and so is a tag that is not of YAML's core
/// schema: `run: ! npm test` would lose its `!`. An empty text is [`Yaml::Null`].
pub(crate) fn parse(text: &str) -> Result<Yaml, Box<YamlError>> {
    check_size(text)?;
    let source = Source::new(text)?;
    let report = Report::default();
    source.read(None, &report).map_err(|error| {
        let place = source.place_of(&error);
        let problem = report.refused.take().unwrap_or_else(|| refusal(text, &error, place));
        YamlError::new(problem, place)
    })
}

/// The place at which the node of a path begins; `None` if there is no such node.
pub(crate) fn locate(text: &str, path: &[Step]) -> Option<Place> {
    let source = Source::new(text).ok()?;
    let report = Report::default();
    let error = source.read(Some(path), &report).err()?;
    if report.found.get() { source.place_of(&error) } else { None }
}

/// The problem of a text that the parser refuses, in the parser's words. The help depends on the character at the
/// place.
fn refusal(text: &str, error: &serde_yaml::Error, place: Option<Place>) -> YamlProblem {
    let words = error.to_string();
    // The words are shown behind the place.
    let words = words.split_once(" at line ").map_or(&*words, |(words, _)| words).to_owned();
    let line = place.and_then(|place| text.lines().nth(place.line - 1)).unwrap_or_default();
    let rest = place.and_then(|place| {
        line.char_indices().nth(place.column - 1).and_then(|(at, _)| line.get(at..))
    });
    let layout = place.and_then(|place| layout_help(text, place.line - 1));
    let help = match rest.and_then(|rest| rest.chars().next()) {
        Some('\t') => "indent with spaces, not with tabs",
        Some(':') if layout.is_some() => "",
        Some(':') if line.trim_start().starts_with("when:") => {
            "write the entry as `- phase: FILE`, and `when` below `phase`"
        }
        Some(':') => "put a value that contains `: ` in quotes",
        Some('`' | '@' | '%' | '|' | '>' | '&' | '*') => {
            "put a value that begins with a special character in quotes"
        }
        Some('\0'..='\u{1f}' | '\u{7f}'..='\u{9f}') => "remove the control character",
        _ if layout.is_some() => "",
        Some('-') => "use one `---` only, before the first field",
        _ => {
            "look for a quote or bracket that is not closed, and put a value that begins with `{` in quotes"
        }
    };
    let help = layout.filter(|_| help.is_empty()).unwrap_or_else(|| help.to_owned());
    YamlProblem::NotYaml { words, help }
}

/// The help for a line that is not laid out as an item of a list: without a space behind its `-`, or with another
/// indentation than the fields of its item above it.
fn layout_help(text: &str, line: usize) -> Option<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let key = |line: &str| {
        let key = line.trim_start().split_once(':')?.0;
        key.chars().all(|c| c.is_ascii_alphanumeric()).then(|| key.to_owned())
    };
    let lines: Vec<&str> =
        text.lines().take(line + 1).filter(|line| !line.trim().is_empty()).collect();
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

/// Refuses a text that would keep the parser busy.
fn check_size(text: &str) -> Result<(), Box<YamlError>> {
    if text.len() > MAX_LENGTH {
        return Err(YamlError::new(YamlProblem::LongYaml { limit: MAX_LENGTH }, None));
    }
    if text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count() <= MAX_OPEN_BRACKETS {
        return Ok(());
    }
    let mut open: usize = 0;
    for (line, content) in text.lines().enumerate() {
        for (column, c) in content.chars().enumerate() {
            match c {
                '[' | '{' => open += 1,
                ']' | '}' => open = open.saturating_sub(1),
                _ => {}
            }
            if open > MAX_OPEN_BRACKETS {
                let problem = YamlProblem::OpenBrackets { limit: MAX_OPEN_BRACKETS };
                let place = Some(Place { line: line + 1, column: column + 1 });
                return Err(YamlError::new(problem, place));
            }
        }
    }
    Ok(())
}

/// A YAML text as the parser is given it.
struct Source {
    text: String,
    /// Number of lines before the first line of the text.
    lines_before: usize,
}

impl Source {
    /// Refuses a text with directives: `%TAG` would give another meaning to tags.
    fn new(text: &str) -> Result<Self, Box<YamlError>> {
        let mut lines = text.lines().enumerate();
        let first = lines.find(|(_, line)| {
            let line = line.trim_start();
            !line.is_empty() && !line.starts_with('#')
        });
        let mut source = SHOW_STANDARD_TAGS.to_owned();
        match first {
            Some((index, line)) if line.starts_with('%') => {
                let place = Some(Place { line: index + 1, column: 1 });
                return Err(YamlError::new(YamlProblem::YamlDirective, place));
            }
            Some((_, line)) if line.trim_end() == "---" || line.starts_with("--- ") => {}
            // A document that follows a directive must begin with `---`.
            _ => source.push_str("---\n"),
        }
        let lines_before = source.lines().count();
        source.push_str(text);
        if ends_within_a_line(text) {
            source.push('\n');
        }
        Ok(Self { text: source, lines_before })
    }

    /// Reads the text; with a path, it stops with an error at the node that the path leads to.
    fn read(&self, path: Option<&[Step]>, report: &Report) -> Result<Yaml, serde_yaml::Error> {
        let mut documents = serde_yaml::Deserializer::from_str(&self.text);
        let Some(document) = documents.next() else { return Ok(Yaml::Null) };
        let yaml = Node { path, key_of: None, report }.deserialize(document)?;
        match documents.next() {
            None => Ok(yaml),
            Some(second) => {
                report.refused.replace(Some(YamlProblem::SecondDocument));
                // An error at its first node has its place.
                let first = Node { path: Some(&[]), key_of: None, report: &Report::default() };
                first.deserialize(second).and_then(|_| Err(de::Error::custom("second document")))
            }
        }
    }

    fn place_of(&self, error: &serde_yaml::Error) -> Option<Place> {
        let location = error.location()?;
        let line = location.line().saturating_sub(self.lines_before).max(1);
        Some(Place { line, column: location.column().max(1) })
    }
}

/// Tests if the last line has content and no line end: the parser does not read a block scalar that ends so. Spaces
/// are content if they are more than those before the text above them.
fn ends_within_a_line(text: &str) -> bool {
    let spaces = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let mut lines = text.lines().rev();
    let Some(last) = lines.next().filter(|_| !text.ends_with('\n')) else { return false };
    let above = lines.find(|line| !line.trim().is_empty());
    spaces(last) < last.len() || above.is_some_and(|above| spaces(above) < last.len())
}

/// The reason why a visitor returned an error.
#[derive(Default)]
struct Report {
    /// It reached the end of the path.
    found: Cell<bool>,
    /// It refused a node.
    refused: RefCell<Option<YamlProblem>>,
}

impl Report {
    fn refuse<T, E: de::Error>(&self, problem: YamlProblem) -> Result<T, E> {
        self.refused.replace(Some(problem));
        Err(E::custom("refused"))
    }

    fn stop<T, E: de::Error>(&self) -> Result<T, E> {
        self.found.set(true);
        Err(E::custom("found"))
    }
}

/// Reads one node. The parser adds the place to an error that it returns.
#[derive(Clone, Copy)]
struct Node<'a> {
    /// The path from here to the node that is looked for, if it is this one or in it.
    path: Option<&'a [Step<'a>]>,
    /// The entries before it, if this is a key of a mapping.
    key_of: Option<&'a [(String, Yaml)]>,
    report: &'a Report,
}

impl Node<'_> {
    /// The part of this node to which a step leads.
    fn part(&self, step: Step) -> Self {
        let path = match self.path {
            Some([first, rest @ ..]) if *first == step => Some(rest),
            Some(_) | None => None,
        };
        Self { path, key_of: None, report: self.report }
    }

    /// A value that is not a key. Stops if it is the node that is looked for.
    fn value<E: de::Error>(&self, read: impl FnOnce() -> Result<Yaml, E>) -> Result<Yaml, E> {
        if self.path.is_some_and(<[Step]>::is_empty) { self.report.stop() } else { read() }
    }

    fn scalar<E: de::Error>(self, value: Yaml) -> Result<Yaml, E> {
        match self.key_of {
            None => self.value(|| Ok(value)),
            Some(entries) => self.key(&value, entries),
        }
    }

    fn key<E: de::Error>(&self, key: &Yaml, before: &[(String, Yaml)]) -> Result<Yaml, E> {
        let refuse = |problem| self.report.refuse(problem);
        let Some(key) = key.scalar_text().filter(|_| *key != Yaml::Null) else {
            return refuse(YamlProblem::BadKey { found: key.kind() });
        };
        if before.iter().any(|(name, _)| *name == key) {
            return refuse(YamlProblem::DuplicateKey { key });
        }
        if before.len() >= MAX_KEYS {
            return refuse(YamlProblem::TooManyKeys { limit: MAX_KEYS });
        }
        match self.path {
            Some([Step::Name(name), ..]) if **name == *key => self.report.stop(),
            Some(_) | None => Ok(Yaml::String(key)),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Yaml;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Yaml, D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Reads a scalar as the text that it is, whatever it looks like.
struct Text<'a>(Node<'a>);

impl<'de> DeserializeSeed<'de> for Text<'_> {
    type Value = Yaml;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Yaml, D::Error> {
        deserializer.deserialize_str(self.0)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Yaml;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Yaml, E> {
        self.scalar(Yaml::Null)
    }

    /// A document without any content.
    fn visit_none<E: de::Error>(self) -> Result<Yaml, E> {
        self.scalar(Yaml::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Yaml, E> {
        self.scalar(Yaml::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Yaml, E> {
        self.scalar(Yaml::Number(value as f64))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Yaml, E> {
        self.scalar(Yaml::Number(value as f64))
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Yaml, E> {
        self.scalar(Yaml::Number(value as f64))
    }

    fn visit_u128<E: de::Error>(self, value: u128) -> Result<Yaml, E> {
        self.scalar(Yaml::Number(value as f64))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Yaml, E> {
        self.scalar(Yaml::Number(value))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Yaml, E> {
        self.scalar(Yaml::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Yaml, A::Error> {
        if self.key_of.is_some() {
            return self.report.refuse(YamlProblem::BadKey { found: ValueKind::List });
        }
        self.value(|| {
            let mut list = Vec::new();
            while let Some(item) = items.next_element_seed(self.part(Step::Item(list.len())))? {
                list.push(item);
            }
            Ok(Yaml::List(list))
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Yaml, A::Error> {
        if self.key_of.is_some() {
            return self.report.refuse(YamlProblem::BadKey { found: ValueKind::Mapping });
        }
        self.value(|| {
            let mut map: Vec<(String, Yaml)> = Vec::new();
            while let Some(key) = entries.next_key_seed(Node { key_of: Some(&map), ..self })? {
                let key = key.scalar_text().unwrap_or_default();
                let value = entries.next_value_seed(self.part(Step::Key(&key)))?;
                map.push((key, value));
            }
            Ok(Yaml::Map(map))
        })
    }

    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<Yaml, A::Error> {
        let (tag, content) = tagged.variant::<String>()?;
        // The parser leaves the first `!` out, unless it is all there is.
        let written = if tag == "!" { tag.clone() } else { format!("!{tag}") };
        if self.key_of.is_some() {
            return self.report.refuse(YamlProblem::TaggedKey { tag: written });
        }
        let yaml = match &*tag {
            "!str" => return content.newtype_variant_seed(Text(self)),
            "!map" | "!seq" | "!null" | "!bool" | "!int" | "!float" => {
                content.newtype_variant_seed(self)?
            }
            _ => return self.report.refuse(YamlProblem::UnknownTag { tag: written }),
        };
        let fits = match &yaml {
            Yaml::Null => tag == "!null",
            Yaml::Bool(_) => tag == "!bool",
            Yaml::Number(number) => tag == "!float" || (tag == "!int" && number.fract() == 0.0),
            Yaml::String(_) => false,
            Yaml::List(_) => tag == "!seq",
            Yaml::Map(_) => tag == "!map",
        };
        if fits {
            Ok(yaml)
        } else {
            self.report.refuse(YamlProblem::WrongTag { tag: written, found: yaml.kind() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: usize, column: usize) -> Option<Place> {
        Some(Place { line, column })
    }

    #[test]
    fn values_follow_the_core_schema() {
        let parsed =
            parse("a: yes\nb: TRUE\nc: 2024-01-01\nd: 0x1f\ne: ~\nf: !!seq [1]\n1: y").unwrap();
        assert_eq!(parsed.get("a"), Some(&Yaml::String("yes".into())));
        assert_eq!(parsed.get("b"), Some(&Yaml::Bool(true)));
        assert_eq!(parsed.get("c"), Some(&Yaml::String("2024-01-01".into())));
        assert_eq!(parsed.get("d"), Some(&Yaml::Number(31.0)));
        assert_eq!(parsed.get("e"), Some(&Yaml::Null));
        assert_eq!(parsed.get("f"), Some(&Yaml::List(vec![Yaml::Number(1.0)])));
        assert_eq!(parsed.get("1"), Some(&Yaml::String("y".into())));
    }

    #[track_caller]
    fn refused(yaml: &str, problem: YamlProblem, at: Option<Place>) {
        let error = parse(yaml).expect_err(yaml);
        assert_eq!((error.problem, error.place), (problem, at), "{yaml:?}");
    }

    #[test]
    fn a_tag_that_is_not_of_the_core_schema_is_an_error() {
        for (yaml, tag, line, column) in [
            ("run: ! npm test", "!", 1, 6),
            ("run: !npm test", "!npm", 1, 6),
            ("run: !npm", "!npm", 1, 6),
            ("a: b\nrun: !x 12", "!x", 2, 6),
            ("run: ! 'npm test'", "!", 1, 6),
            ("run: !x |\n  npm test\n", "!x", 1, 6),
            ("run: !!npm test", "!!npm", 1, 6),
            ("---\na: b\nrun: !!npm test", "!!npm", 3, 6),
            ("# a\n---\nrun: !!npm test", "!!npm", 3, 6),
            ("--- # a\nrun: !!npm test", "!!npm", 2, 6),
            ("a: !x [b]", "!x", 1, 4),
            ("a: !x {b: c}", "!x", 1, 4),
            ("a: [b, !x c]", "!x", 1, 8),
            ("a:\n  - !!str b\n  - !!set {c: d}", "!!set", 3, 5),
            ("!x\na: b", "!x", 1, 1),
            ("a: &b !x c\nd: *b", "!x", 1, 4),
        ] {
            refused(yaml, YamlProblem::UnknownTag { tag: tag.into() }, place(line, column));
        }
        let wrong = |tag: &str, found| YamlProblem::WrongTag { tag: tag.into(), found };
        refused("a: !!int x", wrong("!!int", ValueKind::String), place(1, 4));
        refused("a: !!int 1.5", wrong("!!int", ValueKind::Number), place(1, 4));
        refused("a: !!bool 'true'", wrong("!!bool", ValueKind::String), place(1, 4));
        refused("a: !!map [b]", wrong("!!map", ValueKind::List), place(1, 4));
        assert!(parse("a: !!str [b]").is_err());
        for (yaml, expected) in [
            ("a: !!str 12", Yaml::String("12".into())),
            ("a: !!str", Yaml::String(String::new())),
            ("a: !!str |\n  x", Yaml::String("x\n".into())),
            ("a: !!int 7", Yaml::Number(7.0)),
            ("a: !!float 1", Yaml::Number(1.0)),
            ("a: !!bool true", Yaml::Bool(true)),
            ("a: !!null ~", Yaml::Null),
            ("a: !!seq [!!str b]", Yaml::List(vec![Yaml::String("b".into())])),
            ("---\n!!map\na: '! b'", Yaml::String("! b".into())),
            ("a: b!!", Yaml::String("b!!".into())),
        ] {
            assert_eq!(parse(yaml).unwrap().get("a"), Some(&expected), "{yaml:?}");
        }
    }

    #[test]
    fn a_key_is_written_as_what_it_is() {
        for (yaml, tag, line, column) in [
            ("!x run: npm test", "!x", 1, 1),
            ("!!x run: npm test", "!!x", 1, 1),
            ("a: b\n!!str run: npm test", "!!str", 2, 1),
            ("a: {!x b: c}", "!x", 1, 5),
        ] {
            refused(yaml, YamlProblem::TaggedKey { tag: tag.into() }, place(line, column));
        }
        for (yaml, found, line, column) in [
            ("a: b\n&gate: [c]", ValueKind::Null, 2, 1),
            ("a: b\n~: c", ValueKind::Null, 2, 1),
            ("a: b\n? \n: c", ValueKind::Null, 2, 2),
            ("a: b\n[c, d]: e", ValueKind::List, 2, 1),
            ("{a: b}: c", ValueKind::Mapping, 1, 1),
        ] {
            refused(yaml, YamlProblem::BadKey { found }, place(line, column));
        }
    }

    #[test]
    fn a_directive_and_a_second_document_are_errors() {
        for (yaml, line) in [
            ("%TAG ! tag:x:\n---\na: !y b", 1),
            ("%TAG !! tag:x:\n---\na: !!str b", 1),
            ("# a\n\n%YAML 1.2\n---\na: b", 3),
        ] {
            refused(yaml, YamlProblem::YamlDirective, place(line, 1));
        }
        refused("a: b\n---\nc: d\n", YamlProblem::SecondDocument, place(3, 1));
        refused("---\na: b\n---\n", YamlProblem::SecondDocument, place(4, 1));
        refused("a: b\n...\n%YAML 1.2\n---\nc", YamlProblem::SecondDocument, place(5, 1));
        for yaml in ["---\na: b\n...\n", "# c\n--- # d\na: b", "a: b\n..."] {
            assert!(parse(yaml).is_ok(), "{yaml:?}");
        }
        assert_eq!(locate("a: b\n---\nc: d\n", &[Step::Key("c")]), None);
    }

    #[test]
    fn a_duplicate_key_is_an_error_at_the_second() {
        let duplicate = YamlProblem::DuplicateKey { key: "name".into() };
        refused("name: a\nphases: []\nname: b\n", duplicate, place(3, 1));
    }

    #[test]
    fn a_syntax_error_names_its_place() {
        assert_eq!(parse("a: b\nname: [x").unwrap_err().place, place(3, 1));
        assert_eq!(parse("---\nname: x: y").unwrap_err().place, place(2, 8));
    }

    #[test]
    fn the_help_follows_from_the_text() {
        for (yaml, expected) in [
            ("a:\n\tb: c", "indent with spaces, not with tabs"),
            ("a: b\n\t\nc: d", "indent with spaces, not with tabs"),
            ("a: b: c", "put a value that contains `: ` in quotes"),
            ("a: @b", "put a value that begins with a special character in quotes"),
            ("a: 'b", "look for a quote or bracket that is not closed"),
            ("a: {b} c", "look for a quote or bracket that is not closed"),
        ] {
            let YamlProblem::NotYaml { words, help } = parse(yaml).unwrap_err().problem else {
                panic!("{yaml:?}")
            };
            assert!(help.starts_with(expected), "{yaml:?}: {words}: {help}");
        }
    }

    #[test]
    fn a_text_may_end_within_a_line() {
        for (yaml, expected) in [
            ("a: |\n  x", "x\n"),
            ("a: |-\n  x", "x"),
            ("a: |+\n  x\n  ", "x\n"),
            ("a: |+\n  x\n    ", "x\n  \n"),
            ("a: |\n  x\n  \t", "x\n\t\n"),
            (r"a: '\ud83d\ude80'", r"\ud83d\ude80"),
        ] {
            let parsed = parse(yaml).unwrap();
            assert_eq!(parsed.get("a"), Some(&Yaml::String(expected.into())), "{yaml:?}");
        }
    }

    #[test]
    fn numbers_are_written_as_in_javascript() {
        for (yaml, text) in [
            ("1.0", "1"),
            ("-0", "0"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("-2.5e-7", "-2.5e-7"),
            ("1.25e+300", "1.25e+300"),
            ("5e-324", "5e-324"),
            ("0.000001", "0.000001"),
            (".inf", "Infinity"),
            ("-.inf", "-Infinity"),
            (".nan", "NaN"),
        ] {
            assert_eq!(parse(yaml).unwrap().scalar_text().as_deref(), Some(text));
        }
    }

    #[test]
    fn a_path_leads_to_a_place() {
        let text = "name: x\nphases:\n  - a.md\n  - subworkflow: [1]\n";
        let entry = [Step::Key("phases"), Step::Item(1)];
        assert_eq!(locate(text, &[Step::Key("name")]), place(1, 7));
        assert_eq!(locate(text, &[Step::Key("phases"), Step::Item(0)]), place(3, 5));
        assert_eq!(locate(text, &entry), place(4, 5));
        assert_eq!(locate(text, &[&entry[..], &[Step::Key("subworkflow")]].concat()), place(4, 18));
        assert_eq!(locate(text, &[Step::Name("phases")]), place(2, 1));
        assert_eq!(locate(text, &[Step::Key("none")]), None);
        assert_eq!(locate("b: {a: c}\na: d", &[Step::Key("a")]), place(2, 4));
        let flow = "a: {b: 1, 7: 2}";
        assert_eq!(locate(flow, &[Step::Key("a"), Step::Name("b")]), place(1, 5));
        assert_eq!(locate(flow, &[Step::Key("a"), Step::Name("7")]), place(1, 11));
    }
}
