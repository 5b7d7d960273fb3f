//! A workflow, its entries and its phases.

use crate::sorted::Map;
use std::rc::Rc;

use super::budget::BudgetBounds;
use super::gate::{Gate, as_name};
use super::inputs::{Given, Input};
use super::models::OwnModel;
use super::outcomes::{Outcome, Target};
use super::own_limits::OwnLimits;
use super::parallel::Parallel;
use super::paths::package_of;
use super::paths::{is_group_key, is_key, last_part};
use super::schema::{
    self, BUDGET_FIELDS, CONTEXTS, ENTRY_FIELDS, GATE, INPUT_FIELDS, Kind, MAX_LINE, MAX_PHASES, MODEL, OUTPUT_FIELDS,
    OWN_LIMITS, TOOLS_FIELDS, field, fields, required,
};
use super::scripts::Scripts;
use super::settings::BUILTIN_ROOT;
use super::tools::{READING_TOOLS, is_carrier, means_tool};
use super::value_type::{Bounds, Output, ValueType};
use super::values::{Condition, Each, WorkflowOutput};
use super::variables::{
    BLOCK_REASON_VARIABLES, COMPLETION_VARIABLES, INITIAL_MESSAGE_VARIABLES, NOT_DONE_VARIABLES, PHASE_VARIABLES,
};
use super::words::with_emoji;
use super::work::Work;

