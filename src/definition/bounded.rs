//! Files, read within the totals of one load.

use super::files::{DirEntry, FileError, WorkflowFiles};

/// Maximum number of directory entries of one load, with the phases that workflows name and the checks of their gates.
pub const MAX_ENTRIES: usize = 50_000;
/// Maximum number of bytes that one load reads.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

/// A total of one load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    /// [`MAX_ENTRIES`].
    Entries,
    /// [`MAX_BYTES`].
    Bytes,
}

/// Files, of which no more is read than the totals allow. Once one is reached, every call fails with
/// [`FileError::TotalReached`].
pub(super) struct Bounded<'a> {
    files: &'a dyn WorkflowFiles,
    entries_left: usize,
    bytes_left: usize,
    /// The total that is reached, and the root and path where it was.
    reached: Option<(Total, String, String)>,
}

impl<'a> Bounded<'a> {
    pub fn new(files: &'a dyn WorkflowFiles) -> Self {
        Self { files, entries_left: MAX_ENTRIES, bytes_left: MAX_BYTES, reached: None }
    }

    /// The files without the totals, for what is no file of a workflow.
    pub fn files(&self) -> &'a dyn WorkflowFiles {
        self.files
    }

    /// The total that is reached, and the root and path where it was.
    pub fn reached(&self) -> Option<(Total, &str, &str)> {
        self.reached.as_ref().map(|(total, root, path)| (*total, &**root, &**path))
    }

    /// As [`WorkflowFiles::list`]. A directory with more entries than are left is not listed at all.
    pub fn list(&mut self, root: &str, path: &str) -> Result<Vec<DirEntry>, FileError> {
        self.go_on()?;
        match self.files.list(root, path) {
            Ok(entries) => self.count(entries.len(), root, path).map(|()| entries),
            Err(FileError::TooMany(_)) => Err(self.end(Total::Entries, root, path)),
            Err(error) => Err(error),
        }
    }

    /// As [`WorkflowFiles::read`].
    pub fn read(&mut self, root: &str, path: &str) -> Result<Vec<u8>, FileError> {
        self.go_on()?;
        let bytes = self.files.read(root, path)?;
        match self.bytes_left.checked_sub(bytes.len()) {
            Some(left) => self.bytes_left = left,
            None => return Err(self.end(Total::Bytes, root, path)),
        }
        Ok(bytes)
    }

    /// Counts entries that were met at a path.
    pub fn count(&mut self, entries: usize, root: &str, path: &str) -> Result<(), FileError> {
        self.go_on()?;
        match self.entries_left.checked_sub(entries) {
            Some(left) => self.entries_left = left,
            None => return Err(self.end(Total::Entries, root, path)),
        }
        Ok(())
    }

    fn go_on(&self) -> Result<(), FileError> {
        if self.reached.is_some() { Err(FileError::TotalReached) } else { Ok(()) }
    }

    fn end(&mut self, total: Total, root: &str, path: &str) -> FileError {
        self.reached = Some((total, root.to_owned(), path.to_owned()));
        FileError::TotalReached
    }
}
