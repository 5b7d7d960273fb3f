//! What is wrong with a file, in words, and where.

pub(crate) mod anchor;
pub(crate) mod description;
pub(crate) mod excerpt;
pub(crate) mod place;
pub(crate) mod problem;
pub(crate) mod report;
pub(crate) mod value;
