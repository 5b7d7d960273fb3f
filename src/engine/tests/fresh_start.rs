//! Phases that start fresh.

use super::*;
use crate::protocol::{FRESH_TYPE, STATE_ENTRY_TYPE};

const NEXT: &str = r#"{"action":"next","summary":"done"}"#;

/// A workflow of these phases; phases whose names begin with `f` start fresh.
fn with(phases: &[&str]) -> Session {
    let mut session = Session::new(&[("w", phases)]);
    for (path, file) in &mut session.files.global {
        if path.starts_with("w/f") {
            *file = file.replacen("emoji", "context: fresh\nemoji", 1);
        }
    }
    session
}

/// A run of that workflow whose agent is at work in the first phase.
fn at_work(phases: &[&str]) -> Session {
    let mut session = with(phases);
    let _ = session.command("workflow", "w x");
    session.begins();
    session
}

impl Session {
    /// The agent starts with a prompt; returns the text in place of the earlier messages.
    fn begins(&mut self) -> Option<String> {
        let _ = self.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
        self.begins_again()
    }

    /// The agent starts without a prompt.
    fn begins_again(&mut self) -> Option<String> {
        self.on(Event::AgentStart).effects.into_iter().find_map(|effect| match effect {
            Effect::BeginView(summary) => Some(summary.text),
            _ => None,
        })
    }

    /// The text of the step tool's result.
    fn calls_step(&mut self, input: &str) -> String {
        match self.on(Event::Step { input, nested: false }).reply {
            Reply::Tool(result) => result.text,
            other => panic!("{other:?}"),
        }
    }

    /// The end of a turn: the compaction that follows it, and the types of the entries after that.
    fn ends_turn(&mut self) -> (Option<(String, Option<String>)>, Vec<&'static str>) {
        let Output { effects, reply } = self.on(Event::TurnEnd { queued: false, calls: &[] });
        let entry = |effect| match effect {
            Effect::AppendEntry { custom_type, .. } => Some(custom_type),
            _ => None,
        };
        let compaction = match reply {
            Reply::Compact { summary, prompt, first_kept: None } => Some((summary.text, prompt)),
            Reply::None => None,
            other => panic!("{other:?}"),
        };
        (compaction, effects.into_iter().filter_map(entry).collect())
    }

    #[track_caller]
    fn compacts_all(&mut self, phase: &str) {
        let (compaction, entries) = self.ends_turn();
        let (summary, prompt) = compaction.unwrap();
        assert!(summary.starts_with(&format!("The workflow phase * {phase} starts")), "{summary}");
        assert!(prompt.unwrap().contains(&format!("Do {phase}.")));
        assert_eq!(entries, [STATE_ENTRY_TYPE, FRESH_TYPE]);
        assert_eq!(self.ends_turn(), (None, Vec::new()), "only once");
    }

    #[track_caller]
    fn keeps_turn(&mut self, phase: &str) {
        let (compaction, entries) = self.ends_turn();
        let (summary, prompt) = compaction.unwrap();
        assert!(summary.starts_with(&format!("The workflow phase * {phase} starts")), "{summary}");
        assert_eq!(prompt, None);
        assert_eq!(entries, [STATE_ENTRY_TYPE]);
        assert_eq!(self.ends_turn(), (None, Vec::new()), "only once");
    }
}

#[test]
fn at_work_the_turn_is_followed_by_a_compaction() {
    let mut session = at_work(&["a", "f"]);
    assert_eq!(session.ends_turn(), (None, Vec::new()));
    let told = session.calls_step(r#"{"action":"next"}"#);
    assert!(told.starts_with("⚠️ The phase * a cannot be left without a summary: "), "{told}");
    let told = session.calls_step(NEXT);
    assert!(told.ends_with(text::STARTS_FRESH), "{told}");
    assert!(!told.contains("Do f."), "{told}");
    session.compacts_all("f");
    assert!(session.calls_step(NEXT).contains("DONE"));
}

#[test]
fn at_rest_the_requests_of_the_first_turn_are_without_the_earlier_messages() {
    let mut session = at_work(&["a", "f"]);
    session.stop();
    let _ = session.command("workflow", ":next");
    let summary = session.begins().unwrap();
    assert!(!summary.contains("Do f."), "the context prompt goes with the prompt: {summary}");
    session.keeps_turn("f");
    assert_eq!(session.begins(), None);
}

#[test]
fn an_agent_that_starts_without_a_prompt_gets_the_context_prompt_in_the_view() {
    let mut session = at_work(&["a", "f"]);
    let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
    let _ = session.command("workflow", ":next");
    let summary = session.begins_again().unwrap();
    assert!(summary.contains("Do f."), "{summary}");
    session.keeps_turn("f");
    let reply = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker }).reply;
    assert!(matches!(reply, Reply::Inject { custom_type: REMINDER_MESSAGE_TYPE, .. }));
}

