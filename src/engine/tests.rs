//! Given these events, exactly these effects.

use serde_json::{Value, json};

use super::*;
use crate::definition::fixtures::Files;
use crate::definition::{DirEntry, ReadError, Root, WorkflowFiles};
use crate::protocol::{CONTEXT_MESSAGE_TYPE, REMINDER_MESSAGE_TYPE, STATE_ENTRY_TYPE, STATUS_TYPE};
use crate::run::{Active, RunDir, RunState, restore};
use crate::text::{self, DefaultRole};

/// An engine with its files and its user interface, and a clock that stands still.
struct Session {
    engine: Engine,
    files: Files,
    ui: Ui,
    /// The time of the next event, in milliseconds since 1970.
    now: u64,
    /// The ticket of the last request.
    last_ticket: u64,
    /// The state entries that the engine appended, newest first, and the run in them.
    entries: Vec<String>,
    run: Option<RunState>,
    status: Option<String>,
    /// The wait that pi shows, kept apart from the effects of [`Session::on`].
    blocked: Option<String>,
    /// The claims that were given back, `true` for those with which no run is left; kept apart likewise.
    released: Vec<bool>,
    /// The effects that set the timers of the agent's work, since they were last looked at; kept apart in the same way.
    deadlines: Vec<Effect>,
    /// The next calls are of one answer of the model; otherwise each call is of an answer of its own.
    one_answer: bool,
    /// The events so far, if they are recorded.
    recorded: Option<Vec<replay::Recorded>>,
}

const NOW: u64 = 1_747_234_567_890;
const CANCEL: &str = r#"{"action":"cancel"}"#;
const TASK_ID: &str = "wf-1747234567890-000000";

impl Session {
    /// Workflows of these phases; `@key` nests. The phase `locked` refuses `edit`.
    fn new(workflows: &[(&str, &[&str])]) -> Self {
        let mut files = Files { identity: Some("1:2:3".into()), ..Files::default() };
        for (key, phases) in workflows {
            let entries: Vec<String> = phases
                .iter()
                .map(|phase| match phase.strip_prefix('@') {
                    Some(key) => format!("{{subworkflow: {key}}}"),
                    None => format!("{phase}.md"),
                })
                .collect();
            files.global.insert(
                format!("{key}/workflow.yaml"),
                format!(
                    "name: The {key}\ncommandName: {key}\ninitialMessage: 'Go: {{description}}'\nphases: [{}]\n",
                    entries.join(", ")
                ),
            );
            for phase in phases.iter().filter(|phase| !phase.starts_with('@')) {
                let tools = if *phase == "locked" { "tools: {blacklist: [edit]}\n" } else { "" };
                files.global.insert(
                    format!("{key}/{phase}.md"),
                    format!("---\nid: {phase}\nname: {phase}\nemoji: '*'\n{tools}---\nDo {phase}."),
                );
            }
        }
        let mut session = Self {
            engine: Engine::default(),
            files,
            ui: Ui::Program,
            now: NOW,
            last_ticket: 0,
            entries: Vec::new(),
            run: None,
            status: None,
            blocked: None,
            released: Vec::new(),
            deadlines: Vec::new(),
            one_answer: false,
            recorded: None,
        };
        let started = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
        assert_eq!(started.effects, [Effect::SetStatus(None)]);
        session
    }

    fn has_pace(&mut self, pace: Pace) {
        let _ = self.on(Event::Session { stored: None, in_view: None, facts: Facts { pace, ..Facts::default() } });
    }

    fn on(&mut self, event: Event) -> Output {
        if let Event::Session { stored, .. } = &event {
            self.run = stored.clone();
        }
        let context = Context { unix_ms: self.now, random: 0, ui: self.ui, host: &self.files };
        let before = self.recorded.is_some().then(|| (replay::lasting(&event), Box::new(self.files.clone())));
        let mut output = self.engine.handle(event, &context);
        if let (Some((event, files)), Some(recorded)) = (before, &mut self.recorded) {
            let (unix_ms, ui, output) = (self.now, self.ui, output.clone());
            recorded.push(replay::Recorded::Event { event: Box::new(event), unix_ms, ui, files, output });
        }
        if !self.one_answer {
            self.engine.turn.left = None;
            self.recorded.iter_mut().for_each(|recorded| recorded.push(replay::Recorded::OtherAnswer));
        }
        output.effects.retain(|effect| match effect {
            Effect::SetBlocked(message) => {
                self.blocked.clone_from(message);
                false
            }
            Effect::ReleaseClaim { is_over } => {
                self.released.push(*is_over);
                false
            }
            Effect::WatchClock(_)
            | Effect::StartTimerAtSilence { .. }
            | Effect::StartTimer { id: 3 | 4, .. }
            | Effect::StopTimer { id: 3 | 4 } => {
                self.deadlines.push(effect.clone());
                false
            }
            _ => true,
        });
        self.see(&output.effects);
        if let Reply::Ask { ticket, .. } = output.reply {
            self.last_ticket = ticket;
        }
        output
    }

    /// Keeps the states that effects store, and the values that they show.
    fn see(&mut self, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::AppendEntry { custom_type: STATE_ENTRY_TYPE, data } => {
                    self.entries.insert(0, data.to_string());
                    self.run = restore(&self.entries);
                }
                Effect::SetStatus(line) => self.status.clone_from(line),
                _ => {}
            }
        }
    }

    fn stored_run(&self) -> Option<&RunState> {
        self.run.as_ref()
    }

    fn with_ui(&mut self, has_ui: bool, event: Event) -> Output {
        if has_ui { self.on(event) } else { self.without_ui(event) }
    }

    fn without_ui(&mut self, event: Event) -> Output {
        let ui = std::mem::replace(&mut self.ui, Ui::None);
        let output = self.on(event);
        self.ui = ui;
        output
    }

    fn command(&mut self, name: &str, arguments: &str) -> Output {
        self.on(Event::Command { name, arguments })
    }

    /// `/workflow :resume MORE`, with a yes to each question about it, or with the options in place of the answers.
    fn resume(&mut self, more: &str) -> Output {
        if self.ui == Ui::None {
            self.engine.session.facts.more = Some(more.to_owned()).filter(|more| !more.is_empty());
            self.engine.session.facts.accept_rules = self.engine.run.seal_of_files().map(|seal| seal.to_string());
            with_cx(|cx| self.engine.accept_by_option(cx));
            return self.command("workflow", ":resume");
        }
        let mut output = self.command("workflow", format!(":resume {more}").trim());
        loop {
            let (ticket, answer) = match &output.reply {
                Reply::Ask { ticket, request: Request::Select { title, .. } }
                    if title.starts_with("Paused: ") || title.starts_with("Accept the rules of ") =>
                {
                    (*ticket, Answer::Selected(1))
                }
                Reply::Ask { ticket, request: Request::Confirm { title, .. } } if title.starts_with("Accept the ") => {
                    (*ticket, Answer::Confirmed(true))
                }
                _ => return output,
            };
            let answered = self.on(Event::Answer { ticket, answer });
            output = Output { effects: [output.effects, answered.effects].concat(), reply: answered.reply };
        }
    }

    fn step(&mut self, action: &str) -> (String, Value) {
        self.step_output(action).1
    }

    fn step_output(&mut self, action: &str) -> (Vec<Effect>, (String, Value)) {
        let output = self.on(Event::Step { input: &json!({ "action": action }).to_string(), nested: false });
        match output.reply {
            Reply::Tool(ToolResult { text, details }) => (output.effects, (text, details)),
            other => panic!("{other:?}"),
        }
    }

    /// The agent runs, does nothing, and stops by itself.
    /// Adds a question after the phase of this file of a workflow.
    fn ask_after(&mut self, file: &str) {
        let (key, phase) = file.split_once('/').unwrap();
        let workflow = self.files.global.get_mut(&format!("{key}/workflow.yaml")).unwrap();
        *workflow = workflow.replacen(phase, &format!("{phase}, {{ask: Good?, id: good, outcomes: {{yes: next}}}}"), 1);
    }

    fn stop(&mut self) -> Vec<Effect> {
        self.stop_as(Stop::Completed, true)
    }

    fn stop_as(&mut self, stop: Stop, has_ui: bool) -> Vec<Effect> {
        // The end of a countdown or of a wait.
        assert!(matches!(self.on(Event::AgentStart).effects.len(), 0 | 1 | 3));
        let mut effects = self.on(Event::AgentEnd { stop }).effects;
        effects.extend(self.with_ui(has_ui, Event::AgentSettled).effects);
        effects
    }
}

