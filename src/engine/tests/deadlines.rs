//! The timers of the agent's work, and time without work.

use super::*;
use crate::definition::Measure;
use crate::run::PauseReason;

const BUDGET: u64 = 3;
const SILENCE: u64 = 4;
const HOUR: u64 = 3_600_000;

/// An agent at work in phase `a` of `w` (a, b), with lines in `workflow.yaml` and in the front matter of `a`.
fn working(of_workflow: &str, of_phase: &str, facts: Facts, ui: Ui) -> Session {
    started(Session::new(&[("w", &["a", "b"])]), of_workflow, of_phase, facts, ui)
}

/// An agent at work in phase `a` as in [`with_budget`], with a question after the phase.
fn asking(of_workflow: &str, of_phase: &str) -> Session {
    let mut session = Session::new(&[("w", &["a", "b"])]);
    session.ask_after("w/a.md");
    started(session, of_workflow, of_phase, Facts::default(), Ui::Program)
}

fn started(mut session: Session, of_workflow: &str, of_phase: &str, facts: Facts, ui: Ui) -> Session {
    session.files.global.get_mut("w/workflow.yaml").unwrap().push_str(of_workflow);
    let phase = session.files.global.get_mut("w/a.md").unwrap();
    *phase = phase.replacen("emoji", &format!("{of_phase}emoji"), 1);
    session.ui = ui;
    let _ = session.on(Event::Session { stored: None, in_view: None, facts });
    let _ = session.command("workflow", "w x");
    session.files.newest_entry.set(Some(session.now));
    let _ = session.on(Event::AgentStart);
    session
}

fn with_budget(of_workflow: &str, of_phase: &str) -> Session {
    working(of_workflow, of_phase, Facts::default(), Ui::Program)
}

impl Session {
    fn set(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.deadlines)
    }

    /// This time later, the timer runs out.
    fn later(&mut self, ms: u64, id: u64) -> Output {
        self.now += ms;
        self.on(Event::Timer { id, idle: false })
    }

    /// The aborted agent comes to rest; returns what it is prompted.
    fn aborted(&mut self) -> Vec<String> {
        let _ = self.on(Event::AgentEnd { stop: Stop::Aborted });
        let settled = self.on(Event::AgentSettled);
        let prompt = |effect| if let Effect::SendUserMessage(text) = effect { Some(text) } else { None };
        settled.effects.into_iter().filter_map(prompt).collect()
    }

    fn kind_of_pause(&self) -> String {
        self.engine.run.pause_reason().map(PauseReason::kind).unwrap_or_default()
    }

    /// The time at work and the time of waiting of the newest stored state.
    fn stored_times(&self) -> (u64, u64) {
        let usage = self.stored_run().unwrap().usage();
        (usage.work_ms, usage.wait_ms)
    }
}

fn budget_in(ms: u32) -> Effect {
    Effect::StartTimer { id: BUDGET, delay_ms: ms }
}

fn silence_in(ms: u32) -> Effect {
    Effect::StartTimerAtSilence { id: SILENCE, delay_ms: ms }
}

#[test]
fn a_budget_of_time_ends_an_agent_that_hangs() {
    let mut session = with_budget("budget: {time: 60s}\n", "");
    assert_eq!(session.set(), [Effect::WatchClock(true), budget_in(60_000)]);
    session.now += 40_000;
    let _ = session.on(Event::TurnStart);
    assert_eq!(session.set(), [], "it runs");
    let early = session.later(19_000, BUDGET);
    assert_eq!(early.effects, []);
    assert_eq!(session.set(), [budget_in(1000)], "the rest");
    let ended = session.later(1000, BUDGET);
    assert_eq!(ended.effects.iter().filter(|effect| **effect == Effect::Abort).count(), 1, "{ended:?}");
    let Some(PauseReason::Budget { measure: Measure::Time, spent: 60_000, limit: 60_000, .. }) =
        session.engine.run.pause_reason()
    else {
        panic!("{:?}", session.engine.run.pause_reason());
    };
    assert_eq!(session.aborted(), [""; 0]);
    assert_eq!(session.kind_of_pause(), "budget", "no other pause follows");
    assert_eq!(session.set(), [Effect::WatchClock(false)]);
}

