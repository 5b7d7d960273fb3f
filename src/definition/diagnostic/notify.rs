//! The user's `notify.yaml`.

use super::description::{Description, error};
use crate::definition::model::{MAX_ARGUMENTS, TEXT, TITLE, list};

#[derive(Debug, Clone, PartialEq)]
pub enum NotifyProblem {
    NoWay,
    NotAnOccasion { found: String, suggestion: Option<&'static str> },
    TooManyArguments,
    ControlCharacter,
    RelativeProgram { program: String },
    VariableAsProgram,
    VariableInArgument { variable: &'static str },
    VariableAsCode { variable: &'static str, option: String },
}

impl NotifyProblem {
    pub(crate) fn describe(&self) -> Description {
        match self {
            Self::NoWay => error("nothing is to be notified: there is neither `command` nor `terminal: true`")
                .help("write one, such as `terminal: true`, or delete the file"),
            Self::NotAnOccasion { found, suggestion } => {
                let words = list(&crate::definition::model::schema::OCCASIONS);
                error(format!("`on`: expected some of {words}, found {found}")).suggest(*suggestion)
            }
            Self::TooManyArguments => error(format!("`command` must not have more than {MAX_ARGUMENTS} entries"))
                .help("put them into a script, and name the script"),
            Self::ControlCharacter => error("`command`: an argument cannot have control characters"),
            Self::RelativeProgram { program } => {
                error(format!("`command`: the program `{program}` would be another one in each folder"))
                    .help("write its whole path, or a name in `PATH`")
            }
            Self::VariableAsProgram => {
                error("`command`: the first entry is the program, and no text of a run can be one")
                    .help("write the program first, such as `[notify-send, \"{title}\", \"{text}\"]`")
            }
            Self::VariableInArgument { variable } => {
                error(format!("`command`: `{variable}` stands inside of an argument"))
                    .help(format!("make `{variable}` an argument of its own, or name a script that gets it"))
                    .marking(variable)
            }
            Self::VariableAsCode { variable, option } => {
                error(format!("`command`: `{variable}` stands behind `{option}`, so a program may run it as code"))
                    .help(format!("name a script that gets {TITLE} and {TEXT} as arguments"))
            }
        }
    }
}
