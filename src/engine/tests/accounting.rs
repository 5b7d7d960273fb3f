//! The usage of a run.

use super::*;
use crate::usage::Usage;

const NEXT: &str = r#"{"action":"next"}"#;

fn used(turns: u32) -> Usage {
    Usage { turns, input: u64::from(turns) * 10, ..Usage::default() }
}

/// A run of two phases; `has_used` sets the usage from now on.
fn begun() -> Session {
    let mut session = Session::new(&[("w", &["a", "b"])]);
    let _ = session.command("workflow", "w x");
    let _ = session.on(Event::AgentStart);
    session
}

impl Session {
    /// Sets the usage of pi's entries behind the newest state entry.
    fn has_used(&self, turns: u32) {
        *self.files.usage.borrow_mut() = used(turns);
    }

    /// The turns of each phase of the newest stored state: of this visit, and of the earlier ones.
    fn turns(&self) -> Vec<(u32, u32)> {
        let visits = &self.stored_run().unwrap().progress().visits;
        visits.values().map(|visit| (visit.usage.turns, visit.earlier.turns)).collect()
    }
}

#[test]
fn a_turn_belongs_to_the_phase_that_it_leaves() {
    let mut session = begun();
    session.has_used(2);
    let _ = session.step("next");
    assert_eq!(session.turns(), [(2, 0), (0, 0)]);
    session.has_used(3);
    let _ = session.step("loop");
    assert_eq!(session.turns(), [(0, 2), (3, 0)]);
    // Into the phase where the run is already.
    session.has_used(4);
    let _ = session.step("loop");
    assert_eq!(session.turns(), [(0, 6), (3, 0)]);
    let state = session.stored_run().unwrap();
    assert_eq!((state.usage().turns, state.usage().input), (9, 90));
}

#[test]
fn states_of_one_event_count_it_once() {
    let mut session = begun();
    let _ = session.command("workflow", ":pause");
    session.has_used(2);
    // Ends the pause, and moves.
    let _ = session.resume("");
    session.has_used(0);
    let _ = session.step("next");
    assert_eq!(session.turns(), [(2, 0), (0, 0)]);
}

#[test]
fn another_run_does_not_take_over_what_was_used_before() {
    let mut session = begun();
    session.has_used(5);
    session.now += 1000;
    let Reply::Ask { ticket, .. } = session.command("workflow", "w y").reply else { panic!() };
    let _ = session.on(Event::Answer { ticket, answer: Answer::Confirmed(true) });
    assert_eq!(session.turns(), [(0, 0)]);
}

#[test]
fn refused_calls_are_counted_until_the_next_state() {
    let mut session = Session::new(&[("w", &["a", "b"])]);
    let file = session.files.global.get_mut("w/a.md").unwrap();
    *file = file.replacen("emoji", "tools: {blacklist: [bash]}\nemoji", 1);
    let _ = session.command("workflow", "w x");
    for name in ["bash", "read", "bash"] {
        let _ = session.on(Event::ToolCall { name, carries_calls: false });
    }
    let _ = session.step("next");
    let visits = session.stored_run().unwrap().progress().visits.clone();
    let refusals = visits.values().map(|visit| visit.usage.refusals.get("tools").copied());
    assert_eq!(refusals.collect::<Vec<_>>(), [Some(2), None]);
}

#[test]
fn the_time_since_the_newest_entry_is_work_only_while_the_agent_works() {
    let mut session = Session::new(&[("w", &["a", "b", "c"])]);
    let file = session.files.global.get_mut("w/b.md").unwrap();
    *file = file.replacen("emoji", "gate: [{file: b.txt}]\nemoji", 1);
    session.files.tree.insert("b.txt".into(), "text".into());
    session.ask_after("w/b.md");
    let _ = session.command("workflow", "w x");
    let times = |session: &Session| -> Vec<(u64, u64)> {
        let visits = session.stored_run().unwrap().progress().visits.values();
        visits.map(|visit| (visit.usage.work_ms, visit.usage.wait_ms)).collect()
    };
    session.files.newest_entry.set(Some(NOW));
    session.now = NOW + 2000;
    let _ = session.command("workflow", ":next");
    assert_eq!(times(&session), [(0, 2000), (0, 0)]);
    let _ = session.on(Event::AgentStart);
    session.files.newest_entry.set(Some(session.now));
    session.now += 30;
    let Reply::Ask { ticket, .. } = session.on(Event::Step { input: NEXT, nested: false }).reply else { panic!() };
    session.files.newest_entry.set(Some(session.now));
    session.now += 500_000;
    let _ = session.on(Event::Answer { ticket, answer: Answer::Selected(1) });
    assert_eq!(times(&session), [(0, 2000), (30, 0), (0, 500_000), (0, 0)]);
    let visits = &session.stored_run().unwrap().progress().visits;
    assert_eq!(visits.values().map(|visit| &*visit.name).collect::<Vec<_>>(), ["a", "b", "good", "c"]);
    assert_eq!(visits.values().map(|visit| visit.usage.gate_attempts).collect::<Vec<_>>(), [0, 1, 0, 0]);
}

