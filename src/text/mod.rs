//! Texts for users and models: templates, prompts, messages, questions, drawings.
//!
//! The default texts and the formats are those of the specification, because stored sessions contain them.

mod branches;
mod budget;
mod calls;
mod context_prompt;
mod description;
mod diagnostics;
mod drawing;
mod entries;
mod exact;
mod fresh_start;
mod gate;
mod graph;
mod inputs;
mod items;
mod limits;
mod messages;
mod models;
mod names;
mod outline;
mod outputs;
mod parallel;
mod pause;
mod preview;
mod proposal;
mod questions;
mod report;
mod results;
mod rules;
mod run_dir;
mod run_preview;
mod status_line;
mod status_panel;
mod step_result;
mod task;
mod template;
mod tools;
mod usage;
mod user_limits;
mod variables;
mod ways;

pub use self::{
    branches::*, budget::*, calls::*, context_prompt::*, description::*, diagnostics::*, drawing::*, entries::*,
    exact::*, fresh_start::*, gate::*, graph::*, inputs::*, limits::*, messages::*, models::*, names::*, outputs::*,
    parallel::*, pause::*, preview::*, proposal::*, questions::*, report::*, rules::*, run_dir::*, run_preview::*,
    status_line::*, status_panel::*, step_result::*, task::*, template::*, tools::*, usage::*, user_limits::*, ways::*,
};
