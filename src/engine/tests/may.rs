//! The decision on a tool call outside of a session.

use super::limits::settings;
use super::*;
use crate::definition::fixtures::{phase, workflow};
use crate::definition::{Library, OwnLimits, Sandbox, ToolPolicy};

const PHASE: &str = "---
id: a
name: A
emoji: '*'
write: [docs/plan.md, 'src/**/*.ts']
tools:
  # more
  whitelist: [x]
network: false
---
Do it.
";
const WORKFLOW: &str = "name: W
write: []
sandbox: preferred
network: false
";

struct Asked {
    files: Files,
    own: OwnLimits,
    default: OwnLimits,
    tools: ToolPolicy,
}

impl Asked {
    fn new() -> Self {
        let mut files = Files::default();
        files.project.insert("w/a.md".into(), PHASE.into());
        files.project.insert("w/workflow.yaml".into(), WORKFLOW.into());
        let (own, default) = (OwnLimits::default(), OwnLimits::default());
        Self { files, own, default, tools: ToolPolicy::All }
    }

    #[track_caller]
    fn says(&self, tool: &str, path: Option<&str>, text: &str) {
        let mut workflow = workflow("w", &["a"]);
        let mut phase = phase("a");
        (workflow.folder, phase.file) = (".pi/workflows/w".into(), ".pi/workflows/w/a.md".into());
        workflow.limits.clone_from(&self.default);
        (phase.limits, phase.tools) = (self.own.clone(), self.tools.clone());
        let decision = may(Some((&phase, &workflow, &Library::default())), tool, path, &self.files).unwrap();
        let allowed = !text.starts_with("refused");
        assert_eq!(decision, May { allowed, text: text.into() });
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn without_rules_everything_is_allowed() {
    let asked = Asked::new();
    for tool in ["bash", "edit", "deploy", "codemode"] {
        asked.says(tool, Some("x"), &format!("allowed: no rule of the phase \"a\" limits \"{tool}\""));
    }
}

#[test]
fn a_tool_list_decides() {
    let mut asked = Asked::new();
    asked.tools = ToolPolicy::Only(names(&["x"]));
    asked.says("x", None, "allowed: \"x\" is in tools.whitelist, .pi/workflows/w/a.md:8");
    asked.says("y", None, "refused: \"y\" is not in tools.whitelist, .pi/workflows/w/a.md:8");
    asked.says("codemode", None, "allowed: no rule of the phase \"a\" limits \"codemode\"");
    asked.says("workflow_step", None, "allowed: no rule of the phase \"a\" limits \"workflow_step\"");
    asked.tools = ToolPolicy::Except(names(&["y"]));
    // The file has changed since it was read.
    asked.says("y", None, "refused: \"y\" is in tools.blacklist, .pi/workflows/w/a.md");
    asked.files.project.clear();
    asked.says("y", None, "refused: \"y\" is in tools.blacklist, .pi/workflows/w/a.md");
}

#[test]
fn the_writable_files_decide() {
    let mut asked = Asked::new();
    asked.own.write = Some(names(&["docs/plan.md", "src/**/*.ts"]));
    let write = ".pi/workflows/w/a.md:5";
    asked.says("edit", Some("docs/plan.md"), &format!("allowed: \"docs/plan.md\" is in write, {write}"));
    asked.says("write", Some("src/a.rs"), &format!("refused: \"src/a.rs\" cannot be written; write, {write}"));
    asked.says(
        "write",
        Some("a\n\0"),
        &format!("refused: \"a �\" cannot be written: it has a NUL character; write, {write}"),
    );
    asked.says(
        "deploy",
        None,
        &format!("refused: \"deploy\" is not one of pi's own tools, so it may write any file; write, {write}"),
    );
    asked.says("read", None, "allowed: no rule of the phase \"a\" limits \"read\"");
    asked.files.linked = vec!["/project/link".into()];
    asked.says(
        "edit",
        Some("link"),
        &format!("refused: \"link\" (through a link: /project/link) cannot be written; write, {write}"),
    );
    asked.own.write = None;
    asked.default.write = Some(Vec::new());
    asked.says("edit", Some("a"), "refused: \"a\" cannot be written; write, .pi/workflows/w/workflow.yaml:2");
}

#[test]
fn a_command_is_confined() {
    let mut asked = Asked::new();
    asked.own.write = Some(names(&["docs/plan.md", "src/**/*.ts", "~/.cache/", "*.md"]));
    let writable = "writable: docs/plan.md, src/, /home/.cache/, ./, and $TMPDIR, .pi/workflows/w/a.md:5";
    asked.says("bash", Some("ls"), &format!("confined: {writable}; with network"));
    asked.own.network = Some(false);
    asked.says("bash", None, &format!("confined: {writable}; no network, .pi/workflows/w/a.md:9"));
    asked.own = OwnLimits::default();
    asked.default = OwnLimits { network: Some(false), ..OwnLimits::default() };
    asked.says("powershell", None, "confined: no network, .pi/workflows/w/workflow.yaml:4");
    asked.default.write = Some(Vec::new());
    asked.says(
        "bash",
        None,
        "confined: writable: nothing, and $TMPDIR, .pi/workflows/w/workflow.yaml:2; no network, .pi/workflows/w/workflow.yaml:4",
    );
}

#[test]
fn a_command_that_cannot_be_confined() {
    let mut asked = Asked::new();
    asked.files.cannot_confine = Some("bubblewrap is not installed.".into());
    asked.default.network = Some(false);
    let no_sandbox = "this system has no sandbox: bubblewrap is not installed.";
    asked.says("bash", None, &format!("refused: network: false, .pi/workflows/w/workflow.yaml:4; {no_sandbox}"));
    asked.own.write = Some(Vec::new());
    asked.says("bash", None, &format!("refused: write, .pi/workflows/w/a.md:5; {no_sandbox}"));
    asked.default.sandbox = Some(Sandbox::Preferred);
    asked.says("bash", None, &format!("allowed: sandbox: preferred, .pi/workflows/w/workflow.yaml:3; {no_sandbox}"));
    asked.default.sandbox = Some(Sandbox::Off);
    asked.says("bash", None, "allowed: sandbox: off, .pi/workflows/w/workflow.yaml:3");
}

#[test]
fn hidden_paths_are_named_with_their_rule() {
    let mut asked = Asked::new();
    let phase = PHASE.replace("network: false", "hide: [tests/acceptance/, .env]");
    asked.files.project.insert("w/a.md".into(), phase);
    asked.own.hide = Some(names(&["tests/acceptance/", ".env"]));
    let rule = "hide, .pi/workflows/w/a.md:9";
    asked.says("read", Some(".env"), &format!("refused: \".env\" is hidden; {rule}"));
    let around = "refused: \".\" contains \"tests/acceptance/\", which is hidden";
    asked.says("grep", None, &format!("{around}; {rule}"));
    let may_read = "refused: \"deploy\" is not one of pi's own tools, so it may read hidden files";
    asked.says("deploy", None, &format!("{may_read}; {rule}"));
    asked.says("ls", Some("tests"), "allowed: \"tests\" is not in hide, .pi/workflows/w/a.md:9");
    asked.says("bash", None, "confined: hidden: tests/acceptance/, .env, .pi/workflows/w/a.md:9; with network");
    asked.own.sandbox = Some(Sandbox::Preferred);
    asked.files.cannot_confine = Some("there is none".into());
    asked.says("bash", None, &format!("refused: {rule}; this system has no sandbox: there is none"));
}

#[test]
fn the_users_limits_decide_too() {
    let mut asked = Asked::new();
    let limits = "write: [docs/]\ntools: { blacklist: [x] }\n";
    asked.files.global.insert("settings.yaml".into(), settings(limits));
    let outside = |tool: &str, path: Option<&str>, files: &Files| may(None, tool, path, files).unwrap().text;
    assert_eq!(
        outside("bash", None, &asked.files),
        "confined: writable: docs/, and $TMPDIR, ~/workflows/settings.yaml:2; with network; pi's agent folder stays as it is"
    );
    assert_eq!(
        outside("write", Some("src/a"), &asked.files),
        "refused: \"src/a\" cannot be written; write, ~/workflows/settings.yaml:2"
    );
    asked.says("x", None, "refused: \"x\" is in tools.blacklist, ~/workflows/settings.yaml:3");
    asked.says(
        "read",
        None,
        "allowed: no rule of the phase \"a\" limits \"read\"; by your limits: none of your limits is about \"read\"",
    );
    asked.own.network = Some(false);
    asked.says(
        "bash",
        None,
        "confined: no network, .pi/workflows/w/a.md:9; by your limits: writable: docs/, and $TMPDIR, ~/workflows/settings.yaml:2; with network; pi's agent folder stays as it is",
    );
    asked.files.global.insert("settings.yaml".into(), settings("network: true\n"));
    assert_eq!(outside("write", Some("src/a"), &asked.files), "allowed: none of your limits is about \"write\"");
    asked.files.global.insert("settings.yaml".into(), settings("wirte: []\n"));
    assert_eq!(
        outside("read", None, &asked.files),
        "refused: the user's limits are not known: ~/workflows/settings.yaml:2:3: unknown field `wirte` in `limits`"
    );
    asked.files.global.remove("settings.yaml");
    assert_eq!(outside("write", Some("src/a"), &asked.files), "allowed: you have no limits");
}

#[test]
fn scripts_of_the_workflow_stay_as_they_are_where_the_phase_has_limits() {
    let mut files = Files::default();
    files.project.insert("w/workflow.yaml".into(), "phases: [a.md]\n".into());
    files.project.insert("w/a.md".into(), "---\nwrite: [.pi/]\n---\nDo.\n".into());
    files.project.insert("w/scripts/a.sh".into(), "true\n".into());
    let (library, _) = Library::load(&files).unwrap();
    let workflow = library.get("w").unwrap();
    let phase = workflow.own_phases().next().unwrap();
    let says = |tool, path| may(Some((phase, workflow, &library)), tool, Some(path), &files).unwrap();
    let kept = "/project/.pi/workflows/w/scripts stays as it is";
    let May { allowed, text } = says("edit", ".pi/workflows/w/scripts/a.sh");
    let why = "\".pi/workflows/w/scripts/a.sh\" cannot be written: a workflow's `scripts/` is part of its rules";
    assert_eq!((allowed, text), (false, format!("refused: {why}; {kept}")));
    assert!(says("edit", ".pi/workflows/w/b.md").allowed);
    assert!(says("bash", "").text.contains(kept));
    assert!(!says("read", ".pi/workflows/w/scripts/a.sh").text.contains(kept));
}
