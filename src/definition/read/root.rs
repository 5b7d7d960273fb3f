//! Reads the workflows of one root.

use crate::sorted::Entry as MapEntry;
use crate::sorted::{Map, Set};
use std::rc::Rc;

use super::bounded::{Bounded, Stop};
use super::fields::{Fields, MAX_PLACES};
use super::packages::{FIELD, MANIFEST};
use super::sources::Sources;
use super::workflow_file::{EntryRef, EntryRefKind, GroupRef, WorkflowRead};
use super::yaml::Tree;
use super::{front_matter, packages, phase_file, scripts, workflow_file, yaml};
use crate::definition::diagnostic::{
    Diagnostic, FieldProblem, FileProblem, GateProblem, Mapping, PathPart, PhaseProblem, Problem, SettingsProblem,
    WorkflowProblem, in_group,
};
use crate::definition::model::own_work;
use crate::definition::model::paths::resolve;
use crate::definition::model::{
    BudgetBounds, Check, CheckKind, Entry, EntryKind, FileError, FileKind, Gate, Given, Group, LeftOut, Listed,
    MISNAMED, Outcome, OwnModel, Parts, Phase, Root, SETTINGS_FILE, Scripts, Show, Stale, Surroundings, USERS_ROOT,
    ValueName, Workflow, either, group_key, join, last_part, means_settings, nearest,
};

/// Number of entries that a regular expression of a gate counts as, because compiling it takes time.
const EXPRESSION: usize = 5;

/// Maximum number of names that are reported as passed over.
const MAX_SKIPPED: usize = 5;

/// Maximum depth of a workflow's folder below a root.
const MAX_FOLDER_DEPTH: usize = 8;

pub(crate) struct RootReader<'a, 'f> {
    files: &'a mut Bounded<'f>,
    root: &'a Root,
    /// The names around the workflows, for `check` only, which has warnings too.
    check: Option<&'a Surroundings>,
    /// The phase files that workflows list, for `check` only.
    listed: Vec<Listed>,
    sources: &'a mut Sources,
    diagnostics: &'a mut Vec<Diagnostic>,
    found: Vec<Workflow>,
    /// The folder of each key that was met, with or without errors in it.
    folders: Map<String, String>,
    /// The command names of workflows with errors, by key.
    command_names: Map<String, String>,
    /// The folders in which the search begins: the root itself, or the folders that its package lists.
    starts: Vec<String>,
    /// The library folders that were searched or will be, by their paths without links.
    visited: Set<String>,
    /// The links to folders that were met, and their targets.
    links: Map<String, String>,
    /// The phase files that were read, by their paths without links to folders: each as a user would write it, and its
    /// phase unless it has errors.
    phases: Map<String, (String, Option<Rc<Phase>>)>,
    /// The folders with a `workflow.yaml` under another name, by key.
    misnamed: Map<String, String>,
    /// The entries of library folders that are neither folder nor file.
    skipped: Vec<String>,
}

/// A phase file that a workflow lists.
enum PhaseFile {
    Read(Rc<Phase>),
    /// The file has errors, which are reported.
    WithErrors,
    Unreadable(PhaseProblem),
}

/// The list of entries of a `workflow.yaml`, while it is read.
struct Listing<'t> {
    /// The workflow's folder, from the root.
    folder: &'t str,
    /// The `workflow.yaml`, as a user would write it.
    file: &'t str,
    text: &'t str,
    tree: &'t Tree,
    /// The workflow without its entries.
    workflow: &'t Workflow,
    /// The indices of the entries that lead to the group that is read.
    at: Vec<usize>,
    groups: Vec<Workflow>,
    /// The number of diagnostics before this workflow.
    before: usize,
    /// The ids that are taken, each with the file or the key of its entry.
    ids: Map<String, String>,
    /// An error was found in the list or in a phase file.
    has_errors: bool,
}

impl Listing<'_> {
    /// Returns an error at the node at a path in the list that is read; with `look_up` the error has its place.
    fn error(&mut self, at: &[PathPart], look_up: bool, problem: impl Into<Problem>) -> Diagnostic {
        self.has_errors = true;
        let at = in_group(&self.at, at);
        let place = if look_up { self.tree.place(&at) } else { None };
        Diagnostic::new(self.file, problem).at(self.text, place, 0)
    }
}

