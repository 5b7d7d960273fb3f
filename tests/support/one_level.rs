//! Workflow files in memory, for tests and benchmarks.

use std::collections::BTreeMap;
use std::fmt;

use pi_workflows::definition::{DirEntry, FileError, FileKind, ReadError, Root};
use pi_workflows::definition::{Stale, WorkflowFiles};
use pi_workflows::engine::Host;
use pi_workflows::run::RunDir;

/// Folders with files; folders are not nested.
#[derive(Clone, Default)]
pub struct Files(pub BTreeMap<String, BTreeMap<String, Vec<u8>>>);

impl fmt::Debug for Files {
    /// The files as text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (folder, files) in &self.0 {
            for (name, content) in files {
                writeln!(f, "=== {folder}/{name}\n{}", String::from_utf8_lossy(content))?;
            }
        }
        Ok(())
    }
}

impl WorkflowFiles for Files {
    fn roots(&self) -> Result<Vec<Root>, Stale> {
        Ok(vec![Root { name: "global".into(), path: "workflows".into(), location: "/workflows".into(), package: None }])
    }

    fn list(&self, _root: &str, path: &str) -> Result<Vec<DirEntry>, ReadError> {
        let entry = |name: &String, kind| DirEntry { name: name.clone(), kind, target: None };
        Ok(match self.0.get(path) {
            Some(files) => files.keys().map(|name| entry(name, FileKind::File)).collect(),
            None if !path.is_empty() => return Err(ReadError::File(FileError::NotFound)),
            None => self.0.keys().map(|name| entry(name, FileKind::Directory)).collect(),
        })
    }

    fn read(&self, _root: &str, path: &str) -> Result<Vec<u8>, ReadError> {
        let (folder, file) = path.split_once('/').ok_or(FileError::NotFound)?;
        self.0.get(folder).and_then(|files| files.get(file)).cloned().ok_or(ReadError::File(FileError::NotFound))
    }
}

impl Host for Files {
    fn write_run_file(&self, _task_id: &str, _name: &str, _text: &str) -> Result<Result<(), String>, Stale> {
        Ok(Ok(()))
    }

    fn open_run_dir(&self, _task_id: &str, _copy_of: Option<&str>) -> Result<Result<RunDir, String>, Stale> {
        Ok(Err("there is no project".to_owned()))
    }

    fn running_tools(&self) -> Result<Vec<String>, Stale> {
        Ok(Vec::new())
    }

    fn can_confine(&self, _: bool) -> Result<Result<(), String>, Stale> {
        Ok(Ok(()))
    }
}
