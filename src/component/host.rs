//! Performs effects, and reads files, through the host.

use std::cell::Cell;

use serde_json::Value;

use crate::definition::{
    DirEntry, FileError, FileKind, KnownModel, ModelSetting, Package, PackageScope, ReadError, Root, Stale,
    Surroundings, UserMessage, WorkflowFiles, WriteTarget, defined_profiles,
};
use crate::engine::{
    ChildEnd, ChildReport, ChildStart, Effect, Event, Host, Level, ModelFailure, Output, PROPOSE_TOOL_LABEL, Reply,
    RunningCall, Summary, other_tools, propose_parameters,
};
use crate::protocol::{
    CONTEXT_MESSAGE_TYPE, EVENT_KEY, FRESH_TYPE, MOVED_MESSAGE_TYPE, PROPOSE_TOOL_NAME, STATE_ENTRY_TYPE,
};
use crate::run::{ClaimObstacle, RunDir};
use crate::text::TerminalSize;
use crate::usage::Usage;

use super::bindings::exports::pi::extension::guest;
use super::bindings::pi::extension::{
    api, children, context, files, folders, programs, session, store, timers, types, ui,
};
use super::convert::json;

/// The key of our text in the status bar.
const STATUS_KEY: &str = "workflow";
/// The key of our widget above the editor.
const COUNTDOWN_KEY: &str = "workflow-countdown";
/// The key of the panel above the editor.
const PANEL_KEY: &str = "workflow-panel";
/// The granted folders of subagent profiles.
const PROFILES: [&str; 2] = ["agents", "project-agents"];

/// Maximum number of user messages, and of entries of a type, that are read for the engine.
const MAX_MESSAGES: u32 = 500;

/// The message with the images that follow the summary of a view.
const IMAGES: &str = "The images of the user's messages in the summary.";

thread_local! {
    /// The session did not take the newest state, and the user was told.
    static NOT_STORED_TOLD: Cell<bool> = const { Cell::new(false) };
}

const NOT_STORED: &str = "the session does not take the state of the run, so a restart would find an older one";
const NOT_WRITTEN: &str = "the file of the session cannot be written before the first answer of the model; if pi ends before, the run is lost";
const NOT_TAKEN: &str = "the session does not take an entry";

/// The results of effects that the engine is to learn, as events.
#[derive(Default)]
struct Results {
    events: Vec<Event<'static>>,
    /// The session refused a state entry. The inner value is true if no other state entry was to follow.
    refused: Option<bool>,
}

/// Performs effects in their order, and returns the reply, and the results as events. If the session is gone, the
/// remaining effects are dropped; a refusal or limits are still returned.
pub(super) fn perform(output: Output) -> (Reply, Vec<Event<'static>>) {
    let Output { effects, reply } = output;
    let mut results = Results::default();
    for effect in effects {
        match perform_one(effect, &mut results) {
            Ok(()) => {}
            Err(types::Error::Stale) => {
                return (reply.restriction(), Vec::new());
            }
            Err(types::Error::Failed(words)) => tell(&words),
        }
    }
    let Results { mut events, refused } = results;
    events.extend(refused.map(|is_newest| Event::NotStored { is_newest }));
    (reply, events)
}

/// Takes the entries out of an output whose reply is a compaction: the host appends them after the compaction.
pub(super) fn take_drafts(output: &mut Output) -> Vec<guest::Draft> {
    let mut drafts = Vec::new();
    if let Reply::Compact { .. } = output.reply {
        for effect in std::mem::take(&mut output.effects) {
            match effect {
                Effect::AppendEntry { custom_type, data } => {
                    let entry = guest::CustomEntry { custom_type: custom_type.to_owned(), data: json(&data) };
                    drafts.push(guest::Draft::Custom(entry));
                }
                other => output.effects.push(other),
            }
        }
    }
    drafts
}

