//! A small guest that is independent of workflows. It loads through the same shim, to test the shim itself and that it
//! supports any component.
//!
//! | in pi | effect |
//! | --- | --- |
//! | `/hello NAME` | asks for confirmation of a greeting, and shows the answer |
//! | `/say TEXT` | sends the text as the user |
//! | `/remind MILLISECONDS` | shows a notification after the delay |
//! | `/note TEXT` | adds a hidden message for the model, which is sent only the newest one |
//! | `/newest` | shows the newest note in the model's view |
//! | `/choose` | shows a selection of three, then a text input, and reports both answers |
//! | `/run LINE` | runs the line in the shell, and shows the result; `/run-briefly LINE` for half a second at most |
//! | `/cancel` | cancels all pending requests |
//! | `/keep KEY VALUE` | stores a value; `/recall KEY` shows it; `/forget KEY` removes it |
//! | `/look PATH` | shows the size of a file of the root `tree`; `/again` shows whether the file is unchanged |
//! | `/child KEY PROMPT` | starts a child agent, and shows its progress and its end; `/children` waits until none works; `/end-child KEY` aborts one |
//! | `/flag` | shows whether `--greet` is set |
//! | `/boom` | panics |
//! | `/trap NAME` | panics in the next call of an export, or the next event, of that name |
//! | `/guard on` or `off` | sets whether tool calls are refused while the guest is switched off |
//! | tool `greet` | greets `name`; with `ask`, asks the user first |
//! | tool `run` | runs `line` in the shell `times` times, 5 seconds each at most, and returns the results |
//! | tool `bash` | is refused |
//! | status bar | the number of greetings in the session, the number of inputs, and whether the session was compacted |
//!
//! A greeting is an entry `hello:greeting` of the session, the only state that outlives a panic. If the store contains
//! a name under the key `trap`, an instance panics in every call of that name, including `init`.
#![cfg(target_arch = "wasm32")]
#![allow(missing_docs, unsafe_code, reason = "the generated bindings")]
#![allow(clippy::panic, reason = "where it is asked for")]

use std::cell::RefCell;

use serde_json::{Value, json};

use bindings::exports::pi::extension::guest::{
    Answer, ChildEnd, ChildReport, CommandEnd, CommandLine, CommandOutcome, CommandResult, Completion, Confirmation,
    Event, EventOutcome, Guest, Host, InitError, Pending, Request, Selection, TextInput, ToolOutcome,
};
use bindings::pi::extension::types::{Color, CustomMessage, Drawing, Error, Moment, Span, ToolCall, ToolResult};
use bindings::pi::extension::{api, children, context, files, session, store, timers, ui};

mod bindings {
    wit_bindgen::generate!({ world: "extension", path: "wit" });
    use super::Hello;
    export!(Hello);
}

const INTERFACE_VERSION: &str = "0.8.0";
const GREETING: &str = "hello:greeting";
const NOTE: &str = "hello:note";
const REMINDER: u64 = 1;

const COMMANDS: [(&str, &str); 21] = [
    ("hello", "Greet a user after a confirmation"),
    ("say", "Send a message as the user"),
    ("remind", "Show a notification after some milliseconds"),
    ("note", "Add a note for the model"),
    ("newest", "Show the newest note"),
    ("choose", "Select an option and enter a text"),
    ("run", "Run a command line"),
    ("run-briefly", "Run a command line for half a second"),
    ("cancel", "Cancel pending requests"),
    ("keep", "Store a value"),
    ("recall", "Show a value"),
    ("forget", "Remove a value"),
    ("look", "Show the size of a file"),
    ("again", "Show whether the file is unchanged"),
    ("child", "Start a child agent"),
    ("children", "Wait until no child agent works"),
    ("end-child", "Abort a child agent"),
    ("flag", "Show the flag"),
    ("boom", "Panic"),
    ("trap", "Panic later"),
    ("guard", "Refuse tool calls while the guest is switched off"),
];

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// The state that a panic loses.
#[derive(Default)]
struct Memory {
    /// The subjects of the requests, by ticket.
    asked: Vec<String>,
    /// The results of the tool's command lines so far.
    ran: Vec<String>,
    inputs: u32,
    /// The calls in which to panic: once, and every time.
    trap: Option<String>,
    broken: Option<String>,
}

struct Hello;

