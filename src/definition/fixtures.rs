//! Short constructors of libraries for tests.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::*;

/// The files of the roots `global` and `project`, and the packages.
type Snapshot = ([BTreeMap<String, String>; 2], Vec<(Package, BTreeMap<String, String>)>);

/// Files in memory, by path from their root.
#[derive(Default, Clone)]
pub struct Files {
    /// The files of the root `global`, at `~/workflows`.
    pub global: BTreeMap<String, String>,
    /// The files of the root `project`, at `.pi/workflows`.
    pub project: BTreeMap<String, String>,
    /// The project's own files.
    pub tree: BTreeMap<String, String>,
    /// Installed packages, each with its files; the root of each is `package:` and its number from 0.
    pub packages: Vec<(Package, BTreeMap<String, String>)>,
    /// This package, with its files; its root is `builtin`.
    pub builtin: Option<(Package, BTreeMap<String, String>)>,
    /// The workflow files when the record was started.
    pub snapshot: RefCell<Option<Snapshot>>,
    /// pi does not trust the project: the files of the root `project` are not read.
    pub untrusted: bool,
    /// A folder of workflows above the project.
    pub above: Option<String>,
    /// Links, by `ROOT/PATH`, each with its target as a path from the root.
    pub links: BTreeMap<String, String>,
    /// The names of the registered tools.
    pub tools: Vec<&'static str>,
    /// The tools that the model is shown.
    pub active_tools: RefCell<Option<Vec<String>>>,
    /// The data of the session's state entries, newest first.
    pub states: Vec<String>,
    /// The usage of the entries behind the newest state entry.
    pub usage: RefCell<crate::usage::Usage>,
    /// The time of the newest entry.
    pub newest_entry: std::cell::Cell<Option<u64>>,
    /// The models that pi knows.
    pub models: Option<Vec<KnownModel>>,
    /// The message with which the last request to the model failed.
    pub failure: RefCell<Option<String>>,
    /// The model in use, and the thinking level.
    pub setting: RefCell<Option<ModelSetting>>,
    /// The argument `path` of the current tool call.
    pub call_arguments: BTreeMap<String, String>,
    /// A message waits for the agent.
    pub has_waiting_message: bool,
    /// The tools whose calls run.
    pub running_tools: Vec<String>,
    /// The paths to which a link leads; everything below these paths counts too.
    pub linked: Vec<String>,
    /// The reason why commands cannot be confined.
    pub cannot_confine: Option<String>,
    /// True if `cannot_confine` is only the reason for commands without a network.
    pub confines_with_network: bool,
    /// The columns and lines of the user's terminal, if they are known.
    pub terminal: Option<(usize, usize)>,
    /// The claims of the session that were tried, with `takes_over`, and the obstacle to a claim.
    pub claims: RefCell<Vec<bool>>,
    pub claim_obstacle: RefCell<Option<crate::run::ClaimObstacle>>,
    /// Numbers of files and of directories that were read.
    pub reads: Cell<usize>,
    pub lists: Cell<usize>,
    /// The identity of the project's directory.
    pub identity: Option<String>,
    /// The values that are kept beyond the session.
    pub kept: BTreeMap<String, String>,
    /// The name of the folder of each run.
    pub run_dir: String,
    /// The reason why runs have no folder.
    pub no_run_dir: Option<String>,
    /// The folders that were opened: the run, and the name of the folder to copy.
    pub run_dirs: RefCell<Vec<(String, Option<String>)>>,
    /// The files that were written in folders of runs: the run and the name, and the text.
    pub run_files: RefCell<Vec<(String, String)>>,
    /// The workflows that were written: the root and the key, and the text.
    pub written: RefCell<Vec<(String, String)>>,
    /// The reason why files in folders of runs, and workflows, cannot be written.
    pub no_run_file: Option<String>,
    /// The entries with whole tasks.
    pub tasks: Vec<String>,
    /// The data of the session's entries about proposals, newest first.
    pub proposals: Vec<String>,
}

