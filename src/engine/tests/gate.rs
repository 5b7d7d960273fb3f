//! Gates: the checks before a phase is left.

use super::*;
use crate::engine::effect::OutputFile;

const PASSED: &str = "✓ Advanced: a → * b\n";

/// The request to the host, with its ticket.
fn asked(reply: Reply) -> (u64, Request) {
    match reply {
        Reply::Ask { ticket, request } => (ticket, request),
        other => panic!("{other:?}"),
    }
}

fn told(output: &Output) -> String {
    match &output.reply {
        Reply::Tool(result) => result.text.clone(),
        other => panic!("{other:?}"),
    }
}

/// The key under which this consent to a command is kept.
fn kept_key(value: &str) -> String {
    format!("allowed-command-{}", state::fingerprint(value))
}

fn ran(status: u32) -> Answer {
    let output = "building…\nit broke\n".into();
    Answer::Ran(Ran {
        cut_bytes: 0,
        end: CommandEnd::Exited(status),
        duration_ms: 12_300,
        output,
        standard_output: None,
        output_file: None,
    })
}

impl Session {
    /// A run in phase `a` of `flat` (a, b), whose front matter has these lines too.
    fn gated(front_matter: &str) -> Self {
        let mut session = Self::new(&[("flat", &["a", "b"])]);
        session.write_gate("flat/a.md", front_matter);
        session.begun()
    }

    /// Like [`Self::gated`], with a workflow of the project.
    fn of_project(front_matter: &str) -> Self {
        let mut session = Self::new(&[("flat", &["a", "b"])]);
        session.write_gate("flat/a.md", front_matter);
        session.files.project = std::mem::take(&mut session.files.global);
        session.begun()
    }

    fn begun(self) -> Self {
        self.begun_with("flat x")
    }

    fn begun_with(mut self, arguments: &str) -> Self {
        let _ = self.on(Event::Session { stored: None, in_view: None, facts: with_ui() });
        // With a user interface the start asks for the commands of a project.
        let _ = self.without_ui(Event::Command { name: "workflow", arguments });
        let _ = self.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
        let _ = self.on(Event::AgentStart);
        self
    }

    fn write_gate(&mut self, file: &str, front_matter: &str) {
        let phase = self.files.global.get_mut(file).unwrap();
        *phase = phase.replacen("emoji: '*'\n", &format!("emoji: '*'\n{front_matter}"), 1);
    }

    fn call_next(&mut self) -> Output {
        self.on(Event::Step { input: r#"{"action":"next","summary":"S"}"#, nested: false })
    }

    /// Calls `next` in a turn of its own.
    fn next_later(&mut self) -> Output {
        let _ = self.on(Event::TurnEnd { queued: false, calls: &[] });
        self.call_next()
    }

    fn answer(&mut self, ticket: u64, answer: Answer) -> Output {
        self.on(Event::Answer { ticket, answer })
    }

    fn progress(&self) -> &crate::run::Progress {
        self.stored_run().unwrap().progress()
    }

    fn phase(&self) -> &str {
        &Active::resolve(self.stored_run().unwrap(), self.engine.run.library()).unwrap().phase.id
    }
}

fn with_ui() -> Facts {
    Facts { project: "/p".into(), ..Facts::default() }
}

const TESTS: &str = "gate: [{run: make test, name: the tests, timeout: 10m}]\n";

#[test]
fn a_command_that_succeeds_passes_the_gate() {
    let mut session = Session::gated(TESTS);
    let (ticket, request) = asked(session.call_next().reply);
    let command = "make test".to_owned();
    let progress = "Gate 1/1: the tests".to_owned();
    let output_file = Some(OutputFile { key: session.stored_run().unwrap().task_id.clone(), name: "a".into() });
    assert_eq!(
        request,
        Request::Exec { command, env: Vec::new(), timeout_ms: 600_000, progress, apart: false, output_file }
    );
    let output = session.answer(ticket, ran(0));
    assert!(told(&output).starts_with(PASSED));
    let Effect::AppendEntry { data, .. } = &output.effects[0] else { panic!() };
    let visit = &data["progress"]["visits"]["flat:0"];
    assert_eq!(
        visit["evidence"],
        json!([{ "name": "the tests", "passed": true, "result": "exit status 0", "durationMs": 12_300, "attempt": 1 }])
    );
    assert_eq!(visit["summary"]["text"], "S");
    let effects = session.command("workflow", ":status").effects;
    let [Effect::AppendEntry { data, .. }] = &effects[..] else { panic!() };
    assert!(data["content"].as_str().unwrap().contains("\n     ✓ the tests: exit status 0, 12s\n"));
}

#[test]
fn a_gate_of_a_nested_call_is_cancelled_when_the_agent_stops() {
    for has_ui in [true, false] {
        let mut session = Session::gated(TESTS);
        let input = r#"{"action":"next"}"#;
        let (ticket, _) = asked(session.on(Event::Step { input, nested: true }).reply);
        let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
        let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
        let before = session.with_ui(has_ui, Event::BeforeSettle);
        let settled = session.with_ui(has_ui, Event::AgentSettled);
        let effects = if has_ui { settled.effects } else { before.effects };
        assert_eq!(effects.first(), Some(&Effect::CancelRequest { ticket }));
        let goes_on = matches!(before.reply, Reply::Continue(_))
            || effects.iter().any(|effect| matches!(effect, Effect::SetCountdown(Some(_))));
        assert!(goes_on, "{effects:?}");
        assert_eq!(session.answer(ticket, ran(0)), Output::default());
        assert_eq!((session.phase(), session.progress().gate_attempts), ("a", 0));
        // The gate stands, and can be tried again.
        asked(session.next_later().reply);
    }
}

#[test]
fn a_nested_call_can_pass_a_gate() {
    let mut session = Session::gated(TESTS);
    let input = r#"{"action":"next"}"#;
    let (ticket, _) = asked(session.on(Event::Step { input, nested: true }).reply);
    let output = session.answer(ticket, ran(0));
    assert!(told(&output).ends_with("follow the result of the call that made this one."));
    let effects = session.on(Event::TurnEnd { queued: false, calls: &[] }).effects;
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Brief(prompt) if prompt.contains("Do b."))));
}

