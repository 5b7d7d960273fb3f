//! Properties of any workflow files and any sequence of events.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

#[path = "properties/branches.rs"]
mod branches;
#[path = "support/one_level.rs"]
mod one_level;

use std::collections::BTreeMap;

use pi_workflows::definition::{Library, Workflow};
use pi_workflows::engine::{Answer, Context, Effect, Engine, Event, Facts, Host, Reply, Stop, Ui};
use pi_workflows::run::{
    Active, Leaving, Mark, Outline, PhasePath, Restored, RunState, Segment, advance, enter, restart, restore,
    restore_with_mark,
};
use pi_workflows::text::{DefaultRole, context_prompt, context_reminder, resolve};
use proptest::prelude::*;
use serde_json::Value;

use one_level::Files;

/// Workflows `w0` to `w4`. Each contains phases and workflows with higher numbers, so there are no cycles.
fn sound_files() -> impl Strategy<Value = Files> {
    let entries = prop::collection::vec(0_usize..10, 1..5);
    let workflow = (entries, any::<bool>());
    prop::collection::vec(workflow, 1..6).prop_map(|workflows| {
        let count = workflows.len();
        let mut files = Files::default();
        for (index, (entries, loopable)) in workflows.into_iter().enumerate() {
            let mut folder = BTreeMap::new();
            let mut yaml =
                format!("name: W{index}\ncommandName: w{index}\ninitialMessage: go\nloopable: {loopable}\nphases:\n");
            for (position, entry) in entries.into_iter().enumerate() {
                let nested = index + 1 + entry;
                if nested < count {
                    yaml.push_str(&format!("  - subworkflow: w{nested}\n"));
                } else {
                    yaml.push_str(&format!("  - p{position}.md\n"));
                    let text = format!("---\nid: p{position}\nname: P{position}\nemoji: '*'\n---\nDo {{phaseName}}\n");
                    folder.insert(format!("p{position}.md"), text.into_bytes());
                }
            }
            folder.insert("workflow.yaml".into(), yaml.into_bytes());
            files.0.insert(format!("w{index}"), folder);
        }
        files
    })
}

/// The instructions of every phase of [`files_with_summaries`]. No phase has the id `nope`.
const INSTRUCTIONS: &str = "{previousSummary}|{summary.same}|{summary.own-1}|{summary.nope}|{description}";

/// A workflow `w0` of many phases that nests `w1` twice; both have a phase `same`. The names and the reminder
/// are arbitrary.
fn files_with_summaries() -> impl Strategy<Value = Files> {
    let name = "[a-zA-Zß漢🔹{}.*> -]{0,200}";
    (prop::collection::vec(name, 4), 0_usize..30, prop::option::of("[a-z漢 ]{0,300}")).prop_map(
        |(names, more, reminder)| {
            let phase = |id: &str, name: &str| {
                format!("---\nid: {id}\nname: {name}\nemoji: '*'\n---\n{INSTRUCTIONS}").into_bytes()
            };
            let quoted: Vec<String> = names.iter().map(|name| Value::from(format!("N{name}")).to_string()).collect();
            let mut outer = BTreeMap::from([("same.md".into(), phase("same", &quoted[0]))]);
            let mut yaml = format!(
                "name: {}\ncommandName: w0\ninitialMessage: go\nphases:\n  - same.md\n  - subworkflow: w1\n",
                quoted[1]
            );
            for number in 0..more {
                yaml.push_str(&format!("  - m{number}.md\n"));
                outer.insert(format!("m{number}.md"), phase(&format!("m{number}"), &quoted[0]));
            }
            yaml.push_str("  - subworkflow: w1\n");
            if let Some(reminder) = reminder {
                let template = format!("{{previousSummary}} {reminder} {{summary.same}}");
                yaml.push_str(&format!("advanceReminder: {}\n", Value::from(template)));
            }
            outer.insert("workflow.yaml".into(), yaml.into_bytes());
            let inner = format!("name: {}\nshow: workflows\nphases: [own.md, same.md]\n", quoted[2]);
            let inner = BTreeMap::from([
                ("workflow.yaml".into(), inner.into_bytes()),
                ("own.md".into(), phase("own-1", &quoted[3])),
                ("same.md".into(), phase("same", &quoted[0])),
            ]);
            Files(BTreeMap::from([("w0".into(), outer), ("w1".into(), inner)]))
        },
    )
}

/// A summary of any length, or none. It may look like a template or like a part of the prompt.
fn summary() -> impl Strategy<Value = Option<String>> {
    prop::option::of(prop_oneof![
        "[a-z{}.ß漢#*\n ]{1,80}".prop_filter("blank", |text| !text.trim().is_empty()),
        Just("{previousSummary} {summary.same} {description}".to_owned()),
        Just("**Results so far:**\n\n### X\ny".to_owned()),
        (3_990_usize..20_000).prop_map(|length| "x".repeat(length)),
        (3_990_usize..20_000).prop_map(|length| "漢".repeat(length)),
    ])
}

