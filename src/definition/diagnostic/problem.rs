//! The kinds of diagnostics, with their words.

use std::ops::RangeInclusive;

use super::description::{
    Description, LINK_OUTSIDE, available, error, failure, suggestion, warning,
};
use super::excerpt::short;
use super::value::{Expected, Needs, ValueKind};
use crate::definition::model::files::FileError;
use crate::definition::model::limits::WriteFile;
use crate::definition::model::models::Thinking;
use crate::definition::model::nearest::nearest;
use crate::definition::model::schema;
use crate::definition::model::totals::{MAX_BYTES, MAX_ENTRIES, Total};
use crate::definition::model::words::{either, list};

/// The kinds of diagnostics. [`Problem::describe`] has severity, message and help of each.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the message of each kind says what it means")]
pub enum Problem {
    Unreadable(FileError),
    NotUtf8,
    // YAML
    NotYaml {
        words: String,
        help: String,
    },
    LongYaml {
        limit: usize,
    },
    OpenBrackets {
        limit: usize,
    },
    TooManyKeys {
        limit: usize,
    },
    SecondDocument,
    YamlDirective,
    UnknownTag {
        tag: String,
    },
    WrongTag {
        tag: String,
        found: ValueKind,
    },
    TaggedKey {
        tag: String,
    },
    BadKey {
        found: ValueKind,
    },
    DuplicateKey {
        key: String,
    },
    NotAMapping {
        found: ValueKind,
    },
    // Fields
    Missing {
        of: Needs,
        field: &'static str,
        instead: Option<String>,
    },
    Blank {
        field: String,
    },
    Empty {
        field: String,
    },
    NotAList {
        field: String,
        expected: &'static str,
        text: String,
    },
    Quoted {
        field: String,
        expected: String,
        value: String,
    },
    ToolsAsList {
        found: ValueKind,
        names: Vec<String>,
    },
    WrongType {
        field: String,
        expected: Expected,
        found: ValueKind,
    },
    Ignored {
        field: &'static str,
        expected: Expected,
        found: ValueKind,
    },
    NegativeLength {
        field: &'static str,
        found: String,
    },
    OutOfRange {
        field: String,
        range: RangeInclusive<u32>,
        found: String,
    },
    NotAChoice {
        field: &'static str,
        words: &'static [&'static str],
        found: String,
        suggestion: Option<&'static str>,
    },
    BadValue {
        field: String,
        expected: String,
        found: String,
        suggestion: Option<String>,
    },
    BadName {
        field: &'static str,
        name: String,
    },
    EntryCount {
        field: &'static str,
        limit: usize,
    },
    UnknownPart {
        of: &'static str,
        field: String,
        known: &'static [&'static str],
    },
    UnknownField {
        field: String,
        known: &'static [&'static str],
    },
    UnknownRule {
        field: String,
        rule: &'static str,
        here: bool,
    },
    BadCommandName {
        value: String,
    },
    UnknownVariable {
        name: String,
        field: Option<&'static str>,
        known: &'static [&'static str],
    },
    NotReplaced {
        field: String,
        name: String,
        named: bool,
    },
    UnknownSummary {
        id: String,
        suggestion: Option<String>,
    },
    UnknownValue {
        name: String,
        suggestion: Option<String>,
    },
    BothToolLists,
    UnknownTool {
        name: String,
        suggestion: Option<String>,
    },
    ToolInAnotherCase {
        name: String,
        tool: String,
    },
    NotATool {
        name: String,
    },
    UnknownProfile {
        name: String,
        suggestion: Option<String>,
    },
    ProfilesOutside,
    // Models
    UnknownModel {
        name: String,
        suggestion: Option<String>,
    },
    UnknownAlias {
        name: String,
        suggestion: Option<String>,
    },
    UnknownThinking {
        name: String,
        suggestion: Option<String>,
    },
    BadAlias {
        alias: String,
    },
    NotAModel {
        name: String,
    },
    // Phases
    NoPhases,
    TooManyPhases {
        limit: usize,
    },
    BadPhaseEntry {
        found: ValueKind,
        suggestion: Option<String>,
    },
    PhaseOutsideRoot {
        path: String,
        of_package: bool,
    },
    PhaseUnreadable {
        path: String,
        error: FileError,
        suggestion: Option<String>,
    },
    NoFrontMatter,
    UnclosedFrontMatter,
    NoInstructions,
    DuplicateId {
        id: String,
        first: String,
        second: String,
    },
    // Gates
    GateSize {
        limit: usize,
    },
    NotOneKind {
        kinds: Vec<&'static str>,
    },
    UnknownCheckField {
        field: String,
        known: &'static [&'static str],
    },
    MisplacedCheckField {
        field: &'static str,
        of: &'static str,
    },
    BadDuration,
    BadExpression {
        words: String,
    },
    BadGlob {
        field: &'static str,
        path: String,
    },
    WideGlob {
        field: &'static str,
        limit: usize,
    },
    OutsideProject {
        path: String,
    },
    LongLabel {
        limit: usize,
    },
    UnknownEarlierPhase {
        id: String,
        meant: MeantPhase,
    },
    LoopForbidden {
        field: String,
    },
    WithoutGate {
        field: &'static str,
    },
    UnusedGateAttempts {
        on_gate_fail: String,
    },
    // Limits
    NotPaths {
        found: ValueKind,
    },
    TooManyPaths {
        limit: usize,
    },
    ControlCharacter {
        field: &'static str,
    },
    ExcludedPath {
        path: String,
    },
    ParentAfterWildcard {
        path: String,
    },
    CommandsInFolder {
        path: String,
        folder: String,
    },
    MaybeFolder {
        path: String,
    },
    LinkedPath {
        path: String,
        target: String,
    },
    UnwritableGateFile {
        path: String,
        file: String,
    },
    NoToolWrites,
    NetworkWithoutSandbox,
    UnusedSandbox,
    SummaryNeeded {
        next: String,
    },
    // Tests
    BadTests {
        field: String,
        expected: &'static str,
        found: ValueKind,
    },
    UnknownTests {
        field: String,
        known: &'static [&'static str],
    },
    TooManyTests {
        limit: usize,
    },
    WrongTest {
        call: String,
        workflow: String,
        decision: Decision,
        writable: Option<String>,
    },
    // Between workflows
    UnknownWorkflow {
        workflow: String,
        reference: String,
        suggestion: Option<String>,
    },
    CommandNameAsReference {
        workflow: String,
        reference: String,
        key: String,
    },
    BrokenWorkflow {
        workflow: String,
        reference: String,
    },
    MissingInput {
        reference: String,
        name: String,
        expected: String,
    },
    Cycle {
        keys: Vec<String>,
    },
    InCycle {
        workflow: String,
        reference: String,
    },
    NestedTooDeep {
        limit: usize,
    },
    TooManyEntries {
        limit: usize,
    },
    Unreachable {
        entry: String,
    },
    NoEnd {
        outcome: String,
        workflow: String,
    },
    NothingToDo,
    PackageCommandName {
        name: String,
        package: String,
        first: String,
        first_file: String,
    },
    DuplicateCommandName {
        name: String,
        first: String,
        second: String,
        first_file: String,
    },
    SimilarCommandName {
        names: [String; 2],
        keys: [String; 2],
    },
    DuplicateWorkflow {
        key: String,
        first: String,
    },
    Replaces {
        key: String,
        other: String,
    },
    // Packages
    FolderOutsidePackage {
        path: String,
    },
    TooManyFolders {
        limit: usize,
    },
    FolderUnreadable {
        path: String,
        error: FileError,
    },
    // Files and folders
    WorkflowFileName,
    WorkflowInRoot,
    UnusedPhase,
    Skipped,
    FolderTooDeep,
    TotalReached(Total),
}

