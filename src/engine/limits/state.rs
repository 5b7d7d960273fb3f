//! The user's limits in this session.

use crate::definition::{Diagnostic, FileOf, Found, Stale, UserLimits};
use crate::engine::host::Host;

/// The user's `limits.yaml`, and if the user has switched it off.
#[derive(Debug, Default)]
pub struct Limits {
    file: FileOf<UserLimits>,
    /// The user has switched the limits off.
    off: bool,
}

/// The limits of each tool call now.
pub enum InForce<'a> {
    /// No limits.
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

    /// Returns true if there is a file, readable or not. Without a file no prompt looks for it.
    pub fn are_there(&self) -> bool {
        *self.file.found() != Found::Nothing
    }

    /// The user has switched the limits off.
    pub fn are_off(&self) -> bool {
        self.off
    }

    /// Returns true if tool calls are limited.
    pub fn hold(&self) -> bool {
        !matches!(self.in_force(), InForce::Nothing)
    }

    /// Switches the limits off or on. Returns false if that changes nothing.
    pub fn switch(&mut self, off: bool) -> bool {
        std::mem::replace(&mut self.off, off) != off
    }

    /// Another session begins: its limits are on, whatever the session before had.
    pub fn reset(&mut self) {
        self.off = false;
    }

    /// Reads the file again. Returns true if its content has changed.
    ///
    /// # Errors
    ///
    /// If the session is gone; the limits stay as they were.
    pub fn refresh(&mut self, host: &dyn Host) -> Result<bool, Stale> {
        self.file.refresh(host)
    }
}
