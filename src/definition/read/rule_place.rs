//! The lines in which rules stand.

use super::{front_matter, yaml};
use crate::definition::diagnostic::{PathPart, in_group, on_one_line};
use crate::definition::model::{ReadError, Stale, WorkflowFiles};

/// Returns the place `FILE:LINE` of a field in a `workflow.yaml`, the user's limits or a phase file; `at` leads to an
/// entry of `phases`, and `keys` to the field in it. If the field is not found, returns the file alone.
pub fn rule_place((file, at): (&str, &[usize]), keys: &[&str], files: &dyn WorkflowFiles) -> Result<String, Stale> {
    let roots = files.roots()?;
    let root =
        roots.iter().rev().find_map(|root| Some((&root.name, file.strip_prefix(&root.path)?.strip_prefix('/')?)));
    let bytes = match root.map(|(root, path)| files.read(root, path)) {
        Some(Ok(bytes)) => bytes,
        Some(Err(ReadError::Stale)) => return Err(Stale),
        Some(Err(ReadError::File(_))) | None => return Ok(on_one_line(file)),
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let line = if file.ends_with(".yaml") {
        line(&text, at, keys)
    } else {
        let document = front_matter::split(text);
        line(document.front_matter(), at, keys).map(|line| line + document.lines_before)
    };
    let file = on_one_line(file);
    Ok(line.map_or(file.clone(), |line| format!("{file}:{line}")))
}

fn line(text: &str, at: &[usize], keys: &[&str]) -> Option<usize> {
    let (name, above) = keys.split_last()?;
    let path: Vec<PathPart> = above.iter().map(|key| PathPart::Key(key)).chain([PathPart::Name(name)]).collect();
    yaml::locate(text, &in_group(at, &path)).map(|place| place.line)
}
