//! What is wrong in a workflow's files, and where.

use std::fmt;

use super::FileError;

/// How bad a fault is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The workflow loads; something in it has no effect.
    Warning,
    /// The workflow is left out.
    Error,
}

/// One fault of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// The file or folder, as a person would write it.
    pub file: String,
    /// Line and column in it, both from 1, where a place is known.
    pub place: Option<Place>,
    /// What is wrong.
    pub problem: Problem,
}

/// A place in a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

/// What can be wrong. The words are those of the message to the person.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the messages below say what each case means")]
pub enum Problem {
    Unreadable(FileError),
    NotYaml(String),
    NotUtf8,
    NotAMapping { what: &'static str },
    Missing { field: String },
    Blank { field: String },
    WrongType { field: String, expected: &'static str, found: &'static str },
    Ignored { field: String, expected: &'static str, found: &'static str },
    OutOfRange { field: String, limit: u32, found: &'static str },
    UnknownField { field: String, known: &'static [&'static str] },
    BadCommandName { value: String },
    NotAChoice { field: String, words: &'static [&'static str], value: String },
    NoPhases,
    TooManyPhases { limit: usize },
    BadPhaseEntry { found: &'static str },
    PhaseOutsideRoot { path: String },
    PhaseUnreadable { path: String, error: FileError },
    NoFrontMatter,
    NoInstructions,
    DuplicateId { id: String },
    BothToolLists,
    UnknownWorkflow { workflow: String, reference: String },
    Cycle { keys: Vec<String> },
    InCycle { workflow: String, reference: String },
    NestedTooDeep { limit: usize },
    DuplicateCommandName { name: String, first: String, second: String },
    SameFolderName { key: String, first: String },
    FolderTooDeep,
}

impl Fault {
    /// Whether it keeps its workflow from loading.
    pub fn severity(&self) -> Severity {
        match self.problem {
            Problem::NotUtf8
            | Problem::Ignored { .. }
            | Problem::DuplicateCommandName { .. }
            | Problem::SameFolderName { .. }
            | Problem::FolderTooDeep => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

/// `FILE:LINE:COLUMN: message`, the form that editors and terminals make into a link.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(Place { line, column }) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "cannot be read: {error}"),
            Self::NotYaml(words) => write!(f, "not valid YAML: {words}"),
            Self::NotUtf8 => f.write_str("not valid UTF-8; the bad bytes were replaced"),
            Self::NotAMapping { what } => {
                write!(f, "{what} must be a mapping of fields to values")
            }
            Self::Missing { field } => write!(f, "`{field}` is missing"),
            Self::Blank { field } => write!(f, "`{field}` must not be empty"),
            Self::WrongType { field, expected, found } => {
                write!(f, "`{field}` must be {expected}, but is {found}")
            }
            Self::Ignored { field, expected, found } => {
                write!(f, "`{field}` must be {expected}, but is {found}; it has no effect")
            }
            Self::OutOfRange { field, limit, found } => {
                write!(f, "`{field}` must be a whole number from 0 to {limit}, but is {found}")
            }
            Self::UnknownField { field, known } => {
                write!(f, "there is no field `{field}` here, only `{}`", known.join("`, `"))
            }
            Self::BadCommandName { value } => write!(
                f,
                "`commandName` may have letters, digits, `_` and `-` only, but is \"{value}\""
            ),
            Self::NotAChoice { field, words, value } => {
                write!(f, "`{field}` must be `{}`, but is \"{value}\"", words.join("` or `"))
            }
            Self::TooManyPhases { limit } => {
                write!(f, "`phases` must not have more than {limit} entries")
            }
            Self::NoPhases => f.write_str("`phases` must have at least one entry"),
            Self::BadPhaseEntry { found } => write!(
                f,
                "an entry of `phases` must be a file name or `subworkflow: KEY`, but is {found}"
            ),
            Self::PhaseOutsideRoot { path } => {
                write!(f, "the phase file \"{path}\" lies outside the workflows folder")
            }
            Self::PhaseUnreadable { path, error } => {
                write!(f, "the phase file \"{path}\" cannot be read: {error}")
            }
            Self::NoFrontMatter => f.write_str(
                "a phase file must begin with front matter: a line `---`, the fields, a line `---`",
            ),
            Self::NoInstructions => f.write_str("there are no instructions below the front matter"),
            Self::DuplicateId { id } => {
                write!(f, "the phase id \"{id}\" occurs twice in this workflow")
            }
            Self::BothToolLists => {
                f.write_str("`tools` can have a `blacklist` or a `whitelist`, not both")
            }
            Self::UnknownWorkflow { workflow, reference } => write!(
                f,
                "the workflow \"{workflow}\" refers to \"{reference}\", which does not exist or has errors"
            ),
            Self::Cycle { keys } => {
                write!(f, "the workflows refer to each other in a circle: {}", keys.join(" → "))
            }
            Self::InCycle { workflow, reference } => write!(
                f,
                "the workflow \"{workflow}\" refers to \"{reference}\", which is part of a circle"
            ),
            Self::NestedTooDeep { limit } => {
                write!(f, "workflows are nested more than {limit} deep")
            }
            Self::DuplicateCommandName { name, first, second } => write!(
                f,
                "the command name \"{name}\" is that of \"{first}\" and of \"{second}\"; the first is used"
            ),
            Self::SameFolderName { key, first } => {
                write!(f, "there is a workflow \"{key}\" already ({first}); that one is used")
            }
            Self::FolderTooDeep => {
                f.write_str("folders below this one are too deep to be searched for workflows")
            }
        }
    }
}
