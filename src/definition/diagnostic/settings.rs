//! The user's `settings.yaml`.

use super::description::{Description, error, warning};
use crate::definition::model::SETTINGS_FILE;

#[derive(Debug, Clone, PartialEq)]
pub enum SettingsProblem {
    NotUtf8,
    NotAWait,
    NoProgram,
    OtherName,
    NotTheUsers,
    /// A file of the user's that is no more, the key in its place, and the line that has its content.
    LeftOver {
        name: &'static str,
        key: &'static str,
        line: Option<String>,
    },
}

impl SettingsProblem {
    pub(crate) fn describe(&self) -> Description {
        match self {
            Self::NotUtf8 => error("not valid UTF-8").help("save the file as UTF-8"),
            Self::NotAWait => {
                error("`wait`: expected a duration of at most 7 days").help("write it like `6h` or `90m`")
            }
            Self::NoProgram => error("`onEvent` has no program").help("write it first, as in `onEvent: [~/bin/tell]`"),
            Self::OtherName => error(format!("the user's settings must be in a file named `{SETTINGS_FILE}`"))
                .help(format!("rename it to `{SETTINGS_FILE}`")),
            Self::NotTheUsers => warning("unused: settings are the user's own, and no project has any")
                .help(format!("move it to `~/.pi/agent/workflows/{SETTINGS_FILE}`")),
            Self::LeftOver { name, key, line } => {
                let message = format!("`{name}` is no more: `{key}` in `{SETTINGS_FILE}` is in its place");
                let left_over = if *key == "limits" { error(message) } else { warning(message) };
                left_over.help(match line {
                    Some(line) => format!("before you delete it, write this line into `{SETTINGS_FILE}`: {line}"),
                    None if *key == "onEvent" => {
                        "before you delete it, write `onEvent`: docs/reference/settings.md of pi-workflows".to_owned()
                    }
                    None => format!("move what it has below `{key}` in `{SETTINGS_FILE}`, then delete it"),
                })
            }
        }
    }
}
