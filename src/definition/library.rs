//! Finds and loads the workflows of all roots.

use std::cell::RefCell;
use std::collections::btree_map::Entry as MapEntry;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::bounded::Bounded;
use super::diagnostic::{self, Diagnostic, MeantPhase, Place, Problem, Severity};
use super::fields::MAX_PLACES;
use super::files::{FileError, FileKind, Root, Surroundings, WorkflowFiles};
use super::nearest::nearest;
use super::workflow_file::{self, PhaseRef};
use super::yaml::{self, Step};
use super::{
    Check, CheckKind, Entry, Gate, OnGateFail, Phase, Show, Workflow, front_matter, phase_file,
    references, seal,
};

/// Number of entries that a regular expression of a gate counts as, because it is compiled.
const EXPRESSION: usize = 5;
/// How deep below a root a workflow's folder may lie.
const MAX_FOLDER_DEPTH: usize = 8;

/// Every workflow that can be run, in the order of the roots and of the folder names in them.
///
/// Every reference between workflows of a library leads to one of them, and none in a cycle.
#[derive(Debug, Default, Clone)]
pub struct Library {
    workflows: Vec<Workflow>,
    index: BTreeMap<String, usize>,
    /// The first workflow of each command name.
    commands: BTreeMap<String, usize>,
    /// How many phases each workflow has, with those of nested workflows; at most [`u64::MAX`]. `None` while
    /// they are counted.
    sizes: Vec<Option<u64>>,
    left_out: Vec<LeftOut>,
    /// Each workflow's folder, with each phase file that it names. Known after a check only.
    named: Vec<(String, String)>,
    replacing: Replacing,
    /// The seals that were asked for: they are compared at every call of a tool.
    seals: RefCell<BTreeMap<String, String>>,
}

/// The workflows that have the place of one of an earlier root, by key.
#[derive(Debug, Default, Clone)]
struct Replacing {
    /// Those that have its key, in any case, as references ignore it.
    keys: BTreeSet<String>,
    /// Those that have its command name.
    commands: BTreeSet<String>,
}

/// A workflow that has errors.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// The name of its folder.
    pub key: String,
    /// Its folder, as a user would write it.
    pub folder: String,
    /// Its command name, where that can be read.
    pub command_name: Option<String>,
}

impl LeftOut {
    /// Tests if `/workflow NAME` would start it but for its errors.
    pub fn is_called(&self, name: &str) -> bool {
        self.command_name.as_ref().unwrap_or(&self.key) == name
    }
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
    pub fn load(files: &dyn WorkflowFiles) -> Result<(Self, Vec<Diagnostic>), FileError> {
        Self::read(files, None)
    }

    /// As [`Library::load`], with diagnostics that do no harm too. It takes longer: files that no workflow
    /// names are looked at.
    ///
    /// # Errors
    ///
    /// [`FileError::Stale`] only.
    pub fn check(files: &dyn WorkflowFiles) -> Result<(Self, Vec<Diagnostic>), FileError> {
        Self::read(files, Some(&files.surroundings()?))
    }

    fn read(
        files: &dyn WorkflowFiles,
        check: Option<&Surroundings>,
    ) -> Result<(Self, Vec<Diagnostic>), FileError> {
        let mut diagnostics = Vec::new();
        let mut workflows: Vec<Workflow> = Vec::new();
        let mut index: BTreeMap<String, usize> = BTreeMap::new();
        let mut left_out = Vec::new();
        let mut replaced = Vec::new();
        let mut named = Vec::new();
        let mut taken = Taken::default();
        let roots = files.roots()?;
        let mut bounded = Bounded::new(files);
        for (number, root) in roots.iter().enumerate() {
            if bounded.reached().is_some() {
                break;
            }
            let reader = RootReader::new(&mut bounded, root, check, &mut diagnostics);
            let broken = left_out.len();
            let found = reader.read(&mut left_out, &mut named)?;
            if number + 1 < roots.len() {
                taken.add(&found, left_out.get(broken..).unwrap_or_default(), number);
            }
            for workflow in found {
                match index.get(&workflow.key).and_then(|&at| workflows.get_mut(at)) {
                    Some(earlier) => {
                        let key = workflow.key.clone();
                        let problem = Problem::Shadows { key, other: earlier.folder.clone() };
                        replaced.push(Diagnostic::of(workflow.file(), problem));
                        *earlier = workflow;
                    }
                    None => {
                        index.insert(workflow.key.clone(), workflows.len());
                        workflows.push(workflow);
                    }
                }
            }
        }
        let outside = check.map_or(&[][..], |check| &check.profiles_outside);
        diagnostics
            .extend(outside.iter().map(|folder| Diagnostic::of(folder, Problem::ProfilesOutside)));
        let of_files = diagnostics.len();
        let replacing = taken.replacing(&workflows, &roots);
        let library = Self::with_left_out(workflows, left_out, &mut diagnostics);
        let library = Self { replacing, named, ..library };
        if check.is_some() {
            diagnostics.extend(replaced);
            report_similar_command_names(&library.workflows, &mut diagnostics);
        }
        for (number, diagnostic) in diagnostics.split_off(of_files).into_iter().enumerate() {
            let look_up = number < MAX_PLACES;
            let place =
                look_up.then(|| place_between_files(files, &roots, &diagnostic)).transpose()?;
            diagnostics.push(match place.flatten() {
                Some((text, place)) => diagnostic.at(&text, Some(place), 0),
                None => diagnostic,
            });
        }
        suggest_references(&library, &mut diagnostics);
        if check.is_some() {
            settle_summaries(&library.workflows, &mut diagnostics);
        }
        diagnostic::sort(&mut diagnostics);
        Ok((library, diagnostics))
    }

