//! The context prompt, reminders, and summaries.

use super::*;

impl Session {
    /// Type and text of the message that goes with the next run of the agent.
    fn told(&mut self) -> (&'static str, String) {
        let output = self.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
        match output.reply {
            Reply::Inject { custom_type, content } => (custom_type, content),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn is_told_all(&mut self) -> String {
        let (custom_type, content) = self.told();
        assert_eq!(custom_type, CONTEXT_MESSAGE_TYPE);
        assert!(content.contains("**What to do in this phase:**"), "{content}");
        content
    }

    #[track_caller]
    fn is_reminded(&mut self) -> String {
        let (custom_type, content) = self.told();
        assert_eq!(custom_type, REMINDER_MESSAGE_TYPE);
        assert!(content.len() <= 300 && !content.contains("Do "), "{content}");
        content
    }

    fn next(&mut self, summary: &str) -> String {
        let input = json!({ "action": "next", "summary": summary }).to_string();
        match self.on(Event::Step { input: &input, nested: false }).reply {
            Reply::Tool(result) => result.text,
            other => panic!("{other:?}"),
        }
    }

    fn stored(&self) -> Option<RunState> {
        self.stored_run().cloned()
    }
}

#[test]
fn the_context_prompt_is_given_once_in_a_phase() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let _ = session.command("workflow", "flat x");
    session.is_told_all();
    for _ in 0..3 {
        assert_eq!(
            session.is_reminded(),
            "[Workflow path: The flat ▸ * a]\nStep 1/2. The instructions of this phase stand above and still hold. Phase done? Call workflow_step with action='next'."
        );
    }
    let result = session.step("next").0;
    assert!(result.contains("**What to do in this phase:**\nDo b.\n"), "{result}");
    session.is_reminded();
    assert!(session.step("loop").0.contains("**What to do in this phase:**\nDo a.\n"));
    session.is_reminded();
}

#[test]
fn a_reminder_is_short_whatever_the_names() {
    let mut session = Session::new(&[("flat", &["a"])]);
    let yaml = session.files.global.get_mut("flat/workflow.yaml").unwrap();
    yaml.push_str(&format!("advanceReminder: 'Mind {}: {{nextPhaseName}}'\n", "ü".repeat(300)));
    *yaml = yaml.replacen("The flat", &"漢".repeat(200), 1);
    let _ = session.command("workflow", "flat x");
    session.is_told_all();
    let reminder = session.is_reminded();
    assert!(reminder.len() > 290 && reminder.contains("stand above") && reminder.contains("Mind ü"));
}

#[test]
fn a_context_prompt_that_may_be_out_of_view_is_given_again() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let _ = session.command("workflow", "flat x");
    let prompt = session.is_told_all();

    assert_eq!(session.on(Event::Compacted), Output::default());
    session.is_told_all();
    session.is_reminded();

    let stored = session.stored();
    let _ = session.on(Event::Session { stored, in_view: None, facts: Facts::default() });
    session.is_told_all();

    let stored = session.stored();
    let _ = session.on(Event::Session { stored, in_view: Some(prompt.clone()), facts: Facts::default() });
    session.is_reminded();

    let _ = session.on(Event::AgentStart);
    let again = Reply::Inject { custom_type: CONTEXT_MESSAGE_TYPE, content: prompt.clone() };
    assert_eq!(session.on(Event::Compacted).reply, again, "with the next request");
    session.is_reminded();

    session.files.global.get_mut("flat/a.md").unwrap().push_str(" And mind the gap.");
    let stored = session.stored();
    let _ = session.on(Event::Session { stored, in_view: Some(prompt), facts: Facts::default() });
    assert!(session.is_told_all().contains("mind the gap"));
    assert_eq!(Session::new(&[]).on(Event::Compacted), Output::default());
}

