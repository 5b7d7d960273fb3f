//! The YAML of the files that were read, for the places of diagnostics that are found later.

use crate::sorted::Map;

use super::yaml::{self, Tree};
use crate::definition::diagnostic::{Anchored, Diagnostic, PathPart, Place};

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
