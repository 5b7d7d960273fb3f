//! Reads the folder `scripts/` of a workflow.

use super::bounded::{Bounded, Stop};
use crate::definition::diagnostic::FileProblem;
use crate::definition::model::{FileError, FileKind, MAX_SCRIPTS, Root, SCRIPTS, ScriptFiles, join};

/// Maximum number of files and folders in one folder.
const MAX_ENTRIES: u32 = 2 * MAX_SCRIPTS as u32;

/// The files, or the path and the problem of what cannot be part of the rules.
type Found = Result<ScriptFiles, (String, FileProblem)>;

/// Reads all files in `scripts/` of the workflow in a folder. No link is followed.
pub(crate) fn read(files: &mut Bounded, root: &Root, folder: &str) -> Result<Found, Stop> {
    let top = join(folder, SCRIPTS);
    let mut found = ScriptFiles::default();
    let mut folders = 0;
    let mut ahead = vec![String::new()];
    while let Some(below) = ahead.pop() {
        let at = join(&top, &below);
        let entries = match files.list_few(&root.name, &at, MAX_ENTRIES)? {
            Ok(entries) => entries,
            Err(FileError::NotFound) if below.is_empty() => return Ok(Ok(found)),
            Err(FileError::TooMany(_)) => return Ok(Err((top, FileProblem::TooManyScripts))),
            Err(error) => return Ok(Err((at, FileProblem::Unreadable(error)))),
        };
        if below.is_empty() && !entries.is_empty() && is_link(files, root, folder)? {
            return Ok(Err((top, FileProblem::ScriptNotPlain)));
        }
        for entry in entries {
            let path = join(&below, &entry.name);
            let place = join(&top, &path);
            match (entry.kind, entry.target) {
                (FileKind::Directory, None) => {
                    folders += 1;
                    ahead.push(path);
                }
                (FileKind::File, None) => match files.read(&root.name, &place)? {
                    Ok(content) if found.add(&path, &content) => {}
                    Ok(_) | Err(FileError::TooLarge(_)) => return Ok(Err((top, FileProblem::ScriptsTooLarge))),
                    Err(error) => return Ok(Err((place, FileProblem::Unreadable(error)))),
                },
                (FileKind::Directory | FileKind::File, Some(_)) | (FileKind::Other, _) => {
                    return Ok(Err((place, FileProblem::ScriptNotPlain)));
                }
            }
            if found.count() > MAX_SCRIPTS || folders > MAX_SCRIPTS {
                return Ok(Err((top, FileProblem::TooManyScripts)));
            }
        }
    }
    Ok(Ok(found))
}

/// Returns true if the folder itself is a link, or if that cannot be told.
fn is_link(files: &mut Bounded, root: &Root, folder: &str) -> Result<bool, Stop> {
    let is_plain = files.list(&root.name, folder)?.is_ok_and(|entries| {
        let mut called = entries.iter().filter(|entry| entry.name.eq_ignore_ascii_case(SCRIPTS)).peekable();
        called.peek().is_some() && called.all(|entry| entry.target.is_none())
    });
    Ok(!is_plain)
}
