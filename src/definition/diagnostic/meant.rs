//! Names of fields that the user's files do not have: those that this program had, and those of other programs.

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
    /// Another mapping.
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

/// Names in lower case without `_` and `-`, and the line to write instead with its mapping. With [`Other`], [`Value`]
/// and [`Settings`] the text is the whole help.
type Row = (&'static str, Mapping, &'static str);

use Mapping::{Check, Entry, Other, Phase, Settings, Value, Workflow};

/// The fields that this program had.
const GONE: [Row; 13] = [
    ("label", Entry, "name: Plan"),
    (
        "thinking effort reasoning reasoningeffort thinkinglevel",
        Other,
        "write `model: \":high\"`; the name of a model stands before the level, as in `model: PROVIDER/ID:high`",
    ),
    ("onquota maxwait", Settings, "write `wait: 6h`; without it a run pauses"),
    ("write hide network sandbox tools", Settings, "write it below `limits`"),
    (
        "recheck",
        Other,
        "remove it: the last entry runs once more what must hold at the end, as in `- { run: npm test, outcomes: { failed: loop } }`",
    ),
    (
        "tests",
        Other,
        "remove it: `pi-workflows may WORKFLOW PHASE TOOL PATH` tells what the rules allow; docs/ci.md asks it in CI",
    ),
    (
        "contextinjection",
        Other,
        "remove it: the agent gets the context prompt once in a phase, and again when the model may have lost it; see docs/reference/context.md",
    ),
    ("stopmessage", Workflow, "completionMessage: \"{workflowName}: {outcome} in {phaseName}\""),
    (
        "decide",
        Other,
        "remove it: the group ends with the first of its `outcomes` that a branch has, as `issues` in `outcomes: { issues: loop, clean: next }`",
    ),
    ("toolvisibility", Other, "remove it: the model is shown the tools that a phase refuses too"),
    ("ongatefail", Entry, "- { run: npm test, outcomes: { ok: next, failed: loop } }"),
    ("maxloops onmaxloops", Phase, "outcomes: { clean: next, issues: { to: loop, max: 20, then: next } }"),
    (
        "gate gateattempts",
        Other,
        "a gate belongs in the front matter of a phase file, or beside `prompt`: of the last phase, and of those with an outcome that leads to `done`",
    ),
];

/// The fields of other programs.
#[rustfmt::skip]
const OTHERS: [Row; 29] = [
    ("prompt task body content instructions systemprompt", Other, "write the text below the front matter, or as an entry `- prompt: TEXT`"),
    ("run bash script command cmd shell exec check test verify validate until donewhen", Other, "a command is an entry, `- run: npm test`, or a check of a phase, `gate: [{ run: npm test }]`"),
    ("ask question confirm approve approval human", Entry, "- { ask: Is it right?, outcomes: { go: next, change: loop } }"),
    ("conversation chat waitforuser waitforinput", Phase, "interactive: true"),
    ("uses use call include workflow recipe subworkflows", Entry, "- subworkflow: KEY"),
    ("path exists fileexists", Check, "file: docs/plan.md"),
    ("concurrent concurrency async fanout background maxparallel", Other, "make a parallel group, `- { phases: [bugs.md, docs.md], parallel: true }`"),
    ("foreach matrix items loopover", Other, "repeat a group, `- { phases: [do.md, check.md], each: input.files }`"),
    ("steps nodes tasks stages jobs", Workflow, "phases: [plan.md, do.md]"),
    ("loop repeat while next goto transitions branches switch routes", Phase, "outcomes: { clean: next, issues: loop }"),
    ("answers answer choices options buttons", Other, "each answer to `ask` is one of its outcomes, as in `outcomes: { go: next, change: loop }`"),
    ("maxiterations iterations maxrounds times limit", Phase, "outcomes: { clean: next, issues: { to: loop, max: 10 } }"),
    ("if condition conditions onlyif", Entry, "when: { outcome.ID: NAME }"),
    ("needs dependson dependencies after requires", Other, "remove it: entries of `phases` and checks of `gate` run in their order"),
    ("timeout timeoutminutes timeoutseconds timelimit maxtime duration deadline", Phase, "budget: { time: 30m }"),
    ("maxturns maxsteps tokens maxtokens outputtokens maxcost maxcostusd", Phase, "budget: { turns: 40, cost: 2.50 }"),
    ("retry retries maxretries attempts maxattempts", Other, "a phase with a `gate` has `gateAttempts: 3` beside it"),
    ("onfailure onfail onerror continueonerror fallback catch", Entry, "- { run: npm test, outcomes: { ok: next, failed: loop } }"),
    ("modelname modelid llm provider", Phase, "model: PROVIDER/ID"),
    ("freshcontext newsession clearcontext isolated", Phase, "context: fresh"),
    ("outputformat outputschema jsonschema response returns", Phase, "outputs: { large: { type: flag } }"),
    ("parameters params arguments args variables vars", Workflow, "inputs: { scope: { type: text } }"),
    ("allowedtools toolallowlist whitelist allowlist allow allowed only", Phase, "tools: { whitelist: [read, grep] }"),
    ("disallowedtools deniedtools blacklist denylist deny excludetools", Phase, "tools: { blacklist: [bash] }"),
    ("readonly noedit permissionmode permissions permission mode", Phase, "write: []"),
    ("hidden denyread protectedpaths secrets", Phase, "hide: [.env]"),
    ("cwd workingdirectory workdir dir", Other, "begin the line with it, as in `run: cd web && npm test`"),
    ("internet networkaccess allownetwork offline nonetwork withoutnetwork", Phase, "network: false"),
    ("enum values choices oneof", Value, "a value of `type: choice` has `options: [small, large]`"),
];