fields! {
    /// One workflow: a `workflow.yaml` and its phase files, if it has any.
    ///
    /// Specification: configuration reference, "`workflow.yaml` Field Reference".
    #[derive(Debug, Clone, PartialEq)]
    pub struct Workflow {
        /// The workflow's name for users.
        text name: String = field("name", Kind::Text, "the name of its folder, with capitals"),
        /// The NAME of `/workflow NAME TASK`. Unique among all workflows.
        text command_name: String = field("commandName", Kind::CommandName, "the name of its folder"),
        /// The prompt that starts the agent.
        text initial_message: String =
            field("initialMessage", Kind::Template(&INITIAL_MESSAGE_VARIABLES), "`{description}`"),
        /// The phases in order: paths of phase files, relative to this folder, `prompt: TEXT` for a phase without a file,
        /// `subworkflow: KEY` for another workflow, `run: COMMAND` for a step without the agent, `ask: QUESTION` for a question to the user, and `phases:
        /// [ENTRY, …]` for a group. With `when` an entry is passed over unless its conditions hold.
        rule phases: Vec<Entry> = required("phases", Kind::Phases(MAX_PHASES, &ENTRY_FIELDS)),
        /// The workflow's purpose. Its first line is shown in lists of workflows.
        text description: Option<String> =
            field("description", Kind::FreeText, "the first paragraph of the first phase that has no `{` in it"),
        /// The work for which the agent may propose the workflow to the user, who decides: with it, the agent has the tool
        /// `workflow_propose` in sessions without a run.
        text when_to_use: Option<String> = field("whenToUse", Kind::Line(MAX_LINE), "the agent does not propose it"),
        /// The task of a start without one, `/workflow NAME`: for work that is the same each time, or that the inputs say.
        text default_task: Option<String> = field("defaultTask", Kind::Line(MAX_LINE), "the user is asked for the task"),
        /// The ways to start the workflow: by the user too, or only by other workflows that nest it.
        text show: Show = field("show", Kind::OneOf(&["user", "workflows"]), "user"),
        /// Allows the agent to loop back to the first phase.
        rule loopable: bool = field("loopable", Kind::Bool, "true"),
        /// Text before the task in the session's name.
        text session_name_prefix: Option<String> = field("sessionNamePrefix", Kind::FreeText, "\"Workflow: \""),
        /// Maximum length of the task in the session's name, in characters.
        text session_name_max_length: Option<usize> = field("sessionNameMaxLength", Kind::Number, "50"),
        /// The first paragraph of the context prompt of each phase.
        text role_instruction: Option<String> = field(
            "roleInstruction",
            Kind::Template(&PHASE_VARIABLES),
            "an orchestrator where a tool `delegate_to_subagents` is registered, else an agent that does the work itself",
        ),
        /// The last paragraph of the context prompt of each phase before the exact calls.
        text advance_reminder: Option<String> = field(
            "advanceReminder",
            Kind::Template(&PHASE_VARIABLES),
            "says to call `workflow_step` when the phase is done",
        ),
        /// The reason that the agent gets for a refused tool call.
        text block_reason_template: Option<String> = field(
            "blockReasonTemplate",
            Kind::Template(&BLOCK_REASON_VARIABLES),
            "says that the tool is blocked in this phase",
        ),
        /// The message to the user at the end, also of a run that an outcome with the target `stop` has stopped.
        text completion_message: Option<String> = field(
            "completionMessage",
            Kind::Template(&COMPLETION_VARIABLES),
            "says that the workflow is complete, or where and with which outcome it was stopped",
        ),
        /// The prompt for an agent that stops before the end.
        text not_done_reminder: Option<String> = field(
            "notDoneReminder",
            Kind::Template(&NOT_DONE_VARIABLES),
            "says that the workflow is still active, with the phase's instructions",
        ),
        /// Automatic continuation of an agent that stops before the end.
        rule auto_continue: bool = field("autoContinue", Kind::Bool, "true"),
        /// The default of `context` for all phases but the first. A nested workflow begins as a phase in its place
        /// would.
        rule context: Option<ContextMode> = field("context", Kind::OneOf(&CONTEXTS), CONTEXTS[0]),
        /// Values that a run is started with, by name: `/workflow NAME scope=web TASK`. In templates `{input.NAME}`.
        rule inputs: Vec<Input> = field("inputs", Kind::Inputs(&INPUT_FIELDS), "none"),
        /// Values that come out of the workflow where another one nests it, by name: each `output.ID.NAME` of a phase, a step
        /// or a nested workflow of this file. Outside they are outputs of the entry that nests it.
        rule outputs: Vec<WorkflowOutput> = field("outputs", Kind::Handed, "nothing comes out"),
        /// The bounds of a run, or of the work in a nested workflow. When a bound is reached, the run pauses, and the
        /// user is asked for more.
        rule budget: BudgetBounds =
            field("budget", Kind::Mapping { fields: &BUDGET_FIELDS, one: false }, "no bound"),
        /// Its limits. Of a workflow the default of its phases, not of nested workflows.
        rule limits: OwnLimits => OWN_LIMITS,
        /// The model of phases that have none, also in nested workflows.
        rule model: OwnModel => MODEL,
    }
    beside {
        /// The name of its folder; of a package's workflow `PACKAGE/FOLDER`. Unique in a [`Library`]; sessions and
        /// references name it so.
        rule key: String,
        /// Its `outputs` with their types, as entries that nest it have them; those of no group.
        text given: Vec<Output>,
        /// The groups in its entries, at any depth; none in a [`Library`], which has them beside it.
        text groups: Vec<Workflow>,
        /// Its place, if it is a group.
        text group: Option<Group>,
        /// The items for which a group is repeated.
        rule each: Option<Each>,
        /// Its bounds, if it is a parallel group.
        rule parallel: Option<Parallel>,
        /// The place of a run while the branches of a parallel group work.
        text place: Option<Rc<Phase>>,
        /// The name of the root that it was read from.
        rule root: String,
        /// The folder it was read from, as a user would write it.
        text folder: String,
        /// The absolute path of that folder, with `/`.
        text dir: String,
        /// The files in the folder `scripts/` of that folder, if there are any.
        rule scripts: Option<Rc<Scripts>>,
    }
}

impl Workflow {
    pub fn package(&self) -> Option<&str> {
        package_of(&self.key)
    }

