//! The fields of the files that users write. The reader accepts these fields; the JSON Schemas and the tables of the
//! documentation are generated from them.

use super::parallel::Parallel;

#[derive(Debug, Clone, Copy)]
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    /// In every file; every other field may be left out.
    pub is_required: bool,
    /// Default, in words or as YAML; empty without one.
    pub default: &'static str,
    pub about: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Text that is not blank.
    Text,
    FreeText,
    /// Text of one line, with at most this many characters.
    Line(usize),
    /// Text with these variables in it.
    Template(&'static [&'static str]),
    /// Letters, digits, `_` and `-`.
    CommandName,
    /// One of these words.
    OneOf(&'static [&'static str]),
    Bool,
    /// A number from 0.
    Number,
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
    /// A mapping of names to names of models or lists of them.
    Aliases,
    /// A program and its arguments, or a mapping with these fields.
    Program(&'static [Field]),
    /// A list of checks, each a mapping with exactly one of the first of these fields.
    Checks(&'static [Field]),
    /// A value of this type, or the name of an input of the workflow that has it.
    OrInput(&'static Kind),
    /// A whole number from 1 to this one.
    Count(u32),
    /// A duration like this text, or a number of seconds.
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
    /// A mapping of names to names of outputs.
    Handed,
    /// A mapping of names to `next`, `loop`, `done` or the id of a phase.
    Outcomes,
    /// A number.
    Decimal,
    /// A text, a number or a boolean, or a list of these.
    Literal,
    /// One of these words, or a list of at least one name.
    WordOrNames(&'static [&'static str]),
    /// The list of phases, with at most this many entries. Each is the path of a phase file or a mapping with one of
    /// the first of these fields; beside `prompt` stand the fields of a phase too.
    Phases(usize, &'static [Field]),
    /// A list of texts, or the name of a list of the run.
    Items,
    /// `true` or `false`, or a whole number from 1 to this one.
    AtOnce(u32),
    /// This word, or a whole number from 1 to this number.
    WordOrCount(&'static str, u32),
    /// The list of entries of a group, each as in the list of phases; with at most this many.
    Group(usize),
    /// A mapping with these fields.
    Mapping {
        fields: &'static [Field],
        /// At most one of the fields is accepted.
        one: bool,
    },
}

impl Field {
    /// Returns the field with a description, as a comment has it.
    const fn described(self, about: &'static str) -> Self {
        // The component needs no descriptions: a native build generates the schemas and the documentation.
        Self { about: if cfg!(target_arch = "wasm32") { "" } else { about.trim_ascii_start() }, ..self }
    }

    /// Returns true if the field bounds the agent, or decides on the way of a run.
    pub fn is_rule(&self) -> bool {
        !self.is_required && !self.may_be_empty() && !matches!(self.kind, Kind::Text | Kind::Line(_))
            || self.name == "onBudget"
    }

    /// Returns true if a key without a value is accepted: a text, the length of a text, or a list of names. Every other
    /// field is a rule, and an empty rule protects nothing.
    pub const fn may_be_empty(&self) -> bool {
        matches!(self.kind, Kind::FreeText | Kind::Template(_) | Kind::Number | Kind::Names)
    }
}

/// Data that may stand at the top of a file, beside `metadata` and names that begin with `x-`.
pub const METADATA: &str = "metadata aliases author base category code color comment compatibility copyright created date group homepage \
     icon item keyword keywords kind lang language license maintainer note owner page priority rate reference \
     repository seed side since site size slug stage state status tag team title todo tone type updated version";

/// Returns true if a key at the top of a file is data. A name of [`METADATA`] may be a plural, and have capitals.
pub fn is_metadata(key: &str) -> bool {
    let is_name = |key: &str| METADATA.split(' ').any(|name| name.eq_ignore_ascii_case(key));
    key.starts_with("x-") || is_name(key) || key.strip_suffix(['s', 'S']).is_some_and(is_name)
}

pub const MAX_PHASES: usize = 1000;
/// Maximum length of `whenToUse` and of `defaultTask`, in characters.
pub const MAX_LINE: usize = 300;
/// Maximum number of entries of `write`, and of `hide`.
pub const MAX_PATHS: usize = 100;
pub const SANDBOXES: [&str; 3] = ["required", "preferred", "off"];
pub const MAX_GATE_ATTEMPTS: u32 = 1000;
/// Maximum of `timeout`: a day, in milliseconds.
pub const MAX_TIMEOUT_MS: u32 = 24 * 60 * 60 * 1000;
pub const MAX_INPUTS: usize = 20;
pub const MAX_OUTPUTS: usize = 20;
/// Maximum number of `options` of an input.
pub const MAX_OPTIONS: usize = 50;
pub const MAX_OUTCOMES: usize = 20;
/// Maximum number of entries of `when`.
pub const MAX_CONDITIONS: usize = 20;
pub const MAX_COST: u32 = 1_000_000;
/// Maximum of the other counts.
pub const MAX_COUNT: u32 = 1_000_000;

/// A field that may be left out.
pub(super) const fn field(name: &'static str, kind: Kind, default: &'static str) -> Field {
    Field { name, kind, is_required: false, default, about: "" }
}

/// A required field.
pub(super) const fn required(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, is_required: true, default: "", about: "" }
}

const fn row(name: &'static str, kind: Kind, default: &'static str, about: &'static str) -> Field {
    field(name, kind, default).described(about)
}

/// Declares a table of fields, each with the comment that describes it for users, its kind and its default.
macro_rules! table {
    (
        $(#[$attribute:meta])*
        $visibility:vis const $table:ident: [
            $($(#[doc = $about:literal])+ $name:literal: $kind:expr => $default:literal,)*
        ];
    ) => {
        $(#[$attribute])*
        $visibility const $table: [Field; [$($name),*].len()] =
            [$(row($name, $kind, $default, concat!($($about),+))),*];
    };
}

/// Reads the value of a field from a file of the kind `F`.
pub(crate) trait FromField<F>: Sized {
    /// Reads the field, and reports its errors. After an error the value is arbitrary.
    fn from_field(file: &mut F, field: &'static Field) -> Self;
}

/// Declares a type whose values stand in a file, each field with its key there. The comment on a field describes it for
/// users, in the schemas and in the tables of the documentation. Behind `=>` stand several fields that make one value.
/// Fields that do not stand in the file are declared `beside` it. Each field is a `rule` of a run or a `text`, which can
/// change while a run goes on.
///
/// `Self::FIELDS` are the fields of the file. `Self::read` reads them, each by its type; the fields beside them have
/// their defaults. The hash of the type is that of its rules, in their order.
macro_rules! fields {
    (@rule $value:expr, $rules:ident) => {
        std::hash::Hash::hash(&$value, $rules);
    };
    (@text $value:expr, $rules:ident) => {};
    (
        $(#[$attribute:meta])*
        pub struct $name:ident {
            $($(#[doc = $about:literal])+ $part:ident $field:ident: $type:ty $(= $row:expr)? $(=> $rows:expr)?,)*
        }
        $(beside { $($(#[$own_attribute:meta])* $own_part:ident $own:ident: $own_type:ty,)* })?
    ) => {
        $(#[$attribute])*
        pub struct $name {
            $($(#[doc = $about])+ pub $field: $type,)*
            $($($(#[$own_attribute])* pub $own: $own_type,)*)?
        }

        impl $name {
            const ROWS: &[(&str, &[schema::Field])] = &[$((concat!($($about),+), $(&[$row])? $(&$rows)?)),*];

            /// Its fields in a file.
            pub const FIELDS: &[schema::Field] = &schema::flat::<{ schema::total(Self::ROWS) }>(Self::ROWS);

            pub(crate) fn read<F>(file: &mut F) -> Self
            where
                $($type: schema::FromField<F>,)*
            {
                Self {
                    $($field: schema::FromField::from_field(file, $(const { &$row })? $(const { &$rows[0] })?),)*
                    $($($own: Default::default(),)*)?
                }
            }
        }

        impl std::hash::Hash for $name {
            fn hash<H: std::hash::Hasher>(&self, rules: &mut H) {
                $(fields!(@$part self.$field, rules);)*
                $($(fields!(@$own_part self.$own, rules);)*)?
            }
        }
    };
}
pub(super) use fields;

pub(super) const fn total(parts: &[(&str, &[Field])]) -> usize {
    match parts.split_first() {
        Some(((_, first), rest)) => first.len() + total(rest),
        None => 0,
    }
}

/// Joins the parts of a table. A field without a description gets the description of its part.
#[allow(clippy::indexing_slicing, reason = "a const fn cannot iterate")]
pub(super) const fn flat<const N: usize>(parts: &[(&'static str, &[Field])]) -> [Field; N] {
    let mut all = [parts[0].1[0]; N];
    let (mut index, mut part, mut at) = (0, 0, 0);
    while index < N {
        let (about, fields) = parts[part];
        if at == fields.len() {
            (part, at) = (part + 1, 0);
            continue;
        }
        all[index] = if fields[at].about.is_empty() { fields[at].described(about) } else { fields[at] };
        (index, at) = (index + 1, at + 1);
    }
    all
}

#[allow(clippy::indexing_slicing, reason = "a const fn cannot iterate")]
pub(crate) const fn names<const N: usize>(fields: &[Field]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut index = 0;
    while index < N {
        names[index] = fields[index].name;
        index += 1;
    }
    names
}

table! {
    /// The fields of an entry of `phases` that is a mapping.
    pub const ENTRY_FIELDS: [
        /// The path of a phase file, relative to this folder.
        "phase": Kind::Text => "",
        /// The key of another workflow: the name of its folder.
        "subworkflow": Kind::Text => "",
        /// The text of a phase without a file. The fields of a phase file can stand beside it.
        "prompt": Kind::Text => "",
        /// A command line for bash, which runs without the agent in the project's directory; or `input.NAME` or
        /// `output.ID.NAME` for a value of the type `command`. The outcomes are `ok`, with exit status 0, and `failed`.
        "run": Kind::Text => "",
        /// A question to the user, with the variables of the text of a phase. The answer is one of the `outcomes`. An
        /// outcome can be a mapping: `to` is its target, `name` its words for the user; with `text: required` or
        /// `text: optional` the user gives a text too; with `when` it is offered only if the conditions hold, as for entries.
        /// `max` and `then` are as in other outcomes.
        "ask": Kind::Text => "",
        /// The name of the entry, for targets, conditions and texts. Under several ids one phase file or workflow can
        /// be listed several times.
        "id": Kind::Text => "the `id` of the phase file, or the key of the nested workflow",
        /// The name of the entry for users.
        "name": Kind::Text => "the name of the phase or of the nested workflow",
        /// Conditions: the run passes over the entry unless all hold when the run arrives. `input.NAME`,
        /// `output.ID.NAME` or `outcome.ID` with a value, or a list of values. `ID` is the id of an earlier phase or
        /// step; of an outcome also that of a question or a group, or the key of an earlier nested workflow. `given:` with
        /// `input.NAME` or `output.ID.NAME`, or a list of them: the run has these optional values.
        "when": Kind::Conditions => "none",
        /// Values of the inputs of the nested workflow: a value itself, `input.NAME` for an input of this workflow, or
        /// `output.ID.NAME` for an output of an earlier phase.
        "with": Kind::Values => "none",
        /// Targets of the outcomes of the phase, in place of the targets in its file, or of the outcomes of the nested
        /// workflow or group: `next`, `loop`, `done`, `stop`, `end` or the `id` of an entry. In the place of a target a
        /// mapping: `to`, and `max` with `then`. A parallel group ends with the first of them with which a branch ends.
        "outcomes": Kind::Outcomes => "of a phase the targets in its file; after a nested workflow the next entry follows",
        /// The model of the phase, in place of that of its file, or of all phases of the nested workflow or group that have
        /// none, in place of that of its `workflow.yaml`.
        "model": Kind::NameOrNames => "of the file",
        /// Maximum duration of the command of `run`, at most a day.
        "timeout": Kind::OrInput(&Kind::Duration("10m")) => "10m",
        /// Variables of the environment of `run`, with names in lower case, each with a value of the run: `input.NAME`,
        /// `output.ID.NAME`, `outcome.ID`, `summary.ID`, `log.ID`, `item`, `itemNumber`, `itemCount`, `task`, `runDir`
        /// or `workflowDir`.
        "env": Kind::Variables => "none",
        /// With `run`: values that the command gives, by name, as one JSON object on its standard output.
        "outputs": Kind::Outputs(&STEP_OUTPUT_FIELDS) => "none",
        /// The entries of a group: a part of this workflow that is a scope of its own, for targets and loops.
        "phases": Kind::Group(MAX_PHASES) => "",
        /// Allows the agent to loop back to the first entry of the group.
        "loopable": Kind::Bool => "true",
        /// Repeats the group for each item, in order: a list, or `input.NAME` or `output.ID.NAME` of a list. In texts
        /// `{item}`, `{itemNumber}` and `{itemCount}`. Without an item the group is passed over.
        "each": Kind::Items => "the group is gone through once",
        /// The entries of the group are branches, or with `each` its items: agents work on them at the same time.
        /// `true` allows 4 agents at a time, a number that many.
        "parallel": Kind::OrInput(&Kind::AtOnce(Parallel::MOST_AT_ONCE as u32)) => "false",
        /// Number of branches, of those whose `when` holds, that must come to their end; with fewer the run pauses.
        "need": Kind::WordOrCount("all", Parallel::MAX as u32) => "all",
    ];
}

/// The fields of an entry that only a group has.
pub const GROUP_FIELDS: [&str; 5] = ["phases", "each", "parallel", "need", "loopable"];

pub const CONTEXTS: [&str; 2] = ["shared", "fresh"];

table! {
    pub(super) const OWN_LIMITS: [
        /// The writable paths: files, folders with everything below (`docs/`) and globs, relative to the project's
        /// directory, with `{input.NAME}`, or in `{runDir}/`; `[]` is nothing. In a parallel group with `each` a name of the
        /// item narrows a folder: `src/{item.folder}/`. In `workflow.yaml` the default of its phases.
        "write": Kind::Paths(MAX_PATHS) => "everything may be written",
        /// Files, and folders with everything below (`tests/acceptance/`), that the agent cannot read or write, also
        /// with commands; relative to the project's directory, no globs. `[]` is nothing. In `workflow.yaml` the
        /// default of its phases.
        "hide": Kind::Paths(MAX_PATHS) => "nothing is hidden",
        /// `false`: commands have no network. In `workflow.yaml` the default of its phases.
        "network": Kind::Bool => "true",
        /// Confinement of commands by `write` and `network`. `required`: commands that the system cannot confine are
        /// refused; `preferred`: such commands run without limits; `off`: all do. In `workflow.yaml` the default of its
        /// phases.
        "sandbox": Kind::OneOf(&SANDBOXES) => "required",
    ];
}

table! {
    pub(super) const MODEL: [
        /// The model: the first of these names for which the user has a key. A name is `PROVIDER/ID` or an alias of the
        /// user's settings, each also with a thinking level: `NAME:LEVEL`. `:LEVEL` is the user's model with this level. In
        /// `workflow.yaml` the default of its phases, also in nested workflows.
        "model": Kind::NameOrNames => "the user's model",
    ];
}

table! {
    pub(super) const GATE: [
        /// Checks that must pass before the phase is left. The checks run in order when the agent calls `next`.
        "gate": Kind::Checks(&CHECK_FIELDS) => "nothing is checked",
        /// Number of failures of the gate after which the run pauses.
        "gateAttempts": Kind::OrInput(&Kind::Count(MAX_GATE_ATTEMPTS)) => "3",
    ];
}

table! {
    pub const CHECK_FIELDS: [
        /// A command line for bash, in the project's directory. The command must end with exit status 0.
        "run": Kind::Text => "",
        /// A path or glob, relative to the project's directory, with `{input.NAME}`, or in `{runDir}/`: a file that
        /// must exist and not be empty.
        "file": Kind::Text => "",
        /// The name of the check. With the variables of the text of a phase.
        "name": Kind::Text => "the command or path",
        /// Maximum duration of the command of `run`, at most a day.
        "timeout": Kind::OrInput(&Kind::Duration("10m")) => "10m",
        /// Variables of the environment of `run`, with names in lower case, each with a value of the run: `input.NAME`,
        /// `output.ID.NAME`, `outcome.ID`, `summary.ID`, `log.ID`, `item`, `itemNumber`, `itemCount`, `task`, `runDir`
        /// or `workflowDir`.
        "env": Kind::Variables => "",
        /// A regular expression that must match in the file of `file`; `^` and `$` mean lines.
        "contains": Kind::Text => "",
        /// The check is made for this outcome only.
        "outcome": Kind::Text => "each outcome",
    ];
}

table! {
    pub const LIMITS_FIELDS: [
        /// The writable paths: files, folders with everything below (`src/`) and globs, relative to the working
        /// directory. `[]` is nothing.
        "write": Kind::Paths(MAX_PATHS) => "everything, but pi's agent folder",
        /// Files, and folders with everything below (`~/.aws/`), that the agent cannot read or write, also with
        /// commands; relative to the working directory, no globs. `[]` is nothing.
        "hide": Kind::Paths(MAX_PATHS) => "nothing is hidden",
        /// `false`: commands have no network.
        "network": Kind::Bool => "true",
        /// Confinement of commands by the limits. `required`: commands that the system cannot confine are refused;
        /// `preferred`: such commands run without limits; `off`: all do.
        "sandbox": Kind::OneOf(&SANDBOXES) => "required",
        /// The tools that the agent may use. `workflow_step` is always allowed.
        "tools": Kind::Mapping { fields: &TOOLS_FIELDS, one: true } => "every tool is allowed",
    ];
}

table! {
    pub const SETTINGS_FIELDS: [
        /// Limits that hold in every session, with and without a run.
        "limits": Kind::Mapping { fields: &LIMITS_FIELDS, one: false } => "none",
        /// Names for models, each with a model `PROVIDER/ID`, also with `:LEVEL`, or with a list of them: the first for
        /// which you have a key.
        "models": Kind::Aliases => "none",
        /// At a limit of the model, as of a subscription, a run waits for its end and goes on by itself. This is the longest
        /// time of all such waits together until you act again, at most 7 days.
        "wait": Kind::Duration("6h") => "the run pauses",
        /// `false`: the workflows that come with this package are not there.
        "builtin": Kind::Bool => "true",
        /// A program and its arguments, without a shell. It gets `question`, `waiting`, `paused` and `ended` while you are
        /// away.
        "onEvent": Kind::Program(&ON_EVENT_FIELDS) => "none",
    ];
}

pub const ON_EVENT_FIELDS: [Field; 2] = [
    required("program", Kind::Options).described("The program and its arguments."),
    row("texts", Kind::Bool, "false", "`true`: the events have texts of users, models and commands too."),
];

/// The values of `type` of an output of an agent, or of a field of a record.
pub const VALUE_TYPES: [&str; 5] = ["text", "number", "choice", "flag", "list"];
/// The values of `type` of an input, or of an output of a step: no agent gives a command.
pub const VALUE_TYPES_OF_RUN: [&str; 6] = ["text", "number", "choice", "flag", "list", "command"];

const MIN: Field = row(
    "min",
    Kind::Decimal,
    "no bound; of a list 0",
    "The least value of a number, or the least number of items of a list.",
);

const MAX: Field = row(
    "max",
    Kind::Decimal,
    "no bound; of a list 100, of a text 1000",
    "The greatest value of a number, the greatest number of items of a list, or of characters of a text: at most 10,000.",
);

const TYPE: Field = required("type", Kind::OneOf(&VALUE_TYPES)).described("The type of the value.");
const TYPE_OF_RUN: Field = required("type", Kind::OneOf(&VALUE_TYPES_OF_RUN)).described(
    "The type of the value. A `command` can stand for the whole line of `run`, and runs with the user's consent to it.",
);

const OPTIONS: Field =
    row("options", Kind::Options, "none", "The values of a choice. Only a choice has options, and must have some.");

const FIELDS: Field = row(
    "fields",
    Kind::Outputs(&RECORD_FIELDS),
    "a list of texts",
    "The items of the list are records with these fields, each with a type.",
);

pub const RECORD_FIELDS: [Field; 6] = [
    TYPE,
    OPTIONS,
    MIN,
    MAX,
    row("optional", Kind::Bool, "false", "`true`: a record needs no value."),
    row("description", Kind::FreeText, "none", "The meaning of the value."),
];

pub const OUTPUT_FIELDS: [Field; 7] = [
    TYPE,
    OPTIONS,
    MIN,
    Field { kind: Kind::OrInput(&Kind::Decimal), ..MAX },
    FIELDS,
    row("optional", Kind::Bool, "false", "`true`: the phase can be left without the value."),
    row("description", Kind::FreeText, "none", "The meaning of the value, for the agent."),
];

pub const STEP_OUTPUT_FIELDS: [Field; 7] = {
    let [_, others @ ..] = OUTPUT_FIELDS;
    let [options, min, max, fields, optional, description] = others;
    [TYPE_OF_RUN, options, min, max, fields, optional, description]
};

pub const INPUT_FIELDS: [Field; 8] = [
    TYPE_OF_RUN,
    OPTIONS,
    MIN,
    MAX,
    FIELDS,
    row("default", Kind::Literal, "of a flag `false`; others must be given", "The value of a run that is given none."),
    row("optional", Kind::Bool, "false", "`true`: a run needs no value. Only without `default`."),
    row("description", Kind::FreeText, "none", "The meaning of the value, for the user."),
];

table! {
    pub const BUDGET_FIELDS: [
        /// The cost in US dollars, as pi reports it. Models without a price are not counted.
        "cost": Kind::OrInput(&Kind::Dollars(MAX_COST)) => "no bound",
        /// The time at work, without the time of the user's answers.
        "time": Kind::OrInput(&Kind::Duration("45m")) => "no bound",
        /// Turns: answers of the model.
        "turns": Kind::OrInput(&Kind::Count(MAX_COUNT)) => "no bound",
    ];
}

table! {
    pub const TOOLS_FIELDS: [
        /// These tools are refused, all others allowed. A name with `*` at its end, such as `mcp__github__*`, means all tools
        /// whose names begin so.
        "blacklist": Kind::Tools => "",
        /// These tools are allowed, all others refused. With `*` as in `blacklist`.
        "whitelist": Kind::Tools => "",
    ];
}
