//! A stand-in for pi: records every call, and returns the results that the test sets.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime::{Config, Engine, OptLevel, Store};

use bindings::exports::pi::extension::guest;
use bindings::exports::pi_workflows::tools::workflows;
use bindings::pi::extension::{api, children, context, files, folders, programs, session, store, timers, types, ui};

pub use bindings::ComponentPre;
pub use bindings::exports::pi::extension::guest::{
    Answer, CommandEnd, CommandOutcome, CommandResult, Completion, Event, EventOutcome, InitError, InputSource,
    Pending, Request, SessionReason, StopReason, ThinkingLevelSelection, ToolOutcome,
};
pub use bindings::exports::pi_workflows::tools::workflows::{RunReport, StoredRun};
pub use bindings::pi::extension::session::{ModelUsage, Usage};
pub use bindings::pi::extension::types::{
    CustomMessage, Drawing, Mode, Moment, Span, ThinkingLevel, ToolCall, ToolResult,
};

mod bindings {
    wasmtime::component::bindgen!({ world: "pi-workflows:tools/component", path: ["wit", "wit/tools"] });
}

/// Timestamp and random bits of every call: 2025-05-14T14:56:07.890Z, and zero.
pub const AT: Moment = Moment { unix_ms: 1_747_234_567_890, random: 0 };

/// The version of `wit/extension.wit`.
pub const VERSION: &str = "0.8.0";

/// The maximum lifetime of an instance in seconds: an endless loop must fail and not block the tests.
const PATIENCE: u64 = 20;

/// The built component, compiled once for all tests.
pub struct Built {
    pub engine: Engine,
    pub component: Component,
    linked: ComponentPre<Host>,
}

/// Returns the built component. Without it, every test fails with this message.
pub fn built() -> &'static Built {
    assert!(Path::new(COMPONENT).exists(), "{COMPONENT} is missing: run `npm run build`");
    &BUILT
}

const COMPONENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/component/pi_workflows.wasm");

static BUILT: LazyLock<Built> = LazyLock::new(|| {
    let mut config = Config::new();
    // Most of the time is spent compiling the component, almost none running it.
    config.cranelift_opt_level(OptLevel::None).epoch_interruption(true);
    let engine = Engine::new(&config).expect("an engine");
    let clock = engine.clone();
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_secs(1));
            clock.increment_epoch();
        }
    });
    let component = compiled(&engine);
    let mut linker = Linker::new(&engine);
    bindings::Component::add_to_linker::<Host, HasSelf<Host>>(&mut linker, |host| host).expect("every import once");
    let linked = linker.instantiate_pre(&component).and_then(ComponentPre::new);
    Built { linked: linked.expect("the world of wit/tools/tools.wit"), engine, component }
});

/// Compiles the component, or loads what an earlier run of the tests has compiled of the same bytes.
#[allow(unsafe_code)]
fn compiled(engine: &Engine) -> Component {
    let source = fs::read(COMPONENT).expect("the component");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("component.compiled");
    let digest = Sha256::digest(&source);
    if let Ok(stored) = fs::read(&file)
        && let Some(code) = stored.strip_prefix(digest.as_slice())
        // SAFETY: these tests have written it. Code of another wasmtime or with other settings is refused.
        && let Ok(component) = unsafe { Component::deserialize(engine, code) }
    {
        return component;
    }
    let component = Component::new(engine, &source).expect("a valid component");
    let code = component.serialize().expect("its code");
    // Complete at once: several processes may test at the same time.
    let fresh = file.with_extension(std::process::id().to_string());
    fs::write(&fresh, [digest.as_slice(), &code].concat()).expect("a writable folder");
    fs::rename(fresh, file).expect("a writable folder");
    component
}

/// Files and failures: they determine the results of queries for files.
type FileAnswers = (BTreeMap<String, Vec<u8>>, BTreeMap<&'static str, &'static str>);

/// The component's view of pi.
pub struct Host {
    /// The calls with effects, in order, one line each.
    pub calls: Vec<String>,
    /// The last argument of `guard-tools`.
    pub guarded: Option<bool>,
    /// What pi shows that it waits for.
    pub blocked: Option<String>,
    /// The queries, in order, one line each.
    pub questions: Vec<String>,
    /// The granted files: `ROOT/PATH` and content.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The links to folders: `ROOT/PATH` and target, in the same form.
    pub links: BTreeMap<String, String>,
    /// Roots that lie outside the project through a link.
    pub outside: Vec<&'static str>,
    /// The files and the failures at the start of the snapshot.
    pub snapshot: Option<FileAnswers>,
    /// The flags that are set.
    pub flags: Vec<&'static str>,
    /// The flags with a text.
    pub text_flags: BTreeMap<&'static str, String>,
    /// The values in the store.
    pub stored: BTreeMap<String, String>,
    /// The session's custom entries, oldest first: type and data.
    pub entries: Vec<(String, String)>,
    /// The custom messages that are in the model's view, oldest first.
    pub messages: Vec<CustomMessage>,
    /// The user messages, newest first.
    pub user_messages: Vec<session::UserMessage>,
    /// True if a user can see dialogs.
    pub has_ui: bool,
    /// The mode in which pi runs.
    pub mode: Mode,
    /// The identifier of the project's directory.
    pub identity: Option<String>,
    /// The arguments of the tool call of the current event.
    pub tool_input: String,
    /// The paths through which a link leads, and the files that would be written.
    pub write_links: BTreeMap<&'static str, &'static str>,
    /// True if the agent is idle.
    pub is_idle: bool,
    /// The names of all registered tools.
    pub tools: Vec<String>,
    /// The names of the active tools.
    pub active_tools: Vec<String>,
    /// The model in use, and the thinking level.
    pub model: Option<types::Model>,
    pub thinking: ThinkingLevel,
    /// All models.
    pub models: Vec<context::KnownModel>,
    /// The functions that fail, with their messages.
    pub failing: BTreeMap<&'static str, &'static str>,
    /// The number of remaining calls that can fail before the session ends.
    pub calls_until_stale: Option<usize>,
    /// True after a function returned `stale`.
    pub stale: bool,
    /// The calls after a function returned `stale`.
    pub calls_after_stale: Vec<String>,
}