    /// Returns true if the workflow comes with this package.
    pub fn is_builtin(&self) -> bool {
        self.root == BUILTIN_ROOT
    }

    /// Returns the name `PACKAGE/NAME` that starts a package's workflow.
    pub fn name_with_package(&self) -> Option<String> {
        let package = self.package().filter(|_| !self.command_name.is_empty())?;
        Some(format!("{package}/{}", self.command_name))
    }

    /// Returns the words for the workflow or the group in a diagnostic.
    pub(crate) fn in_words(&self) -> String {
        match self.group {
            Some(_) => "this group".to_owned(),
            None => format!("the workflow \"{}\"", self.key),
        }
    }

    /// Returns true if the workflow itself, or an entry of it, has a model.
    pub(super) fn names_models(&self) -> bool {
        let of_entry = |entry: &Entry| match &entry.kind {
            EntryKind::Phase(phase) => phase.model.is_given(),
            EntryKind::Workflow { model, .. } => model.is_given(),
        };
        self.model.is_given() || self.phases.iter().any(of_entry)
    }

    /// Returns true for a parallel group whose branches are its entries, not its items.
    pub fn has_branches_beside(&self) -> bool {
        self.parallel.is_some() && self.each.is_none()
    }

    /// Returns the path of the `workflow.yaml`, as a user would write it.
    pub fn file(&self) -> String {
        format!("{}/workflow.yaml", self.folder)
    }

    /// Returns the words for `scripts/` in a consent to commands of the workflow; see [`Scripts::shown`].
    pub fn shown_scripts(&self) -> Option<&str> {
        self.scripts.as_ref().map(|scripts| scripts.shown())
    }

    pub fn input(&self, name: &str) -> Option<&Input> {
        self.inputs.iter().find(|input| input.name == *name)
    }

    /// Returns the greatest number that an input may have; infinity if nothing bounds it.
    pub fn greatest(&self, input: &str) -> f64 {
        match self.input(input).map(|input| &input.kind) {
            Some(ValueType::Number(Bounds { max: Some(max), .. })) => *max,
            _ => f64::INFINITY,
        }
    }

    /// Returns the phases of the workflow itself, without the phases of nested workflows.
    pub fn own_phases(&self) -> impl Iterator<Item = &Phase> {
        self.phases.iter().filter_map(|entry| match &entry.kind {
            EntryKind::Phase(phase) => Some(&**phase),
            EntryKind::Workflow { .. } => None,
        })
    }

    /// Returns true if this phase of the workflow starts fresh, wherever the workflow is nested.
    pub fn starts_fresh(&self, phase: &Phase) -> bool {
        let default = self.context.filter(|_| self.position(&phase.id) != Some(0));
        phase.context.or(default) == Some(ContextMode::Fresh)
    }

    /// Returns the index of the entry with this id: of a phase, or else of a nested workflow.
    pub fn position(&self, id: &str) -> Option<usize> {
        let phase = |entry: &Entry| entry.as_phase().is_some_and(|phase| phase.id == id);
        let position = self.phases.iter().position(phase);
        position.or_else(|| self.phases.iter().position(|entry| entry.is_called(id)))
    }
}

/// The place of a group: of entries that are a scope of their own within the file of a workflow.
///
/// A group is a [`Workflow`] with the fields of the workflow of its file, except for its entries, `loopable` and `model`;
/// it has no `budget`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The key of the workflow of the file.
    pub file: String,
    /// The indices of the entries that lead from the file to the group, at least one.
    pub at: Vec<usize>,
}

/// The part of the earlier conversation that the model sees in a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ContextMode {
    #[default]
    Shared,
    /// Only what was handed over, and the user's own messages.
    Fresh,
}

/// The entries whose results a phase gets: summaries, outputs and evidence of gates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Results {
    /// Every entry, of every workflow of the run.
    #[default]
    All,
    /// The entries with these names, in the phase's own workflow only; empty for no entry. The phase itself is among
    /// the entries only if its id is listed.
    Of(Vec<String>),
}

