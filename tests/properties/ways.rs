//! Properties of runs through workflows with inputs, outcomes, outputs and conditions.

use std::collections::{BTreeMap, BTreeSet};

use pi_workflows::definition::{
    AnswerText, DirEntry, Each, Entry, EntryKind, Library, ReadError, Root, Stale, Step, Target, Workflow,
    WorkflowFiles,
};
use pi_workflows::engine::{Answer, CommandEnd, Engine, Event, Facts, Host, Reply, Request};
use pi_workflows::run::{
    Active, Arrival, Leaving, Limit, OutputValue, Outputs, PassedOver, PassedOverReason, PauseReason, PhasePath,
    RunDir, RunState, Way, WayBounds, WayEnd, WayStarts, WayStep, begin, given_outputs, leave, restart, restore,
    way_back, ways,
};
use pi_workflows::sorted::Map;
use pi_workflows::text::{boxes, mermaid};
use proptest::prelude::*;

use super::Play;
use super::one_level::Files;

/// Names of outcomes. The first entries of a list are the outcomes of a phase.
const OUTCOMES: [&str; 3] = ["ok", "odd", "bad"];
const MAX_LOOPS: u32 = 3;

const OUTPUTS: &str =
    "{ g: { type: choice, options: [s, l] }, h: { type: flag }, k: { type: number }, t: { type: list } }";

/// Lists of items; some are equal, some look like a variable, a path or an option.
const LISTS: [&[&str]; 3] = [&[], &["../a", "../a"], &["{task}"]];
const WRITTEN: [&str; 3] = ["--one", "--one", "{item}"];

/// Returns true if the phase or step at this place has outputs.
fn has_outputs(at: usize) -> bool {
    at.is_multiple_of(2)
}

/// The outputs that a number stands for.
fn outputs(number: usize) -> serde_json::Value {
    let (g, h, k) = (["s", "l"][number % 2], (number / 2).is_multiple_of(2), number / 4 % 3 + 1);
    serde_json::json!({ "g": g, "h": h, "k": k, "t": LISTS[number / 12 % 3] })
}

/// Returns true if this is the outcome of a step that has failed and therefore has no outputs.
fn is_failure(active: &Active, outcome: Option<&str>) -> bool {
    !active.phase.is_of_agent() && outcome == Some(Step::FAILED)
}

/// The run, its phase having handed over the outputs that a number stands for, if it has any.
fn handing_over(active: &Active, number: usize) -> RunState {
    let given = outputs(number);
    let given = if active.phase.outputs.is_empty() { &serde_json::Value::Null } else { &given };
    active.state.with_outputs(active.phase, given_outputs(active.phase, given).unwrap())
}

/// Random numbers that an entry of `phases` is made of.
#[derive(Debug, Clone)]
struct RawEntry {
    /// A nested workflow, if there is one with this distance.
    nested: u8,
    kind: Kind,
    /// The targets of the outcomes of a phase, a step or a question.
    targets: Vec<u8>,
    /// For each condition: its source, and the values as bits.
    conditions: Vec<(u8, u8)>,
    /// The values of the inputs of a nested workflow.
    with: (u8, bool),
}

/// The kind of an entry that is no nested workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Phase,
    Run,
    Ask,
}

#[derive(Debug, Clone)]
struct RawWorkflow {
    entries: Vec<RawEntry>,
    /// The first entry of a group and the number of its entries, the target of its outcome `ok`, and where its items
    /// are, if it is repeated.
    group: Option<(u8, u8, u8, u8)>,
    max_loops: u32,
    goes_on: bool,
}

fn raw_entry() -> impl Strategy<Value = RawEntry> {
    let targets = prop_oneof![1 => Just(vec![]), 2 => prop::collection::vec(any::<u8>(), 1..=3)];
    let conditions = prop_oneof![
        3 => Just(vec![]),
        2 => prop::collection::vec((any::<u8>(), 1_u8..8), 1..3),
    ];
    let nested = prop_oneof![2 => Just(u8::MAX), 1 => 0_u8..3];
    let kind = prop_oneof![3 => Just(Kind::Phase), 1 => Just(Kind::Run), 1 => Just(Kind::Ask)];
    (nested, kind, targets, conditions, (0_u8..3, any::<bool>()))
        .prop_map(|(nested, kind, targets, conditions, with)| RawEntry { nested, kind, targets, conditions, with })
}

impl RawEntry {
    /// The names of the outcomes of a phase or a step.
    fn outcomes(&self) -> &[&'static str] {
        match (self.kind, self.targets.len()) {
            (Kind::Phase, count) => &OUTCOMES[..count.min(OUTCOMES.len())],
            (Kind::Run, 0 | 1) => &[Step::OK],
            (Kind::Run, _) => &[Step::OK, Step::FAILED],
            (Kind::Ask, count) => &OUTCOMES[..count.clamp(1, OUTCOMES.len())],
        }
    }
}

/// Texts with which the user may answer a question, by the number of the outcome.
const TEXTS: [&str; 3] = ["", ", text: required", ", text: optional, label: '{task}'"];

/// Workflows `w0` to `w2` with the inputs `c` (`x` or `y`), `f` (a flag), `n` (a number) and `l` (a list). Each
/// contains phases, steps, questions and workflows with higher numbers. Conditions refer to inputs, and to the outcomes
/// and outputs of earlier entries. The phases and steps at even places have the outputs `g` (`s` or `l`), `h` (a flag),
/// `k` (a number) and `t` (a list).
pub fn branching_files() -> impl Strategy<Value = Files> {
    let entries = prop::collection::vec(raw_entry(), 1..5);
    let group = prop::option::of((any::<u8>(), any::<u8>(), any::<u8>(), 0_u8..7));
    let workflow = (entries, group, 0..=MAX_LOOPS, any::<bool>())
        .prop_map(|(entries, group, max_loops, goes_on)| RawWorkflow { entries, group, max_loops, goes_on });
    prop::collection::vec(workflow, 1..4).prop_map(|workflows| {
        let count = workflows.len();
        let files = workflows.into_iter().enumerate();
        Files(files.map(|(index, raw)| (format!("w{index}"), folder(index, count, &raw))).collect())
    })
}

