//! A paused run that the user moves, and a message of the user in a pause that only `:resume` ends.

use super::*;
use crate::definition::Measure;
use crate::run::PauseReason;
use crate::usage::Usage;

/// A run in the first phase of `w` (a, b, c), with lines in `workflow.yaml` and in the front matter of `b`.
fn run(of_workflow: &str, of_phase: &str) -> Session {
    let mut session = Session::new(&[("w", &["a", "b", "c"])]);
    session.files.global.get_mut("w/workflow.yaml").unwrap().push_str(of_workflow);
    let phase = session.files.global.get_mut("w/b.md").unwrap();
    *phase = phase.replacen("emoji", &format!("{of_phase}emoji"), 1);
    let _ = session.command("workflow", "w x");
    session
}

impl Session {
    fn paused_for(&mut self, reason: PauseReason) {
        let context = Context { unix_ms: self.now, random: 0, ui: self.ui, host: &self.files };
        let mut cx = Cx::new(&context);
        self.engine.pause(reason, &mut cx);
        self.see(&cx.effects);
    }

    fn took(&self, turns: u32) {
        *self.files.usage.borrow_mut() = Usage { turns, ..Usage::default() };
    }

    fn line(&self) -> String {
        self.status.clone().unwrap()
    }

    /// The notices with which a message of the user is answered.
    fn says(&mut self) -> Vec<String> {
        warnings(&self.on(Event::Input { from_user: true }))
    }
}

fn warnings(output: &Output) -> Vec<String> {
    let told = output.effects.iter().filter_map(|effect| match effect {
        Effect::Notify { level: Level::Warning, text } => Some(text.clone()),
        _ => None,
    });
    told.collect()
}

fn prompts(output: &Output) -> usize {
    output.effects.iter().filter(|effect| matches!(effect, Effect::SendUserMessage(_))).count()
}

fn all_about_the_phase() -> Vec<PauseReason> {
    vec![
        PauseReason::Cancel,
        PauseReason::Running,
        PauseReason::Idle { times: 3 },
        PauseReason::Repeats { times: 20 },
        PauseReason::CutOff { times: 4 },
        PauseReason::Limit { times: 10 },
        PauseReason::Gate { name: "npm test".into(), times: 3 },
        PauseReason::Loops { of: "b".into(), outcome: "again".into(), scope: None },
        PauseReason::Question { question: "Well?".into() },
        PauseReason::Commands { package: None, value: false },
        PauseReason::ModelError,
        // No budget applies here.
        PauseReason::Budget { of: "b".into(), measure: Measure::Turns, spent: 3, limit: 3 },
        PauseReason::UnknownCost { of: "b".into() },
    ]
}

const MOVES: [&str; 4] = [":next", ":skip", ":back", ":skip c"];

#[test]
fn a_pause_about_the_phase_is_over_when_the_user_moves_the_run() {
    for reason in all_about_the_phase() {
        for way in MOVES {
            let mut session = run("", "");
            let _ = session.command("workflow", ":next");
            session.paused_for(reason.clone());
            assert_eq!(session.engine.run.pause_reason(), Some(&reason));
            let output = session.command("workflow", way);
            assert_eq!(session.engine.run.pause_reason(), None, "{reason} {way}");
            assert!(!session.line().contains("paused"), "{}", session.line());
            assert_eq!(prompts(&output), 1, "the agent goes on: {reason} {way}");
            assert_eq!(warnings(&output), [""; 0], "{reason} {way}");
        }
    }
}

#[test]
fn a_pause_by_the_user_stays_one() {
    for reason in [PauseReason::User, PauseReason::Aborted] {
        for way in MOVES {
            let mut session = run("", "");
            let _ = session.command("workflow", ":next");
            session.paused_for(reason.clone());
            let output = session.command("workflow", way);
            assert_eq!(session.engine.run.pause_reason(), Some(&PauseReason::User));
            assert!(session.line().ends_with("(paused: you asked for it)"), "{}", session.line());
            assert_eq!(prompts(&output), 0, "{reason} {way}");
            let _ = session.on(Event::Input { from_user: true });
            assert_eq!(session.engine.run.pause_reason(), None);
        }
    }
}

#[test]
fn the_last_phase_ends_the_run_and_its_pause() {
    let mut session = run("", "");
    session.paused_for(PauseReason::User);
    let _ = session.command("workflow", ":skip c");
    let effects = session.command("workflow", ":skip").effects;
    let Effect::AppendEntry { data, .. } = &effects[0] else { panic!("{effects:?}") };
    let end = data.to_string();
    assert!(session.engine.run.running().is_none() && !end.contains("person"), "{end}");
}

