//! The limits of phases: writable paths, and the network.

use super::*;
use crate::definition::fixtures::{phase, workflow};
use crate::definition::{Check, CheckKind, Entry, Gate, Library, OwnLimits, Sandbox, ToolPolicy};

const MISSING: &str = "bubblewrap is not installed.";

fn write(paths: &[&str]) -> OwnLimits {
    let write = Some(paths.iter().map(|&path| path.to_owned()).collect());
    OwnLimits { write, ..OwnLimits::default() }
}

fn network() -> OwnLimits {
    OwnLimits { network: Some(false), ..OwnLimits::default() }
}

/// A run in the phase `a` of `w` with these limits and tools; `w` has these defaults.
fn limited(own: OwnLimits, default: OwnLimits, tools: ToolPolicy) -> Session {
    let mut session = Session::new(&[("w", &["a", "b"])]);
    let mut root = workflow("w", &["a", "b"]);
    let mut first = phase("a");
    (first.limits, first.tools) = (own, tools);
    root.phases[0] = Entry::phase(first);
    root.limits = default;
    session.engine.run.set_library(Library::new(vec![root], &mut Vec::new()));
    let _ = session.command("workflow", "w x");
    let _ = session.on(Event::AgentStart);
    session
}

fn writing(paths: &[&str]) -> Session {
    limited(write(paths), OwnLimits::default(), ToolPolicy::All)
}

impl Session {
    fn calls(&mut self, name: &str) -> Output {
        self.on(Event::ToolCall { name, carries_calls: false })
    }

    /// The reply to a call of `edit` or `write` with this path.
    fn writes(&mut self, name: &str, path: Option<&str>) -> Reply {
        self.files.call_arguments = path.map(|path| ("path".into(), path.into())).into_iter().collect();
        self.calls(name).reply
    }

    fn prompt(&mut self) -> String {
        match self.on(Event::BeforeAgentStart { role: DefaultRole::Worker }).reply {
            Reply::Inject { content, .. } => content,
            other => panic!("{other:?}"),
        }
    }
}

fn confined(writable: &[&str], network: bool, notice: &str) -> Reply {
    let writable = writable.iter().map(|&path| path.to_owned()).collect();
    let signs = if notice.is_empty() { Vec::new() } else { text::failure_signs(network, &[]) };
    Reply::Confine {
        writable,
        hidden: vec![],
        keeps_agent_folder: false,
        kept: vec![],
        network,
        notice: notice.into(),
        signs,
    }
}

fn refused(reason: &str) -> Reply {
    Reply::Block(reason.into())
}

#[test]
fn a_file_tool_writes_listed_files_only() {
    let mut session = writing(&["docs/plan.md", "tests/", "src/**/*.ts", "~/.cache/"]);
    let within = ["/project/docs/plan.md", "/project/tests/", "/project/src/", "/home/.cache/"];
    for path in [
        "docs/plan.md",
        "@docs/plan.md",
        "./x/../docs/plan.md",
        "tests/a/b.rs",
        "src/a/b.ts",
        "/project/tests/a",
        "~/.cache/x",
    ] {
        for tool in ["edit", "write"] {
            assert_eq!(session.writes(tool, Some(path)), confined(&within, true, ""), "{path}");
        }
    }
    for path in ["docs/plan.md2", "docs/other.md", "tests/../a", "tests2/a", "src/a.rs", "/", ""] {
        let reason = format!(
            "[workflow] \"{path}\" cannot be written in the A phase. Writable: docs/plan.md, tests/, src/**/*.ts, ~/.cache/ (`write` in phases/a.md)."
        );
        assert_eq!(session.writes("edit", Some(path)), refused(&reason));
    }
}

#[test]
fn a_path_that_leads_elsewhere_or_nowhere_is_refused() {
    let mut session = writing(&["docs/", "linked/"]);
    session.files.linked = vec!["/project/docs/link".into(), "/project/linked".into(), "/etc/x".into()];
    assert_eq!(
        session.writes("write", Some("/etc/x")),
        refused(
            "[workflow] \"/etc/x\" (through a link: /etc/x) cannot be written in the A phase. Writable: docs/, linked/ (`write` in phases/a.md)."
        )
    );
    // A rule with a link in it gives nothing free.
    assert_eq!(
        session.writes("write", Some("linked/a")),
        refused(
            "[workflow] \"linked/a\" cannot be written in the A phase: \"linked/\" leads through a link, so it allows nothing. Writable: docs/, linked/ (`write` in phases/a.md)."
        )
    );
    for (path, reason) in [
        (None, "\"\" cannot be written in the A phase: the call has no readable `path`."),
        (Some("a\0"), "\"a\0\" cannot be written in the A phase: it has a NUL character."),
    ] {
        let rest = "Writable: docs/, linked/ (`write` in phases/a.md).";
        let reply = session.writes("edit", path);
        assert_eq!(reply, refused(&format!("[workflow] {reason} {rest}")));
    }
}

