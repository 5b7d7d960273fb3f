//! The end of the agent's run when the run of the workflow pauses.

use super::*;
use crate::protocol::STEP_TOOL_NAME;
use crate::run::PauseReason;

const TURN_END: Event = Event::TurnEnd { queued: false, calls: &[] };

impl Session {
    /// A run in the first phase of `flat` (a, b), whose agent is at work.
    fn at_work() -> Self {
        let mut session = Self::new(&[("flat", &["a", "b"])]);
        let _ = session.command("workflow", "flat x");
        session.prompted();
        session
    }

    /// The agent begins to work on a prompt.
    fn prompted(&mut self) {
        let _ = self.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
        let _ = self.on(Event::AgentStart);
    }

    fn calls_tool(&mut self, name: &str) -> Reply {
        self.on(Event::ToolCall { name, carries_calls: name == "codemode" }).reply
    }

    /// Returns true if the agent is aborted before its next request to the model.
    fn aborts(&mut self) -> bool {
        self.on(Event::TurnStart).effects == [Effect::Abort]
    }

    fn settled(&mut self) {
        let _ = self.on(Event::AgentEnd { stop: Stop::Completed });
        let _ = self.on(Event::AgentSettled);
    }
}

/// A call that pi has refused.
fn refused(name: &str) -> EndedCall {
    EndedCall { name: name.into(), hash: 0, refused: true, duration_ms: 0, cut_off: false }
}

#[test]
fn a_budget_ends_where_no_call_reaches_the_engine() {
    let mut session = Session::new(&[("flat", &["a"])]);
    session.files.global.get_mut("flat/workflow.yaml").unwrap().push_str("budget: {turns: 4}\n");
    let _ = session.command("workflow", "flat x");
    session.prompted();
    let unknown = [refused("workflow-step")];
    let after = Event::TurnEnd { queued: false, calls: &unknown };
    *session.files.usage.borrow_mut() = crate::usage::Usage { turns: 3, ..Default::default() };
    let _ = session.on(after.clone());
    assert_eq!(session.engine.run.pause_reason(), None);
    *session.files.usage.borrow_mut() = crate::usage::Usage { turns: 4, ..Default::default() };
    let _ = session.on(after.clone());
    assert!(matches!(session.engine.run.pause_reason(), Some(PauseReason::Budget { spent: 4, .. })));
    assert!(!session.aborts(), "the closing answer");
    let _ = session.on(after);
    assert!(session.aborts());
}

#[test]
fn calls_without_news_are_told_and_then_pause_the_run() {
    let mut session = Session::at_work();
    let unknown = [refused("a"), refused("b")];
    let mut turns = (1..).map(|turn| (turn, session.on(Event::TurnEnd { queued: false, calls: &unknown })));
    let (told, output) = turns.find(|(_, output)| output.effects.iter().any(is_steer)).unwrap();
    assert_eq!(told, 5, "{output:?}");
    let paused = turns.find(|(_, output)| matches!(output.effects[0], Effect::AppendEntry { .. })).unwrap();
    assert_eq!(paused.0, 10);
    assert_eq!(session.engine.run.pause_reason(), Some(&PauseReason::Repeats { times: 20 }));
    let _ = session.command("workflow", ":resume");
    let _ = session.on(Event::TurnEnd { queued: false, calls: &unknown });
    assert_eq!(session.engine.run.pause_reason(), None, "the count begins anew");
}

#[test]
fn calls_that_are_cut_off_are_told_and_then_pause_the_run() {
    let mut session = Session::at_work();
    let whole = [refused("bash")];
    let cut = [EndedCall { cut_off: true, ..refused(STEP_TOOL_NAME) }, EndedCall { cut_off: true, ..refused("bash") }];
    let turn = |session: &mut Session, calls: &[_]| {
        let effects = session.on(Event::TurnEnd { queued: false, calls }).effects;
        assert!(
            effects.iter().filter(|effect| is_steer(effect)).all(|told| *told == Effect::Steer(text::CUT_OFF.into()))
        );
        (effects.iter().any(is_steer), session.engine.run.pause_reason().is_some())
    };
    for calls in [&cut[..], &cut, &cut, &whole, &cut, &cut, &cut, &whole, &cut, &cut, &cut] {
        let is_second = session.engine.repetition.cut_off() == 1 && calls[0].cut_off;
        assert_eq!(turn(&mut session, calls), (is_second, false));
    }
    assert_eq!(turn(&mut session, &cut), (false, true));
    assert_eq!(session.engine.run.pause_reason(), Some(&PauseReason::CutOff { times: 4 }));
    let _ = session.command("workflow", ":resume");
    assert_eq!(turn(&mut session, &cut), (false, false), "the count begins anew");
}

