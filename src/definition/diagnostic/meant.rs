//! Fields of other programs for workflows, and the fields of this program that they mean.

use crate::definition::model::list;

/// The mappings that a field can stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mapping {
    /// A `workflow.yaml`.
    Workflow,
    /// An entry of `phases`.
    Entry,
    /// The front matter of a phase file.
    Phase,
    /// An entry of `phases` with `prompt`.
    Prompt,
    /// A check of a gate.
    Check,
    /// An input, an output, or a field of records.
    Value,
    /// The user's settings.
    Settings,
    /// Another mapping, whose fields no other program has.
    Other,
}

impl Mapping {
    fn place(self) -> &'static str {
        match self {
            Self::Workflow => "`workflow.yaml`",
            Self::Entry => "an entry of `phases`",
            Self::Phase => PLACE_OF_PHASES,
            Self::Prompt => "an entry with `prompt`",
            Self::Check => "a check of `gate`",
            Self::Value => "an input or an output",
            Self::Settings => "the settings",
            Self::Other => "another place",
        }
    }

    /// The page of the documentation that lists the fields of the mapping.
    pub(crate) fn page(self) -> &'static str {
        match self {
            Self::Workflow | Self::Entry | Self::Prompt => "docs/reference/workflow-yaml.md",
            Self::Phase => "docs/reference/phase-files.md",
            Self::Check => "docs/reference/gates.md",
            Self::Value => "docs/reference/inputs-and-outputs.md",
            Self::Settings => "docs/reference/settings.md",
            Self::Other => "docs/README.md",
        }
    }
}

/// The place of the fields of a phase, in words.
pub(crate) const PLACE_OF_PHASES: &str = "the front matter of a phase file, or beside `prompt`";