impl Default for Host {
    fn default() -> Self {
        Self {
            calls: Vec::new(),
            guarded: None,
            blocked: None,
            questions: Vec::new(),
            files: BTreeMap::new(),
            links: BTreeMap::new(),
            outside: Vec::new(),
            snapshot: None,
            flags: Vec::new(),
            text_flags: BTreeMap::new(),
            stored: BTreeMap::new(),
            entries: Vec::new(),
            messages: Vec::new(),
            user_messages: Vec::new(),
            has_ui: true,
            mode: Mode::Tui,
            identity: Some("1:2:3".into()),
            tool_input: "null".into(),
            write_links: BTreeMap::new(),
            is_idle: true,
            tools: ["read", "bash", "edit", "write", "workflow_step"].map(Into::into).into(),
            active_tools: ["read", "bash", "edit", "write", "workflow_step"].map(Into::into).into(),
            model: Some(model("scripted/scripted")),
            thinking: ThinkingLevel::Off,
            models: Vec::new(),
            failing: BTreeMap::new(),
            calls_until_stale: None,
            stale: false,
            calls_after_stale: Vec::new(),
        }
    }
}

/// The model of a name `PROVIDER/ID`.
pub fn model(name: &str) -> types::Model {
    let (provider, id) = name.split_once('/').expect("a model");
    types::Model { provider: provider.into(), id: id.into() }
}

/// A model that pi knows.
pub fn known(name: &str, available: bool) -> context::KnownModel {
    context::KnownModel { model: model(name), available, priced: true, context_window: 0 }
}

pub fn level_selection(level: ThinkingLevel, by_guest: bool) -> ThinkingLevelSelection {
    ThinkingLevelSelection { level, by_guest }
}

impl Host {
    /// Creates a pi that grants these files: `ROOT/PATH` and text.
    pub fn with_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let files = files.into_iter().map(|(path, text)| (path.into(), text.as_bytes().to_vec()));
        Self { files: files.collect(), ..Self::default() }
    }

    /// Adds state entries to the session, oldest first.
    pub fn with_states(mut self, states: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let states = states.into_iter().map(|data| ("workflow:state".to_owned(), data.into()));
        self.entries.extend(states);
        self
    }

    /// Loads the component; fails if it refuses this version of the interface.
    pub fn try_start(self, interface_version: &str) -> Result<Pi, InitError> {
        let built = built();
        let mut store = Store::new(&built.engine, self);
        store.set_epoch_deadline(PATIENCE);
        let instance = built.linked.instantiate(&mut store).expect("an instance");
        let host = guest::Host { interface_version: interface_version.into() };
        let guest = instance.pi_extension_guest().clone();
        guest.call_init(&mut store, &host).expect("no trap")?;
        let tools = instance.pi_workflows_tools_workflows().clone();
        Ok(Pi { store, guest, tools })
    }

    /// Loads the component, and drops the record of its registrations.
    pub fn start(self) -> Pi {
        let mut pi = self.try_start(VERSION).expect("the version of wit/extension.wit");
        pi.host().calls.clear();
        pi
    }

    /// Loads the component and starts a session, which must not cause a warning or an error.
    #[track_caller]
    pub fn start_session(self) -> Pi {
        let mut pi = self.start();
        assert_eq!(pi.event(Event::SessionStart(SessionReason::Startup)), "none");
        let is_problem = |call: &&String| call.starts_with("notify") && !call.starts_with("notify info");
        let notices: Vec<&String> = pi.host().calls.iter().filter(is_problem).collect();
        assert_eq!(notices, [] as [&str; 0]);
        pi.host().calls.clear();
        pi
    }

    /// Resolves the links in a path `ROOT/PATH`.
    fn without_links(&self, root: &str, path: &str) -> String {
        path.split('/').filter(|part| !part.is_empty()).fold(root.to_owned(), |above, part| {
            let at = join(&above, part);
            self.links.get(&at).cloned().unwrap_or(at)
        })
    }

    fn what_files_answer(&self) -> FileAnswers {
        (self.files.clone(), self.failing.clone())
    }

    fn did(&mut self, call: String) {
        if self.stale {
            self.calls_after_stale.push(call);
        } else {
            self.calls.push(call);
        }
    }

    fn asked(&mut self, question: String) {
        if self.stale {
            self.calls_after_stale.push(question);
        } else {
            self.questions.push(question);
        }
    }

    /// Returns the result of a function that can fail.
    fn answer<T>(&mut self, function: &str, answer: T) -> Result<T, types::Error> {
        if self.calls_until_stale == Some(0) {
            self.stale = true;
        }
        self.calls_until_stale = self.calls_until_stale.map(|calls| calls.saturating_sub(1));
        if self.stale {
            return Err(types::Error::Stale);
        }
        match self.failing.get(function) {
            Some(words) => Err(types::Error::Failed((*words).into())),
            None => Ok(answer),
        }
    }

    /// Returns the result of a function of the store, which is independent of the session.
    fn store_answer<T>(&self, function: &str, answer: T) -> Result<T, store::StoreError> {
        match self.failing.get(function) {
            Some(words) => Err(store::StoreError::Failed((*words).into())),
            None => Ok(answer),
        }
    }

    fn file_answer<T>(&mut self, function: &str, answer: T) -> Result<T, files::FileError> {
        self.answer(function, answer).map_err(|error| match error {
            types::Error::Stale => files::FileError::Stale,
            types::Error::Failed(words) => files::FileError::Failed(words),
        })
    }
}

