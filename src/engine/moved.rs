//! A move of the run by the user, or at the end of a budget.

use crate::run::Arrival;

pub(super) struct Moved {
    /// The sentence for the agent.
    pub told: String,
    /// The phases between which the run moved.
    pub from_to: String,
    pub arrival: Arrival,
    /// The running tool calls and the agent were stopped.
    pub stopped: bool,
}