impl Files {
    fn root(&self, root: &str) -> &BTreeMap<String, String> {
        match root {
            "global" => &self.global,
            "project" => &self.project,
            BUILTIN_ROOT if self.builtin.is_some() => self.builtin.as_ref().map_or(&self.tree, |(_, files)| files),
            _ => match root.strip_prefix("package:").and_then(|number| number.parse().ok()) {
                Some(number) => {
                    let number: usize = number;
                    &self.packages.get(number).unwrap().1
                }
                None => &self.tree,
            },
        }
    }

    /// Returns a path without links.
    fn real(&self, root: &str, path: &str) -> String {
        let mut real = String::new();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            real = if real.is_empty() { part.into() } else { format!("{real}/{part}") };
            if let Some(target) = self.links.get(&format!("{root}/{real}")) {
                real.clone_from(target);
            }
        }
        real
    }
}

impl WorkflowFiles for Files {
    fn roots(&self) -> Result<Vec<Root>, Stale> {
        let location = |path: &str| self.resolve_write(path).map(|target| target.unwrap().path);
        let root = |name: &str, path: &str| Root {
            name: name.into(),
            path: path.into(),
            location: location(path).unwrap(),
            package: None,
        };
        let mut roots = vec![root("global", "~/workflows")];
        if !self.untrusted {
            roots.push(root("project", ".pi/workflows"));
        }
        roots.extend(self.packages.iter().enumerate().map(|(number, (package, _))| Root {
            name: format!("package:{number}"),
            path: format!("~/packages/{number}"),
            location: format!("/home/packages/{number}"),
            package: Some(package.clone()),
        }));
        roots.extend(self.builtin.iter().map(|(package, _)| Root {
            name: BUILTIN_ROOT.into(),
            path: "~/builtin".into(),
            location: "/home/builtin".into(),
            package: Some(package.clone()),
        }));
        Ok(roots)
    }