impl types::Host for Host {}

impl api::Host for Host {
    fn on(&mut self, kind: api::EventKind) {
        self.did(format!("on {}", kebab(kind)));
    }

    fn register_tool(&mut self, tool: api::Tool) {
        let api::Tool { name, label, description, parameters, .. } = tool;
        let how = if tool.sequential { "one after another" } else { "side by side" };
        let snippet = tool.prompt_snippet.unwrap_or_default();
        let guidelines = tool.prompt_guidelines.join("\n");
        self.did(format!(
            "register-tool {name} ({label}), {how}: {description}\n{parameters}\n{snippet}\n{guidelines}"
        ));
    }

    fn offer_tool(&mut self, tool: api::Tool) -> Result<(), types::Error> {
        self.did(format!("offer-tool {}: {}", tool.name, tool.description));
        Ok(())
    }

    fn register_command(&mut self, command: api::Command) {
        self.did(format!("register-command {}: {}", command.name, command.description));
    }

    fn register_message_renderer(&mut self, custom_type: String) {
        self.did(format!("register-message-renderer {custom_type}"));
    }

    fn register_entry_renderer(&mut self, custom_type: String) {
        self.did(format!("register-entry-renderer {custom_type}"));
    }

    fn register_flag(&mut self, flag: api::Flag) {
        self.did(format!("register-flag {}: {}", flag.name, flag.description));
    }

    fn get_flag(&mut self, name: String) -> Result<bool, types::Error> {
        self.asked(format!("get-flag {name}"));
        let given = self.flags.contains(&name.as_str());
        self.answer("get-flag", given)
    }

    fn register_text_flag(&mut self, flag: api::Flag) {
        self.did(format!("register-text-flag {}: {}", flag.name, flag.description));
    }

    fn get_text_flag(&mut self, name: String) -> Result<Option<String>, types::Error> {
        self.asked(format!("get-text-flag {name}"));
        let text = self.text_flags.get(&*name).cloned();
        self.answer("get-text-flag", text)
    }

    fn guard_tools(&mut self, guard: bool) {
        self.guarded = Some(guard);
    }

    fn cancel_request(&mut self, ticket: u64) {
        self.did(format!("cancel-request {ticket}"));
    }

    fn append_entry(&mut self, custom_type: String, data: String) -> Result<(), types::Error> {
        self.did(format!("append-entry {custom_type} {}", unnumbered(&data)));
        let answer = self.answer("append-entry", ());
        if answer.is_ok() {
            self.entries.push((custom_type, data));
        }
        answer
    }

    fn send_message(
        &mut self,
        message: CustomMessage,
        trigger_turn: bool,
        deliver_as: Option<api::Delivery>,
    ) -> Result<(), types::Error> {
        let delivery = deliver_as.map_or("now".into(), kebab);
        let turn = if trigger_turn { "and start a turn" } else { "and start nothing" };
        self.did(format!("send-message {delivery} {turn}: {}", described(&message)));
        self.answer("send-message", ())
    }

    fn send_user_message(&mut self, text: String, deliver_as: Option<api::Delivery>) -> Result<(), types::Error> {
        let delivery = deliver_as.map_or("now".into(), kebab);
        self.did(format!("send-user-message {delivery}: {text}"));
        self.answer("send-user-message", ())
    }

    fn abort(&mut self) -> Result<(), types::Error> {
        self.did("abort".into());
        self.answer("abort", ())
    }

    fn run_command(&mut self, name: String, arguments: String) -> Result<(), types::Error> {
        self.did(format!("run-command {name} {arguments}"));
        self.answer("run-command", ())
    }

    fn set_session_name(&mut self, name: String) -> Result<(), types::Error> {
        self.did(format!("set-session-name {name}"));
        self.answer("set-session-name", ())
    }

    fn log_panic(&mut self, message: String) {
        self.did(format!("log-panic {message}"));
    }

    fn active_tools(&mut self) -> Result<Vec<String>, types::Error> {
        self.asked("active-tools".into());
        self.answer("active-tools", self.active_tools.clone())
    }

