//! Validation of the model: references, ways, limits, names, models and values.

pub(crate) mod flow;
pub(crate) mod fuel;
pub(crate) mod known;
pub(crate) mod limits;
pub(crate) mod models;
pub(crate) mod parallel;
pub(crate) mod references;
mod rule_values;
pub(crate) mod starts;
mod targets;
pub(crate) mod variables;
pub(crate) mod ways;