impl<'a, 'f> RootReader<'a, 'f> {
    pub fn new(
        files: &'a mut Bounded<'f>,
        root: &'a Root,
        check: Option<&'a Surroundings>,
        sources: &'a mut Sources,
        diagnostics: &'a mut Vec<Diagnostic>,
    ) -> Self {
        Self {
            files,
            root,
            check,
            listed: Vec::new(),
            sources,
            diagnostics,
            found: Vec::new(),
            folders: Map::new(),
            command_names: Map::new(),
            starts: Vec::new(),
            visited: Set::new(),
            links: Map::new(),
            phases: Map::new(),
            misnamed: Map::new(),
            skipped: Vec::new(),
        }
    }

    /// Reads the root until a total is reached.
    pub fn read(mut self) -> Result<Parts, Stale> {
        match self.walk() {
            Ok(()) => {}
            Err(Stop::TotalReached(total)) => {
                let path = self.files.reached_at().unwrap_or_default().to_owned();
                self.report(&path, FileProblem::TotalReached(total));
            }
            Err(Stop::Stale) => return Err(Stale),
        }
        let mut found = Set::new();
        found.extend(self.found.iter().map(|workflow| workflow.key.as_str()));
        let broken = self.folders.iter().filter(|(key, _)| !found.contains(key.as_str()));
        let misnamed = self.misnamed.iter().filter(|(key, _)| !self.folders.contains_key(*key));
        let left_out = broken.chain(misnamed).map(|(key, folder)| LeftOut {
            key: key.clone(),
            folder: folder.clone(),
            command_name: self.command_names.get(key).cloned(),
        });
        let left_out = left_out.collect();
        let Self { found: workflows, skipped, listed, .. } = self;
        Ok(Parts { workflows, left_out, skipped, listed, ..Parts::default() })
    }

    /// Searches level by level, so that of two folders of one name the folder nearer to the root wins. A folder without
    /// a `workflow.yaml` is a library folder: it is searched for workflows, once, however many links lead to it.
    fn walk(&mut self) -> Result<(), Stop> {
        self.starts = self.find_starts()?;
        self.visited.extend(self.starts.iter().cloned());
        let mut level = self.starts.clone();
        for depth in 0..=MAX_FOLDER_DEPTH {
            let mut next = Vec::new();
            for parent in level {
                for folder in self.folders(&parent)? {
                    let real = self.without_links(&folder);
                    if !self.visited.contains(&real) && !self.workflow(&folder)? {
                        self.visited.insert(real);
                        next.push(folder);
                    }
                }
            }
            if depth == MAX_FOLDER_DEPTH {
                for folder in &next {
                    self.report(folder, FileProblem::FolderTooDeep);
                }
            }
            level = next;
        }
        Ok(())
    }

    /// Returns the folders in which the search begins. The problems of a package's list are reported.
    fn find_starts(&mut self) -> Result<Vec<String>, Stop> {
        let Some(package) = &self.root.package else { return Ok(vec![String::new()]) };
        let (folders, mut problems) = packages::folders(package);
        let mut starts = Vec::new();
        for (index, path) in folders {
            match self.files.list(&self.root.name, &path)? {
                Ok(_) => starts.push(path),
                Err(error) => {
                    problems.push((Some(index), FileProblem::FolderUnreadable { path, error }.into()));
                }
            }
        }
        if !problems.is_empty() {
            let text = self.text(MANIFEST)?.unwrap_or_default();
            let file = self.display(MANIFEST);
            for (number, (index, problem)) in problems.into_iter().enumerate() {
                let field = FIELD.into_iter().map(PathPart::Key).chain(index.map(PathPart::Item));
                let look_up = number < MAX_PLACES;
                let place = look_up.then(|| yaml::locate(&text, &field.collect::<Vec<_>>())).flatten();
                self.diagnostics.push(Diagnostic::new(&file, problem).at(&text, place, 0));
            }
        }
        Ok(starts)
    }

    fn key(&self, folder: &str) -> String {
        match &self.root.package {
            Some(package) => format!("{}/{}", package.name, last_part(folder)),
            None => last_part(folder).to_owned(),
        }
    }