/// The value that may be meant by an `onGateFail` that names no earlier phase.
#[derive(Debug, Clone, PartialEq)]
pub enum MeantPhase {
    /// This value.
    Value(String),
    /// The phase of this id, which is a later one of the workflow of this key.
    Later {
        /// The key of the workflow.
        workflow: String,
    },
    /// No known value is similar.
    Unknown,
}

/// The decision on a tool call, where the test of a phase wants the opposite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// No rule refuses it.
    Allowed,
    /// `write` allows the path.
    Writable {
        /// The file in which `write` stands.
        by: WriteFile,
    },
    /// It runs in a sandbox.
    Confined,
    /// `tools` of the phase refuses it.
    Tools,
    /// `write` refuses it: the tool may write files.
    MayWrite {
        /// The file in which `write` stands.
        by: WriteFile,
    },
    /// `write` does not list the path.
    Path {
        /// The file in which `write` stands.
        by: WriteFile,
    },
}

impl Problem {
    /// Severity, message and help of each kind.
    #[allow(clippy::too_many_lines, reason = "one arm for each kind")]
    pub(crate) fn describe(&self) -> Description {
        match self {
            Self::Unreadable(cause) => {
                let unreadable = error(format!("cannot be read: {cause}"));
                match cause {
                    FileError::OutsideProject(_) => unreadable.help(LINK_OUTSIDE),
                    FileError::NoSuchRoot
                    | FileError::NotFound
                    | FileError::OutsideRoot
                    | FileError::WrongKind
                    | FileError::TooLarge(_)
                    | FileError::TooMany(_)
                    | FileError::Failed(_) => unreadable,
                }
            }
            Self::NotUtf8 => warning("not valid UTF-8; the invalid bytes were replaced")
                .help("save the file as UTF-8"),

            Self::NotYaml { words, help } => error(format!("not valid YAML: {words}")).help(help),
            Self::LongYaml { limit } => error(format!("more than {} KiB of YAML", limit / 1024)),
            Self::OpenBrackets { limit } => error(format!("more than {limit} open brackets")),
            Self::TooManyKeys { limit } => error(format!("more than {limit} keys in a mapping")),
            Self::SecondDocument => {
                error("expected one YAML document, found a second one").help("remove the line `---`")
            }
            Self::YamlDirective => {
                error("YAML directives are not supported").help("remove this line")
            }
            Self::UnknownTag { tag } => error(format!("unknown YAML tag `{tag}`"))
                .help("put a value that begins with `!` in quotes")
                .marking(tag),
            Self::WrongTag { tag, found } => {
                error(format!("the YAML tag `{tag}` does not fit {found}"))
                    .help("remove the tag, or put a value that begins with `!` in quotes")
                    .marking(tag)
            }
            Self::TaggedKey { tag } => {
                error("a key cannot have a YAML tag").help("remove the tag").marking(tag)
            }
            Self::BadKey { found } => {
                error(format!("expected a string as the key, found {found}"))
            }
            Self::DuplicateKey { key } => error(format!("duplicate key `{key}`"))
                .help("remove one of the two")
                .marking(key),
            Self::NotAMapping { found } => {
                error(format!("expected a mapping of fields to values, found {found}"))
            }

            Self::Missing { of, field, instead } => {
                let missing = error(format!(
                    "missing field `{field}`: {} needs {}",
                    of.what,
                    list(of.fields)
                ));
                match instead {
                    Some(instead) => missing
                        .help(format!("did you mean `{field}` instead of `{instead}`?"))
                        .marking(instead),
                    None if *field == "emoji" => {
                        missing.help("add a line such as `emoji: \"🔹\"`, a sign for the status line")
                    }
                    None => missing,
                }
            }
            Self::Blank { field } => error(format!("`{field}` must not be empty")),
            Self::Empty { field } => {
                let name = field.rsplit('.').next().unwrap_or(field);
                let help = match &**field {
                    "write" => "`write: []` allows nothing; without `write` everything is allowed",
                    _ => "write a value, or remove the key: a rule without a value protects nothing",
                };
                error(format!("`{field}` has no value")).help(help).marking(name)
            }
            Self::NotAList { field, expected, text } => {
                let wrong = error(format!("`{field}`: expected {expected}, found a string"));
                let name = field.rsplit('.').next().unwrap_or(field);
                if lacks_space(text) {
                    return wrong.help(SPACE_NEEDED);
                }
                let items: Vec<&str> = text.split(',').map(str::trim).collect();
                wrong.help(format!("did you mean `{name}: [{}]`?", items.join(", ")))
            }
            Self::Quoted { field, expected, value } => {
                error(format!("`{field}`: expected {expected}, found the string `{value}`"))
                    .help("remove the quotes")
            }
            Self::ToolsAsList { found, names } => {
                error(format!("`tools`: expected a mapping, found {found}")).help(format!(
                    "write `tools: {{ whitelist: [{}] }}` to allow these tools only, or `blacklist` to refuse them",
                    names.join(", ")
                ))
            }
            Self::WrongType { field, expected, found } => {
                let message = format!("`{field}`: expected {expected}, found {found}");
                error(message).quotes(*expected, *found)
            }
            Self::Ignored { field, expected, found } => {
                let message =
                    format!("`{field}`: expected {expected}, found {found}; it has no effect");
                warning(message).quotes(*expected, *found)
            }
            Self::NegativeLength { field, found } => warning(format!(
                "`{field}`: expected a number from 0, found `{found}`; it has no effect"
            )),
            Self::OutOfRange { field, range, found } => error(format!(
                "`{field}`: expected a whole number from {} to {}, found {found}",
                range.start(),
                range.end()
            )),
            Self::NotAChoice { field, words, found, suggestion } => {
                let words = either(words);
                error(format!("`{field}`: expected {words}, found {found}")).suggest(*suggestion)
            }
            Self::BadValue { field, expected, found, suggestion } => {
                error(format!("`{field}`: expected {expected}, found {found}"))
                    .suggest(suggestion.as_ref())
            }
            Self::BadName { field, name } => error(format!(
                "`{field}`: expected at most 60 letters, digits, `_` and `-` as a name, found `{}`",
                short(name, 80)
            )),
            Self::EntryCount { field, limit } => {
                error(format!("`{field}` must have 1 to {limit} entries"))
            }
            Self::UnknownPart { of, field, known } => {
                error(format!("unknown field `{field}` in `{of}`"))
                    .help(suggestion(field, known, "fields"))
                    .marking(field)
            }
            Self::UnknownField { field, known } => {
                let help = place_of(field).map_or_else(
                    || suggestion(field, known, "fields"),
                    |place| format!("`{field}` belongs in {place}"),
                );
                warning(format!("unknown field `{field}`; it has no effect"))
                    .help(help)
                    .marking(field)
            }
            Self::UnknownRule { field, rule, here } => {
                let unknown = error(format!("unknown field `{field}`")).marking(field);
                if *here {
                    unknown.suggest(Some(rule))
                } else {
                    let place = place_of(rule).unwrap_or("the front matter of a phase file");
                    unknown.help(format!("`{rule}` belongs in {place}"))
                }
            }
            Self::BadCommandName { value } => {
                let words = value.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
                let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
                let name = words.join("-").to_ascii_lowercase();
                error(format!(
                    "`commandName`: expected letters, digits, `_` and `-` only, found `{value}`"
                ))
                .suggest(Some(name).filter(|name| !name.is_empty()))
            }
            Self::UnknownVariable { name, field, known } => {
                let of = field.map_or(String::new(), |field| format!(" in `{field}`"));
                let help = match meant_variable(name, known) {
                    Some(known) => format!("did you mean `{{{known}}}`?"),
                    None => available(known, "variables"),
                };
                warning(format!("unknown variable `{{{name}}}`{of}; it is not replaced"))
                    .help(help)
                    .marking(&format!("{{{name}}}"))
            }
            Self::NotReplaced { field, name, named } => {
                let message = format!("`{field}`: `{{{name}}}` is not replaced here");
                let kind = if *named { error(message) } else { warning(message) };
                kind.help("variables are replaced in the text of a phase and in the templates of `workflow.yaml`")
                    .marking(&format!("{{{name}}}"))
            }
            Self::UnknownSummary { id, suggestion } => warning(format!(
                "unknown variable `{{summary.{id}}}`: no phase has the id `{id}`; it is not replaced"
            ))
            .suggest(suggestion.as_ref().map(|id| format!("{{summary.{id}}}")))
            .marking(&format!("{{summary.{id}}}")),
            Self::UnknownValue { name, suggestion } => {
                let what = if name.starts_with("input.") { "input" } else { "phase with outcomes" };
                warning(format!(
                    "unknown variable `{{{name}}}`: the workflow has no such {what}; it is not replaced"
                ))
                .suggest(suggestion.as_ref().map(|name| format!("{{{name}}}")))
                .marking(&format!("{{{name}}}"))
            }
            Self::BothToolLists => {
                error("`tools` can have a `blacklist` or a `whitelist`, not both")
                    .help("remove one of the two lists")
            }
            Self::UnknownTool { name, suggestion } => {
                warning(format!("unknown tool `{name}`")).suggest(suggestion.as_ref())
            }
            Self::ToolInAnotherCase { name, tool } => {
                error(format!("unknown tool `{name}`: the names of tools are case-sensitive"))
                    .suggest(Some(tool))
            }
            Self::NotATool { name } => {
                let wrong = error(format!("`{name}` is not the name of a tool"));
                match name.split_once('(') {
                    Some((tool, _)) => wrong.help(format!(
                        "a list has whole tools, such as `{tool}`; `write` and `network` limit what commands can do"
                    )),
                    None => wrong.help("write the name of each tool; there are no wildcards"),
                }
            }
            Self::UnknownProfile { name, suggestion } => {
                warning(format!("unknown subagent profile `{name}`")).suggest(suggestion.as_ref())
            }
            Self::ProfilesOutside => warning(
                "the subagent profiles here are not read: a link leads out of the project",
            )
            .help(LINK_OUTSIDE),

            Self::UnknownModel { name, suggestion } => {
                warning(format!("unknown model `{name}`")).suggest(suggestion.as_ref())
            }
            Self::UnknownAlias { name, suggestion } => {
                let unknown = warning(format!("unknown alias `{name}` of a model"));
                match suggestion {
                    Some(_) => unknown.suggest(suggestion.as_ref()),
                    None => unknown.help(format!(
                        "add `{name}: PROVIDER/ID` to ~/.pi/agent/workflows/models.yaml"
                    )),
                }
            }
            Self::UnknownThinking { name, suggestion } => {
                let levels = either(&Thinking::ALL.map(Thinking::name));
                let unknown =
                    warning(format!("unknown thinking level {name}; it has no effect"));
                match suggestion {
                    Some(_) => unknown.suggest(suggestion.as_ref()),
                    None => unknown.help(format!("use {levels}")),
                }
            }
            Self::BadAlias { alias } => {
                error(format!("`{alias}` cannot be an alias: a name with `/` is that of a model"))
                    .marking(alias)
            }
            Self::NotAModel { name } => {
                error(format!("`{name}` is not the name of a model"))
                    .help("use PROVIDER/ID; an alias cannot stand for another alias")
            }

            Self::NoPhases => error("`phases` must have at least one entry"),
            Self::TooManyPhases { limit } => {
                error(format!("`phases` must not have more than {limit} entries"))
            }
            Self::BadPhaseEntry { found, suggestion } => error(format!(
                "`phases`: expected a file name, `phase: FILE` or `subworkflow: KEY`, found {found}"
            ))
            .suggest(suggestion.as_ref()),
            Self::PhaseOutsideRoot { path, of_package: true } => {
                error(format!("the phase file `{path}` is outside the package"))
                    .help("move the file into the folder of the package")
            }
            Self::PhaseOutsideRoot { path, of_package: false } => {
                error(format!("the phase file `{path}` is outside the workflows folder")).help(
                    "move the file into the workflows folder; `../` leads to the folders beside this one",
                )
            }
            Self::PhaseUnreadable { path, error: cause, suggestion } => {
                error(format!("cannot read the phase file `{path}`: {cause}"))
                    .suggest(suggestion.as_ref())
            }
            Self::NoFrontMatter => error("missing front matter").help(
                "begin with `---`, `id: KEY`, `name: NAME`, `emoji: \"🔹\"` and `---`, each on a line of its own",
            ),
            Self::UnclosedFrontMatter => error("the front matter is not closed")
                .help("put a line `---` below the last field"),
            Self::NoInstructions => error("missing instructions below the front matter")
                .help("write below the front matter what the agent is to do"),
            Self::DuplicateId { id, first, second } => {
                let both = if first == second {
                    format!("`{first}` is listed twice")
                } else {
                    format!("in `{first}` and in `{second}`")
                };
                error(format!("duplicate phase id `{id}` in this workflow: {both}"))
                    .help("give each phase an `id` of its own")
            }

            Self::GateSize { limit } => error(format!("`gate` must have from 1 to {limit} checks")),
            Self::NotOneKind { kinds } => {
                let several = !kinds.is_empty();
                let found = if several { list(kinds) } else { "none".to_owned() };
                let wrong = error(format!(
                    "expected one of `run`, `file` and `approve` in a check, found {found}"
                ));
                if several { wrong.help("make an entry of `gate` for each") } else { wrong }
            }
            Self::UnknownCheckField { field, known } => {
                error(format!("unknown field `{field}` in a check"))
                    .help(suggestion(field, known, "fields"))
                    .marking(field)
            }
            Self::MisplacedCheckField { field, of } => {
                error(format!("`{field}` belongs to a check with `{of}`"))
            }
            Self::BadDuration => error(
                "`gate.timeout`: expected a duration like `90s` or `10m`, or a number of seconds, at most a day",
            ),
            Self::BadExpression { words } => {
                error(format!("`gate.contains`: not a valid regular expression: {words}"))
            }
            Self::BadGlob { field, path } => {
                error(format!("`{field}`: not a valid glob: `{path}`")).help(
                    "close each `[` and `{`; a name with such a character has `[[]` or `[{]` instead",
                )
            }
            Self::WideGlob { field, limit } => error(format!(
                "`{field}`: the alternatives expand to more than {limit} paths"
            ))
            .help(if *field == "write" {
                "use `*`, or several entries"
            } else {
                "use `*`, or a check with `run`"
            }),
            Self::OutsideProject { path } => {
                error(format!("`gate.file`: `{path}` is outside the project"))
                    .help("write a path relative to the project's directory, with `/`")
            }
            Self::LongLabel { limit } => warning(format!(
                "`gate.label` is longer than {limit} characters; it is shortened"
            )),
            Self::UnknownEarlierPhase { id, meant } => {
                let unknown = error(format!(
                    "`onGateFail`: expected `stay`, `loop` or the id of an earlier phase of this workflow, found `{id}`"
                ));
                match meant {
                    MeantPhase::Value(value) => unknown.suggest(Some(value)),
                    MeantPhase::Later { workflow } => unknown.help(format!(
                        "`{id}` is a later phase of the workflow \"{workflow}\"; a failure can only lead back"
                    )),
                    MeantPhase::Unknown => unknown,
                }
            }
            Self::LoopForbidden { field } => error(format!(
                "`{field}: loop` is not allowed in a workflow with `loopable: false`"
            )),
            Self::WithoutGate { field } => error(format!("`{field}` needs a `gate`")),
            Self::UnusedGateAttempts { on_gate_fail } => warning(format!(
                "unused `gateAttempts`: with `onGateFail: {on_gate_fail}` every failure leads back"
            ))
            .help("remove it; `maxLoops` of the workflow limits how often the run may go back")
            .marking("gateAttempts"),

            Self::NotPaths { found } => {
                error(format!("`write`: expected a list of paths, found {found}"))
                    .help("write a list such as `write: [docs/]`; `write: []` allows nothing")
            }
            Self::TooManyPaths { limit } => {
                error(format!("`write` must not have more than {limit} entries"))
                    .help("list the folders that the files are in")
            }
            Self::ControlCharacter { field } => {
                error(format!("`{field}`: a path cannot have control characters"))
            }
            Self::ExcludedPath { path } => error(format!(
                "`write`: `{path}` begins with `!`, and a path cannot be excluded"
            ))
            .help("list only what may be written; a file whose name begins with `!` is `[!]NAME`"),
            Self::ParentAfterWildcard { path } => {
                error(format!("`write`: `..` stands behind a wildcard in `{path}`"))
                    .help("write the path without `..`")
            }
            Self::CommandsInFolder { path, folder } => warning(format!(
                "`write`: commands can write everything in `{folder}`, not only `{path}`"
            ))
            .help("a sandbox knows folders and files, but no wildcards; `edit` and `write` are held to the glob"),
            Self::MaybeFolder { path } => warning(format!(
                "`write`: `{path}` names a file, unless there is a folder of this name"
            ))
            .help(format!("did you mean `{path}/`?")),
            Self::LinkedPath { path, target } => warning(format!(
                "`write`: `{path}` leads through a link, so it allows nothing"
            ))
            .help(format!("list the path to which it leads: {target}")),
            Self::UnwritableGateFile { path, file } => warning(format!(
                "`gate.file`: `write` in {file} does not allow `{path}` to be written, here or in an earlier phase"
            ))
            .help(format!("add `{path}` to `write`")),
            Self::NoToolWrites => warning(
                "unused `write`: `tools.whitelist` has none of `edit`, `write`, `bash` and `powershell`",
            )
            .help("add one of them to the whitelist, or use `write: []`"),
            Self::NetworkWithoutSandbox => warning(
                "`network: false` has no effect with `sandbox: off`: only a sandbox can refuse the network",
            )
            .help("remove `sandbox: off`, or use `sandbox: preferred`"),
            Self::UnusedSandbox => {
                warning("unused `sandbox`: there is no `write` and no `network: false`")
                    .help("add the limit that commands are held to, or remove `sandbox`")
                    .marking("sandbox")
            }
            Self::SummaryNeeded { next } => warning(format!(
                "`summary: optional` has no effect: the next phase, `{next}`, starts fresh"
            ))
            .help("use `summary: required`: a fresh phase sees only what was handed over")
            .marking("optional"),

            Self::BadTests { field, expected, found } => {
                failure(format!("`{field}`: expected {expected}, found {found}"))
            }
            Self::UnknownTests { field, known } => {
                failure(format!("unknown field `{field}` in `tests`"))
                    .help(suggestion(field, known, "fields"))
                    .marking(field)
            }
            Self::TooManyTests { limit } => {
                failure(format!("`tests` must not have more than {limit} entries"))
            }
            Self::WrongTest { call, workflow, decision, writable } => {
                let wrong = failure(decision.contradiction(call, workflow));
                match (decision, writable) {
                    (Decision::MayWrite { .. }, _) => wrong.help(
                        "the tool may write files; a `tools.whitelist` that names it would allow it",
                    ),
                    (Decision::Path { .. }, Some(writable)) => {
                        wrong.help(format!("`write` has {writable}"))
                    }
                    (
                        Decision::Allowed
                        | Decision::Writable { .. }
                        | Decision::Confined
                        | Decision::Tools
                        | Decision::Path { .. },
                        _,
                    ) => wrong,
                }
            }

            Self::UnknownWorkflow { workflow, reference, suggestion } => error(format!(
                "the workflow \"{workflow}\" refers to \"{reference}\", which does not exist"
            ))
            .suggest(suggestion.as_ref()),
            Self::CommandNameAsReference { workflow, reference, key } => error(format!(
                "the workflow \"{workflow}\" refers to \"{reference}\", which is the `commandName` of \"{key}\" and not a key"
            ))
            .suggest(Some(format!("subworkflow: {key}"))),
            Self::BrokenWorkflow { workflow, reference } => error(format!(
                "the workflow \"{workflow}\" refers to \"{reference}\", which has errors"
            ))
            .help(format!("fix \"{reference}\" first")),
            Self::MissingInput { reference, name, expected } => error(format!(
                "the nested workflow \"{reference}\" needs a value of `{name}`: {expected}"
            ))
            .help(format!("add `with: {{ {name}: … }}` beside `subworkflow`")),
            Self::Cycle { keys } => error(format!(
                "the workflows refer to each other in a cycle: {}",
                keys.join(" → ")
            ))
            .help("remove one of these references"),
            Self::InCycle { workflow, reference } => error(format!(
                "the workflow \"{workflow}\" refers to \"{reference}\", which is part of a cycle"
            ))
            .help("fix the cycle first"),
            Self::NestedTooDeep { limit } => {
                error(format!("workflows are nested more than {limit} deep"))
            }
            Self::TooManyEntries { limit } => error(format!(
                "a workflow with conditions or outcomes must have fewer than {limit} entries, with those of nested workflows"
            )),
            Self::Unreachable { entry } => {
                warning(format!("`{entry}` is never reached"))
                    .help("no outcome leads to it, or its conditions never hold there")
            }
            Self::NoEnd { outcome, workflow } => warning(format!(
                "no way leads from the outcome `{outcome}` to the end of the workflow \"{workflow}\""
            )),
            Self::NothingToDo => {
                warning("a run may have nothing to do: the conditions of all entries may not hold")
                    .help("leave out `when` at one of the phases that come first")
            }
            Self::DuplicateCommandName { name, first, second, first_file } => warning(format!(
                "duplicate command name \"{name}\" of \"{second}\" and \"{first}\" ({first_file}); \"{first}\" is used"
            ))
            .help(OWN_COMMAND_NAME),
            Self::PackageCommandName { name, package, first, first_file } => warning(format!(
                "`/workflow {name}` starts \"{first}\" ({first_file}), not this workflow of the package \"{package}\""
            ))
            .help(format!("`/workflow {package}/{name}` starts this one")),
            Self::SimilarCommandName { names: [first, second], keys: [one, other] } => {
                warning(format!(
                    "the command names \"{first}\" of \"{one}\" and \"{second}\" of \"{other}\" differ in case only"
                ))
                .help(OWN_COMMAND_NAME)
            }
            Self::DuplicateWorkflow { key, first } => {
                warning(format!("duplicate workflow \"{key}\"; the one in {first} is used"))
                    .help("give each workflow's folder a name of its own")
            }
            Self::Replaces { key, other } => {
                warning(format!("this workflow replaces the other \"{key}\" ({other})"))
            }

            Self::TooManyFolders { limit } => error(format!(
                "`pi-workflows.workflows` must not have more than {limit} entries"
            )),
            Self::FolderOutsidePackage { path }
            | Self::FolderUnreadable { path, error: FileError::OutsideRoot } => {
                error(format!("the folder `{path}` is outside the package"))
                    .help("list folders of the package, such as `./workflows`")
            }
            Self::FolderUnreadable { path, error: FileError::NotFound } => {
                error(format!("the folder `{path}` does not exist"))
            }
            Self::FolderUnreadable { path, error: cause } => {
                error(format!("cannot read the folder `{path}`: {cause}"))
            }
            Self::WorkflowFileName => error("a workflow's file must be named `workflow.yaml`")
                .help("rename it to `workflow.yaml`"),
            Self::WorkflowInRoot => {
                error("a workflow must have a folder of its own in the workflows folder").help(
                    "move it and its phase files into a folder; the folder's name is the key of the workflow",
                )
            }
            Self::UnusedPhase => warning("unused phase file: no workflow lists it")
                .help("list it under `phases` of a workflow.yaml, or delete it"),
            Self::Skipped => warning(
                "skipped: neither a file nor a folder, or a link that leads nowhere or out of the workflows folder",
            ),
            Self::FolderTooDeep => warning("the folders below this one are not searched: they are too deep"),
            Self::TotalReached(total) => {
                let too_much = match total {
                    Total::Entries => format!("the workflows folders have more than {MAX_ENTRIES} entries"),
                    Total::Bytes => format!("the workflow files have more than {} MiB", MAX_BYTES >> 20),
                };
                error(format!("nothing is loaded from here on: {too_much}")).help(
                    "remove from the workflows folders what does not belong to a workflow",
                )
            }
        }
    }
}

