//! YAML into a small tree, with the place of each node.
//!
//! The events are those of the parser inside `serde_yaml`, and the [`Number`] of `serde_yaml` tells which plain scalars
//! are numbers. A text that the parser or `Number` refuses is an error.

use crate::definition::model::short;
use crate::sorted::Map;

use serde_yaml::Number;

use super::events::{Event, Events, Failure, Mark};
use super::yaml_help::{comment_in, quoted, refusal};
use crate::definition::diagnostic::{PathPart, Place, ValueKind, YamlProblem};

/// One YAML value. Keys are text. A scalar that is no text has its text too, as the file has it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Yaml {
    Null,
    Bool(bool, String),
    Number(f64, String),
    String(String),
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>),
}

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
    pub fn get(&self, key: &str) -> Option<&Yaml> {
        match self {
            Self::Map(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            Self::Null | Self::Bool(..) | Self::Number(..) | Self::String(_) | Self::List(_) => None,
        }
    }

    pub fn items(&self) -> &[Yaml] {
        match self {
            Self::List(items) => items,
            Self::Null | Self::Bool(..) | Self::Number(..) | Self::String(_) | Self::Map(_) => &[],
        }
    }

    pub fn kind(&self) -> ValueKind {
        match self {
            Self::Null => ValueKind::Null,
            Self::Bool(..) => ValueKind::Boolean,
            Self::Number(..) => ValueKind::Number,
            Self::String(_) => ValueKind::String,
            Self::List(_) => ValueKind::List,
            Self::Map(_) => ValueKind::Mapping,
        }
    }

    /// Returns a scalar as the file has it.
    pub fn scalar_text(&self) -> Option<String> {
        match self {
            Self::Null => Some("null".into()),
            Self::Bool(_, text) | Self::Number(_, text) | Self::String(text) => Some(text.clone()),
            Self::List(_) | Self::Map(_) => None,
        }
    }
}

/// Maximum length of a YAML text, in bytes. The parser's work is not always linear in the length.
const MAX_LENGTH: usize = 64 * 1024;

/// Maximum number of brackets that are open at once, quoted or not.
const MAX_OPEN_BRACKETS: usize = 200;

/// Maximum number of keys of a mapping.
const MAX_KEYS: usize = 1000;

/// Maximum depth of lists and mappings in each other.
const MAX_DEPTH: usize = 128;

/// Maximum length of a line that is searched for comments, in bytes.
const MAX_LINE: usize = 2000;

/// Maximum length of a part of a line in a message, in characters.
const MAX_SHOWN: usize = 80;

/// Maximum ratio of followed aliases to events: one alias may stand for many others.
const MAX_ALIASES: usize = 100;

/// A directive that keeps the tag `!!x` as it is written: the parser resolves it otherwise.
const KEEP_STANDARD_TAGS: &str = "%TAG !! !!\n";

#[derive(Debug, PartialEq)]
pub(crate) struct Tree {
    pub root: Yaml,
    /// The places of all keys and values, in the order in which a walk meets them.
    pub places: Vec<Place>,
}

impl Tree {
    /// Returns the tree of a value without places of its own.
    pub fn of(root: Yaml) -> Self {
        let places = vec![Place { line: 1, column: 1 }; size(&root)];
        Self { root, places }
    }

    /// Returns a mapping without fields in place of an empty text, if `empty` is true.
    pub fn or_empty(self, empty: bool) -> Self {
        let root = if empty && self.root == Yaml::Null { Yaml::Map(Vec::new()) } else { self.root };
        Self { root, ..self }
    }

    /// Returns the place at which the node of a path begins; `None` if there is no such node.
    pub fn place(&self, path: &[PathPart]) -> Option<Place> {
        self.places.get(self.find(path)?.0).copied()
    }

    /// Returns the part of the tree at a path; `None` if there is no such node.
    pub fn part(&self, path: &[PathPart]) -> Option<Self> {
        let (at, node) = self.find(path)?;
        let root = node?.clone();
        let places = self.places.get(at..at + size(&root))?.to_vec();
        Some(Self { root, places })
    }