/// Returns the compaction, the entries and images after it, and the context prompt with which the agent continues.
pub(super) fn boundary(
    summary: Summary,
    first_kept: Option<String>,
    prompt: Option<String>,
    drafts: Vec<guest::Draft>,
) -> guest::Boundary {
    let mut entries = Vec::new();
    // Without a context prompt, a compaction that keeps nothing would also remove the user's prompt.
    if prompt.is_some() || first_kept.is_some() {
        let compaction = guest::Compaction { summary: summary.text, first_kept };
        entries.push(guest::Draft::Compaction(compaction));
    }
    entries.extend(drafts);
    let message = |custom_type: &str, content: String, images_of: Vec<String>| {
        let custom_type = custom_type.to_owned();
        let message = types::CustomMessage { custom_type, content, display: false };
        guest::Draft::CustomMessage(guest::MessageDraft { message, images_of })
    };
    if !summary.images_of.is_empty() {
        entries.push(message(FRESH_TYPE, IMAGES.to_owned(), summary.images_of));
    }
    let continue_ = prompt.is_some();
    entries.extend(prompt.map(|prompt| message(CONTEXT_MESSAGE_TYPE, prompt, Vec::new())));
    guest::Boundary { entries, continue_ }
}

/// Tells the user about an error. If that fails too, the error is dropped.
pub(super) fn tell(words: &str) {
    let _ = ui::notify(&format!("Workflow: {words}"), ui::Level::Error);
}

fn perform_one(effect: Effect, results: &mut Results) -> Result<(), types::Error> {
    match effect {
        Effect::AppendEntry { custom_type: STATE_ENTRY_TYPE, data } => store_state(&json(&data), results),
        Effect::AppendEntry { custom_type, data } => {
            api::append_entry(custom_type, &json(&data)).map_err(|error| because(NOT_TAKEN, error))
        }
        Effect::WriteSession => session::write_file().map_err(|error| because(NOT_WRITTEN, error)),
        Effect::ReleaseClaim { is_over } => release_claim(is_over),
        Effect::SendUserMessage(text) => api::send_user_message(&text, Some(api::Delivery::FollowUp)),
        Effect::BeginView(summary) => {
            let first_kept = session::leaf_id()?;
            results.events.push(Event::ViewBegun { first_kept: first_kept.clone() });
            let Some(first_kept) = first_kept else { return Ok(()) };
            api::begin_view(&first_kept, &summary.text, &summary.images_of)
        }
        Effect::Steer(content) => steer(MOVED_MESSAGE_TYPE, content, true, false),
        // pi delivers this message before the request only if the message may begin a turn.
        Effect::TellAtStart(content) => steer(MOVED_MESSAGE_TYPE, content, true, true),
        Effect::Brief(prompt) => steer(CONTEXT_MESSAGE_TYPE, prompt, false, false),
        Effect::Abort => api::abort(),
        Effect::CancelRequest { ticket } => {
            api::cancel_request(ticket);
            Ok(())
        }
        Effect::Remember { key, value } => {
            if let Err(error) = store::set(&key, &value) {
                tell(&format!("your answer could not be kept: {}", words(&error)));
            }
            Ok(())
        }
        Effect::OfferTool(description) => offer_tool(description),
        Effect::SetActiveTools(names) => api::set_active_tools(&names),
        Effect::SetModel(model) => api::set_model(&model.into()),
        Effect::SetThinking(level) => api::set_thinking_level(level.into()),
        Effect::SetExitCode(code) => context::set_exit_code(code),
        Effect::SetSessionName(name) => api::set_session_name(&name),
        Effect::SetStatus(text) => ui::set_status(STATUS_KEY, text.as_deref()),
        Effect::TellWatcher(line) => match context::has_ui()? {
            true => ui::set_status(EVENT_KEY, Some(&line)),
            false => ui::notify(&format!("{EVENT_KEY} {line}"), ui::Level::Info),
        },
        Effect::SetPanel(lines) => ui::set_widget(PANEL_KEY, lines.as_deref(), ui::Placement::AboveEditor),
        Effect::SetCountdown(line) => {
            let lines = line.map(|line| vec![line]);
            ui::set_widget(COUNTDOWN_KEY, lines.as_deref(), ui::Placement::AboveEditor)
        }
        Effect::Notify { level, text } => notify(level, &text),
        Effect::StartTimer { id, delay_ms } => {
            timers::start(id, delay_ms);
            Ok(())
        }
        Effect::StartTimerAtSilence { id, delay_ms } => {
            timers::start_at_silence(id, delay_ms);
            Ok(())
        }
        Effect::StopTimer { id } => {
            timers::stop(id);
            Ok(())
        }
        Effect::WatchClock(watch) => {
            timers::watch_clock(watch);
            Ok(())
        }
        Effect::WatchTerminal(watch) => ui::watch_terminal(watch),
        Effect::SetBlocked(message) => ui::set_blocked(message.as_deref()),
        Effect::RunProgram { kind, program, line } => {
            programs::run(kind, &program, &line);
            Ok(())
        }
        Effect::RunCommand { name, arguments } => api::run_command(name, arguments),
        Effect::StartChild(start) => start_child(*start, results),
        Effect::AbortChild { key } => {
            children::abort(&key);
            Ok(())
        }
        Effect::ShowChildren(text) => {
            children::show(&text);
            Ok(())
        }
    }
}

