//! After a function has returned `stale`, the guest abandons the current work: it makes no further calls, and
//! returns an empty result. Tested at every call of every kind of work.

use super::host::*;
use super::{FILES, STATE_AT_LOOK, at_look, at_look_without_ui, counting_down};

/// Repeats some work; the session ends at the first call that can fail, then at the second, and so on.
#[track_caller]
fn given_up(prepare: impl Fn() -> Pi, work: impl Fn(&mut Pi)) {
    for calls in 0.. {
        let mut pi = prepare();
        pi.host().calls_until_stale = Some(calls);
        work(&mut pi);
        if !pi.host().stale {
            assert!(calls > 0, "the work calls nothing");
            return;
        }
        let host = pi.host();
        assert_eq!(
            host.calls_after_stale,
            [] as [&str; 0],
            "after {:?} and {:?}",
            host.questions.last(),
            host.calls.last()
        );
        // The next session works.
        host.calls_until_stale = None;
        host.stale = false;
        pi.event(Event::SessionStart(SessionReason::New));
        assert_eq!(pi.host().calls_after_stale, [] as [&str; 0]);
        let status = pi.host().calls.pop();
        assert!(status.is_some_and(|call| call.contains("-status workflow")));
    }
}

#[track_caller]
fn event_given_up(prepare: impl Fn() -> Pi, event: &Event) {
    given_up(prepare, |pi| {
        let outcome = pi.event(event.clone());
        if pi.host().stale {
            assert_eq!(outcome, "none");
        }
    });
}

#[track_caller]
fn command_given_up(prepare: impl Fn() -> Pi, name: &str, arguments: &str) {
    given_up(prepare, |pi| {
        let outcome = pi.command(name, arguments);
        if pi.host().stale {
            assert_eq!(outcome, Outcome::Done);
        }
    });
}

/// A workflow whose phases have a model, may write some files without network, and use the folder of the run.
const LIMITED: [(&str, &str); 4] = [
    ("global/settings.yaml", "models: { strong: [one/paid, 'one/big:high'] }"),
    (
        "project/plan/workflow.yaml",
        "name: Plan\ncommandName: plan\ninitialMessage: Begin\nnetwork: false\nphases: [plan.md, do.md]\n",
    ),
    (
        "project/plan/plan.md",
        "---\nid: plan\nname: Plan\nemoji: 📐\nwrite: [docs/, a.md]\nmodel: strong:max\n---\nPlan in {runDir}.\n",
    ),
    ("project/plan/do.md", "---\nid: do\nname: Do\nemoji: 🔨\n---\nDo.\n"),
];

/// Starts a session with the workflow `plan`, in a pi with the model `scripted/scripted`.
fn limited() -> Pi {
    let mut host = Host::with_files(LIMITED);
    host.models = vec![known("one/paid", false), known("one/big", true)];
    host.start_session()
}

/// The same in the phase that may write `docs/` and `a.md`, without network.
pub fn at_plan() -> Pi {
    let mut pi = limited();
    pi.command("workflow", "plan Fix it");
    let host = pi.host();
    host.calls.clear();
    host.questions.clear();
    pi
}

fn in_a_session() -> Pi {
    Host::with_files(FILES).start_session()
}

fn at_the_end() -> Pi {
    let mut pi = at_look();
    pi.step("next");
    pi.event(Event::TurnEnd(Vec::new()));
    pi.step("next");
    pi
}

#[test]
fn the_report_of_a_run_that_has_ended() {
    command_given_up(at_the_end, "workflow", ":report");
}

#[test]
fn the_start_of_a_session() {
    let before = || Host::with_files(FILES).with_states([STATE_AT_LOOK]).start();
    event_given_up(before, &Event::SessionStart(SessionReason::Startup));
    event_given_up(before, &Event::SessionTree);
    event_given_up(before, &Event::Restarted);
}

#[test]
fn the_start_of_a_session_with_junk_in_it() {
    let before = || Host::with_files(FILES).with_states(vec!["{}"; 9]).start();
    event_given_up(before, &Event::SessionStart(SessionReason::Startup));
}

#[test]
fn the_start_of_a_session_in_a_countdown() {
    event_given_up(counting_down, &Event::SessionStart(SessionReason::New));
}

#[test]
fn the_start_of_a_run() {
    command_given_up(in_a_session, "workflow", "two Fix it");
}