#[test]
fn a_failure_is_told_and_changes_nothing_else() {
    let mut session = Session::gated(TESTS);
    let (ticket, _) = asked(session.call_next().reply);
    let output = session.answer(ticket, ran(2));
    assert_eq!(
        told(&output),
        "✗ The gate of a is not passed: the tests: exit status 2 after 12s. Attempt 1, 2 left.\n\n\
         The end of its output:\n```\nbuilding…\nit broke\n```\n\n\
         Fix that, then call workflow_step with action='next' again."
    );
    assert_eq!((session.phase(), session.progress().gate_attempts), ("a", 1));
    assert_eq!(session.progress().visits["flat:0"].evidence[0].tail, "building…\nit broke");
}

#[test]
fn after_the_last_attempt_the_run_pauses_until_the_user_says_something() {
    let mut session = Session::gated(&format!("{TESTS}gateAttempts: 2\n"));
    for _ in 0..2 {
        let (ticket, _) = asked(session.next_later().reply);
        let _ = session.answer(ticket, ran(1));
    }
    let pause = session.progress().paused.clone().unwrap();
    assert_eq!(pause.reason, crate::run::PauseReason::Gate { name: "the tests".into(), times: 2 });
    assert!(
        told(&session.next_later())
            .starts_with("The workflow is paused: the gate was not passed in 2 attempts; last: the tests.")
    );
    let _ = session.on(Event::Input { from_user: true });
    let (ticket, _) = asked(session.next_later().reply);
    assert!(told(&session.answer(ticket, ran(0))).starts_with(PASSED));
}

#[test]
fn checks_stop_at_the_first_that_fails() {
    let mut session =
        Session::gated("gate:\n- file: plan.md\n  contains: ^## Risks\n- run: make\n- file: 'src/**/*.rs'\n");
    assert!(told(&session.call_next()).contains(": plan.md: there is no such file."));
    for (text, why) in
        [("", "it is empty"), (" \n", "it is empty"), ("# Plan\n### Risks", "it does not contain /^## Risks/")]
    {
        session.files.tree.insert("plan.md".into(), text.into());
        let _ = session.on(Event::Input { from_user: true });
        assert!(told(&session.next_later()).contains(&format!("plan.md: {why}. ")), "{why}");
    }
    session.files.tree.insert("plan.md".into(), "# Plan\n## Risks".into());
    let _ = session.on(Event::Input { from_user: true });
    let (ticket, _) = asked(session.next_later().reply);
    let text = told(&session.answer(ticket, ran(0)));
    assert!(text.contains("src/**/*.rs: no file matches src/**/*.rs."), "{text}");
    session.files.tree.insert("src/a/b.rs".into(), "fn".into());
    let _ = session.on(Event::Input { from_user: true });
    let (ticket, _) = asked(session.next_later().reply);
    assert!(told(&session.answer(ticket, ran(0))).starts_with(PASSED));
    let results: Vec<&str> = session.progress().visits["flat:0"].evidence.iter().map(|e| &*e.result).collect();
    assert_eq!(results, ["it holds", "exit status 0", "src/a/b.rs holds"]);
}

/// A run that is paused because the user has not allowed the command of its gate.
fn not_allowed(front_matter: &str) -> Session {
    let mut session = Session::of_project(front_matter);
    let (ticket, _) = asked(session.call_next().reply);
    let text = told(&session.answer(ticket, Answer::Selected(0)));
    assert!(text.contains("is paused: it runs commands of this project"), "{text}");
    let _ = session.stop();
    session
}