    /// Returns the index among the places of the node of a path, and the node if it is a value.
    fn find(&self, path: &[PathPart]) -> Option<(usize, Option<&Yaml>)> {
        let (mut node, mut at) = (&self.root, 0);
        for part in path {
            at += 1;
            match (node, part) {
                (Yaml::Map(entries), PathPart::Name(name) | PathPart::Key(name)) => {
                    let before = entries.iter().take_while(|(key, _)| key != name);
                    at += before.map(|(_, value)| 1 + size(value)).sum::<usize>();
                    if let PathPart::Name(_) = part {
                        entries.iter().find(|(key, _)| key == name)?;
                        return Some((at, None));
                    }
                    at += 1;
                    node = node.get(name)?;
                }
                (Yaml::List(items), PathPart::Item(index)) => {
                    at += items.iter().take(*index).map(size).sum::<usize>();
                    node = items.get(*index)?;
                }
                _ => return None,
            }
        }
        Some((at, Some(node)))
    }
}

/// Returns the number of keys and values in a value, with the value itself.
fn size(value: &Yaml) -> usize {
    1 + match value {
        Yaml::List(items) => items.iter().map(size).sum::<usize>(),
        Yaml::Map(entries) => entries.iter().map(|(_, value)| 1 + size(value)).sum(),
        Yaml::Null | Yaml::Bool(..) | Yaml::Number(..) | Yaml::String(_) => 0,
    }
}

/// Parses one YAML document. A key that occurs twice is an error, and so is a tag that is not of YAML's core
/// schema: `run: ! npm test` would lose its `!`. An empty text is [`Yaml::Null`].
pub(crate) fn parse(text: &str) -> Result<Tree, Box<YamlError>> {
    check_size(text)?;
    let (tree, error) = read(text)?;
    error.map_or(Ok(tree), Err)
}

/// Returns the place at which the node of a path begins; `None` if there is no such node before the first error.
pub(crate) fn locate(text: &str, path: &[PathPart]) -> Option<Place> {
    read(text).ok()?.0.place(path)
}

/// Parses a text up to the first error behind its directives.
fn read(text: &str) -> Result<(Tree, Option<Box<YamlError>>), Box<YamlError>> {
    let source = Source::new(text)?;
    let mut parser = Events::new(&source.text);
    let document = Document::load(&mut parser);
    let mut builder = Builder::new(&document);
    let is_empty = document.events.is_empty() && document.end.is_none();
    let root = if is_empty { Yaml::Null } else { builder.node(false).unwrap_or(Yaml::Null) };
    let Builder { mut refused, marks, .. } = builder;
    let mut tree = Tree { root, places: marks.iter().map(|mark| source.place_of(*mark)).collect() };
    if refused.is_none() {
        refused = match document.end {
            Some(failure) => Some(Refused::by_parser(failure)),
            None => Document::load_next(&mut parser).map(|mark| Refused {
                problem: Ok(YamlProblem::SecondDocument),
                mark,
                begun: None,
            }),
        };
    }
    let error = refused.map(|Refused { problem, mark, begun }| {
        let place = mark.map(|mark| source.place_of(mark));
        let begun = begun.map(|mark| source.place_of(mark));
        let told = problem.map(|problem| (problem, place));
        let (problem, place) = told.unwrap_or_else(|words| refusal(text, words, place, begun));
        YamlError::new(problem, place)
    });
    if tree.places.is_empty() {
        tree.places.push(Place { line: 1, column: 1 });
    }
    Ok((tree, error))
}