#[test]
fn with_nothing_writable_pi_reads_and_other_tools_are_refused() {
    let mut session = limited(OwnLimits::default(), write(&[]), ToolPolicy::All);
    for tool in ["read", "grep", "find", "ls", "workflow_step"] {
        assert_eq!(session.calls(tool), Output::default(), "{tool}");
    }
    assert_eq!(
        session.writes("write", Some("a")),
        refused(
            "[workflow] \"a\" cannot be written in the A phase. Writable: nothing (`write` in workflows/w/workflow.yaml)."
        )
    );
    assert_eq!(
        session.calls("deploy").reply,
        refused(
            "[workflow] \"deploy\" is not one of pi's own tools, so it may write any file, and is refused in the A phase. Writable: nothing (`write` in workflows/w/workflow.yaml). A `tools.whitelist` that names the tool would allow it."
        )
    );
    let carrier = Event::ToolCall { name: "codemode", carries_calls: true };
    assert_eq!(session.on(carrier), Output::default());
    let tools = ToolPolicy::Only(vec!["deploy".into(), "bash".into(), "edit".into()]);
    let mut session = limited(write(&[]), OwnLimits::default(), tools);
    assert_eq!(session.calls("deploy"), Output::default());
    assert!(matches!(session.calls("bash").reply, Reply::Confine { .. }));
    assert!(matches!(session.writes("edit", Some("a")), Reply::Block(_)));
    let Reply::Block(reason) = session.calls("read").reply else { panic!() };
    assert!(reason.starts_with("[workflow] The tool \"read\" is blocked during"), "{reason}");
}

#[test]
fn commands_are_confined() {
    let rules = |rules: String| {
        let sockets = if rules.contains("no network") {
            " Chromium needs `--no-sandbox`."
        } else {
            " Unix sockets, which Chromium needs, do not work in it either: run `node --import tsx FILE` instead of `tsx FILE`."
        };
        format!(
            "[workflow] Commands run in a sandbox in this phase. They {rules}. Debuggers, strace and LeakSanitizer do not work in it.{sockets}"
        )
    };
    let temporary = "temporary files ($TMPDIR) only";
    let mut session = writing(&["docs/plan.md", "src/**/*.ts"]);
    for tool in ["bash", "powershell"] {
        assert_eq!(
            session.calls(tool).reply,
            confined(
                &["/project/docs/plan.md", "/project/src/"],
                true,
                &format!(
                    "{} A listed file cannot be replaced, as `sed -i` does.",
                    rules(format!("can write docs/plan.md, src/, {temporary}"))
                )
            )
        );
    }
    let mut session = writing(&["docs/", "src/**/*.ts", ".", "..", "src/*", "link/", "docs"]);
    session.files.linked = vec!["/project/link".into()];
    let Reply::Confine { notice, .. } = session.calls("bash").reply else { panic!() };
    let expected = rules(format!("can write docs/, src/, ./, ../, docs, {temporary}"));
    assert_eq!(notice, format!("{expected} A listed file cannot be replaced, as `sed -i` does."));
    let mut session = limited(write(&[]), network(), ToolPolicy::All);
    let notice = rules(format!("can write {temporary} and have no network"));
    assert_eq!(session.calls("bash").reply, confined(&[], false, &notice));
    let mut session = limited(network(), OwnLimits::default(), ToolPolicy::All);
    assert_eq!(session.calls("bash").reply, confined(&["/"], false, &rules("have no network".into())));
    assert_eq!(session.writes("edit", Some("a")), Reply::None);
    assert_eq!(session.calls("deploy"), Output::default());
}

#[test]
fn a_phase_without_limits_confines_nothing() {
    let on = OwnLimits { network: Some(true), ..OwnLimits::default() };
    let mut session = limited(on, network(), ToolPolicy::All);
    for tool in ["bash", "edit", "deploy"] {
        assert_eq!(session.calls(tool), Output::default());
    }
    let prompt = session.prompt();
    assert!(!prompt.contains("Writable") && !prompt.contains("Network"), "{prompt}");
}

