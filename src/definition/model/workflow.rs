//! A workflow, its entries and its phases.

use crate::sorted::Map;
use std::rc::Rc;

use super::bound_values::{BoundValue, BudgetBounds};
use super::conditions::Condition;
use super::confinement::Confinement;
use super::each::Each;
use super::expected_calls::PhaseTest;
use super::gate::Gate;
use super::inputs::{Given, Input};
use super::models::Thinking;
use super::outcomes::{Outcome, Target};
use super::outputs::Output;
use super::parallel::Parallel;
use super::paths::package_of;
use super::paths::{is_group_key, is_key, last_part};
use super::results::Results;
use super::work::Work;

/// One workflow: a `workflow.yaml` and its phase files.
///
/// Specification: configuration reference, "`workflow.yaml` Field Reference".
#[derive(Debug, Clone, PartialEq)]
pub struct Workflow {
    /// The name of its folder; of a package's workflow `PACKAGE/FOLDER`. Unique in a [`Library`]; sessions and
    /// references name it so.
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
    /// Template of the message at the end of a run that was stopped.
    pub stop_message: Option<String>,
    /// Template of the prompt after the agent stopped too early.
    pub not_done_reminder: Option<String>,
    /// The limits of its phases, unless a phase has its own. Not those of nested workflows.
    pub confinement: Confinement,
    /// The amounts that a run may take of it.
    pub budget: BudgetBounds,
    /// The values that a run is started with, in the order of the file.
    pub inputs: Vec<Input>,
    /// Bounds of automatic continuation; `None` is `autoContinue: false`.
    pub auto_continue: Option<AutoContinue>,
    /// Maximum number of restarts of a scope until it is left. Default: 20.
    pub max_loops: BoundValue<u32>,
    /// Effect of an outcome that leads back once more.
    pub on_max_loops: OnMaxLoops,
    /// When the agent is given the whole context prompt. Default: [`ContextInjection::OncePerPhase`].
    pub context_injection: ContextInjection,
    /// The default of its phases but the first, and of nested workflows where they begin.
    pub context: Option<ContextMode>,
    /// Its phases and nested workflows, in order; at least one.
    pub phases: Vec<Entry>,
    /// The groups in its entries, at any depth; none in a [`Library`], which has them beside it.
    pub groups: Vec<Workflow>,
    /// Its place, if it is a group.
    pub group: Option<Group>,
    /// The items for which a group is repeated.
    pub each: Option<Each>,
    /// What makes it a parallel group.
    pub parallel: Option<Parallel>,
    /// The place of a run while the branches of a parallel group work.
    pub place: Option<Rc<Phase>>,
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
        package_of(&self.key)
    }

    /// The name `PACKAGE/NAME` that starts a package's workflow.
    pub fn name_with_package(&self) -> Option<String> {
        let package = self.package().filter(|_| !self.command_name.is_empty())?;
        Some(format!("{package}/{}", self.command_name))
    }

    /// Its name in a diagnostic: the key, or what a group is.
    pub(crate) fn in_words(&self) -> String {
        match self.group {
            Some(_) => "this group".to_owned(),
            None => format!("the workflow \"{}\"", self.key),
        }
    }

    /// The gate at its end, of a parallel group with different entries that at the end of all.
    pub fn end_gate(&self) -> Option<&Gate> {
        self.gate.as_ref().or_else(|| self.place.as_ref()?.gate.as_ref())
    }

    /// Returns true if it is a parallel group whose entries are the branches: it is not repeated.
    pub fn has_branches_beside(&self) -> bool {
        self.parallel.is_some() && self.each.is_none()
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

    /// Returns true if one of its own phases starts fresh, wherever the workflow is nested.
    pub fn starts_fresh(&self, phase: &Phase) -> bool {
        let default = self.context.filter(|_| self.position(&phase.id) != Some(0));
        phase.context.or(default) == Some(ContextMode::Fresh)
    }

    /// The index of the entry of this id: of a phase, or else of a nested workflow.
    pub fn position(&self, id: &str) -> Option<usize> {
        let phase = |entry: &Entry| entry.as_phase().is_some_and(|phase| phase.id == id);
        let position = self.phases.iter().position(phase);
        position.or_else(|| self.phases.iter().position(|entry| entry.is_called(id)))
    }
}

/// The place of a group: of entries that are a scope of their own within the file of a workflow.
///
/// A group is a [`Workflow`] with the fields of that of its file but these: its entries, `loopable`, `maxLoops`,
/// `gate`, `budget`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The key of the workflow of the file.
    pub file: String,
    /// The indices of the entries that lead to it from there, at least one.
    pub at: Vec<usize>,
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
        with: Map<String, Given>,
        /// Its id among the entries. Default: the key without that of its package.
        id: Option<String>,
        /// Its name for users. Default: that of the workflow.
        label: Option<String>,
        /// The targets of the outcomes with which it may end; others lead to the next entry.
        outcomes: Vec<Outcome>,
    },
}

#[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "for tests"))]
impl Entry {
    /// Returns the entry of a phase, without conditions.
    pub fn phase(phase: impl Into<Rc<Phase>>) -> Self {
        Self { kind: EntryKind::Phase(phase.into()), when: Vec::new() }
    }