fn folder(index: usize, count: usize, raw: &RawWorkflow) -> BTreeMap<String, Vec<u8>> {
    let nested = |entry: &RawEntry| {
        let number = index + 1 + usize::from(entry.nested);
        (number < count).then_some(number)
    };
    let phases: Vec<usize> = (0..raw.entries.len()).filter(|&at| nested(&raw.entries[at]).is_none()).collect();
    let group = raw.group.map(|(from, size, outcome, _)| {
        let from = usize::from(from) % raw.entries.len();
        let size = 1 + usize::from(size) % (raw.entries.len() - from);
        (from..from + size, outcome)
    });
    let is_in_group = |at: usize| group.as_ref().is_some_and(|(group, _)| group.contains(&at));
    // Of an entry of a group another one of it, of the others one outside of it or the group.
    let target_in = |inside: bool, number: u8| {
        let entries = (0..raw.entries.len()).filter(|at| is_in_group(*at) == inside);
        let mut ids: Vec<String> = entries.map(|at| format!("p{at}")).collect();
        if !inside && group.is_some() {
            ids.push("g".into());
        }
        match usize::from(number) % (5 + ids.len()) {
            0 | 1 => "next".to_owned(),
            2 => "done".into(),
            3 => "loop".into(),
            4 => "stop".into(),
            number => ids[number - 5].clone(),
        }
    };
    let planned_by = |at: usize| has_outputs(at) && raw.entries[at].kind != Kind::Ask;
    let mut folder = BTreeMap::new();
    let mut yaml = format!(
        "name: W{index}\ncommandName: w{index}\ninitialMessage: go\nmaxLoops: {}\nonMaxLoops: {}\ninputs:\n  c: {{ type: choice, options: [x, y] }}\n  f: {{ type: flag, default: true }}\n  n: {{ type: number, default: 1 }}\n  l: {{ type: list, default: [a] }}\nphases:\n",
        raw.max_loops,
        if raw.goes_on { "next" } else { "pause" },
    );
    for (at, entry) in raw.entries.iter().enumerate() {
        let target = |number: u8| target_in(is_in_group(at), number);
        // The fields of an outcome of a phase, a step or a question.
        let way = |number: u8| {
            let (to, then, max) = (target(number), target(number / 3), 1 + number / 16 % 2);
            match number % 4 {
                2 if to != "done" => format!("to: {to}, max: {max}"),
                3 if to != "done" && to != then => format!("to: {to}, max: {max}, then: {then}"),
                _ => format!("to: {to}"),
            }
        };
        let mut indent = "";
        if let Some((group, outcome)) = group.as_ref().filter(|(group, _)| group.contains(&at)) {
            if group.start == at {
                let outcomes = match *outcome {
                    100.. => format!("    outcomes: {{ ok: {} }}\n", target_in(false, *outcome)),
                    _ => String::new(),
                };
                let max_loops = raw.max_loops;
                let planned = phases.iter().rfind(|phase| **phase < at && planned_by(**phase));
                let each = match (raw.group.map_or(0, |(.., items)| items), planned) {
                    (0, _) => String::new(),
                    (items @ 1..=3, _) => {
                        format!("    each: {:?}\n", &WRITTEN[..usize::from(items)])
                    }
                    (4, _) | (_, None) => "    each: input.l\n".to_owned(),
                    (_, Some(phase)) => format!("    each: output.p{phase}.t\n"),
                };
                let when = match *outcome % 4 {
                    3 => "    when: { input.c: x }\n",
                    _ => "",
                };
                yaml.push_str(&format!("  - id: g\n    maxLoops: {max_loops}\n{each}{when}{outcomes}    phases:\n"));
            }
            indent = "    ";
        }
        let mut fields = Vec::new();
        match nested(entry) {
            Some(number) => {
                let (choice, flag) = entry.with;
                let choice = ["x", "y", "'{input.c}'"][usize::from(choice)];
                let planned = phases.iter().find(|phase| **phase < at && planned_by(**phase));
                let (flag, n) = match planned.filter(|_| flag) {
                    Some(phase) => (format!("output.p{phase}.h"), format!("output.p{phase}.k")),
                    None => (flag.to_string(), "input.n".to_owned()),
                };
                fields.push(format!("subworkflow: w{number}, id: p{at}, label: N{at}"));
                // Most workflows end with `ok`, if with any outcome; a name with which one does not end is an error.
                if let Some(outcome) = entry.targets.first().filter(|target| **target >= 100) {
                    fields.push(format!("outcomes: {{ ok: {} }}", target(*outcome)));
                }
                fields.push(format!("with: {{ c: {choice}, f: {flag}, n: {n}, l: input.l }}"));
            }
            None if entry.kind == Kind::Ask => {
                let targets = entry.targets.iter().map(|to| way(*to));
                let targets = targets.chain(["to: next".to_owned()]);
                let outcomes = entry.outcomes().iter().zip(targets).zip(TEXTS);
                let outcomes = outcomes.map(|((name, to), text)| format!("{name}: {{ {to}{text} }}"));
                let outcomes: Vec<String> = outcomes.collect();
                fields.push(format!("ask: 'Is {{input.c}} right?', id: p{at}"));
                fields.push(format!("outcomes: {{ {} }}", outcomes.join(", ")));
            }
            None if entry.kind == Kind::Run => {
                let outcomes = entry.outcomes().iter().zip(&entry.targets);
                let outcomes = outcomes.map(|(name, to)| format!("{name}: {{ {} }}", way(*to)));
                let outcomes: Vec<String> = outcomes.collect();
                fields.push(format!("run: step-{at}, id: p{at}"));
                fields.push(format!("outcomes: {{ {} }}", outcomes.join(", ")));
                fields.extend(has_outputs(at).then(|| format!("outputs: {OUTPUTS}")));
            }
            None => {
                fields.push(format!("phase: p{at}.md"));
                let outcomes = OUTCOMES.iter().zip(&entry.targets);
                let outcomes = outcomes.map(|(name, to)| format!("  {name}: {{ {} }}\n", way(*to)));
                let outcomes: String = outcomes.collect();
                let field = if outcomes.is_empty() { "" } else { "outcomes:\n" };
                let outputs = match has_outputs(at) {
                    true => format!("outputs: {OUTPUTS}\n"),
                    false => String::new(),
                };
                let text = format!(
                    "---\nid: p{at}\nname: P{at}\nemoji: '*'\n{outputs}{field}{outcomes}---\nDo {{phaseName}} for {{input.c}}\n"
                );
                folder.insert(format!("p{at}.md"), text.into_bytes());
            }
        }
        let earlier: Vec<usize> =
            phases.iter().copied().filter(|&other| other < at && !raw.entries[other].outcomes().is_empty()).collect();
        let planned: Vec<usize> = phases.iter().copied().filter(|&other| other < at && planned_by(other)).collect();
        let conditions: BTreeMap<String, String> =
            entry.conditions.iter().map(|&(of, values)| condition(&earlier, &planned, raw, of, values)).collect();
        if !conditions.is_empty() {
            let conditions = conditions.iter().map(|(of, values)| format!("{of}: {values}"));
            fields.push(format!("when: {{ {} }}", conditions.collect::<Vec<_>>().join(", ")));
        }
        yaml.push_str(&format!("{indent}  - {{ {} }}\n", fields.join(", ")));
    }
    folder.insert("workflow.yaml".into(), yaml.into_bytes());
    folder
}

