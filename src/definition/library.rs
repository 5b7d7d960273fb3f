//! Finds and loads the workflows of all roots.

use std::collections::{BTreeMap, BTreeSet};

use super::fault::{Fault, Place, Problem};
use super::fields::MAX_PLACES;
use super::files::{FileError, FileKind, Root, WorkflowFiles};
use super::workflow_file::{self, PhaseRef};
use super::yaml::{self, Step};
use super::{Entry, Phase, Show, Workflow, phase_file, references};

/// How deep below a root a workflow's folder may lie.
const MAX_FOLDER_DEPTH: usize = 8;

/// Every workflow that can be run, in the order of the roots and of the folder names in them.
///
/// Every reference between workflows of a library leads to one of them, and none in a circle.
#[derive(Debug, Default, Clone)]
pub struct Library {
    workflows: Vec<Workflow>,
    index: BTreeMap<String, usize>,
    /// The first workflow of each command name.
    commands: BTreeMap<String, usize>,
    /// How many phases each workflow has, with those of nested workflows; at most [`u64::MAX`].
    sizes: BTreeMap<String, u64>,
}

impl Library {
    /// Reads all roots. A workflow in a later root replaces one of the same key in an earlier root.
    ///
    /// Returns what could be loaded and what is wrong with the rest.
    ///
    /// # Errors
    ///
    /// [`FileError::Stale`] only: the session that the library was for is gone.
    ///
    /// Specification: architecture, "Workflow Loading"; configuration reference, all of it.
    pub fn load(files: &dyn WorkflowFiles) -> Result<(Self, Vec<Fault>), FileError> {
        let mut faults = Vec::new();
        let mut workflows: Vec<Workflow> = Vec::new();
        let mut index: BTreeMap<String, usize> = BTreeMap::new();
        let roots = files.roots()?;
        for root in &roots {
            for workflow in RootReader::new(files, root, &mut faults).read()? {
                match index.get(&workflow.key).and_then(|&at| workflows.get_mut(at)) {
                    Some(earlier) => *earlier = workflow,
                    None => {
                        index.insert(workflow.key.clone(), workflows.len());
                        workflows.push(workflow);
                    }
                }
            }
        }
        let of_files = faults.len();
        let library = Self::new(workflows, &mut faults);
        for fault in faults.iter_mut().skip(of_files).take(MAX_PLACES) {
            fault.place = place_between_files(files, &roots, fault)?;
        }
        Ok((library, faults))
    }

    /// Makes a library of workflows that were read, and leaves out those whose references cannot be
    /// followed.
    pub fn new(mut workflows: Vec<Workflow>, faults: &mut Vec<Fault>) -> Self {
        references::resolve(&mut workflows, faults);
        report_duplicate_command_names(&workflows, faults);
        let index = workflows
            .iter()
            .enumerate()
            .map(|(index, workflow)| (workflow.key.clone(), index))
            .collect();
        let mut commands = BTreeMap::new();
        for (index, workflow) in workflows.iter().enumerate() {
            commands.entry(workflow.command_name.clone()).or_insert(index);
        }
        let mut library = Self { workflows, index, commands, sizes: BTreeMap::new() };
        let mut sizes = BTreeMap::new();
        for workflow in &library.workflows {
            library.measure(workflow, &mut sizes);
        }
        library.sizes = sizes;
        library
    }

    /// Counts the phases of a workflow and of those nested in it; the nesting is of bounded depth.
    fn measure(&self, workflow: &Workflow, sizes: &mut BTreeMap<String, u64>) -> u64 {
        if let Some(&size) = sizes.get(&workflow.key) {
            return size;
        }
        let size = workflow.phases.iter().fold(0_u64, |size, entry| match entry {
            Entry::Phase(_) => size.saturating_add(1),
            Entry::Workflow(key) => {
                let nested = self.get(key).map_or(0, |nested| self.measure(nested, sizes));
                size.saturating_add(nested)
            }
        });
        sizes.insert(workflow.key.clone(), size);
        size
    }

