//! YAML into a small tree, and back from a path in the tree to a place in the text.
//!
//! Positions are not kept while parsing: nearly every file is without a diagnostic. [`locate`] parses
//! once more and stops at the node, where the parser itself names the line and the column.

mod plain;

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess};
use serde::de::{VariantAccess, Visitor};

use super::diagnostic::Place;

/// One YAML value. Only the tags of YAML's core schema are allowed, keys are text, merge keys are ordinary ones (YAML 1.2). What stands in the
/// text as it is meant is borrowed from it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Yaml<'a> {
    Null,
    Bool(bool),
    Number(f64),
    String(Cow<'a, str>),
    List(Vec<Yaml<'a>>),
    Map(Vec<(Cow<'a, str>, Yaml<'a>)>),
}

/// An error in a YAML text, with its place.
#[derive(Debug, PartialEq)]
pub(super) struct YamlError {
    pub kind: YamlErrorKind,
    pub place: Option<Place>,
}

#[derive(Debug, PartialEq)]
pub(super) enum YamlErrorKind {
    /// It is not valid YAML, for the reason in these words.
    NotYaml(String),
    /// It has this tag, which is not of YAML's core schema.
    UnknownTag(String),
}

impl YamlError {
    fn new(words: String, place: Option<Place>) -> Self {
        Self { kind: YamlErrorKind::NotYaml(words), place }
    }

    fn tag(tag: String, place: Option<Place>) -> Self {
        Self { kind: YamlErrorKind::UnknownTag(tag), place }
    }
}

/// One step from a value into a part of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Step<'a> {
    /// The value of a key.
    Key(&'a str),
    /// A key itself.
    Name(&'a str),
    /// An item of a list, from 0.
    Item(usize),
}

impl<'a> Yaml<'a> {
    /// The value of a key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Yaml<'a>> {
        match self {
            Self::Map(entries) => {
                entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// The items, if this is a list.
    pub fn items(&self) -> &[Yaml<'a>] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// What kind of value it is, in words that follow "is".
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "empty",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::String(_) => "a text",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }

    /// A scalar as text, as JavaScript's `String` writes it.
    pub fn scalar_text(&self) -> Option<String> {
        match self {
            Self::Null => Some("null".into()),
            Self::Bool(value) => Some(value.to_string()),
            Self::Number(value) => Some(number_text(*value)),
            Self::String(text) => Some(text.to_string()),
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

/// How long a YAML text may be, in bytes. What the parser does with a text is not always linear.
const MAX_LENGTH: usize = 64 * 1024;

/// How many brackets may be open at once, quoted or not.
const MAX_OPEN_BRACKETS: usize = 200;

/// How many keys a mapping may have.
const MAX_KEYS: usize = 1000;

/// How many places of a text are rewritten for the parser. Each costs another parse.
const MAX_REPAIRS: usize = 20;

/// The tags of YAML's core schema, as the parser hands them over behind [`SHOW_STANDARD_TAGS`].
const CORE_TAGS: [&str; 7] = ["!map", "!seq", "!str", "!null", "!bool", "!int", "!float"];

/// A directive with which `!!x` is a tag of the document's own: only these are handed over by the parser.
const SHOW_STANDARD_TAGS: &str = "%TAG !! !!\n";

/// Parses one YAML document. A key that occurs twice is an error, and so is a tag that is not of YAML's core
/// schema: `run: ! npm test` would lose its `!`. No text at all is [`Yaml::Null`].
pub(super) fn parse(text: &str) -> Result<Yaml<'_>, YamlError> {
    if let Some(yaml) = (text.len() <= MAX_LENGTH).then(|| plain::read(text)).flatten() {
        return Ok(yaml);
    }
    check_size(text)?;
    let (readable, result) = readable(text);
    let yaml = result.map_err(|refusal| match refusal {
        Refusal::Tag(tag, place) => YamlError::tag(tag, place),
        Refusal::Parser(error) => {
            let mut words = error.to_string();
            let place = unclosed_quote(&words)
                .or_else(|| error.location().map(|location| within(text, place_of(location))))
                .or_else(|| second_document(text));
            if let Some(at) = words.find(" at line ") {
                words.truncate(at);
            }
            YamlError::new(words, place)
        }
    })?;
    check_standard_tags(&readable)?;
    Ok(yaml)
}

/// Refuses tags like `!!x` that are not of the core schema.
fn check_standard_tags(text: &str) -> Result<(), YamlError> {
    if !text.contains("!!") {
        return Ok(());
    }
    // Without a `---` of its own a document needs one behind a directive.
    for directives in [SHOW_STANDARD_TAGS.to_owned(), [SHOW_STANDARD_TAGS, "---\n"].concat()] {
        match read(&[&directives, text].concat(), None) {
            Ok(_) => return Ok(()),
            Err(Refusal::Tag(tag, place)) => {
                let lines = directives.lines().count();
                let above =
                    |place: Place| Place { line: place.line.saturating_sub(lines), ..place };
                return Err(YamlError::tag(tag, place.map(above)));
            }
            Err(Refusal::Parser(_)) => {}
        }
    }
    let words = "a document that uses `!!` must not have a %TAG directive for it";
    Err(YamlError::new(words.to_owned(), None))
}

/// Where the quote opens that is still open at the end of the text.
fn unclosed_quote(words: &str) -> Option<Place> {
    let opening = words.strip_prefix("found unexpected end of stream at ")?;
    let (line, column) = opening.split_once("quoted scalar at line ")?.1.split_once(" column ")?;
    Some(Place { line: line.parse().ok()?, column: column.parse().ok()? })
}

/// A place in the text, which the parser may have looked for behind its end.
fn within(text: &str, place: Place) -> Place {
    match text.lines().enumerate().last() {
        Some((index, last)) if !text.ends_with('\n') && place.line > index + 1 => {
            Place { line: index + 1, column: last.chars().count() + 1 }
        }
        _ => place,
    }
}

/// Where a second document begins; the parser does not name the place.
fn second_document(text: &str) -> Option<Place> {
    let line = text.lines().skip(1).position(|line| line.starts_with("---"))?;
    Some(Place { line: line + 2, column: 1 })
}

/// Refuses what would keep the parser busy.
fn check_size(text: &str) -> Result<(), YamlError> {
    if text.len() > MAX_LENGTH {
        let words = format!("the text is longer than {} KiB", MAX_LENGTH / 1024);
        return Err(YamlError::new(words, None));
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
                let words = format!("more than {MAX_OPEN_BRACKETS} brackets are open");
                let place = Some(Place { line: line + 1, column: column + 1 });
                return Err(YamlError::new(words, place));
            }
        }
    }
    Ok(())
}

/// The text as this parser can read it, and what it says.
///
/// The parser stumbles over things that are YAML all the same: a block scalar that ends with the text and not
/// with a line end, tabs in front of nothing, of a comment or behind a dash, and a character beyond U+FFFF
/// that is written as JSON does, in two escapes.
fn readable(text: &str) -> (String, Result<Yaml<'static>, Refusal>) {
    let mut text = text.to_owned();
    if ends_within_a_line(&text) {
        text.push('\n');
    }
    for _ in 0..MAX_REPAIRS {
        let better = match read(&text, None) {
            Err(Refusal::Parser(error)) => {
                repaired(&text, &error).ok_or(Err(Refusal::Parser(error)))
            }
            result => Err(result),
        };
        match better {
            Ok(better) => text = better,
            Err(result) => return (text, result),
        }
    }
    let yaml = read(&text, None);
    (text, yaml)
}

/// Kinds of errors in a YAML text.
enum Refusal {
    /// A tag that is not of the core schema, as it is written.
    Tag(String, Option<Place>),
    Parser(serde_yaml::Error),
}

/// What a text says; with a path, an error at the node that it leads to.
fn read(text: &str, path: Option<&[Step]>) -> Result<Yaml<'static>, Refusal> {
    let unknown_tag = RefCell::default();
    let node = Node { path, key_of: None, unknown_tag: &unknown_tag };
    let result = node.deserialize(serde_yaml::Deserializer::from_str(text));
    result.map_err(|error| match unknown_tag.take() {
        Some(tag) => Refusal::Tag(tag, error.location().map(place_of)),
        None => Refusal::Parser(error),
    })
}

/// Whether the last line says something and has no end. Spaces say something if they are more than those
/// before the text above them: then they belong to a block scalar.
fn ends_within_a_line(text: &str) -> bool {
    let spaces = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let mut lines = text.lines().rev();
    let Some(last) = lines.next().filter(|_| !text.ends_with('\n')) else { return false };
    let above = lines.find(|line| !line.trim().is_empty());
    spaces(last) < last.len() || above.is_some_and(|above| spaces(above) < last.len())
}

/// The text, rewritten where the parser stumbled; `None` if it is not one of the known reasons.
fn repaired(text: &str, error: &serde_yaml::Error) -> Option<String> {
    let place = place_of(error.location()?);
    let start = text.split_inclusive('\n').take(place.line - 1).map(str::len).sum::<usize>();
    let rest = text.get(start..)?;
    let (at, width, instead) = if error.to_string().contains("invalid Unicode character escape") {
        surrogates(rest, place.column)?
    } else {
        idle_tabs(rest).or_else(|| separating_tabs(rest, place.column))?
    };
    let (before, after) = (text.get(..start + at)?, text.get(start + at + width..)?);
    Some([before, &instead, after].concat())
}

/// Lines that begin with a tab somewhere and say nothing: their white space, as spaces.
fn idle_tabs(rest: &str) -> Option<(usize, usize, String)> {
    let idle = |line: &&str| {
        let text = line.trim_start_matches([' ', '\t', '\r', '\n']);
        text.is_empty() || text.starts_with('#')
    };
    let width = rest.split_inclusive('\n').take_while(idle).map(str::len).sum();
    let lines = rest.get(..width)?;
    let spaces = lines.replace('\t', " ");
    (spaces != lines).then_some((0, width, spaces))
}

/// Tabs behind something on the line: as spaces.
fn separating_tabs(rest: &str, column: usize) -> Option<(usize, usize, String)> {
    let (at, _) = rest.char_indices().nth(column - 1)?;
    let (before, after) = rest.split_at_checked(at)?;
    let width = after.find(|c| c != '\t').unwrap_or(after.len());
    let separates = !before.trim_start_matches([' ', '\t']).is_empty() && !before.contains('\n');
    (width > 0 && separates).then(|| (at, width, " ".repeat(width)))
}

/// The two escapes of a pair of surrogates at a column, or just before it: as one escape.
fn surrogates(rest: &str, column: usize) -> Option<(usize, usize, String)> {
    let (column, _) = rest.char_indices().nth(column - 1)?;
    let at = rest.get(..column)?.rfind("\\u")?;
    let unit = |at: usize| {
        let digits = rest.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let pair = [unit(at)?, unit(at + 6)?];
    let character = char::decode_utf16(pair).next()?.ok()?;
    Some((at, 12, format!("\\U{:08x}", u32::from(character))))
}

/// Where in the text the node of a path begins; `None` if there is no such node.
pub(super) fn locate(text: &str, path: &[Step]) -> Option<Place> {
    let (text, _) = readable(text);
    let Err(Refusal::Parser(error)) = read(&text, Some(path)) else { return None };
    error.to_string().contains(FOUND).then(|| error.location().map(place_of))?
}

const FOUND: &str = "node found";

fn place_of(location: serde_yaml::Location) -> Place {
    Place { line: location.line().max(1), column: location.column().max(1) }
}

/// Reads one node. What it refuses, the parser names the place of.
struct Node<'a> {
    /// What leads from here to the node that is looked for, if it is this one or in it.
    path: Option<&'a [Step<'a>]>,
    /// The mapping so far, if this is a key of it.
    key_of: Option<&'a [(Cow<'static, str>, Yaml<'static>)]>,
    /// The tag at which reading ended, if it did.
    unknown_tag: &'a RefCell<Option<String>>,
}

impl<'a> Node<'a> {
    /// A part of this node, to which a step leads.
    fn part(&self, is_step: impl Fn(&Step<'a>) -> bool) -> Self {
        let path = self.path.filter(|_| self.key_of.is_none());
        let (step, rest) = path.and_then(<[Step]>::split_first).unzip();
        let path = rest.filter(|_| step.is_some_and(is_step));
        Self { path, key_of: None, unknown_tag: self.unknown_tag }
    }

    fn scalar<E: de::Error>(self, value: Yaml<'static>) -> Result<Yaml<'static>, E> {
        match self.key_of {
            None if self.is_found() => Err(E::custom(FOUND)),
            None => Ok(value),
            Some(entries) => self.key(value.scalar_text().unwrap_or_default(), entries),
        }
    }

    fn key<E: de::Error>(
        &self,
        key: String,
        entries: &[(Cow<'static, str>, Yaml<'static>)],
    ) -> Result<Yaml<'static>, E> {
        if entries.iter().any(|(name, _)| *name == key) {
            return Err(E::custom(format_args!("the key `{key}` occurs twice")));
        }
        if entries.len() >= MAX_KEYS {
            return Err(E::custom(format_args!("a mapping has more than {MAX_KEYS} keys")));
        }
        if matches!(self.path, Some([Step::Name(name), ..]) if **name == *key) {
            return Err(E::custom(FOUND));
        }
        Ok(Yaml::String(key.into()))
    }

    /// A list or a mapping where a key is; none of the keys that are known is one.
    fn unlike_others<E: de::Error>(
        &self,
        entries: &[(Cow<'static, str>, Yaml<'static>)],
    ) -> Result<Yaml<'static>, E> {
        self.key(format!("(key {})", entries.len() + 1), entries)
    }

    fn is_found(&self) -> bool {
        self.path.is_some_and(<[Step]>::is_empty)
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Yaml<'static>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Yaml<'static>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Yaml<'static>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Yaml<'static>, E> {
        self.scalar(Yaml::Null)
    }

    /// A document without any content.
    fn visit_none<E: de::Error>(self) -> Result<Yaml<'static>, E> {
        self.scalar(Yaml::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Yaml<'static>, E> {
        self.scalar(Yaml::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Yaml<'static>, E> {
        self.scalar(Yaml::Number(value as f64))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Yaml<'static>, E> {
        self.scalar(Yaml::Number(value as f64))
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Yaml<'static>, E> {
        self.scalar(Yaml::Number(value as f64))
    }

    fn visit_u128<E: de::Error>(self, value: u128) -> Result<Yaml<'static>, E> {
        self.scalar(Yaml::Number(value as f64))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Yaml<'static>, E> {
        self.scalar(Yaml::Number(value))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Yaml<'static>, E> {
        self.scalar(Yaml::String(text.to_owned().into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Yaml<'static>, A::Error> {
        if self.key_of.is_none() && self.is_found() {
            return Err(de::Error::custom(FOUND));
        }
        let mut list = Vec::new();
        while let Some(item) =
            items.next_element_seed(self.part(|step| *step == Step::Item(list.len())))?
        {
            list.push(item);
        }
        match self.key_of {
            Some(entries) => self.unlike_others(entries),
            None => Ok(Yaml::List(list)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Yaml<'static>, A::Error> {
        if self.key_of.is_none() && self.is_found() {
            return Err(de::Error::custom(FOUND));
        }
        let mut map: Vec<(Cow<'static, str>, Yaml<'static>)> = Vec::new();
        while let Some(key) = entries.next_key_seed(Node { key_of: Some(&map), ..self })? {
            let key = key.scalar_text().unwrap_or_default();
            let value = entries.next_value_seed(self.part(|step| *step == Step::Key(&key)))?;
            map.push((key.into(), value));
        }
        match self.key_of {
            Some(entries) => self.unlike_others(entries),
            None => Ok(Yaml::Map(map)),
        }
    }

    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<Yaml<'static>, A::Error> {
        let (tag, content) = tagged.variant::<String>()?;
        if CORE_TAGS.contains(&&*tag) {
            return content.newtype_variant_seed(self);
        }
        // The parser leaves the first `!` out, unless it is all there is.
        *self.unknown_tag.borrow_mut() = Some(if tag == "!" { tag } else { format!("!{tag}") });
        Err(de::Error::custom("unknown tag"))
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
            ("!x run: npm test", "!x", 1, 1),
            ("!!x run: npm test", "!!x", 1, 1),
            ("a: !x [b]", "!x", 1, 4),
            ("a: !x {b: c}", "!x", 1, 4),
            ("a: [b, !x c]", "!x", 1, 8),
            ("a:\n  - !!str b\n  - !!set {c: d}", "!!set", 3, 5),
            ("a: {!x b: c}", "!x", 1, 5),
            ("!x\na: b", "!x", 1, 1),
            ("a: &b !x c\nd: *b", "!x", 1, 4),
        ] {
            let error = parse(yaml).unwrap_err();
            assert_eq!(error.kind, YamlErrorKind::UnknownTag(tag.into()), "{yaml:?}");
            assert_eq!(error.place, place(line, column), "{yaml:?}");
        }
        for yaml in [
            "a: !!str 12\nb: !!int 7\nc: !!map {d: !!seq [!!null ~, !!bool true, !!float 1.5]}",
            "a: '! b'",
            "a: b!!",
            "---\n!!map\na: !!str b",
        ] {
            assert!(parse(yaml).is_ok(), "{yaml:?}");
        }
        assert!(parse("%TAG !! tag:x:\n---\na: !!str b").is_err());
    }

    #[test]
    fn a_duplicate_key_is_an_error_at_the_second() {
        let error = parse("name: a\nphases: []\nname: b\n").unwrap_err();
        assert_eq!(error.kind, YamlErrorKind::NotYaml("the key `name` occurs twice".into()));
        assert_eq!(error.place, place(3, 1));
    }

    #[test]
    fn a_syntax_error_names_its_place() {
        let error = parse("name: 'x\n").unwrap_err();
        assert_eq!(error.place, place(1, 7), "where the quote opens");
        assert_eq!(parse("a: b\nname: [x").unwrap_err().place, place(2, 9));
    }

    #[test]
    fn what_the_parser_stumbles_over_is_read() {
        let text = |text: &'static str| Yaml::String(text.into());
        for (yaml, expected) in [
            ("a: |\n  x", text("x\n")),
            ("a: |-\n  x", text("x")),
            ("a: |+\n  x\n  ", text("x\n")),
            ("a: |+\n  x\n    ", text("x\n  \n")),
            ("a: |\n  x\n  \t", text("x\n\t\n")),
            ("\t\na: x\n \t# note\n\t\nb: y", text("x")),
            ("? a\n: x\n\t# note\nb: y", text("x")),
            ("a:\n -\tx\n", Yaml::List(vec![text("x")])),
            (r#"a: "\ud83d\uDE80 and \ud83d\ude80""#, text("🚀 and 🚀")),
            (r"a: '\ud83d\ude80'", text(r"\ud83d\ude80")),
            ("[a, b]: c\n{d: e}: f\na: x", text("x")),
        ] {
            let parsed = parse(yaml).unwrap_or_else(|error| panic!("{yaml:?}: {error:?}"));
            assert_eq!(parsed.get("a"), Some(&expected), "{yaml:?}");
        }
        assert!(parse(r#"a: "\ud83d""#).is_err());
        assert!(parse("a:\n\tb: c").is_err());
        assert_eq!(locate("\t\na: x\n\t\nb: y", &[Step::Key("b")]), place(4, 4));
        assert!(parse(&"\t\na: &a\n".repeat(100)).is_err(), "and it ends");
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
        assert_eq!(locate("{a: b}: c\na: d", &[Step::Key("a")]), place(2, 4));
        let flow = "a: {b: 1, 7: 2}";
        assert_eq!(locate(flow, &[Step::Key("a"), Step::Name("b")]), place(1, 5));
        assert_eq!(locate(flow, &[Step::Key("a"), Step::Name("7")]), place(1, 11));
    }
}
