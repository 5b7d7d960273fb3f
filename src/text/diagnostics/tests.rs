//! Given these files, exactly this report.

use super::*;
use crate::definition::fixtures::Files;
use crate::definition::{DirEntry, FileKind, ReadError, Stale};
use crate::definition::{
    KnownModel, Library, Model, Root, Surroundings, WorkflowFiles, WriteTarget,
};

const FLOW: &str = "name: Flow\ncommandName: flow\ninitialMessage: Go\nphases:\n  - a.md\n";
const PHASE: &str = "---\nid: a\nname: A\nemoji: '*'\n---\nDo it.\n";

mod slips;

/// Files, and what pi has: some tools, and where it is known, one profile.
struct Place {
    files: Files,
    profiles: Option<Vec<String>>,
    more_tools: bool,
    tools: Vec<&'static str>,
    /// A link in the global folder that leads out of it.
    link: bool,
}

impl WorkflowFiles for Place {
    fn roots(&self) -> Result<Vec<Root>, Stale> {
        self.files.roots()
    }

    fn list(&self, root: &str, path: &str) -> Result<Vec<DirEntry>, ReadError> {
        let mut entries = self.files.list(root, path)?;
        if self.link && root == "global" && path.is_empty() {
            entries.push(DirEntry { name: "zz".into(), kind: FileKind::Other, target: None });
        }
        Ok(entries)
    }

    fn read(&self, root: &str, path: &str) -> Result<Vec<u8>, ReadError> {
        self.files.read(root, path)
    }

    fn resolve_write(&self, path: &str) -> Result<Result<WriteTarget, String>, Stale> {
        self.files.resolve_write(path)
    }

    fn tools(&self) -> Result<Vec<String>, Stale> {
        Ok(self.tools.iter().map(|tool| (*tool).to_owned()).collect())
    }

    fn surroundings(&self) -> Result<Surroundings, Stale> {
        let tools = self.tools()?;
        let (more_tools, profiles) = (self.more_tools, self.profiles.clone());
        let models = self.files.models.clone();
        Ok(Surroundings { tools, more_tools, profiles, models, ..Surroundings::default() })
    }
}

fn place(files: &[(&str, &str)]) -> Place {
    let mut all = Files::default();
    for (path, text) in files {
        let (root, path) = path.split_once('/').unwrap();
        let files = if root == "global" { &mut all.global } else { &mut all.project };
        files.insert(path.to_owned(), (*text).to_owned());
    }
    let tools = vec!["read", "edit", "bash"];
    Place { files: all, profiles: None, more_tools: false, tools, link: false }
}

#[track_caller]
fn reports(place: &Place, expected: &str) {
    let (library, diagnostics) = Library::check(place).unwrap();
    let report = check_report(&library, &diagnostics);
    assert_eq!(report, expected, "\n{report}\n");
}

/// Checks one workflow of one phase, `global/w`, in which some words are others.
#[track_caller]
fn with(changes: &[(&str, &str)], expected: &str) {
    let (mut flow, mut phase) = (FLOW.to_owned(), PHASE.to_owned());
    for (old, new) in changes {
        assert_ne!(flow.contains(old), phase.contains(old), "{old:?}");
        flow = flow.replace(old, new);
        phase = phase.replace(old, new);
    }
    reports(&place(&[("global/w/workflow.yaml", &flow), ("global/w/a.md", &phase)]), expected);
}

