//! The limits of phases, and the host's answers that they depend on.

use super::host::*;

const FILES: [(&str, &str); 2] = [
    (
        "project/plan/workflow.yaml",
        "name: Plan\ncommandName: plan\ninitialMessage: Begin\nnetwork: false\nphases: [plan.md]\n",
    ),
    ("project/plan/plan.md", "---\nid: plan\nname: Plan\nemoji: 📐\nwrite: [docs/, a.md]\n---\nPlan.\n"),
];

/// Starts a session with a run in a phase that may write `docs/` and `a.md`, without network.
pub fn at_plan() -> Pi {
    let mut pi = Host::with_files(FILES).start_session();
    pi.command("workflow", "plan Fix it");
    let host = pi.host();
    host.calls.clear();
    host.questions.clear();
    pi
}

#[track_caller]
fn writes(pi: &mut Pi, input: &str) -> String {
    pi.host().tool_input = input.into();
    pi.tool_call("write")
}

const CONFINED: &str = "confine /project/docs/ /project/a.md, network: ";
const WRITABLE: &str = "Writable: docs/, a.md (`write` in ~/project/plan/plan.md).";

#[test]
fn a_file_tool_is_held_to_the_listed_files() {
    let mut pi = at_plan();
    assert_eq!(writes(&mut pi, r#"{"path":"docs/b/c.md","content":""}"#), CONFINED);
    assert_eq!(pi.asked(), ["tool-input", "resolve-write docs/b/c.md", "resolve-write docs/", "resolve-write a.md"]);
    pi.host().write_links = [("docs/link", "/project/src/x"), ("out", "/project/a.md")].into();
    for (path, leads) in [("src/x", ""), ("docs/link", " (through a link: /project/src/x)")] {
        let refused = format!("block: [workflow] \"{path}\"{leads} cannot be written in the Plan phase. {WRITABLE}");
        assert_eq!(writes(&mut pi, &format!(r#"{{"path":"{path}"}}"#)), refused);
    }
    assert_eq!(writes(&mut pi, r#"{"path":"out"}"#), CONFINED);
    pi.did(&[]);
}

#[test]
fn a_call_without_a_readable_path_is_refused() {
    let mut pi = at_plan();
    let deep = format!(r#"{{"x":{}1{},"path":"a.md"}}"#, "[".repeat(10_000), "]".repeat(10_000));
    for input in [
        "null",
        "{}",
        "[]",
        "7",
        "",
        "{",
        r#""a.md""#,
        r#"["path"]"#,
        r#"{"path":7}"#,
        r#"{"path":null}"#,
        r#"{"path":["a.md"]}"#,
        r#"{"path":{"path":"a.md"}}"#,
        r#"{"Path":"a.md"}"#,
        r#"{"path":"\ud800"}"#,
        &deep,
    ] {
        assert_eq!(
            writes(&mut pi, input),
            format!(
                "block: [workflow] \"\" cannot be written in the Plan phase: the call has no readable `path`. {WRITABLE}"
            ),
            "{input:.50}"
        );
    }
    for (function, reason) in [
        ("tool-input", "\"\" cannot be written in the Plan phase: the call has no readable `path`"),
        ("resolve-write", "\"a.md\" cannot be written in the Plan phase: Too many links"),
    ] {
        pi.host().failing = [(function, "Too many links.")].into();
        let refused = format!("block: [workflow] {reason}. {WRITABLE}");
        assert_eq!(writes(&mut pi, r#"{"path":"a.md"}"#), refused);
    }
    pi.did(&[]);
}

#[test]
fn a_command_is_confined_or_refused() {
    let mut pi = at_plan();
    assert_eq!(
        pi.tool_call("bash"),
        "confine /project/docs/ /project/a.md, no network: [workflow] Commands run in a sandbox in this phase. They can write docs/, a.md, temporary files ($TMPDIR) only and have no network. Debuggers, strace and LeakSanitizer do not work in it. A listed file cannot be replaced, as `sed -i` does."
    );
    assert_eq!(pi.asked(), ["resolve-write docs/", "resolve-write a.md", "can-confine"]);
    // A rule with a link in it gives nothing free.
    pi.host().write_links = [("docs/", "/etc")].into();
    assert!(pi.tool_call("bash").starts_with("confine /project/a.md, no network: "));
    pi.host().failing.insert("can-confine", "There is none.");
    for calls in [
        &[
            "notify warning: The agent's commands are refused in phases with `write`, `hide` or `network: false`, because this system cannot confine them: There is none.",
        ][..],
        &[],
    ] {
        assert_eq!(
            pi.tool_call("bash"),
            "block: [workflow] Commands are refused in this phase: they must run in a sandbox, and this system cannot provide one: There is none."
        );
        pi.did(calls);
    }
}

#[test]
fn nested_calls_are_held_to_the_same() {
    let mut pi = at_plan();
    let mut call = |name: &str, carries_calls, parent: Option<&str>| {
        let (id, name, parent) = ("call-2".into(), name.into(), parent.map(Into::into));
        pi.event(Event::ToolCall(ToolCall { id, name, parent, carries_calls }))
    };
    assert_eq!(call("codemode", true, None), "none");
    for parent in [None, Some("call-1")] {
        assert!(call("bash", false, parent).starts_with("confine "));
        assert!(call("edit", false, parent).starts_with("block: "));
        assert!(call("deploy", false, parent).starts_with("block: "));
        assert_eq!(call("read", false, parent), "none");
    }
}
