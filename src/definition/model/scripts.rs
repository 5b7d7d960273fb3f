//! The files in `scripts/` of a workflow's folder. They are rules of its runs.

use std::hash::{Hash, Hasher};

use sha2::{Digest, Sha256};

use super::paths::join;

/// The name of the folder, in the folder of the workflow.
pub const SCRIPTS: &str = "scripts";

/// Maximum number of files of a workflow.
pub const MAX_SCRIPTS: usize = 100;

/// Maximum size of all files of a workflow, in bytes.
pub const MAX_SCRIPT_BYTES: usize = 1024 * 1024;

/// Number of digits of the hash in a note.
const NOTED_DIGITS: usize = 16;

/// The folder with the files of a workflow, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scripts {
    /// The absolute path of the folder.
    pub path: String,
    /// A hash of the paths and contents of all files.
    hash: String,
    note: String,
    shown: String,
}

/// The files of a workflow, while they are read.
#[derive(Default)]
pub(crate) struct ScriptFiles {
    hash: Sha256,
    count: usize,
    bytes: usize,
}

/// Only paths and contents are rules.
impl Hash for Scripts {
    fn hash<H: Hasher>(&self, rules: &mut H) {
        self.hash.hash(rules);
    }
}

/// Returns a hash in hexadecimal digits.
pub(super) fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

impl ScriptFiles {
    /// Takes a file: its path in the folder, and its content. The order of the files is part of the hash. Returns false
    /// if all files are too large.
    #[must_use]
    pub fn add(&mut self, path: &str, content: &[u8]) -> bool {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(content.len());
        self.hash.update(path);
        // No path has this byte, and the hash of a content has a fixed length.
        self.hash.update([0]);
        self.hash.update(Sha256::digest(content));
        self.bytes <= MAX_SCRIPT_BYTES
    }

    pub fn count(&self) -> usize {
        self.count
    }
}

impl Scripts {
    /// Returns the files of a workflow with this folder: its absolute path, and its path for users. `None` without files.
    pub(crate) fn of(files: ScriptFiles, dir: &str, folder: &str) -> Option<Self> {
        let ScriptFiles { hash, count, bytes: _ } = files;
        let hash = hexadecimal(hash);
        let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
        let short = hash.get(..NOTED_DIGITS).unwrap_or_default();
        let note = format!("{SCRIPTS}/: {files}, SHA-256 {short}…");
        let shown = format!("with {folder}/{SCRIPTS}/: {files}, SHA-256 {hash}");
        (count > 0).then(|| Self { path: join(dir, SCRIPTS), hash, note, shown })
    }

    /// A note on the files, with their hash.
    pub fn note(&self) -> &str {
        &self.note
    }

    /// The words with which the user allows the files as they are: other contents have other words.
    pub fn shown(&self) -> &str {
        &self.shown
    }
}
