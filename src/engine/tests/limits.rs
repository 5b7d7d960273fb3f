//! The user's own limits, with and without a run.

use super::*;
use crate::definition::fixtures::{phase, workflow};
use crate::definition::{Entry, Library, OwnLimits, ToolPolicy};
use crate::protocol::STEP_TOOL_NAME;

const LIMITS: &str = "write: [docs/, src/]\nhide: [.env]\n";

/// A `settings.yaml` with these limits.
pub(super) fn settings(limits: &str) -> String {
    let lines = limits.lines().map(|line| format!("  {line}\n"));
    format!("limits:\n{}", lines.collect::<String>())
}

/// A session of a user with these limits.
fn limited(limits: &str) -> Session {
    with_settings(&settings(limits))
}

fn with_settings(text: &str) -> Session {
    let mut session = Session::new(&[]);
    session.files.global.insert("settings.yaml".into(), text.into());
    begin(&mut session, false);
    session
}

fn begin(session: &mut Session, same_session: bool) -> Vec<Effect> {
    let facts = Facts { same_session, ..Facts::default() };
    session.on(Event::Session { stored: None, in_view: None, facts }).effects
}

fn calls(session: &mut Session, tool: &str, path: Option<&str>) -> Reply {
    session.files.call_arguments = path.map(|path| ("path".into(), path.into())).into_iter().collect();
    session.on(Event::ToolCall { name: tool, carries_calls: false }).reply
}

fn is_confined(reply: &Reply) -> bool {
    matches!(reply, Reply::Confine { keeps_agent_folder: true, .. })
}

fn blocked(reply: Reply) -> String {
    let Reply::Block(text) = reply else { panic!("{reply:?}") };
    text
}

fn prompt(session: &mut Session) -> Vec<Effect> {
    session.on(Event::BeforeAgentStart { role: DefaultRole::Worker }).effects
}

#[test]
fn they_hold_without_a_run() {
    let mut session = limited(LIMITS);
    assert!(session.engine.guards_tools());
    assert_eq!(session.status.as_deref(), Some("limits"));
    let Reply::Confine { writable, hidden, keeps_agent_folder, network, notice, .. } =
        calls(&mut session, "bash", None)
    else {
        panic!()
    };
    assert_eq!(writable, ["/project/docs/", "/project/src/"]);
    assert_eq!((hidden, keeps_agent_folder, network), (vec![".env".into()], true, true));
    assert_eq!(
        notice,
        "[limits] Commands run in a sandbox under the user's limits. They can write docs/, src/, temporary files ($TMPDIR) only and cannot read or write .env, hidden here. Debuggers, strace and LeakSanitizer do not work in it. Unix sockets, which Chromium needs, do not work in it either: run `node --import tsx FILE` instead of `tsx FILE`."
    );
    assert!(is_confined(&calls(&mut session, "write", Some("docs/x"))));
    assert_eq!(
        blocked(calls(&mut session, "write", Some("a"))),
        "[limits] \"a\" cannot be written under the user's limits. Writable: docs/, src/ (`write` in ~/workflows/settings.yaml)."
    );
    assert_eq!(
        blocked(calls(&mut session, "read", Some(".env"))),
        "[limits] \".env\" is hidden under the user's limits (`hide` in ~/workflows/settings.yaml)."
    );
    assert!(matches!(calls(&mut session, "read", Some("a")), Reply::Confine { .. }));
    assert!(blocked(calls(&mut session, "other", None)).contains("may read hidden files"));
    assert_eq!(calls(&mut session, STEP_TOOL_NAME, None), Reply::None);
}

#[test]
fn without_a_file_there_are_none() {
    let mut session = Session::new(&[]);
    assert_eq!(begin(&mut session, false), [Effect::SetStatus(None)]);
    assert!(!session.engine.guards_tools());
    for tool in ["bash", "write", "read", "other"] {
        assert_eq!(calls(&mut session, tool, Some("a")), Reply::None);
    }
    let output = session.command("workflow", ":limits off");
    assert_eq!(output.effects.len(), 1);
    assert!(!session.engine.guards_tools());
}

#[test]
fn pis_agent_folder_is_kept_by_any_limit() {
    for text in ["network: true\n", "tools: { blacklist: [] }\n", "write: [/]\n"] {
        let mut session = limited(text);
        assert!(is_confined(&calls(&mut session, "bash", None)), "{text}");
        assert!(is_confined(&calls(&mut session, "edit", Some("a"))), "{text}");
        assert_eq!(calls(&mut session, "read", Some("a")), Reply::None, "{text}");
    }
}

