//! A run whose rules do not hold.

use super::*;

const WHITELIST: &str = "tools: {whitelist: [read]}\n";

impl Session {
    /// A run in phase `a` of `outer` (a, inner (b), z), the agent at work.
    fn held_by_nothing() -> Self {
        let mut session = Self::new(&[("outer", &["a", "@inner", "z"]), ("inner", &["b"]), ("other", &["x"])]);
        session.insert("outer/a.md", "emoji: '*'\n", &format!("emoji: '*'\n{WHITELIST}"));
        session.files.project = std::mem::take(&mut session.files.global);
        let facts = Facts::default();
        let _ = session.on(Event::Session { stored: None, in_view: None, facts });
        let _ = session.command("workflow", "outer x");
        let _ = session.on(Event::AgentStart);
        session
    }

    fn insert(&mut self, file: &str, from: &str, to: &str) {
        let files = [&mut self.files.global, &mut self.files.project];
        let text = files.into_iter().find_map(|files| files.get_mut(file)).unwrap();
        assert!(text.contains(from), "{file}: {text}");
        *text = text.replacen(from, to, 1);
    }

    fn read_again(&mut self, how: usize) -> Vec<Effect> {
        let stored = self.as_stored();
        let facts = Facts::default();
        match how {
            0 => self.command("workflow", ":check").effects,
            1 => self.command("workflow", "").effects,
            2 => {
                let _ = self.engine.complete("", &self.files);
                Vec::new()
            }
            3 => self.on(Event::Session { stored, in_view: None, facts }).effects,
            _ => {
                self.engine = Engine::default();
                self.on(Event::Session { stored, in_view: None, facts }).effects
            }
        }
    }

    /// The run as the session has it.
    fn as_stored(&self) -> Option<RunState> {
        // The seal that is taken from the files is stored with the next transition.
        let json = serde_json::to_string(self.engine.run.state().unwrap()).unwrap();
        crate::run::restore([json])
    }

    /// The reason for which a tool that the rules allow is refused; the call is the first event after the files were
    /// read.
    fn refusal(&mut self) -> Option<String> {
        let refused = |session: &mut Self, name| match session.on(Event::ToolCall { name, carries_calls: false }).reply
        {
            Reply::Stop(reason) if reason.starts_with("The workflow is paused: ") => Some(reason),
            Reply::Block(_) | Reply::Confine { .. } | Reply::None => None,
            other => panic!("{other:?}"),
        };
        let first = refused(self, "read");
        assert_eq!(refused(self, "bash"), first);
        first
    }

    fn status_line(&self) -> String {
        self.status.clone().unwrap()
    }
}

fn notices(effects: &[Effect]) -> Vec<&str> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Notify { text, .. } => Some(&**text),
            _ => None,
        })
        .collect()
}

type Change = fn(&mut Session);

/// Changes of files that break the rules of a run; true if the user can accept the new rules.
const CHANGES: [(Change, &str, bool); 15] = [
    (|s| s.insert("outer/a.md", WHITELIST, ""), "its rules are no longer", true),
    (|s| s.insert("outer/a.md", "[read]", "[read, bash]"), "its rules are no longer", true),
    (|s| s.insert("inner/b.md", "emoji: '*'\n", "emoji: '*'\nsummary: required\n"), "its rules", true),
    (|s| s.insert("outer/a.md", "emoji: '*'\n", "emoji: '*'\nwrite: []\n"), "its rules", true),
    (|s| s.insert("inner/b.md", "emoji: '*'\n", "emoji: '*'\nsandbox: off\n"), "its rules", true),
    (|s| s.insert("outer/workflow.yaml", "name:", "network: false\nname:"), "its rules", true),
    (|s| s.insert("outer/workflow.yaml", ", z.md", ""), "its rules are no longer", true),
    (|s| s.insert("outer/workflow.yaml", "name:", "loopable: false\nname:"), "its rules", true),
    (|s| s.insert("inner/workflow.yaml", "name:", "autoContinue: false\nname:"), "its rules", true),
    (|s| s.insert("outer/a.md", "id: a", "id: b"), "its rules are no longer", true),
    (|s| s.files.global.append(&mut s.files.project), "its rules are no longer", true),
    (|s| s.insert("outer/workflow.yaml", "name: The outer", "name: ["), "the files of the workflow “outer”", false),
    (|s| s.insert("inner/workflow.yaml", "name: The inner", "name: ["), "the files of the workflow “outer”", false),
    (|s| s.files.project.retain(|path, _| !path.starts_with("outer/")), "the files of", false),
    (|s| s.files.project.clear(), "the files of the workflow “outer” cannot be read", false),
];

