//! The consent to the commands of a run, before it starts.

use std::collections::BTreeMap;

use super::*;

const NO: Answer = Answer::Selected(0);
const FOR_THIS_RUN: Answer = Answer::Selected(1);
const OPTIONS: [&str; 4] = ["No", "Yes, for this run", "Yes, for this session", "Yes, always in this folder"];

/// The project's workflow `flat` (a, inner, c) with the commands `one`, `two` (of `inner`), `three`.
fn session() -> Session {
    let mut session = Session::new(&[("flat", &["a", "@inner", "c"]), ("inner", &["b"])]);
    for (file, lines) in [
        ("flat/a.md", "gate: [{run: one}]\nmodel: [strong, p/m]\n"),
        ("inner/b.md", "gate: [{run: two}, {run: one}]\nbudget: {turns: 5}\n"),
        ("flat/c.md", "gate: [{run: \"three\\nfour\"}]\n"),
    ] {
        let text = session.files.global.get_mut(file).unwrap();
        *text = text.replacen("emoji: '*'\n", &format!("emoji: '*'\n{lines}"), 1);
    }
    session.ask_after("flat/c.md");
    session.files.project = std::mem::take(&mut session.files.global);
    let facts = Facts { project: "/p".into(), ..Facts::default() };
    let _ = session.on(Event::Session { stored: None, in_view: None, facts });
    session
}

impl Session {
    fn reply_to(&mut self, ticket: u64, answer: Answer) -> Output {
        self.on(Event::Answer { ticket, answer })
    }

    fn is_started(&self) -> bool {
        self.stored_run().is_some_and(RunState::is_running)
    }

    /// Starts `flat`; nothing is remembered. Returns the question, with its ticket.
    #[track_caller]
    fn start_question(&mut self) -> (u64, String, Vec<Effect>) {
        let output = self.command("workflow", "flat x");
        match output.reply {
            Reply::Ask { ticket, request: Request::Select { title, options } } => {
                assert_eq!(options, OPTIONS);
                (ticket, title.into(), output.effects)
            }
            other => panic!("{other:?}"),
        }
    }