#[test]
fn the_first_phase_of_a_run_starts_fresh_if_it_says_so() {
    let mut session = with(&["f", "a"]);
    let _ = session.command("workflow", "w x");
    assert!(session.begins().is_some());
    session.keeps_turn("f");
    // No other phase follows that needs the summary.
    assert!(session.calls_step(r#"{"action":"next"}"#).contains("Do a."));
    assert_eq!(session.ends_turn(), (None, Vec::new()));
    let _ = session.calls_step(r#"{"action":"loop"}"#);
    session.compacts_all("f");
}

/// In a workflow of these phases, the ones whose names begin with `o` have an output.
fn with_outputs(phases: &[&str]) -> Session {
    let mut session = with(phases);
    for (path, file) in &mut session.files.global {
        if path.starts_with("w/o") {
            *file = file.replacen("emoji", "outputs: {x: {type: flag, optional: true}}\nemoji", 1);
        }
    }
    let _ = session.command("workflow", "w x");
    session.begins();
    session
}

#[test]
fn a_phase_with_outputs_gives_a_summary_if_a_later_phase_starts_fresh() {
    let told = with_outputs(&["o", "a", "f"]).calls_step(r#"{"action":"next"}"#);
    assert!(told.starts_with("⚠️ The phase * o cannot be left without a summary: "), "{told}");
    let mut session = with_outputs(&["f", "o", "a"]);
    session.keeps_turn("f");
    assert!(session.calls_step(r#"{"action":"next"}"#).contains("Do o."));
    let told = session.calls_step(r#"{"action":"next"}"#);
    assert!(told.contains("Do a."), "{told}");
}

#[test]
fn a_call_before_the_fresh_start_has_no_effect() {
    let mut session = at_work(&["a", "f", "f2", "b"]);
    let _ = session.calls_step(NEXT);
    for action in ["next", "loop", "cancel"] {
        let input = json!({ "action": action, "summary": "s" }).to_string();
        assert_eq!(session.calls_step(&input), text::NOT_STARTED);
    }
    assert!(session.step("status").0.contains("* f"));
    let edit = || Event::ToolCall { name: "edit", carries_calls: false };
    assert_eq!(session.on(edit()).reply, Reply::Block(text::NOT_STARTED.into()));
    session.compacts_all("f");
    // In the first turn of a phase that was entered at rest, the agent has seen its context.
    session.stop();
    let _ = session.command("workflow", ":next");
    assert!(session.begins().is_some());
    assert_eq!(session.on(edit()).reply, Reply::None);
    assert!(session.calls_step(NEXT).contains("Do b."));
    let (compaction, entries) = session.ends_turn();
    assert!(matches!(compaction, Some((_, None))), "the view is kept, with the prompt of b");
    assert_eq!(entries, Vec::<&str>::new());
}

#[test]
fn a_second_fresh_phase_in_the_first_turn_keeps_nothing() {
    let mut session = at_work(&["a", "f", "f2"]);
    session.stop();
    let _ = session.command("workflow", ":next");
    session.begins();
    let _ = session.calls_step(NEXT);
    assert_eq!(session.calls_step(NEXT), text::NOT_STARTED);
    session.compacts_all("f2");
}

#[test]
fn another_run_does_not_keep_the_view_of_the_one_that_it_replaces() {
    let mut session = with(&["f", "a"]);
    let _ = session.command("workflow", "w x");
    session.begins();
    let output = session.command("workflow", "w y");
    assert!(matches!(output.reply, Reply::Ask { .. }));
    let answer = Event::Answer { ticket: session.last_ticket, answer: Answer::Confirmed(true) };
    let context = Context { unix_ms: NOW + 1, random: 1, ui: session.ui, host: &session.files };
    let _ = session.engine.handle(answer, &context);
    session.compacts_all("f");
}

#[test]
fn a_view_ends_with_its_turn_also_if_the_run_ends_in_it() {
    let mut session = at_work(&["a", "f"]);
    session.stop();
    let _ = session.command("workflow", ":next");
    session.begins();
    let _ = session.command("workflow", ":cancel");
    let (compaction, entries) = session.ends_turn();
    assert!(matches!(compaction, Some((_, None))));
    assert_eq!(entries, Vec::<&str>::new());
    assert_eq!(session.begins(), None);
}

#[test]
fn the_mark_is_stored_until_the_phase_has_started() {
    let mut session = at_work(&["a", "f", "b"]);
    session.stop();
    let _ = session.command("workflow", ":next");
    let stored = session.stored_run().cloned();
    assert!(stored.as_ref().unwrap().progress().fresh_start);
    let facts = Facts::default();
    let _ = session.on(Event::Session { stored, in_view: None, facts });
    assert!(session.begins().is_some());
    session.keeps_turn("f");
    assert!(!session.stored_run().unwrap().progress().fresh_start);
    let _ = session.calls_step(NEXT);
    assert!(!session.stored_run().unwrap().progress().fresh_start, "a shared phase has none");
}

#[test]
fn without_a_user_interface_a_phase_starts_fresh_at_the_end_of_the_turn() {
    let mut session = at_work(&["a", "f"]);
    session.ui = Ui::None;
    let _ = session.calls_step(NEXT);
    session.compacts_all("f");
    let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
    let reply = session.on(Event::BeforeSettle).reply;
    assert!(matches!(reply, Reply::Continue(_)), "{reply:?}");
}

#[test]
fn a_nested_call_leads_to_a_fresh_start_too() {
    let mut session = at_work(&["a", "f", "b"]);
    let reply = session.on(Event::Step { input: NEXT, nested: true }).reply;
    assert!(matches!(reply, Reply::Tool(_)));
    let reply = session.on(Event::Step { input: NEXT, nested: true }).reply;
    let Reply::Tool(ToolResult { text, .. }) = reply else { panic!("{reply:?}") };
    assert!(text.contains("this call had no effect"), "{text}");
    session.compacts_all("f");
}

#[test]
fn a_held_run_starts_fresh_when_its_rules_hold_again() {
    let mut session = at_work(&["a", "f"]);
    let _ = session.calls_step(NEXT);
    let kept = session.files.global.clone();
    let file = session.files.global.get_mut("w/f.md").unwrap();
    *file = file.replace("Do f.", "Do g.").replacen("emoji", "tools: {blacklist: [edit]}\nemoji", 1);
    let _ = session.command("workflow", ":check");
    assert_eq!(session.ends_turn(), (None, Vec::new()), "nothing is done by other rules");
    session.files.global = kept;
    let _ = session.command("workflow", ":check");
    session.compacts_all("f");
}