    fn list(&self, root: &str, path: &str) -> Result<Vec<DirEntry>, ReadError> {
        self.lists.set(self.lists.get() + 1);
        let path = self.real(root, path);
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let mut entries: Vec<DirEntry> = Vec::new();
        for rest in self.root(root).keys().filter_map(|file| file.strip_prefix(&prefix)) {
            let (name, kind) = match rest.split_once('/') {
                Some((folder, _)) => (folder, FileKind::Directory),
                None => (rest, FileKind::File),
            };
            if entries.last().is_none_or(|last| last.name != name) {
                entries.push(DirEntry { name: name.to_owned(), kind, target: None });
            }
        }
        let prefix = format!("{root}/{prefix}");
        for (link, target) in &self.links {
            let Some(name) = link.strip_prefix(&prefix).filter(|name| !name.contains('/')) else {
                continue;
            };
            let is_file = self.root(root).contains_key(target);
            let kind = if is_file { FileKind::File } else { FileKind::Directory };
            entries.push(DirEntry { name: name.into(), kind, target: Some(target.clone()) });
        }
        if entries.is_empty() && root.starts_with("package:") {
            return Err(FileError::NotFound.into());
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn read(&self, root: &str, path: &str) -> Result<Vec<u8>, ReadError> {
        self.reads.set(self.reads.get() + 1);
        let text = self.root(root).get(&self.real(root, path)).ok_or(FileError::NotFound)?;
        Ok(text.clone().into_bytes())
    }

    fn tools(&self) -> Result<Vec<String>, Stale> {
        Ok(self.tools.iter().map(|tool| (*tool).to_owned()).collect())
    }

    /// Resolves a path in the project at `/project` and the home directory at `/home`.
    fn resolve_write(&self, path: &str) -> Result<Result<WriteTarget, String>, Stale> {
        if path.contains('\0') {
            return Ok(Err("it has a NUL character".into()));
        }
        let path = path.strip_prefix('@').unwrap_or(path);
        let absolute = match path.strip_prefix('~') {
            Some(rest) => format!("/home/{rest}"),
            None if path.starts_with('/') => path.to_owned(),
            None => format!("/project/{path}"),
        };
        let mut parts: Vec<&str> = Vec::new();
        for part in absolute.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        let path = format!("/{}", parts.join("/"));
        let linked = self.linked.iter().any(|link| is_within(link, &path));
        Ok(Ok(WriteTarget { path, linked }))
    }
}

/// Returns an installed package whose `pi-workflows.workflows` has this value, with these files.
pub fn package(
    name: &str,
    scope: PackageScope,
    workflows: &str,
    files: &[(&str, &str)],
) -> (Package, BTreeMap<String, String>) {
    let manifest = format!("{{\n  \"name\": \"{name}\",\n  \"pi-workflows\": {{ \"workflows\": {workflows} }}\n}}\n");
    let mut all = BTreeMap::from([("package.json".to_owned(), manifest)]);
    all.extend(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
    let (name, workflows) = (name.to_owned(), workflows.to_owned());
    (Package { name, scope, workflows }, all)
}

/// Returns a phase with this id; its name is the id with a capital.
pub fn phase(id: &str) -> Phase {
    let mut name = id.to_owned();
    name.get_mut(..1).unwrap().make_ascii_uppercase();
    Phase {
        id: id.into(),
        name,
        emoji: "🔹".into(),
        instructions: format!("Do {id} for {{description}}."),
        file: format!("phases/{id}.md"),
        at: Vec::new(),
        work: crate::definition::Work::Agent,
        tools: ToolPolicy::All,
        limits: OwnLimits::default(),
        budget: BudgetBounds::default(),
        profiles: None,
        summary_required: false,
        context: None,
        on_budget: None,
        interactive: false,
        outcomes: Vec::new(),
        outputs: Vec::new(),
        gate: None,
        model: OwnModel::default(),
        results: crate::definition::Results::All,
    }
}

/// Returns a workflow with these phases; `@key` is a nested workflow.
pub fn workflow(key: &str, phases: &[&str]) -> Workflow {
    Workflow {
        key: key.into(),
        name: format!("The {key}"),
        command_name: key.into(),
        description: None,
        when_to_use: None,
        default_task: None,
        initial_message: "Start {workflowName}: {description}".into(),
        show: Show::User,
        loopable: true,
        session_name_prefix: None,
        session_name_max_length: None,
        role_instruction: None,
        advance_reminder: None,
        block_reason_template: None,
        completion_message: None,
        not_done_reminder: None,
        limits: OwnLimits::default(),
        budget: BudgetBounds::default(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        given: Vec::new(),
        model: OwnModel::default(),
        auto_continue: true,
        context: None,
        groups: Vec::new(),
        group: None,
        each: None,
        parallel: None,
        place: None,
        phases: phases
            .iter()
            .map(|entry| match entry.strip_prefix('@') {
                Some(key) => Entry::workflow(key),
                None => Entry::phase(phase(entry)),
            })
            .collect(),
        root: "global".into(),
        folder: format!("workflows/{key}"),
        dir: format!("/home/workflows/{key}"),
        scripts: None,
    }
}

/// Returns a library of workflows as [`workflow`] makes them.
pub fn library(workflows: &[(&str, &[&str])]) -> Library {
    let workflows = workflows.iter().map(|(key, phases)| workflow(key, phases)).collect();
    Library::new(workflows, &mut Vec::new())
}

/// Returns the workflow `w`: a plan with a list of tasks, a group of two phases for each task or for each item of
/// another list, and an end.
pub fn for_each(each: &str) -> Library {
    let mut files = Files::default();
    let phase = |id: &str, lines: &str| format!("---\nid: {id}\nname: {id}\nemoji: '*'\n{lines}---\nDo {{item}}.\n");
    let workflow = format!(
        "name: W\ncommandName: w\ninitialMessage: Go\ninputs: {{ parts: {{ type: list, default: [x, y] }} }}\nphases:\n  - plan.md\n  - id: tasks\n    each: {each}\n    phases: [do.md, check.md]\n  - last.md\n"
    );
    files.global.insert("w/workflow.yaml".into(), workflow);
    let outputs = "outputs: { tasks: { type: list } }\n";
    files.global.insert("w/plan.md".into(), phase("plan", outputs));
    for id in ["do", "check", "last"] {
        files.global.insert(format!("w/{id}.md"), phase(id, ""));
    }
    let (library, diagnostics) = Library::load(&files).unwrap();
    assert_eq!(diagnostics, []);
    library
}
