//! Injected panics, for tests of a component that traps.
//!
//! In the store, the key `fault` names calls, with spaces between them: exports, or events. The next such call
//! panics, and of a name with a `!` behind it every one does. Only builds with the feature `fault-switch` contain this;
//! the published component is built without it.

use super::bindings::exports::pi::extension::guest::Event;
use super::bindings::pi::extension::store;

const KEY: &str = "fault";

/// Panics if the store names this call.
#[allow(clippy::panic, reason = "it is what this is for")]
pub(super) fn trip(call: &str) {
    let wanted = store::get(KEY).ok().flatten().unwrap_or_default();
    let (hit, rest): (Vec<_>, Vec<_>) =
        wanted.split_whitespace().partition(|name| name.strip_suffix('!').unwrap_or(name) == call);
    let Some(hit) = hit.first() else { return };
    if !hit.ends_with('!') {
        let _ = store::set(KEY, &rest.join(" "));
    }
    panic!("{call}: the fault switch is on");
}

/// The name of an event, as the interface writes it.
pub(super) fn name(event: &Event) -> &'static str {
    match event {
        Event::SessionStart(_) => "session-start",
        Event::SessionTree => "session-tree",
        Event::SessionCompact => "session-compact",
        Event::SessionShutdown(_) => "session-shutdown",
        Event::Input(_) => "input",
        Event::TerminalInput => "terminal-input",
        Event::BeforeAgentStart => "before-agent-start",
        Event::AgentStart => "agent-start",
        Event::TurnStart => "turn-start",
        Event::ChildProgress(_) => "child-progress",
        Event::ChildEnd(_) => "child-end",
        Event::TurnEnd => "turn-end",
        Event::AgentEnd(_) => "agent-end",
        Event::AgentBeforeSettle => "agent-before-settle",
        Event::AgentSettled => "agent-settled",
        Event::ToolCall(_) => "tool-call",
        Event::Restarted => "restarted",
        Event::ModelSelect(_) => "model-select",
        Event::ThinkingLevelSelect(_) => "thinking-level-select",
    }
}
