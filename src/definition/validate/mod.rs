//! Validation of the model: references, ways, limits, names, models, values and tests.

pub(crate) mod command_names;
pub(crate) mod flow;
pub(crate) mod fuel;
pub(crate) mod known;
pub(crate) mod limits;
pub(crate) mod models;
pub(crate) mod offers;
pub(crate) mod parallel;
pub(crate) mod references;
mod rule_values;
mod targets;
pub(crate) mod variables;
pub(crate) mod ways;
mod workflow_outputs;
