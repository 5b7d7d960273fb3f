//! What is wrong in a workflow's files, where, and how it can be fixed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::RangeInclusive;

use super::FileError;
use super::bounded::{MAX_BYTES, MAX_ENTRIES, Total};
use super::excerpt::{Excerpt, on_one_line};
use super::nearest::nearest;

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The workflow loads; something in it is not as its author may think.
    Warning,
    /// The workflow is left out.
    Error,
}

/// One diagnostic of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// The file or folder, as a user would write it.
    pub file: String,
    /// Line and column in it, both from 1, where a place is known.
    pub place: Option<Place>,
    /// What stands there.
    pub excerpt: Option<Excerpt>,
    /// What is wrong.
    pub problem: Problem,
}

/// A place in a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

/// What can be wrong. The words are those of the message to the user.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the messages below say what each case means")]
pub enum Problem {
    Unreadable(FileError),
    NotYaml(String),
    UnknownTag { tag: String },
    NotUtf8,
    NotAMapping { what: &'static str },
    Missing { of: Needs, field: &'static str, instead: Option<String> },
    Blank { field: String },
    WrongType { field: String, expected: &'static str, found: &'static str },
    Ignored { field: String, expected: &'static str, found: &'static str },
    OutOfRange { field: String, range: RangeInclusive<u32>, found: &'static str },
    UnknownPart { of: &'static str, field: String, known: &'static [&'static str] },
    UnknownField { field: String, known: &'static [&'static str] },
    UnknownRule { field: String, rule: &'static str, here: bool },
    UnknownVariable { name: String, field: Option<&'static str>, known: &'static [&'static str] },
    UnknownSummary { id: String, nearest: Option<String> },
    UnknownTool { name: String, nearest: Option<String> },
    ToolInAnotherCase { name: String, tool: String },
    UnknownProfile { name: String, nearest: Option<String> },
    BadCommandName { value: String },
    NotAChoice { field: String, words: &'static [&'static str], value: String },
    NoChoice { field: String, words: &'static [&'static str], found: &'static str },
    NoPhases,
    TooManyPhases { limit: usize },
    BadPhaseEntry { found: &'static str, meant: Option<String> },
    PhaseOutsideRoot { path: String },
    PhaseUnreadable { path: String, error: FileError, nearest: Option<String> },
    NoFrontMatter,
    UnclosedFrontMatter,
    NoInstructions,
    DuplicateId { id: String, first: String, second: String },
    BothToolLists,
    UnknownWorkflow { workflow: String, reference: String, nearest: Option<String> },
    CommandNameAsReference { workflow: String, reference: String, key: String },
    BrokenWorkflow { workflow: String, reference: String },
    Cycle { keys: Vec<String> },
    InCycle { workflow: String, reference: String },
    NestedTooDeep { limit: usize },
    DuplicateCommandName { name: String, first: String, second: String, first_file: String },
    SimilarCommandName { names: [String; 2], keys: [String; 2] },
    SameFolderName { key: String, first: String },
    Shadows { key: String, other: String },
    UnusedPhase,
    Skipped,
    FolderTooDeep,
    WorkflowFileName,
    WorkflowInRoot,
    TotalReached(Total),
    ProfilesOutside,
    GateSize { limit: usize },
    BadCheck,
    SeveralChecks { kinds: Vec<&'static str> },
    UnknownCheckField { field: String, known: &'static [&'static str] },
    MisplacedCheckField { field: &'static str, of: &'static str },
    BadDuration,
    BadExpression { words: String },
    OutsideProject { path: String },
    BadGlob { path: String },
    WideGlob { limit: usize },
    LongLabel { limit: usize },
    UnknownEarlierPhase { id: String, meant: MeantPhase },
    LoopForbidden,
    WithoutGate { field: &'static str },
    UnusedGateAttempts { on_gate_fail: String },
}

/// The value that may be meant by an `onGateFail` that names no earlier phase.
#[derive(Debug, Clone, PartialEq)]
pub enum MeantPhase {
    /// This value.
    Value(String),
    /// The phase of this id, which is a later one of the workflow of this key.
    Later {
        /// The key of the workflow.
        workflow: String,
    },
    /// None that is known.
    Unknown,
}

/// What a file must have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Needs {
    /// What it is, with an article.
    pub what: &'static str,
    /// The fields.
    pub fields: &'static [&'static str],
}

impl Diagnostic {
    /// A diagnostic of a file or folder as a whole.
    pub fn of(file: impl Into<String>, problem: Problem) -> Self {
        Self { file: file.into(), place: None, excerpt: None, problem }
    }

    /// The same at a place in a text, before which `lines_before` more lines stand in the file.
    pub fn at(self, text: &str, place: Option<Place>, lines_before: usize) -> Self {
        let Some(mut place) = place else { return self };
        let lines = text.lines().count();
        if place.line > lines
            && let Some(last) = text.lines().next_back()
        {
            // What is missing at the end of a file is missing behind its last line.
            place = Place { line: lines, column: last.chars().count() + 1 };
        }
        let mut excerpt = Excerpt::of(text, place, lines_before);
        if let Some(length) = self.problem.length() {
            excerpt = excerpt.map(|excerpt| excerpt.marking(length));
        }
        let place = Place { line: place.line + lines_before, ..place };
        Self { place: Some(place), excerpt, ..self }
    }

    /// Whether it keeps its workflow from loading.
    pub fn severity(&self) -> Severity {
        match self.problem {
            Problem::NotUtf8
            | Problem::Ignored { .. }
            | Problem::UnknownField { .. }
            | Problem::UnknownVariable { .. }
            | Problem::UnknownSummary { .. }
            | Problem::UnknownTool { .. }
            | Problem::UnknownProfile { .. }
            | Problem::DuplicateCommandName { .. }
            | Problem::SimilarCommandName { .. }
            | Problem::SameFolderName { .. }
            | Problem::Shadows { .. }
            | Problem::LongLabel { .. }
            | Problem::UnusedPhase
            | Problem::Skipped
            | Problem::UnusedGateAttempts { .. }
            | Problem::ProfilesOutside
            | Problem::FolderTooDeep => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

/// Puts diagnostics in the order of their files and of the places in them, each once: a file that several
/// workflows use is read for each of them.
pub(super) fn sort(diagnostics: &mut Vec<Diagnostic>) {
    let mut seen = BTreeSet::new();
    diagnostics.retain(|diagnostic| seen.insert(diagnostic.to_string()));
    let mut files: Vec<Vec<Diagnostic>> = Vec::new();
    let mut index_of: BTreeMap<String, usize> = BTreeMap::new();
    for diagnostic in diagnostics.drain(..) {
        let index = *index_of.entry(diagnostic.file.clone()).or_insert(files.len());
        match files.get_mut(index) {
            Some(file) => {
                let at = file.partition_point(|other| other.place <= diagnostic.place);
                file.insert(at, diagnostic);
            }
            None => files.push(vec![diagnostic]),
        }
    }
    diagnostics.extend(files.into_iter().flatten());
}

/// `FILE:LINE:COLUMN: message`, the form that editors and terminals make into a link.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location(), self.message())
    }
}

impl Diagnostic {
    /// `FILE:LINE:COLUMN`, as far as it is known.
    pub fn location(&self) -> String {
        let file = on_one_line(&self.file);
        match self.place {
            Some(Place { line, column }) => format!("{file}:{line}:{column}"),
            None => file,
        }
    }

    /// What is wrong, on one line.
    pub fn message(&self) -> String {
        on_one_line(&self.problem.to_string())
    }

    /// How it can be fixed, on one line, where that is not clear from the message.
    pub fn help(&self) -> Option<String> {
        self.problem.help().map(|help| on_one_line(&help))
    }
}

impl Problem {
    /// How many characters are at diagnostic at its place, if it knows.
    fn length(&self) -> Option<usize> {
        let word = match self {
            Self::UnknownPart { field, .. }
            | Self::UnknownField { field, .. }
            | Self::UnknownRule { field, .. }
            | Self::UnknownCheckField { field, .. } => field,
            Self::UnusedGateAttempts { .. } => "gateAttempts",
            Self::Missing { instead: Some(field), .. } => field,
            Self::UnknownTag { tag } => tag,
            Self::UnknownVariable { name, .. } => return Some(name.chars().count() + 2),
            Self::UnknownSummary { id, .. } => {
                return Some(id.chars().count() + "{summary.}".len());
            }
            _ => return None,
        };
        Some(word.chars().count())
    }

    fn help(&self) -> Option<String> {
        let meant = |word: &str, known: &[&'static str]| {
            nearest(word, known.iter().copied()).map(did_you_mean)
        };
        Some(match self {
            Self::NotYaml(words) => return yaml_help(words),
            Self::UnknownTag { .. } => "put a value that begins with `!` in quotes".into(),
            Self::NotUtf8 => "save the file as UTF-8".into(),
            Self::Missing { instead: Some(instead), field, .. } => {
                format!("did you mean `{field}` where it says `{instead}`?")
            }
            Self::WrongType { expected: "a text", found: "a number" | "true or false", .. }
            | Self::Ignored { expected: "a text", found: "a number" | "true or false", .. } => {
                "put the value in quotes".into()
            }
            Self::UnknownCheckField { field, known } => return meant(field, known),
            Self::UnknownPart { field, known, .. } | Self::UnknownField { field, known } => {
                return Some(meant(field, known).unwrap_or_else(|| there_is_only(known)));
            }
            Self::UnknownRule { rule, here: true, .. } => did_you_mean(rule),
            Self::UnknownRule { rule, here: false, .. } => {
                format!("`{rule}` belongs into the front matter of a phase file")
            }
            Self::UnknownVariable { name, known, .. } => match meant_variable(name, known) {
                Some(known) => format!("did you mean `{{{known}}}`?"),
                None => there_is_only(known),
            },
            Self::UnknownSummary { nearest, .. } => {
                format!("did you mean `{{summary.{}}}`?", nearest.as_ref()?)
            }
            Self::UnknownTool { nearest, .. }
            | Self::UnknownProfile { nearest, .. }
            | Self::PhaseUnreadable { nearest, .. }
            | Self::UnknownWorkflow { nearest, .. }
            | Self::BadPhaseEntry { meant: nearest, .. } => {
                return nearest.as_deref().map(did_you_mean);
            }
            Self::ToolInAnotherCase { tool, .. } => did_you_mean(tool),
            Self::CommandNameAsReference { key, .. } => {
                did_you_mean(&format!("subworkflow: {key}"))
            }
            Self::BadCommandName { value } => {
                let words = value.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
                let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
                return (!words.is_empty())
                    .then(|| did_you_mean(&words.join("-").to_ascii_lowercase()));
            }
            Self::NotAChoice { value, words, .. } => return meant(value, words),
            Self::NoChoice { field, found: "`true`", .. } if field == "summary" => {
                did_you_mean("required")
            }
            Self::NoChoice { field, found: "`false`", .. } if field == "summary" => {
                did_you_mean("optional")
            }
            Self::UnclosedFrontMatter => "put a line `---` below the last field".into(),
            Self::WorkflowFileName => "rename it to `workflow.yaml`".into(),
            Self::WorkflowInRoot => {
                "move it and its phase files into a folder; the folder's name is the key of the workflow".into()
            }
            Self::SeveralChecks { .. } => "make an entry of `gate` for each".into(),
            Self::UnusedGateAttempts { .. } => {
                "take it out; `maxLoops` of the workflow says how often the run may go back".into()
            }
            Self::UnknownEarlierPhase { id, meant } => match meant {
                MeantPhase::Value(value) => did_you_mean(value),
                MeantPhase::Later { workflow } => format!(
                    "`{id}` is a later phase of the workflow \"{workflow}\"; a failure can only lead back"
                ),
                MeantPhase::Unknown => return None,
            },
            Self::NoFrontMatter => {
                "begin with `---`, `id: KEY`, `name: NAME`, `emoji: \"🔹\"` and `---`, each on a line of its own".into()
            }
            Self::NoInstructions => "write below the front matter what the agent is to do".into(),
            Self::BrokenWorkflow { reference, .. } => format!("fix \"{reference}\" first"),
            Self::Cycle { .. } => "take one of these references out".into(),
            Self::InCycle { .. } => "fix the cycle first".into(),
            Self::DuplicateCommandName { .. } | Self::SimilarCommandName { .. } => {
                "give each workflow a `commandName` of its own".into()
            }
            Self::DuplicateId { .. } => "give each phase an `id` of its own".into(),
            Self::SameFolderName { .. } => "give each workflow's folder a name of its own".into(),
            Self::UnusedPhase => "name it under `phases` of a workflow.yaml, or delete it".into(),
            Self::BothToolLists => "take one of the two lists out".into(),
            Self::Unreadable(FileError::OutsideProject(_)) | Self::ProfilesOutside => {
                "put the folder itself there, or a link that stays in the project".into()
            }
            Self::TotalReached(_) => {
                "take out of the workflows folders what does not belong to a workflow".into()
            }
            Self::PhaseOutsideRoot { .. } => {
                "move the file into the workflows folder; `../` leads to the folders beside this one".into()
            }
            _ => return None,
        })
    }
}

/// The variable that is meant by a name, by its letters or by what it stands for.
fn meant_variable<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let mut same = SYNONYMS.iter().filter(|(word, _)| name.eq_ignore_ascii_case(word));
    let same = same.find_map(|(_, variable)| known.iter().find(|known| *known == variable));
    same.copied().or_else(|| nearest(name, known.iter().copied()))
}

/// Names that authors take for variables, and the variables; the first that a template knows is meant.
const SYNONYMS: [(&str, &str); 6] = [
    ("task", "description"),
    ("task", "taskDescription"),
    ("description", "taskDescription"),
    ("workflow", "workflowName"),
    ("phase", "phaseName"),
    ("summary", "previousSummary"),
];

/// What there is instead, if a user can take it in.
fn there_is_only(known: &[&str]) -> String {
    if known.len() > MAX_LISTED {
        return "take it out, or look up what there is in docs/reference.md of pi-workflows".into();
    }
    format!("there is only {}", list(known))
}

/// How many words a help lists.
const MAX_LISTED: usize = 7;

fn did_you_mean(word: &str) -> String {
    format!("did you mean `{word}`?")
}

/// What nearly always is the reason where the parser has no better words.
fn yaml_help(words: &str) -> Option<String> {
    Some(if words.contains("mapping values are not allowed") {
        "put a value that contains `: ` in quotes".into()
    } else if words.contains("occurs twice") {
        "take one of the two out".into()
    } else if words.contains("cannot start any token") {
        "indent with spaces, and put a value that begins with a sign in quotes".into()
    } else if words.contains("did not find expected") || words.contains("end of stream") {
        "look for a quote or bracket that is not closed, and put a value that begins with `{` in quotes"
            .into()
    } else {
        return None;
    })
}

/// Words as a user lists them.
fn list(words: &[&str]) -> String {
    match words.split_last() {
        Some((last, [])) => format!("`{last}`"),
        Some((last, others)) => format!("`{}` and `{last}`", others.join("`, `")),
        None => String::new(),
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "cannot be read: {error}"),
            Self::NotYaml(words) => write!(f, "not valid YAML: {words}"),
            Self::UnknownTag { tag } => write!(f, "unknown YAML tag `{tag}`"),
            Self::NotUtf8 => f.write_str("not valid UTF-8; the bad bytes were replaced"),
            Self::NotAMapping { what } => {
                write!(f, "{what} must be a mapping of fields to values")
            }
            Self::Missing { of, field, .. } => {
                write!(f, "{} needs {}; `{field}` is missing", of.what, list(of.fields))
            }
            Self::Blank { field } => write!(f, "`{field}` must not be empty"),
            Self::WrongType { field, expected, found } => {
                write!(f, "`{field}` must be {expected}, but is {found}")
            }
            Self::Ignored { field, expected, found } => {
                write!(f, "`{field}` must be {expected}, but is {found}; it has no effect")
            }
            Self::OutOfRange { field, range, found } => write!(
                f,
                "`{field}` must be a whole number from {} to {}, but is {found}",
                range.start(),
                range.end()
            ),
            Self::UnknownPart { of, field, .. } => write!(f, "`{of}` has no field `{field}`"),
            Self::UnknownField { field, .. } => {
                write!(f, "there is no field `{field}` here; it has no effect")
            }
            Self::UnknownRule { field, .. } => write!(f, "unknown field `{field}`"),
            Self::UnknownVariable { name, field, .. } => {
                match field {
                    Some(field) => write!(f, "`{field}`")?,
                    None => f.write_str("the text of a phase")?,
                }
                write!(f, " knows no variable `{{{name}}}`; it stays as it is written")
            }
            Self::UnknownSummary { id, .. } => {
                write!(f, "no phase has the id \"{id}\"; `{{summary.{id}}}` stays as it is written")
            }
            Self::ToolInAnotherCase { name, .. } => {
                write!(f, "unknown tool \"{name}\": the names of tools are case-sensitive")
            }
            Self::UnknownTool { name, .. } => write!(f, "pi has no tool \"{name}\""),
            Self::UnknownProfile { name, .. } => {
                write!(f, "nobody defines a subagent profile \"{name}\"")
            }
            Self::BadCommandName { value } => write!(
                f,
                "`commandName` may have letters, digits, `_` and `-` only, but is \"{value}\""
            ),
            Self::NotAChoice { field, words, value } => {
                write!(f, "`{field}` must be `{}`, but is \"{value}\"", words.join("` or `"))
            }
            Self::NoChoice { field, words, found } => {
                write!(f, "`{field}`: expected `{}`, found {found}", words.join("` or `"))
            }
            Self::TooManyPhases { limit } => {
                write!(f, "`phases` must not have more than {limit} entries")
            }
            Self::NoPhases => f.write_str("`phases` must have at least one entry"),
            Self::BadPhaseEntry { found, .. } => write!(
                f,
                "an entry of `phases` must be a file name or `subworkflow: KEY`, but is {found}"
            ),
            Self::PhaseOutsideRoot { path } => {
                write!(f, "the phase file \"{path}\" lies outside the workflows folder")
            }
            Self::PhaseUnreadable { path, error, .. } => {
                write!(f, "the phase file \"{path}\" cannot be read: {error}")
            }
            Self::NoFrontMatter => f.write_str(
                "a phase file must begin with front matter: a line `---`, the fields, a line `---`",
            ),
            Self::UnclosedFrontMatter => f.write_str("the front matter is not closed"),
            Self::NoInstructions => f.write_str("there are no instructions below the front matter"),
            Self::DuplicateId { id, first, second } if first == second => write!(
                f,
                "the phase id \"{id}\" occurs twice in this workflow: \"{first}\" is named twice"
            ),
            Self::DuplicateId { id, first, second } => write!(
                f,
                "the phase id \"{id}\" occurs twice in this workflow: in \"{first}\" and in \"{second}\""
            ),
            Self::BothToolLists => {
                f.write_str("`tools` can have a `blacklist` or a `whitelist`, not both")
            }
            Self::CommandNameAsReference { workflow, reference, key } => write!(
                f,
                "the workflow \"{workflow}\" refers to \"{reference}\", which is the `commandName` of \"{key}\" and no key"
            ),
            Self::UnknownWorkflow { workflow, reference, .. } => write!(
                f,
                "the workflow \"{workflow}\" refers to \"{reference}\", which does not exist"
            ),
            Self::BrokenWorkflow { workflow, reference } => write!(
                f,
                "the workflow \"{workflow}\" refers to \"{reference}\", which has errors"
            ),
            Self::Cycle { keys } => {
                write!(f, "the workflows refer to each other in a cycle: {}", keys.join(" → "))
            }
            Self::InCycle { workflow, reference } => write!(
                f,
                "the workflow \"{workflow}\" refers to \"{reference}\", which is part of a cycle"
            ),
            Self::NestedTooDeep { limit } => {
                write!(f, "workflows are nested more than {limit} deep")
            }
            Self::DuplicateCommandName { name, first, second, first_file } => write!(
                f,
                "the command name \"{name}\" is that of \"{second}\" and of \"{first}\" ({first_file}); \"{first}\" is used"
            ),
            Self::SimilarCommandName { names: [first, second], keys: [one, other] } => write!(
                f,
                "the command names \"{first}\" of \"{one}\" and \"{second}\" of \"{other}\" differ in case only"
            ),
            Self::SameFolderName { key, first } => {
                write!(f, "there is a workflow \"{key}\" already ({first}); that one is used")
            }
            Self::Shadows { key, other } => {
                write!(f, "this workflow takes the place of the other \"{key}\" ({other})")
            }
            Self::UnusedPhase => f.write_str("no workflow uses this phase file"),
            Self::Skipped => f.write_str(
                "this is passed over: it is neither a file nor a folder, or a link that leads nowhere or out of the workflows folder",
            ),
            Self::WorkflowFileName => {
                f.write_str("a workflow's file must have the name `workflow.yaml`")
            }
            Self::WorkflowInRoot => {
                f.write_str("a workflow must have a folder of its own in the workflows folder")
            }
            Self::TotalReached(Total::Entries) => write!(
                f,
                "nothing is loaded from here on: the workflows folders have more than {MAX_ENTRIES} entries"
            ),
            Self::TotalReached(Total::Bytes) => write!(
                f,
                "nothing is loaded from here on: the workflow files have more than {} MiB",
                MAX_BYTES >> 20
            ),
            Self::ProfilesOutside => f.write_str(
                "the subagent profiles here are not known: a link leads out of the project",
            ),
            Self::GateSize { limit } => {
                write!(f, "`gate` must have from 1 to {limit} checks")
            }
            Self::BadCheck => {
                f.write_str("a check of a `gate` must have one of `run`, `file` and `approve`")
            }
            Self::SeveralChecks { kinds } => write!(
                f,
                "expected one of `run`, `file` and `approve` in a check, found {}",
                list(kinds)
            ),
            Self::UnknownCheckField { field, known } => {
                write!(f, "a check has no field `{field}`, only `{}`", known.join("`, `"))
            }
            Self::MisplacedCheckField { field, of } => {
                write!(f, "`{field}` belongs to a check with `{of}`")
            }
            Self::LoopForbidden => f.write_str(
                "`onGateFail: loop` cannot be where the workflow says `loopable: false`",
            ),
            Self::WithoutGate { field } => write!(f, "`{field}` means nothing without a `gate`"),
            Self::BadDuration => f.write_str(
                "`gate.timeout` must be a duration like `90s` or `10m`, or a number of seconds, at most a day",
            ),
            Self::BadExpression { words } => {
                write!(f, "`gate.contains` is no regular expression: {words}")
            }
            Self::BadGlob { path } => write!(f, "\"{path}\" is no glob"),
            Self::LongLabel { limit } => {
                write!(f, "`gate.label` is cut: it has more than {limit} characters")
            }
            Self::WideGlob { limit } => write!(
                f,
                "the alternatives in `gate.file` expand to more than {limit} paths; use `*`, or a check with `run`"
            ),
            Self::OutsideProject { path } => {
                write!(f, "the file \"{path}\" of a gate must lie within the project: a path from its directory, with `/`")
            }
            Self::UnknownEarlierPhase { id, .. } => write!(
                f,
                "`onGateFail` must be `stay`, `loop` or the id of an earlier phase of this workflow, but is \"{id}\""
            ),
            Self::UnusedGateAttempts { on_gate_fail } => write!(
                f,
                "unused `gateAttempts`: with `onGateFail: {on_gate_fail}` every failure leads back"
            ),
            Self::FolderTooDeep => {
                f.write_str("folders below this one are too deep to be searched for workflows")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_listed_as_people_do() {
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
