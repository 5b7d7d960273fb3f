//! Entries without the model.

use super::*;
use crate::protocol::QUESTION_TYPE;

pub(super) fn asked(reply: &Reply) -> (u64, &str) {
    match reply {
        Reply::Ask { ticket, request: Request::Exec { command, .. } } => (*ticket, command),
        other => panic!("{other:?}"),
    }
}

pub(super) fn ran(status: u32, output: &str) -> Answer {
    let end = CommandEnd::Exited(status);
    let standard_output = Some(output.to_owned());
    Answer::Ran(Ran { cut_bytes: 0, end, duration_ms: 1200, output: output.into(), standard_output, output_file: None })
}

/// The result of a command that has ended so, without output.
pub(super) fn ended(end: CommandEnd) -> Answer {
    let (output, standard_output, output_file) = (String::new(), None, None);
    Answer::Ran(Ran { cut_bytes: 0, end, duration_ms: 5, output, standard_output, output_file })
}

/// A session with a workflow of these entries; `a` and `b` are phases.
fn session(entries: &str) -> Session {
    let mut session = Session::new(&[("w", &["a", "b"])]);
    session.files.global.insert(
        "w/workflow.yaml".into(),
        format!("name: W\ncommandName: w\ninitialMessage: 'Go: {{description}}'\nphases:\n{entries}"),
    );
    let facts = Facts::default();
    let _ = session.on(Event::Session { stored: None, in_view: None, facts });
    session
}

const MIDDLE: &str = "  - a.md\n  - run: gh pr view\n    id: pr\n  - b.md\n";

impl Session {
    pub(super) fn give(&mut self, ticket: u64, answer: Answer) -> Output {
        self.on(Event::Answer { ticket, answer })
    }

