//! The events of a run for a watching program.

use super::branches::{Family, GROUP};
use super::*;
use crate::run::PauseReason;
use crate::usage::Usage;
use crate::watch::{EVENTS, Given, HEAD, Sums};

/// The events in these effects. Each must be in the table, with its fields.
fn events(effects: &[Effect]) -> Vec<Value> {
    let lines = effects.iter().filter_map(|effect| match effect {
        Effect::TellWatcher(line) => Some(serde_json::from_str::<Value>(line).unwrap()),
        _ => None,
    });
    lines.inspect(is_in_table).collect()
}

#[track_caller]
fn is_in_table(line: &Value) {
    let kind = EVENTS.iter().find(|kind| kind.name == line["type"]).unwrap();
    let fields = || HEAD.iter().chain(kind.fields);
    let known = fields().map(|field| (field.name, field.json)).chain([("type", "string")]).collect::<Vec<_>>();
    for (name, value) in line.as_object().unwrap() {
        let (_, json) = known.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("{name}: {line}"));
        let fits = match *json {
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_u64(),
            "usage" => value.as_object().unwrap().keys().eq(Sums::FIELDS.map(|(name, _)| name)),
            _ => true,
        };
        assert!(fits, "{name}: {line}");
    }
    for field in fields().filter(|field| field.given == Given::Always) {
        assert!(line.get(field.name).is_some(), "{}: {line}", field.name);
    }
}

/// An event in brief: its type, and these fields of it.
fn brief(event: &Value) -> String {
    let words = ["state", "passed", "from", "left", "outcome", "tool", "rule", "about", "reason", "bound", "how"];
    let fields = words.iter().filter_map(|name| event.get(*name));
    let fields = fields.map(|value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned));
    let kind = event["type"].as_str().unwrap().to_owned();
    std::iter::once(kind).chain(fields).collect::<Vec<_>>().join(" ")
}

fn briefs(effects: &[Effect]) -> Vec<String> {
    events(effects).iter().map(brief).collect()
}

fn ran(status: u32) -> Answer {
    let (output, standard_output) = ("SECRET tail".to_owned(), Some(String::new()));
    Answer::Ran(Ran {
        cut_bytes: 0,
        end: CommandEnd::Exited(status),
        duration_ms: 7,
        output,
        standard_output,
        output_file: None,
    })
}

/// A session with a gate, a command and a question, whose events are watched.
fn watched(watching: Watching) -> Session {
    let mut session = Session::new(&[("w", &["a", "b"])]);
    let yaml = "name: W\ncommandName: w\ninitialMessage: Go\ninputs: { of: { type: text } }\nphases:\n  - a.md\n  - { run: 'echo SECRET', outcomes: { ok: next, failed: a } }\n  - { ask: 'SECRET?', outcomes: { go: next, no: stop } }\n  - b.md\n";
    session.files.global.insert("w/workflow.yaml".into(), yaml.into());
    let a = session.files.global.get_mut("w/a.md").unwrap();
    let fields = "emoji: '*'\nwrite: []\ngate: [{run: make SECRET}]\noutputs: {x: {type: text}}\nbudget: {turns: 5}\n";
    *a = a.replacen("emoji: '*'\n", fields, 1);
    let facts = Facts { watching, project: "/p".into(), ..Facts::default() };
    let _ = session.on(Event::Session { stored: None, in_view: None, facts });
    session
}

