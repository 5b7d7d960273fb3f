//! Workflows of installed packages in a session.

use super::*;
use crate::definition::PackageScope;
use crate::definition::fixtures::package;

const GATE: &str = "---\nid: a\nname: A\nemoji: '*'\ngate: [{run: make test}]\n---\nDo it.";

/// The user has a workflow `review`; the package `kit` has `review` and `ship`.
fn session(scope: PackageScope) -> Session {
    let mut session = Session::new(&[("review", &["a", "b"])]);
    let flow = |name: &str| {
        format!("name: The kit's {name}\ncommandName: {name}\ndescription: D\ninitialMessage: Go\nphases: [../a.md]\n")
    };
    let files = [
        ("workflows/a.md", GATE),
        ("workflows/review/workflow.yaml", &*flow("review")),
        ("workflows/ship/workflow.yaml", &*flow("ship")),
    ];
    session.files.packages = vec![package("@acme/kit", scope, r#"["workflows"]"#, &files)];
    session
}

impl Session {
    fn key_of_run(&self) -> Option<&str> {
        self.stored_run().filter(|state| state.is_running()).map(|state| &*state.workflow_key)
    }
}

#[test]
fn the_name_of_the_package_starts_its_workflow() {
    for scope in [PackageScope::User, PackageScope::Project] {
        for (name, key) in [
            ("review", "review"),
            ("@acme/kit/review", "@acme/kit/review"),
            ("ship", "@acme/kit/ship"),
            ("@acme/kit/ship", "@acme/kit/ship"),
        ] {
            let mut session = session(scope);
            session.engine.session.facts.allow_commands = true;
            let output = session.command("workflow", &format!("{name} x"));
            assert_eq!(output.reply, Reply::Settle, "{name}: no question");
            assert_eq!(session.key_of_run(), Some(key), "{name}");
        }
    }
}

#[test]
fn an_unknown_name_lists_the_names_that_start() {
    let mut session = session(PackageScope::User);
    let text = "Unknown workflow: \"kit/review\". Available: review, @acme/kit/review, ship";
    let effects = session.command("workflow", "kit/review x").effects;
    assert_eq!(effects, notice(Level::Error, text));
}

#[test]
fn the_picker_tells_the_package() {
    let mut session = session(PackageScope::User);
    session.ui = Ui::Terminal;
    session.engine.session.facts.allow_commands = true;
    let Reply::Ask { ticket, request } = session.command("workflow", "").reply else { panic!() };
    let Request::Select { options, .. } = request else { panic!() };
    assert_eq!(
        options,
        [
            "review — The review: Do a.  (~/workflows/review)",
            "@acme/kit/review — The kit's review: D  (package @acme/kit)",
            "ship — The kit's ship: D  (package @acme/kit)",
        ]
    );
    let answer = Answer::Selected(1);
    let Reply::Ask { ticket, .. } = session.on(Event::Answer { ticket, answer }).reply else { panic!() };
    let answer = Answer::Entered("x".into());
    assert_eq!(session.on(Event::Answer { ticket, answer }).reply, Reply::Settle);
    assert_eq!(session.key_of_run(), Some("@acme/kit/review"));
}

#[test]
fn completions_have_the_package_where_the_name_means_another() {
    let mut session = session(PackageScope::User);
    let _ = session.engine.complete("", &session.files);
    for (prefix, values) in [
        ("r", &["review"][..]),
        ("@", &["@acme/kit/review", "@acme/kit/ship"]),
        ("@acme/kit/sh", &["@acme/kit/ship"]),
        ("@acme/kit/ship", &[]),
        ("sh", &["ship"]),
        (":graph @acme/kit/r", &[":graph @acme/kit/review"]),
    ] {
        let completions = session.engine.complete(prefix, &session.files);
        let completed: Vec<&str> = completions.iter().map(|one| one.value.as_str()).collect();
        assert_eq!(completed, values, "{prefix:?}");
    }
}

#[test]
fn commands_of_a_package_need_consent() {
    for scope in [PackageScope::User, PackageScope::Project] {
        let mut session = session(scope);
        let _ = session.without_ui(Event::Command { name: "workflow", arguments: "ship x" });
        let _ = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
        let _ = session.on(Event::AgentStart);
        let next = Event::Step { input: r#"{"action":"next"}"#, nested: false };
        let Reply::Ask { request, .. } = session.on(next).reply else { panic!() };
        let Request::Select { title, .. } = request else { panic!("{request:?}") };
        assert_eq!(title, "Gate \"A\" of the package \"@acme/kit\" runs:\n│ make test\nAllow it?");
        session.ui = Ui::Terminal;
        let declined = Event::Answer { ticket: session.last_ticket, answer: Answer::Selected(0) };
        let output = session.on(declined);
        let expected = "⏸ The kit's ship is paused in * A: it runs commands of the package “@acme/kit” that you have not allowed.\nYour next message resumes it, or /workflow :resume; then the gate asks you again.";
        assert!(output.effects.contains(&notice(Level::Warning, expected)[0]), "{output:?}");
    }
}

#[test]
fn the_check_tells_the_package() {
    let mut session = session(PackageScope::User);
    let effects = session.command("workflow", ":check").effects;
    let Some(Effect::AppendEntry { data, .. }) = effects.first() else { panic!("{effects:?}") };
    let text = data["content"].as_str().unwrap();
    let line = "`/workflow review` starts \"review\" (~/workflows/review/workflow.yaml), not this workflow of the package \"@acme/kit\"";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("help: `/workflow @acme/kit/review` starts this one"), "{text}");
    assert!(text.ends_with("0 errors, 1 warning. From packages: @acme/kit (2)."), "{text}");
}

#[test]
fn a_package_does_not_take_the_name_of_a_workflow_with_errors() {
    let mut session = session(PackageScope::Project);
    session.files.global.insert("review/workflow.yaml".into(), "name: [".into());
    let effects = session.command("workflow", "review x").effects;
    let text = "The workflow \"review\" has errors: /workflow :check shows them.";
    assert!(effects.ends_with(&notice(Level::Error, text)), "{effects:?}");
    session.engine.session.facts.allow_commands = true;
    let _ = session.command("workflow", "@acme/kit/review x");
    assert_eq!(session.key_of_run(), Some("@acme/kit/review"));
}