    /// How many phases a list of entries has, with those of nested workflows; at most [`u64::MAX`].
    pub fn phase_count(&self, entries: &[Entry]) -> u64 {
        entries.iter().fold(0, |count: u64, entry| match entry {
            Entry::Phase(_) => count.saturating_add(1),
            Entry::Workflow(key) => count.saturating_add(self.sizes.get(key).copied().unwrap_or(0)),
        })
    }

    /// The workflow of a key.
    pub fn get(&self, key: &str) -> Option<&Workflow> {
        self.workflows.get(*self.index.get(key)?)
    }

    /// The workflow that `/workflow NAME` means: the first of that command name.
    pub fn by_command_name(&self, name: &str) -> Option<&Workflow> {
        self.workflows.get(*self.commands.get(name)?)
    }

    /// The workflows that a person can start.
    pub fn for_people(&self) -> impl Iterator<Item = &Workflow> {
        let first = |(index, workflow): &(usize, &Workflow)| {
            self.commands.get(&workflow.command_name) == Some(index)
        };
        let workflows = self.workflows.iter().enumerate().filter(first);
        workflows.map(|(_, workflow)| workflow).filter(|workflow| workflow.show == Show::User)
    }

    /// All workflows.
    pub fn iter(&self) -> impl Iterator<Item = &Workflow> {
        self.workflows.iter()
    }

    /// The first phase of a list of entries, through nested workflows.
    pub fn first_phase<'a>(&'a self, entries: &'a [Entry]) -> Option<&'a Phase> {
        let mut entries = entries;
        loop {
            match entries.first()? {
                Entry::Phase(phase) => return Some(phase),
                Entry::Workflow(key) => entries = &self.get(key)?.phases,
            }
        }
    }

    /// What an entry is called: a phase's name, or a nested workflow's.
    pub fn entry_name<'a>(&'a self, entry: &'a Entry) -> &'a str {
        match entry {
            Entry::Phase(phase) => &phase.name,
            Entry::Workflow(key) => self.get(key).map_or(key, |workflow| &workflow.name),
        }
    }
}

/// Where in its `workflow.yaml` a fault is that only shows beside other workflows. The file is read
/// again: it was sound when it was read first, and its text was not kept.
fn place_between_files(
    files: &dyn WorkflowFiles,
    roots: &[Root],
    fault: &Fault,
) -> Result<Option<Place>, FileError> {
    let root = roots.iter().rev().find_map(|root| {
        Some((&root.name, fault.file.strip_prefix(&root.path)?.strip_prefix('/')?))
    });
    let Some((root, path)) = root else { return Ok(None) };
    let bytes = match files.read(root, path) {
        Ok(bytes) => bytes,
        Err(FileError::Stale) => return Err(FileError::Stale),
        Err(_) => return Ok(None),
    };
    let text = String::from_utf8_lossy(&bytes);
    let keys: &[String] = match &fault.problem {
        Problem::DuplicateCommandName { .. } => {
            return Ok(yaml::locate(&text, &[Step::Key("commandName")]));
        }
        Problem::UnknownWorkflow { reference, .. } | Problem::InCycle { reference, .. } => {
            std::slice::from_ref(reference)
        }
        Problem::Cycle { keys } => keys,
        _ => return Ok(None),
    };
    let Ok(yaml) = yaml::parse(&text) else { return Ok(None) };
    let entry = yaml.get("phases").and_then(|phases| {
        phases.items().iter().position(|entry| match entry.get("subworkflow") {
            Some(yaml::Yaml::String(key)) => {
                keys.iter().any(|other| other.eq_ignore_ascii_case(key))
            }
            _ => false,
        })
    });
    Ok(entry.and_then(|index| yaml::locate(&text, &[Step::Key("phases"), Step::Item(index)])))
}

