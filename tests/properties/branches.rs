//! Properties of runs with parallel groups: the engine of the session, and those of its children, which do anything at
//! any time.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use pi_workflows::definition::{DirEntry, Library, ReadError, Root, Stale, WorkflowFiles};
use pi_workflows::engine::{
    Answer, ChildEnd, ChildReport, ChildStart, CommandEnd, Context, Effect, Engine, Event, Facts, Host, Output, Ran,
    Reply, Request, Stop, Ui,
};
use pi_workflows::protocol::STATE_ENTRY_TYPE;
use pi_workflows::run::{Active, BranchEnd, RunDir, RunState, restore};
use pi_workflows::text::DefaultRole;
use pi_workflows::usage::Usage;
use proptest::prelude::*;

use super::one_level::Files;

const OUTCOMES: [&str; 3] = ["ok", "odd", "bad"];

/// An entry of a parallel group.
#[derive(Debug, Clone)]
enum RawBranch {
    /// A phase with so many outcomes, each of which leads to a target.
    Phase(Vec<u8>),
    /// The nested workflow, which can go through its phases again.
    Workflow,
    /// A group of two phases.
    Group(Vec<u8>),
    Run,
    Ask,
}

#[derive(Debug, Clone)]
struct RawGroup {
    branches: Vec<(RawBranch, u8)>,
    /// The list whose items are the branches, if it is repeated.
    each: Option<u8>,
    at_once: Option<u8>,
    need: u8,
    targets: Vec<u8>,
    budget: u8,
    /// Where it stands: in the root, in a nested workflow, in a group, or in one that is repeated.
    place: u8,
    /// The last entry of its scope.
    is_last: bool,
}

fn raw_group() -> impl Strategy<Value = RawGroup> {
    let targets = || prop::collection::vec(any::<u8>(), 0..=3);
    let branch = prop_oneof![
        6 => targets().prop_map(RawBranch::Phase),
        2 => Just(RawBranch::Workflow),
        2 => targets().prop_map(RawBranch::Group),
        1 => Just(RawBranch::Run),
        1 => Just(RawBranch::Ask),
    ];
    let branches = prop::collection::vec((branch, any::<u8>()), 2..5);
    let each = prop::option::weighted(0.3, 0_u8..4);
    let at_once = prop::option::of(1_u8..4);
    (branches, each, at_once, 0_u8..6, targets(), 0_u8..8, 0_u8..6, any::<bool>()).prop_map(
        |(branches, each, at_once, need, targets, budget, place, is_last)| RawGroup {
            branches,
            each,
            at_once,
            need,
            targets,
            budget,
            place,
            is_last,
        },
    )
}

/// The target of an outcome in a branch.
fn inside(number: u8) -> &'static str {
    match number % 8 {
        0..=4 => "next",
        5 => "done",
        6 => "next",
        _ => "stop",
    }
}

fn phase(id: &str, fields: &str) -> (String, Vec<u8>) {
    let text = format!("---\nid: {id}\nname: {id}\nemoji: '*'\n{fields}---\nDo {{phaseName}}\n");
    (format!("{id}.md"), text.into_bytes())
}

fn outcomes(targets: &[u8]) -> String {
    let named = OUTCOMES.iter().zip(targets);
    let named = named.map(|(name, to)| format!("{name}: {}", inside(*to)));
    let named: Vec<String> = named.collect();
    if named.is_empty() { String::new() } else { format!("outcomes: {{ {} }}", named.join(", ")) }
}

