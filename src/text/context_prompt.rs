//! What the model is told about its phase.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::definition::{Entry, Library, ToolPolicy};
use crate::run::Active;

use super::steps;
use super::template::resolve;

/// The last paragraph, unless the workflow has its own.
pub const DEFAULT_ADVANCE_REMINDER: &str = "When you finish this phase, call the workflow_step tool with action='next' to advance to the next phase. If you need to restart the current scope from the beginning, use action='loop'.";

/// The first paragraph, unless the workflow has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DefaultRole {
    /// There is a tool that delegates to subagents: the agent orchestrates.
    Orchestrator,
    /// There is none: the agent does the work itself.
    #[default]
    Worker,
}

impl DefaultRole {
    /// The tool that makes the difference.
    pub const DELEGATION_TOOL: &str = "delegate_to_subagents";

    /// The paragraph.
    pub fn text(self) -> &'static str {
        match self {
            Self::Orchestrator => {
                "You are the ORCHESTRATOR for this workflow. You must NOT use the edit or write tools directly. All implementation work must be delegated to subagents via the delegate_to_subagents tool. Follow the phase instructions precisely."
            }
            Self::Worker => {
                "You are working through this workflow, one phase at a time. Do the work of the current phase, and only that. Follow the phase instructions precisely."
            }
        }
    }
}

/// The prompt for the current phase.
///
/// Specification: hook lifecycle, "buildContextPrompt Details".
pub fn context_prompt(active: &Active, role: DefaultRole) -> String {
    let variables = variables(active);
    let root = active.root;
    let phase = active.phase;
    let own = |template: &Option<String>, default: &str| {
        resolve(template.as_deref().unwrap_or(default), &variables)
    };
    let position = format!(
        "({}/{} {})",
        active.index + 1,
        active.scope.phases.len(),
        if active.is_nested() { "in current scope" } else { "phases" },
    );
    let profiles = phase.profiles.as_deref().unwrap_or_default().join(", ");
    [
        format!(
            "[Workflow path: {} ▸ {} {}]",
            active.breadcrumb().join(" > "),
            phase.emoji,
            phase.name
        ),
        String::new(),
        own(&root.role_instruction, role.text()),
        String::new(),
        format!("**Task:** {}", active.state.task_description),
        format!("**Task ID:** {}", active.state.task_id),
        format!("**Current Phase:** {} {}", phase.emoji, phase.name),
        format!("**Progress:** Step {} {position}", active.state.global_step_count),
        String::new(),
        steps::list(active),
        String::new(),
        "**What to do in this phase:**".into(),
        resolve(&phase.instructions, &variables),
        String::new(),
        format!(
            "**Available subagent profiles for this phase:** {}",
            if profiles.is_empty() { "(none)" } else { &profiles }
        ),
        format!("**All profiles:** {}", all_profiles(active).join(", ")),
        String::new(),
        own(&root.advance_reminder, DEFAULT_ADVANCE_REMINDER),
    ]
    .join("\n")
}

/// The instructions of the current phase, its templates resolved.
pub fn phase_instructions(active: &Active) -> String {
    resolve(&active.phase.instructions, &variables(active))
}

/// The variables of instructions, role instruction and advance reminder.
///
/// `previousPhaseName` and `nextPhaseName` are those of the innermost scope.
///
/// Specification: template variables, "Phase Instructions Variables".
fn variables<'a>(active: &Active<'a>) -> [(&'static str, Cow<'a, str>); 12] {
    let blocked = match &active.phase.tools {
        ToolPolicy::Except(refused) if !refused.is_empty() => refused.join(", "),
        _ => "(none)".into(),
    };
    let name = |entry: Option<&'a Entry>, none: &'static str| {
        Cow::Borrowed(entry.map_or(none, |entry| active.library.entry_name(entry)))
    };
    [
        ("workflowName", Cow::Borrowed(&*active.root.name)),
        ("workflowKey", Cow::Borrowed(&*active.state.workflow_key)),
        ("description", Cow::Borrowed(&*active.state.task_description)),
        ("taskId", Cow::Borrowed(&*active.state.task_id)),
        ("phaseId", Cow::Borrowed(&*active.phase.id)),
        ("phaseName", Cow::Borrowed(&*active.phase.name)),
        ("previousPhaseName", name(active.previous(), "(start)")),
        ("nextPhaseName", name(active.next(), "DONE")),
        ("blockedToolsList", Cow::Owned(blocked)),
        ("toolName", Cow::Borrowed("workflow_step")),
        ("breadcrumbPath", Cow::Owned(active.breadcrumb().join(" > "))),
        ("globalStepCount", Cow::Owned(active.state.global_step_count.to_string())),
    ]
}