    fn set_active_tools(&mut self, names: Vec<String>) -> Result<(), types::Error> {
        self.did(format!("set-active-tools {}", names.join(" ")));
        self.answer("set-active-tools", ())
    }

    fn begin_view(&mut self, first_kept: String, summary: String, images_of: Vec<String>) -> Result<(), types::Error> {
        self.did(format!("begin-view {first_kept} {}: {summary}", images_of.join(" ")));
        self.answer("begin-view", ())
    }

    fn set_model(&mut self, model: types::Model) -> Result<(), types::Error> {
        self.did(format!("set-model {}/{}", model.provider, model.id));
        self.model = Some(model);
        self.answer("set-model", ())
    }

    fn get_thinking_level(&mut self) -> Result<ThinkingLevel, types::Error> {
        self.asked("get-thinking-level".into());
        self.answer("get-thinking-level", self.thinking)
    }

    fn set_thinking_level(&mut self, level: ThinkingLevel) -> Result<(), types::Error> {
        self.did(format!("set-thinking-level {level:?}"));
        self.thinking = level;
        self.answer("set-thinking-level", ())
    }

    fn tool_names(&mut self) -> Result<Vec<String>, types::Error> {
        self.asked("tool-names".into());
        self.answer("tool-names", self.tools.clone())
    }
}

impl context::Host for Host {
    fn handed(&mut self) -> Option<String> {
        None
    }

    fn current_model(&mut self) -> Result<Option<types::Model>, types::Error> {
        self.asked("current-model".into());
        self.answer("current-model", self.model.clone())
    }

    fn models(&mut self) -> Result<Vec<context::KnownModel>, types::Error> {
        self.asked("models".into());
        self.answer("models", self.models.clone())
    }

    fn run_mode(&mut self) -> Result<Mode, types::Error> {
        self.asked("run-mode".into());
        self.answer("run-mode", self.mode)
    }

    fn has_ui(&mut self) -> Result<bool, types::Error> {
        self.asked("has-ui".into());
        self.answer("has-ui", self.has_ui)
    }

    fn cwd(&mut self) -> Result<String, types::Error> {
        self.asked("cwd".into());
        self.answer("cwd", "/project".into())
    }

    fn is_project_trusted(&mut self) -> Result<bool, types::Error> {
        self.asked("is-project-trusted".into());
        self.answer("is-project-trusted", true)
    }

    fn project_identity(&mut self) -> Result<Option<String>, types::Error> {
        self.asked("project-identity".into());
        self.answer("project-identity", self.identity.clone())
    }

    fn has_pending_messages(&mut self) -> Result<bool, types::Error> {
        self.answer("has-pending-messages", false)
    }

    fn is_idle(&mut self) -> Result<bool, types::Error> {
        self.asked("is-idle".into());
        self.answer("is-idle", self.is_idle)
    }

    fn set_exit_code(&mut self, code: u8) -> Result<(), types::Error> {
        self.did(format!("set-exit-code {code}"));
        self.answer("set-exit-code", ())
    }

    fn tool_input(&mut self) -> Result<String, types::Error> {
        self.asked("tool-input".into());
        self.answer("tool-input", self.tool_input.clone())
    }

    fn running_calls(&mut self) -> Vec<types::ToolCall> {
        Vec::new()
    }

    fn resolve_write(&mut self, path: String) -> Result<context::WriteTarget, types::Error> {
        self.asked(format!("resolve-write {path}"));
        let target = match self.write_links.get(&*path) {
            Some(target) => context::WriteTarget { path: (*target).into(), linked: true },
            None => {
                let path = format!("/project/{}", path.trim_end_matches('/'));
                context::WriteTarget { path, linked: false }
            }
        };
        self.answer("resolve-write", target)
    }

    fn can_confine(&mut self, _: bool) -> Result<(), types::Error> {
        self.asked("can-confine".into());
        self.answer("can-confine", ())
    }

    fn zone_offset(&mut self, zone: String, _: u64) -> Result<Option<i16>, types::Error> {
        self.answer("zone-offset", (zone == "Europe/Berlin").then_some(60))
    }

    fn last_failure(&mut self) -> Result<Option<context::ModelFailure>, types::Error> {
        self.asked("last-failure".into());
        self.answer("last-failure", None)
    }

    /// Newfoundland, in summer and in winter.
    fn utc_offset(&mut self, unix_ms: u64) -> Result<i16, types::Error> {
        self.answer("utc-offset", if unix_ms < 1_762_055_940_000 { -150 } else { -210 })
    }
}

impl session::Host for Host {
    fn entries(
        &mut self,
        custom_type: String,
        skip: u32,
        limit: u32,
        until: Option<String>,
    ) -> Result<Vec<String>, types::Error> {
        let is_last = |(found, _): &(String, String)| Some(found) == until.as_ref();
        let first = self.entries.iter().rposition(is_last).unwrap_or(0);
        let newest_first = self.entries.iter().skip(first).rev().filter(|(found, _)| *found == custom_type);
        let page = newest_first.skip(skip as usize).take(limit as usize);
        let page = page.map(|(_, data)| data.clone()).collect();
        let until = until.map_or(String::new(), |until| format!(" until {until}"));
        self.asked(format!("entries {custom_type} {skip} {limit}{until}"));
        self.answer("entries", page)
    }

