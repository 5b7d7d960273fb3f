//! Tool calls that run while a phase is left.

use super::*;
use crate::engine::{RunningCall, other_tools};
use crate::run::PauseReason;

fn call(id: &str, name: &str, parent: Option<&str>, carries_calls: bool) -> RunningCall {
    RunningCall { id: id.into(), name: name.into(), parent: parent.map(Into::into), carries_calls }
}

#[test]
fn the_call_at_hand_and_those_it_came_through_do_not_count() {
    let calls = vec![
        call("1", "script", None, false),
        call("1/1", "inner", Some("1"), false),
        call("1/1/1", "workflow_step", Some("1/1"), false),
        call("1/2", "bash", Some("1"), false),
        call("2", "codemode", None, true),
        call("2/1", "write", Some("2"), false),
    ];
    let others = |at_hand: Option<&str>| other_tools(calls.clone(), at_hand.map(Into::into));
    assert_eq!(others(Some("1/1/1")), ["bash", "write"]);
    assert_eq!(others(Some("1/2")), ["inner", "workflow_step", "write"]);
    assert_eq!(others(Some("unknown")), others(None));
    assert_eq!(others(None), ["script", "inner", "workflow_step", "bash", "write"]);
    // A call that pi names as its own parent.
    assert_eq!(other_tools(vec![call("x", "a", Some("x"), false)], Some("x".into())), [""; 0]);
}

impl Session {
    fn at_work_with(running: &[&str]) -> Self {
        let mut session = Self::new(&[("flow", &["a", "b", "c"])]);
        let _ = session.command("workflow", "flow x");
        let _ = session.on(Event::AgentStart);
        session.files.running_tools = running.iter().map(|name| (*name).to_owned()).collect();
        session
    }
}

fn aborts(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::Abort))
}

#[test]
fn the_agent_does_not_leave_a_phase_in_which_a_call_runs() {
    let mut session = Session::at_work_with(&["workflow_step", "bash", "read"]);
    let state = session.stored_run().cloned();
    for action in ["next", "loop", "cancel", "cancel"] {
        let text = format!("{:?}", session.step(action));
        assert!(text.contains("The phase is not left while a tool call runs: `bash`, `read`."), "{text}");
        assert_eq!(session.stored_run(), state.as_ref());
    }
    assert!(format!("{:?}", session.step("status")).contains("Workflow"));
    session.files.running_tools = vec!["workflow_step".into()];
    assert!(format!("{:?}", session.step("next")).contains("Advanced"));
}

#[test]
fn the_users_moves_end_the_calls_that_run_and_the_agent_goes_on() {
    for command in [":next", ":skip"] {
        let mut session = Session::at_work_with(&["bash"]);
        let effects = session.command("workflow", command).effects;
        assert!(matches!(effects.first(), Some(Effect::Abort)), "{effects:?}");
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Steer(_))), "{effects:?}");
        assert_eq!(session.engine.run.active().unwrap().phase.id, "b");
        session.files.running_tools.clear();
        let _ = session.on(Event::AgentEnd { stop: Stop::Aborted });
        let effects = session.on(Event::AgentSettled).effects;
        let prompt = effects.iter().find_map(|effect| match effect {
            Effect::SendUserMessage(text) => Some(text.clone()),
            _ => None,
        });
        assert!(prompt.is_some_and(|text| text.contains("The user moved the workflow on")), "{effects:?}");
        assert_eq!(session.stored_run().unwrap().progress().paused, None);
        // The user's own abort is a pause, as ever.
        let _ = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
        let _ = session.on(Event::AgentStart);
        let _ = session.on(Event::AgentEnd { stop: Stop::Aborted });
        let _ = session.on(Event::AgentSettled);
        assert!(session.stored_run().unwrap().progress().paused.is_some());
    }
    let mut session = Session::at_work_with(&[]);
    let effects = session.command("workflow", ":next").effects;
    assert!(!aborts(&effects), "{effects:?}");
    let mut session = Session::at_work_with(&["bash"]);
    assert!(aborts(&session.command("cancel-workflow", "").effects));
}

#[test]
fn a_move_after_the_calls_have_ended_and_before_the_agent_is_at_rest_prompts_once() {
    for (command, told) in [(":next", "* b → * c"), (":back", "* b → * a"), (":cancel", "")] {
        let mut session = Session::at_work_with(&["bash"]);
        let _ = session.command("workflow", ":next");
        session.files.running_tools.clear();
        let effects = session.command("workflow", command).effects;
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Steer(_))), "{effects:?}");
        let _ = session.on(Event::AgentEnd { stop: Stop::Aborted });
        let effects = session.on(Event::AgentSettled).effects;
        let prompts: Vec<String> = effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::SendUserMessage(text) => Some(text.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(prompts.len(), usize::from(!told.is_empty()), "{effects:?}");
        assert!(prompts.iter().all(|text| text.contains(told)), "{prompts:?}");
    }
}

