//! The folders of a package that are searched for workflows.

use crate::definition::diagnostic::{FieldProblem, FileProblem, Problem, ValueKind};
use crate::definition::model::{Package, resolve_folder};

/// The file of a package that names the folders.
pub(crate) const MANIFEST: &str = "package.json";

/// The keys in the manifest that lead to the list of folders.
pub(crate) const FIELD: [&str; 2] = ["pi-workflows", "workflows"];

/// Maximum number of folders that a package lists.
const MAX_FOLDERS: usize = 100;

/// A folder of a package's list: its index in the list, and its path from the package's own folder.
pub(crate) type Folder = (usize, String);

/// A problem of the list, or of the entry of this index.
pub(crate) type ListProblem = (Option<usize>, Problem);

/// Returns the folders that a package lists, each once, and the problems of the list.
pub(crate) fn folders(package: &Package) -> (Vec<Folder>, Vec<ListProblem>) {
    let value = serde_json::from_str(&package.workflows).unwrap_or_default();
    let serde_json::Value::Array(entries) = value else {
        return (Vec::new(), vec![(None, wrong_type(None, "a list of folders", &value).into())]);
    };
    if entries.len() > MAX_FOLDERS {
        return (Vec::new(), vec![(None, FileProblem::TooManyFolders { limit: MAX_FOLDERS }.into())]);
    }
    let (mut folders, mut problems): (Vec<Folder>, Vec<ListProblem>) = (Vec::new(), Vec::new());
    for (index, entry) in entries.into_iter().enumerate() {
        let serde_json::Value::String(path) = entry else {
            problems.push((Some(index), wrong_type(Some(index), "the path of a folder", &entry).into()));
            continue;
        };
        match resolve_folder("", &path) {
            Some(folder) if folders.iter().any(|(_, other)| *other == folder) => {}
            Some(folder) => folders.push((index, folder)),
            None => problems.push((Some(index), FileProblem::FolderOutsidePackage { path }.into())),
        }
    }
    (folders, problems)
}

fn wrong_type(index: Option<usize>, expected: &'static str, found: &serde_json::Value) -> FieldProblem {
    use serde_json::Value;
    let found = match found {
        Value::Null => ValueKind::Null,
        Value::Bool(_) => ValueKind::Boolean,
        Value::Number(_) => ValueKind::Number,
        Value::String(_) => ValueKind::String,
        Value::Array(_) => ValueKind::List,
        Value::Object(_) => ValueKind::Mapping,
    };
    let mut field = FIELD.join(".");
    if let Some(index) = index {
        field.push_str(&format!("[{index}]"));
    }
    FieldProblem::wrong_type(field, expected, found)
}
