//! A move of the run that the agent did not make.

use crate::run::Arrival;

/// A move of the run that the agent did not make.
pub(super) struct Moved {
    /// The sentence for the agent.
    pub told: String,
    /// The phases between which the run moved.
    pub from_to: String,
    pub arrival: Arrival,
    /// Running tool calls were stopped, and with them the agent.
    pub stopped: bool,
}