/// The meaning of a field of another program.
#[derive(Debug, Clone, Copy)]
enum Meant {
    /// These lines of YAML in the same mapping.
    Here(&'static str),
    /// These lines of YAML in another mapping.
    In(Mapping, &'static str),
    /// No field; the text is the help instead.
    Help(&'static str),
    /// No meaning: in this mapping the field is a field of this program, or no program has the field.
    Unknown,
}

use Mapping::{Check, Entry, Phase, Workflow};
use Meant::{Help, Here, In, Unknown};

/// Names of fields in lower case without `_` and `-`, and their meaning in [`Mapping::Workflow`], [`Mapping::Entry`],
/// [`Mapping::Phase`] and [`Mapping::Check`].
type Row = (&'static [&'static str], [Meant; 4]);

const ASK: &str = "ask: Is it right?\noutcomes: { go: next, change: loop }";
const COST: &str = "budget: { cost: 2.50 }";
const FAILED: &str = "run: npm test\noutcomes: { ok: next, failed: loop }";
const ON_FAILURE: &str = "an entry with `run` leads anywhere, as in `- run: npm test` with `outcomes: { ok: next, failed: implement }` beside it";
const INPUTS: &str = "inputs: { scope: { type: text } }";
const MODEL: &str = "model: PROVIDER/ID";
const LEVEL: &str =
    "write `model: \":high\"`; the name of a model stands before the level, as in `model: PROVIDER/ID:high`";
const OUTPUTS: &str = "outputs: { large: { type: flag } }";
const PHASES: &str = "phases: [plan.md, do.md]";
const PROMPT: &str = "prompt: Write a plan for {description}";
const RETRY: &str = "gate: [{ run: npm test }]\ngateAttempts: 3";
const RUN: &str = "gate: [{ run: npm test }]";
const TALK: &str = "interactive: true";
const TIME: &str = "budget: { time: 30m }";
const TOKENS: &str = "budget: { outputTokens: 60000 }";
const TURNS: &str = "budget: { turns: 40 }";
const WHITELIST: &str = "tools: { whitelist: [read, grep] }";
const BLACKLIST: &str = "tools: { blacklist: [bash] }";
const READ_ONLY: &str = "write: []";
const WRITE: &str = "write: [docs/]";
const HIDE: &str = "hide: [.env]";
const NAME: &str = "name: Plan";
const OFFLINE: &str = "network: false";
const WAYS: &str = "outcomes: { clean: next, issues: loop }";
const PARALLEL: &str = "make a parallel group: `- phases: [bugs.md, docs.md]` with `parallel: true` beside it, or the number of agents at a time";
const JOIN: &str = "beside `parallel` of a group, `need: 2` is the number of branches that must come to their end, and `decide: [issues, clean]` or `decide: majority` gives the outcome";
const CHECKS_IN_ORDER: &str = "the checks of `gate` run one after another: remove it";
const LACKS: &str = "no check is for what a file lacks; a command is: `run: '! grep -q TODO docs/plan.md'`";
const FOLDER: &str = "begin the line with it, as in `run: cd web && npm test`";
const STATUS: &str = "a command passes with the exit status 0: remove it";
const ANSWERS: &str = "each answer to `ask` is one of its outcomes, as in `outcomes: { go: next, change: loop }`";
const WHEN: &str = "when: { outcome.ID: NAME }";

/// The fields of other programs. If an entry cannot be read, the help explains its field in the earliest row. A test
/// checks that all YAML in the rows is without errors in its place, and that no name is a field of this program there.
#[rustfmt::skip]
const ROWS: [Row; 44] = [
    (&["prompt", "task", "body", "content"], [
        Here("initialMessage: \"Work on this: {description}\""),
        Here(PROMPT),
        Help("write the prompt below the front matter"),
        In(Entry, ASK),
    ]),
    (&["instructions", "instruction", "systemprompt", "system"], [
        Here("roleInstruction: You are a careful engineer."),
        Here(PROMPT),
        Help("write the instructions below the front matter"),
        Unknown,
    ]),
    (&["run", "bash", "check", "test", "script", "command", "commands", "cmd", "shell", "exec"],
        [In(Phase, RUN), Here("run: npm test"), Here(RUN), Here("run: npm test")]),
    (&["ask", "question", "confirm", "approve", "approval", "human", "humanreview"],
        [In(Entry, ASK), Here(ASK), In(Entry, ASK), In(Entry, ASK)]),
    (&["interactive", "conversation", "conversational", "chat", "dialog", "waitforuser", "waitforinput"],
        [In(Phase, TALK), In(Phase, TALK), Here(TALK), Unknown]),
    (&["uses", "use", "call", "include", "workflow", "recipe", "subrecipe", "subrecipes", "subworkflows"],
        [In(Entry, "subworkflow: KEY"), Here("subworkflow: KEY"), In(Entry, "subworkflow: KEY"), Unknown]),
    (&["file", "path", "source", "promptfile"], [In(Entry, "phase: plan.md"), Here("phase: plan.md"), Unknown, Here("file: docs/plan.md")]),
    (&["parallel"], [Unknown, Unknown, Unknown, Help(CHECKS_IN_ORDER)]),
    (&["concurrent", "concurrency", "async", "fanout", "background", "maxparallel", "maxparallelism", "maxconcurrency",
        "maxconcurrent", "parallelism"],
        [Help(PARALLEL), Help(PARALLEL), Help(PARALLEL), Help(CHECKS_IN_ORDER)]),
    (&["quorum", "vote", "voting", "join", "aggregate", "consensus", "judge", "waitfor", "waitforall", "failfast"],
        [Help(JOIN), Help(JOIN), Help(JOIN), Unknown]),
    (&["steps", "nodes", "tasks", "stages", "jobs", "states", "sequence", "pipeline", "flow"],
        [Here(PHASES), Help("list each phase in `phases` itself"), In(Workflow, PHASES), Unknown]),
    (&["loop", "repeat", "while", "iterate"], [In(Phase, WAYS), In(Phase, WAYS), Here(WAYS), In(Phase, WAYS)]),
    (&["foreach", "forall", "matrix", "withitems", "items", "loopover", "mapover"], [
        Help("repeat a group for each item: `- phases: [do.md, check.md]` with `each: input.files` beside it, and `parallel: true` for all at the same time"),
        Help("repeat a group for each item: `phases: [do.md, check.md]` with `each: input.files` beside it, and `parallel: true` for all at the same time"),
        Help("list the phase in a group of `workflow.yaml`: `- phases: [do.md, check.md]` with `each: input.files` beside it, and `parallel: true` for all at the same time"),
        Unknown,
    ]),
    (&["until", "donewhen", "completewhen", "successcriteria", "exitcriteria", "acceptancecriteria", "verify", "validate",
        "validation", "checks"], [
        In(Phase, RUN),
        In(Phase, RUN),
        Here(RUN),
        Help("a phase is left when all checks of its `gate` pass: remove it"),
    ]),
    (&["maxiterations", "iterations", "maxrounds", "maxcycles"],
        [Here("maxLoops: 10"), In(Workflow, "maxLoops: 10"), In(Workflow, "maxLoops: 10"), In(Workflow, "maxLoops: 10")]),
    (&["answers", "answer", "choices", "options", "buttons"], [In(Phase, WAYS), Help(ANSWERS), Here(WAYS), In(Phase, WAYS)]),
    (&["next", "then", "goto", "transitions", "transition", "branches", "branch", "switch", "routes", "route", "edges"],
        [In(Phase, WAYS), In(Phase, WAYS), Here(WAYS), In(Phase, WAYS)]),
    (&["if", "condition", "conditions", "onlyif", "unless"],
        [In(Entry, WHEN), Here(WHEN), In(Entry, WHEN), Here("outcome: large")]),
    (&["needs", "dependson", "dependencies", "deps", "after", "requires", "runafter"], [
        Help("the entries of `phases` run in their order: remove it"),
        Help("the entries of `phases` run in their order: remove it"),
        Help("the entries of `phases` run in their order: remove it"),
        Help("the checks of `gate` run in their order: remove it"),
    ]),
    (&["timeout", "timeoutminutes", "timeoutseconds", "idletimeout", "timelimit", "maxtime", "maxduration", "deadline"],
        [Here(TIME), Unknown, Here(TIME), Here("timeout: 10m")]),
    (&["retry", "retries", "maxretries", "attempts", "maxattempts"],
        [In(Phase, RETRY), In(Phase, RETRY), Here(RETRY), Help("write `gateAttempts: 3` beside `gate`")]),
    (&["onfailure", "onfail", "onerror", "continueonerror", "fallback", "catch"],
        [In(Entry, FAILED), Here(FAILED), In(Entry, FAILED), Help(ON_FAILURE)]),
    (&["maxturns", "turns", "maxsteps"], [Here(TURNS), In(Phase, TURNS), Here(TURNS), Unknown]),
    (&["maxtokens", "tokens", "outputtokens", "maxoutputtokens"], [Here(TOKENS), In(Phase, TOKENS), Here(TOKENS), Unknown]),
    (&["maxbudgetusd", "maxcostusd", "costlimit"], [Here(COST), In(Phase, COST), Here(COST), Unknown]),
    (&["modelname", "modelid", "llm", "provider", "modelprovider"], [Here(MODEL), Here(MODEL), Here(MODEL), Unknown]),
    (&["thinking", "effort", "reasoning", "reasoningeffort", "thinkinglevel"],
        [Help(LEVEL), Help(LEVEL), Help(LEVEL), Unknown]),
    (&["freshcontext", "newsession", "clearcontext", "isolated"],
        [Here("context: fresh"), In(Phase, "context: fresh"), Here("context: fresh"), Unknown]),
    (&["outputformat", "outputschema", "schema", "jsonschema", "response", "returns"],
        [In(Phase, OUTPUTS), In(Phase, OUTPUTS), Here(OUTPUTS), Unknown]),
    (&["parameters", "params", "arguments", "args", "variables", "vars"],
        [Here(INPUTS), Here("with: { scope: web }"), In(Workflow, INPUTS), Here("env: { scope: input.scope }")]),
    (&["env", "environment"], [
        In(Check, "env: { task: task }"),
        Unknown,
        In(Check, "env: { task: task }"),
        Here("env: { task: task }"),
    ]),
    (&["notcontains", "doesnotcontain", "excludes", "lacks", "absent"], [Unknown, Unknown, Unknown, Help(LACKS)]),
    (&["matches", "match", "pattern", "regex", "grep"],
        [Unknown, Unknown, Unknown, Help("`contains: TODO` beside `file` is a regular expression")]),
    (&["exists", "fileexists"], [Unknown, Unknown, Unknown, Here("file: docs/plan.md")]),
    (&["cwd", "workingdirectory", "workdir", "dir", "directory"], [Unknown, Help(FOLDER), Unknown, Help(FOLDER)]),
    (&["exitcode", "exitstatus", "expect", "expected"], [Unknown, Help(STATUS), Unknown, Help(STATUS)]),
    (&["label", "title"], [Here(NAME), Here(NAME), Here(NAME), Here("name: Tests")]),
    (&["icon", "symbol"], [Unknown, Unknown, Here("emoji: \"📝\""), Unknown]),
    (&["allowedtools", "allowtools", "toolallowlist", "whitelist", "allowlist", "allow", "coretools", "includetools",
        "enabledtools", "availabletools"],
        [In(Phase, WHITELIST), In(Phase, WHITELIST), Here(WHITELIST), Unknown]),
    (&["disallowedtools", "deniedtools", "denytools", "blockedtools", "blacklist", "denylist", "deny", "excludetools",
        "disabledtools"],
        [In(Phase, BLACKLIST), In(Phase, BLACKLIST), Here(BLACKLIST), Unknown]),
    (&["readonly", "noedit", "nowrite", "denywrite", "permissionmode", "permissions", "permission", "sandboxmode", "mode"],
        [Here(READ_ONLY), In(Phase, READ_ONLY), Here(READ_ONLY), Unknown]),
    (&["writable", "writablepaths", "writableroots", "allowedpaths"],
        [Here(WRITE), In(Phase, WRITE), Here(WRITE), Unknown]),
    (&["hidden", "denyread", "protectedpaths", "secrets"], [Here(HIDE), In(Phase, HIDE), Here(HIDE), Unknown]),
    (&["internet", "networkaccess", "allownetwork", "offline"],
        [Here(OFFLINE), In(Phase, OFFLINE), Here(OFFLINE), Unknown]),
];

/// Returns the meaning of a field of other programs in an input, an output or a field of records.
fn of_value(name: &str) -> Meant {
    match name {
        "enum" | "values" | "choices" | "oneof" | "allowed" => {
            Help("a value of `type: choice` has `options: [small, large]`")
        }
        "required" => Help("remove it: a value must be given, unless `optional: true` or a `default` stands there"),
        "pattern" | "regex" | "format" | "validate" | "match" => {
            Help("remove it: no value has a pattern; a first step with `run` can check one")
        }
        "items" | "properties" | "schema" => {
            Help("the items of a list are texts, or records with `fields: { title: { type: text } }`")
        }
        "help" | "prompt" | "title" | "label" | "message" => Here("description: Which part"),
        "length" | "maxlength" | "maximum" | "maxitems" => Here("max: 20"),
        "minimum" | "minitems" => Here("min: 1"),
        _ => Unknown,
    }
}

/// Returns a name in lower case without `_` and `-`.
pub(crate) fn plain(field: &str) -> String {
    let name: String = field.chars().filter(|c| !matches!(c, '_' | '-')).collect();
    name.to_ascii_lowercase()
}

/// Returns the row of a field and its meaning in a mapping.
fn find(field: &str, of: Mapping) -> Option<(usize, Meant)> {
    let name = plain(field);
    if of == Mapping::Value {
        return Some((ROWS.len(), of_value(&name)));
    }
    let row = ROWS.iter().position(|(names, _)| names.contains(&&*name))?;
    let [workflow, entry, phase, check] = ROWS.get(row)?.1;
    let meant = match of {
        Mapping::Workflow => workflow,
        Mapping::Entry => entry,
        Mapping::Phase => phase,
        Mapping::Check => check,
        // Such an entry has the fields of a phase; of an entry it has `prompt` and `when`.
        Mapping::Prompt => match entry {
            Here(PROMPT | WHEN) => entry,
            _ => phase,
        },
        Mapping::Value | Mapping::Settings | Mapping::Other => Unknown,
    };
    Some((row, meant))
}

/// Returns the help for an unknown field that another program has.
pub(crate) fn help(field: &str, of: Mapping) -> Option<String> {
    match find(field, of)?.1 {
        Here(yaml) => Some(format!("did you mean {}?", as_in(yaml))),
        In(other, yaml) => Some(format!("did you mean {}, in {}?", as_in(yaml), other.place())),
        Help(words) => Some(words.to_owned()),
        Unknown => None,
    }
}

/// Returns the help for a field, in an entry of `phases` of some kind, that means another kind of entry.
pub(crate) fn own_entry(field: &str, known: &[&str]) -> Option<String> {
    let Here(yaml) = find(field, Entry)?.1 else { return None };
    let first = yaml.lines().next().unwrap_or_default();
    let kind = first.split(':').next().unwrap_or_default();
    if !["run", "ask", "phase", "subworkflow", "prompt"].contains(&kind) {
        None
    } else if yaml == FAILED {
        Some(ON_FAILURE.to_owned())
    } else if known.first() == Some(&kind) {
        Some(format!("remove it: `{kind}` is there already"))
    } else {
        Some(format!("give it an entry of its own, as in `- {first}`"))
    }
}

/// Returns the field that a field means in a mapping of a few fields.
pub(crate) fn part(of: &str, field: &str) -> Option<&'static str> {
    Some(match (of, &*plain(field)) {
        ("tools", "allow" | "allowed" | "include" | "only" | "enable") => "whitelist",
        ("tools", "deny" | "denied" | "exclude" | "disallow" | "disallowed" | "block" | "disable") => "blacklist",
        ("outcomes", "goto" | "target" | "leadsto" | "next" | "phase") => "to",
        ("outcomes", "label" | "title") => "name",
        ("outcomes", "times" | "limit" | "maxtimes" | "maxloops" | "count") => "max",
        ("budget", "minutes" | "duration" | "timeout" | "seconds" | "timelimit") => "time: 10m",
        ("budget", "tokens" | "maxtokens") => "outputTokens: 60000",
        ("budget", "usd" | "dollars" | "price" | "maxcost") => "cost: 2.50",
        ("budget", "maxturns" | "steps" | "iterations") => "turns: 40",
        _ => return None,
    })
}

/// Returns the help for a field that was removed from every mapping, or that does not belong in this mapping.
pub(crate) fn gone(field: &str, of: Mapping) -> Option<String> {
    let help = match &*plain(field) {
        "onquota" | "maxwait" if of == Mapping::Settings => "write `wait: 6h`; without it a run pauses",
        "write" | "hide" | "network" | "sandbox" | "tools" if of == Mapping::Settings => "write it below `limits`",
        "gate" | "gateattempts" if of != Phase => {
            return Some(format!(
                "`{field}` belongs in {PLACE_OF_PHASES}: of the last phase, and of those with an outcome that leads to `done`"
            ));
        }
        "tests" => {
            "remove it: `pi-workflows may WORKFLOW PHASE TOOL PATH` tells what the rules allow; docs/ci.md asks it in CI"
        }
        "recheck" => {
            "remove it: the last entry runs once more what must hold at the end, as in `- { run: npm test, outcomes: { failed: loop } }`"
        }
        "toolvisibility" => "remove it: the model is shown the tools that a phase refuses too",
        "ongatefail" => ON_FAILURE,
        "onmaxloops" => {
            "bound the outcome that leads back: `outcomes: { clean: next, issues: { to: loop, max: 20, then: next } }`"
        }
        _ => return None,
    };
    Some(help.to_owned())
}

/// Returns lines of YAML as an example of their fields.
fn as_in(yaml: &str) -> String {
    let names: Vec<&str> = names(yaml).collect();
    let lines: Vec<&str> = yaml.split('\n').collect();
    format!("{}, as in {}", list(&names), list(&lines))
}

/// Returns the fields of lines of YAML.
fn names(yaml: &str) -> impl Iterator<Item = &str> {
    yaml.split('\n').filter_map(|line| Some(line.split_once(':')?.0))
}

/// Returns true if an unknown field means `field` of the same mapping.
pub(crate) fn means(unknown: &str, field: &str, of: Mapping) -> bool {
    let Some((_, Here(yaml))) = find(unknown, of) else { return false };
    names(yaml).any(|name| name == field)
}

/// Returns the field of an entry of `phases` that tells most about its meaning, and the help for the field.
pub(crate) fn of_entry<'a>(fields: impl Iterator<Item = &'a str>) -> Option<(&'a str, String)> {
    let known = fields.filter_map(|field| Some((find(field, Entry)?.0, field)));
    let (_, field) = known.min()?;
    Some((field, help(field, Entry)?))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::definition::fixtures::Files;
    use crate::definition::model::{CHECK_FIELDS, ENTRY_FIELDS, Phase, Workflow};
    use crate::definition::{Diagnostic, Library};

    const ALL: [Mapping; 4] = [Workflow, Entry, Phase, Check];

    /// The fields of which a mapping has one.
    const KINDS: [&[&str]; 1] = [&["run", "ask", "file", "phase", "prompt", "subworkflow"]];

    /// The reports of a sound workflow with these lines in one of its mappings.
    fn reports(yaml: &str, of: Mapping) -> Vec<String> {
        let yaml = yaml.replace("KEY", "nested").replace("PROVIDER", "p");
        let lines: Map<String, Value> = serde_yaml::from_str(&yaml).unwrap();
        let mapping = |mapping: Mapping, base: Value| {
            let Value::Object(mut base) = base else { panic!("{base}") };
            for (key, value) in lines.iter().filter(|_| mapping == of) {
                for kinds in KINDS.iter().filter(|kinds| kinds.contains(&&**key)) {
                    kinds.iter().for_each(|kind| drop(base.remove(*kind)));
                }
                base.insert(key.clone(), value.clone());
            }
            base
        };
        let entry = if yaml.starts_with("with") { "nested" } else { "do.md" };
        let entry = json!({ if entry == "nested" { "subworkflow" } else { "phase" }: entry });
        let scope = json!({ "type": "text", "default": "api" });
        let prompt = json!({ "id": "last", "prompt": "Do it.", "outcomes": { "large": "next", "small": "next" } });
        let workflow = json!({
            "name": "W", "commandName": "w", "initialMessage": "Go", "inputs": { "scope": scope },
            "phases": ["triage.md", mapping(Entry, entry), mapping(Mapping::Prompt, prompt)],
        });
        let check = mapping(Check, json!({ "run": "npm test" }));
        let ways = json!({ "large": "next", "small": "next" });
        let phase = |id: &str| json!({ "id": id, "name": "P", "emoji": "*", "outcomes": ways, "gate": [check] });
        let front_matter = |fields: Value| format!("---\n{fields}\n---\nDo it.\n");
        let nested = json!({ "name": "N", "show": "workflows", "inputs": { "scope": scope }, "phases": ["n.md"] });
        let mut files = Files::default();
        for (path, text) in [
            ("w/workflow.yaml", Value::Object(mapping(Workflow, workflow)).to_string()),
            ("w/triage.md", front_matter(phase("triage"))),
            ("w/plan.md", front_matter(phase("plan"))),
            ("w/do.md", front_matter(Value::Object(mapping(Phase, phase("do"))))),
            ("nested/workflow.yaml", nested.to_string()),
            ("nested/n.md", front_matter(json!({ "id": "n", "name": "N", "emoji": "*" }))),
        ] {
            files.global.insert(path.into(), text);
        }
        let (_, diagnostics) = Library::check(&files).unwrap();
        let reports = diagnostics.iter().map(Diagnostic::to_string);
        reports.filter(|report| !report.contains("unused phase file")).collect()
    }

    /// A suggestion has no error and no warning in its place.
    #[test]
    fn all_suggestions_are_sound() {
        assert_eq!(reports("name: W", Workflow), [""; 0]);
        assert_ne!(reports("when: { outcome.triage: lareg }", Entry), [""; 0]);
        for (names, meant) in ROWS {
            for (meant, here) in meant.into_iter().zip(ALL) {
                let (yaml, place) = match meant {
                    Here(yaml) => (yaml, here),
                    In(other, yaml) => (yaml, other),
                    Help(_) | Unknown => continue,
                };
                let yaml = yaml.replace("outcome.ID: NAME", "outcome.triage: large");
                assert_eq!(reports(&yaml, place), [""; 0], "{names:?} in {here:?}");
            }
            if let Some((_, Here(yaml))) = find(names[0], Mapping::Prompt) {
                let yaml = yaml.replace("outcome.ID: NAME", "outcome.triage: large");
                assert_eq!(reports(&yaml, Mapping::Prompt), [""; 0], "{names:?} beside `prompt`");
            }
        }
    }

    /// A row is changed when one of its names becomes a field.
    #[test]
    fn no_name_is_a_field_of_the_same_mapping() {
        let mut seen = Vec::new();
        for (name, meant) in ROWS.iter().flat_map(|(names, meant)| names.iter().map(move |name| (*name, meant))) {
            assert!(!seen.contains(&name), "{name} stands twice");
            seen.push(name);
            assert!(!name.contains(|c: char| !c.is_ascii_lowercase()), "{name}");
            let fields = [Workflow::FIELDS, &ENTRY_FIELDS, Phase::FIELDS, &CHECK_FIELDS];
            for ((fields, meant), of) in fields.iter().zip(meant).zip(ALL) {
                let Some(field) = fields.iter().find(|field| field.name.eq_ignore_ascii_case(name)) else {
                    continue;
                };
                let is_itself = matches!(meant, Here(yaml) if names(yaml).next() == Some(field.name));
                assert!(is_itself || matches!(meant, Unknown), "{name} is a field of {of:?}");
            }
        }
    }
}
