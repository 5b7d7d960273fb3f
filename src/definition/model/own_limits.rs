//! The fields `write`, `hide`, `network` and `sandbox` of a file.

use super::paths::last_part;

/// `write`, `hide`, `network` and `sandbox` of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnLimits {
    /// The paths and globs that may be written; empty: nothing; `None`: not given.
    pub write: Option<Vec<String>>,
    /// The files and folders that the agent cannot read or write; empty: none; `None`: not given.
    pub hide: Option<Vec<String>>,
    /// Commands have the network.
    pub network: Option<bool>,
    /// Handling of commands.
    pub sandbox: Option<Sandbox>,
}

impl OwnLimits {
    /// The paths of `hide` and `write` that name a folder `.git`, with their field.
    pub fn git_rules(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let rules = [("hide", &self.hide), ("write", &self.write)].into_iter();
        let paths = rules.flat_map(|(field, list)| list.iter().flatten().map(move |path| (field, path.as_str())));
        paths.filter(|(_, path)| last_part(path.trim_end_matches('/')) == ".git")
    }
}

/// Handling of commands in a phase with limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Sandbox {
    /// Commands are confined; where the system cannot confine them, they are refused.
    #[default]
    Required,
    /// Commands are confined; where the system cannot confine them, they run without limits.
    Preferred,
    /// Commands run without limits: `write` holds for file tools only.
    Off,
}

impl Sandbox {
    /// Returns the handling by which fewer commands run without limits.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        match (self, other) {
            (Self::Required, _) | (_, Self::Required) => Self::Required,
            (Self::Preferred, _) | (_, Self::Preferred) => Self::Preferred,
            (Self::Off, Self::Off) => Self::Off,
        }
    }
}
