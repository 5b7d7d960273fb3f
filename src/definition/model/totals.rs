//! The totals of one load.

/// Maximum number of directory entries of one load, with the phases that workflows list and the checks of their gates.
pub const MAX_ENTRIES: usize = 50_000;

/// Maximum number of bytes that one load reads.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Maximum depth of nested workflows.
pub const MAX_NESTING: usize = 100;

/// A total of one load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    Entries,
    Bytes,
}
