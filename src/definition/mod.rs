//! Workflows, and how they are read from files.
//!
//! [`Library::load`] reads every workflow of every root. It returns the workflows that could be
//! read, and a [`Diagnostic`] for each error.

mod bounded;
mod budget;
mod conditions;
mod confinement;
mod diagnostic;
mod excerpt;
mod fields;
mod files;
mod flow;
mod front_matter;
mod gate;
mod inputs;
mod library;
mod lint;
mod lint_context;
mod lint_flow;
mod lint_limits;
mod lint_models;
mod load;
mod models;
mod nearest;
mod outcomes;
mod packages;
mod paths;
mod phase_file;
mod phase_tests;
mod profiles;
mod references;
mod rule_place;
pub mod schema;
pub mod seal;
mod skeleton;
pub mod variables;
mod workflow_file;
mod yaml;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::rc::Rc;

pub use bounded::{MAX_BYTES, MAX_ENTRIES, Total};
pub use budget::{Budget, Measure};
pub use conditions::{Condition, Source};
pub use confinement::{
    Confinement, Limits, Permission, Refusal, Sandbox, WriteFile, is_carrier, permission,
    runs_commands, wider_for_commands, writes_path,
};
pub use diagnostic::{
    Decision, Diagnostic, Expected, MeantPhase, Needs, Place, Problem, Severity, ValueKind,
};
pub use excerpt::{Excerpt, columns, on_one_line, short};
pub use files::{
    DirEntry, FileError, FileKind, Package, PackageScope, ReadError, Root, Stale, Surroundings,
    UserMessage, WorkflowFiles, WriteTarget,
};
pub use gate::{Check, CheckKind, Gate, OnGateFail, Pattern, expansions};
pub use inputs::{Given, Input, InputKind, is_name as is_input_name};
pub use library::{LeftOut, Library};
pub use models::{Aliases, KnownModel, Lack, Model, ModelSetting, Thinking, choose};
pub use nearest::nearest;
pub use outcomes::{Outcome, Target};
pub use paths::{is_key, is_within};
pub use phase_tests::PhaseTest;
pub use profiles::defined_profiles;
pub use references::MAX_NESTING;
pub use rule_place::rule_place;
pub use skeleton::skeleton;

/// One workflow: a `workflow.yaml` and its phase files.
///
/// Specification: configuration reference, "`workflow.yaml` Field Reference".
#[derive(Debug, Clone, PartialEq)]
pub struct Workflow {
    /// The name of its folder; of a package's workflow `PACKAGE/FOLDER`. Unique in a [`Library`]; sessions and references
    /// name it so.
    pub key: String,
    /// Its name for users; not blank.
    pub name: String,
    /// The NAME of `/workflow NAME TASK`. Empty only where `show` is [`Show::Workflows`].
    pub command_name: String,
    /// Its purpose, in its author's words.
    pub description: Option<String>,
    /// Template of the prompt that starts it. Empty only where `show` is [`Show::Workflows`].
    pub initial_message: String,
    /// The condition for a start.
    pub show: Show,
    /// `loop` may restart it. Default: true.
    pub loopable: bool,
    /// Prefix of the task in the session's name. Default: `Workflow: `.
    pub session_name_prefix: Option<String>,
    /// Maximum length of the task in the session's name, in UTF-16 code units. Default: 50.
    pub session_name_max_length: Option<usize>,
    /// Template of the first paragraph of the context prompt.
    pub role_instruction: Option<String>,
    /// Template of the last paragraph of the context prompt.
    pub advance_reminder: Option<String>,
    /// Template of the reason why a tool is refused.
    pub block_reason_template: Option<String>,
    /// Template of the message at the end.
    pub completion_message: Option<String>,
    /// Template of the prompt after the agent stopped too early.
    pub not_done_reminder: Option<String>,
    /// The limits of its phases, unless a phase has its own. Not those of nested workflows.
    pub confinement: Confinement,
    /// The amounts that a run may take of it.
    pub budget: Budget,
    /// The values that a run is started with, in the order of the file.
    pub inputs: Vec<Input>,
    /// Bounds of automatic continuation; `None` is `autoContinue: false`.
    pub auto_continue: Option<AutoContinue>,
    /// Maximum number of restarts of a scope until it is left. Default: 20.
    pub max_loops: u32,
    /// Effect of an outcome that leads back once more.
    pub on_max_loops: OnMaxLoops,
    /// When the agent is given the whole context prompt. Default: [`ContextInjection::OncePerPhase`].
    pub context_injection: ContextInjection,
    /// The model is not shown the tools that a phase refuses. Default: false.
    pub hides_tools: bool,
    /// The default of its phases but the first, and of nested workflows where they begin.
    pub context: Option<ContextMode>,
    /// Its phases and nested workflows, in order; at least one.
    pub phases: Vec<Entry>,
    /// The gate at its end.
    pub gate: Option<Gate>,
    /// The name of the root that it was read from.
    pub root: String,
    /// The folder it was read from, as a user would write it.
    pub folder: String,
}

