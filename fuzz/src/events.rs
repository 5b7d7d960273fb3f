//! Sequences of events: one or a few bytes encode an event for the engine.

use pi_workflows::definition::{Library, Permission, permission};
use pi_workflows::engine::{
    Answer, CommandEnd, Context, Effect, Engine, Event, Facts, Output, Pace, Ran, Reply, Request, Stop, Ui, Watching,
};
use pi_workflows::protocol::STATE_ENTRY_TYPE;
use pi_workflows::run::{Active, Mark, Outline, Pick, RunState, restore};
use pi_workflows::text::{self, DefaultRole, GATE_OPEN, NOT_STARTED};

use super::folder::Folder;
use super::stored_state::{FILES, survives};

const MAX_EVENTS: usize = 400;

/// Inputs of the user and answers of the model, including unusual ones.
const TEXTS: [&str; 12] = [
    "flat a task",
    "outer {description} {previousSummary}",
    "gated \u{1b}[31mred\u{7}",
    "inner x",
    "",
    ":status",
    ":next",
    ":back",
    ":skip",
    ":pause",
    ":resume",
    ":graph outer",
];
const CALLS: [&str; 10] = [
    r#"{"action":"next"}"#,
    r#"{"action":"next","summary":"found {description}"}"#,
    r#"{"action":"loop"}"#,
    r#"{"action":"loop","summary":"again"}"#,
    r#"{"action":"status"}"#,
    r#"{"action":"cancel"}"#,
    r#"{"action":["next"],"summary":{}}"#,
    r#"{"action":"next","summary":7}"#,
    "[[[",
    "null",
];
/// Inputs and answers for the workflow `worked`; those of the last arguments, so that inputs keep their meaning.
const WORKED_TEXTS: [&str; 8] = [
    "worked a task",
    ":answer ok",
    ":answer change {description}",
    ":answer keep",
    ":next failed",
    ":skip work",
    ":skip",
    ":resume",
];
const WORKED_CALLS: [&str; 6] = [
    r#"{"action":"next","outputs":{"tasks":["{item}","{item}"]},"summary":"listed"}"#,
    r#"{"action":"next","outputs":{"tasks":[]},"summary":"nothing"}"#,
    r#"{"action":"next","summary":"done"}"#,
    r#"{"action":"next","outcome":"ok"}"#,
    r#"{"action":"next","outcome":"redo"}"#,
    r#"{"action":"next","outcome":"again"}"#,
];
/// The first of the last arguments.
const WORKED: usize = 224;
const TOOLS: [&str; 6] = ["edit", "read", "bash", "workflow_step", "", "\u{1b}]0;x\u{7}"];

/// # Panics
///
/// If a property is violated.
pub fn check(data: &[u8]) {
    let mut bytes = data.iter().copied();
    let mut play = Play::new();
    for _ in 0..MAX_EVENTS {
        let Some(byte) = bytes.next() else { return };
        let argument = if byte % 32 < 14 { bytes.next().unwrap_or(0) } else { byte / 32 };
        play.event(byte % 32, argument);
    }
}

struct Play {
    engine: Engine,
    folder: Folder,
    library: Library,
    /// The newest stored state, which a restart restores.
    stored: Option<RunState>,
    /// The state entries, newest first.
    entries: Vec<String>,
    /// True if the files have changed since the state was stored.
    moved_on: bool,
    /// The pending requests, newest last.
    asked: Vec<(u64, Request)>,
    last_ticket: u64,
    now: u64,
    /// The user interface of the session, and that of the event.
    session_ui: Ui,
    ui: Ui,
    /// True while there is a session.
    open: bool,
    /// The number of automatic continuations since the last other event.
    automatic: usize,
}

impl Play {
    fn new() -> Self {
        let folder = Folder::parse(FILES.as_bytes());
        let (library, diagnostics) = Library::load(&folder).expect("nothing is stale");
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let mut play = Self {
            engine: Engine::default(),
            folder,
            library,
            stored: None,
            entries: Vec::new(),
            moved_on: false,
            asked: Vec::new(),
            last_ticket: 0,
            now: 0,
            session_ui: Ui::None,
            ui: Ui::None,
            open: false,
            automatic: 0,
        };
        play.session(7);
        play
    }