impl Results {
    /// The values that have a word of their own.
    pub const WORDS: [&str; 2] = ["all", "none"];
}

/// The ways to start a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Show {
    /// Users, by `/workflow`.
    #[default]
    User,
    /// Only other workflows, as one of their phases.
    Workflows,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Entry {
    pub kind: EntryKind,
    /// The run passes over the entry unless all of these conditions hold when it arrives.
    pub when: Vec<Condition>,
}

/// A phase, or a workflow nested in another one.
#[derive(Debug, Clone, PartialEq)]
pub enum EntryKind {
    /// A phase of the workflow itself. Workflows that name the same file share the phase.
    Phase(Rc<Phase>),
    Workflow {
        /// The key of the workflow. In a [`Library`] a workflow has this key, and no nesting leads back to it.
        key: String,
        /// The values of the inputs of the workflow, by name.
        with: Map<String, Given>,
        /// The id among the entries. Default: the key without the package.
        id: Option<String>,
        /// The name for users. Default: the name of the workflow.
        name: Option<String>,
        /// The targets of the outcomes with which the workflow may end; other outcomes lead to the next entry.
        outcomes: Vec<Outcome>,
        /// The model that the entry gives the workflow; none of a group, which has its own.
        model: OwnModel,
    },
}

#[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "for tests"))]
impl Entry {
    /// Returns the entry of a phase, without conditions.
    pub fn phase(phase: impl Into<Rc<Phase>>) -> Self {
        Self { kind: EntryKind::Phase(phase.into()), when: Vec::new() }
    }

    pub fn workflow(key: &str) -> Self {
        let (key, with, outcomes, model) = (key.to_owned(), Map::new(), Vec::new(), OwnModel::default());
        let kind = EntryKind::Workflow { key, with, id: None, name: None, outcomes, model };
        Self { kind, when: Vec::new() }
    }
}

