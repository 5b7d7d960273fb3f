//! Gates: checks that must pass before a phase is left.

use regex_lite::{Regex, RegexBuilder};
use std::cell::OnceCell;
use std::fmt;

use super::bound_values::BoundValue;
use super::values::ValueName;
use super::words::{short, trim};

/// Maximum size of a compiled regular expression, in bytes.
const MAX_EXPRESSION: usize = 1 << 16;

/// Maximum number of paths that the alternatives of a glob expand to.
pub(crate) const MAX_EXPANSIONS: usize = 100;

/// Checks that are made, in order, before a phase is left.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Gate {
    /// At least one.
    pub checks: Vec<Check>,
    /// Number of failures after which the run pauses, from 1. Default: 3.
    pub attempts: BoundValue<u32>,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Check {
    /// Its name for the user and the agent; not blank.
    pub name: String,
    pub kind: CheckKind,
    /// The check is made for this outcome only.
    pub outcome: Option<String>,
}

/// Maximum length of the name of a check, in characters.
pub const MAX_NAME: usize = 100;

/// Returns a text as a name: on one line, and cut.
pub fn as_name(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    short(&words.join(" "), MAX_NAME)
}

/// The condition that a check tests.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum CheckKind {
    /// A command line ends with exit status 0.
    Run {
        command: Command,
        /// The time limit of the command, in milliseconds; see [`BoundValue::milliseconds`].
        timeout: BoundValue<u32>,
    },
    /// A file exists and is not empty.
    File {
        /// A path or glob from the project's directory, with `/`. One matching file is enough.
        path: String,
        /// An expression that must match in the file.
        contains: Option<Pattern>,
    },
}

/// A command line. Values of the run are passed in variables of the environment, never as a part of the line.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Command {
    /// For the shell; empty if the run lacks the value that it is, and else not blank.
    line: String,
    /// The value of the run that is the line, one of [`Command::FORMS`]; `None` for a line of the file.
    value: Option<ValueName>,
    /// In the order of the file.
    env: Vec<Variable>,
    /// See [`Command::agreement`].
    shown: String,
}

/// A variable of a command's environment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Variable {
    /// Its name; see [`is_variable`].
    pub name: String,
    /// The value of the run that the variable holds.
    pub value: ValueName,
}

impl Command {
    /// The forms of the names that can stand for a whole line.
    pub const FORMS: [&str; 2] = [ValueName::INPUT, ValueName::OUTPUT];

    /// Creates a command with the line of a file, which can be the name of a value.
    pub fn new(line: String, env: Vec<Variable>) -> Self {
        let is_allowed = |name: &ValueName| Self::FORMS.contains(&name.form()) && ValueName::can_be(&line);
        let value = ValueName::parse(&line).ok().filter(is_allowed);
        Self::of(line, value, env)
    }

    /// Returns the text by which the user allows this line as a value of a run, whatever variables the command has.
    pub fn given_value(line: &str) -> String {
        format!("{}\n# a value that the user gave", trim(line))
    }

    /// Returns the command with this value of the run as its line.
    pub fn with_line(&self, line: Option<String>) -> Self {
        Self::of(line.unwrap_or_default(), self.value.clone(), self.env.clone())
    }

    fn of(line: String, value: Option<ValueName>, env: Vec<Variable>) -> Self {
        let comment = |Variable { name, value }: &Variable| format!("\n# {name} is {value}, from {}", value.giver());
        let comments: String = env.iter().map(comment).collect();
        let given = if value.is_some() { "\n# a value of the run" } else { "" };
        Self { shown: format!("{line}{given}{comments}"), line, value, env }
    }

    pub fn line(&self) -> &str {
        &self.line
    }

    /// Returns the value of the run that is the line; `None` for a line of the file.
    pub fn value(&self) -> Option<&ValueName> {
        self.value.as_ref()
    }

    pub fn env(&self) -> &[Variable] {
        &self.env
    }

    /// Returns the text that the user agrees to, by which the agreement is remembered: the line, and a comment for each
    /// variable with the name of its value and the party that gives the value. The text leaves out the values
    /// of variables because they differ in each run.
    pub fn agreement(&self) -> Agreement<'_> {
        Agreement { shown: &self.shown, value: self.value.as_ref().map(|_| &*self.line) }
    }
}