/// Calls a part of the engine with an event of an empty project.
pub(super) fn with_cx<T>(call: impl FnOnce(&mut Cx) -> T) -> T {
    let files = Files::default();
    let context = Context { unix_ms: NOW, random: 0, ui: Ui::Program, host: &files };
    call(&mut Cx::new(&context))
}

impl From<Vec<Effect>> for Output {
    fn from(effects: Vec<Effect>) -> Self {
        Self { effects, reply: Reply::None }
    }
}

fn widget(seconds: u32) -> Effect {
    let line = format!("⏳ Auto-continuing in {seconds}s... (type anything to interrupt)");
    Effect::SetCountdown(Some(line))
}

fn status(text: &str) -> Effect {
    Effect::SetStatus(Some(text.into()))
}

fn notice(level: Level, text: &str) -> Vec<Effect> {
    vec![Effect::Notify { level, text: text.into() }]
}

/// The effects that end a countdown.
fn stopped() -> Vec<Effect> {
    vec![Effect::StopTimer { id: 1 }, Effect::WatchTerminal(false), Effect::SetCountdown(None)]
}

#[test]
fn a_start_stores_the_state_and_prompts_the_agent() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let output = session.command("workflow", "  flat \n Add a page  ");
    let state = json!({
        "active": true,
        "workflowKey": "flat",
        "currentPath": [{ "workflowKey": "flat", "phaseIndex": 0 }],
        "globalStepCount": 0,
        "taskId": TASK_ID,
        "taskDescription": "Add a page",
        "startedAt": 1_747_234_567_890_u64,
        "completionNotified": false,
        "cancelled": false,
        "progress": {
            "version": 1,
            "seal": { "version": 3, "hash": session.engine.run.library().seal("flat").unwrap() },
            "visits": { "flat:0": { "name": "a", "startedAt": 1_747_234_567_890_u64, "passes": 1 } },
            "entry": { "number": 1 },
        },
    });
    assert_eq!(
        output.effects,
        [
            Effect::AppendEntry { custom_type: "workflow:state", data: state },
            Effect::SetSessionName("Workflow: Add a page".into()),
            Effect::SendUserMessage("Go: Add a page".into()),
            status("The flat > * a [1/2]"),
        ]
    );
    assert_eq!(output.reply, Reply::Settle);
}

#[test]
fn a_command_that_cannot_start_says_why() {
    let mut session = Session::new(&[("flat", &["a"]), ("part", &["b"])]);
    session
        .files
        .global
        .insert("part/workflow.yaml".into(), "name: Part\ncommandName: part\nshow: workflows\nphases: [b.md]".into());
    for (arguments, level, text) in [
        ("", Level::Info, "Usage: /workflow {name} {description}\n\nAvailable workflows:\n  flat — The flat"),
        ("flat  ", Level::Warning, "Usage: /workflow flat {description}"),
        ("nothing", Level::Warning, "Usage: /workflow nothing {description}"),
        ("nope x", Level::Error, "Unknown workflow: \"nope\". Available: flat"),
        (
            "part x",
            Level::Error,
            "\"part\" is a subworkflow that can only run as part of another workflow. It cannot be started directly.",
        ),
    ] {
        assert_eq!(session.command("workflow", arguments), notice(level, text).into());
    }
}

#[test]
fn another_start_needs_a_yes() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let _ = session.command("workflow", "flat first");
    session.step("next");
    for (answer, starts) in [
        (Answer::Confirmed(false), false),
        (Answer::Cancelled, false),
        (Answer::NoUi, false),
        (Answer::Confirmed(true), true),
    ] {
        let output = session.command("workflow", "flat second");
        let Reply::Ask { ticket, request: Request::Confirm { title, message } } = output.reply else { panic!() };
        assert_eq!(title, "Workflow already active");
        assert_eq!(message, "Phase: b\nTask: first\n\nStart a new one?");
        let output = session.on(Event::Answer { ticket, answer: answer.clone() });
        assert_eq!(output.reply == Reply::Settle, starts, "{answer:?}");
        assert_eq!(session.on(Event::Answer { ticket, answer }), Output::default(), "answered twice");
    }
    assert_eq!(session.step("status").1["currentPath"][0]["phaseIndex"], 0);
}

#[test]
fn a_workflow_with_errors_is_not_unknown() {
    let mut session = Session::new(&[("flat", &["a"])]);
    let files = &mut session.files.global;
    files.insert("one/workflow.yaml".into(), "name: One\ncommandName: uno\nphases: 7\n".into());
    files.insert("two/workflow.yaml".into(), "name: [\n".into());
    let three = "name: T\ncommandName: tre\ninitialMessage: x\nphases: [{subworkflow: gone}]\n";
    files.insert("three/workflow.yaml".into(), three.into());
    for (name, has_errors) in [("uno", true), ("one", false), ("two", true), ("tre", true)] {
        let effects = session.command("workflow", &format!("{name} x")).effects;
        let Some(Effect::Notify { level: Level::Error, text }) = effects.last() else { panic!() };
        let told = format!("The workflow \"{name}\" has errors: /workflow :check shows them.");
        assert_eq!(*text == told, has_errors, "{text}");
    }
}

#[test]
fn in_a_terminal_no_comes_first() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    session.ui = Ui::Terminal;
    let facts = Facts::default();
    let _ = session.on(Event::Session { stored: None, in_view: None, facts });
    let _ = session.command("workflow", "flat first");
    for (choice, starts) in [(0, false), (1, true)] {
        let Reply::Ask { ticket, request: Request::Select { title, options } } =
            session.command("workflow", "flat second").reply
        else {
            panic!()
        };
        let lines = ["Still active: \"The flat\"", "│ a", "│ first", "It stays unfinished. Start the other?"];
        assert_eq!(title, lines.join("\n"));
        assert_eq!(options, ["No, go on with it", "Yes, start the other"]);
        let output = session.on(Event::Answer { ticket, answer: Answer::Selected(choice) });
        assert_eq!(output.reply == Reply::Settle, starts);
    }
    for (choice, cancels) in [(0, false), (1, true)] {
        session.step("cancel");
        let Reply::Ask { ticket, request: Request::Select { title, options } } =
            session.on(Event::Step { input: CANCEL, nested: false }).reply
        else {
            panic!()
        };
        let lines = ["Cancel \"The flat\"?", "│ second", "The agent asks. It ends unfinished."];
        assert_eq!(title, lines.join("\n"));
        assert_eq!(options, ["No, go on", "Yes, cancel it"]);
        let output = session.on(Event::Answer { ticket, answer: Answer::Selected(choice) });
        let Reply::Tool(result) = output.reply else { panic!() };
        assert_eq!(result.details["cancelled"], json!(cancels));
    }
}

#[test]
fn a_question_ends_with_its_session() {
    let mut session = Session::new(&[("flat", &["a"])]);
    let _ = session.command("workflow", "flat first");
    let Reply::Ask { ticket, .. } = session.command("workflow", "flat second").reply else { panic!() };
    let _ = session.on(Event::SessionShutdown);
    let output = session.on(Event::Answer { ticket, answer: Answer::Confirmed(true) });
    assert_eq!(output, Output::default());
}

