//! The reason why a stored run cannot be read in full.

use std::fmt;

/// Maximum length of an entry, in bytes of JSON.
pub(super) const MAX_ENTRY: usize = 4 << 20;
/// Maximum number of entries without a workflow that are skipped.
pub(super) const MAX_WITHOUT_WORKFLOW: usize = 10_000;
/// Maximum length of a text, in bytes.
pub(super) const MAX_TEXT: usize = 1 << 20;

/// An error in the stored entries of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    pub why: BrokenReason,
    /// The run can go on with the part that was read.
    pub is_usable: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrokenReason {
    TooLong,
    /// An entry is no JSON, or nested too deep.
    NotJson,
    /// An entry of an active run lacks what a run needs.
    Malformed,
    TooMany {
        list: &'static str,
        /// Its maximum number of items.
        most: usize,
    },
    LongText,
    /// Too many entries name no workflow.
    TooManyEntries,
    /// An entry that the newest entry continues is missing.
    MissingPart,
    /// The run has more entries than are read.
    TooManyParts,
    /// Entries after the newest entry are missing; some of them may have been entries of the run.
    Gap,
    /// The host did not hand the entries over.
    NotHandedOver,
}

impl fmt::Display for BrokenReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "an entry is longer than {MAX_ENTRY} bytes"),
            Self::NotJson => f.write_str("an entry is not JSON, or nested too deep"),
            Self::Malformed => f.write_str("an entry is malformed"),
            Self::TooMany { list, most } => write!(f, "its `{list}` has more than {most} items"),
            Self::LongText => write!(f, "a text in it is longer than {MAX_TEXT} bytes"),
            Self::TooManyEntries => {
                write!(f, "the newest {MAX_WITHOUT_WORKFLOW} entries name no workflow")
            }
            Self::MissingPart => f.write_str("an earlier entry that it continues is missing"),
            Self::TooManyParts => f.write_str("it continues more entries than are read"),
            Self::Gap => f.write_str("entries of the session after its newest one are missing"),
            Self::NotHandedOver => f.write_str("the session does not give its entries"),
        }
    }
}