#[test]
fn a_run_whose_rules_do_not_hold_is_paused_after_every_kind_of_reading() {
    for (index, (change, words, acceptable)) in CHANGES.iter().enumerate() {
        for how in 0..5 {
            let mut session = Session::held_by_nothing();
            assert_eq!(session.refusal(), None);
            let before = (session.files.global.clone(), session.files.project.clone());
            change(&mut session);
            assert_eq!(session.refusal(), None, "nobody has read the files");
            let mut effects = session.read_again(how);
            if how == 2 {
                effects = session.on(Event::TurnEnd { queued: false, calls: &[] }).effects;
            }
            let told = format!("is paused: {words}");
            let told = notices(&effects).iter().filter(|text| text.contains(&told)).count();
            assert_eq!(told, 1, "{index} {how}: {effects:?}");
            let shown = effects.iter().any(|effect| {
                matches!(effect, Effect::SetStatus(Some(line)) if line.starts_with("⏸ ") && line.contains("(paused: its "))
            });
            assert!(shown, "{index} {how}: {effects:?}");
            assert!(session.engine.run.running().is_some() && !session.engine.is_running());
            assert!(session.refusal().unwrap().contains(words));
            for action in ["next", "loop", "cancel", "cancel", "status"] {
                let (effects, (text, _)) = session.step_output(action);
                assert!(text.contains("The workflow is paused: "), "{index} {action}: {text}");
                assert_eq!(effects, []);
            }
            // The agent does not continue automatically, and a message does not accept the rules.
            assert_eq!(session.stop(), []);
            assert_eq!(session.stop_as(Stop::Completed, false), []);
            let _ = session.on(Event::Input { from_user: true });
            let role = DefaultRole::Worker;
            assert_eq!(session.on(Event::BeforeAgentStart { role }), Output::default());
            assert_eq!(session.stop(), []);
            for control in [":next", ":back", ":skip", ":pause"] {
                let effects = session.command("workflow", control).effects;
                assert_eq!(effects.len(), 1, "{index} {control}: {effects:?}");
            }
            assert!(session.refusal().is_some());
            match how {
                // The files are restored.
                0 => {
                    (session.files.global, session.files.project) = before;
                    let effects = session.on(Event::Input { from_user: true }).effects;
                    let words = "The workflow goes on: its files have its rules again.";
                    assert!(notices(&effects).contains(&words), "{effects:?}");
                    assert_eq!(session.refusal(), None);
                    assert_eq!(session.status_line(), "⏸ The outer > * a [1/3] (waits for you)");
                }
                1 => {
                    let _ = session.command("cancel-workflow", "");
                    assert_eq!(session.on(Event::ToolCall { name: "bash", carries_calls: false }), Output::default());
                }
                _ => {
                    let effects = session.resume("").effects;
                    assert_eq!(session.refusal().is_none(), *acceptable, "{index}: {effects:?}");
                    if *acceptable {
                        assert!(!session.status_line().starts_with('⏸'));
                        let _ = session.read_again(4);
                        assert_eq!(session.refusal(), None, "it is stored");
                    } else {
                        let told = notices(&effects).concat();
                        assert!(told.contains("/workflow :check") && told.contains(":cancel"), "{told}");
                    }
                }
            }
        }
    }
}

/// An agent that may write its own phase file cannot widen its limits.
#[test]
fn a_widened_limit_holds_the_run() {
    let mut session = Session::held_by_nothing();
    let _ = session.command("cancel-workflow", "");
    session.insert("outer/a.md", WHITELIST, "write: [.pi/]\nsandbox: preferred\n");
    let _ = session.command("workflow", "outer x");
    let _ = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
    let _ = session.on(Event::AgentStart);
    let edits = |session: &mut Session, path: &str| {
        session.files.call_arguments.insert("path".into(), path.into());
        session.on(Event::ToolCall { name: "edit", carries_calls: false }).reply
    };
    assert!(matches!(edits(&mut session, ".pi/workflows/outer/a.md"), Reply::Confine { .. }));
    session.insert("outer/a.md", "[.pi/]", "[.pi/, src/]");
    session.insert("outer/a.md", "preferred", "off");
    // The files have not been read.
    let Reply::Block(reason) = edits(&mut session, "src/a.rs") else { panic!() };
    assert!(reason.contains(" Writable: .pi/ "), "{reason}");
    let effects = session.read_again(0);
    assert!(notices(&effects).concat().contains("is paused: its rules are no longer"), "{effects:?}");
    for path in ["src/a.rs", ".pi/x"] {
        let Reply::Stop(reason) = edits(&mut session, path) else { panic!() };
        assert!(reason.starts_with("The workflow is paused: its rules"), "{reason}");
    }
    let _ = session.resume("");
    assert!(matches!(edits(&mut session, "src/a.rs"), Reply::Confine { .. }));
}

