//! A workflow as its author reads it: all that is nested in it, and what its templates become.

use crate::definition::{Library, Workflow, on_one_line};
use crate::run::{Active, Outline, RunState, enter, go_to};

use super::graph::{gate_note, noted};
use super::{
    DefaultRole, block_reason, completion_message, context_prompt, description, initial_message,
    not_done_reminder, phase_instructions, session_name, steps,
};

/// How many phases are shown at most.
const MAX_STEPS: usize = 200;

/// The phases of a workflow and of those nested in it, and every template of it for a sample task.
pub fn preview(workflow: &Workflow, library: &Library, task: &str) -> String {
    let first = enter(&RunState::new(&workflow.key, task, SAMPLE_TIME, 0), library);
    let Some(active) = Active::resolve(&first, library) else { return String::new() };
    let mut parts = vec![head(workflow, library)];
    let all = Outline::steps(&active, 1, MAX_STEPS);
    let list: Vec<String> = all
        .iter()
        .flat_map(|step| {
            noted(&format!("{:>3}. {}", step.number, steps::name(step)), step.phase, "     ")
        })
        .collect();
    parts.push(titled("Phases", &list.join("\n")));
    parts.push(titled("Session name", &session_name(workflow, &first.task_description)));
    parts.push(titled("initialMessage", &initial_message(workflow, library, task)));
    parts.push(titled(
        "Context prompt of the first phase",
        &context_prompt(&active, DefaultRole::Worker),
    ));
    for step in &all {
        let state = go_to(&first, step.path.clone());
        if let Some(active) = Active::resolve(&state, library) {
            let title = format!("Instructions of {}. {}", step.number, steps::name(step));
            parts.push(titled(&title, &phase_instructions(&active)));
        }
    }
    let refused = all.iter().find_map(|step| {
        let state = go_to(&first, step.path.clone());
        block_reason(&Active::resolve(&state, library)?, "edit")
    });
    parts.extend(refused.map(|reason| titled("blockReasonTemplate, for edit", &reason)));
    parts.push(titled("notDoneReminder, in the first phase", &not_done_reminder(&active, false)));
    parts.push(titled("completionMessage", &completion_message(&first, workflow, library)));
    parts.join("\n\n")
}

/// 2026-01-01T00:00:00Z.
const SAMPLE_TIME: u64 = 1_767_225_600_000;

fn head(workflow: &Workflow, library: &Library) -> String {
    let mut lines = vec![format!("{} ({})", workflow.name, workflow.folder)];
    lines.extend(description(workflow, library));
    lines.push(if workflow.command_name.is_empty() {
        format!("Used by other workflows as `subworkflow: {}`.", workflow.key)
    } else {
        format!("Started by /workflow {} TASK.", workflow.command_name)
    });
    lines.extend(gate_note(workflow.gate.as_ref()).map(|note| format!("At its end, {note}.")));
    let lines: Vec<String> = lines.iter().map(|line| on_one_line(line)).collect();
    lines.join("\n")
}

fn titled(title: &str, text: &str) -> String {
    format!("━━ {} ━━\n\n{}", on_one_line(title), text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::workflow;

    #[test]
    fn everything_is_resolved() {
        let library =
            Library::new(vec![workflow("w", &["a", "@s"]), workflow("s", &["b"])], &mut Vec::new());
        let text = preview(library.get("w").unwrap(), &library, "the task");
        assert!(!text.contains('{'), "{text}");
        for part in [
            "The w (workflows/w)\n",
            "Started by /workflow w TASK.",
            "  1. 🔹 A\n  2. The s > 🔹 B\n",
            "━━ initialMessage ━━\n\nStart The w: the task",
            "━━ Instructions of 2. The s > 🔹 B ━━\n\nDo b for the task.",
            "━━ completionMessage ━━\n\n✅ **The w Complete**",
        ] {
            assert!(text.contains(part), "{part}\n---\n{text}");
        }
    }
}