    /// The agent calls `next` in a run of the workflow.
    pub(super) fn next_at_work(&mut self) -> Output {
        let _ = self.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
        let _ = self.on(Event::AgentStart);
        self.on(Event::Step { input: r#"{"action":"next"}"#, nested: false })
    }

    fn key(&self) -> String {
        self.stored_run().unwrap().current_path.key()
    }

    pub(super) fn paused(&self) -> Option<String> {
        Some(self.stored_run()?.progress().paused.as_ref()?.reason.to_string())
    }
}

fn told(output: &Output) -> &str {
    match &output.reply {
        Reply::Tool(result) => &result.text,
        other => panic!("{other:?}"),
    }
}

/// The answer of a step with much output, which is in a file or not.
fn ran_loud(file: Result<&str, &str>) -> Answer {
    let Answer::Ran(Ran { end, duration_ms, .. }) = ran(0, "") else { panic!() };
    let output = "0123456789".repeat(1000);
    let output_file = Some(file.map(str::to_owned).map_err(str::to_owned));
    Answer::Ran(Ran { cut_bytes: 0, end, duration_ms, output, standard_output: None, output_file })
}

#[test]
fn the_evidence_of_a_step_has_its_name() {
    let long = "gh pr view --json title,body,files --jq .title".repeat(3);
    for (fields, name) in [
        ("id: pr\n    name: The title", "The title".to_owned()),
        ("id: pr", "pr".to_owned()),
        ("timeout: 9", long.chars().take(99).chain(['…']).collect()),
    ] {
        let mut session = session(&format!("  - a.md\n  - run: {long}\n    {fields}\n  - b.md\n"));
        let _ = session.command("workflow", "w x");
        let Reply::Ask { ticket, .. } = session.next_at_work().reply else { panic!() };
        let _ = session.give(ticket, ran(0, "fine"));
        let state = session.stored_run().unwrap();
        assert_eq!(state.progress().visits["w:1"].evidence[0].name, name);
    }
}

#[test]
fn the_file_with_the_whole_output_is_named_where_the_output_is_cut() {
    let mut session = session(MIDDLE);
    let _ = session.command("workflow", "w x");
    let output = session.next_at_work();
    let Reply::Ask { ticket, request: Request::Exec { output_file: Some(file), .. } } = output.reply else {
        panic!("{output:?}")
    };
    assert_eq!((file.key, file.name.as_str()), (session.stored_run().unwrap().task_id.clone(), "pr"));
    let output = session.give(ticket, ran_loud(Ok("runs/pr-1.log")));
    let note = "bytes before; all of it: runs/pr-1.log)\n";
    assert!(told(&output).contains(note), "{output:?}");
    let state = session.stored_run().unwrap();
    let visit = &state.progress().visits["w:1"];
    let text = &visit.summary.as_ref().unwrap().text;
    assert!(text.starts_with("… (") && text.chars().count() <= 4000, "{text}");
    assert_eq!(visit.evidence[0].file, "runs/pr-1.log");
    let output = session.command("workflow", ":status");
    let shown = format!("{:?}", output.effects);
    assert!(shown.contains("exit status 0, 1s; its output: runs/pr-1.log"), "{shown}");
}

#[test]
fn a_step_goes_on_without_a_file_and_the_user_is_told() {
    let mut session = session(MIDDLE);
    let _ = session.command("workflow", "w x");
    let (ticket, _) = asked(&session.next_at_work().reply);
    let output = session.give(ticket, ran_loud(Err("runs: permission denied")));
    let text = "The whole output of “pr” is not kept: runs: permission denied";
    assert!(output.effects.contains(&Effect::Notify { level: Level::Warning, text: text.into() }), "{output:?}");
    assert_eq!(session.key(), "w:2");
    let visit = &session.stored_run().unwrap().progress().visits["w:1"];
    assert_eq!((visit.evidence[0].passed, visit.evidence[0].file.as_str()), (true, ""));
}

#[test]
fn the_file_of_a_step_in_a_list_is_named_by_the_item() {
    let mut session =
        session("  - id: all\n    each: [x, y]\n    phases:\n      - run: one\n        id: größe.1\n  - b.md\n");
    let output = session.command("workflow", "w x");
    let (ticket, _) = asked(&output.reply);
    let output = session.give(ticket, ran(0, ""));
    let Reply::Ask { request: Request::Exec { output_file: Some(file), .. }, .. } = output.reply else {
        panic!("{output:?}")
    };
    assert_eq!(file.name, "gr--e-1.2");
}

#[test]
fn the_session_is_written_between_the_state_and_the_first_step_or_question() {
    for entry in ["run: one", "ask: Which?\n    outcomes: { x: next, y: next }"] {
        let mut session = session(&format!("  - {entry}\n  - b.md\n"));
        let output = session.command("workflow", "w x");
        assert!(matches!(output.reply, Reply::Ask { .. }), "{output:?}");
        let at = |wanted: fn(&Effect) -> bool| output.effects.iter().rposition(wanted);
        let state = at(|effect| matches!(effect, Effect::AppendEntry { custom_type: STATE_ENTRY_TYPE, .. }));
        let written = at(|effect| *effect == Effect::WriteSession);
        assert!(state.is_some() && state < written, "{output:?}");
    }
}

#[test]
fn a_step_between_phases_runs_in_the_call_that_comes_to_it() {
    let mut session = session(MIDDLE);
    let _ = session.command("workflow", "w x");
    let output = session.next_at_work();
    let (ticket, command) = asked(&output.reply);
    assert_eq!((command, session.key().as_str()), ("gh pr view", "w:1"));
    assert_eq!(session.status.as_deref(), Some("W > ⚙️ pr [2/3]"));
    let call = session.on(Event::ToolCall { name: "read", carries_calls: false });
    assert!(matches!(&call.reply, Reply::Stop(text) if text.contains("⚙️ pr")), "{call:?}");
    let output = session.give(ticket, ran(0, "all is well\n"));
    let text = told(&output);
    let parts = ["✓ Advanced: a → ⚙️ pr\n", "✓ Advanced with `ok`: pr → * b\n", "\n\n[Workflow path: W ▸ * b]"];
    let places: Vec<Option<usize>> = parts.iter().map(|part| text.find(part)).collect();
    assert!(places[0] == Some(0) && places.is_sorted() && places[1].is_some(), "{text}");
    assert!(text.contains("all is well"), "{text}");
    assert_eq!(session.key(), "w:2");
    let visit = &session.stored_run().unwrap().progress().visits["w:1"];
    assert_eq!((visit.name.as_str(), visit.evidence.len()), ("pr", 1));
    assert_eq!(visit.summary.as_ref().unwrap().text, "all is well");
}

#[test]
fn a_run_that_begins_with_steps_prompts_the_agent_after_them() {
    let mut session = session("  - run: one\n  - run: two\n  - b.md\n");
    let output = session.command("workflow", "w x");
    let prompts = |output: &Output| {
        let prompt = |effect: &&Effect| matches!(effect, Effect::SendUserMessage(_));
        output.effects.iter().filter(prompt).count()
    };
    let (ticket, command) = asked(&output.reply);
    assert_eq!((command, prompts(&output)), ("one", 0));
    let output = session.give(ticket, ran(0, ""));
    let (ticket, command) = asked(&output.reply);
    assert_eq!((command, prompts(&output)), ("two", 0));
    let output = session.give(ticket, ran(0, ""));
    assert_eq!(output.reply, Reply::Settle);
    assert!(output.effects.contains(&Effect::SendUserMessage("Go: x".into())), "{output:?}");
}

#[test]
fn a_failed_step_without_a_target_pauses_and_runs_again() {
    let mut session = session(MIDDLE);
    let _ = session.command("workflow", "w x");
    let output = session.next_at_work();
    let (ticket, _) = asked(&output.reply);
    let output = session.give(ticket, ran(2, "no such pr\n"));
    let why = "“pr” has not ended: it failed, exit status 2: no such pr";
    assert_eq!(session.paused().as_deref(), Some(why));
    assert!(told(&output).ends_with("Stop here and wait for the user."));
    // Neither the agent nor a message moves the run.
    let _ = session.on(Event::Input { from_user: true });
    assert_eq!(session.paused().as_deref(), Some(why));
    let call = session.on(Event::Step { input: r#"{"action":"next"}"#, nested: false });
    assert!(told(&call).contains(why));
    let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
    let _ = session.on(Event::AgentSettled);
    let output = session.resume("");
    let (ticket, command) = asked(&output.reply);
    assert_eq!(command, "gh pr view");
    let output = session.give(ticket, ran(0, ""));
    assert_eq!((session.key().as_str(), session.paused()), ("w:2", None));
    assert_eq!(output.reply, Reply::Settle);
}

#[test]
fn a_failed_step_leads_where_its_outcome_says() {
    let mut session =
        session("  - a.md\n  - run: test\n    id: t\n    outcomes: { failed: { to: a, max: 2 } }\n  - b.md\n");
    let _ = session.command("workflow", "w x");
    for loops in 0..3 {
        let output = session.next_at_work();
        let (ticket, _) = asked(&output.reply);
        let output = session.give(ticket, ran(1, "broken"));
        match loops {
            2 => assert!(session.paused().unwrap().contains("2 times (max)"), "{output:?}"),
            _ => assert_eq!(session.key(), "w:0"),
        }
    }
}

#[test]
fn a_step_to_which_the_end_of_a_budget_leads_waits_for_the_user() {
    let mut session = session(MIDDLE);
    let phase = session.files.global.get_mut("w/a.md").unwrap();
    *phase = phase.replacen("emoji", "budget: {turns: 1}\nonBudget: next\nemoji", 1);
    let _ = session.command("workflow", "w x");
    let _ = session.on(Event::AgentStart);
    *session.files.usage.borrow_mut() = crate::usage::Usage { turns: 1, ..Default::default() };
    let moved = session.on(Event::ToolCall { name: "bash", carries_calls: false });
    assert!(matches!(&moved.reply, Reply::Block(text) if text.contains("* a → ")), "{moved:?}");
    assert!(session.paused().unwrap().ends_with("the end of a budget led to it, and it is not begun by itself"));
    *session.files.usage.borrow_mut() = crate::usage::Usage::default();
    let _ = session.on(Event::AgentSettled);
    let resumed = session.command("workflow", ":resume");
    assert_eq!(asked(&resumed.reply).1, "gh pr view");
}

#[test]
fn a_step_that_was_stopped_or_cannot_start_pauses() {
    for answer in [Answer::Cancelled, Answer::NoUi, ended(CommandEnd::NotStarted("no shell".into()))] {
        let mut session = session(MIDDLE);
        let _ = session.command("workflow", "w x");
        let output = session.next_at_work();
        let (ticket, _) = asked(&output.reply);
        let _ = session.give(ticket, answer);
        assert_eq!(session.key(), "w:1");
        assert!(session.paused().unwrap().starts_with("“pr” has not ended: "));
    }
}

#[test]
fn a_step_that_may_have_run_is_not_begun_again() {
    let mut session = session(MIDDLE);
    let _ = session.command("workflow", "w x");
    let output = session.next_at_work();
    let _ = asked(&output.reply);
    let stored = session.stored_run().cloned();
    session.engine = Engine::default();
    let output = session.on(Event::Session { stored, in_view: None, facts: Facts::default() });
    assert_eq!(output.reply, Reply::None);
    assert!(session.paused().unwrap().contains("may have been interrupted"));
    let output = session.resume("");
    let _ = asked(&output.reply);
}

#[test]
fn an_answer_after_the_user_has_moved_on_has_no_effect() {
    let mut session = session(MIDDLE);
    let _ = session.command("workflow", "w x");
    let output = session.next_at_work();
    let (ticket, _) = asked(&output.reply);
    let output = session.command("workflow", ":skip");
    assert!(output.effects.contains(&Effect::CancelRequest { ticket }), "{output:?}");
    assert_eq!(session.key(), "w:2");
    let output = session.give(ticket, ran(0, ""));
    assert!(told(&output).contains("has moved the workflow meanwhile"), "{output:?}");
    assert_eq!(session.key(), "w:2");
}

/// A session whose run is at its last entry, a step. Returns the ticket of its command too. `by_user`: the user has moved
/// the run on.
fn at_last_step(by_user: bool) -> (Session, u64) {
    let mut session = session("  - a.md\n  - run: done\nbudget: {time: 60s}\n");
    let _ = session.command("workflow", "w x");
    let output = if by_user { session.command("workflow", ":next") } else { session.next_at_work() };
    let (ticket, _) = asked(&output.reply);
    (session, ticket)
}

#[test]
fn a_budget_of_time_that_ends_in_an_entry_is_the_reason_of_the_pause() {
    let (mut session, ticket) = at_last_step(false);
    session.files.newest_entry.set(Some(session.now));
    session.now += 60_000;
    let stopped = session.on(Event::Timer { id: 3, idle: false });
    assert!(stopped.effects.contains(&Effect::Abort), "{stopped:?}");
    let output = session.give(ticket, Answer::Cancelled);
    let pause = session.paused().unwrap_or_default();
    assert!(pause.contains("is used up: 1m of 1m at work"), "{pause}");
    assert!(told(&output).contains(&pause), "{output:?}");
}

#[test]
fn the_prompt_of_a_move_comes_later_if_the_user_moves_again_during_a_step() {
    let (mut session, ticket) = at_last_step(true);
    let _ = session.command("workflow", ":back");
    let _ = session.give(ticket, Answer::Cancelled);
    let output = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
    let Reply::Inject { content, .. } = &output.reply else { panic!("{output:?}") };
    assert!(content.contains("The user moved the workflow on: "), "{content}");
}

#[test]
fn a_held_run_has_not_ended() {
    for by_user in [false, true] {
        let (mut session, ticket) = at_last_step(by_user);
        let _ = session.on(Event::AgentStart);
        let a = session.files.global.get_mut("w/a.md").unwrap();
        *a = a.replace("emoji", "write: [src/]\nemoji");
        let _ = session.command("workflow", ":check");
        let output = session.give(ticket, ran(0, ""));
        assert!(!output.effects.contains(&Effect::Abort), "{output:?}");
        if let Reply::Tool(ToolResult { text, details }) = &output.reply {
            assert_eq!(
                (&details["gate"], text.matches("workflow is paused").count()),
                (&json!("overtaken"), 1),
                "{text}"
            );
        } else {
            assert!(by_user, "{output:?}");
        }
    }
}

#[test]
fn an_entry_that_was_stopped_and_begins_again_is_named() {
    let mut session = session(MIDDLE);
    let _ = session.command("workflow", "w x");
    let output = session.next_at_work();
    let (ticket, _) = asked(&output.reply);
    let _ = session.command("workflow", ":pause");
    let _ = session.resume("");
    let output = session.give(ticket, Answer::Cancelled);
    assert_eq!(told(&output), "The user stopped the work at this entry of the workflow.");
}

#[test]
fn the_last_step_ends_the_run() {
    let mut session = session("  - a.md\n  - run: done\n");
    let _ = session.command("workflow", "w x");
    let output = session.next_at_work();
    let (ticket, _) = asked(&output.reply);
    let output = session.give(ticket, ran(0, ""));
    assert!(told(&output).contains("All phases complete"), "{output:?}");
    assert!(!session.stored_run().unwrap().is_running());
}

#[test]
fn a_workflow_of_steps_alone_ends_without_the_agent() {
    let mut session = session("  - run: one\n");
    let output = session.command("workflow", "w x");
    let (ticket, _) = asked(&output.reply);
    let output = session.give(ticket, ran(0, ""));
    assert_eq!(output.reply, Reply::None);
    assert!(session.engine.run.running().is_none());
}

#[test]
fn a_command_of_the_project_needs_the_users_consent() {
    let mut session = session(MIDDLE);
    session.files.project = std::mem::take(&mut session.files.global);
    let facts = Facts::default();
    let _ = session.on(Event::Session { stored: None, in_view: None, facts });
    let _ = session.without_ui(Event::Command { name: "workflow", arguments: "w x" });
    let output = session.next_at_work();
    let Reply::Ask { ticket, request: Request::Select { title, .. } } = &output.reply else { panic!("{output:?}") };
    assert!(title.contains("gh pr view"), "{title}");
    let output = session.give(*ticket, Answer::Selected(0));
    assert!(told(&output).contains("that you have not allowed"), "{output:?}");
    let output = session.resume("");
    let Reply::Ask { ticket, .. } = output.reply else { panic!("{output:?}") };
    let output = session.give(ticket, Answer::Selected(1));
    let _ = asked(&output.reply);
}

const WITH_OUTPUTS: &str = "  - a.md
  - run: gh pr view
    id: pr
    outputs: { isDraft: { type: flag }, title: { type: text, optional: true } }
    outcomes: { failed: a }
  - phase: b.md
    when: { output.pr.isDraft: true }
";

#[test]
fn the_outputs_of_a_step_are_read_from_its_standard_output() {
    let mut session = session(WITH_OUTPUTS);
    let _ = session.command("workflow", "w x");
    let output = session.next_at_work();
    let Reply::Ask { ticket, request: Request::Exec { apart: true, .. } } = output.reply else { panic!("{output:?}") };
    // Fields that are no outputs of the step are ignored.
    let output = session.give(ticket, ran(0, r#"{"isDraft": true, "number": 7}"#));
    assert!(told(&output).contains("isDraft"), "{output:?}");
    assert_eq!(session.key(), "w:2");
    let value = &session.stored_run().unwrap().progress().outputs["w:1"].values["isDraft"];
    assert_eq!(value.text(), "true");
}

#[test]
fn a_step_without_the_json_that_its_outputs_expect_has_failed() {
    for printed in ["", "no json", "[true]", "{}", r#"{"isDraft": "perhaps"}"#] {
        let mut session = session(WITH_OUTPUTS);
        let _ = session.command("workflow", "w x");
        let output = session.next_at_work();
        let Reply::Ask { ticket, .. } = output.reply else { panic!("{output:?}") };
        let _ = session.give(ticket, ran(0, printed));
        assert_eq!(session.key(), "w:0", "{printed}");
        let visit = &session.stored_run().unwrap().progress().visits["w:1"];
        let [evidence] = &visit.evidence[..] else { panic!("{visit:?}") };
        assert!(!evidence.passed && evidence.result.starts_with("exit status 0, but "), "{evidence:?}");
    }
}

const QUESTION: &str = "  - a.md
  - ask: Is the plan of {description} right?
    id: ok
    outcomes:
      go: next
      change: { to: a, text: required, name: Change it }
      drop: { to: done, name: Drop it, text: optional }
  - b.md
";

/// The ticket, the title and the options of a choice.
fn choice(reply: &Reply) -> (u64, &str, &[String]) {
    match reply {
        Reply::Ask { ticket, request: Request::Select { title, options } } => (*ticket, title, options),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_answer_to_a_question_leads_where_its_outcome_says() {
    let mut session = session(QUESTION);
    let _ = session.command("workflow", "w x");
    let output = session.next_at_work();
    let (ticket, title, options) = choice(&output.reply);
    assert!(title.contains("Is the plan of “x” right?"), "{title}");
    assert_eq!(options, ["Not yet", "go", "Change it", "Drop it"]);
    // The agent can neither see nor answer the question.
    let call = session.on(Event::ToolCall { name: "read", carries_calls: false });
    assert!(matches!(call.reply, Reply::Stop(_)), "{call:?}");
    let call = session.on(Event::Step { input: r#"{"action":"next","outcome":"go"}"#, nested: false });
    assert!(told(&call).contains("does without you"), "{call:?}");
    let output = session.give(ticket, Answer::Selected(2));
    let Reply::Ask { ticket, request: Request::Input { title } } = &output.reply else { panic!("{output:?}") };
    assert!(title.contains("Change it"), "{title}");
    // A required text is asked for again.
    let output = session.give(*ticket, Answer::Entered("  ".into()));
    let Reply::Ask { ticket, .. } = output.reply else { panic!("{output:?}") };
    let output = session.give(ticket, Answer::Entered("use sqlite".into()));
    assert_eq!(session.key(), "w:0");
    assert!(told(&output).contains("### ❓ ok\nuse sqlite"), "{output:?}");
    let visit = &session.stored_run().unwrap().progress().visits["w:1"];
    assert_eq!(visit.evidence[0].result, "the user said “Change it”");
}

#[test]
fn the_checks_the_summary_and_the_outputs_stand_above_the_question() {
    let subject = |output: &Output| {
        let of = |effect: &Effect| match effect {
            Effect::AppendEntry { custom_type: QUESTION_TYPE, data } => data["content"].as_str().map(str::to_owned),
            _ => None,
        };
        output.effects.iter().find_map(of)
    };
    let mut session = session(
        "  - a.md\n  - b.md\n  - run: make\n    id: build\n  - ask: Ship it?\n    outcomes: { go: next, back: b }\n",
    );
    for (file, lines) in
        [("a", "gate: [{run: lint}]\n"), ("b", "gate: [{run: test, name: the tests}]\noutputs: {size: {type: text}}\n")]
    {
        let phase = session.files.global.get_mut(&format!("w/{file}.md")).unwrap();
        *phase = phase.replacen("emoji", &format!("{lines}emoji"), 1);
    }
    let _ = session.command("workflow", "w x");
    let (ticket, _) = asked(&session.next_at_work().reply);
    let _ = session.give(ticket, ran(0, ""));
    let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
    let input = r#"{"action":"next","summary":"1. Look\n2. Leap","outputs":{"size":"small"}}"#;
    let (ticket, _) = asked(&session.on(Event::Step { input, nested: false }).reply);
    let tested = session.give(ticket, ran(0, ""));
    let output = session.give(asked(&tested.reply).0, ran(0, "built"));
    assert_eq!(
        subject(&output).unwrap(),
        "**Checked before:**\n- * b: ✓ the tests: exit status 0, 1s\n- ⚙️ build: ✓ build: exit status 0, 1s\n\n\
         **The summary of ⚙️ build:**\n\nbuilt\n\n**The summary of * b:**\n\n1. Look\n2. Leap\n\n\
         **The outputs of * b:**\n\n- size: small"
    );
    // An answer that leads back is a new visit: the gate is checked again, and its line is the new one.
    let (ticket, ..) = choice(&output.reply);
    let _ = session.give(ticket, Answer::Selected(2));
    assert_eq!(session.key(), "w:1");
    let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
    let output = session.on(Event::Step { input, nested: false });
    let (ticket, command) = asked(&output.reply);
    assert_eq!(command, "test");
    let (ticket, _) = asked(&session.give(ticket, ran(0, "")).reply);
    assert_eq!(subject(&session.give(ticket, ran(0, ""))).unwrap().matches("the tests").count(), 1);
}

#[test]
fn escape_and_no_interface_are_not_yet() {
    for (answers, answer) in [
        (vec![Answer::Cancelled], "go"),
        (vec![Answer::NoUi], "change use sqlite"),
        (vec![Answer::Selected(0)], "go"),
        (vec![Answer::Selected(2), Answer::Cancelled], "drop"),
    ] {
        let mut session = session(QUESTION);
        let _ = session.command("workflow", "w x");
        let mut output = session.next_at_work();
        for answer in answers {
            let Reply::Ask { ticket, .. } = output.reply else { panic!("{output:?}") };
            output = session.give(ticket, answer);
        }
        let waits = "it waits for your answer to “Is the plan of “x” right?”";
        assert_eq!(session.paused().as_deref(), Some(waits));
        // A message is no answer.
        let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
        let _ = session.on(Event::AgentSettled);
        let _ = session.on(Event::Input { from_user: true });
        assert_eq!((session.key().as_str(), session.paused().as_deref()), ("w:1", Some(waits)));
        for wrong in ["", "yes", "change", "go now"] {
            let output = session.command("workflow", &format!(":answer {wrong}"));
            assert!(matches!(&output.effects[..], [Effect::Notify { .. }]), "{wrong}: {output:?}");
            assert_eq!(session.key(), "w:1");
        }
        let output = session.command("workflow", &format!(":answer {answer}"));
        let to = match answer {
            "go" => Some("w:2"),
            "drop" => None,
            _ => Some("w:0"),
        };
        let run = session.stored_run().unwrap();
        let at = run.is_running().then(|| run.current_path.key());
        assert_eq!(at.as_deref(), to, "{output:?}");
        assert_eq!(session.paused(), None);
    }
}

/// A question with answers that the result of a step decides on.
const OFFERS: &str = "  - { run: make, id: look, outcomes: { failed: next } }
  - ask: And now?
    id: pick
    outcomes:
      fix: { to: next, when: { outcome.look: failed }, text: required }
      ship: { to: done, when: { outcome.look: ok } }
      both: { to: done, when: { outcome.look: [ok, failed] } }
      stop: stop
  - b.md
";

#[test]
fn an_answer_is_offered_only_where_its_conditions_hold() {
    for (status, offered, other) in [(0, "ship", "fix"), (1, "fix", "ship")] {
        let mut session = session(OFFERS);
        let (ticket, _) = asked(&session.command("workflow", "w x").reply);
        let output = session.give(ticket, ran(status, ""));
        let (ticket, _, options) = choice(&output.reply);
        assert_eq!(options, ["Not yet", offered, "both", "stop"]);
        let names: Vec<String> =
            session.engine.complete(":next ", &session.files).into_iter().map(|completion| completion.label).collect();
        assert_eq!(names, [offered, "both", "stop"]);
        let _ = session.give(ticket, Answer::Cancelled);
        for refused in [":answer {other} use sqlite", ":answer {other}", ":next {other}"] {
            let output = session.command("workflow", &refused.replace("{other}", other));
            let text = format!("{:?}", output.effects);
            let names = ["/workflow :answer both", "/workflow :answer stop", &format!("/workflow :answer {offered}")];
            assert!(
                names.iter().all(|name| text.contains(name)) && !text.contains(&format!(":answer {other}")),
                "{text}"
            );
            assert_eq!(session.key(), "w:1");
        }
        // An index beyond the options is none.
        let output = session.resume("");
        let (ticket, ..) = choice(&output.reply);
        let _ = session.give(ticket, Answer::Selected(4));
        assert_eq!((session.key().as_str(), session.paused().is_some()), ("w:1", true));
        let _ = session.command("workflow", ":answer both");
        assert!(!session.stored_run().unwrap().is_running());
    }
}

#[test]
fn a_paused_question_is_asked_again() {
    let mut session = session(QUESTION);
    let _ = session.command("workflow", "w x");
    let output = session.next_at_work();
    let (ticket, ..) = choice(&output.reply);
    let _ = session.give(ticket, Answer::Cancelled);
    let output = session.resume("");
    let (ticket, ..) = choice(&output.reply);
    let _ = session.give(ticket, Answer::Selected(1));
    assert_eq!(session.key(), "w:2");
}

#[test]
fn an_answer_by_command_closes_the_dialog() {
    let mut session = session(QUESTION);
    let _ = session.command("workflow", "w x");
    let output = session.next_at_work();
    let (ticket, ..) = choice(&output.reply);
    let output = session.command("workflow", ":answer go");
    assert!(output.effects.contains(&Effect::CancelRequest { ticket }), "{output:?}");
    assert_eq!(session.key(), "w:2");
    let _ = session.give(ticket, Answer::Cancelled);
    assert_eq!((session.key().as_str(), session.paused()), ("w:2", None));
}

#[test]
fn a_step_that_a_condition_lets_run_tells_the_user_its_last_line() {
    for (when, told) in [("", None), (", when: { outcome.one: ok }", Some("Two: it is so."))] {
        let entries = format!("  - {{ id: one, run: a }}\n  - {{ id: two, name: Two, run: b{when} }}\n  - a.md\n");
        let mut session = session(&entries);
        let output = session.command("workflow", "w x");
        let (ticket, _) = asked(&output.reply);
        let output = session.give(ticket, ran(0, "first\n"));
        let (ticket, _) = asked(&output.reply);
        let output = session.give(ticket, ran(0, "more\nit is so.\n\n"));
        let notices = output.effects.iter().filter_map(|effect| match effect {
            Effect::Notify { text, .. } if text.starts_with("Two") => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(notices.collect::<Vec<_>>(), told.into_iter().collect::<Vec<_>>());
    }
}