    /// Returns a path from the root without the links to folders that were met.
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

    fn folders(&mut self, parent: &str) -> Result<Vec<String>, Stop> {
        let entries = match self.files.list(&self.root.name, parent)? {
            Ok(entries) => entries,
            Err(FileError::NotFound | FileError::NoSuchRoot) => Vec::new(),
            Err(error) => {
                self.report(parent, FileProblem::Unreadable(error));
                Vec::new()
            }
        };
        let mut folders = Vec::new();
        for entry in entries {
            let path = join(parent, &entry.name);
            match entry.kind {
                FileKind::Directory => {
                    if let Some(target) = entry.target {
                        self.links.insert(path.clone(), target);
                    }
                    if self.root.package.is_none() || entry.name != "node_modules" {
                        folders.push(path);
                    }
                }
                FileKind::File => self.check_file_name(parent, &entry.name),
                FileKind::Other => {
                    if self.skipped.len() < MAX_SKIPPED {
                        self.skipped.push(self.display(&path));
                    }
                    if self.check.is_some() {
                        self.report(&path, FileProblem::Skipped);
                    }
                }
            }
        }
        Ok(folders)
    }

    /// Reports a `workflow.yaml` under another name, or without a folder of its own.
    fn check_file_name(&mut self, parent: &str, name: &str) {
        let is_workflow = ["workflow.yaml", "workflow.yml"].iter().any(|other| other.eq_ignore_ascii_case(name));
        if parent.is_empty() && means_settings(name) {
            self.check_settings_file(name);
        } else if is_workflow && self.starts.iter().any(|start| start == parent) {
            self.report(&join(parent, name), FileProblem::WorkflowInRoot);
        } else if is_workflow {
            self.report(&join(parent, name), FileProblem::WorkflowFileName);
            let folder = self.display(parent);
            self.misnamed.entry(self.key(parent)).or_insert(folder);
        }
    }

    /// Reports settings that have another name, or that lie in a project or a package.
    fn check_settings_file(&mut self, name: &str) {
        if self.root.name != USERS_ROOT {
            if self.check.is_some() {
                self.report(name, SettingsProblem::NotTheUsers);
            }
        } else if name != SETTINGS_FILE && (self.check.is_some() || name != MISNAMED) {
            // Elsewhere the limits of the session tell of the commonest other name.
            self.report(name, SettingsProblem::OtherName);
        }
    }

    /// Reads the workflow of a folder; returns false if the folder has none.
    fn workflow(&mut self, folder: &str) -> Result<bool, Stop> {
        let path = join(folder, "workflow.yaml");
        let text = match self.text(&path) {
            Ok(Ok(text)) => text,
            Ok(Err(FileError::NotFound)) => return Ok(false),
            Ok(Err(error)) => {
                self.note_folder(folder);
                self.report(&path, FileProblem::Unreadable(error));
                return Ok(true);
            }
            Err(stop) => {
                self.note_folder(folder);
                return Err(stop);
            }
        };
        let key = self.key(folder);
        if let Some(first) = self.folders.get(&key).cloned() {
            self.report(folder, WorkflowProblem::DuplicateWorkflow { key, first });
            return Ok(true);
        }
        self.note_folder(folder);
        let (folder_name, file_name) = (self.display(folder), self.display(&path));
        self.sources.keep(&file_name, &text, 0);
        let read = workflow_file::read(&key, &folder_name, &file_name, &text, self.check.is_some(), self.diagnostics);
        let Some(WorkflowRead { workflow, entries, has_errors, tree }) = read else { return Ok(true) };
        let dir = join(&self.root.location, folder);
        let found = scripts::read(self.files, self.root, folder)?;
        let found = found.map_err(|(path, problem)| self.report(&path, problem));
        let has_errors = has_errors || found.is_err();
        let scripts = found.ok().and_then(|files| Scripts::of(files, &dir, &folder_name)).map(Rc::new);
        let workflow = Workflow { dir, scripts, ..workflow };
        let mut listing = Listing {
            folder,
            file: &file_name,
            text: &text,
            tree: &tree,
            workflow: &workflow,
            at: Vec::new(),
            groups: Vec::new(),
            before: self.diagnostics.len(),
            ids: Map::new(),
            has_errors,
        };
        let phases = self.entries(&mut listing, entries)?;
        let Listing { groups, has_errors, .. } = listing;
        if !has_errors {
            let root = self.root.name.clone();
            self.found.push(Workflow { phases, groups, root, ..workflow });
        } else if !workflow.command_name.is_empty() {
            self.command_names.insert(key, workflow.command_name);
        }
        Ok(true)
    }

