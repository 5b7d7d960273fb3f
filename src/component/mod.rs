//! The only module that knows the WIT interface. It converts calls to events, and effects to calls.

#![allow(unsafe_code, reason = "the generated bindings")]

mod convert;
mod fault;
mod host;
mod tools;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use serde_json::Value;

use crate::definition;
use crate::engine::{
    ACCEPT_RULES_FLAG, ALLOW_COMMANDS_FLAG, ALLOW_INPUTS_FLAG, ALLOW_VALUES_FLAG, BUDGET_FLAG, COMMANDS, Command,
    EVENTS_FLAG, MORE_FLAG, SILENCE_FLAG, STEP_TOOL, WAIT_FLAG,
};
use crate::engine::{Context, EndedCall, Engine, Event, Facts, Output, Pace, Reply, Stop, Ui, Watching, prepared};
use crate::protocol::{
    CHECK_TYPE, COMPLETE_TYPE, CONTEXT_MESSAGE_TYPE, COUNTDOWN_TYPE, FRESH_TYPE, GRAPH_TYPE, LIMITS_TYPE,
    MOVED_MESSAGE_TYPE, PANEL_ENTRY_TYPE, PANEL_FIELD, PROPOSE_TOOL_NAME, QUESTION_TYPE, REMINDER_MESSAGE_TYPE,
    REPORT_TYPE, STATE_ENTRY_TYPE, STATUS_TYPE, WORKFLOW_COMMAND,
};
use crate::run::{BrokenReason, Mark, Pick, Restored, restore_with_mark};
use crate::text::{self, DefaultRole};

use bindings::exports::pi::extension::guest::{self, Guest};
use bindings::pi::extension::types::{self, CustomMessage, Drawing, Moment, ToolCall, ToolResult};
use bindings::pi::extension::{api, context, store};

#[allow(clippy::all, clippy::unwrap_used, reason = "generated")]
mod bindings {
    wit_bindgen::generate!({
        world: "pi-workflows:tools/component",
        path: ["wit", "wit/tools"],
        generate_all,
    });
    use super::Component;
    export!(Component);
}

/// The version of `wit/extension.wit` that this component implements.
const INTERFACE_VERSION: &str = "0.8.0";

/// The messages that this component draws: its own messages, and messages that the reference left in a session.
const MESSAGE_TYPES: [&str; 5] =
    [CONTEXT_MESSAGE_TYPE, COMPLETE_TYPE, COUNTDOWN_TYPE, MOVED_MESSAGE_TYPE, REMINDER_MESSAGE_TYPE];

/// Number of state entries that are fetched at a time after the newest entry, which nearly always decides. A search for
/// more entries goes back to the beginning of the session, and an entry may be long.
const ENTRIES_AT_A_TIME: u32 = 16;

thread_local! {
    /// The last argument of `guard-tools`.
    static GUARDED: Cell<Option<bool>> = const { Cell::new(None) };
    /// The user interface of the session; constant for a session.
    static UI: Cell<Ui> = const { Cell::new(Ui::None) };
    /// The id of the tool call that is being handled.
    static CALL: RefCell<Option<String>> = const { RefCell::new(None) };
    static ENGINE: RefCell<Engine> = RefCell::new(Engine::default());
}

struct Component;