/// Returns the problems of texts without quotes that seem to be cut off by a comment, or to reach into another item.
pub(crate) fn check_texts(text: &str) -> Vec<(Place, YamlProblem)> {
    let Ok(source) = Source::new(text) else { return Vec::new() };
    let lines: Vec<&str> = text.lines().collect();
    let mut events = Events::new(&source.text);
    let mut found = Vec::new();
    while let Ok((event, start)) = events.next() {
        let (value, end) = match event {
            Event::StreamEnd => break,
            Event::Scalar { text, plain_end: Some(end), .. } => (text, end),
            _ => continue,
        };
        let (start, end) = (source.place_of(start), source.place_of(end));
        let within = (start.line + 1..=end.line).filter_map(|line| Some((line, *lines.get(line - 1)?)));
        found.extend(within.filter(|(_, line)| line.trim_start().starts_with("- ")).map(|(line, content)| {
            let column = content.len() - content.trim_start().len() + 1;
            (Place { line, column }, YamlProblem::ItemInText)
        }));
        let Some(line) = lines.get(end.line - 1).filter(|line| line.len() <= MAX_LINE) else { continue };
        let at = line.char_indices().nth(end.column - 1).map_or(line.len(), |(at, _)| at);
        let rest = line.get(at..).unwrap_or_default();
        let is_text = matches!(scalar(&value), Yaml::String(_)) && rest.trim_start().starts_with('#');
        if let Some(comment) = comment_in(&format!("x{rest}")).filter(|_| is_text) {
            let column = end.column + rest.len() - rest.trim_start().len();
            let value = line.trim().trim_start_matches("- ");
            let value = value.split_once(": ").map_or(value, |(_, value)| value.trim());
            let (comment, text) = (short(comment, MAX_SHOWN), short(&quoted(value), MAX_SHOWN));
            found.push((Place { column, ..end }, YamlProblem::Comment { comment, text }));
        }
    }
    found
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

/// A YAML text in the form for the parser.
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
        let mut source = KEEP_STANDARD_TAGS.to_owned();
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

    fn place_of(&self, mark: Mark) -> Place {
        let line = (mark.line as usize + 1).saturating_sub(self.lines_before).max(1);
        Place { line, column: mark.column as usize + 1 }
    }
}

/// Returns true if the last line has content and no line end: the parser does not read a block scalar with such an end.
/// Spaces are content if there are more of them than before the text of the line above.
fn ends_within_a_line(text: &str) -> bool {
    let spaces = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let mut lines = text.lines().rev();
    let Some(last) = lines.next().filter(|_| !text.ends_with('\n')) else { return false };
    let above = lines.find(|line| !line.trim().is_empty());
    spaces(last) < last.len() || above.is_some_and(|above| spaces(above) < last.len())
}

/// The events of one document, up to its end or an error.
struct Document {
    events: Vec<(Node, Mark)>,
    end: Option<Failure>,
}

/// An event of a document.
enum Node {
    /// The event at which the named node begins.
    Alias(usize),
    Scalar {
        tag: Option<String>,
        text: String,
        plain: bool,
    },
    List(Option<String>),
    Map(Option<String>),
    /// The end of a list or mapping.
    End,
}

impl Document {
    fn load(parser: &mut Events) -> Self {
        let mut document = Self { events: Vec::new(), end: None };
        let mut anchors: Map<String, usize> = Map::new();
        loop {
            let (event, mark) = match parser.next() {
                Ok(event) => event,
                Err(failure) => {
                    document.end = Some(failure);
                    return document;
                }
            };
            let (anchor, node) = match event {
                Event::Start => continue,
                Event::DocumentEnd | Event::StreamEnd => return document,
                Event::Alias(name) => match anchors.get(&name) {
                    Some(&target) => (None, Node::Alias(target)),
                    None => {
                        let words = "unknown anchor".to_owned();
                        document.end = Some(Failure { words, mark: Some(mark), begun: None });
                        return document;
                    }
                },
                Event::Scalar { anchor, tag, text, plain_end } => {
                    (anchor, Node::Scalar { tag, text, plain: plain_end.is_some() })
                }
                Event::List { anchor, tag } => (anchor, Node::List(tag)),
                Event::Map { anchor, tag } => (anchor, Node::Map(tag)),
                Event::ListEnd | Event::MapEnd => (None, Node::End),
            };
            if let Some(anchor) = anchor {
                anchors.insert(anchor, document.events.len());
            }
            document.events.push((node, mark));
        }
    }