    fn newest_message(&mut self, custom_type: String) -> Result<Option<CustomMessage>, types::Error> {
        self.asked(format!("newest-message {custom_type}"));
        let newest = self.messages.iter().rev().find(|message| message.custom_type == custom_type);
        self.answer("newest-message", newest.cloned())
    }

    fn claim(&mut self, _: session::ClaimStep) -> Result<Option<session::ClaimObstacle>, types::Error> {
        self.answer("claim", None)
    }

    fn leaf_id(&mut self) -> Result<Option<String>, types::Error> {
        let newest = self.entries.len().checked_sub(1);
        self.answer("leaf-id", newest.map(|index| format!("entry-{index}")))
    }

    fn user_messages(
        &mut self,
        since: session::EntryField,
        limit: u32,
    ) -> Result<Vec<session::UserMessage>, types::Error> {
        let session::EntryField { custom_type, name, value } = since;
        self.asked(format!("user-messages {custom_type} {name}={value} {limit}"));
        self.answer("user-messages", self.user_messages.clone())
    }

    fn usage_since(&mut self, custom_type: String) -> Result<session::Usage, types::Error> {
        self.asked(format!("usage-since {custom_type}"));
        self.answer(
            "usage-since",
            session::Usage {
                models: vec![],
                tool_calls: 0,
                work_ms: 0,
                wait_ms: 0,
                newest_ms: None,
                warm_ups: 0,
                warm_tokens: 0,
                warm_cost: 0.0,
            },
        )
    }

    fn write_file(&mut self) -> Result<(), types::Error> {
        self.did("write-file".into());
        self.answer("write-file", ())
    }
}

impl ui::Host for Host {
    fn notify(&mut self, message: String, level: ui::Level) -> Result<(), types::Error> {
        self.did(format!("notify {}: {message}", kebab(level)));
        self.answer("notify", ())
    }

    fn set_status(&mut self, key: String, text: Option<String>) -> Result<(), types::Error> {
        self.did(match text {
            Some(text) => format!("set-status {key}: {text}"),
            None => format!("clear-status {key}"),
        });
        self.answer("set-status", ())
    }

    fn set_widget(
        &mut self,
        key: String,
        lines: Option<Vec<String>>,
        placement: ui::Placement,
    ) -> Result<(), types::Error> {
        let place = kebab(placement);
        self.did(match lines {
            Some(lines) => format!("set-widget {key} {place}: {}", lines.join("\n")),
            None => format!("clear-widget {key}"),
        });
        self.answer("set-widget", ())
    }

    fn terminal_size(&mut self) -> Result<Option<ui::Size>, types::Error> {
        self.answer("terminal-size", Some(ui::Size { columns: 80, lines: 24 }))
    }

    fn watch_terminal(&mut self, watch: bool) -> Result<(), types::Error> {
        self.did(format!("watch-terminal {watch}"));
        self.answer("watch-terminal", ())
    }

    fn set_blocked(&mut self, message: Option<String>) -> Result<(), types::Error> {
        self.blocked = message;
        self.answer("set-blocked", ())
    }
}

impl files::Host for Host {
    fn roots(&mut self) -> Result<Vec<files::Root>, files::FileError> {
        let there = ["global", "project"].into_iter().filter(|root| {
            let prefix = format!("{root}/");
            self.files.keys().any(|path| path.starts_with(&prefix))
        });
        let roots = there.map(|root| files::Root {
            name: root.into(),
            path: format!("~/{root}"),
            location: format!("/home/{root}"),
            installed: None,
        });
        // Files `package:NAME/PATH` are those of an installed package.
        let packages: BTreeSet<&str> =
            self.files.keys().filter_map(|path| path.strip_prefix("package:")?.split('/').next()).collect();
        let packages = packages.into_iter().map(|name| files::Root {
            name: format!("package:{name}"),
            path: format!("~/{name}"),
            location: format!("/home/{name}"),
            installed: Some(files::InstalledPackage {
                name: name.into(),
                scope: files::PackageScope::User,
                value: r#"["./workflows"]"#.into(),
            }),
        });
        let roots = roots.chain(packages).collect();
        self.asked("roots".into());
        self.file_answer("roots", roots)
    }

    fn withheld_roots(&mut self) -> Result<Vec<files::Root>, files::FileError> {
        self.file_answer("withheld-roots", Vec::new())
    }

    fn root_above(&mut self) -> Result<Option<String>, files::FileError> {
        self.file_answer("root-above", None)
    }

    fn list_directory(&mut self, root: String, path: String) -> Result<Vec<files::DirEntry>, files::FileError> {
        self.asked(format!("list-directory {}", join(&root, &path)));
        if self.outside.contains(&&*root) {
            return Err(files::FileError::OutsideProject(format!("~/{root}")));
        }
        let folder = self.without_links(&root, &path);
        let mut entries: BTreeMap<Vec<u16>, files::DirEntry> = BTreeMap::new();
        for path in self.files.keys() {
            let Some(below) = path.strip_prefix(&format!("{folder}/")) else { continue };
            let (name, kind) = match below.split_once('/') {
                Some((name, _)) => (name, files::Kind::Directory),
                None => (below, files::Kind::File),
            };
            let entry = files::DirEntry { name: name.into(), kind, target: None };
            entries.insert(name.encode_utf16().collect(), entry);
        }
        for (link, target) in &self.links {
            let Some(name) = link.strip_prefix(&format!("{folder}/")) else { continue };
            if !name.contains('/') {
                let target = target.strip_prefix(&*root).unwrap_or_default();
                let target = Some(target.trim_start_matches('/').to_owned());
                let kind = files::Kind::Directory;
                let entry = files::DirEntry { name: name.into(), kind, target };
                entries.insert(name.encode_utf16().collect(), entry);
            }
        }
        self.file_answer("list-directory", entries.into_values().collect())
    }