    /// Makes a library of workflows that were read, and leaves out those whose references cannot be
    /// followed.
    pub fn new(workflows: Vec<Workflow>, diagnostics: &mut Vec<Diagnostic>) -> Self {
        Self::with_left_out(workflows, Vec::new(), diagnostics)
    }

    fn with_left_out(
        mut workflows: Vec<Workflow>,
        mut left_out: Vec<LeftOut>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        references::resolve(&mut workflows, &mut left_out, diagnostics);
        let (mut index, mut commands) = (BTreeMap::new(), BTreeMap::new());
        for (at, workflow) in workflows.iter().enumerate() {
            index.insert(workflow.key.clone(), at);
            commands.entry(workflow.command_name.clone()).or_insert(at);
        }
        let mut sizes = vec![None; workflows.len()];
        let mut library = Self { workflows, index, commands, left_out, ..Self::default() };
        for at in 0..sizes.len() {
            library.measure(at, &mut sizes);
        }
        library.sizes = sizes;
        library.report_duplicate_command_names(diagnostics);
        library
    }

    /// Counts the phases of a workflow and of those nested in it; the nesting is of bounded depth.
    fn measure(&self, at: usize, sizes: &mut [Option<u64>]) -> u64 {
        if let Some(Some(size)) = sizes.get(at) {
            return *size;
        }
        let phases = self.workflows.get(at).map(|workflow| &*workflow.phases);
        let size = phases.unwrap_or_default().iter().fold(0_u64, |size, entry| match entry {
            Entry::Phase(_) => size.saturating_add(1),
            Entry::Workflow(key) => {
                let nested = self.index.get(key).map_or(0, |&at| self.measure(at, sizes));
                size.saturating_add(nested)
            }
        });
        if let Some(known) = sizes.get_mut(at) {
            *known = Some(size);
        }
        size
    }

    /// How many phases a list of entries has, with those of nested workflows; at most [`u64::MAX`].
    pub fn phase_count(&self, entries: &[Entry]) -> u64 {
        let size = |key: &String| *self.sizes.get(*self.index.get(key)?)?;
        entries.iter().fold(0, |count: u64, entry| match entry {
            Entry::Phase(_) => count.saturating_add(1),
            Entry::Workflow(key) => count.saturating_add(size(key).unwrap_or(0)),
        })
    }

    /// The workflow of a key.
    pub fn get(&self, key: &str) -> Option<&Workflow> {
        self.workflows.get(*self.index.get(key)?)
    }

    /// The hash of every rule of a workflow and of those nested in it; `None` if there is no such workflow. See
    /// [`seal`](super::seal).
    pub fn seal(&self, key: &str) -> Option<String> {
        if let Some(known) = self.seals.borrow().get(key) {
            return Some(known.clone());
        }
        let hash = seal::hash(key, self)?;
        self.seals.borrow_mut().insert(key.to_owned(), hash.clone());
        Some(hash)
    }

    /// The workflow that `/workflow NAME` means: the first of that command name.
    pub fn by_command_name(&self, name: &str) -> Option<&Workflow> {
        self.workflows.get(*self.commands.get(name)?)
    }

    /// The workflows that a user can start.
    pub fn for_users(&self) -> impl Iterator<Item = &Workflow> {
        let first = |(index, workflow): &(usize, &Workflow)| {
            self.commands.get(&workflow.command_name) == Some(index)
        };
        let workflows = self.workflows.iter().enumerate().filter(first);
        workflows.map(|(_, workflow)| workflow).filter(|workflow| workflow.show == Show::User)
    }