impl Workflow {
    /// The name of the package that it comes from.
    pub fn package(&self) -> Option<&str> {
        paths::package_of(&self.key)
    }

    /// The name `PACKAGE/NAME` that starts a package's workflow.
    pub fn name_with_package(&self) -> Option<String> {
        let package = self.package().filter(|_| !self.command_name.is_empty())?;
        Some(format!("{package}/{}", self.command_name))
    }

    /// Its `workflow.yaml`, as a user would write it.
    pub fn file(&self) -> String {
        format!("{}/workflow.yaml", self.folder)
    }

    /// Its phases, without those of nested workflows.
    pub fn own_phases(&self) -> impl Iterator<Item = &Phase> {
        self.phases.iter().filter_map(|entry| match &entry.kind {
            EntryKind::Phase(phase) => Some(&**phase),
            EntryKind::Workflow { .. } => None,
        })
    }

    /// Tests if one of its own phases starts fresh, wherever the workflow is nested.
    pub fn starts_fresh(&self, phase: &Phase) -> bool {
        let default = self.context.filter(|_| self.position(&phase.id) != Some(0));
        phase.context.or(default) == Some(ContextMode::Fresh)
    }

    /// The index of the phase of this id among its entries.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.phases
            .iter()
            .position(|entry| matches!(&entry.kind, EntryKind::Phase(phase) if phase.id == id))
    }
}

/// Bounds of automatic continuation after the agent stopped too early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AutoContinue {
    /// Length of the countdown in which the user can interrupt, in seconds, at most an hour. Default: 3.
    pub delay_seconds: u32,
    /// Maximum number of continuations in one phase before the run pauses. Default: 10.
    pub max_per_phase: u32,
    /// Maximum number of continuations in a row without any work before the run pauses. Default: 3.
    pub max_idle: u32,
}

impl Default for AutoContinue {
    fn default() -> Self {
        Self { delay_seconds: 3, max_per_phase: 10, max_idle: 3 }
    }
}

/// Default of [`Workflow::max_loops`].
pub const DEFAULT_MAX_LOOPS: u32 = 20;

/// Effect of an outcome that leads back when the workflow was restarted as often as it allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnMaxLoops {
    /// The run pauses.
    #[default]
    Pause,
    /// The run goes to the next entry.
    Next,
}

/// When the agent is given the whole context prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContextInjection {
    /// When a phase begins, and again when the model may have lost it. Between, a short reminder.
    #[default]
    OncePerPhase,
    /// With every run of the agent; the model sees the newest only.
    EveryRun,
}

/// The part of the earlier conversation that the model sees in a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContextMode {
    /// All of it.
    #[default]
    Shared,
    /// Nothing but what was handed over, and the user's own messages.
    Fresh,
}

/// The condition for the start of a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// Users, by `/workflow`.
    User,
    /// Only other workflows, as one of their phases.
    Workflows,
}