/// A condition on an input, or on the outcome or an output of an earlier phase, and its values. `earlier` are the
/// phases with outcomes, `planned` those with outputs.
fn condition(earlier: &[usize], planned: &[usize], raw: &RawWorkflow, of: u8, values: u8) -> (String, String) {
    let some = |all: &[&str]| {
        let chosen = all.iter().enumerate().filter(|(bit, _)| values & (1 << bit) != 0);
        let chosen: Vec<&str> = chosen.map(|(_, value)| *value).collect();
        if chosen.is_empty() { format!("[{}]", all[0]) } else { format!("[{}]", chosen.join(", ")) }
    };
    match usize::from(of) % (3 + 2 * earlier.len() + 3 * planned.len()) {
        0 => ("input.c".into(), some(&["x", "y"])),
        1 => ("input.f".into(), some(&["true", "false"])),
        2 => ("input.n".into(), some(&["2.0", "2"])),
        number if number >= 3 + 2 * earlier.len() => {
            let number = number - 3 - 2 * earlier.len();
            let (output, all): (_, &[&str]) =
                [("g", &["s", "l"][..]), ("h", &["true", "false"]), ("k", &["2.0"])][number % 3];
            (format!("output.p{}.{output}", planned[number / 3]), some(all))
        }
        number => {
            let id = earlier[(number - 3) / 2];
            (format!("outcome.p{id}"), some(raw.entries[id].outcomes()))
        }
    }
}

/// The library of the files. Some of their workflows cannot end or have phases that are never reached: errors, which
/// leave them out.
fn library_of(files: &Files) -> Library {
    Library::load(files).unwrap().0
}

fn values() -> impl Strategy<Value = Map<String, String>> {
    ("[xy]", any::<bool>(), 1_u8..3, 0..LISTS.len()).prop_map(|(c, f, n, l)| {
        [("c", c), ("f", f.to_string()), ("n", n.to_string()), ("l", LISTS[l].join("\n"))]
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    })
}

/// The maximum number of times that a workflow is gone through when the run arrives.
fn max_items(workflow: &Workflow) -> u64 {
    match &workflow.each {
        Some(Each::Items(items)) => items.len() as u64,
        Some(Each::Of(_)) => 2,
        None => 1,
    }
}

/// The items for which the workflow of this key, an entry at this path, is gone through; that of one that is not
/// repeated is `None`.
fn items(state: &RunState, path: &PhasePath, key: &str, library: &Library) -> Vec<Option<usize>> {
    match at(state, path).items(path.len(), key, library) {
        Some(items) => (0..items.len()).map(Some).collect(),
        None => vec![None],
    }
}

/// The maximum number of steps in a workflow after it is entered: between two restarts the run goes forward.
fn bound(workflow: &Workflow, library: &Library) -> u64 {
    let entries = workflow.phases.iter().map(|entry| match &entry.kind {
        EntryKind::Phase(_) => 1,
        EntryKind::Workflow { key, .. } => {
            library.get(key).map_or(0, |nested| bound(nested, library) * max_items(nested))
        }
    });
    (u64::from(workflow.max_loops.resolve(|_| 0.0)) + 1) * entries.sum::<u64>()
}

fn entry_at<'a>(library: &'a Library, path: &PhasePath) -> &'a Entry {
    let last = path.last().unwrap();
    &library.get(&last.workflow_key).unwrap().phases[last.phase_index]
}

/// The run at another path.
fn at(state: &RunState, path: &PhasePath) -> RunState {
    RunState { current_path: path.clone(), ..state.clone() }
}

/// Returns true if the reason for which the last step passed over an entry follows from the state after that step.
fn holds(state: &RunState, key: &str, passed: &PassedOver, library: &Library) -> bool {
    let path = PhasePath::parse(key).unwrap();
    let entry = entry_at(library, &path);
    match &passed.because {
        PassedOverReason::Condition { of, value, wanted } => {
            let refusal = at(state, &path)
                .refusal(&entry.when, library)
                .map(|(condition, value)| (condition.of.to_string(), value, condition.values.clone()));
            refusal == Some((of.clone(), value.clone(), wanted.clone()))
        }
        PassedOverReason::NoItems { of } => {
            let nested = entry.nested_key().unwrap();
            let each = library.get(nested).unwrap().each.as_ref().unwrap();
            items(state, &path, nested, library).is_empty() && each.to_string() == *of
        }
        PassedOverReason::Budget { .. } => unreachable!("no phase has a budget"),
        PassedOverReason::Outcome { of, outcome } => {
            let last = path.last().unwrap();
            let scope = library.get(&last.workflow_key).unwrap();
            let from = scope.position(of).unwrap();
            let key = path.with_index(from).key();
            from < last.phase_index && state.progress.outcomes.get(&key) == Some(outcome)
        }
    }
}

/// Checks the entries that the last step passed over, and that the entries on the path are not among any that were
/// passed over. `by_conditions` is false if the user chose the phase.
fn check_passed_over(state: &RunState, library: &Library, by_conditions: bool) -> Result<(), TestCaseError> {
    for (key, passed) in state.progress.passed_over.iter() {
        prop_assert!(PhasePath::parse(key).is_some());
        if passed.step == state.global_step_count {
            prop_assert!(holds(state, key, passed, library), "{key} {passed:?} {state:?}");
        }
    }
    for path in state.current_path.scopes() {
        if !state.is_running() {
            break;
        }
        prop_assert!(!state.progress.passed_over.contains_key(&path.key()), "{state:?}");
        if by_conditions {
            let refusal = at(state, &path).refusal(&entry_at(library, &path).when, library);
            prop_assert!(refusal.is_none(), "{refusal:?} {state:?}");
        }
    }
    Ok(())
}

/// The paths of all phases of the innermost workflow of a path and of those nested in it, in their order; that of a
/// group without an item.
fn phase_paths(state: &RunState, path: &PhasePath, library: &Library) -> Vec<PhasePath> {
    let entries = &library.get(&path.last().unwrap().workflow_key).unwrap().phases;
    let paths = entries.iter().enumerate().flat_map(|(index, entry)| {
        let mut path = path.with_index(index);
        match &entry.kind {
            EntryKind::Phase(_) => vec![path],
            EntryKind::Workflow { key, .. } => {
                let items = items(state, &path, key, library);
                if items.is_empty() {
                    return vec![path];
                }
                let inside = |item: Option<usize>| {
                    path.enter(key, item);
                    let paths = phase_paths(state, &path, library);
                    path.leave();
                    paths
                };
                items.into_iter().flat_map(inside).collect()
            }
        }
    });
    paths.collect()
}

/// The entry to which an outcome of the run's phase leads back, in the scope where it does.
fn target_of(state: &RunState, outcome: &str, library: &Library) -> PhasePath {
    let back = way_back(state, outcome, library).unwrap();
    let mut scopes = state.current_path.scopes();
    let path = scopes.find(|path| path.scope_key() == back.scope_key).unwrap();
    let outcome = entry_at(library, &path).outcome(outcome).unwrap();
    let then = outcome.bound.as_ref().and_then(|bound| bound.then.as_ref());
    let index = match then.filter(|_| back.way.is_none()).unwrap_or(&outcome.target) {
        Target::Loop => 0,
        Target::Entry(id) => library.get(&back.workflow_key).unwrap().position(id).unwrap(),
        Target::Next | Target::Done | Target::Stop => unreachable!("it leads on"),
    };
    path.with_index(index)
}

