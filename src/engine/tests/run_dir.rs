//! The folder of a run.

use super::*;

const NAME: &str = "0123456789abcdef0123";
const PATH: &str = ".pi/workflow-runs/0123456789abcdef0123";

/// A session with `w`, whose nested workflow `n` has a phase with this front matter and text.
fn session(phase: &str) -> Session {
    let mut session = Session::new(&[("other", &["x"])]);
    NAME.clone_into(&mut session.files.run_dir);
    for (path, text) in [
        ("w/workflow.yaml", "name: W\ncommandName: w\ninitialMessage: Go\nphases: [a.md, {subworkflow: n}]\n"),
        ("w/a.md", "---\nid: a\nname: A\nemoji: '*'\n---\nDo a.\n"),
        ("n/workflow.yaml", "name: N\nshow: workflows\nphases: [b.md]\n"),
    ] {
        session.files.global.insert(path.into(), text.into());
    }
    let phase = format!("---\nid: b\nname: B\nemoji: '*'\n{phase}");
    session.files.global.insert("n/b.md".into(), phase);
    let _ = session.restored(None);
    session
}

impl Session {
    /// The effects of a session that restores this run.
    fn restored(&mut self, stored: Option<RunState>) -> Vec<Effect> {
        self.on(Event::Session { stored, in_view: None, facts: Facts::default() }).effects
    }

    /// The folders that were opened since the last call, each with the folder to copy.
    fn opened(&self) -> Vec<(String, Option<String>)> {
        self.files.run_dirs.take()
    }

    fn stored_name(&self) -> Option<String> {
        let state: Value = serde_json::from_str(self.entries.first()?).unwrap();
        Some(state["progress"]["runDir"].as_str()?.to_owned())
    }

    fn errors(effects: &[Effect]) -> Vec<&str> {
        let errors = effects.iter().filter_map(|effect| match effect {
            Effect::Notify { level: Level::Error, text } => Some(&**text),
            _ => None,
        });
        errors.collect()
    }
}

#[test]
fn it_is_made_at_the_start_if_a_nested_workflow_names_it() {
    let mut session = session("---\nWrite {runDir}/report.md for {taskId}.\n");
    let _ = session.command("workflow", "other x");
    assert_eq!(session.opened(), []);
    assert_eq!(session.stored_name(), None);
    let mut session = self::session("---\nWrite {runDir}/report.md for {taskId}.\n");
    assert_eq!(Session::errors(&session.command("workflow", "w x").effects), [""; 0]);
    assert_eq!(session.opened(), [(TASK_ID.to_owned(), None)]);
    assert_eq!(session.stored_name().as_deref(), Some(NAME));
    let _ = session.on(Event::AgentStart);
    let (text, _) = session.step("next");
    assert!(text.contains(&format!("Write {PATH}/report.md for {TASK_ID}.")), "{text}");
}

#[test]
fn the_status_and_the_report_name_it() {
    let mut session = session("---\nSee {runDir}.\n");
    let _ = session.command("workflow", "w x");
    let shown = |session: &mut Session, control| {
        let effects = session.command("workflow", control).effects;
        effects.iter().map(|effect| format!("{effect:?}\n")).collect::<String>()
    };
    let status = shown(&mut session, ":status");
    assert!(status.contains(&format!("Folder: {PATH}")), "{status}");
    let report = shown(&mut session, ":report");
    assert!(report.contains(&format!("**Folder:** `{PATH}`")), "{report}");
    // Outside of pi the report names the folder by its stored name.
    let state = session.stored_run().unwrap();
    let report = crate::text::Report::of(state, crate::text::Circumstances::default());
    assert_eq!(serde_json::to_value(&report).unwrap()["runDir"], PATH);
}

#[test]
fn a_run_whose_folder_cannot_be_made_is_not_started() {
    let mut session = session("---\n{runDir}\n");
    session.files.no_run_dir = Some(".pi: it is a link".into());
    let output = session.command("workflow", "w x");
    let error = "The workflow is not started: the folder of the run cannot be made: .pi: it is a link";
    assert_eq!(output.effects, notice(Level::Error, error));
    assert!(session.engine.run.active().is_none() && session.stored_run().is_none());
    // Another workflow does not need the folder.
    assert_eq!(Session::errors(&session.command("workflow", "other x").effects), [""; 0]);
}