#[test]
fn the_notice_shows_the_diagnostic() {
    let mut session = Session::held_by_nothing();
    session.insert("outer/workflow.yaml", "name: The outer", "name: [");
    let effects = session.command("workflow", ":check").effects;
    let told = notices(&effects).concat();
    assert!(told.contains("\n.pi/workflows/outer/workflow.yaml:"), "{told}");
}

#[test]
fn texts_may_change_during_a_run() {
    let mut session = Session::held_by_nothing();
    session.insert("outer/a.md", "Do a.", "Do a, and well.");
    session.insert("outer/workflow.yaml", "name: The outer", "name: Another");
    session.insert("outer/a.md", "emoji: '*'", "emoji: '+'");
    for how in 0..5 {
        let effects = session.read_again(how);
        assert!(notices(&effects).iter().all(|text| !text.contains("paused")), "{effects:?}");
        assert_eq!(session.refusal(), None);
    }
    assert_eq!(session.status_line(), "⏸ Another > + a [1/3] (waits for you)");
    let role = DefaultRole::Worker;
    let Reply::Inject { content, .. } = session.on(Event::BeforeAgentStart { role }).reply else { panic!() };
    assert!(content.contains("Do a, and well."));
    assert!(session.step("next").0.starts_with("✓"));
}

#[test]
fn a_hold_does_not_end_a_pause_of_another_kind() {
    let mut session = Session::held_by_nothing();
    let _ = session.command("workflow", ":pause");
    session.insert("outer/a.md", WHITELIST, "");
    let _ = session.read_again(0);
    let _ = session.on(Event::Input { from_user: true });
    session.insert("outer/a.md", "emoji: '*'\n", &format!("emoji: '*'\n{WHITELIST}"));
    let _ = session.read_again(1);
    assert_eq!(session.status_line(), "⏸ The outer > * a [1/3] (paused: you asked for it)");
}

#[test]
fn a_countdown_ends_when_the_rules_do_not_hold() {
    let mut session = Session::held_by_nothing();
    assert!(session.stop().contains(&widget(3)));
    session.insert("outer/a.md", WHITELIST, "");
    let _ = session.engine.complete("", &session.files);
    let effects = session.on(Event::Timer { id: 1, idle: true }).effects;
    assert!(effects.contains(&Effect::SetCountdown(None)), "{effects:?}");
    assert!(effects.iter().all(|effect| !matches!(effect, Effect::StartTimer { .. })));
}

#[test]
fn a_cancel_that_waits_for_its_answer_is_the_users() {
    for (answer, cancelled) in [(Answer::NoUi, false), (Answer::Confirmed(true), true)] {
        let mut session = Session::held_by_nothing();
        session.step("cancel");
        let Reply::Ask { ticket, .. } = session.on(Event::Step { input: CANCEL, nested: false }).reply else {
            panic!()
        };
        session.files.project.clear();
        let _ = session.read_again(0);
        let _ = session.on(Event::Answer { ticket, answer });
        assert_eq!(session.engine.run.running().is_some(), !cancelled);
    }
}

#[test]
fn without_a_user_interface_the_last_word_says_why() {
    for (change, line) in [
        (
            CHANGES[0].0,
            "Workflow The outer: paused in * a: its rules are no longer those with which it was started (see --accept-workflow-rules=SEAL).",
        ),
        (CHANGES[11].0, "Workflow outer: paused: the files of the workflow “outer” cannot be read."),
    ] {
        let mut session = Session::held_by_nothing();
        change(&mut session);
        let _ = session.read_again(4);
        let seal = session.engine.run.seal_of_files().map(|seal| seal.to_string()).unwrap_or_default();
        let text = line.replace("SEAL", &seal);
        let effects = session.without_ui(Event::SessionShutdown).effects;
        assert_eq!(effects, [Effect::Notify { level: Level::Info, text }, Effect::SetExitCode(1)]);
    }
}

