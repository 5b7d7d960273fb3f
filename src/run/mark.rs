//! The place of a state entry among the entries of its run.

use serde::Serialize;

use crate::usage::is_default;

/// Maximum number of parts after a complete entry.
pub(super) const MAX_PARTS: u64 = 10_000;
/// Length of the parts after a complete entry from which on the next entry is complete, in bytes of JSON.
pub(super) const MAX_PARTS_LENGTH: u64 = 16 << 20;

/// The field of `progress` with the [`Mark`] of its entry.
pub(super) const MARK: &str = "entry";

/// The place of an entry among the entries of its run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// The number of the entry, from 1. A part continues the entry with the number before.
    pub number: u64,
    /// The number of parts since the complete entry, including this part; 0 for a complete entry.
    #[serde(skip_serializing_if = "is_default")]
    pub parts: u64,
    /// The length of the parts since the complete entry, in bytes of JSON.
    #[serde(skip_serializing_if = "is_default")]
    pub length: u64,
}
