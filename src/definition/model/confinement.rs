//! The fields `write`, `hide`, `network` and `sandbox` of a file.

/// `write`, `hide`, `network` and `sandbox` of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confinement {
    /// The paths and globs that may be written; empty: nothing; `None`: not given.
    pub write: Option<Vec<String>>,
    /// The files and folders that the agent cannot read or write; empty: none; `None`: not given.
    pub hide: Option<Vec<String>>,
    /// Commands have the network.
    pub network: Option<bool>,
    /// Handling of commands.
    pub sandbox: Option<Sandbox>,
}

/// Handling of commands in a phase with limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Sandbox {
    /// They are confined, or refused where the system cannot confine them.
    #[default]
    Required,
    /// They are confined, or run without limits where the system cannot confine them.
    Preferred,
    /// They run without limits: `write` holds for file tools only.
    Off,
}

impl Sandbox {
    /// The one by which fewer commands run without limits.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        match (self, other) {
            (Self::Required, _) | (_, Self::Required) => Self::Required,
            (Self::Preferred, _) | (_, Self::Preferred) => Self::Preferred,
            (Self::Off, Self::Off) => Self::Off,
        }
    }
}