fn report_duplicate_command_names(workflows: &[Workflow], faults: &mut Vec<Fault>) {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    for workflow in workflows.iter().filter(|workflow| !workflow.command_name.is_empty()) {
        let name = &workflow.command_name;
        if let Some(first) = first.get(name.as_str()) {
            let problem = Problem::DuplicateCommandName {
                name: name.clone(),
                first: (*first).to_owned(),
                second: workflow.key.clone(),
            };
            let file = format!("{}/workflow.yaml", workflow.folder);
            faults.push(Fault { file, place: None, problem });
        } else {
            first.insert(name, &workflow.key);
        }
    }
}

/// Reads the workflows of one root.
struct RootReader<'a> {
    files: &'a dyn WorkflowFiles,
    root: &'a Root,
    faults: &'a mut Vec<Fault>,
    found: Vec<Workflow>,
    /// The folder of each key that was met, with or without errors in it.
    folders: BTreeMap<String, String>,
}

impl<'a> RootReader<'a> {
    fn new(files: &'a dyn WorkflowFiles, root: &'a Root, faults: &'a mut Vec<Fault>) -> Self {
        Self { files, root, faults, found: Vec::new(), folders: BTreeMap::new() }
    }

    /// Level by level, so that of two folders of one name the one nearer to the root wins. A folder
    /// without a `workflow.yaml` is a library folder: workflows are looked for in it.
    fn read(mut self) -> Result<Vec<Workflow>, FileError> {
        let mut level = vec![String::new()];
        for depth in 0..=MAX_FOLDER_DEPTH {
            let mut next = Vec::new();
            for parent in level {
                for folder in self.folders(&parent)? {
                    if !self.workflow(&folder)? {
                        next.push(folder);
                    }
                }
            }
            if depth == MAX_FOLDER_DEPTH {
                for folder in &next {
                    self.report(folder, Problem::FolderTooDeep);
                }
            }
            level = next;
        }
        Ok(self.found)
    }

    fn folders(&mut self, parent: &str) -> Result<Vec<String>, FileError> {
        match self.files.list(&self.root.name, parent) {
            Ok(entries) => Ok(entries
                .into_iter()
                .filter(|entry| entry.kind == FileKind::Directory)
                .map(|entry| join(parent, &entry.name))
                .collect()),
            Err(FileError::Stale) => Err(FileError::Stale),
            Err(FileError::NotFound) => Ok(Vec::new()),
            Err(error) => {
                self.report(parent, Problem::Unreadable(error));
                Ok(Vec::new())
            }
        }
    }

    /// Reads the workflow of a folder; false if it has none.
    fn workflow(&mut self, folder: &str) -> Result<bool, FileError> {
        let path = join(folder, "workflow.yaml");
        let text = match self.text(&path) {
            Ok(text) => text,
            Err(FileError::Stale) => return Err(FileError::Stale),
            Err(FileError::NotFound) => return Ok(false),
            Err(error) => {
                self.report(&path, Problem::Unreadable(error));
                return Ok(true);
            }
        };
        let key = folder.rsplit('/').next().unwrap_or(folder).to_owned();
        if let Some(first) = self.folders.get(&key).cloned() {
            self.report(folder, Problem::SameFolderName { key, first });
            return Ok(true);
        }
        self.folders.insert(key.clone(), self.display(folder));
        let (folder_name, file_name) = (self.display(folder), self.display(&path));
        let (workflow, entries) =
            workflow_file::read(&key, &folder_name, &file_name, &text, self.faults);
        let phases = self.phases(folder, &file_name, &text, entries)?;
        if let Some((workflow, phases)) = workflow.zip(phases) {
            self.found.push(Workflow { phases, ..workflow });
        }
        Ok(true)
    }

