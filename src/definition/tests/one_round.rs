//! One check tells all that is wrong: any mistakes of a table, in one workflow, are reported beside each other, and
//! nothing else is.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

/// A workflow without a mistake, one that is nested in it, and one that nests it.
const FILES: [(&str, &str); 11] = [
    (
        "w/workflow.yaml",
        "name: Whole
commandName: whole
initialMessage: 'Go: {input.scope}'
loopable: true
maxLoops: input.rounds
onMaxLoops: next
budget: { turns: 40 }
inputs:
  scope: { type: choice, options: [api, web] }
  rounds: { type: number, min: 1, max: 9 }
  place: { type: text, default: docs }
phases:
  - triage.md
  - phase: plan.md
    when: { outcome.triage: large }
  - subworkflow: part
    with: { half: input.scope }
  - phase: do.md
    when: { output.plan.size: [small, medium] }
  - phase: look.md
    when: { outcome.part: good }
  - phases: [bugs.md, docs.md]
    id: reviews
    parallel: 2
    need: 1
    decide: [bad, good]
    outcomes: { bad: do }
  - run: git status
    id: state
    env: { PART: outcome.part }
    outcomes: { failed: do }
  - phases:
      - phase: fix.md
        when: { outcome.state: failed }
      - run: npm test
        id: test
        outcomes: { failed: loop }
    id: fixing
    maxLoops: 3
    gate: [{ run: npm test, env: { PLACE: input.place } }]
  - phase: sign-off.md
    outcomes: { no: plan }
gate:
  - run: npm test
    env: { SCOPE: input.scope }
",
    ),
    (
        "w/triage.md",
        "---
id: triage
name: Triage
emoji: '*'
outcomes: { large: next, small: do }
tools: { whitelist: [read, bash] }
---
Look at it.
",
    ),
    (
        "w/plan.md",
        "---
id: plan
name: Plan
emoji: '*'
outputs: { size: { type: choice, options: [small, medium] } }
results: [triage]
write: ['{input.place}/plan.md']
---
Plan it after {summary.triage}.
",
    ),
    (
        "w/do.md",
        "---
id: do
name: Do
emoji: '*'
outcomes: { clean: next, issues: loop }
gate:
  - run: npm test
    outcome: clean
    env: { SIZE: output.plan.size }
  - file: '{input.place}/done.md'
    label: Notes
onGateFail: plan
---
Do it: {input.scope}, {output.plan.size}, {outcome.triage}.
",
    ),
    (
        "w/look.md",
        "---
id: look
name: Look
emoji: '*'
interactive: true
write: ['{input.place}/']
budget: { time: 30m }
tests: { refused: [edit src/main.rs] }
---
Look at it again.
",
    ),
    (
        "w/bugs.md",
        "---
id: bugs
name: Bugs
emoji: '*'
outcomes: { bad: next, good: done }
write: [bugs/]
---
Look for bugs.
",
    ),
    (
        "w/docs.md",
        "---
id: docs
name: Docs
emoji: '*'
context: fresh
write: ['docs/']
results: [plan]
---
Read the pages.
",
    ),
    (
        "w/fix.md",
        "---
id: fix
name: Fix
emoji: '*'
---
Fix it: {outcome.test}.
",
    ),
    (
        "w/sign-off.md",
        "---
id: sign-off
name: Sign-off
emoji: '*'
outcomes: { yes: done, no: loop }
context: fresh
---
Sign it off.
",
    ),
    (
        "part/workflow.yaml",
        "name: Part
show: workflows
inputs: { half: { type: choice, options: [api, web] } }
phases: [part.md]
",
    ),
    (
        "part/part.md",
        "---
id: part
name: Part
emoji: '*'
outcomes: { good: next, bad: done }
---
Do your part.
",
    ),
];