fn without_summaries(state: &RunState) -> RunState {
    let mut data = serde_json::to_value(state).unwrap();
    for visit in data["progress"]["visits"].as_object_mut().into_iter().flat_map(serde_json::Map::values_mut) {
        visit.as_object_mut().unwrap().remove("summary");
    }
    restore([data.to_string()]).unwrap()
}

/// The allowed results of resolving [`INSTRUCTIONS`]: `summary.same` may be the summary of any phase `same`.
fn instructions(state: &RunState) -> Vec<String> {
    let summaries: Vec<_> = state.summaries().into_iter().map(|(_, summary)| summary).collect();
    let of = |id: &str| -> Vec<&str> {
        let texts = summaries.iter().filter(|summary| summary.id == id);
        let texts: Vec<&str> = texts.map(|summary| &*summary.text).collect();
        if texts.is_empty() { vec!["(none)"] } else { texts }
    };
    let previous = summaries.last().map_or("(none)", |summary| &summary.text);
    let own = of("own-1");
    of("same")
        .iter()
        .flat_map(|same| own.iter().map(move |own| (same, own)))
        .map(|(same, own)| format!("{previous}|{same}|{own}|{{summary.nope}}|{}", state.task_description))
        .collect()
}

/// Files with a few bytes changed.
fn broken_files() -> impl Strategy<Value = Files> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6);
    (sound_files(), changes).prop_map(|(mut files, changes)| {
        for (at, byte) in changes {
            let count = files.0.values().map(BTreeMap::len).sum::<usize>();
            let all = files.0.values_mut().flat_map(BTreeMap::values_mut);
            if let Some(file) = all.into_iter().nth(at.index(count)) {
                let position = at.index(file.len().max(1));
                if let Some(old) = file.get_mut(position) {
                    *old = byte;
                }
            }
        }
        files
    })
}

#[derive(Debug, Clone)]
enum Action {
    Start(u8),
    Step(&'static str),
    Input(String),
    Tool(&'static str),
    CancelCommand,
    Answer(u64, bool),
    BeforeRun,
    TurnEnd,
    RunEnd { stop: Stop, has_ui: bool },
    Control(&'static str),
    Key,
    Tick,
    Restart,
    Shutdown,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        2 => (0_u8..6).prop_map(Action::Start),
        8 => prop::sample::select(vec!["next", "next", "next", "loop", "status", "cancel"])
            .prop_map(Action::Step),
        1 => ".{0,20}".prop_map(Action::Input),
        1 => prop::sample::select(vec!["edit", "read", "workflow_step"]).prop_map(Action::Tool),
        1 => Just(Action::CancelCommand),
        1 => (1_u64..4, any::<bool>()).prop_map(|(ticket, yes)| Action::Answer(ticket, yes)),
        1 => Just(Action::BeforeRun),
        1 => Just(Action::TurnEnd),
        2 => (prop::sample::select(vec![Stop::Completed, Stop::Aborted, Stop::Failed]), any::<bool>())
            .prop_map(|(stop, has_ui)| Action::RunEnd { stop, has_ui }),
        3 => prop::sample::select(vec![
            ":status", ":pause", ":resume", ":next", ":back", ":skip", ":cancel", ":x",
        ])
        .prop_map(Action::Control),
        1 => Just(Action::Key),
        2 => Just(Action::Tick),
        1 => Just(Action::Restart),
        1 => Just(Action::Shutdown),
    ]
}

/// An engine, and the effects that a session stores.
struct Play<'a> {
    engine: Engine,
    files: &'a dyn Host,
    ui: Ui,
    /// The data of the state entries, newest first.
    entries: Vec<Value>,
    prompts: usize,
    /// The tickets of requests that the engine has cancelled.
    cancelled: Vec<u64>,
}

impl<'a> Play<'a> {
    /// An engine in a session without a run.
    fn new(files: &'a dyn Host) -> Self {
        let (engine, ui) = (Engine::default(), Ui::Program);
        let mut play = Self { engine, files, ui, entries: vec![], prompts: 0, cancelled: vec![] };
        play.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
        play
    }

    fn on(&mut self, event: Event) -> Reply {
        let context = Context { unix_ms: 1, random: 2, ui: self.ui, host: self.files };
        let output = self.engine.handle(event, &context);
        for effect in output.effects {
            match effect {
                Effect::AppendEntry { custom_type: "workflow:state", data } => {
                    self.entries.insert(0, data);
                }
                Effect::SendUserMessage(_) => self.prompts += 1,
                Effect::CancelRequest { ticket } => self.cancelled.push(ticket),
                _ => {}
            }
        }
        output.reply
    }