    /// The workflows that have errors.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Tests if a diagnostic belongs to a folder: its file lies in the folder, above it, or a workflow of the
    /// folder names it as a phase file. For a library that comes from a check.
    pub fn concerns(&self, folder: &str, diagnostic: &Diagnostic) -> bool {
        let file = &diagnostic.file;
        is_within(folder, file)
            || is_within(file, folder)
            || self.named.iter().any(|(own, named)| named == file && is_within(folder, own))
    }

    /// The keys of the workflows in the place of one of an earlier root that a run can reach which
    /// `/workflow NAME` starts, its own first.
    pub fn replacements_in(&self, start: &Workflow) -> Vec<String> {
        let mut replacing = Vec::new();
        let mut seen = BTreeSet::new();
        let mut ahead = vec![start.key.as_str()];
        while let Some(key) = ahead.pop() {
            let Some(workflow) = self.get(key).filter(|_| seen.insert(key)) else { continue };
            let Replacing { keys, commands } = &self.replacing;
            if keys.contains(key) || (key == start.key && commands.contains(key)) {
                replacing.push(key.to_owned());
            }
            let nested = workflow.phases.iter().rev().filter_map(|entry| match entry {
                Entry::Workflow(key) => Some(key.as_str()),
                Entry::Phase(_) => None,
            });
            ahead.extend(nested);
        }
        replacing
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

    fn report_duplicate_command_names(&self, diagnostics: &mut Vec<Diagnostic>) {
        for workflow in self.workflows.iter().filter(|workflow| !workflow.command_name.is_empty()) {
            let name = &workflow.command_name;
            let first = self.by_command_name(name).filter(|first| first.key != workflow.key);
            diagnostics.extend(first.map(|first| {
                let problem = Problem::DuplicateCommandName {
                    name: name.clone(),
                    first: first.key.clone(),
                    second: workflow.key.clone(),
                    first_file: first.file(),
                };
                Diagnostic::of(workflow.file(), problem)
            }));
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

/// Where an entry of `phases` is no file but names a workflow: suggests the reference to it.
fn suggest_references(library: &Library, diagnostics: &mut [Diagnostic]) {
    for diagnostic in diagnostics {
        let Problem::PhaseUnreadable { path, nearest, .. } = &mut diagnostic.problem else {
            continue;
        };
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        if nearest.as_ref().is_some_and(|file| *file == format!("{path}.md")) {
            continue;
        }
        let left_out = library.left_out.iter().find(|left_out| left_out.key == name);
        let known = library.get(name).or_else(|| library.by_command_name(name));
        let known = known.map(|workflow| (&workflow.key, &workflow.folder));
        if let Some((key, folder)) =
            known.or_else(|| left_out.map(|left_out| (&left_out.key, &left_out.folder)))
            && diagnostic.file != format!("{folder}/workflow.yaml")
        {
            *nearest = Some(format!("subworkflow: {key}"));
        }
    }
}

/// The keys and command names of workflows, sound or not, and the first root that has each.
#[derive(Default)]
struct Taken {
    /// In lower case.
    keys: BTreeMap<String, usize>,
    commands: BTreeMap<String, usize>,
}

impl Taken {
    fn add(&mut self, found: &[Workflow], left_out: &[LeftOut], root: usize) {
        for Workflow { key, command_name, .. } in found {
            self.keys.entry(key.to_lowercase()).or_insert(root);
            if !command_name.is_empty() {
                self.commands.entry(command_name.clone()).or_insert(root);
            }
        }
        for LeftOut { key, command_name, .. } in left_out {
            self.keys.entry(key.to_lowercase()).or_insert(root);
            // Where it cannot be read: most have that of their folder.
            self.commands.entry(command_name.as_ref().unwrap_or(key).clone()).or_insert(root);
        }
    }

    fn replacing(&self, workflows: &[Workflow], roots: &[Root]) -> Replacing {
        let mut replacing = Replacing::default();
        for workflow in workflows {
            let root = roots.iter().position(|root| root.name == workflow.root);
            let is_earlier = |first: Option<&usize>| first.copied() < root && first.is_some();
            if is_earlier(self.keys.get(&workflow.key.to_lowercase())) {
                replacing.keys.insert(workflow.key.clone());
            }
            if is_earlier(self.commands.get(&workflow.command_name)) {
                replacing.commands.insert(workflow.key.clone());
            }
        }
        replacing
    }
}

/// Keeps of the `{summary.ID}` that were found those of which no phase has the id. If anything has errors
/// its phases are not all known, and nothing is said.
fn settle_summaries(workflows: &[Workflow], diagnostics: &mut Vec<Diagnostic>) {
    let sound = diagnostics.iter().all(|diagnostic| diagnostic.severity() == Severity::Warning);
    let entries = workflows.iter().flat_map(|workflow| &workflow.phases);
    let phases = entries.filter_map(|entry| match entry {
        Entry::Phase(phase) => Some(phase.id.as_str()),
        Entry::Workflow(_) => None,
    });
    let mut ids = BTreeSet::new();
    ids.extend(phases);
    diagnostics.retain_mut(|diagnostic| match &mut diagnostic.problem {
        Problem::UnknownSummary { id, nearest: meant } => {
            *meant = nearest(id, ids.iter().copied()).map(Into::into);
            sound && !ids.contains(id.as_str())
        }
        _ => true,
    });
}

/// Where in its `workflow.yaml` a diagnostic is that only shows beside other workflows, and its text. The
/// file is read again: it was sound when it was read first, and its text was not kept.
fn place_between_files(
    files: &dyn WorkflowFiles,
    roots: &[Root],
    diagnostic: &Diagnostic,
) -> Result<Option<(String, Place)>, FileError> {
    let root = roots.iter().rev().find_map(|root| {
        Some((&root.name, diagnostic.file.strip_prefix(&root.path)?.strip_prefix('/')?))
    });
    let Some((root, path)) = root else { return Ok(None) };
    let bytes = match files.read(root, path) {
        Ok(bytes) => bytes,
        Err(FileError::Stale) => return Err(FileError::Stale),
        Err(_) => return Ok(None),
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let place = in_workflow_yaml(&text, &diagnostic.problem);
    Ok(place.map(|place| (text, place)))
}

fn in_workflow_yaml(text: &str, problem: &Problem) -> Option<Place> {
    let keys: &[String] = match problem {
        Problem::DuplicateCommandName { .. } | Problem::SimilarCommandName { .. } => {
            return yaml::locate(text, &[Step::Key("commandName")]);
        }
        Problem::Shadows { .. } => return yaml::locate(text, &[Step::Key("name")]),
        Problem::NestedTooDeep { .. } => return yaml::locate(text, &[Step::Key("phases")]),
        Problem::UnknownWorkflow { reference, .. }
        | Problem::CommandNameAsReference { reference, .. }
        | Problem::BrokenWorkflow { reference, .. }
        | Problem::InCycle { reference, .. } => std::slice::from_ref(reference),
        Problem::Cycle { keys } => keys,
        _ => return None,
    };
    let yaml = yaml::parse(text).ok()?;
    let entry = yaml.get("phases").and_then(|phases| {
        phases.items().iter().position(|entry| match entry.get("subworkflow") {
            Some(yaml::Yaml::String(key)) => {
                keys.iter().any(|other| other.eq_ignore_ascii_case(key))
            }
            _ => false,
        })
    });
    yaml::locate(text, &[Step::Key("phases"), Step::Item(entry?)])
}

/// Command names that a user takes for one, in every spelling but the first.
fn report_similar_command_names(workflows: &[Workflow], diagnostics: &mut Vec<Diagnostic>) {
    let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
    let for_users = |(_, workflow): &(usize, &Workflow)| workflow.show == Show::User;
    for (at, workflow) in workflows.iter().enumerate().filter(for_users) {
        let first = *by_name.entry(workflow.command_name.to_ascii_lowercase()).or_insert(at);
        let first = workflows.get(first);
        if let Some(first) = first.filter(|first| first.command_name != workflow.command_name) {
            let problem = Problem::SimilarCommandName {
                names: [first.command_name.clone(), workflow.command_name.clone()],
                keys: [first.key.clone(), workflow.key.clone()],
            };
            diagnostics.push(Diagnostic::of(workflow.file(), problem));
        }
    }
}

/// Reads the workflows of one root.
struct RootReader<'a, 'f> {
    files: &'a mut Bounded<'f>,
    root: &'a Root,
    /// What is checked beside errors.
    check: Option<&'a Surroundings>,
    diagnostics: &'a mut Vec<Diagnostic>,
    found: Vec<Workflow>,
    /// The folder of each key that was met, with or without errors in it.
    folders: BTreeMap<String, String>,
    /// The command names of workflows with errors, by key.
    command_names: BTreeMap<String, String>,
    /// The library folders that were looked through or will be, by their paths without links.
    visited: BTreeSet<String>,
    /// The links to folders that were met, and where they lead.
    links: BTreeMap<String, String>,
    /// The phase files that were read, by their paths without links to folders; `None` for one with errors.
    phases: BTreeMap<String, Option<Rc<Phase>>>,
    /// The phase files that workflows name, in lower case. Collected for a check only.
    named: BTreeSet<String>,
    /// Each workflow's folder, with each phase file that it names, as a user would write them. Collected for a check only.
    named_by: Vec<(String, String)>,
    /// Those that may be meant by names of files that are not there, in lower case. Collected for a check only.
    meant: BTreeSet<String>,
    /// Whether these are all: the entries of every workflow could be read.
    all_named: bool,
    /// The folders with a `workflow.yaml` under another name, by key.
    misnamed: BTreeMap<String, String>,
    /// All that is no folder, beside and in workflows. Collected for a check only.
    loose: Vec<(String, FileKind)>,
}

impl<'a, 'f> RootReader<'a, 'f> {
    fn new(
        files: &'a mut Bounded<'f>,
        root: &'a Root,
        check: Option<&'a Surroundings>,
        diagnostics: &'a mut Vec<Diagnostic>,
    ) -> Self {
        Self {
            files,
            root,
            check,
            diagnostics,
            found: Vec::new(),
            folders: BTreeMap::new(),
            command_names: BTreeMap::new(),
            visited: BTreeSet::from([String::new()]),
            links: BTreeMap::new(),
            phases: BTreeMap::new(),
            named: BTreeSet::new(),
            named_by: Vec::new(),
            meant: BTreeSet::new(),
            all_named: true,
            misnamed: BTreeMap::new(),
            loose: Vec::new(),
        }
    }

    /// What can be read before a total is reached.
    fn read(
        mut self,
        left_out: &mut Vec<LeftOut>,
        named: &mut Vec<(String, String)>,
    ) -> Result<Vec<Workflow>, FileError> {
        match self.walk() {
            Err(FileError::TotalReached) => {
                if let Some((total, _, path)) = self.files.reached() {
                    let path = path.to_owned();
                    self.report(&path, Problem::TotalReached(total));
                }
            }
            walked => walked?,
        }
        let mut found = BTreeSet::new();
        found.extend(self.found.iter().map(|workflow| workflow.key.as_str()));
        let broken = self.folders.iter().filter(|(key, _)| !found.contains(key.as_str()));
        let misnamed = self.misnamed.iter().filter(|(key, _)| !self.folders.contains_key(*key));
        left_out.extend(broken.chain(misnamed).map(|(key, folder)| LeftOut {
            key: key.clone(),
            folder: folder.clone(),
            command_name: self.command_names.get(key).cloned(),
        }));
        named.append(&mut self.named_by);
        Ok(self.found)
    }

    /// Level by level, so that of two folders of one name the one nearer to the root wins. A folder
    /// without a `workflow.yaml` is a library folder: workflows are looked for in it, once, however many links
    /// lead to it.
    fn walk(&mut self) -> Result<(), FileError> {
        let mut level = vec![String::new()];
        for depth in 0..=MAX_FOLDER_DEPTH {
            let mut next = Vec::new();
            for parent in level {
                for folder in self.folders(&parent, false)? {
                    let real = self.without_links(&folder);
                    if !self.visited.contains(&real) && !self.workflow(&folder)? {
                        self.visited.insert(real);
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
        self.report_unused()
    }

    /// A path from the root without the links to folders that were met.
    fn without_links(&self, path: &str) -> String {
        let mut way = path;
        while !self.links.is_empty() {
            if let Some(target) = self.links.get(way) {
                let below = path.get(way.len()..).unwrap_or_default();
                return join(target, below.trim_start_matches('/'));
            }
            let Some((above, _)) = way.rsplit_once('/') else { break };
            way = above;
        }
        path.to_owned()
    }

    /// The folders in a folder. A check looks at what else is there.
    fn folders(&mut self, parent: &str, is_workflow: bool) -> Result<Vec<String>, FileError> {
        match self.files.list(&self.root.name, parent) {
            Ok(entries) => {
                let mut folders = Vec::new();
                for entry in entries {
                    let path = join(parent, &entry.name);
                    if entry.kind == FileKind::File && !is_workflow {
                        self.check_file_name(parent, &entry.name);
                    }
                    match entry.kind {
                        FileKind::Directory => {
                            if let Some(target) = entry.target {
                                self.links.insert(path.clone(), target);
                            }
                            folders.push(path);
                        }
                        _ if self.check.is_none() => {}
                        kind => self.loose.push((path, kind)),
                    }
                }
                Ok(folders)
            }
            Err(error) if error.is_final() => Err(error),
            Err(FileError::NotFound | FileError::NoSuchRoot) => Ok(Vec::new()),
            Err(error) => {
                self.report(parent, Problem::Unreadable(error));
                Ok(Vec::new())
            }
        }
    }

    /// Reports a `workflow.yaml` under another name, or without a folder of its own.
    fn check_file_name(&mut self, parent: &str, name: &str) {
        if !["workflow.yaml", "workflow.yml"].iter().any(|other| other.eq_ignore_ascii_case(name)) {
            return;
        }
        // Its phase files are not known.
        self.all_named = false;
        let path = join(parent, name);
        if parent.is_empty() {
            self.report(&path, Problem::WorkflowInRoot);
            return;
        }
        self.report(&path, Problem::WorkflowFileName);
        let folder = self.display(parent);
        self.misnamed.entry(last_part(parent).to_owned()).or_insert(folder);
    }

    /// Reports what no workflow names, for a check: phase files, and what cannot be read at all.
    fn report_unused(&mut self) -> Result<(), FileError> {
        for (path, kind) in std::mem::take(&mut self.loose) {
            let lower = path.to_lowercase();
            if self.named.contains(&lower) {
                continue;
            }
            if kind == FileKind::Other {
                self.report(&path, Problem::Skipped);
            }
            if kind == FileKind::Other || !self.all_named || !lower.ends_with(".md") {
                continue;
            }
            match self.files.read(&self.root.name, &path) {
                Err(error) if error.is_final() => return Err(error),
                Ok(bytes) => {
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    let document = front_matter::split(text.clone());
                    // Other Markdown may have front matter too.
                    if yaml::parse(document.front_matter())
                        .is_ok_and(|yaml| yaml.get("emoji").is_some())
                    {
                        if !self.meant.contains(&lower) {
                            let diagnostic =
                                Diagnostic::of(self.display(&path), Problem::UnusedPhase);
                            let place = Some(Place { line: 1, column: 1 });
                            self.diagnostics.push(diagnostic.at(&text, place, 0));
                        }
                        // What is wrong in it leaves nothing out as long as nothing uses it.
                        let mut own = Vec::new();
                        let file = self.display(&path);
                        phase_file::read(&file, text, self.files.files(), self.check, &mut own);
                        own.retain(|diagnostic| diagnostic.severity() == Severity::Warning);
                        self.diagnostics.append(&mut own);
                    }
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Reads the workflow of a folder; false if it has none.
    fn workflow(&mut self, folder: &str) -> Result<bool, FileError> {
        let path = join(folder, "workflow.yaml");
        let text = match self.text(&path) {
            Ok(text) => text,
            Err(FileError::NotFound) => return Ok(false),
            Err(error) => {
                let key = last_part(folder).to_owned();
                let name = self.display(folder);
                self.folders.entry(key).or_insert(name);
                if error.is_final() {
                    return Err(error);
                }
                self.report(&path, Problem::Unreadable(error));
                return Ok(true);
            }
        };
        let key = last_part(folder).to_owned();
        if let Some(first) = self.folders.get(&key).cloned() {
            self.report(folder, Problem::SameFolderName { key, first });
            return Ok(true);
        }
        self.folders.insert(key.clone(), self.display(folder));
        let (folder_name, file_name) = (self.display(folder), self.display(&path));
        let before = self.diagnostics.len();
        let (workflow, entries) = workflow_file::read(
            &key,
            &folder_name,
            &file_name,
            &text,
            self.check.is_some(),
            self.diagnostics,
        );
        let gate = workflow.as_ref().and_then(|workflow| workflow.gate.as_ref());
        self.count_gate(gate, before, &path)?;
        if self.check.is_some() {
            self.all_named &= !entries.is_empty();
            self.folders(folder, true)?;
        }
        let loopable = workflow.as_ref().is_none_or(|workflow| workflow.loopable);
        let phases = self.phases(folder, (&file_name, &text), entries, loopable)?;
        if let Some((workflow, phases)) = workflow.zip(phases) {
            match leads_nowhere(workflow.gate.as_ref(), &phases, None, loopable) {
                Some(problem) => {
                    let place = yaml::locate(&text, &[Step::Key("onGateFail")]);
                    self.diagnostics.push(Diagnostic::of(&file_name, problem).at(&text, place, 0));
                }
                None => {
                    let root = self.root.name.clone();
                    self.found.push(Workflow { phases, root, ..workflow });
                    return Ok(true);
                }
            }
        }
        if let Ok(yaml) = yaml::parse(&text)
            && let Some(yaml::Yaml::String(name)) = yaml.get("commandName")
        {
            self.command_names.insert(key, name.to_string());
        }
        Ok(true)
    }

    /// Reads the phases that a `workflow.yaml` names; `None` if one has errors.
    fn phases(
        &mut self,
        folder: &str,
        (yaml_file, yaml_text): (&str, &str),
        entries: Vec<(usize, PhaseRef)>,
        loopable: bool,
    ) -> Result<Option<Vec<Entry>>, FileError> {
        let mut phases = Some(Vec::with_capacity(entries.len()));
        let mut ids: BTreeMap<String, String> = BTreeMap::new();
        let mut leading_nowhere = Vec::new();
        let before = self.diagnostics.len();
        for (index, entry) in entries {
            self.files.count(1, &self.root.name, folder)?;
            let path = [Step::Key("phases"), Step::Item(index)];
            let look_up = self.diagnostics.len() - before < MAX_PLACES;
            let in_yaml = |problem| {
                let place = look_up.then(|| yaml::locate(yaml_text, &path)).flatten();
                Diagnostic::of(yaml_file, problem).at(yaml_text, place, 0)
            };
            let entry = match entry {
                PhaseRef::Workflow(key) => Some(Entry::Workflow(key)),
                PhaseRef::File(path) => match self.phase(folder, &path, look_up)? {
                    Ok(Some(phase)) => match ids.entry(phase.id.clone()) {
                        MapEntry::Vacant(id) => {
                            let gate = phase.gate.as_ref();
                            let earlier = phases.as_deref().unwrap_or_default();
                            let problem = leads_nowhere(gate, earlier, Some(&phase.id), loopable);
                            // Where an earlier phase has errors, it may be that one.
                            let problem = problem.filter(|_| phases.is_some());
                            let sound = problem.is_none();
                            leading_nowhere.extend(problem.map(|problem| (path.clone(), problem)));
                            id.insert(path);
                            sound.then_some(Entry::Phase(phase))
                        }
                        MapEntry::Occupied(first) => {
                            let (id, first) = (phase.id.clone(), first.get().clone());
                            let problem = Problem::DuplicateId { id, first, second: path };
                            self.diagnostics.push(in_yaml(problem));
                            None
                        }
                    },
                    Ok(None) => None,
                    Err(problem) => {
                        self.diagnostics.push(in_yaml(problem));
                        None
                    }
                },
            };
            match (&mut phases, entry) {
                (Some(phases), Some(entry)) => phases.push(entry),
                _ => phases = None,
            }
        }
        for (path, mut problem) in leading_nowhere {
            if let Problem::UnknownEarlierPhase { id, meant } = &mut problem
                && ids.get(id).is_some_and(|of| *of != path)
            {
                *meant = MeantPhase::Later { workflow: last_part(folder).to_owned() };
            }
            self.report_on_gate_fail(folder, &path, problem)?;
        }
        Ok(phases)
    }

    /// Reports what is wrong with the `onGateFail` of a phase file. The file is read again for the place.
    fn report_on_gate_fail(
        &mut self,
        folder: &str,
        path: &str,
        problem: Problem,
    ) -> Result<(), FileError> {
        let path = resolve(folder, path).unwrap_or_default();
        let text = match self.text(&path) {
            Err(error) if error.is_final() => return Err(error),
            text => text.unwrap_or_default(),
        };
        let document = front_matter::split(text);
        let place = yaml::locate(document.front_matter(), &[Step::Key("onGateFail")]);
        let diagnostic = Diagnostic::of(self.display(&path), problem);
        self.diagnostics.push(diagnostic.at(document.front_matter(), place, document.lines_before));
        Ok(())
    }

    /// Reads one phase file: `Ok(None)` if it has errors of its own, `Err` if it cannot be read. With `look_up`
    /// it is looked for what may have been meant.
    fn phase(
        &mut self,
        folder: &str,
        path: &str,
        look_up: bool,
    ) -> Result<Result<Option<Rc<Phase>>, Problem>, FileError> {
        let Some(resolved) = resolve(folder, path) else {
            return Ok(Err(Problem::PhaseOutsideRoot { path: path.to_owned() }));
        };
        if self.check.is_some() {
            self.named.insert(resolved.to_lowercase());
            self.named_by.push((self.display(folder), self.display(&resolved)));
        }
        let real = self.without_links(&resolved);
        if let Some(known) = self.phases.get(&real) {
            return Ok(Ok(known.clone()));
        }
        let text = match self.text(&resolved) {
            Ok(text) => text,
            Err(error) if error.is_final() => return Err(error),
            Err(FileError::OutsideRoot) => {
                return Ok(Err(Problem::PhaseOutsideRoot { path: path.to_owned() }));
            }
            Err(error) => {
                let nearest = if look_up { self.nearest_file(&resolved, path)? } else { None };
                if self.check.is_some()
                    && let Some(meant) = nearest.as_deref().and_then(|path| resolve(folder, path))
                {
                    self.meant.insert(meant.to_lowercase());
                }
                let path = path.to_owned();
                return Ok(Err(Problem::PhaseUnreadable { path, error, nearest }));
            }
        };
        let file = self.display(&resolved);
        let before = self.diagnostics.len();
        let phase = phase_file::read(&file, text, self.files.files(), self.check, self.diagnostics)
            .map(Rc::new);
        self.count_gate(phase.as_ref().and_then(|phase| phase.gate.as_ref()), before, &resolved)?;
        self.phases.insert(real, phase.clone());
        Ok(Ok(phase))
    }

    /// Counts the checks of a gate that was read, or that has errors: `before` is how many diagnostics there were. Each expression
    /// was compiled.
    fn count_gate(
        &mut self,
        gate: Option<&Gate>,
        before: usize,
        path: &str,
    ) -> Result<(), FileError> {
        let checks = gate.map_or(&[][..], |gate| &gate.checks).iter();
        let has_expression =
            |check: &Check| matches!(check.kind, CheckKind::File { contains: Some(_), .. });
        let sound = checks.map(|check| if has_expression(check) { EXPRESSION } else { 1 });
        let diagnostics = self.diagnostics.get(before..).unwrap_or_default().iter();
        let bad = diagnostics
            .filter(|diagnostic| matches!(diagnostic.problem, Problem::BadExpression { .. }));
        let count = sound.sum::<usize>() + bad.count() * EXPRESSION;
        self.files.count(count, &self.root.name, path)
    }

    /// The file beside one that is not there that may have been meant, written as `path` is.
    fn nearest_file(&mut self, resolved: &str, path: &str) -> Result<Option<String>, FileError> {
        let (folder, name) = resolved.rsplit_once('/').unwrap_or(("", resolved));
        let entries = match self.files.list(&self.root.name, folder) {
            Err(error) if error.is_final() => return Err(error),
            entries => entries.unwrap_or_default(),
        };
        let files = entries.iter().filter(|entry| entry.kind == FileKind::File);
        let mut files = files.map(|entry| entry.name.as_str());
        let with_ending = format!("{name}.md");
        let near = files.clone().find(|file| *file == with_ending);
        let near = near.or_else(|| nearest(name, &mut files));
        Ok(near.filter(|near| *near != name).map(|near| match path.rsplit_once(['/', '\\']) {
            Some((folder, _)) => format!("{folder}/{near}"),
            None => near.to_owned(),
        }))
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
        self.diagnostics.push(Diagnostic::of(file, problem));
    }

    fn display(&self, path: &str) -> String {
        join(&self.root.path, path)
    }
}

/// Why a gate's `onGateFail` leads nowhere: none of these phases is meant, or the way is forbidden.
///
/// `own` is the id of the phase that has the gate.
fn leads_nowhere(
    gate: Option<&Gate>,
    phases: &[Entry],
    own: Option<&str>,
    loopable: bool,
) -> Option<Problem> {
    let id = match &gate?.on_fail {
        OnGateFail::Loop if !loopable => return Some(Problem::LoopForbidden),
        OnGateFail::Loop | OnGateFail::Stay => return None,
        OnGateFail::Phase(id) => id,
    };
    let ids = phases.iter().filter_map(|entry| match entry {
        Entry::Phase(phase) => Some(phase.id.as_str()),
        Entry::Workflow(_) => None,
    });
    if ids.clone().any(|other| other == id) {
        return None;
    }
    let meant = match nearest(id, ids.chain(["stay", "loop"])) {
        _ if own == Some(id) => MeantPhase::Value("stay".into()),
        Some(value) => MeantPhase::Value(value.to_owned()),
        None => MeantPhase::Unknown,
    };
    Some(Problem::UnknownEarlierPhase { id: id.clone(), meant })
}

/// The name at the end of a path.
fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Tests if a path is a folder or lies below it.
pub fn is_within(folder: &str, path: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn join(parent: &str, name: &str) -> String {
    match (parent, name) {
        ("", name) => name.to_owned(),
        (parent, "") => parent.to_owned(),
        (parent, name) => [parent, "/", name].concat(),
    }
}

/// The path of a phase file from its root, if it stays within it.
///
/// A backslash separates too, so that a workflow written on Windows works elsewhere; a path that is
/// absolute in either notation is none of ours.
fn resolve(folder: &str, path: &str) -> Option<String> {
    let is_separator = |byte: u8| matches!(byte, b'/' | b'\\');
    let absolute = match path.as_bytes() {
        [first, ..] if is_separator(*first) => true,
        [drive, b':', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    };
    if absolute {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in path.split(['/', '\\']) {
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