/// One entry of a workflow's `phases`.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The phase or workflow.
    pub kind: EntryKind,
    /// The run passes over the entry unless all of these hold when it arrives.
    pub when: Vec<Condition>,
}

/// A phase, or a workflow nested in another one.
#[derive(Debug, Clone, PartialEq)]
pub enum EntryKind {
    /// A phase of its own. Workflows that name one file share it.
    Phase(Rc<Phase>),
    /// Another workflow.
    Workflow {
        /// Its key. In a [`Library`] that key exists and leads to no cycle.
        key: String,
        /// The values of its inputs, by name.
        with: BTreeMap<String, Given>,
    },
}

impl Entry {
    /// Returns the entry of a phase, without conditions.
    pub fn phase(phase: impl Into<Rc<Phase>>) -> Self {
        Self { kind: EntryKind::Phase(phase.into()), when: Vec::new() }
    }

    /// Returns the entry of a nested workflow, without conditions and without values.
    pub fn workflow(key: &str) -> Self {
        let kind = EntryKind::Workflow { key: key.to_owned(), with: BTreeMap::new() };
        Self { kind, when: Vec::new() }
    }
}

/// One phase: a Markdown file with front matter.
///
/// Specification: configuration reference, "Phase `.md` File Reference".
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// Unique among the phases of its workflow; not blank.
    pub id: String,
    /// Its name for users; not blank.
    pub name: String,
    /// Its symbol in the status line; not blank.
    pub emoji: String,
    /// Template of the instructions for the agent; not blank.
    pub instructions: String,
    /// Its file, as a user would write it.
    pub file: String,
    /// Which tools the agent may use.
    pub tools: ToolPolicy,
    /// Its own limits.
    pub confinement: Confinement,
    /// The amounts that each visit may take.
    pub budget: Budget,
    /// The tool calls that a check tests.
    pub tests: Vec<PhaseTest>,
    /// Names of subagent profiles; for information only.
    pub profiles: Option<Vec<String>>,
    /// The agent must hand over a summary to leave it (`summary: required`). Default: it need not, unless the next phase
    /// starts fresh.
    pub summary_required: Option<bool>,
    /// The part of the earlier conversation that the model sees.
    pub context: Option<ContextMode>,
    /// The ways in which it can be left; none for the next entry only.
    pub outcomes: Vec<Outcome>,
    /// Its gate.
    pub gate: Option<Gate>,
    /// The names of its models, the preferred ones first; none for the user's own.
    pub model: Vec<String>,
    /// Its thinking level.
    pub thinking: Option<Thinking>,
}

/// Which tools a phase allows. `workflow_step` is always allowed.
///
/// Specification: configuration reference, "Tool Configuration Details".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolPolicy {
    /// Every tool.
    All,
    /// Every tool but these (`blacklist`).
    Except(Vec<String>),
    /// These tools and no others (`whitelist`).
    Only(Vec<String>),
}

impl ToolPolicy {
    /// Tests if the phase allows the tool of this name.
    pub fn allows(&self, tool: &str) -> bool {
        match self {
            Self::All => true,
            Self::Except(refused) => !refused.iter().any(|name| name == tool),
            Self::Only(allowed) => allowed.iter().any(|name| name == tool),
        }
    }
}

/// Tests if a text has nothing but white space, by the rules of JavaScript's `trim`.
pub(crate) fn is_blank(text: &str) -> bool {
    trim(text).is_empty()
}