#[test]
fn an_answer_that_is_cut_off_is_told_and_is_not_idle() {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let _ = session.command("workflow", "flat x");
    let cut = |session: &mut Session| {
        let effects = session.stop_as(Stop::CutOff, true);
        let mut told = Vec::new();
        if effects[0] == widget(3) {
            told = (0..3).flat_map(|_| session.on(Event::Timer { id: 1, idle: true }).effects).collect();
            let _ = session.on(Event::Input { from_user: false });
            let _ = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
        }
        (effects, told)
    };
    for _ in 0..3 {
        let (_, told) = cut(&mut session);
        let prefix = format!("{}\n\n", text::CUT_OFF);
        assert!(
            told.iter().any(|effect| matches!(effect, Effect::SendUserMessage(text) if text.starts_with(&prefix))),
            "{told:?}"
        );
        assert_eq!(session.stored_run().unwrap().progress().idle, 0);
    }
    let (effects, _) = cut(&mut session);
    pauses(
        &effects,
        "cutOff",
        "answers are cut off",
        "4 answers of the agent in a row were cut off at the model's output limit",
    );
    let _ = session.on(Event::Input { from_user: true });
    assert_eq!(session.stop()[0], widget(3));
    for _ in 0..2 {
        assert_eq!(idle_round(&mut session)[0], widget(3));
    }
    pauses(&idle_round(&mut session), "idle", IDLE, "the agent did nothing in 3 automatic continuations");
}

#[test]
fn the_calls_of_an_answer_that_moves_the_run_do_not_count_in_the_next_phase() {
    let mut session = Session::at_work();
    session.one_answer = true;
    assert_eq!(session.step("next").1["advanced"], true);
    let next = EndedCall { refused: false, ..refused("workflow_step") };
    let _ = session.on(Event::TurnEnd { queued: false, calls: &[next, refused("a")] });
    let unknown = [refused("a")];
    let turns = (1..=30).find(|_| {
        let _ = session.on(Event::TurnEnd { queued: false, calls: &unknown });
        session.engine.run.pause_reason().is_some()
    });
    assert_eq!(turns, Some(20));
}

fn is_steer(effect: &Effect) -> bool {
    matches!(effect, Effect::Steer(_))
}

#[test]
fn an_answer_moves_the_run_once_and_its_other_calls_keep_both_phases_rules() {
    let mut session = Session::new(&[("flat", &["locked", "b", "c"])]);
    let _ = session.command("workflow", "flat x");
    session.prompted();
    session.one_answer = true;
    assert_eq!(session.step("next").1["advanced"], true);
    assert_eq!(session.step("next").0, text::MOVED_IN_ANSWER);
    assert_eq!(session.step("loop").0, text::MOVED_IN_ANSWER);
    assert!(matches!(session.calls_tool("edit"), Reply::Block(_)), "the phase that was left forbids it");
    assert_eq!(session.calls_tool("read"), Reply::None);
    let _ = session.on(TURN_END);
    assert_eq!(session.calls_tool("edit"), Reply::None);
    assert_eq!(session.step("next").1["advanced"], true);
}

const PAUSED: &str = "The workflow is paused: you asked for it. Stop here and wait for the user.";

#[test]
fn a_pause_refuses_every_call_and_leaves_the_model_one_answer() {
    let mut session = Session::at_work();
    assert_eq!(session.calls_tool("bash"), Reply::None);
    let _ = session.command("workflow", ":pause");
    let refused = Reply::Stop(PAUSED.into());
    for name in ["bash", "workflow_step", "codemode", "read"] {
        assert_eq!(session.calls_tool(name), refused, "{name}");
    }
    let Engine { run, agent, meter, .. } = &session.engine;
    let now = with_cx(|cx| meter.up_to_now(run, agent, cx)).unwrap();
    assert_eq!(now.usage().refusals.get("pause"), Some(&4));
    // An unknown tool in the same batch: the model is asked once more.
    let _ = session.on(TURN_END);
    assert!(!session.aborts());
    assert_eq!(session.calls_tool("workflow_step"), refused);
    let _ = session.on(TURN_END);
    assert!(session.aborts());
    let _ = session.on(Event::AgentEnd { stop: Stop::Aborted });
    let _ = session.on(Event::AgentSettled);
    assert_eq!(session.engine.run.pause_reason(), Some(&PauseReason::User));
}