/// Puts words before those of a failure.
fn because(words: &str, error: types::Error) -> types::Error {
    match error {
        types::Error::Failed(why) => types::Error::Failed(format!("{words}: {why}")),
        types::Error::Stale => types::Error::Stale,
    }
}

/// Gives the claim of the session back. A claim that cannot be given back ends with this process.
fn release_claim(is_over: bool) -> Result<(), types::Error> {
    let step = if is_over { session::ClaimStep::Finish } else { session::ClaimStep::Release };
    match session::claim(step) {
        Err(types::Error::Stale) => Err(types::Error::Stale),
        Ok(_) | Err(types::Error::Failed(_)) => Ok(()),
    }
}

/// Registers the tool with which the agent proposes workflows.
fn offer_tool(description: String) -> Result<(), types::Error> {
    api::offer_tool(&api::Tool {
        name: PROPOSE_TOOL_NAME.into(),
        label: PROPOSE_TOOL_LABEL.into(),
        description,
        parameters: json(&propose_parameters()),
        prompt_snippet: None,
        prompt_guidelines: Vec::new(),
        sequential: true,
    })
}

fn notify(level: Level, text: &str) -> Result<(), types::Error> {
    let level = match level {
        Level::Info => ui::Level::Info,
        Level::Warning => ui::Level::Warning,
        Level::Error => ui::Level::Error,
    };
    ui::notify(text, level)
}

/// Starts a child. A child that cannot be started counts as a child that has ended.
fn start_child(start: ChildStart, results: &mut Results) -> Result<(), types::Error> {
    let ChildStart { key, label, session, entries, prompt, setting, tools, allowed } = start;
    let seed =
        |(custom_type, data): (&str, Value)| children::Seed { custom_type: custom_type.to_owned(), data: json(&data) };
    let (model, thinking) = match setting {
        Some(ModelSetting { model, thinking }) => (Some(model.into()), thinking.map(Into::into)),
        None => (None, None),
    };
    let entries = entries.into_iter().map(seed).collect();
    let report = STATE_ENTRY_TYPE.to_owned();
    let handed = Some(json(&allowed.into()));
    let child = children::Child { key, label, session, entries, prompt, model, thinking, tools, report, handed };
    match children::start(&child) {
        Err(types::Error::Failed(words)) => {
            let report = ChildReport { key: child.key, ..ChildReport::default() };
            results.events.push(Event::Child { report, ended: Some(ChildEnd::Failed(words)) });
            Ok(())
        }
        started => started,
    }
}

/// Stores a state, unless the session refused an earlier one of the same effects: an entry builds on the entry before.
/// The user is told at the first of several failures.
fn store_state(data: &str, results: &mut Results) -> Result<(), types::Error> {
    if results.refused.is_some() {
        results.refused = Some(false);
        return Ok(());
    }
    match api::append_entry(STATE_ENTRY_TYPE, data) {
        // A line that was not written in full makes the next line of the file unreadable too: the state is stored
        // again.
        Ok(()) if NOT_STORED_TOLD.take() => store_state(data, results),
        Err(types::Error::Failed(words)) => {
            results.refused = Some(true);
            if NOT_STORED_TOLD.replace(true) {
                return Ok(());
            }
            Err(types::Error::Failed(format!("{NOT_STORED}: {words}")))
        }
        stored => stored,
    }
}