#[test]
fn missing_and_unknown_fields() {
    with(&[("commandName", "comandName")], "\
~/workflows/w/workflow.yaml:2:1: error: missing field `commandName`: a workflow needs `name`, `commandName`, `initialMessage` and `phases`
  2 | comandName: flow
    | ^^^^^^^^^^
  help: did you mean `commandName` instead of `comandName`?

1 error, 0 warnings. 1 workflow is left out.");
    with(
        &[("emoji: '*'\n", "")],
        "\
~/workflows/w/a.md:2:1: error: missing field `emoji`: a phase needs `id`, `name` and `emoji`
  2 | id: a
    | ^^^^^
  help: add a line such as `emoji: \"🔹\"`, a sign for the status line

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(
        &[("emoji: '*'\n", "emojii: '*'\n")],
        "\
~/workflows/w/a.md:4:1: error: missing field `emoji`: a phase needs `id`, `name` and `emoji`
  4 | emojii: '*'
    | ^^^^^^
  help: did you mean `emoji` instead of `emojii`?

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(&[("name: Flow\ncommandName: flow\ninitialMessage: Go\n", "show: workflows\n")], "\
~/workflows/w/workflow.yaml:1:1: error: missing field `name`: a workflow with `show: workflows` needs `name` and `phases`
  1 | show: workflows
    | ^^^^^^^^^^^^^^^

1 error, 0 warnings. 1 workflow is left out.");
    with(
        &[("Go\n", "Go\nmaxLops: 3\ncolor: red\n")],
        "\
~/workflows/w/workflow.yaml:4:1: warning: unknown field `maxLops`; it has no effect
  4 | maxLops: 3
    | ^^^^^^^
  help: did you mean `maxLoops`?

~/workflows/w/workflow.yaml:5:1: warning: unknown field `color`; it has no effect
  5 | color: red
    | ^^^^^
  help: remove it, or see docs/reference.md of pi-workflows for the available fields

0 errors, 2 warnings.",
    );
    with(
        &[("emoji", "tools: {blocklist: [bash]}\nemoji")],
        "\
~/workflows/w/a.md:4:9: error: unknown field `blocklist` in `tools`
  4 | tools: {blocklist: [bash]}
    |         ^^^^^^^^^
  help: did you mean `blacklist`?

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(
        &[("- a.md", "- {subworkflow: w2, times: 3}\n  - a.md")],
        "\
~/workflows/w/workflow.yaml:5:5: error: the workflow \"w\" refers to \"w2\", which does not exist
  5 |   - {subworkflow: w2, times: 3}
    |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^

~/workflows/w/workflow.yaml:5:23: warning: unknown field `times`; it has no effect
  5 |   - {subworkflow: w2, times: 3}
    |                       ^^^^^
  help: available fields: `phase`, `subworkflow`, `when` and `with`

1 error, 1 warning. 1 workflow is left out.",
    );
    with(
        &[("Go\n", "Go\nautoContinue:\n  maxIdel: 1\n  soon: 2\n")],
        "\
~/workflows/w/workflow.yaml:5:3: error: unknown field `maxIdel` in `autoContinue`
  5 |   maxIdel: 1
    |   ^^^^^^^
  help: did you mean `maxIdle`?

~/workflows/w/workflow.yaml:6:3: error: unknown field `soon` in `autoContinue`
  6 |   soon: 2
    |   ^^^^
  help: available fields: `delaySeconds`, `maxPerPhase` and `maxIdle`

2 errors, 0 warnings. 1 workflow is left out.",
    );
}

#[test]
fn values_that_are_not_understood() {
    with(
        &[("name: Flow", "name: 7")],
        "\
~/workflows/w/workflow.yaml:1:7: error: `name`: expected a string, found a number
  1 | name: 7
    |       ^
  help: put the value in quotes

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(
        &[("id: a", "id: ''")],
        "\
~/workflows/w/a.md:2:5: error: `id` must not be empty
  2 | id: ''
    |     ^^

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(&[("commandName: flow", "commandName: My Flow!")], "\
~/workflows/w/workflow.yaml:2:14: error: `commandName`: expected letters, digits, `_` and `-` only, found `My Flow!`
  2 | commandName: My Flow!
    |              ^^^^^^^^
  help: did you mean `my-flow`?

1 error, 0 warnings. 1 workflow is left out.");
    with(&[("Go\n", "Go\nshow: workflow\nloopable: yes\nmaxLoops: 1.5\n")], "\
~/workflows/w/workflow.yaml:4:7: error: `show`: expected `user` or `workflows`, found `workflow`
  4 | show: workflow
    |       ^^^^^^^^
  help: did you mean `workflows`?

~/workflows/w/workflow.yaml:5:11: error: `loopable`: expected `true` or `false`, found a string
  5 | loopable: yes
    |           ^^^

~/workflows/w/workflow.yaml:6:11: error: `maxLoops`: expected a whole number from 0 to 1000000, found `1.5`
  6 | maxLoops: 1.5
    |           ^^^

3 errors, 0 warnings. 1 workflow is left out.");
    with(&[("Go\n", "Go\nsessionNameMaxLength: -1\ndescription: 7\n")], "\
~/workflows/w/workflow.yaml:4:23: warning: `sessionNameMaxLength`: expected a number from 0, found `-1`; it has no effect
  4 | sessionNameMaxLength: -1
    |                       ^^

~/workflows/w/workflow.yaml:5:14: warning: `description`: expected a string, found a number; it has no effect
  5 | description: 7
    |              ^
  help: put the value in quotes

0 errors, 2 warnings.");
    with(
        &[("phases:\n  - a.md", "phases: a.md")],
        "\
~/workflows/w/workflow.yaml:4:9: error: `phases`: expected a list, found a string
  4 | phases: a.md
    |         ^^^^
  help: did you mean `phases: [a.md]`?

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(
        &[("phases:\n  - a.md", "phases: []")],
        "\
~/workflows/w/workflow.yaml:4:9: error: `phases` must have at least one entry
  4 | phases: []
    |         ^^

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(&[("- a.md", "- a.md\n  - 7\n  - subworkflow: ' '")], "\
~/workflows/w/workflow.yaml:6:5: error: `phases`: expected a file name, `phase: FILE` or `subworkflow: KEY`, found a number
  6 |   - 7
    |     ^

~/workflows/w/workflow.yaml:7:5: error: `phases`: expected a file name, `phase: FILE` or `subworkflow: KEY`, found a mapping
  7 |   - subworkflow: ' '
    |     ^^^^^^^^^^^^^^^^

2 errors, 0 warnings. 1 workflow is left out.");
    with(
        &[("emoji", "tools: [edit]\nemoji")],
        "\
~/workflows/w/a.md:4:8: error: `tools`: expected a mapping, found a list
  4 | tools: [edit]
    |        ^^^^^^
  help: write `tools: { whitelist: [edit] }` to allow these tools only, or `blacklist` to refuse them

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(
        &[("emoji", "tools: {blacklist: edit}\nemoji")],
        "\
~/workflows/w/a.md:4:20: error: `tools.blacklist`: expected a list of tool names, found a string
  4 | tools: {blacklist: edit}
    |                    ^^^^
  help: did you mean `blacklist: [edit]`?

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(
        &[("emoji", "tools: {blacklist: [edit], whitelist: [read]}\nemoji")],
        "\
~/workflows/w/a.md:4:8: error: `tools` can have a `blacklist` or a `whitelist`, not both
  4 | tools: {blacklist: [edit], whitelist: [read]}
    |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  help: remove one of the two lists

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(&[("emoji", "availableProfiles: x\nemoji")], "\
~/workflows/w/a.md:4:20: warning: `availableProfiles`: expected a list of names, found a string; it has no effect
  4 | availableProfiles: x
    |                    ^

0 errors, 1 warning.");
}

#[test]
fn what_is_no_yaml() {
    with(&[("name: Flow", "name: Flow: two")], "\
~/workflows/w/workflow.yaml:1:11: error: not valid YAML: mapping values are not allowed in this context
  1 | name: Flow: two
    |           ^^^^^
  help: put a value that contains `: ` in quotes

1 error, 0 warnings. 1 workflow is left out.");
    with(&[("Go", "{description} now")], "\
~/workflows/w/workflow.yaml:3:31: error: not valid YAML: did not find expected key
  3 | initialMessage: {description} now
    |                               ^^^
  help: look for a quote or bracket that is not closed, and put a value that begins with `{` in quotes

1 error, 0 warnings. 1 workflow is left out.");
    with(&[("Go", "'Go")], "\
~/workflows/w/workflow.yaml:5:9: error: not valid YAML: found unexpected end of stream
  5 |   - a.md
    |         ^
  help: look for a quote or bracket that is not closed, and put a value that begins with `{` in quotes

1 error, 0 warnings. 1 workflow is left out.");
    with(
        &[("name: Flow", "name: Flow\nname: Flow")],
        "\
~/workflows/w/workflow.yaml:2:1: error: duplicate key `name`
  2 | name: Flow
    | ^^^^
  help: remove one of the two

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(
        &[("name: Flow", "\tname: Flow")],
        "\
~/workflows/w/workflow.yaml:1:1: error: not valid YAML: found character that cannot start any token
  1 |  name: Flow
    | ^^^^^^^^^^^
  help: indent with spaces, not with tabs

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(
        &[("name: Flow\ncommandName: flow\ninitialMessage: Go\nphases:\n  - a.md\n", "- a\n")],
        "\
~/workflows/w/workflow.yaml:1:1: error: expected a mapping of fields to values, found a list
  1 | - a
    | ^^^

1 error, 0 warnings. 1 workflow is left out.",
    );
}

#[test]
fn phase_files() {
    with(
        &[("- a.md", "- aa.md")],
        "\
~/workflows/w/workflow.yaml:5:5: error: cannot read the phase file `aa.md`: there is no such file
  5 |   - aa.md
    |     ^^^^^
  help: did you mean `a.md`?

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(&[("- a.md", "- nowhere.md\n  - a.md")], "\
~/workflows/w/workflow.yaml:5:5: error: cannot read the phase file `nowhere.md`: there is no such file
  5 |   - nowhere.md
    |     ^^^^^^^^^^

1 error, 0 warnings. 1 workflow is left out.");
    with(
        &[("- a.md", "- ../../a.md\n  - a.md")],
        "\
~/workflows/w/workflow.yaml:5:5: error: the phase file `../../a.md` is outside the workflows folder
  5 |   - ../../a.md
    |     ^^^^^^^^^^
  help: move the file into the workflows folder; `../` leads to the folders beside this one

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(&[("- a.md", "- a.md\n  - ./a.md")], "\
~/workflows/w/workflow.yaml:6:5: error: duplicate phase id `a` in this workflow: in `a.md` and in `./a.md`
  6 |   - ./a.md
    |     ^^^^^^
  help: give each phase an `id` of its own

1 error, 0 warnings. 1 workflow is left out.");
    with(&[("- a.md", "- a.md\n  - a.md")], "\
~/workflows/w/workflow.yaml:6:5: error: duplicate phase id `a` in this workflow: `a.md` is listed twice
  6 |   - a.md
    |     ^^^^
  help: give each phase an `id` of its own

1 error, 0 warnings. 1 workflow is left out.");
    with(
        &[("Do it.\n", "")],
        "\
~/workflows/w/a.md:5:1: error: missing instructions below the front matter
  5 | ---
    | ^^^
  help: write below the front matter what the agent is to do

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(&[("---\nid", "--\nid")], "\
~/workflows/w/a.md:1:1: error: missing front matter
  1 | --
    | ^^
  help: begin with `---`, `id: KEY`, `name: NAME`, `emoji: \"🔹\"` and `---`, each on a line of its own

1 error, 0 warnings. 1 workflow is left out.");
}

#[test]
fn variables() {
    with(
        &[("Do it", "  Do {descripton} in {place} and ${HOME}\n\n{place} {{a}}")],
        "\
~/workflows/w/a.md:6:6: warning: unknown variable `{descripton}`; it is not replaced
  6 | Do {descripton} in {place} and ${HOME}
    |    ^^^^^^^^^^^^
  help: did you mean `{description}`?

~/workflows/w/a.md:6:22: warning: unknown variable `{place}`; it is not replaced
  6 | Do {descripton} in {place} and ${HOME}
    |                    ^^^^^^^
  help: remove it, or see docs/reference.md of pi-workflows for the available variables

0 errors, 2 warnings.",
    );
    with(&[("Go", "Do {taskDescription}")], "\
~/workflows/w/workflow.yaml:3:20: warning: unknown variable `{taskDescription}` in `initialMessage`; it is not replaced
  3 | initialMessage: Do {taskDescription}
    |                    ^^^^^^^^^^^^^^^^^
  help: did you mean `{description}`?

0 errors, 1 warning.");
    with(&[("Go\n", "|\n  Begin.\n\n  Do {task}.\nroleInstruction: '{phasename}'\n")], "\
~/workflows/w/workflow.yaml:6:6: warning: unknown variable `{task}` in `initialMessage`; it is not replaced
  6 |   Do {task}.
    |      ^^^^^^
  help: did you mean `{description}`?

~/workflows/w/workflow.yaml:7:19: warning: unknown variable `{phasename}` in `roleInstruction`; it is not replaced
  7 | roleInstruction: '{phasename}'
    |                   ^^^^^^^^^^^
  help: did you mean `{phaseName}`?

0 errors, 2 warnings.");
}

#[test]
fn summaries_of_phases_that_are_not_there() {
    let flow = FLOW.replace("phases:", "completionMessage: D {summary.b} {summary.a}\nphases:");
    let phase = PHASE.replace("Do it", "{summary.a}{summary.look1}");
    let look = PHASE.replace("id: a", "id: look");
    reports(
        &place(&[
            ("global/w/workflow.yaml", &(flow + "  - b.md\n")),
            ("global/w/a.md", &phase),
            ("global/w/b.md", &look),
        ]),
        "\
~/workflows/w/workflow.yaml:4:22: warning: unknown variable `{summary.b}`: no phase has the id `b`; it is not replaced
  4 | completionMessage: D {summary.b} {summary.a}
    |                      ^^^^^^^^^^^

~/workflows/w/a.md:6:12: warning: unknown variable `{summary.look1}`: no phase has the id `look1`; it is not replaced
  6 | {summary.a}{summary.look1}.
    |            ^^^^^^^^^^^^^^^
  help: did you mean `{summary.look}`?

0 errors, 2 warnings.",
    );
    // nothing is said where not all phases are known
    with(
        &[("Do it", "{summary.b}"), ("- a.md\n", "- a.md\n  - b.md\n")],
        "\
~/workflows/w/workflow.yaml:6:5: error: cannot read the phase file `b.md`: there is no such file
  6 |   - b.md
    |     ^^^^
  help: did you mean `a.md`?

1 error, 0 warnings. 1 workflow is left out.",
    );
}

#[test]
fn tools() {
    with(
        &[(
            "emoji",
            "tools:\n  blacklist:\n    - edti\n    - workflow_step\n    - bash\n    - deploy\nemoji",
        )],
        "\
~/workflows/w/a.md:6:7: warning: unknown tool `edti`
  6 |     - edti
    |       ^^^^
  help: did you mean `edit`?

~/workflows/w/a.md:9:7: warning: unknown tool `deploy`
  9 |     - deploy
    |       ^^^^^^

0 errors, 2 warnings.",
    );
}

#[test]
fn what_would_harm_a_terminal_is_not_shown() {
    with(
        &[("name: Flow", "name: Flow\n\"\\e[31m\\u202Ex\": 1")],
        "\
~/workflows/w/workflow.yaml:2:1: warning: unknown field `�[31m�x`; it has no effect
  2 | \"\\e[31m\\u202Ex\": 1
    | ^^^^^^^
  help: remove it, or see docs/reference.md of pi-workflows for the available fields

0 errors, 1 warning.",
    );
    with(
        &[("Do it", "Do \u{1b}[31m{x}\u{202e}")],
        "\
~/workflows/w/a.md:6:9: warning: unknown variable `{x}`; it is not replaced
  6 | Do �[31m{x}�.
    |         ^^^
  help: remove it, or see docs/reference.md of pi-workflows for the available variables

0 errors, 1 warning.",
    );
}

#[test]
fn references_between_workflows() {
    // an unknown one
    reports(
        &place(&[
            (
                "global/w/workflow.yaml",
                "name: Flow\ncommandName: flow\ninitialMessage: Go\nphases:\n  - subworkflow: reviw\n",
            ),
            ("global/review/workflow.yaml", "name: R\nshow: workflows\nphases: [a.md]\n"),
            ("global/review/a.md", PHASE),
        ]),
        "\
~/workflows/w/workflow.yaml:5:5: error: the workflow \"w\" refers to \"reviw\", which does not exist
  5 |   - subworkflow: reviw
    |     ^^^^^^^^^^^^^^^^^^
  help: did you mean `review`?

1 error, 0 warnings. 1 workflow is left out.",
    );
    // a broken one
    reports(&place(&[("global/w/workflow.yaml", "name: Flow\ncommandName: flow\ninitialMessage: Go\nphases:\n  - subworkflow: b\n"), ("global/b/workflow.yaml", "name: B\nshow: workflows\nphases: [7]\n")]), "\
~/workflows/b/workflow.yaml:3:10: error: `phases`: expected a file name, `phase: FILE` or `subworkflow: KEY`, found a number
  3 | phases: [7]
    |          ^

~/workflows/w/workflow.yaml:5:5: error: the workflow \"w\" refers to \"b\", which has errors
  5 |   - subworkflow: b
    |     ^^^^^^^^^^^^^^
  help: fix \"b\" first

2 errors, 0 warnings. 2 workflows are left out.");
    // a cycle
    reports(&place(&[("global/a/workflow.yaml", "name: A\nshow: workflows\nphases: [{subworkflow: b}]\n"), ("global/b/workflow.yaml", "name: B\nshow: workflows\nphases:\n  - subworkflow: c\n"), ("global/c/workflow.yaml", "name: C\nshow: workflows\nphases:\n  - subworkflow: b\n")]), "\
~/workflows/b/workflow.yaml:4:5: error: the workflows refer to each other in a cycle: b → c → b
  4 |   - subworkflow: c
    |     ^^^^^^^^^^^^^^
  help: remove one of these references

~/workflows/c/workflow.yaml:4:5: error: the workflows refer to each other in a cycle: b → c → b
  4 |   - subworkflow: b
    |     ^^^^^^^^^^^^^^
  help: remove one of these references

~/workflows/a/workflow.yaml:3:10: error: the workflow \"a\" refers to \"b\", which is part of a cycle
  3 | phases: [{subworkflow: b}]
    |          ^^^^^^^^^^^^^^^^
  help: fix the cycle first

3 errors, 0 warnings. 3 workflows are left out.");
}

#[test]
fn names_that_are_taken() {
    // one command twice
    reports(&place(&[("global/v/workflow.yaml", "name: Flow\ncommandName: Flow\ninitialMessage: Go\nphases:\n  - ../w/a.md\n"), ("global/w/workflow.yaml", FLOW), ("global/w/a.md", PHASE), ("project/x/workflow.yaml", FLOW), ("project/x/a.md", PHASE)]), "\
~/workflows/w/workflow.yaml:2:14: warning: duplicate command name \"flow\" of \"w\" and \"x\" (.pi/workflows/x/workflow.yaml); \"x\" is used
  2 | commandName: flow
    |              ^^^^
  help: give each workflow a `commandName` of its own

~/workflows/w/workflow.yaml:2:14: warning: the command names \"Flow\" of \"v\" and \"flow\" of \"w\" differ in case only
  2 | commandName: flow
    |              ^^^^
  help: give each workflow a `commandName` of its own

.pi/workflows/x/workflow.yaml:2:14: warning: the command names \"Flow\" of \"v\" and \"flow\" of \"x\" differ in case only
  2 | commandName: flow
    |              ^^^^
  help: give each workflow a `commandName` of its own

0 errors, 3 warnings.");
    // one key twice
    reports(
        &place(&[
            ("global/w/workflow.yaml", FLOW),
            ("global/w/a.md", PHASE),
            ("project/w/workflow.yaml", FLOW),
            ("project/w/a.md", PHASE),
            ("global/lib/w/workflow.yaml", FLOW),
        ]),
        "\
~/workflows/lib/w: warning: duplicate workflow \"w\"; the one in ~/workflows/w is used
  help: give each workflow's folder a name of its own

.pi/workflows/w/workflow.yaml:1:7: warning: this workflow replaces the other \"w\" (~/workflows/w)
  1 | name: Flow
    |       ^^^^

0 errors, 2 warnings.",
    );
}

#[test]
fn files_that_nothing_uses() {
    // a phase
    reports(
        &place(&[
            ("global/w/workflow.yaml", FLOW),
            ("global/w/a.md", PHASE),
            ("global/w/old.md", PHASE),
            ("global/_shared/b.md", PHASE),
            ("global/w/README.md", "---\ntitle: x\n---\nRead me.\n"),
        ]),
        "\
~/workflows/w/old.md:1:1: warning: unused phase file: no workflow lists it
  1 | ---
    | ^^^
  help: list it under `phases` of a workflow.yaml, or delete it

~/workflows/_shared/b.md:1:1: warning: unused phase file: no workflow lists it
  1 | ---
    | ^^^
  help: list it under `phases` of a workflow.yaml, or delete it

0 errors, 2 warnings.",
    );
    // nothing is said where it is not known
    reports(&place(&[("global/w/workflow.yaml", "name: {"), ("global/w/a.md", PHASE)]), "\
~/workflows/w/workflow.yaml:1:8: error: not valid YAML: did not find expected node content
  1 | name: {
    |        ^
  help: look for a quote or bracket that is not closed, and put a value that begins with `{` in quotes

1 error, 0 warnings. 1 workflow is left out.");
}

#[test]
fn what_is_known_of_the_surroundings_counts() {
    let phase = PHASE
        .replace("emoji", "tools: {blacklist: [edti, deploy]}\navailableProfiles: [plannr]\nemoji");
    let mut place = place(&[("global/w/workflow.yaml", FLOW), ("global/w/a.md", &phase)]);
    place.more_tools = true;
    place.profiles = Some(vec!["planner".into()]);
    place.link = true;
    reports(&place, "\
~/workflows/w/a.md:4:21: warning: unknown tool `edti`
  4 | tools: {blacklist: [edti, deploy]}
    |                     ^^^^
  help: did you mean `edit`?

~/workflows/w/a.md:5:21: warning: unknown subagent profile `plannr`
  5 | availableProfiles: [plannr]
    |                     ^^^^^^
  help: did you mean `planner`?

~/workflows/zz: warning: skipped: neither a file nor a folder, or a link that leads nowhere or out of the workflows folder

0 errors, 3 warnings.");
}

#[test]
fn yaml_tags() {
    with(
        &[("emoji", "gate:\n  - run: ! npm test\nemoji")],
        "\
~/workflows/w/a.md:5:10: error: unknown YAML tag `!`
  5 |   - run: ! npm test
    |          ^
  help: put a value that begins with `!` in quotes

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(
        &[("name: Flow", "name: !important Flow")],
        "\
~/workflows/w/workflow.yaml:1:7: error: unknown YAML tag `!important`
  1 | name: !important Flow
    |       ^^^^^^^^^^
  help: put a value that begins with `!` in quotes

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(
        &[("emoji", "!!x tools: {blacklist: [edit]}\nemoji")],
        "\
~/workflows/w/a.md:4:1: error: a key cannot have a YAML tag
  4 | !!x tools: {blacklist: [edit]}
    | ^^^
  help: remove the tag

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(&[("name: Flow", "name: !!str Flow")], "1 workflow, no errors.");
}

#[test]
fn tools_in_another_case() {
    let report = "\
~/workflows/w/a.md:4:21: error: unknown tool `Edit`: the names of tools are case-sensitive
  4 | tools: {blacklist: [Edit, GREP, bash]}
    |                     ^^^^
  help: did you mean `edit`?

~/workflows/w/a.md:4:27: error: unknown tool `GREP`: the names of tools are case-sensitive
  4 | tools: {blacklist: [Edit, GREP, bash]}
    |                           ^^^^
  help: did you mean `grep`?

2 errors, 0 warnings. 1 workflow is left out.";
    let change = ("emoji", "tools: {blacklist: [Edit, GREP, bash]}\nemoji");
    with(&[change], report);
    // not only a check refuses them
    let phase = PHASE.replace(change.0, change.1);
    let files = place(&[("global/w/workflow.yaml", FLOW), ("global/w/a.md", &phase)]);
    let (library, diagnostics) = Library::load(&files).unwrap();
    assert_eq!(check_report(&library, &diagnostics), report);
    let phase = PHASE.replace("emoji", "tools: {unknown: [edit]}\nemoji");
    let files = place(&[("global/w/workflow.yaml", FLOW), ("global/w/a.md", &phase)]);
    assert!(Library::load(&files).unwrap().0.get("w").is_none());
}

#[test]
fn rules_under_another_name_or_in_another_place() {
    for (line, meant) in [
        ("Tools: {blacklist: [edit]}", "tools"),
        ("tool: {blacklist: [edit]}", "tools"),
        ("blacklist: [edit]", "tools.blacklist"),
        ("Gates: [{run: x}]", "gate"),
    ] {
        let key = line.split(':').next().unwrap_or_default();
        let phase = PHASE.replace("emoji", &format!("{line}\nemoji"));
        let files = place(&[("global/w/workflow.yaml", FLOW), ("global/w/a.md", &phase)]);
        let expected = format!(
            "\
~/workflows/w/a.md:4:1: error: unknown field `{key}`
  4 | {line}
    | {:^<1$}
  help: did you mean `{meant}`?

1 error, 0 warnings. 1 workflow is left out.",
            "",
            key.len()
        );
        reports(&files, &expected);
        let (library, diagnostics) = Library::load(&files).unwrap();
        assert_eq!(check_report(&library, &diagnostics), expected);
    }
    with(
        &[("Go\n", "Go\ntools: {whitelist: [read]}\nwhitelists: [read]\ngates: []\n")],
        "\
~/workflows/w/workflow.yaml:4:1: error: unknown field `tools`
  4 | tools: {whitelist: [read]}
    | ^^^^^
  help: `tools` belongs in the front matter of a phase file

~/workflows/w/workflow.yaml:5:1: error: unknown field `whitelists`
  5 | whitelists: [read]
    | ^^^^^^^^^^
  help: `tools.whitelist` belongs in the front matter of a phase file

~/workflows/w/workflow.yaml:6:1: error: unknown field `gates`
  6 | gates: []
    | ^^^^^
  help: did you mean `gate`?

3 errors, 0 warnings. 1 workflow is left out.",
    );
    with(
        &[("emoji", "date: 2026-01-01\nemoji")],
        "\
~/workflows/w/a.md:4:1: warning: unknown field `date`; it has no effect
  4 | date: 2026-01-01
    | ^^^^
  help: did you mean `gate`?

0 errors, 1 warning.",
    );
}

#[test]
fn a_tool_of_its_own_in_the_case_of_another_is_one() {
    let phase = PHASE.replace("emoji", "tools: {whitelist: [Bash, DEPLOY]}\nemoji");
    let mut files = place(&[("global/w/workflow.yaml", FLOW), ("global/w/a.md", &phase)]);
    let expected = "\
~/workflows/w/a.md:4:27: error: unknown tool `DEPLOY`: the names of tools are case-sensitive
  4 | tools: {whitelist: [Bash, DEPLOY]}
    |                           ^^^^^^
  help: did you mean `deploy`?

1 error, 0 warnings. 1 workflow is left out.";
    files.tools = vec!["Bash", "deploy"];
    reports(&files, expected);
    let (library, diagnostics) = Library::load(&files).unwrap();
    assert_eq!(check_report(&library, &diagnostics), expected);
}

#[test]
fn names_of_workflow_files() {
    let files = |name: &str| {
        place(&[
            (&format!("global/w/{name}"), FLOW),
            ("global/w/a.md", PHASE),
            ("global/v/workflow.yaml", "name: V\nshow: workflows\nphases:\n  - subworkflow: w\n"),
        ])
    };
    for name in ["workflow.yml", "Workflow.yaml", "WORKFLOW.YML"] {
        let expected = format!(
            "\
~/workflows/w/{name}: error: a workflow's file must be named `workflow.yaml`
  help: rename it to `workflow.yaml`

~/workflows/v/workflow.yaml:4:5: error: the workflow \"v\" refers to \"w\", which has errors
  4 |   - subworkflow: w
    |     ^^^^^^^^^^^^^^
  help: fix \"w\" first

2 errors, 0 warnings. 2 workflows are left out."
        );
        reports(&files(name), &expected);
        let (library, diagnostics) = Library::load(&files(name)).unwrap();
        assert_eq!(check_report(&library, &diagnostics), expected);
    }
    reports(
        &place(&[("project/workflow.yml", FLOW)]),
        "\
.pi/workflows/workflow.yml: error: a workflow must have a folder of its own in the workflows folder
  help: move it and its phase files into a folder; the folder's name is the key of the workflow

1 error, 0 warnings.",
    );
    // beside a workflow.yaml it is just another file
    reports(
        &place(&[
            ("global/w/workflow.yaml", FLOW),
            ("global/w/workflow.yml", FLOW),
            ("global/w/a.md", PHASE),
        ]),
        "1 workflow, no errors.",
    );
}

#[test]
fn front_matter_that_is_not_closed() {
    with(
        &[("'*'\n---\n", "'*'\n")],
        "\
~/workflows/w/a.md:1:1: error: the front matter is not closed
  1 | ---
    | ^^^
  help: put a line `---` below the last field

1 error, 0 warnings. 1 workflow is left out.",
    );
}

#[test]
fn ways_of_on_gate_fail() {
    let report = |to: &str, expected: &str| {
        let flow = FLOW.replace("- a.md", "- look.md\n  - change.md\n  - test.md");
        let phase = |id: &str, gate: &str| {
            PHASE.replace("id: a", &format!("id: {id}")).replace("emoji", &format!("{gate}emoji"))
        };
        let gate = format!("gate: [{{run: x}}]\nonGateFail: {to}\n");
        let files = place(&[
            ("global/w/workflow.yaml", &flow),
            ("global/w/look.md", &phase("look", "")),
            ("global/w/change.md", &phase("change", &gate)),
            ("global/w/test.md", &phase("test", "")),
        ]);
        reports(&files, &format!("\
~/workflows/w/change.md:5:13: error: `onGateFail`: expected `stay`, `loop` or the id of an earlier phase of this workflow, found `{to}`
  5 | onGateFail: {to}
    |             {:^<2$}
{}
1 error, 0 warnings. 1 workflow is left out.", "", expected, to.len()));
    };
    report("lok", "  help: did you mean `look`?\n");
    report("Lopo", "  help: did you mean `loop`?\n");
    report("change", "  help: did you mean `stay`?\n");
    report(
        "test",
        "  help: `test` is a later phase of the workflow \"w\"; a failure can only lead back\n",
    );
    report("elsewhere", "");
    // that of the workflow
    with(&[("Go\n", "Go\ngate: [{run: x}]\nonGateFail: b\n"), ("id: a\n", "id: aa\n")], "\
~/workflows/w/workflow.yaml:5:13: error: `onGateFail`: expected `stay`, `loop` or the id of an earlier phase of this workflow, found `b`
  5 | onGateFail: b
    |             ^

1 error, 0 warnings. 1 workflow is left out.");
}

#[test]
fn gate_attempts_that_are_never_reached() {
    let flow = FLOW.replace("Go\n", "Go\ngate: [{run: x}]\ngateAttempts: 2\nonGateFail: a\n");
    let phase =
        PHASE.replace("emoji", "gate: [{run: x}]\ngateAttempts: 5\nonGateFail: loop\nemoji");
    reports(
        &place(&[("global/w/workflow.yaml", &flow), ("global/w/a.md", &phase)]),
        "\
~/workflows/w/workflow.yaml:5:1: warning: unused `gateAttempts`: with `onGateFail: a` every failure leads back
  5 | gateAttempts: 2
    | ^^^^^^^^^^^^
  help: remove it; `maxLoops` of the workflow limits how often the run may go back

~/workflows/w/a.md:5:1: warning: unused `gateAttempts`: with `onGateFail: loop` every failure leads back
  5 | gateAttempts: 5
    | ^^^^^^^^^^^^
  help: remove it; `maxLoops` of the workflow limits how often the run may go back

0 errors, 2 warnings.",
    );
    let stays = phase.replace("loop", "stay");
    reports(
        &place(&[("global/w/workflow.yaml", FLOW), ("global/w/a.md", &stays)]),
        "1 workflow, no errors.",
    );
}

#[test]
fn choices_that_are_no_words() {
    with(
        &[("emoji", "summary: true\nemoji")],
        "\
~/workflows/w/a.md:4:10: error: `summary`: expected `optional` or `required`, found `true`
  4 | summary: true
    |          ^^^^
  help: did you mean `required`?

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(&[("Go\n", "Go\nshow: [user]\ncontextInjection: false\n"), ("emoji", "summary: false\nemoji")], "\
~/workflows/w/workflow.yaml:4:7: error: `show`: expected `user` or `workflows`, found a list
  4 | show: [user]
    |       ^^^^^^

~/workflows/w/workflow.yaml:5:19: error: `contextInjection`: expected `oncePerPhase` or `everyRun`, found `false`
  5 | contextInjection: false
    |                   ^^^^^

~/workflows/w/a.md:4:10: error: `summary`: expected `optional` or `required`, found `false`
  4 | summary: false
    |          ^^^^^
  help: did you mean `optional`?

3 errors, 0 warnings. 1 workflow is left out.");
}

#[test]
fn what_an_entry_of_phases_may_mean() {
    with(
        &[("- a.md", "- a")],
        "\
~/workflows/w/workflow.yaml:5:5: error: cannot read the phase file `a`: there is no such file
  5 |   - a
    |     ^
  help: did you mean `a.md`?

1 error, 0 warnings. 1 workflow is left out.",
    );
    for (entry, meant) in [
        ("subworklow: review", "subworkflow: review"),
        ("workflow: review", "subworkflow: review"),
        ("file: b.md", "b.md"),
    ] {
        with(&[("- a.md", &format!("- a.md\n  - {entry}"))], &format!("\
~/workflows/w/workflow.yaml:6:5: error: `phases`: expected a file name, `phase: FILE` or `subworkflow: KEY`, found a mapping
  6 |   - {entry}
    |     {:^<2$}
  help: did you mean `{}`?

1 error, 0 warnings. 1 workflow is left out.", "", meant, entry.len()));
    }
    let flow = |entry: &str| {
        let review = FLOW.replace("flow", "cr");
        let flow = FLOW.replace("- a.md", &format!("- {entry}"));
        place(&[
            ("global/code-review/workflow.yaml", &review),
            ("global/code-review/a.md", PHASE),
            ("global/w/workflow.yaml", &flow),
        ])
    };
    for (entry, said) in [
        ("code-review", "cannot read the phase file `code-review`: there is no such file"),
        ("../code-review", "cannot read the phase file `../code-review`: there is no such file"),
        ("cr", "cannot read the phase file `cr`: there is no such file"),
        (
            "subworkflow: cr",
            "the workflow \"w\" refers to \"cr\", which is the `commandName` of \"code-review\" and not a key",
        ),
    ] {
        reports(
            &flow(entry),
            &format!(
                "\
~/workflows/w/workflow.yaml:5:5: error: {said}
  5 |   - {entry}
    |     {:^<1$}
  help: did you mean `subworkflow: code-review`?

1 error, 0 warnings. 1 workflow is left out.",
                "",
                entry.len()
            ),
        );
    }
    reports(
        &flow("subworkflow: ../code-review/"),
        "\
~/workflows/w/workflow.yaml:5:5: error: the workflow \"w\" refers to \"../code-review/\", which does not exist
  5 |   - subworkflow: ../code-review/
    |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  help: did you mean `code-review`?

1 error, 0 warnings. 1 workflow is left out.",
    );
}

#[test]
fn checks_of_gates() {
    with(
        &[("emoji", "gate:\n  - run: npm test\n    file: out.txt\n    timeout: 5m\nemoji")],
        "\
~/workflows/w/a.md:5:5: error: expected one of `run`, `file` and `approve` in a check, found `run` and `file`
  5 |   - run: npm test
    |     ^^^^^^^^^^^^^
  help: make an entry of `gate` for each

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(
        &[("emoji", "gate:\n  - rum: npm test\n    timeout: 5m\nemoji")],
        "\
~/workflows/w/a.md:5:5: error: unknown field `rum` in a check
  5 |   - rum: npm test
    |     ^^^
  help: did you mean `run`?

1 error, 0 warnings. 1 workflow is left out.",
    );
}

#[test]
fn variables_by_what_they_stand_for() {
    with(&[("Go\n", "Go\ncompletionMessage: '{task} {summary}'\n"), ("Do it", "{task} {workflow} {phase} {summary}")], "\
~/workflows/w/workflow.yaml:4:21: warning: unknown variable `{task}` in `completionMessage`; it is not replaced
  4 | completionMessage: '{task} {summary}'
    |                     ^^^^^^
  help: did you mean `{taskDescription}`?

~/workflows/w/workflow.yaml:4:28: warning: unknown variable `{summary}` in `completionMessage`; it is not replaced
  4 | completionMessage: '{task} {summary}'
    |                            ^^^^^^^^^
  help: did you mean `{previousSummary}`?

~/workflows/w/a.md:6:1: warning: unknown variable `{task}`; it is not replaced
  6 | {task} {workflow} {phase} {summary}.
    | ^^^^^^
  help: did you mean `{description}`?

~/workflows/w/a.md:6:8: warning: unknown variable `{workflow}`; it is not replaced
  6 | {task} {workflow} {phase} {summary}.
    |        ^^^^^^^^^^
  help: did you mean `{workflowName}`?

~/workflows/w/a.md:6:19: warning: unknown variable `{phase}`; it is not replaced
  6 | {task} {workflow} {phase} {summary}.
    |                   ^^^^^^^
  help: did you mean `{phaseName}`?

~/workflows/w/a.md:6:27: warning: unknown variable `{summary}`; it is not replaced
  6 | {task} {workflow} {phase} {summary}.
    |                           ^^^^^^^^^
  help: did you mean `{previousSummary}`?

0 errors, 6 warnings.");
}

/// Checks one workflow of these phases, `global/w/a.md` and so on, with these lines in its files.
#[track_caller]
fn with_limits(flow: &str, phases: &[&str], expected: &str) {
    let ids = ["a", "b", "c"];
    let mut yaml = FLOW.to_owned();
    for id in ids.iter().take(phases.len()).skip(1) {
        yaml.push_str(&format!("  - {id}.md\n"));
    }
    yaml.push_str(flow);
    let texts: Vec<(String, String)> = ids
        .iter()
        .zip(phases)
        .map(|(id, lines)| {
            let text = PHASE.replace("id: a\n", &format!("id: {id}\n{lines}"));
            (format!("global/w/{id}.md"), text)
        })
        .collect();
    let mut files = vec![("global/w/workflow.yaml", &*yaml)];
    files.extend(texts.iter().map(|(path, text)| (&**path, &**text)));
    reports(&place(&files), expected);
}

#[test]
fn limits_that_are_not_understood() {
    with_limits(
        "",
        &["write: docs/\nsandbox: no\nnetwork: off\n"],
        "\
~/workflows/w/a.md:3:8: error: `write`: expected a list of paths, found a string
  3 | write: docs/
    |        ^^^^^
  help: did you mean `write: [docs/]`?

~/workflows/w/a.md:4:10: error: `sandbox`: expected `required`, `preferred` or `off`, found `no`
  4 | sandbox: no
    |          ^^
  help: did you mean `off`?

~/workflows/w/a.md:5:10: error: `network`: expected `true` or `false`, found `off`
  5 | network: off
    |          ^^^
  help: did you mean `false`?

3 errors, 0 warnings. 1 workflow is left out.",
    );
    with_limits(
        "",
        &["write: ['a/*/../b', '!a', 2024]\nwrites: [b]\n"],
        "\
~/workflows/w/a.md:3:9: error: `write`: `..` stands behind a wildcard in `a/*/../b`
  3 | write: ['a/*/../b', '!a', 2024]
    |         ^^^^^^^^^^
  help: write the path without `..`

~/workflows/w/a.md:3:21: error: `write`: `!a` begins with `!`, and a path cannot be excluded
  3 | write: ['a/*/../b', '!a', 2024]
    |                     ^^^^
  help: list only what may be written; a file whose name begins with `!` is `[!]NAME`

~/workflows/w/a.md:3:27: error: `write`: expected a string, found a number
  3 | write: ['a/*/../b', '!a', 2024]
    |                           ^^^^
  help: put the value in quotes

~/workflows/w/a.md:4:1: error: unknown field `writes`
  4 | writes: [b]
    | ^^^^^^
  help: did you mean `write`?

4 errors, 0 warnings. 1 workflow is left out.",
    );
}

#[test]
fn limits_without_the_effect_they_seem_to_have() {
    with_limits("", &["write: ['src/**/*.rs', '*.md', 'docs/**', tests/]\n"], "\
~/workflows/w/a.md:3:9: warning: `write`: commands can write everything in `src/`, not only `src/**/*.rs`
  3 | write: ['src/**/*.rs', '*.md', 'docs/**', tests/]
    |         ^^^^^^^^^^^^^
  help: a sandbox knows folders and files, but no wildcards; `edit` and `write` are held to the glob

~/workflows/w/a.md:3:24: warning: `write`: commands can write everything in `./`, not only `*.md`
  3 | write: ['src/**/*.rs', '*.md', 'docs/**', tests/]
    |                        ^^^^^^
  help: a sandbox knows folders and files, but no wildcards; `edit` and `write` are held to the glob

0 errors, 2 warnings.");
    with_limits("", &["write: ['src/*.rs']\nsandbox: off\n"], "1 workflow, no errors.");
    with_limits(
        "",
        &["write: ['src/*.rs']\ntools: {blacklist: [bash]}\n"],
        "1 workflow, no errors.",
    );
    with_limits("write: ['src/*.rs']\n", &["", "write: []\n"], "\
~/workflows/w/workflow.yaml:7:9: warning: `write`: commands can write everything in `src/`, not only `src/*.rs`
  7 | write: ['src/*.rs']
    |         ^^^^^^^^^^
  help: a sandbox knows folders and files, but no wildcards; `edit` and `write` are held to the glob

0 errors, 1 warning.");
    with_limits("write: ['src/*.rs']\nsandbox: off\n", &["", "sandbox: required\n"], "\
~/workflows/w/workflow.yaml:7:9: warning: `write`: commands can write everything in `src/`, not only `src/*.rs`
  7 | write: ['src/*.rs']
    |         ^^^^^^^^^^
  help: a sandbox knows folders and files, but no wildcards; `edit` and `write` are held to the glob

0 errors, 1 warning.");
    with_limits("", &["write: [a]\ntools: {whitelist: [read]}\n", "write: []\ntools: {whitelist: [read]}\n"], "\
~/workflows/w/a.md:3:8: warning: unused `write`: `tools.whitelist` has none of `edit`, `write`, `bash` and `powershell`
  3 | write: [a]
    |        ^^^
  help: add one of them to the whitelist, or use `write: []`

0 errors, 1 warning.");
    with_limits("", &["network: false\nsandbox: off\n"], "\
~/workflows/w/a.md:3:10: warning: `network: false` has no effect with `sandbox: off`: only a sandbox can refuse the network
  3 | network: false
    |          ^^^^^
  help: remove `sandbox: off`, or use `sandbox: preferred`

0 errors, 1 warning.");
    with_limits("network: false\nsandbox: off\n", &["", "sandbox: off\n"], "\
~/workflows/w/workflow.yaml:7:10: warning: `network: false` has no effect with `sandbox: off`: only a sandbox can refuse the network
  7 | network: false
    |          ^^^^^
  help: remove `sandbox: off`, or use `sandbox: preferred`

~/workflows/w/b.md:3:10: warning: `network: false` has no effect with `sandbox: off`: only a sandbox can refuse the network
  3 | sandbox: off
    |          ^^^
  help: remove `sandbox: off`, or use `sandbox: preferred`

0 errors, 2 warnings.");
    with_limits("network: false\n", &["sandbox: off\n", "network: true\n"], "\
~/workflows/w/a.md:3:10: warning: `network: false` has no effect with `sandbox: off`: only a sandbox can refuse the network
  3 | sandbox: off
    |          ^^^
  help: remove `sandbox: off`, or use `sandbox: preferred`

0 errors, 1 warning.");
    with_limits("sandbox: off\n", &["", "sandbox: preferred\n"], "\
~/workflows/w/workflow.yaml:7:1: warning: unused `sandbox`: there is no `write` and no `network: false`
  7 | sandbox: off
    | ^^^^^^^
  help: add the limit that commands are held to, or remove `sandbox`

~/workflows/w/b.md:3:1: warning: unused `sandbox`: there is no `write` and no `network: false`
  3 | sandbox: preferred
    | ^^^^^^^
  help: add the limit that commands are held to, or remove `sandbox`

0 errors, 2 warnings.");
    with_limits("sandbox: preferred\n", &["", "write: []\n"], "1 workflow, no errors.");
    with_limits("sandbox: preferred\n", &["sandbox: off\nwrite: []\n"], "\
~/workflows/w/workflow.yaml:6:1: warning: unused `sandbox`: there is no `write` and no `network: false`
  6 | sandbox: preferred
    | ^^^^^^^
  help: add the limit that commands are held to, or remove `sandbox`

0 errors, 1 warning.");
}

#[test]
fn the_file_of_a_gate_that_cannot_be_written() {
    let gate = "gate: [{run: make}, {file: docs/plan.md}]\n";
    let limited = |write: &str| format!("write: {write}\n{gate}");
    with_limits("", &[&limited("[tests/]")], "\
~/workflows/w/a.md:4:28: warning: `gate.file`: `write` in ~/workflows/w/a.md does not allow `docs/plan.md` to be written, here or in an earlier phase
  4 | gate: [{run: make}, {file: docs/plan.md}]
    |                            ^^^^^^^^^^^^
  help: add `docs/plan.md` to `write`

0 errors, 1 warning.");
    with_limits("write: []\n", &["", gate], "\
~/workflows/w/b.md:3:28: warning: `gate.file`: `write` in ~/workflows/w/workflow.yaml does not allow `docs/plan.md` to be written, here or in an earlier phase
  3 | gate: [{run: make}, {file: docs/plan.md}]
    |                            ^^^^^^^^^^^^
  help: add `docs/plan.md` to `write`

0 errors, 1 warning.");
    with_limits(&limited("[]"), &["", ""], "\
~/workflows/w/workflow.yaml:8:28: warning: `gate.file`: `write` in ~/workflows/w/workflow.yaml does not allow `docs/plan.md` to be written, here or in an earlier phase
  8 | gate: [{run: make}, {file: docs/plan.md}]
    |                            ^^^^^^^^^^^^
  help: add `docs/plan.md` to `write`

0 errors, 1 warning.");
    with_limits("", &[&limited("[docs/]")], "1 workflow, no errors.");
    with_limits("", &[&limited("['docs/*.txt']")], "\
~/workflows/w/a.md:3:9: warning: `write`: commands can write everything in `docs/`, not only `docs/*.txt`
  3 | write: ['docs/*.txt']
    |         ^^^^^^^^^^^^
  help: a sandbox knows folders and files, but no wildcards; `edit` and `write` are held to the glob

0 errors, 1 warning.");
    with_limits("", &[&limited("[docs/plan.md]")], "1 workflow, no errors.");
    with_limits("", &["write: [docs/]\n", &limited("[]")], "1 workflow, no errors.");
    with_limits("", &["", &limited("[]")], "1 workflow, no errors.");
    with_limits("", &["sandbox: off\nwrite: [a]\n", &limited("[]")], "1 workflow, no errors.");
    with_limits(
        "",
        &["tools: {whitelist: [edit, other]}\nwrite: [a]\n", &limited("[]")],
        "\
~/workflows/w/a.md:3:27: warning: unknown tool `other`
  3 | tools: {whitelist: [edit, other]}
    |                           ^^^^^

0 errors, 1 warning.",
    );
    with_limits("", &["write: []\ngate: [{file: docs/*.md}]\n"], "1 workflow, no errors.");
}

#[test]
fn a_rule_through_a_link() {
    let mut place = place(&[
        ("global/w/workflow.yaml", FLOW),
        ("global/w/a.md", &PHASE.replace("id: a\n", "id: a\nwrite: [docs/, 'out/*/']\n")),
    ]);
    place.files.linked = vec!["/project/out".into()];
    reports(&place, "\
~/workflows/w/a.md:3:16: warning: `write`: `out/*/` leads through a link, so it allows nothing
  3 | write: [docs/, 'out/*/']
    |                ^^^^^^^^
  help: list the path to which it leads: /project/out

~/workflows/w/a.md:3:16: warning: `write`: commands can write everything in `out/`, not only `out/*/`
  3 | write: [docs/, 'out/*/']
    |                ^^^^^^^^
  help: a sandbox knows folders and files, but no wildcards; `edit` and `write` are held to the glob

0 errors, 2 warnings.");
}

#[test]
fn tests_of_phases() {
    with_limits("", &["write: [docs/]\ntools: {blacklist: [ls]}\ntests:\n  allowed: [edit docs/x, bash make, bash, read /x, edit ../docs/x, ls docs/x, other]\n  refused: [edit x, ls docs/x, read x, edit docs/x, bash rm]\n"], "\
~/workflows/w/a.md:4:21: warning: unknown tool `ls`
  4 | tools: {blacklist: [ls]}
    |                     ^^

~/workflows/w/a.md:6:52: error: in the workflow \"w\", `edit ../docs/x` is refused by `write` of this phase, and the test wants it allowed
  6 |   allowed: [edit docs/x, bash make, bash, read /x, edit ../docs/x, ls docs/x, other]
    |                                                    ^^^^^^^^^^^^^^
  help: `write` has docs/

~/workflows/w/a.md:6:68: error: in the workflow \"w\", `ls docs/x` is refused by `tools` of this phase, and the test wants it allowed
  6 |   allowed: [edit docs/x, bash make, bash, read /x, edit ../docs/x, ls docs/x, other]
    |                                                                    ^^^^^^^^^

~/workflows/w/a.md:6:79: warning: unknown tool `other`
  6 |   allowed: [edit docs/x, bash make, bash, read /x, edit ../docs/x, ls docs/x, other]
    |                                                                               ^^^^^

~/workflows/w/a.md:6:79: error: in the workflow \"w\", `other` is refused by `write` of this phase, and the test wants it allowed
  6 |   allowed: [edit docs/x, bash make, bash, read /x, edit ../docs/x, ls docs/x, other]
    |                                                                               ^^^^^
  help: the tool may write files; a `tools.whitelist` that names it would allow it

~/workflows/w/a.md:7:32: error: in the workflow \"w\", `read x` is allowed: no rule refuses it, and the test wants it refused
  7 |   refused: [edit x, ls docs/x, read x, edit docs/x, bash rm]
    |                                ^^^^^^

~/workflows/w/a.md:7:40: error: in the workflow \"w\", `edit docs/x` is allowed by `write` of this phase, and the test wants it refused
  7 |   refused: [edit x, ls docs/x, read x, edit docs/x, bash rm]
    |                                        ^^^^^^^^^^^

~/workflows/w/a.md:7:53: error: in the workflow \"w\", `bash rm` is allowed, in a sandbox, and the test wants it refused
  7 |   refused: [edit x, ls docs/x, read x, edit docs/x, bash rm]
    |                                                     ^^^^^^^

6 errors, 2 warnings.");
    with_limits("write: []\n", &["tests: {allowed: [edit x, other y]}\n"], "\
~/workflows/w/a.md:3:19: error: in the workflow \"w\", `edit x` is refused by `write` of workflow.yaml, and the test wants it allowed
  3 | tests: {allowed: [edit x, other y]}
    |                   ^^^^^^
  help: `write` has no entry

~/workflows/w/a.md:3:27: warning: unknown tool `other`
  3 | tests: {allowed: [edit x, other y]}
    |                           ^^^^^^^

~/workflows/w/a.md:3:27: error: in the workflow \"w\", `other y` is refused by `write` of workflow.yaml, and the test wants it allowed
  3 | tests: {allowed: [edit x, other y]}
    |                           ^^^^^^^
  help: the tool may write files; a `tools.whitelist` that names it would allow it

2 errors, 1 warning.");
    with_limits(
        "",
        &["tests: {allowed: ['', {edit: x}], denied: [x]}\n"],
        "\
~/workflows/w/a.md:3:19: error: `tests.allowed`: expected `TOOL ARGUMENT`, found a string
  3 | tests: {allowed: ['', {edit: x}], denied: [x]}
    |                   ^^

~/workflows/w/a.md:3:23: error: `tests.allowed`: expected `TOOL ARGUMENT`, found a mapping
  3 | tests: {allowed: ['', {edit: x}], denied: [x]}
    |                       ^^^^^^^^^

~/workflows/w/a.md:3:35: error: unknown field `denied` in `tests`
  3 | tests: {allowed: ['', {edit: x}], denied: [x]}
    |                                   ^^^^^^
  help: available fields: `allowed` and `refused`

3 errors, 0 warnings.",
    );
    with_limits(
        "",
        &["tests: [edit x]\n"],
        "\
~/workflows/w/a.md:3:8: error: `tests`: expected a mapping with `allowed` or `refused`, found a list
  3 | tests: [edit x]
    |        ^^^^^^^^

1 error, 0 warnings.",
    );
    let many = "write x, ".repeat(101);
    with_limits("", &[&format!("tests: {{allowed: [{many}]}}\n")], "\
~/workflows/w/a.md:3:8: error: `tests` must not have more than 100 entries
  3 | tests: {allowed: [write x, write x, write x, write x, write x, write x, write x, write x, write x, w…
    |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

1 error, 0 warnings.");
}

#[test]
fn models_that_are_not_there() {
    let phase = |model: &str| PHASE.replace("id: a\n", &format!("id: a\n{model}\n"));
    let aliases = "strong: [open/gpt-5:high, open/gtp-5]\nfast: open/mini\n";
    let mut place = place(&[
        ("global/models.yaml", aliases),
        ("global/w/workflow.yaml", &FLOW.replace("- a.md", "- a.md\n  - b.md\n  - c.md")),
        ("global/w/a.md", &phase("model: [strong, open/gpt-5, open/gpt-5x, slow, open/mini:hgih]")),
        ("global/w/b.md", &phase("model: fsat\nthinking: hi").replace("id: a", "id: b")),
        ("global/w/c.md", &phase("model: fast\nthinking: false").replace("id: a", "id: c")),
    ]);
    let model = |id: &str| {
        let model = Model { provider: "open".into(), id: id.into() };
        KnownModel { model, available: false, priced: true }
    };
    place.files.models = Some(vec![model("gpt-5"), model("mini")]);
    reports(
        &place,
        "\
~/workflows/w/b.md:3:8: warning: unknown alias `fsat` of a model
  3 | model: fsat
    |        ^^^^
  help: did you mean `fast`?

~/workflows/w/b.md:4:11: warning: unknown thinking level `hi`; it has no effect
  4 | thinking: hi
    |           ^^
  help: use `off`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`

~/workflows/w/c.md:4:11: warning: unknown thinking level `false`; it has no effect
  4 | thinking: false
    |           ^^^^^
  help: did you mean `off`?

~/workflows/w/a.md:3:29: warning: unknown model `open/gpt-5x`
  3 | model: [strong, open/gpt-5, open/gpt-5x, slow, open/mini:hgih]
    |                             ^^^^^^^^^^^
  help: did you mean `open/gpt-5`?

~/workflows/w/a.md:3:42: warning: unknown alias `slow` of a model
  3 | model: [strong, open/gpt-5, open/gpt-5x, slow, open/mini:hgih]
    |                                          ^^^^
  help: add `slow: PROVIDER/ID` to ~/.pi/agent/workflows/models.yaml

~/workflows/w/a.md:3:48: warning: unknown model `open/mini:hgih`
  3 | model: [strong, open/gpt-5, open/gpt-5x, slow, open/mini:hgih]
    |                                                ^^^^^^^^^^^^^^
  help: did you mean `open/mini:high`?

~/workflows/models.yaml:1:27: warning: unknown model `open/gtp-5`
  1 | strong: [open/gpt-5:high, open/gtp-5]
    |                           ^^^^^^^^^^
  help: did you mean `open/gpt-5`?

0 errors, 7 warnings.",
    );
    place.files.models = None;
    reports(
        &place,
        "\
~/workflows/w/b.md:4:11: warning: unknown thinking level `hi`; it has no effect
  4 | thinking: hi
    |           ^^
  help: use `off`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`

~/workflows/w/c.md:4:11: warning: unknown thinking level `false`; it has no effect
  4 | thinking: false
    |           ^^^^^
  help: did you mean `off`?

0 errors, 2 warnings.",
    );
}

#[test]
fn aliases_of_models_with_errors() {
    let of = |aliases: &str| {
        let flow = [("global/w/workflow.yaml", FLOW), ("global/w/a.md", PHASE)];
        place(&[("global/models.yaml", aliases), flow[0], flow[1]])
    };
    reports(&of("strong: ok/ok\nfast: 'x"), "\
~/workflows/models.yaml:2:9: error: not valid YAML: found unexpected end of stream
  2 | fast: 'x
    |         ^
  help: look for a quote or bracket that is not closed, and put a value that begins with `{` in quotes

1 error, 0 warnings.");
    reports(
        &of("- a"),
        "\
~/workflows/models.yaml:1:1: error: expected a mapping of fields to values, found a list
  1 | - a
    | ^^^

1 error, 0 warnings.",
    );
    reports(
        &of("strong: [a/b, fast]\nfast: slow\na/b: c/d\nnone: {a: b}\nother: [a/b, 7]\ngood: a/b"),
        "\
~/workflows/models.yaml:1:15: error: `fast` is not the name of a model
  1 | strong: [a/b, fast]
    |               ^^^^
  help: use PROVIDER/ID; an alias cannot stand for another alias

~/workflows/models.yaml:2:7: error: `slow` is not the name of a model
  2 | fast: slow
    |       ^^^^
  help: use PROVIDER/ID; an alias cannot stand for another alias

~/workflows/models.yaml:3:1: error: `a/b` cannot be an alias: a name with `/` is that of a model
  3 | a/b: c/d
    | ^^^

~/workflows/models.yaml:4:7: error: `none`: expected the name of a model or a list of names, found a mapping
  4 | none: {a: b}
    |       ^^^^^^

~/workflows/models.yaml:5:14: error: `other`: expected the name of a model or a list of names, found a number
  5 | other: [a/b, 7]
    |              ^

5 errors, 0 warnings.",
    );
    reports(
        &of("strong: a/b\nstrong: a/c\n"),
        "\
~/workflows/models.yaml:2:1: error: duplicate key `strong`
  2 | strong: a/c
    | ^^^^^^
  help: remove one of the two

1 error, 0 warnings.",
    );
    reports(&of("\n# nothing\n"), "1 workflow, no errors.");
}

#[test]
fn entries_with_conditions_and_values() {
    with(&[("- a.md", "- a.md\n    when: { input.x: y }")], "\
~/workflows/w/workflow.yaml:6:9: error: not valid YAML: mapping values are not allowed in this context
  6 |     when: { input.x: y }
    |         ^^^^^^^^^^^^^^^^
  help: write the entry as `- phase: FILE`, and `when` below `phase`

1 error, 0 warnings. 1 workflow is left out.");
    with(&[("- a.md", "- a.md:\n    when: { input.x: y }")], "\
~/workflows/w/workflow.yaml:5:5: error: `phases`: expected a file name, `phase: FILE` or `subworkflow: KEY`, found a mapping
  5 |   - a.md:
    |     ^^^^^
  help: did you mean `phase: a.md`?

1 error, 0 warnings. 1 workflow is left out.");
    with(
        &[("- a.md", "- phase: a.md\n    with: { x: y }")],
        "\
~/workflows/w/workflow.yaml:6:5: error: `with`: expected `subworkflow` beside it, found `phase`
  6 |     with: { x: y }
    |     ^^^^^^^^^^^^^^

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(
        &[("phases:", "outcomes: { x: next }\nphases:")],
        "\
~/workflows/w/workflow.yaml:4:1: error: unknown field `outcomes`
  4 | outcomes: { x: next }
    | ^^^^^^^^
  help: `outcomes` belongs in the front matter of a phase file

1 error, 0 warnings. 1 workflow is left out.",
    );
    with(
        &[("emoji", "when: { input.x: y }\ninputs: {}\nemoji")],
        "\
~/workflows/w/a.md:4:1: error: unknown field `when`
  4 | when: { input.x: y }
    | ^^^^
  help: `when` belongs in an entry of `phases` in `workflow.yaml`

~/workflows/w/a.md:5:1: error: unknown field `inputs`
  5 | inputs: {}
    | ^^^^^^
  help: `inputs` belongs in `workflow.yaml`

2 errors, 0 warnings. 1 workflow is left out.",
    );
    with(&[("emoji", "outcomes: [x, y]\nemoji")], "\
~/workflows/w/a.md:4:11: error: `outcomes`: expected a mapping like `{ clean: next, issues: implement }`, found a list
  4 | outcomes: [x, y]
    |           ^^^^^^

1 error, 0 warnings. 1 workflow is left out.");
    nesting(
        "part: {input.x}",
        "\
~/workflows/w/workflow.yaml:6:19: error: `with.part`: expected a value, found a mapping
  6 |     with: { part: {input.x} }
    |                   ^^^^^^^^^
  help: did you mean `\"{input.x}\"`?

1 error, 0 warnings. 1 workflow is left out.",
    );
    nesting("part: '{input.x}'", "\
~/workflows/w/workflow.yaml:6:19: error: `with.part`: expected a text of 1 to 1000 characters, found `{input.x}`, which the workflow does not have
  6 |     with: { part: '{input.x}' }
    |                   ^^^^^^^^^^^

1 error, 0 warnings. 1 workflow is left out.");
    nesting("prt: x", "\
~/workflows/w/workflow.yaml:6:13: error: `with`: expected an input of the workflow \"n\": `part`, found `prt`
  6 |     with: { prt: x }
    |             ^^^^^^
  help: did you mean `part`?

1 error, 0 warnings. 1 workflow is left out.");
}

/// Checks a workflow that gives these values to one with the input `part`.
#[track_caller]
fn nesting(values: &str, expected: &str) {
    let flow = FLOW.replace("a.md", &format!("subworkflow: n\n    with: {{ {values} }}\n  - a.md"));
    let nested =
        "name: N\nshow: workflows\ninputs:\n  part: { type: text }\nphases:\n  - ../w/a.md\n";
    let files = [("w/workflow.yaml", &*flow), ("w/a.md", PHASE), ("n/workflow.yaml", nested)];
    let files = files.map(|(path, text)| (format!("global/{path}"), text));
    reports(&place(&files.each_ref().map(|(path, text)| (path.as_str(), *text))), expected);
}