    /// Returns the entry of a nested workflow, without conditions and without values.
    pub fn workflow(key: &str) -> Self {
        let (key, with, outcomes) = (key.to_owned(), Map::new(), Vec::new());
        let kind = EntryKind::Workflow { key, with, id: None, label: None, outcomes };
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
    /// Template of the instructions for the agent; not blank, but of a phase without the agent empty.
    pub instructions: String,
    /// Its file, as a user would write it.
    pub file: String,
    /// Its work: that of the agent, or something that the run does without the model.
    pub work: Work,
    /// Which tools the agent may use.
    pub tools: ToolPolicy,
    /// Its own limits.
    pub confinement: Confinement,
    /// The amounts that each visit may take.
    pub budget: BudgetBounds,
    /// The tool calls that a check tests.
    pub tests: Vec<PhaseTest>,
    /// Names of subagent profiles; for information only.
    pub profiles: Option<Vec<String>>,
    /// The agent must hand over a summary to leave it (`summary: required`). Default: it need not, unless the next
    /// phase starts fresh.
    pub summary_required: Option<bool>,
    /// The part of the earlier conversation that the model sees.
    pub context: Option<ContextMode>,
    /// Where the run goes when a visit has used up the phase's own budget; `None` to pause.
    pub on_budget: Option<Target>,
    /// It is a conversation with the user: an agent that stops is not told to go on, and the run waits for the user's
    /// message.
    pub interactive: bool,
    /// The earlier phases whose results it gets.
    pub results: Results,
    /// The ways in which it can be left; none for the next entry only.
    pub outcomes: Vec<Outcome>,
    /// The values that the agent gives when it leaves it, in the order of the file.
    pub outputs: Vec<Output>,
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
    /// Returns true if the phase allows the tool of this name.
    pub fn allows(&self, tool: &str) -> bool {
        match self {
            Self::All => true,
            Self::Except(refused) => !refused.iter().any(|name| name == tool),
            Self::Only(allowed) => allowed.iter().any(|name| name == tool),
        }
    }
}

impl Entry {
    /// Returns true if targets, conditions and templates name it so: by its id, or a nested workflow without one by its
    /// key.
    pub fn is_called(&self, id: &str) -> bool {
        match &self.kind {
            EntryKind::Phase(phase) => phase.id == id,
            EntryKind::Workflow { id: Some(own), .. } => own == id,
            EntryKind::Workflow { key, id: None, .. } => is_key(key, id),
        }
    }

    /// Its id; of a nested workflow without one its key without that of its package, of a group its label.
    pub fn id(&self) -> &str {
        match &self.kind {
            EntryKind::Phase(phase) => &phase.id,
            EntryKind::Workflow { id: Some(id), .. } => id,
            EntryKind::Workflow { key, label: Some(label), .. } if is_group_key(key) => label,
            EntryKind::Workflow { key, id: None, .. } => last_part(key),
        }
    }

    /// Its label, or the name of its phase; of a nested workflow without a label its key.
    pub fn name(&self) -> &str {
        match &self.kind {
            EntryKind::Phase(phase) => &phase.name,
            EntryKind::Workflow { key, label, .. } => label.as_ref().unwrap_or(key),
        }
    }

    /// The outcomes whose targets are known: those of its phase, or those that a nested workflow is given.
    pub fn outcomes(&self) -> &[Outcome] {
        match &self.kind {
            EntryKind::Phase(phase) => &phase.outcomes,
            EntryKind::Workflow { outcomes, .. } => outcomes,
        }
    }

    /// The outcome of this name, if its target is known.
    pub fn outcome(&self, name: &str) -> Option<&Outcome> {
        self.outcomes().iter().find(|outcome| outcome.name == name)
    }

    /// The output of this name of its phase.
    pub fn output(&self, name: &str) -> Option<&Output> {
        self.as_phase()?.outputs.iter().find(|output| output.name == name)
    }

    /// Its phase, unless it is a nested workflow.
    pub fn as_phase(&self) -> Option<&Phase> {
        match &self.kind {
            EntryKind::Phase(phase) => Some(phase),
            EntryKind::Workflow { .. } => None,
        }
    }

    /// The key of its group, if it is one.
    pub fn group_key(&self) -> Option<&str> {
        self.nested_key().filter(|key| is_group_key(key))
    }

    /// The key of its nested workflow, unless it is a phase.
    pub fn nested_key(&self) -> Option<&str> {
        match &self.kind {
            EntryKind::Phase(_) => None,
            EntryKind::Workflow { key, .. } => Some(key),
        }
    }
}

impl Workflow {
    /// The index of the entry that is next after the outcome of the entry at `index`; the number of entries for the
    /// end. `None` for the end of the whole run, and for an id that no entry has.
    pub(crate) fn target(&self, index: usize, target: &Target) -> Option<usize> {
        match target {
            Target::Next => Some(index + 1),
            Target::Loop => Some(0),
            Target::Done => Some(self.phases.len()),
            Target::Stop => None,
            Target::Entry(id) => self.position(id),
        }
    }
}