#[test]
fn the_innermost_budget_ends_first_and_leads_where_the_phase_says() {
    let mut session = with_budget("budget: {time: 1h}\n", "budget: {time: 60s}\nonBudget: b\n");
    assert_eq!(session.set().last(), Some(&budget_in(60_000)));
    let ended = session.later(60_000, BUDGET);
    assert!(ended.effects.contains(&Effect::Abort), "{ended:?}");
    assert_eq!(session.engine.run.phase_name(), "b");
    let [prompt] = &session.aborted()[..] else { panic!() };
    assert!(prompt.contains("a → * b"), "{prompt}");
    let _ = session.on(Event::AgentStart);
    assert_eq!(session.set().last(), Some(&budget_in(3_540_000)), "what is left of the outer one");
}

#[test]
fn a_dialog_takes_no_time_and_a_check_that_hangs_ends() {
    let mut session = asking("budget: {time: 60s}\n", "gate: [{run: 'true'}]\n");
    let _ = session.set();
    session.now += 10_000;
    let next =
        |session: &mut Session| match session.on(Event::Step { input: r#"{"action":"next"}"#, nested: false }).reply {
            Reply::Ask { ticket, .. } => ticket,
            other => panic!("{other:?}"),
        };
    let check = next(&mut session);
    let asked = session.on(Event::Answer { ticket: check, answer: entries::ended(CommandEnd::Exited(0)) });
    assert_eq!(session.set(), [Effect::StopTimer { id: BUDGET }], "{asked:?}");
    let Reply::Ask { ticket, .. } = asked.reply else { panic!() };
    session.files.newest_entry.set(Some(session.now));
    session.now += HOUR;
    let _ = session.on(Event::Answer { ticket, answer: Answer::Cancelled });
    assert_eq!((session.kind_of_pause(), session.stored_times()), ("question".to_owned(), (10_000, HOUR)));
    let mut session = with_budget("budget: {time: 50s}\n", "gate: [{run: 'true'}]\n");
    let check = next(&mut session);
    let ended = session.later(50_000, BUDGET);
    assert!(ended.effects.contains(&Effect::Abort), "{ended:?}");
    let _ = session.on(Event::Answer { ticket: check, answer: entries::ended(CommandEnd::Cancelled) });
    assert_eq!((session.aborted(), &*session.kind_of_pause()), (Vec::new(), "budget"));
}

#[test]
fn sleep_is_waiting_and_stored() {
    let mut session = with_budget("budget: {time: 1h}\n", "");
    let _ = session.set();
    session.now += 8 * HOUR;
    let _ = session.on(Event::TimeSkipped { ms: 8 * HOUR - 9000 });
    assert_eq!(session.stored_times(), (9000, 8 * HOUR - 9000));
    assert_eq!(session.set(), [budget_in(3_591_000)]);
    // Another process knows it.
    let stored = restore(&session.entries);
    session.engine = Engine::default();
    session.files.newest_entry.set(Some(session.now));
    let facts = Facts { at_work: true, ..Facts::default() };
    let _ = session.on(Event::Session { stored, in_view: None, facts });
    assert_eq!(session.set(), [Effect::WatchClock(true), budget_in(3_591_000)]);
    // A clock that goes back takes no time away, and later work counts.
    session.now -= 2 * HOUR;
    let _ = session.on(Event::TimeSkipped { ms: 0 });
    session.files.newest_entry.set(Some(session.now));
    session.now += 1000;
    let _ = session.step("next");
    assert_eq!(session.stored_times(), (10_000, 8 * HOUR - 9000));
    let visit = session.stored_run().unwrap().progress().visits.get("w:0").unwrap();
    assert!(visit.ended_at >= Some(visit.started_at), "{visit:?}");
}

#[test]
fn sleep_counts_once_with_a_dialog_and_not_at_rest() {
    let mut session = asking("", "");
    let Reply::Ask { ticket, .. } = session.on(Event::Step { input: r#"{"action":"next"}"#, nested: false }).reply
    else {
        panic!()
    };
    session.now += HOUR;
    let _ = session.on(Event::TimeSkipped { ms: HOUR });
    session.files.newest_entry.set(Some(session.now));
    let _ = session.on(Event::Answer { ticket, answer: Answer::Selected(1) });
    assert_eq!(session.stored_times(), (0, HOUR));
    session.files.newest_entry.set(Some(session.now));
    let _ = session.on(Event::AgentEnd { stop: Stop::Aborted });
    let _ = session.on(Event::AgentSettled);
    session.now += HOUR;
    let _ = session.on(Event::TimeSkipped { ms: HOUR });
    assert_eq!(session.stored_times(), (0, 2 * HOUR));
}

#[test]
fn an_agent_that_nobody_watches_is_stopped_when_it_is_silent() {
    let silent = |silence: Option<&str>, ui| {
        let facts = Facts { silence: silence.map(Into::into), ..Facts::default() };
        working("", "", facts, ui).set().split_off(1)
    };
    assert_eq!(silent(None, Ui::None), [silence_in(1_800_000)]);
    for ui in [Ui::Program, Ui::Terminal] {
        assert_eq!(silent(None, ui), [], "somebody watches");
        assert_eq!(silent(Some("2h"), ui), [silence_in(7_200_000)]);
    }
    assert_eq!(silent(Some("off"), Ui::None), []);
    assert_eq!(silent(Some("soon"), Ui::None), [silence_in(1_800_000)], "the default");

    let mut session = working("", "", Facts::default(), Ui::None);
    session.files.running_tools = vec!["bash".to_owned()];
    let stopped = session.later(HOUR, SILENCE);
    assert_eq!(stopped.effects.first(), Some(&Effect::Abort), "{stopped:?}");
    assert_eq!(
        session.aborted(),
        [
            "[workflow] Nothing new came of `bash` for 30m, so you were stopped. A command that takes so long must print its progress; one that does not end by itself must run in the background. Go on with the phase."
        ]
    );
    session.files.running_tools.clear();
    let _ = session.on(Event::AgentStart);
    let paused = session.later(HOUR, SILENCE);
    assert!(paused.effects.contains(&Effect::Abort), "{paused:?}");
    assert_eq!((session.aborted(), &*session.kind_of_pause()), (Vec::new(), "silent"));
    // It can be resumed, and is told once more.
    let _ = session.on(Event::Input { from_user: true });
    let _ = session.on(Event::AgentStart);
    let _ = session.later(HOUR, SILENCE);
    assert_eq!(
        session.aborted(),
        ["[workflow] Nothing new came of your answer for 30m, so you were stopped. Go on with the phase."]
    );
    // Another phase has a message of its own.
    let _ = session.on(Event::AgentStart);
    let _ = session.step("next");
    let _ = session.later(HOUR, SILENCE);
    assert_eq!((session.aborted().len(), &*session.kind_of_pause()), (1, ""));
}

#[test]
fn a_request_that_waits_is_no_silence_and_the_last_answer_is_only_ended() {
    let mut session = working("", "gate: [{run: 'true'}]\n", Facts::default(), Ui::None);
    let _ = session.set();
    let asked = session.on(Event::Step { input: r#"{"action":"next"}"#, nested: false });
    assert!(matches!(asked.reply, Reply::Ask { .. }), "{asked:?}");
    assert_eq!(session.set(), [Effect::StopTimer { id: SILENCE }]);
    let mut session = working("budget: {turns: 1}\n", "", Facts::default(), Ui::None);
    *session.files.usage.borrow_mut() = crate::usage::Usage { turns: 1, ..Default::default() };
    let _ = session.on(Event::ToolCall { name: "bash", carries_calls: false });
    assert_eq!(session.later(HOUR, SILENCE).effects, [Effect::Abort]);
    assert_eq!((session.aborted(), &*session.kind_of_pause()), (Vec::new(), "budget"));
    // At rest neither timer does anything.
    for id in [BUDGET, SILENCE] {
        assert_eq!(session.later(HOUR, id).effects, []);
    }
}

#[test]
fn silence_while_the_run_is_paused_changes_no_reason() {
    let mut session = working("budget: {turns: 1}\n", "", Facts::default(), Ui::None);
    *session.files.usage.borrow_mut() = crate::usage::Usage { turns: 1, ..Default::default() };
    let _ = session.on(Event::ToolCall { name: "bash", carries_calls: false });
    let _ = session.aborted();
    // The user talks with the agent.
    let _ = session.on(Event::Input { from_user: true });
    for _ in 0..2 {
        let _ = session.on(Event::AgentStart);
        assert_eq!(session.later(HOUR, SILENCE).effects, [Effect::Abort]);
        assert_eq!((session.aborted(), &*session.kind_of_pause()), (Vec::new(), "budget"));
    }
}