    fn event(&mut self, kind: u8, argument: u8) {
        let index = usize::from(argument);
        let has_ui = argument.is_multiple_of(4);
        if !(15..=22).contains(&kind) && kind != 25 {
            self.automatic = 0;
        }
        self.ui = match (kind, has_ui) {
            (19, _) | (0..=2 | 20 | 26 | 27, false) => Ui::None,
            (29, _) | (0..=2 | 20 | 26 | 27, true) => Ui::Program,
            _ => self.session_ui,
        };
        match kind {
            0 | 1 if index >= WORKED => self.command(WORKED_TEXTS[index % WORKED_TEXTS.len()]),
            0 | 1 => self.command(TEXTS[index % TEXTS.len()]),
            2 => self.command([":panel", ":check", ":graph", ":report", ":x", ":cancel"][index % 6]),
            3..=6 if index >= WORKED => self.step(WORKED_CALLS[index % WORKED_CALLS.len()]),
            3..=6 => self.step(CALLS[index % CALLS.len()]),
            7 => {
                let stopped = self.tool_call(TOOLS[index % TOOLS.len()]);
                // While a request is open, a run is at work at its entry, and does not wait.
                let is_open = !self.asked.is_empty();
                if stopped && !is_open && (index / TOOLS.len()).is_multiple_of(2) {
                    self.last_answer();
                }
            }
            8..=10 => self.answer(argument),
            11 => self.change_files(argument),
            12 => self.session(argument),
            13 => {
                let _ = self.engine.complete(TEXTS[index % TEXTS.len()], &self.folder);
                self.library = Library::load(&self.folder).expect("nothing is stale").0;
            }
            14 => self.plain(Event::Input { from_user: has_ui }),
            15 => self.plain(Event::AgentStart),
            16 => self.plain(Event::BeforeAgentStart { role: DefaultRole::Worker }),
            17 if index % 4 == 1 => self.plain(Event::MessageStart { from_user: has_ui }),
            17 if index % 2 == 0 => self.plain(Event::TurnStart),
            17 => self.plain(Event::TurnEnd { queued: has_ui, calls: &[] }),
            18 => {
                let stop = [Stop::Completed, Stop::CutOff, Stop::Aborted, Stop::Failed];
                self.plain(Event::AgentEnd { stop: stop[index % 4] });
            }
            19 => self.plain(Event::BeforeSettle),
            20 => self.plain(Event::AgentSettled),
            21 | 22 => self.plain(Event::Timer { id: 1 + u64::from(index % 3 == 0), idle: has_ui }),
            23 => self.plain(Event::TerminalInput { interrupts: index % 2 == 0 }),
            24 => self.plain(Event::Compacted),
            25 => self.plain(Event::Role(DefaultRole::Orchestrator)),
            26 => self.cancel_command(),
            27 => self.shutdown(),
            28 => {
                // All seconds of the countdown.
                for _ in 0..4 {
                    self.plain(Event::Timer { id: 1, idle: true });
                }
            }
            29 => {
                // The agent works, but stops before the phase is complete.
                self.plain(Event::AgentStart);
                self.plain(Event::AgentEnd { stop: Stop::Completed });
                self.plain(Event::AgentSettled);
            }
            30 => {
                let pick = if has_ui { Pick::Model } else { Pick::Thinking };
                self.plain(Event::Select { pick, own: index % 3 == 0 });
            }
            _ => self.plain(Event::Timer { id: u64::from(argument), idle: true }),
        }
    }

    fn plain(&mut self, event: Event) {
        let output = self.handle(event);
        assert!(!matches!(output.reply, Reply::Tool(_) | Reply::Block(_)), "{:?}", output.reply);
    }

    fn command(&mut self, arguments: &str) {
        let output = self.handle(Event::Command { name: "workflow", arguments });
        assert!(matches!(output.reply, Reply::None | Reply::Settle | Reply::Ask { .. }), "{:?}", output.reply);
        if !arguments.starts_with(':') || arguments == ":check" {
            self.library = Library::load(&self.folder).expect("nothing is stale").0;
        }
    }

    /// Asserts that no run is active.
    fn cancel_command(&mut self) {
        let name = "cancel-workflow";
        let _ = self.handle(Event::Command { name, arguments: "" });
        assert!(!self.engine.has_run());
    }

    fn step(&mut self, input: &str) {
        let nested = input.len() % 4 == 3;
        let output = self.handle(Event::Step { input, nested });
        assert!(matches!(output.reply, Reply::Tool(_) | Reply::Ask { .. }), "{:?}", output.reply);
    }

