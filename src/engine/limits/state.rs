//! The user's limits in this session.

use crate::definition::{Diagnostic, FileOf, Found, Stale, UserLimits};
use crate::engine::host::Host;

/// The user's `limits.yaml`, and if the user has switched it off.
#[derive(Debug, Default)]
pub struct Limits {
    file: FileOf<UserLimits>,
    /// The user has switched them off.
    off: bool,
}

/// The limits of each tool call now.
pub enum InForce<'a> {
    /// Nothing.
    Nothing,
    /// The file cannot be read or has errors: nothing is allowed.
    Unusable(&'a [Diagnostic]),
    /// These limits.
    Limits(&'a UserLimits),
}

impl Limits {
    /// Returns the limits of each tool call now.
    pub fn in_force(&self) -> InForce<'_> {
        match self.file.found() {
            _ if self.off => InForce::Nothing,
            Found::Nothing => InForce::Nothing,
            Found::Unusable(diagnostics) => InForce::Unusable(diagnostics),
            Found::Content(limits) => InForce::Limits(limits),
        }
    }

    /// The content of the file, also while the user has switched it off.
    pub fn found(&self) -> &Found<UserLimits> {
        self.file.found()
    }

    /// There is a file, whether or not it can be read. Without one no prompt looks for it.
    pub fn are_there(&self) -> bool {
        *self.file.found() != Found::Nothing
    }

    /// The user has switched them off.
    pub fn are_off(&self) -> bool {
        self.off
    }

    /// Returns true if there is something to hold a tool call to.
    pub fn hold(&self) -> bool {
        !matches!(self.in_force(), InForce::Nothing)
    }

    /// The user switches them off or on. Returns false if they are so already.
    pub fn switch(&mut self, off: bool) -> bool {
        std::mem::replace(&mut self.off, off) != off
    }

    /// Another session begins: no session takes over that they are off, or stores it.
    pub fn begin_session(&mut self) {
        self.off = false;
    }

    /// Reads the file again. Returns true if it has changed.
    ///
    /// # Errors
    ///
    /// If the session is gone; the limits stay as they were.
    pub fn refresh(&mut self, host: &dyn Host) -> Result<bool, Stale> {
        self.file.refresh(host)
    }
}