#[test]
fn a_budget_of_the_phase_is_left_with_it() {
    let mut session = run("", "budget: {turns: 2}\n");
    let _ = session.command("workflow", ":next");
    session.took(2);
    let _ = session.on(Event::ToolCall { name: "bash", carries_calls: false });
    assert!(matches!(session.engine.run.pause_reason(), Some(PauseReason::Budget { of, .. }) if of == "b"));
    session.took(0);
    let output = session.command("workflow", ":next");
    assert_eq!((session.engine.run.pause_reason(), prompts(&output)), (None, 1));
    // After the way back to the phase, the new visit has its own budget.
    let _ = session.command("workflow", ":back");
    assert_eq!(session.engine.run.pause_reason(), None);
}

#[test]
fn a_budget_of_the_workflow_is_named_after_the_move() {
    let mut session = run("budget: {turns: 4}\n", "budget: {turns: 2}\n");
    let _ = session.command("workflow", ":next");
    session.took(4);
    let _ = session.on(Event::ToolCall { name: "bash", carries_calls: false });
    session.took(0);
    let output = session.command("workflow", ":skip");
    let Some(PauseReason::Budget { of, spent: 4, limit: 4, .. }) = session.engine.run.pause_reason() else {
        panic!("{:?}", session.engine.run.pause_reason())
    };
    assert_eq!(of, "The w");
    assert_eq!(prompts(&output), 0);
    let told = warnings(&output);
    assert_eq!(told.len(), 1, "{told:?}");
    let current = "⏸ The w is paused in * c: the budget of “The w” is used up: 4 of 4 turns.\nTo allow more: ";
    assert!(told[0].starts_with(current), "{told:?}");
    assert!(session.line().ends_with("(paused: the budget is used up)"), "{}", session.line());
}

#[test]
fn a_message_that_does_not_resume_the_run_is_told_so_once_a_pause() {
    for ui in [Ui::Terminal, Ui::Program, Ui::None] {
        let mut session = run("budget: {turns: 4}\n", "");
        session.ui = ui;
        session.took(4);
        let _ = session.on(Event::ToolCall { name: "bash", carries_calls: false });
        session.took(0);
        let told = session.says();
        assert_eq!(told.len(), 1, "{ui:?} {told:?}");
        assert!(told[0].contains("\nTo allow more: /workflow :resume +"), "{told:?}");
        for _ in 0..3 {
            assert_eq!(session.says(), [""; 0], "{ui:?}");
        }
        assert!(session.engine.run.pause_reason().is_some());
        // The next pause is another pause.
        let _ = session.resume("+1");
        assert_eq!(session.says(), [""; 0], "{ui:?}");
        session.now += 1000;
        session.took(1);
        let _ = session.on(Event::ToolCall { name: "bash", carries_calls: false });
        session.took(0);
        assert_eq!((session.says().len(), session.says().len()), (1, 0), "{ui:?}");
    }
}

#[test]
fn a_message_that_resumes_the_run_and_one_of_an_extension_are_not_told() {
    let mut session = run("", "");
    let _ = session.command("workflow", ":pause");
    assert_eq!(session.says(), [""; 0]);
    session.paused_for(PauseReason::UnknownCost { of: "w".into() });
    let output = session.on(Event::Input { from_user: false });
    assert_eq!(warnings(&output), [""; 0]);
    assert_eq!(session.says().len(), 1);
}

#[test]
fn a_message_in_a_hold_is_told_once() {
    for ui in [Ui::Program, Ui::None] {
        let mut session = run("", "");
        session.ui = ui;
        let yaml = session.files.global.get_mut("w/workflow.yaml").unwrap();
        yaml.push_str("loopable: false\n");
        let _ = session.command("workflow", ":check");
        assert!(session.engine.run.held().is_some());
        let told = session.says();
        assert!(told.len() == 1 && told[0].contains(": its rules are no longer those"), "{told:?}");
        assert_eq!(session.says(), [""; 0], "{ui:?}");
        // The files have the rules again: the message is for the agent.
        let yaml = session.files.global.get_mut("w/workflow.yaml").unwrap();
        *yaml = yaml.replace("loopable: false\n", "");
        assert_eq!(session.says(), [""; 0], "{ui:?}");
        assert!(session.engine.run.held().is_none());
    }
}
