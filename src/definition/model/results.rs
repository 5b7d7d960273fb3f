//! The field `results` of a phase.

/// The entries of its workflow whose results a phase gets: summaries and evidence of gates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Results {
    /// Every entry, of every workflow of the run.
    #[default]
    All,
    /// The entries of these names, of its own workflow only; empty for none. The phase itself is one of them only by
    /// its id.
    Of(Vec<String>),
}

impl Results {
    /// The values that have a word of their own.
    pub const WORDS: [&str; 2] = ["all", "none"];
}
