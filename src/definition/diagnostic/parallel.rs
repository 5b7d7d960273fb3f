//! Parallel groups.

use super::description::{Description, error};

#[derive(Debug, Clone, PartialEq)]
pub enum ParallelProblem {
    TooManyBranches { limit: usize, found: usize },
    UnboundedList { name: String, limit: usize, found: String },
    NeedsEach { field: &'static str },
    Nested { inner: String },
    Conversation { phase: String },
    SharedContext { phase: String },
    WritesMeet { branches: [String; 2], files: [Written; 2] },
    ItemsMeet { phase: String, files: Written },
    ValueBeside { field: &'static str, name: String },
    ValueInText { name: String },
}

/// The paths that a phase of a branch can write, as a diagnostic names it.
#[derive(Debug, Clone, PartialEq)]
pub enum Written {
    /// The phase has no `write`.
    Everything { phase: String },
    /// The commands of the phase are not confined.
    Unconfined { phase: String },
    /// A path of the `write` of the phase.
    Path { phase: String, path: String },
}

impl Written {
    fn is_unconfined(&self) -> bool {
        matches!(self, Self::Unconfined { .. })
    }

    fn in_words(&self) -> String {
        match self {
            Self::Everything { phase } => format!("`{phase}` has no `write`"),
            Self::Unconfined { phase } => {
                format!("`{phase}` runs commands with `sandbox: off`, which `write` does not limit")
            }
            Self::Path { phase, path } => format!("`{phase}` has `{path}`"),
        }
    }
}

impl ParallelProblem {
    pub(crate) fn describe(&self) -> Description {
        match self {
            Self::TooManyBranches { limit, found } => {
                error(format!("a parallel group must have at most {limit} branches, found {found}"))
                    .help("`parallel` with a number bounds how many run at a time, not how many there are")
            }
            Self::UnboundedList { name, limit, found } => error(format!(
                "`each`: expected a list of at most {limit} items in a parallel group, found `{name}`, which is {found}"
            ))
            .help(format!("give the list a `max`, as in `{{ type: list, max: {limit} }}`")),
            Self::NeedsEach { field } => {
                error(format!("`{field}` of a parallel group needs `each`: its entries do not lead to each other"))
                    .marking(field)
            }
            Self::Nested { inner } => error(format!("{inner} is a parallel group in a branch of a parallel group"))
                .help("make it an entry beside the outer group, or remove `parallel` from one of them"),
            Self::Conversation { phase } => error(format!(
                "`{phase}` is in a branch of a parallel group, where no phase can be a conversation with the user"
            ))
            .help("remove `interactive`, or ask with an entry `ask` before the group"),
            Self::SharedContext { phase } => error(format!(
                "`{phase}` begins a branch of a parallel group, which sees nothing of the earlier conversation"
            ))
            .help("remove `context: shared`; `results` and values of earlier phases are handed over"),
            Self::WritesMeet { branches: [first, second], files } => {
                let [one, other] = files.each_ref().map(Written::in_words);
                error(format!("the branches `{first}` and `{second}` can write the same files: {one}, {other}")).help(
                    match files.iter().any(Written::is_unconfined) {
                        true => "remove `sandbox: off`",
                        false => "give each phase that can write a `write` with other paths, or `write: []`",
                    },
                )
            }
            Self::ValueBeside { field, name } => error(format!(
                "`{field}`: `{name}` is of another branch of the parallel group, which runs at the same time"
            ))
            .help("use it behind the group, or make its phase an entry before the group"),
            Self::ValueInText { name } => {
                error(format!("`{{{name}}}` is of another branch of the parallel group, which runs at the same time"))
                    .help("use it behind the group, or make its phase an entry before the group")
            }
            Self::ItemsMeet { phase, files } => {
                let why = match files {
                    Written::Everything { .. } => "without `write`".to_owned(),
                    Written::Unconfined { .. } => "with commands that `sandbox: off` does not confine".to_owned(),
                    Written::Path { path, .. } => format!("by `{path}`"),
                };
                error(format!("`{phase}` is in a branch for each item, and all of them can write the same files {why}"))
                    .help(match files.is_unconfined() {
                        true => "remove `sandbox: off`",
                        false => "use `write: []`, paths below `{runDir}/{itemNumber}/`, or a folder with a name from the item, as in `src/{item}/`",
                    })
            }
        }
    }
}