#[test]
fn the_lists_of_tools_hold() {
    let mut session = limited("tools: { whitelist: [read] }\n");
    assert_eq!(
        blocked(calls(&mut session, "bash", None)),
        "[limits] The tool \"bash\" is refused under the user's limits (`tools` in ~/workflows/settings.yaml)."
    );
    assert_eq!(calls(&mut session, "read", Some("a")), Reply::None);
}

#[test]
fn a_file_that_cannot_be_understood_refuses_everything() {
    for (text, error) in [
        ("", "`limits` has no value"),
        ("# write: [docs/]\n", "`limits` has no value"),
        ("{}\n", "`limits` has no value"),
        ("write:\n", "`limits.write` has no value"),
        ("write: docs/\n", "`write`"),
        ("wirte: [docs/]\n", "unknown field `wirte`"),
        ("write: [docs/]\nwrite: [/]\n", "write"),
        ("write: ['{runDir}/']\n", "`{runDir}` has a value in a run only"),
        ("write: [a]\ngate: [{ run: x }]\n", "unknown field `gate`"),
        ("hide: ['*.key']\n", "only files and folders can be hidden"),
        ("tools: { blacklist: [Bash] }\n", "unknown tool `Bash`"),
        ("write: [docs/\n", ""),
        ("- write\n", ""),
        ("network: 'false'\n", "`network`"),
        ("sandbox: none\n", "`sandbox`"),
    ] {
        let mut session = limited(text);
        refuses_everything(&mut session, error);
    }
}

#[test]
fn settings_that_cannot_be_read_refuse_everything_and_an_error_of_another_key_does_not() {
    for (text, error) in [
        ("", "expected a mapping"),
        ("# limits: {}\n", "expected a mapping"),
        ("- limits\n", "expected a mapping"),
        ("limits: { write: [docs/]\n", ""),
        ("limit: { write: [docs/] }\n", "unknown field `limit`"),
        ("write: [docs/]\n", "unknown field `write`"),
        ("buildin: true\n", "unknown field `buildin`"),
        ("limits: 7\nbuiltin: true\n", "expected a mapping of limits"),
    ] {
        refuses_everything(&mut with_settings(text), error);
    }
    for others in ["wait: soon\n", "builtin: maybe\n", "onEvent: []\n", "models: { a/b: c }\n"] {
        let mut session = with_settings(&format!("{others}limits: {{ write: [docs/] }}\n"));
        assert!(is_confined(&calls(&mut session, "bash", None)), "{others}");
        assert_eq!(calls(&mut with_settings(others), "bash", None), Reply::None, "{others}");
    }
}

#[test]
fn settings_that_break_or_get_limits_in_a_session_are_followed_also_without_limits_before() {
    let mut session = with_settings("builtin: false\n");
    assert_eq!(prompt(&mut session), []);
    session.files.global.insert("settings.yaml".into(), "builtin: [\n".into());
    let told = format!("{:?}", prompt(&mut session));
    assert!(told.contains("Every tool call is refused"), "{told}");
    assert!(blocked(calls(&mut session, "bash", None)).contains("settings.yaml"));
    session.files.global.insert("settings.yaml".into(), "builtin: false\n".into());
    let told = format!("{:?}", prompt(&mut session));
    assert!(told.contains("You have no limits"), "{told}");
    assert_eq!(calls(&mut session, "bash", None), Reply::None);
    session.files.global.insert("settings.yaml".into(), settings(LIMITS));
    prompt(&mut session);
    assert!(is_confined(&calls(&mut session, "bash", None)));
}

#[test]
fn limits_in_a_file_with_another_name_refuse_everything() {
    for (name, text) in [("settings.yml", "limits: { write: [docs/] }"), ("limits.yml", LIMITS), ("limits.yaml", "- a")]
    {
        for settings in [None, Some("builtin: false"), Some("limits: { write: [src/] }"), Some("\u{feff}{")] {
            let mut session = Session::new(&[]);
            session.files.global.insert(name.into(), text.into());
            let settings = settings.map(|settings| ("settings.yaml".to_owned(), settings.to_owned()));
            session.files.global.extend(settings);
            begin(&mut session, false);
            blocked(calls(&mut session, "read", Some("docs/x")));
        }
    }
}