#[test]
fn a_run_goes_through_its_phases_to_done() {
    let mut session = Session::new(&[("outer", &["a", "@inner", "z"]), ("inner", &["b"])]);
    let _ = session.command("workflow", "outer x");
    let (effects, (text, details)) = session.step_output("next");
    assert!(text.starts_with("✓ Entered subworkflow 'The inner': a → * b"));
    assert_eq!(details, json!({ "advanced": true, "from": "a", "to": "b" }));
    assert_eq!(effects[1], status("The outer > The inner [2/3] > * b [1/1]"));
    assert_eq!(session.step("next").1["to"], "z");
    let (effects, (text, details)) = session.step_output("next");
    assert_eq!(text, "✓ Advanced: z → DONE\n\n🎉 **All phases complete!**");
    assert_eq!(details, json!({ "advanced": true, "from": "z", "to": "DONE" }));
    assert_eq!(effects[1], Effect::SetStatus(None));

    let effects = session.stop();
    let Effect::AppendEntry { custom_type: "workflow:complete", data } = &effects[0] else { panic!("{effects:?}") };
    assert_eq!(
        data["content"],
        format!("✅ **The outer Complete**\n\n**Task:** x\n**Task ID:** {TASK_ID}\n**Phases completed:** 3")
    );
    let Effect::AppendEntry { custom_type: "workflow:state", data } = &effects[1] else { panic!() };
    assert_eq!((&data["active"], &data["completionNotified"]), (&json!(false), &json!(true)));
    assert_eq!(session.stop(), [], "announced once");
    assert_eq!(session.step("status").1, json!({ "active": false }));
}

#[test]
fn the_step_tool_without_a_run_says_so() {
    let mut session = Session::new(&[("flat", &["a"])]);
    let none = "No active workflow. Use /workflow {name} {description} to start one.";
    for (action, text) in [
        ("status", none),
        ("next", none),
        ("loop", "No active workflow to loop."),
        ("cancel", "No active workflow to cancel."),
    ] {
        assert_eq!(session.step(action), (text.to_owned(), json!({ "active": false })));
    }
    for input in ["", "null", "[1]", r#"{"action":7}"#, r#"{"action":"fly"}"#] {
        let Reply::Tool(result) = session.on(Event::Step { input, nested: false }).reply else { panic!() };
        assert_eq!(result.details, json!({ "error": "unknown action" }));
    }
}

#[test]
fn a_loop_restarts_the_scope_unless_it_is_forbidden() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let _ = session.command("workflow", "flat x");
    session.step("next");
    let (text, details) = session.step("loop");
    assert!(text.starts_with("🔄 Looped 'The flat' back to: * a\n\n[Workflow path: The flat ▸ * a]\n"));
    assert!(text.contains("**Visit:** 2\n"));
    assert_eq!(details, json!({ "looped": true, "to": "a" }));
    session.files.global.get_mut("flat/workflow.yaml").unwrap().push_str("loopable: false\n");
    let _ =
        session.on(Event::Session { stored: session.stored_run().cloned(), in_view: None, facts: Facts::default() });
    assert!(session.step("loop").0.starts_with("The workflow is paused: its rules"));
    let _ = session.resume("");
    let (effects, (text, details)) = session.step_output("loop");
    assert_eq!(text, "⚠️ Looping is disabled for this workflow.");
    assert_eq!(details, json!({ "active": true, "error": "Looping is disabled for this workflow." }));
    assert_eq!(effects, []);
}

#[test]
fn a_cancel_needs_a_second_call_in_the_same_run_of_the_agent() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let _ = session.command("workflow", "flat x");
    let asked = json!({ "active": true, "cancelPending": true });
    for between in [
        Event::Step { input: r#"{"action":"status"}"#, nested: false },
        Event::AgentEnd { stop: Stop::Aborted },
        Event::BeforeAgentStart { role: DefaultRole::Worker },
        Event::Session { stored: session.stored_run().cloned(), in_view: None, facts: Facts::default() },
    ] {
        assert_eq!(session.step("cancel").1, asked);
        let output = session.on(between);
        let stored = |effect: &Effect| format!("{effect:?}").contains("ancelPending");
        assert!(!output.effects.iter().any(stored));
    }
    assert_eq!(session.step("cancel").1, asked);
    let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
    let Reply::Ask { ticket, request: Request::Confirm { title, message } } =
        session.on(Event::Step { input: CANCEL, nested: false }).reply
    else {
        panic!()
    };
    assert_eq!(title, "Cancel the workflow?");
    assert_eq!(message, "x\n\nThe agent wants to cancel this workflow. Cancel it?");
    let output = session.on(Event::Answer { ticket, answer: Answer::Confirmed(true) });
    let Reply::Tool(result) = output.reply else { panic!() };
    assert_eq!(result.text, "Workflow cancelled: \"x\"");
    assert_eq!(result.details, json!({ "active": false, "cancelled": true }));
    assert_eq!(output.effects[1], Effect::SetStatus(None));
    let effects = session.stop();
    let Effect::AppendEntry { data, .. } = &effects[0] else { panic!() };
    assert!(data["content"].as_str().unwrap().starts_with("❌ **The flat Cancelled**"));
}

#[test]
fn the_cancel_command_ends_the_run_at_once() {
    let mut session = Session::new(&[("flat", &["a"])]);
    let nothing = notice(Level::Info, "No active workflow to cancel.");
    assert_eq!(session.command("cancel-workflow", "").effects, nothing);
    let _ = session.command("workflow", "flat x");
    let _ = session.stop();
    let effects = session.command("cancel-workflow", "").effects;
    assert_eq!(effects[..3], stopped(), "the countdown ends first");
    let Effect::AppendEntry { custom_type: "workflow:state", data } = &effects[4] else { panic!() };
    assert_eq!((&data["active"], &data["cancelled"]), (&json!(false), &json!(true)));
    assert_eq!(effects[6], Effect::SetStatus(None));
    let Effect::AppendEntry { custom_type: "workflow:complete", data } = &effects[3] else { panic!() };
    assert_eq!(data["content"], format!("❌ **Workflow Cancelled**\n\n**Task:** x\n**Task ID:** {TASK_ID}"));
    assert_eq!(effects[5..6], notice(Level::Info, "Workflow cancelled."));
    assert_eq!(session.on(Event::Timer { id: 1, idle: true }), Output::default());
    assert_eq!(session.stop(), []);
}

#[test]
fn a_phase_refuses_tools_but_never_its_own() {
    let mut session = Session::new(&[("flat", &["locked", "open"])]);
    let call = |session: &mut Session, name| session.on(Event::ToolCall { name, carries_calls: false }).reply;
    assert_eq!(call(&mut session, "edit"), Reply::None);
    let _ = session.command("workflow", "flat x");
    assert_eq!(
        call(&mut session, "edit"),
        Reply::Block(
            "[workflow] The tool \"edit\" is blocked during the locked phase.\nRefer to the current phase instructions for allowed tools and approaches.\nWhen finished, call workflow_step to advance to the next phase.\nTools in this phase: all except edit; a call of one of those is refused. workflow_step always works.".into()
        )
    );
    assert_eq!(call(&mut session, "read"), Reply::None);
    assert_eq!(call(&mut session, "workflow_step"), Reply::None);
    session.step("next");
    assert_eq!(call(&mut session, "edit"), Reply::None);
}

#[test]
fn an_early_stop_is_continued_after_three_seconds() {
    let mut session = Session::new(&[("flat", &["a"])]);
    let _ = session.command("workflow", "flat x");
    let tick = Effect::StartTimer { id: 1, delay_ms: 1000 };
    assert_eq!(session.stop(), [widget(3), Effect::WatchTerminal(true), tick.clone()]);
    assert_eq!(session.on(Event::Timer { id: 7, idle: true }), Output::default());
    for remaining in [2, 1] {
        assert_eq!(session.on(Event::Timer { id: 1, idle: true }).effects, [widget(remaining), tick.clone()]);
    }
    let busy = session.on(Event::Timer { id: 1, idle: false }).effects;
    assert_eq!(busy, [widget(1), tick.clone()], "pi is compacting");
    let effects = session.on(Event::Timer { id: 1, idle: true }).effects;
    assert_eq!(effects[..3], stopped());
    assert_eq!(
        effects[3..],
        [Effect::SendUserMessage(
            "⚠️ The The flat is still active. Current phase: * a.\n\nYou must NOT stop yet. The workflow requires you to complete the current phase and call workflow_step to advance.\n\nCurrent phase instructions:\n(as given for this phase)\n\nContinue working on the current phase and call workflow_step when done.".into()
        )]
    );
    assert_eq!(session.on(Event::Timer { id: 1, idle: true }), Output::default());
}