/// A workflow `w0` with a parallel group `g` between `first` and `last`, in it or below it.
fn parallel_files() -> impl Strategy<Value = Files> {
    raw_group().prop_map(|raw| {
        let mut folder = BTreeMap::from([
            phase("first", "outcomes: { ok: next, odd: next }\noutputs: { t: { type: list, max: 4, optional: true } }\n"),
            phase("last", ""),
            phase("inner", ""),
        ]);
        let mut entries = String::new();
        let mut names: BTreeSet<&str> = BTreeSet::new();
        let is_repeated = raw.each.is_some();
        for (at, (branch, number)) in raw.branches.iter().enumerate() {
            let when = match (number % 6, is_repeated) {
                (0, false) => ", when: { outcome.first: ok }",
                (1, false) => ", when: { input.c: x }",
                _ => "",
            };
            let id = format!("b{at}");
            match branch {
                RawBranch::Phase(targets) => {
                    names.extend(OUTCOMES.iter().take(targets.len()));
                    folder.extend([phase(&id, &format!("write: []\n{}\n", outcomes(targets)))]);
                    entries.push_str(&format!("  - {{ phase: {id}.md{when} }}\n"));
                }
                RawBranch::Group(targets) => {
                    folder.extend([
                        phase(&format!("{id}-a"), "write: []\noutcomes: { ok: next, odd: done, bad: stop }\n"),
                        phase(&format!("{id}-b"), &format!("write: []\n{}\n", outcomes(targets))),
                    ]);
                    entries.push_str(&format!("  - {{ id: {id}, phases: [{id}-a.md, {id}-b.md]{when} }}\n"));
                }
                RawBranch::Workflow => {
                    entries.push_str(&format!("  - {{ subworkflow: n, id: {id}{when} }}\n"));
                }
                RawBranch::Run => entries.push_str(&format!("  - {{ run: command, id: {id}, outcomes: {{ ok: next, failed: next }}{when} }}\n")),
                RawBranch::Ask => entries.push_str(&format!("  - {{ ask: 'Is it?', id: {id}, outcomes: {{ ok: next, odd: stop }}{when} }}\n")),
            }
        }
        let parallel = raw.at_once.map_or("true".to_owned(), |number| number.to_string());
        let mut fields = format!("id: g, parallel: {parallel}");
        match raw.need {
            0 | 1 => {}
            2 => fields.push_str(", need: all"),
            number => fields.push_str(&format!(", need: {}", number - 2)),
        }
        let names: Vec<&str> = names.into_iter().collect();
        if !names.is_empty() && !is_repeated && !raw.targets.is_empty() {
            let way = |number: u8| match (number % 6, raw.place % 4) {
                (0, 0) => "{ to: first, max: 2, then: next }",
                (1, 0) => "{ to: first, max: 1 }",
                (2, _) => "done",
                (3, _) => "stop",
                (4, _) => "{ to: loop, max: 1, then: stop }",
                _ => "next",
            };
            let named = names.iter().zip(&raw.targets);
            let named = named.map(|(name, number)| format!("{name}: {}", way(*number)));
            fields.push_str(&format!(", outcomes: {{ {} }}", named.collect::<Vec<_>>().join(", ")));
        }
        match raw.each {
            None => {}
            Some(0) => fields.push_str(", each: [one, two, two]"),
            Some(1 | 2) if raw.place % 4 != 1 => fields.push_str(", each: output.first.t"),
            Some(_) => fields.push_str(", each: input.l"),
        }
        let group = |indent: &str| {
            let entries = entries.lines().map(|line| format!("\n{indent}  {line}")).collect::<String>();
            let fields = fields.replacen("id: g, ", "id: g\nparallel: X, ", 1);
            // Flow style for the fields would need one for the entries too.
            let fields: Vec<String> = split_fields(&fields.replacen("\nparallel: X, ", ", ", 1));
            let fields = fields.join(&format!("\n{indent}  "));
            format!("{indent}- {fields}\n{indent}  phases:{entries}\n")
        };
        let budget = match raw.budget {
            0 => "budget: { turns: 12 }\n",
            1 => "budget: { turns: 4 }\n",
            _ => "",
        };
        let last = if raw.is_last { "" } else { "  - last.md\n" };
        let (middle, below) = match raw.place % 4 {
            1 => {
                let yaml = format!("name: M\nshow: workflows\ninputs: {{ c: {{ type: choice, options: [x, y] }}, l: {{ type: list, max: 4, default: [a] }} }}\nphases:\n{}", group("  ")
                    .replace("outcome.first: ok", "input.c: y"));
                ("  - { subworkflow: m, with: { c: '{input.c}', l: input.l } }\n".to_owned(), Some(yaml))
            }
            2 => (format!("  - id: outer\n    phases:\n      - inner.md\n{}", group("      ")), None),
            3 => (format!("  - id: outer\n    each: input.o\n    phases:\n{}", group("      ")), None),
            _ => (group("  "), None),
        };
        let yaml = format!(
            "name: W0\ncommandName: w0\ninitialMessage: go\n{budget}inputs:\n  c: {{ type: choice, options: [x, y], default: x }}\n  l: {{ type: list, max: 4, default: [p, q] }}\n  o: {{ type: list, default: [r, s] }}\nphases:\n  - first.md\n{middle}{last}"
        );
        let mut files = Files::default();
        if let Some(yaml) = below {
            let mut own = folder.clone();
            own.insert("workflow.yaml".into(), yaml.into_bytes());
            files.0.insert("m".into(), own);
        }
        folder.insert("workflow.yaml".into(), yaml.into_bytes());
        files.0.insert("w0".into(), folder);
        let nested = BTreeMap::from([
            phase("one", "write: []\n"),
            phase("two", "write: []\noutcomes: { ok: next, odd: next, bad: { to: loop, max: 1, then: stop } }\n"),
            ("workflow.yaml".to_owned(), b"name: N\nshow: workflows\nphases: [one.md, two.md]\n".to_vec()),
        ]);
        files.0.insert("n".into(), nested);
        files
    })
}