/// The profiles of all phases of the root workflow and of those nested in it, each once.
fn all_profiles<'a>(active: &Active<'a>) -> Vec<&'a str> {
    fn collect<'a>(
        library: &'a Library,
        entries: &'a [Entry],
        visited: &mut BTreeSet<&'a str>,
        names: &mut Vec<&'a str>,
    ) {
        for entry in entries {
            match entry {
                Entry::Phase(phase) => {
                    for profile in phase.profiles.iter().flatten() {
                        if !names.contains(&profile.as_str()) {
                            names.push(profile);
                        }
                    }
                }
                Entry::Workflow(key) => {
                    if let Some(nested) = library.get(key)
                        && visited.insert(key)
                    {
                        collect(library, &nested.phases, visited, names);
                    }
                }
            }
        }
    }
    let mut names = Vec::new();
    collect(active.library, &active.root.phases, &mut BTreeSet::new(), &mut names);
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Workflow;
    use crate::definition::fixtures::{phase, workflow};
    use crate::run::{RunState, Segment};

    #[test]
    fn a_phase_of_the_root() {
        let mut plan = phase("plan");
        plan.tools = ToolPolicy::Except(vec!["edit".into(), "write".into()]);
        plan.profiles = Some(vec!["planner".into()]);
        plan.instructions = "After {previousPhaseName}, before {nextPhaseName}: {description} without {blockedToolsList}. {unknown}".into();
        let mut root = workflow("rpir", &["research", "x", "build"]);
        root.phases[1] = Entry::Phase(plan);
        let library = Library::new(vec![root], &mut Vec::new());
        let state = RunState {
            current_path: vec![Segment { workflow_key: "rpir".into(), phase_index: 1 }],
            global_step_count: 1,
            task_id: "wf-1-abc".into(),
            ..RunState::new("rpir", "Add {phaseName}", 1, 0)
        };
        let active = Active::resolve(&state, &library).unwrap();
        assert_eq!(
            context_prompt(&active, DefaultRole::Worker),
            "[Workflow path: The rpir ▸ 🔹 Plan]

You are working through this workflow, one phase at a time. Do the work of the current phase, and only that. Follow the phase instructions precisely.

**Task:** Add {phaseName}
**Task ID:** wf-1-abc
**Current Phase:** 🔹 Plan
**Progress:** Step 1 (2/3 phases)

**All steps:**
  1. 🔹 Research
▸ 2. 🔹 Plan (current)
  3. 🔹 Build

**What to do in this phase:**
After Research, before Build: Add {phaseName} without edit, write. {unknown}

**Available subagent profiles for this phase:** planner
**All profiles:** planner

When you finish this phase, call the workflow_step tool with action='next' to advance to the next phase. If you need to restart the current scope from the beginning, use action='loop'."
        );
    }

    #[test]
    fn a_phase_of_a_nested_workflow() {
        let root = Workflow {
            role_instruction: Some("{workflowName} in {breadcrumbPath}".into()),
            advance_reminder: Some("{toolName} to {nextPhaseName} at {globalStepCount}".into()),
            ..workflow("release", &["build", "@review", "deploy"])
        };
        let library =
            Library::new(vec![root, workflow("review", &["check", "sign"])], &mut Vec::new());
        let state = RunState {
            current_path: vec![
                Segment { workflow_key: "release".into(), phase_index: 1 },
                Segment { workflow_key: "review".into(), phase_index: 1 },
            ],
            global_step_count: 7,
            ..RunState::new("release", "Ship", 1, 0)
        };
        let active = Active::resolve(&state, &library).unwrap();
        let prompt = context_prompt(&active, DefaultRole::Orchestrator);
        for line in [
            "[Workflow path: The release > The review ▸ 🔹 Sign]",
            "The release in The release > The review",
            "**Progress:** Step 7 (2/2 in current scope)",
            "  2. The review > 🔹 Check",
            "▸ 3. The review > 🔹 Sign (current)",
            "  4. 🔹 Deploy",
            "**Available subagent profiles for this phase:** (none)",
            "workflow_step to DONE at 7",
        ] {
            assert!(prompt.lines().any(|l| l == line), "{line}\n---\n{prompt}");
        }
        assert!(DefaultRole::Orchestrator.text().starts_with("You are the ORCHESTRATOR"));
    }
}