impl Guest for Component {
    fn init(host: guest::Host) -> Result<(), guest::InitError> {
        std::panic::set_hook(Box::new(host::report_panic));
        fault::trip("init");
        if host.interface_version != INTERFACE_VERSION {
            return Err(guest::InitError::VersionMismatch(INTERFACE_VERSION.into()));
        }
        for kind in [
            api::EventKind::SessionStart,
            api::EventKind::SessionTree,
            api::EventKind::SessionCompact,
            api::EventKind::SessionShutdown,
            api::EventKind::Input,
            api::EventKind::TerminalInput,
            api::EventKind::BeforeAgentStart,
            api::EventKind::AgentStart,
            api::EventKind::TurnEnd,
            api::EventKind::AgentEnd,
            api::EventKind::AgentBeforeSettle,
            api::EventKind::AgentSettled,
            api::EventKind::ToolCall,
            api::EventKind::ModelSelect,
            api::EventKind::ThinkingLevelSelect,
            api::EventKind::TurnStart,
            api::EventKind::MessageStart,
            api::EventKind::ChildProgress,
            api::EventKind::ChildEnd,
            api::EventKind::TimeSkipped,
        ] {
            api::on(kind);
        }
        api::register_tool(&api::Tool {
            name: STEP_TOOL.name.into(),
            label: STEP_TOOL.label.into(),
            description: STEP_TOOL.description.into(),
            parameters: convert::json(&STEP_TOOL.parameters()),
            prompt_snippet: Some(STEP_TOOL.prompt_snippet.into()),
            prompt_guidelines: STEP_TOOL.prompt_guidelines.map(Into::into).into(),
            sequential: true,
        });
        for flag in [ALLOW_COMMANDS_FLAG, ALLOW_INPUTS_FLAG] {
            api::register_flag(&api::Flag { name: flag.name.into(), description: flag.description.into() });
        }
        for flag in [ALLOW_VALUES_FLAG, BUDGET_FLAG, ACCEPT_RULES_FLAG, MORE_FLAG, EVENTS_FLAG, WAIT_FLAG, SILENCE_FLAG]
        {
            api::register_text_flag(&api::Flag { name: flag.name.into(), description: flag.description.into() });
        }
        for command in &COMMANDS {
            api::register_command(&api::Command { name: command.name.into(), description: command.description.into() });
        }
        for message_type in MESSAGE_TYPES {
            api::register_message_renderer(message_type);
        }
        for entry_type in
            [COMPLETE_TYPE, STATUS_TYPE, QUESTION_TYPE, CHECK_TYPE, GRAPH_TYPE, REPORT_TYPE, LIMITS_TYPE, FRESH_TYPE]
        {
            api::register_entry_renderer(entry_type);
        }
        Ok(())
    }

    fn handle_event(at: Moment, event: guest::Event) -> guest::EventOutcome {
        fault::trip_at(&event);
        // If the session is gone, nothing is to be done.
        let call = match &event {
            guest::Event::ToolCall(call) => Some(call.id.clone()),
            _ => None,
        };
        let mut output = during(call, || react(at, &event)).unwrap_or_default();
        let drafts = host::take_drafts(&mut output);
        match perform(at, output) {
            Reply::Block(reason) => guest::EventOutcome::Block(reason),
            Reply::Stop(reason) => guest::EventOutcome::Stop(reason),
            Reply::Confine { writable, hidden, keeps_agent_folder, kept, network, notice, signs } => {
                let signs = signs.into_iter().map(Into::into).collect();
                let limits = guest::Confinement { writable, hidden, keeps_agent_folder, kept, network, notice, signs };
                guest::EventOutcome::Confine(limits)
            }
            Reply::Drop => guest::EventOutcome::Drop,
            Reply::Inject { custom_type, content } => {
                guest::EventOutcome::Inject(CustomMessage { custom_type: custom_type.into(), content, display: false })
            }
            Reply::Continue(content) => guest::EventOutcome::Continue(CustomMessage {
                custom_type: REMINDER_MESSAGE_TYPE.into(),
                content,
                display: true,
            }),
            Reply::Compact { summary, first_kept, prompt } => {
                let boundary = host::boundary(summary, first_kept, prompt, drafts);
                guest::EventOutcome::Boundary(boundary)
            }
            Reply::Ask { ticket, request } => guest::EventOutcome::Pending(convert::pending(ticket, request)),
            // The engine returns the other replies only for calls of tools and commands.
            Reply::None | Reply::Tool(_) | Reply::LastTool(_) | Reply::Settle => guest::EventOutcome::None,
        }
    }

    fn prepare_arguments(_name: String, input: String) -> String {
        fault::trip("prepare-arguments");
        let prepared = serde_json::from_str(&input).map(prepared);
        prepared.map_or(input, |prepared| convert::json(&prepared))
    }

    fn execute_tool(at: Moment, call: ToolCall, input: String) -> guest::ToolOutcome {
        fault::trip("execute-tool");
        let nested = call.parent.is_some();
        let event = match &*call.name {
            PROPOSE_TOOL_NAME => Event::Propose { input: &input, nested },
            _ => Event::Step { input: &input, nested },
        };
        let output = during(Some(call.id), || handle(at, event));
        tool_outcome(perform(at, output))
    }

    fn resume_tool(at: Moment, ticket: u64, answer: guest::Answer) -> guest::ToolOutcome {
        fault::trip("resume-tool");
        let answer = answer.into();
        tool_outcome(perform(at, handle(at, Event::Answer { ticket, answer })))
    }

