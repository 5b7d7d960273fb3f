//! The context prompt of a phase, and the reminder in later agent runs.

use std::borrow::Cow;

use crate::sorted::Set;

use crate::definition::{Entry, ToolPolicy, on_one_line};
use crate::run::{Active, Item, Outline};

use super::calls::leaving_calls;
use super::inputs::inputs;
use super::outputs::expected_outputs;
use super::task::task;
use super::template::resolve_with;
use super::tools::tools_rule;
use super::variables::{NONE, phase_variable};
use super::{gate, limits, outline, results};

/// The last paragraph of the context prompt before the exact calls, without an `advanceReminder` of the workflow. See
/// [`default_reminder`].
pub const DEFAULT_ADVANCE_REMINDER: &str = "When you finish this phase, call the workflow_step tool with action='next' to advance to the next phase. If you need to restart the current scope from the beginning, use action='loop'.";

/// The default `advanceReminder` of a phase that is a whole branch of a parallel group.
const BRANCH_REMINDER: &str =
    "When you finish this phase, call the workflow_step tool with action='next' to end the branch.";

/// The first paragraph of the context prompt, without a `roleInstruction` of the workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DefaultRole {
    /// A tool that delegates to subagents is registered: the agent orchestrates.
    Orchestrator,
    /// No such tool is registered: the agent does the work itself.
    #[default]
    Worker,
}

impl DefaultRole {
    /// Name of the tool that selects [`Self::Orchestrator`].
    pub const DELEGATION_TOOL: &str = "delegate_to_subagents";

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

/// The line of a phase that is a conversation with the user.
const CONVERSATION: &str = "**Conversation:** this phase is a conversation with the user: to ask something, end your turn with the question, and the run waits for the user's answer.";

/// Maximum length of a reminder, in bytes.
const MAX_REMINDER: usize = 300;
/// Maximum length of the workflow path in a reminder, in bytes.
const MAX_REMINDER_PATH: usize = 100;

/// Returns the context prompt of the current phase.
///
/// Specification: hook lifecycle, "buildContextPrompt Details".
pub fn context_prompt(active: &Active, role: DefaultRole) -> String {
    let seen = active.seen();
    let active = &active.with(&seen);
    let root = active.root;
    let phase = active.phase;
    let own = |template: &Option<String>, default: &str| resolve_own(template.as_deref().unwrap_or(default), active, 1);
    let position = match active.is_whole_branch() {
        true => "(the only step of this branch)".to_owned(),
        false => format!(
            "({}/{} {})",
            active.index + 1,
            active.scope.phases.len(),
            if active.is_nested() { "in current scope" } else { "phases" },
        ),
    };
    let mut lines = vec![
        path(active),
        String::new(),
        own(&root.role_instruction, role.text()),
        String::new(),
        format!("**Task:** {}", task(active.state)),
        format!("**Task ID:** {}", active.state.task_id),
        format!("**Current Phase:** {}", phase.title()),
        format!("**Progress:** Step {} {position}", active.state.global_step_count),
    ];
    let values = inputs(active, active.state.current_path.len());
    lines.extend(values.map(|values| format!("**Inputs:** {values}")));
    if let Some(Item { text, number, count }) = active.state.item(active.state.current_path.len(), active.library) {
        lines.push(format!("**Item:** {number} of {count}: {}", on_one_line(&text)));
    }
    let visit = active.state.visit_number();
    if visit > 1 {
        lines.push(format!("**Visit:** {visit}"));
    }
    lines.extend([String::new(), outline::list(active), String::new()]);
    if let Some(results) = results::results(active.state, active.library) {
        lines.extend([results, String::new()]);
    }
    lines.extend(["**What to do in this phase:**".into(), phase_instructions(active), String::new()]);
    let all_profiles = all_profiles(active);
    if !all_profiles.is_empty() {
        let own = names(phase.profiles.as_deref().unwrap_or_default());
        lines.push(format!("**Available subagent profiles for this phase:** {own}"));
        lines.push(format!("**All profiles:** {}", names(&all_profiles)));
    }
    let rule = tools_rule(&phase.tools);
    lines.extend((rule != tools_rule(&ToolPolicy::All)).then(|| format!("**Tools in this phase:** {rule}")));
    lines.extend(limits::limits_line(active));
    lines.extend(limits::hidden_line(active));
    lines.push(hand_over_line(active.needs_summary()));
    lines.extend(phase.interactive.then(|| CONVERSATION.to_owned()));
    lines.push(String::new());
    if let Some(requirements) = gate::requirements(active) {
        lines.extend([requirements, String::new()]);
    }
    if !phase.outputs.is_empty() {
        lines.push("**Outputs:** with `next`, give workflow_step an object `outputs` with these:".into());
        lines.extend(expected_outputs(active));
        lines.push(String::new());
    }
    let reminder = own(&root.advance_reminder, &default_reminder(active));
    lines.extend([reminder.trim_end().to_owned(), String::new(), leaving_calls(active)]);
    lines.join("\n")
}

/// Returns the default of `advanceReminder` for this phase. It does not mention scopes if there is only one, and does
/// not mention `loop` if the scope cannot be restarted.
fn default_reminder(active: &Active) -> Cow<'static, str> {
    if active.is_whole_branch() {
        return BRANCH_REMINDER.into();
    }
    let (advance, restart) = DEFAULT_ADVANCE_REMINDER.split_once(" If ").unwrap_or((DEFAULT_ADVANCE_REMINDER, ""));
    match active.scope.loopable {
        false => advance.into(),
        true if active.is_nested() => DEFAULT_ADVANCE_REMINDER.into(),
        true => format!("{advance} If {}", restart.replace("restart the current scope from", "restart from")).into(),
    }
}