#[test]
fn a_prompt_in_the_result_of_a_nested_call_is_not_in_view() {
    let mut session = Session::new(&[("flat", &["a", "b", "c"])]);
    let _ = session.command("workflow", "flat x");
    session.is_told_all();
    let _ = session.on(Event::AgentStart);
    let nested = |session: &mut Session, action: &str| {
        let input = json!({ "action": action }).to_string();
        match session.on(Event::Step { input: &input, nested: true }).reply {
            Reply::Tool(result) => result.text,
            other => panic!("{other:?}"),
        }
    };
    let follow = "The instructions of this phase follow the result of the call that made this one.";
    let briefs = |session: &mut Session| -> Vec<String> {
        let effects = session.on(Event::TurnEnd { queued: false, calls: &[] }).effects;
        let brief = |effect| if let Effect::Brief(prompt) = effect { Some(prompt) } else { None };
        effects.into_iter().filter_map(brief).collect()
    };
    assert!(nested(&mut session, "status").contains("Do a."));
    assert_eq!(briefs(&mut session), [""; 0]);
    let told = nested(&mut session, "next");
    assert!(told.starts_with("✓ Advanced: a → * b\n") && told.ends_with(follow), "{told}");
    // The model does not know the phase yet: the calls refer to the phase before.
    for action in ["next", "loop", "cancel"] {
        let told = nested(&mut session, action);
        assert!(told.contains("this call had no effect. The current phase is * b."), "{told}");
        assert!(session.step(action).0.contains("this call had no effect"));
    }
    let [prompt] = &briefs(&mut session)[..] else { panic!() };
    assert!(prompt.contains("Do b."));
    assert_eq!(briefs(&mut session), [""; 0]);
    session.is_reminded();
    let told = nested(&mut session, "loop");
    assert!(told.starts_with("🔄 Looped") && told.ends_with(follow), "{told}");
    // The script did not wait for the result, and the agent has stopped: the next run has the prompt.
    let _ = session.on(Event::AgentSettled);
    assert!(session.is_told_all().contains("Do a."));
    let _ = session.on(Event::AgentStart);
    for _ in 0..2 {
        nested(&mut session, "next");
        let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
    }
    assert!(nested(&mut session, "next").contains("DONE"));
    assert_eq!(briefs(&mut session), [""; 0]);
}

#[test]
fn a_run_that_starts_while_the_agent_is_idle_has_no_untold_move() {
    let mut session = Session::new(&[("flat", &["a", "b", "c"])]);
    let _ = session.command("workflow", "flat x");
    // A script calls the tool after the agent has stopped.
    let next = r#"{"action":"next"}"#;
    let _ = session.on(Event::Step { input: next, nested: true });
    let Reply::Ask { ticket, .. } = session.command("workflow", "flat y").reply else { panic!() };
    let _ = session.on(Event::Answer { ticket, answer: Answer::Confirmed(true) });
    assert_eq!(session.step("next").1["to"], "b");
}

#[test]
fn a_whitelist_allows_tools_that_carry_the_calls_of_others() {
    let mut session = Session::new(&[("flat", &["a", "locked"])]);
    let phase = session.files.global.get_mut("flat/a.md").unwrap();
    *phase = phase.replacen("emoji: '*'\n", "emoji: '*'\ntools: {whitelist: [read]}\n", 1);
    let _ = session.command("workflow", "flat x");
    let refused = |session: &mut Session, name, carries_calls| {
        let reply = session.on(Event::ToolCall { name, carries_calls }).reply;
        matches!(reply, Reply::Block(_))
    };
    assert!(!refused(&mut session, "codemode", true));
    assert!(!session.engine.agent.worked, "the calls that it carries are work, or are not");
    assert!(refused(&mut session, "codemode", false));
    assert!(refused(&mut session, "edit", false) && !refused(&mut session, "read", false));
    assert!(session.engine.agent.worked);
    session.step("next");
    assert!(refused(&mut session, "edit", true), "a blacklist names it");
    assert!(!refused(&mut session, "codemode", true));
}

