//! Which subagent profiles there are.

use super::files::{FileError, FileKind, WorkflowFiles};
use super::{front_matter, yaml};

/// The names that the Markdown files in some folders give to subagent profiles: the `name` in the front
/// matter, and the file's own name. `None` if there are no such files: then nobody knows what there is.
///
/// # Errors
///
/// [`FileError::Stale`] only.
pub fn defined_profiles(
    files: &dyn WorkflowFiles,
    roots: &[&str],
) -> Result<Option<Vec<String>>, FileError> {
    let mut names = Vec::new();
    for root in roots {
        let entries = match files.list(root, "") {
            Err(FileError::Stale) => return Err(FileError::Stale),
            entries => entries.unwrap_or_default(),
        };
        for entry in entries.into_iter().filter(|entry| entry.kind == FileKind::File) {
            let Some(stem) = entry.name.strip_suffix(".md") else { continue };
            names.push(stem.to_owned());
            match files.read(root, &entry.name) {
                Err(FileError::Stale) => return Err(FileError::Stale),
                bytes => names
                    .extend(name(String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned())),
            }
        }
    }
    Ok((!names.is_empty()).then_some(names))
}

fn name(profile: String) -> Option<String> {
    yaml::parse(front_matter::split(profile).front_matter()).ok()?.get("name")?.scalar_text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::Files;

    #[test]
    fn profiles_are_named_by_their_files_and_in_them() {
        let mut files = Files::default();
        let names =
            |files: &Files| defined_profiles(files, &["none", "project", "global"]).unwrap();
        assert_eq!(names(&files), None);
        let content = "---\nname: 'the scout'\ntools: read\n---\nScout.";
        files.global.insert("scout.md".into(), content.into());
        files.global.insert("broken.md".into(), "---\nname: [\n---\n".into());
        files.global.insert("notes.txt".into(), "name: x".into());
        files.global.insert("deep/other.md".into(), content.into());
        files.project.insert("plain.md".into(), "Plan.".into());
        assert_eq!(names(&files).unwrap(), ["plain", "broken", "scout", "the scout"]);
    }
}
