//! The fields of the two kinds of files: what the reader knows, what the JSON Schemas are made of,
//! and what the documentation is held against.

use super::variables::{
    BLOCK_REASON_VARIABLES, COMPLETION_VARIABLES, INITIAL_MESSAGE_VARIABLES, NOT_DONE_VARIABLES,
    PHASE_VARIABLES,
};

/// One field.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// What its value may be.
    pub kind: Kind,
    /// Whether it must be there.
    pub needed: Needed,
    /// What holds without it, in words or as YAML writes it; empty where there is nothing to say.
    pub default: &'static str,
    /// What it means, in a sentence.
    pub about: &'static str,
}

/// What a value may be.
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
    /// A list of checks, each a mapping with exactly one of the first three of these fields.
    Checks(&'static [Field]),
    /// A whole number from 1 to this one.
    Count(u32),
    /// Text, or a number of seconds.
    Duration,
    /// The list of phases, as long as this at most.
    Phases(usize),
    /// A mapping with these fields; also true and false, if `switch`.
    Mapping {
        /// Its fields.
        fields: &'static [Field],
        /// True and false are understood too.
        switch: bool,
        /// At most one of the fields may be there.
        one: bool,
    },
}

/// Whether a field must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needed {
    /// In every file.
    Always,
    /// Unless the workflow has `show: workflows`.
    ToStart,
    /// It may be left out.
    Not,
}

/// How many entries `phases` may have.
pub const MAX_PHASES: usize = 1000;
/// How long a countdown may be, in seconds.
pub const MAX_DELAY_SECONDS: u32 = 3600;
/// How large `gateAttempts` may be.
pub const MAX_GATE_ATTEMPTS: u32 = 1000;
/// How large the other bounds may be.
pub const MAX_COUNT: u32 = 1_000_000;

const fn field(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    about: &'static str,
) -> Field {
    Field { name, kind, needed: Needed::Not, default, about }
}

const fn needed(name: &'static str, kind: Kind, needed: Needed, about: &'static str) -> Field {
    Field { name, kind, needed, default: "", about }
}

/// The names of some fields.
pub(super) const fn names<const N: usize>(fields: &[Field; N]) -> [&'static str; N] {
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

/// Those of a `workflow.yaml`.
///
/// Specification: configuration reference, "`workflow.yaml` Field Reference".
pub const WORKFLOW_FIELDS: [Field; 20] = [
    needed("name", Kind::Text, Needed::Always, "Its name for users."),
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
        Kind::Phases(MAX_PHASES),
        Needed::Always,
        "What it consists of, in order: paths of phase files from this folder, and `subworkflow: KEY` for another workflow.",
    ),
    field(
        "description",
        Kind::FreeText,
        "the first paragraph of the first phase that has no `{` in it",
        "What it is for; its first line is shown where workflows are offered.",
    ),
    field(
        "show",
        Kind::OneOf(&["user", "workflows"]),
        "user",
        "Who may start it: anybody, or only other workflows as one of their phases.",
    ),
    field("loopable", Kind::Bool, "true", "Whether the agent may loop back to its first phase."),
    field(
        "sessionNamePrefix",
        Kind::FreeText,
        "\"Workflow: \"",
        "What stands before the task in the session's name.",
    ),
    field(
        "sessionNameMaxLength",
        Kind::Number,
        "50",
        "How much of the task stands in the session's name, in characters.",
    ),
    field(
        "roleInstruction",
        Kind::Template(&PHASE_VARIABLES),
        "an orchestrator where a tool `delegate_to_subagents` is registered, else an agent that does the work itself",
        "The first paragraph of what the agent is told of each phase.",
    ),
    field(
        "advanceReminder",
        Kind::Template(&PHASE_VARIABLES),
        "to call `workflow_step` when the phase is done",
        "The last paragraph of what the agent is told of each phase.",
    ),
    field(
        "blockReasonTemplate",
        Kind::Template(&BLOCK_REASON_VARIABLES),
        "that the tool is blocked in this phase",
        "Why a tool is refused, for the agent.",
    ),
    field(
        "completionMessage",
        Kind::Template(&COMPLETION_VARIABLES),
        "that the workflow is complete, with its task",
        "What is shown to the user at the end.",
    ),
    field(
        "notDoneReminder",
        Kind::Template(&NOT_DONE_VARIABLES),
        "that the workflow is still active, with the phase's instructions",
        "What the agent is told when it stops before the end.",
    ),
    field(
        "autoContinue",
        Kind::Mapping { fields: &AUTO_CONTINUE_FIELDS, switch: true, one: false },
        "true",
        "Whether and how often the agent is told to go on by itself.",
    ),
    field(
        "maxLoops",
        Kind::WholeNumber(MAX_COUNT),
        "20",
        "How often it may be looped before it is left.",
    ),
    field(
        "contextInjection",
        Kind::OneOf(&["oncePerPhase", "everyRun"]),
        "oncePerPhase",
        "When the agent gets the whole context prompt: once in each phase, or with every run.",
    ),
    GATE,
    GATE_ATTEMPTS,
    ON_GATE_FAIL,
];