/// The time at work and the time of waiting in the first phase of the newest stored state.
fn times(session: &Session) -> (u64, u64) {
    let visit = session.stored_run().unwrap().progress().visits.values().next().unwrap();
    (visit.usage.work_ms, visit.usage.wait_ms)
}

#[test]
fn the_time_before_the_agent_started_is_no_work() {
    let mut session = Session::new(&[("w", &["a", "b"])]);
    let _ = session.command("workflow", "w x");
    session.files.newest_entry.set(Some(NOW));
    session.now = NOW + 500_000;
    // The user's message is not in the session yet.
    let _ = session.on(Event::AgentStart);
    session.now += 30;
    let _ = session.command("workflow", ":pause");
    assert_eq!(times(&session), (30, 500_000));
}

#[test]
fn a_dialog_that_is_open_is_waiting() {
    let mut session = Session::new(&[("w", &["a", "b"])]);
    session.files.global.get_mut("w/workflow.yaml").unwrap().push_str("budget: {time: 1m}\n");
    session.ask_after("w/a.md");
    let _ = session.command("workflow", "w x");
    session.files.newest_entry.set(Some(NOW));
    let _ = session.on(Event::AgentStart);
    session.now = NOW + 30;
    let Reply::Ask { ticket, .. } = session.on(Event::Step { input: NEXT, nested: true }).reply else { panic!() };
    session.files.newest_entry.set(Some(session.now));
    session.now += 500_000;
    let call = session.on(Event::ToolCall { name: "bash", carries_calls: false }).reply;
    assert!(matches!(call, Reply::Stop(_)), "{call:?}");
    // A state while the dialog is open, and another state after it.
    let _ = session.command("workflow", ":panel");
    let _ = session.command("workflow", ":pause");
    let all = |session: &Session| {
        let usage = session.stored_run().unwrap().usage();
        (usage.work_ms, usage.wait_ms)
    };
    assert_eq!(all(&session), (30, 500_000));
    session.files.newest_entry.set(Some(session.now));
    session.now += 1000;
    let _ = session.on(Event::Answer { ticket, answer: Answer::Cancelled });
    session.now += 20;
    let _ = session.resume("");
    assert_eq!(all(&session), (50, 501_000));
}

#[test]
fn what_was_refused_on_another_branch_is_not_counted() {
    let mut session = begun();
    session.engine.meter.refused(crate::usage::Rule::Tools);
    let stored = session.stored_run().cloned();
    let facts = Facts { at_work: true, ..Facts::default() };
    let _ = session.on(Event::Session { stored, in_view: None, facts });
    let _ = session.step("next");
    assert_eq!(session.stored_run().unwrap().usage().refusals.len(), 0);
}

#[test]
fn the_panel_is_as_at_the_place_in_the_tree_of_the_session() {
    let mut session = begun();
    let _ = session.command("workflow", ":panel");
    for panel in [false, true] {
        let stored = session.stored_run().cloned();
        let facts = Facts { panel, same_session: true, ..Facts::default() };
        let effects = session.on(Event::Session { stored, in_view: None, facts }).effects;
        let set = effects.iter().rev().find_map(|effect| match effect {
            Effect::SetPanel(lines) => Some(lines.is_some()),
            _ => None,
        });
        assert_eq!(set, Some(panel));
    }
}

/// The clock goes back with each step.
#[test]
fn the_order_of_visits_is_that_of_the_steps_and_no_time_is_negative() {
    let mut session = Session::new(&[("w", &["a", "b", "c", "d"])]);
    let _ = session.command("workflow", "w x");
    let _ = session.on(Event::AgentStart);
    for (back, command) in [(1, ":next"), (2, ":skip"), (3, ":back"), (4, ":skip"), (5, ":skip")] {
        session.files.newest_entry.set(Some(session.now));
        session.now = NOW - back * 100_000;
        let _ = session.command("workflow", command);
    }
    let state = session.stored_run().unwrap().clone();
    let order: Vec<&str> = state.visits_by(|visit| Some(visit.step)).iter().map(|(key, _)| *key).collect();
    assert_eq!(order, ["w:0", "w:1", "w:2", "w:3"]);
    assert!(state.progress().visits.values().all(|visit| visit.usage.work_ms == 0));
    session.now = NOW - 600_000;
    let _ = session.command("workflow", ":next");
    let state = session.stored_run().unwrap();
    let report = crate::text::Report::of(state, crate::text::Circumstances::default()).markdown(|_| Ok(0)).unwrap();
    assert!(report.contains(" to 2025-05-14 14:56:07 UTC+00:00 (0s)"), "{report}");
}

#[test]
fn sums_stay_finite() {
    let mut sum = Usage { cost: f64::MAX, input: u64::MAX, turns: u32::MAX, ..Usage::default() };
    sum.add(&sum.clone());
    assert_eq!(sum, Usage { cost: f64::MAX, input: u64::MAX, turns: u32::MAX, ..sum.clone() });
    assert_eq!(sum.amount(crate::definition::Measure::Cost), u64::MAX);
}
