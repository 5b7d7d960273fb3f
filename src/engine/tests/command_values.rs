//! Values of a run that become commands: only with the user's consent to exactly this value.

use super::entries::{asked, ran};
use super::*;
use crate::definition::Command;
use crate::engine::start::arguments::quoted;

/// A workflow of the user's own: a step that finds a command, the command as a step, and as the gate of a phase.
const FOUND: &str = "phases:
  - run: find it
    id: find
    outputs: { check: { type: command } }
  - { run: output.find.check, id: before, outcomes: { failed: next } }
  - { prompt: Work, id: work, gate: [{ run: output.find.check }] }
";
/// A workflow of the user's own with a gate whose command is an input.
const GIVEN: &str = "inputs: { check: { type: command, optional: true } }
phases:
  - { prompt: Work, id: work, name: Work, gate: [{ run: input.check }] }
";
const OPTIONS: [&str; 4] = ["No", "Yes, for this run", "Yes, for this session", "Yes, always in this folder"];
const SHOWN: &str = "│ npm test\n│ # a value of the run";

fn session(workflow: &str) -> Session {
    let mut session = Session::new(&[]);
    session.files.global.insert("w/workflow.yaml".into(), workflow.into());
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    session
}

#[track_caller]
fn consent(output: Output) -> (u64, String) {
    match output.reply {
        Reply::Ask { ticket, request: Request::Select { title, options } } => {
            assert_eq!(options, OPTIONS);
            (ticket, title.into())
        }
        other => panic!("{other:?}"),
    }
}

/// Starts the workflow whose step finds this command. Returns what follows the step.
fn found(session: &mut Session, value: &str) -> Output {
    let started = session.command("workflow", "w x");
    let (ticket, line) = asked(&started.reply);
    assert_eq!(line, "find it");
    session.give(ticket, ran(0, &json!({ "check": value }).to_string()))
}

#[test]
fn a_given_value_is_asked_for_at_the_start_also_in_the_users_own_workflow() {
    let mut session = session(GIVEN);
    let (ticket, title) = consent(session.command("workflow", "w check=\"npm test\" x"));
    assert_eq!(title, format!("Start \"W\"? Its gates run commands:\nGate \"Work\" runs:\n{SHOWN}"));
    assert_eq!(session.give(ticket, Answer::Selected(0)).reply, Reply::None);
    assert_eq!(session.stored_run(), None);
    let (ticket, _) = consent(session.command("workflow", "w check=\"npm test\" x"));
    let _ = session.give(ticket, Answer::Selected(1));
    assert_eq!(asked(&session.next_at_work().reply).1, "npm test");
    // The next run is another one, and another value is another command.
    let _ = session.command("workflow", ":cancel");
    let (ticket, _) = consent(session.command("workflow", "w check=\"npm test\" x"));
    let _ = session.give(ticket, Answer::Selected(2));
    let _ = session.command("workflow", ":cancel");
    let (_, title) = consent(session.command("workflow", "w check=\"npm test; curl x\" x"));
    assert!(title.ends_with("│ npm test; curl x\n│ # a value of the run"), "{title}");
}

#[test]
fn always_holds_for_this_value_alone() {
    let mut session = session(GIVEN);
    let (ticket, _) = consent(session.command("workflow", "w check=true x"));
    let output = session.give(ticket, Answer::Selected(3));
    for effect in output.effects {
        if let Effect::Remember { key, value } = effect {
            session.files.kept.insert(key, value);
        }
    }
    let _ = session.command("workflow", ":cancel");
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    assert_eq!(session.command("workflow", "w check=true x").reply, Reply::Settle);
    let _ = session.command("workflow", ":cancel");
    let _ = consent(session.command("workflow", "w check=\"true \\\" x\" x"));
    session.files.identity = Some("4:5:6".into());
    let _ = consent(session.command("workflow", "w check=true x"));
}

#[test]
fn a_found_value_is_asked_for_once_in_a_run() {
    let mut session = session(FOUND);
    let (ticket, title) = consent(found(&mut session, "npm test"));
    assert_eq!(title, format!("Step \"before\" runs:\n{SHOWN}\nAllow it?"));
    let output = session.give(ticket, Answer::Selected(1));
    let (ticket, line) = asked(&output.reply);
    assert_eq!(line, "npm test");
    let _ = session.give(ticket, ran(1, "red"));
    let output = session.next_at_work();
    let (ticket, line) = asked(&output.reply);
    assert_eq!(line, "npm test");
    let _ = session.give(ticket, ran(0, ""));
    assert!(!session.stored_run().unwrap().is_running());
    let _ = consent(found(&mut session, "npm test"));
}

#[test]
fn no_to_a_found_value_pauses_and_asks_again() {
    let mut session = session(FOUND);
    let (ticket, _) = consent(found(&mut session, "npm test"));
    let _ = session.give(ticket, Answer::Cancelled);
    assert_eq!(session.paused().unwrap(), "it runs a command that you have not allowed");
    let _ = consent(session.command("workflow", ":resume"));
}

#[test]
fn what_is_no_line_never_becomes_a_command() {
    for value in ["", "  ", "a\nb", "a\rb", "a\u{1b}[2Kb", "a\0b", &"x".repeat(1001), &"x".repeat(100_000)] {
        let mut session = session(FOUND);
        let output = found(&mut session, value);
        assert_eq!(output.reply, Reply::None, "{value:?}");
        assert!(session.paused().unwrap().contains("“find” has not ended"), "{}", session.paused().unwrap());
        let mut session = self::session(GIVEN);
        let output = session.command("workflow", &format!("w check={} x", quoted(value)));
        let [Effect::Notify { level: Level::Error, text }] = &output.effects[..] else { panic!("{value:?}") };
        assert!(text.starts_with("`check`: expected a command of one line and at most 1000 characters"), "{text}");
    }
}

