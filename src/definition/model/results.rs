//! The field `results` of a phase.

/// The entries whose results a phase gets: summaries, outputs and evidence of gates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Results {
    /// Every entry, of every workflow of the run.
    #[default]
    All,
    /// The entries with these names, in the phase's own workflow only; empty for no entry. The phase itself is among
    /// the entries only if its id is listed.
    Of(Vec<String>),
}

impl Results {
    /// The values that have a word of their own.
    pub const WORDS: [&str; 2] = ["all", "none"];
}