    /// Asserts that the outcome of a tool call is the one that its phase defines. Returns true if the agent's run ends.
    fn tool_call(&mut self, name: &str) -> bool {
        let reply = self.handle(Event::ToolCall { name, carries_calls: false }).reply;
        let (has_run, running) = (self.engine.has_run(), self.engine.is_running());
        let refused = matches!(reply, Reply::Block(_) | Reply::Stop(_));
        assert!(refused || !has_run || running || name == "workflow_step", "its rules do not hold");
        match &reply {
            Reply::None | Reply::Confine { .. } => {}
            Reply::Block(reason) if reason == GATE_OPEN || reason == NOT_STARTED => return false,
            // The end of the agent's run: no call is allowed, whatever the phase says.
            Reply::Stop(_) => {
                assert!(has_run && self.waits(), "the agent is stopped in a run that goes on");
                return true;
            }
            Reply::Block(_) => assert!(has_run, "refused without a run"),
            reply => panic!("{reply:?}"),
        }
        let active = self.stored.as_ref().and_then(|state| Active::resolve(state, &self.library));
        let Some(active) = active.filter(|_| running && !self.moved_on && self.open) else {
            return false;
        };
        if !active.phase.is_of_agent() {
            let refused = matches!(reply, Reply::Block(_));
            assert!(refused || name == "workflow_step", "{name:?} at {}", active.phase.id);
        }
        let decision =
            permission((&active.phase.tools, &active.limits()), name, false, &|| Ok(None), &Folder::default()).unwrap();
        let (refused, confined) = match decision {
            Permission::Allowed => (false, false),
            Permission::Files { .. } | Permission::Confined { .. } => (false, true),
            Permission::Refused(_) => (true, false),
        };
        assert_eq!(matches!(reply, Reply::Block(_)), refused, "{name:?} in {}", active.phase.id);
        assert_eq!(matches!(reply, Reply::Confine { .. }), confined, "{name:?}");
        false
    }

    /// The run is paused or held, or at an entry without a phase.
    fn waits(&self) -> bool {
        let is_at_entry =
            |state: &RunState| Active::resolve(state, &self.library).is_some_and(|active| !active.phase.is_of_agent());
        let paused = |state: &RunState| state.progress().paused.is_some() || is_at_entry(state);
        !self.engine.is_running() || self.stored.as_ref().is_none_or(paused)
    }

    /// Plays the rest of an agent's run that ends, of a model that calls a tool with each answer. Asserts that pi
    /// aborts it before the second request that follows.
    fn last_answer(&mut self) {
        self.plain(Event::AgentStart);
        for _ in 0..2 {
            if !self.tool_call("read") {
                assert!(!self.waits(), "a run that waits allows a call");
                return;
            }
            self.plain(Event::TurnEnd { queued: false, calls: &[] });
            if self.handle(Event::TurnStart).effects.contains(&Effect::Abort) {
                self.plain(Event::AgentEnd { stop: Stop::Aborted });
                self.plain(Event::AgentSettled);
                return;
            }
        }
        panic!("the model is asked again and again");
    }