fn steer(custom_type: &str, content: String, display: bool, begins_turn: bool) -> Result<(), types::Error> {
    let message = types::CustomMessage { custom_type: custom_type.into(), content, display };
    api::send_message(&message, begins_turn, Some(api::Delivery::Steer))
}

fn words(error: &store::StoreError) -> &str {
    match error {
        store::StoreError::NotGranted => "the package's manifest grants no store",
        store::StoreError::TooLarge => "it is too long",
        store::StoreError::Full => "there are too many",
        store::StoreError::Failed(words) => words,
    }
}

/// Logs the message of a panic, which would be lost with the instance.
pub(super) fn report_panic(panic: &std::panic::PanicHookInfo) {
    api::log_panic(&panic.to_string());
}

/// The granted folders.
pub(super) struct Files;

impl WorkflowFiles for Files {
    fn tools(&self) -> Result<Vec<String>, Stale> {
        Ok(tool_names()?.unwrap_or_default())
    }

    fn roots(&self) -> Result<Vec<Root>, Stale> {
        let roots = match files::roots().map_err(ReadError::from) {
            Ok(roots) => roots,
            Err(ReadError::Stale) => return Err(Stale),
            Err(ReadError::File(error)) => {
                tell(&format!("the workflows folders cannot be read: {error}"));
                Vec::new()
            }
        };
        Ok(roots.into_iter().map(Into::into).collect())
    }

    fn list(&self, root: &str, path: &str) -> Result<Vec<DirEntry>, ReadError> {
        let entry = |entry: files::DirEntry| DirEntry {
            name: entry.name,
            kind: match entry.kind {
                files::Kind::File => FileKind::File,
                files::Kind::Directory => FileKind::Directory,
                files::Kind::Other => FileKind::Other,
            },
            target: entry.target,
        };
        Ok(files::list_directory(root, path)?.into_iter().map(entry).collect())
    }

    fn read(&self, root: &str, path: &str) -> Result<Vec<u8>, ReadError> {
        Ok(files::read_file(root, path)?)
    }

    fn surroundings(&self) -> Result<Surroundings, Stale> {
        let tools = tool_names()?;
        let (more_tools, models) = (tools.is_none(), self.models()?);
        with_profiles(Surroundings { tools: tools.unwrap_or_default(), more_tools, models, ..Surroundings::default() })
    }

    fn resolve_write(&self, path: &str) -> Result<Result<WriteTarget, String>, Stale> {
        let target = known(context::resolve_write(path))?;
        Ok(target.map(|context::WriteTarget { path, linked }| WriteTarget { path, linked }))
    }
}

/// The answer of the host about its folders; `None` if it cannot read them.
fn unless_unreadable<T>(answer: Result<T, files::FileError>) -> Result<Option<T>, Stale> {
    match answer.map_err(ReadError::from) {
        Ok(answer) => Ok(Some(answer)),
        Err(ReadError::Stale) => Err(Stale),
        Err(ReadError::File(_)) => Ok(None),
    }
}

impl Host for Files {
    fn untrusted(&self) -> Result<Option<String>, Stale> {
        Ok(unless_unreadable(files::withheld_roots())?.and_then(|roots| Some(roots.into_iter().next()?.path)))
    }

    fn workflows_above(&self) -> Result<Option<String>, Stale> {
        Ok(unless_unreadable(files::root_above())?.flatten())
    }

    fn is_trusted(&self) -> Result<bool, Stale> {
        Ok(known(context::is_project_trusted())?.unwrap_or_default())
    }

    fn write_workflow(&self, root: &str, key: &str, text: &str) -> Result<Result<String, String>, Stale> {
        match files::create(root, key, "workflow.yaml", text).map_err(ReadError::from) {
            Ok(path) => Ok(Ok(path)),
            Err(ReadError::Stale) => Err(Stale),
            Err(ReadError::File(error)) => Ok(Err(error.to_string())),
        }
    }