/// Removes white space at both ends, as JavaScript's `trim` does.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Tests if a character is white space for JavaScript's `trim` and `\s`: the byte order mark is, the control
/// character U+0085 is not.
pub(crate) fn is_space(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

#[cfg(test)]
pub(crate) mod fixtures {
    //! Short constructors of libraries for tests.

    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;

    use super::*;

    /// The files of the roots `global` and `project`, and the packages.
    type Snapshot = ([BTreeMap<String, String>; 2], Vec<(Package, BTreeMap<String, String>)>);

    /// Files in memory, by path from their root.
    #[derive(Default)]
    pub struct Files {
        /// Those of the root `global`, at `~/workflows`.
        pub global: BTreeMap<String, String>,
        /// Those of the root `project`, at `.pi/workflows`.
        pub project: BTreeMap<String, String>,
        /// The project's own files.
        pub tree: BTreeMap<String, String>,
        /// Installed packages, each with its files; the root of each is `package:` and its number from 0.
        pub packages: Vec<(Package, BTreeMap<String, String>)>,
        /// The workflow files when the record was started.
        pub snapshot: RefCell<Option<Snapshot>>,
        /// pi does not trust the project: the files of the root `project` are not read.
        pub untrusted: bool,
        /// Links, by `ROOT/PATH`: the path from the root that each leads to.
        pub links: BTreeMap<String, String>,
        /// The names of the registered tools.
        pub tools: Vec<&'static str>,
        /// Those that the model is shown.
        pub active_tools: RefCell<Option<Vec<String>>>,
        /// The data of the session's state entries, newest first.
        pub states: Vec<String>,
        /// The usage of the entries behind the newest state entry.
        pub usage: RefCell<crate::usage::Usage>,
        /// The time of the newest entry.
        pub newest_entry: std::cell::Cell<Option<u64>>,
        /// The models that pi knows.
        pub models: Option<Vec<KnownModel>>,
        /// The model in use, and the thinking level.
        pub setting: RefCell<Option<ModelSetting>>,
        /// The argument `path` of the current tool call.
        pub call_arguments: BTreeMap<String, String>,
        /// The tools whose calls run.
        pub running_tools: Vec<String>,
        /// The paths to which a link leads, and with them everything below.
        pub linked: Vec<String>,
        /// The reason why commands cannot be confined.
        pub cannot_confine: Option<String>,
        /// Numbers of files and of directories that were read.
        pub reads: Cell<usize>,
        pub lists: Cell<usize>,
        /// The identity of the project's directory.
        pub identity: Option<String>,
    }

    impl Files {
        fn root(&self, root: &str) -> &BTreeMap<String, String> {
            match root {
                "global" => &self.global,
                "project" => &self.project,
                _ => match root.strip_prefix("package:").and_then(|number| number.parse().ok()) {
                    Some(number) => {
                        let number: usize = number;
                        &self.packages.get(number).unwrap().1
                    }
                    None => &self.tree,
                },
            }
        }

        /// A path without links.
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
            let root = |name: &str, path: &str| Root {
                name: name.into(),
                path: path.into(),
                package: None,
            };
            let mut roots = vec![root("global", "~/workflows")];
            if !self.untrusted {
                roots.push(root("project", ".pi/workflows"));
            }
            roots.extend(self.packages.iter().enumerate().map(|(number, (package, _))| Root {
                name: format!("package:{number}"),
                path: format!("~/packages/{number}"),
                package: Some(package.clone()),
            }));
            Ok(roots)
        }

        fn untrusted(&self) -> Result<Option<String>, Stale> {
            let is_withheld = self.untrusted && !self.project.is_empty();
            Ok(is_withheld.then(|| ".pi/workflows".to_owned()))
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
                let Some(name) = link.strip_prefix(&prefix).filter(|name| !name.contains('/'))
                else {
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

        fn start_snapshot(&self) {
            let own = [self.global.clone(), self.project.clone()];
            *self.snapshot.borrow_mut() = Some((own, self.packages.clone()));
        }

        fn unchanged(&self) -> bool {
            let snapshot = self.snapshot.borrow();
            snapshot.as_ref().is_some_and(|([global, project], packages)| {
                (global, project, packages) == (&self.global, &self.project, &self.packages)
            })
        }

        fn read(&self, root: &str, path: &str) -> Result<Vec<u8>, ReadError> {
            self.reads.set(self.reads.get() + 1);
            let text = self.root(root).get(&self.real(root, path)).ok_or(FileError::NotFound)?;
            Ok(text.clone().into_bytes())
        }

        fn project_identity(&self) -> Option<String> {
            self.identity.clone()
        }

        fn tools(&self) -> Result<Vec<String>, Stale> {
            Ok(self.tools.iter().map(|tool| (*tool).to_owned()).collect())
        }

        fn entry(&self, custom_type: &str, number: u32) -> Result<Option<String>, Stale> {
            let is_state = custom_type == crate::protocol::STATE_ENTRY_TYPE;
            Ok(self.states.get(number as usize).filter(|_| is_state).cloned())
        }

        fn usage_since_state(&self) -> Result<(crate::usage::Usage, Option<u64>), Stale> {
            Ok((self.usage.borrow().clone(), self.newest_entry.get()))
        }

        fn active_tools(&self) -> Result<Option<Vec<String>>, Stale> {
            Ok(self.active_tools.borrow().clone())
        }

        fn models(&self) -> Result<Option<Vec<KnownModel>>, Stale> {
            Ok(self.models.clone())
        }

        fn model_setting(&self) -> Result<Option<ModelSetting>, Stale> {
            Ok(self.setting.borrow().clone())
        }

        fn call_argument(&self, name: &str) -> Result<Option<String>, Stale> {
            Ok(self.call_arguments.get(name).cloned())
        }

        fn running_tools(&self) -> Result<Vec<String>, Stale> {
            Ok(self.running_tools.clone())
        }

        /// The project lies at `/project`, the home directory at `/home`.
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

        fn can_confine(&self) -> Result<Result<(), String>, Stale> {
            Ok(self.cannot_confine.clone().map_or(Ok(()), Err))
        }
    }

    /// An installed package whose `pi-workflows.workflows` has this value, with these files.
    pub fn package(
        name: &str,
        scope: PackageScope,
        workflows: &str,
        files: &[(&str, &str)],
    ) -> (Package, BTreeMap<String, String>) {
        let manifest = format!(
            "{{\n  \"name\": \"{name}\",\n  \"pi-workflows\": {{ \"workflows\": {workflows} }}\n}}\n"
        );
        let mut all = BTreeMap::from([("package.json".to_owned(), manifest)]);
        all.extend(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
        let (name, workflows) = (name.to_owned(), workflows.to_owned());
        (Package { name, scope, workflows }, all)
    }

    /// A phase of this id; its name is the id with a capital.
    pub fn phase(id: &str) -> Phase {
        let mut name = id.to_owned();
        name.get_mut(..1).unwrap().make_ascii_uppercase();
        Phase {
            id: id.into(),
            name,
            emoji: "🔹".into(),
            instructions: format!("Do {id} for {{description}}."),
            file: format!("phases/{id}.md"),
            tools: ToolPolicy::All,
            confinement: Confinement::default(),
            budget: Budget::default(),
            tests: Vec::new(),
            profiles: None,
            summary_required: None,
            context: None,
            outcomes: Vec::new(),
            gate: None,
            model: Vec::new(),
            thinking: None,
        }
    }

    /// A workflow of these phases; `@key` is a nested one.
    pub fn workflow(key: &str, phases: &[&str]) -> Workflow {
        Workflow {
            key: key.into(),
            name: format!("The {key}"),
            command_name: key.into(),
            description: None,
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
            confinement: Confinement::default(),
            budget: Budget::default(),
            inputs: Vec::new(),
            auto_continue: Some(AutoContinue::default()),
            max_loops: DEFAULT_MAX_LOOPS,
            on_max_loops: OnMaxLoops::Pause,
            context_injection: ContextInjection::default(),
            hides_tools: false,
            context: None,
            phases: phases
                .iter()
                .map(|entry| match entry.strip_prefix('@') {
                    Some(key) => Entry::workflow(key),
                    None => Entry::phase(phase(entry)),
                })
                .collect(),
            gate: None,
            root: "global".into(),
            folder: format!("workflows/{key}"),
        }
    }

    /// A library of such workflows.
    pub fn library(workflows: &[(&str, &[&str])]) -> Library {
        let workflows = workflows.iter().map(|(key, phases)| workflow(key, phases)).collect();
        Library::new(workflows, &mut Vec::new())
    }
}