#[test]
fn without_a_ui_the_agent_continues_at_once() {
    let mut session = Session::new(&[("flat", &["a"])]);
    let _ = session.command("workflow", "flat x");
    let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
    let output = session.without_ui(Event::BeforeSettle);
    let Reply::Continue(reminder) = output.reply else { panic!() };
    assert!(reminder.starts_with("⚠️ The The flat is still active."));
    assert_eq!(output.effects, []);
    assert_eq!(session.on(Event::BeforeSettle), Output::default());
}

#[test]
fn an_input_a_key_a_command_or_a_run_of_the_agent_stops_the_countdown() {
    let mut session = Session::new(&[("flat", &["a"])]);
    let _ = session.command("workflow", "flat x");
    let stored = session.stored_run().cloned();
    for event in [
        Event::Input { from_user: true },
        Event::Input { from_user: false },
        Event::TerminalInput { interrupts: false },
        Event::AgentStart,
        Event::BeforeAgentStart { role: DefaultRole::Worker },
        Event::Session { stored, in_view: None, facts: Facts::default() },
        Event::Command { name: "workflow", arguments: "" },
    ] {
        let _ = session.stop();
        assert_eq!(session.on(event).effects[..3], stopped());
        assert_eq!(session.on(Event::Timer { id: 1, idle: true }), Output::default());
    }
    let _ = session.stop();
    assert_eq!(session.on(Event::SessionShutdown).effects, stopped());
    assert_eq!(session.on(Event::Timer { id: 1, idle: true }), Output::default());
}

/// The run pauses, for this reason: in the status line, and in the notice.
#[track_caller]
fn pauses(effects: &[Effect], kind: &str, brief: &str, words: &str) {
    let [Effect::AppendEntry { data, .. }, Effect::Notify { text, .. }, Effect::SetStatus(Some(line))] = effects else {
        panic!("{effects:?}")
    };
    assert_eq!(data["progress"]["paused"]["reason"]["kind"], kind);
    assert_eq!(*line, format!("⏸ The flat > * a [1/2] (paused: {brief})"));
    assert_eq!(
        *text,
        format!("⏸ The flat is paused in * a: {words}.\nYour next message resumes it, or /workflow :resume.")
    );
}

/// The reason of a pause of an agent without work, in the status line.
const IDLE: &str = "the agent does nothing";

/// The agent is told to go on, and does nothing.
fn idle_round(session: &mut Session) -> Vec<Effect> {
    for _ in 0..3 {
        let _ = session.on(Event::Timer { id: 1, idle: true });
    }
    let _ = session.on(Event::Input { from_user: false });
    let _ = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
    session.step("status");
    session.stop()
}

#[test]
fn an_agent_that_does_nothing_is_paused() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let _ = session.command("workflow", "flat x");
    assert_eq!(session.stop()[0], widget(3));
    for _ in 0..2 {
        assert_eq!(idle_round(&mut session)[0], widget(3));
    }
    pauses(&idle_round(&mut session), "idle", IDLE, "the agent did nothing in 3 automatic continuations");
    assert_eq!(session.stop(), [], "a paused run stays so");
    let effects = session.on(Event::Input { from_user: false }).effects;
    assert_eq!(effects, [], "an extension is no user");
    let effects = session.on(Event::Input { from_user: true }).effects;
    assert_eq!(effects[1], status("The flat > * a [1/2]"));
    assert_eq!(session.stop()[0], widget(3));
}

#[test]
fn work_is_not_idle_and_a_phase_has_a_limit_of_continuations() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let _ = session.command("workflow", "flat x");
    assert_eq!(session.stop()[0], widget(3));
    for round in 1..=10 {
        for _ in 0..3 {
            let _ = session.on(Event::Timer { id: 1, idle: true });
        }
        let _ = session.on(Event::Input { from_user: false });
        let _ = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
        let _ = session.on(Event::ToolCall { name: "bash", carries_calls: false });
        let effects = session.stop();
        if round < 10 {
            assert_eq!(effects[0], widget(3), "{round}");
        } else {
            pauses(
                &effects,
                "limit",
                "too many continuations",
                "10 automatic continuations in one phase are the bound",
            );
        }
    }
}

#[test]
fn a_new_phase_resets_the_counts() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let _ = session.command("workflow", "flat x");
    let _ = session.stop();
    let _ = idle_round(&mut session);
    let _ = session.command("workflow", ":pause");
    assert_eq!(session.stored_run().unwrap().progress().continuations, 1);
    session.step("next");
    assert_eq!(session.stored_run().unwrap().progress().continuations, 0);
}

#[test]
fn an_abort_and_a_model_error_pause_the_run() {
    for (stop, kind, words) in
        [(Stop::Aborted, "aborted", "you stopped the agent"), (Stop::Failed, "modelError", "the model failed")]
    {
        let mut session = Session::new(&[("flat", &["a", "b"])]);
        let _ = session.command("workflow", "flat x");
        pauses(&session.stop_as(stop, true), kind, words, words);
        let mut session = Session::new(&[("flat", &["a", "b"])]);
        let _ = session.command("workflow", "flat x");
        let _ = session.on(Event::AgentEnd { stop });
        assert_eq!(session.without_ui(Event::BeforeSettle), Output::default());
        assert_eq!(session.without_ui(Event::AgentSettled).effects.len(), 2);
    }
}

#[test]
fn bounds_are_four_numbers() {
    let pace = Pace { delay_seconds: 0, max_per_phase: 1, max_idle: 2, max_repeats: 0 };
    assert_eq!(Pace::of("0 1 2 0"), pace);
    for text in ["", "0 1 2", "0 1 2 -1", "0 1 2 0 0", "a b c d", "0 1 2 99999999999"] {
        assert_eq!(Pace::of(text), Pace::default());
    }
}

#[test]
fn auto_continue_can_be_off_and_the_host_may_give_other_bounds() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let yaml = session.files.global.get_mut("flat/workflow.yaml").unwrap();
    yaml.push_str("autoContinue: false\n");
    let _ = session.command("workflow", "flat x");
    assert_eq!(session.stop(), [status(WAITS)]);
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    session.has_pace(Pace { delay_seconds: 0, max_idle: 1, ..Pace::default() });
    let _ = session.command("workflow", "flat x");
    assert_eq!(session.stop()[2], Effect::StartTimer { id: 1, delay_ms: 0 });
    assert!(matches!(session.on(Event::Timer { id: 1, idle: true }).effects[3], Effect::SendUserMessage(_)));
    let _ = session.on(Event::Input { from_user: false });
    pauses(&session.stop(), "idle", IDLE, "the agent did nothing in 1 automatic continuation");
}

#[test]
fn the_user_moves_a_run_that_is_at_rest() {
    let mut session = Session::new(&[("outer", &["a", "@inner", "z"]), ("inner", &["b"])]);
    let none = notice(Level::Info, "No active workflow.");
    assert_eq!(session.command("workflow", ":next").effects, none);
    let _ = session.command("workflow", "outer x");
    let first = notice(Level::Info, "This is the first phase.");
    assert_eq!(session.command("workflow", ":back").effects, first);
    for (control, told, line) in [
        (":next", "The user moved the workflow on: * a → * b.", "The outer > The inner [2/3] > * b [1/1]"),
        (":skip", "The user moved the workflow on, and skipped a phase: * b → * z.", "The outer > * z [3/3]"),
        (":back", "The user moved the workflow back: * z → * b.", "The outer > The inner [2/3] > * b [1/1]"),
        (":back", "The user moved the workflow back: * b → * a.", "The outer > * a [1/3]"),
    ] {
        let effects = session.command("workflow", control).effects;
        assert!(matches!(effects[0], Effect::AppendEntry { custom_type: "workflow:state", .. }));
        // The prompt stands in the transcript: a notice would say it twice.
        assert_eq!(effects[1..], [Effect::SendUserMessage(told.into()), status(line)]);
    }
    for _ in 0..2 {
        let _ = session.command("workflow", ":next");
    }
    let effects = session.command("workflow", ":skip").effects;
    assert!(matches!(effects[1], Effect::AppendEntry { custom_type: "workflow:complete", .. }));
    let Effect::AppendEntry { data, .. } = &effects[2] else { panic!() };
    assert_eq!((&data["active"], &data["completionNotified"]), (&json!(false), &json!(true)));
    assert_eq!(session.command("workflow", ":status").effects, none);
}