#[test]
fn a_session_that_restores_the_run_opens_it_and_names_the_one_that_is_stored() {
    let mut session = session("---\nSee {runDir}.\n");
    let _ = session.command("workflow", "w x");
    let run = session.stored_run().cloned();
    let _ = session.opened();
    let fork = "ffffffffffffffffffff";
    session.files.run_dir = fork.into();
    assert_eq!(Session::errors(&session.restored(run)), [""; 0]);
    assert_eq!(session.opened(), [(TASK_ID.to_owned(), Some(NAME.to_owned()))]);
    let _ = session.on(Event::AgentStart);
    let (text, _) = session.step("next");
    assert!(text.contains(&format!("See .pi/workflow-runs/{fork}.")), "{text}");
    assert_eq!(session.stored_name().as_deref(), Some(fork));
}

#[test]
fn a_process_that_gets_the_claim_late_opens_it_before_the_run_goes_on() {
    for takes_over in [true, false] {
        let with_step = || {
            let mut session = session("---\nGo.\n");
            let step = "- {run: ls, id: s, env: {dir: runDir}}";
            let workflow = format!("name: W\ncommandName: w\ninitialMessage: Go\nphases:\n{step}\n- a.md\n");
            session.files.global.insert("w/workflow.yaml".into(), workflow);
            session.ui = Ui::Terminal;
            session
        };
        let mut first = with_step();
        let _ = first.restored(None);
        let begun = first.command("workflow", "w x");
        assert!(matches!(&begun.reply, Reply::Ask { request: Request::Exec { .. }, .. }), "{begun:?}");
        let mut session = with_step();
        session.files.claim_obstacle.replace(Some(crate::run::ClaimObstacle::Unknown(1)));
        let _ = session.restored(first.stored_run().cloned());
        assert_eq!(session.opened(), [], "another process has it");
        let output = if takes_over {
            let _ = session.command("workflow", ":resume");
            session.on(Event::Answer { ticket: session.last_ticket, answer: Answer::Selected(1) })
        } else {
            session.files.claim_obstacle.replace(None);
            session.command("workflow", ":resume")
        };
        let Reply::Ask { request: Request::Exec { env, .. }, .. } = output.reply else {
            panic!("{takes_over}: {output:?}");
        };
        assert!(format!("{env:?}").contains(PATH), "{env:?}");
    }
}

#[test]
fn a_name_that_the_host_does_not_make_is_none() {
    let mut session = session("---\nSee {runDir}.\n");
    let _ = session.command("workflow", "w x");
    let _ = session.opened();
    for name in ["../../etc", "/etc", "", "0123456789abcdef012/"] {
        let entry = session.entries[0].replace(NAME, name);
        assert!(entry.contains(&format!("\"runDir\":\"{name}\"")));
        let _ = session.restored(restore([entry]));
        assert_eq!(session.opened(), [(TASK_ID.to_owned(), None)], "{name}");
    }
}

