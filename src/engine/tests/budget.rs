//! Budgets.

use super::*;
use crate::definition::{KnownModel, Model, ModelSetting};
use crate::run::PauseReason;
use crate::usage::Usage;

/// A run of the phases `a` and `b`, with lines in `workflow.yaml` and in the front matter of `a`.
fn with_budgets(of_workflow: &str, of_phase: &str) -> Session {
    let mut session = Session::new(&[("w", &["a", "b"])]);
    session.files.global.get_mut("w/workflow.yaml").unwrap().push_str(of_workflow);
    let phase = session.files.global.get_mut("w/a.md").unwrap();
    *phase = phase.replacen("emoji", &format!("{of_phase}emoji"), 1);
    let _ = session.command("workflow", "w x");
    let _ = session.on(Event::AgentStart);
    session
}

impl Session {
    /// Sets the usage of the entries behind the newest state entry.
    fn has_taken(&self, usage: Usage) {
        *self.files.usage.borrow_mut() = usage;
    }

    fn call(&mut self) -> Output {
        self.on(Event::ToolCall { name: "bash", carries_calls: false })
    }

    /// The reason for which a call of a tool is refused and the agent's run ends.
    #[track_caller]
    fn stopped(&mut self) -> String {
        match self.call().reply {
            Reply::Stop(reason) => reason,
            other => panic!("{other:?}"),
        }
    }

    fn pause(&self) -> Option<&PauseReason> {
        self.engine.run.pause_reason()
    }
}

fn turns(turns: u32) -> Usage {
    Usage { turns, ..Usage::default() }
}

fn notices(output: &Output) -> String {
    let notices = output.effects.iter().filter_map(|effect| match effect {
        Effect::Notify { text, .. } => Some(&**text),
        _ => None,
    });
    notices.collect::<Vec<_>>().join("\n")
}

fn steered(output: &Output) -> Vec<&str> {
    let steered = output.effects.iter().filter_map(|effect| match effect {
        Effect::Steer(text) => Some(&**text),
        _ => None,
    });
    steered.collect()
}

#[test]
fn the_end_of_a_budget_ends_the_calls_that_run() {
    for running in [vec!["bash".to_owned()], Vec::new()] {
        let mut session = with_budgets("budget: {turns: 1}\n", "");
        session.has_taken(turns(1));
        session.files.running_tools.clone_from(&running);
        let stopped = session.call();
        assert!(matches!(stopped.reply, Reply::Stop(_)), "{stopped:?}");
        assert_eq!(stopped.effects.contains(&Effect::Abort), !running.is_empty(), "{stopped:?}");
        assert!(session.pause().is_some_and(PauseReason::is_of_budget));
    }
}

#[test]
fn the_agent_is_told_once_and_then_stopped() {
    let mut session = with_budgets("budget: {turns: 10}\n", "");
    session.has_taken(turns(7));
    assert_eq!(session.call(), Output::default());
    session.has_taken(turns(8));
    let told = session.call();
    assert_eq!(told.reply, Reply::None);
    assert!(steered(&told)[0].contains("nearly used up. “The w”: 8 of 10 turns, 2 left."), "{told:?}");
    session.has_taken(turns(1));
    assert_eq!(session.call(), Output::default());
    session.has_taken(turns(2));
    let stopped = session.call();
    let Reply::Stop(reason) = &stopped.reply else { panic!("{stopped:?}") };
    assert!(reason.contains("the budget of “The w” is used up: 10 of 10 turns."), "{reason}");
    assert!(notices(&stopped).contains("To allow more: /workflow :resume +10"), "{stopped:?}");
    session.has_taken(Usage::default());
    // The step tool too, and nothing is told again.
    let again = session.on(Event::ToolCall { name: "workflow_step", carries_calls: false });
    assert!(matches!(again.reply, Reply::Stop(_)) && again.effects.is_empty(), "{again:?}");
    let input = r#"{"action":"next"}"#;
    let refused = session.on(Event::Step { input, nested: true });
    assert!(matches!(&refused.reply, Reply::Tool(result) if result.text.contains("paused")));
    let _ = session.on(Event::Input { from_user: true });
    assert!(session.pause().is_some(), "a message does not end it");
}

