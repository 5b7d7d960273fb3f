//! A run that meets a limit of its model.

use super::*;
use crate::run::PauseReason;

const LIMIT: &str = "429 rate_limit_error: try again in 2h";
const HOUR: u64 = 3_600_000;
const TIMER: u64 = 2;
/// The command of a wait at its end.
const IS_OVER: &str = ":wait :over";

/// A session with a run at work in its first phase, and these settings.
fn at_work(settings: &str) -> Session {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    session.ui = Ui::Terminal;
    session.files.global.insert("settings.yaml".into(), settings.into());
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    let _ = session.command("workflow", "flat Add a page");
    session
}

impl Session {
    /// The agent's request fails with this message.
    pub(super) fn fails(&mut self, message: &str) -> Vec<Effect> {
        *self.files.failure.borrow_mut() = Some(message.to_owned());
        let _ = self.on(Event::AgentStart);
        let _ = self.on(Event::AgentEnd { stop: Stop::Failed });
        self.on(Event::AgentSettled).effects
    }

    /// The end of the limit and the time at which the run goes on, after now.
    pub(super) fn limit(&self) -> Option<(Option<u64>, Option<u64>)> {
        let after = |time: &Option<u64>| time.map(|time| time - self.now);
        match self.run.as_ref()?.progress().paused.as_ref()?.reason {
            PauseReason::Quota { ref until, ref goes_on_at, .. } => Some((after(until), after(goes_on_at))),
            _ => None,
        }
    }

    fn tick(&mut self, idle: bool) -> Output {
        self.on(Event::Timer { id: TIMER, idle })
    }

    /// The wait ends, and the host runs the command.
    pub(super) fn goes_on(&mut self) -> Output {
        let run = Effect::RunCommand { name: "workflow", arguments: IS_OVER };
        assert!(self.tick(true).effects.contains(&run));
        self.command("workflow", IS_OVER)
    }
}

fn has_prompted(output: &Output) -> bool {
    output.effects.iter().any(|effect| matches!(effect, Effect::SendUserMessage(_)))
}

#[test]
fn without_the_setting_a_limit_is_a_pause() {
    for settings in ["builtin: true", "wait: never", "wait: 8 days"] {
        let mut session = at_work(settings);
        let effects = session.fails(LIMIT);
        assert_eq!(session.limit(), Some((Some(2 * HOUR), None)), "{settings}");
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::StartTimer { .. })));
        let text = "⏸ The flat is paused in * a: a limit of the model is reached, until 2025-05-14 16:56:07 UTC+00:00.\nYour next message resumes it, or /workflow :resume; /workflow :wait has it go on by itself.";
        assert!(effects.contains(&Effect::Notify { level: Level::Warning, text: text.into() }), "{effects:?}");
        assert!(session.blocked.is_some(), "it waits for the user");
        let output = session.command("workflow", ":resume");
        assert!(has_prompted(&output));
    }
}

#[test]
fn other_failures_stay_as_they_are() {
    for message in ["500 internal", "429 insufficient_quota", ""] {
        let mut session = at_work("wait: 6h");
        let _ = session.fails(message);
        let pause = session.run.as_ref().unwrap().progress().paused.as_ref().unwrap();
        assert_eq!(pause.reason, PauseReason::ModelError, "{message}");
    }
}

#[test]
fn a_wait_counts_down_and_goes_on() {
    let mut session = at_work("wait: 6h");
    let effects = session.fails(LIMIT);
    assert_eq!(session.limit(), Some((Some(2 * HOUR), Some(2 * HOUR + 1000))));
    assert!(effects.contains(&Effect::StartTimer { id: TIMER, delay_ms: 1000 }), "{effects:?}");
    assert!(effects.contains(&Effect::WatchTerminal(true)));
    assert_eq!(session.blocked, None, "it waits for no user");
    assert_eq!(
        session.status.as_deref(),
        Some("⏸ The flat > * a [1/2] (paused: a limit of the model, goes on in 2h 1m)")
    );
    session.now += HOUR;
    let output = session.tick(true);
    assert!(output.effects.contains(&Effect::StartTimer { id: TIMER, delay_ms: 1000 }), "{output:?}");
    session.now += HOUR - 9000;
    let _ = session.tick(true);
    assert_eq!(
        session.status.as_deref(),
        Some("⏸ The flat > * a [1/2] (paused: a limit of the model, goes on in 10s)")
    );
    session.now += 10_000;
    let busy = session.tick(false);
    assert!(!busy.effects.iter().any(|effect| matches!(effect, Effect::RunCommand { .. })));
    let output = session.goes_on();
    assert!(has_prompted(&output), "{output:?}");
    assert!(output.effects.contains(&Effect::StopTimer { id: TIMER }));
    assert!(output.effects.contains(&Effect::WatchTerminal(false)));
    let quota = &session.run.as_ref().unwrap().progress().quota;
    assert_eq!((quota.count, quota.ms, quota.in_row), (1, 2 * HOUR + 1000, 1));
    let report = session.command("workflow", ":report").effects;
    assert!(format!("{report:?}").contains("**Waits for limits of the model:** 1, 2h 1s"), "{report:?}");
    assert_eq!(session.tick(true), Output::default(), "a late timer");
}