impl Guest for Hello {
    fn init(host: Host) -> Result<(), InitError> {
        std::panic::set_hook(Box::new(|panic| api::log_panic(&panic.to_string())));
        if host.interface_version != INTERFACE_VERSION {
            return Err(InitError::VersionMismatch(INTERFACE_VERSION.into()));
        }
        let broken = store::get("trap").unwrap_or_default();
        MEMORY.with_borrow_mut(|memory| memory.broken = broken);
        trap("init");
        api::on(api::EventKind::SessionStart);
        api::on(api::EventKind::SessionCompact);
        api::on(api::EventKind::Input);
        api::on(api::EventKind::BeforeAgentStart);
        api::on(api::EventKind::ToolCall);
        for (name, description) in COMMANDS {
            let (name, description) = (name.into(), description.into());
            api::register_command(&api::Command { name, description });
        }
        let name = json!({ "type": "string" });
        let ask = json!({ "type": "boolean" });
        let parameters = json!({ "type": "object", "properties": { "name": name, "ask": ask } });
        api::register_tool(&api::Tool {
            name: "greet".into(),
            label: "Greet".into(),
            description: "Greets somebody".into(),
            parameters: parameters.to_string(),
            prompt_snippet: None,
            prompt_guidelines: Vec::new(),
            sequential: false,
        });
        let line = json!({ "type": "string" });
        let times = json!({ "type": "number" });
        let parameters = json!({ "type": "object", "properties": { "line": line, "times": times } });
        api::register_tool(&api::Tool {
            name: "run".into(),
            label: "Run".into(),
            description: "Runs a command line".into(),
            parameters: parameters.to_string(),
            prompt_snippet: None,
            prompt_guidelines: Vec::new(),
            sequential: true,
        });
        api::register_flag(&api::Flag { name: "greet".into(), description: "Greet at once".into() });
        api::register_entry_renderer(GREETING);
        api::register_message_renderer(NOTE);
        Ok(())
    }

    fn handle_event(_: Moment, event: Event) -> EventOutcome {
        trap(event_name(&event));
        match event {
            Event::SessionStart(_) | Event::Restarted => show_greetings(),
            Event::SessionCompact => told(ui::set_status("hello-compacted", Some("compacted"))),
            Event::Input(_) => {
                let inputs = MEMORY.with_borrow_mut(|memory| {
                    memory.inputs += 1;
                    memory.inputs
                });
                told(ui::set_status("hello-inputs", Some(&format!("{inputs} inputs"))));
            }
            Event::ChildProgress(report) => say(format!("Progress: {}", child_words(&report))),
            Event::ChildEnd(ChildEnd { report, outcome }) => {
                say(format!("End: {}, {outcome:?}", child_words(&report)));
            }
            Event::ToolCall(call) if call.name == "bash" => {
                let input = context::tool_input().unwrap_or_default();
                return EventOutcome::Block(format!("No shell while we greet: {input}"));
            }
            _ => {}
        }
        EventOutcome::None
    }

    fn execute_tool(_: Moment, call: ToolCall, input: String) -> ToolOutcome {
        trap("execute-tool");
        let input: Value = serde_json::from_str(&input).unwrap_or_default();
        if call.name == "run" {
            let line = input.get("line").and_then(Value::as_str).unwrap_or_default();
            let times = input.get("times").and_then(Value::as_u64).unwrap_or(1);
            MEMORY.with_borrow_mut(|memory| memory.ran.clear());
            return ToolOutcome::Pending(run(&format!("{times} {line}"), line, 5000));
        }
        let name = input.get("name").and_then(Value::as_str).unwrap_or("world");
        if input.get("ask") == Some(&Value::Bool(true)) {
            return ToolOutcome::Pending(ask(name));
        }
        greet(name)
    }

    fn prepare_arguments(_: String, input: String) -> String {
        input
    }

    fn resume_tool(_: Moment, ticket: u64, answer: Answer) -> ToolOutcome {
        trap("resume-tool");
        match answer {
            Answer::Ran(result) => ran_once(&asked(ticket), &result),
            Answer::NotGranted => done("Not granted.".into(), Value::Null),
            Answer::Confirmed(true) => greet(&asked(ticket)),
            other => done(format!("No greeting: {}.", words(other)), Value::Null),
        }
    }