#[test]
fn without_a_ui_a_continuation_has_the_prompt_if_it_is_out_of_view() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let _ = session.command("workflow", "flat x");
    session.is_told_all();
    let stop = |session: &mut Session| {
        let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
        match session.without_ui(Event::BeforeSettle).reply {
            Reply::Continue(text) => text,
            other => panic!("{other:?}"),
        }
    };
    assert!(!stop(&mut session).contains("Do a."));
    let _ = session.on(Event::Compacted);
    assert!(stop(&mut session).contains("**What to do in this phase:**\nDo a.\n"));
    assert!(!stop(&mut session).contains("Do a."));
}

#[test]
fn the_prompt_says_which_tools_work() {
    for (tools, rule) in [
        ("", "all"),
        ("tools: {blacklist: []}\n", "all"),
        ("tools: {blacklist: [edit, write]}\n", "all except edit, write; a call of one of those is refused"),
        ("tools: {whitelist: [read]}\n", "only read; a call of any other is refused"),
        ("tools: {whitelist: []}\n", "none; every call is refused"),
    ] {
        let mut session = Session::new(&[("flat", &["a"])]);
        let phase = session.files.global.get_mut("flat/a.md").unwrap();
        *phase = phase.replacen("name: a\n", &format!("name: a\n{tools}"), 1);
        let _ = session.command("workflow", "flat x");
        let line = format!("\n**Tools in this phase:** {rule}. workflow_step always works.\n");
        assert_eq!(session.is_told_all().contains(&line), rule != "all", "{rule}");
        if let Reply::Block(reason) = session.on(Event::ToolCall { name: "edit", carries_calls: false }).reply {
            assert!(reason.ends_with(&line.replace("**", "").trim()), "{reason}");
        }
    }
}

