//! The `tests` of a phase.

use super::description::{Description, failure, suggestion};
use super::meant::Mapping;
use super::value::ValueKind;
use crate::definition::model::RuleFile;

#[derive(Debug, Clone, PartialEq)]
pub enum CallProblem {
    BadTests { field: String, expected: &'static str, found: ValueKind },
    UnknownTests { field: String, known: &'static [&'static str] },
    TooManyTests { limit: usize },
    WrongTest { call: String, workflow: String, decision: Decision, writable: Option<String> },
}

/// The decision on a tool call that contradicts a test of the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// No rule refuses the call.
    Allowed,
    /// `write` allows the path.
    Writable {
        /// The file in which `write` stands.
        by: RuleFile,
    },
    Confined,
    /// `tools` of the phase refuses the call.
    Tools,
    /// `write` refuses the call: the tool may write files.
    MayWrite {
        /// The file in which `write` stands.
        by: RuleFile,
    },
    /// `write` does not list the path.
    Path {
        /// The file in which `write` stands.
        by: RuleFile,
    },
    /// The path lies in `scripts/` of a workflow.
    Kept,
    /// `hide` refuses the call.
    Hidden {
        /// The file in which `hide` stands.
        by: RuleFile,
        /// The tool may read files.
        may_read: bool,
    },
}

impl CallProblem {
    pub(crate) fn describe(&self) -> Description {
        match self {
            Self::BadTests { field, expected, found } => {
                failure(format!("`{field}`: expected {expected}, found {found}"))
            }
            Self::UnknownTests { field, known } => failure(format!("unknown field `{field}` in `tests`"))
                .help(suggestion(field, known, Mapping::Other))
                .marking(field),
            Self::TooManyTests { limit } => failure(format!("`tests` must not have more than {limit} entries")),
            Self::WrongTest { call, workflow, decision, writable } => {
                let wrong = failure(decision.contradiction(call, workflow));
                match (decision, writable) {
                    (Decision::MayWrite { .. }, _) => {
                        wrong.help("the tool may write files; a `tools.whitelist` that names it would allow it")
                    }
                    (Decision::Hidden { may_read: true, .. }, _) => {
                        wrong.help("the tool may read files; a `tools.whitelist` that names it would allow it")
                    }
                    (Decision::Path { .. }, Some(writable)) => wrong.help(format!("`write` has {writable}")),
                    (
                        Decision::Allowed
                        | Decision::Writable { .. }
                        | Decision::Confined
                        | Decision::Tools
                        | Decision::Path { .. }
                        | Decision::Kept
                        | Decision::Hidden { .. },
                        _,
                    ) => wrong,
                }
            }
        }
    }
}

impl Decision {
    /// Returns the message that a test of the call expects the opposite.
    fn contradiction(self, call: &str, workflow: &str) -> String {
        let of = |by| match by {
            RuleFile::Own => "of this phase",
            RuleFile::Workflow => "of workflow.yaml",
        };
        let (decided, wanted) = match self {
            Self::Allowed => ("is allowed: no rule refuses it".to_owned(), "refused"),
            Self::Writable { by } => (format!("is allowed by `write` {}", of(by)), "refused"),
            Self::Confined => ("is allowed, in a sandbox".to_owned(), "refused"),
            Self::Tools => ("is refused by `tools` of this phase".to_owned(), "allowed"),
            Self::MayWrite { by } | Self::Path { by } => (format!("is refused by `write` {}", of(by)), "allowed"),
            Self::Kept => {
                ("is refused: `scripts/` of a workflow stays as it is where a phase has limits".to_owned(), "allowed")
            }
            Self::Hidden { by, .. } => (format!("is refused by `hide` {}", of(by)), "allowed"),
        };
        format!("in the workflow \"{workflow}\", `{call}` {decided}, and the test wants it {wanted}")
    }
}