#[test]
fn where_commands_cannot_be_confined_they_are_refused_and_the_user_is_told_once() {
    let mut session = writing(&["docs/"]);
    session.files.cannot_confine = Some(MISSING.into());
    let block = refused(
        "[workflow] Commands are refused in this phase: they must run in a sandbox, and this system cannot provide one: bubblewrap is not installed.",
    );
    let effects = notice(
        Level::Warning,
        "The agent's commands are refused in phases with `write`, `hide` or `network: false`, because this system cannot confine them: bubblewrap is not installed.",
    );
    assert_eq!(session.calls("bash"), Output { effects, reply: block.clone() });
    assert!(!session.engine.agent.worked);
    assert_eq!(session.calls("bash"), block.clone().into());
    assert!(matches!(session.writes("edit", Some("docs/a")), Reply::Confine { .. }));
    // Only a sandbox without a network is missing, and this phase may use it.
    session.files.confines_with_network = true;
    assert!(matches!(session.calls("bash").reply, Reply::Confine { network: true, .. }));
    session.files.confines_with_network = false;
    // The user installs the sandbox.
    session.files.cannot_confine = None;
    assert!(matches!(session.calls("bash").reply, Reply::Confine { .. }));
    // Another session.
    let _ = session.on(Event::SessionShutdown);
    let mut session = writing(&["docs/"]);
    session.files.cannot_confine = Some(MISSING.into());
    session.ui = Ui::None;
    assert_eq!(session.calls("bash").effects.len(), 1);
}

impl From<Reply> for Output {
    fn from(reply: Reply) -> Self {
        Self { effects: Vec::new(), reply }
    }
}

#[test]
fn a_preferred_sandbox_is_left_out_where_there_is_none() {
    let preferred = OwnLimits { sandbox: Some(Sandbox::Preferred), ..OwnLimits::default() };
    let mut session = limited(write(&["docs/"]), preferred.clone(), ToolPolicy::All);
    assert!(matches!(session.calls("bash").reply, Reply::Confine { .. }));
    session.files.cannot_confine = Some(MISSING.into());
    assert_eq!(
        session.calls("bash"),
        notice(
            Level::Warning,
            "The agent's commands run without a sandbox (`sandbox: preferred`), because this system cannot confine them: bubblewrap is not installed.",
        )
        .into()
    );
    assert_eq!(session.calls("bash"), Output::default());
    assert!(session.engine.agent.worked);
    assert!(matches!(session.writes("edit", Some("src/a")), Reply::Block(_)));
}

#[test]
fn without_a_sandbox_the_system_is_not_asked() {
    let off = OwnLimits { sandbox: Some(Sandbox::Off), ..OwnLimits::default() };
    let mut session = limited(write(&["docs/"]), off, ToolPolicy::All);
    session.files.cannot_confine = Some(MISSING.into());
    // `off` comes from the workflow, `write` from the phase.
    assert_eq!(session.calls("bash"), Output::default());
    assert!(matches!(session.writes("edit", Some("src/a")), Reply::Block(_)));
    assert!(
        session.prompt().contains(
            "**Writable in this phase:** docs/. This holds for commands too: write no other file with them.\n"
        )
    );
}

#[test]
fn the_agent_is_told_the_limits() {
    let line = |session: &mut Session| {
        let prompt = session.prompt();
        let lines: Vec<&str> = prompt.lines().collect();
        let hand_over = lines.iter().position(|line| line.starts_with("**Hand-over")).unwrap();
        lines[hand_over - 1].to_owned()
    };
    assert_eq!(
        line(&mut limited(write(&["docs/plan.md", "tests/"]), network(), ToolPolicy::All)),
        "**Writable in this phase:** docs/plan.md, tests/. Commands run in a sandbox: everything else is read-only, except temporary files ($TMPDIR); there is no network; background processes end with their command."
    );
    assert_eq!(
        line(&mut writing(&[])),
        "**Writable in this phase:** nothing. Commands run in a sandbox: everything else is read-only, except temporary files ($TMPDIR); background processes end with their command."
    );
    assert_eq!(
        line(&mut limited(network(), OwnLimits::default(), ToolPolicy::All)),
        "**Network in this phase:** none. Commands run in a sandbox: background processes end with their command."
    );
}

#[test]
fn an_open_gate_refuses_first() {
    let mut session = Session::new(&[("w", &["a", "b"])]);
    let mut root = workflow("w", &["a", "b"]);
    let mut first = phase("a");
    first.limits = write(&["docs/"]);
    let kind = CheckKind::Run { command: "make".into(), timeout: 1000.into() };
    let checks = vec![Check { name: "it".into(), kind, outcome: None }];
    first.gate = Some(Gate { checks, attempts: 3.into() });
    root.phases[0] = Entry::phase(first);
    session.engine.run.set_library(Library::new(vec![root], &mut Vec::new()));
    let _ = session.command("workflow", "w x");
    let _ = session.on(Event::AgentStart);
    let input = r#"{"action":"next"}"#;
    assert!(matches!(session.on(Event::Step { input, nested: false }).reply, Reply::Ask { .. }));
    for tool in ["bash", "edit"] {
        assert_eq!(session.calls(tool).reply, refused(text::GATE_OPEN));
    }
}