/// Allows the command of the gate that is asked for, once; it ends with this status.
fn allow(session: &mut Session, reply: Reply, status: u32) -> Output {
    let (ticket, request) = asked(reply);
    assert!(matches!(request, Request::Select { .. }), "{request:?}");
    let (ticket, _) = asked(session.answer(ticket, Answer::Selected(1)).reply);
    session.answer(ticket, ran(status))
}

#[test]
fn a_resume_asks_for_the_consent_again() {
    let mut session = not_allowed(&format!("{TESTS}summary: required\n"));
    let reply = session.resume("").reply;
    let output = allow(&mut session, reply, 0);
    assert!(output.effects.iter().any(|effect| matches!(effect, Effect::SendUserMessage(_))));
    assert_eq!(session.phase(), "b");
    // The summary is not lost with the attempt.
    assert_eq!(session.progress().visits["flat:0"].summary.as_ref().unwrap().text, "S");
}

#[test]
fn a_failure_after_a_resume_reaches_the_agent() {
    let mut session = not_allowed(TESTS);
    let reply = session.resume("").reply;
    let output = allow(&mut session, reply, 1);
    assert!(
        output
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::SendUserMessage(text) if text.contains("it broke")))
    );
    assert_eq!(output.reply, Reply::Settle);
}

#[test]
fn while_a_gate_is_checked_other_calls_are_refused() {
    let mut session = Session::gated(TESTS);
    let (ticket, _) = asked(session.call_next().reply);
    for action in ["next", "loop", "cancel"] {
        assert_eq!(session.step(action).0, text::GATE_OPEN);
    }
    let blocked = Reply::Block(text::GATE_OPEN.into());
    assert_eq!(session.on(Event::ToolCall { name: "edit", carries_calls: false }).reply, blocked);
    assert!(told(&session.answer(ticket, ran(1))).starts_with("✗"));
    assert_eq!(told(&session.call_next()), text::GATE_HAD);
    assert_eq!(session.on(Event::ToolCall { name: "edit", carries_calls: false }).reply, Reply::None);
    let _ = asked(session.next_later().reply);
}

#[test]
fn an_interrupted_command_is_no_failed_attempt() {
    let mut session = Session::gated(TESTS);
    let stopped = entries::ended(CommandEnd::Cancelled);
    for answer in [stopped, Answer::Cancelled] {
        let (ticket, _) = asked(session.next_later().reply);
        let output = session.answer(ticket, answer);
        assert_eq!(told(&output), "The gate was interrupted: the tests was stopped.");
        assert_eq!(session.progress().gate_attempts, 0);
        // The summary that the call hands over is kept all the same.
        let [Effect::AppendEntry { data, .. }, Effect::SetStatus(_)] = &output.effects[..] else {
            panic!("{output:?}")
        };
        assert_eq!(data["progress"]["visits"]["flat:0"]["summary"]["text"], "S");
    }
    for (end, words) in [
        (CommandEnd::TimedOut, "it took too long and was stopped"),
        (CommandEnd::Exited(127), "exit status 127 (there is no such command)"),
        (CommandEnd::NotStarted("no shell".into()), "it did not start: no shell"),
    ] {
        let (ticket, _) = asked(session.next_later().reply);
        let answer = entries::ended(end);
        let text = told(&session.answer(ticket, answer));
        assert!(text.contains(&format!("the tests: {words} after 5ms.")), "{text}");
    }
}

#[test]
fn an_answer_after_the_run_has_left_the_phase_has_no_effect() {
    let mut session = Session::gated(TESTS);
    let (ticket, _) = asked(session.call_next().reply);
    let stored = session.stored_run().cloned();
    let _ = session.on(Event::Session { stored, in_view: None, facts: with_ui() });
    assert_eq!(session.answer(ticket, ran(0)), Output::default());
    assert_eq!(session.phase(), "a");

    let (ticket, _) = asked(session.next_later().reply);
    let effects = session.command("workflow", ":skip").effects;
    assert_eq!(effects[0], Effect::CancelRequest { ticket });
    let text = told(&session.answer(ticket, ran(0)));
    assert!(text.contains("this call had no effect"), "{text}");
    assert_eq!(session.phase(), "b");

    let _ = session.command("workflow", ":back");
    let (ticket, _) = asked(session.next_later().reply);
    let _ = session.command("cancel-workflow", "");
    assert!(told(&session.answer(ticket, ran(0))).contains("has ended meanwhile"));
}

#[test]
fn a_run_that_a_question_kept_from_its_countdown_waits_for_the_user() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: with_ui() });
    let _ = session.command("workflow", "flat x");
    let _ = session.on(Event::AgentStart);
    let (ticket, _) = asked(session.command("workflow", "flat y").reply);
    let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
    assert_eq!(session.on(Event::AgentSettled).effects, []);
    let effects = session.answer(ticket, Answer::Confirmed(false)).effects;
    assert!(matches!(&effects[..], [Effect::SetStatus(Some(line))] if line.contains("waits for you")));
}