/// Returns true if the last step passed over a phase or a workflow around it.
fn is_passed_over(state: &RunState, path: &PhasePath) -> bool {
    path.scopes().any(|entry| {
        let passed = state.progress.passed_over.get(&entry.key());
        passed.is_some_and(|passed| passed.step == state.global_step_count)
    })
}

/// An answer of the agent: an outcome by its number modulo 4, also some that the phase does not have, with the outputs
/// that the number stands for; or `loop`.
#[derive(Debug, Clone, Copy)]
enum AnswerOfAgent {
    Outcome(usize),
    Missing,
    Loop,
}

fn answer() -> impl Strategy<Value = AnswerOfAgent> {
    prop_oneof![
        6 => (0_usize..144).prop_map(AnswerOfAgent::Outcome),
        1 => Just(AnswerOfAgent::Missing),
        2 => Just(AnswerOfAgent::Loop),
    ]
}

/// A control of the user, an answer of the agent, or another end of the process or the branch.
#[derive(Debug, Clone)]
enum Move {
    Agent(AnswerOfAgent),
    User(String),
    /// The session is loaded again.
    Restart,
    /// The process ends, and another one loads the session.
    Kill,
    /// The user moves to an earlier place of the session, or forks there.
    Earlier(usize),
}

/// The answer to a request, or what happens before it.
#[derive(Debug, Clone)]
enum AnswerOfHost {
    /// A command ends with exit status 0, and prints the outputs that the number stands for. The user chooses the
    /// option of this number.
    Ok(usize),
    /// A command prints this.
    Prints(&'static str),
    /// A command ends so.
    Ends(CommandEnd),
    /// No answer.
    No(Answer),
    /// The user gives a control meanwhile.
    Meanwhile(&'static str),
    /// The process ends, and another one loads the session.
    Killed,
}

fn answer_of_host() -> impl Strategy<Value = AnswerOfHost> {
    let prints = prop::sample::select(vec!["", "{}", "[]", "{\"g\":1}", "{} {}"]);
    let ends = prop::sample::select(vec![
        CommandEnd::Exited(1),
        CommandEnd::Exited(127),
        CommandEnd::TimedOut,
        CommandEnd::Cancelled,
        CommandEnd::NotStarted("no".into()),
    ]);
    let controls = prop::sample::select(vec![
        ":back",
        ":skip",
        ":next",
        ":next ok",
        ":pause",
        ":resume",
        ":status",
        ":skip p0",
        ":answer ok",
        ":answer odd x",
        ":answer odd",
    ]);
    prop_oneof![
        8 => (0_usize..36).prop_map(AnswerOfHost::Ok),
        1 => prints.prop_map(AnswerOfHost::Prints),
        3 => ends.prop_map(AnswerOfHost::Ends),
        1 => prop::sample::select(vec![Answer::Cancelled, Answer::NoUi]).prop_map(AnswerOfHost::No),
        2 => controls.prop_map(AnswerOfHost::Meanwhile),
        1 => Just(AnswerOfHost::Killed),
    ]
}

/// The files as those of the project, whose commands need the user's consent.
struct OfProject<'a>(&'a Files);

impl WorkflowFiles for OfProject<'_> {
    fn roots(&self) -> Result<Vec<Root>, Stale> {
        let roots = self.0.roots()?.into_iter();
        Ok(roots.map(|root| Root { name: "project".into(), ..root }).collect())
    }

    fn list(&self, root: &str, path: &str) -> Result<Vec<DirEntry>, ReadError> {
        self.0.list(root, path)
    }

    fn read(&self, root: &str, path: &str) -> Result<Vec<u8>, ReadError> {
        self.0.read(root, path)
    }
}

impl Host for OfProject<'_> {
    fn open_run_dir(&self, id: &str, copy_of: Option<&str>) -> Result<Result<RunDir, String>, Stale> {
        self.0.open_run_dir(id, copy_of)
    }

    fn running_tools(&self) -> Result<Vec<String>, Stale> {
        self.0.running_tools()
    }

    fn can_confine(&self) -> Result<Result<(), String>, Stale> {
        self.0.can_confine()
    }
}

fn any_move() -> impl Strategy<Value = Move> {
    let control = prop_oneof![
        4 => Just(":back".to_owned()),
        1 => Just(":skip".to_owned()),
        1 => Just(":next".to_owned()),
        1 => (0_usize..5).prop_map(|id| format!(":skip p{id}")),
        1 => prop::sample::select(OUTCOMES.to_vec()).prop_map(|name| format!(":next {name}")),
        1 => Just(":resume".to_owned()),
        1 => (prop::sample::select(OUTCOMES.to_vec()), any::<bool>()).prop_map(|(name, has_text)| {
            format!(":answer {name}{}", if has_text { " {task}" } else { "" })
        }),
    ];
    prop_oneof![
        10 => answer().prop_map(Move::Agent),
        8 => control.prop_map(Move::User),
        1 => Just(Move::Restart),
        1 => Just(Move::Kill),
        1 => (0_usize..6).prop_map(Move::Earlier),
    ]
}

/// The outcome and the outputs with which a phase or step was left.
type Left = (PhasePath, Option<String>, serde_json::Value);

/// A session whose requests are answered.
struct Session<'a> {
    play: Play<'a>,
    library: &'a Library,
    /// The answers to requests, one after the other, again and again.
    answers: &'a [AnswerOfHost],
    answered: usize,
    /// The commands that were run, by the path and the step of the run, since the user's last `:resume`.
    ran: BTreeSet<(String, u64)>,
    /// The number of requests that are open.
    open: usize,
    /// The phases, steps and questions that were left, in their order.
    left: Vec<Left>,
    /// The answer that the user has chosen last, by its number.
    chosen: Option<usize>,
}

impl<'a> Session<'a> {
    /// A session in which a run of `w0` was started with these values of its inputs.
    fn begun(
        files: &'a dyn Host,
        library: &'a Library,
        values: &Map<String, String>,
        answers: &'a [AnswerOfHost],
    ) -> Result<Self, TestCaseError> {
        let (ran, left) = (BTreeSet::new(), Vec::new());
        let play = Play::new(files);
        let mut session = Self { play, library, answers, answered: 0, ran, open: 0, left, chosen: None };
        let values: Vec<String> = values.iter().flat_map(|(name, value)| given(name, value)).collect();
        session.user(&format!("w0 {} -- c=x", values.join(" ")))?;
        Ok(session)
    }

    fn newest(&self) -> Option<RunState> {
        restore(self.play.entries.iter().map(ToString::to_string))
    }

    /// Handles an event and answers the requests that follow.
    fn on(&mut self, event: Event) -> Result<Reply, TestCaseError> {
        let mut reply = self.play.on(event);
        while let Reply::Ask { ticket, request } = &reply {
            reply = self.asked(*ticket, request)?;
        }
        if self.open == 0 {
            self.check_entry()?;
        }
        Ok(reply)
    }

