//! Properties of runs through workflows with inputs, outcomes, outputs and conditions.

use std::collections::BTreeMap;

use pi_workflows::definition::{Each, Entry, EntryKind, Library, Target, Workflow};
use pi_workflows::engine::{Engine, Event, Facts, Ui};
use pi_workflows::run::{
    Active, Arrival, Leaving, Limit, Outputs, PassedOver, PassedOverReason, PauseReason, PhasePath,
    RunState, Way, WayBounds, WayEnd, WayStarts, WayStep, begin, given_outputs, leave, restart,
    restore, way_back, ways,
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
    "outputs: { g: { type: choice, options: [s, l] }, h: { type: flag }, k: { type: number } }\n";

/// Returns true if the phase at this place has outputs.
fn has_outputs(at: usize) -> bool {
    at.is_multiple_of(2)
}

/// The outputs that a number stands for.
fn outputs(number: usize) -> serde_json::Value {
    let (g, h, k) = (["s", "l"][number % 2], (number / 2).is_multiple_of(2), number / 4 % 3 + 1);
    serde_json::json!({ "g": g, "h": h, "k": k })
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
    /// The targets of the outcomes of a phase.
    targets: Vec<u8>,
    /// For each condition: its source, and the values as bits.
    conditions: Vec<(u8, u8)>,
    /// The values of the inputs of a nested workflow.
    with: (u8, bool),
}

#[derive(Debug, Clone)]
struct RawWorkflow {
    entries: Vec<RawEntry>,
    /// The first entry of a group and the number of its entries, the target of its outcome `ok`, and the number of its items, if it is
    /// repeated.
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
    (nested, targets, conditions, (0_u8..3, any::<bool>())).prop_map(
        |(nested, targets, conditions, with)| RawEntry { nested, targets, conditions, with },
    )
}

/// Workflows `w0` to `w2` with the inputs `c` (`x` or `y`), `f` (a flag) and `n` (a number). Each contains phases and workflows
/// with higher numbers. Conditions refer to inputs, and to the outcomes and outputs of earlier entries. The phases at even places have
/// the outputs `g` (`s` or `l`), `h` (a flag) and `k` (a number).
pub fn branching_files() -> impl Strategy<Value = Files> {
    let entries = prop::collection::vec(raw_entry(), 1..5);
    let group = prop::option::of((any::<u8>(), any::<u8>(), any::<u8>(), 0_u8..4));
    let workflow = (entries, group, 0..=MAX_LOOPS, any::<bool>()).prop_map(
        |(entries, group, max_loops, goes_on)| RawWorkflow { entries, group, max_loops, goes_on },
    );
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
    let phases: Vec<usize> =
        (0..raw.entries.len()).filter(|&at| nested(&raw.entries[at]).is_none()).collect();
    let items = raw.group.map_or(0, |(.., items)| usize::from(items));
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
        match usize::from(number) % (4 + ids.len()) {
            0 | 1 => "next".to_owned(),
            2 => "done".into(),
            3 => "loop".into(),
            number => ids[number - 4].clone(),
        }
    };
    let mut folder = BTreeMap::new();
    let mut yaml = format!(
        "name: W{index}\ncommandName: w{index}\ninitialMessage: go\nmaxLoops: {}\nonMaxLoops: {}\ninputs:\n  c: {{ type: choice, options: [x, y] }}\n  f: {{ type: flag, default: true }}\n  n: {{ type: number, default: 1 }}\nphases:\n",
        raw.max_loops,
        if raw.goes_on { "next" } else { "pause" },
    );
    for (at, entry) in raw.entries.iter().enumerate() {
        let target = |number: u8| target_in(is_in_group(at), number);
        let mut indent = "";
        if let Some((group, outcome)) = group.as_ref().filter(|(group, _)| group.contains(&at)) {
            if group.start == at {
                let outcomes = match *outcome {
                    100.. => format!("    outcomes: {{ ok: {} }}\n", target_in(false, *outcome)),
                    _ => String::new(),
                };
                let max_loops = raw.max_loops;
                let each = match items {
                    0 => String::new(),
                    items => format!("    each: {:?}\n", &["one", "two", "three"][..items]),
                };
                yaml.push_str(&format!(
                    "  - id: g\n    maxLoops: {max_loops}\n{each}{outcomes}    phases:\n"
                ));
            }
            indent = "    ";
        }
        let mut fields = Vec::new();
        match nested(entry) {
            Some(number) => {
                let (choice, flag) = entry.with;
                let choice = ["x", "y", "'{input.c}'"][usize::from(choice)];
                let planned = phases.iter().find(|phase| **phase < at && has_outputs(**phase));
                let (flag, n) = match planned.filter(|_| flag) {
                    Some(phase) => (format!("output.p{phase}.h"), format!("output.p{phase}.k")),
                    None => (flag.to_string(), "input.n".to_owned()),
                };
                fields.push(format!("subworkflow: w{number}, id: p{at}, label: N{at}"));
                // Most workflows end with `ok`, if with any outcome; a name with which one does not end is an error.
                if let Some(outcome) = entry.targets.first().filter(|target| **target >= 100) {
                    fields.push(format!("outcomes: {{ ok: {} }}", target(*outcome)));
                }
                fields.push(format!("with: {{ c: {choice}, f: {flag}, n: {n} }}"));
            }
            None => {
                fields.push(format!("phase: p{at}.md"));
                let outcomes = OUTCOMES.iter().zip(&entry.targets);
                let way = |number: u8| {
                    let (to, then, max) = (target(number), target(number / 3), 1 + number / 16 % 2);
                    match number % 4 {
                        2 if to != "done" => format!("{{ to: {to}, max: {max} }}"),
                        3 if to != "done" && to != then => {
                            format!("{{ to: {to}, max: {max}, then: {then} }}")
                        }
                        _ => to,
                    }
                };
                let outcomes = outcomes.map(|(name, to)| format!("  {name}: {}\n", way(*to)));
                let outcomes: String = outcomes.collect();
                let field = if outcomes.is_empty() { "" } else { "outcomes:\n" };
                let outputs = if has_outputs(at) { OUTPUTS } else { "" };
                let text = format!(
                    "---\nid: p{at}\nname: P{at}\nemoji: '*'\n{outputs}{field}{outcomes}---\nDo {{phaseName}} for {{input.c}}\n"
                );
                folder.insert(format!("p{at}.md"), text.into_bytes());
            }
        }
        let earlier: Vec<usize> = phases
            .iter()
            .copied()
            .filter(|&other| other < at && !raw.entries[other].targets.is_empty())
            .collect();
        let planned: Vec<usize> =
            phases.iter().copied().filter(|&other| other < at && has_outputs(other)).collect();
        let conditions: BTreeMap<String, String> = entry
            .conditions
            .iter()
            .map(|&(of, values)| condition(&earlier, &planned, raw, of, values))
            .collect();
        if !conditions.is_empty() {
            let conditions = conditions.iter().map(|(of, values)| format!("{of}: {values}"));
            fields.push(format!("when: {{ {} }}", conditions.collect::<Vec<_>>().join(", ")));
        }
        yaml.push_str(&format!("{indent}  - {{ {} }}\n", fields.join(", ")));
    }
    folder.insert("workflow.yaml".into(), yaml.into_bytes());
    folder
}