#[test]
fn the_user_gives_more_by_a_dialog_or_an_argument() {
    let mut session = with_budgets("budget: {turns: 10, cost: 1}\n", "");
    session.has_taken(Usage { turns: 12, cost: 1.5, ..Usage::default() });
    let _ = session.call();
    session.has_taken(Usage::default());
    let _ = session.on(Event::AgentSettled);
    let Reply::Ask { ticket, request } = session.resume("").reply else { panic!() };
    let title =
        "Paused: the budget of “The w” is used up: $1.50 of $1.00.\nHow much more? (US dollars, for example 1.00)";
    assert_eq!(request, Request::Input { title: title.into() });
    let nothing = session.on(Event::Answer { ticket, answer: Answer::Cancelled });
    assert_eq!(notices(&nothing), "Nothing was added to the budget.");
    let bad = notices(&session.resume("+1h"));
    assert_eq!(bad, "“+1h” is not an amount of US dollars. Type for example /workflow :resume +1.00");
    let Reply::Ask { ticket, request } = session.resume("+2").reply else { panic!() };
    assert!(matches!(request, Request::Input { title } if title.contains("12 of 10 turns")));
    let resumed = session.on(Event::Answer { ticket, answer: Answer::Entered(" 3 ".into()) });
    assert_eq!(session.pause(), None);
    assert!(resumed.effects.iter().any(|effect| matches!(effect, Effect::SendUserMessage(_))));
    session.has_taken(turns(1));
    let _ = session.on(Event::AgentStart);
    // Told anew: 13 of 15 turns are more than 80 %.
    assert_eq!(steered(&session.call()).len(), 1);
    session.has_taken(turns(2));
    session.stopped();
    let _ = session.resume("+3");
    assert_eq!(session.pause(), None);
    session.has_taken(Usage::default());
    let notice = notices(&session.resume("+3"));
    assert_eq!(notice, "No budget of the run is used up.");
}

#[test]
fn without_a_dialog_the_command_says_what_is_missing() {
    let mut session = with_budgets("budget: {time: 1m}\n", "");
    session.ui = Ui::None;
    session.has_taken(Usage { work_ms: 61_000, turns: 1, ..Usage::default() });
    let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
    let _ = session.on(Event::BeforeSettle);
    assert!(matches!(session.pause(), Some(PauseReason::Budget { .. })), "at the agent's end");
    session.has_taken(Usage::default());
    let failed = notices(&session.resume(""));
    assert_eq!(
        failed,
        "Paused: the budget of “The w” is used up: 1m 1s of 1m at work. To allow more, with /workflow :resume: --workflow-budget-more=20m"
    );
    let _ = session.resume("+20m");
    assert_eq!(session.pause(), None);
}

#[test]
fn a_phase_counts_each_visit_anew_and_a_run_all_of_them() {
    let mut session = with_budgets("budget: {turns: 5}\n", "budget: {turns: 3}\n");
    session.has_taken(turns(2));
    let _ = session.step("loop");
    session.has_taken(turns(2));
    assert_eq!(session.call().reply, Reply::None, "2 of 3 in this visit, 4 of 5");
    session.has_taken(turns(1));
    let reason = session.stopped();
    assert!(reason.contains("“a” is used up: 3 of 3 turns"), "{reason}");
}

#[test]
fn a_nested_budget_bounds_what_is_spent_in_it() {
    let mut session = Session::new(&[("o", &["p", "@i", "e"]), ("i", &["x", "y"])]);
    session.files.global.get_mut("i/workflow.yaml").unwrap().push_str("budget: {turns: 4}\n");
    session.files.global.get_mut("o/workflow.yaml").unwrap().push_str("budget: {turns: 20}\n");
    let _ = session.command("workflow", "o x");
    let _ = session.on(Event::AgentStart);
    session.has_taken(turns(9));
    let _ = session.step("next");
    session.has_taken(turns(2));
    let _ = session.step("next");
    session.has_taken(turns(1));
    assert_eq!(session.call().reply, Reply::None, "2 in x, 1 in y");
    session.has_taken(turns(3));
    let reason = session.stopped();
    assert!(reason.contains("“The i” is used up: 5 of 4 turns"), "{reason}");
    session.has_taken(Usage::default());
    // The user goes on to a phase outside of it, and the pause is over.
    let _ = session.command("workflow", ":next");
    assert_eq!(session.pause(), None);
    let notice = notices(&session.resume("+5"));
    assert_eq!(notice, "No budget of the run is used up.");
    let _ = session.command("workflow", ":pause");
    let notice = notices(&session.resume("+5"));
    assert_eq!(notice, "No budget of the run is used up. To go on: /workflow :resume");
    let _ = session.resume("");
    session.has_taken(turns(6));
    let reason = session.stopped();
    assert!(reason.contains("“The o” is used up: 20 of 20 turns"), "{reason}");
}

#[test]
fn an_unknown_cost_pauses_until_the_user_accepts_it() {
    let mut session = with_budgets("budget: {cost: 1}\n", "");
    session.has_taken(Usage { turns: 1, unpriced: 1, output: 5, ..Usage::default() });
    let stopped = session.call();
    assert!(matches!(stopped.reply, Reply::Stop(_)));
    let expected = "/workflow :resume goes on, and the cost of such answers is not counted.";
    assert!(notices(&stopped).contains(expected), "{stopped:?}");
    session.has_taken(Usage::default());
    let resumed = notices(&session.resume(""));
    assert_eq!(resumed, "Answers whose cost is not known are not counted in the budget.");
    session.has_taken(Usage { turns: 1, unpriced: 1, cost: 0.5, ..Usage::default() });
    assert_eq!(session.call().reply, Reply::None);
    session.has_taken(Usage { turns: 2, unpriced: 1, cost: 1.0, ..Usage::default() });
    assert!(session.stopped().contains("$1.00 of $1.00"), "known costs still count");
}