    /// Returns the place of the next document's first node, or of an earlier error; outer `None` without a document.
    fn load_next(parser: &mut Events) -> Option<Option<Mark>> {
        loop {
            return match parser.next() {
                Ok((Event::Start, _)) => continue,
                Ok((Event::StreamEnd, _)) => None,
                Ok((_, mark)) => Some(Some(mark)),
                Err(failure) => Some(failure.mark),
            };
        }
    }
}

/// A part of the path to a node, for the words of an error.
enum Part {
    Item(usize),
    Key(String),
}

/// The first error.
struct Refused {
    /// The problem, or the words about a text that is not YAML.
    problem: Result<YamlProblem, String>,
    mark: Option<Mark>,
    /// As in [`Failure`].
    begun: Option<Mark>,
}

impl Refused {
    fn by_parser(Failure { words, mark, begun }: Failure) -> Self {
        Self { problem: Err(words), mark, begun }
    }
}

/// Builds the tree of a document. After the first error the tree has the nodes before the error.
struct Builder<'a> {
    document: &'a Document,
    /// The next event.
    at: usize,
    depth: usize,
    aliases_followed: usize,
    /// The places of the nodes so far.
    marks: Vec<Mark>,
    path: Vec<Part>,
    refused: Option<Refused>,
}

impl<'a> Builder<'a> {
    fn new(document: &'a Document) -> Self {
        Self { document, at: 0, depth: 0, aliases_followed: 0, marks: Vec::new(), path: Vec::new(), refused: None }
    }

    fn refuse<T>(&mut self, problem: YamlProblem, mark: Mark) -> Option<T> {
        self.refused = Some(Refused { problem: Ok(problem), mark: Some(mark), begun: None });
        None
    }

    /// Refuses a value with the words of `serde`, behind the path to it.
    fn invalid<T>(&mut self, words: &str, mark: Mark) -> Option<T> {
        let mut path = String::new();
        for part in &self.path {
            match part {
                Part::Item(index) if path.is_empty() => path = format!(".[{index}]"),
                Part::Item(index) => path.push_str(&format!("[{index}]")),
                Part::Key(key) if path.is_empty() => path.push_str(key),
                Part::Key(key) => path.push_str(&format!(".{key}")),
            }
        }
        let words = if path.is_empty() { words.to_owned() } else { format!("{path}: {words}") };
        self.refused = Some(Refused { problem: Err(words), mark: Some(mark), begun: None });
        None
    }

    /// Reads one node; `None` after an error, unless it is a list or mapping with content before the error.
    fn node(&mut self, is_key: bool) -> Option<Yaml> {
        let document = self.document;
        let Some((node, mark)) = document.events.get(self.at) else {
            let end = document.end.clone();
            let end = end.unwrap_or(Failure { words: String::new(), mark: None, begun: None });
            self.refused = Some(Refused::by_parser(end));
            return None;
        };
        self.at += 1;
        let (tag, mark) = match node {
            Node::Alias(target) => return self.alias(*target, is_key),
            Node::Scalar { tag, .. } | Node::List(tag) | Node::Map(tag) => (tag.as_deref(), *mark),
            Node::End => (None, *mark),
        };
        let known = self.marks.len();
        self.marks.push(mark);
        let value = match tag.and_then(|tag| tag.strip_prefix('!').map(|_| tag)) {
            Some(tag) if is_key => self.refuse(YamlProblem::TaggedKey { tag: tag.into() }, mark),
            Some(tag) => self.tagged(tag, node, mark),
            None => self.content(tag, node, mark, is_key),
        };
        if value.is_none() {
            self.marks.truncate(known);
        }
        value
    }

    fn alias(&mut self, target: usize, is_key: bool) -> Option<Yaml> {
        self.aliases_followed += 1;
        if self.aliases_followed > self.document.events.len() * MAX_ALIASES {
            let words = "repetition limit exceeded".to_owned();
            self.refused = Some(Refused { problem: Err(words), mark: None, begun: None });
            return None;
        }
        let behind = std::mem::replace(&mut self.at, target);
        let value = self.node(is_key);
        self.at = behind;
        value
    }