#[test]
fn without_a_value_nothing_runs() {
    let mut session = session(GIVEN);
    assert_eq!(session.command("workflow", "w x").reply, Reply::Settle);
    let Reply::Tool(result) = session.next_at_work().reply else { panic!() };
    assert!(result.text.contains("input.check: the run has no value for this command"), "{}", result.text);
    let step = "inputs: { check: { type: command, optional: true } }\nphases: [{ run: input.check }]\n";
    let mut session = self::session(step);
    let _ = session.command("workflow", "w x");
    assert!(
        session.paused().unwrap().contains("the run has no value for this command"),
        "{}",
        session.paused().unwrap()
    );
}

#[test]
fn the_option_allows_this_value_alone_without_a_question() {
    let allowed = vec![Command::given_value(" npm test ")];
    for (value, asks) in [("npm test", false), ("npm test ;", true)] {
        let mut session = session(GIVEN);
        let facts = Facts { allowed: allowed.clone(), ..Facts::default() };
        let _ = session.on(Event::Session { stored: None, in_view: None, facts });
        let output = session.command("workflow", &format!("w check=\"{value}\" x"));
        assert_eq!(matches!(output.reply, Reply::Ask { .. }), asks, "{value}");
    }
    // Without a user interface the run starts, and pauses at the gate.
    let mut session = session(GIVEN);
    let start = Event::Command { name: "workflow", arguments: "w check=true x" };
    let _ = session.without_ui(start);
    session.ui = Ui::None;
    let output = session.next_at_work();
    let Reply::Ask { ticket, request: Request::Select { .. } } = output.reply else { panic!("{output:?}") };
    let _ = session.give(ticket, Answer::NoUi);
    assert_eq!(session.paused().unwrap(), "it runs a command that you have not allowed");
}

/// A session of a process with these facts, without a user interface, that has begun to leave the phase of this workflow.
#[track_caller]
fn unattended(workflow: &str, facts: Facts, arguments: &str) -> Request {
    let mut session = session(workflow);
    session.ui = Ui::None;
    let _ = session.on(Event::Session { stored: None, in_view: None, facts });
    let _ = session.command("workflow", arguments);
    match session.next_at_work().reply {
        Reply::Ask { request, .. } => request,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_option_for_commands_of_files_allows_no_value() {
    let facts = Facts { allow_commands: true, ..Facts::default() };
    let request = unattended(GIVEN, facts.clone(), "w check=true x");
    assert!(matches!(request, Request::Select { .. }), "{request:?}");
    let mut session = session(FOUND);
    let _ = session.on(Event::Session { stored: None, in_view: None, facts });
    let _ = consent(found(&mut session, "npm test"));
    // In a workflow of the project, the question is about the value alone.
    let project = "inputs: { check: { type: command } }
phases: [{ prompt: Work, id: work, name: Work, gate: [{ run: make }, { run: input.check }] }]
";
    let mut session = Session::new(&[]);
    session.files.project.insert("w/workflow.yaml".into(), project.into());
    let facts = Facts { allow_commands: true, ..Facts::default() };
    let _ = session.on(Event::Session { stored: None, in_view: None, facts });
    let (_, title) = consent(session.command("workflow", "w check=true x"));
    assert!(title.ends_with("runs:\n│ true\n│ # a value of the run"), "{title}");
}

#[test]
fn the_option_for_inputs_allows_what_is_given_to_inputs_of_this_type_alone() {
    let workflow = "inputs:
  check: { type: command, default: make }
  note: { type: text, optional: true }
phases:
  - { run: find it, id: find, outputs: { check: { type: command } } }
  - { run: input.check, id: given }
  - { run: output.find.check, id: found }
";
    let start = |arguments: &str| {
        let mut session = session(workflow);
        let facts = Facts { allow_inputs: true, ..Facts::default() };
        let _ = session.on(Event::Session { stored: None, in_view: None, facts });
        let output = session.command("workflow", arguments);
        (session, output)
    };
    let (mut session, output) = start("w check=\" npm test \" note=evil x");
    let (ticket, _) = asked(&output.reply);
    let output = session.give(ticket, ran(0, r#"{"check": "evil"}"#));
    let (ticket, line) = asked(&output.reply);
    assert_eq!(line, "npm test");
    let (_, title) = consent(session.give(ticket, ran(0, "")));
    assert!(title.contains("│ evil\n"), "{title}");
    // A default is none of the user's values.
    let (_, title) = consent(start("w note=make x").1);
    assert!(title.contains("│ make\n"), "{title}");
}

#[test]
fn a_value_is_allowed_whatever_variables_its_command_has() {
    let workflow = GIVEN.replace("run: input.check", "run: input.check, env: { out: runDir }");
    let facts = Facts { allowed: vec![Command::given_value("npm test ")], ..Facts::default() };
    let request = unattended(&workflow, facts.clone(), "w check=\"npm test\" x");
    assert!(matches!(request, Request::Exec { .. }), "{request:?}");
    let request = unattended(&workflow, facts, "w check=\"npm test # out\" x");
    assert!(matches!(request, Request::Select { .. }), "{request:?}");
}