fn with_progress(progress: Option<Value>) -> Session {
    let mut session = Session::held_by_nothing();
    let mut state = serde_json::to_value(session.as_stored()).unwrap();
    match progress {
        Some(mut progress) => {
            if progress["seal"] == "own" {
                progress["seal"] = state["progress"]["seal"].clone();
            }
            state["progress"] = progress;
        }
        None => drop(state.as_object_mut().unwrap().shift_remove("progress")),
    }
    let stored = crate::run::restore([state.to_string()]);
    session.engine = Engine::default();
    let facts = Facts::default();
    let _ = session.on(Event::Session { stored, in_view: None, facts });
    session
}

#[test]
fn a_seal_is_taken_from_the_files_only_where_there_was_none() {
    let budget = json!({ "reason": { "kind": "budget" }, "at": 1 });
    let rules = json!({ "reason": { "kind": "rulesChanged" }, "at": 1 });
    for (progress, words) in [
        (None, None),
        (Some(json!({})), None),
        (Some(json!({ "version": 1, "seal": "own" })), None),
        (Some(json!({ "version": 1, "seal": "own", "future": [1] })), None),
        (Some(json!({ "future": [1] })), Some("the rules with which it was started")),
        (Some(json!({ "loops": 7 })), Some("the rules with which it was started are not known")),
        (Some(json!(7)), Some("the rules with which it was started are not known")),
        (Some(json!({ "version": 1 })), Some("the rules with which it was started are not known")),
        (Some(json!({ "paused": budget })), Some("the rules with which it was")),
        (Some(json!({ "paused": rules })), Some("its rules are no longer those")),
        (Some(json!({ "version": 1, "seal": { "version": 3, "hash": "x" } })), Some("its rules are")),
        (Some(json!({ "version": 1, "seal": { "version": 9, "tree": [] } })), Some("a later version")),
        (Some(json!({ "version": 2, "seal": "own" })), Some("a later version of this package stored it")),
    ] {
        let case = format!("{progress:?}");
        let mut session = with_progress(progress);
        let refusal = session.refusal();
        match words {
            None => {
                assert_eq!(refusal, None, "{case}");
                let seal = session.as_stored().unwrap().progress().seal.clone().unwrap();
                let of_files = session.engine.run.library().seal("outer");
                assert_eq!(Some(seal.hash), of_files);
            }
            Some(words) => {
                assert!(refusal.unwrap().contains(words), "{case}");
                // A restart of the component does not end the hold.
                let _ = session.command("workflow", "other y");
                let _ = session.read_again(4);
                assert!(session.refusal().unwrap().contains(words), "{case}");
                let _ = session.resume("");
                assert_eq!(session.refusal(), None, "{case}");
                let _ = session.read_again(4);
                assert_eq!(session.refusal(), None, "{case}");
            }
        }
    }
}

#[test]
fn a_pause_for_an_unknown_reason_waits_for_a_resume() {
    let paused = json!({ "reason": { "kind": "budget", "usd": 3 }, "at": 1 });
    let visits = json!({ "outer:0": { "startedAt": 1, "passes": 1, "summary": { "id": "a", "name": "* a", "text": "T", "step": 0 } } });
    let progress = json!({ "version": 1, "seal": "own", "paused": paused, "visits": visits, "budget": [1] });
    let mut session = with_progress(Some(progress.clone()));
    assert_eq!(session.status_line(), "⏸ The outer > * a [1/3] (paused: for an unknown reason)");
    for action in ["next", "loop"] {
        let _ = session.on(Event::Input { from_user: true });
        assert!(session.step(action).0.starts_with("The workflow is paused: “budget”"), "{action}");
    }
    let state = serde_json::to_value(session.as_stored()).unwrap();
    assert_eq!(state["progress"]["paused"], paused);
    assert_eq!(state["progress"]["visits"], visits);
    assert_eq!(state["progress"]["budget"], progress["budget"], "it is stored on");
    let _ = session.resume("");
    assert!(session.step("next").0.starts_with("✓"));
    assert_eq!(session.as_stored().unwrap().summaries().len(), 1);
}