    /// Returns the value of a node with a tag that begins with `!`: a tag of the core schema that fits the value.
    fn tagged(&mut self, tag: &str, node: &Node, mark: Mark) -> Option<Yaml> {
        let value = match (tag, node) {
            ("!!str", Node::Scalar { text, .. }) => return Some(Yaml::String(text.clone())),
            ("!!str", Node::List(_)) => {
                return self.invalid("invalid type: sequence, expected a scalar", mark);
            }
            ("!!str", _) => return self.invalid("invalid type: map, expected a scalar", mark),
            ("!!map" | "!!seq" | "!!null" | "!!bool" | "!!int" | "!!float", Node::Scalar { text, plain, .. }) => {
                if *plain {
                    scalar(text)
                } else {
                    Yaml::String(text.clone())
                }
            }
            ("!!map" | "!!seq" | "!!null" | "!!bool" | "!!int" | "!!float", _) => {
                self.content(None, node, mark, false)?
            }
            _ => return self.refuse(YamlProblem::UnknownTag { tag: tag.into() }, mark),
        };
        let fits = match &value {
            Yaml::Null => tag == "!!null",
            Yaml::Bool(..) => tag == "!!bool",
            Yaml::Number(number, _) => tag == "!!float" || (tag == "!!int" && number.fract() == 0.0),
            Yaml::String(_) => false,
            Yaml::List(_) => tag == "!!seq",
            Yaml::Map(_) => tag == "!!map",
        };
        if !fits && self.refused.is_none() {
            let found = value.kind();
            return self.refuse(YamlProblem::WrongTag { tag: tag.into(), found }, mark);
        }
        Some(value)
    }

    fn content(&mut self, tag: Option<&str>, node: &Node, mark: Mark, is_key: bool) -> Option<Yaml> {
        let found = match node {
            Node::Scalar { text, plain, .. } => {
                return match tag {
                    None if *plain => Some(scalar(text)),
                    None => Some(Yaml::String(text.clone())),
                    Some(tag) => self.verbatim(tag, text, mark),
                };
            }
            Node::List(_) => ValueKind::List,
            Node::Map(_) | Node::Alias(_) | Node::End => ValueKind::Mapping,
        };
        if self.depth == MAX_DEPTH {
            let words = "recursion limit exceeded".to_owned();
            self.refused = Some(Refused { problem: Err(words), mark: Some(mark), begun: None });
            return None;
        }
        if is_key {
            return self.refuse(YamlProblem::BadKey { found }, mark);
        }
        self.depth += 1;
        let value = if found == ValueKind::List { self.list() } else { self.map() };
        self.depth -= 1;
        Some(value)
    }

    /// Returns the value of a scalar with a tag that is written in full, as `!<tag:yaml.org,2002:int>`.
    fn verbatim(&mut self, tag: &str, text: &str, mark: Mark) -> Option<Yaml> {
        let value = scalar(text);
        let expected = match (tag.strip_prefix("tag:yaml.org,2002:"), &value) {
            (Some("bool"), Yaml::Bool(..)) | (Some("float"), Yaml::Number(..)) => return Some(value),
            (Some("int"), Yaml::Number(number, _)) if number.fract() == 0.0 => return Some(value),
            (Some("null"), Yaml::Null) if !text.is_empty() => return Some(value),
            (Some("bool"), _) => "a boolean",
            (Some("int"), _) => "an integer",
            (Some("float"), _) => "a float",
            (Some("null"), _) => "null",
            _ => return Some(Yaml::String(text.to_owned())),
        };
        self.invalid(&format!("invalid value: string {text:?}, expected {expected}"), mark)
    }

    fn is_at_end(&self) -> bool {
        matches!(self.document.events.get(self.at), Some((Node::End, _)))
    }

    fn list(&mut self) -> Yaml {
        let mut list = Vec::new();
        while !self.is_at_end() {
            self.path.push(Part::Item(list.len()));
            let item = self.node(false);
            self.path.pop();
            list.extend(item);
            if self.refused.is_some() {
                return Yaml::List(list);
            }
        }
        self.at += 1;
        Yaml::List(list)
    }

