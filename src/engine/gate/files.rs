//! Checks of files: existence, globs and content.

use crate::sorted::Set;
use std::collections::VecDeque;

use crate::definition::{
    FileError, FileKind, Pattern, ReadError, WorkflowFiles, expansions, is_glob, path_variables, unescaped,
};

/// The root of the project's own files; see the package's manifest.
const PROJECT_FILES: &str = "project-files";
/// Maximum number of entries of a project that are looked through for a glob.
const MAX_FILES: usize = 20_000;
/// Bound of the work of all file checks in one call, in about nanoseconds: nothing else is done meanwhile.
const MAX_WORK: usize = 600_000_000;
/// The work of an entry of a folder that is looked through, and of a folder or a file that is opened.
const ENTRY_WORK: usize = 5_000;
const FOLDER_WORK: usize = 50_000;
/// The work of a byte that is read.
const READ_WORK: usize = 10;
/// Folders that a glob does not lead into by itself.
const PASSED_OVER: [&str; 2] = [".git", "node_modules"];

pub(super) enum FileFailure {
    Gone,
    /// The reason in words.
    Because(String),
}

impl From<ReadError> for FileFailure {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Stale => Self::Gone,
            ReadError::File(error) => Self::Because(error.to_string()),
        }
    }
}

/// The work that the checks of one call may still do.
pub(super) struct Work(usize);

impl Default for Work {
    fn default() -> Self {
        Self(MAX_WORK)
    }
}

impl Work {
    /// Takes the work of one step, before the step.
    fn take(&mut self, work: usize) -> Result<(), FileFailure> {
        self.0 = self.0.checked_sub(work).ok_or_else(|| FileFailure::Because(TOO_MUCH.into()))?;
        Ok(())
    }
}

const TOO_MUCH: &str = "it is too much work: narrow `file` or `contains`, or check it by a command (`run`)";

/// Looks for a file that a check demands, and returns the result in words.
pub(super) fn check_file(
    files: &dyn WorkflowFiles,
    path: &str,
    contains: Option<&Pattern>,
    work: &mut Work,
) -> Result<String, FileFailure> {
    if let Some(variable) = path_variables(path).first() {
        let why = format!("{variable} has no value that can be part of a path");
        return Err(FileFailure::Because(why));
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let is_glob = |part: &&str| is_glob(part);
    let glob = parts.join("/");
    // A name may look like a glob, say `[id].ts`.
    let literal = unescaped(&glob);
    let literally = check_content(files, &literal, contains, work).map(|()| "it holds".to_owned());
    let Some(first) = parts.iter().position(is_glob) else { return literally };
    if literally.is_ok() {
        return literally;
    }
    let deepest = if parts.contains(&"**") { usize::MAX } else { parts.len() };
    let glob_work = expansions(&glob).saturating_mul(glob.len());
    let mut left = MAX_FILES;
    let start = unescaped(&parts.get(..first).unwrap_or_default().join("/")).into_owned();
    // Each folder once, by its path without links, however many links lead to it.
    let mut visited = Set::from([start.clone()]);
    let mut folders = VecDeque::from([(start.clone(), start)]);
    let mut why = format!("no file matches {literal}");
    while let Some((folder, real)) = folders.pop_front() {
        work.take(FOLDER_WORK)?;
        let entries = match files.list(PROJECT_FILES, &folder) {
            Ok(entries) => entries,
            Err(error @ (ReadError::Stale | ReadError::File(FileError::NoSuchRoot))) => {
                return Err(error.into());
            }
            Err(ReadError::File(FileError::TooMany(_))) => return Err(too_many()),
            Err(ReadError::File(_)) => continue,
        };
        for entry in entries {
            left = left.saturating_sub(1);
            if left == 0 {
                return Err(too_many());
            }
            let path = below(&folder, &entry.name);
            work.take(ENTRY_WORK.saturating_add(glob_work.saturating_mul(path.len())))?;
            match entry.kind {
                FileKind::Directory
                    if path.split('/').count() < deepest
                        && (!PASSED_OVER.contains(&&*entry.name) || parts.contains(&&*entry.name)) =>
                {
                    let real = entry.target.unwrap_or_else(|| below(&real, &entry.name));
                    if visited.insert(real.clone()) {
                        folders.push_back((path, real));
                    }
                }
                FileKind::File if fast_glob::glob_match(&glob, &path) => {
                    match check_content(files, &path, contains, work) {
                        Ok(()) => return Ok(format!("{path} holds")),
                        Err(FileFailure::Gone) => return Err(FileFailure::Gone),
                        Err(FileFailure::Because(words)) => why = format!("{path}: {words}"),
                    }
                }
                _ => {}
            }
        }
    }
    Err(FileFailure::Because(why))
}

fn too_many() -> FileFailure {
    FileFailure::Because(format!("more than {MAX_FILES} files would have to be looked through"))
}

fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn check_content(
    files: &dyn WorkflowFiles,
    path: &str,
    contains: Option<&Pattern>,
    work: &mut Work,
) -> Result<(), FileFailure> {
    work.take(FOLDER_WORK)?;
    let bytes = match files.read(PROJECT_FILES, path) {
        // The file exists and is not empty; nothing more is checked.
        Err(ReadError::File(FileError::TooLarge(_))) if contains.is_none() => return Ok(()),
        Err(ReadError::File(FileError::OutsideRoot)) => {
            return Err(FileFailure::Because("it lies outside the project".into()));
        }
        bytes => bytes?,
    };
    work.take(bytes.len().saturating_mul(READ_WORK))?;
    let text = String::from_utf8_lossy(&bytes);
    if text.trim().is_empty() {
        return Err(FileFailure::Because("it is empty".into()));
    }
    work.take(text.len().saturating_mul(contains.map_or(0, Pattern::work)))?;
    match contains {
        Some(pattern) if !pattern.is_in(&text) => Err(FileFailure::Because(format!("it does not contain /{pattern}/"))),
        _ => Ok(()),
    }
}
