//! Phases that are a conversation with the user.

use proptest::prelude::*;

use super::*;
use crate::run::PauseReason;

/// A run in the first phase of a workflow; phases whose names begin with `t` are a conversation.
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
        let progress = self.engine.run.running().unwrap().progress();
        (progress.idle, progress.continuations)
    }
}

#[test]
fn the_run_waits_for_each_message_of_the_user() {
    let mut session = run(&["talk", "b"]);
    for _ in 0..20 {
        assert_eq!(session.answers(), [status("⏸ The w > * talk [1/2] (waits for you)")]);
        assert_eq!(session.counts(), (0, 0));
        assert_eq!(session.engine.run.pause_reason(), None);
    }
    assert_eq!(session.on(Event::TerminalInput { interrupts: false }), Output::default());
    assert!(session.engine.agent.activity.is_waiting(), "no key ends it");
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
        let stored = session.stored_run().unwrap().progress().paused.as_ref().unwrap();
        assert_eq!(stored.reason, PauseReason::Conversation);
        assert_eq!(session.counts(), (0, 0));
    }
    let _ = session.on(Event::Input { from_user: true });
    assert_eq!(session.engine.run.pause_reason(), None);
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
    assert_eq!(session.engine.run.pause_reason(), None);
    assert_eq!(session.status.as_deref(), Some("The w > * b [2/2]"));
}

#[test]
fn resume_has_the_agent_go_on_without_a_message() {
    for ui in [Ui::Program, Ui::None] {
        let mut session = run(&["talk", "b"]);
        session.ui = ui;
        let _ = session.answers();
        let effects = session.resume("").effects;
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
        assert_eq!(session.engine.run.pause_reason(), Some(&reason));
        let _ = session.on(Event::Input { from_user: true });
        assert_eq!(session.engine.run.pause_reason(), None);
    }
    let mut session = run(&["talk"]);
    let _ = session.command("workflow", ":pause");
    let _ = session.on(Event::AgentStart);
    let _ = session.on(Event::AgentEnd { stop: Stop::Completed });
    let _ = session.on(Event::AgentSettled);
    assert_eq!(session.engine.run.pause_reason(), Some(&PauseReason::User));
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
    assert_eq!(session.engine.run.pause_reason(), Some(&PauseReason::Conversation));
}

#[test]
fn a_call_after_the_agent_has_stopped_leads_to_no_prompt() {
    let mut session = run(&["a", "talk"]);
    let _ = session.stop();
    let late = Event::Step { input: r#"{"action":"next"}"#, nested: true };
    assert!(matches!(session.on(late).reply, Reply::Tool(_)));
    let effects: Vec<_> = (0..3).flat_map(|_| session.on(Event::Timer { id: 1, idle: true }).effects).collect();
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::SendUserMessage(_))), "{effects:?}");
    assert_eq!(session.status.as_deref(), Some("⏸ The w > * talk [2/2] (waits for you)"));
}

#[test]
fn a_session_that_is_restored_waits_in_it() {
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

/// An event of a session.
#[derive(Debug, Clone, Copy)]
enum Happens {
    Message,
    Starts,
    Stops(Stop),
    Next { nested: bool },
    Control(&'static str),
    Key,
    Timer,
    Restart { at_work: bool },
    Compaction,
    Ui(bool),
}

fn happens() -> impl Strategy<Value = Happens> {
    use Happens::*;
    prop_oneof![
        Just(Message),
        Just(Starts),
        prop_oneof![4 => Just(Stop::Completed), 1 => Just(Stop::Aborted), 1 => Just(Stop::Failed)].prop_map(Stops),
        any::<bool>().prop_map(|nested| Next { nested }),
        prop::sample::select(vec![":pause", ":resume", ":next", ":back", ":skip", ":status", ":panel"])
            .prop_map(Control),
        Just(Key),
        Just(Timer),
        any::<bool>().prop_map(|at_work| Restart { at_work }),
        Just(Compaction),
        any::<bool>().prop_map(Ui),
    ]
}

impl Session {
    fn happens(&mut self, what: Happens) -> Vec<Output> {
        match what {
            Happens::Message => vec![self.on(Event::Input { from_user: true })],
            Happens::Starts => {
                let before = self.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
                vec![before, self.on(Event::AgentStart)]
            }
            Happens::Stops(stop) => {
                let mut all =
                    vec![self.on(Event::TurnEnd { queued: false, calls: &[] }), self.on(Event::AgentEnd { stop })];
                if stop != Stop::Aborted {
                    all.push(self.on(Event::BeforeSettle));
                }
                // The host asks again until no event continues the agent.
                if !matches!(all.last().map(|last| &last.reply), Some(Reply::Continue(_) | Reply::Compact { .. })) {
                    all.push(self.on(Event::AgentSettled));
                }
                all
            }
            Happens::Next { nested } => {
                vec![self.on(Event::Step { input: r#"{"action":"next","summary":"s"}"#, nested })]
            }
            Happens::Control(control) => vec![self.command("workflow", control)],
            Happens::Key => vec![self.on(Event::TerminalInput { interrupts: false })],
            Happens::Timer => vec![self.on(Event::Timer { id: 1, idle: true })],
            Happens::Restart { at_work } => {
                let stored = self.stored_run().cloned();
                let facts = Facts { at_work, ..Facts::default() };
                vec![self.on(Event::Session { stored, in_view: None, facts })]
            }
            Happens::Compaction => vec![self.on(Event::Compacted)],
            Happens::Ui(has_ui) => {
                self.ui = if has_ui { Ui::Program } else { Ui::None };
                Vec::new()
            }
        }
    }
}

proptest! {
    #[test]
    fn whatever_happens_nobody_but_the_user_has_a_conversation_go_on(all in prop::collection::vec(happens(), 1..60)) {
        let mut session = run(&["a", "talk", "b", "tell", "c"]);
        for what in all {
            let outputs = session.happens(what);
            let Some(active) = session.engine.run.active() else { break };
            if !active.phase.interactive {
                continue;
            }
            let progress = active.state.progress();
            prop_assert_eq!((progress.idle, progress.continuations), (0, 0));
            // A countdown that a late call left is not part of the conversation.
            let counts = session.engine.agent.activity.is_counting_down();
            prop_assert!(!counts || !matches!(what, Happens::Stops(_) | Happens::Restart { .. }), "{:?}", what);
            let continued = outputs.iter().any(|output| matches!(output.reply, Reply::Continue(_)));
            prop_assert!(!continued, "{:?}", what);
            let mut effects = outputs.iter().flat_map(|output| &output.effects);
            let prompted = effects.any(|effect| matches!(effect, Effect::SendUserMessage(_)));
            prop_assert!(!prompted || matches!(what, Happens::Control(_)), "{:?}", what);
            if let (Happens::Stops(Stop::Completed), Ui::Program) = (what, session.ui) {
                let rests = session.engine.agent.activity.is_waiting() || progress.paused.is_some();
                prop_assert!(rests, "neither waits nor is paused");
            }
            if let (Happens::Stops(Stop::Completed), Ui::None) = (what, session.ui) {
                prop_assert!(progress.paused.is_some(), "not paused");
            }
        }
    }
}
