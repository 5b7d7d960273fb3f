//! Stored states: the data of a session's state entries, one per line, newest first.

use pi_workflows::definition::Library;
use pi_workflows::engine::{Context, Effect, Engine, Event, Facts, Reply, Stop, Ui};
use pi_workflows::protocol::STATE_ENTRY_TYPE;
use pi_workflows::run::{Active, Outline, RunState, advance, enter, reason_to_hold, restart, restore};
use pi_workflows::text::{self, DefaultRole};

use super::folder::Folder;

/// Workflows with two levels of nesting, a blacklist and a rejected loop.
pub const FILES: &str = include_str!("nested.txt");

/// # Panics
///
/// If a property is violated.
pub fn check(data: &[u8]) {
    let lines = String::from_utf8_lossy(data);
    let Some(state) = restore(lines.lines()) else { return };
    let folder = Folder::parse(FILES.as_bytes());
    if state.progress().broken.is_some() {
        play(&state, &folder);
        return;
    }
    survives(&state);
    let (library, _) = Library::load(&folder).expect("nothing is stale");
    sealed(&state, &library);
    let entered = enter(&state, &library);
    survives(&entered);
    assert!(entered.current_path.len() <= state.current_path.len() + 3);
    looked_at(&entered, &library);
    let (next, _) = advance(&entered, &library);
    survives(&next);
    assert!(next.global_step_count >= entered.global_step_count);
    looked_at(&next, &library);
    if let Ok(again) = restart(&entered, &library) {
        survives(&again);
        looked_at(&again, &library);
    }
    play(&state, &folder);
}

/// Asserts that a stored state is restored unchanged.
pub fn survives(state: &RunState) {
    assert!(!state.current_path.is_empty());
    let json = serde_json::to_string(state).expect("a state is JSON");
    assert_eq!(restore([&json]), Some(state.clone()), "{json}");
}

/// Asserts that a run takes its fingerprint from the files only if the state has none.
fn sealed(state: &RunState, library: &Library) {
    let taken = state.clone().sealed(library);
    let (before, after) = (state.progress(), taken.progress());
    if before.version > 0 || before.seal.is_some() || before.later_seal.is_some() {
        assert_eq!((before.version, &before.seal, &before.later_seal), (after.version, &after.seal, &after.later_seal));
    }
    if state.is_running() && reason_to_hold(&taken, library).is_none() {
        let root = &taken.current_path.first().expect("a path").workflow_key;
        assert_eq!(after.seal.as_ref().map(|seal| &seal.hash), library.seal(root).as_ref());
        assert!(Active::resolve(&taken, library).is_some());
    }
}

fn looked_at(state: &RunState, library: &Library) {
    let _ = text::status_line(Some(state), library, true, 0);
    let Some(active) = Active::resolve(state, library) else { return };
    let outline = Outline::of(&active);
    assert!(outline.current >= 1 && outline.total >= 1);
    let _ = text::context_prompt(&active, DefaultRole::Worker);
    assert!(text::context_reminder(&active).len() <= 300);
    let _ = (
        text::status(&active),
        text::status_panel(&active, u64::MAX, true, None, i16::MAX, &|_| text::BranchNow::default()),
    );
    for (columns, lines) in [(0, 0), (80, 24), (usize::MAX, usize::MAX)] {
        let terminal = Some(text::TerminalSize { columns, lines });
        let panel = text::phase_panel(&active, true, terminal, &|_| text::BranchNow::default());
        assert!(panel.len() <= (lines / 3).clamp(5, 100));
    }
}

/// Starts a session with the state, and applies events to it.
fn play(state: &RunState, folder: &Folder) {
    for first in ["next", "loop", "status", "cancel"] {
        let mut engine = Engine::default();
        let mut entries: Vec<String> = Vec::new();
        let stored = Some(state.clone());
        let facts = Facts { panel: true, ..Facts::default() };
        let input = format!("{{\"action\":\"{first}\",\"summary\":\"found\"}}");
        let events = [
            Event::Session { stored, in_view: None, facts },
            Event::BeforeAgentStart { role: DefaultRole::Worker },
            Event::AgentStart,
            Event::ToolCall { name: "edit", carries_calls: false },
            Event::Step { input: &input, nested: false },
            Event::Step { input: &input, nested: false },
            Event::TurnEnd { queued: false, calls: &[] },
            Event::AgentEnd { stop: Stop::Completed },
            Event::AgentSettled,
            Event::Timer { id: 1, idle: true },
            Event::Command { name: "workflow", arguments: ":status" },
            Event::Command { name: "workflow", arguments: ":back" },
            Event::Command { name: "workflow", arguments: ":skip" },
            Event::Command { name: "cancel-workflow", arguments: "" },
            Event::SessionShutdown,
        ];
        for event in events {
            let ui = if matches!(event, Event::SessionShutdown) { Ui::None } else { Ui::Terminal };
            let context = Context { unix_ms: u64::MAX, random: u64::MAX, ui, host: folder };
            let is_call = matches!(event, Event::ToolCall { .. });
            let output = engine.handle(event, &context);
            let held = engine.has_run() && !engine.is_running();
            assert!(!(is_call && held) || matches!(output.reply, Reply::Block(_) | Reply::Stop(_)));
            for effect in output.effects {
                if let Effect::AppendEntry { custom_type: STATE_ENTRY_TYPE, data } = effect {
                    entries.insert(0, data.to_string());
                    let state = restore(&entries).expect("a state");
                    survives(&state);
                }
            }
        }
    }
}