    fn read_file(&mut self, root: String, path: String) -> Result<Vec<u8>, files::FileError> {
        let file = join(&root, &path);
        let content = self.files.get(&self.without_links(&root, &path)).cloned();
        self.asked(format!("read-file {file}"));
        let answer = self.file_answer("read-file", content);
        answer?.ok_or(files::FileError::NotFound)
    }

    fn create(
        &mut self,
        root: String,
        directory: String,
        file: String,
        text: String,
    ) -> Result<String, files::FileError> {
        let path = join(&root, &join(&directory, &file));
        self.did(format!("create {path}: {} bytes", text.len()));
        let answer = self.file_answer("create", format!("~/{path}"));
        if answer.is_ok() {
            self.files.insert(path, text.into_bytes());
        }
        answer
    }

    fn start_snapshot(&mut self) {
        self.snapshot = Some(self.what_files_answer());
    }

    fn finish_snapshot(&mut self) {}

    fn unchanged(&mut self) -> bool {
        !self.stale && self.snapshot.as_ref() == Some(&self.what_files_answer())
    }
}

impl store::Host for Host {
    fn get(&mut self, key: String) -> Result<Option<String>, store::StoreError> {
        self.asked(format!("get {key}"));
        let value = self.stored.get(&key).cloned();
        self.store_answer("get", value)
    }

    fn set(&mut self, key: String, value: String) -> Result<(), store::StoreError> {
        self.did(format!("set {key}: {value}"));
        self.store_answer("set", ())?;
        self.stored.insert(key, value);
        Ok(())
    }

    fn remove(&mut self, key: String) -> Result<(), store::StoreError> {
        self.did(format!("remove {key}"));
        self.store_answer("remove", ())?;
        self.stored.remove(&key);
        Ok(())
    }
}

impl folders::Host for Host {
    fn open(&mut self, key: String, copy_of: Option<String>) -> Result<folders::Folder, types::Error> {
        self.did(format!("open-folder {key} {}", copy_of.unwrap_or_default()));
        self.answer("open-folder", ())?;
        let name = "00112233445566778899".to_owned();
        Ok(folders::Folder { path: format!(".pi/workflow-runs/{name}"), name })
    }

    fn write_file(&mut self, key: String, name: String, text: String) -> Result<(), types::Error> {
        self.did(format!("write-file {key} {name}: {} bytes", text.len()));
        self.answer("write-file", ())
    }
}

impl children::Host for Host {
    fn start(&mut self, child: children::Child) -> Result<(), types::Error> {
        self.did(format!("start-child {} {}: {}", child.key, child.label, child.prompt));
        self.answer("start-child", ())
    }

    fn abort(&mut self, key: String) {
        self.did(format!("abort-child {key}"));
    }

    fn show(&mut self, text: String) {
        self.did(format!("show-children {text}"));
    }
}

impl programs::Host for Host {
    fn run(&mut self, kind: String, program: Vec<String>, line: String) {
        self.did(format!("run-program {kind} {program:?} {line}"));
    }
}

impl timers::Host for Host {
    fn start(&mut self, id: u64, delay_ms: u32) {
        self.did(format!("start-timer {id} {delay_ms}"));
    }

    fn start_at_silence(&mut self, id: u64, delay_ms: u32) {
        self.did(format!("start-timer-at-silence {id} {delay_ms}"));
    }

    fn stop(&mut self, id: u64) {
        self.did(format!("stop-timer {id}"));
    }

    fn watch_clock(&mut self, watch: bool) {
        self.did(format!("watch-clock {watch}"));
    }
}

/// The component in its host. A call that traps fails the test.
pub struct Pi {
    store: Store<Host>,
    guest: guest::Guest,
    tools: workflows::Guest,
}

impl Pi {
    pub fn host(&mut self) -> &mut Host {
        self.store.data_mut()
    }

