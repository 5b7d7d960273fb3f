//! Gates: checks that must pass before a phase or a workflow is left.

use std::cell::OnceCell;
use std::fmt;

use regex_lite::{Regex, RegexBuilder};

use super::budget::duration;
use super::diagnostic::{Expected, Problem, ValueKind};
use super::excerpt::short;
use super::fields::Fields;
use super::is_blank;
use super::schema::{CHECK_FIELDS, MAX_GATE_ATTEMPTS, names};
use super::yaml::{Step, Yaml};

/// Default time limit of a command, in milliseconds.
const DEFAULT_TIMEOUT_MS: u32 = 10 * 60 * 1000;
/// Maximum time limit of a command, in milliseconds: a day.
const MAX_TIMEOUT_MS: u32 = 24 * 60 * 60 * 1000;
const DEFAULT_ATTEMPTS: u32 = 3;
const MAX_CHECKS: usize = 50;
/// Maximum size of a compiled regular expression, in bytes.
const MAX_EXPRESSION: usize = 1 << 16;
/// Maximum length of a label, in characters.
const MAX_LABEL: usize = 100;
/// Maximum number of paths that the alternatives of a glob expand to.
pub(super) const MAX_EXPANSIONS: usize = 100;
const FIELDS: [&str; CHECK_FIELDS.len()] = names(&CHECK_FIELDS);
/// The fields of which a check has exactly one.
const KINDS: [&str; 3] = ["run", "file", "approve"];

/// Checks that are made, in order, before a phase or a workflow is left.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// At least one.
    pub checks: Vec<Check>,
    /// Number of failures after which the run pauses, from 1. Default: 3.
    pub attempts: u32,
    /// The target of a failure.
    pub on_fail: OnGateFail,
}

/// One check of a gate.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Its name for the user and the agent; not blank.
    pub label: String,
    /// Its kind.
    pub kind: CheckKind,
    /// It is made for this outcome only.
    pub outcome: Option<String>,
}

/// The condition that a check tests.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckKind {
    /// A command line ends with exit status 0.
    Run {
        /// For the shell; not blank.
        command: String,
        /// Its time limit, in milliseconds.
        timeout_ms: u32,
    },
    /// A file exists and is not empty.
    File {
        /// A path or glob from the project's directory, with `/`. One matching file is enough.
        path: String,
        /// An expression that must match in it.
        contains: Option<Pattern>,
    },
    /// A user says yes.
    Approve {
        /// The question; not blank.
        question: String,
    },
}

/// The target of a failure of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum OnGateFail {
    /// The run stays in the phase.
    #[default]
    Stay,
    /// The scope begins again.
    Loop,
    /// The run goes back to the phase of this id in the same workflow.
    Phase(String),
}

/// A regular expression; `^` and `$` match at lines. It is compiled when it is first used: a load only checks it.
#[derive(Clone)]
pub struct Pattern {
    expression: String,
    /// Compiled, with [`Pattern::work`]; `None` inside where it cannot be compiled.
    compiled: OnceCell<Option<(Regex, usize)>>,
}

impl Pattern {
    /// Checks that an expression can be compiled within [`MAX_EXPRESSION`].
    pub(super) fn new(expression: &str) -> Result<Self, regex_lite::Error> {
        build(expression, MAX_EXPRESSION)?;
        Ok(Self { expression: expression.to_owned(), compiled: OnceCell::new() })
    }

    fn is_literal(&self) -> bool {
        !self.expression.contains(|c: char| r"\.+*?()|[]{}^$".contains(c))
    }

    fn compiled(&self) -> Option<&(Regex, usize)> {
        let compile = || {
            // The library does not tell the size of what it compiled, only whether it is within a limit.
            let mut limit = MAX_EXPRESSION;
            let mut regex = build(&self.expression, limit).ok()?;
            while let Ok(smaller) = build(&self.expression, limit / 4 * 3) {
                (regex, limit) = (smaller, limit / 4 * 3);
            }
            Some((regex, BYTE_WORK + limit))
        };
        self.compiled.get_or_init(compile).as_ref()
    }

    /// Tests if it matches in a text.
    pub fn is_in(&self, text: &str) -> bool {
        if self.is_literal() {
            return text.contains(&self.expression);
        }
        self.compiled().is_some_and(|(regex, _)| regex.is_match(text))
    }

    /// Upper bound of the work for each byte of a text, in about nanoseconds: every state of the compiled
    /// expression may be looked at for it.
    pub fn work(&self) -> usize {
        if self.is_literal() { LITERAL_WORK } else { self.compiled().map_or(0, |(_, work)| *work) }
    }
}

fn build(expression: &str, limit: usize) -> Result<Regex, regex_lite::Error> {
    RegexBuilder::new(expression).multi_line(true).size_limit(limit).build()
}