    /// Reads the phases that a `workflow.yaml` names; `None` if one has errors.
    fn phases(
        &mut self,
        folder: &str,
        yaml_file: &str,
        yaml_text: &str,
        entries: Vec<(usize, PhaseRef)>,
    ) -> Result<Option<Vec<Entry>>, FileError> {
        let mut phases = Some(Vec::with_capacity(entries.len()));
        let mut ids = BTreeSet::new();
        let before = self.faults.len();
        for (index, entry) in entries {
            let path = [Step::Key("phases"), Step::Item(index)];
            let look_up = self.faults.len() - before < MAX_PLACES;
            let in_yaml = |problem| Fault {
                file: yaml_file.to_owned(),
                place: look_up.then(|| yaml::locate(yaml_text, &path)).flatten(),
                problem,
            };
            let entry = match entry {
                PhaseRef::Workflow(key) => Some(Entry::Workflow(key)),
                PhaseRef::File(path) => match self.phase(folder, &path)? {
                    Ok(Some(phase)) if !ids.insert(phase.id.clone()) => {
                        self.faults.push(in_yaml(Problem::DuplicateId { id: phase.id }));
                        None
                    }
                    Ok(phase) => phase.map(Entry::Phase),
                    Err(problem) => {
                        self.faults.push(in_yaml(problem));
                        None
                    }
                },
            };
            match (&mut phases, entry) {
                (Some(phases), Some(entry)) => phases.push(entry),
                _ => phases = None,
            }
        }
        Ok(phases)
    }

    /// Reads one phase file: `Ok(None)` if it has errors of its own, `Err` if it cannot be read.
    fn phase(
        &mut self,
        folder: &str,
        path: &str,
    ) -> Result<Result<Option<Phase>, Problem>, FileError> {
        let Some(resolved) = resolve(folder, path) else {
            return Ok(Err(Problem::PhaseOutsideRoot { path: path.to_owned() }));
        };
        let text = match self.text(&resolved) {
            Ok(text) => text,
            Err(FileError::Stale) => return Err(FileError::Stale),
            Err(FileError::OutsideRoot) => {
                return Ok(Err(Problem::PhaseOutsideRoot { path: path.to_owned() }));
            }
            Err(error) => {
                return Ok(Err(Problem::PhaseUnreadable { path: path.to_owned(), error }));
            }
        };
        Ok(Ok(phase_file::read(&self.display(&resolved), &text, self.faults)))
    }

    fn text(&mut self, path: &str) -> Result<String, FileError> {
        let bytes = self.files.read(&self.root.name, path)?;
        let text = String::from_utf8(bytes).unwrap_or_else(|error| {
            self.report(path, Problem::NotUtf8);
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        });
        Ok(match text.strip_prefix('\u{feff}') {
            Some(text) => text.to_owned(),
            None => text,
        })
    }

    fn report(&mut self, path: &str, problem: Problem) {
        let file = self.display(path);
        self.faults.push(Fault { file, place: None, problem });
    }

    fn display(&self, path: &str) -> String {
        join(&self.root.path, path)
    }
}

fn join(parent: &str, name: &str) -> String {
    match (parent, name) {
        ("", name) => name.to_owned(),
        (parent, "") => parent.to_owned(),
        (parent, name) => format!("{parent}/{name}"),
    }
}

/// The path of a phase file from its root, if it stays within it.
///
/// A backslash separates too, so that a workflow written on Windows works elsewhere; a path that is
/// absolute in either notation is none of ours.
fn resolve(folder: &str, path: &str) -> Option<String> {
    let path = path.replace('\\', "/");
    let drive = path.as_bytes().get(1) == Some(&b':')
        && path.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    if path.starts_with('/') || drive {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn phase_paths_stay_in_their_root() {
        for (path, resolved) in [
            ("a.md", Some("review/a.md")),
            ("./a.md", Some("review/a.md")),
            ("../_shared/a.md", Some("_shared/a.md")),
            ("..\\_shared\\a.md", Some("_shared/a.md")),
            ("x/../a.md", Some("review/a.md")),
            ("../../a.md", None),
            ("..", None),
            ("../..", None),
            ("/etc/passwd", None),
            ("\\\\server\\share\\a.md", None),
            ("C:\\a.md", None),
            ("c:/a.md", None),
            ("x/../../../a.md", None),
        ] {
            assert_eq!(resolve("review", path).as_deref(), resolved, "{path}");
        }
    }
}
