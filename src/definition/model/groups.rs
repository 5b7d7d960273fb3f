//! Groups. Names of values hold in the whole file, across its groups.

use super::inputs::Output;
use super::library::Library;
use super::workflow::{Entry, Workflow};

/// An entry of a file: of a workflow, or of a group in it.
#[derive(Debug, Clone)]
pub struct FileEntry<'a> {
    /// The indices of the entries that lead to the entry, its own index last. They give the order of the file.
    pub at: Vec<usize>,
    pub entry: &'a Entry,
}

impl FileEntry<'_> {
    /// Returns true if the entry comes before the entry at the indices `at`, and does not contain that entry.
    pub fn is_before(&self, at: &[usize]) -> bool {
        self.at[..] < *at && !at.starts_with(&self.at)
    }
}

/// Returns the entries of the file of a workflow, in their order; a group comes before its entries.
pub(crate) fn entries_of_file<'a>(
    workflow: &'a Workflow,
    get: &dyn Fn(&str) -> Option<&'a Workflow>,
) -> Vec<FileEntry<'a>> {
    let file = workflow.group.as_ref().and_then(|group| get(&group.file)).unwrap_or(workflow);
    let mut entries = Vec::with_capacity(file.phases.len());
    add(file, get, &mut entries);
    entries
}

fn add<'a>(scope: &'a Workflow, get: &dyn Fn(&str) -> Option<&'a Workflow>, entries: &mut Vec<FileEntry<'a>>) {
    for (index, entry) in scope.phases.iter().enumerate() {
        entries.push(FileEntry { at: scope.place_of(index), entry });
        if let Some(group) = entry.group_key().and_then(get) {
            add(group, get, entries);
        }
    }
}

impl Workflow {
    /// Returns the indices that lead to the entry at `index` of this workflow from the beginning of its file.
    pub(crate) fn place_of(&self, index: usize) -> Vec<usize> {
        let at = self.group.iter().flat_map(|group| group.at.iter().copied());
        at.chain([index]).collect()
    }
}

impl Library {
    /// Returns the entries of the file of a workflow, see [`FileEntry`].
    pub fn entries_of_file<'a>(&'a self, workflow: &'a Workflow) -> Vec<FileEntry<'a>> {
        entries_of_file(workflow, &|key| self.get(key))
    }

    /// Returns the output with this name of the phase with this id in the file of a workflow.
    pub fn output<'a>(&'a self, workflow: &'a Workflow, phase: &str, name: &str) -> Option<&'a Output> {
        let entries = self.entries_of_file(workflow).into_iter().map(|of| of.entry);
        entries.filter(|entry| entry.id() == phase).find_map(|entry| entry.output(name))
    }
}