#[test]
fn an_agent_at_work_learns_that_the_run_was_moved() {
    let mut session = Session::new(&[("flat", &["a", "b", "c"])]);
    let _ = session.command("workflow", "flat x");
    let _ = session.on(Event::AgentStart);
    let effects = session.command("workflow", ":next").effects;
    let Effect::Steer(told) = &effects[1] else { panic!("{effects:?}") };
    assert!(told.starts_with("The user moved the workflow on: * a → * b.\n\n[Workflow path: The flat ▸ * b]"));
    // The model's answer under way was meant for the old phase.
    let (text, details) = session.step("next");
    assert!(
        text.starts_with(
            "The user has moved the workflow meanwhile; this call had no effect. The current phase is * b."
        )
    );
    assert_eq!(details, json!({ "active": true, "moved": true }));
    let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
    assert_eq!(session.step("next").1["to"], "c");
    let effects = session.command("workflow", ":skip").effects;
    assert_eq!(effects[1], Effect::Abort);
    let effects = session.on(Event::AgentEnd { stop: Stop::Completed }).effects;
    assert!(matches!(effects[0], Effect::AppendEntry { custom_type: "workflow:complete", .. }));
}

#[test]
fn a_paused_run_can_be_moved_and_resumed() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let _ = session.command("workflow", "flat x");
    pauses(&session.command("workflow", ":pause").effects, "person", "you asked for it", "you asked for it");
    let effects = session.command("workflow", ":next").effects;
    assert_eq!(effects.len(), 3, "the agent is left alone: {effects:?}");
    assert_eq!(effects[2], status("⏸ The flat > * b [2/2] (paused: you asked for it)"));
    let output = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
    let Reply::Inject { content: prompt, .. } = output.reply else { panic!() };
    assert!(prompt.starts_with("The user moved the workflow on: * a → * b.\n\n[Workflow path"));
    assert_eq!(session.stop(), []);
    let effects = session.resume("").effects;
    assert_eq!(effects[2], status("The flat > * b [2/2]"));
    assert!(matches!(effects[1], Effect::SendUserMessage(_)));
    let not_paused = notice(Level::Info, "The workflow is not paused.");
    assert_eq!(session.resume("").effects, not_paused);
    let unknown = "Unknown control: \":fly\". There are :status, :pause, :resume, :wait, :answer, :next, :back, :skip, :stop, :retry, :cancel, :graph, :report, :panel, :limits, :check, :new";
    assert_eq!(session.command("workflow", ":fly").effects, notice(Level::Error, unknown));
    let unknown = "Unknown control: \":stauts\". Did you mean :status?";
    assert_eq!(session.command("workflow", ":stauts").effects, notice(Level::Error, unknown));
}

#[test]
fn the_status_panel_shows_every_phase() {
    let mut session = Session::new(&[("flat", &["a", "b", "c"])]);
    let _ = session.command("workflow", "flat x");
    session.step("next");
    let _ = session.command("workflow", ":skip");
    let effects = session.command("workflow", ":status").effects;
    let [Effect::AppendEntry { custom_type: "workflow:status", data }] = &effects[..] else { panic!() };
    assert_eq!(
        data["content"],
        format!(
            "The flat > * c [3/3]\nTask: x\n{TASK_ID}, started 2025-05-14 14:56:07 UTC+00:00 (0s ago)\n\n\
             ✓ 1. * a  0s\n⤼ 2. * b  0s\n▸ 3. * c  0s\n\n\
             Automatic continuations in this phase: 0. Loops: 0. Transitions: 2."
        )
    );
}

#[test]
fn a_scope_is_looped_only_so_often() {
    let mut session = Session::new(&[("outer", &["@inner", "@inner"]), ("inner", &["a"])]);
    let _ = session.command("workflow", "outer x");
    let refused = "⚠️ This workflow has been looped 20 times, which is all it allows. Go on with action='next', or leave it to the user.";
    for _ in 0..2 {
        for _ in 0..20 {
            assert_eq!(session.step("loop").1["looped"], true);
        }
        let (effects, (text, _)) = session.step_output("loop");
        assert_eq!(text, refused);
        assert!(matches!(effects[..], [Effect::Notify { level: Level::Warning, .. }]));
        session.step("next");
    }
}

#[test]
fn a_declined_cancel_is_told_to_the_agent() {
    let mut session = Session::new(&[("flat", &["a"])]);
    let _ = session.command("workflow", "flat x");
    for answer in [Answer::Confirmed(false), Answer::Cancelled] {
        session.step("cancel");
        let Reply::Ask { ticket, .. } = session.on(Event::Step { input: CANCEL, nested: false }).reply else {
            panic!()
        };
        assert_eq!(session.stop(), [], "no continuation while a question is open");
        let output = session.on(Event::Answer { ticket, answer });
        let Reply::Tool(result) = output.reply else { panic!() };
        assert_eq!(result.text, "The user declined: the workflow is not cancelled. Continue with the current phase.");
        assert_eq!(output.effects, []);
    }
}

#[test]
fn without_a_ui_the_last_line_tells_the_state_of_the_run() {
    let last = |session: &mut Session| session.without_ui(Event::SessionShutdown).effects;
    let line = |text: &str| Effect::Notify { level: Level::Info, text: text.into() };
    let mut session = Session::new(&[("flat", &["a"])]);
    assert_eq!(last(&mut session), []);
    let _ = session.command("workflow", "flat x");
    assert_eq!(last(&mut session), [line("Workflow The flat: not finished, in * a."), Effect::SetExitCode(1)]);
    let mut session = Session::new(&[("flat", &["a"])]);
    let _ = session.command("workflow", "flat x");
    let _ = session.stop_as(Stop::Failed, false);
    assert_eq!(
        last(&mut session),
        [line("Workflow The flat: paused in * a: the model failed."), Effect::SetExitCode(1)]
    );
    let mut session = Session::new(&[("flat", &["a"])]);
    let _ = session.command("workflow", "flat x");
    session.step("next");
    let _ = session.stop();
    assert_eq!(last(&mut session), [line("Workflow The flat: DONE.")]);
    let mut session = Session::new(&[("flat", &["a"])]);
    let _ = session.command("workflow", "flat x");
    let _ = session.command("cancel-workflow", "");
    assert_eq!(last(&mut session), [line("Workflow The flat: cancelled."), Effect::SetExitCode(1)]);
}