/// Returns the prompts that the engine gives in the user's place.
fn prompts(effects: &[Effect]) -> Vec<&str> {
    let mut found = Vec::new();
    for effect in effects {
        if let Effect::SendUserMessage(text) = effect {
            found.push(&**text);
        }
    }
    found
}

#[test]
fn a_start_ends_the_calls_of_the_run_that_it_replaces() {
    let mut session = Session::at_work_with(&["bash"]);
    session.ui = Ui::Terminal;
    let Reply::Ask { ticket, .. } = session.command("workflow", "flow y").reply else { panic!() };
    let effects = session.on(Event::Answer { ticket, answer: Answer::Selected(1) }).effects;
    assert!(matches!(effects.first(), Some(Effect::Abort)), "{effects:?}");
    assert_eq!(prompts(&effects), [""; 0]);
    let effects = session.on(Event::AgentEnd { stop: Stop::Aborted }).effects;
    assert_eq!(prompts(&effects), [""; 0]);
    let effects = session.on(Event::AgentSettled).effects;
    assert!(matches!(&*prompts(&effects), [text] if text.contains('y')), "{effects:?}");
    assert_eq!(session.stored_run().unwrap().progress().paused, None);
}

#[test]
fn a_start_while_the_agent_that_a_cancellation_stopped_comes_to_rest_prompts_it_at_rest() {
    let mut session = Session::at_work_with(&["bash"]);
    assert!(aborts(&session.command("cancel-workflow", "").effects));
    session.files.running_tools.clear();
    assert_eq!(prompts(&session.command("workflow", "flow y").effects), [""; 0]);
    let _ = session.on(Event::AgentEnd { stop: Stop::Aborted });
    assert_eq!(prompts(&session.on(Event::AgentSettled).effects).len(), 1);
}

#[test]
fn a_start_without_a_run_leaves_the_agents_own_work() {
    let mut session = Session::new(&[("flow", &["a", "b"])]);
    let _ = session.on(Event::AgentStart);
    session.files.running_tools = vec!["bash".into()];
    let effects = session.command("workflow", "flow x").effects;
    assert!(!aborts(&effects), "{effects:?}");
    assert_eq!(prompts(&effects).len(), 1);
}

#[test]
fn a_move_is_told_after_a_pause_that_follows_it() {
    for (more, told) in [("", "on: * a → * b."), (":next", "on: * b → * c."), (":back", "back: * b → * a.")] {
        let mut session = Session::at_work_with(&["bash"]);
        let _ = session.command("workflow", ":next");
        let _ = session.command("workflow", ":pause");
        if !more.is_empty() {
            assert_eq!(prompts(&session.command("workflow", more).effects), [""; 0]);
        }
        let _ = session.on(Event::AgentEnd { stop: Stop::Aborted });
        assert_eq!(prompts(&session.on(Event::AgentSettled).effects), [""; 0]);
        let effects = session.resume("").effects;
        assert_eq!(prompts(&effects).len(), 1, "{effects:?}");
        let reply = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker }).reply;
        let Reply::Inject { content, .. } = reply else { panic!("{reply:?}") };
        assert!(content.starts_with(&format!("The user moved the workflow {told}")), "{content}");
    }
}

#[test]
fn a_move_is_not_told_after_the_end_of_its_run() {
    for end in [&[":next", ":next"][..], &[":cancel"]] {
        for settled in [true, false] {
            let mut session = Session::at_work_with(&["bash"]);
            let _ = session.command("workflow", ":next");
            for command in end {
                let _ = session.command("workflow", command);
            }
            let _ = session.on(Event::AgentEnd { stop: Stop::Aborted });
            if settled {
                assert_eq!(prompts(&session.on(Event::AgentSettled).effects), [""; 0]);
            }
            session.files.running_tools.clear();
            let _ = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
            let _ = session.on(Event::AgentSettled);
            let _ = session.command("workflow", "flow y");
            let reply = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker }).reply;
            let Reply::Inject { content, .. } = reply else { panic!("{reply:?}") };
            assert!(!content.contains("The user moved"), "{content}");
        }
    }
}