/// The fields of a mapping in flow style.
fn split_fields(fields: &str) -> Vec<String> {
    let (mut depth, mut found) = (0, vec![String::new()]);
    for char in fields.chars() {
        match char {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ => {}
        }
        if char == ',' && depth == 0 {
            found.push(String::new());
        } else {
            found.last_mut().unwrap().push(char);
        }
    }
    found.into_iter().map(|field| field.trim().to_owned()).collect()
}

/// The host of one session: the files, and what was used since the newest state entry.
struct OfSession<'a> {
    files: &'a Files,
    since: RefCell<Usage>,
}

impl WorkflowFiles for OfSession<'_> {
    fn roots(&self) -> Result<Vec<Root>, Stale> {
        self.files.roots()
    }

    fn list(&self, root: &str, path: &str) -> Result<Vec<DirEntry>, ReadError> {
        self.files.list(root, path)
    }

    fn read(&self, root: &str, path: &str) -> Result<Vec<u8>, ReadError> {
        self.files.read(root, path)
    }
}

impl Host for OfSession<'_> {
    fn write_run_file(&self, _task_id: &str, _name: &str, _text: &str) -> Result<Result<(), String>, Stale> {
        Ok(Ok(()))
    }

    fn open_run_dir(&self, id: &str, copy_of: Option<&str>) -> Result<Result<RunDir, String>, Stale> {
        self.files.open_run_dir(id, copy_of)
    }

    fn running_tools(&self) -> Result<Vec<String>, Stale> {
        self.files.running_tools()
    }

    fn can_confine(&self, network: bool) -> Result<Result<(), String>, Stale> {
        self.files.can_confine(network)
    }

    fn usage_since_state(&self) -> Result<(Usage, Option<u64>), Stale> {
        Ok((self.since.borrow().clone(), None))
    }
}

/// A session of pi: an engine, and what is stored.
struct Session<'a> {
    engine: Engine,
    host: OfSession<'a>,
    ui: Ui,
    /// The state entries, newest first.
    entries: Vec<String>,
    /// The run that they restore.
    run: Option<RunState>,
    /// The turns of its agent since it began.
    turns: u32,
}

impl<'a> Session<'a> {
    fn new(files: &'a Files, entries: Vec<String>, ui: Ui) -> Self {
        let host = OfSession { files, since: RefCell::default() };
        let run = restore(&entries);
        Self { engine: Engine::default(), host, ui, entries, run, turns: 0 }
    }

    fn on(&mut self, event: Event) -> Output {
        let context = Context { unix_ms: 1, random: 2, ui: self.ui, host: &self.host };
        let output = self.engine.handle(event, &context);
        let stored = self.entries.len();
        for effect in &output.effects {
            if let Effect::AppendEntry { custom_type: STATE_ENTRY_TYPE, data } = effect {
                self.entries.insert(0, data.to_string());
                self.host.since.replace(Usage::default());
            }
        }
        if self.entries.len() > stored {
            self.run = restore(&self.entries);
        }
        output
    }

    fn load(&mut self) -> Output {
        let stored = self.run.clone();
        self.on(Event::Session { stored, in_view: None, facts: Facts { allow_commands: true, ..Facts::default() } })
    }

    /// The agent makes a request.
    fn turn(&mut self) {
        self.turns += 1;
        let mut since = self.host.since.borrow_mut();
        since.add(&Usage { turns: 1, output: 10, ..Usage::default() });
    }

    fn run(&self) -> Option<RunState> {
        self.run.clone()
    }

