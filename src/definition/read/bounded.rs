//! Files, read within the totals of one load.

use std::cell::Cell;

use crate::definition::model::{DirEntry, FileError, MAX_BYTES, MAX_ENTRIES, ReadError, Stale, Total, WorkflowFiles};

/// The reason why nothing more is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    Stale,
    TotalReached(Total),
}

impl From<Stale> for Stop {
    fn from(Stale: Stale) -> Self {
        Self::Stale
    }
}

/// Maximum number of unknown variables in the texts of all phases that are reported.
const MAX_VARIABLES: usize = 20_000;

/// Reads files until a total of one load is reached. After that every call returns [`Stop::TotalReached`].
///
/// The outer result of a call says if the load goes on, the inner result says if this file could be read.
pub(crate) struct Bounded<'a> {
    files: &'a dyn WorkflowFiles,
    entries_left: usize,
    bytes_left: usize,
    /// The number of unknown variables that can still be reported.
    variables_left: Cell<usize>,
    reached: Option<(Total, String)>,
}

impl<'a> Bounded<'a> {
    pub fn new(files: &'a dyn WorkflowFiles) -> Self {
        Self {
            files,
            entries_left: MAX_ENTRIES,
            bytes_left: MAX_BYTES,
            variables_left: Cell::new(MAX_VARIABLES),
            reached: None,
        }
    }

    /// Returns the path at which a total was reached.
    pub fn reached_at(&self) -> Option<&str> {
        self.reached.as_ref().map(|(_, path)| &**path)
    }

    /// Returns the names of tools, see [`WorkflowFiles::tools`].
    pub fn tools(&self) -> Result<Vec<String>, Stale> {
        self.files.tools()
    }

    /// Lists a directory. A directory with more entries than may still be read is not listed at all.
    pub fn list(&mut self, root: &str, path: &str) -> Result<Result<Vec<DirEntry>, FileError>, Stop> {
        match self.list_few(root, path, u32::MAX)? {
            Err(FileError::TooMany(_)) => Err(self.stop(Total::Entries, path)),
            listed => Ok(listed),
        }
    }

    /// Lists a directory that must not have more than `most` entries. One that has more is an error of its own, and counts as
    /// nothing.
    pub fn list_few(&mut self, root: &str, path: &str, most: u32) -> Result<Result<Vec<DirEntry>, FileError>, Stop> {
        self.check()?;
        match self.files.list(root, path) {
            Ok(entries) if entries.len() <= most as usize => {
                self.count(entries.len(), path)?;
                Ok(Ok(entries))
            }
            Ok(_) => Ok(Err(FileError::TooMany(most))),
            Err(ReadError::Stale) => Err(Stop::Stale),
            Err(ReadError::File(error)) => Ok(Err(error)),
        }
    }

    /// Reads a whole file.
    pub fn read(&mut self, root: &str, path: &str) -> Result<Result<Vec<u8>, FileError>, Stop> {
        self.check()?;
        match self.files.read(root, path) {
            Ok(bytes) => match self.bytes_left.checked_sub(bytes.len()) {
                Some(left) => {
                    self.bytes_left = left;
                    Ok(Ok(bytes))
                }
                None => Err(self.stop(Total::Bytes, path)),
            },
            Err(ReadError::Stale) => Err(Stop::Stale),
            Err(ReadError::File(error)) => Ok(Err(error)),
        }
    }

    /// Counts entries that were met at a path.
    pub fn count(&mut self, entries: usize, path: &str) -> Result<(), Stop> {
        self.check()?;
        match self.entries_left.checked_sub(entries) {
            Some(left) => {
                self.entries_left = left;
                Ok(())
            }
            None => Err(self.stop(Total::Entries, path)),
        }
    }

    /// Counts unknown variables; returns the number that could still be reported before.
    pub fn take_variables(&self, count: usize) -> usize {
        let left = self.variables_left.get();
        self.variables_left.set(left.saturating_sub(count));
        left
    }

    fn check(&self) -> Result<(), Stop> {
        match self.reached {
            Some((total, _)) => Err(Stop::TotalReached(total)),
            None => Ok(()),
        }
    }

    fn stop(&mut self, total: Total, path: &str) -> Stop {
        self.reached = Some((total, path.to_owned()));
        Stop::TotalReached(total)
    }
}