    fn act(&mut self, action: &Action) {
        let (stored, mark) = match restore_with_mark(self.entries.iter().map(Value::to_string)) {
            Some(Restored { state, mark }) => (Some(state), mark),
            None => (None, Mark::default()),
        };
        let facts = Facts { mark, ..Facts::default() };
        let _ = match action {
            Action::Start(number) => {
                let arguments = format!("w{number} a task");
                self.on(Event::Command { name: "workflow", arguments: &arguments })
            }
            Action::Step(action) => {
                self.on(Event::Step { input: &format!(r#"{{"action":"{action}"}}"#), nested: false })
            }
            Action::Input(input) => self.on(Event::Step { input, nested: input.len() % 4 == 3 }),
            Action::Tool(name) => self.on(Event::ToolCall { name, carries_calls: false }),
            Action::CancelCommand => self.on(Event::Command { name: "cancel-workflow", arguments: "" }),
            Action::Answer(ticket, yes) => self.on(Event::Answer { ticket: *ticket, answer: Answer::Confirmed(*yes) }),
            Action::BeforeRun => {
                self.on(Event::Input { from_user: false });
                self.on(Event::AgentStart);
                self.on(Event::BeforeAgentStart { role: DefaultRole::Worker })
            }
            Action::TurnEnd => self.on(Event::TurnEnd { queued: false, calls: &[] }),
            Action::RunEnd { stop, has_ui } => {
                self.ui = if *has_ui { Ui::Program } else { Ui::None };
                self.on(Event::AgentEnd { stop: *stop });
                if *stop != Stop::Aborted {
                    self.on(Event::BeforeSettle);
                }
                let reply = self.on(Event::AgentSettled);
                self.ui = Ui::Program;
                reply
            }
            Action::Control(arguments) => self.on(Event::Command { name: "workflow", arguments }),
            Action::Key => self.on(Event::TerminalInput { interrupts: false }),
            Action::Tick => self.on(Event::Timer { id: 1, idle: true }),
            Action::Restart => self.on(Event::Session { stored, in_view: None, facts }),
            Action::Shutdown => {
                let reply = self.on(Event::SessionShutdown);
                self.on(Event::Session { stored, in_view: None, facts });
                reply
            }
        };
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// After any actions the path leads to a phase, the step count does not decrease during a run, and a stored
    /// entry is restored unchanged.
    #[test]
    fn the_path_of_a_run_always_leads_to_a_phase(
        files in sound_files(),
        actions in prop::collection::vec(action(), 0..60),
    ) {
        let (library, diagnostics) = Library::load(&files).unwrap();
        prop_assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let mut play = Play::new(&files);
        for action in &actions {
            play.act(action);
        }
        let mut steps: BTreeMap<(String, String), u64> = BTreeMap::new();
        for newest in (0..play.entries.len()).rev() {
            let state = restore(play.entries[newest..].iter().map(Value::to_string)).unwrap();
            prop_assert_eq!(&state.progress().broken, &None);
            prop_assert_eq!(restore([serde_json::to_string(&state).unwrap()]), Some(state.clone()));
            prop_assert!(!state.current_path.is_empty());
            if state.is_running() {
                let active = Active::resolve(&state, &library);
                prop_assert!(active.is_some(), "{state:?}");
                let outline = Outline::of(&active.unwrap());
                prop_assert!(outline.current >= 1 && outline.current <= outline.total);
                prop_assert_eq!(&enter(&state, &library), &state);
            }
            // Two runs of one task have the same id here; a new run begins at step 0.
            let key = (state.task_id.clone(), state.workflow_key.clone());
            let before = steps.insert(key, state.global_step_count).unwrap_or(0);
            prop_assert!(state.global_step_count >= before || state.global_step_count == 0);
        }
    }

    /// In any workflow, `next` reaches the end in as many steps as there are phases. Each prompt lists at most 20 of
    /// them, the current one among them.
    #[test]
    fn next_leads_through_every_phase_to_the_end(files in sound_files()) {
        let (library, _) = Library::load(&files).unwrap();
        for workflow in library.iter() {
            let phases = library.phase_count(&workflow.phases);
            prop_assume!(phases < 10_000);
            let mut state = enter(&RunState::new(&workflow.key, "t", 0, 0), &library);
            for number in 1..=phases {
                let active = Active::resolve(&state, &library).unwrap();
                prop_assert_eq!(Outline::of(&active).current, number);
                let prompt = context_prompt(&active, DefaultRole::Worker);
                let list = prompt.lines().skip_while(|line| *line != "**All steps:**").skip(1);
                let listed: Vec<&str> = list.take_while(|line| !line.is_empty()).collect();
                prop_assert!(listed.len() <= 20, "{prompt}");
                let current = format!("▸ {number}. ");
                let marked = listed.iter().filter(|line| line.starts_with(&current));
                prop_assert_eq!(marked.count(), 1);
                let last = format!(" {phases}. ");
                prop_assert!(listed.last().unwrap().contains(&last));
                state = advance(&state, &library).0;
            }
            prop_assert!(!state.is_running());
            prop_assert_eq!(state.global_step_count, phases);
        }
    }

    /// Files with any content load without a panic, and the loaded workflows can be run.
    #[test]
    fn broken_files_load_without_panics(files in broken_files(), actions in prop::collection::vec(action(), 0..20)) {
        let (library, _) = Library::load(&files).unwrap();
        let phases_of = |workflow: &Workflow| library.first_phase(&workflow.phases).is_some();
        prop_assert!(library.iter().all(phases_of));
        let mut play = Play::new(&files);
        for action in &actions {
            play.act(action);
        }
    }

    /// Any text can be a template, and values are inserted unchanged.
    #[test]
    fn templates_take_any_text(template in ".{0,60}", value in ".{0,20}") {
        let resolved = resolve(&format!("{template}|{{v}}|"), &[("v", value.as_str().into())]);
        let end = format!("|{value}|");
        prop_assert!(resolved.ends_with(&end));
        prop_assert_eq!(resolve(&template, &[]), template);
    }

    /// Any JSON can be a stored state, with any path.
    #[test]
    fn stored_states_take_any_json(
        text in r#"[\[\]{}":,0-9a-z.\-]{0,40}"#,
        path in prop::collection::vec(("w[0-9]", any::<usize>()), 1..4),
        files in sound_files(),
    ) {
        let _ = restore([text]);
        let (library, _) = Library::load(&files).unwrap();
        let segment = |(workflow_key, phase_index)| Segment { workflow_key, phase_index, item: None };
        let path = PhasePath::of(path.into_iter().map(segment).collect());
        let state = enter(&RunState::new("w0", "t", 0, 0).at(path.unwrap()), &library);
        let _ = Active::resolve(&state, &library).map(|active| Outline::phases(&active, 1, 100));
        let _ = advance(&state, &library);
        let _ = restart(&state, &library);
    }
}

proptest! {
    // Fewer cases, because the runs are long.
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// A prompt contains any phase names and summaries unchanged, and stays within its size limits.
    #[test]
    fn prompts_contain_summaries_unchanged_and_within_limits(
        files in files_with_summaries(),
        steps in prop::collection::vec((summary(), prop::bool::weighted(0.1)), 1..50),
    ) {
        let (library, diagnostics) = Library::load(&files).unwrap();
        prop_assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let task = "a {previousSummary} of {summary.same}";
        let reminded = library.get("w0").unwrap().advance_reminder.is_some();
        let mut state = enter(&RunState::new("w0", task, 0, 0), &library).begun(0);
        for (summary, again) in steps {
            let Some(active) = Active::resolve(&state, &library) else { break };
            prop_assert!(context_reminder(&active).len() <= 300);
            let prompt = context_prompt(&active, DefaultRole::Worker);
            let told = instructions(&state).into_iter().find(|told| {
                prompt.contains(&format!("**What to do in this phase:**\n{told}\n\n**"))
            });
            prop_assert!(told.is_some());
            if !reminded {
                let bare = without_summaries(&state);
                let bare_active = Active::resolve(&bare, &library).unwrap();
                let plain = context_prompt(&bare_active, DefaultRole::Worker);
                let rest = |prompt: &str, told: &str| prompt.chars().count() - told.chars().count();
                let list = rest(&prompt, &told.unwrap()) - rest(&plain, &instructions(&bare)[0]);
                let frame = "**Results so far:**\n\n(99 earlier not shown)\n\n\n\n".chars().count();
                prop_assert!(list <= 12_000 + frame, "{list} characters");
            }
            let phase = active.phase.clone();
            let left = summary.map_or(state.clone(), |text| state.with_summary(&phase, &text));
            let texts = left.summaries().into_iter().map(|(_, summary)| &summary.text);
            prop_assert!(texts.clone().all(|text| text.chars().count() <= 4_007));
            prop_assert!(texts.map(String::len).sum::<usize>() <= 100_000);
            let moved = if again { restart(&left, &library).unwrap() } else { advance(&left, &library).0 };
            state = moved.moved_from(&left, Leaving::Done, 0);
            prop_assert_eq!(&restore([serde_json::to_string(&state).unwrap()]).unwrap(), &state);
        }
    }
}