const GATE: Field = field(
    "gate",
    Kind::Checks(&CHECK_FIELDS),
    "nothing is checked",
    "What must hold before it is left; checked in order when the agent calls `next`.",
);

const GATE_ATTEMPTS: Field = field(
    "gateAttempts",
    Kind::Count(MAX_GATE_ATTEMPTS),
    "3",
    "After how many failures of the gate the run pauses, where `onGateFail` is `stay`; else each failure leads back, and `maxLoops` is the bound.",
);

const ON_GATE_FAIL: Field = field(
    "onGateFail",
    Kind::FreeText,
    "stay",
    "Where a failure leads: `stay`, `loop` (to the beginning of the workflow), or the id of an earlier phase of the workflow.",
);

/// Those of a check of a gate.
pub const CHECK_FIELDS: [Field; 6] = [
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
        "A path or glob from the project's directory: a file that must be there and not be empty.",
    ),
    field("approve", Kind::Text, "", "A question to the user, who must say yes."),
    field("label", Kind::Text, "the command, path or question", "What the check is called."),
    field(
        "timeout",
        Kind::Duration,
        "10m",
        "How long the command of `run` may take: `90s`, `10m`, or a number of seconds, at most a day.",
    ),
    field(
        "contains",
        Kind::Text,
        "",
        "A regular expression that must match in the file of `file`; `^` and `$` mean lines.",
    ),
];

/// Those of `autoContinue`.
pub const AUTO_CONTINUE_FIELDS: [Field; 3] = [
    field(
        "delaySeconds",
        Kind::WholeNumber(MAX_DELAY_SECONDS),
        "3",
        "How long the countdown is, in seconds.",
    ),
    field(
        "maxPerPhase",
        Kind::WholeNumber(MAX_COUNT),
        "10",
        "How often in one phase before the run pauses.",
    ),
    field(
        "maxIdle",
        Kind::WholeNumber(MAX_COUNT),
        "3",
        "How often in a row without any work before the run pauses.",
    ),
];

/// Those of a phase file's front matter.
///
/// Specification: configuration reference, "Phase `.md` File Reference".
pub const PHASE_FIELDS: [Field; 9] = [
    needed("id", Kind::Text, Needed::Always, "Its name in sessions; unique in its workflow."),
    needed("name", Kind::Text, Needed::Always, "Its name for users."),
    needed("emoji", Kind::Text, Needed::Always, "Its sign in the status bar."),
    field(
        "tools",
        Kind::Mapping { fields: &TOOLS_FIELDS, switch: false, one: true },
        "every tool is allowed",
        "Which tools the agent may use. `workflow_step` is always allowed.",
    ),
    field(
        "availableProfiles",
        Kind::Names,
        "(none)",
        "Names of subagent profiles, told to the agent.",
    ),
    field(
        "summary",
        Kind::OneOf(&["optional", "required"]),
        "optional",
        "Whether the agent must hand over a summary to leave the phase.",
    ),
    GATE,
    GATE_ATTEMPTS,
    ON_GATE_FAIL,
];

/// Those of `tools`.
pub const TOOLS_FIELDS: [Field; 2] = [
    field("blacklist", Kind::Names, "", "These tools are refused, all others allowed."),
    field("whitelist", Kind::Names, "", "These tools are allowed, all others refused."),
];