    fn claim(&self, takes_over: bool) -> Result<Option<ClaimObstacle>, Stale> {
        let step = if takes_over { session::ClaimStep::TakeOver } else { session::ClaimStep::Take };
        Ok(match known(session::claim(step))? {
            Ok(obstacle) => obstacle.map(|obstacle| match obstacle {
                session::ClaimObstacle::Living(pid) => ClaimObstacle::Living(pid),
                session::ClaimObstacle::Unknown(pid) => ClaimObstacle::Unknown(pid),
                session::ClaimObstacle::Changed => ClaimObstacle::Changed,
            }),
            Err(why) => Some(ClaimObstacle::Failed(why)),
        })
    }

    fn start_snapshot(&self) {
        files::start_snapshot();
    }

    fn finish_snapshot(&self) {
        files::finish_snapshot();
    }

    fn unchanged(&self) -> bool {
        files::unchanged()
    }

    fn has_waiting_message(&self) -> Result<bool, Stale> {
        Ok(known(context::has_pending_messages())?.unwrap_or(false))
    }

    fn active_tools(&self) -> Result<Option<Vec<String>>, Stale> {
        Ok(known(api::active_tools())?.ok())
    }

    fn model_failure(&self) -> Result<Option<ModelFailure>, Stale> {
        let failure = known(context::last_failure())?.ok().flatten();
        Ok(failure.map(|context::ModelFailure { message, status, headers }| ModelFailure { message, status, headers }))
    }

    fn zone_offset(&self, zone: &str, unix_ms: u64) -> Result<Option<i16>, Stale> {
        Ok(known(context::zone_offset(zone, unix_ms))?.ok().flatten())
    }

    fn models(&self) -> Result<Option<Vec<KnownModel>>, Stale> {
        let known = known(context::models())?.ok();
        Ok(known.map(|known| known.into_iter().map(Into::into).collect()))
    }

    fn model_setting(&self) -> Result<Option<ModelSetting>, Stale> {
        let Ok(Some(model)) = known(context::current_model())? else { return Ok(None) };
        let thinking = known(api::get_thinking_level())?.ok().and_then(super::convert::thinking);
        Ok(Some(ModelSetting { model: model.into(), thinking }))
    }

    fn project_identity(&self) -> Option<String> {
        context::project_identity().ok().flatten()
    }

    fn recall(&self, key: &str) -> Option<String> {
        store::get(key).unwrap_or_else(|error| {
            tell(&format!("earlier answers could not be read: {}", words(&error)));
            None
        })
    }

    fn user_messages(&self, task_id: &str) -> Result<Vec<UserMessage>, Stale> {
        let since = session::EntryField {
            custom_type: STATE_ENTRY_TYPE.to_owned(),
            name: "taskId".to_owned(),
            value: task_id.to_owned(),
        };
        let messages = known(session::user_messages(&since, MAX_MESSAGES))?.unwrap_or_default();
        let own = |message: session::UserMessage| {
            let session::UserMessage { id, text, images } = message;
            UserMessage { id, text, images }
        };
        Ok(messages.into_iter().map(own).collect())
    }

    fn entries(&self, custom_type: &str) -> Result<Vec<String>, Stale> {
        Ok(known(session::entries(custom_type, 0, MAX_MESSAGES, None))?.unwrap_or_default())
    }

    fn entry(&self, custom_type: &str, number: u32) -> Result<Option<String>, Stale> {
        let entries = known(session::entries(custom_type, number, 1, None))?;
        Ok(entries.unwrap_or_default().pop())
    }

    fn usage_since_state(&self) -> Result<(Usage, Option<u64>), Stale> {
        let used = known(session::usage_since(STATE_ENTRY_TYPE))?;
        Ok(used.map(|used| (Usage::from(&used), used.newest_ms)).unwrap_or_default())
    }

    fn call_argument(&self, name: &str) -> Result<Option<String>, Stale> {
        let input = known(context::tool_input())?.ok();
        let input: Option<Value> = input.and_then(|input| serde_json::from_str(&input).ok());
        Ok(input.and_then(|input| Some(input.get(name)?.as_str()?.to_owned())))
    }

    fn running_tools(&self) -> Result<Vec<String>, Stale> {
        let call = |call: types::ToolCall| {
            let types::ToolCall { id, name, parent, carries_calls } = call;
            RunningCall { id, name, parent, carries_calls }
        };
        let at_hand = super::CALL.with_borrow(Clone::clone);
        Ok(other_tools(context::running_calls().into_iter().map(call).collect(), at_hand))
    }