    /// The answer to a request that is no wait for children.
    fn answer(request: &Request, number: usize) -> Answer {
        match request {
            Request::Select { options, .. } => Answer::Selected(number % options.len()),
            Request::Confirm { .. } => Answer::Confirmed(number.is_multiple_of(2)),
            Request::Input { .. } => Answer::Entered("text".into()),
            Request::Exec { .. } => Answer::Ran(Ran {
                cut_bytes: 0,
                end: CommandEnd::Exited(u32::from(number.is_multiple_of(3))),
                duration_ms: 1,
                output: String::new(),
                standard_output: None,
                output_file: None,
            }),
            Request::Children { .. } => unreachable!(),
        }
    }
}

/// A child that works, or that is being aborted.
struct Child<'a> {
    key: String,
    /// The file of its session.
    file: String,
    session: Session<'a>,
    is_aborted: bool,
}

/// What is known of a run when a state entry is stored.
#[derive(Debug, Clone, Default)]
struct Known {
    /// The turns of each session of a child that the run was told.
    turns: BTreeMap<String, u32>,
    /// The turns of the session itself.
    own: u32,
    /// The branches that have ended, with what they were given.
    ended: BTreeSet<(String, String)>,
}

struct Family<'a> {
    files: &'a Files,
    library: &'a Library,
    parent: Session<'a>,
    children: Vec<Child<'a>>,
    /// The stored sessions of children that do not work.
    stored: BTreeMap<String, (Vec<String>, Usage, u32)>,
    /// The waits for children, the oldest first; with true, if it was cancelled or the user has interrupted it.
    open: Vec<(u64, bool)>,
    known: Known,
    /// That with each state entry of the parent, newest first.
    known_then: Vec<Known>,
    numbers: std::iter::Cycle<std::slice::Iter<'a, usize>>,
    sessions: usize,
    /// The user moved the run since the newest state but one.
    by_user: bool,
    started: usize,
    joined: usize,
}

type Checked = Result<(), TestCaseError>;

impl<'a> Family<'a> {
    fn begun(files: &'a Files, library: &'a Library, numbers: &'a [usize], ui: Ui) -> Result<Self, TestCaseError> {
        let mut parent = Session::new(files, Vec::new(), ui);
        let _ = parent.load();
        let mut family = Self {
            files,
            library,
            parent,
            children: Vec::new(),
            stored: BTreeMap::new(),
            open: Vec::new(),
            known: Known::default(),
            known_then: Vec::new(),
            numbers: numbers.iter().cycle(),
            sessions: 0,
            by_user: false,
            started: 0,
            joined: 0,
        };
        family.user("w0 the task")?;
        Ok(family)
    }

    fn number(&mut self) -> usize {
        *self.numbers.next().unwrap()
    }

    /// Handles an event of the parent, and what follows from it.
    fn on(&mut self, event: Event) -> Checked {
        let stored = self.parent.entries.len();
        let before = self.parent.run();
        let output = self.parent.on(event);
        self.take(output, stored, before)
    }

    fn take(&mut self, output: Output, stored: usize, before: Option<RunState>) -> Checked {
        let added = self.parent.entries.len() - stored;
        for _ in 0..added {
            self.known_then.insert(0, self.known.clone());
        }
        self.check_stored(added, before)?;
        for effect in output.effects {
            match effect {
                Effect::StartChild(start) => self.start(*start)?,
                Effect::AbortChild { key } => self.abort(&key),
                Effect::CancelRequest { ticket } => self.interrupt(ticket),
                _ => {}
            }
        }
        if let Reply::Ask { ticket, request } = output.reply {
            if let Request::Children { .. } = request {
                // Where the user has moved the run, the wait at its place before was cancelled.
                prop_assert!(self.open.iter().all(|(_, is_interrupted)| *is_interrupted));
                self.open.push((ticket, false));
                return Ok(());
            }
            let answer = Session::answer(&request, self.number());
            return self.on(Event::Answer { ticket, answer });
        }
        Ok(())
    }

    /// A wait for children ends before they do, which are aborted.
    fn interrupt(&mut self, ticket: u64) {
        if let Some(wait) = self.open.iter_mut().find(|wait| **wait == (ticket, false)) {
            wait.1 = true;
            self.children.iter_mut().for_each(|child| child.is_aborted = true);
        }
    }

    fn abort(&mut self, key: &str) {
        let child = self.children.iter_mut().find(|child| child.key == key);
        if let Some(child) = child {
            child.is_aborted = true;
        }
    }

    fn user(&mut self, control: &str) -> Checked {
        self.by_user = true;
        let checked = self.on(Event::Command { name: "workflow", arguments: control });
        self.by_user = false;
        checked
    }