/// A condition on an input, or on the outcome or an output of an earlier phase, and its values. `earlier` are the phases with outcomes,
/// `planned` those with outputs.
fn condition(
    earlier: &[usize],
    planned: &[usize],
    raw: &RawWorkflow,
    of: u8,
    values: u8,
) -> (String, String) {
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
            let outcomes = raw.entries[id].targets.len().min(OUTCOMES.len());
            (format!("outcome.p{id}"), some(&OUTCOMES[..outcomes]))
        }
    }
}

/// The library of the files. Some of their workflows cannot end or have phases that are never reached: errors, which leave
/// them out.
fn library_of(files: &Files) -> Library {
    Library::load(files).unwrap().0
}

fn values() -> impl Strategy<Value = Map<String, String>> {
    ("[xy]", any::<bool>(), 1_u8..3).prop_map(|(c, f, n)| {
        [("c", c), ("f", f.to_string()), ("n", n.to_string())]
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    })
}

/// The items for which a workflow is gone through when the run arrives; that of one that is not repeated is `None`.
fn items(workflow: &Workflow) -> Vec<Option<usize>> {
    match &workflow.each {
        Some(Each::Items(items)) => (0..items.len()).map(Some).collect(),
        Some(Each::Of(_)) | None => vec![None],
    }
}