    fn map(&mut self) -> Yaml {
        let mut map: Vec<(String, Yaml)> = Vec::new();
        while !self.is_at_end() {
            let known = self.marks.len();
            let Some(key) = self.key(&map) else {
                self.marks.truncate(known);
                return Yaml::Map(map);
            };
            self.path.push(Part::Key(key.clone()));
            let value = self.node(false);
            self.path.pop();
            match value {
                Some(value) => map.push((key, value)),
                None => self.marks.truncate(known),
            }
            if self.refused.is_some() {
                return Yaml::Map(map);
            }
        }
        self.at += 1;
        Yaml::Map(map)
    }

    fn key(&mut self, before: &[(String, Yaml)]) -> Option<String> {
        let value = self.node(true)?;
        let mark = self.marks.last().copied()?;
        let Some(key) = value.scalar_text().filter(|_| value != Yaml::Null) else {
            return self.refuse(YamlProblem::BadKey { found: value.kind() }, mark);
        };
        // YAML 1.2 has no merge keys: the fields would not hold.
        if key == "<<" {
            return self.refuse(YamlProblem::MergeKey, mark);
        }
        if before.iter().any(|(name, _)| *name == key) {
            return self.refuse(YamlProblem::DuplicateKey { key }, mark);
        }
        if before.len() >= MAX_KEYS {
            return self.refuse(YamlProblem::TooManyKeys { limit: MAX_KEYS }, mark);
        }
        Some(key)
    }
}

/// Returns the value of a plain scalar, by YAML's core schema.
fn scalar(text: &str) -> Yaml {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Yaml::Null,
        "true" | "True" | "TRUE" => return Yaml::Bool(true, text.to_owned()),
        "false" | "False" | "FALSE" => return Yaml::Bool(false, text.to_owned()),
        _ => {}
    }
    number(text).map_or_else(|| Yaml::String(text.to_owned()), |number| Yaml::Number(number, text.to_owned()))
}

/// Returns the number of a plain scalar that is a number.
fn number(text: &str) -> Option<f64> {
    text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')).then_some(())?;
    match text.parse::<Number>() {
        Ok(number) => number.as_f64(),
        Err(_) => large_integer(text),
    }
}