    /// The host starts a child.
    fn start(&mut self, start: ChildStart) -> Checked {
        self.started += 1;
        let state = self.parent.run().unwrap();
        let branches = state.branches(self.library);
        let branch = branches.iter().find(|branch| branch.key == start.key).unwrap();
        let run = state.branch_run(branch);
        prop_assert!(run.is_some_and(|run| run.end.is_none()), "{run:?}");
        let given = (state.given_to(branch), start.key.clone());
        prop_assert!(!self.known.ended.contains(&given), "{given:?} is begun again");
        // One that was aborted before ends without a report.
        if let Some(at) = self.children.iter().position(|child| child.key == start.key) {
            prop_assert!(self.children[at].is_aborted, "a child of {} works", start.key);
            self.put_away(at);
        }
        let earlier = start.session.as_ref().and_then(|file| self.stored.remove(file));
        let is_new = earlier.is_none();
        let file = match earlier {
            Some(_) => start.session.clone().unwrap(),
            None => {
                self.sessions += 1;
                format!("/s/{}", self.sessions)
            }
        };
        let states = start.entries.iter().filter(|(of, _)| *of == STATE_ENTRY_TYPE);
        let seed: Vec<String> = states.map(|(_, data)| data.to_string()).collect();
        let (entries, since, turns) = earlier.unwrap_or((seed, Usage::default(), 0));
        let mut session = Session::new(self.files, entries, self.parent.ui);
        session.host.since.replace(since);
        session.turns = turns;
        let _ = session.load();
        let mut child = Child { key: start.key, file, session, is_aborted: false };
        match start.prompt.strip_prefix("/workflow ") {
            Some(arguments) => {
                let command = Event::Command { name: "workflow", arguments };
                self.of_child(&mut child, command)?;
            }
            None => {
                prop_assert!(is_new || start.session.is_none());
                self.of_child(&mut child, Event::Input { from_user: true })?;
                self.of_child(&mut child, Event::BeforeAgentStart { role: DefaultRole::Worker })?;
            }
        }
        self.children.push(child);
        let at_once = &state.parallel_group(self.library).unwrap().parallel.as_ref().unwrap().at_once;
        prop_assert!(
            self.children.iter().filter(|child| !child.is_aborted).count() <= at_once.resolve(|_| 0.0) as usize
        );
        Ok(())
    }

    /// Handles an event of a child, and checks what it has stored.
    fn of_child(&mut self, child: &mut Child<'a>, event: Event) -> Checked {
        let stored = child.session.entries.len();
        let mut reply = child.session.on(event).reply;
        while let Reply::Ask { ticket, request } = &reply {
            prop_assert!(!matches!(request, Request::Children { .. }), "a child has no children");
            let answer = Session::answer(request, *self.numbers.next().unwrap());
            reply = child.session.on(Event::Answer { ticket: *ticket, answer }).reply;
        }
        let added = child.session.entries.len() - stored;
        for entry in &child.session.entries[..added] {
            let state = restore([entry]);
            prop_assert!(state.is_some(), "{entry}");
            let state = state.unwrap();
            prop_assert_eq!(&state.progress().broken, &None, "{}", entry);
            let branch = state.progress().branch.as_ref().unwrap();
            prop_assert_eq!(&branch.key, &child.key);
            prop_assert!(branch.has(&state.current_path.key()), "{state:?}");
            let again = restore([serde_json::to_string(&state).unwrap()]);
            prop_assert_eq!(again, Some(state));
        }
        Ok(())
    }

    /// Checks the states that the parent has stored.
    fn check_stored(&mut self, added: usize, before: Option<RunState>) -> Checked {
        let mut before = before;
        for newest in (0..added).rev() {
            let entries = &self.parent.entries[newest..];
            let state = restore(entries).unwrap();
            prop_assert_eq!(&state.progress().broken, &None, "{}", entries[0]);
            let again = restore([serde_json::to_string(&state).unwrap()]);
            prop_assert_eq!(again.as_ref(), Some(&state));
            prop_assert!(state.progress().branch.is_none());
            let is_parallel = |key: &str| self.library.get(key).is_some_and(|of| of.parallel.is_some());
            let is_inside = state.current_path.iter().any(|scope| is_parallel(&scope.workflow_key));
            prop_assert!(!is_inside, "{:?}", state.current_path);
            if state.is_running() {
                prop_assert!(Active::resolve(&state, self.library).is_some(), "{state:?}");
            }
            if let Some(before) = before.filter(|_| !self.by_user) {
                self.check_move(&before, &state)?;
            }
            before = Some(state);
        }
        self.check_usage()
    }