/// The ticket and the title of the dialog that asks for more.
#[track_caller]
fn asked(output: Output) -> (u64, String) {
    match output.reply {
        Reply::Ask { ticket, request: Request::Input { title } } => (ticket, title.into()),
        other => panic!("{other:?}"),
    }
}

fn entered(text: &str) -> Answer {
    Answer::Entered(text.into())
}

/// pi asks again after an answer that failed.
#[test]
fn behind_a_failed_answer_that_uses_a_budget_up_one_answer_follows() {
    let mut session = with_budgets("budget: {turns: 3}\n", "");
    session.has_taken(turns(3));
    let output = session.on(Event::AgentEnd { stop: Stop::Failed });
    assert!(notices(&output).contains("3 of 3 turns"), "{output:?}");
    assert!(!session.on(Event::TurnStart).effects.contains(&Effect::Abort));
    let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
    assert!(session.on(Event::TurnStart).effects.contains(&Effect::Abort));
}

#[test]
fn an_amount_is_one_of_the_measure_that_was_asked_for() {
    let mut session = with_budgets("budget: {cost: 1, turns: 10}\n", "");
    session.has_taken(Usage { turns: 10, cost: 0.9, ..Usage::default() });
    session.stopped();
    session.has_taken(Usage::default());
    let (ticket, title) = asked(session.resume(""));
    assert!(title.contains("10 of 10 turns"), "{title}");
    // A message of the user is answered while the dialog is open.
    session.has_taken(Usage { turns: 1, cost: 0.2, ..Usage::default() });
    let (ticket, title) = asked(session.on(Event::Answer { ticket, answer: entered("10") }));
    assert!(title.contains("$1.10 of $1.00"), "{title}");
    session.has_taken(Usage::default());
    let (ticket, title) = asked(session.on(Event::Answer { ticket, answer: entered("2") }));
    assert!(title.contains("11 of 10 turns"), "{title}");
    let _ = session.on(Event::Answer { ticket, answer: entered("3") });
    let allowances = &session.stored_run().unwrap().progress().allowances["/w"];
    let added = serde_json::to_value(&allowances.added).unwrap();
    assert_eq!(added, json!({ "cost": 2_100_000, "turns": 4 }));
    assert_eq!(session.pause(), None);
}

#[test]
fn an_amount_accepts_no_rules() {
    let mut session = with_budgets("budget: {turns: 10}\n", "");
    session.has_taken(turns(10));
    session.stopped();
    session.has_taken(Usage::default());
    let (ticket, _) = asked(session.resume(""));
    let file = session.files.global.get_mut("w/workflow.yaml").unwrap();
    *file = file.replace("turns: 10", "turns: 1000");
    let _ = session.command("workflow", ":check");
    assert_eq!(session.engine.run.held(), Some(&PauseReason::RulesChanged));
    let output = session.on(Event::Answer { ticket, answer: entered("3") });
    assert!(notices(&output).contains("its rules are no longer those"), "{output:?}");
    assert_eq!(session.engine.run.held(), Some(&PauseReason::RulesChanged));
}

#[test]
fn a_budget_that_the_accepted_rules_have_used_up_is_asked_for_and_the_run_goes_on() {
    for (ui, by_dialog) in [(Ui::Program, true), (Ui::Program, false), (Ui::None, false)] {
        let mut session = with_budgets("budget: {turns: 10}\n", "");
        session.ui = ui;
        session.has_taken(turns(5));
        let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
        let _ = session.on(Event::AgentSettled);
        let file = session.files.global.get_mut("w/workflow.yaml").unwrap();
        *file = file.replace("turns: 10", "turns: 3");
        let _ = session.command("workflow", ":check");
        assert_eq!(session.engine.run.held(), Some(&PauseReason::RulesChanged));
        let output = session.resume("");
        session.has_taken(Usage::default());
        assert!(matches!(session.pause(), Some(PauseReason::Budget { .. })), "{ui:?}");
        let resumed = if by_dialog {
            let (ticket, _) = asked(output);
            session.on(Event::Answer { ticket, answer: entered("10") })
        } else {
            session.resume("+10")
        };
        assert_eq!(session.pause(), None);
        let prompts = |effect: &Effect| matches!(effect, Effect::SendUserMessage(_));
        assert!(resumed.effects.iter().any(prompts), "{ui:?}: {resumed:?}");
    }
}