/// Returns the reminder for a later agent run in the same phase, at most 300 bytes.
pub fn context_reminder(active: &Active) -> String {
    let seen = active.seen();
    let active = &active.with(&seen);
    let outline = Outline::of(active);
    let mut path = path(active);
    shorten(&mut path, MAX_REMINDER_PATH);
    let mut reminder = format!(
        "{path}\nStep {}/{}. The instructions of this phase stand above and still hold. ",
        outline.current, outline.total
    );
    match &active.root.advance_reminder {
        Some(own) => reminder.push_str(&resolve_own(own, active, 1)),
        None => reminder.push_str("Phase done? Call workflow_step with action='next'."),
    }
    shorten(&mut reminder, MAX_REMINDER);
    reminder
}

/// Returns names separated by commas, or [`NONE`].
fn names<S: AsRef<str>>(names: &[S]) -> String {
    if names.is_empty() {
        return NONE.to_owned();
    }
    names.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(", ")
}

/// Shortens a text to at most `limit` bytes; a shortened text ends with `…`.
fn shorten(text: &mut String, limit: usize) {
    const SIGN: &str = "…";
    if text.len() > limit {
        let mut end = limit.saturating_sub(SIGN.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push_str(SIGN);
    }
}

fn path(active: &Active) -> String {
    format!("[Workflow path: {} ▸ {}]", active.breadcrumb().join(" > "), active.phase.title())
}

fn hand_over_line(required: bool) -> String {
    let begin = if required { "this phase cannot be left without a" } else { "what later phases must know goes into" };
    format!("**Hand-over:** {begin} `summary`, at most 4,000 characters.")
}

/// Returns the instructions of the current phase with its variables resolved.
pub fn phase_instructions(active: &Active) -> String {
    let seen = active.seen();
    let active = &active.with(&seen);
    resolve_own(&active.phase.instructions, active, active.state.current_path.len())
}

/// Resolves the template of instructions, `roleInstruction` or `advanceReminder`.
///
/// `previousPhaseName` and `nextPhaseName` are phases of the innermost scope; `depth` as in [`run_variable`].
///
/// Specification: template variables, "Phase Instructions Variables".
fn resolve_own(template: &str, active: &Active, depth: usize) -> String {
    resolve_with(template, |name| phase_variable(name, active, depth))
}

/// Returns the profiles of all phases of the root workflow and of the workflows nested in it, without duplicates.
fn all_profiles<'a>(active: &Active<'a>) -> Vec<&'a str> {
    let phases = active.library.entries(active.root).filter_map(Entry::as_phase);
    let names = phases.flat_map(|phase| phase.profiles.iter().flatten());
    let mut seen = Set::new();
    names.map(String::as_str).filter(|name| seen.insert(*name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::{phase, workflow};
    use crate::definition::{Library, Workflow};
    use crate::protocol::STEP_TOOL_NAME;
    use crate::run::RunState;
    use crate::run::path::path_to;

    #[test]
    fn a_phase_of_the_root() {
        let mut plan = phase("plan");
        plan.tools = ToolPolicy::Except(vec!["edit".into(), "write".into()]);
        plan.profiles = Some(vec!["planner".into()]);
        plan.instructions =
            "After {previousPhaseName}, before {nextPhaseName}: {description} without {blockedToolsList}. {unknown}"
                .into();
        let mut root = workflow("rpir", &["research", "x", "build"]);
        root.phases[1] = Entry::phase(plan);
        let library = Library::new(vec![root], &mut Vec::new());
        let mut state = RunState::new("rpir", "Add {phaseName}", 1, 0).at(path_to(&[("rpir", 1)]));
        (state.global_step_count, state.task_id) = (1, "wf-1-abc".into());
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
**Tools in this phase:** all except edit, write; a call of one of those is refused. workflow_step always works.
**Hand-over:** what later phases must know goes into `summary`, at most 4,000 characters.

When you finish this phase, call the workflow_step tool with action='next' to advance to the next phase. If you need to restart from the beginning, use action='loop'.

workflow_step {\"action\": \"next\", \"summary\": \"<what you found or did>\"}"
        );
    }

    #[test]
    fn the_tool_policy_in_words() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        for (policy, rule) in [
            (ToolPolicy::All, "all"),
            (ToolPolicy::Except(names(&[STEP_TOOL_NAME])), "all"),
            (
                ToolPolicy::Except(names(&["bash", STEP_TOOL_NAME])),
                "all except bash; a call of one of those is refused",
            ),
            (ToolPolicy::Only(names(&[])), "none; every call is refused"),
            (ToolPolicy::Only(names(&["read", "grep"])), "only read, grep; a call of any other is refused"),
        ] {
            let line = format!("{rule}. workflow_step always works.");
            assert_eq!(tools_rule(&policy), line);
        }
    }

    #[test]
    fn a_phase_of_a_nested_workflow() {
        let root = Workflow {
            role_instruction: Some("{workflowName} in {breadcrumbPath}".into()),
            advance_reminder: Some("{toolName} to {nextPhaseName} at {globalStepCount}".into()),
            ..workflow("release", &["build", "@review", "deploy"])
        };
        let library = Library::new(vec![root, workflow("review", &["check", "sign"])], &mut Vec::new());
        let mut state = RunState::new("release", "Ship", 1, 0).at(path_to(&[("release", 1), ("review", 1)]));
        state.global_step_count = 7;
        let active = Active::resolve(&state, &library).unwrap();
        let prompt = context_prompt(&active, DefaultRole::Orchestrator);
        for line in [
            "[Workflow path: The release > The review ▸ 🔹 Sign]",
            "The release in The release > The review",
            "**Progress:** Step 7 (2/2 in current scope)",
            "  2. The review > 🔹 Check",
            "▸ 3. The review > 🔹 Sign (current)",
            "  4. 🔹 Deploy",
            "workflow_step to DONE at 7",
        ] {
            assert!(prompt.lines().any(|l| l == line), "{line}\n---\n{prompt}");
        }
        assert!(DefaultRole::Orchestrator.text().starts_with("You are the ORCHESTRATOR"));
    }
}