/// The whole course of a run: each gate, command and answer fails once.
fn course(session: &mut Session) -> Vec<Effect> {
    let mut all = session.command("workflow", "w of=SECRET SECRET task").effects;
    all.extend(session.on(Event::AgentStart).effects);
    all.extend(session.on(Event::ToolCall { name: "edit", carries_calls: false }).effects);
    let input = r#"{"action":"next","summary":"SECRET summary","outputs":{"x":"SECRET output"}}"#;
    for answers in [&[ran(1)][..], &[ran(0), ran(1)], &[ran(0), ran(0), Answer::Selected(1)]] {
        all.extend(session.on(Event::TurnEnd { queued: false, calls: &[] }).effects);
        let mut output = session.on(Event::Step { input, nested: false });
        all.append(&mut output.effects);
        for answer in answers {
            let Reply::Ask { ticket, .. } = output.reply else { panic!("{output:?}") };
            output = session.on(Event::Answer { ticket, answer: answer.clone() });
            all.append(&mut output.effects);
        }
    }
    all.extend(session.on(Event::Step { input: r#"{"action":"next","summary":"SECRET"}"#, nested: false }).effects);
    all.extend(session.on(Event::AgentEnd { stop: Stop::Completed }).effects);
    all.extend(session.on(Event::AgentSettled).effects);
    all
}

#[test]
fn the_course_of_a_run_is_told() {
    let effects = course(&mut watched(Watching::Names));
    assert_eq!(
        briefs(&effects),
        [
            "started",
            "entry",
            "refused edit write",
            "turn",
            "gate false",
            "turn",
            "gate true",
            "entry w:0 done",
            "step false",
            "entry w:1 done failed",
            "turn",
            "gate true",
            "entry w:0 done",
            "step true",
            "entry w:1 done ok",
            "question asked entry",
            "question over entry",
            "entry w:2 done go",
            "ended w:3 done done",
        ]
    );
    let events = events(&effects);
    let entry = events.iter().rfind(|event| event["type"] == "entry").unwrap();
    assert_eq!(
        [&entry["time"], &entry["run"], &entry["entry"], &entry["title"], &entry["work"], &entry["visit"]],
        [&json!(NOW), &json!(TASK_ID), &json!("w:3"), &json!("b"), &json!("agent"), &json!(1)]
    );
}

#[test]
fn a_title_is_no_command_line_and_no_question() {
    let titles = |session: &mut Session| -> Vec<String> {
        let all = events(&course(session));
        all.iter()
            .filter(|event| event["type"] == "entry")
            .map(|event| event["title"].as_str().unwrap().into())
            .collect()
    };
    let mut session = watched(Watching::Names);
    assert_eq!(titles(&mut session), ["a", "run-2", "a", "run-2", "ask-3", "b"]);
    let mut session = watched(Watching::Names);
    let yaml = session.files.global.get_mut("w/workflow.yaml").unwrap();
    *yaml =
        yaml.replace("'echo SECRET', ", "'echo SECRET', name: Lint it, ").replace("'SECRET?', ", "'SECRET?', id: ok, ");
    let facts = Facts { watching: Watching::Names, project: "/p".into(), ..Facts::default() };
    let _ = session.on(Event::Session { stored: None, in_view: None, facts });
    assert_eq!(titles(&mut session), ["a", "Lint it", "a", "Lint it", "ok", "b"]);
    // A group without a name has the names of its entries.
    let family = Family::new("\n  - phases: [{ run: 'echo SECRET' }, bugs.md]\n    parallel: 2");
    assert_eq!(family.told[0]["title"], "w:1");
}

#[test]
fn texts_are_told_only_to_a_program_that_wants_them() {
    for (watching, is_told) in [(Watching::Names, false), (Watching::Texts, true)] {
        let all = events(&course(&mut watched(watching)));
        let of =
            |kind: &str| all.iter().filter(|event| event["type"] == kind).map(ToString::to_string).collect::<String>();
        for kind in ["started", "refused", "gate", "step", "question", "entry", "ended"] {
            assert!(!of(kind).is_empty(), "{kind}");
            let has_texts = of(kind).contains("SECRET") || kind == "refused" && of(kind).contains("why");
            assert_eq!(has_texts, is_told, "{kind}: {}", of(kind));
        }
    }
    assert_eq!(events(&course(&mut watched(Watching::Off))), [Value::Null; 0]);
}

#[test]
fn pauses_budgets_and_other_ends_are_told() {
    let mut session = watched(Watching::Names);
    let _ = session.command("workflow", "w of=x the task");
    let _ = session.on(Event::AgentStart);
    *session.files.usage.borrow_mut() = Usage { turns: 4, cost: 0.5, ..Usage::default() };
    let near = session.on(Event::TurnEnd { queued: false, calls: &[call()] }).effects;
    assert_eq!(briefs(&near), ["turn", "budget near"]);
    assert_eq!(events(&near)[0]["usage"]["turns"], 4);
    *session.files.usage.borrow_mut() = Usage { turns: 1, ..Usage::default() };
    let over = session.on(Event::TurnEnd { queued: false, calls: &[call()] }).effects;
    assert_eq!(briefs(&over), ["turn", "budget usedUp", "paused budget"]);
    assert_eq!([&events(&over)[1]["spent"], &events(&over)[1]["limit"]], [&json!(5), &json!(5)]);
    assert_eq!(
        briefs(&session.resume("5").effects),
        ["question asked budget", "question over budget", "budget more", "resumed"]
    );
    assert_eq!(briefs(&session.command("workflow", ":pause").effects), ["paused person"]);
    // Another process takes the run up.
    let facts = Facts { watching: Watching::Names, project: "/p".into(), ..Facts::default() };
    let stored = session.run.clone();
    let phase = session.files.global.get_mut("w/a.md").unwrap();
    *phase = phase.replacen("write: []", "write: [./]", 1);
    let again = session.on(Event::Session { stored, in_view: None, facts });
    assert_eq!(briefs(&again.effects), ["started", "entry", "paused rulesChanged"]);
    assert_eq!(events(&again.effects)[0]["continued"], true);
    assert_eq!(briefs(&session.resume("").effects), ["question asked rules", "question over rules", "resumed"]);
    assert_eq!(briefs(&session.command("workflow", ":cancel").effects), ["ended w:0 done cancelled"]);
}

#[test]
fn each_stored_pause_is_told_also_two_in_one_event() {
    let mut session = watched(Watching::Names);
    let _ = session.command("workflow", "w of=x the task");
    let state = session.engine.run.running().unwrap().clone();
    let context = Context { unix_ms: NOW, random: 0, ui: session.ui, host: &session.files };
    let mut cx = Cx::new(&context);
    for reason in [PauseReason::User, PauseReason::ModelError] {
        session.engine.transition(state.clone().paused(reason, NOW), &mut cx);
        session.engine.transition(state.clone(), &mut cx);
    }
    assert_eq!(briefs(&cx.effects), ["paused person", "resumed", "paused modelError", "resumed"]);
    assert_eq!(briefs(&session.on(Event::AgentStart).effects), [""; 0]);
}

#[test]
fn a_pause_ends_before_the_move_that_ends_it_and_a_wait_has_the_sums_up_to_now() {
    let mut session = watched(Watching::Names);
    session.ui = Ui::Terminal;
    let _ = session.command("workflow", "w of=x the task");
    let _ = session.on(Event::AgentStart);
    *session.files.usage.borrow_mut() = Usage { turns: 2, ..Usage::default() };
    let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
    let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
    let _ = session.on(Event::AgentSettled);
    let waits = session.on(Event::TerminalInput { interrupts: false }).effects;
    assert_eq!(briefs(&waits), ["waiting"]);
    assert_eq!(events(&waits)[0]["usage"]["turns"], 2);
    assert_eq!(briefs(&session.fails("400 bad request")), ["paused modelError"]);
    assert_eq!(briefs(&session.command("workflow", ":skip").effects), ["resumed", "entry w:0 skipped"]);
    assert_eq!(briefs(&session.command("workflow", ":pause").effects), ["paused person"]);
    assert_eq!(briefs(&session.command("workflow", ":cancel").effects), ["ended w:1 done cancelled"]);
}

fn call() -> EndedCall {
    EndedCall { name: "bash".into(), hash: 1, refused: false, duration_ms: 1, cut_off: false }
}

#[test]
fn a_bound_and_a_run_in_the_place_of_another_are_told() {
    let mut session = watched(Watching::Names);
    let _ = session.command("workflow", "w of=x the task");
    let mut all = Vec::new();
    for hash in [1; 30] {
        let _ = session.on(Event::AgentStart);
        let calls = [EndedCall { hash, ..call() }];
        all = session.on(Event::TurnEnd { queued: false, calls: &calls }).effects;
        if briefs(&all).len() > 1 {
            break;
        }
    }
    assert_eq!(briefs(&all), ["turn", "limit repeats", "paused repeats"]);
    let Reply::Ask { ticket, .. } = session.command("workflow", "w of=y another").reply else { panic!() };
    session.now += 1;
    let other = session.on(Event::Answer { ticket, answer: Answer::Confirmed(true) }).effects;
    assert_eq!(briefs(&other), ["question over start", "ended replaced", "started", "entry"]);
}

#[test]
fn branches_are_told_by_the_run_that_contains_them() {
    let mut family = Family::new(GROUP);
    family.finish("tests", "clean");
    let _ = family.child("bugs").on(Event::Step { input: r#"{"action":"next","outcome":"gone"}"#, nested: false });
    family.progress("bugs", 0.5);
    family.end("bugs", ChildEnd::Settled);
    let told = family.told.iter().inspect(|event| is_in_table(event)).map(brief).collect::<Vec<_>>();
    assert_eq!(
        told,
        [
            "entry w:0 done",
            "branch started",
            "branch started",
            "branch done clean",
            "branch started",
            "branch works",
            "branch failed"
        ]
    );
    assert_eq!(family.told[6]["usage"]["turns"], 2);
}

/// A session whose run is at work, with these settings.
fn at_work(settings: &str) -> Session {
    let mut session = watched(Watching::Off);
    session.files.global.insert("settings.yaml".into(), settings.into());
    let facts = Facts { project: "/p".into(), ..Facts::default() };
    let begun = session.on(Event::Session { stored: None, in_view: None, facts }).effects;
    let is_noted = |effect: &Effect| matches!(effect, Effect::RunProgram { line, .. } if line.is_empty());
    assert_eq!(begun.iter().any(is_noted), settings.contains("tell"), "from here on it stays as it is");
    session
}

/// The events that the program of the settings gets, in brief.
fn given(effects: &[Effect]) -> Vec<String> {
    let event = |effect: &Effect| match effect {
        Effect::RunProgram { line, .. } if line.is_empty() => None,
        Effect::RunProgram { kind, program, line } => {
            assert_eq!(program, &["tell", "x"]);
            let event: Value = serde_json::from_str(line).unwrap();
            is_in_table(&event);
            assert_eq!(event["type"], *kind);
            Some(brief(&event))
        }
        Effect::TellWatcher(line) => panic!("{line}"),
        _ => None,
    };
    effects.iter().filter_map(event).collect()
}

#[test]
fn a_program_of_the_settings_gets_what_a_user_wants_to_know() {
    let mut session = at_work("onEvent: [tell, x]");
    session.ui = Ui::Terminal;
    assert_eq!(given(&course(&mut session)), ["question asked entry", "ended w:3 done done"]);
    let _ = session.command("workflow", "w of=x the task");
    let _ = session.on(Event::AgentStart);
    let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
    assert_eq!(given(&session.on(Event::AgentSettled).effects), [""; 0], "a countdown is no wait");
    let waits = session.on(Event::TerminalInput { interrupts: false });
    assert_eq!(given(&waits.effects), ["waiting"]);
    assert_eq!(given(&session.on(Event::Input { from_user: true }).effects), [""; 0]);
    assert_eq!(given(&session.command("workflow", ":pause").effects), ["paused person"]);
    // A pause that exists when a session begins is not told.
    let (stored, facts) = (session.run.clone(), Facts { project: "/p".into(), ..Facts::default() });
    assert_eq!(given(&session.on(Event::Session { stored, in_view: None, facts }).effects), [""; 0]);
    assert_eq!(given(&session.command("workflow", ":status").effects), [""; 0]);
    assert_eq!(given(&session.command("workflow", ":cancel").effects), ["ended w:0 done cancelled"]);
}

#[test]
fn a_run_of_another_process_is_not_given_to_a_program() {
    let mut session = at_work("onEvent: [tell, x]");
    let _ = session.command("workflow", "w of=x the task");
    assert_eq!(given(&session.command("workflow", ":pause").effects), ["paused person"]);
    session.files.claim_obstacle.replace(Some(crate::run::ClaimObstacle::Living(12)));
    assert_eq!(given(&session.on(Event::Input { from_user: true }).effects), [""; 0]);
    assert!(matches!(session.engine.run.held(), Some(PauseReason::OtherProcess(_))));
}

#[test]
fn a_program_is_that_of_the_beginning_of_the_session() {
    for (before, told) in [("builtin: true", &[][..]), ("onEvent: [tell, x]", &["paused person"])] {
        let mut session = at_work(before);
        let _ = session.command("workflow", "w of=x the task");
        for settings in ["onEvent: [other]", "onEvent: [", "onEvent: [other]"] {
            session.files.global.insert("settings.yaml".into(), settings.into());
            let _ = session.on(Event::AgentStart);
            let _ = session.command("workflow", ":status");
        }
        assert_eq!(given(&session.command("workflow", ":pause").effects), told);
        session.files.global.insert("settings.yaml".into(), "onEvent: [".into());
        assert_eq!(given(&session.command("workflow", ":status").effects), [""; 0], "once");
    }
}

#[test]
fn a_limit_that_ends_by_itself_is_not_given_to_a_program() {
    for (settings, told) in [("", &["paused quota"][..]), ("\nwait: 6h", &[])] {
        let mut session = at_work(&format!("onEvent: [tell, x]{settings}"));
        let _ = session.command("workflow", "w of=x the task");
        assert_eq!(given(&session.fails("429 rate_limit_error: try again in 2h")), told);
    }
}

#[test]
fn a_program_gets_texts_only_if_the_settings_say_so() {
    let lines = |settings| {
        let effects = course(&mut at_work(settings)).into_iter();
        let line = |effect| if let Effect::RunProgram { line, .. } = effect { Some(line) } else { None };
        effects.filter_map(line).collect::<String>()
    };
    assert!(!lines("onEvent: [tell, x]").contains("SECRET"));
    assert!(!lines("onEvent: { program: [tell, x] }").contains("SECRET"));
    assert!(lines("onEvent: { program: [tell, x], texts: true }").contains("SECRET?"));
    assert_eq!(lines("builtin: true"), "");
    assert_eq!(lines("onEvent: []"), "", "a file with errors");
}

#[test]
fn of_a_branch_its_dialogs_are_given_to_a_program() {
    let group = "\n  - parallel: true\n    phases:\n      - id: one\n        phases: [bugs.md, { ask: 'Good?', outcomes: { good: next, bad: stop } }]\n      - tests.md";
    let mut family = Family::new(group);
    let child = family.child("one");
    child.files.global.insert("settings.yaml".into(), "onEvent: [tell, x]".into());
    let stored = child.run.clone();
    let _ = child.on(Event::Session { stored, in_view: None, facts: Facts::default() });
    let _ = child.on(Event::AgentStart);
    let input = r#"{"action":"next","outcome":"clean","summary":"Found."}"#;
    let asks = child.on(Event::Step { input, nested: false });
    assert_eq!(given(&asks.effects), ["question asked entry"], "{asks:?}");
    let Reply::Ask { ticket, .. } = asks.reply else { panic!() };
    assert_eq!(given(&child.on(Event::Answer { ticket, answer: Answer::Selected(0) }).effects), [""; 0]);
}

#[test]
fn pi_shows_a_wait_in_a_terminal() {
    let mut session = Session::new(&[("flat", &["a"])]);
    session.ui = Ui::Terminal;
    let _ = session.command("workflow", "flat Add a page");
    let _ = session.on(Event::AgentStart);
    assert_eq!(session.blocked, None);
    let _ = session.stop_as(Stop::Aborted, true);
    assert_eq!(session.blocked.as_deref(), Some("Workflow The flat waits for you"));
    let facts = Facts { same_session: true, ..Facts::default() };
    let stored = session.stored_run().cloned();
    let _ = session.on(Event::Session { stored: stored.clone(), in_view: None, facts: facts.clone() });
    assert!(session.blocked.is_some(), "also in a session that begins");
    let _ = session.resume("");
    assert_eq!(session.blocked, None);
    let _ = session.stop_as(Stop::Aborted, true);
    assert!(session.blocked.is_some());
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: facts.clone() });
    assert_eq!(session.blocked, None, "at a place of the session without a run");
    let _ = session.on(Event::Session { stored, in_view: None, facts });
    let _ = session.resume("");
    session.ui = Ui::Program;
    let _ = session.stop_as(Stop::Aborted, true);
    assert_eq!(session.blocked, None, "a program shows it as it likes");
}