    /// The request to which the agent's `next` leads.
    fn request_of_next(&mut self) -> Option<Request> {
        let _ = self.on(Event::TurnEnd { queued: false, calls: &[] });
        match self.on(Event::Step { input: r#"{"action":"next"}"#, nested: false }).reply {
            Reply::Ask { request, .. } => Some(request),
            _ => None,
        }
    }
}

const PREVIEW: &str = "\"good\" asks you:\n│ Good?\nModel of \"a\":\n│ strong, p/m\n\"b\": budget: 5 turns\n\
    Project gate \"a\" runs:\n│ one\nProject gate \"b\" runs:\n│ two\n\
    Project gate \"c\" runs:\n│ three\n│ four";

#[test]
fn all_commands_of_a_run_are_asked_for_before_it_starts() {
    let (_, title, effects) = session().start_question();
    assert_eq!(title, format!("Start \"The flat\"? Its gates run commands:\n{PREVIEW}"));
    assert_eq!(effects, []);
    let mut session = session();
    session.ui = Ui::Terminal;
    let (_, title, effects) = session.start_question();
    assert_eq!(title, "Start \"The flat\"? Its gates run\n3 commands, 4 lines: shown above");
    let [Effect::AppendEntry { custom_type: STATUS_TYPE, data }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(data["content"], format!("Start \"The flat\":\n{PREVIEW}"));
}

#[test]
fn no_starts_nothing() {
    for answer in [NO, Answer::Cancelled, Answer::Selected(7), Answer::Confirmed(true)] {
        let mut session = session();
        let (ticket, ..) = session.start_question();
        let output = session.reply_to(ticket, answer);
        assert_eq!(output.effects, notice(Level::Info, "The workflow is not started."));
        assert_eq!((output.reply, session.is_started()), (Reply::None, false));
    }
}

#[test]
fn a_yes_is_for_the_run_the_session_or_the_folder() {
    for (option, asks_again, kept) in [(1, true, 0), (2, false, 0), (3, true, 3)] {
        let mut session = session();
        let (ticket, ..) = session.start_question();
        let mut output = session.reply_to(ticket, Answer::Selected(option));
        let remembered = output.effects.iter().filter(|one| matches!(one, Effect::Remember { .. })).count();
        assert_eq!(remembered, kept);
        output.effects.retain(|one| matches!(one, Effect::SendUserMessage(_)));
        assert_eq!((output.effects.len(), session.is_started()), (1, true));
        let _ = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
        let _ = session.on(Event::AgentStart);
        let request = session.request_of_next();
        assert!(matches!(request, Some(Request::Exec { .. })), "{request:?}");
        let _ = session.command("workflow", ":cancel");
        let asks = matches!(session.command("workflow", "flat x").reply, Reply::Ask { .. });
        assert_eq!(asks, asks_again, "{option}");
    }
}

#[test]
fn what_is_remembered_is_not_asked_for() {
    let kept = |commands: [&str; 3]| -> BTreeMap<String, String> {
        let value = |command| json!(["/p", "1:2:3", command]).to_string();
        let key = |value: &str| format!("allowed-command-{}", state::fingerprint(value));
        commands.map(value).map(|value| (key(&value), value)).into()
    };
    let mut session = session();
    session.files.kept = kept(["one", "two", "three\nfour"]);
    let _ = session.command("workflow", "flat x");
    assert!(session.is_started());
    // One command has changed.
    let mut session = self::session();
    session.files.kept = kept(["one", "two ", "three\nfour"]);
    let output = session.command("workflow", "flat x");
    let Reply::Ask { request: Request::Select { title, .. }, .. } = output.reply else { panic!() };
    assert!(title.ends_with("│ two") && !title.contains("│ one\n"), "{title}");
    assert!(!session.is_started());
}

#[test]
fn without_a_ui_and_with_the_flag_a_run_starts_as_before() {
    let mut session = session();
    let start = Event::Command { name: "workflow", arguments: "flat x" };
    assert_eq!(session.without_ui(start).reply, Reply::Settle);
    assert!(session.is_started());
    let mut session = self::session();
    session.engine.session.facts.allow_commands = true;
    let _ = session.command("workflow", "flat x");
    assert!(session.is_started());
}

#[test]
fn a_command_that_is_new_is_asked_for_at_its_gate() {
    let mut session = session();
    let (ticket, ..) = session.start_question();
    let _ = session.reply_to(ticket, FOR_THIS_RUN);
    let _ = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
    let _ = session.on(Event::AgentStart);
    let text = session.files.project.get_mut("flat/a.md").unwrap();
    *text = text.replace("{run: one}", "{run: one}, {run: new}");
    let _ = session.command("workflow", ":check");
    let _ = session.resume("");
    let Some(Request::Select { title, .. }) = session.request_of_next() else { panic!() };
    assert!(title.ends_with("runs:\n│ new\nAllow it?"), "`one` is allowed: {title}");
}

#[test]
fn entries_that_may_be_passed_over_are_marked_and_each_workflow_is_shown_once() {
    let mut session =
        Session::new(&[("flat", &["a", "@inner", "@inner"]), ("inner", &["b", "@deep"]), ("deep", &["c"])]);
    let flat = session.files.global.get_mut("flat/workflow.yaml").unwrap();
    *flat = "name: F\ncommandName: flat\ninitialMessage: Go\n\
        inputs: {size: {type: choice, options: [small, large]}}\n\
        phases:\n  - phase: a.md\n    when: {input.size: large}\n  - subworkflow: inner\n    when: {input.size: large}\n  - subworkflow: deep\n"
        .into();
    for file in ["flat/a.md", "inner/b.md", "deep/c.md"] {
        let text = session.files.global.get_mut(file).unwrap();
        *text = text.replacen("emoji: '*'\n", &format!("emoji: '*'\ngate: [{{run: {file}}}]\n"), 1);
    }
    session.files.project = std::mem::take(&mut session.files.global);
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    let output = session.command("workflow", "flat size=small x");
    let Reply::Ask { request: Request::Select { title, .. }, .. } = output.reply else { panic!() };
    assert_eq!(
        title,
        "Start \"F\"? Its gates run commands:\n\
         Project gate \"a\" (may be passed over) runs:\n│ flat/a.md\n\
         Project gate \"b\" (may be passed over) runs:\n│ inner/b.md\n\
         Project gate \"c\" runs:\n│ deep/c.md"
    );
}

#[test]
fn what_an_outcome_may_lead_past_is_marked() {
    for (outcomes, uncertain) in [
        ("{ok: next, no: loop}", ""),
        ("{ok: next, no: done}", "bcd"),
        ("{ok: next, no: c}", "b"),
        ("{no: c, no2: d}", "bc"),
        ("{no: a}", ""),
    ] {
        let mut session = Session::new(&[("flat", &["a", "@inner", "c", "d"]), ("inner", &["b"])]);
        for (file, lines) in [
            ("flat/a.md", &*format!("gate: [{{run: a}}]\noutcomes: {outcomes}\n")),
            ("inner/b.md", "gate: [{run: b}]\n"),
            ("flat/c.md", "gate: [{run: c}]\n"),
            ("flat/d.md", "gate: [{run: d}]\n"),
        ] {
            let text = session.files.global.get_mut(file).unwrap();
            *text = text.replacen("emoji: '*'\n", &format!("emoji: '*'\n{lines}"), 1);
        }
        session.files.project = std::mem::take(&mut session.files.global);
        let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
        let (_, title, _) = session.start_question();
        let marked: String = title
            .lines()
            .filter(|line| line.contains("(may be passed over)"))
            .filter_map(|line| line.split('"').nth(1))
            .collect();
        assert_eq!(marked, uncertain, "{outcomes}: {title}");
    }
}

/// The run of `flat` with a parallel group between `a` and `c`, whose branches run `one` in their gates; the starts of
/// its children.
fn children_of_group(answer: Answer) -> (Session, Vec<ChildStart>) {
    let mut session = Session::new(&[("flat", &["a", "c"])]);
    let yaml = "name: F\ncommandName: flat\ninitialMessage: Go\nphases:\n  - a.md\n  - { id: g, parallel: 2, phases: [b.md, d.md] }\n  - c.md\n";
    session.files.global.insert("flat/workflow.yaml".into(), yaml.into());
    for id in ["b", "d"] {
        let text = format!("---\nid: {id}\nname: {id}\nemoji: '*'\nwrite: []\ngate: [{{run: one}}]\n---\nDo it.");
        session.files.global.insert(format!("flat/{id}.md"), text);
    }
    session.files.project = std::mem::take(&mut session.files.global);
    let facts = Facts { project: "/p".into(), ..Facts::default() };
    let _ = session.on(Event::Session { stored: None, in_view: None, facts });
    let (ticket, ..) = session.start_question();
    let _ = session.reply_to(ticket, answer);
    let output = session.on(Event::Step { input: r#"{"action":"next","summary":"Done."}"#, nested: false });
    let started = output.effects.into_iter().filter_map(|effect| match effect {
        Effect::StartChild(start) => Some(*start),
        _ => None,
    });
    let started = started.collect();
    (session, started)
}

/// The reply to the `next` of a child.
fn next_in_child(parent: &Session, start: &ChildStart, allowed: Vec<String>) -> Reply {
    let mut child = Session::new(&[]);
    child.files.project.clone_from(&parent.files.project);
    let states = start.entries.iter().filter(|(custom_type, _)| *custom_type == STATE_ENTRY_TYPE);
    child.entries = states.map(|(_, data)| data.to_string()).collect();
    let stored = restore(&child.entries);
    let facts = Facts { project: "/p".into(), allowed, ..Facts::default() };
    let _ = child.on(Event::Session { stored, in_view: None, facts });
    let _ = child.on(Event::AgentStart);
    child.on(Event::Step { input: r#"{"action":"next","summary":"Done."}"#, nested: false }).reply
}

#[test]
fn a_consent_goes_down_to_branches() {
    for answer in [FOR_THIS_RUN, Answer::Selected(2)] {
        let (session, started) = children_of_group(answer);
        let [first, second] = &started[..] else { panic!("{started:?}") };
        for start in [first, second] {
            assert_eq!(start.allowed, ["one"]);
            let seeds = format!("{:?}", start.entries);
            assert!(!seeds.contains("allowed"), "a consent is in no file: {seeds}");
            let reply = next_in_child(&session, start, start.allowed.clone());
            assert!(matches!(reply, Reply::Ask { request: Request::Exec { .. }, .. }), "{reply:?}");
        }
        let reply = next_in_child(&session, first, Vec::new());
        assert!(matches!(reply, Reply::Ask { request: Request::Select { .. }, .. }), "without it: {reply:?}");
    }
}
