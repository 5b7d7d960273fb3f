//! The tools that the model is shown. A phase adds those that its whitelist names; the next phase, or the end of the
//! run, takes back what it added. Changes of others meanwhile stay.

use super::host::Host;
use crate::definition::{Phase, Stale, ToolPolicy};
use crate::run::{Active, RunState};

use super::context::Cx;
use super::effect::Effect;
use super::state::Engine;

impl Engine {
    /// Returns the state with the tools that it adds, and sets the tools that the model is shown.
    pub(super) fn with_tools(&self, mut new: RunState, cx: &mut Cx) -> RunState {
        let phase = Active::resolve(&new, self.definitions.library()).map(|active| active.phase);
        let named = phase.and_then(named);
        if named.is_none() && new.progress.tools_added.is_empty() {
            return new;
        }
        let Ok(Some(shown)) = shown(&new.progress.tools_added, named.unwrap_or_default(), cx.host) else { return new };
        if shown.changed {
            cx.push(Effect::SetActiveTools(shown.tools));
        }
        new.progress.tools_added = shown.added;
        new
    }
}

/// The tools that the whitelist of a phase names.
fn named(phase: &Phase) -> Option<&[String]> {
    match &phase.tools {
        ToolPolicy::Only(names) => Some(names),
        _ => None,
    }
}

/// The tools that the model is to be shown.
struct Shown {
    tools: Vec<String>,
    /// Those that the user has not chosen.
    added: Vec<String>,
    /// They are others than it is shown already.
    changed: bool,
}

/// Adds these tools to those that the user has chosen: the ones that are shown now, without those that the run added.
fn shown(before: &[String], named: &[String], host: &dyn Host) -> Result<Option<Shown>, Stale> {
    let Some(active) = host.active_tools()? else { return Ok(None) };
    let registered = host.tools()?;
    let mut tools: Vec<String> = active.iter().filter(|tool| !before.contains(tool)).cloned().collect();
    let mut added: Vec<String> = Vec::new();
    for tool in named.iter().filter(|tool| registered.contains(tool)) {
        if !tools.contains(tool) && !added.contains(tool) {
            added.push(tool.clone());
        }
    }
    tools.extend(added.iter().cloned());
    let changed = tools.len() != active.len() || tools.iter().any(|tool| !active.contains(tool));
    Ok(Some(Shown { tools, added, changed }))
}