    /// Delivers an event; returns the outcome as `none`, `block: REASON`, `confine PATHS, NETWORK: NOTICE`,
    /// `inject MESSAGE`, `continue MESSAGE`, or `boundary` with a line for each entry.
    #[track_caller]
    pub fn event(&mut self, event: Event) -> String {
        let outcome = self.guest.call_handle_event(&mut self.store, AT, &event);
        match outcome.expect("no trap") {
            EventOutcome::None => "none".into(),
            EventOutcome::Block(reason) => format!("block: {reason}"),
            EventOutcome::Stop(reason) => format!("stop: {reason}"),
            EventOutcome::Confine(limits) => {
                let network = if limits.network { "network" } else { "no network" };
                let hidden = match &limits.hidden[..] {
                    [] => String::new(),
                    hidden => format!(", without {}", hidden.join(" ")),
                };
                let writable = limits.writable.join(" ");
                format!("confine {writable}, {network}{hidden}: {}", limits.notice)
            }
            EventOutcome::Drop => "drop".to_owned(),
            EventOutcome::Inject(message) => format!("inject {}", described(&message)),
            EventOutcome::Continue(message) => format!("continue {}", described(&message)),
            EventOutcome::Pending(pending) => format!("pending {:?}", pending.request),
            EventOutcome::Boundary(boundary) => {
                let entries = boundary.entries.iter().map(|draft| match draft {
                    guest::Draft::Custom(entry) => {
                        format!("entry {} {}", entry.custom_type, entry.data)
                    }
                    guest::Draft::CustomMessage(draft) => {
                        format!("{} {}", described(&draft.message), draft.images_of.join(" "))
                    }
                    guest::Draft::Compaction(compaction) => {
                        let kept = compaction.first_kept.as_deref().unwrap_or("nothing");
                        format!("compaction that keeps {kept}: {}", compaction.summary)
                    }
                });
                let entries: Vec<String> = entries.collect();
                let end = if boundary.continue_ { "\ncontinue" } else { "" };
                format!("boundary\n{}{end}", entries.join("\n"))
            }
        }
    }

    /// Delivers the event of a tool call by the model.
    #[track_caller]
    pub fn tool_call(&mut self, name: &str) -> String {
        let (id, name) = ("call-1".into(), name.into());
        self.event(Event::ToolCall(ToolCall { id, name, parent: None, carries_calls: false }))
    }

    /// Calls `workflow_step` as the model, with any arguments.
    #[track_caller]
    pub fn step_with(&mut self, input: &str) -> Stepped {
        let (id, name) = ("call-1".into(), "workflow_step".into());
        let call = ToolCall { id, name, parent: None, carries_calls: false };
        let outcome = self.guest.call_execute_tool(&mut self.store, AT, &call, &input.into());
        outcome.expect("no trap").into()
    }

