//! The user's own settings of this package.

/// The content of the user's `settings.yaml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The workflows of this package can be started.
    pub builtin: bool,
}

impl Settings {
    /// The settings of a file that cannot be read or has errors: nothing that a file has to allow, or may switch off.
    pub(crate) const CAREFUL: Self = Self { builtin: false };
}

/// The settings without a file.
impl Default for Settings {
    fn default() -> Self {
        Self { builtin: true }
    }
}
