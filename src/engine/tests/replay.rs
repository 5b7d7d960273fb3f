//! Whole runs, replayed from their events: the same events with the same answers of the host have the same effects.

use super::branches::{Family, GROUP};
use super::*;

/// Something that happened to an engine.
pub(super) enum Recorded {
    /// It handled this event, with this context and this result.
    Event { event: Box<Event<'static>>, unix_ms: u64, ui: Ui, files: Box<Files>, output: Output },
    /// Its process was killed, and another one begins.
    Killed,
    /// The next calls are of another answer of the model.
    OtherAnswer,
}

/// Returns an event whose texts last.
pub(super) fn lasting(event: &Event) -> Event<'static> {
    fn text(text: &str) -> &'static str {
        Box::leak(text.to_owned().into_boxed_str())
    }
    match event.clone() {
        Event::TurnEnd { queued, calls } => {
            Event::TurnEnd { queued, calls: Box::leak(calls.to_vec().into_boxed_slice()) }
        }
        Event::ToolCall { name, carries_calls } => Event::ToolCall { name: text(name), carries_calls },
        Event::Step { input, nested } => Event::Step { input: text(input), nested },
        Event::Propose { input, nested } => Event::Propose { input: text(input), nested },
        Event::Command { name, arguments } => Event::Command { name: text(name), arguments: text(arguments) },
        Event::Session { stored, in_view, facts } => Event::Session { stored, in_view, facts },
        Event::SessionShutdown => Event::SessionShutdown,
        Event::Input { from_user } => Event::Input { from_user },
        Event::TerminalInput { interrupts } => Event::TerminalInput { interrupts },
        Event::BeforeAgentStart { role } => Event::BeforeAgentStart { role },
        Event::Compacted => Event::Compacted,
        Event::Role(role) => Event::Role(role),
        Event::MessageStart { from_user } => Event::MessageStart { from_user },
        Event::AgentStart => Event::AgentStart,
        Event::TurnStart => Event::TurnStart,
        Event::AgentEnd { stop } => Event::AgentEnd { stop },
        Event::BeforeSettle => Event::BeforeSettle,
        Event::AgentSettled => Event::AgentSettled,
        Event::Answer { ticket, answer } => Event::Answer { ticket, answer },
        Event::Select { pick, own } => Event::Select { pick, own },
        Event::Child { report, ended } => Event::Child { report, ended },
        Event::ViewBegun { first_kept } => Event::ViewBegun { first_kept },
        Event::NotStored { is_newest } => Event::NotStored { is_newest },
        Event::Timer { id, idle } => Event::Timer { id, idle },
        Event::TimeSkipped { ms } => Event::TimeSkipped { ms },
    }
}

impl Session {
    /// Records the events from now on, on a new engine.
    fn record(&mut self) {
        (self.engine, self.recorded) = (Engine::default(), Some(Vec::new()));
        let _ = self.on(Event::Session { stored: None, in_view: None, facts: Facts::default() });
    }

    /// The process is killed, and another one takes the session up.
    fn kill(&mut self) {
        self.engine = Engine::default();
        self.recorded.as_mut().unwrap().push(Recorded::Killed);
        let _ = self.on(Event::Session { stored: restore(&self.entries), in_view: None, facts: Facts::default() });
    }

    /// Replays the recorded events on a new engine, and returns their number.
    #[track_caller]
    fn replay(&self) -> usize {
        let mut engine = Engine::default();
        let recorded = self.recorded.as_ref().unwrap();
        for recorded in recorded {
            match recorded {
                Recorded::Event { event, unix_ms, ui, files, output } => {
                    let context = Context { unix_ms: *unix_ms, random: 0, ui: *ui, host: &**files };
                    assert_eq!(engine.handle((**event).clone(), &context), *output, "{event:?}");
                }
                Recorded::Killed => engine = Engine::default(),
                Recorded::OtherAnswer => engine.turn.left = None,
            }
        }
        assert_eq!(format!("{engine:?}"), format!("{:?}", self.engine), "nothing else has changed the engine");
        recorded.len()
    }
}

#[test]
fn a_run_with_a_gate_a_refused_entry_and_a_kill_is_replayed() {
    let mut session = Session::new(&[("flat", &["a", "b", "c"])]);
    let gated = "---\nid: b\nname: b\nemoji: '*'\ngate: [{ run: make test }]\n---\nDo b.";
    session.files.global.insert("flat/b.md".into(), gated.into());
    session.record();
    let _ = session.command("workflow", "flat Add a page");
    let _ = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker });
    let _ = session.on(Event::AgentStart);
    let _ = session.step("next");
    let not_stored = session.on(Event::NotStored { is_newest: false });
    assert!(matches!(&not_stored.effects[..], [Effect::AppendEntry { .. }]), "a complete entry: {not_stored:?}");
    let ran = |status| entries::ran(status, "x");
    let answer = |session: &mut Session, answer| {
        let ticket = session.last_ticket;
        session.on(Event::Answer { ticket, answer }).reply
    };
    let _ = session.on(Event::Step { input: r#"{"action":"next"}"#, nested: false });
    assert!(matches!(answer(&mut session, ran(1)), Reply::Tool(_)), "it fails");
    let _ = session.on(Event::TurnEnd { queued: false, calls: &[] });
    let _ = session.on(Event::Step { input: r#"{"action":"next"}"#, nested: false });
    session.kill();
    let _ = session.command("workflow", ":resume");
    let _ = session.on(Event::AgentStart);
    let _ = session.on(Event::Step { input: r#"{"action":"next"}"#, nested: false });
    let _ = answer(&mut session, ran(0));
    let _ = session.step("next");
    assert_eq!(session.stored_run().unwrap().current_path.len(), 1);
    assert!(session.replay() > 15);
}

#[test]
fn a_run_with_branches_and_a_kill_among_them_is_replayed() {
    let mut family = Family::new(GROUP);
    family.children.clear();
    family.parent.record();
    let _ = family.parent.command("workflow", "w the task");
    family.hand_over();
    family.progress("bugs", 0.1);
    family.finish("bugs", "clean");
    family.parent.kill();
    let _ = family.parent.command("workflow", ":resume");
    assert!(family.parent.replay() > 6);
}