/// Returns the number of an integer that 64 bits do not hold.
fn large_integer(text: &str) -> Option<f64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, radix) = match digits.get(..2) {
        Some("0x") => (digits.get(2..)?, 16),
        Some("0o") => (digits.get(2..)?, 8),
        Some("0b") => (digits.get(2..)?, 2),
        _ => (digits, 10),
    };
    let is_integer = digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) && text.len() > 2;
    let leading_zero = radix == 10 && digits.starts_with('0');
    let value = u128::from_str_radix(digits, radix).ok().filter(|_| is_integer && !leading_zero)?;
    #[allow(clippy::cast_precision_loss, reason = "a number is one of JavaScript's")]
    Some(sign * value as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: usize, column: usize) -> Option<Place> {
        Some(Place { line, column })
    }

    #[test]
    fn values_follow_the_core_schema() {
        let parsed = parse("a: yes\nb: TRUE\nc: 2024-01-01\nd: 0x1f\ne: ~\nf: !!seq [1]\n1: y").unwrap().root;
        assert_eq!(parsed.get("a"), Some(&Yaml::String("yes".into())));
        assert_eq!(parsed.get("b"), Some(&Yaml::Bool(true, "TRUE".into())));
        assert_eq!(parsed.get("c"), Some(&Yaml::String("2024-01-01".into())));
        assert_eq!(parsed.get("d"), Some(&Yaml::Number(31.0, "0x1f".into())));
        assert_eq!(parsed.get("e"), Some(&Yaml::Null));
        assert_eq!(parsed.get("f"), Some(&Yaml::List(vec![Yaml::Number(1.0, "1".into())])));
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
            ("a: !!int 7", Yaml::Number(7.0, "7".into())),
            ("a: !!float 1", Yaml::Number(1.0, "1".into())),
            ("a: !!bool true", Yaml::Bool(true, "true".into())),
            ("a: !!null ~", Yaml::Null),
            ("a: !!seq [!!str b]", Yaml::List(vec![Yaml::String("b".into())])),
            ("---\n!!map\na: '! b'", Yaml::String("! b".into())),
            ("a: b!!", Yaml::String("b!!".into())),
        ] {
            assert_eq!(parse(yaml).unwrap().root.get("a"), Some(&expected), "{yaml:?}");
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
        assert_eq!(locate("a: b\n---\nc: d\n", &[PathPart::Key("c")]), None);
    }

    #[test]
    fn a_duplicate_key_is_an_error_at_the_second() {
        let duplicate = YamlProblem::DuplicateKey { key: "name".into() };
        refused("name: a\nphases: []\nname: b\n", duplicate, place(3, 1));
    }

    #[test]
    fn a_syntax_error_names_its_place() {
        assert_eq!(parse("a: b\nname: [x").unwrap_err().place, place(2, 7));
        assert_eq!(parse("---\nname: x: y").unwrap_err().place, place(2, 8));
    }

    #[test]
    fn the_help_follows_from_the_text() {
        for (yaml, expected) in [
            ("a:\n\tb: c", "indent with spaces, not with tabs"),
            ("a: b\n\t\nc: d", "indent with spaces, not with tabs"),
            ("a: b: c", "put the text in quotes: `a: \"b: c\"`"),
            ("a: @b", "put the text in quotes: `a: \"@b\"`"),
            ("a: 'b", "close the quote or bracket here"),
            ("a: [b\nc: d", "close the quote or bracket here"),
            ("a: {b} c", "put the text in quotes: `a: \"{b} c\"`"),
            ("a:\n  - b\n - c", "indent each `-` of a list alike: the one above has 2 spaces before it"),
            ("a: b #1\n  c", "` #` begins a comment: put a text that contains it in quotes"),
            ("a: *b", "put the text in quotes"),
            ("a: [*.md]", "put a text that begins with a special character in quotes"),
            ("? `b", "put a text that begins with a special character in quotes"),
        ] {
            let YamlProblem::NotYaml { words, help } = parse(yaml).unwrap_err().problem else { panic!("{yaml:?}") };
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
            let parsed = parse(yaml).unwrap().root;
            assert_eq!(parsed.get("a"), Some(&Yaml::String(expected.into())), "{yaml:?}");
        }
    }

    #[test]
    fn scalars_keep_their_text() {
        let texts = ["3.10", "1234567890123456789", "+49301234", "1e3", "0x1F", "-0", "1.0", ".inf", "True", "FALSE"];
        for text in texts {
            let root = parse(&format!("{text}: [{text}]\na: {text} # b\nc: !!str {text}\n")).unwrap().root;
            let is_text = |value: &Yaml| value.scalar_text().as_deref() == Some(text);
            assert!(root.get(text).is_some_and(|list| list.items().iter().all(is_text)), "{text}");
            assert!(root.get("a").is_some_and(is_text) && root.get("c").is_some_and(is_text), "{text}");
        }
    }

    #[test]
    fn a_path_leads_to_a_place() {
        let text = "name: x\nphases:\n  - a.md\n  - subworkflow: [1]\n";
        let entry = [PathPart::Key("phases"), PathPart::Item(1)];
        assert_eq!(locate(text, &[PathPart::Key("name")]), place(1, 7));
        assert_eq!(locate(text, &[PathPart::Key("phases"), PathPart::Item(0)]), place(3, 5));
        assert_eq!(locate(text, &entry), place(4, 5));
        assert_eq!(locate(text, &[&entry[..], &[PathPart::Key("subworkflow")]].concat()), place(4, 18));
        assert_eq!(locate(text, &[PathPart::Name("phases")]), place(2, 1));
        assert_eq!(locate(text, &[PathPart::Key("none")]), None);
        assert_eq!(locate("b: {a: c}\na: d", &[PathPart::Key("a")]), place(2, 4));
        let flow = "a: {b: 1, 7: 2}";
        assert_eq!(locate(flow, &[PathPart::Key("a"), PathPart::Name("b")]), place(1, 5));
        assert_eq!(locate(flow, &[PathPart::Key("a"), PathPart::Name("7")]), place(1, 11));
    }

    /// Returns true if `serde_yaml` reads the same value.
    fn same(ours: &Yaml, theirs: &serde_yaml::Value) -> bool {
        use serde_yaml::Value;
        match (ours, theirs) {
            (Yaml::Null, Value::Null) => true,
            (Yaml::Bool(ours, _), Value::Bool(theirs)) => ours == theirs,
            (Yaml::Number(ours, _), Value::Number(theirs)) => {
                theirs.as_f64().is_some_and(|theirs| *ours == theirs || ours.is_nan() && theirs.is_nan())
            }
            (Yaml::String(ours), Value::String(theirs)) => ours == theirs,
            (Yaml::List(ours), Value::Sequence(theirs)) => {
                ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| same(ours, theirs))
            }
            (Yaml::Map(ours), Value::Mapping(theirs)) => {
                ours.len() == theirs.len()
                    && ours
                        .iter()
                        .zip(theirs)
                        .all(|((name, ours), (key, theirs))| key.as_str() == Some(name) && same(ours, theirs))
            }
            _ => false,
        }
    }

    #[test]
    fn values_are_those_of_serde_yaml() {
        for text in [
            "a: &x {b: 1}\nc: *x\nd: [*x, *x]\n",
            "a: 0x1F\nb: 0o17\nc: 0b11\nd: -0x5\ne: +7\nf: 012\ng: 1e400\nh: .5\ni: -.inf\nj: .NaN\n",
            "a: 1_000\nb: +-1\nc: --1\nd: -0\ne: 00\nf: 1.\ng: 1e5\nh: 0x\ni: +\nj: .\nk: 18446744073709551615\n",
            "a: |\n  x\n\n  y\nb: >-\n  x\n  y\nc: 'it''s'\nd: \"\\x41\\u00e9\\n\"\n",
            "- - a\n  - [b, {c: d}]\n-\n- ''\n",
            "a: ~\nb: Null\nc: TRUE\nd: False\ne: yes\nf: 2024-01-01\n",
            "name: é\nphases: [a.md, {phase: b.md}]\n# end\n",
        ] {
            let theirs = serde_yaml::from_str(text).unwrap();
            let ours = parse(text).unwrap().root;
            assert!(same(&ours, &theirs), "{text}\n{ours:?}\n{theirs:?}");
        }
    }

    #[test]
    fn an_alias_stands_for_the_newest_anchor_of_its_name() {
        let root = parse("a: &x 1\nb: &x 2\nc: &y 3\nd: *x\n").unwrap().root;
        assert_eq!(root.get("d"), Some(&Yaml::Number(2.0, "2".into())));
    }

    #[test]
    fn large_integers_are_numbers() {
        for (text, number) in [
            ("99999999999999999999", 1e20),
            ("-99999999999999999999", -1e20),
            ("0x1ffffffffffffffffffff", 2.417_851_639_229_258_3e24),
            ("340282366920938463463374607431768211456", 2f64.powi(128)),
        ] {
            assert_eq!(parse(text).unwrap().root, Yaml::Number(number, text.into()), "{text}");
        }
    }

    #[test]
    fn an_alias_cannot_stand_for_too_much() {
        let list = |name: char, of: &str| format!("{name}: &{name} [{}]\n", [of; 9].join(", "));
        let names = ["x", "*a", "*b", "*c", "*d", "*e"];
        let text: String = "abcdef".chars().zip(names).map(|(name, of)| list(name, of)).collect();
        let words = |text: &str| match parse(text).unwrap_err().problem {
            YamlProblem::NotYaml { words, .. } => words,
            other => panic!("{other:?}"),
        };
        assert_eq!(words(&text), "repetition limit exceeded");
        assert_eq!(words("a: &a [*a]"), "recursion limit exceeded");
        assert_eq!(words("a: *b"), "unknown anchor");
        assert_eq!(words("a:\n - !!str [b]"), "a[0]: invalid type: sequence, expected a scalar");
    }
}
