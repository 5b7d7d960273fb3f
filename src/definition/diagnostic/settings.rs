//! The user's `settings.yaml`.

use super::description::{Description, error};
use crate::definition::model::schema::names;
use crate::definition::model::{SETTINGS_FIELDS, list};

#[derive(Debug, Clone, PartialEq)]
pub enum SettingsProblem {
    NoSetting,
    NotAWait,
    NotASetting { name: String, suggestion: Option<&'static str> },
}

impl SettingsProblem {
    pub(crate) fn describe(&self) -> Description {
        match self {
            Self::NoSetting => error("there is no setting in this file")
                .help("write one, such as `builtin: false`, or delete the file"),
            Self::NotAWait => error("`maxWait` is no time").help("write a duration like `6h` or `90m`, at most 7 days"),
            Self::NotASetting { name, suggestion } => {
                let known = list(&names::<{ SETTINGS_FIELDS.len() }>(&SETTINGS_FIELDS));
                error(format!("`{name}` is not a setting")).help(match suggestion {
                    Some(meant) => format!("did you mean `{meant}`? The settings: {known}"),
                    None => format!("the settings: {known}"),
                })
            }
        }
    }
}