    /// Checks that the run leaves a group only with as many branches as are needed.
    fn check_move(&mut self, before: &RunState, after: &RunState) -> Checked {
        let Some(group) = before.parallel_group(self.library) else { return Ok(()) };
        let is_same = before.task_id == after.task_id && before.is_running();
        let has_left = after.current_path != before.current_path || !after.is_running();
        let is_cancelled = matches!(after.status, pi_workflows::run::RunStatus::Cancelled { .. });
        if !is_same || !has_left || is_cancelled {
            return Ok(());
        }
        let branches = before.branches(self.library);
        let is_done = |branch: &&pi_workflows::run::Branch| {
            let end = before.branch_run(branch).and_then(|run| run.end.as_ref());
            matches!(end, Some(BranchEnd::Done { .. }))
        };
        let done = branches.iter().filter(is_done).count();
        let needed = group.parallel.as_ref().unwrap().need.of(branches.len());
        prop_assert!(done >= needed, "{done} of {needed}: {before:?} {after:?}");
        self.joined += 1;
        Ok(())
    }

    /// Checks that the run has counted each turn once.
    fn check_usage(&self) -> Checked {
        let Some(state) = self.parent.run() else { return Ok(()) };
        let Some(known) = self.known_then.first() else { return Ok(()) };
        let counted = state.usage().turns;
        let expected = known.own + known.turns.values().sum::<u32>();
        prop_assert_eq!(counted, expected, "{:?} {:?}", known, state.progress().visits);
        Ok(())
    }

    /// A child tells of itself, or ends.
    fn tell(&mut self, at: usize, ended: Option<ChildEnd>, garbage: bool) -> Checked {
        let Child { key, file, session, .. } = &self.children[at];
        let newest = if garbage { Some("{}".to_owned()) } else { session.entries.first().cloned() };
        let usage = session.host.since.borrow().clone();
        let report = ChildReport {
            key: key.clone(),
            session: Some(file.clone()),
            newest,
            usage,
            last_call: Some("read it".into()),
        };
        let (key, file, turns) = (key.clone(), file.clone(), session.turns);
        let state = self.parent.run().filter(RunState::is_running);
        let is_end = ended.is_some();
        if is_end {
            self.put_away(at);
        }
        let before = self.known.clone();
        if !garbage {
            self.known.turns.insert(file, turns);
        }
        let entries = self.parent.entries.len();
        let output = self.parent.on(Event::Child { report, ended });
        if output.effects.is_empty() {
            // The run had not begun it, or has ended.
            self.known = before;
        } else if let Some(state) = self.parent.run().filter(|_| is_end) {
            let branches = state.branches(self.library);
            let branch = branches.iter().find(|branch| branch.key == key);
            let run = branch.and_then(|branch| Some((branch, state.branch_run(branch)?)));
            if let Some((branch, _)) = run.filter(|(_, run)| run.end.is_some()) {
                self.known.ended.insert((state.given_to(branch), key));
            }
        }
        self.take(output, entries, state)?;
        self.answer_wait()
    }

    /// A child works no more; its session is stored.
    fn put_away(&mut self, at: usize) {
        let Child { file, session, .. } = self.children.remove(at);
        let since = session.host.since.take();
        self.stored.insert(file, (session.entries, since, session.turns));
    }

    /// Answers the waits for children when there are none.
    fn answer_wait(&mut self) -> Checked {
        if !self.children.is_empty() {
            return Ok(());
        }
        if self.open.is_empty() {
            return Ok(());
        }
        let (ticket, _) = self.open.remove(0);
        self.on(Event::Answer { ticket, answer: Answer::ChildrenEnded })?;
        self.answer_wait()
    }

