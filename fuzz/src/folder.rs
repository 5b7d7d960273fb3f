//! Files in memory.

use std::collections::BTreeMap;

use pi_workflows::definition::{DirEntry, FileError, FileKind, Root, WorkflowFiles};

/// Two roots, `global` and `project`, and the project's own files; by `ROOT/PATH`.
#[derive(Debug, Default, Clone)]
pub struct Folder(BTreeMap<String, Vec<u8>>);

impl Folder {
    /// Files behind lines `=== ROOT/PATH`.
    pub fn parse(data: &[u8]) -> Self {
        let mut folder = Self::default();
        let mut file: Option<String> = None;
        for line in data.split_inclusive(|&byte| byte == b'\n') {
            match line.strip_prefix(b"=== ") {
                Some(name) => {
                    let name = String::from_utf8_lossy(name).trim().to_owned();
                    folder.0.insert(name.clone(), Vec::new());
                    file = Some(name);
                }
                None => {
                    if let Some(content) = file.as_ref().and_then(|name| folder.0.get_mut(name)) {
                        content.extend_from_slice(line);
                    }
                }
            }
        }
        folder
    }

    pub fn with(mut self, name: &str, content: &[u8]) -> Self {
        self.0.insert(name.to_owned(), content.to_vec());
        self
    }

    /// The same, with a comment below all YAML, which only the parser understands, not the fast reader.
    pub fn commented(&self) -> Self {
        let comment = |(name, content): (&String, &Vec<u8>)| {
            let mut content = content.clone();
            // In a block text it might be text.
            if name.ends_with("workflow.yaml") && !content.iter().any(|byte| b"|>".contains(byte)) {
                content.extend_from_slice(b"\n # x\n");
            }
            (name.clone(), content)
        };
        Self(self.0.iter().map(comment).collect())
    }

    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    pub fn is_small(&self) -> bool {
        self.0.len() <= 40
    }
}

impl WorkflowFiles for Folder {
    fn roots(&self) -> Result<Vec<Root>, FileError> {
        let root = |name: &str, path: &str| Root { name: name.into(), path: path.into() };
        Ok(vec![root("global", "~/workflows"), root("project", ".pi/workflows")])
    }

    fn list(&self, root: &str, path: &str) -> Result<Vec<DirEntry>, FileError> {
        let prefix = if path.is_empty() { format!("{root}/") } else { format!("{root}/{path}/") };
        let mut entries: BTreeMap<&str, FileKind> = BTreeMap::new();
        for rest in self.0.keys().filter_map(|file| file.strip_prefix(&prefix)) {
            match rest.split_once('/') {
                Some((folder, _)) => entries.insert(folder, FileKind::Directory),
                None => entries.insert(rest, FileKind::File),
            };
        }
        entries.remove("");
        let entry = |(name, kind): (&str, FileKind)| DirEntry { name: name.to_owned(), kind };
        Ok(entries.into_iter().map(entry).collect())
    }

    fn read(&self, root: &str, path: &str) -> Result<Vec<u8>, FileError> {
        self.0.get(&format!("{root}/{path}")).cloned().ok_or(FileError::NotFound)
    }
}
