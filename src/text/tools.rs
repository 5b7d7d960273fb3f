//! The tools of a phase, in words.

use std::borrow::Cow;

use crate::definition::ToolPolicy;
use crate::protocol::STEP_TOOL_NAME;
use crate::run::Active;

use super::template::resolve_with;
use super::variables::value_variable;

/// Refusal of a tool call, without a `blockReasonTemplate` of the workflow.
pub const DEFAULT_BLOCK_REASON: &str = "[workflow] The tool \"{toolName}\" is blocked during the {phaseName} phase.\nRefer to the current phase instructions for allowed tools and approaches.\nWhen finished, call workflow_step to advance to the next phase.";

/// Returns a sentence with the tools that a policy allows and refuses.
pub(super) fn tools_rule(tools: &ToolPolicy) -> String {
    let others = |names: &[String]| {
        let others = names.iter().map(String::as_str).filter(|name| *name != STEP_TOOL_NAME);
        others.collect::<Vec<_>>().join(", ")
    };
    let (names, only) = match tools {
        ToolPolicy::All => (String::new(), false),
        ToolPolicy::Except(refused) => (others(refused), false),
        ToolPolicy::Only(allowed) => (others(allowed), true),
    };
    let rule = match (names.is_empty(), only) {
        (true, false) => "all".into(),
        (true, true) => "none; every call is refused".into(),
        (false, false) => format!("all except {names}; a call of one of those is refused"),
        (false, true) => format!("only {names}; a call of any other is refused"),
    };
    format!("{rule}. {STEP_TOOL_NAME} always works.")
}

/// Returns the reason why the current phase refuses a tool; `None` if it allows the tool.
///
/// Specification: hook lifecycle, "Block Reason Template".
pub fn block_reason(active: &Active, tool: &str) -> Option<String> {
    let policy = &active.phase.tools;
    if policy.allows(tool) {
        return None;
    }
    let allowed = match policy {
        ToolPolicy::All => String::new(),
        ToolPolicy::Except(refused) => format!("all except: {}", refused.join(", ")),
        ToolPolicy::Only(allowed) => allowed.join(", "),
    };
    let own = active.root.block_reason_template.as_deref();
    let mut reason = resolve_with(own.unwrap_or(DEFAULT_BLOCK_REASON), |name| {
        Some(match name {
            "workflowName" => Cow::Borrowed(&*active.root.name),
            "phaseName" => Cow::Borrowed(&*active.phase.name),
            "toolName" => Cow::Borrowed(tool),
            "allowedTools" => Cow::Borrowed(&*allowed),
            _ => value_variable(name, active.state, 1, active.library)?,
        })
    });
    if own.is_none() {
        reason.push_str(&format!("\nTools in this phase: {}", tools_rule(policy)));
    }
    Some(reason)
}