#[test]
fn a_run_whose_files_are_gone_waits_for_the_user() {
    let mut session = Session::new(&[("flat", &["a"])]);
    let _ = session.command("workflow", "flat x");
    session.files.global.clear();
    let stored = session.stored_run().cloned();
    let effects = session.on(Event::Session { stored, in_view: None, facts: Facts::default() }).effects;
    assert!(effects.contains(&status("⏸ flat (paused: its files cannot be read)")));
    let held = "\n\nThe workflow is paused: the files of the workflow “flat” cannot be read. All tool calls are refused until the user has decided; only workflow_step with action='status' answers. Stop here and wait for the user.";
    let (text, details) = session.step("status");
    assert_eq!(details, json!({ "active": false, "stale": true }));
    assert_eq!(text, format!("{}{held}", step_tool::UNAVAILABLE));
    let next = session.step("next").0;
    assert_eq!(next, format!("Workflow definition 'flat' not found.{held}"));
    let (text, details) = session.step("loop");
    assert_eq!(text, format!("⚠️ The workflow is no longer available.{held}"));
    assert_eq!(details["active"], json!(true));
    for _ in 0..2 {
        assert_eq!(session.step("cancel").0, held.trim());
    }
    assert_eq!(
        session.on(Event::ToolCall { name: "edit", carries_calls: false }),
        Output { effects: Vec::new(), reply: Reply::Stop(held.trim().into()) }
    );
    assert_eq!(session.on(Event::ToolCall { name: "workflow_step", carries_calls: false }), Output::default());
    assert_eq!(session.on(Event::BeforeAgentStart { role: DefaultRole::Worker }), Output::default());
    assert_eq!(session.stop(), []);
    let effects = session.command("cancel-workflow", "").effects;
    assert_eq!(
        effects[effects.len() - 2..],
        [notice(Level::Info, "Workflow cancelled."), vec![Effect::SetStatus(None)]].concat()
    );
    assert_eq!(session.on(Event::ToolCall { name: "edit", carries_calls: false }), Output::default());
}

#[test]
fn diagnostics_are_told_once_until_they_change() {
    let mut session = Session::new(&[("flat", &["a"])]);
    session.files.global.insert("bad/workflow.yaml".into(), "name: 7\n".into());
    let told = notice(Level::Error, "~/workflows/bad/workflow.yaml: 2 errors: /workflow :check");
    assert_eq!(session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() }).effects[..1], told);
    assert_eq!(
        session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() }).effects,
        [Effect::SetStatus(None)]
    );
    session.files.global.remove("bad/workflow.yaml");
    assert_eq!(
        session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() }).effects,
        [Effect::SetStatus(None)]
    );
    session.files.global.insert("bad/workflow.yaml".into(), "name: 7\n".into());
    assert_eq!(session.command("workflow", "flat x").effects[..1], told);
}

#[test]
fn files_are_read_again_when_something_changed() {
    let mut session = Session::new(&[("one", &["a"]), ("two", &["@one"])]);
    session.files.global.insert("bad/workflow.yaml".into(), "name: 7\n".into());
    /// The files of the user's own are read at every start.
    const USERS: usize = 4;
    let start = || Event::Session { stored: None, in_view: None, facts: Facts::default() };
    let reads = |session: &mut Session, event: Event| {
        session.files.reads.set(0);
        let output = session.on(event);
        (output.effects.len(), session.files.reads.get())
    };
    let (_, all) = reads(&mut session, start());
    assert_eq!(all, 5 + USERS, "four files of workflows, and the settings; limits under other names are looked for");
    assert_eq!(reads(&mut session, start()), (1, USERS));
    let check = Event::Command { name: "workflow", arguments: ":check" };
    assert!(reads(&mut session, check).1 > 0);
    assert_eq!(reads(&mut session, start()), (1, all), "a check is no record");
    let offered = |session: &mut Session| {
        session.files.reads.set(0);
        let completions = session.engine.complete("", &session.files);
        let names = completions.into_iter().map(|completion| completion.value);
        let names: Vec<String> = names.filter(|name| !name.starts_with(':')).collect();
        (names.join(" "), session.files.reads.get())
    };
    assert_eq!(offered(&mut session), ("one two".into(), 0));
    let phase = session.files.global.remove("one/a.md").unwrap();
    assert_eq!(offered(&mut session), (String::new(), all - USERS), "and none twice for a diagnostic");
    session.files.global.insert("one/a.md".into(), phase.replace("id: a", "id: b"));
    assert_eq!(offered(&mut session), ("one two".into(), all - USERS));
    assert_eq!(session.engine.run.library().get("one").unwrap().position("b"), Some(0));
    let yaml = session.files.global["one/workflow.yaml"].replace("commandName: one", "commandName: own");
    session.files.project.insert("one/workflow.yaml".into(), yaml);
    session.files.project.insert("one/a.md".into(), phase);
    assert_eq!(offered(&mut session), ("own two".into(), all - USERS + 2));
    assert_eq!(reads(&mut session, start()), (1, USERS));
    reads(&mut session, Event::SessionShutdown);
    assert_eq!(reads(&mut session, start()), (1, all + 2));
}

#[test]
fn completions_offer_what_can_be_started() {
    let mut session = Session::new(&[("bugfix", &["a"]), ("build", &["b"]), ("rpir", &["c"])]);
    let values = |session: &mut Session, prefix: &str| -> Vec<String> {
        let completions = session.engine.complete(prefix, &session.files);
        completions.into_iter().map(|completion| completion.value).collect()
    };
    assert_eq!(values(&mut session, "b"), ["bugfix", "build"]);
    assert_eq!(values(&mut session, "bugfix x"), [""; 0]);
    session.files.global.remove("build/workflow.yaml");
    assert_eq!(
        values(&mut session, ""),
        ["bugfix", "rpir", ":graph", ":report", ":panel", ":limits", ":check", ":new"]
    );
    assert_eq!(values(&mut session, "b"), ["bugfix"]);
    assert_eq!(values(&mut session, ":"), [":graph", ":report", ":panel", ":limits", ":check", ":new"]);
    let _ = session.command("workflow", "bugfix x");
    assert_eq!(
        values(&mut session, ":"),
        [
            ":status", ":pause", ":wait", ":next", ":back", ":skip", ":cancel", ":graph", ":report", ":panel",
            ":limits", ":check", ":new"
        ]
    );
    let _ = session.command("workflow", ":pause");
    assert_eq!(values(&mut session, ":r"), [":resume", ":report"]);
}

#[test]
fn no_effects_are_returned_for_a_session_that_is_gone() {
    struct Gone;
    impl WorkflowFiles for Gone {
        fn roots(&self) -> Result<Vec<Root>, Stale> {
            Err(Stale)
        }
        fn list(&self, _: &str, _: &str) -> Result<Vec<DirEntry>, ReadError> {
            Err(ReadError::Stale)
        }
        fn read(&self, _: &str, _: &str) -> Result<Vec<u8>, ReadError> {
            Err(ReadError::Stale)
        }
    }
    impl Host for Gone {
        fn running_tools(&self) -> Result<Vec<String>, Stale> {
            Err(Stale)
        }
        fn open_run_dir(&self, _: &str, _: Option<&str>) -> Result<Result<RunDir, String>, Stale> {
            Err(Stale)
        }
        fn write_run_file(&self, _: &str, _: &str, _: &str) -> Result<Result<(), String>, Stale> {
            Err(Stale)
        }
        fn can_confine(&self, _: bool) -> Result<Result<(), String>, Stale> {
            Err(Stale)
        }
    }
    let mut engine = Engine::default();
    for event in [
        Event::Session { stored: None, in_view: None, facts: Facts::default() },
        Event::Command { name: "workflow", arguments: "a b" },
    ] {
        assert_eq!(
            engine.handle(event, &Context { unix_ms: NOW, random: 0, ui: Ui::Program, host: &Gone }),
            Output::default()
        );
    }
}

/// All orders of a list.
fn orders<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    if items.is_empty() {
        return vec![vec![]];
    }
    let mut all = Vec::new();
    for (index, first) in items.iter().enumerate() {
        let mut rest = items.to_vec();
        rest.remove(index);
        all.extend(orders(&rest).into_iter().map(|tail| [vec![first.clone()], tail].concat()));
    }
    all
}

