//! A session that another process works on.

use super::*;
use crate::definition::Library;
use crate::run::ClaimObstacle::{self, Changed, Failed, Living, Unknown};

impl Session {
    /// A run in phase `a`, restored by a process that meets this obstacle.
    fn met(obstacle: ClaimObstacle) -> Self {
        let mut first = Self::new(&[("flow", &["a", "b"]), ("other", &["x"])]);
        let _ = first.command("workflow", "flow x");
        let _ = first.on(Event::AgentStart);
        let stored = first.run.clone();
        let mut session = Self::new(&[("flow", &["a", "b"]), ("other", &["x"])]);
        session.files.claim_obstacle.replace(Some(obstacle));
        let effects = session.on(Event::Session { stored, in_view: None, facts: Facts::default() }).effects;
        assert!(session.entries.is_empty(), "{effects:?}");
        session
    }

    fn frees(&mut self) {
        self.files.claim_obstacle.replace(None);
    }

    fn notices(effects: &[Effect]) -> Vec<String> {
        let text = |effect: &Effect| if let Effect::Notify { text, .. } = effect { Some(text.clone()) } else { None };
        effects.iter().filter_map(text).collect()
    }
}

#[test]
fn a_run_has_the_claim_until_its_pause_or_end() {
    let mut session = Session::new(&[("flow", &["a"])]);
    let _ = session.command("workflow", ":status");
    let _ = session.on(Event::Input { from_user: true });
    let _ = session.on(Event::AgentStart);
    let _ = session.stop();
    assert!(session.files.claims.borrow().is_empty(), "no run");
    let _ = session.command("workflow", "flow x");
    let _ = session.on(Event::AgentStart);
    assert_eq!(*session.files.claims.borrow(), [false]);
    let _ = session.command("workflow", ":pause");
    assert!(session.released.is_empty(), "the agent is at work");
    let _ = session.stop();
    assert_eq!(session.released, [false], "paused, and at rest");
    let _ = session.command("workflow", ":status");
    assert_eq!(session.files.claims.borrow().len(), 1);
    let _ = session.on(Event::Input { from_user: true });
    assert_eq!(*session.files.claims.borrow(), [false, false], "the message resumes it");
    let _ = session.on(Event::AgentStart);
    session.step("next");
    let _ = session.stop();
    assert_eq!((session.run.as_ref().map(RunState::is_running), &*session.released), (Some(false), &[false, true][..]));
}

#[test]
fn what_another_process_works_on_stays_as_it_is() {
    for (obstacle, words) in [
        (Living(12), "another process (12) works on it"),
        (Unknown(12), "a process of another host or container (12) may work on it"),
        (Unknown(0), "another process may work on it"),
        (Changed, "another process has worked on it since this session was opened"),
        (Failed("EROFS".into()), "other processes cannot be kept from it: EROFS"),
    ] {
        let mut session = Session::met(obstacle.clone());
        assert!(session.status.as_ref().unwrap().starts_with("⏸ The flow > * a [1/2] (paused: "));
        for from_user in [true, false, true] {
            let Output { effects, reply } = session.on(Event::Input { from_user });
            assert!(matches!(&Session::notices(&effects)[..], [text] if text.contains(words)), "{effects:?}");
            assert_eq!(reply, Reply::Drop);
        }
        let _ = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
        let _ = session.on(Event::AgentStart);
        let refused = session.on(Event::ToolCall { name: "bash", carries_calls: false }).reply;
        assert!(matches!(&refused, Reply::Stop(text) if text.contains(words)), "{refused:?}");
        let (text, _) = session.step("next");
        assert!(text.contains(words), "{text}");
        let _ = session.stop();
        for command in [":next", ":skip", ":back", ":pause", ":cancel", ":status", ":panel", ":report", "other y"] {
            let effects = session.command("workflow", command).effects;
            assert!(effects.iter().all(|effect| !matches!(effect, Effect::AppendEntry { .. })), "{effects:?}");
            let notices = Session::notices(&effects);
            assert!(matches!(&notices[..], [text] if text.contains(words)), "{command}: {effects:?}");
        }
        let _ = session.command("cancel-workflow", "");
        session.ui = Ui::None;
        let _ = session.resume("");
        assert_eq!((session.entries.len(), session.released.len()), (0, 0), "{obstacle:?}");
        assert!(session.engine.has_run() && !session.engine.is_running());
        assert!(session.files.claims.borrow().iter().all(|takes_over| !takes_over));
    }
}

#[test]
fn a_run_goes_on_when_no_other_process_has_it_any_more() {
    for by_message in [true, false] {
        let mut session = Session::met(Living(12));
        session.frees();
        let effects = match by_message {
            true => session.on(Event::Input { from_user: true }).effects,
            false => session.resume("").effects,
        };
        assert!(Session::notices(&effects).contains(&"The workflow goes on here.".to_owned()), "{effects:?}");
        let allowed = session.on(Event::ToolCall { name: "bash", carries_calls: false }).reply;
        assert_eq!(allowed, Reply::None);
        session.step("next");
        assert_eq!(session.run.as_ref().unwrap().current_path.first().unwrap().phase_index, 1);
    }
}