#[test]
fn a_move_to_the_end_is_shown_when_the_agent_is_at_rest() {
    for late in [false, true] {
        let mut session = Session::at_work_with(&[]);
        let _ = session.command("workflow", ":next");
        let _ = session.command("workflow", ":next");
        if late {
            let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
        }
        let _ = session.command("workflow", ":next");
        let mut effects = Vec::new();
        if !late {
            effects.extend(session.on(Event::AgentEnd { stop: Stop::Completed }).effects);
        }
        effects.extend(session.on(Event::AgentSettled).effects);
        let ends = |effect: &&Effect| matches!(effect, Effect::AppendEntry { custom_type, .. } if *custom_type == crate::protocol::COMPLETE_TYPE);
        assert_eq!(effects.iter().filter(ends).count(), 1, "{effects:?}");
    }
}

impl Session {
    /// The results of so many calls of `next`.
    fn nexts(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.step("next").0).collect()
    }
}

#[test]
fn moves_that_are_refused_again_and_again_pause_the_run() {
    let mut session = Session::at_work_with(&["bash"]);
    for text in session.nexts(9) {
        assert!(text.starts_with("⚠️ The phase is not left while a tool call runs"), "{text}");
    }
    let (effects, (last, _)) = session.step_output("next");
    assert!(aborts(&effects), "{effects:?}");
    assert_eq!(
        last,
        "The workflow is paused: a tool call did not end, and the agent could not leave the phase. Stop here and wait for the user."
    );
    assert_eq!(session.engine.run.pause_reason(), Some(&PauseReason::Running));
    // The agent's run ends, whatever it does next.
    for name in ["workflow_step", "bash"] {
        let reply = session.on(Event::ToolCall { name, carries_calls: false }).reply;
        assert_eq!(reply, Reply::Stop(last.clone()));
    }
    let _ = session.on(Event::AgentEnd { stop: Stop::Aborted });
    let _ = session.on(Event::AgentSettled);
    assert_eq!(session.engine.run.pause_reason(), Some(&PauseReason::Running));
    // A message of the user resumes the run, and the count begins anew.
    let _ = session.on(Event::Input { from_user: true });
    assert_eq!(session.engine.run.pause_reason(), None);
    assert!(session.nexts(9).iter().all(|text| text.starts_with("⚠️ ")));
    assert_eq!(session.engine.run.pause_reason(), None);
}

#[test]
fn refused_moves_are_counted_for_one_agent_run() {
    let mut session = Session::at_work_with(&["bash"]);
    for _ in 0..3 {
        let _ = session.nexts(9);
        let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
        let _ = session.on(Event::AgentSettled);
        assert_eq!(session.engine.run.pause_reason(), None);
        let _ = session.on(Event::Input { from_user: true });
        let _ = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
        let _ = session.on(Event::AgentStart);
    }
}

#[test]
fn a_pause_that_needs_more_than_a_message_is_not_replaced() {
    let mut session = Session::at_work_with(&["bash"]);
    let state = session.engine.run.running().unwrap().clone();
    let reason = PauseReason::UnknownCost { of: "flow".into() };
    let context = Context { unix_ms: NOW, random: 0, ui: Ui::Program, host: &session.files };
    session.engine.pause_as(&state, reason.clone(), &mut Cx::new(&context));
    let last = session.nexts(10).pop().unwrap();
    assert!(last.contains("the cost of an answer is not known"), "{last}");
    assert_eq!(session.engine.run.pause_reason(), Some(&reason));
}

#[test]
fn a_session_that_begins_in_a_run_tells_once_how_it_goes_on() {
    let told = |session: &mut Session, ui: Ui, facts: Facts| -> Vec<String> {
        session.engine = Engine::default();
        session.ui = ui;
        let stored = restore(&session.entries);
        let effects = session.on(Event::Session { stored, in_view: None, facts }).effects;
        let texts = effects.into_iter().filter_map(|effect| match effect {
            Effect::Notify { text, .. } => Some(text),
            _ => None,
        });
        texts.collect()
    };
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    let _ = session.command("workflow", "flat x");
    let waits = "The run of \"The flat\" has not ended.\nYour next message goes on with it, or /workflow :resume.";
    assert_eq!(told(&mut session, Ui::Terminal, Facts::default()), [waits]);
    assert_eq!(told(&mut session, Ui::Program, Facts::default()), [""; 0]);
    let at_work = Facts { at_work: true, ..Facts::default() };
    assert_eq!(told(&mut session, Ui::Terminal, at_work), [""; 0]);
    let _ = session.command("workflow", ":pause");
    let paused = "⏸ The flat is paused in * a: you asked for it.\nYour next message resumes it, or /workflow :resume.";
    assert_eq!(told(&mut session, Ui::Terminal, Facts::default()), [paused]);
    let _ = session.command("workflow", ":cancel");
    assert_eq!(told(&mut session, Ui::Terminal, Facts::default()), [""; 0]);
}