/// The work of a byte in the search for a literal text.
const LITERAL_WORK: usize = 10;
/// That in the search for an expression, before its size is taken into account.
const BYTE_WORK: usize = 100;

/// Upper bound of the number of paths that the alternatives of a glob without `\\` expand to: the sizes of its groups, multiplied.
pub fn expansions(glob: &str) -> usize {
    let (mut product, mut open) = (1_usize, Vec::new());
    let mut bytes = glob.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' => {
                // The first member of a class does not end it.
                bytes.next_if(|byte| matches!(byte, b'^' | b'!'));
                bytes.next();
                bytes.by_ref().find(|byte| *byte == b']');
            }
            b'{' => open.push(1_usize),
            b',' => open.iter_mut().next_back().into_iter().for_each(|size| *size += 1),
            b'}' => product = product.saturating_mul(open.pop().unwrap_or(1)),
            _ => {}
        }
    }
    product
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.expression)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({self})")
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.expression == other.expression
    }
}

/// Reads `gate`, `gateAttempts` and `onGateFail`. Outer `None` if one of them is invalid: an error must not
/// remove a check.
pub(super) fn read(fields: &mut Fields) -> Option<Option<Gate>> {
    let attempts =
        fields.whole_number(&[Step::Key("gateAttempts")], DEFAULT_ATTEMPTS, 1..=MAX_GATE_ATTEMPTS);
    let on_fail = match fields.root.get("onGateFail") {
        None | Some(Yaml::Null) => Some(OnGateFail::Stay),
        Some(Yaml::String(word)) => Some(match &**word {
            "stay" => OnGateFail::Stay,
            "loop" => OnGateFail::Loop,
            id => OnGateFail::Phase(id.to_owned()),
        }),
        Some(other) => {
            let expected = "`stay`, `loop` or the id of an earlier phase";
            wrong_type(fields, &[Step::Key("onGateFail")], "onGateFail", expected, other.kind());
            None
        }
    };
    let items = match fields.root.get("gate") {
        Some(Yaml::Null) => return None,
        None => {
            let there = |field: &&str| !matches!(fields.root.get(field), None | Some(Yaml::Null));
            let field = ["gateAttempts", "onGateFail"].into_iter().find(there);
            if let Some(field) = field {
                fields.report(&[Step::Key(field)], Problem::WithoutGate { field });
            }
            return field.is_none().then_some(None);
        }
        Some(Yaml::List(items)) if items.is_empty() || items.len() > MAX_CHECKS => {
            fields.report(&[Step::Key("gate")], Problem::GateSize { limit: MAX_CHECKS });
            return None;
        }
        Some(Yaml::List(items)) => items.clone(),
        Some(other) => {
            wrong_type(fields, &[Step::Key("gate")], "gate", "a list of checks", other.kind());
            return None;
        }
    };
    let checks: Vec<Option<Check>> =
        items.iter().enumerate().map(|(index, item)| check(fields, index, item)).collect();
    let checks = checks.into_iter().collect::<Option<Vec<_>>>()?;
    Some(Some(Gate { checks, attempts: attempts?, on_fail: on_fail? }))
}

/// Reports a `gateAttempts` that is never reached: each failure leads back, which restarts the count.
pub(super) fn check_attempts(fields: &mut Fields) {
    let there = |field| !matches!(fields.root.get(field), None | Some(Yaml::Null));
    let Some(Yaml::String(word)) = fields.root.get("onGateFail") else { return };
    if word != "stay" && there("gate") && there("gateAttempts") {
        let on_gate_fail = word.clone();
        fields.report(&[Step::Name("gateAttempts")], Problem::UnusedGateAttempts { on_gate_fail });
    }
}