#[test]
fn a_path_without_a_phase_is_held_with_a_valid_seal() {
    for path in [
        json!([{ "workflowKey": "outer", "phaseIndex": 9 }]),
        json!([{ "workflowKey": "outer", "phaseIndex": 0 }, { "workflowKey": "other", "phaseIndex": 0 }]),
        json!([{ "workflowKey": "outer", "phaseIndex": 1 }, { "workflowKey": "other", "phaseIndex": 0 }]),
    ] {
        let mut session = Session::held_by_nothing();
        let mut state = serde_json::to_value(session.as_stored()).unwrap();
        state["currentPath"] = path.clone();
        let stored = crate::run::restore([state.to_string()]);
        let facts = Facts::default();
        let _ = session.on(Event::Session { stored, in_view: None, facts });
        assert!(session.refusal().unwrap().contains("no longer have the phase"), "{path}");
        let _ = session.resume("");
        assert!(session.refusal().is_some(), "{path}");
    }
}

/// The state entries among effects.
fn stored_in(effects: &[Effect]) -> Vec<String> {
    let stored = effects.iter().filter_map(|effect| match effect {
        Effect::AppendEntry { custom_type: "workflow:state", data } => Some(data.to_string()),
        _ => None,
    });
    stored.collect()
}

/// A run of which nothing can be read is held until the user ends it, with each kind of user interface.
#[test]
fn a_run_that_cannot_be_read_is_held_until_it_is_cancelled() {
    let ended = r#"{"active":false,"workflowKey":"flat","cancelled":true}"#;
    let many = vec!["{}"; 10_001];
    let broken: [(&[&str], &str); 5] = [
        (&["x"], "an entry is not JSON"),
        (&[r#"{"active":true,"workflowKey":"flat"}"#], "an entry is malformed"),
        (&[r#"{"workflowKey":"flat","currentPath":7}"#], "an entry is malformed"),
        (&["{}", "null", " ", ended], "an entry is not JSON"),
        (&many, "entries name no workflow"),
    ];
    for (entries, why) in broken {
        for cancel in [("workflow", ":cancel"), ("cancel-workflow", "")] {
            let mut session = Session::new(&[("flat", &["a"])]);
            let start = |session: &mut Session| {
                let stored = crate::run::restore(entries);
                let event = Event::Session { stored, in_view: None, facts: Facts::default() };
                notices(&session.on(event).effects).concat()
            };
            let told = start(&mut session);
            assert!(told.starts_with("⏸ The stored run is paused: "), "{told}");
            assert!(told.contains(why) && told.contains("/cancel-workflow"), "{told}");
            assert!(session.refusal().unwrap().contains(why));
            for action in ["next", "loop", "cancel", "cancel"] {
                let (effects, (text, _)) = session.step_output(action);
                assert!(effects.is_empty() && text.contains(why), "{action}: {text}");
            }
            for control in [":resume", ":next", ":back", ":skip", ":pause"] {
                let effects = session.command("workflow", control).effects;
                assert!(stored_in(&effects).is_empty(), "{control}: {effects:?}");
                assert!(session.refusal().is_some(), "{control}");
            }
            let _ = session.on(Event::Input { from_user: true });
            let told = start(&mut session);
            assert!(session.refusal().is_some(), "{told}");
            let stored = stored_in(&session.command(cancel.0, cancel.1).effects);
            assert_eq!(session.refusal(), None);
            let newest = crate::run::restore(stored.into_iter().rev()).unwrap();
            assert!(newest.is_cancelled() && newest.is_announced());
        }
    }
    assert_eq!(crate::run::restore([ended]), None, "the reference takes it for ended");
}

/// A run of which a part is lost goes on only when the user says so.
#[test]
fn a_run_with_a_missing_part_is_held_until_the_user_decides() {
    let mut session = Session::held_by_nothing();
    let state = session.stored_run().unwrap().clone();
    let mut data = serde_json::to_value(&state).unwrap();
    data["progress"]["entry"] = serde_json::json!({ "number": 7, "parts": 3 });
    for decision in [":resume", ":cancel"] {
        let stored = crate::run::restore([data.to_string()]);
        session.engine = Engine::default();
        let facts = Facts::default();
        let told = notices(&session.on(Event::Session { stored, in_view: None, facts }).effects).concat();
        assert!(told.contains("an earlier entry that it continues is missing"), "{told}");
        assert!(told.contains("/workflow :resume asks you whether to go on with what can be read"), "{told}");
        assert!(session.refusal().is_some());
        assert!(stored_in(&session.command("workflow", ":next").effects).is_empty());
        let decided = if decision == ":resume" { session.resume("") } else { session.command("workflow", decision) };
        let stored = stored_in(&decided.effects);
        assert_eq!(session.refusal(), None, "{decision}");
        let newest = crate::run::restore(stored.into_iter().rev()).unwrap();
        assert_eq!((newest.is_running(), newest.progress().broken.clone()), (decision == ":resume", None));
    }
}

/// A run whose agent has rewritten its workflow; the files were not read again.
fn rewritten() -> Session {
    let mut session = Session::new(&[("flat", &["locked", "b"])]);
    let facts = Facts::default();
    let _ = session.on(Event::Session { stored: None, in_view: None, facts });
    let _ = session.command("workflow", "flat x");
    let _ = session.stop();
    let phase = session.files.global.get_mut("flat/locked.md").unwrap();
    *phase = phase.replace("tools: {blacklist: [edit]}\n", "");
    session
}

/// The question of a reply, and its ticket.
fn asked(output: &Output) -> (u64, String) {
    match &output.reply {
        Reply::Ask { ticket, request: Request::Select { title, .. } } => (*ticket, title.to_string()),
        Reply::Ask { ticket, request: Request::Confirm { message, .. } } => (*ticket, message.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_dialog_shows_what_has_changed_and_only_a_yes_to_it_accepts_it() {
    let mut session = rewritten();
    session.ui = Ui::Program;
    let _ = session.command("workflow", ":check");
    let output = session.command("workflow", ":resume");
    let (ticket, question) = asked(&output);
    let expected = "What has changed in the rules of \"The flat\":\n│ - flat/locked  (without edit)\n│ + flat/locked";
    assert_eq!(question, expected);
    let _ = session.on(Event::Answer { ticket, answer: Answer::Confirmed(false) });
    assert!(session.refusal().is_some());
    // The files change while the user reads.
    let (ticket, _) = asked(&session.command("workflow", ":resume"));
    session.insert("flat/b.md", "emoji: '*'\n", "emoji: '*'\nnetwork: false\n");
    let _ = session.engine.complete("", &session.files);
    let output = session.on(Event::Answer { ticket, answer: Answer::Confirmed(true) });
    assert_eq!(notices(&output.effects), ["The rules have changed meanwhile: nothing was accepted."]);
    assert!(session.refusal().is_some());
    let (ticket, question) = asked(&session.command("workflow", ":resume"));
    assert!(question.ends_with("\n│ + flat/b: no network"), "{question}");
    let _ = session.on(Event::Answer { ticket, answer: Answer::Confirmed(true) });
    assert_eq!(session.refusal(), None);
}

#[test]
fn another_process_shows_all_rules() {
    let mut session = rewritten();
    session.ui = Ui::Terminal;
    let _ = session.read_again(4);
    let output = session.command("workflow", ":resume");
    assert_eq!(asked(&output).1, "Accept the rules of \"The flat\"?\n│ flat/locked\n│ flat/b");
}

#[test]
fn only_an_option_accepts_rules_without_a_dialog_and_exactly_those_that_it_names() {
    for ui in [Ui::None, Ui::Program] {
        let mut session = rewritten();
        session.ui = ui;
        let stored = session.as_stored();
        let _ = session.command("workflow", ":check");
        let seal = session.engine.run.seal_of_files().unwrap().to_string();
        let mut start = |accept_rules| {
            let facts = Facts { accept_rules, ..Facts::default() };
            let _ = session.on(Event::Session { stored: stored.clone(), in_view: None, facts });
            session.refusal()
        };
        for given in [None, Some(String::new()), Some("1:0".into()), Some(seal.replace("3:", "1:"))] {
            assert!(start(given).is_some());
        }
        assert_eq!(start(Some(seal.clone())), None);
        assert!(start(None).is_some(), "nothing was stored that this test restores");
        if ui == Ui::None {
            let told = notices(&session.command("workflow", ":resume").effects).concat();
            assert!(told.ends_with(&format!("--accept-workflow-rules={seal}")), "{told}");
            assert!(session.refusal().is_some());
        }
    }
}

#[test]
fn a_branch_accepts_no_rules() {
    for ui in [Ui::Program, Ui::None] {
        let mut session = rewritten();
        session.ui = ui;
        let _ = session.command("workflow", ":check");
        let accept_rules = session.engine.run.seal_of_files().map(|seal| seal.to_string());
        let mut stored = session.as_stored().unwrap();
        stored.progress_mut().branch = Some(crate::run::Branch { key: "flat".into(), name: "flat".into(), step: 1 });
        let facts = Facts { accept_rules, ..Facts::default() };
        let _ = session.on(Event::Session { stored: Some(stored), in_view: None, facts });
        let output = session.command("workflow", ":resume");
        assert_eq!(output.reply, Reply::None);
        assert!(session.refusal().is_some(), "{ui:?}");
    }
}

#[test]
fn a_resume_after_the_files_were_repaired_goes_on() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let _ = session.command("workflow", "flat x");
    let _ = session.stop();
    let phase = session.files.global.remove("flat/b.md").unwrap();
    let _ = session.command("workflow", ":check");
    assert!(session.refusal().is_some());
    session.files.global.insert("flat/b.md".into(), phase);
    let effects = session.resume("").effects;
    assert!(effects.iter().any(|effect| matches!(effect, Effect::SendUserMessage(_))), "{effects:?}");
}

#[test]
fn a_resume_sets_the_status_line_if_a_completion_read_the_repaired_files() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let _ = session.command("workflow", "flat x");
    let _ = session.stop();
    let phase = session.files.global.remove("flat/b.md").unwrap();
    let _ = session.command("workflow", ":check");
    session.files.global.insert("flat/b.md".into(), phase);
    // The completion is no event: the command is the first event after the files were read.
    let _ = session.engine.complete("", &session.files);
    let effects = session.resume("").effects;
    assert!(effects.iter().any(|effect| matches!(effect, Effect::SendUserMessage(_))));
    let status_line = effects.iter().rfind(|effect| matches!(effect, Effect::SetStatus(_)));
    assert_eq!(status_line, Some(&status("The flat > * a [1/2]")), "{effects:?}");
}

#[test]
fn the_notice_names_what_the_project_puts_in_the_place_of_the_users_own() {
    let mut session = rewritten();
    for (path, text) in session.files.global.clone() {
        session.files.project.insert(path, text);
    }
    let effects = session.command("workflow", ":check").effects;
    let told = notices(&effects).concat();
    assert!(told.contains("This project's \"flat\" replaces yours."), "{told}");
}

#[test]
fn a_seal_does_not_hold_beside_a_new_limit() {
    const LIMITED: [&str; 3] = ["write: []\n", "network: true\n", "sandbox: off\n"];
    for (file, line) in
        ["outer/workflow.yaml", "inner/b.md"].into_iter().flat_map(|file| LIMITED.map(|line| (file, line)))
    {
        let mut session = Session::held_by_nothing();
        let seal = session.as_stored().unwrap().progress().seal.clone().unwrap();
        let _ = session.read_again(4);
        assert_eq!(session.refusal(), None);
        session.insert(file, "name: ", &format!("{line}name: "));
        let _ = session.read_again(4);
        assert!(session.refusal().unwrap().contains("its rules are"), "{file}: {line}");
        assert_eq!(session.as_stored().unwrap().progress().seal.clone().unwrap(), seal, "not sealed anew");
        let _ = session.resume("");
        assert_eq!(session.refusal(), None, "{file}: {line}");
        let _ = session.read_again(4);
        assert_eq!(session.refusal(), None, "{file}: {line}");
        session.insert(file, line, "");
        let _ = session.read_again(4);
        assert!(session.refusal().unwrap().contains("its rules are"), "{file}: {line}");
    }
}

#[test]
fn the_user_is_told_once_of_a_run_that_cannot_be_read() {
    let mut session = Session::held_by_nothing();
    session.engine = Engine::default();
    let stored = crate::run::Restored::unreadable(crate::run::BrokenReason::NotJson).state;
    let started = || Event::Session { stored: Some(stored.clone()), in_view: None, facts: Facts::default() };
    let effects = session.on(started()).effects;
    let [told] = notices(&effects)[..] else { panic!("{effects:?}") };
    let told = told.to_owned();
    // pi starts a session twice when another session is opened.
    assert_eq!(notices(&session.on(started()).effects), [""; 0]);
    for control in [":skip", ":back", ":next", ":resume", ":status"] {
        assert_eq!(notices(&session.command("workflow", control).effects), [&*told], "{control}");
    }
    let _ = session.on(Event::SessionShutdown);
    assert_eq!(notices(&session.on(started()).effects), [&*told]);
}