#[test]
fn a_limit_that_always_ends_in_a_second_is_waited_for_three_times() {
    let mut session = at_work("wait: 6h");
    for _ in 0..3 {
        let _ = session.fails("429 try again in 1 second");
        assert_eq!(session.limit(), Some((Some(1000), Some(2000))));
        session.now += 2000;
        assert!(has_prompted(&session.goes_on()));
    }
    let _ = session.fails("429 try again in 1 second");
    assert_eq!(session.limit(), Some((Some(1000), None)));
    let _ = session.on(Event::Input { from_user: true });
    let _ = session.fails("429 try again in 1 second");
    assert_eq!(session.limit(), Some((Some(1000), Some(2000))), "the user has acted");
}

#[test]
fn far_and_past_ends() {
    for (message, limit) in [
        ("429 resets at 9999-12-31T23:59:59Z", (Some(253_402_300_799_000 - NOW), None)),
        ("429 try again in 7h", (Some(7 * HOUR), None)),
        ("429", (None, Some(301_000))),
    ] {
        let mut session = at_work("wait: 6h");
        let _ = session.fails(message);
        assert_eq!(session.limit(), Some(limit), "{message}");
    }
    let mut session = at_work("wait: 6h");
    let _ = session.fails("429 resets at 2020-01-01T00:00:00Z");
    assert_eq!(session.run.as_ref().unwrap().goes_on_at(), Some(NOW + 1000));
}

#[test]
fn the_user_ends_a_wait() {
    let waiting = || {
        let mut session = at_work("wait: 6h");
        let _ = session.fails(LIMIT);
        session.now += HOUR;
        session
    };
    let ended = |session: &Session| {
        let quota = &session.run.as_ref().unwrap().progress().quota;
        (session.run.as_ref().unwrap().goes_on_at(), quota.count, quota.ms, quota.in_row)
    };
    let is_over = |session: &Session| ended(session) == (None, 1, HOUR, 0);

    let mut session = waiting();
    let output = session.on(Event::TerminalInput { interrupts: false });
    assert_eq!(output, Output::default(), "another key");
    let output = session.on(Event::TerminalInput { interrupts: true });
    assert!(is_over(&session) && session.limit() == Some((Some(HOUR), None)), "Escape");
    assert!(output.effects.contains(&Effect::StopTimer { id: TIMER }));
    assert!(session.blocked.is_some(), "the run waits for the user now");
    let line = "⏸ The flat > * a [1/2] (paused: a limit of the model, until 16:56)";
    assert_eq!(session.status.as_deref(), Some(line));
    assert_eq!(session.on(Event::TerminalInput { interrupts: true }), Output::default(), "twice");

    let mut session = waiting();
    let _ = session.command("workflow", ":pause");
    assert!(is_over(&session) && session.limit() == Some((Some(HOUR), None)), ":pause");

    let mut session = waiting();
    let _ = session.on(Event::Input { from_user: true });
    assert!(is_over(&session) && session.limit().is_none(), "a message");
    assert!(session.run.as_ref().unwrap().progress().paused.is_none());

    for control in [":resume", ":next", ":skip", ":back"] {
        let mut session = waiting();
        let _ = session.command("workflow", control);
        assert!(is_over(&session), "{control}");
    }

    let mut session = waiting();
    for shows in [":status", ":report", ":panel", ":limits", ":check", ":graph"] {
        let _ = session.command("workflow", shows);
        assert_eq!(session.limit(), Some((Some(HOUR), Some(HOUR + 1000))), "{shows}");
    }
    let _ = session.on(Event::Input { from_user: false });
    assert!(session.limit().unwrap().1.is_some(), "another extension");
    let output = session.command("workflow", ":cancel");
    assert!(output.effects.contains(&Effect::StopTimer { id: TIMER }));
}

#[test]
fn the_end_of_a_wait_counts_once() {
    let mut session = at_work("wait: 6h");
    let _ = session.fails(LIMIT);
    session.now += 2 * HOUR + 1000;
    let _ = session.tick(true);
    // The command got lost.
    let again = session.tick(true);
    assert!(again.effects.contains(&Effect::RunCommand { name: "workflow", arguments: IS_OVER }));
    let _ = session.on(Event::Input { from_user: true });
    assert_eq!(session.command("workflow", IS_OVER), Output::default(), "the user was faster");
}

#[test]
fn a_command_of_the_user_is_not_that_of_the_wait() {
    let mut session = at_work("wait: 6h");
    let _ = session.fails(LIMIT);
    assert_eq!(session.command("workflow", IS_OVER), Output::default(), "too early");
    assert_eq!(session.limit(), Some((Some(2 * HOUR), Some(2 * HOUR + 1000))));
    session.now += 2 * HOUR + 1000;
    let _ = session.tick(true);
    let _ = session.command("workflow", ":wait off");
    assert_eq!(session.run.as_ref().unwrap().goes_on_at(), None, "the user does not want it any more");
    assert_eq!(session.command("workflow", IS_OVER), Output::default());
    let _ = session.command("workflow", ":wait");
    session.now += 1000;
    let _ = session.tick(true);
    assert!(!has_prompted(&session.command("workflow", ":wait")), "the user's own command");
}