#[test]
fn summaries_are_in_the_prompts_of_later_phases() {
    let mut session = Session::new(&[("flat", &["a", "b", "c"])]);
    let b = session.files.global.get_mut("flat/b.md").unwrap();
    b.push_str(" {previousSummary}|{summary.a}|{summary.b}|{summary.c}|{summary.z}|{summary.}");
    let _ = session.command("workflow", "flat x");
    let text = session.next("  found {description}\n");
    assert!(text.contains("**Results so far:**\n\n### * a\nfound {description}\n\n**What to do"));
    assert!(text.contains("Do b. found {description}|found {description}|(none)|(none)|{summary.z}|{summary.}\n"));

    // A restart keeps the summary, a second visit replaces it.
    let stored = crate::run::restore([serde_json::to_string(&session.stored()).unwrap()]);
    let _ = session.on(Event::Session { stored, in_view: None, facts: Facts::default() });
    let again = session.on(Event::Step { input: r#"{"action":"loop","summary":"b failed"}"#, nested: false });
    let Reply::Tool(ToolResult { text, .. }) = again.reply else { panic!() };
    assert!(text.contains("**Visit:** 2\n") && text.contains("### * b\nb failed\n"), "{text}");
    assert!(session.next("found more").contains("### * b\nb failed\n\n### * a\nfound more\n"));
    session.next("b works");
    let effects = session.command("workflow", ":status").effects;
    let [Effect::AppendEntry { data, .. }] = &effects[..] else { panic!() };
    assert!(data["content"].as_str().unwrap().contains("\n     b works\n"));
    assert!(session.step("status").0.contains("### * b\nb works\n"));

    session.next("shipped");
    let effects = session.on(Event::AgentEnd { stop: Stop::Completed }).effects;
    let Effect::AppendEntry { data, .. } = &effects[0] else { panic!() };
    let message = data["content"].as_str().unwrap();
    let results = "\n\n**Results:**\n- * a: found more\n- * b: b works\n- * c: shipped";
    assert!(message.ends_with(results), "{message}");
}

#[test]
fn a_phase_can_demand_a_summary() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let a = session.files.global.get_mut("flat/a.md").unwrap();
    *a = a.replacen("name: a\n", "name: a\nsummary: required\n", 1);
    let _ = session.command("workflow", "flat x");
    assert!(session.is_told_all().contains("this phase cannot be left without a `summary`"));
    for input in
        [r#"{"action":"next"}"#, r#"{"action":"next","summary":" \n"}"#, r#"{"action":"next","summary":["x"]}"#]
    {
        let output = session.on(Event::Step { input, nested: false });
        assert_eq!(output.effects, []);
        let Reply::Tool(result) = output.reply else { panic!() };
        assert!(result.text.starts_with("⚠️ The phase * a cannot be left without a summary: "));
        assert_eq!(result.details, json!({ "active": true, "error": "summary required" }));
    }
    assert!(session.next("done").starts_with("✓ Advanced: a → * b"));
    let stored = session.stored();
    let _ = session.on(Event::Session { stored, in_view: None, facts: Facts::default() });
    let _ = session.command("workflow", ":back");
    let _ = session.command("workflow", ":next");
    assert_eq!(session.step("status").1["currentPath"][0]["phaseIndex"], 1);
}

#[test]
fn what_the_user_moves_while_the_agent_starts_is_told_with_its_start() {
    let starting = || {
        let mut session = Session::new(&[("flat", &["a", "b"]), ("other", &["x"])]);
        let _ = session.command("workflow", "flat task");
        let _ = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
        session
    };
    let steers = |effects: &[Effect]| -> Vec<String> {
        let text = |effect: &Effect| match effect {
            Effect::TellAtStart(text) => Some(text.clone()),
            Effect::SendUserMessage(_) => panic!("{effect:?}"),
            _ => None,
        };
        effects.iter().filter_map(text).collect()
    };
    let mut session = starting();
    assert_eq!(steers(&session.command("workflow", ":next").effects), [""; 0]);
    let told = "The user moved the workflow on: * a → * b.\n\n[Workflow path: The flat ▸ * b]";
    let [steer] = &steers(&session.on(Event::AgentStart).effects)[..] else { panic!() };
    assert!(steer.starts_with(told), "{steer}");

    let mut session = starting();
    let _ = session.command("workflow", ":cancel");
    assert_eq!(steers(&session.command("workflow", "other task").effects), [""; 0]);
    assert!(session.on(Event::AgentStart).effects.contains(&Effect::Abort));
    let _ = session.on(Event::AgentEnd { stop: Stop::Aborted });
    let effects = session.on(Event::AgentSettled).effects;
    assert!(effects.iter().any(|effect| matches!(effect, Effect::SendUserMessage(_))), "{effects:?}");

    let mut session = starting();
    let _ = session.command("workflow", ":next");
    let _ = session.command("workflow", ":back");
    let [steer] = &steers(&session.on(Event::AgentStart).effects)[..] else { panic!() };
    assert!(steer.starts_with("The user moved the workflow back: * b → * a.\n\n[Workflow path: "), "{steer}");

    let mut session = starting();
    assert_eq!(steers(&session.on(Event::AgentStart).effects), [""; 0], "nothing happened");

    for command in [":cancel", ":skip"] {
        let mut session = starting();
        let mut effects = session.command("workflow", command).effects;
        if command == ":skip" {
            effects.extend(session.command("workflow", ":skip").effects);
        }
        effects.extend(session.on(Event::AgentStart).effects);
        assert!(effects.contains(&Effect::Abort), "{command}: {effects:?}");
        assert!(matches!(session.on(Event::ToolCall { name: "bash", carries_calls: false }).reply, Reply::Stop(_)));
    }
    let mut session = starting();
    let _ = session.command("workflow", ":pause");
    let _ = session.on(Event::AgentStart);
    assert!(matches!(session.on(Event::ToolCall { name: "bash", carries_calls: false }).reply, Reply::Stop(_)));
}
