//! The model of a workflow: its types, and look-ups in them. Nothing here parses a file.

pub mod blank;
pub mod bound_values;
pub mod budget;
pub mod conditions;
pub mod confinement;
pub mod expected_calls;
pub mod files;
pub mod gate;
pub mod groups;
pub mod hidden;
pub mod inputs;
pub mod library;
pub mod limits;
pub mod models;
pub mod nearest;
pub mod outcomes;
pub mod outputs;
pub mod own_work;
pub mod path_variables;
pub mod paths;
pub mod permission;
pub mod places;
pub mod results;
pub mod rule_inputs;
pub mod run_dir;
#[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "the schemas and the reference are made of it natively"))]
pub mod schema;
pub mod seal;
pub mod tools;
pub mod totals;
pub mod value_type;
pub mod values;
pub mod variables;
pub mod words;
pub mod work;
pub mod workflow;