    fn user(&mut self, control: &str) -> Result<Reply, TestCaseError> {
        if control == ":resume" && self.open == 0 {
            self.ran.clear();
        }
        self.on(Event::Command { name: "workflow", arguments: control })
    }

    /// Loads the newest stored state, in this process or in a new one.
    fn load(&mut self, is_new: bool) -> Result<Reply, TestCaseError> {
        if is_new {
            self.play.engine = Engine::default();
        }
        let (stored, facts) = (self.newest(), Facts::default());
        self.on(Event::Session { stored, in_view: None, facts })
    }

    /// Goes back to the state before so many others.
    fn go_earlier(&mut self, count: usize) -> Result<(), TestCaseError> {
        let count = count % self.play.entries.len().max(1);
        self.play.entries.drain(..count);
        let steps = self.newest().map_or(0, |state| state.global_step_count);
        self.ran.retain(|(_, step)| *step <= steps);
        self.load(false).map(drop)
    }

    fn asked(&mut self, ticket: u64, request: &Request) -> Result<Reply, TestCaseError> {
        self.open += 1;
        self.check_entry()?;
        let reply = self.answer(ticket, request);
        self.open -= 1;
        reply
    }

    fn answer(&mut self, ticket: u64, request: &Request) -> Result<Reply, TestCaseError> {
        let mut answer = self.answers[self.answered % self.answers.len()].clone();
        if self.open > 3 && matches!(answer, AnswerOfHost::Meanwhile(_)) {
            answer = AnswerOfHost::No(Answer::Cancelled);
        }
        self.answered += 1;
        let Request::Exec { command, apart, .. } = request else {
            let chosen = |number: usize| match request {
                Request::Select { options, .. } => Answer::Selected(number % options.len()),
                Request::Input { .. } => {
                    let is_blank = self.answered.is_multiple_of(3);
                    Answer::Entered(if is_blank { "" } else { "{task}" }.into())
                }
                Request::Confirm { .. }
                | Request::Exec { .. }
                | Request::Children { .. }
                | Request::ProjectState { .. } => {
                    unreachable!("{request:?}")
                }
            };
            let answer = match answer {
                AnswerOfHost::Ok(number) => self.of_question(chosen(number)),
                AnswerOfHost::No(answer) => answer,
                AnswerOfHost::Killed => return self.load(true),
                AnswerOfHost::Meanwhile(control) => {
                    self.user(control)?;
                    Answer::Cancelled
                }
                AnswerOfHost::Prints(_) | AnswerOfHost::Ends(_) => Answer::Cancelled,
            };
            return Ok(self.play.on(Event::Answer { ticket, answer }));
        };
        let state = self.newest().unwrap();
        let active = Active::resolve(&state, self.library).unwrap();
        prop_assert_eq!(active.phase.step().unwrap().command.line(), command);
        prop_assert_eq!(*apart, !active.phase.outputs.is_empty());
        let place = (state.current_path.key(), state.global_step_count);
        prop_assert!(self.ran.insert(place), "{} runs again", command);
        let ran = |end: CommandEnd, printed: String| Answer::Ran {
            end,
            duration_ms: 1,
            output: printed.clone(),
            standard_output: apart.then_some(printed),
            output_file: None,
        };
        let number = self.answered;
        let reply = match answer {
            AnswerOfHost::Ok(number) => {
                let left = (state.current_path.clone(), Some(Step::OK.to_owned()));
                let printed = if *apart { outputs(number) } else { serde_json::json!({}) };
                self.left.push((left.0, left.1, printed.clone()));
                self.play.on(Event::Answer { ticket, answer: ran(CommandEnd::Exited(0), printed.to_string()) })
            }
            AnswerOfHost::Prints(text) => {
                self.play.on(Event::Answer { ticket, answer: ran(CommandEnd::Exited(0), text.into()) })
            }
            AnswerOfHost::Ends(end) => {
                self.left.push((state.current_path.clone(), Some(Step::FAILED.to_owned()), serde_json::json!({})));
                self.play.on(Event::Answer { ticket, answer: ran(end, "no".into()) })
            }
            AnswerOfHost::No(answer) => self.play.on(Event::Answer { ticket, answer }),
            AnswerOfHost::Meanwhile(control) => {
                self.user(control)?;
                // It ends, before or although it was cancelled.
                let is_cancelled = self.play.cancelled.contains(&ticket) && number.is_multiple_of(2);
                let ended = ran(CommandEnd::Exited(0), outputs(number).to_string());
                let answer = if is_cancelled { Answer::Cancelled } else { ended };
                self.play.on(Event::Answer { ticket, answer })
            }
            AnswerOfHost::Killed => return self.load(true),
        };
        Ok(reply)
    }

    /// Notes the user's answer to the question at which the run is.
    fn of_question(&mut self, answer: Answer) -> Answer {
        // Before the start the user may be asked, too.
        let Some(state) = self.newest() else { return answer };
        let active = Active::resolve(&state, self.library);
        let Some(question) = active.and_then(|active| active.phase.question()) else {
            return answer;
        };
        if let Answer::Selected(index) = &answer {
            self.chosen = index.checked_sub(1);
        }
        let Some(chosen) = self.chosen.and_then(|chosen| question.answers.get(chosen)) else {
            return answer;
        };
        let is_answered = match (&answer, chosen.text) {
            (Answer::Entered(text), AnswerText::Required) => !text.is_empty(),
            (Answer::Entered(_), AnswerText::Optional) => true,
            (_, text) => text == AnswerText::None,
        };
        if is_answered {
            let outcome = Some(chosen.outcome.clone());
            self.left.push((state.current_path.clone(), outcome, serde_json::json!({})));
        }
        answer
    }

    /// At an entry without a phase the agent has no tools; if nothing is asked and no command runs there, the run is
    /// paused.
    fn check_entry(&mut self) -> Result<(), TestCaseError> {
        let state = self.newest().filter(RunState::is_running);
        let active = state.as_ref().and_then(|state| Active::resolve(state, self.library));
        let Some(active) = active.filter(|active| !active.phase.is_of_agent()) else {
            return Ok(());
        };
        prop_assert!(self.open > 0 || active.state.progress.paused.is_some(), "{:?}", active.state);
        for name in ["read", "bash", "edit"] {
            let reply = self.play.on(Event::ToolCall { name, carries_calls: false });
            prop_assert!(matches!(reply, Reply::Block(_) | Reply::Stop(_)), "{:?}", reply);
        }
        let input = r#"{"action":"status"}"#;
        let reply = self.play.on(Event::Step { input, nested: false });
        prop_assert!(matches!(reply, Reply::Tool(_)), "{:?}", reply);
        Ok(())
    }

