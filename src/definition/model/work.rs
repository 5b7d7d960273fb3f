//! The work of a phase: that of the agent, or something that the run does without the model.

use super::gate::Command;

/// The work of a phase.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// The agent follows its instructions.
    Agent,
    /// The engine runs a command.
    Run(Step),
}

/// A command that is an entry of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The command line, with its variables.
    pub command: Command,
    /// Its time limit, in milliseconds.
    pub timeout_ms: u32,
}

impl Step {
    /// The outcome of a command that ends with exit status 0.
    pub const OK: &str = "ok";
    /// The outcome of one that fails.
    pub const FAILED: &str = "failed";
    /// The symbol of steps in the status line.
    pub const EMOJI: &str = "⚙️";
}
