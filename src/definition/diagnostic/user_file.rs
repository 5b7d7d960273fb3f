//! The files of the user's own.

use super::description::{Description, error, warning};
use crate::definition::model::UserFile;

#[derive(Debug, Clone, PartialEq)]
pub enum UserFileProblem {
    NotUtf8,
    OtherName { of: UserFile },
    NotTheUsers { of: UserFile },
}

impl UserFileProblem {
    pub(crate) fn describe(&self) -> Description {
        match self {
            Self::NotUtf8 => error("not valid UTF-8").help("save the file as UTF-8"),
            Self::OtherName { of: UserFile { name, what, .. } } => {
                error(format!("the user's {what} must be in a file named `{name}`"))
                    .help(format!("rename it to `{name}`"))
            }
            Self::NotTheUsers { of: UserFile { name, what, .. } } => {
                warning(format!("unused: {what} are the user's own, and no project has any"))
                    .help(format!("move it to `~/.pi/agent/workflows/{name}`"))
            }
        }
    }
}