    fn answer(&mut self, argument: u8) {
        let choice = usize::from(argument % 5);
        if argument >= 240 {
            // An answer without a pending request.
            let ticket = u64::from(argument);
            if self.asked.iter().all(|(asked, _)| *asked != ticket) && ticket > self.last_ticket {
                let output = self.handle(Event::Answer { ticket, answer: Answer::Confirmed(true) });
                assert_eq!(output.reply, Reply::None);
            }
            return;
        }
        let Some((ticket, request)) = self.asked.pop() else { return };
        let answer = match (argument / 5 % 8, request) {
            (0, _) => Answer::Cancelled,
            (1, _) => Answer::NoUi,
            (2, _) => Answer::Selected(usize::MAX),
            (_, Request::Confirm { .. }) => Answer::Confirmed(choice != 0),
            (_, Request::Select { .. }) => Answer::Selected(choice),
            (_, Request::Input { .. }) => Answer::Entered(TEXTS[choice].to_owned()),
            (_, Request::Children { .. }) => Answer::ChildrenEnded,
            (7, Request::Exec { .. }) => Answer::Ran(Ran {
                end: CommandEnd::Exited(0),
                duration_ms: 1,
                output: String::new(),
                cut_bytes: 0,
                standard_output: Some(r#"{"h":true,"files":["{item}","x"]}"#.into()),
                output_file: None,
            }),
            (_, Request::Exec { .. }) => Answer::Ran(Ran {
                end: [
                    CommandEnd::Exited(0),
                    CommandEnd::Exited(1),
                    CommandEnd::TimedOut,
                    CommandEnd::Cancelled,
                    CommandEnd::NotStarted("no shell".into()),
                ][choice]
                    .clone(),
                duration_ms: u64::MAX,
                output: "\u{1b}[31mout {description}\n".repeat(choice * 100),
                cut_bytes: choice as u64 * 1_000_000,
                standard_output: [None, Some("{}".into()), Some("{\"a\": 1}".into())].get(choice).cloned().flatten(),
                output_file: [None, Some(Ok("a/b.log".into())), Some(Err("full".into()))]
                    .get(choice)
                    .cloned()
                    .flatten(),
            }),
        };
        let output = self.handle(Event::Answer { ticket, answer });
        assert!(
            matches!(output.reply, Reply::None | Reply::Settle | Reply::Ask { .. } | Reply::Tool(_)),
            "{:?}",
            output.reply
        );
    }

    fn change_files(&mut self, argument: u8) {
        let whole = Folder::parse(FILES.as_bytes());
        self.folder = match argument % 5 {
            0 => whole.with("global/flat/workflow.yaml", b"name: ["),
            1 => whole.with("global/core/c.md", b"\xff"),
            2 => {
                let mut folder = whole;
                folder.remove("global/inner/workflow.yaml");
                folder
            }
            3 => whole.with(
                "global/outer/workflow.yaml",
                b"name: Less\ncommandName: outer\ninitialMessage: go\nphases: [z.md]\n",
            ),
            _ => whole,
        };
        self.moved_on = true;
    }

    fn session(&mut self, argument: u8) {
        self.asked.clear();
        // The session stores it only as JSON.
        let stored = self.stored.as_ref().and_then(|state| {
            let json = serde_json::to_string(state).expect("a state is JSON");
            restore([json])
        });
        let flag = |bit: u8| argument & bit != 0;
        self.session_ui = match (flag(1), flag(2)) {
            (false, _) => Ui::None,
            (true, false) => Ui::Program,
            (true, true) => Ui::Terminal,
        };
        self.ui = self.session_ui;
        let facts = Facts {
            accept_rules: None,
            more: None,
            silence: None,
            wait: flag(64).then(|| "6h".to_owned()),
            at_work: flag(32),
            watching: if flag(4) { Watching::Texts } else { Watching::Names },
            restarted: flag(16),
            same_session: flag(64),
            pace: Pace::default(),
            panel: flag(4),
            allow_commands: flag(8),
            allow_inputs: flag(8),
            allowed: Vec::new(),
            budget: flag(128).then(|| "turns=3,cost=1".to_owned()),
            project: "/project".into(),
            mark: Mark::default(),
        };
        self.open = true;
        let in_view = flag(16).then(|| "an old prompt".to_owned());
        self.plain(Event::Session { stored, in_view, facts });
        let _ = self.handle(Event::ToolCall { name: "read", carries_calls: false });
        self.library = Library::load(&self.folder).expect("nothing is stale").0;
    }

    fn shutdown(&mut self) {
        self.asked.clear();
        self.plain(Event::SessionShutdown);
        assert!(!self.engine.has_run());
        let output = self.handle(Event::Timer { id: 1, idle: true });
        assert_eq!(output, Output::default(), "a timer of a session that is gone");
        self.session(7);
    }

    fn handle(&mut self, event: Event) -> Output {
        self.now += 1000;
        let context = Context { unix_ms: self.now, random: self.now, ui: self.ui, host: &self.folder };
        let output = self.engine.handle(event, &context);
        assert!(output.effects.len() <= 24, "{:?}", output.effects);
        for effect in &output.effects {
            self.effect(effect);
        }
        match &output.reply {
            Reply::Ask { ticket, request } => {
                assert!(*ticket > self.last_ticket, "a ticket is used again");
                self.last_ticket = *ticket;
                self.asked.push((*ticket, request.clone()));
            }
            Reply::Continue(_) => self.goes_on(),
            _ => {}
        }
        output
    }

    fn effect(&mut self, effect: &Effect) {
        match effect {
            Effect::AppendEntry { custom_type: STATE_ENTRY_TYPE, data } => self.store(data.to_string()),
            Effect::AppendEntry { data, .. } => assert!(data.to_string().len() < 1 << 18),
            Effect::SendUserMessage(text) if text.starts_with("[workflow]") => self.goes_on(),
            Effect::SendUserMessage(text) | Effect::Steer(text) | Effect::Brief(text) => {
                assert!(!text.trim().is_empty() && text.len() < 1 << 18, "{text:?}");
            }
            Effect::SetPanel(Some(lines)) => assert!(lines.len() <= 100),
            _ => {}
        }
    }

    fn goes_on(&mut self) {
        self.automatic += 1;
        assert!(self.automatic <= 10, "told to go on and on");
    }

    fn store(&mut self, json: String) {
        self.entries.insert(0, json);
        let json = &self.entries[0];
        let state = restore(&self.entries).expect("a state");
        survives(&state);
        if let Some(before) = self.stored.as_ref().filter(|before| before.task_id == state.task_id) {
            assert!(state.global_step_count >= before.global_step_count, "steps fall: {json}");
        }
        self.moved_on = false;
        let active = Active::resolve(&state, &self.library);
        if let Some(active) = active {
            let outline = Outline::of(&active);
            assert!(outline.current >= 1, "{outline:?}");
            let _ = text::status_panel(&active, self.now, false, None, 60, &|_| text::BranchNow::default());
        }
        self.stored = Some(state);
    }
}