    fn note_folder(&mut self, folder: &str) {
        let display = self.display(folder);
        self.folders.entry(self.key(folder)).or_insert(display);
    }

    /// Reads the entries that a `workflow.yaml` lists, and leaves out entries with errors.
    fn entries(&mut self, listing: &mut Listing, entries: Vec<EntryRef>) -> Result<Vec<Entry>, Stop> {
        let mut read = Vec::with_capacity(entries.len());
        for (index, entry) in entries.into_iter().enumerate() {
            self.files.count(1, listing.folder)?;
            let when = entry.when.clone();
            if let Some(kind) = self.entry(listing, index, entry)? {
                read.push(Entry { kind, when });
            }
        }
        Ok(read)
    }

    fn entry(&mut self, listing: &mut Listing, index: usize, entry: EntryRef) -> Result<Option<EntryKind>, Stop> {
        let EntryRef { kind, id, name, when: _, outcomes, model } = entry;
        let at = [PathPart::Key("phases"), PathPart::Item(index)];
        let look_up = self.diagnostics.len() - listing.before < MAX_PLACES;
        let path = match kind {
            EntryRefKind::Unknown => return Ok(None),
            EntryRefKind::File(path) => path,
            EntryRefKind::Own(own) => {
                let phase: Phase = (*own).into();
                self.take_id(listing, (&at, look_up), &phase.id, &phase.written());
                return Ok(Some(EntryKind::Phase(Rc::new(phase))));
            }
            EntryRefKind::Prompt => {
                let Some(phase) = self.phase_of_entry(listing, index)? else {
                    listing.has_errors = true;
                    return Ok(None);
                };
                self.take_id(listing, (&at, look_up), &phase.id, &phase.written());
                return Ok(Some(EntryKind::Phase(Rc::new(phase))));
            }
            EntryRefKind::Group(group) => {
                let (key, name) =
                    self.group(listing, index, group, (id.as_deref(), name.as_deref(), &outcomes, model))?;
                self.take_id(listing, (&at, look_up), id.as_deref().unwrap_or_default(), &name);
                let same = |name: &String| Given::Name(ValueName::Input(name.clone()));
                let with = listing.workflow.inputs.iter();
                let with = with.map(|input| (input.name.clone(), same(&input.name))).collect();
                let (name, model) = (Some(name), OwnModel::default());
                return Ok(Some(EntryKind::Workflow { key, with, id, name, outcomes, model }));
            }
            EntryRefKind::Workflow(key, with) => {
                self.take_id(listing, (&at, look_up), id.as_deref().unwrap_or_default(), &key);
                return Ok(Some(EntryKind::Workflow { key, with, id, name, outcomes, model }));
            }
        };
        let mut phase = match self.phase(listing.folder, &path, look_up)? {
            PhaseFile::Read(phase) => phase,
            PhaseFile::WithErrors => {
                listing.has_errors = true;
                return Ok(None);
            }
            PhaseFile::Unreadable(mut problem) => {
                if let PhaseProblem::PhaseUnreadable { suggestion, .. } = &mut problem {
                    let mut entries = listing.text.split(|c: char| c.is_whitespace() || "[],\"'".contains(c));
                    // A file that is listed already is not meant.
                    suggestion.take_if(|meant| entries.any(|entry| entry == meant));
                }
                self.diagnostics.push(listing.error(&at, look_up, problem));
                return Ok(None);
            }
        };
        if id.is_some() || name.is_some() || !outcomes.is_empty() || model.is_given() {
            let own = Rc::make_mut(&mut phase);
            own.id = id.unwrap_or_else(|| own.id.clone());
            own.name = name.unwrap_or_else(|| own.name.clone());
            if model.is_given() {
                own.model = OwnModel { of_entry: true, ..model };
            }
            for outcome in outcomes {
                let name = outcome.name.clone();
                if let Some(of_file) = own.outcomes.iter_mut().find(|other| other.name == name) {
                    *of_file = outcome;
                    continue;
                }
                let problem = unknown_outcome(&own.outcomes, &path, &name);
                let at = [at[0], at[1], PathPart::Key("outcomes"), PathPart::Name(&name)];
                self.diagnostics.push(listing.error(&at, look_up, problem));
            }
        }
        self.take_id(listing, (&at, look_up), &phase.id, &path);
        Ok(Some(EntryKind::Phase(phase)))
    }