/// The maximum number of steps in a workflow after it is entered: between two restarts the run goes forward.
fn bound(workflow: &Workflow, library: &Library) -> u64 {
    let entries = workflow.phases.iter().map(|entry| match &entry.kind {
        EntryKind::Phase(_) => 1,
        EntryKind::Workflow { key, .. } => {
            library.get(key).map_or(0, |nested| bound(nested, library) * items(nested).len() as u64)
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
            let refusal =
                at(state, &path).refusal(&entry.when, library).map(|(condition, value)| {
                    (condition.of.to_string(), value, condition.values.clone())
                });
            refusal == Some((of.clone(), value.clone(), wanted.clone()))
        }
        PassedOverReason::NoItems { .. } => unreachable!("each list has items"),
        PassedOverReason::Outcome { of, outcome } => {
            let last = path.last().unwrap();
            let scope = library.get(&last.workflow_key).unwrap();
            let from = scope.position(of).unwrap();
            let key = path.with_index(from).key();
            from < last.phase_index && state.progress.outcomes.get(&key) == Some(outcome)
        }
    }
}

/// Checks the entries that the last step passed over, and that the entries on the path are not among any that were passed
/// over. `by_conditions` is false if the user chose the phase.
fn check_passed_over(
    state: &RunState,
    library: &Library,
    by_conditions: bool,
) -> Result<(), TestCaseError> {
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

/// The paths of all phases of the innermost workflow of a path and of those nested in it, in their order.
fn phase_paths(path: &PhasePath, library: &Library) -> Vec<PhasePath> {
    let entries = &library.get(&path.last().unwrap().workflow_key).unwrap().phases;
    let paths = entries.iter().enumerate().flat_map(|(index, entry)| {
        let mut path = path.with_index(index);
        match &entry.kind {
            EntryKind::Phase(_) => vec![path],
            EntryKind::Workflow { key, .. } => {
                let inside = |item: Option<usize>| {
                    path.enter(key, item);
                    let paths = phase_paths(&path, library);
                    path.leave();
                    paths
                };
                items(library.get(key).unwrap()).into_iter().flat_map(inside).collect()
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

/// An answer of the agent: an outcome by its number modulo 4, also some that the phase does not have, with the outputs that the number
/// stands for; or `loop`.
#[derive(Debug, Clone, Copy)]
enum AnswerOfAgent {
    Outcome(usize),
    Missing,
    Loop,
}

fn answer() -> impl Strategy<Value = AnswerOfAgent> {
    prop_oneof![
        6 => (0_usize..48).prop_map(AnswerOfAgent::Outcome),
        1 => Just(AnswerOfAgent::Missing),
        2 => Just(AnswerOfAgent::Loop),
    ]
}

/// A control of the user, or an answer of the agent.
#[derive(Debug, Clone)]
enum Move {
    Agent(AnswerOfAgent),
    User(String),
    Restart,
}

fn any_move() -> impl Strategy<Value = Move> {
    let control = prop_oneof![
        4 => Just(":back".to_owned()),
        1 => Just(":skip".to_owned()),
        1 => Just(":next".to_owned()),
        1 => (0_usize..5).prop_map(|id| format!(":skip p{id}")),
        1 => prop::sample::select(OUTCOMES.to_vec()).prop_map(|name| format!(":next {name}")),
        1 => Just(":resume".to_owned()),
    ];
    prop_oneof![
        5 => answer().prop_map(Move::Agent),
        4 => control.prop_map(Move::User),
        1 => Just(Move::Restart),
    ]
}

fn begun<'a>(files: &'a Files, values: &Map<String, String>) -> Play<'a> {
    let mut play =
        Play { engine: Engine::default(), files, ui: Ui::Program, entries: vec![], prompts: 0 };
    play.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    let values: Vec<String> =
        values.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let arguments = format!("w0 {} -- c=x", values.join(" "));
    play.on(Event::Command { name: "workflow", arguments: &arguments });
    play
}

/// The newest state of the session.
fn newest(play: &Play) -> Option<RunState> {
    restore(play.entries.iter().map(ToString::to_string))
}

/// The agent's call, after it was told all that it was told.
fn call(play: &mut Play, answer: AnswerOfAgent) {
    play.on(Event::AgentStart);
    play.on(Event::TurnEnd { queued: false });
    let input = match answer {
        AnswerOfAgent::Outcome(number) => {
            let outcome = OUTCOMES.get(number % 4).unwrap_or(&"none");
            let at = newest(play).and_then(|state| {
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
    play.on(Event::Step { input: &input, nested: false });
    play.on(Event::AgentEnd { stop: pi_workflows::engine::Stop::Completed });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Transitions alone: with any outcomes and loops the run ends, or an outcome leads back once too often, within the steps
    /// that follow from `maxLoops`. Each entry that is passed over has a reason that holds, each other one has none.
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
            let left = match answer {
                AnswerOfAgent::Outcome(number) => handing_over(&active, number / 4),
                AnswerOfAgent::Loop | AnswerOfAgent::Missing => state.clone(),
            };
            let outcome = match answer {
                AnswerOfAgent::Outcome(number) => outcomes[number % outcomes.len()],
                AnswerOfAgent::Loop | AnswerOfAgent::Missing => outcomes[0],
            };
            let moved = match answer {
                AnswerOfAgent::Loop => match restart(&state, &library) {
                    Ok(moved) => Ok(((moved, Arrival::Phase), Leaving::Again)),
                    // The agent goes on instead.
                    Err(_) => leave(&left, outcome, &library).map(|moved| (moved, Leaving::Done)),
                },
                AnswerOfAgent::Outcome(_) | AnswerOfAgent::Missing => {
                    leave(&left, outcome, &library).map(|moved| (moved, Leaving::Done))
                }
            };
            let Ok(((new, to), leaving)) = moved else { break };
            prop_assert_eq!(new.global_step_count, state.global_step_count + 1);
            arrival = to;
            // All entries between are passed over; after a way back, those behind its target.
            let mut start = state.current_path.clone();
            let last = start.last_mut().unwrap();
            let loops = |state: &RunState| state.progress.loops.values().sum::<u32>();
            let is_back = loops(&new) > loops(&state);
            match (leaving, is_back) {
                (Leaving::Again, _) => last.phase_index = 0,
                (_, true) => start = target_of(&left, outcome.unwrap(), &library),
                (_, false) => last.phase_index += 1,
            }
            let (start, end) = (start.indices(), new.current_path.indices());
            for path in phase_paths(&PhasePath::start("w0"), &library) {
                let own = path.indices();
                if own >= start && (to == Arrival::Done || own < end) {
                    prop_assert!(is_passed_over(&new, &path), "{path:?} {state:?} {new:?}");
                }
            }
            state = new.moved_from(&state, leaving, 0);
            let stored = restore([serde_json::to_string(&state).unwrap()]).unwrap();
            prop_assert_eq!(&stored, &state);
        }
        check_passed_over(&state, &library, true)?;
    }

    /// Sessions: whatever the agent answers and the user does, each state is restored unchanged, and after the last control of
    /// the user the run ends or pauses within the bound.
    #[test]
    fn any_answers_and_controls_lead_to_the_end_or_to_a_pause(
        files in branching_files(),
        values in values(),
        moves in prop::collection::vec(any_move(), 0..30),
        answers in prop::collection::vec(answer(), 1..12),
    ) {
        let library = library_of(&files);
        let Some(workflow) = library.get("w0") else { return Ok(()) };
        let limit = bound(workflow, &library);
        let mut play = begun(&files, &values);
        for next in moves {
            let before = newest(&play);
            match next.clone() {
                Move::Agent(answer) => call(&mut play, answer),
                Move::User(control) => drop(play.on(Event::Command { name: "workflow", arguments: &control })),
                Move::Restart => {
                    let stored = newest(&play);
                    play.on(Event::Session { stored, in_view: None, facts: Facts::default() });
                }
            }
            if let Some(state) = newest(&play) {
                check_passed_over(&state, &library, false)?;
                // A phase that the user leaves has no outcome, and the outputs that it has handed over.
                if let (Move::User(control), Some(before)) = (&next, &before)
                    && (control == ":next" || control.starts_with(":skip"))
                    && state.global_step_count > before.global_step_count
                    && state.task_id == before.task_id
                {
                    let left = before.current_path.key();
                    prop_assert!(!state.progress.outcomes.contains_key(&left), "{control} {state:?}");
                    let has_outputs = state.progress.outputs.contains_key(&left);
                    prop_assert_eq!(has_outputs, before.handed_outputs().is_some(), "{}", control);
                }
                boxes(workflow, &library, Some(&state));
                mermaid(workflow, &library, Some(&state));
            }
        }
        for newest in 0..play.entries.len() {
            let state = restore(play.entries[newest..].iter().map(ToString::to_string)).unwrap();
            prop_assert_eq!(&state.progress.broken, &None);
            prop_assert_eq!(restore([serde_json::to_string(&state).unwrap()]), Some(state));
        }
        let steps = |play: &Play| newest(play).map_or(0, |state| state.global_step_count);
        let before = steps(&play);
        let mut rounds = 0;
        let goes_on = |state: &RunState| state.is_running() && state.progress.paused.is_none();
        while newest(&play).is_some_and(|state| goes_on(&state)) {
            for answer in &answers {
                call(&mut play, *answer);
            }
            // The others may be refused, this one leaves every phase.
            call(&mut play, AnswerOfAgent::Outcome(0));
            rounds += 1;
            prop_assert!(rounds <= limit);
        }
        prop_assert!(steps(&play) - before <= limit);
    }

    /// With answers by outcomes only, the run takes a way that the search finds.
    #[test]
    fn the_way_of_a_run_is_one_of_all_ways(
        files in branching_files(),
        values in values(),
        answers in prop::collection::vec(0_usize..48, 1..12),
    ) {
        let library = library_of(&files);
        let Some(workflow) = library.get("w0") else { return Ok(()) };
        let bounds = WayBounds { loops: MAX_LOOPS, ways: 2000, steps: 100_000, work: 30_000 };
        let starts = WayStarts::of(workflow, &values, &library).unwrap();
        let all = ways(&starts, &library, bounds);
        prop_assert!(!all.has_more_loops);
        prop_assume!(!all.is_cut && all.others == 0);
        let mut play = begun(&files, &values);
        let mut answers = answers.iter().cycle();
        let mut steps = Vec::new();
        let mut end = WayEnd::Done;
        while let Some(state) = newest(&play).filter(RunState::is_running) {
            match state.progress.paused.as_ref().map(|pause| &pause.reason) {
                Some(PauseReason::Loops { times, .. }) => {
                    end = WayEnd::Paused { limit: Some(Limit::MaxLoops(*times)) };
                    break;
                }
                Some(PauseReason::Way { times, .. }) => {
                    end = WayEnd::Paused { limit: Some(Limit::Max(*times)) };
                    break;
                }
                other => prop_assert!(other.is_none(), "{other:?}"),
            }
            let outcomes = Active::resolve(&state, &library).unwrap().outcomes();
            let answer = answers.next().unwrap();
            let number = answer % outcomes.len();
            let outcome = outcomes[number].map(ToOwned::to_owned);
            steps.push((state.current_path.clone(), outcome, outputs(answer / 4)));
            call(&mut play, AnswerOfAgent::Outcome(answer / 4 * 4 + number));
        }
        // Of the outputs a way has those that conditions use; of `k` they tell only 2 from others.
        let fits = |outputs: &Outputs, given: &serde_json::Value| {
            outputs.iter().all(|(name, value)| match &**name {
                "k" => (value.text().parse() == Ok(2.0)) == (given["k"] == 2),
                name => serde_json::to_value(value).unwrap() == given[name],
            })
        };
        let is_way = |way: &&Way| {
            let phases: Vec<&WayStep> =
                way.steps.iter().filter(|step| matches!(step, WayStep::Phase { .. })).collect();
            phases.len() == steps.len()
                && phases.iter().zip(&steps).all(|(step, taken)| match step {
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
            prop_assert_eq!(arrival == Arrival::Done, way.end == WayEnd::Done);
            prop_assert!(count >= longest);
            longest = count;
        }
    }
}

/// The phases since the one at this path was left last.
fn lap(steps: &[WayStep], path: &PhasePath) -> Vec<(PhasePath, Option<String>, Outputs)> {
    let is_there =
        |step: &WayStep| matches!(step, WayStep::Phase { path: other, .. } if other == path);
    let from = steps.iter().rposition(is_there).unwrap();
    let phases = steps[from..].iter().filter_map(|step| match step {
        WayStep::Phase { path, outcome, outputs, .. } => {
            Some((path.clone(), outcome.clone(), outputs.clone()))
        }
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
    let (mut loaded, mut conditions, mut back, mut paused, mut laps) = (0, 0, 0, 0, 0);
    let (mut outputs, mut bounded) = (0, 0);
    for _ in 0..300 {
        let files = branching_files().new_tree(&mut runner).unwrap().current();
        let library = library_of(&files);
        let Some(workflow) = library.get("w0") else { continue };
        loaded += 1;
        let given = Map::from([("c".to_owned(), "x".to_owned())]);
        let bounds = WayBounds { loops: 1, ways: 50, steps: 10_000, work: 2000 };
        let all = ways(&WayStarts::of(workflow, &given, &library).unwrap(), &library, bounds);
        let has = |is: fn(&WayStep) -> bool| all.ways.iter().any(|way| way.steps.iter().any(is));
        let is_condition = |step: &WayStep| {
            matches!(step, WayStep::PassedOver { because: PassedOverReason::Condition { .. }, .. })
        };
        conditions += usize::from(has(is_condition));
        back += usize::from(all.has_more_loops);
        laps += usize::from(has(|step| matches!(step, WayStep::Laps { .. })));
        bounded += usize::from(has(|step| {
            matches!(step, WayStep::Phase { went_on: Some(Limit::Max(_)), .. })
        }));
        outputs += usize::from(has(
            |step| matches!(step, WayStep::Phase { outputs, .. } if !outputs.is_empty()),
        ));
        paused += usize::from(all.ways.iter().any(|way| way.end != WayEnd::Done));
    }
    assert!(loaded > 200, "{loaded} of 300 files load");
    assert!(
        conditions > 80 && back > 50 && paused > 20 && laps > 10 && outputs > 40 && bounded > 5,
        "{conditions} {back} {paused} {laps} {outputs} {bounded} of {loaded}"
    );
}
