//! From bytes to the model, every problem with its place.
#![allow(clippy::result_large_err, reason = "what could be read is as large as the whole")]

pub(crate) mod bounded;
pub(crate) mod budget;
mod by_type;
pub(crate) mod conditions;
pub(crate) mod each;
mod events;
pub(crate) mod fields;
pub(crate) mod front_matter;
pub(crate) mod gate;
pub(crate) mod inputs;
pub(crate) mod models;
pub(crate) mod outcomes;
pub(crate) mod outputs;
pub(crate) mod own_limits;
pub(crate) mod packages;
mod parallel;
pub(crate) mod phase_file;
pub(crate) mod plain;
pub(crate) mod profiles;
pub(crate) mod results;
pub(crate) mod root;
mod scripts;
pub(crate) mod settings;
pub(crate) mod sources;
mod step;
pub(crate) mod templates;
pub(crate) mod tools;
mod unread;
pub(crate) mod value_type;
pub(crate) mod values;
pub(crate) mod workflow_file;
pub(crate) mod yaml;
mod yaml_help;