/// A mistake: its name, the file, what stands there, what stands there instead, and the words that report it.
type Mistake = (&'static str, &'static str, &'static str, &'static str, &'static str);

const YAML: &str = "w/workflow.yaml";

#[rustfmt::skip]
const MISTAKES: [Mistake; 67] = [
    ("name", YAML, "name: Whole", "name: ' '", "`name` must not be empty"),
    ("command", YAML, "commandName: whole", "commandName: the whole", "`commandName`: expected"),
    ("message", YAML, "initialMessage: 'Go: {input.scope}'", "initialMesage: Go", "missing field `initialMessage`"),
    ("loopable", YAML, "loopable: true", "loopable: maybe", "`loopable`: expected"),
    ("no loop", YAML, "loopable: true", "loopable: false", "is not allowed in a workflow with `loopable: false`"),
    ("bound", YAML, "maxLoops: input.rounds", "maxLoops: input.round", "found `input.round`"),
    ("choice", YAML, "onMaxLoops: next", "onMaxLoops: stop", "`onMaxLoops`: expected"),
    ("budget", YAML, "budget: { turns: 40 }", "budget: { turns: many }", "`budget.turns`: expected"),
    ("unknown field", YAML, "budget: { turns: 40 }", "timeout: 30m", "unknown field `timeout`; it has no effect"),
    ("input type", YAML, "scope: { type: choice, options: [api, web] }", "scope: { type: choise }", "`inputs.scope.type`: expected"),
    ("input bounds", YAML, "rounds: { type: number, min: 1, max: 9 }", "rounds: { type: number, min: 9, max: 1 }", "`inputs.rounds.max`: expected"),
    ("inputs", YAML, "inputs:\n  scope: { type: choice, options: [api, web] }\n  rounds: { type: number, min: 1, max: 9 }\n  place: { type: text, default: docs }", "inputs: 7", "`inputs`: expected a mapping"),
    ("path", YAML, "default: docs }", "default: ../docs }", "`inputs.place`: expected"),
    ("phase file", YAML, "- triage.md", "- triag.md", "cannot read the phase file `triag.md`"),
    ("when", YAML, "when: { outcome.triage: large }", "when: { outcome.triage: lareg }", "found `lareg`"),
    ("when of nothing", YAML, "when: { outcome.triage: large }", "when: { outcome.triag: large }", "found `outcome.triag`"),
    ("bad when", YAML, "when: { outcome.triage: large }", "when: large", "`when`: expected a mapping"),
    ("reference", YAML, "subworkflow: part\n", "subworkflow: prat\n", "refers to \"prat\", which does not exist"),
    ("cycle", "part/workflow.yaml", "phases: [part.md]", "phases: [part.md, { subworkflow: w, with: { scope: api, rounds: 1 } }]", "refer to each other in a cycle"),
    ("with", YAML, "with: { half: input.scope }", "with: { hlaf: input.scope }", "found `hlaf`"),
    ("value of with", YAML, "with: { half: input.scope }", "with: { half: input.scoep }", "found `input.scoep`"),
    ("no with", YAML, "    with: { half: input.scope }\n", "", "needs a value of `half`"),
    ("when of output", YAML, "[small, medium] }\n  - phase: look", "[small, big] }\n  - phase: look", "found `big`"),
    ("when of exit", YAML, "when: { outcome.part: good }", "when: { outcome.part: god }", "found `god`"),
    ("entry", YAML, "- phase: look.md", "- file: look.md", "`phases`: expected a file name"),
    ("command line", YAML, "run: git status", "run: [git, status]", "`run`: expected a string"),
    ("field of step", YAML, "env: { PART: outcome.part }", "envs: { PART: outcome.part }", "unknown field `envs` in `phases`"),
    ("env of step", YAML, "env: { PART: outcome.part }", "env: { PART: outcome.prat }", "found `outcome.prat`"),
    ("target of step", YAML, "outcomes: { failed: do }", "outcomes: { failed: due }", "found `due`"),
    ("outcome of step", YAML, "outcomes: { failed: do }", "outcomes: { failed: do, fine: next }", "found `fine`"),
    ("when in group", YAML, "when: { outcome.state: failed }", "when: { outcome.stat: failed }", "found `outcome.stat`"),
    ("file in group", YAML, "phase: fix.md", "phase: fixx.md", "cannot read the phase file `fixx.md`"),
    ("target in group", YAML, "outcomes: { failed: loop }", "outcomes: { failed: tets }", "found `tets`"),
    ("loops of group", YAML, "maxLoops: 3", "maxLoops: three", "`maxLoops`: expected a whole number"),
    ("field of group", YAML, "maxLoops: 3", "maxLops: 3", "unknown field `maxLops`"),
    ("env in group", YAML, "env: { PLACE: input.place }", "env: { PLACE: input.palce }", "found `input.palce`"),
    ("id in group", "w/fix.md", "id: fix", "id: [fix]", "`id`: expected a string"),
    ("target of entry", YAML, "outcomes: { no: plan }", "outcomes: { no: paln }", "found `paln`"),
    ("outcome of entry", YAML, "outcomes: { no: plan }", "outcomes: { nein: plan }", "found `nein`"),
    ("env of workflow", YAML, "env: { SCOPE: input.scope }", "env: { SCOPE: input.scop }", "found `input.scop`"),
    ("at once", YAML, "parallel: 2", "parallel: 17", "`parallel`: expected"),
    ("need", YAML, "need: 1", "need: 3", "`need`: expected"),
    ("decide", YAML, "decide: [bad, good]", "decide: [bad, good, goood]", "found `goood`"),
    ("outcome of branches", YAML, "outcomes: { bad: do }", "outcomes: { bda: do }", "found `bda`"),
    ("target of branch", "w/bugs.md", "good: done }", "good: docs }", "found `docs`"),
    ("write of branch", "w/bugs.md", "write: [bugs/]", "write: [docs/a]", "can write the same files"),
    ("context of branch", "w/docs.md", "context: fresh", "context: shared", "begins a branch"),
    ("results of branch", "w/docs.md", "results: [plan]", "results: [bugs]", "is of another branch"),
    ("front matter", "w/triage.md", "emoji: '*'\n", "emoji: '*\n", "not valid YAML"),
    ("emoji", "w/triage.md", "emoji: '*'\n", "", "missing field `emoji`"),
    ("id", "w/triage.md", "id: triage", "id: 7", "`id`: expected a string"),
    ("target", "w/triage.md", "small: do }", "small: due }", "found `due`"),
    ("outcomes", "w/triage.md", "{ large: next, small: do }", "[large, small]", "`outcomes`: expected a mapping"),
    ("tools", "w/triage.md", "tools: { whitelist: [read, bash] }", "tools: { whitelist: [read, Bash] }", "unknown tool `Bash`"),
    ("output type", "w/plan.md", "{ type: choice, options: [small, medium] }", "{ type: text, options: [small] }", "`outputs.size.options`: expected"),
    ("outputs", "w/plan.md", "{ size: { type: choice, options: [small, medium] } }", "size", "`outputs`: expected a mapping"),
    ("results", "w/plan.md", "results: [triage]", "results: [triaeg]", "found `triaeg`"),
    ("summary", "w/plan.md", "{summary.triage}", "{summary.triaje}", "no phase has the id `triaje`"),
    ("outcome of check", "w/do.md", "outcome: clean", "outcome: claen", "found `claen`"),
    ("env", "w/do.md", "env: { SIZE: output.plan.size }", "env: { SIZE: output.plan.siez }", "found `output.plan.siez`"),
    ("check", "w/do.md", "label: Notes", "labl: Notes", "unknown field `labl` in a check"),
    ("file", "w/do.md", "'{input.place}/done.md'", "'{input.palce}/done.md'", "found `{input.palce}`"),
    ("on gate fail", "w/do.md", "onGateFail: plan", "onGateFail: paln", "`onGateFail`: expected"),
    ("variable", "w/do.md", "Do it: {input.scope}", "Do it: {input.socpe}", "unknown variable `{input.socpe}`"),
    ("write", "w/look.md", "write: ['{input.place}/']", "write: ['{input.palce}/']", "found `{input.palce}`"),
    ("conversation", "w/look.md", "interactive: true", "interactive: 'true'", "`interactive`: expected"),
    ("duplicate id", "w/look.md", "id: look", "id: do", "duplicate phase id `do`"),
];

/// The mistakes of which those on the right cannot be known to be any beside the one on the left.
#[rustfmt::skip]
const HIDES: [(&str, &[&str]); 13] = [
    // What has no inputs that can be read may have any.
    ("inputs", &["bound", "value of with", "env of workflow", "env in group", "file", "variable", "write"]),
    // A file that is not read may have any id, and its own mistakes are not seen.
    ("phase file", &[
        "front matter", "emoji", "id", "target", "outcomes", "tools", "when", "when of nothing", "when in group", "target of entry",
        "target of step", "env of step", "results", "summary", "on gate fail",
    ]),
    ("front matter", &[
        "id", "target", "outcomes", "tools", "when", "when of nothing", "when in group", "target of entry", "target of step",
        "env of step", "results", "summary", "on gate fail",
    ]),
    ("entry", &[
        "write", "conversation", "duplicate id", "target", "target of entry", "target of step", "env of step", "when in group", "results", "summary",
    ]),
    ("file in group", &["id in group", "target in group", "env of step", "results", "summary"]),
    // Nor can a phase without an id be known by another name.
    ("id", &[
        "target", "when", "when of nothing", "when in group", "target of entry", "target of step", "env of step", "results",
        "summary", "on gate fail",
    ]),
    ("id in group", &["target in group", "env of step", "results", "summary"]),
    // The workflow that is meant has other inputs and outcomes, leads to no cycle, and may have any key.
    ("reference", &[
        "cycle", "with", "value of with", "no with", "when of exit", "target", "target of entry", "target of step", "env of step",
        "when in group", "results", "summary",
    ]),
    ("cycle", &["when of exit"]),
    // What may not be parallel has no branches.
    ("at once", &[
        "need", "decide", "outcome of branches", "target of branch", "write of branch", "context of branch", "results of branch",
    ]),
    // Values of what cannot be read.
    ("outcomes", &["when"]),
    ("outputs", &["env", "when of output"]),
    ("output type", &["when of output"]),
];

/// The files with some mistakes; `None` if two of them do not go together: one changes what the other is in.
fn with(mistakes: &[usize]) -> Option<Files> {
    let mut files: Vec<(&str, String)> = FILES.map(|(path, text)| (path, text.to_owned())).into();
    for (_, path, from, to, _) in mistakes.iter().map(|&index| MISTAKES[index]) {
        let (_, text) = files.iter_mut().find(|(other, _)| *other == path)?;
        if text.matches(from).count() != 1 {
            return None;
        }
        *text = text.replacen(from, to, 1);
    }
    let mut all = Files::default();
    all.global.extend(files.into_iter().map(|(path, text)| (path.to_owned(), text)));
    Some(all)
}

/// The reports of some mistakes, without their lines; none for mistakes that do not go together.
fn reports(mistakes: &[usize]) -> Option<BTreeSet<String>> {
    let files = with(mistakes)?;
    let (library, diagnostics) = Library::check(&files).unwrap();
    let (loaded, _) = Library::load(&files).unwrap();
    let errors = diagnostics.iter().any(|diagnostic| diagnostic.severity() == Severity::Error);
    for library in [library, loaded] {
        assert_eq!(library.get("w").is_none(), errors, "{diagnostics:?}");
    }
    let words = |diagnostic: &Diagnostic| format!("{}: {}", diagnostic.file, diagnostic.message());
    // Why a workflow is left out that is right itself.
    let is_of_another = |words: &String| words.ends_with("which has errors");
    Some(diagnostics.iter().map(words).filter(|words| !is_of_another(words)).collect())
}

/// The reports of each mistake alone.
fn alone(mistake: usize) -> &'static BTreeSet<String> {
    static ALONE: LazyLock<Vec<BTreeSet<String>>> =
        LazyLock::new(|| (0..MISTAKES.len()).map(|index| reports(&[index]).unwrap()).collect());
    &ALONE[mistake]
}

