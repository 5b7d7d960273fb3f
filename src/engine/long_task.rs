//! A task that is too long for the state entries of its run. A separate entry holds the whole task, so that no agent
//! can change the task that commands get. The file in the folder of the run is for the agent, and is written anew when
//! a session restores the run.

use serde_json::{Value, json};

use crate::protocol::TASK_ENTRY_TYPE;
use crate::run::RunState;

use super::context::Cx;
use super::effect::Effect;

/// Stores the whole task before the first state of its run.
pub(super) fn store(state: &RunState, cx: &mut Cx) {
    if let Some((custom_type, data)) = entry(state) {
        cx.push(Effect::AppendEntry { custom_type, data });
    }
}

/// The entry with the whole task of a run, if the task is too long for the state entries.
pub(super) fn entry(state: &RunState) -> Option<(&'static str, Value)> {
    let text = state.progress().long_task.as_ref()?.text()?;
    Some((TASK_ENTRY_TYPE, json!({ "taskId": state.task_id, "text": text })))
}

/// Restores the whole task of a run that the session stores.
pub(super) fn restore(mut state: RunState, cx: &mut Cx) -> RunState {
    if state.progress().long_task.is_none() {
        return state;
    }
    let entries = cx.unless_gone(cx.host.entries(TASK_ENTRY_TYPE).map(Some)).unwrap_or_default();
    for entry in entries {
        let Ok(entry) = serde_json::from_str::<Value>(&entry) else { continue };
        if entry.get("taskId").and_then(Value::as_str) == Some(&state.task_id) {
            state = state.with_whole_task(entry.get("text").and_then(Value::as_str).unwrap_or_default());
        }
    }
    state
}