    /// Takes an id for the entry of a file or key at a path, or reports that another entry has the id.
    fn take_id(&mut self, listing: &mut Listing, (at, look_up): (&[PathPart], bool), id: &str, of: &str) {
        if id.is_empty() {
            return;
        }
        let first = match listing.ids.entry(id.to_owned()) {
            MapEntry::Vacant(free) => {
                free.insert(of.to_owned());
                return;
            }
            MapEntry::Occupied(first) => first.get().clone(),
        };
        let (id, second) = (id.to_owned(), of.to_owned());
        self.diagnostics.push(listing.error(at, look_up, PhaseProblem::DuplicateId { id, first, second }));
    }

    /// Reads the group at an index, which becomes a workflow of the listing; returns its key and its name.
    fn group(
        &mut self,
        listing: &mut Listing,
        index: usize,
        group: GroupRef,
        (id, name, outcomes, model): (Option<&str>, Option<&str>, &[Outcome], OwnModel),
    ) -> Result<(String, String), Stop> {
        let file = listing.workflow;
        let GroupRef { loopable, each, parallel, entries } = group;
        listing.at.push(index);
        let phases = self.entries(listing, entries)?;
        let at = listing.at.clone();
        listing.at.pop();
        let named = |entry: Option<&Entry>| entry.map_or("", Entry::name).to_owned();
        let name = match (name.or(id), &phases[..]) {
            (Some(name), _) => name.to_owned(),
            (None, [only]) => named(Some(only)),
            (None, all) => format!("{} … {}", named(all.first()), named(all.last())),
        };
        let key = group_key(&file.key, &at);
        let place = parallel.as_ref().map(|_| {
            let id = id.unwrap_or(&name).to_owned();
            let of = (id, name.clone(), listing.file.to_owned(), at.clone());
            Rc::new(own_work::place(of, outcomes.to_vec()))
        });
        listing.groups.push(Workflow {
            key: key.clone(),
            name: name.clone(),
            command_name: String::new(),
            initial_message: String::new(),
            show: Show::Workflows,
            // Entries that are branches have no common beginning to loop to.
            loopable: loopable && (parallel.is_none() || each.is_some()),
            budget: BudgetBounds::default(),
            model,
            phases,
            each,
            parallel,
            place,
            group: Some(Group { file: file.key.clone(), at }),
            outputs: Vec::new(),
            root: self.root.name.clone(),
            ..file.clone()
        });
        Ok((key, name))
    }

    /// Reads the phase of the entry with `prompt` at an index.
    fn phase_of_entry(&mut self, listing: &Listing, index: usize) -> Result<Option<Phase>, Stop> {
        let path = in_group(&listing.at, &[PathPart::Key("phases"), PathPart::Item(index)]);
        let before = self.diagnostics.len();
        let file = (listing.file, listing.text, listing.tree);
        let of = (Mapping::Prompt, &phase_file::IN_ENTRY[..]);
        let fields = Fields::of_part(file, &path, of, (self.diagnostics, listing.before));
        let Some(mut fields) = fields else { return Ok(None) };
        let at = [&listing.at[..], &[index]].concat();
        let phase = phase_file::read_entry(&mut fields, at, self.files, self.check)?;
        self.count_gate(phase.as_ref().and_then(|phase| phase.gate.as_ref()), before, listing.folder)?;
        Ok(phase)
    }