#[test]
fn commands_of_a_project_need_consent() {
    let mut session = Session::of_project(TESTS);
    let (ticket, request) = asked(session.call_next().reply);
    let Request::Select { title, options } = request else { panic!() };
    assert!(title == "Project gate \"a\" runs:\n│ make test\nAllow it?", "{title}");
    assert_eq!(options.len(), 4);
    let text = told(&session.answer(ticket, Answer::Selected(0)));
    assert!(text.contains("is paused: it runs commands of this project"), "{text}");

    // "Once" is for this check, "session" until the session ends, "always" is stored.
    let _ = session.on(Event::Input { from_user: true });
    for (choice, asks_again) in [(1, true), (3, true), (2, false)] {
        let (ticket, _) = asked(session.next_later().reply);
        let output = session.answer(ticket, Answer::Selected(choice));
        let kept = match &output.effects[..] {
            [Effect::Remember { key, value }] => {
                assert_eq!(*key, kept_key(value));
                value == r#"["/p","1:2:3","make test"]"#
            }
            _ => false,
        };
        assert_eq!(kept, choice == 3);
        let (ticket, _) = asked(output.reply);
        let _ = session.answer(ticket, Answer::Cancelled);
        let (_, request) = asked(session.next_later().reply);
        assert_eq!(matches!(request, Request::Select { .. }), asks_again);
        let ticket = session.last_ticket;
        let _ = session.answer(ticket, Answer::Cancelled);
        let _ = session.on(Event::Input { from_user: true });
    }
}

