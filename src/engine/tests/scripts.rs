//! The folder of a workflow as a value, and the files in `scripts/`.

use super::*;

/// The project's workflow `w`, with this first phase and the file `scripts/a.sh`, in which the user's workflow `n` is nested.
fn session(phase: &str) -> Session {
    let mut session = Session::new(&[("n", &["b"])]);
    for (path, text) in [
        (
            "w/workflow.yaml",
            "name: W\ncommandName: w\ninitialMessage: In {workflowDir}\nphases: [a.md, {subworkflow: n}]\n",
        ),
        ("w/scripts/a.sh", "true\n"),
        ("w/a.md", &format!("---\n{phase}---\nIn {{workflowDir}}.\n")),
    ] {
        session.files.project.insert(path.into(), text.into());
    }
    let nested = "---\n---\nNested in {workflowDir}.\n";
    session.files.global.insert("n/b.md".into(), nested.into());
    session.files.global.insert("n/scripts/b.sh".into(), "true\n".into());
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    session
}

impl Session {
    fn is_held(&mut self) -> bool {
        let _ = self.on(Event::Step { input: r#"{"action":"status"}"#, nested: false });
        self.engine.run.held().is_some()
    }

    /// The title of the question of this output, with what is shown above it.
    fn whole_question(output: &Output) -> String {
        let Reply::Ask { request: Request::Select { title, .. }, .. } = &output.reply else { panic!("{output:?}") };
        title.to_string()
    }
}

#[test]
fn each_workflow_has_its_own_folder_in_texts_and_commands() {
    let mut session = session("gate: [{ run: 'sh \"$d/scripts/a.sh\"', env: { d: workflowDir } }]\n");
    session.engine.session.facts.allow_commands = true;
    let output = session.command("workflow", "w x");
    let prompts = output
        .effects
        .iter()
        .any(|effect| matches!(effect, Effect::SendUserMessage(text) if text == "In /project/.pi/workflows/w"));
    assert!(prompts, "{output:?}");
    let prompt = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker }).reply;
    assert!(format!("{prompt:?}").contains("In /project/.pi/workflows/w."), "{prompt:?}");
    let _ = session.on(Event::AgentStart);
    let Reply::Ask { ticket, request: Request::Exec { env, .. } } =
        session.on(Event::Step { input: r#"{"action":"next"}"#, nested: false }).reply
    else {
        panic!("no command");
    };
    assert_eq!(env, [("d".to_owned(), "/project/.pi/workflows/w".to_owned())]);
    let reply = session.on(Event::Answer { ticket, answer: entries::ran(0, "") }).reply;
    assert!(format!("{reply:?}").contains("Nested in /home/workflows/n."), "{reply:?}");
}

#[test]
fn a_change_holds_the_run_until_the_user_accepts_it() {
    type Change = fn(&mut Files);
    let changes: [Change; 5] = [
        |files| drop(files.project.insert("w/scripts/a.sh".into(), "false\n".into())),
        |files| drop(files.project.remove("w/scripts/a.sh")),
        |files| drop(files.project.insert("w/scripts/more".into(), String::new())),
        |files| drop(files.global.insert("n/scripts/b.sh".into(), "false\n".into())),
        |files| drop(files.project.insert("w/scripts/large".into(), "x".repeat((1 << 20) + 1))),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let mut session = session("");
        let _ = session.command("workflow", "w x");
        assert!(!session.is_held());
        let before = (session.files.project.clone(), session.files.global.clone());
        change(&mut session.files);
        assert!(session.is_held(), "{index}");
        // A file that cannot be part of the rules cannot be accepted.
        let asks = matches!(session.command("workflow", ":resume").reply, Reply::Ask { .. });
        assert_eq!(asks, index != 4, "{index}");
        (session.files.project, session.files.global) = before;
        let _ = session.command("workflow", ":resume");
        assert!(!session.is_held(), "{index}");
    }
    let mut session = session("");
    let _ = session.command("workflow", "w x");
    session.files.project.insert("w/scripts/a.sh".into(), "false\n".into());
    assert!(session.is_held());
    let question = session.command("workflow", ":resume").reply;
    let text = format!("{question:?}");
    assert!(
        text.contains("- w: scripts/: 1 file, SHA-256 ") && text.contains("+ w: scripts/: 1 file, SHA-256 "),
        "{text}"
    );
    let Reply::Ask { ticket, .. } = question else { panic!("{question:?}") };
    let _ = session.on(Event::Answer { ticket, answer: Answer::Confirmed(true) });
    assert!(!session.is_held());
}

#[test]
fn a_consent_is_to_the_files_as_they_are() {
    let gate = "gate: [{ run: one }, { run: two }]\n";
    let mut session = session(gate);
    let output = session.command("workflow", "w x");
    let question = Session::whole_question(&output);
    assert_eq!(question.matches("│ with .pi/workflows/w/scripts/: 1 file, SHA-256\n").count(), 1, "{question}");
    assert!(!question.contains("/n/"), "the user's own are allowed: {question}");
    let Reply::Ask { ticket, .. } = output.reply else { panic!("{output:?}") };
    // Always in this folder.
    let output = session.on(Event::Answer { ticket, answer: Answer::Selected(3) });
    for effect in &output.effects {
        if let Effect::Remember { key, value } = effect {
            session.files.kept.insert(key.clone(), value.clone());
        }
    }
    assert_eq!(session.files.kept.len(), 3, "two commands and the files");
    let kept = session.files.kept.clone();
    let starts = |files: Option<&str>, gate: &str| {
        let mut session = self::session(gate);
        session.files.kept = kept.clone();
        if let Some(text) = files {
            session.files.project.insert("w/scripts/a.sh".into(), text.into());
        }
        let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
        session.command("workflow", "w x")
    };
    assert!(!matches!(starts(None, gate).reply, Reply::Ask { .. }));
    let changed = Session::whole_question(&starts(Some("false\n"), gate));
    assert!(changed.contains("scripts/: 1 file") && !changed.contains("│ one"), "{changed}");
    assert!(!matches!(starts(Some("false\n"), "").reply, Reply::Ask { .. }), "no command needs them");
}

#[test]
fn files_that_change_during_the_question_are_asked_for_anew() {
    let mut session = session("gate: [{ run: one }]\n");
    let asked = session.command("workflow", "w x");
    session.files.project.insert("w/scripts/a.sh".into(), "false\n".into());
    let answer = |session: &mut Session| {
        let (ticket, answer) = (session.last_ticket, Answer::Selected(1));
        session.on(Event::Answer { ticket, answer })
    };
    let again = Session::whole_question(&answer(&mut session));
    assert!(again.contains("scripts/: 1 file") && again != Session::whole_question(&asked), "{again}");
    assert!(!session.engine.has_run());
    let output = answer(&mut session);
    assert!(session.engine.has_run(), "{output:?}");
}

#[test]
fn a_phase_with_limits_cannot_write_them() {
    let kept = ["/project/.pi/workflows/w/scripts".to_owned(), "/home/workflows/n/scripts".to_owned()];
    for (rules, within) in [
        ("write: [.pi/, ~/workflows/]\n", ".pi/workflows/w/notes.md"),
        ("hide: [.env]\n", "src/a.rs"),
        ("network: false\n", "src/a.rs"),
    ] {
        let mut session = session(rules);
        let _ = session.command("workflow", "w x");
        let _ = session.on(Event::AgentStart);
        let mut call = |tool: &str, path: &str| {
            session.files.call_arguments = [("path".to_owned(), path.to_owned())].into();
            session.on(Event::ToolCall { name: tool, carries_calls: false }).reply
        };
        for path in [
            ".pi/workflows/w/scripts/a.sh",
            ".pi/workflows/w/scripts/new",
            ".pi/x/../workflows/w/scripts",
            "~/workflows/n/scripts/b.sh",
        ] {
            let Reply::Block(reason) = call("write", path) else { panic!("{rules}{path}") };
            let expected = format!(
                "[workflow] \"{path}\" cannot be written in the A phase: a workflow's `scripts/` is part of its rules."
            );
            assert_eq!(reason, expected);
        }
        for reply in [call("write", within), call("bash", "")] {
            let Reply::Confine { kept: of, notice, .. } = &reply else { panic!("{rules}{reply:?}") };
            assert_eq!(of[..], kept, "{rules}");
            assert!(
                notice.is_empty() || notice.contains("cannot write /project/.pi/workflows/w/scripts, /home"),
                "{notice}"
            );
        }
        assert!(!matches!(call("read", ".pi/workflows/w/scripts/a.sh"), Reply::Block(_)), "{rules}");
    }
    let mut session = session("");
    let _ = session.command("workflow", "w x");
    let _ = session.on(Event::AgentStart);
    assert_eq!(session.on(Event::ToolCall { name: "bash", carries_calls: false }).reply, Reply::None);
}