    /// Reads one phase file. With `look_up` a similar file is looked for where there is none.
    fn phase(&mut self, folder: &str, path: &str, look_up: bool) -> Result<PhaseFile, Stop> {
        let of_package = self.root.package.is_some();
        let outside =
            |path: &str| PhaseFile::Unreadable(PhaseProblem::PhaseOutsideRoot { path: path.to_owned(), of_package });
        let Some(resolved) = resolve(folder, path) else { return Ok(outside(path)) };
        let (by, file) = (self.display(folder), self.display(&resolved));
        if self.check.is_some() {
            self.listed.push(Listed { by, file: file.clone() });
        }
        let real = self.without_links(&resolved);
        if let Some((first, phase)) = self.phases.get(&real) {
            self.sources.keep_link(&file, first);
            return Ok(phase.clone().map_or(PhaseFile::WithErrors, PhaseFile::Read));
        }
        let text = match self.text(&resolved)? {
            Ok(text) => text,
            Err(FileError::OutsideRoot) => return Ok(outside(path)),
            Err(error) => {
                let suggestion = if look_up { self.nearest_file(&resolved, path)? } else { None };
                let path = path.to_owned();
                return Ok(PhaseFile::Unreadable(PhaseProblem::PhaseUnreadable { path, error, suggestion }));
            }
        };
        let before = self.diagnostics.len();
        let document = front_matter::split(text);
        self.sources.keep(&file, document.front_matter(), document.lines_before);
        let phase = phase_file::read(&file, document, self.files, self.check, self.diagnostics)?.map(Rc::new);
        let gate = phase.as_ref().and_then(|phase| phase.gate.as_ref());
        self.count_gate(gate, before, &resolved)?;
        self.phases.insert(real, (file, phase.clone()));
        Ok(phase.map_or(PhaseFile::WithErrors, PhaseFile::Read))
    }

    /// Counts the checks of a gate, and expressions with errors, because each expression was compiled. `before` is the
    /// number of diagnostics before the gate was read.
    fn count_gate(&mut self, gate: Option<&Gate>, before: usize, path: &str) -> Result<(), Stop> {
        let checks = gate.map_or(&[][..], |gate| &gate.checks).iter();
        let has_expression = |check: &Check| matches!(check.kind, CheckKind::File { contains: Some(_), .. });
        let sound = checks.map(|check| if has_expression(check) { EXPRESSION } else { 1 });
        let diagnostics = self.diagnostics.get(before..).unwrap_or_default().iter();
        let bad = diagnostics
            .filter(|diagnostic| matches!(diagnostic.problem, Problem::Gate(GateProblem::BadExpression { .. })));
        self.files.count(sound.sum::<usize>() + bad.count() * EXPRESSION, path)
    }

    /// Returns the file with the most similar name in the same folder, in the form of `path`.
    fn nearest_file(&mut self, resolved: &str, path: &str) -> Result<Option<String>, Stop> {
        let (folder, name) = resolved.rsplit_once('/').unwrap_or(("", resolved));
        let entries = self.files.list(&self.root.name, folder)?.unwrap_or_default();
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

    fn text(&mut self, path: &str) -> Result<Result<String, FileError>, Stop> {
        let bytes = match self.files.read(&self.root.name, path)? {
            Ok(bytes) => bytes,
            Err(error) => return Ok(Err(error)),
        };
        let text = String::from_utf8(bytes).unwrap_or_else(|error| {
            self.report(path, FileProblem::NotUtf8);
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        });
        Ok(Ok(match text.strip_prefix('\u{feff}') {
            Some(text) => text.to_owned(),
            None => text,
        }))
    }

    fn report(&mut self, path: &str, problem: impl Into<Problem>) {
        self.diagnostics.push(Diagnostic::new(self.display(path), problem));
    }

    fn display(&self, path: &str) -> String {
        join(&self.root.path, path)
    }
}

/// Returns the problem of a target that an entry gives for an outcome that the phase does not have.
fn unknown_outcome(known: &[Outcome], path: &str, name: &str) -> FieldProblem {
    let names: Vec<&str> = known.iter().map(|outcome| outcome.name.as_str()).collect();
    let expected = match &names[..] {
        [] => format!("no `outcomes`: the phase `{path}` has none"),
        names => format!("an outcome of the phase `{path}`: {}", either(names)),
    };
    FieldProblem::bad("outcomes", expected, format!("`{name}`")).suggest(nearest(name, names))
}