#[test]
fn a_phase_with_a_model_and_a_folder() {
    command_given_up(limited, "workflow", "plan Fix it");
    command_given_up(at_plan, "workflow", ":next");
    let selection = level_selection(ThinkingLevel::Low, false);
    event_given_up(at_plan, &Event::ThinkingLevelSelect(selection));
}

#[test]
fn the_answer_that_starts_a_run() {
    let asked = || super::asked_to_start_another().0;
    given_up(asked, |pi| {
        let outcome = pi.answer(1, Answer::Confirmed(true));
        if pi.host().stale {
            assert_eq!(outcome, Outcome::Done);
        }
    });
}

#[test]
fn a_command_that_only_speaks() {
    command_given_up(in_a_session, "workflow", "nope x");
    command_given_up(in_a_session, "cancel-workflow", "");
}

#[test]
fn a_cancellation() {
    command_given_up(at_look, "cancel-workflow", "");
    command_given_up(counting_down, "cancel-workflow", "");
}

#[track_caller]
fn step_given_up(prepare: impl Fn() -> Pi, work: impl Fn(&mut Pi) -> Stepped) {
    given_up(prepare, |pi| {
        let stepped = work(pi);
        if pi.host().stale {
            let text = "The session was replaced.".into();
            let details = r#"{"active":false,"stale":true}"#.into();
            assert_eq!(stepped, Stepped::Says { text, details });
        }
    });
}

#[test]
fn the_step_tool() {
    for input in [r#"{"action":"next"}"#, r#"{"action":"loop"}"#] {
        step_given_up(at_look, |pi| pi.step_with(input));
    }
    let asked = || super::asked_to_cancel().0;
    step_given_up(asked, |pi| pi.answer_tool(1, Answer::Confirmed(true)));
}

#[test]
fn the_controls() {
    for control in [":status", ":pause", ":next", ":skip", ":back", ":cancel", ":other"] {
        command_given_up(at_look, "workflow", control);
    }
    let paused = || {
        let mut pi = at_look();
        pi.command("workflow", ":pause");
        pi
    };
    command_given_up(paused, "workflow", ":resume");
    event_given_up(paused, &Event::Input(InputSource::Interactive));
    let at_work = || {
        let mut pi = at_look();
        pi.event(Event::AgentStart);
        pi
    };
    command_given_up(at_work, "workflow", ":next");
}

fn stopped(reason: StopReason) -> Pi {
    let mut pi = at_look();
    pi.event(Event::AgentEnd(Some(reason)));
    pi
}

/// A call whose limits are not known is refused.
#[test]
fn a_tool_call() {
    for (tool, input) in [("edit", r#"{"path":"src/a"}"#), ("write", r#"{"path":"docs/a"}"#), ("bash", "{}")] {
        let asked = || {
            let mut pi = at_plan();
            pi.host().tool_input = input.into();
            pi
        };
        given_up(asked, |pi| {
            let outcome = pi.tool_call(tool);
            if pi.host().stale {
                assert_eq!(outcome, "block: [workflow] the session was replaced");
            }
        });
    }
    let without_a_sandbox = || {
        let mut pi = at_plan();
        pi.host().failing.insert("can-confine", "There is none.");
        pi
    };
    given_up(without_a_sandbox, |pi| {
        assert!(pi.tool_call("bash").starts_with("block: "));
    });
}

#[test]
fn a_run_of_the_agent() {
    event_given_up(at_look, &Event::BeforeAgentStart);
    event_given_up(at_look, &Event::TurnEnd(Vec::new()));
    event_given_up(at_the_end, &Event::AgentEnd(Some(StopReason::Stop)));
}

#[test]
fn an_agent_that_stops_too_early() {
    for reason in [StopReason::Stop, StopReason::Aborted, StopReason::Error] {
        event_given_up(|| stopped(reason), &Event::AgentSettled);
    }
}

#[test]
fn the_end_of_a_session() {
    event_given_up(at_look_without_ui, &Event::SessionShutdown(SessionReason::Quit));
}

#[test]
fn a_countdown() {
    for event in [Event::TerminalInput(false), Event::AgentStart, Event::BeforeAgentStart] {
        event_given_up(counting_down, &event);
    }
    given_up(counting_down, |pi| pi.timer(1));
    let at_one = || {
        let mut pi = counting_down();
        pi.timer(1);
        pi.timer(1);
        pi
    };
    given_up(at_one, |pi| pi.timer(1));
}

#[test]
fn a_completion() {
    given_up(in_a_session, |pi| {
        // Unchanged values are not queried.
        pi.host().files.insert("global/new.txt".into(), Vec::new());
        pi.complete("workflow", "");
    });
}
