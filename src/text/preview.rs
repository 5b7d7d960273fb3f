//! Preview of a workflow for its author: all phases, also nested ones, and the resolved templates.

use crate::definition::{Library, Workflow, on_one_line};
use crate::run::{Active, Outline, RunState, Step, enter, go_to};

use super::graph::{failure_note, gate_note, noted};
use super::{
    DefaultRole, block_reason, completion_message, context_prompt, description, initial_message,
    not_done_reminder, phase_instructions, sample_evidence, session_name, steps,
};

/// Maximum number of phases in a preview.
const MAX_STEPS: usize = 200;

/// Returns the phases of a workflow and of those nested in it, and each of its templates, resolved for a sample task.
pub fn preview(workflow: &Workflow, library: &Library, task: &str) -> String {
    let first = enter(&RunState::new(&workflow.key, task, SAMPLE_TIME, 0), library);
    let Some(active) = Active::resolve(&first, library) else { return String::new() };
    let mut parts = vec![head(workflow, library)];
    let all = Outline::steps(&active, 1, MAX_STEPS);
    let list: Vec<String> = all
        .iter()
        .flat_map(|step| listed(step, &go_to(&first, step.path.clone()), library))
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
    let ended = all.iter().fold(first.clone(), |state, step| {
        let state = go_to(&state, step.path.clone()).begun(step.number);
        let evidence = Active::resolve(&state, library).map(|active| sample_evidence(&active));
        state.with_evidence(evidence.unwrap_or_default())
    });
    parts.push(titled("completionMessage", &completion_message(&ended, workflow, library)));
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
    let gate = workflow.gate.as_ref();
    lines.extend(gate_note(gate).map(|note| {
        let failure = failure_note(gate, workflow, library);
        format!("At its end, {note}{}.", failure.map_or(String::new(), |note| format!("; {note}")))
    }));
    let lines: Vec<String> = lines.iter().map(|line| on_one_line(line)).collect();
    lines.join("\n")
}

/// Returns a step of the list with its tool policy, its limits, its gate, and the gates of the nested workflows that end with it. The
/// gate of the workflow itself is above the list.
fn listed(step: &Step, state: &RunState, library: &Library) -> Vec<String> {
    const INDENT: &str = "     ";
    let name = format!("{:>3}. {}", step.number, steps::name(step));
    let Some(active) = Active::resolve(state, library) else { return vec![name] };
    let mut lines = noted(&name, step.phase, active.scope, library, INDENT);
    for (_, scope) in active.ending_scopes().filter(|(depth, _)| *depth > 1) {
        let gate = scope.gate.as_ref();
        let of = gate_note(gate).map(|note| format!("{}, at its end: {note}", scope.name));
        let notes = of.into_iter().chain(failure_note(gate, scope, library));
        lines.extend(notes.map(|note| on_one_line(&format!("{INDENT}{note}"))));
    }
    lines
}

fn titled(title: &str, text: &str) -> String {
    format!("━━ {} ━━\n\n{}", on_one_line(title), text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::workflow;
    use crate::definition::{Check, CheckKind, Gate, OnGateFail};

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

    #[test]
    fn gates_of_nested_workflows_are_shown() {
        let gate = |label: &str, on_fail| {
            let kind = CheckKind::Run { command: label.into(), timeout_ms: 1 };
            let checks = vec![Check { label: label.into(), kind }];
            Some(Gate { checks, attempts: 3, on_fail })
        };
        let mut root = workflow("w", &["a", "@s", "@s"]);
        root.completion_message = Some("Done:\n{evidence}".into());
        root.gate = gate("make all", OnGateFail::Phase("a".into()));
        let mut nested = workflow("s", &["b", "@t"]);
        nested.gate = gate("make s", OnGateFail::Loop);
        let mut inner = workflow("t", &["c"]);
        inner.gate = gate("make t", OnGateFail::Stay);
        let library = Library::new(vec![root, nested, inner], &mut Vec::new());
        let text = preview(library.get("w").unwrap(), &library, "the task");
        for part in [
            "At its end, gate: make all; on failure: back to 🔹 A.",
            "  1. 🔹 A
  2. The s > 🔹 B
  3. The s > The t > 🔹 C
     The t, at its end: gate: make t
     The s, at its end: gate: make s
     on failure: back to 🔹 B
  4. The s > 🔹 B
  5. The s > The t > 🔹 C
     The t, at its end: gate: make t
     The s, at its end: gate: make s
     on failure: back to 🔹 B
",
            "━━ completionMessage ━━\n\nDone:
- 🔹 C: ✓ make t: exit status 0, 1s
- 🔹 C: ✓ make s: exit status 0, 1s
- 🔹 C: ✓ make t: exit status 0, 1s
- 🔹 C: ✓ make s: exit status 0, 1s
- 🔹 C: ✓ make all: exit status 0, 1s",
        ] {
            assert!(text.contains(part), "{part}\n---\n{text}");
        }
    }
}
