//! Diagnostics: the problems of a file, their words and their places.

pub(crate) mod anchor;
pub(crate) mod description;
pub(crate) mod excerpt;
pub(crate) mod field;
pub(crate) mod file;
pub(crate) mod gate;
pub(crate) mod limit;
pub(crate) mod meant;
pub(crate) mod model;
pub(crate) mod parallel;
pub(crate) mod phase;
pub(crate) mod problem;
pub(crate) mod report;
pub(crate) mod settings;
pub(crate) mod tool;
pub(crate) mod variable;
pub(crate) mod workflow;
pub(crate) mod yaml;

pub use self::{
    description::*, excerpt::*, field::*, file::*, gate::*, limit::*, meant::*, model::*, parallel::*, phase::*,
    problem::*, report::*, settings::*, tool::*, variable::*, workflow::*, yaml::*,
};

pub(crate) use anchor::*;
