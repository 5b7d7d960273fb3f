//! The user's own limits, which hold in every session.

use std::borrow::Cow;

use super::limits::{Limits, RuleFile};
use super::own_limits::OwnLimits;
use super::workflow::ToolPolicy;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserLimits {
    /// The file, as a user would write it.
    pub file: String,
    pub tools: ToolPolicy,
    /// The writable paths, the hidden paths, and the network of commands.
    pub limits: OwnLimits,
}

impl UserLimits {
    /// Returns the limits of a tool call. pi's agent folder, in which the file lies, is never writable.
    pub fn limits(&self) -> Limits<'_> {
        let OwnLimits { write, hide, network, sandbox } = &self.limits;
        Limits {
            write: write.as_deref().map(Cow::Borrowed),
            write_file: RuleFile::Own,
            hide: hide.as_deref().unwrap_or_default(),
            hide_file: RuleFile::Own,
            network: network.unwrap_or(true),
            sandbox: sandbox.unwrap_or_default(),
            keeps_agent_folder: true,
            kept: Vec::new(),
        }
    }
}
