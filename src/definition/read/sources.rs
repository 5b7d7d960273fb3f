//! The YAML of the files that were read, for the places of diagnostics that are found later, and the lines of rules.

use crate::sorted::Map;

use super::front_matter;
use super::yaml::{self, Tree};
use crate::definition::diagnostic::{Anchored, Diagnostic, PathPart, Place, in_group, on_one_line};
use crate::definition::model::{ReadError, Stale, WorkflowFiles};

/// Maximum number of diagnostics with a place: the line of each is counted from the beginning of its text.
const MAX_PLACES: usize = 1000;

/// The texts of YAML by file, as a user would write the file. The trees are not kept: they are larger than the texts,
/// and nearly every file is without such a diagnostic.
#[derive(Default)]
pub(crate) struct Sources {
    /// The index of the text of each file.
    files: Map<String, usize>,
    texts: Vec<Source>,
}

struct Source {
    text: String,
    /// Number of lines of the file before the text.
    lines_before: usize,
}

impl Sources {
    /// Adds the YAML of a file.
    pub fn keep(&mut self, file: &str, text: &str, lines_before: usize) {
        self.files.insert(file.to_owned(), self.texts.len());
        self.texts.push(Source { text: text.to_owned(), lines_before });
    }

    /// Adds another name of a file, from a link to the file.
    pub fn keep_link(&mut self, link: &str, file: &str) {
        if let Some(&index) = self.files.get(file) {
            self.files.entry(link.to_owned()).or_insert(index);
        }
    }

    /// Looks up the places of diagnostics.
    pub fn place(&self, anchored: Vec<Anchored>) -> Vec<Diagnostic> {
        let mut trees: Vec<Option<Option<Tree>>> = self.texts.iter().map(|_| None).collect();
        let placed = anchored.into_iter().enumerate().map(|(number, anchored)| {
            let Anchored { diagnostic, anchor } = anchored;
            let index = self.files.get(&diagnostic.file).filter(|_| number < MAX_PLACES);
            let source = index.and_then(|&index| Some((self.texts.get(index)?, trees.get_mut(index)?)));
            let Some((Source { text, lines_before }, tree)) = source else { return diagnostic };
            let tree = tree.get_or_insert_with(|| yaml::parse(text).ok());
            let place = tree.as_ref().and_then(|tree| locate(tree, &anchor.path()));
            diagnostic.at(text, place, *lines_before)
        });
        placed.collect()
    }
}

/// Returns the place of the node at a path, or of the nearest existing node above it that is not the whole file. The
/// only item of a list may be written without the list.
fn locate(tree: &Tree, path: &[PathPart]) -> Option<Place> {
    (1..=path.len()).rev().find_map(|depth| tree.place(path.get(..depth)?))
}

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
