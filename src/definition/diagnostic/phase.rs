//! The list of phases, and phases.

use super::description::{Description, ValueKind, error};
use crate::definition::model::{FileError, GROUP_FIELDS};

#[derive(Debug, Clone, PartialEq)]
pub enum PhaseProblem {
    NoPhases,
    TooManyPhases { limit: usize },
    GroupsTooDeep { limit: usize },
    IdOfTarget { field: String, id: String, of: String },
    BadPhaseEntry { found: ValueKind, help: Option<String> },
    Beside { field: String, kind: &'static str },
    PhaseOutsideRoot { path: String, of_package: bool },
    PhaseUnreadable { path: String, error: FileError, suggestion: Option<String> },
    Unread { field: &'static str, kind: UnreadField },
    UnclosedFrontMatter,
    NoInstructions,
    DuplicateId { id: String, first: String, second: String },
}

/// The place of a field in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadField {
    /// In a file without front matter.
    InText,
    /// Below the front matter.
    BelowFields,
    InPrompt,
}

impl PhaseProblem {
    pub(crate) fn describe(&self) -> Description {
        match self {
            Self::NoPhases => error("`phases` must have at least one entry"),
            Self::TooManyPhases { limit } => error(format!("`phases` must not have more than {limit} entries")),
            Self::IdOfTarget { field, id, of } => {
                error(format!("`{field}`: `{id}` is a target, and also the id of the entry `{of}`"))
                    .help(format!("give that entry another `id`, and name it here if `{field}` means the entry"))
                    .marking(id)
            }
            Self::GroupsTooDeep { limit } => error(format!("groups must not be nested deeper than {limit}"))
                .help("make the inner groups a workflow of their own"),
            Self::BadPhaseEntry { found, help } => {
                let bad = error(format!(
                    "`phases`: expected a file name, `phase: FILE`, `subworkflow: KEY`, `prompt: TEXT`, `run: COMMAND`, `ask: QUESTION` or `phases: [ENTRY, …]`, found {found}"
                ));
                match help {
                    Some(help) => bad.help(help),
                    None => bad,
                }
            }
            Self::Beside { field, kind } => {
                let beside = error(format!("`{field}` cannot stand beside `{kind}`")).marking(field);
                let of = match &**field {
                    "with" => "`subworkflow`",
                    "timeout" | "env" | "outputs" => "`run`",
                    "model" => "`prompt` or `phase`",
                    field if GROUP_FIELDS.contains(&field) && field != "phases" => "`phases` of a group",
                    _ => return beside.help("give each an entry of its own"),
                };
                beside.help(format!("it can stand beside {of}"))
            }
            Self::PhaseOutsideRoot { path, of_package: true } => {
                error(format!("the phase file `{path}` is outside the package"))
                    .help("move the file into the folder of the package")
            }
            Self::PhaseOutsideRoot { path, of_package: false } => {
                error(format!("the phase file `{path}` is outside the workflows folder"))
                    .help("move the file into the workflows folder; `../` leads to the folders beside this one")
            }
            Self::PhaseUnreadable { path, error: cause, suggestion } => {
                let unreadable = error(format!("cannot read the phase file `{path}`: {cause}"));
                match path.contains(" - ") {
                    true => unreadable.help("indent each `-` of a list alike"),
                    false => unreadable.suggest(suggestion.as_ref()),
                }
            }
            Self::Unread { field, kind } => {
                let unread = error(format!("`{field}` is not read: it is part of the text of the phase"));
                let unread = if *kind == UnreadField::InPrompt { unread } else { unread.marking(field) };
                unread.help(match kind {
                    UnreadField::InText => {
                        "begin the file with the line `---`, then the fields, then a line `---`, then the text".to_owned()
                    }
                    UnreadField::BelowFields => format!(
                        "move `{field}` into the front matter, above the second line `---`; put an example in a code fence"
                    ),
                    UnreadField::InPrompt => format!("write `{field}` beside `prompt`; put an example in a code fence"),
                })
            }
            Self::UnclosedFrontMatter => {
                error("the front matter is not closed").help("put a line `---` below the last field")
            }
            Self::NoInstructions => error("missing instructions")
                .help("write what the agent is to do; below the front matter, if there is one"),
            Self::DuplicateId { id, first, second } => {
                let both = if first == second {
                    format!("`{first}` is listed twice")
                } else {
                    format!("in `{first}` and in `{second}`")
                };
                error(format!("duplicate phase id `{id}` in this workflow: {both}"))
                    .help("give each phase an `id` of its own")
            }
        }
    }
}