#[test]
fn a_run_without_its_folder_tells_the_user_and_runs_no_command_that_needs_it() {
    let gate = "gate: [{run: 'rm -rf \"$dir\"/x', env: {dir: runDir}}]\n---\nSee {runDir}.\n";
    let mut session = session(gate);
    let _ = session.command("workflow", "w x");
    let run = session.stored_run().cloned();
    session.files.no_run_dir = Some(".pi: permission denied".into());
    let effects = session.restored(run);
    assert_eq!(
        Session::errors(&effects),
        [
            "The folder of the run cannot be made: .pi: permission denied\nGates and commands that need it fail until it can be: fix this, and enter /reload."
        ]
    );
    let _ = session.on(Event::AgentStart);
    let (text, _) = session.step("next");
    assert!(text.contains("See (none)."), "{text}");
    let (text, _) = session.step("next");
    assert!(text.contains("dir has no value: the run has no folder"), "{text}");
    // With the folder the command gets the path.
    session.files.no_run_dir = None;
    let run = session.stored_run().cloned();
    assert_eq!(Session::errors(&session.restored(run)), [""; 0]);
    let reply = session.on(Event::Step { input: r#"{"action":"next"}"#, nested: false }).reply;
    let Reply::Ask { request: Request::Exec { env, .. }, .. } = reply else { panic!("{reply:?}") };
    assert_eq!(env, [("dir".to_owned(), PATH.to_owned())]);
}

#[test]
fn it_is_made_when_the_user_accepts_rules_that_need_it() {
    let mut session = session("---\nDo b.\n");
    let _ = session.command("workflow", "w x");
    let run = session.stored_run().cloned();
    assert_eq!(session.opened(), []);
    let phase = session.files.global.get_mut("n/b.md").unwrap();
    *phase = phase.replace("Do b.", "See {runDir}.");
    let _ = session.restored(run);
    assert_eq!(session.opened(), []);
    assert!(session.engine.run.active().is_none());
    let _ = session.resume("");
    assert_eq!(session.opened(), [(TASK_ID.to_owned(), None)]);
    let _ = session.on(Event::AgentStart);
    let (text, _) = session.step("next");
    assert!(text.contains(&format!("See {PATH}.")), "{text}");
}

#[test]
fn a_long_task_lies_in_the_folder_and_is_whole_for_commands() {
    let task = format!("{}\nEND", "é ".repeat(8000));
    let start = format!("w {task}");
    // The workflow names no folder.
    let mut session = session("gate: [{run: 'true', env: {task: task}}]\n---\nDo {description}\n");
    for (dir, file, reason) in
        [(Some(".pi: it is a link"), None, ".pi: it is a link"), (None, Some("task.md: full"), "task.md: full")]
    {
        (session.files.no_run_dir, session.files.no_run_file) = (dir.map(Into::into), file.map(Into::into));
        let error = format!("The workflow is not started: the folder of the run cannot be made: {reason}");
        assert_eq!(session.command("workflow", &start).effects, notice(Level::Error, &error));
        assert!(session.engine.run.active().is_none() && session.stored_run().is_none());
    }
    (session.files.no_run_dir, session.files.no_run_file) = (None, None);
    session.files.run_files.take();
    let effects = session.command("workflow", &start).effects;
    assert!(session.files.run_files.take() == [(format!("{TASK_ID}/task.md"), task.clone())]);
    let whole = effects.iter().find_map(|effect| match effect {
        Effect::AppendEntry { custom_type: "workflow:task", data } => Some(data.to_string()),
        _ => None,
    });
    // An entry of another run, with another task.
    session.files.tasks = vec![r#"{"taskId":"t","text":"x"}"#.into(), "null".into(), whole.unwrap()];
    let shown = format!(
        "…\n\n[This is the beginning of the task, which has 16004 characters. The whole task is in {PATH}/task.md: read that file first.]"
    );
    assert!(session.entries[0].len() < 10_000 && !session.entries[0].contains("END"), "{}", session.entries[0]);
    // Another session restores the run; an agent may have changed the file.
    let stored = session.stored_run().cloned();
    assert!(stored.as_ref().unwrap().whole_task().is_none());
    assert_eq!(Session::errors(&session.restored(stored)), [""; 0]);
    assert!(session.files.run_files.take() == [(format!("{TASK_ID}/task.md"), task.clone())]);
    let _ = session.on(Event::AgentStart);
    let (text, _) = session.step("next");
    assert!(text.contains(&format!("Do {}{shown}", "é ".repeat(2000).trim())), "{text}");
    let next = |session: &mut Session| session.on(Event::Step { input: r#"{"action":"next"}"#, nested: false });
    let reply = next(&mut session).reply;
    let Reply::Ask { request: Request::Exec { env, .. }, .. } = reply else { panic!("{reply:?}") };
    assert!(env == [("task".to_owned(), task)]);
    // Without the entry no command gets the beginning for the whole.
    for entry in [None, Some(format!(r#"{{"taskId":"{TASK_ID}","text":"Do less"}}"#))] {
        session.files.tasks = entry.into_iter().collect();
        let stored = session.stored_run().cloned();
        let _ = session.restored(stored);
        let _ = session.on(Event::AgentStart);
        let (text, _) = session.step("next");
        assert!(text.contains("task has no value: the session does not have the whole task"), "{text}");
    }
    // The bound of all tasks.
    let _ = session.command("workflow", ":cancel");
    let output = session.command("workflow", &format!("other {}", "é".repeat((1 << 19) + 1)));
    assert!(
        matches!(&output.effects[..], [Effect::Notify { level: Level::Error, text }] if text.starts_with("The task has 1048578 bytes;"))
    );
}
