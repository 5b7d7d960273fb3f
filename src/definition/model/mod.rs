//! The model of a workflow: its types, and look-ups in them. Nothing here parses a file.

pub mod bound_values;
pub mod budget;
pub mod files;
pub mod gate;
pub mod groups;
pub mod hidden;
pub mod inputs;
pub mod library;
pub mod limits;
pub mod models;
pub mod nearest;
pub mod offers;
pub mod outcomes;
pub mod own_limits;
pub mod own_work;
pub mod parallel;
pub mod path_variables;
pub mod paths;
pub mod permission;
pub mod records;
pub mod rule_inputs;
pub mod run_dir;
#[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "the schemas and the reference are made of it natively"))]
pub mod schema;
pub mod scripts;
pub mod seal;
pub mod settings;
pub mod tools;
pub mod value_type;
pub mod values;
pub mod variables;
pub mod words;
pub mod work;
pub mod workflow;
pub mod workflow_outputs;
pub mod written_paths;

pub use self::{
    bound_values::*, budget::*, files::*, gate::*, groups::*, hidden::*, inputs::*, library::*, limits::*, models::*,
    offers::*, outcomes::*, own_limits::*, own_work::*, parallel::*, path_variables::*, paths::*, permission::*,
    records::*, rule_inputs::*, schema::*, scripts::*, settings::*, tools::*, value_type::*, values::*, words::*,
    work::*, workflow::*,
};
pub use nearest::nearest;

pub(crate) use nearest::nearest_within;
pub(crate) use workflow_outputs::*;
pub(crate) use written_paths::*;