    fn run_command(_: Moment, name: String, arguments: String) -> CommandOutcome {
        trap("run-command");
        match name.as_str() {
            "hello" => return CommandOutcome::Pending(ask(&arguments)),
            "choose" => {
                let options = ["red", "green", "blue"].map(String::from).into();
                let choice = Selection { title: "Which one?".into(), options };
                return CommandOutcome::Pending(pending("choice", Request::Select(choice)));
            }
            "run" => return CommandOutcome::Pending(run("run", &arguments, 5000)),
            "run-briefly" => return CommandOutcome::Pending(run("run", &arguments, 500)),
            "cancel" => {
                let asked = MEMORY.with_borrow(|memory| memory.asked.len());
                (0..asked as u64).for_each(api::cancel_request);
            }
            "keep" => {
                let (key, value) = arguments.split_once(' ').unwrap_or((&arguments, ""));
                say(format!("{:?}", store::set(key, value)));
            }
            "recall" => say(format!("{:?}", store::get(&arguments))),
            "forget" => say(format!("{:?}", store::remove(&arguments))),
            "look" => {
                files::start_snapshot();
                say(format!("{:?}", files::read_file("tree", &arguments)));
                files::finish_snapshot();
            }
            "again" => say(files::unchanged().to_string()),
            "child" => {
                let (key, prompt) = arguments.split_once(' ').unwrap_or((&arguments, "Hi"));
                told(children::start(&child(key, prompt)));
            }
            "children" => {
                let wait = Request::Children("They work.".into());
                return CommandOutcome::Pending(pending("children", wait));
            }
            "end-child" => children::abort(&arguments),
            "flag" => say(format!("{:?}", api::get_flag("greet"))),
            "say" => {
                told(api::send_user_message(&arguments, Some(api::Delivery::FollowUp)));
                told(ui::notify("Said it.", ui::Level::Info));
                return CommandOutcome::Settle;
            }
            "remind" => timers::start(REMINDER, arguments.parse().unwrap_or(0)),
            "note" => told(api::send_message(&note(arguments), false, None)),
            "newest" => {
                let newest = session::newest_message(NOTE).unwrap_or_default();
                let text = newest.map_or("No note.".into(), |note| note.content);
                told(ui::notify(&text, ui::Level::Info));
            }
            "boom" => panic!("boom, as asked"),
            "trap" => MEMORY.with_borrow_mut(|memory| memory.trap = Some(arguments)),
            "guard" => api::guard_tools(arguments == "on"),
            _ => {}
        }
        CommandOutcome::Done
    }

    fn resume_command(_: Moment, ticket: u64, answer: Answer) -> CommandOutcome {
        trap("resume-command");
        let name = asked(ticket);
        match answer {
            Answer::Selected(index) => {
                let title = "Why?".into();
                let input = TextInput { title, placeholder: "because".into() };
                return CommandOutcome::Pending(pending(&index.to_string(), Request::Input(input)));
            }
            Answer::Entered(text) => {
                say(format!("{name}: {text}"));
                return CommandOutcome::Done;
            }
            Answer::Ran(result) => {
                say(result_words(&result));
                return CommandOutcome::Done;
            }
            Answer::ChildrenEnded(aborted) => {
                say(format!("No child works, aborted: {aborted}"));
                return CommandOutcome::Done;
            }
            Answer::NotGranted if name == "children" => {
                say("Children are not granted.".into());
                return CommandOutcome::Done;
            }
            _ => {}
        }
        told(match answer {
            Answer::Confirmed(true) => ui::notify(&format!("Hello, {name}!"), ui::Level::Info),
            other => {
                let text = format!("No hello for {name}: {}.", words(other));
                ui::notify(&text, ui::Level::Warning)
            }
        });
        CommandOutcome::Done
    }

    fn complete_argument(command: String, prefix: String) -> Vec<Completion> {
        trap("complete-argument");
        let proposals: &[&str] = if command == "hello" { &["world", "moon"] } else { &[] };
        let fitting = proposals.iter().filter(|name| name.starts_with(&prefix));
        fitting.map(|&name| Completion { value: name.into(), label: name.into(), description: None }).collect()
    }

    fn timer(_: Moment, id: u64) {
        trap("timer");
        told(ui::notify(&format!("Timer {id} has run out."), ui::Level::Info));
    }

    fn draw_tool_call(name: String, input: String, _expanded: bool) -> Option<Drawing> {
        trap("draw-tool-call");
        Some(Drawing::Lines(vec![vec![
            Span { text: name, color: Color::ToolTitle, bold: true },
            Span { text: format!(" {input}"), color: Color::Muted, bold: false },
        ]]))
    }

    fn draw_tool_result(_: String, output: ToolResult, _: bool) -> Option<Drawing> {
        trap("draw-tool-result");
        Some(Drawing::Markdown(output.text))
    }

    fn draw_message(message: CustomMessage, _: bool) -> Option<Drawing> {
        trap("draw-message");
        Some(Drawing::Markdown(message.content))
    }

    fn draw_entry(_: String, data: String, expanded: bool, _width: u32) -> Option<Drawing> {
        trap("draw-entry");
        let text = format!("A greeting: {data}");
        Some(Drawing::Lines(vec![vec![Span { text, color: Color::Accent, bold: expanded }]]))
    }
}

/// Panics if a panic was requested for this call.
fn trap(name: &str) {
    let here = |memory: &Memory| [&memory.trap, &memory.broken].into_iter().any(|trap| trap.as_deref() == Some(name));
    if MEMORY.with_borrow(here) {
        panic!("{name}, as asked");
    }
}