fn check(fields: &mut Fields, index: usize, item: &Yaml) -> Option<Check> {
    let here = [Step::Key("gate"), Step::Item(index)];
    let Yaml::Map(entries) = item else {
        wrong_type(fields, &here, "gate", "a check", item.kind());
        return None;
    };
    let mut sound = true;
    for (key, _) in entries {
        if !FIELDS.contains(&&**key) {
            let at = [Step::Key("gate"), Step::Item(index), Step::Name(key)];
            fields.report(&at, Problem::UnknownCheckField { field: key.clone(), known: &FIELDS });
            sound = false;
        }
    }
    let mut text = |field: &'static str| match item.get(field) {
        None => Some(None),
        // Reported as a field without a value.
        Some(Yaml::Null) => None,
        Some(Yaml::String(text)) if !is_blank(text) => Some(Some(text.clone())),
        Some(other) => {
            let at = [Step::Key("gate"), Step::Item(index), Step::Key(field)];
            let problem = match other {
                Yaml::String(_) => Problem::Blank { field: format!("gate.{field}") },
                other => Problem::WrongType {
                    field: format!("gate.{field}"),
                    expected: Expected::String,
                    found: other.kind(),
                },
            };
            fields.report(&at, problem);
            None
        }
    };
    let [run, file, approve] = KINDS.map(&mut text);
    let (label, contains) = (text("label"), text("contains"));
    let outcome = text("outcome");
    let timeout = timeout(fields, index, item);
    for (field, text) in
        ["run", "file", "approve", "label"].into_iter().zip([&run, &file, &approve, &label])
    {
        let Some(Some(text)) = text else { continue };
        let at = [here[0], here[1], Step::Key(field)];
        sound &= fields.check_literal(&at, &format!("gate.{field}"), text).is_some();
    }
    let (run, file, approve, label, contains) = (run?, file?, approve?, label?, contains?);
    let (timeout_ms, outcome) = (timeout?, outcome?);
    // Errors that follow from one of these are not reported.
    sound.then_some(())?;
    let kinds: Vec<&'static str> =
        KINDS.into_iter().filter(|kind| item.get(kind).is_some()).collect();
    if let &[kind] = &kinds[..] {
        let others = [("timeout", "run"), ("contains", "file")].into_iter();
        let has = |field| item.get(field).is_some_and(|value| *value != Yaml::Null);
        let mut misplaced = others.filter(|&(field, of)| kind != of && has(field)).peekable();
        sound = misplaced.peek().is_none();
        for (field, of) in misplaced {
            fields.report(&here, Problem::MisplacedCheckField { field, of });
        }
        sound.then_some(())?;
    }
    let (default_label, kind) = match (run, file, approve) {
        (Some(command), None, None) => (command.clone(), CheckKind::Run { command, timeout_ms }),
        (None, Some(path), None) => {
            let path = path.replace('\\', "/");
            if path.starts_with('/')
                || path.contains(':')
                || path.split('/').any(|part| part == "..")
            {
                let at = [Step::Key("gate"), Step::Item(index), Step::Key("file")];
                fields.report(&at, Problem::OutsideProject { path });
                return None;
            }
            if fast_glob::validate(&path).is_err() {
                let at = [Step::Key("gate"), Step::Item(index), Step::Key("file")];
                fields.report(&at, Problem::BadGlob { field: "gate.file", path });
                return None;
            }
            if expansions(&path) > MAX_EXPANSIONS {
                let at = [Step::Key("gate"), Step::Item(index), Step::Key("file")];
                fields.report(&at, Problem::WideGlob { field: "gate.file", limit: MAX_EXPANSIONS });
                return None;
            }
            let contains = match contains.map(|expression| Pattern::new(&expression)).transpose() {
                Ok(contains) => contains,
                Err(error) => {
                    let at = [Step::Key("gate"), Step::Item(index), Step::Key("contains")];
                    fields.report(&at, Problem::BadExpression { words: error.to_string() });
                    return None;
                }
            };
            (path.clone(), CheckKind::File { path, contains })
        }
        (None, None, Some(question)) => (question.clone(), CheckKind::Approve { question }),
        (None, None, None)
        | (Some(_), _, Some(_))
        | (Some(_), Some(_), _)
        | (_, Some(_), Some(_)) => {
            fields.report(&here, Problem::NotOneKind { kinds });
            return None;
        }
    };
    let long = |label: &String| label.chars().count() > MAX_LABEL;
    if label.as_ref().is_some_and(long) {
        let at = [Step::Key("gate"), Step::Item(index), Step::Key("label")];
        fields.report(&at, Problem::LongLabel { limit: MAX_LABEL });
    }
    let label = label.unwrap_or(default_label);
    let label = short(&label.split_whitespace().collect::<Vec<_>>().join(" "), MAX_LABEL);
    Some(Check { label, kind, outcome })
}

/// `timeout`: a duration like `90s` or `10m`, or a number of seconds.
fn timeout(fields: &mut Fields, index: usize, item: &Yaml) -> Option<u32> {
    let duration = match item.get("timeout") {
        None | Some(Yaml::Null) => return Some(DEFAULT_TIMEOUT_MS),
        Some(value) => duration(value),
    };
    let milliseconds = duration.and_then(|duration| u32::try_from(duration.as_millis()).ok());
    let found = milliseconds.filter(|found| (1..=MAX_TIMEOUT_MS).contains(found));
    if found.is_none() {
        let at = [Step::Key("gate"), Step::Item(index), Step::Key("timeout")];
        fields.report(&at, Problem::BadDuration);
    }
    found
}

fn wrong_type(
    fields: &mut Fields,
    at: &[Step],
    field: &str,
    expected: &'static str,
    found: ValueKind,
) {
    let (field, expected) = (field.to_owned(), Expected::Other(expected));
    fields.report(at, Problem::WrongType { field, expected, found });
}