fn names(mistakes: &[usize]) -> Vec<&'static str> {
    mistakes.iter().map(|&index| MISTAKES[index].0).collect()
}

fn hides(one: usize, other: usize) -> bool {
    let (one, other) = (MISTAKES[one].0, MISTAKES[other].0);
    HIDES.iter().any(|(hiding, hidden)| *hiding == one && hidden.contains(&other))
}

#[test]
fn each_mistake_of_the_table_is_one() {
    assert_eq!(reports(&[]), Some(BTreeSet::new()));
    for (index, (name, .., words)) in MISTAKES.into_iter().enumerate() {
        let found = alone(index);
        assert!(!found.is_empty() && found.iter().all(|found| found.contains(words)), "{name}: {found:?}");
    }
}

#[test]
fn any_two_mistakes_are_reported_and_nothing_else() {
    let mut pairs = 0;
    let mut wrong = Vec::new();
    for one in 0..MISTAKES.len() {
        for other in one + 1..MISTAKES.len() {
            let Some(found) = reports(&[one, other]) else { continue };
            pairs += 1;
            let mut expected = BTreeSet::new();
            for (mistake, beside) in [(one, other), (other, one)] {
                if !hides(beside, mistake) {
                    expected.extend(alone(mistake).iter().cloned());
                }
            }
            if found != expected {
                let lost: Vec<&String> = expected.difference(&found).collect();
                let false_ones: Vec<&String> = found.difference(&expected).collect();
                wrong.push(format!("{:?}: lost {lost:?}, false {false_ones:?}", names(&[one, other])));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {pairs}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(pairs > 900, "{pairs}");
}

proptest! {
    /// Of any number of mistakes each is reported that no other hides, and nothing else is.
    #[test]
    fn any_mistakes_are_reported_and_nothing_else(mistakes in prop::collection::btree_set(0..MISTAKES.len(), 3..8)) {
        let mistakes: Vec<usize> = mistakes.into_iter().collect();
        let Some(found) = reports(&mistakes) else { return Ok(()) };
        let (mut all, mut needed) = (BTreeSet::new(), BTreeSet::new());
        for &mistake in &mistakes {
            let own = alone(mistake).iter().cloned();
            if !mistakes.iter().any(|&beside| hides(beside, mistake)) {
                needed.extend(own.clone());
            }
            all.extend(own);
        }
        prop_assert!(needed.is_subset(&found) && found.is_subset(&all), "{:?}: {found:#?}", names(&mistakes));
    }
}

/// Nothing recurses deeper than workflows may be nested, also where all have errors.
#[test]
fn a_long_chain_of_workflows_takes_little_of_the_stack() {
    let check = || {
        for bound in ["3", "many"] {
            let mut files = Files::default();
            for number in 0..400 {
                let next = number + 1;
                let yaml = format!(
                    "name: W\ncommandName: w{number}\ninitialMessage: Go\nmaxLoops: {bound}\nphases:\n  - subworkflow: w{next}\n  - phase: a.md\n    when: {{ outcome.w{next}: x }}\n",
                );
                files.global.insert(format!("w{number}/workflow.yaml"), yaml);
                files.global.insert(format!("w{number}/a.md"), PHASE.to_owned());
            }
            let (library, diagnostics) = Library::check(&files).unwrap();
            assert_eq!(library.iter().count(), 0);
            let too_deep = diagnostics.iter().filter(|one| one.message().contains("nested more than 100 deep"));
            assert_eq!(too_deep.count(), 299, "{bound}");
        }
    };
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(check).unwrap();
    thread.join().unwrap();
}