    fn run_command(at: Moment, name: String, arguments: String) -> guest::CommandOutcome {
        fault::trip("run-command");
        // A run that begins while the agent is at work has no other occasion to learn the role.
        if ENGINE.with_borrow(Engine::is_at_work) {
            let Ok(role) = role() else { return guest::CommandOutcome::Done };
            perform(at, handle(at, Event::Role(role)));
        }
        let event = Event::Command { name: &name, arguments: &arguments };
        convert::command_outcome(perform(at, handle(at, event)))
    }

    fn resume_command(at: Moment, ticket: u64, answer: guest::Answer) -> guest::CommandOutcome {
        fault::trip("resume-command");
        let answer = answer.into();
        convert::command_outcome(perform(at, handle(at, Event::Answer { ticket, answer })))
    }

    fn complete_argument(command: String, prefix: String) -> Vec<guest::Completion> {
        fault::trip("complete-argument");
        if command != WORKFLOW_COMMAND {
            return Vec::new();
        }
        let completions = ENGINE.with_borrow_mut(|engine| engine.complete(&prefix, &host::Files));
        completions.into_iter().map(Into::into).collect()
    }

    fn timer(at: Moment, id: u64) {
        fault::trip("timer");
        if let Ok(idle) = known(context::is_idle()) {
            perform(at, handle(at, Event::Timer { id, idle }));
        }
    }

    fn draw_tool_call(name: String, input: String, expanded: bool) -> Option<Drawing> {
        fault::trip("draw-tool-call");
        Some(text::draw_call(&name, &input, expanded).into())
    }

    fn draw_tool_result(_name: String, output: ToolResult, expanded: bool) -> Option<Drawing> {
        fault::trip("draw-tool-result");
        Some(text::draw_step_result(&output.text, &output.details, expanded).into())
    }

    fn draw_message(message: CustomMessage, expanded: bool) -> Option<Drawing> {
        fault::trip("draw-message");
        text::draw_content(&message.custom_type, &message.content, expanded).map(Into::into)
    }

    fn draw_entry(custom_type: String, data: String, expanded: bool, width: u32) -> Option<Drawing> {
        fault::trip("draw-entry");
        let data: Value = serde_json::from_str(&data).ok()?;
        text::draw_entry(&custom_type, &data, expanded, width as usize).map(Into::into)
    }
}