#[test]
fn the_status_is_told_with_the_refusal() {
    let mut session = Session::at_work();
    let _ = session.command("workflow", ":pause");
    session.files.call_arguments.insert("action".into(), "status".into());
    let Reply::Stop(text) = session.calls_tool("workflow_step") else { panic!() };
    assert!(text.contains("Do a."), "{text}");
    assert_eq!(session.calls_tool("bash"), Reply::Stop(PAUSED.into()));
}

#[test]
fn a_message_of_the_user_begins_anew() {
    // While the agent is at work, and where it is at rest.
    for at_work in [true, false] {
        let mut session = Session::at_work();
        let _ = session.command("workflow", ":pause");
        let _ = session.on(TURN_END);
        if !at_work {
            session.settled();
        }
        let _ = session.on(Event::Input { from_user: true });
        if !at_work {
            session.prompted();
        }
        assert_eq!(session.calls_tool("bash"), Reply::None);
        for _ in 0..3 {
            assert!(!session.aborts());
            let _ = session.on(TURN_END);
        }
    }
}

#[test]
fn a_message_of_an_extension_does_not() {
    let mut session = Session::at_work();
    let _ = session.command("workflow", ":pause");
    let _ = session.on(Event::Input { from_user: false });
    assert!(matches!(session.calls_tool("bash"), Reply::Stop(_)));
}

#[test]
fn a_message_that_was_queued_before_is_answered() {
    let mut session = Session::at_work();
    let _ = session.command("workflow", ":pause");
    let _ = session.on(TURN_END);
    for _ in 0..3 {
        let _ = session.on(Event::TurnEnd { queued: true, calls: &[] });
        assert!(!session.aborts());
    }
    let _ = session.on(TURN_END);
    assert!(session.aborts());
}

#[test]
fn an_answer_that_failed_is_repeated() {
    let mut session = Session::at_work();
    let _ = session.command("workflow", ":pause");
    let _ = session.on(TURN_END);
    for _ in 0..2 {
        let _ = session.on(TURN_END);
        let _ = session.on(Event::AgentEnd { stop: Stop::Failed });
        let _ = session.on(Event::AgentStart);
        assert!(!session.aborts());
    }
    let _ = session.on(TURN_END);
    assert!(session.aborts());
}

#[test]
fn a_resumed_run_goes_on() {
    let mut session = Session::at_work();
    let _ = session.command("workflow", ":pause");
    let _ = session.on(TURN_END);
    let _ = session.on(TURN_END);
    let _ = session.command("workflow", ":resume");
    assert!(!session.aborts());
    assert_eq!(session.calls_tool("bash"), Reply::None);
    // Another pause in the same agent run: again one answer.
    let _ = session.command("workflow", ":pause");
    let _ = session.on(TURN_END);
    assert!(!session.aborts());
    let _ = session.on(TURN_END);
    assert!(session.aborts());
}

const BEHIND: &str = "[workflow] The workflow has ended: no more tools can be called. With the user's next message you have all tools again.";

type End = fn(&mut Session) -> Output;

