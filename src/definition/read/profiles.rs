//! Names of subagent profiles.

use super::bounded::{Bounded, Stop};
use super::{front_matter, yaml};
use crate::definition::model::{FileError, FileKind, Stale, WorkflowFiles};

/// Returns the names that the Markdown files in some folders give to subagent profiles: the `name` in the front matter,
/// and the file's own name. `None` if there are no such files, more files than one load reads, or folders outside of
/// the project behind a link. The second list has these folders.
pub fn defined_profiles(
    files: &dyn WorkflowFiles,
    roots: &[&str],
) -> Result<(Option<Vec<String>>, Vec<String>), Stale> {
    let mut files = Bounded::new(files);
    let (mut names, mut outside) = (Vec::new(), Vec::new());
    match read(&mut files, roots, &mut names, &mut outside) {
        Ok(()) => {}
        Err(Stop::TotalReached(_)) => names.clear(),
        Err(Stop::Stale) => return Err(Stale),
    }
    let known = !names.is_empty() && outside.is_empty();
    Ok((known.then_some(names), outside))
}

fn read(files: &mut Bounded, roots: &[&str], names: &mut Vec<String>, outside: &mut Vec<String>) -> Result<(), Stop> {
    for root in roots {
        let entries = match files.list(root, "")? {
            Err(FileError::OutsideProject(path)) => {
                outside.push(path);
                continue;
            }
            entries => entries.unwrap_or_default(),
        };
        for entry in entries.into_iter().filter(|entry| entry.kind == FileKind::File) {
            let Some(stem) = entry.name.strip_suffix(".md") else { continue };
            names.push(stem.to_owned());
            let bytes = files.read(root, &entry.name)?.unwrap_or_default();
            names.extend(name(String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    Ok(())
}

fn name(profile: String) -> Option<String> {
    yaml::parse(front_matter::split(profile).front_matter()).ok()?.root.get("name")?.scalar_text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::Files;

    #[test]
    fn profiles_are_named_by_their_files_and_in_them() {
        let mut files = Files::default();
        let names = |files: &Files| defined_profiles(files, &["none", "project", "global"]).unwrap().0;
        assert_eq!(names(&files), None);
        let content = "---\nname: 'the scout'\ntools: read\n---\nScout.";
        files.global.insert("scout.md".into(), content.into());
        files.global.insert("broken.md".into(), "---\nname: [\n---\n".into());
        files.global.insert("notes.txt".into(), "name: x".into());
        files.global.insert("deep/other.md".into(), content.into());
        files.project.insert("plain.md".into(), "Plan.".into());
        assert_eq!(names(&files).unwrap(), ["plain", "broken", "scout", "the scout"]);
    }

    #[test]
    fn profiles_that_are_not_all_read_are_not_known() {
        let mut files = Files::default();
        for n in 0..70 {
            files.global.insert(format!("{n}.md"), "x".repeat(1 << 20));
        }
        assert_eq!(defined_profiles(&files, &["global"]).unwrap(), (None, vec![]));
        assert!(files.reads.get() < 70);
    }
}
