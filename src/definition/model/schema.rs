//! The fields of the two kinds of files. The reader accepts these; the JSON Schemas and the tables of the documentation
//! are generated from them.

use super::models::Thinking;
use super::notify::Occasion;
use super::parallel::{Decide, Parallel};
use super::results::Results;
use super::variables::{
    BLOCK_REASON_VARIABLES, COMPLETION_VARIABLES, INITIAL_MESSAGE_VARIABLES, NOT_DONE_VARIABLES, PHASE_VARIABLES,
    STOP_VARIABLES,
};

/// One field.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// Type of its value.
    pub kind: Kind,
    /// Tells when it is required.
    pub needed: Needed,
    /// Default, in words or as YAML; empty without one.
    pub default: &'static str,
    /// Its meaning, in a sentence.
    pub about: &'static str,
}

/// Type of a value.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Text that is not blank.
    Text,
    /// Any text.
    FreeText,
    /// Text with these variables in it.
    Template(&'static [&'static str]),
    /// Letters, digits, `_` and `-`.
    CommandName,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// True or false.
    Bool,
    /// A number from 0.
    Number,
    /// A whole number from 0 to this one.
    WholeNumber(u32),
    /// A list of names.
    Names,
    /// A list of names of tools.
    Tools,
    /// A list of texts.
    Options,
    /// A name, or a list of names.
    NameOrNames,
    /// A list of paths and globs, with at most this many entries.
    Paths(usize),
    /// A list of tool calls: the name of a tool, and its path or command.
    Calls,
    /// A list of at least one of these words.
    Words(&'static [&'static str]),
    /// A program and its arguments: a list of at most this many texts.
    Arguments(usize),
    /// A list of checks, each a mapping with exactly one of the first of these fields.
    Checks(&'static [Field]),
    /// A value of this type, or the name of an input of the workflow that has it.
    OrInput(&'static Kind),
    /// A whole number from 1 to this one.
    Count(u32),
    /// Text like this one, or a number of seconds.
    Duration(&'static str),
    /// A number of US dollars above 0, at most this one.
    Dollars(u32),
    /// A mapping of names to mappings with these fields.
    Inputs(&'static [Field]),
    /// A mapping of names of values to values or lists of values.
    Conditions,
    /// A mapping of names to values.
    Values,
    /// A mapping of names of variables to names of values.
    Variables,
    /// A mapping of names to mappings with these fields.
    Outputs(&'static [Field]),
    /// A mapping of names to `next`, `loop`, `done` or the id of a phase.
    Outcomes,
    /// A number.
    Decimal,
    /// A text, a number or a boolean, or a list of these.
    Literal,
    /// One of these words, or a list of at least one name.
    WordOrNames(&'static [&'static str]),
    /// The list of phases, with at most this many entries. Each is the path of a phase file or a mapping with one of
    /// the first of these fields.
    Phases(usize, &'static [Field]),
    /// A list of texts, or the name of a list of the run.
    Items,
    /// `true` or `false`, or a whole number from 1 to this one.
    AtOnce(u32),
    /// This word, or a whole number from 1 to the other.
    WordOrCount(&'static str, u32),
    /// The list of entries of a group, each as in the list of phases; with at most this many.
    Group(usize),
    /// A mapping with these fields, whose errors leave nothing out.
    Tests(&'static [Field]),
    /// A mapping with these fields; also true and false, if `switch`.
    Mapping {
        /// Its fields.
        fields: &'static [Field],
        /// `true` and `false` are accepted too.
        switch: bool,
        /// At most one of the fields is accepted.
        one: bool,
    },
}

impl Field {
    /// Returns true if a key without a value is accepted: a text, or the length of one. Every other field is a rule,
    /// and an empty rule protects nothing.
    pub const fn may_be_empty(&self) -> bool {
        match self.kind {
            Kind::FreeText | Kind::Template(_) | Kind::Number | Kind::Names => true,
            Kind::Text
            | Kind::CommandName
            | Kind::OneOf(_)
            | Kind::Bool
            | Kind::WholeNumber(_)
            | Kind::OrInput(_)
            | Kind::Tools
            | Kind::Options
            | Kind::NameOrNames
            | Kind::Paths(_)
            | Kind::Calls
            | Kind::Words(_)
            | Kind::Arguments(_)
            | Kind::Checks(_)
            | Kind::Count(_)
            | Kind::Duration(_)
            | Kind::Dollars(_)
            | Kind::Inputs(_)
            | Kind::Outputs(_)
            | Kind::Conditions
            | Kind::Values
            | Kind::Variables
            | Kind::Outcomes
            | Kind::Decimal
            | Kind::Literal
            | Kind::WordOrNames(_)
            | Kind::Phases(..)
            | Kind::Group(_)
            | Kind::Items
            | Kind::AtOnce(_)
            | Kind::WordOrCount(..)
            | Kind::Tests(_)
            | Kind::Mapping { .. } => false,
        }
    }
}

/// Condition under which a field is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needed {
    /// In every file.
    Always,
    /// Unless the workflow has `show: workflows`.
    ToStart,
    /// It may be left out.
    Not,
}

/// Maximum number of entries of `phases`.
pub const MAX_PHASES: usize = 1000;
/// Maximum length of a countdown, in seconds.
pub const MAX_DELAY_SECONDS: u32 = 3600;
/// Maximum number of entries of `write`, and of `hide`.
pub const MAX_PATHS: usize = 100;
/// Maximum number of entries of both lists of `tests`.
pub const MAX_TESTS: usize = 100;
/// The values of `sandbox`.
pub const SANDBOXES: [&str; 3] = ["required", "preferred", "off"];
/// Maximum of `gateAttempts`.
pub const MAX_GATE_ATTEMPTS: u32 = 1000;
/// Maximum number of entries of `inputs`.
pub const MAX_INPUTS: usize = 20;
/// Maximum number of entries of `outputs`.
pub const MAX_OUTPUTS: usize = 20;
/// Maximum number of `options` of an input.
pub const MAX_OPTIONS: usize = 50;
/// Maximum number of entries of `outcomes`.
pub const MAX_OUTCOMES: usize = 20;
/// Maximum number of entries of `when`.
pub const MAX_CONDITIONS: usize = 20;
/// Maximum of `cost`, in US dollars.
pub const MAX_COST: u32 = 1_000_000;
/// Maximum of `outputTokens`.
pub const MAX_TOKENS: u32 = 1_000_000_000;
/// Maximum of the other counts.
pub const MAX_COUNT: u32 = 1_000_000;

const fn field(name: &'static str, kind: Kind, default: &'static str, about: &'static str) -> Field {
    Field { name, kind, needed: Needed::Not, default, about }
}

const fn needed(name: &'static str, kind: Kind, needed: Needed, about: &'static str) -> Field {
    Field { name, kind, needed, default: "", about }
}

/// Returns the names of fields.
pub(crate) const fn names<const N: usize>(fields: &[Field; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut index = 0;
    while index < N {
        #[allow(clippy::indexing_slicing, reason = "a const fn cannot iterate")]
        {
            names[index] = fields[index].name;
        }
        index += 1;
    }
    names
}

/// The fields of a `workflow.yaml`.
///
/// Specification: configuration reference, "`workflow.yaml` Field Reference".
pub const WORKFLOW_FIELDS: [Field; 29] = [
    needed("name", Kind::Text, Needed::Always, "The workflow's name for users."),
    needed(
        "commandName",
        Kind::CommandName,
        Needed::ToStart,
        "The NAME of `/workflow NAME TASK`. Unique among all workflows.",
    ),
    needed(
        "initialMessage",
        Kind::Template(&INITIAL_MESSAGE_VARIABLES),
        Needed::ToStart,
        "The prompt that starts the agent.",
    ),
    needed(
        "phases",
        Kind::Phases(MAX_PHASES, &ENTRY_FIELDS),
        Needed::Always,
        "The phases in order: paths of phase files, relative to this folder, `subworkflow: KEY` for another workflow, `run: COMMAND` for a step without the agent, `ask: QUESTION` for a question to the user, and `phases: [ENTRY, …]` for a group. With `when` an entry is passed over unless its conditions hold.",
    ),
    field(
        "description",
        Kind::FreeText,
        "the first paragraph of the first phase that has no `{` in it",
        "The workflow's purpose. Its first line is shown in lists of workflows.",
    ),
    field(
        "show",
        Kind::OneOf(&["user", "workflows"]),
        "user",
        "Who can start the workflow: the user, or only other workflows that nest it.",
    ),
    field("loopable", Kind::Bool, "true", "Allows the agent to loop back to the first phase."),
    field("sessionNamePrefix", Kind::FreeText, "\"Workflow: \"", "Text before the task in the session's name."),
    field(
        "sessionNameMaxLength",
        Kind::Number,
        "50",
        "Maximum length of the task in the session's name, in characters.",
    ),
    field(
        "roleInstruction",
        Kind::Template(&PHASE_VARIABLES),
        "an orchestrator where a tool `delegate_to_subagents` is registered, else an agent that does the work itself",
        "The first paragraph of the context prompt of each phase.",
    ),
    field(
        "advanceReminder",
        Kind::Template(&PHASE_VARIABLES),
        "says to call `workflow_step` when the phase is done",
        "The last paragraph of the context prompt of each phase.",
    ),
    field(
        "blockReasonTemplate",
        Kind::Template(&BLOCK_REASON_VARIABLES),
        "says that the tool is blocked in this phase",
        "The reason that the agent gets for a refused tool call.",
    ),
    field(
        "completionMessage",
        Kind::Template(&COMPLETION_VARIABLES),
        "says that the workflow is complete, with its task",
        "The message to the user at the end.",
    ),
    field(
        "stopMessage",
        Kind::Template(&STOP_VARIABLES),
        "says where the run was stopped, and with which outcome",
        "The message at the end of a run that an outcome with the target `stop` has stopped.",
    ),
    field(
        "notDoneReminder",
        Kind::Template(&NOT_DONE_VARIABLES),
        "says that the workflow is still active, with the phase's instructions",
        "The prompt for an agent that stops before the end.",
    ),
    field(
        "autoContinue",
        Kind::Mapping { fields: &AUTO_CONTINUE_FIELDS, switch: true, one: false },
        "true",
        "Automatic continuation of an agent that stops before the end, and its limits.",
    ),
    field(
        "maxLoops",
        Kind::OrInput(&Kind::WholeNumber(MAX_COUNT)),
        "20",
        "Maximum number of loops of the workflow before it is left.",
    ),
    field(
        "onMaxLoops",
        Kind::OneOf(&ON_MAX_LOOPS),
        ON_MAX_LOOPS[0],
        "What an outcome does that leads back when there were `maxLoops` loops: the run pauses, or goes to the next entry.",
    ),
    field(
        "contextInjection",
        Kind::OneOf(&["oncePerPhase", "everyRun"]),
        "oncePerPhase",
        "When the agent gets the complete context prompt: once in each phase, or with every agent run.",
    ),
    field(
        "context",
        Kind::OneOf(&CONTEXTS),
        CONTEXTS[0],
        "The default of its phases but the first, and of workflows nested in it where they begin; see the field of a phase.",
    ),
    field(
        "inputs",
        Kind::Inputs(&INPUT_FIELDS),
        "none",
        "Values that a run is started with, by name: `/workflow NAME scope=web TASK`. In templates `{input.NAME}`.",
    ),
    field(
        "budget",
        Kind::Mapping { fields: &BUDGET_FIELDS, switch: false, one: false },
        "no bound",
        "What a run may take. A nested workflow's bounds what is spent in it. At the end of it the run pauses, and you are asked for more.",
    ),
    WRITE,
    HIDE,
    NETWORK,
    SANDBOX,
    GATE,
    GATE_ATTEMPTS,
    ON_GATE_FAIL,
];

/// The values of `onMaxLoops`.
pub const ON_MAX_LOOPS: [&str; 2] = ["pause", "next"];

/// The fields of an entry of `phases` that is a mapping.
pub const ENTRY_FIELDS: [Field; 23] = [
    field("phase", Kind::Text, "", "The path of a phase file, relative to this folder."),
    field("subworkflow", Kind::Text, "", "The key of another workflow: the name of its folder."),
    field(
        "run",
        Kind::Text,
        "",
        "A command line for the shell, which the run runs itself, in the project's directory. Its outcomes are `ok`, with exit status 0, and `failed`.",
    ),
    field(
        "ask",
        Kind::Text,
        "",
        "A question to the user, who answers with one of the `outcomes`, with the variables of the text of a phase. An outcome can be a mapping with `to`, its target, `label`, its words for the user, and `text: required` or `text: optional`, a text that the user gives with it.",
    ),
    field(
        "id",
        Kind::Text,
        "the `id` of the phase file, or the key of the nested workflow",
        "Its name among the entries, for targets, conditions and texts. With it one phase file or workflow can be listed several times.",
    ),
    field("label", Kind::Text, "the name of the phase or of the nested workflow", "Its name for users."),
    field(
        "when",
        Kind::Conditions,
        "none",
        "Conditions, all of which must hold when the run arrives, or it passes over the entry: `input.NAME`, `output.ID.NAME` or `outcome.ID` with a value, or a list of values. `ID` is the id of an earlier phase; of an outcome also the key of an earlier nested workflow.",
    ),
    field(
        "with",
        Kind::Values,
        "none",
        "Values of the inputs of the nested workflow: each a value, or `input.NAME` or `output.ID.NAME` for that of an input of this workflow or of an output of an earlier phase.",
    ),
    field(
        "outcomes",
        Kind::Outcomes,
        "of a phase those of its file; after a nested workflow the next entry follows",
        "Targets of the outcomes of the phase, in place of those in its file, or of those with which the nested workflow or the group ends: `next`, `loop`, `done`, `stop` or the `id` of an entry.",
    ),
    field("timeout", Kind::Duration("10m"), "10m", "Maximum duration of the command of `run`, at most a day."),
    field(
        "env",
        Kind::Variables,
        "none",
        "Variables of the environment of `run`, each with a value of the run: `input.NAME`, `output.ID.NAME`, `outcome.ID`, `summary.ID`, `task` or `runDir`.",
    ),
    field(
        "outputs",
        Kind::Outputs(&OUTPUT_FIELDS),
        "none",
        "With `run`: values that the command gives, by name, as one JSON object on its standard output.",
    ),
    field(
        "phases",
        Kind::Group(MAX_PHASES),
        "",
        "The entries of a group: a part of this workflow that is a scope of its own, for targets, loops, gates and budgets.",
    ),
    field("loopable", Kind::Bool, "true", "Allows the agent to loop back to the first entry of the group."),
    field(
        "maxLoops",
        Kind::OrInput(&Kind::WholeNumber(MAX_COUNT)),
        "20",
        "Maximum number of loops of the group before it is left.",
    ),
    field(
        "budget",
        Kind::Mapping { fields: &BUDGET_FIELDS, switch: false, one: false },
        "no bound",
        "What the group may take, each time that the run enters it.",
    ),
    field("gate", Kind::Checks(&CHECK_FIELDS), "nothing is checked", "Checks that must pass before the group is left."),
    GATE_ATTEMPTS,
    ON_GATE_FAIL,
    field(
        "each",
        Kind::Items,
        "the group is gone through once",
        "Repeats the group for each item, in order: a list, or `input.NAME` or `output.ID.NAME` of a list. In texts `{item}`, `{itemNumber}` and `{itemCount}`. Without an item the group is passed over.",
    ),
    field(
        "parallel",
        Kind::AtOnce(Parallel::MAX as u32),
        "false",
        "The entries of the group are branches, on which agents work at the same time; with `each` its items are. `true` for 4 at a time, or their number.",
    ),
    field(
        "decide",
        Kind::WordOrNames(&[Decide::MAJORITY]),
        "the group has no outcome",
        "The outcome of a parallel group: the first of these that a branch ends with, or `majority` for that of more than half of them.",
    ),
    field(
        "need",
        Kind::WordOrCount("all", Parallel::MAX as u32),
        "all",
        "Number of branches of a parallel group that must come to their end; with fewer the run pauses.",
    ),
];

/// The fields of an entry that only a group has.
pub const GROUP_FIELDS: [&str; 11] = [
    "phases",
    "each",
    "parallel",
    "decide",
    "need",
    "loopable",
    "maxLoops",
    "budget",
    "gate",
    "gateAttempts",
    "onGateFail",
];

/// The values of `context`.
pub const CONTEXTS: [&str; 2] = ["shared", "fresh"];

const WRITE: Field = field(
    "write",
    Kind::Paths(MAX_PATHS),
    "everything may be written",
    "What may be written: files, folders with everything below (`docs/`) and globs, relative to the project's directory, with `{input.NAME}`, or in `{runDir}/`; `[]` is nothing. In `workflow.yaml` the default of its phases.",
);

const HIDE: Field = field(
    "hide",
    Kind::Paths(MAX_PATHS),
    "nothing is hidden",
    "Files, and folders with everything below (`tests/acceptance/`), that the agent cannot read or write, also with commands; relative to the project's directory, no globs. `[]` is nothing. In `workflow.yaml` the default of its phases.",
);

const NETWORK: Field = field(
    "network",
    Kind::Bool,
    "true",
    "`false`: commands have no network. In `workflow.yaml` the default of its phases.",
);

const SANDBOX: Field = field(
    "sandbox",
    Kind::OneOf(&SANDBOXES),
    "required",
    "How commands are held to `write` and `network`: `required`: where the system cannot confine them, they are refused; `preferred`: there they run without limits; `off`: they always do. In `workflow.yaml` the default of its phases.",
);

const GATE: Field = field(
    "gate",
    Kind::Checks(&CHECK_FIELDS),
    "nothing is checked",
    "Checks that must pass before the phase or workflow is left. They run in order when the agent calls `next`.",
);

const GATE_ATTEMPTS: Field = field(
    "gateAttempts",
    Kind::OrInput(&Kind::Count(MAX_GATE_ATTEMPTS)),
    "3",
    "Number of failures of the gate after which the run pauses, with `onGateFail: stay`. Otherwise each failure leads back, and `maxLoops` is the limit.",
);

const ON_GATE_FAIL: Field = field(
    "onGateFail",
    Kind::Text,
    "stay",
    "Where a failure leads: `stay`, `loop` (to the beginning of the workflow), or the id of an earlier phase of the workflow.",
);

/// The fields of a check of a gate.
pub const CHECK_FIELDS: [Field; 9] = [
    field(
        "run",
        Kind::Text,
        "",
        "A command line for the shell, in the project's directory; it must end with exit status 0.",
    ),
    field(
        "file",
        Kind::Text,
        "",
        "A path or glob, relative to the project's directory, with `{input.NAME}`, or in `{runDir}/`: a file that must exist and not be empty.",
    ),
    field(
        "approve",
        Kind::Text,
        "",
        "A question to the user, who must say yes. With the variables of the text of a phase.",
    ),
    field(
        "label",
        Kind::Text,
        "the command, path or question",
        "The name of the check. With the variables of the text of a phase.",
    ),
    field("timeout", Kind::Duration("10m"), "10m", "Maximum duration of the command of `run`, at most a day."),
    field(
        "env",
        Kind::Variables,
        "",
        "Variables of the environment of `run`, each with a value of the run: `input.NAME`, `output.ID.NAME`, `outcome.ID`, `summary.ID`, `task` or `runDir`.",
    ),
    field(
        "contains",
        Kind::Text,
        "",
        "A regular expression that must match in the file of `file`; `^` and `$` mean lines.",
    ),
    field("outcome", Kind::Text, "each outcome", "The check is made for this outcome only."),
    field(
        "recheck",
        Kind::Bool,
        "false",
        "The check is made again before DONE if files have changed since it passed; for `run` and `file`.",
    ),
];

/// The fields of `autoContinue`.
pub const AUTO_CONTINUE_FIELDS: [Field; 3] = [
    field("delaySeconds", Kind::WholeNumber(MAX_DELAY_SECONDS), "3", "Length of the countdown, in seconds."),
    field(
        "maxPerPhase",
        Kind::WholeNumber(MAX_COUNT),
        "10",
        "Number of automatic continuations in one phase after which the run pauses.",
    ),
    field(
        "maxIdle",
        Kind::WholeNumber(MAX_COUNT),
        "3",
        "Number of consecutive automatic continuations without work after which the run pauses.",
    ),
];

/// The fields of a phase file's front matter.
///
/// Specification: configuration reference, "Phase `.md` File Reference".
pub const PHASE_FIELDS: [Field; 23] = [
    needed("id", Kind::Text, Needed::Always, "The phase's name in sessions; unique in its workflow."),
    needed("name", Kind::Text, Needed::Always, "The phase's name for users."),
    needed("emoji", Kind::Text, Needed::Always, "The phase's sign in the status bar."),
    field(
        "tools",
        Kind::Mapping { fields: &TOOLS_FIELDS, switch: false, one: true },
        "every tool is allowed",
        "The tools that the agent may use. `workflow_step` is always allowed.",
    ),
    WRITE,
    HIDE,
    NETWORK,
    SANDBOX,
    field(
        "tests",
        Kind::Tests(&TESTS_FIELDS),
        "nothing is tested",
        "Tool calls that the rules of the phase must allow or refuse. `check` tests them.",
    ),
    field("availableProfiles", Kind::Names, "(none)", "Names of subagent profiles, listed in the context prompt."),
    field(
        "summary",
        Kind::OneOf(&["optional", "required"]),
        "optional",
        "`required`: the agent cannot leave the phase without a summary.",
    ),
    field(
        "context",
        Kind::OneOf(&CONTEXTS),
        CONTEXTS[0],
        "`fresh`: the model sees nothing of the earlier work, only the task, the results of earlier phases, the evidence of gates, the user's own messages since the run began, and the phase's context prompt. The phase before it cannot be left without a summary.",
    ),
    field(
        "interactive",
        Kind::Bool,
        "false",
        "`true`: the phase is a conversation with the user. When the agent stops, the run waits for the user's next message, and the agent is not told to go on. In print and JSON mode the run pauses there.",
    ),
    field(
        "results",
        Kind::WordOrNames(&Results::WORDS),
        Results::WORDS[0],
        "The earlier phases whose results the phase gets: summaries, outputs, and evidence of gates. `none`, or the ids of phases and the keys of nested workflows of the workflow.",
    ),
    field(
        "outcomes",
        Kind::Outcomes,
        "none",
        "The ways in which the phase can be left, and where each leads: `next`, `loop` (to the first entry), `done` (to the end of the workflow), `stop` (to the end of the whole run, as stopped), or the `id` of an entry of the workflow. The agent names one when it calls `next`.",
    ),
    field(
        "outputs",
        Kind::Outputs(&OUTPUT_FIELDS),
        "none",
        "Values that the agent gives when it calls `next`, by name. In texts `{output.ID.NAME}`, in `when` and `with` `output.ID.NAME`.",
    ),
    GATE,
    GATE_ATTEMPTS,
    ON_GATE_FAIL,
    field(
        "model",
        Kind::NameOrNames,
        "the user's model",
        "The model of the phase: the first that the user has a key for. `PROVIDER/ID`, also with `:LEVEL` behind it, or an alias of the user's `models.yaml`.",
    ),
    field(
        "thinking",
        Kind::OneOf(&THINKING),
        "",
        "The thinking level of the phase. Default: the level behind the name of the model, or the one that pi has for the model.",
    ),
    field(
        "budget",
        Kind::Mapping { fields: &BUDGET_FIELDS, switch: false, one: false },
        "no bound",
        "What each visit of the phase may take.",
    ),
    field(
        "onBudget",
        Kind::Text,
        "pause",
        "Where the run goes when a visit has used up the `budget` of the phase: `pause`, or a target as in `outcomes`. The gate of the phase is not checked then.",
    ),
];

/// The fields of the user's `limits.yaml`.
pub const LIMITS_FIELDS: [Field; 5] = [
    field(
        "write",
        Kind::Paths(MAX_PATHS),
        "everything, but pi's agent folder",
        "What may be written: files, folders with everything below (`src/`) and globs, relative to the working directory. `[]` is nothing.",
    ),
    field(
        "hide",
        Kind::Paths(MAX_PATHS),
        "nothing is hidden",
        "Files, and folders with everything below (`~/.aws/`), that the agent cannot read or write, also with commands; relative to the working directory, no globs. `[]` is nothing.",
    ),
    field("network", Kind::Bool, "true", "`false`: commands have no network."),
    field(
        "sandbox",
        Kind::OneOf(&SANDBOXES),
        "required",
        "How commands are held to the limits: `required`: where the system cannot confine them, they are refused; `preferred`: there they run without limits; `off`: they always do.",
    ),
    field(
        "tools",
        Kind::Mapping { fields: &TOOLS_FIELDS, switch: false, one: true },
        "every tool is allowed",
        "The tools that the agent may use. `workflow_step` is always allowed.",
    ),
];

/// The values of `on` of `notify.yaml`.
pub const OCCASIONS: [&str; Occasion::ALL.len()] = {
    let [waits, done, stopped] = Occasion::ALL;
    [waits.name(), done.name(), stopped.name()]
};

/// Maximum number of entries of `command` of `notify.yaml`.
pub const MAX_ARGUMENTS: usize = 50;

/// The fields of the user's `notify.yaml`.
pub const NOTIFY_FIELDS: [Field; 3] = [
    field(
        "on",
        Kind::Words(&OCCASIONS),
        "all of them",
        "What you are told: a run waits for you, is done, or was stopped by an outcome.",
    ),
    field(
        "command",
        Kind::Arguments(MAX_ARGUMENTS),
        "none",
        "A program and its arguments, without a shell: its path, or its name in `PATH`. `{title}` and `{text}` as whole arguments stand for the notification.",
    ),
    field("terminal", Kind::Bool, "false", "`true`: the notification goes to the terminal that pi runs in."),
];

/// The fields of the front matter of a comparison's `task.md`.
pub const TASK_FIELDS: [Field; 6] = [
    field(
        "repo",
        Kind::Text,
        "the folder `project`",
        "The repository of the project: a path or an address that git can fetch from.",
    ),
    field(
        "commit",
        Kind::Text,
        "",
        "With `repo`: the commit, or the name of a branch or tag. History after it is not in the project.",
    ),
    field("inputs", Kind::Values, "none", "Values of the inputs of workflows that have them."),
    field("timeout", Kind::Duration("30m"), "30m", "The time in which a run must end, at most a day."),
    field(
        "checkTimeout",
        Kind::Duration("10m"),
        "10m",
        "The time in which `setup` and `check` must each end, at most a day.",
    ),
    field(
        "budget",
        Kind::Text,
        "no bound",
        "What a run may take, such as `cost=2,turns=40`; as `--budget` of `pi-workflows run`.",
    ),
];

/// The values of `type` of an input or an output.
pub const VALUE_TYPES: [&str; 5] = ["text", "number", "choice", "flag", "list"];

const MIN: Field = field(
    "min",
    Kind::Decimal,
    "no bound; of a list 0",
    "The least value of a number, or the least number of items of a list.",
);

const MAX: Field = field(
    "max",
    Kind::Decimal,
    "no bound; of a list 100",
    "The greatest value of a number, or the greatest number of items of a list.",
);

const TYPE: Field = needed("type", Kind::OneOf(&VALUE_TYPES), Needed::Always, "The type of the value.");

const OPTIONS: Field =
    field("options", Kind::Options, "none", "The values that a choice has; only of a choice, which needs them.");

/// The fields of an output.
pub const OUTPUT_FIELDS: [Field; 6] = [
    TYPE,
    OPTIONS,
    MIN,
    MAX,
    field("optional", Kind::Bool, "false", "`true`: the phase can be left without it."),
    field("description", Kind::FreeText, "none", "The meaning of the value, for the agent."),
];

/// The fields of an input.
pub const INPUT_FIELDS: [Field; 6] = [
    TYPE,
    OPTIONS,
    MIN,
    MAX,
    field("default", Kind::Literal, "of a flag `false`; others must be given", "The value of a run that gives none."),
    field("description", Kind::FreeText, "none", "The meaning of the value, for the user."),
];

/// The fields of `budget`.
pub const BUDGET_FIELDS: [Field; 4] = [
    field(
        "cost",
        Kind::OrInput(&Kind::Dollars(MAX_COST)),
        "no bound",
        "The cost in US dollars, as pi reports it. Models without a price are refused.",
    ),
    field(
        "outputTokens",
        Kind::OrInput(&Kind::Count(MAX_TOKENS)),
        "no bound",
        "Output tokens, with those of reasoning.",
    ),
    field(
        "time",
        Kind::OrInput(&Kind::Duration("45m")),
        "no bound",
        "The time at work. The time of your answers is not in it.",
    ),
    field("turns", Kind::OrInput(&Kind::Count(MAX_COUNT)), "no bound", "Turns: answers of the model."),
];

/// The values of `thinking`.
pub const THINKING: [&str; Thinking::ALL.len()] = {
    let [off, minimal, low, medium, high, xhigh, max] = Thinking::ALL;
    [off.name(), minimal.name(), low.name(), medium.name(), high.name(), xhigh.name(), max.name()]
};

/// The fields of `tools`.
pub const TOOLS_FIELDS: [Field; 2] = [
    field("blacklist", Kind::Tools, "", "These tools are refused, all others allowed."),
    field("whitelist", Kind::Tools, "", "These tools are allowed, all others refused."),
];

/// The fields of `tests`.
pub const TESTS_FIELDS: [Field; 2] = [
    field(
        "allowed",
        Kind::Calls,
        "",
        "Calls that must be allowed, as `TOOL ARGUMENT`: the argument is the path of `edit` and `write`, or the command of `bash`. A command in a sandbox is allowed.",
    ),
    field("refused", Kind::Calls, "", "Calls that must be refused."),
];