/// Each way in which a run ends while its agent works, and true if the agent is aborted at once.
fn ends() -> [(&'static str, End, bool); 6] {
    [
        (":cancel", |session| session.command("workflow", ":cancel"), true),
        (":skip", |session| session.command("workflow", ":skip"), true),
        (":next", |session| session.command("workflow", ":next"), true),
        ("cancel-workflow", |session| session.command("cancel-workflow", ""), true),
        ("next", |session| session.on(Event::Step { input: r#"{"action":"next"}"#, nested: false }), false),
        ("nested next", |session| session.on(Event::Step { input: r#"{"action":"next"}"#, nested: true }), false),
    ]
}

impl Session {
    /// A run in the last phase of `flat` (a), whose agent is at work and ends the run in this way.
    fn behind(end: End) -> (Self, Output) {
        let mut session = Self::new(&[("flat", &["a"])]);
        let _ = session.command("workflow", "flat x");
        session.prompted();
        let output = end(&mut session);
        assert!(session.engine.run.running().is_none());
        (session, output)
    }
}

#[test]
fn behind_the_end_of_a_run_every_call_is_refused_until_the_next_prompt() {
    for (name, end, aborts) in ends() {
        let (mut session, output) = Session::behind(end);
        assert_eq!(output.effects.contains(&Effect::Abort), aborts, "{name}");
        for stop in [Stop::Completed, Stop::Failed] {
            for tool in ["bash", "workflow_step", "codemode", "mcp__x__y"] {
                assert_eq!(session.calls_tool(tool), Reply::Stop(BEHIND.into()), "{name}: {tool}");
            }
            session.files.call_arguments.insert("action".into(), "status".into());
            assert!(matches!(session.calls_tool("workflow_step"), Reply::Stop(text) if text.contains("No active")));
            session.files.call_arguments.clear();
            // The agent has stopped, and pi starts it again by itself.
            let _ = session.on(TURN_END);
            let _ = session.on(Event::AgentEnd { stop });
            let _ = session.on(Event::AgentStart);
        }
        let _ = session.on(TURN_END);
        assert!(session.aborts(), "{name}");
        session.settled();
        session.prompted();
        assert_eq!(session.calls_tool("bash"), Reply::None, "{name}");
    }
}

#[test]
fn a_pause_before_the_end_does_not_weaken_it() {
    let mut session = Session::at_work();
    let _ = session.command("workflow", ":pause");
    let _ = session.on(TURN_END);
    let _ = session.command("workflow", ":cancel");
    assert_eq!(session.calls_tool("bash"), Reply::Stop(BEHIND.into()));
}

#[test]
fn a_message_of_the_user_has_its_rights_when_it_reaches_the_agent() {
    let (mut session, _) = Session::behind(ends()[4].1);
    let _ = session.on(Event::Input { from_user: true });
    assert_eq!(session.calls_tool("bash"), Reply::Stop(BEHIND.into()), "the answer is one to the old prompt");
    let _ = session.on(Event::TurnEnd { queued: true, calls: &[] });
    let _ = session.on(Event::MessageStart { from_user: false });
    assert_eq!(session.calls_tool("bash"), Reply::Stop(BEHIND.into()), "that of an extension has none");
    let _ = session.on(Event::MessageStart { from_user: true });
    assert_eq!(session.calls_tool("bash"), Reply::None);
}

#[test]
fn an_agent_for_which_a_message_waits_is_not_aborted() {
    for command in [":cancel", ":skip", ":next"] {
        for running in [&["bash"][..], &[]] {
            let mut session = Session::new(&[("flat", &["a"])]);
            let _ = session.command("workflow", "flat x");
            session.prompted();
            session.files.has_waiting_message = true;
            session.files.running_tools = running.iter().map(|&name| name.into()).collect();
            let effects = session.command("workflow", command).effects;
            assert!(!effects.contains(&Effect::Abort), "{command}");
            assert_eq!(session.calls_tool("bash"), Reply::Stop(BEHIND.into()));
        }
    }
}

#[test]
fn the_next_run_has_its_rights_with_its_prompt() {
    let (mut session, _) = Session::behind(ends()[4].1);
    let _ = session.command("workflow", "flat y");
    assert!(session.engine.run.running().is_some());
    assert_eq!(session.calls_tool("bash"), Reply::Stop(BEHIND.into()), "the call is of the run that has ended");
    let _ = session.on(Event::Input { from_user: false });
    let _ = session.on(Event::TurnEnd { queued: true, calls: &[] });
    let _ = session.on(Event::MessageStart { from_user: false });
    assert_eq!(session.calls_tool("bash"), Reply::None);
}

#[test]
fn a_new_instance_knows_the_end() {
    // An announced end and an end that is still to be announced: pi may have started the agent again by itself.
    for (how, at_work, restarted) in [(0, true, true), (4, true, true), (4, true, false), (4, false, true)] {
        let (mut session, _) = Session::behind(ends()[how].1);
        assert!(session.engine.guards_tools());
        let stored = session.stored_run().cloned();
        let facts = Facts { at_work, restarted, ..Facts::default() };
        let _ = session.on(Event::Session { stored, in_view: None, facts });
        let expected = if at_work && restarted { Reply::Stop(BEHIND.into()) } else { Reply::None };
        assert_eq!(session.calls_tool("bash"), expected);
    }
}

#[test]
fn without_a_user_interface_a_message_follows_the_answer_that_was_stopped() {
    for (ui, stop, told) in
        [(Ui::None, Stop::Aborted, 1), (Ui::None, Stop::Completed, 0), (Ui::Program, Stop::Aborted, 0)]
    {
        let (mut session, _) = Session::behind(ends()[0].1);
        session.ui = ui;
        for _ in 0..3 {
            let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
        }
        assert_eq!(session.on(Event::TurnStart).effects, [Effect::Abort]);
        let _ = session.on(Event::AgentEnd { stop });
        let effects = session.on(Event::AgentSettled).effects;
        let told_now = effects.iter().filter(|effect| matches!(effect, Effect::Steer(_))).count();
        assert_eq!(told_now, told, "{ui:?} {stop:?} {effects:?}");
    }
}

#[test]
fn a_chat_in_a_pause_has_its_tools_until_it_tries_to_move_the_run() {
    let mut session = Session::at_work();
    let state = session.engine.run.running().unwrap().clone();
    let files = Files::default();
    let reason = PauseReason::Unknown(json!({ "kind": "later" }));
    let context = Context { unix_ms: NOW, random: 0, ui: Ui::Program, host: &files };
    session.engine.pause_as(&state, reason, &mut Cx::new(&context));
    session.settled();
    for action in ["next", "loop"] {
        let _ = session.on(Event::Input { from_user: true });
        session.prompted();
        assert_eq!(session.calls_tool("bash"), Reply::None);
        assert!(session.step("status").0.contains("Do a."));
        assert_eq!(session.calls_tool("workflow_step"), Reply::None);
        let (_, details) = session.step(action);
        assert_eq!(details["gate"], json!("paused"));
        assert!(matches!(session.calls_tool("bash"), Reply::Stop(_)));
        assert!(matches!(session.calls_tool("workflow_step"), Reply::Stop(_)));
        session.settled();
    }
}

#[test]
fn a_restart_in_the_middle_ends_the_agents_run_too() {
    let mut session = Session::at_work();
    let _ = session.command("workflow", ":pause");
    let stored = session.stored_run().cloned();
    let facts = Facts { at_work: true, ..Facts::default() };
    let _ = session.on(Event::Session { stored, in_view: None, facts });
    assert!(matches!(session.calls_tool("bash"), Reply::Stop(_)));
}

#[test]
fn a_move_by_the_user_does_not_keep_the_agent_going() {
    let mut session = Session::at_work();
    let _ = session.command("workflow", ":pause");
    let effects = session.command("workflow", ":skip").effects;
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Steer(_))), "{effects:?}");
    session.settled();
    let _ = session.on(Event::Input { from_user: true });
    let reply = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker }).reply;
    let Reply::Inject { content, .. } = reply else { panic!() };
    assert!(content.starts_with("The user moved the workflow on"), "{content}");
}

#[test]
fn without_a_user_interface_the_agents_cancel_pauses_the_run() {
    let mut session = Session::at_work();
    session.ui = Ui::None;
    assert_eq!(session.step("cancel").1["cancelPending"], json!(true));
    let Reply::Ask { ticket, .. } = session.on(Event::Step { input: CANCEL, nested: false }).reply else { panic!() };
    let reply = session.on(Event::Answer { ticket, answer: Answer::NoUi }).reply;
    let Reply::Tool(ToolResult { text, details }) = reply else { panic!() };
    assert_eq!(text, "The workflow is paused: the agent wants to cancel it. Stop here and wait for the user.");
    assert_eq!(details, json!({ "active": true, "cancelled": false, "paused": true }));
    assert!(session.engine.is_running());
    assert!(matches!(session.calls_tool("bash"), Reply::Stop(_)));
    assert!(matches!(session.calls_tool("workflow_step"), Reply::Stop(_)));
}