#[test]
fn the_user_chooses_for_a_run() {
    let mut session = at_work("builtin: true");
    let _ = session.fails(LIMIT);
    for (argument, goes_on) in [
        ("1h", None),
        ("3h", Some(2 * HOUR + 1000)),
        ("off", None),
        ("", Some(2 * HOUR + 1000)),
        ("soon", None),
        ("", Some(2 * HOUR + 1000)),
        ("99999999999999999999h", None),
    ] {
        let _ = session.command("workflow", format!(":wait {argument}").trim());
        assert_eq!(session.limit(), Some((Some(2 * HOUR), goes_on)), "{argument}");
    }
    let mut session = at_work("wait: 6h");
    let _ = session.command("workflow", ":wait off");
    let _ = session.fails(LIMIT);
    assert_eq!(session.limit(), Some((Some(2 * HOUR), None)), "the user does not want it in this run");
    let _ = session.on(Event::Input { from_user: true });
    let _ = session.command("workflow", ":wait 10h");
    let _ = session.fails("429 try again in 9h");
    assert_eq!(session.limit(), Some((Some(9 * HOUR), Some(9 * HOUR + 1000))));
}

#[test]
fn a_restart_shows_the_wait_and_waits_on() {
    let mut session = at_work("wait: 6h");
    let _ = session.fails(LIMIT);
    let stored = session.stored_run().cloned();
    for (later, goes_on) in [(HOUR, Some(HOUR + 1000)), (2 * HOUR + 2000, Some(10_000)), (5 * HOUR, None)] {
        let mut again = at_work("wait: 6h");
        again.now = NOW + later;
        let facts = Facts::default();
        let effects = again.on(Event::Session { stored: stored.clone(), in_view: None, facts }).effects;
        assert_eq!(again.engine.run.running().unwrap().goes_on_at().map(|at| at - again.now), goes_on, "{later}");
        assert_eq!(effects.contains(&Effect::WatchTerminal(true)), goes_on.is_some());
        assert!(again.status.as_ref().unwrap().contains("a limit of the model"), "{:?}", again.status);
    }
}

#[test]
fn the_user_decides_now_if_a_stored_wait_goes_on() {
    let mut session = at_work("wait: 6h");
    let _ = session.fails(LIMIT);
    let stored = session.stored_run().cloned();
    let chosen = |max_ms| stored.clone().map(|state| state.waiting_up_to(max_ms, NOW));
    for (settings, wait, stored, goes_on) in [
        ("wait: 6h", None, stored.clone(), true),
        ("builtin: true", None, stored.clone(), false),
        ("wait: 1h", None, stored.clone(), false),
        ("builtin: true", Some("3h"), stored.clone(), true),
        ("wait: 6h", Some("1h"), stored.clone(), false),
        ("builtin: true", None, chosen(3 * HOUR), true),
        ("builtin: true", Some("1h"), chosen(3 * HOUR), false),
    ] {
        let mut again = at_work(settings);
        let facts = Facts { wait: wait.map(Into::into), ..Facts::default() };
        let _ = again.on(Event::Session { stored, in_view: None, facts });
        let state = again.engine.run.running().unwrap();
        assert_eq!(state.goes_on_at().is_some(), goes_on, "{settings} {wait:?}");
    }
    // An option of this process counts more than a choice that is stored, and a choice of now more than the option.
    let mut again = at_work("builtin: true");
    let facts = Facts { wait: Some("3h".into()), ..Facts::default() };
    let _ = again.on(Event::Session { stored: chosen(0), in_view: None, facts });
    let _ = again.on(Event::Input { from_user: true });
    let _ = again.fails(LIMIT);
    assert!(again.limit().unwrap().1.is_some());
    let _ = again.command("workflow", ":wait off");
    assert_eq!(again.limit(), Some((Some(2 * HOUR), None)));
}

#[test]
fn a_process_without_a_user_interface_stays_for_the_wait() {
    let mut session = at_work("builtin: true");
    session.ui = Ui::None;
    let facts = Facts { wait: Some("6h".into()), ..Facts::default() };
    let stored = session.stored_run().cloned();
    let _ = session.on(Event::Session { stored, in_view: None, facts });
    let _ = session.fails(LIMIT);
    assert!(session.limit().unwrap().1.is_some());
    let facts = Facts { wait: Some("long".into()), ..Facts::default() };
    let output = session.on(Event::Session { stored: None, in_view: None, facts });
    let text = "--workflow-wait: “long” is no time like 6h or 90m, of at most 7 days. The run does not wait.";
    assert!(output.effects.contains(&Effect::Notify { level: Level::Error, text: text.into() }));
    let mut session = at_work("builtin: true");
    let _ = session.fails(LIMIT);
    session.ui = Ui::None;
    assert_eq!(session.command("workflow", ":wait").reply, Reply::Settle);
    assert_eq!(session.command("workflow", ":status").reply, Reply::None);
}
