//! A project's workflow in the place of one of the user's own.

use super::*;

const NO: Answer = Answer::Selected(0);
const YES: Answer = Answer::Selected(1);

fn facts() -> Facts {
    Facts { project: "/p".into(), ..Facts::default() }
}

/// The user's workflows of these phases, and the project's.
fn session(own: &[(&str, &[&str])], project: &[(&str, &[&str])]) -> Session {
    let theirs = Session::new(project).files.global;
    let mut session = Session::new(own);
    session.files.project = theirs;
    session.begin(facts());
    session
}

impl Session {
    fn begin(&mut self, facts: Facts) {
        let _ = self.on(Event::Session { stored: None, in_view: None, facts });
    }

    fn answer_to(&mut self, ticket: u64, answer: Answer) -> Output {
        self.on(Event::Answer { ticket, answer })
    }

    fn runs(&self) -> Option<&str> {
        self.stored_run().filter(|state| state.is_running()).map(|state| &*state.workflow_key)
    }
}

#[track_caller]
fn question(output: Output) -> (u64, String) {
    match output.reply {
        Reply::Ask { ticket, request: Request::Select { title, options } } => {
            assert_eq!(options, ["No", "Yes"]);
            (ticket, title.into())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_replacement_is_asked_about_before_its_first_start() {
    let mut session = session(&[("rpir", &["a"])], &[("rpir", &["b"])]);
    for answer in [NO, Answer::Cancelled, Answer::Selected(7), Answer::Confirmed(true)] {
        let (ticket, title) = question(session.command("workflow", "rpir x"));
        assert_eq!(title, "This project's \"rpir\" replaces yours. Start it?");
        let output = session.answer_to(ticket, answer);
        assert_eq!(output.effects, notice(Level::Info, "The workflow is not started."));
        assert_eq!(session.runs(), None);
    }
    let (ticket, _) = question(session.command("workflow", "rpir x"));
    let output = session.answer_to(ticket, YES);
    let Effect::Remember { key, value } = &output.effects[0] else { panic!("{output:?}") };
    assert_eq!(value, r#"["/p","1:2:3","rpir"]"#);
    session.files.kept.insert(key.clone(), value.clone());
    assert_eq!((session.runs(), &output.reply), (Some("rpir"), &Reply::Settle));

    // In this session the yes is known; in another session, the value that is stored for this folder counts.
    let _ = session.command("cancel-workflow", "");
    assert_eq!(session.command("workflow", "rpir x").reply, Reply::Settle);
    for (identity, asks) in [("1:2:3", false), ("1:9:3", true)] {
        let _ = session.command("cancel-workflow", "");
        let _ = session.on(Event::SessionShutdown);
        session.files.identity = Some(identity.into());
        session.begin(facts());
        let output = session.command("workflow", "rpir x");
        assert_eq!(matches!(output.reply, Reply::Ask { .. }), asks, "{identity}");
        assert_eq!(session.runs().is_none(), asks);
    }
}

#[test]
fn nested_replacements_are_asked_about_one_by_one() {
    let own: &[(&str, &[&str])] =
        &[("mine", &["a", "@review", "@tidy"]), ("review", &["b"]), ("tidy", &["c"]), ("x", &["d"])];
    let project: &[(&str, &[&str])] =
        &[("review", &["b"]), ("tidy", &["@other"]), ("other", &["e"]), ("theirs", &["f"])];
    let mut session = session(own, project);
    let (ticket, title) = question(session.command("workflow", "mine x"));
    let expected = "This project's \"review\" replaces yours. It is part of \"mine\". Start it?";
    assert_eq!(title, expected);
    let (ticket, title) = question(session.answer_to(ticket, YES));
    assert!(title.starts_with("This project's \"tidy\" replaces yours. It is part of \"mine\"."));
    assert_eq!(session.answer_to(ticket, YES).reply, Reply::Settle);
    assert_eq!(session.runs(), Some("mine"));
    // A workflow that replaces none needs no confirmation.
    for name in ["x", "theirs", "other"] {
        let _ = session.command("cancel-workflow", "");
        assert_eq!(session.command("workflow", &format!("{name} x")).reply, Reply::Settle, "{name}");
    }
}

#[test]
fn every_start_asks_about_replacements() {
    let mut session = session(&[("rpir", &["a"]), ("x", &["d"])], &[("rpir", &["b"])]);
    session.ui = Ui::Terminal;
    session.begin(facts());
    // The picker.
    let Reply::Ask { ticket, request: Request::Select { options, .. } } = session.command("workflow", "").reply else {
        panic!()
    };
    let index = options.iter().position(|option| option.starts_with("rpir")).unwrap();
    let Reply::Ask { ticket, .. } = session.answer_to(ticket, Answer::Selected(index)).reply else { panic!() };
    let (ticket, _) = question(session.answer_to(ticket, Answer::Entered("a task".into())));
    let _ = session.answer_to(ticket, NO);
    assert_eq!(session.runs(), None);
    // Another start beside a run.
    let _ = session.command("workflow", "x y");
    let Reply::Ask { ticket, request: Request::Select { .. } } = session.command("workflow", "rpir x").reply else {
        panic!()
    };
    let (ticket, _) = question(session.answer_to(ticket, Answer::Selected(1)));
    let _ = session.answer_to(ticket, NO);
    assert_eq!(session.runs(), Some("x"));
}

#[test]
fn without_a_ui_a_replacement_is_told_and_starts() {
    let mut session = session(&[("mine", &["@rpir"]), ("rpir", &["a"])], &[("rpir", &["b"])]);
    session.ui = Ui::None;
    session.begin(facts());
    let output = session.without_ui(Event::Command { name: "workflow", arguments: "mine x" });
    let text = "This project's \"rpir\" replaces yours. It is part of \"mine\".";
    assert_eq!(output.effects[..1], notice(Level::Warning, text));
    assert_eq!((session.runs(), &output.reply), (Some("mine"), &Reply::Settle));
    assert!(!output.effects.contains(&Effect::SetExitCode(1)));
}

#[test]
fn a_workflow_is_replaced_by_key_in_any_case_and_by_name_also_if_it_has_errors() {
    let asks = |session: &mut Session, name: &str| {
        let output = session.command("workflow", &format!("{name} x"));
        matches!(output.reply, Reply::Ask { .. })
    };
    assert!(asks(&mut session(&[("Rpir", &["a"])], &[("rpir", &["b"])]), "rpir"));

    let mut broken = session(&[("rpir", &["a"])], &[("rpir", &["b"])]);
    broken.files.global.insert("rpir/workflow.yaml".into(), "name: [".into());
    broken.begin(facts());
    assert!(asks(&mut broken, "rpir"));

    // The command name of one of the user's workflows, for another key.
    let mut renamed = session(&[("rpir", &["a"])], &[("other", &["b"]), ("outer", &["@other"])]);
    let yaml = renamed.files.project.get_mut("other/workflow.yaml").unwrap();
    *yaml = yaml.replace("commandName: other", "commandName: rpir");
    renamed.files.global.insert("rpir/workflow.yaml".into(), "name: [".into());
    renamed.begin(facts());
    assert!(asks(&mut renamed, "rpir"));
    assert!(!asks(&mut renamed, "outer"));

    // The user's own workflows, and one of the project that replaces none.
    assert!(!asks(&mut session(&[("rpir", &["a"])], &[("other", &["b"])]), "rpir"));
    assert!(!asks(&mut session(&[("rpir", &["a"])], &[("other", &["b"])]), "other"));
    // A workflow of the project with errors replaces none.
    let mut theirs = session(&[("rpir", &["a"])], &[("rpir", &["b"])]);
    theirs.files.project.insert("rpir/workflow.yaml".into(), "name: [".into());
    theirs.begin(facts());
    assert!(!asks(&mut theirs, "rpir"));
}

#[test]
fn without_an_identity_of_the_project_a_yes_holds_for_the_session() {
    let mut session = session(&[("rpir", &["a"])], &[("rpir", &["b"])]);
    session.files.identity = None;
    let (ticket, _) = question(session.command("workflow", "rpir x"));
    let output = session.answer_to(ticket, YES);
    assert!(!output.effects.iter().any(|effect| matches!(effect, Effect::Remember { .. })));
    let _ = session.command("cancel-workflow", "");
    assert_eq!(session.command("workflow", "rpir x").reply, Reply::Settle);
    let _ = session.on(Event::SessionShutdown);
    session.begin(facts());
    let _ = question(session.command("workflow", "rpir x"));
}

/// A workflow of the project with a parallel group of this many items, of which these run at a time.
fn with_agents(items: usize, at_once: usize) -> Session {
    let mut session = session(&[], &[("r", &["a"])]);
    let items: Vec<String> = (0..items).map(|item| format!("i{item}")).collect();
    let yaml = session.files.project.get_mut("r/workflow.yaml").unwrap();
    let (head, _) = yaml.split_once("phases:").unwrap();
    *yaml = format!(
        "{head}phases:\n  - {{ phases: [p.md], each: [{}], parallel: {at_once} }}\n  - a.md\n",
        items.join(", ")
    );
    let phase = "---\nid: p\nname: P\nemoji: '*'\nwrite: []\n---\nDo it.\n";
    session.files.project.insert("r/p.md".into(), phase.into());
    session
}

#[test]
fn many_agents_are_asked_about_once() {
    let mut session = with_agents(8, 4);
    assert!(!matches!(session.command("workflow", "r x").reply, Reply::Ask { request: Request::Select { .. }, .. }));
    let mut session = with_agents(9, 4);
    let (ticket, title) = question(session.command("workflow", "r x"));
    assert_eq!(title, "Start \"The r\"? It may start 9 agents, 4 at a time.");
    let output = session.answer_to(ticket, NO);
    assert_eq!(output.effects, notice(Level::Info, "The workflow is not started."));
    assert_eq!(session.runs(), None);
    let (ticket, _) = question(session.command("workflow", "r x"));
    let output = session.answer_to(ticket, YES);
    let Effect::Remember { key, value } = &output.effects[0] else { panic!("{output:?}") };
    assert_eq!(value, r#"["/p","1:2:3","r//0 9 4"]"#);
    assert_eq!(session.runs(), Some("r"));
    // The yes holds in another session, and for as many agents only.
    for (agents, asks) in [(9, false), (10, true)] {
        let mut other = with_agents(agents, 4);
        other.files.kept.insert(key.clone(), value.clone());
        let reply = other.command("workflow", "r x").reply;
        assert_eq!(matches!(reply, Reply::Ask { request: Request::Select { .. }, .. }), asks, "{agents}");
    }
}