#[test]
fn a_file_of_limits_refuses_everything_until_its_content_has_moved() {
    let mut session = limited(LIMITS);
    session.files.global.insert("limits.yaml".into(), LIMITS.into());
    session.files.global.remove("settings.yaml");
    let told = begin(&mut session, false);
    let line = r#"limits: {"write":["docs/","src/"],"hide":[".env"]}"#;
    let shows = |effect: &Effect| matches!(effect, Effect::Notify { text, .. } if text.contains(line));
    assert!(told.iter().any(shows), "{told:?}");
    let refusal = blocked(calls(&mut session, "read", Some("docs/x")));
    assert!(refusal.contains("~/workflows/limits.yaml: `limits.yaml` is no more"), "{refusal}");
    session.files.global.insert("settings.yaml".into(), "limits: { write: [] }".into());
    let told = format!("{:?}", begin(&mut session, false));
    assert!(told.contains("move what it has below `limits`") && !told.contains(".env"), "{told}");
    session.files.global.insert("settings.yaml".into(), line.into());
    assert_eq!(prompt(&mut session), [], "the file is still there");
    blocked(calls(&mut session, "write", Some("src/x")));
    session.files.global.remove("limits.yaml");
    prompt(&mut session);
    assert!(is_confined(&calls(&mut session, "write", Some("src/x"))));
    assert!(blocked(calls(&mut session, "read", Some(".env"))).contains("hidden"));
}

fn refuses_everything(session: &mut Session, error: &str) {
    let told = begin(session, false);
    let is_told = |effect: &Effect| matches!(effect, Effect::Notify { level: Level::Error, text } if text.starts_with("Every tool call is refused: ") && text.contains("settings.yaml"));
    assert!(told.iter().any(is_told), "{error}: {told:?}");
    for tool in ["bash", "read", "write", "other"] {
        let refusal = blocked(calls(session, tool, Some("docs/x")));
        assert!(
            refusal.starts_with(
                "[limits] Every tool call is refused: the user's limits are not known: ~/workflows/settings.yaml"
            ),
            "{refusal}"
        );
        assert!(refusal.contains(error), "{error}: {refusal}");
    }
    assert!(session.engine.guards_tools());
    assert_eq!(session.status.as_deref(), Some("limits not known"));
}

#[test]
fn the_user_switches_them_off_and_on() {
    let mut session = limited(LIMITS);
    let output = session.command("workflow", ":limits off");
    let recorded =
        |word: &str| Effect::AppendEntry { custom_type: "workflow:limits-switch", data: json!({ "limits": word }) };
    assert_eq!(output.effects[0], recorded("off"));
    assert_eq!(session.status.as_deref(), Some("limits off"));
    assert_eq!(calls(&mut session, "bash", None), Reply::None);
    assert!(!session.engine.guards_tools());
    // Only the user's word and another session switch the limits on again.
    prompt(&mut session);
    begin(&mut session, true);
    assert_eq!(calls(&mut session, "bash", None), Reply::None);
    let output = session.command("workflow", ":limits on");
    assert_eq!(output.effects[0], recorded("on"));
    assert!(is_confined(&calls(&mut session, "bash", None)));
    let _ = session.command("workflow", ":limits off");
    begin(&mut session, false);
    assert!(is_confined(&calls(&mut session, "bash", None)));
    let output = session.command("workflow", ":limits of");
    assert!(matches!(&output.effects[..], [Effect::Notify { level: Level::Error, .. }]));
    assert!(is_confined(&calls(&mut session, "bash", None)));
}

#[test]
fn a_change_holds_from_the_next_prompt_on() {
    let mut session = limited(LIMITS);
    session.files.global.insert("settings.yaml".into(), settings("write: []\n"));
    assert!(is_confined(&calls(&mut session, "write", Some("docs/x"))));
    let told = prompt(&mut session);
    assert!(
        format!("{told:?}").contains("Your limits have changed: writable: nothing; never pi's agent folder"),
        "{told:?}"
    );
    assert!(blocked(calls(&mut session, "write", Some("docs/x"))).contains("Writable: nothing"));
    assert_eq!(prompt(&mut session), [], "told once");
    session.files.global.remove("settings.yaml");
    assert!(format!("{:?}", prompt(&mut session)).contains("You have no limits"));
    assert_eq!(calls(&mut session, "write", Some("a")), Reply::None);
    assert_eq!(session.status, None);
}

/// A run of the user with limits, in a phase with this confinement and these tools.
fn in_a_run(limits: &str, own: OwnLimits, tools: ToolPolicy) -> Session {
    let mut session = limited(limits);
    let mut root = workflow("w", &["a", "b"]);
    let mut first = phase("a");
    (first.limits, first.tools) = (own, tools);
    root.phases[0] = Entry::phase(first);
    session.engine.run.set_library(Library::new(vec![root], &mut Vec::new()));
    let _ = session.command("workflow", "w x");
    let _ = session.on(Event::AgentStart);
    session
}

