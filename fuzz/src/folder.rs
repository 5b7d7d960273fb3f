//! Files in memory.

use std::collections::BTreeMap;

use pi_workflows::definition::{DirEntry, FileError, FileKind, Package, PackageScope, ReadError, Root};
use pi_workflows::definition::{Stale, WorkflowFiles, WriteTarget};
use pi_workflows::engine::Host;
use pi_workflows::run::RunDir;

/// The files of two roots, `global` and `project`, of a package, and of the project itself, by `ROOT/PATH`; and the
/// links with their targets, in the same form. `package/folders.json` is the package's list of folders.
#[derive(Debug, Default, Clone)]
pub struct Folder(BTreeMap<String, Vec<u8>>, BTreeMap<String, String>);

impl Folder {
    /// Parses files after lines `=== ROOT/PATH`, and links `=== ROOT/PATH -> ROOT/PATH`.
    pub fn parse(data: &[u8]) -> Self {
        let mut folder = Self::default();
        let mut file: Option<String> = None;
        for line in data.split_inclusive(|&byte| byte == b'\n') {
            match line.strip_prefix(b"=== ") {
                Some(name) => {
                    let name = String::from_utf8_lossy(name).trim().to_owned();
                    if let Some((link, target)) = name.split_once(" -> ") {
                        let target = target.trim_end_matches('/');
                        let is_plain = |part| !matches!(part, "" | "." | "..");
                        let (root, below) = link.split_once('/').unwrap_or_default();
                        let within = target.split('/').next() == Some(root);
                        if within && !below.is_empty() && target.split('/').all(is_plain) {
                            folder.1.insert(link.to_owned(), target.to_owned());
                        }
                        file = None;
                        continue;
                    }
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
            // In a block scalar it may be part of the text.
            if name.ends_with("workflow.yaml") && !content.iter().any(|byte| b"|>".contains(byte)) {
                content.extend_from_slice(b"\n # x\n");
            }
            (name.clone(), content)
        };
        Self(self.0.iter().map(comment).collect(), self.1.clone())
    }

    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    pub fn is_small(&self) -> bool {
        self.0.len() + self.1.len() <= 40
    }

    /// Resolves the links in a path `ROOT/PATH`; `None` if they form a cycle.
    fn real(&self, root: &str, path: &str) -> Option<String> {
        let mut real = root.to_owned();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            real = format!("{real}/{part}");
            let mut steps = 0;
            while let Some(target) = self.1.get(&real) {
                steps += 1;
                if steps > 40 {
                    return None;
                }
                real.clone_from(target);
            }
        }
        Some(real)
    }

    /// The directory entry of a link.
    fn link(&self, root: &str, name: &str, link: &str) -> DirEntry {
        let path = link.strip_prefix(root).unwrap_or_default();
        let real = self.real(root, path).filter(|real| !self.1.contains_key(real));
        let target = real.as_deref().map(|real| real.strip_prefix(root).unwrap_or_default());
        let inside = real.as_ref().map(|real| format!("{real}/"));
        let kind = match (&real, inside) {
            (Some(real), _) if self.0.contains_key(real) => FileKind::File,
            (_, Some(inside)) if self.0.keys().any(|file| file.starts_with(&inside)) => FileKind::Directory,
            _ => FileKind::Other,
        };
        let target = target.filter(|_| kind != FileKind::Other);
        let target = target.map(|target| target.trim_start_matches('/').to_owned());
        DirEntry { name: name.to_owned(), kind, target }
    }
}

impl WorkflowFiles for Folder {
    fn roots(&self) -> Result<Vec<Root>, Stale> {
        let root = |name: &str, path: &str| Root {
            name: name.into(),
            path: path.into(),
            location: format!("/{path}"),
            package: None,
        };
        let mut roots = vec![root("global", "~/workflows"), root("project", ".pi/workflows")];
        if self.0.keys().any(|file| file.starts_with("package/")) {
            let list = self.0.get("package/folders.json").map(|list| String::from_utf8_lossy(list));
            let workflows = list.map_or_else(|| r#"["workflows"]"#.to_owned(), Into::into);
            let package = Package { name: "@acme/kit".into(), scope: PackageScope::User, workflows };
            roots.push(Root { package: Some(package), ..root("package", "~/kit") });
        }
        Ok(roots)
    }

    fn list(&self, root: &str, path: &str) -> Result<Vec<DirEntry>, ReadError> {
        let prefix = format!("{}/", self.real(root, path).ok_or(FileError::NotFound)?);
        let mut entries: BTreeMap<&str, FileKind> = BTreeMap::new();
        for rest in self.0.keys().filter_map(|file| file.strip_prefix(&prefix)) {
            match rest.split_once('/') {
                Some((folder, _)) => entries.insert(folder, FileKind::Directory),
                None => entries.insert(rest, FileKind::File),
            };
        }
        entries.remove("");
        let entry = |(name, kind): (&str, FileKind)| DirEntry { name: name.to_owned(), kind, target: None };
        let mut entries: BTreeMap<&str, DirEntry> =
            entries.into_iter().map(|(name, kind)| (name, entry((name, kind)))).collect();
        for link in self.1.keys() {
            if let Some(name) = link.strip_prefix(&prefix).filter(|name| !name.contains('/')) {
                entries.insert(name, self.link(root, name, link));
            }
        }
        entries.remove("");
        Ok(entries.into_values().collect())
    }

    fn read(&self, root: &str, path: &str) -> Result<Vec<u8>, ReadError> {
        let real = self.real(root, path).ok_or(FileError::NotFound)?;
        self.0.get(&real).cloned().ok_or(ReadError::File(FileError::NotFound))
    }

    /// Without links.
    fn resolve_write(&self, path: &str) -> Result<Result<WriteTarget, String>, Stale> {
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/project/{path}") };
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
            if part != ".." {
                parts.push(part);
            } else if !parts.is_empty() {
                parts.truncate(parts.len() - 1);
            }
        }
        let resolved = format!("/{}", parts.join("/"));
        Ok(Ok(WriteTarget { path: resolved, linked: path.contains("link") }))
    }
}

impl Host for Folder {
    fn open_run_dir(&self, task_id: &str, _copy_of: Option<&str>) -> Result<Result<RunDir, String>, Stale> {
        let path = ".pi/workflow-runs/0123456789abcdef0123".to_owned();
        let dir = RunDir::opened("0123456789abcdef0123".to_owned(), path);
        Ok(if task_id.ends_with('0') { Ok(dir) } else { Err("read-only".to_owned()) })
    }

    fn write_run_file(&self, _task_id: &str, _name: &str, text: &str) -> Result<Result<(), String>, Stale> {
        Ok(if text.len().is_multiple_of(2) { Ok(()) } else { Err("read-only".to_owned()) })
    }

    /// Half of the keys have a value, which is no answer that the engine has kept.
    fn recall(&self, key: &str) -> Option<String> {
        key.ends_with(['0', '2', '4', '6', '8', 'a', 'c', 'e']).then(|| "x".into())
    }

    fn running_tools(&self) -> Result<Vec<String>, Stale> {
        Ok(Vec::new())
    }

    fn can_confine(&self, _: bool) -> Result<Result<(), String>, Stale> {
        Ok(Ok(()))
    }
}