/// Handles an event with the engine.
fn react(at: Moment, event: &guest::Event) -> Result<Output, Gone> {
    Ok(match event {
        guest::Event::SessionStart(_) | guest::Event::SessionTree | guest::Event::Restarted => {
            let mut entries = StateEntries::default();
            let restored = restore_with_mark(&mut entries);
            let restored = match entries.error.take() {
                None => restored,
                Some(error) => {
                    known::<()>(Err(error))?;
                    Some(Restored::unreadable(BrokenReason::NotHandedOver))
                }
            };
            let (stored, mark) = match restored {
                Some(Restored { state, mark }) => (Some(state), mark),
                None => (None, Mark::default()),
            };
            UI.set(ui()?);
            // The flags are given once, for the session with which the process starts.
            let is_start = matches!(event, guest::Event::SessionStart(guest::SessionReason::Startup));
            let at_start = |flag: Command| match is_start {
                true => known(api::get_text_flag(flag.name)),
                false => Ok(None),
            };
            let handed = context::handed().and_then(|handed| serde_json::from_str(&handed).ok());
            let mut allowed: Vec<String> = handed.unwrap_or_default();
            let values = known(api::get_text_flag(ALLOW_VALUES_FLAG.name))?.unwrap_or_default();
            allowed.extend(values.lines().map(definition::Command::given_value));
            let facts = Facts {
                project: known(context::cwd())?,
                allow_commands: known(api::get_flag(ALLOW_COMMANDS_FLAG.name))?,
                allow_inputs: is_start && known(api::get_flag(ALLOW_INPUTS_FLAG.name))?,
                allowed,
                budget: known(api::get_text_flag(BUDGET_FLAG.name))?,
                accept_rules: at_start(ACCEPT_RULES_FLAG)?,
                more: at_start(MORE_FLAG)?,
                wait: known(api::get_text_flag(WAIT_FLAG.name))?,
                silence: known(api::get_text_flag(SILENCE_FLAG.name))?,
                pace: store::get(Pace::KEY).ok().flatten().map_or_else(Pace::default, |pace| Pace::of(&pace)),
                panel: panel(entries.newest.as_deref())?,
                mark,
                // pi moves in the tree only while the agent is at rest; pi 0.87.1 counts the move itself as work.
                at_work: !matches!(event, guest::Event::SessionTree) && unless_gone(context::is_idle())? == Some(false),
                watching: watching()?,
                restarted: matches!(event, guest::Event::Restarted),
                same_session: matches!(event, guest::Event::SessionTree),
            };
            handle(at, Event::Session { stored, in_view: in_view(event)?, facts })
        }
        guest::Event::SessionCompact => handle(at, Event::Compacted),
        guest::Event::SessionShutdown(_) => handle(at, Event::SessionShutdown),
        guest::Event::Input(source) => handle(at, Event::Input { from_user: is_users(*source) }),
        guest::Event::TerminalInput(interrupts) => handle(at, Event::TerminalInput { interrupts: *interrupts }),
        guest::Event::BeforeAgentStart => {
            // Without a run the role is not needed.
            let running = ENGINE.with_borrow(Engine::is_running);
            let role = if running { role()? } else { DefaultRole::default() };
            handle(at, Event::BeforeAgentStart { role })
        }
        guest::Event::AgentStart => handle(at, Event::AgentStart),
        guest::Event::MessageStart(source) => handle(at, Event::MessageStart { from_user: is_users(*source) }),
        guest::Event::TurnStart => handle(at, Event::TurnStart),
        guest::Event::TurnEnd(calls) => {
            let queued = known(context::has_pending_messages())?;
            let calls: Vec<EndedCall> = calls.iter().map(EndedCall::from).collect();
            handle(at, Event::TurnEnd { queued, calls: &calls })
        }
        guest::Event::AgentEnd(reason) => {
            let stop = match reason {
                Some(guest::StopReason::Aborted) => Stop::Aborted,
                Some(guest::StopReason::Error) => Stop::Failed,
                Some(guest::StopReason::Length) => Stop::CutOff,
                _ => Stop::Completed,
            };
            handle(at, Event::AgentEnd { stop })
        }
        guest::Event::AgentBeforeSettle => handle(at, Event::BeforeSettle),
        guest::Event::AgentSettled => handle(at, Event::AgentSettled),
        guest::Event::ToolCall(call) => {
            handle(at, Event::ToolCall { name: &call.name, carries_calls: call.carries_calls })
        }
        guest::Event::ModelSelect(guest::ModelSelection { by_guest, .. }) => {
            handle(at, Event::Select { pick: Pick::Model, own: *by_guest })
        }
        guest::Event::ThinkingLevelSelect(guest::ThinkingLevelSelection { by_guest, .. }) => {
            handle(at, Event::Select { pick: Pick::Thinking, own: *by_guest })
        }
        guest::Event::ChildProgress(report) => handle(at, Event::Child { report: report.clone().into(), ended: None }),
        guest::Event::ChildEnd(guest::ChildEnd { report, outcome }) => {
            let ended = Some(outcome.clone().into());
            handle(at, Event::Child { report: report.clone().into(), ended })
        }
        guest::Event::TimeSkipped(ms) => handle(at, Event::TimeSkipped { ms: *ms }),
    })
}

fn tool_outcome(reply: Reply) -> guest::ToolOutcome {
    convert::tool_outcome(reply, ENGINE.with_borrow(Engine::has_branch_ended))
}

/// Returns true for a message of the user, not of an extension.
fn is_users(source: guest::InputSource) -> bool {
    matches!(source, guest::InputSource::Interactive | guest::InputSource::Rpc)
}

/// Runs `handle` with this tool call as the current call.
fn during<T>(call: Option<String>, handle: impl FnOnce() -> T) -> T {
    CALL.set(call);
    let handled = handle();
    CALL.take();
    handled
}

fn handle(at: Moment, event: Event) -> Output {
    let Moment { unix_ms, random } = at;
    let context = Context { unix_ms, random, ui: UI.get(), host: &host::Files };
    let (output, guards) = ENGINE.with_borrow_mut(|engine| (engine.handle(event, &context), engine.guards_tools()));
    // If this instance traps, tool calls are refused: in a run, also while the files of the run cannot be read, and
    // under the user's limits.
    if GUARDED.replace(Some(guards)) != Some(guards) {
        api::guard_tools(guards);
    }
    output
}

