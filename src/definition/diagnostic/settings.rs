//! The user's `settings.yaml`.

use super::description::{Description, error};

#[derive(Debug, Clone, PartialEq)]
pub enum SettingsProblem {
    NoSetting,
    NotAWait,
}

impl SettingsProblem {
    pub(crate) fn describe(&self) -> Description {
        match self {
            Self::NoSetting => error("there is no setting in this file")
                .help("write one, such as `builtin: false`, or delete the file"),
            Self::NotAWait => error("`maxWait` is no time").help("write a duration like `6h` or `90m`, at most 7 days"),
        }
    }
}