    /// The agent of the session calls its tool.
    fn call(&mut self, number: usize) -> Checked {
        if !self.open.is_empty() {
            return Ok(());
        }
        self.on(Event::AgentStart)?;
        let state = self.parent.run().filter(RunState::is_running);
        if state.is_some_and(|state| state.progress().paused.is_none()) {
            self.parent.turn();
            self.known.own += 1;
        }
        self.on(Event::TurnEnd { queued: false, calls: &[] })?;
        let outcome = ["ok", "odd", "none"][number % 3];
        let list = [r#"["x","y"]"#, r#"[]"#, r#"["x","x","{task}"]"#][number / 3 % 3];
        let outputs = if number.is_multiple_of(2) { format!(r#","outputs":{{"t":{list}}}"#) } else { String::new() };
        let input = format!(r#"{{"action":"next","outcome":"{outcome}","summary":"done"{outputs}}}"#);
        self.on(Event::Step { input: &input, nested: false })?;
        if self.open.is_empty() {
            let input = r#"{"action":"next","summary":"done"}"#;
            self.on(Event::Step { input, nested: false })?;
        }
        if self.open.is_empty() {
            self.on(Event::AgentEnd { stop: Stop::Completed })?;
        }
        Ok(())
    }

    /// The agent of a child calls its tool.
    fn call_of_child(&mut self, at: usize, number: usize) -> Checked {
        let mut child = self.children.remove(at);
        let is_open = child.session.run().is_some_and(|state| state.is_running() && state.progress().paused.is_none());
        if is_open {
            self.of_child(&mut child, Event::AgentStart)?;
            self.of_child(&mut child, Event::TurnEnd { queued: false, calls: &[] })?;
            child.session.turn();
            let outcome = OUTCOMES
                .get((number % 5).saturating_sub(2))
                .map_or(String::new(), |name| format!(r#","outcome":"{name}""#));
            let action = if number % 32 == 31 { "loop" } else { "next" };
            let input = format!(r#"{{"action":"{action}","summary":"done"{outcome}}}"#);
            self.of_child(&mut child, Event::Step { input: &input, nested: false })?;
        }
        self.children.insert(at, child);
        Ok(())
    }

    fn event_of_child(&mut self, at: usize, event: Event) -> Checked {
        let mut child = self.children.remove(at);
        let told = self.of_child(&mut child, event);
        self.children.insert(at, child);
        told
    }

    fn end(&mut self, at: usize, how: u8) -> Checked {
        if self.children[at].is_aborted {
            return self.tell(at, Some(ChildEnd::Aborted), false);
        }
        let state = self.children[at].session.run();
        let is_open = state.is_some_and(|state| state.is_running() && state.progress().paused.is_none());
        if how > 3 && is_open {
            return self.call_of_child(at, usize::from(how % 2) * 4);
        }
        if how == 0 {
            return self.tell(at, Some(ChildEnd::Failed("it broke".into())), false);
        }
        self.event_of_child(at, Event::AgentEnd { stop: if how == 1 { Stop::Failed } else { Stop::Completed } })?;
        self.event_of_child(at, Event::BeforeSettle)?;
        self.event_of_child(at, Event::AgentSettled)?;
        self.tell(at, Some(ChildEnd::Settled), how == 2)
    }

    /// The process ends, and another one loads the session.
    fn kill(&mut self) -> Checked {
        while !self.children.is_empty() {
            self.put_away(0);
        }
        self.open.clear();
        self.parent.engine = Engine::default();
        self.load()
    }

    fn load(&mut self) -> Checked {
        let turns = self.parent.turns;
        self.known = self.known_then.first().cloned().unwrap_or_default();
        self.parent.turns = turns;
        // What was used since the newest entry is stored with the conversation.
        self.known.own += self.parent.host.since.borrow().turns;
        self.open.clear();
        let entries = self.parent.entries.len();
        let before = self.parent.run();
        let output = self.parent.load();
        self.take(output, entries, before)
    }

    /// The user goes back to an earlier state, or forks there.
    fn earlier(&mut self, count: usize) -> Checked {
        let count = count % self.parent.entries.len();
        self.parent.entries.drain(..count);
        self.parent.run = restore(&self.parent.entries);
        self.known_then.drain(..count);
        self.parent.host.since.replace(Usage::default());
        self.load()
    }

    fn play(&mut self, next: &Move) -> Checked {
        let child = |at: &usize| (!self.children.is_empty()).then(|| at % self.children.len());
        match next {
            Move::Agent(number) => self.call(*number)?,
            Move::User(control) => {
                // What the user has begun anew may have ended.
                if control.starts_with(":retry") {
                    self.known.ended.clear();
                }
                self.user(control)?;
            }
            Move::Call(at, number) => {
                if let Some(at) = child(at) {
                    self.call_of_child(at, *number)?;
                }
            }
            Move::UserOfChild(at, arguments) => {
                if let Some(at) = child(at) {
                    self.event_of_child(at, Event::Command { name: "workflow", arguments })?;
                }
            }
            Move::Report(at) => {
                if let Some(at) = child(at).filter(|at| !self.children[*at].is_aborted) {
                    self.tell(at, None, false)?;
                }
            }
            Move::End(at, how) => {
                if let Some(at) = child(at) {
                    self.end(at, *how)?;
                }
            }
            Move::Interrupt => {
                if let Some((ticket, _)) = self.open.last() {
                    self.interrupt(*ticket);
                }
            }
            Move::Kill => self.kill()?,
            Move::Load => self.load()?,
            Move::Earlier(count) => self.earlier(*count)?,
        }
        self.answer_wait()
    }
}

#[derive(Debug, Clone)]
enum Move {
    Agent(usize),
    User(&'static str),
    /// The agent of a child calls its tool with the outcome of this number.
    Call(usize, usize),
    UserOfChild(usize, &'static str),
    Report(usize),
    /// A child ends, fails, or cannot be read.
    End(usize, u8),
    Interrupt,
    Kill,
    Load,
    Earlier(usize),
}

fn any_move() -> impl Strategy<Value = Move> {
    let at = || 0_usize..4;
    let control = prop::sample::select(vec![
        ":next",
        ":back",
        ":skip",
        ":skip first",
        ":pause",
        ":resume",
        ":resume",
        ":resume",
        ":resume",
        ":stop b0",
        ":stop b1",
        ":stop 1",
        ":retry b0",
        ":retry 1",
        ":retry 2",
        ":status",
        ":report",
        ":next ok",
        ":answer ok",
        ":cancel",
    ]);
    let of_child = prop::sample::select(vec![":pause", ":cancel", ":next", ":back", ":skip", ":resume"]);
    prop_oneof![
        8 => any::<usize>().prop_map(Move::Agent),
        4 => control.prop_map(Move::User),
        20 => (at(), any::<usize>()).prop_map(|(at, number)| Move::Call(at, number)),
        1 => (at(), of_child).prop_map(|(at, control)| Move::UserOfChild(at, control)),
        4 => at().prop_map(Move::Report),
        20 => (at(), 0_u8..32).prop_map(|(at, how)| Move::End(at, how)),
        1 => Just(Move::Interrupt),
        1 => Just(Move::Kill),
        1 => Just(Move::Load),
        1 => (0_usize..6).prop_map(Move::Earlier),
    ]
}

/// The number of cases, or what the environment says.
fn cases(number: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(number)
}

fn load(files: &Files) -> Library {
    Library::load(files).unwrap().0
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(60), failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the children, the agent and the user do, in any order.
    #[test]
    fn children_do_anything_at_any_time(
        files in parallel_files(),
        moves in prop::collection::vec(any_move(), 0..60),
        numbers in prop::collection::vec(0_usize..64, 1..8),
        has_ui in any::<bool>(),
    ) {
        let library = load(&files);
        if library.get("w0").is_none() {
            return Ok(());
        }
        let ui = if has_ui { Ui::Terminal } else { Ui::None };
        let mut family = Family::begun(&files, &library, &numbers, ui)?;
        for next in &moves {
            family.play(next)?;
        }
        // Something must be left to do: a run that waits for nothing is paused, or at a phase of the agent.
        let state = family.parent.run().filter(RunState::is_running);
        if let Some(state) = state.filter(|state| state.progress().paused.is_none()) {
            let active = Active::resolve(&state, &library).unwrap();
            prop_assert!(active.phase.is_of_agent() || !family.open.is_empty(), "{state:?}");
        }
    }
}

/// The random files load, and their runs come to the end of groups.
#[test]
fn most_random_files_load_and_their_groups_come_to_an_end() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let (mut loaded, mut started, mut joined) = (0, 0, 0);
    let moves = prop::collection::vec(any_move(), 60);
    let mut refused = BTreeMap::<String, usize>::new();
    for _ in 0..60 {
        let files = parallel_files().new_tree(&mut runner).unwrap().current();
        let (library, diagnostics) = Library::load(&files).unwrap();
        if library.get("w0").is_none() {
            *refused.entry(format!("{:?}", diagnostics.iter().map(ToString::to_string).next())).or_default() += 1;
            continue;
        }
        loaded += 1;
        let moves = moves.new_tree(&mut runner).unwrap().current();
        let mut family = Family::begun(&files, &library, &[2], Ui::Terminal).unwrap();
        moves.iter().for_each(|next| family.play(next).unwrap());
        started += family.started;
        joined += family.joined;
    }
    assert!(loaded > 50, "{loaded} of 60 files load: {refused:#?}");
    assert!(started > 100 && joined > 8, "{started} children are started, {joined} groups come to their end");
}
