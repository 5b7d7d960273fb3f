//! The folders that a package lists.

use super::description::{Description, error};
use crate::definition::model::FileError;

#[derive(Debug, Clone, PartialEq)]
pub enum PackageProblem {
    FolderOutsidePackage { path: String },
    TooManyFolders { limit: usize },
    FolderUnreadable { path: String, error: FileError },
}

impl PackageProblem {
    pub(crate) fn describe(&self) -> Description {
        match self {
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
