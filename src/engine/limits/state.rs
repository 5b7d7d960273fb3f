//! The user's limits in this session.

use crate::definition::{FoundLimits, Stale, users_limits};
use crate::engine::host::Host;

/// The limits of the user's settings, and if the user has switched them off.
#[derive(Debug, Default)]
pub struct Limits {
    found: FoundLimits,
    /// The user has switched the limits off.
    off: bool,
}

impl Limits {
    /// Returns the limits of each tool call now.
    pub fn in_force(&self) -> &FoundLimits {
        if self.off { &FoundLimits::Nothing } else { &self.found }
    }

    /// The limits as they were last read, also while the user has switched them off.
    pub fn found(&self) -> &FoundLimits {
        &self.found
    }

    /// The user has switched the limits off.
    pub fn are_off(&self) -> bool {
        self.off
    }

    /// Returns true if tool calls are limited.
    pub fn hold(&self) -> bool {
        *self.in_force() != FoundLimits::Nothing
    }

    /// Switches the limits off or on. Returns false if that changes nothing.
    pub fn switch(&mut self, off: bool) -> bool {
        std::mem::replace(&mut self.off, off) != off
    }

    /// Reads the settings again. Returns true if their limits have changed. Other files, which may have limits too, are
    /// looked for when a session `begins` and while tool calls are refused.
    ///
    /// # Errors
    ///
    /// If the session is gone; the limits stay as they were.
    pub fn refresh(&mut self, begins: bool, host: &dyn Host) -> Result<bool, Stale> {
        let found = users_limits(host, begins || matches!(self.found, FoundLimits::Unusable(_)))?;
        let is_new = found != self.found;
        self.found = found;
        Ok(is_new)
    }
}