    /// Calls `workflow_step` as the model, with an action; returns text and details of its immediate result.
    #[track_caller]
    pub fn step(&mut self, action: &str) -> (String, String) {
        let said = self.step_with(&format!(r#"{{"action":"{action}"}}"#));
        match self.agreeing(said) {
            Stepped::Says { text, details } => (text, details),
            Stepped::Asks { title, .. } => panic!("{action} asks: {title}"),
            Stepped::Requests { request, .. } => panic!("{action} requests: {request}"),
        }
    }

    #[track_caller]
    pub fn answer_tool(&mut self, ticket: u64, answer: Answer) -> Stepped {
        let outcome = self.guest.call_resume_tool(&mut self.store, AT, ticket, &answer);
        outcome.expect("no trap").into()
    }

    /// Answers every request: command lines succeed, and the user confirms.
    #[track_caller]
    pub fn agreeing(&mut self, mut said: Stepped) -> Stepped {
        while let Stepped::Requests { ticket, request } = &said {
            let answer = if request.starts_with("exec ") { ended(0) } else { Answer::Selected(1) };
            said = self.answer_tool(*ticket, answer);
        }
        said
    }

    /// Returns the report of a run.
    #[track_caller]
    pub fn report(&mut self, run: &StoredRun) -> Result<RunReport, String> {
        let course = self.tools.course().call_constructor(&mut self.store).expect("no trap");
        self.tools.course().call_report(&mut self.store, course, run).expect("no trap")
    }

    #[track_caller]
    pub fn command(&mut self, name: &str, arguments: &str) -> Outcome {
        let outcome = self.guest.call_run_command(&mut self.store, AT, name, arguments);
        outcome.expect("no trap").into()
    }

    #[track_caller]
    pub fn answer(&mut self, ticket: u64, answer: Answer) -> Outcome {
        let outcome = self.guest.call_resume_command(&mut self.store, AT, ticket, &answer);
        outcome.expect("no trap").into()
    }

    /// Returns the completions: value, label, description.
    #[track_caller]
    pub fn complete(&mut self, command: &str, prefix: &str) -> Vec<Completion> {
        self.guest.call_complete_argument(&mut self.store, command, prefix).expect("no trap")
    }

    #[track_caller]
    pub fn timer(&mut self, id: u64) {
        self.guest.call_timer(&mut self.store, AT, id).expect("no trap");
    }

    #[track_caller]
    pub fn draw_tool_call(&mut self, input: &str) -> String {
        let drawing = self.guest.call_draw_tool_call(&mut self.store, "workflow_step", &input.into(), false);
        drawn(drawing.expect("no trap"))
    }

    #[track_caller]
    pub fn draw_tool_result(&mut self, text: &str, details: &str, expanded: bool) -> String {
        let output = ToolResult { text: text.into(), details: details.into() };
        let name = "workflow_step";
        let drawing = self.guest.call_draw_tool_result(&mut self.store, name, &output, expanded);
        drawn(drawing.expect("no trap"))
    }

    #[track_caller]
    pub fn draw_message(&mut self, custom_type: &str, content: &str, expanded: bool) -> String {
        let (custom_type, content) = (custom_type.into(), content.into());
        let message = CustomMessage { custom_type, content, display: true };
        let drawing = self.guest.call_draw_message(&mut self.store, &message, expanded);
        drawn(drawing.expect("no trap"))
    }

    #[track_caller]
    pub fn draw_entry(&mut self, custom_type: &str, data: &str, expanded: bool) -> String {
        let drawing = self.guest.call_draw_entry(&mut self.store, custom_type, &data.into(), expanded, 78);
        drawn(drawing.expect("no trap"))
    }

    /// Asserts that exactly these calls were made since the last assertion, in this order.
    #[track_caller]
    pub fn did(&mut self, expected: &[&str]) {
        let calls = std::mem::take(&mut self.host().calls);
        assert_eq!(calls, expected, "\n--- called:\n{}\n", calls.join("\n"));
    }

    /// Returns the queries since the last call.
    pub fn asked(&mut self) -> Vec<String> {
        std::mem::take(&mut self.host().questions)
    }
}

/// Describes the outcome of a command.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    Done,
    Settle,
    Asks { ticket: u64, title: String, message: String },
    Requests { ticket: u64, request: String },
}

impl From<CommandOutcome> for Outcome {
    fn from(outcome: CommandOutcome) -> Self {
        match outcome {
            CommandOutcome::Done => Self::Done,
            CommandOutcome::Settle => Self::Settle,
            CommandOutcome::Pending(Pending { ticket, request: Request::Confirm(asked) }) => {
                Self::Asks { ticket, title: asked.title, message: asked.message }
            }
            CommandOutcome::Pending(Pending { ticket, request }) => {
                Self::Requests { ticket, request: requested(&request) }
            }
        }
    }
}

/// Describes the outcome of a call of the tool.
#[derive(Debug, PartialEq)]
pub enum Stepped {
    Says { text: String, details: String },
    Asks { ticket: u64, title: String, message: String },
    Requests { ticket: u64, request: String },
}

impl From<ToolOutcome> for Stepped {
    fn from(outcome: ToolOutcome) -> Self {
        match outcome {
            ToolOutcome::Done(ToolResult { text, details }) | ToolOutcome::Last(ToolResult { text, details }) => {
                Self::Says { text, details }
            }
            ToolOutcome::Pending(Pending { ticket, request: Request::Confirm(asked) }) => {
                Self::Asks { ticket, title: asked.title, message: asked.message }
            }
            ToolOutcome::Pending(Pending { ticket, request }) => {
                Self::Requests { ticket, request: requested(&request) }
            }
        }
    }
}

/// Returns the result of a command line that exited with a status after a second.
pub fn ended(status: u32) -> Answer {
    let output = "its output\n".to_owned();
    let end = CommandEnd::Exited(status);
    Answer::Ran(CommandResult {
        end,
        duration_ms: 1000,
        output,
        cut_bytes: 0,
        standard_output: None,
        output_file: None,
    })
}

/// Describes a request as `select TITLE: OPTION | OPTION`, `input TITLE: PLACEHOLDER` or
/// `exec PROGRESS, MILLISECONDS: LINE`.
fn requested(request: &Request) -> String {
    match request {
        Request::Confirm(asked) => format!("confirm {}: {}", asked.title, asked.message),
        Request::Select(asked) => format!("select {}: {}", asked.title, asked.options.join(" | ")),
        Request::Input(asked) => format!("input {}: {}", asked.title, asked.placeholder),
        Request::Children(progress) => format!("children {progress}"),
        Request::Exec(command) => {
            format!("exec {}, {}: {}", command.progress, command.timeout_ms, command.line)
        }
    }
}

/// Describes a message as `TYPE SHOWN: CONTENT`.
fn described(message: &CustomMessage) -> String {
    let shown = if message.display { "shown" } else { "hidden" };
    format!("{} {shown}: {}", message.custom_type, message.content)
}

/// Describes a drawing as text: `<color>text` for every span, `<color bold>` for a bold one, `markdown: …`, or
/// `nothing`.
fn drawn(drawing: Option<Drawing>) -> String {
    let span = |Span { text, color, bold }: &Span| {
        let style = kebab(*color) + if *bold { " bold" } else { "" };
        format!("<{style}>{text}")
    };
    match drawing {
        None => "nothing".into(),
        Some(Drawing::Markdown(text)) => format!("markdown: {text}"),
        Some(Drawing::Lines(lines)) => {
            let lines = lines.iter().map(|spans| spans.iter().map(span).collect::<String>());
            lines.collect::<Vec<_>>().join("\n")
        }
    }
}

/// Returns the interface's name of an enum case.
fn kebab(case: impl std::fmt::Debug) -> String {
    let mut name = format!("{case:?}");
    if let Some((_, case)) = name.rsplit_once("::") {
        name = case.to_owned();
    }
    let mut kebab = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        kebab.push(c.to_ascii_lowercase());
    }
    kebab
}

fn join(root: &str, path: &str) -> String {
    if path.is_empty() { root.to_owned() } else { format!("{root}/{path}") }
}

/// The data of a state entry without its number, which the tests of the journal check.
fn unnumbered(data: &str) -> String {
    let Some((before, after)) = data.split_once(r#","entry":{"number":"#) else {
        return data.to_owned();
    };
    let after = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
    format!("{before}{}", after.strip_prefix('}').expect("a complete entry"))
}