fn event_name(event: &Event) -> &'static str {
    match event {
        Event::SessionStart(_) => "session-start",
        Event::SessionCompact => "session-compact",
        Event::Input(_) => "input",
        Event::BeforeAgentStart => "before-agent-start",
        Event::ToolCall(_) => "tool-call",
        Event::Restarted => "restarted",
        _ => "another event",
    }
}

/// Returns a pending confirmation; its answer is passed to `resume-…`.
fn ask(name: &str) -> Pending {
    let (title, message) = ("Hello".to_owned(), format!("Greet {name}?"));
    pending(name, Request::Confirm(Confirmation { title, message }))
}

fn run(about: &str, line: &str, timeout_ms: u32) -> Pending {
    let (line, progress) = (line.to_owned(), format!("running: {line}"));
    pending(
        about,
        Request::Exec(CommandLine { line, timeout_ms, progress, env: Vec::new(), apart: false, output_file: None }),
    )
}

fn pending(about: &str, request: Request) -> Pending {
    let ticket = MEMORY.with_borrow_mut(|memory| {
        memory.asked.push(about.to_owned());
        memory.asked.len() as u64 - 1
    });
    Pending { ticket, request }
}

/// Handles the end of one command line of the tool: starts the next one, or returns all results.
fn ran_once(about: &str, result: &CommandResult) -> ToolOutcome {
    let (times, line) = about.split_once(' ').unwrap_or_default();
    let times: usize = times.parse().unwrap_or(1);
    let ran = MEMORY.with_borrow_mut(|memory| {
        memory.ran.push(result_words(result));
        memory.ran.clone()
    });
    if ran.len() < times {
        return ToolOutcome::Pending(run(about, line, 5000));
    }
    done(ran.join("\n"), Value::Null)
}

fn result_words(result: &CommandResult) -> String {
    let end = match &result.end {
        CommandEnd::Exited(status) => format!("exited {status}"),
        CommandEnd::TimedOut => "timed out".into(),
        CommandEnd::Cancelled => "cancelled".into(),
        CommandEnd::NotStarted(why) => format!("not started: {why}"),
    };
    format!("{end}, {} bytes cut: {}", result.cut_bytes, result.output)
}

/// Returns a child whose session begins with a greeting.
fn child(key: &str, prompt: &str) -> children::Child {
    let data = json!({ "name": key }).to_string();
    children::Child {
        key: key.into(),
        label: format!("Child {key}"),
        session: None,
        entries: vec![children::Seed { custom_type: GREETING.into(), data }],
        prompt: prompt.into(),
        model: None,
        thinking: None,
        tools: None,
        report: GREETING.into(),
        handed: None,
    }
}

fn child_words(report: &ChildReport) -> String {
    let ChildReport { key, session, newest, usage, last_call } = report;
    let turns: u32 = usage.models.iter().map(|model| model.answers).sum();
    let stored = if session.is_some() { "a session" } else { "no session" };
    let newest = newest.as_deref().unwrap_or("no greeting");
    let call = last_call.as_deref().unwrap_or("no call");
    format!("{key}, {stored}, {newest}, {turns} turns, {call}")
}

/// Returns the subject of a request; empty if a panic came between.
fn asked(ticket: u64) -> String {
    let name = |memory: &Memory| memory.asked.get(usize::try_from(ticket).ok()?).cloned();
    MEMORY.with_borrow(name).unwrap_or_else(|| "nobody".to_owned())
}

fn words(answer: Answer) -> &'static str {
    match answer {
        Answer::Confirmed(true) => "yes",
        Answer::Confirmed(false) => "no",
        Answer::NotGranted => "not granted",
        Answer::Cancelled | Answer::Selected(_) | Answer::Entered(_) | Answer::Ran(_) | Answer::ChildrenEnded(_) => {
            "no answer"
        }
        Answer::NoUi => "nobody to ask",
    }
}

fn greet(name: &str) -> ToolOutcome {
    let greeting = json!({ "name": name });
    told(api::append_entry(GREETING, &greeting.to_string()));
    show_greetings();
    done(format!("Hello, {name}!"), greeting)
}

fn say(text: String) {
    told(ui::notify(&text, ui::Level::Info));
}

fn note(content: String) -> CustomMessage {
    CustomMessage { custom_type: NOTE.into(), content, display: false }
}

fn done(text: String, details: Value) -> ToolOutcome {
    ToolOutcome::Done(ToolResult { text, details: details.to_string() })
}

fn show_greetings() {
    if let Ok(greetings) = session::entries(GREETING, 0, 100, None) {
        told(ui::set_status("hello", Some(&format!("{} greetings", greetings.len()))));
    }
}

/// Shows the error of a failed call, unless the session no longer exists.
fn told(result: Result<(), Error>) {
    if let Err(Error::Failed(reason)) = result {
        let _ = ui::notify(&format!("It failed: {reason}"), ui::Level::Error);
    }
}
