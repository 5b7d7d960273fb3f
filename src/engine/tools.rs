//! The tools that the model is shown. A phase shows those that its whitelist names, and may hide those that it refuses;
//! the next phase, or the end of the run, gives back what it changed. Changes of others meanwhile stay.

use super::host::Host;
use crate::definition::{Phase, Stale, ToolPolicy, is_carrier};
use crate::protocol::STEP_TOOL_NAME;
use crate::run::{Active, RunState};

use super::context::Cx;
use super::effect::Effect;
use super::state::Engine;

impl Engine {
    /// Returns the state with the tools that it changes, and sets the tools that the model is shown.
    pub(super) fn with_tools(&self, mut new: RunState, cx: &mut Cx) -> RunState {
        let active = Active::resolve(&new, self.definitions.library());
        let phase = active.map(|active| (active.phase, active.root.hides_tools));
        let progress = &new.progress;
        let changes = match phase {
            Some((phase, hides)) => hides || matches!(phase.tools, ToolPolicy::Only(_)),
            None => false,
        };
        if !changes && progress.tools_added.is_empty() && progress.tools_hidden.is_empty() {
            return new;
        }
        let Ok(Some(arranged)) = arrange(&new, phase, cx.host) else { return new };
        if let Some(shown) = arranged.shown {
            cx.push(Effect::SetActiveTools(shown));
        }
        (new.progress.tools_added, new.progress.tools_hidden) = (arranged.added, arranged.hidden);
        new
    }
}

/// The tools that the model is to be shown.
struct Arranged {
    /// All of them; `None` if they are those that it is shown already.
    shown: Option<Vec<String>>,
    /// Those that the user has not chosen.
    added: Vec<String>,
    /// Those that the user has chosen and that are not shown.
    hidden: Vec<String>,
}

fn arrange(state: &RunState, phase: Option<(&Phase, bool)>, host: &dyn Host) -> Result<Option<Arranged>, Stale> {
    let Some(active) = host.active_tools()? else { return Ok(None) };
    let registered = host.tools()?;
    let (added, hidden) = (&state.progress.tools_added, &state.progress.tools_hidden);
    // The choice of the user: the tools that are shown now, without the changes of the run.
    let mut chosen: Vec<String> = active.iter().filter(|tool| !added.contains(tool)).cloned().collect();
    let back = hidden.iter().filter(|tool| !active.contains(tool) && registered.contains(tool));
    chosen.extend(back.cloned());
    let mut shown = chosen.clone();
    if let Some((phase, hides)) = phase {
        if let ToolPolicy::Only(names) = &phase.tools {
            let more = names.iter().filter(|tool| registered.contains(tool));
            for tool in more {
                if !shown.contains(tool) {
                    shown.push(tool.clone());
                }
            }
        }
        if hides {
            shown.retain(|tool| tool == STEP_TOOL_NAME || is_carrier(tool) || phase.tools.allows(tool));
        }
    }
    let without = |tools: &[String], others: &[String]| -> Vec<String> {
        tools.iter().filter(|tool| !others.contains(tool)).cloned().collect()
    };
    let (added, hidden) = (without(&shown, &chosen), without(&chosen, &shown));
    let is_shown = shown.len() == active.len() && shown.iter().all(|tool| active.contains(tool));
    Ok(Some(Arranged { shown: (!is_shown).then_some(shown), added, hidden }))
}