#[test]
fn amounts_of_the_user() {
    let cases = [
        (
            "turns: 1",
            &[
                "+", "-1", "+0", "+-1", "+1e9", "+1.5", "+1,00", "+20m", "+$1", "inf", "NaN", "➕1", "+1 0", "+1kk",
                "+2k", "1M",
            ][..],
            &["1", "+1", " + 1 ", "++1"][..],
        ),
        (
            "cost: 1",
            &["+1,00", "+1e9", "$", "+$", "-$1", "+0.0000001", "1 €", "inf"],
            &["+$1", "1$", "+1.00 ", "$ 1", "+.5", "0.000001"],
        ),
        (
            "time: 1",
            &["20", "+1", "+0m", "+2y", "-20m", "20 parsecs", "99999999999999999999h"],
            &["+20m", "+20 m", "1h 30m", "+90s"],
        ),
    ];
    for (budget, bad, good) in cases {
        for (text, is_good) in bad.iter().map(|text| (text, false)).chain(good.iter().map(|text| (text, true))) {
            let mut session = with_budgets(&format!("budget: {{{budget}}}\n"), "");
            session.has_taken(Usage { turns: 1, output: 1, cost: 1.0, work_ms: 1000, ..Usage::default() });
            session.stopped();
            session.has_taken(Usage::default());
            let output = session.resume(text);
            assert_eq!(session.pause().is_none(), is_good, "{budget}, {text}: {output:?}");
            assert_eq!(
                notices(&output).contains("Type for example /workflow :resume +"),
                !is_good,
                "{text}: {output:?}"
            );
        }
    }
}

#[test]
fn a_pause_by_the_user_does_not_replace_that_of_the_budget() {
    let mut session = with_budgets("budget: {turns: 1}\n", "");
    session.has_taken(turns(1));
    session.stopped();
    session.has_taken(Usage::default());
    let told = session.command("workflow", ":pause");
    assert!(notices(&told).contains("To allow more: /workflow :resume +10"), "{told:?}");
    let _ = session.on(Event::Input { from_user: true });
    assert!(matches!(session.pause(), Some(PauseReason::Budget { .. })));
}

