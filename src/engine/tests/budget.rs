//! Budgets.

use super::*;
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
    /// The entries behind the newest state entry took this.
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
        self.engine.pause_reason()
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
fn the_agent_is_told_once_and_then_stopped() {
    let mut session = with_budgets("budget: {turns: 10}\n", "");
    session.has_taken(turns(7));
    assert_eq!(session.call(), Output::default());
    session.has_taken(turns(8));
    let told = session.call();
    assert_eq!(told.reply, Reply::None);
    assert!(steered(&told)[0].contains("- “The w”: 8 of 10 turns, 2 left"), "{told:?}");
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
    let mut session = with_budgets("budget: {turns: 10, outputTokens: 100}\n", "");
    session.has_taken(Usage { turns: 12, output: 150, ..Usage::default() });
    let _ = session.call();
    session.has_taken(Usage::default());
    let _ = session.on(Event::AgentSettled);
    let Reply::Ask { ticket, request } = session.command("workflow", ":resume").reply else {
        panic!()
    };
    let title = "Paused: the budget of “The w” is used up: 150 of 100 output tokens.\nHow much more? (tokens, for example 20k)";
    assert_eq!(request, Request::Input { title: title.into() });
    let nothing = session.on(Event::Answer { ticket, answer: Answer::Cancelled });
    assert_eq!(notices(&nothing), "Nothing was added to the budget.");
    let bad = notices(&session.command("workflow", ":resume +1h"));
    assert_eq!(bad, "“+1h” is not a number of tokens. Type for example /workflow :resume +20k");
    let Reply::Ask { ticket, request } = session.command("workflow", ":resume +2k").reply else {
        panic!()
    };
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
    let _ = session.command("workflow", ":resume +3");
    assert_eq!(session.pause(), None);
    session.has_taken(Usage::default());
    let notice = notices(&session.command("workflow", ":resume +3"));
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
    let failed = notices(&session.command("workflow", ":resume"));
    assert_eq!(
        failed,
        "The workflow is paused: the budget of “The w” is used up: 1m 1s of 1m at work. To allow more: /workflow :resume +20m"
    );
    let _ = session.command("workflow", ":resume +20m");
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
    // The user goes on to a phase outside of it.
    let _ = session.command("workflow", ":next");
    let _ = session.command("workflow", ":resume");
    assert_eq!(session.pause(), None);
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
    let resumed = notices(&session.command("workflow", ":resume"));
    assert_eq!(resumed, "Answers whose cost is not known are not counted in the budget.");
    session.has_taken(Usage { turns: 1, unpriced: 1, cost: 0.5, ..Usage::default() });
    assert_eq!(session.call().reply, Reply::None);
    session.has_taken(Usage { turns: 2, unpriced: 1, cost: 1.0, ..Usage::default() });
    assert!(session.stopped().contains("$1.00 of $1.00"), "known costs still count");
}