/// Returns a name in lower case without `_` and `-`.
pub(crate) fn plain(field: &str) -> String {
    let name: String = field.chars().filter(|c| !matches!(c, '_' | '-')).collect();
    name.to_ascii_lowercase()
}

/// Returns the help for an unknown field of a mapping with these fields.
pub(crate) fn help(field: &str, known: &[&str], of: Mapping) -> Option<String> {
    let name = plain(field);
    // The names of values and of the settings are apart.
    let is_apart = |mapping| matches!(mapping, Value | Settings);
    let is_meant = |(names, place, _): &&Row| {
        (*place == of || !is_apart(*place) && !is_apart(of)) && names.split(' ').any(|other| other == name)
    };
    let (_, place, line) = GONE.iter().chain(&OTHERS).find(is_meant)?;
    let is_here = *place == of || of == Other || line.split_once(':').is_some_and(|(own, _)| known.contains(&own));
    Some(match place {
        Other | Value | Settings => (*line).to_owned(),
        _ if line.starts_with("- ") => format!("did you mean the entry `{line}`?"),
        _ if is_here => format!("did you mean `{line}`?"),
        _ => format!("did you mean `{line}`, in {}?", place.place()),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::definition::fixtures::Files;
    use crate::definition::{Diagnostic, Library};

    /// The reports of a sound workflow with a line in one of its mappings.
    fn reports(line: &str, of: Mapping) -> Vec<String> {
        let line =
            line.replace("KEY", "nested").replace("PROVIDER", "p").replace("outcome.ID: NAME", "outcome.plan: clean");
        let lines: Json = serde_yaml::from_str(&line).unwrap();
        let with = |mapping: Mapping, mut base: Json| {
            match &lines {
                Json::Object(fields) if mapping == of => base.as_object_mut().unwrap().extend(fields.clone()),
                _ => {}
            }
            base
        };
        let ways = json!({ "clean": "next", "issues": "next" });
        let phase = |id: &str| json!({ "id": id, "outcomes": ways, "gate": [if of == Check { lines.clone() } else { json!({ "run": "npm test" }) }] });
        let mut phases = vec![json!("plan.md"), with(Entry, json!({ "phase": "do.md" }))];
        phases.extend(lines.as_array().into_iter().flatten().cloned());
        let workflow = json!({ "inputs": { "scope": { "type": "text" } }, "phases": phases });
        let front_matter = |fields: Json| format!("---\n{fields}\n---\nDo it.\n");
        let nested = json!({ "show": "workflows", "phases": ["n.md"] });
        let mut files = Files::default();
        for (path, text) in [
            ("w/workflow.yaml", with(Workflow, workflow).to_string()),
            ("w/plan.md", front_matter(phase("plan"))),
            ("w/do.md", front_matter(with(Phase, phase("do")))),
            ("nested/workflow.yaml", nested.to_string()),
            ("nested/n.md", "Do it.".to_owned()),
        ] {
            files.global.insert(path.into(), text);
        }
        let (_, diagnostics) = Library::check(&files).unwrap();
        diagnostics.iter().map(Diagnostic::to_string).collect()
    }

    /// A line to write instead has no error and no warning in its place.
    #[test]
    fn all_lines_are_sound() {
        assert_ne!(reports("when: { outcome.plan: clena }", Entry), [""; 0]);
        let is_line = |(_, place, _): &&Row| !matches!(place, Other | Value | Settings);
        for (names, place, line) in GONE.iter().chain(&OTHERS).filter(is_line) {
            assert_eq!(reports(line, *place), [""; 0], "{names}: {line}");
        }
    }

    #[test]
    fn names_are_plain_and_stand_once() {
        let mut seen = Vec::new();
        for (names, place, _) in GONE.iter().chain(&OTHERS) {
            for name in names.split(' ').map(|name| (name, matches!(place, Value | Settings))) {
                assert!(!seen.contains(&name) && name.0 == plain(name.0), "{name:?}");
                seen.push(name);
            }
        }
    }
}
