//! The workflows that can be run, and questions about them.

use crate::sorted::{Map, Set};
use std::cell::RefCell;

use super::models::Aliases;
use super::parallel::Parallel;
use super::paths::{is_within, last_part, package_of};
use super::rule_inputs::{RuleUse, inputs_of_rules};
use super::seal;
use super::settings::Settings;
use super::workflow::{ContextMode, Entry, EntryKind, Phase, Show, Workflow};

/// Every workflow that can be run, in the order of the roots and of the folder names in them.
///
/// Every reference between workflows of a library leads to a workflow of the library, and no references form a cycle.
#[derive(Debug, Default, Clone)]
pub struct Library {
    workflows: Vec<Workflow>,
    index: Map<String, usize>,
    /// The workflow that each command name starts, a project's before others; also of each `PACKAGE/COMMAND`.
    commands: Map<String, usize>,
    /// The number of phases of each workflow, including nested workflows; at most [`u64::MAX`]. `None` during the
    /// count.
    sizes: Vec<Option<u64>>,
    left_out: Vec<LeftOut>,
    skipped: Vec<String>,
    listed: Vec<Listed>,
    replacing: Replacing,
    settings: Settings,
    /// Computed seals by key: every tool call compares seals.
    seals: RefCell<Map<String, String>>,
}

const PROJECT_ROOT: &str = "project";

#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub workflows: Vec<Workflow>,
    pub left_out: Vec<LeftOut>,
    pub skipped: Vec<String>,
    pub listed: Vec<Listed>,
    pub replacing: Replacing,
    pub settings: Settings,
}

/// A phase file that a workflow lists. Collected for `check` only.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    /// The workflow's folder, as a user would write it.
    pub by: String,
    /// The file, as a user would write it.
    pub file: String,
}

/// The keys of the workflows that replace a workflow of an earlier root.
#[derive(Debug, Default, Clone)]
pub(crate) struct Replacing {
    /// Workflows with the same key as the replaced workflow. Case is ignored, as in references.
    pub keys: Set<String>,
    /// Workflows with the same command name as the replaced workflow.
    pub commands: Set<String>,
}

/// A workflow that has errors.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// Its key, as [`Workflow::key`].
    pub key: String,
    /// Its folder, as a user would write it.
    pub folder: String,
    /// Its command name, if it can be read.
    pub command_name: Option<String>,
}

impl LeftOut {
    /// Returns true if `/workflow NAME` would start the workflow if it had no errors.
    pub fn is_called(&self, name: &str) -> bool {
        let of_package = package_of(&self.key)
            .and_then(|package| name.strip_prefix(package)?.strip_prefix('/').filter(|name| !name.is_empty()));
        let command_name = self.command_name.as_ref();
        let command_name = command_name.map_or_else(|| last_part(&self.key), String::as_str);
        command_name == name || of_package == Some(command_name)
    }
}

impl Library {
    /// Makes a library. References must lead to workflows of the library, and must not form a cycle.
    pub(crate) fn of(parts: Parts) -> Self {
        let Parts { workflows, left_out, skipped, listed, replacing, settings } = parts;
        let (mut index, mut commands) = (Map::new(), Map::new());
        // A workflow with errors that is not a package's keeps its name: no package's workflow runs in its place.
        let own_with_errors = || left_out.iter().filter(|other| package_of(&other.key).is_none());
        for (at, workflow) in workflows.iter().enumerate() {
            index.insert(workflow.key.clone(), at);
            if workflow.root == PROJECT_ROOT {
                commands.entry(workflow.command_name.clone()).or_insert(at);
            }
        }
        for (at, workflow) in workflows.iter().enumerate() {
            let is_taken =
                workflow.package().is_some() && own_with_errors().any(|other| other.is_called(&workflow.command_name));
            if !is_taken {
                commands.entry(workflow.command_name.clone()).or_insert(at);
            }
            if let Some(name) = workflow.name_with_package() {
                commands.entry(name).or_insert(at);
            }
        }
        let mut sizes = vec![None; workflows.len()];
        let seals = RefCell::default();
        let mut library = Self {
            workflows,
            index,
            commands,
            sizes: Vec::new(),
            left_out,
            skipped,
            listed,
            replacing,
            settings,
            seals,
        };
        for at in 0..sizes.len() {
            library.measure(at, &mut sizes);
        }
        library.sizes = sizes;
        library
    }

