//! Files and folders that are not read, or not as they are.

use super::description::{Description, LINK_OUTSIDE, error, warning};
use crate::definition::model::{FileError, MAX_BYTES, MAX_ENTRIES, MAX_SCRIPT_BYTES, MAX_SCRIPTS, Total};

#[derive(Debug, Clone, PartialEq)]
pub enum FileProblem {
    Unreadable(FileError),
    NotUtf8,
    WorkflowFileName,
    WorkflowInRoot,
    Skipped,
    FolderTooDeep,
    TotalReached(Total),
    TooManyScripts,
    ScriptsTooLarge,
    ScriptNotPlain,
    /// A folder that a package lists.
    FolderOutsidePackage {
        path: String,
    },
    FolderUnreadable {
        path: String,
        error: FileError,
    },
    TooManyFolders {
        limit: usize,
    },
}

/// The help for files that `scripts/` has no room for.
const ELSEWHERE: &str =
    "its files are rules of a run: put what is no script into another folder beside `workflow.yaml`";

impl FileProblem {
    pub(crate) fn describe(&self) -> Description {
        match self {
            Self::Unreadable(cause) => {
                let unreadable = error(format!("cannot be read: {cause}"));
                match cause {
                    FileError::OutsideProject(_) => unreadable.help(LINK_OUTSIDE),
                    FileError::NoSuchRoot
                    | FileError::NotFound
                    | FileError::OutsideRoot
                    | FileError::WrongKind
                    | FileError::TooLarge(_)
                    | FileError::TooMany(_)
                    | FileError::Failed(_) => unreadable,
                }
            }
            Self::NotUtf8 => warning("not valid UTF-8; the invalid bytes were replaced").help("save the file as UTF-8"),
            Self::WorkflowFileName => {
                error("a workflow's file must be named `workflow.yaml`").help("rename it to `workflow.yaml`")
            }
            Self::WorkflowInRoot => error("a workflow must have a folder of its own in the workflows folder")
                .help("move it and its phase files into a folder; the folder's name is the key of the workflow"),
            Self::Skipped => warning(
                "skipped: neither a file nor a folder, or a link that leads nowhere or out of the workflows folder",
            ),
            Self::FolderTooDeep => warning("the folders below this one are not searched: they are too deep"),
            Self::TotalReached(total) => {
                let too_much = match total {
                    Total::Entries => format!("the workflows folders have more than {MAX_ENTRIES} entries"),
                    Total::Bytes => format!("the workflow files have more than {} MiB", MAX_BYTES >> 20),
                };
                error(format!("nothing is loaded from here on: {too_much}"))
                    .help("remove from the workflows folders what does not belong to a workflow")
            }
            Self::TooManyScripts => error(format!("`scripts/` has more than {MAX_SCRIPTS} files")).help(ELSEWHERE),
            Self::ScriptsTooLarge => {
                error(format!("the files in `scripts/` have more than {} MiB", MAX_SCRIPT_BYTES >> 20)).help(ELSEWHERE)
            }
            Self::ScriptNotPlain => error("a link, or neither a file nor a folder, in `scripts/` of a workflow")
                .help("its files are rules of a run, so links there are not followed: put the file itself there"),
            Self::TooManyFolders { limit } => {
                error(format!("`pi-workflows.workflows` must not have more than {limit} entries"))
            }
            Self::FolderOutsidePackage { path } | Self::FolderUnreadable { path, error: FileError::OutsideRoot } => {
                error(format!("the folder `{path}` is outside the package"))
                    .help("list folders of the package, such as `./workflows`")
            }
            Self::FolderUnreadable { path, error: FileError::NotFound } => {
                error(format!("the folder `{path}` does not exist"))
            }
            Self::FolderUnreadable { path, error: cause } => error(format!("cannot read the folder `{path}`: {cause}")),
        }
    }
}