fields! {
    /// One phase: a Markdown file with front matter, or an entry of `phases` with `prompt`.
    ///
    /// Specification: configuration reference, "Phase `.md` File Reference".
    #[derive(Debug, Clone, PartialEq)]
    pub struct Phase {
        /// The phase's name in sessions; unique in its workflow.
        rule id: String = field("id", Kind::Text, "the name of its file, without `.md`"),
        /// The phase's name for users.
        text name: String = field("name", Kind::Text, "the `id`, with capitals"),
        /// The phase's sign in the status bar.
        text emoji: String = field("emoji", Kind::FreeText, "none"),
        /// The tools that the agent may use. `workflow_step` is always allowed.
        rule tools: ToolPolicy =
            field("tools", Kind::Mapping { fields: &TOOLS_FIELDS, one: true }, "every tool is allowed"),
        /// Its limits. Of a workflow the default of its phases, not of nested workflows.
        rule limits: OwnLimits => OWN_LIMITS,
        /// Names of subagent profiles, listed in the context prompt.
        text profiles: Option<Vec<String>> = field("availableProfiles", Kind::Names, "(none)"),
        /// `required`: the agent cannot leave the phase without a summary.
        rule summary_required: bool = field("summary", Kind::OneOf(&["optional", "required"]), "optional"),
        /// `fresh`: the model sees nothing of the earlier work, only the task, the results of earlier phases, the
        /// evidence of gates, the user's own messages since the run began, and the phase's context prompt. The phase
        /// before a fresh phase cannot be left without a summary.
        rule context: Option<ContextMode> = field("context", Kind::OneOf(&CONTEXTS), CONTEXTS[0]),
        /// `true`: the phase is a conversation with the user. When the agent stops, the run waits for the user's next
        /// message, and the agent is not told to go on. In print and JSON mode the run pauses there.
        rule interactive: bool = field("interactive", Kind::Bool, "false"),
        /// The earlier phases whose results the phase gets: summaries, outputs, and evidence of gates. `none`, or the
        /// ids of phases and the keys of nested workflows of the workflow.
        rule results: Results = field("results", Kind::WordOrNames(&Results::WORDS), Results::WORDS[0]),
        /// The ways in which the phase can be left, and where each leads: `next`, `loop` (to the first entry), `done`
        /// (to the end of the workflow), `stop` (to the end of the whole run, as stopped), `end` (of a group with
        /// `each`), or the `id` of an entry of the workflow. In the place of a target a mapping: `to`, and `max` with `then`. The agent names the outcome
        /// when it calls `next`.
        rule outcomes: Vec<Outcome> = field("outcomes", Kind::Outcomes, "none"),
        /// Values that the agent gives when it calls `next`, by name. In texts `{output.ID.NAME}`, in `when` and `with`
        /// `output.ID.NAME`.
        rule outputs: Vec<Output> = field("outputs", Kind::Outputs(&OUTPUT_FIELDS), "none"),
        /// The gate.
        rule gate: Option<Gate> => GATE,
        /// Its model.
        rule model: OwnModel => MODEL,
        /// The bounds of each visit of the phase.
        rule budget: BudgetBounds =
            field("budget", Kind::Mapping { fields: &BUDGET_FIELDS, one: false }, "no bound"),
        /// Where the run goes when a visit has used up the `budget` of the phase: `pause`, or a target as in
        /// `outcomes`. The gate of the phase is not checked then.
        rule on_budget: Option<Target> = field("onBudget", Kind::Text, "pause"),
    }
    beside {
        /// Template of the instructions for the agent; not blank, but of a phase without the agent empty.
        text instructions: String,
        /// Its file, as a user would write it: a phase file or a `workflow.yaml`.
        text file: String,
        /// The indices of the entries that lead to it in a `workflow.yaml`; empty for a phase file.
        text at: Vec<usize>,
        /// Its work: that of the agent, or something that the run does without the model.
        rule work: Work,
    }
}

/// The tools that a phase allows. `workflow_step` is always allowed.
///
/// Specification: configuration reference, "Tool Configuration Details".
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolPolicy {
    #[default]
    All,
    /// Every tool but these (`blacklist`); see [`means_tool`].
    Except(Vec<String>),
    /// These tools and no others (`whitelist`).
    Only(Vec<String>),
}

impl ToolPolicy {
    pub fn allows(&self, tool: &str) -> bool {
        match self {
            Self::All => true,
            Self::Except(refused) => !refused.iter().any(|entry| means_tool(entry, tool)),
            Self::Only(allowed) => allowed.iter().any(|entry| means_tool(entry, tool)),
        }
    }
}

impl Phase {
    /// Returns true if an agent works on the phase, and has a tool that may write.
    pub fn may_write(&self) -> bool {
        let writes_nothing = |tool: &String| READING_TOOLS.contains(&&**tool) || is_carrier(tool);
        let reads_only = matches!(&self.tools, ToolPolicy::Only(tools) if tools.iter().all(writes_nothing));
        self.is_of_agent() && !reads_only
    }

    /// Returns its file, or its entry in a `workflow.yaml` in short.
    pub fn written(&self) -> String {
        match &self.work {
            Work::Agent if self.at.is_empty() => self.file.clone(),
            Work::Agent => format!("prompt: {}", as_name(&self.instructions)),
            Work::Branches => self.name.clone(),
            Work::Run(step) => format!("run: {}", as_name(step.command.line())),
            Work::Ask(question) => format!("ask: {}", as_name(&question.text)),
        }
    }

    /// Returns the emoji and the name.
    pub fn title(&self) -> String {
        with_emoji(&self.emoji, &self.name)
    }
}