    /// Counts the phases of a workflow and of the workflows nested in it; the nesting is of bounded depth.
    fn measure(&self, at: usize, sizes: &mut [Option<u64>]) -> u64 {
        if let Some(Some(size)) = sizes.get(at) {
            return *size;
        }
        let phases = self.workflows.get(at).map(|workflow| &*workflow.phases);
        let size = phases.unwrap_or_default().iter().fold(0_u64, |size, entry| {
            let nested = match &entry.kind {
                EntryKind::Phase(_) => 1,
                // A parallel group counts as one phase.
                EntryKind::Workflow { .. } if self.parallel(entry).is_some() => 1,
                EntryKind::Workflow { key, .. } => self.index.get(key).map_or(0, |&at| self.measure(at, sizes)),
            };
            size.saturating_add(nested)
        });
        if let Some(known) = sizes.get_mut(at) {
            *known = Some(size);
        }
        size
    }

    /// Returns the number of phases of a list of entries, including nested workflows; at most [`u64::MAX`]. A parallel
    /// group counts as one phase.
    pub fn phase_count(&self, entries: &[Entry]) -> u64 {
        let size = |key: &String| *self.sizes.get(*self.index.get(key)?)?;
        entries.iter().fold(0, |count: u64, entry| match &entry.kind {
            EntryKind::Phase(_) => count.saturating_add(1),
            EntryKind::Workflow { .. } if self.parallel(entry).is_some() => count.saturating_add(1),
            EntryKind::Workflow { key, .. } => count.saturating_add(size(key).unwrap_or(0)),
        })
    }

    /// Returns the most branches of a parallel group that a run of a workflow can reach; 1 without such a group.
    pub fn most_agents(&self, key: &str) -> u64 {
        let groups = self.parallel_groups(key).into_iter();
        groups.map(|group| self.most_branches(group)).max().unwrap_or(1)
    }

    /// Returns the parallel groups that a run of a workflow can reach.
    pub fn parallel_groups<'a>(&'a self, key: &'a str) -> Vec<&'a Workflow> {
        let reached = self.reached(key).unwrap_or_default().into_iter();
        reached.filter(|workflow| workflow.parallel.is_some()).collect()
    }

    /// Returns the bounds of an entry that is a parallel group; `None` for any other entry.
    pub fn parallel(&self, entry: &Entry) -> Option<&Parallel> {
        self.get(entry.group_key()?)?.parallel.as_ref()
    }

    /// Returns the phase of a run that is at an entry: the phase of the entry, or the place of a parallel group. `None`
    /// for any other entry: the run enters its nested entries.
    pub fn phase_at<'a>(&'a self, entry: &'a Entry) -> Option<&'a Phase> {
        entry.as_phase().or_else(|| self.get(entry.group_key()?)?.place.as_deref())
    }

    pub fn get(&self, key: &str) -> Option<&Workflow> {
        self.workflows.get(*self.index.get(key)?)
    }

    /// Returns a workflow and all workflows nested in it, each once.
    pub(crate) fn reached<'a>(&'a self, key: &'a str) -> Option<Vec<&'a Workflow>> {
        let mut reached = vec![self.get(key)?];
        let mut seen = Set::from([key]);
        let mut ahead = reached.clone();
        while let Some(workflow) = ahead.pop() {
            for entry in &workflow.phases {
                if let EntryKind::Workflow { key, .. } = &entry.kind
                    && seen.insert(key)
                    && let Some(nested) = self.get(key)
                {
                    reached.push(nested);
                    ahead.push(nested);
                }
            }
        }
        Some(reached)
    }