#[test]
fn in_any_order_events_leave_one_consistent_state() {
    let control = |arguments| Event::Command { name: "workflow", arguments };
    let events = [
        control(":next"),
        control(":pause"),
        Event::Step { input: r#"{"action":"next"}"#, nested: false },
        Event::AgentStart,
        Event::AgentSettled,
        Event::Timer { id: 1, idle: true },
    ];
    for order in orders(&events) {
        let mut session = Session::new(&[("flat", &["a", "b", "c", "d"])]);
        session.has_pace(Pace { delay_seconds: 1, ..Pace::default() });
        let _ = session.command("workflow", "flat x");
        let mut stored = session.stored_run().unwrap().clone();
        let mut counting = false;
        for event in order {
            for effect in session.on(event).effects {
                match effect {
                    Effect::AppendEntry { custom_type: "workflow:state", data } => {
                        let new = crate::run::restore([data.to_string()]).unwrap();
                        assert!(new.global_step_count >= stored.global_step_count);
                        stored = new;
                    }
                    Effect::StartTimer { .. } => counting = true,
                    Effect::StopTimer { .. } => counting = false,
                    _ => {}
                }
            }
            let run = session.stored_run().unwrap().clone();
            assert_eq!(run.current_path, stored.current_path, "what is stored is what is so");
            assert_eq!(run.progress().paused, stored.progress().paused);
            assert!(session.engine.is_running());
            assert_eq!(session.engine.agent.activity.is_counting_down(), counting);
            assert!(!(counting && run.progress().paused.is_some()), "a paused run counts nothing down");
        }
    }
}

mod accounting;
mod branches;
mod briefing;
mod budget;
mod claims;
mod command_values;
mod confinement;
mod conversation;
mod deadlines;
mod ending;
mod entries;
mod fresh_start;
mod gate;
mod hold;
mod inputs;
mod limits;
mod may;
mod models;
mod moved;
mod new_workflow;
mod outputs;
mod packages;
mod proposals;
mod quota;
mod replacement;
mod replay;
mod report;
mod run_dir;
mod running;
mod scripts;
mod start_consent;
mod tool_schema;
mod tools;
mod untrusted;
mod values_in_rules;
mod watching;
mod ways;

#[test]
fn in_a_terminal_the_command_alone_asks_for_workflow_and_task() {
    let mut session = Session::new(&[("bugfix", &["a"]), ("build", &["b"])]);
    session.ui = Ui::Terminal;
    let facts = Facts::default();
    let _ = session.on(Event::Session { stored: None, in_view: None, facts });
    let Reply::Ask { ticket, request } = session.command("workflow", " ").reply else { panic!() };
    let options = ["bugfix — The bugfix: Do a.  (~/workflows/bugfix)", "build — The build: Do b.  (~/workflows/build)"];
    assert_eq!(request, Request::Select { title: "Which workflow?".into(), options: options.map(Into::into).into() });
    let answer = Answer::Selected(1);
    let Reply::Ask { ticket, request } = session.on(Event::Answer { ticket, answer }).reply else { panic!() };
    assert_eq!(request, Request::Input { title: "What is the task for \"The build\"?".into() });
    let answer = Answer::Entered("the thing".into());
    assert_eq!(session.on(Event::Answer { ticket, answer }).reply, Reply::Settle);
    assert_eq!(session.stored_run().unwrap().workflow_key, "build");
    assert_eq!(session.stored_run().unwrap().task_description, "the thing");
    for (first, second) in [
        (Answer::Cancelled, None),
        (Answer::Selected(7), None),
        (Answer::Selected(0), Some(Answer::Cancelled)),
        (Answer::Selected(0), Some(Answer::Entered(" ".into()))),
    ] {
        let _ = session.command("workflow", ":cancel");
        let Reply::Ask { ticket, .. } = session.command("workflow", "").reply else { panic!() };
        let output = session.on(Event::Answer { ticket, answer: first });
        if let Some(answer) = second {
            let Reply::Ask { ticket, .. } = output.reply else { panic!() };
            assert_eq!(session.on(Event::Answer { ticket, answer }), Output::default());
        } else {
            assert_eq!(output, Output::default());
        }
    }
}

#[test]
fn the_panel_goes_with_the_status_while_it_is_on() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let _ = session.command("workflow", "flat x");
    let panel = |lines: &[&str]| Effect::SetPanel(Some(lines.iter().map(|line| (*line).to_owned()).collect()));
    let effects = session.command("workflow", ":panel").effects;
    let entry = Effect::AppendEntry { custom_type: "workflow:panel", data: json!({ "on": true }) };
    assert_eq!(effects[0], entry);
    assert_eq!(effects[2], panel(&["The flat > * a [1/2]", "▸ 1. * a", "○ 2. * b"]));
    let effects = session.on(Event::Step { input: r#"{"action":"next"}"#, nested: false }).effects;
    assert!(effects.contains(&panel(&["The flat > * b [2/2]", "✓ 1. * a", "▸ 2. * b"])));
    let state = effects.iter().find_map(|effect| match effect {
        Effect::AppendEntry { custom_type: "workflow:state", data } => Some(data),
        _ => None,
    });
    assert_eq!(state.unwrap()["panel"], true);
    let effects = session.command("workflow", ":cancel").effects;
    assert!(effects.contains(&Effect::SetPanel(None)));
    let facts = Facts { panel: true, ..Facts::default() };
    let stored = Some(RunState::new("flat", "x", 0, 0));
    let effects = session.on(Event::Session { stored, in_view: None, facts }).effects;
    let waiting = panel(&["The flat > * a [1/2]", "▸ 1. * a  waits for you", "○ 2. * b"]);
    assert!(effects.contains(&waiting));
    let effects = session.command("workflow", ":panel").effects;
    assert_eq!(effects[2], Effect::SetPanel(None));
    let effects = session.on(Event::TurnEnd { queued: false, calls: &[] }).effects;
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::SetPanel(_))));
}

#[test]
fn the_outline_of_a_workflow_is_shown() {
    let mut session = Session::new(&[("flat", &["a", "b"]), ("other", &["c"])]);
    let unknown = notice(Level::Error, "Usage: /workflow :graph NAME");
    assert_eq!(session.command("workflow", ":graph").effects, unknown);
    let effects = session.command("workflow", ":graph flat").effects;
    let [Effect::AppendEntry { custom_type: "workflow:graph", data }] = &effects[..] else { panic!() };
    let content = data["content"].as_str().unwrap();
    assert!(
        content.starts_with("The flat (~/workflows/flat)\n") && content.ends_with("\n\n  1. * a\n  2. * b"),
        "{content}"
    );
    let _ = session.command("workflow", "flat x");
    assert_eq!(session.command("workflow", ":graph").effects, effects);
    let text = "Unknown workflow: \"falt\". Available: flat, other\nDid you mean \"flat\"?";
    assert_eq!(session.command("workflow", ":graph falt").effects, notice(Level::Error, text));
}

#[test]
fn the_outline_of_the_run_has_the_entries_that_it_passed_over() {
    let mut session = Session::new(&[("flat", &["a"]), ("other", &["c"])]);
    let yaml = "name: Flat\ncommandName: flat\ninitialMessage: Go\ninputs: { deep: { type: flag } }\nphases: [{ phase: a.md, when: { input.deep: true } }, b.md]\n";
    session.files.global.insert("flat/workflow.yaml".into(), yaml.into());
    let b = "---\nid: b\nname: B\nemoji: '*'\n---\nDo b.\n";
    session.files.global.insert("flat/b.md".into(), b.into());
    let shown = |session: &mut Session, arguments: &str| {
        let effects = session.command("workflow", arguments).effects;
        let [Effect::AppendEntry { custom_type: "workflow:graph", data }] = &effects[..] else { panic!("{effects:?}") };
        data["content"].as_str().unwrap().to_owned()
    };
    let _ = session.command("workflow", "flat x");
    let reason = "passed over: input.deep is false, not true";
    assert!(shown(&mut session, ":graph").contains(reason));
    let named = shown(&mut session, ":graph flat");
    assert!(named.contains("when: input.deep is true") && !named.contains(reason), "{named}");
}

#[test]
fn the_outline_without_a_name_is_of_the_only_workflow() {
    let mut session = Session::new(&[("flat", &["a"]), ("part", &["b"])]);
    let part = "name: Part\ncommandName: part\nshow: workflows\nphases: [b.md]";
    session.files.global.insert("part/workflow.yaml".into(), part.into());
    let named = session.command("workflow", ":graph flat");
    assert_eq!(session.command("workflow", ":graph"), named);
}