impl Decision {
    /// Says that the test of a call wants the opposite.
    fn contradiction(self, call: &str, workflow: &str) -> String {
        let of = |by| match by {
            WriteFile::Phase => "of this phase",
            WriteFile::Workflow => "of workflow.yaml",
        };
        let (decided, wanted) = match self {
            Self::Allowed => ("is allowed: no rule refuses it".to_owned(), "refused"),
            Self::Writable { by } => (format!("is allowed by `write` {}", of(by)), "refused"),
            Self::Confined => ("is allowed, in a sandbox".to_owned(), "refused"),
            Self::Tools => ("is refused by `tools` of this phase".to_owned(), "allowed"),
            Self::MayWrite { by } | Self::Path { by } => {
                (format!("is refused by `write` {}", of(by)), "allowed")
            }
        };
        format!(
            "in the workflow \"{workflow}\", `{call}` {decided}, and the test wants it {wanted}"
        )
    }
}

const OWN_COMMAND_NAME: &str = "give each workflow a `commandName` of its own";

/// The known word that is similar to a word, or else all known words.
/// The place of a field, in words; `None` for a name that no field has.
fn place_of(field: &str) -> Option<&'static str> {
    let has = |fields: &[schema::Field]| fields.iter().any(|other| other.name == field);
    if has(&schema::PHASE_FIELDS) && has(&schema::WORKFLOW_FIELDS) {
        Some("the front matter of a phase file or in `workflow.yaml`")
    } else if has(&schema::PHASE_FIELDS) {
        Some("the front matter of a phase file")
    } else if has(&schema::WORKFLOW_FIELDS) {
        Some("`workflow.yaml`")
    } else if has(&schema::ENTRY_FIELDS) {
        Some("an entry of `phases` in `workflow.yaml`")
    } else {
        None
    }
}

/// The variable that is meant by a name: a synonym, or the one with the most similar name.
fn meant_variable<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    if let Some(known) = known.iter().find(|known| **known == name.trim()) {
        return Some(known);
    }
    let mut same = SYNONYMS.iter().filter(|(word, _)| name.eq_ignore_ascii_case(word));
    let same = same.find_map(|(_, variable)| known.iter().find(|known| *known == variable));
    same.copied().or_else(|| nearest(name, known.iter().copied()))
}

/// Names that authors take for variables, and the variables; the first that a template knows is meant.
const SYNONYMS: [(&str, &str); 6] = [
    ("task", "description"),
    ("task", "taskDescription"),
    ("description", "taskDescription"),
    ("workflow", "workflowName"),
    ("phase", "phaseName"),
    ("summary", "previousSummary"),
];

/// Tests if a text begins with a `-` that is not followed by a space, as `-build.md` does.
pub(crate) fn lacks_space(text: &str) -> bool {
    let item = text.trim_start().strip_prefix('-').unwrap_or_default();
    item.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '.' | '/'))
}

/// The help for such a text in the place of a list.
pub(crate) const SPACE_NEEDED: &str = "write a space behind each `-`";
