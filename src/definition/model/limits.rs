//! The limits that hold in a phase: the files that may be written, and the network.

use super::confinement::Sandbox;
use super::workflow::{Phase, Workflow};

/// The limits that hold in a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits<'a> {
    /// The paths and globs that may be written; `None`: everything.
    pub write: Option<&'a [String]>,
    /// The file in which `write` stands; that of the phase without `write`.
    pub write_file: WriteFile,
    /// Commands have the network.
    pub network: bool,
    /// Handling of commands.
    pub sandbox: Sandbox,
}

/// The file in which a phase's `write` stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteFile {
    /// That of the phase.
    Phase,
    /// The `workflow.yaml`.
    Workflow,
}

impl<'a> Limits<'a> {
    /// The limits of a phase in a workflow.
    pub fn of(phase: &'a Phase, workflow: &'a Workflow) -> Self {
        let (own, default) = (&phase.confinement, &workflow.confinement);
        Self {
            write: own.write.as_deref().or(default.write.as_deref()),
            write_file: if own.write.is_none() && default.write.is_some() {
                WriteFile::Workflow
            } else {
                WriteFile::Phase
            },
            network: own.network.or(default.network).unwrap_or(true),
            sandbox: own.sandbox.or(default.sandbox).unwrap_or_default(),
        }
    }

    /// Returns true if commands are confined.
    pub fn confine_commands(&self) -> bool {
        self.sandbox != Sandbox::Off && (self.write.is_some() || !self.network)
    }
}
