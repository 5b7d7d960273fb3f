//! Phases that are a conversation with the user.

use super::*;
use crate::run::PauseReason;

/// A run in the first phase of a workflow; those whose names begin with `t` are a conversation.
fn run(phases: &[&str]) -> Session {
    let mut session = Session::new(&[("w", phases)]);
    for (path, file) in &mut session.files.global {
        if path.starts_with("w/t") {
            *file = file.replacen("emoji", "interactive: true\nemoji", 1);
        }
    }
    let _ = session.command("workflow", "w x");
    session
}

impl Session {
    /// A run of the agent after a message of the user: it answers, and stops. Returns what follows the stop.
    fn answers(&mut self) -> Vec<Effect> {
        let _ = self.on(Event::Input { from_user: true });
        let _ = self.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
        let _ = self.on(Event::AgentStart);
        let mut effects = self.on(Event::AgentEnd { stop: Stop::Completed }).effects;
        let settling = self.on(Event::BeforeSettle);
        assert_eq!(settling.reply, Reply::None);
        effects.extend(settling.effects);
        effects.extend(self.on(Event::AgentSettled).effects);
        effects
    }

    fn counts(&self) -> (u32, u32) {
        let progress = &self.engine.running().unwrap().progress;
        (progress.idle, progress.continuations)
    }
}

#[test]
fn the_run_waits_for_each_message_of_the_user() {
    let mut session = run(&["talk", "b"]);
    for _ in 0..20 {
        assert_eq!(session.answers(), [status("⏸ The w > * talk [1/2] (waits for you)")]);
        assert_eq!(session.counts(), (0, 0));
        assert_eq!(session.engine.pause_reason(), None);
    }
    assert_eq!(session.on(Event::TerminalInput), Output::default());
    assert!(session.engine.activity.is_waiting(), "no key ends it");
    let _ = session.on(Event::Input { from_user: true });
    assert_eq!(session.status.as_deref(), Some("The w > * talk [1/2]"));
    let _ = session.on(Event::AgentStart);
    let _ = session.step("next");
    let effects = session.stop();
    assert!(effects.contains(&widget(3)), "the next phase is none: {effects:?}");
}

#[test]
fn without_a_user_interface_the_run_pauses_until_a_message() {
    let mut session = run(&["talk", "b"]);
    session.ui = Ui::None;
    for _ in 0..5 {
        let effects = session.answers();
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Notify { .. })), "{effects:?}");
        let line = "⏸ The w > * talk [1/2] (paused: it waits for your message)";
        assert_eq!(session.status.as_deref(), Some(line));
        let stored = session.stored_run().unwrap().progress.paused.as_ref().unwrap();
        assert_eq!(stored.reason, PauseReason::Conversation);
        assert_eq!(session.counts(), (0, 0));
    }
    let _ = session.on(Event::Input { from_user: true });
    assert_eq!(session.engine.pause_reason(), None);
    let _ = session.on(Event::AgentStart);
    let _ = session.step("next");
    let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
    assert!(matches!(session.on(Event::BeforeSettle).reply, Reply::Continue(_)));
    let mut session = run(&["talk", "b"]);
    session.ui = Ui::None;
    let _ = session.answers();
    let last = session.on(Event::SessionShutdown).effects;
    let told = "Workflow The w: paused in * talk: it waits for your message.";
    assert_eq!(last[0], notice(Level::Info, told)[0]);
}

#[test]
fn a_move_ends_the_pause_of_a_conversation() {
    let mut session = run(&["talk", "b"]);
    session.ui = Ui::None;
    let _ = session.answers();
    let _ = session.command("workflow", ":next");
    assert_eq!(session.engine.pause_reason(), None);
    assert_eq!(session.status.as_deref(), Some("The w > * b [2/2]"));
}

#[test]
fn resume_has_the_agent_go_on_without_a_message() {
    for ui in [Ui::Program, Ui::None] {
        let mut session = run(&["talk", "b"]);
        session.ui = ui;
        let _ = session.answers();
        let effects = session.command("workflow", ":resume").effects;
        let prompt = "The user resumed the workflow, without a message for you. Go on with the conversation in * talk.";
        assert!(effects.contains(&Effect::SendUserMessage(prompt.into())), "{effects:?}");
        assert_eq!(session.status.as_deref(), Some("The w > * talk [1/2]"));
    }
}

#[test]
fn other_reasons_to_stop_are_those_of_any_phase() {
    for (stop, reason) in [(Stop::Aborted, PauseReason::Aborted), (Stop::Failed, PauseReason::ModelError)] {
        let mut session = run(&["talk"]);
        let _ = session.stop_as(stop, true);
        assert_eq!(session.engine.pause_reason(), Some(&reason));
        let _ = session.on(Event::Input { from_user: true });
        assert_eq!(session.engine.pause_reason(), None);
    }
    let mut session = run(&["talk"]);
    let _ = session.command("workflow", ":pause");
    let _ = session.on(Event::AgentStart);
    let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
    let _ = session.on(Event::AgentSettled);
    assert_eq!(session.engine.pause_reason(), Some(&PauseReason::User));
}

#[test]
fn a_conversation_waits_where_nothing_continues_automatically() {
    let mut session = Session::new(&[("w", &["talk"])]);
    for file in session.files.global.values_mut() {
        *file = file.replacen("emoji", "interactive: true\nemoji", 1);
        *file = file.replacen("commandName", "autoContinue: false\ncommandName", 1);
    }
    let _ = session.command("workflow", "w x");
    assert_eq!(session.answers(), [status("⏸ The w > * talk [1/1] (waits for you)")]);
    session.ui = Ui::None;
    let _ = session.answers();
    assert_eq!(session.engine.pause_reason(), Some(&PauseReason::Conversation));
}

#[test]
fn a_session_that_is_taken_up_waits_in_it() {
    let mut session = run(&["talk", "b"]);
    let _ = session.answers();
    let stored = session.stored_run().cloned();
    let at_work = Facts { at_work: false, ..Facts::default() };
    let _ = session.on(Event::Session { stored, in_view: None, facts: at_work });
    assert_eq!(session.status.as_deref(), Some("⏸ The w > * talk [1/2] (waits for you)"));
}

#[test]
fn the_agent_and_the_panels_are_told() {
    let mut session = run(&["talk", "b"]);
    let reply = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker }).reply;
    let Reply::Inject { content, .. } = reply else { panic!("{reply:?}") };
    assert!(content.contains("\n**Conversation:** this phase is a conversation with the user: "), "{content}");
    let (text, _) = session.step("next");
    assert!(!text.contains("Conversation"), "{text}");
    let mut session = run(&["talk", "b"]);
    let _ = session.command("workflow", ":panel");
    let panel = |effects: &[Effect]| {
        let lines = effects.iter().rev().find_map(|effect| match effect {
            Effect::SetPanel(lines) => lines.clone(),
            _ => None,
        });
        lines.unwrap().join("\n")
    };
    let waiting = panel(&session.answers());
    assert!(waiting.contains("▸ 1. * talk") && waiting.contains("  waits for you\n"), "{waiting}");
    let working = panel(&session.on(Event::Input { from_user: true }).effects);
    assert!(!working.contains("waits for you"), "{working}");
}