/// Performs effects, and returns the reply. The results of the effects are events, whose effects are performed too.
fn perform(at: Moment, output: Output) -> Reply {
    let (reply, results) = host::perform(output);
    let mut results = VecDeque::from(results);
    while let Some(result) = results.pop_front() {
        results.extend(host::perform(handle(at, result)).1);
    }
    reply
}

/// The user interface of the session.
fn ui() -> Result<Ui, Gone> {
    Ok(if !known(context::has_ui())? {
        Ui::None
    } else if unless_gone(context::run_mode())? == Some(types::Mode::Tui) {
        Ui::Terminal
    } else {
        Ui::Program
    })
}

/// The events that a watching program gets: in RPC mode all of them, without a user interface those that the command
/// line asks for.
fn watching() -> Result<Watching, Gone> {
    Ok(match (UI.get(), known(api::get_text_flag(EVENTS_FLAG.name))?.as_deref()) {
        (Ui::Terminal, _) | (Ui::None, None) => Watching::Off,
        (Ui::Program | Ui::None, Some("full")) => Watching::Texts,
        (Ui::Program | Ui::None, _) => Watching::Names,
    })
}

struct Gone;

/// The host's answer; the default value after an error, which the user is told of.
fn known<T: Default>(answer: Result<T, types::Error>) -> Result<T, Gone> {
    answer.or_else(|error| match error {
        types::Error::Stale => Err(Gone),
        types::Error::Failed(words) => {
            host::tell(&words);
            Ok(T::default())
        }
    })
}

/// The host's answer; `None` after an error.
fn unless_gone<T>(answer: Result<T, types::Error>) -> Result<Option<T>, Gone> {
    match answer {
        Err(types::Error::Stale) => Err(Gone),
        answer => Ok(answer.ok()),
    }
}

/// Returns true if the panel is on in this session: by the newest panel entry behind the newest state, or else by the
/// newest state itself. A long session is not searched.
fn panel(newest_state: Option<&str>) -> Result<bool, Gone> {
    use bindings::pi::extension::session;
    let newest = session::entries(PANEL_ENTRY_TYPE, 0, 1, Some(STATE_ENTRY_TYPE));
    let newest = unless_gone(newest)?.unwrap_or_default().pop();
    let (data, field) = match &newest {
        Some(data) => (Some(&**data), "on"),
        None => (newest_state, PANEL_FIELD),
    };
    let data = data.and_then(|data| serde_json::from_str(data).ok());
    Ok(data.is_some_and(|data: Value| data.get(field).and_then(Value::as_bool) == Some(true)))
}

/// The context prompt that the model still has in view, if the conversation is unchanged.
fn in_view(event: &guest::Event) -> Result<Option<String>, Gone> {
    use guest::SessionReason::Reload;
    if !matches!(event, guest::Event::SessionStart(Reload) | guest::Event::Restarted) {
        return Ok(None);
    }
    let newest = bindings::pi::extension::session::newest_message(CONTEXT_MESSAGE_TYPE);
    Ok(known(newest)?.map(|message| message.content))
}

fn role() -> Result<DefaultRole, Gone> {
    let tools = known(api::tool_names())?;
    let delegates = tools.iter().any(|name| name == DefaultRole::DELEGATION_TOOL);
    Ok(if delegates { DefaultRole::Orchestrator } else { DefaultRole::Worker })
}

/// The state entries of the session, newest first, fetched on demand.
#[derive(Default)]
struct StateEntries {
    fetched: std::vec::IntoIter<String>,
    skip: u32,
    exhausted: bool,
    /// The newest state entry.
    newest: Option<String>,
    /// The error at which the entries end.
    error: Option<types::Error>,
}

impl Iterator for StateEntries {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if self.fetched.len() == 0 && !self.exhausted {
            let limit = if self.skip == 0 { 1 } else { ENTRIES_AT_A_TIME };
            let entries = bindings::pi::extension::session::entries(STATE_ENTRY_TYPE, self.skip, limit, None)
                .unwrap_or_else(|error| {
                    self.error = Some(error);
                    Vec::new()
                });
            if self.skip == 0 {
                self.newest = entries.first().cloned();
            }
            self.skip = self.skip.saturating_add(limit);
            self.exhausted = entries.len() < limit as usize;
            self.fetched = entries.into_iter();
        }
        self.fetched.next()
    }
}