#[test]
fn a_gate_that_waits_for_the_user_still_does_at_the_end_of_a_budget() {
    let gate = "gate: [{file: none.md}]\ngateAttempts: 1\n";
    let mut session = with_budgets("budget: {turns: 3}\n", gate);
    let _ = session.on(Event::Step { input: r#"{"action":"next"}"#, nested: false });
    assert!(matches!(session.pause(), Some(PauseReason::Gate { .. })), "{:?}", session.pause());
    session.has_taken(turns(3));
    assert!(session.stopped().contains("3 of 3 turns"));
    session.has_taken(turns(3));
    assert!(matches!(session.pause(), Some(PauseReason::Gate { .. })));
    let (ticket, _) = asked(session.resume(""));
    let _ = session.on(Event::Answer { ticket, answer: entered("5") });
    assert_eq!(session.pause(), None);
    let attempts = &session.stored_run().unwrap().progress().gate_attempts;
    assert!(*attempts == 0, "{attempts:?}");
}

#[test]
fn a_run_that_the_user_stopped_waits_for_its_budget_once_the_user_goes_on() {
    let mut session = with_budgets("budget: {turns: 3}\n", "");
    let _ = session.command("workflow", ":pause");
    session.has_taken(turns(3));
    assert!(matches!(session.pause(), Some(PauseReason::User)));
    let (ticket, _) = asked(session.resume(""));
    assert!(matches!(session.pause(), Some(PauseReason::Budget { .. })));
    let _ = session.on(Event::Answer { ticket, answer: entered("5") });
    assert_eq!(session.pause(), None);
}

#[test]
fn an_unknown_cost_is_accepted_only_where_the_user_was_told_of_it() {
    let mut session = with_budgets("budget: {cost: 1}\n", "");
    let _ = session.command("workflow", ":pause");
    session.has_taken(Usage { turns: 1, unpriced: 1, output: 5, ..Usage::default() });
    assert_eq!(notices(&session.resume("")), "");
    assert_eq!(session.pause(), None);
    assert!(matches!(session.call().reply, Reply::Stop(_)));
    assert!(matches!(session.pause(), Some(PauseReason::UnknownCost { .. })));
}

#[test]
fn odd_values_of_a_stored_run_are_no_errors() {
    let odd = [
        json!(null),
        json!(-1),
        json!(0.5),
        json!(u64::MAX),
        json!(1e308),
        json!("1"),
        json!([1]),
        json!({ "turns": u64::MAX, "cost": -1e308 }),
        json!({ "turns": u32::MAX, "output": u64::MAX, "cost": 1.7e308, "workMs": u64::MAX, "models": { "a/b": u32::MAX } }),
        json!({ "turns": u64::MAX, "cost": u64::MAX, "time": u64::MAX }),
        json!({ "added": { "turns": u64::MAX, "cost": u64::MAX, "time": -1, "x": 1 }, "told": 1, "unknownCost": true }),
        json!({ "kind": "budget", "of": "x\ny", "measure": "cost", "spent": u64::MAX, "limit": u64::MAX }),
        json!({ "reason": { "kind": "budget", "of": "", "measure": "time", "spent": u64::MAX, "limit": 0 }, "at": 1.5 }),
        json!({ "reason": { "kind": "budget", "of": "w", "measure": "months", "spent": 1, "limit": 0 }, "at": u64::MAX }),
    ];
    let all = "budget: {turns: 1, cost: 1, time: 1}\n";
    let begun = with_budgets(all, "budget: {turns: 1, cost: 0.000001}\n");
    let state = serde_json::to_value(begun.stored_run().unwrap()).unwrap();
    let places =
        ["/paused", "/allowances/~1w", "/allowances/w:0", "/forgotten", "/visits/w:0/usage", "/visits/w:0/earlier"];
    for (place, value) in places.iter().flat_map(|place| odd.iter().map(move |odd| (place, odd))) {
        let mut state = state.clone();
        state["progress"]["paused"] = json!(null);
        state["progress"]["forgotten"] = json!({ "cost": 1e308, "workMs": u64::MAX });
        state["progress"]["allowances"] = json!({ "/w": {}, "w:0": {} });
        state["progress"]["visits"]["w:0"]["usage"] = json!({ "cost": 1.7e308, "turns": u32::MAX, "output": u64::MAX });
        state["progress"]["visits"]["w:0"]["earlier"] = json!({});
        *state["progress"].pointer_mut(place).unwrap() = value.clone();
        let mut session = with_budgets(all, "budget: {turns: 1, cost: 0.000001}\n");
        session.has_taken(Usage { cost: f64::MAX, work_ms: u64::MAX, turns: u32::MAX, ..Usage::default() });
        session.files.newest_entry.set(Some(0));
        let stored = crate::run::restore([state.to_string()]);
        assert!(stored.is_some(), "{place}: {value}");
        let _ = session.on(Event::Session { stored, in_view: None, facts: Facts::default() });
        for command in [
            ":status",
            ":report",
            ":resume",
            ":resume +1",
            ":resume +1h",
            ":resume 1000000",
            ":panel",
            ":next",
            ":back",
        ] {
            let _ = session.command("workflow", command);
            let _ = session.call();
        }
        let newest = serde_json::to_string(session.stored_run().unwrap()).unwrap();
        let again = crate::run::restore([&*newest]).unwrap();
        assert_eq!(again.usage().cost.to_bits(), session.stored_run().unwrap().usage().cost.to_bits());
    }
}

#[test]
fn an_unknown_usage_is_told_before_more_is_added_to_another_budget() {
    let mut session = with_budgets("budget: {cost: 1, turns: 1}\n", "");
    session.has_taken(turns(1));
    session.stopped();
    // An answer to a message of the user comes without usage.
    session.has_taken(unreported(1));
    let told = session.resume("+10");
    session.has_taken(Usage::default());
    assert!(notices(&told).contains("its provider told no usage"), "{told:?}");
    assert!(matches!(session.pause(), Some(PauseReason::UnknownCost { .. })));
    let _ = session.resume("+10");
    assert_eq!(session.pause(), None);
}

fn unreported(answers: u32) -> Usage {
    Usage { turns: answers, unreported: answers, unpriced: answers, ..Usage::default() }
}

#[test]
fn an_answer_without_usage_pauses_where_the_cost_is_bounded() {
    for (budget, pauses) in [("cost: 1", true), ("cost: 1, turns: 10", true), ("turns: 10", false), ("time: 1h", false)]
    {
        for (of_workflow, of_phase) in
            [(format!("budget: {{{budget}}}\n"), String::new()), (String::new(), format!("budget: {{{budget}}}\n"))]
        {
            let mut session = with_budgets(&of_workflow, &of_phase);
            session.has_taken(unreported(1));
            if !pauses {
                assert_eq!(session.call().reply, Reply::None, "{budget}");
                continue;
            }
            let stopped = session.call();
            assert!(matches!(stopped.reply, Reply::Stop(_)), "{budget}: {stopped:?}");
            let expected = "bounds the cost, and the cost of an answer is not known: its model has no price, or its provider told no usage.\n/workflow :resume goes on, and the cost of such answers is not counted.";
            assert!(notices(&stopped).contains(expected), "{stopped:?}");
            session.has_taken(Usage::default());
            let _ = session.on(Event::Input { from_user: true });
            assert!(session.pause().is_some(), "a message does not end it");
            let resumed = notices(&session.resume(""));
            assert_eq!(resumed, "Answers whose cost is not known are not counted in the budget.");
            assert_eq!(session.pause(), None, "{budget}");
            session.has_taken(unreported(1));
            assert_eq!(session.call().reply, Reply::None, "{budget}");
            // Answers with a usage count on.
            session.has_taken(Usage { turns: 1, cost: 1.0, output: 10, ..unreported(1) });
            let reason = session.stopped();
            assert!(reason.contains("$1.00 of $1.00"), "{reason}");
        }
    }
}

#[test]
fn turns_count_without_usage() {
    let mut session = with_budgets("budget: {turns: 3}\n", "");
    session.has_taken(unreported(3));
    assert!(session.stopped().contains("3 of 3 turns"));
}

#[test]
fn keeping_the_prompt_cache_counts_in_no_budget_and_is_told() {
    let mut session = with_budgets("budget: {cost: 1, turns: 2}\n", "budget: {cost: 1, turns: 2}\n");
    session.has_taken(Usage { warm_ups: 3, warm_tokens: 50_000, warm_cost: 7.5, ..Usage::default() });
    assert_eq!(session.call(), Output::default());
    let status = format!("{:?}", session.command("workflow", ":status").effects);
    let expected = "Prompt cache kept between answers: 3 requests of pi, 50.0k tokens, $7.50; they count in no budget.";
    assert!(status.contains(expected), "{status}");
    assert!(status.contains("$0.00 of $1.00"), "{status}");
    let report = format!("{:?}", session.command("workflow", ":report").effects);
    assert!(report.contains("**Prompt cache kept between answers:** 3 requests of pi"), "{report}");
}

#[test]
fn the_pause_tells_what_is_still_missing() {
    let mut session = with_budgets("budget: {cost: 1, turns: 1}\n", "");
    session.ui = Ui::None;
    session.has_taken(Usage { turns: 1, cost: 1.0, ..Usage::default() });
    session.stopped();
    session.has_taken(Usage::default());
    let left = notices(&session.resume("+1"));
    assert!(left.ends_with("1 of 1 turns. To allow more, with /workflow :resume: --workflow-budget-more=10"), "{left}");
    let reason = session.pause().map(ToString::to_string).unwrap_or_default();
    assert!(reason.ends_with("1 of 1 turns"), "{reason}");
}

/// The path, the evidence and the status of the stored run.
fn stored(session: &Session) -> (String, Vec<String>, bool) {
    let state = session.engine.run.state().unwrap();
    let evidence = state.progress().visits.get("w:0").map(|visit| &visit.evidence[..]);
    let evidence = evidence.unwrap_or_default().iter().map(|check| format!("{}: {}", check.name, check.result));
    (state.current_path.key(), evidence.collect(), state.is_stopped())
}

const USED_UP: &str = "budget: used up (1 of 1 turns), and the phase was left";

#[test]
fn a_phase_that_has_used_up_its_budget_leads_on_where_its_file_says() {
    let mut session = with_budgets("", "budget: {turns: 1}\nonBudget: next\ngate: [{file: never}]\n");
    session.has_taken(turns(1));
    let moved = session.call();
    assert!(matches!(&moved.reply, Reply::Block(text) if text.contains("* a → * b")), "{moved:?}");
    let told = steered(&moved);
    assert!(matches!(told[..], [told] if told.starts_with("The phase has used up its budget")), "{told:?}");
    assert_eq!(stored(&session), ("w:1".into(), vec![USED_UP.into()], false));
    assert!(session.engine.run.state().unwrap().progress().visits.get("w:0").unwrap().unfinished);
    // The rest of the answer belongs to the phase that was left.
    let rest = session.call();
    assert!(matches!(&rest.reply, Reply::Block(text) if text.contains("The phase of this call")), "{rest:?}");
    session.has_taken(Usage::default());
    let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
    let _ = session.on(Event::TurnStart);
    assert_eq!(session.call().reply, Reply::None);
    assert_eq!(session.pause(), None);
}

#[test]
fn an_agent_that_stops_at_the_end_of_its_budget_gets_the_next_phase() {
    for has_ui in [true, false] {
        let mut session = with_budgets("", "budget: {turns: 1}\nonBudget: next\n");
        session.has_taken(turns(1));
        let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
        let told = match has_ui {
            true => {
                let effects = session.with_ui(true, Event::AgentSettled).effects;
                effects.iter().find_map(|effect| match effect {
                    Effect::SendUserMessage(text) => Some(text.clone()),
                    _ => None,
                })
            }
            false => match session.with_ui(false, Event::BeforeSettle).reply {
                Reply::Continue(text) => Some(text),
                _ => None,
            },
        };
        let told = told.unwrap();
        assert!(told.starts_with("The phase has used up its budget, and the workflow goes on: "), "{told}");
        assert_eq!(stored(&session), ("w:1".into(), vec![USED_UP.into()], false));
    }
}

#[test]
fn only_the_own_budget_of_a_phase_leads_on() {
    for (of_workflow, of_phase) in [
        ("budget: {turns: 1}\n", "budget: {turns: 1}\nonBudget: next\n"),
        ("budget: {turns: 1}\n", "budget: {turns: 2}\nonBudget: next\n"),
        ("", "budget: {turns: 1}\nonBudget: pause\n"),
    ] {
        let mut session = with_budgets(of_workflow, of_phase);
        session.has_taken(turns(1));
        let _ = session.stopped();
        assert!(session.pause().is_some_and(PauseReason::is_of_budget), "{of_phase}");
        assert_eq!(stored(&session).0, "w:0");
    }
}

#[test]
fn the_end_of_a_budget_can_stop_the_run() {
    let mut session = with_budgets("", "budget: {turns: 1}\nonBudget: stop\n");
    session.has_taken(turns(1));
    let moved = session.call();
    assert!(
        matches!(&moved.reply, Reply::Stop(text) if text.contains("and the workflow ends: * a → stopped")),
        "{moved:?}"
    );
    assert_eq!(stored(&session), ("w:0".into(), vec![USED_UP.into()], true));
    let ended = session.on(Event::AgentEnd { stop: Stop::Completed });
    let end = ended.effects.iter().find_map(|effect| match effect {
        Effect::AppendEntry { custom_type: crate::protocol::COMPLETE_TYPE, data } => data["content"].as_str(),
        _ => None,
    });
    assert!(end.unwrap().starts_with("⛔ The w was stopped in * a: budget\n"), "{end:?}");
}

/// Begins a session with the stored run, by a process with this bound.
fn begin_with(session: &mut Session, bound: Option<&str>) -> Output {
    session.engine = Engine::default();
    let facts = Facts { budget: bound.map(Into::into), ..Facts::default() };
    let stored = session.stored_run().cloned();
    session.on(Event::Session { stored, in_view: None, facts })
}

#[test]
fn the_bound_of_the_command_line_holds_beside_those_of_the_workflow() {
    for (bound, of_workflow, taken, of) in [
        ("turns=3", "", 3, Some("the command line")),
        (" time=30m , turns=3", "budget: {turns: 10}\n", 3, Some("the command line")),
        ("turns=3", "budget: {turns: 2}\n", 2, Some("The w")),
        ("turns=3", "", 2, None),
        ("cost=2", "budget: {turns: 10}\n", 9, None),
    ] {
        let mut session = Session::new(&[("w", &["a", "b"])]);
        session.files.global.get_mut("w/workflow.yaml").unwrap().push_str(of_workflow);
        assert_eq!(notices(&begin_with(&mut session, Some(bound))), "");
        let _ = session.command("workflow", "w x");
        let _ = session.on(Event::AgentStart);
        session.has_taken(turns(taken));
        let call = session.call();
        let stopped = match &call.reply {
            Reply::Stop(reason) => Some(reason.clone()),
            Reply::None => None,
            other => panic!("{other:?}"),
        };
        let expected = of.map(|of| format!("the budget of “{of}” is used up"));
        match (stopped, expected) {
            (Some(stopped), Some(expected)) => assert!(stopped.contains(&expected), "{stopped}"),
            (stopped, expected) => assert_eq!(stopped, expected, "{bound}"),
        }
    }
}

#[test]
fn a_bound_of_the_command_line_is_that_of_one_process() {
    let mut session = Session::new(&[("w", &["a", "b"])]);
    let _ = begin_with(&mut session, Some("turns=3"));
    let _ = session.command("workflow", "w x");
    let _ = session.on(Event::AgentStart);
    session.has_taken(turns(3));
    let _ = session.stopped();
    session.has_taken(Usage::default());
    let _ = session.on(Event::AgentSettled);
    let _ = session.resume("+10");
    let _ = session.on(Event::AgentStart);
    assert_eq!(session.call().reply, Reply::None, "the user added to it");
    assert!(!session.entries[0].contains("bound"), "it is not stored");
    let _ = begin_with(&mut session, None);
    let _ = session.on(Event::AgentStart);
    assert_eq!(session.call().reply, Reply::None);
    let _ = begin_with(&mut session, Some("turns=3"));
    let _ = session.on(Event::AgentStart);
    assert!(session.stopped().contains("3 of 3 turns"), "what was added to an earlier one is over");
}

#[test]
fn a_bound_that_cannot_be_read_leaves_nothing_to_spend() {
    for wrong in
        ["", "turns", "turns=", "turns=0", "turns=-1", "turns=3,turns=4", "steps=3", "cost=x", "turns=3,", "time=1"]
    {
        let mut session = Session::new(&[("w", &["a", "b"])]);
        let _ = session.command("workflow", "w x");
        let told = notices(&begin_with(&mut session, Some(wrong)));
        assert!(told.starts_with("--workflow-budget: expected amounts of `cost`, "), "{wrong}: {told}");
        let _ = session.on(Event::AgentStart);
        assert!(session.stopped().contains("0 of 0 turns"), "{wrong}");
        let mut session = Session::new(&[("w", &["a", "b"])]);
        let _ = begin_with(&mut session, Some(wrong));
        let started = session.command("workflow", "w x");
        assert!(notices(&started).contains("Nothing may be spent."), "{wrong}: {started:?}");
        assert_eq!(session.stored_run(), None);
    }
}

/// A session whose model is `local/free`, without a price, beside `a/paid`, with the option `more`, and a workflow
/// whose phase `b` has a model of its own.
fn with_free_model(of_workflow: &str, model_of_b: &str, bound: Option<&str>, more: Option<&str>) -> Session {
    let mut session = Session::new(&[("w", &["a", "b"])]);
    session.files.global.get_mut("w/workflow.yaml").unwrap().push_str(of_workflow);
    if !model_of_b.is_empty() {
        let phase = session.files.global.get_mut("w/b.md").unwrap();
        *phase = phase.replacen("emoji", &format!("model: {model_of_b}\nemoji"), 1);
    }
    let known = ["local/free", "a/paid", "local/other"].map(|name| KnownModel {
        model: named(name),
        available: true,
        priced: name == "a/paid",
        context_window: 0,
    });
    session.files.models = Some(known.into());
    uses(&session, "local/free");
    let facts = Facts { budget: bound.map(Into::into), more: more.map(Into::into), ..Facts::default() };
    let _ = session.on(Event::Session { stored: None, in_view: None, facts });
    session
}

fn named(name: &str) -> Model {
    let (provider, id) = name.split_once('/').unwrap();
    Model { provider: provider.into(), id: id.into() }
}

fn uses(session: &Session, model: &str) {
    *session.files.setting.borrow_mut() = Some(ModelSetting { model: named(model), thinking: None });
}

/// An answer with a usage, without a price.
fn free() -> Usage {
    Usage { turns: 1, unpriced: 1, output: 5, ..Usage::default() }
}

const NEEDS_BOUND: &str = "`cost` alone bounds the run, and pi has no price for local/free. Bound the turns too: `budget: { cost: 2.50, turns: 40 }`";
const UNCOUNTED: &str = "`cost` does not count answers of local/free: pi has no price.";

#[test]
fn a_cost_without_a_price_is_told_at_the_start() {
    for (of_workflow, model_of_b, bound, starts) in [
        ("budget: {cost: 1, turns: 9}", "", None, true),
        ("budget: {cost: 1, time: 9m}", "a/paid", None, true),
        ("budget: {cost: 1}", "", Some("turns=9"), true),
        ("budget: {cost: 1}", "", None, false),
        ("budget: {cost: 1}", "a/paid", None, true),
        ("budget: {cost: 1}", "", Some("cost=2"), false),
        ("", "", Some("cost=2"), false),
    ] {
        let about = format!("{of_workflow} {model_of_b} {bound:?}");
        for (has_ui, more) in [(false, None), (false, Some("unknown")), (true, None)] {
            let mut session = with_free_model(&format!("{of_workflow}\n"), model_of_b, bound, more);
            let output = session.with_ui(has_ui, Event::Command { name: "workflow", arguments: "w x" });
            assert_eq!(session.stored_run().is_some(), starts, "{about}");
            let told = notices(&output);
            let expected = if starts { UNCOUNTED } else { NEEDS_BOUND };
            assert!(told.contains(expected), "{about}: {told}");
        }
    }
    let mut session = with_free_model("budget: {cost: 1}\n", "", None, None);
    uses(&session, "a/paid");
    let started = session.command("workflow", "w x");
    assert!(session.stored_run().is_some() && !notices(&started).contains("`cost`"), "{started:?}");
}

#[test]
fn an_answer_without_a_price_pauses_where_nothing_else_is_bounded() {
    for (taken, bound, pauses) in [
        (free(), Some("turns=9"), None),
        (unreported(1), Some("turns=9"), Some("unknownCost")),
        (free(), None, Some("unknownCost")),
    ] {
        let mut session = with_free_model("budget: {cost: 1}\n", "", Some("turns=9"), None);
        let _ = session.command("workflow", "w x");
        let _ = begin_with(&mut session, bound);
        let _ = session.on(Event::AgentStart);
        session.has_taken(taken);
        let _ = session.call();
        let reason = session.pause().map(|reason| serde_json::to_value(reason).unwrap()["kind"].clone());
        assert_eq!(reason, pauses.map(Into::into), "{bound:?}");
        if pauses.is_none() {
            // An answer with a price counts.
            session.has_taken(Usage { cost: 2.0, ..free() });
            assert!(session.stopped().contains("is used up: $2.00 of $"));
        }
    }
}
