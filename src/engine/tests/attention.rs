//! Notifications of the user outside of pi, by `notify.yaml`, and the wait that pi shows.

use super::*;

const NOTIFY: &str = "command: [notify-send, \"{title}\", \"{text}\"]\n";

/// A session with a run at work in its first phase, and this `notify.yaml`.
fn at_work(notify: Option<&str>) -> Session {
    let mut session = Session::new(&[("flat", &["a", "b"])]);
    session.ui = Ui::Terminal;
    let notify = notify.map(|text| ("notify.yaml".to_owned(), text.into()));
    session.files.global.extend(notify);
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    let _ = session.command("workflow", "flat Add a page");
    let _ = session.on(Event::AgentStart);
    session
}

/// The notifications and withdrawals among effects, each in a line.
fn told(effects: &[Effect]) -> Vec<String> {
    let line = |effect: &Effect| match effect {
        Effect::NotifyOutside(OutsideNotification { occasion, title, text, command, terminal }) => {
            let command = command.as_ref().map(|command| command.join(" "));
            Some(format!("{occasion:?}: {title} | {text} | {command:?} {terminal}"))
        }
        Effect::WithdrawNotification(occasion) => Some(format!("withdrawn: {occasion:?}")),
        _ => None,
    };
    effects.iter().filter_map(line).collect()
}

const PAUSED: &str = "Waits: Workflow The flat waits for you | In * a: you stopped the agent | Some(\"notify-send Workflow The flat waits for you In * a: you stopped the agent\") false";

#[test]
fn without_a_file_nothing_is_told() {
    let mut session = at_work(None);
    assert_eq!(told(&session.stop_as(Stop::Aborted, true)), [""; 0]);
    let _ = session.resume("");
    session.step("next");
    session.step("next");
    assert_eq!(told(&session.stop()), [""; 0]);
}

#[test]
fn a_pause_is_told_once_and_withdrawn_when_it_ends() {
    let mut session = at_work(Some(NOTIFY));
    assert_eq!(told(&session.stop_as(Stop::Aborted, true)), [PAUSED]);
    assert_eq!(told(&session.command("workflow", ":status").effects), [""; 0]);
    assert_eq!(told(&session.resume("").effects), ["withdrawn: Waits"]);
    assert_eq!(told(&session.stop_as(Stop::Aborted, true)), [PAUSED], "another pause");
}

#[test]
fn a_countdown_is_no_wait_but_an_interrupted_one_is() {
    let mut session = at_work(Some("terminal: true\n"));
    assert_eq!(told(&session.stop()), [""; 0]);
    assert_eq!(
        told(&session.on(Event::TerminalInput { interrupts: false }).effects),
        ["Waits: Workflow The flat waits for you | In * a: it waits for your message | None true"]
    );
    let input = session.on(Event::Input { from_user: true });
    assert_eq!(told(&input.effects), ["withdrawn: Waits"]);
}

#[test]
fn a_dialog_is_told_while_the_agent_works() {
    let mut session = at_work(Some(NOTIFY));
    session.step("cancel");
    let output = session.on(Event::Step { input: CANCEL, nested: false });
    let Reply::Ask { ticket, .. } = output.reply else { panic!() };
    assert_eq!(told(&output.effects).len(), 1);
    assert!(told(&output.effects)[0].contains("In * a: it waits for your answer"));
    assert_eq!(session.blocked, None, "pi shows a dialog itself");
    let output = session.on(Event::Answer { ticket, answer: Answer::Selected(0) });
    assert_eq!(told(&output.effects), ["withdrawn: Waits"]);
}

#[test]
fn the_end_is_told_unless_the_user_made_it() {
    let mut session = at_work(Some("on: [done, stopped]\nterminal: true\n"));
    assert_eq!(told(&session.stop_as(Stop::Aborted, true)), [""; 0], "not asked for");
    let _ = session.resume("");
    session.step("next");
    session.step("next");
    assert_eq!(told(&session.stop()), ["Done: Workflow The flat is done | Task: Add a page | None true"]);
    let _ = session.command("workflow", "flat Another");
    assert_eq!(told(&session.command("cancel-workflow", "").effects), [""; 0]);
    assert_eq!(told(&session.stop()), [""; 0]);
}

#[test]
fn a_stop_is_told_by_an_outcome() {
    let mut session = Session::new(&[("flat", &["a"])]);
    let text = "---\nid: a\nname: a\nemoji: '*'\noutcomes: {bad: stop, good: next}\n---\nDo.";
    session.files.global.insert("flat/a.md".into(), text.into());
    session.files.global.insert("notify.yaml".into(), "terminal: true".into());
    let _ = session.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    let _ = session.command("workflow", "flat Add\na\u{1b}[31m page");
    let input = r#"{"action":"next","outcome":"bad"}"#;
    let _ = session.on(Event::Step { input, nested: false });
    assert_eq!(
        told(&session.stop()),
        ["Stopped: Workflow The flat was stopped | Task: Add a\u{fffd}[31m page | None true"]
    );
}

#[test]
fn a_session_that_begins_tells_nothing() {
    let mut session = at_work(Some(NOTIFY));
    let _ = session.stop_as(Stop::Aborted, true);
    for same_session in [false, true] {
        let facts = Facts { same_session, ..Facts::default() };
        let stored = session.stored_run().cloned();
        let output = session.on(Event::Session { stored, in_view: None, facts });
        assert_eq!(told(&output.effects), [""; 0]);
        assert!(session.blocked.is_some(), "but pi shows it");
        let status = session.command("workflow", ":status");
        assert_eq!(told(&status.effects), [""; 0]);
    }
}

#[test]
fn pi_shows_a_pause_in_a_terminal() {
    let mut session = at_work(None);
    assert_eq!(session.blocked, None);
    let _ = session.stop_as(Stop::Aborted, true);
    assert_eq!(session.blocked.as_deref(), Some("Workflow The flat waits for you"));
    let _ = session.resume("");
    assert_eq!(session.blocked, None);
    session.ui = Ui::Program;
    let _ = session.stop_as(Stop::Aborted, true);
    assert_eq!(session.blocked, None, "a program shows it as it likes");
}

#[test]
fn a_file_with_errors_is_told_once() {
    let mut session = at_work(None);
    session.files.global.insert("notify.yaml".into(), "on: [done]\nterminal: yes please\n".into());
    let effects = session.stop_as(Stop::Aborted, true);
    let warning = "You are not notified outside of pi: ~/workflows/notify.yaml:2:11: `terminal`: expected `true` or `false`, found `yes please`";
    let is_warning = |effect: &&Effect| matches!(effect, Effect::Notify { text, .. } if text.contains("outside of pi"));
    let warnings: Vec<&Effect> = effects.iter().filter(is_warning).collect();
    assert_eq!(warnings, [&Effect::Notify { level: Level::Warning, text: warning.into() }]);
    let _ = session.resume("");
    let again = session.stop_as(Stop::Aborted, true);
    assert!(!again.iter().any(|effect| is_warning(&effect)), "{again:?}");
    session.files.global.insert("notify.yaml".into(), NOTIFY.into());
    let _ = session.resume("");
    assert_eq!(told(&session.stop_as(Stop::Aborted, true)), [PAUSED], "corrected");
}