    /// Returns the hash of all rules of a workflow and of the workflows nested in it; `None` if there is no such
    /// workflow. See [`seal`](super::seal).
    pub fn seal(&self, key: &str) -> Option<String> {
        if let Some(known) = self.seals.borrow().get(key) {
            return Some(known.clone());
        }
        let seal = seal::hash(&self.reached(key)?);
        self.seals.borrow_mut().insert(key.to_owned(), seal.clone());
        Some(seal)
    }

    /// Returns the folders `scripts/` of a workflow and of the workflows nested in it, each once.
    pub fn script_folders<'a>(&'a self, key: &'a str) -> Vec<&'a str> {
        let mut folders: Vec<&str> = Vec::new();
        if self.workflows.iter().all(|workflow| workflow.scripts.is_none()) {
            return folders;
        }
        for scripts in self.reached(key).unwrap_or_default().into_iter().filter_map(|of| of.scripts.as_deref()) {
            if !folders.contains(&&*scripts.path) {
                folders.push(&scripts.path);
            }
        }
        folders
    }

    /// Returns the inputs that the rules of a workflow, or of workflows nested in it, use, by name.
    pub fn inputs_of_rules(&self, key: &str) -> Map<&str, RuleUse> {
        inputs_of_rules(key, 0, &|key| self.get(key), &mut Map::new())
    }

    /// Returns true if a phase of a workflow, or of a workflow nested in it, names a model.
    pub fn names_models(&self, key: &str) -> bool {
        self.reached(key).is_some_and(|all| all.into_iter().any(Workflow::names_models))
    }