#[test]
fn a_remembered_consent_is_for_this_command_in_this_project() {
    for (value, runs) in [
        (r#"["/p","1:2:3","make test"]"#, true),
        (r#"["/p","1:2:3","make tests"]"#, false),
        (r#"["/q","1:2:3","make test"]"#, false),
        // Another folder that took the path.
        (r#"["/p","1:3:3","make test"]"#, false),
        ("", false),
    ] {
        let mut session = Session::of_project(TESTS);
        let key = kept_key(r#"["/p","1:2:3","make test"]"#);
        session.files.kept.insert(key, value.into());
        let (_, request) = asked(session.call_next().reply);
        assert_eq!(matches!(request, Request::Exec { .. }), runs, "{value}");
    }
}

#[test]
fn always_is_offered_only_where_the_project_is_known() {
    let mut session = Session::of_project(TESTS);
    session.files.identity = None;
    let (ticket, request) = asked(session.call_next().reply);
    let Request::Select { options, .. } = request else { panic!("{request:?}") };
    assert_eq!(options, ["No", "Yes, once", "Yes, for this session"]);
    // An option that is not offered is not a yes.
    let text = told(&session.answer(ticket, Answer::Selected(3)));
    assert!(text.contains("is paused: it runs commands of this project"), "{text}");

    // Another folder at the same path has other keys.
    let mut keys = Vec::new();
    for identity in ["1:2:3", "1:2:4"] {
        let mut session = Session::of_project(TESTS);
        session.files.identity = Some(identity.into());
        let (ticket, _) = asked(session.call_next().reply);
        let effects = session.answer(ticket, Answer::Selected(3)).effects;
        let [Effect::Remember { key, .. }] = &effects[..] else { panic!("{effects:?}") };
        keys.push(key.clone());
    }
    assert_ne!(keys[0], keys[1]);
}

#[test]
fn in_a_terminal_what_does_not_fit_stands_above_the_question() {
    let facts = with_ui();
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    session.ui = Ui::Terminal;
    let commands = "gate: [{run: one}, {run: two}, {run: three}, {run: four}]\n";
    session.write_gate("flat/a.md", commands);
    session.files.project = std::mem::take(&mut session.files.global);
    let _ = session.on(Event::Session { stored: None, in_view: None, facts });
    let _ = session.without_ui(Event::Command { name: "workflow", arguments: "flat x" });
    let _ = session.on(Event::AgentStart);
    let _ = session.command("workflow", ":panel");
    let output = session.call_next();
    // The panel makes room until the question is answered.
    let [Effect::AppendEntry { custom_type: STATUS_TYPE, data }, Effect::SetPanel(None)] = &output.effects[..] else {
        panic!("{output:?}")
    };
    let content = "Project gate \"a\" runs:\n│ one\n│ two\n│ three\n│ four";
    assert_eq!(data["content"], content);
    let (ticket, request) = asked(output.reply);
    let Request::Select { title, .. } = request else { panic!("{request:?}") };
    assert_eq!(title, "Allow project gate \"a\"?\n4 commands, 4 lines: shown above");
    let output = session.answer(ticket, Answer::Selected(1));
    assert!(matches!(output.effects[..], [Effect::SetPanel(Some(_))]), "{output:?}");
    let mut ticket = asked(output.reply).0;
    for _ in 0..3 {
        ticket = asked(session.answer(ticket, ran(0)).reply).0;
    }
    assert!(told(&session.answer(ticket, ran(0))).starts_with(PASSED));
}

#[test]
fn without_a_ui_a_project_needs_the_flag() {
    let mut session = Session::of_project(TESTS);
    let (ticket, _) = asked(session.call_next().reply);
    let text = told(&session.answer(ticket, Answer::NoUi));
    assert!(!text.contains("--allow-workflow-commands"), "{text}");
    let stored = session.stored_run().cloned();
    let last = session.without_ui(Event::SessionShutdown).effects;
    let line = "Workflow The flat: paused in * a: it runs commands of this project that you have not allowed (see --allow-workflow-commands).";
    assert!(last.starts_with(&notice(Level::Info, line)), "{last:?}");

    let facts = Facts { allow_commands: true, ..with_ui() };
    let _ = session.on(Event::Session { stored, in_view: None, facts });
    let _ = session.on(Event::Input { from_user: true });
    let (_, request) = asked(session.call_next().reply);
    assert!(matches!(request, Request::Exec { .. }));
}

#[test]
fn the_user_passes_a_gate_by_next_and_goes_around_it_by_skip() {
    let mut session = Session::gated(TESTS);
    let (ticket, _) = asked(session.command("workflow", ":next").reply);
    let checked = notice(Level::Info, "The gate of this phase is being checked.");
    assert_eq!(session.command("workflow", ":next").effects, checked);
    let effects = session.answer(ticket, ran(1)).effects;
    let [_, Effect::Notify { level: Level::Warning, text }, Effect::Steer(told), _] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert!(text.starts_with("✗ The gate of a is not passed: the tests: exit status 1"));
    assert!(told.contains("it broke") && told.ends_with("action='next' again."));
    assert_eq!(session.phase(), "a");
    let _ = session.command("workflow", ":skip");
    let visit = &session.progress().visits["flat:0"];
    assert!(visit.skipped && visit.evidence.len() == 1);
    assert_eq!(session.phase(), "b");
}

#[test]
fn the_prompt_says_what_the_gate_checks() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    session.write_gate("flat/a.md", "gate:\n- {run: make test, name: the tests}\n- {file: plan.md, contains: Risks}\n");
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: with_ui() });
    let _ = session.command("workflow", "flat x");
    let output = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
    let Reply::Inject { content, .. } = output.reply else { panic!() };
    let gate = "\n\n**Gate:** `next` is accepted only if all of this holds; it is checked for you:\n\
        - the tests: `make test` ends with exit status 0\n\
        - the file `plan.md` exists, is not empty and contains /Risks/\n\n";
    assert!(content.contains(gate), "{content}");
}

#[test]
fn a_summary_is_not_lost_with_an_attempt() {
    let mut session = Session::gated(&format!("{TESTS}summary: required\n"));
    let (ticket, _) = asked(session.call_next().reply);
    let _ = session.answer(ticket, ran(1));
    let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
    let (ticket, _) = asked(session.on(Event::Step { input: r#"{"action":"next"}"#, nested: false }).reply);
    assert!(told(&session.answer(ticket, ran(0))).contains("### * a\nS\n"));
}

#[test]
fn a_pause_of_a_gate_ends_with_its_phase() {
    for control in [":next", ":skip"] {
        let mut session = not_allowed(TESTS);
        assert!(session.step("loop").0.starts_with("The workflow is paused: it runs commands"));
        let reply = session.command("workflow", control).reply;
        if control == ":next" {
            let _ = allow(&mut session, reply, 0);
        }
        assert_eq!(session.phase(), "b");
        assert_eq!(session.progress().paused, None);
        let not_paused = notice(Level::Info, "The workflow is not paused.");
        assert_eq!(session.resume("").effects, not_paused);
    }
}

#[test]
fn a_gate_holds_as_it_was_when_it_was_opened() {
    let mut session = Session::gated(TESTS);
    let (ticket, _) = asked(session.call_next().reply);
    let phase = session.files.global.get_mut("flat/a.md").unwrap();
    *phase = phase.replacen(TESTS, "", 1);
    // The files are not read meanwhile: the rules of the run count.
    assert!(told(&session.answer(ticket, ran(1))).starts_with("✗ The gate of a is not passed"));
}

#[test]
fn a_move_and_another_start_withdraw_the_gate() {
    let mut session = Session::gated(TESTS);
    let (ticket, _) = asked(session.call_next().reply);
    let stored = session.stored_run().cloned();
    let output = session.on(Event::Session { stored, in_view: None, facts: with_ui() });
    assert_eq!(output.effects[0], Effect::CancelRequest { ticket });
}

#[test]
fn long_commands_stand_in_the_transcript_too() {
    let lines: Vec<String> = (0..300).map(|number| format!("  echo {number}")).collect();
    let mut session = Session::of_project(&format!("gate:\n- run: |\n  {}\n", lines.join("\n  ")));
    let output = session.call_next();
    let [Effect::AppendEntry { data, .. }] = &output.effects[..] else { panic!("{output:?}") };
    assert!(data["content"].as_str().unwrap().ends_with("\n│ echo 299"));
    let (_, Request::Select { title, options }) = asked(output.reply) else { panic!() };
    assert!(title.contains("\n│ echo 199\n… and 100 more lines") && options[0] == "No");
}

#[test]
fn files_that_exist_are_found() {
    for (path, content, holds) in [
        ("app/[id]/page.tsx", "x", true),
        ("packages/*/plan.md", "x", true),
        ("packages/z/dist/deep/plan.md", "x", true),
    ] {
        let mut session = Session::gated(&format!("gate: [{{file: '{path}'}}]\n"));
        let file = path.replace("*/plan", "a/plan");
        session.files.tree.insert(file, content.into());
        for number in 0..200 {
            session.files.tree.insert(format!("packages/z/dist/{number}/x.js"), "x".into());
        }
        assert_eq!(told(&session.call_next()).starts_with(PASSED), holds, "{path}");
    }
}

#[test]
fn a_glob_looks_through_each_folder_once() {
    for (path, holds) in [("**/plan.md", true), ("src/**/plan.md", true), ("**/none.md", false)] {
        let mut session = Session::gated(&format!("gate: [{{file: '{path}'}}]\n"));
        session.files.tree.insert("src/deep/plan.md".into(), "x".into());
        for link in ["l1", "l2", "l3", "l4", "l5", "src/up", "src/deep/up"] {
            session.files.links.insert(format!("project-files/{link}"), String::new());
        }
        let before = session.files.lists.get();
        let text = told(&session.call_next());
        assert_eq!(text.starts_with(PASSED), holds, "{path}: {text}");
        assert!(holds || text.contains("no file matches"), "{path}: {text}");
        assert!(session.files.lists.get() - before < 10, "{path}");
    }
}

#[test]
fn a_pause_by_the_user_withdraws_the_gate() {
    let mut session = Session::gated(TESTS);
    let (ticket, _) = asked(session.call_next().reply);
    let effects = session.command("workflow", ":pause").effects;
    assert_eq!(effects[0], Effect::CancelRequest { ticket });
    let output = session.answer(ticket, Answer::Cancelled);
    assert_eq!(told(&output), "The workflow is paused: you asked for it. Stop here and wait for the user.");
    assert_eq!(output.effects, []);
    let pause = session.progress().paused.clone().unwrap();
    assert_eq!(pause.reason, crate::run::PauseReason::User);
}

/// Changes that an agent that can write files may make to a gate, each with the new lines.
const WEAKER: [(&str, &str, &str); 4] = [
    ("flat/a.md", TESTS, ""),
    ("flat/a.md", "make test,", "'true',"),
    ("flat/a.md", TESTS, "gate: [{run: make test, name: the tests, timeout: 10m}]\ngateAttempts: 9\n"),
    ("flat/workflow.yaml", "[a.md, b.md]", "[b.md, a.md]"),
];

#[test]
fn a_gate_that_was_changed_meanwhile_waits_for_the_user() {
    for (file, from, to) in WEAKER {
        let mut session = Session::new(&[("flat", &["a", "b"])]);
        session.write_gate("flat/a.md", TESTS);
        session.files.project = std::mem::take(&mut session.files.global);
        let mut session = session.begun();
        let text = session.files.project.get_mut(file).unwrap();
        assert!(text.contains(from), "{file}: {text}");
        *text = text.replacen(from, to, 1);
        let _ = session.engine.complete("", &session.files);

        let output = session.call_next();
        assert_eq!(
            told(&output),
            "The workflow is paused: its rules are no longer those with which it was started. All tool calls are refused until the user has decided; only workflow_step with action='status' answers. Stop here and wait for the user."
        );
        let [.., Effect::Notify { text, .. }, Effect::SetStatus(_)] = &output.effects[..] else { panic!() };
        assert!(text.contains("\n/workflow :resume shows what has changed, and asks you "));
        // Only that command continues the run.
        let _ = session.on(Event::Input { from_user: true });
        assert!(told(&session.next_later()).starts_with("The workflow is paused: its rules"));
        let stored = session.stored_run().cloned();
        let facts = Facts { allow_commands: true, ..with_ui() };
        let _ = session.on(Event::Session { stored, in_view: None, facts });
        assert!(told(&session.next_later()).starts_with("The workflow is paused: its rules"));
        let _ = session.resume("");
        assert_eq!(session.progress().paused, None);
        match session.next_later().reply {
            Reply::Tool(result) => assert!(result.text.contains("✓ Advanced"), "{}", result.text),
            Reply::Ask { request: Request::Exec { .. }, .. } => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_gate_that_was_changed_while_it_was_checked_waits_for_the_user_too() {
    let mut session = Session::gated(TESTS);
    let (ticket, _) = asked(session.command("workflow", ":next").reply);
    let phase = session.files.global.get_mut("flat/a.md").unwrap();
    *phase = phase.replacen(TESTS, "", 1);
    let told = |effects: &[Effect]| effects.iter().filter(|effect| matches!(effect, Effect::Notify { .. })).count();
    assert_eq!(told(&session.command("workflow", ":check").effects), 1);
    assert_eq!(told(&session.answer(ticket, ran(0)).effects), 0);
    assert_eq!(session.phase(), "a");
    assert_eq!(session.progress().visits["flat:0"].evidence.len(), 1);
    // Before a phase is passed over, its rules are to be accepted.
    assert_eq!(told(&session.command("workflow", ":skip").effects), 1);
    assert_eq!(session.phase(), "a");
    let _ = session.resume("");
    let _ = session.command("workflow", ":skip");
    assert_eq!((session.phase(), &session.progress().paused), ("b", &None));
}

#[test]
fn changed_instructions_do_not_hold_the_run_at_its_gate() {
    let mut session = Session::gated(TESTS);
    let phase = session.files.global.get_mut("flat/a.md").unwrap();
    *phase = phase.replacen("Do a.", "Do a, and well.", 1);
    let _ = session.engine.complete("", &session.files);
    let (ticket, _) = asked(session.call_next().reply);
    assert!(told(&session.answer(ticket, ran(0))).starts_with(PASSED));
}

#[test]
fn without_a_ui_a_failed_gate_is_no_failed_command_while_the_agent_works_on_it() {
    let failed = |at_work: bool| {
        let mut session = Session::gated("gate: [{file: out.md}]\n");
        if !at_work {
            let _ = session.without_ui(Event::AgentSettled);
            let _ = session.without_ui(Event::Command { name: "workflow", arguments: ":pause" });
        }
        let next = Event::Command { name: "workflow", arguments: ":next" };
        session.without_ui(next).effects.contains(&Effect::SetExitCode(1))
    };
    assert!(!failed(true), "the agent is told, and fixes it");
    assert!(failed(false), "the run is paused: nothing follows");
}

#[test]
fn the_question_about_a_command_names_the_gate_of_the_project() {
    // The user's own workflow has the same command in its gate, and needs no consent.
    let mut session = Session::new(&[("outer", &["@inner", "c"]), ("inner", &["b"])]);
    session.write_gate("inner/b.md", TESTS);
    session.write_gate("outer/c.md", TESTS);
    let (own, outer) =
        std::mem::take(&mut session.files.global).into_iter().partition(|(path, _)| path.starts_with("inner/"));
    (session.files.global, session.files.project) = (own, outer);
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: with_ui() });
    let _ = session.without_ui(Event::Command { name: "workflow", arguments: "outer x" });
    let (ticket, request) = asked(session.call_next().reply);
    assert!(matches!(request, Request::Exec { .. }), "{request:?}");
    let _ = session.answer(ticket, ran(0));
    let (_, request) = asked(session.next_later().reply);
    let Request::Select { title, .. } = request else { panic!("{request:?}") };
    assert!(title.starts_with("Project gate \"c\" runs:"), "{title}");
}

/// A gate whose command gets the task, the outcome of `a`, its summary, and an input.
const VARIABLES: &str = "gate: [{run: 'make \"$what\"', name: make, env: {what: input.what, task: task, how: outcome.a, did: summary.a}}]\n";

/// A run in phase `b` with [`VARIABLES`], whose input and summary of `a` have this value.
fn with_variables(value: &str, is_project: bool) -> Session {
    let mut session = Session::new(&[("flat", &["a", "b", "c"])]);
    session.write_gate("flat/a.md", "outcomes: { good: next, bad: next }\n");
    session.write_gate("flat/b.md", VARIABLES);
    let workflow = session.files.global.get_mut("flat/workflow.yaml").unwrap();
    workflow.push_str("inputs: { what: { type: text, default: none } }\n");
    if is_project {
        session.files.project = std::mem::take(&mut session.files.global);
    }
    let what = value.replace('\0', "").replace('\\', "\\\\").replace('"', "\\\"");
    let mut session = session.begun_with(&format!("flat what=\"{what}\" The task"));
    let input = json!({ "action": "next", "outcome": "good", "summary": value }).to_string();
    let _ = session.on(Event::Step { input: &input, nested: false });
    session
}

#[test]
fn a_command_gets_values_by_name_and_not_in_its_line() {
    for value in ["api", "$(touch x)", "`id`; rm -rf ~ # \"'", "-rf", "a\nb", "{task}", "*", "\u{1b}[31m"] {
        let mut session = with_variables(value, false);
        let (_, request) = asked(session.call_next().reply);
        let Request::Exec { command, env, .. } = request else { panic!("{request:?}") };
        assert_eq!(command, "make \"$what\"");
        let env: crate::sorted::Map<&str, &str> = env.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!([env["what"], env["how"], env["did"], env["task"]], [value, "good", value, "The task"]);
        assert_eq!(env.len(), 4);
    }
}

#[test]
fn a_value_that_no_variable_can_have_fails_the_check() {
    let mut session = with_variables("a\0b", false);
    let text = told(&session.call_next());
    assert!(text.contains("the value of did has a NUL character"), "{text}");
}

#[test]
fn the_user_agrees_to_the_line_and_to_what_its_variables_are() {
    let mut session = with_variables("api", true);
    let (ticket, request) = asked(session.call_next().reply);
    let Request::Select { title, options } = request else { panic!("{request:?}") };
    for line in [
        "make \"$what\"",
        "# what is input.what, from the start of the run or, by `with`, the agent",
        "# task is task, from the user",
        "# how is outcome.a, from the agent",
        "# did is summary.a, from the agent",
    ] {
        assert!(title.contains(line), "{title}");
    }
    assert!(!title.contains("api"), "the values are of one run: {title}");
    let session_long = options.iter().position(|option| option == "Yes, for this session").unwrap();
    let (_, request) = asked(session.answer(ticket, Answer::Selected(session_long)).reply);
    assert!(matches!(request, Request::Exec { .. }), "{request:?}");
    // The same line with another value behind a name needs another consent.
    let phase = session.files.project.get_mut("flat/b.md").unwrap();
    *phase = phase.replacen("what: input.what", "what: summary.a", 1);
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: with_ui() });
    let _ = session.without_ui(Event::Command { name: "workflow", arguments: "flat y" });
    let input = json!({ "action": "next", "outcome": "good", "summary": "S" }).to_string();
    let _ = session.on(Event::Step { input: &input, nested: false });
    let (_, request) = asked(session.call_next().reply);
    assert!(matches!(request, Request::Select { .. }), "{request:?}");
}

#[test]
fn a_cut_output_says_what_is_missing_and_which_file_has_all_of_it() {
    let mut session = Session::gated("gate: [{ run: make }]\n");
    let reply = session.call_next().reply;
    let Reply::Ask { ticket, request: Request::Exec { output_file: Some(file), .. } } = reply else {
        panic!("{reply:?}")
    };
    assert_eq!(file.name, "a");
    let lines = |count: usize| (1..=count).map(|number| format!("line {number}\n")).collect::<String>();
    let ran = |output: String, cut_bytes| {
        let (end, output_file) = (CommandEnd::Exited(1), Some(Ok("runs/a-1.log".to_owned())));
        Answer::Ran(Ran { end, duration_ms: 5, output, cut_bytes, standard_output: None, output_file })
    };
    let output = session.answer(ticket, ran(lines(100), 7));
    let note = format!("```\n… ({} bytes before; all of it: runs/a-1.log)\nline 61\n", 7 + lines(60).len());
    assert!(told(&output).contains(&note), "{output:?}");
    let evidence = &session.stored_run().unwrap().progress().visits["flat:0"].evidence[0];
    assert_eq!((evidence.file.as_str(), evidence.missing), ("runs/a-1.log", 7 + lines(60).len() as u64));
    // All of a short output: nothing is missing, and no file is named.
    let (ticket, _) = asked(session.next_later().reply);
    let output = session.answer(ticket, ran(lines(2), 0));
    assert!(told(&output).contains("```\nline 1\nline 2\n```"), "{output:?}");
    assert_eq!(session.stored_run().unwrap().progress().visits["flat:0"].evidence[0].file, "");
}

#[test]
fn the_pause_behind_the_last_attempt_shows_the_failure_and_resume_gives_as_many_again() {
    let mut session = Session::gated(&format!("{TESTS}gateAttempts: 2\n"));
    session.ui = Ui::Terminal;
    let fail = |session: &mut Session| {
        let (ticket, _) = asked(session.next_later().reply);
        let output = session.answer(ticket, ran(1));
        let notices = output.effects.iter().filter_map(|effect| match effect {
            Effect::Notify { text, .. } => Some(text.clone()),
            _ => None,
        });
        notices.collect::<Vec<_>>().join("\n")
    };
    for _ in 0..2 {
        assert_eq!(fail(&mut session), "");
        let shown = fail(&mut session);
        assert!(shown.contains("the gate was not passed in 2 attempts; last: the tests"), "{shown}");
        assert!(shown.contains("\n✗ the tests: exit status 1, 12s, attempt 2\nbuilding…\nit broke\n"), "{shown}");
        assert!(shown.ends_with("\n/workflow :resume, or your next message, gives as many attempts again."), "{shown}");
        let _ = session.stop();
        let _ = session.command("workflow", ":resume");
    }
}
