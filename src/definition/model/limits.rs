//! The limits that hold in a phase, or everywhere: the files that may be written, the hidden files, and the network.

use std::borrow::Cow;

use super::own_limits::{OwnLimits, Sandbox};
use super::path_variables::{PathVariable, resolve, variables, with_names};
use super::workflow::{Phase, ToolPolicy, Workflow};

/// The limits that hold in a phase, or everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits<'a> {
    /// The paths and globs that may be written; `None`: everything. A path with a variable allows nothing.
    pub write: Option<Cow<'a, [String]>>,
    /// The file in which `write` stands; without `write`, the phase file.
    pub write_file: RuleFile,
    /// The files and folders that the agent cannot read or write.
    pub hide: &'a [String],
    /// The file in which `hide` stands; without `hide`, the phase file.
    pub hide_file: RuleFile,
    /// Commands have the network.
    pub network: bool,
    /// Handling of commands.
    pub sandbox: Sandbox,
    /// pi's agent folder stays as it is, also where `write` allows it to be written.
    pub keeps_agent_folder: bool,
    /// Absolute paths of folders that stay as they are, also where `write` allows them to be written.
    pub kept: Vec<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleFile {
    /// The file of the phase, or of the user's limits.
    Own,
    Workflow,
}

impl RuleFile {
    fn of(own: bool, default: bool) -> Self {
        if default && !own { Self::Workflow } else { Self::Own }
    }
}

impl<'a> Limits<'a> {
    /// Returns the limits of a phase in a workflow, with the variables of its paths.
    pub fn of(phase: &'a Phase, workflow: &'a Workflow) -> Self {
        let (own, default) = (&phase.limits, &workflow.limits);
        Self {
            write: own.write.as_deref().or(default.write.as_deref()).map(Cow::Borrowed),
            write_file: RuleFile::of(own.write.is_some(), default.write.is_some()),
            hide: own.hide.as_deref().or(default.hide.as_deref()).unwrap_or_default(),
            hide_file: RuleFile::of(own.hide.is_some(), default.hide.is_some()),
            network: own.network.or(default.network).unwrap_or(true),
            sandbox: own.sandbox.or(default.sandbox).unwrap_or_default(),
            keeps_agent_folder: false,
            kept: Vec::new(),
        }
    }

    /// Returns the limits, if there are any, with these folders kept as they are.
    pub fn keeping(mut self, folders: Vec<&'a str>) -> Self {
        if self.write.is_some() || !self.hide.is_empty() || !self.network {
            self.kept = folders;
        }
        self
    }

    /// Returns the limits with the values of a run in the paths. A path stays as it is, and allows nothing, if a
    /// variable has no value or a value that cannot be part of a path.
    pub fn with_values(mut self, value_of: impl Fn(&PathVariable) -> Option<String>) -> Self {
        let has_variables = |path: &String| !variables(path).is_empty();
        if let Some(write) = self.write.as_mut().filter(|write| write.iter().any(has_variables)) {
            for path in write.to_mut() {
                if let Ok(resolved) = resolve(path, &value_of) {
                    *path = resolved;
                }
            }
        }
        self
    }

    /// Returns the limits with a plain name in the place of each variable, for use without a run.
    pub fn with_names(mut self) -> Self {
        for path in self.write.iter_mut().flat_map(Cow::to_mut) {
            *path = with_names(path);
        }
        self
    }

    pub fn confine_commands(&self) -> bool {
        self.hold_commands() || !self.hide.is_empty()
    }

    /// Returns true if commands are held to `write` and `network`, or kept from folders. With `sandbox: off`
    /// commands are held to `hide` only.
    pub fn hold_commands(&self) -> bool {
        let has_limits = self.write.is_some() || !self.network || self.keeps_agent_folder || !self.kept.is_empty();
        self.sandbox != Sandbox::Off && has_limits
    }

    /// Returns the handling of commands that the system cannot confine. Whatever `sandbox` says, no command may read
    /// hidden files.
    pub fn unconfined(&self) -> Sandbox {
        if self.hide.is_empty() { self.sandbox } else { Sandbox::Required }
    }
}

/// The user's own limits, which hold in every session.
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
