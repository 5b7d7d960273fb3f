//! The tools that the model is shown. A run adds its own tool, and a phase adds the tools of its whitelist; the next
//! phase, or the end of the run, removes the added tools. Changes by others stay, except for the run's own tool: a set
//! of active tools that pi has stored, or that another extension sets, may lack this tool.

use std::iter::once;

use super::host::Host;
use crate::definition::{Library, Phase, Stale, ToolPolicy, means_tool};
use crate::protocol::{PROPOSE_TOOL_NAME, STEP_TOOL_NAME};
use crate::run::{Active, RunState};
use crate::text;

use super::context::Cx;
use super::effect::{Effect, Level};
use super::state::{Run, Session};

/// Returns the state with the tools that it adds, and sets the tools that the model is shown.
pub(super) fn with_tools(new: RunState, library: &Library, cx: &mut Cx) -> RunState {
    let phase = Active::resolve(&new, library).map(|active| active.phase);
    let named: Vec<&str> = phase.map(named).unwrap_or_default();
    if named.is_empty() && new.progress().tools_added.is_empty() {
        return new;
    }
    let shown = match shown(&new.progress().tools_added, &named, cx.host) {
        Ok(Some(shown)) => shown,
        Ok(None) => return new,
        Err(Stale) => {
            cx.gone = true;
            return new;
        }
    };
    if shown.changed {
        cx.push(Effect::SetActiveTools(shown.tools));
    }
    new.with_tools(shown.added)
}

/// Shows the model the run's own tool before the agent goes on, if another extension has removed it. Tells the user
/// if pi does not have this tool.
pub(super) fn keep_step_tool(run: &mut Run, session: &mut Session, cx: &mut Cx) -> Result<(), Stale> {
    if run.active().is_none() {
        return Ok(());
    }
    let Some(mut tools) = cx.host.active_tools()? else { return Ok(()) };
    if tools.iter().any(|tool| tool == STEP_TOOL_NAME) {
        return Ok(());
    }
    if lacks_step_tool(cx.host)? {
        if !std::mem::replace(&mut session.told_no_step_tool, true) {
            cx.notify(Level::Error, text::NO_STEP_TOOL);
        }
        return Ok(());
    }
    tools.push(STEP_TOOL_NAME.to_owned());
    cx.push(Effect::SetActiveTools(tools));
    run.change_unstored(|state, _| {
        let mut added = state.progress().tools_added.clone();
        if !added.iter().any(|tool| tool == STEP_TOOL_NAME) {
            added.push(STEP_TOOL_NAME.to_owned());
        }
        state.with_tools(added)
    });
    Ok(())
}

/// Shows a tool to the model, or takes it away, also in the set that an earlier effect of this event makes. Returns true
/// if the set is changed.
pub(super) fn show_tool(name: &str, shows: bool, cx: &mut Cx) -> Result<bool, Stale> {
    let change = |tools: &mut Vec<String>| {
        let has = tools.iter().any(|tool| tool == name);
        match shows {
            true if !has => tools.push(name.to_owned()),
            false if has => tools.retain(|tool| tool != name),
            _ => return false,
        }
        true
    };
    let set = cx.effects.iter_mut().rev().find_map(|effect| match effect {
        Effect::SetActiveTools(tools) => Some(tools),
        _ => None,
    });
    if let Some(tools) = set {
        return Ok(change(tools));
    }
    let Some(mut tools) = cx.host.active_tools()? else { return Ok(false) };
    let is_changed = change(&mut tools);
    if is_changed {
        // Before the prompt of a run that starts with this event.
        cx.effects.insert(0, Effect::SetActiveTools(tools));
    }
    Ok(is_changed)
}

/// Returns true if pi does not have the run's own tool in this session: an option of its command line has removed it.
/// No phase can be left then.
pub(super) fn lacks_step_tool(host: &dyn Host) -> Result<bool, Stale> {
    let is_step_tool = |tool: &String| tool == STEP_TOOL_NAME;
    let Some(active) = host.active_tools()? else { return Ok(false) };
    Ok(!active.iter().any(is_step_tool) && !host.tools()?.iter().any(is_step_tool))
}

/// The tools that a run in this phase needs: its own tool, and the entries of the whitelist of the phase.
fn named(phase: &Phase) -> Vec<&str> {
    let listed: &[String] = match &phase.tools {
        ToolPolicy::Only(names) => names,
        _ => &[],
    };
    listed.iter().map(String::as_str).chain(once(STEP_TOOL_NAME)).collect()
}

/// The tools that the model is to be shown.
struct Shown {
    tools: Vec<String>,
    /// The tools that the run has added.
    added: Vec<String>,
    /// The tools differ from the tools that the model is shown now.
    changed: bool,
}

/// Adds the tools that the entries of `named` mean to the user's tools: the active tools without `before`, which the run added.
fn shown(before: &[String], named: &[&str], host: &dyn Host) -> Result<Option<Shown>, Stale> {
    let Some(active) = host.active_tools()? else { return Ok(None) };
    let registered = host.tools()?;
    let mut tools: Vec<String> = active.iter().filter(|tool| !before.contains(tool)).cloned().collect();
    let mut added: Vec<String> = Vec::new();
    for tool in named
        .iter()
        .flat_map(|entry| registered.iter().filter(|tool| means_tool(entry, tool) && *tool != PROPOSE_TOOL_NAME))
    {
        if !tools.contains(tool) && !added.contains(tool) {
            added.push(tool.clone());
        }
    }
    tools.extend(added.iter().cloned());
    let changed = tools.len() != active.len() || tools.iter().any(|tool| !active.contains(tool));
    Ok(Some(Shown { tools, added, changed }))
}