    /// Returns the user's settings; without a readable file of them the careful ones.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn aliases(&self) -> &Aliases {
        &self.settings.models
    }

    /// Returns the workflow that `/workflow NAME` starts: the first with this command name, with workflows of the
    /// project before workflows of the user. `PACKAGE/NAME` is a command name of a package's workflow too.
    pub fn by_command_name(&self, name: &str) -> Option<&Workflow> {
        self.workflows.get(*self.commands.get(name)?)
    }

    /// Returns the workflows that a user can start, each with the NAME of `/workflow NAME`.
    pub fn for_users(&self) -> impl Iterator<Item = (String, &Workflow)> {
        let workflows = self.workflows.iter().filter(|workflow| workflow.show == Show::User);
        workflows.filter_map(|workflow| Some((self.start_name(workflow)?, workflow)))
    }

    /// Returns the NAME with which `/workflow NAME` starts a workflow: its command name, or `PACKAGE/NAME` if the
    /// command name starts another workflow. `None` if no name starts the workflow.
    pub fn start_name(&self, workflow: &Workflow) -> Option<String> {
        let names = [Some(workflow.command_name.clone()), workflow.name_with_package()];
        let is_own = |name: &String| self.by_command_name(name).is_some_and(|first| first.key == workflow.key);
        names.into_iter().flatten().filter(|name| !name.is_empty()).find(is_own)
    }

    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Returns the entries of library folders that are neither folder nor file, such as a link that leads out of the
    /// project, as a user would write them.
    pub fn skipped(&self) -> &[String] {
        &self.skipped
    }

    /// Returns true if a file with a diagnostic belongs to a folder: the file lies in or above the folder, or a
    /// workflow in the folder lists the file as a phase file. Only a library from `check` knows the listed phase files.
    pub fn concerns(&self, folder: &str, file: &str) -> bool {
        is_within(folder, file)
            || is_within(file, folder)
            || self.listed.iter().any(|listed| listed.file == file && is_within(folder, &listed.by))
    }

    /// Returns the keys of the workflows that a run of a workflow can reach and that replace a workflow of an earlier
    /// root; the workflow itself comes first.
    pub fn replacements_in(&self, start: &Workflow) -> Vec<String> {
        let Replacing { keys, commands } = &self.replacing;
        let replaces = |key: &&str| keys.contains(*key) || (*key == start.key && commands.contains(*key));
        let nested = self.entries(start).filter_map(Entry::nested_key);
        let mut seen = Set::new();
        let all = std::iter::once(&*start.key).chain(nested).filter(|key| seen.insert(*key));
        all.filter(replaces).map(ToOwned::to_owned).collect()
    }

    /// Returns all entries of a workflow and of the workflows nested in it, in order: the entries of a nested workflow
    /// follow the entry that nests it. The entries of a workflow that is nested several times come once.
    pub fn entries<'a>(&'a self, workflow: &'a Workflow) -> Entries<'a> {
        Entries { library: self, seen: Set::from([&*workflow.key]), open: vec![workflow.phases.iter()] }
    }

    /// All workflows, and the groups in them.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = &Workflow> + Clone {
        self.workflows.iter()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Workflow> {
        self.workflows.iter().filter(|workflow| workflow.group.is_none())
    }

    /// Returns the first phase of a list of entries, through nested workflows.
    pub fn first_phase<'a>(&'a self, entries: &'a [Entry]) -> Option<&'a Phase> {
        let mut entries = entries;
        loop {
            let first = entries.first()?;
            match self.phase_at(first) {
                Some(phase) => return Some(phase),
                None => entries = &self.get(first.nested_key()?)?.phases,
            }
        }
    }

    /// Returns true if a phase of a workflow, or of a workflow nested in it, can start fresh.
    pub fn can_start_fresh(&self, key: &str) -> bool {
        let fresh = Some(ContextMode::Fresh);
        let mut reached = self.reached(key).unwrap_or_default().into_iter();
        reached.any(|workflow| {
            workflow.context == fresh
                || workflow.parallel.is_some()
                || workflow.own_phases().any(|phase| phase.context == fresh)
        })
    }

    /// Returns the name of an entry: of its phase, or of its nested workflow.
    pub fn entry_name<'a>(&'a self, entry: &'a Entry) -> &'a str {
        match &entry.kind {
            EntryKind::Phase(phase) => &phase.name,
            EntryKind::Workflow { name: Some(name), .. } => name,
            EntryKind::Workflow { key, name: None, .. } => self.get(key).map_or(key, |workflow| &workflow.name),
        }
    }
}
/// See [`Library::entries`].
pub struct Entries<'a> {
    library: &'a Library,
    /// The keys of the workflows that were entered.
    seen: Set<&'a str>,
    /// The remaining entries of each entered workflow, the innermost last.
    open: Vec<std::slice::Iter<'a, Entry>>,
}

impl<'a> Iterator for Entries<'a> {
    type Item = &'a Entry;

    fn next(&mut self) -> Option<&'a Entry> {
        loop {
            let Some(entry) = self.open.last_mut()?.next() else {
                self.open.pop();
                continue;
            };
            let nested = entry.nested_key().and_then(|key| self.library.get(key));
            self.open.extend(nested.filter(|nested| self.seen.insert(&nested.key)).map(|nested| nested.phases.iter()));
            return Some(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::definition::fixtures::library;

    #[test]
    fn entries_come_in_their_order_and_those_of_a_workflow_once() {
        let library = library(&[("r", &["a", "@s", "b", "@s", "@t", "c"]), ("s", &["d", "@t"]), ("t", &["e"])]);
        let entries = library.entries(library.get("r").unwrap());
        let ids: Vec<&str> = entries.map(|entry| entry.id()).collect();
        assert_eq!(ids, ["a", "s", "d", "t", "e", "b", "s", "t", "c"]);
        let ids = library.entries(library.get("t").unwrap()).map(|entry| entry.id());
        assert_eq!(ids.collect::<Vec<_>>(), ["e"]);
    }
}
