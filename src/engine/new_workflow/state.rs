//! A new workflow, and the answers about it so far.

/// A workflow that is not written yet.
#[derive(Debug)]
pub struct NewWorkflow {
    pub name: String,
    pub roots: &'static [(&'static str, &'static str)],
    pub answers: Vec<String>,
    /// The options of the open question; none if the answer is a line of text.
    pub options: Vec<String>,
}