    fn open_run_dir(&self, task_id: &str, copy_of: Option<&str>) -> Result<Result<RunDir, String>, Stale> {
        let opened = known(folders::open(task_id, copy_of))?;
        Ok(opened.map(|folders::Folder { name, path }| RunDir::opened(name, path)))
    }

    fn write_run_file(&self, task_id: &str, name: &str, text: &str) -> Result<Result<(), String>, Stale> {
        known(folders::write_file(task_id, name, text))
    }

    fn can_confine(&self, network: bool) -> Result<Result<(), String>, Stale> {
        known(context::can_confine(network))
    }

    fn terminal_size(&self) -> Result<Option<TerminalSize>, Stale> {
        let size = known(ui::terminal_size())?.ok().flatten();
        Ok(size.map(|ui::Size { columns, lines }| TerminalSize { columns: columns as usize, lines: lines as usize }))
    }

    fn utc_offset(&self, unix_ms: u64) -> Result<i16, Stale> {
        Ok(known(context::utc_offset(unix_ms))?.unwrap_or_default())
    }
}

/// The host's answer, or the reason for its absence; an error only if the session is gone.
fn known<T>(answer: Result<T, types::Error>) -> Result<Result<T, String>, Stale> {
    match answer {
        Ok(answer) => Ok(Ok(answer)),
        Err(types::Error::Failed(reason)) => Ok(Err(reason)),
        Err(types::Error::Stale) => Err(Stale),
    }
}

/// Adds the profiles that the granted folders define, if the surroundings have none.
pub(super) fn with_profiles(mut surroundings: Surroundings) -> Result<Surroundings, Stale> {
    if surroundings.profiles.is_none() {
        (surroundings.profiles, surroundings.profiles_outside) = defined_profiles(&Files, &PROFILES)?;
    }
    Ok(surroundings)
}

/// The names of pi's tools; `None` if pi does not tell.
fn tool_names() -> Result<Option<Vec<String>>, Stale> {
    known(api::tool_names()).map(Result::ok)
}

impl From<files::Root> for Root {
    fn from(files::Root { name, path, location, installed }: files::Root) -> Self {
        let package = installed.map(|package| Package {
            name: package.name,
            scope: match package.scope {
                files::PackageScope::User => PackageScope::User,
                files::PackageScope::Project => PackageScope::Project,
            },
            workflows: package.value,
        });
        Self { name, path, location, package }
    }
}

impl From<files::FileError> for ReadError {
    fn from(error: files::FileError) -> Self {
        Self::File(match error {
            files::FileError::Stale => return Self::Stale,
            files::FileError::NoSuchRoot => FileError::NoSuchRoot,
            files::FileError::NotFound => FileError::NotFound,
            files::FileError::OutsideRoot => FileError::OutsideRoot,
            files::FileError::OutsideProject(path) => FileError::OutsideProject(path),
            files::FileError::TooMany(most) => FileError::TooMany(most),
            files::FileError::WrongKind => FileError::WrongKind,
            files::FileError::TooLarge(size) => FileError::TooLarge(size),
            files::FileError::Failed(words) => FileError::Failed(words),
        })
    }
}

impl From<&session::Usage> for Usage {
    fn from(used: &session::Usage) -> Self {
        let session::Usage { ref models, tool_calls, work_ms, wait_ms, newest_ms: _, warm_ups, warm_tokens, warm_cost } =
            *used;
        let mut all = Self::default();
        let warm = Self { warm_ups, warm_tokens, warm_cost, ..Self::default() };
        all.add(&Self { tool_calls, work_ms, wait_ms, ..warm });
        for model in models {
            all.add(&Self {
                turns: if model.model.is_some() { model.answers } else { 0 },
                input: model.input,
                output: model.output,
                cache_read: model.cache_read,
                cache_write: model.cache_write,
                reasoning: model.reasoning,
                cost: model.cost,
                unpriced: model.unpriced,
                unreported: model.unreported,
                models: (model.model.iter().filter(|_| model.answers > 0))
                    .map(|name| (name.clone(), model.answers))
                    .collect(),
                ..Self::default()
            });
        }
        all
    }
}