impl Entry {
    /// Returns true if targets, conditions and templates name the entry by this id: its own id, or the key of a nested
    /// workflow without an id.
    pub fn is_called(&self, id: &str) -> bool {
        match &self.kind {
            EntryKind::Phase(phase) => phase.id == id,
            EntryKind::Workflow { id: Some(own), .. } => own == id,
            EntryKind::Workflow { key, id: None, .. } => is_key(key, id),
        }
    }

    /// Returns the file of the phase, or the entry as its file has it, in short.
    pub fn written(&self) -> String {
        match &self.kind {
            EntryKind::Phase(phase) => phase.written(),
            EntryKind::Workflow { key, .. } if is_group_key(key) => self.name().to_owned(),
            EntryKind::Workflow { key, .. } => format!("subworkflow: {key}"),
        }
    }

    /// Returns the id. Without an id, a nested workflow has its key without the package, and a group its name.
    pub fn id(&self) -> &str {
        match &self.kind {
            EntryKind::Phase(phase) => &phase.id,
            EntryKind::Workflow { id: Some(id), .. } => id,
            EntryKind::Workflow { key, name: Some(name), .. } if is_group_key(key) => name,
            EntryKind::Workflow { key, id: None, .. } => last_part(key),
        }
    }

    /// Returns the name; without one the key of a nested workflow.
    pub fn name(&self) -> &str {
        match &self.kind {
            EntryKind::Phase(phase) => &phase.name,
            EntryKind::Workflow { key, name, .. } => name.as_ref().unwrap_or(key),
        }
    }

    /// Returns the outcomes with known targets: the outcomes of the phase, or the outcomes for which the entry gives a
    /// nested workflow targets.
    pub fn outcomes(&self) -> &[Outcome] {
        match &self.kind {
            EntryKind::Phase(phase) => &phase.outcomes,
            EntryKind::Workflow { outcomes, .. } => outcomes,
        }
    }

    /// Returns the outcome with this name, if its target is known.
    pub fn outcome(&self, name: &str) -> Option<&Outcome> {
        self.outcomes().iter().find(|outcome| outcome.name == name)
    }

    /// Returns the phase; `None` for a nested workflow.
    pub fn as_phase(&self) -> Option<&Phase> {
        match &self.kind {
            EntryKind::Phase(phase) => Some(phase),
            EntryKind::Workflow { .. } => None,
        }
    }

    pub fn group_key(&self) -> Option<&str> {
        self.nested_key().filter(|key| is_group_key(key))
    }

    /// Returns the key of the nested workflow; `None` for a phase.
    pub fn nested_key(&self) -> Option<&str> {
        match &self.kind {
            EntryKind::Phase(_) => None,
            EntryKind::Workflow { key, .. } => Some(key),
        }
    }
}

/// Returns the outputs that an entry gives: those of its phase, or of the workflow that it nests.
pub(crate) fn outputs_of<'a>(entry: &'a Entry, get: &dyn Fn(&str) -> Option<&'a Workflow>) -> &'a [Output] {
    match &entry.kind {
        EntryKind::Phase(phase) => &phase.outputs,
        EntryKind::Workflow { key, .. } => get(key).map_or(&[], |nested| &nested.given),
    }
}

/// Returns the output of this name that an entry gives.
pub(crate) fn output_of<'a>(
    entry: &'a Entry,
    name: &str,
    get: &dyn Fn(&str) -> Option<&'a Workflow>,
) -> Option<&'a Output> {
    outputs_of(entry, get).iter().find(|output| output.name == name)
}

impl Workflow {
    /// Returns the index of the entry to which a target of the entry at `index` leads; the number of entries for the
    /// end. `None` for the end of the whole run, and for an id that no entry has.
    pub(crate) fn target(&self, index: usize, target: &Target) -> Option<usize> {
        match target {
            Target::Next => Some(index + 1),
            Target::Loop => Some(0),
            Target::Done | Target::End => Some(self.phases.len()),
            Target::Stop => None,
            Target::Entry(id) => self.position(id),
        }
    }
}