#[test]
fn in_a_run_a_call_passes_both() {
    let paths = |paths: &[&str]| Some(paths.iter().map(|&path| path.to_owned()).collect());
    let own = OwnLimits {
        write: paths(&["src/a/", "tests/", "docs/plan.md"]),
        hide: paths(&["src/a/secret", ".env"]),
        network: Some(false),
        sandbox: None,
    };
    let mut session = in_a_run(LIMITS, own, ToolPolicy::All);
    assert_eq!(session.status.as_deref(), Some("The w > 🔹 A [1/2] · limits"));
    let Reply::Confine { writable, hidden, network, keeps_agent_folder, notice, .. } =
        calls(&mut session, "bash", None)
    else {
        panic!()
    };
    assert_eq!(writable, ["/project/docs/plan.md", "/project/src/a/"]);
    assert_eq!(hidden, [".env", "src/a/secret"]);
    assert_eq!((network, keeps_agent_folder), (false, true));
    assert!(notice.starts_with("[workflow] Commands run in a sandbox in this phase, under the user's limits too. They can write docs/plan.md, src/a/, temporary files"), "{notice}");
    for (path, tag) in [("tests/x", "[limits]"), ("src/b", "[workflow]"), ("a", "[limits]")] {
        assert!(blocked(calls(&mut session, "write", Some(path))).starts_with(tag), "{path}");
    }
    assert!(is_confined(&calls(&mut session, "write", Some("src/a/x"))));
    let Reply::Confine { hidden, .. } = calls(&mut session, "read", Some("x")) else { panic!() };
    assert_eq!(hidden, [".env", "src/a/secret"]);
}

#[test]
fn no_phase_widens_them() {
    let own = OwnLimits {
        write: Some(vec!["/".into()]),
        hide: Some(vec![]),
        network: Some(true),
        sandbox: Some(crate::definition::Sandbox::Off),
    };
    let tools = ToolPolicy::Only(vec!["bash".into(), "write".into(), "mcp".into()]);
    let limits = "write: []\nnetwork: false\nhide: [.env]\ntools: { blacklist: [mcp] }\n";
    let mut session = in_a_run(limits, own, tools);
    let Reply::Confine { writable, hidden, network, .. } = calls(&mut session, "bash", None) else { panic!() };
    assert_eq!((writable, hidden, network), (vec![], vec![".env".to_owned()], false));
    for tool in ["write", "mcp"] {
        assert!(blocked(calls(&mut session, tool, Some("a"))).starts_with("[limits]"), "{tool}");
    }
}

#[test]
fn the_stricter_sandbox_holds_where_there_is_none() {
    for (limits, own, refused) in [
        ("write: []\nsandbox: preferred\n", None, false),
        ("write: []\nsandbox: required\n", Some("preferred"), true),
        ("write: []\nsandbox: preferred\n", Some("required"), true),
        ("write: []\n", None, true),
        ("write: []\nsandbox: off\n", None, false),
        ("write: []\nsandbox: off\nhide: [x]\n", None, true),
    ] {
        let sandbox = own.map(|own| match own {
            "required" => crate::definition::Sandbox::Required,
            _ => crate::definition::Sandbox::Preferred,
        });
        let write = own.map(|_| Vec::new());
        let own = OwnLimits { write, sandbox, ..OwnLimits::default() };
        let mut session = in_a_run(limits, own, ToolPolicy::All);
        session.files.cannot_confine = Some("there is none".into());
        let reply = calls(&mut session, "bash", None);
        assert_eq!(matches!(reply, Reply::Block(_)), refused, "{limits}: {reply:?}");
    }
}

#[test]
fn they_are_shown() {
    let mut session = limited("write: [docs/]\nhide: [.env]\nnetwork: false\nsandbox: preferred\n");
    let shown = |session: &mut Session| {
        let output = session.command("workflow", ":limits");
        let content = output.effects.iter().find_map(|effect| match effect {
            Effect::AppendEntry { custom_type: "workflow:limits", data } => data["content"].as_str().map(str::to_owned),
            _ => None,
        });
        content.unwrap()
    };
    assert_eq!(
        shown(&mut session),
        "Limits: on, by ~/workflows/settings.yaml\n- writable: docs/; never pi's agent folder\n- hidden: .env\n- network of commands: none\n- commands: in a sandbox; without limits where this system has none"
    );
    let _ = session.command("workflow", ":limits off");
    assert!(shown(&mut session).starts_with("Limits: off in this session, by"));
    session.files.global.insert("settings.yaml".into(), settings("write: 7\n"));
    let broken = shown(&mut session);
    assert!(broken.contains("~/workflows/settings.yaml:2:10: error: `write`"), "{broken}");
}