    /// The agent's call, after it was told all that it was told.
    fn call(&mut self, answer: AnswerOfAgent) -> Result<(), TestCaseError> {
        let before = self.newest();
        self.on(Event::AgentStart)?;
        self.on(Event::TurnEnd { queued: false })?;
        let input = match answer {
            AnswerOfAgent::Outcome(number) => {
                let outcome = OUTCOMES.get(number % 4).unwrap_or(&"none");
                let at = before.as_ref().and_then(|state| {
                    let visit = state.progress.visits.get(&state.current_path.key())?;
                    visit.name.strip_prefix('P')?.parse::<usize>().ok()
                });
                let outputs = at.filter(|at| has_outputs(*at)).map(|_| outputs(number / 4));
                let outputs = outputs.unwrap_or_default();
                format!(r#"{{"action":"next","outcome":"{outcome}","outputs":{outputs}}}"#)
            }
            AnswerOfAgent::Missing => r#"{"action":"next"}"#.to_owned(),
            AnswerOfAgent::Loop => r#"{"action":"loop"}"#.to_owned(),
        };
        self.on(Event::Step { input: &input, nested: false })?;
        self.on(Event::AgentEnd { stop: pi_workflows::engine::Stop::Completed })?;
        let active = before.as_ref().and_then(|state| Active::resolve(state, self.library));
        if active.is_some_and(|active| !active.phase.is_of_agent()) {
            prop_assert_eq!(self.newest(), before, "the agent moved a run at a step");
        }
        Ok(())
    }
}

/// The arguments that give an input this value.
fn given(name: &str, value: &str) -> Vec<String> {
    match value {
        "" => vec![format!("{name}=")],
        value => value.lines().map(|line| format!("{name}={line}")).collect(),
    }
}

/// Returns true if a scope was begun again between two states; the counts of those in it begin anew.
fn has_gone_back(before: &RunState, after: &RunState) -> bool {
    let count = |scope: &str| before.progress.loops.get(scope).copied().unwrap_or(0);
    after.progress.loops.iter().any(|(scope, loops)| *loops > count(scope))
}

/// Checks a step of a run: the items of a group are gone through in their order, none is repeated, and one that is left
/// out was passed over. `by_user` is true if the user may have gone back.
fn check_items(before: &RunState, after: &RunState, by_user: bool, library: &Library) -> Result<(), TestCaseError> {
    let is_back = by_user || has_gone_back(before, after);
    let (from, to) = (&before.current_path, &after.current_path);
    let count = |state: &RunState, depth: usize| {
        let key = &state.current_path.get(depth).unwrap().workflow_key;
        items(state, &state.current_path.at_depth(depth), key, library).len()
    };
    // The items of the group at this depth of a path, from the first of these numbers up to the other, were passed
    // over.
    let are_passed = |path: &PhasePath, depth: usize, items: std::ops::Range<usize>| {
        items.into_iter().all(|item| {
            let mut scope = path.at_depth(depth);
            scope.enter(&path.get(depth).unwrap().workflow_key, Some(item));
            let phases = phase_paths(after, &scope, library);
            phases.iter().all(|phase| is_passed_over(after, phase))
        })
    };
    for (depth, segment) in from.iter().enumerate() {
        let Some(item) = segment.item else { continue };
        let stays = after.is_running() && to.len() > depth && to.at_depth(depth) == from.at_depth(depth);
        let goes_on = !after.is_running() && !after.is_stopped() || after.is_running() && to.indices() > from.indices();
        let next = to.get(depth).and_then(|segment| segment.item).filter(|_| stays);
        let end = next.unwrap_or_else(|| count(before, depth));
        prop_assert!(goes_on || is_back || after.is_stopped(), "{before:?} {after:?}");
        if goes_on && end > item {
            prop_assert!(are_passed(from, depth, item + 1..end), "{before:?} {after:?}");
        }
        if next != Some(item) {
            break;
        }
    }
    for (depth, segment) in to.iter().enumerate() {
        let Some(item) = segment.item.filter(|_| after.is_running()) else { continue };
        prop_assert!(item < count(after, depth), "{after:?}");
        let is_in = from.len() > depth && from.at_depth(depth) == to.at_depth(depth);
        prop_assert!(is_in || is_back || are_passed(to, depth, 0..item), "{before:?} {after:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Transitions alone: with any outcomes and loops the run ends, or an outcome leads back once too often, within the
    /// steps that follow from `maxLoops`. Each entry that is passed over has a reason that holds, each other one has
    /// none.
    #[test]
    fn any_outcomes_and_loops_lead_to_the_end_or_to_a_pause(
        files in branching_files(),
        values in values(),
        answers in prop::collection::vec(answer(), 1..12),
    ) {
        let library = library_of(&files);
        let Some(workflow) = library.get("w0") else { return Ok(()) };
        let limit = bound(workflow, &library);
        let run = RunState::new("w0", "t", 0, 0).with_inputs(workflow, &values);
        let (mut state, mut arrival) = begin(&run, &library);
        let mut answers = answers.iter().cycle();
        while arrival == Arrival::Phase {
            check_passed_over(&state, &library, true)?;
            prop_assert!(state.global_step_count <= limit, "{state:?}");
            let active = Active::resolve(&state, &library).unwrap();
            let outcomes = active.outcomes();
            let answer = answers.next().unwrap();
            let outcome = match answer {
                AnswerOfAgent::Outcome(number) => outcomes[number % outcomes.len()],
                AnswerOfAgent::Loop | AnswerOfAgent::Missing => outcomes[0],
            };
            let left = match answer {
                AnswerOfAgent::Outcome(_) if is_failure(&active, outcome) => state.clone(),
                AnswerOfAgent::Outcome(number) => handing_over(&active, number / 4),
                AnswerOfAgent::Loop | AnswerOfAgent::Missing => state.clone(),
            };
            let moved = match answer {
                AnswerOfAgent::Loop if active.phase.is_of_agent() => match restart(&state, &library) {
                    Ok(moved) => Ok(((moved, Arrival::Phase), Leaving::Again)),
                    // The agent goes on instead.
                    Err(_) => leave(&left, outcome, &library).map(|moved| (moved, Leaving::Done)),
                },
                AnswerOfAgent::Outcome(_) | AnswerOfAgent::Missing | AnswerOfAgent::Loop => {
                    leave(&left, outcome, &library).map(|moved| (moved, Leaving::Done))
                }
            };
            let Ok(((new, to), leaving)) = moved else { break };
            prop_assert_eq!(new.global_step_count, state.global_step_count + 1);
            arrival = to;
            // All entries between are passed over; after a way back, those behind its target.
            let mut start = state.current_path.clone();
            let last = start.last_mut().unwrap();
            let is_back = has_gone_back(&state, &new);
            match (leaving, is_back) {
                (Leaving::Again, _) => last.phase_index = 0,
                (_, true) => start = target_of(&left, outcome.unwrap(), &library),
                (_, false) => last.phase_index += 1,
            }
            let (start, end) = (start.indices(), new.current_path.indices());
            for path in phase_paths(&new, &PhasePath::start("w0"), &library) {
                let own = path.indices();
                if own >= start && (to == Arrival::Done || own < end) && !new.is_stopped() {
                    prop_assert!(is_passed_over(&new, &path), "{path:?} {state:?} {new:?}");
                }
            }
            check_items(&state, &new, false, &library)?;
            state = new.moved_from(&state, leaving, 0);
            let stored = restore([serde_json::to_string(&state).unwrap()]).unwrap();
            prop_assert_eq!(&stored, &state);
        }
        check_passed_over(&state, &library, true)?;
    }

    /// Sessions: whatever the agent answers and the user does, each state is restored unchanged, and after the last
    /// control of the user the run ends or pauses within the bound.
    #[test]
    fn any_answers_and_controls_lead_to_the_end_or_to_a_pause(
        files in branching_files(),
        values in values(),
        moves in prop::collection::vec(any_move(), 0..30),
        answers in prop::collection::vec(answer(), 1..12),
        of_host in prop::collection::vec(answer_of_host(), 1..12),
        is_own in any::<bool>(),
    ) {
        let library = library_of(&files);
        let Some(workflow) = library.get("w0") else { return Ok(()) };
        let limit = bound(workflow, &library);
        let of_project = OfProject(&files);
        let host: &dyn Host = if is_own { &files } else { &of_project };
        let mut session = Session::begun(host, &library, &values, &of_host)?;
        for next in moves {
            let before = session.newest();
            let stored = session.play.entries.len();
            match next.clone() {
                Move::Agent(answer) => session.call(answer)?,
                Move::User(control) => drop(session.user(&control)?),
                Move::Restart => drop(session.load(false)?),
                Move::Kill => drop(session.load(true)?),
                Move::Earlier(count) => session.go_earlier(count)?,
            }
            let Some(state) = session.newest() else { continue };
            check_passed_over(&state, &library, false)?;
            // A phase that the user leaves has no outcome, and the outputs that it has handed over.
            let added = session.play.entries.len().saturating_sub(stored);
            let first = session.play.entries.get(added.saturating_sub(1)..);
            let first = first.and_then(|first| restore(first.iter().map(ToString::to_string)));
            if let (Move::User(control), Some(before), Some(first)) = (&next, &before, &first)
                && (control == ":next" || control.starts_with(":skip"))
                && first.global_step_count > before.global_step_count
            {
                let left = before.current_path.key();
                prop_assert!(!first.progress.outcomes.contains_key(&left), "{control} {first:?}");
                let has_outputs = first.progress.outputs.contains_key(&left);
                prop_assert_eq!(has_outputs, before.handed_outputs().is_some(), "{}", control);
            }
            boxes(workflow, &library, Some(&state));
            mermaid(workflow, &library, Some(&state));
        }
        let mut later: Option<RunState> = None;
        for newest in 0..session.play.entries.len() {
            let entries = &session.play.entries[newest..];
            let state = restore(entries.iter().map(ToString::to_string)).unwrap();
            prop_assert_eq!(&state.progress.broken, &None);
            prop_assert_eq!(restore([serde_json::to_string(&state).unwrap()]), Some(state.clone()));
            if let Some(later) = later.filter(|later| later.global_step_count > state.global_step_count) {
                check_items(&state, &later, true, &library)?;
            }
            later = Some(state);
        }
        let steps = |session: &Session| session.newest().map_or(0, |state| state.global_step_count);
        let before = steps(&session);
        let mut rounds = 0;
        let goes_on = |state: &RunState| state.is_running() && state.progress.paused.is_none();
        let meanwhile = |answer: &AnswerOfHost| matches!(answer, AnswerOfHost::Meanwhile(_));
        let others: Vec<AnswerOfHost> =
            of_host.iter().filter(|answer| !meanwhile(answer)).cloned().collect();
        let others = if others.is_empty() { vec![AnswerOfHost::Ok(0)] } else { others };
        session.answers = &others;
        while session.newest().is_some_and(|state| goes_on(&state)) {
            for answer in &answers {
                session.call(*answer)?;
            }
            // The others may be refused, this one leaves every phase.
            session.call(AnswerOfAgent::Outcome(0))?;
            rounds += 1;
            prop_assert!(rounds <= limit);
        }
        prop_assert!(steps(&session) - before <= limit);
    }

    /// With answers by outcomes only, the run takes a way that the search finds.
    #[test]
    fn the_way_of_a_run_is_one_of_all_ways(
        files in branching_files(),
        values in values(),
        answers in prop::collection::vec(0_usize..96, 1..12),
        of_host in prop::collection::vec((0_usize..24, prop::bool::weighted(0.8)), 1..12),
    ) {
        let library = library_of(&files);
        let Some(workflow) = library.get("w0") else { return Ok(()) };
        let bounds = WayBounds { loops: MAX_LOOPS, ways: 2000, steps: 100_000, work: 30_000 };
        let starts = WayStarts::of(workflow, &values, &library).unwrap();
        let all = ways(&starts, &library, bounds);
        prop_assert!(!all.has_more_loops);
        prop_assume!(!all.is_cut && all.others == 0);
        let end_of = |(number, is_ok): &(usize, bool)| match is_ok {
            true => AnswerOfHost::Ok(*number),
            false => AnswerOfHost::Ends(CommandEnd::Exited(1)),
        };
        let of_host: Vec<AnswerOfHost> = of_host.iter().map(end_of).collect();
        let mut session = Session::begun(&files, &library, &values, &of_host)?;
        let mut answers = answers.iter().cycle();
        let mut end = WayEnd::Done;
        while let Some(state) = session.newest().filter(RunState::is_running) {
            match state.progress.paused.as_ref().map(|pause| &pause.reason) {
                Some(PauseReason::Loops { times, .. }) => {
                    end = WayEnd::Paused { limit: Some(Limit::MaxLoops(*times)) };
                    break;
                }
                Some(PauseReason::Way { times, .. }) => {
                    end = WayEnd::Paused { limit: Some(Limit::Max(*times)) };
                    break;
                }
                // It has failed, and nothing says where that leads.
                Some(PauseReason::Step { .. }) => return Ok(()),
                // The user has not answered.
                Some(PauseReason::Approval { .. }) => return Ok(()),
                other => prop_assert!(other.is_none(), "{other:?}"),
            }
            let outcomes = Active::resolve(&state, &library).unwrap().outcomes();
            let answer = answers.next().unwrap();
            let number = answer % outcomes.len();
            let outcome = outcomes[number].map(ToOwned::to_owned);
            session.left.push((state.current_path.clone(), outcome, outputs(answer / 4)));
            session.call(AnswerOfAgent::Outcome(answer / 4 * 4 + number))?;
        }
        if session.newest().is_some_and(|state| state.is_stopped()) {
            end = WayEnd::Stopped;
        }
        let steps = &session.left;
        // Of the outputs a way has those that conditions use; of `k` they tell only 2 from others.
        let fits = |outputs: &Outputs, given: &serde_json::Value| {
            outputs.iter().all(|(name, value)| match &**name {
                "k" => given["k"].is_u64() && (value.text().parse() == Ok(2.0)) == (given["k"] == 2),
                // A group is repeated for as many items.
                "t" => given["t"].as_array().is_some_and(|items| {
                    matches!(value, OutputValue::List(given) if given.len() == items.len())
                }),
                name => serde_json::to_value(value).unwrap() == given[name],
            })
        };
        let is_way = |way: &&Way| {
            let phases: Vec<&WayStep> =
                way.steps.iter().filter(|step| matches!(step, WayStep::Phase { .. })).collect();
            phases.len() == steps.len()
                && phases.iter().zip(steps).all(|(step, taken)| match step {
                    WayStep::Phase { path, outcome, outputs, .. } => {
                        *path == taken.0 && *outcome == taken.1 && fits(outputs, &taken.2)
                    }
                    WayStep::Laps { .. } | WayStep::PassedOver { .. } => false,
                })
        };
        // The reason of a pause does not tell that all phases behind a way back are passed over.
        let passed_over = (WayEnd::Paused { limit: None }, WayEnd::Paused { limit: Some(Limit::MaxLoops(0)) });
        let is_end = |way: &Way| way.end == end || (way.end, end) == passed_over;
        let found = all.ways.iter().filter(|way| is_end(way) && is_way(way));
        prop_assert_eq!(found.count(), 1, "{:?} {:?}", steps, end);
    }

    /// Each way that the search finds can be taken, and the shortest come first.
    #[test]
    fn each_of_all_ways_can_be_taken(files in branching_files(), values in values()) {
        let library = library_of(&files);
        let Some(workflow) = library.get("w0") else { return Ok(()) };
        let bounds = WayBounds { loops: 1, ways: 50, steps: 10_000, work: 5000 };
        let all = ways(&WayStarts::of(workflow, &values, &library).unwrap(), &library, bounds);
        let mut longest = 0;
        for way in &all.ways {
            let run = RunState::new("w0", "t", 0, 0).with_inputs(workflow, &values);
            let (mut state, mut arrival) = begin(&run, &library);
            let mut count = 0;
            let mut is_paused = false;
            for (at, step) in way.steps.iter().enumerate() {
                match step {
                    WayStep::Laps { more } => {
                        prop_assert!(*more > 0);
                        let lap = lap(&way.steps[..at], &state.current_path);
                        for (path, outcome, outputs) in (0..*more).flat_map(|_| &lap) {
                            prop_assert_eq!(&state.current_path, path);
                            let phase = Active::resolve(&state, &library).unwrap().phase;
                            let left = state.with_outputs(phase, outputs.clone());
                            let (new, _) = leave(&left, outcome.as_deref(), &library).unwrap();
                            state = new.moved_from(&state, Leaving::Done, 0);
                        }
                    }
                    WayStep::Phase { path, outcome, outputs, went_on } => {
                        count += 1;
                        prop_assert_eq!(&state.current_path, path);
                        let before = state.clone();
                        let phase = Active::resolve(&state, &library).unwrap().phase;
                        let left = before.with_outputs(phase, outputs.clone());
                        match leave(&left, outcome.as_deref(), &library) {
                            Ok((new, to)) => (state, arrival) = (new.moved_from(&before, Leaving::Done, 0), to),
                            Err(_) => is_paused = true,
                        }
                        let outcome = outcome.as_ref();
                        let limit = outcome.and_then(|name| pi_workflows::run::went_on(&left, name, &library));
                        prop_assert_eq!(*went_on, limit);
                    }
                    WayStep::PassedOver { path, because } => {
                        let passed = &state.progress.passed_over[&path.key()];
                        prop_assert_eq!(&passed.because, because);
                        prop_assert_eq!(passed.step, state.global_step_count);
                    }
                }
            }
            prop_assert_eq!(is_paused, matches!(way.end, WayEnd::Paused { .. }));
            let has_ended = matches!(way.end, WayEnd::Done | WayEnd::Stopped);
            prop_assert_eq!(arrival == Arrival::Done, has_ended);
            prop_assert_eq!(state.is_stopped(), way.end == WayEnd::Stopped);
            prop_assert!(count >= longest);
            longest = count;
        }
    }
}

/// The phases since the one at this path was left last.
fn lap(steps: &[WayStep], path: &PhasePath) -> Vec<(PhasePath, Option<String>, Outputs)> {
    let is_there = |step: &WayStep| matches!(step, WayStep::Phase { path: other, .. } if other == path);
    let from = steps.iter().rposition(is_there).unwrap();
    let phases = steps[from..].iter().filter_map(|step| match step {
        WayStep::Phase { path, outcome, outputs, .. } => Some((path.clone(), outcome.clone(), outputs.clone())),
        WayStep::Laps { .. } | WayStep::PassedOver { .. } => None,
    });
    phases.collect()
}

/// The random files contain what the properties are about.
#[test]
fn most_random_files_load_and_have_branches() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let mut loaded = 0;
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..400 {
        let files = branching_files().new_tree(&mut runner).unwrap().current();
        let library = library_of(&files);
        let Some(workflow) = library.get("w0") else { continue };
        loaded += 1;
        let given = Map::from([("c".to_owned(), "x".to_owned())]);
        let bounds = WayBounds { loops: 1, ways: 50, steps: 10_000, work: 2000 };
        let all = ways(&WayStarts::of(workflow, &given, &library).unwrap(), &library, bounds);
        let steps = || all.ways.iter().flat_map(|way| &way.steps);
        let because = |is: fn(&PassedOverReason) -> bool| {
            steps().any(|step| matches!(step, WayStep::PassedOver { because, .. } if is(because)))
        };
        let phases = || {
            steps().filter_map(|step| match step {
                WayStep::Phase { path, outputs, .. } => Some((path, outputs)),
                WayStep::Laps { .. } | WayStep::PassedOver { .. } => None,
            })
        };
        let kinds = || phases().filter_map(|(path, _)| entry_at(&library, path).as_phase());
        let is_bounded = |step: &WayStep| matches!(step, WayStep::Phase { went_on: Some(Limit::Max(_)), .. });
        let has = [
            ("condition", because(|of| matches!(of, PassedOverReason::Condition { .. }))),
            ("no items", because(|of| matches!(of, PassedOverReason::NoItems { .. }))),
            ("items", phases().any(|(path, _)| path.iter().any(|of| of.item.is_some()))),
            ("bounded", steps().any(is_bounded)),
            ("back", all.has_more_loops),
            ("laps", steps().any(|step| matches!(step, WayStep::Laps { .. }))),
            ("outputs", phases().any(|(_, outputs)| !outputs.is_empty())),
            ("paused", all.ways.iter().any(|way| matches!(way.end, WayEnd::Paused { .. }))),
            ("stopped", all.ways.iter().any(|way| way.end == WayEnd::Stopped)),
            ("run", kinds().any(|phase| phase.step().is_some())),
            ("ask", kinds().any(|phase| phase.question().is_some())),
        ];
        for (name, is_there) in has {
            *found.entry(name).or_default() += usize::from(is_there);
        }
    }
    assert!(loaded > 200, "{loaded} of 400 files load");
    assert!(found.values().all(|count| *count >= 8), "{found:?} of {loaded}");
}