#[test]
fn only_a_yes_of_the_user_takes_a_run_over_from_a_process_that_nobody_sees() {
    for (obstacle, asks) in [(Unknown(12), true), (Living(12), false), (Changed, false)] {
        let mut session = Session::met(obstacle);
        for ui in [Ui::Program, Ui::Terminal] {
            session.ui = ui;
            let reply = session.command("workflow", ":resume").reply;
            assert_eq!(matches!(reply, Reply::Ask { .. }), asks, "{reply:?}");
            if asks {
                let no = if ui == Ui::Terminal { Answer::Selected(0) } else { Answer::Confirmed(false) };
                let _ = session.on(Event::Answer { ticket: session.last_ticket, answer: no });
                assert!(!session.engine.is_running());
            }
        }
        if asks {
            let _ = session.command("workflow", ":resume");
            let yes = Answer::Selected(1);
            let _ = session.on(Event::Answer { ticket: session.last_ticket, answer: yes });
            assert!(session.engine.is_running());
        }
        assert_eq!(session.files.claims.borrow().contains(&true), asks);
    }
}

#[test]
fn a_session_of_another_process_starts_no_run() {
    let mut session = Session::new(&[("flow", &["a"])]);
    session.files.claim_obstacle.replace(Some(Living(12)));
    let effects = session.command("workflow", "flow x").effects;
    let text = "The workflow is not started, because of the session: another process (12) works on it.";
    assert_eq!(effects, notice(Level::Warning, text));
    session.frees();
    let _ = session.command("workflow", "flow x");
    assert!(session.engine.is_running());
}

#[test]
fn a_refused_start_is_an_error_of_a_run_that_is_only_played() {
    let session = Session::met(Living(7));
    let (library, _) = Library::load(&session.files).unwrap();
    let flow = library.get("flow").unwrap();
    let played = run_through::run_through(&session.files, &library, flow, "x", run_through::Given::default());
    let refused = "The workflow is not started, because of the session: another process (7) works on it.";
    assert_eq!(played.unwrap_err(), refused);
}

#[test]
fn a_wait_for_a_limit_has_no_claim_until_its_end() {
    let mut session = Session::new(&[("flow", &["a"])]);
    session.files.global.insert("settings.yaml".into(), "wait: 6h".into());
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    let _ = session.command("workflow", "flow x");
    let _ = session.fails("429 rate_limit_error: try again in 2h");
    assert_eq!((session.files.claims.borrow().len(), session.released.len()), (1, 1));
    session.now += 3_600_000;
    for idle in [true, false] {
        let _ = session.on(Event::Timer { id: 2, idle });
    }
    assert_eq!((session.files.claims.borrow().len(), session.released.len()), (1, 1), "it looks at the clock");
    session.now += 3_601_000;
    let _ = session.goes_on();
    assert_eq!((session.files.claims.borrow().len(), session.released.len()), (2, 1));
}

#[test]
fn a_run_whose_rules_do_not_hold_has_the_claim_until_its_agent_and_its_commands_are_at_rest() {
    for by_user in [false, true] {
        let mut session = Session::new(&[("flow", &["a", "b"])]);
        let gate = "emoji: '*'\ngate: [{run: 'true'}]\n";
        let phase = session.files.global.get_mut("flow/a.md").unwrap();
        *phase = phase.replacen("emoji: '*'\n", gate, 1);
        let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
        let _ = session.command("workflow", "flow x");
        let _ = session.on(Event::AgentStart);
        if by_user {
            let _ = session.on(Event::AgentEnd { stop: Stop::Aborted });
            let _ = session.on(Event::AgentSettled);
            let asked = session.command("workflow", ":next").reply;
            assert!(matches!(asked, Reply::Ask { request: Request::Exec { .. }, .. }), "{asked:?}");
            assert!(!session.engine.is_at_work());
        }
        let before = session.released.len();
        let phase = session.files.global.get_mut("flow/a.md").unwrap();
        *phase = phase.replacen("'true'", "'false'", 1);
        let _ = session.command("workflow", ":check");
        assert!(session.engine.has_run() && !session.engine.is_running(), "the rules have changed");
        assert_eq!(session.released.len(), before, "something is at work");
        if by_user {
            let _ = session.on(Event::Answer { ticket: session.last_ticket, answer: Answer::Cancelled });
        } else {
            let _ = session.stop();
        }
        assert_eq!(session.released.len(), before + 1);
    }
}

#[test]
fn a_restarted_instance_claims_a_paused_run_whose_agent_works() {
    for (at_work, claims) in [(true, 1), (false, 0)] {
        let mut first = Session::new(&[("flow", &["a"])]);
        let _ = first.command("workflow", "flow x");
        let _ = first.on(Event::AgentStart);
        let _ = first.command("workflow", ":pause");
        let mut session = Session::new(&[("flow", &["a"])]);
        let facts = Facts { at_work, restarted: true, ..Facts::default() };
        let _ = session.on(Event::Session { stored: first.run.clone(), in_view: None, facts });
        assert_eq!(session.files.claims.borrow().len(), claims);
    }
}