#[test]
fn a_paused_run_refuses_first() {
    let mut session = writing(&["docs/"]);
    session.files.cannot_confine = Some(MISSING.into());
    session.engine.run.set_library(Library::default());
    let output = session.calls("bash");
    let Reply::Stop(reason) = output.reply else { panic!() };
    assert!(reason.starts_with("The workflow is paused: "), "{reason}");
    assert!(!format!("{:?}", output.effects).contains(MISSING));
}

#[test]
fn without_a_run_nothing_is_limited() {
    let mut session = Session::new(&[("w", &["a"])]);
    for tool in ["bash", "edit", "deploy"] {
        assert_eq!(session.calls(tool), Output::default());
    }
}

#[test]
fn the_next_phase_has_its_own_limits() {
    let mut session = writing(&[]);
    assert!(matches!(session.writes("edit", Some("a")), Reply::Block(_)));
    assert!(session.step("status").0.ends_with("background processes end with their command."));
    let (text, _) = session.step("next");
    assert!(!text.contains("Writable"), "{text}");
    assert_eq!(session.writes("edit", Some("a")), Reply::None);
}

#[test]
fn the_limits_are_shown_to_the_user() {
    let mut session = limited(write(&["docs/", "a.md"]), network(), ToolPolicy::All);
    let library = session.engine.run.library();
    let workflow = library.get("w").unwrap();
    let chart = text::mermaid(workflow, library);
    assert!(chart.contains("n1>\"writes docs/, a.md, no network\"]:::note\n"), "{chart}");
    let preview = text::preview(workflow, library, "x");
    assert!(
        preview.contains("  1. 🔹 A\n     writes docs/, a.md, no network\n  2. 🔹 B\n     no network\n"),
        "{preview}"
    );
    let effects = session.command("workflow", ":status").effects;
    let status = format!("{effects:?}");
    assert!(status.contains("     writes docs/, a.md, no network\\n"), "{status}");
}

#[test]
fn hidden_files_are_refused_told_and_handed_to_the_host() {
    let hide = |paths: &[&str]| OwnLimits {
        hide: Some(paths.iter().map(|&path| path.to_owned()).collect()),
        ..OwnLimits::default()
    };
    let default = OwnLimits { sandbox: Some(Sandbox::Preferred), ..hide(&["secrets/"]) };
    let mut session = limited(hide(&["tests/acceptance/", ".env"]), default, ToolPolicy::All);
    let prompt = session.prompt();
    let line = "**Hidden in this phase:** tests/acceptance/, .env. No tool and no command";
    assert!(prompt.contains(line), "{prompt}");
    let hidden = vec!["tests/acceptance/".to_owned(), ".env".to_owned()];
    let writable = vec!["/".to_owned()];
    let within = |notice: &str| Reply::Confine {
        writable: writable.clone(),
        hidden: hidden.clone(),
        keeps_agent_folder: false,
        kept: vec![],
        network: true,
        notice: notice.into(),
        signs: if notice.is_empty() { Vec::new() } else { text::failure_signs(true, &hidden) },
    };
    assert_eq!(session.writes("read", Some("src/x")), within(""));
    assert_eq!(
        session.writes("read", Some(".env")),
        refused("[workflow] \".env\" is hidden in the A phase (`hide` in phases/a.md).")
    );
    assert_eq!(
        session.writes("grep", None),
        refused(
            "[workflow] \".\" contains \"tests/acceptance/\", which is hidden in the A phase (`hide` in phases/a.md). \"grep\" is refused there. Search with `bash`: its commands cannot read what is hidden."
        )
    );
    assert_eq!(
        session.calls("deploy").reply,
        refused(
            "[workflow] \"deploy\" is not one of pi's own tools, so it may read hidden files, and is refused in the A phase (`hide` in phases/a.md). A `tools.whitelist` that names the tool would allow it."
        )
    );
    assert_eq!(
        session.calls("bash").reply,
        within(
            "[workflow] Commands run in a sandbox in this phase. They cannot read or write tests/acceptance/, .env, hidden here. Debuggers, strace and LeakSanitizer do not work in it. Unix sockets, which Chromium needs, do not work in it either: run `node --import tsx FILE` instead of `tsx FILE`."
        )
    );
    // Not even where commands may run without a sandbox.
    session.files.cannot_confine = Some(MISSING.into());
    let reply = session.calls("bash").reply;
    assert!(matches!(reply, Reply::Block(ref text) if text.contains(MISSING)), "{reply:?}");
}
