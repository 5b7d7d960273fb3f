//! Injected panics, for tests of a component that traps.
//!
//! In the store, the key `fault` holds names of calls (exports or events), separated by spaces. The next such call
//! panics; a name that ends with `!` makes every such call panic. Only builds with the feature `fault-switch` read the
//! key; the published component is built without this feature.

use super::bindings::exports::pi::extension::guest::Event;
use super::bindings::pi::extension::store;

const KEY: &str = "fault";

/// Panics if the store names this call.
#[allow(clippy::panic, reason = "it is what this is for")]
pub(super) fn trip(call: &str) {
    if !cfg!(feature = "fault-switch") {
        return;
    }
    let wanted = store::get(KEY).ok().flatten().unwrap_or_default();
    let (hit, rest): (Vec<_>, Vec<_>) =
        wanted.split_whitespace().partition(|name| name.strip_suffix('!').unwrap_or(name) == call);
    let Some(hit) = hit.first() else { return };
    if !hit.ends_with('!') {
        let _ = store::set(KEY, &rest.join(" "));
    }
    panic!("{call}: the fault switch is on");
}

/// Panics if the store names this event, as the interface writes it: `session-start`.
pub(super) fn trip_at(event: &Event) {
    if !cfg!(feature = "fault-switch") {
        return;
    }
    // The `Debug` text begins with the variant: `Event::SessionStart(…)`.
    let shown = format!("{event:?}");
    let mut name = String::new();
    for c in shown.trim_start_matches("Event::").chars().take_while(char::is_ascii_alphanumeric) {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(c.to_ascii_lowercase());
    }
    trip(&name);
}