/// The text that the user agrees to before something runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agreement<'a> {
    /// See [`Command::agreement`].
    pub shown: &'a str,
    /// The line of a command that is a value of the run.
    pub value: Option<&'a str>,
}

impl<'a> Agreement<'a> {
    /// The agreement to what stands in files.
    pub fn of_files(shown: &'a str) -> Self {
        Self { shown, value: None }
    }
}

impl From<&str> for Command {
    fn from(line: &str) -> Self {
        Self::new(line.to_owned(), Vec::new())
    }
}

/// Maximum length of the name of a variable, in bytes.
const MAX_VARIABLE: usize = 60;

/// Names of variables in lower case that programs read all the same, with `*` for any beginning or end: by curl and
/// others, npm, pnpm and Yarn, zsh and bash, fish, rc, TeX, and scripts of Autoconf.
const READ_BY_PROGRAMS: &str = "*_proxy npm_* pnpm_* yarn_* path fpath cdpath module_path _ \
    fish_* fn_* openin_any openout_any shell_escape* ac_cv_*";

/// Returns the first name of [`READ_BY_PROGRAMS`] that this name matches.
pub fn read_by_programs(name: &str) -> Option<&'static str> {
    let matches = |pattern: &str| match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (None, Some(beginning)) => name.starts_with(beginning),
        (None, None) => name == pattern,
    };
    READ_BY_PROGRAMS.split(' ').find(|pattern| matches(pattern))
}

/// Returns true if a text can be the name of a variable: lower-case letters, digits and `_`, which POSIX keeps for
/// applications (Base Definitions, 8.1), and not [read by programs](read_by_programs).
pub fn is_variable(name: &str) -> bool {
    (1..=MAX_VARIABLE).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && read_by_programs(name).is_none()
}

/// A regular expression; `^` and `$` match at lines. The expression is compiled for matching at its first use; a load
/// only checks it.
#[derive(Clone)]
pub struct Pattern {
    expression: String,
    /// The compiled expression with its [`Pattern::work`]; the inner `None` if the expression cannot be compiled.
    compiled: OnceCell<Option<(Regex, usize)>>,
}

impl Pattern {
    /// Checks that an expression can be compiled within [`MAX_EXPRESSION`].
    pub(crate) fn new(expression: &str) -> Result<Self, regex_lite::Error> {
        build(expression, MAX_EXPRESSION)?;
        Ok(Self { expression: expression.to_owned(), compiled: OnceCell::new() })
    }

    fn is_literal(&self) -> bool {
        !self.expression.contains(|c: char| r"\.+*?()|[]{}^$".contains(c))
    }

    fn compiled(&self) -> Option<&(Regex, usize)> {
        let compile = || {
            // The library does not tell the size of a compiled expression, only if the size is within a limit.
            let mut limit = MAX_EXPRESSION;
            let mut regex = build(&self.expression, limit).ok()?;
            while let Ok(smaller) = build(&self.expression, limit / 4 * 3) {
                (regex, limit) = (smaller, limit / 4 * 3);
            }
            Some((regex, BYTE_WORK + limit))
        };
        self.compiled.get_or_init(compile).as_ref()
    }

    pub fn is_in(&self, text: &str) -> bool {
        if self.is_literal() {
            return text.contains(&self.expression);
        }
        self.compiled().is_some_and(|(regex, _)| regex.is_match(text))
    }

    /// Upper bound of the work for one byte of a text, in about nanoseconds: each byte may need a look at every state
    /// of the compiled expression.
    pub fn work(&self) -> usize {
        if self.is_literal() { LITERAL_WORK } else { self.compiled().map_or(0, |(_, work)| *work) }
    }
}

fn build(expression: &str, limit: usize) -> Result<Regex, regex_lite::Error> {
    RegexBuilder::new(expression).multi_line(true).size_limit(limit).build()
}

/// Work of one byte in a search for a literal text.
const LITERAL_WORK: usize = 10;

/// Work of one byte in a search for an expression, before the size of the expression is taken into account.
const BYTE_WORK: usize = 100;

/// Upper bound of the number of paths that the alternatives of a glob without `\\` expand to: the sizes of its groups,
/// multiplied.
pub fn expansions(glob: &str) -> usize {
    let (mut product, mut open) = (1_usize, Vec::new());
    let mut bytes = glob.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' => {
                // The first member of a class does not end the class.
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

impl std::hash::Hash for Pattern {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        self.to_string().hash(hasher);
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.expression == other.expression
    }
}
