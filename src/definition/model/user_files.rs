//! The files of the user's own, beside their workflows. A project and a package have none.

/// The root with the user's own files.
pub(crate) const USERS_ROOT: &str = "global";

/// The root with the workflows of this package.
pub const BUILTIN_ROOT: &str = "builtin";

/// A file of the user's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserFile {
    pub name: &'static str,
    /// Its content, in words.
    pub what: &'static str,
    /// Other names under which it may be written by mistake.
    others: [&'static str; 3],
}

pub(crate) const LIMITS_FILE: UserFile =
    UserFile { name: "limits.yaml", what: "limits", others: ["limits.yml", "limit.yaml", "limit.yml"] };

/// The settings of this package.
pub(crate) const SETTINGS_FILE: UserFile =
    UserFile { name: "settings.yaml", what: "settings", others: ["settings.yml", "setting.yaml", "setting.yml"] };

impl UserFile {
    /// Returns the file that the user may have meant by this name.
    pub(crate) fn meant(name: &str) -> Option<Self> {
        let is_meant = |file: &Self| {
            let mut names = file.others.into_iter().chain([file.name]);
            names.any(|other| other.eq_ignore_ascii_case(name))
        };
        [LIMITS_FILE, SETTINGS_FILE].into_iter().find(is_meant)
    }
}