#[test]
fn a_complete_argument_gets_no_completions() {
    let mut session = Session::new(&[("flat", &["a", "b"]), ("flatter", &["c"])]);
    let _ = session.engine.complete("", &session.files);
    for (prefix, values) in [
        ("fl", &["flat", "flatter"][..]),
        ("flat", &[]),
        ("flatt", &["flatter"]),
        ("flat ", &[]),
        ("flat x", &[]),
        (":gr", &[":graph"]),
        (":graph", &[]),
        (":graph ", &[":graph flat", ":graph flatter"]),
        (":graph  flatt", &[":graph flatter"]),
        (":graph flatter", &[]),
        (":graph flatter x", &[]),
        (":check ", &[]),
    ] {
        let completions = session.engine.complete(prefix, &session.files);
        let completed: Vec<&str> = completions.iter().map(|one| one.value.as_str()).collect();
        assert_eq!(completed, values, "{prefix:?}");
    }
}

#[test]
fn in_a_terminal_a_start_without_a_task_asks_for_it() {
    let mut session = Session::new(&[("flat", &["a"])]);
    session.ui = Ui::Terminal;
    let facts = Facts::default();
    let _ = session.on(Event::Session { stored: None, in_view: None, facts });
    let Reply::Ask { ticket, request } = session.command("workflow", "flat").reply else { panic!() };
    assert_eq!(request, Request::Input { title: "What is the task for \"The flat\"?".into() });
    let answer = Answer::Entered("the thing".into());
    assert_eq!(session.on(Event::Answer { ticket, answer }).reply, Reply::Settle);
    assert_eq!(session.stored_run().unwrap().task_description, "the thing");
    let unknown = session.command("workflow", "nope");
    assert!(matches!(unknown.effects[..], [Effect::Notify { level: Level::Error, .. }]));
}

#[test]
fn a_workflow_with_a_default_task_starts_without_a_task() {
    let with_task = || {
        let mut session = Session::new(&[("flat", &["a"])]);
        let yaml =
            "name: The flat\ndefaultTask: the whole\ninputs: { of: { type: text, default: HEAD } }\nphases: [a.md]\n";
        session.files.global.insert("flat/workflow.yaml".into(), yaml.into());
        session
    };
    let task = |session: &Session| session.stored_run().map(|run| run.task_description.clone()).unwrap_or_default();
    for ui in [Ui::None, Ui::Program, Ui::Terminal] {
        for (arguments, expected) in [
            ("flat", "the whole"),
            ("flat of=x", "the whole"),
            ("flat -- ", "the whole"),
            ("flat of=x a part", "a part"),
        ] {
            let mut session = with_task();
            session.ui = ui;
            let _ = session.command("workflow", arguments);
            assert_eq!(task(&session), expected, "{ui:?} {arguments}");
        }
    }
    // Whoever chooses the workflow from the list is asked.
    for (entered, expected) in [
        (Answer::Entered(" ".into()), "the whole"),
        (Answer::Entered("a part".into()), "a part"),
        (Answer::Cancelled, ""),
    ] {
        let mut session = with_task();
        session.ui = Ui::Terminal;
        let Reply::Ask { ticket, .. } = session.command("workflow", "").reply else { panic!() };
        let Reply::Ask { ticket, request } = session.on(Event::Answer { ticket, answer: Answer::Selected(0) }).reply
        else {
            panic!()
        };
        assert_eq!(request, Request::Input { title: "What is the task for \"The flat\"?\nEmpty: the whole".into() });
        let _ = session.on(Event::Answer { ticket, answer: entered });
        assert_eq!(task(&session), expected);
    }
}

const WAITS: &str = "⏸ The flat > * a [1/2] (waits for you)";

#[test]
fn an_interrupted_countdown_shows_how_to_resume() {
    for interruption in [
        Event::TerminalInput { interrupts: false },
        Event::Command { name: "workflow", arguments: ":back" },
        Event::Command { name: "workflow", arguments: "nope" },
    ] {
        let mut session = Session::new(&[("flat", &["a", "b"])]);
        let _ = session.command("workflow", "flat x");
        assert_eq!(session.engine.complete(":resume", &session.files), []);
        assert_eq!(session.stop()[0], widget(3));
        let effects = session.on(interruption).effects;
        assert_eq!(effects.last(), Some(&status(WAITS)));
        assert_eq!(session.on(Event::TerminalInput { interrupts: false }), Output::default());
        let completions = session.engine.complete(":r", &session.files);
        assert_eq!(completions[0].value, ":resume");
        let panel = session.command("workflow", ":status").effects;
        assert!(format!("{panel:?}").contains("waits for you"));
        let effects = session.resume("").effects;
        assert!(matches!(effects[0], Effect::SendUserMessage(_)));
        assert_eq!(effects[1], status("The flat > * a [1/2]"));
        let not_paused = notice(Level::Info, "The workflow is not paused.");
        assert_eq!(session.resume("").effects, not_paused);
    }
}

#[test]
fn a_control_that_only_shows_does_not_stop_the_countdown() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let _ = session.command("workflow", "flat x");
    let _ = session.stop();
    for control in [":status", ":panel", ":check", ":graph", ":report"] {
        let effects = session.command("workflow", control).effects;
        assert!(!effects.contains(&Effect::SetCountdown(None)), "{control}: {effects:?}");
    }
    let _ = session.on(Event::Timer { id: 1, idle: true });
    let effects = session.resume("").effects;
    assert!(effects.contains(&Effect::SetCountdown(None)));
    assert!(matches!(effects.last(), Some(Effect::SendUserMessage(_))));
}

#[test]
fn a_restored_run_waits_for_the_user_unless_the_agent_is_at_work() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let stored = Some(RunState::new("flat", "x", 0, 0));
    for (at_work, shown) in [(false, WAITS), (true, "The flat > * a [1/2]")] {
        let facts = Facts { at_work, ..Facts::default() };
        let event = Event::Session { stored: stored.clone(), in_view: None, facts };
        assert_eq!(session.on(event).effects, [status(shown)]);
    }
    let facts = Facts::default();
    let _ = session.on(Event::Session { stored, in_view: None, facts });
    assert_eq!(session.on(Event::AgentStart).effects, [status("The flat > * a [1/2]")]);
}

#[test]
fn names_and_tasks_are_cut_in_texts_of_one_line() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let yaml = session.files.global.get_mut("flat/workflow.yaml").unwrap();
    *yaml = yaml.replacen("The flat", &format!("\"W\\n{}\"", "w".repeat(4000)), 1) + "sessionNameMaxLength: 100000\n";
    for phase in ["flat/a.md", "flat/b.md"] {
        let phase = session.files.global.get_mut(phase).unwrap();
        let name = format!("name: \"P\\n{}\"\nx-ignored: ", "p".repeat(4000));
        *phase = phase.replacen("name: ", &name, 1);
        *phase = phase.replacen("emoji: '*'", &format!("emoji: {}", "e".repeat(4000)), 1);
    }
    let task = "task\n".repeat(2000);
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    let mut all = session.command("workflow", &format!("flat {task}")).effects;
    all.extend(session.command("workflow", ":pause").effects);
    all.extend(session.command("workflow", ":next").effects);
    all.extend(session.command("workflow", ":panel").effects);
    let mut lines = Vec::new();
    for effect in all {
        match effect {
            Effect::SetStatus(Some(text)) | Effect::SetSessionName(text) => lines.push(text),
            Effect::Notify { text, .. } => lines.extend(text.lines().map(str::to_owned)),
            Effect::SetPanel(Some(panel)) => lines.extend(panel),
            _ => {}
        }
    }
    assert!(lines.len() > 6, "{lines:?}");
    for line in &lines {
        assert!(line.chars().count() <= 450 && !line.contains('\n'), "{line}");
    }
    let _ = session.step("cancel");
    let input = r#"{"action":"cancel"}"#;
    let another = session.command("workflow", "flat x").reply;
    let cancel = session.on(Event::Step { input, nested: false }).reply;
    for reply in [another, cancel] {
        let Reply::Ask { request: Request::Confirm { message, .. }, .. } = reply else { panic!() };
        assert!(message.chars().count() < 500 && message.contains("task task"), "{message}");
    }
}
