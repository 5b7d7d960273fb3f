//! The user's limits, in words for the user.

use crate::definition::{Diagnostic, FoundLimits, OwnLimits, Sandbox, ToolPolicy, UserLimits, on_one_line};

use super::limits::limits_not_known;

/// Notice to a user without limits.
pub const NO_LIMITS: &str = "You have no limits: there is no `limits` in ~/.pi/agent/workflows/settings.yaml.";

/// Returns the words of the status line for the limits; `None` without limits.
pub fn limits_in_brief(found: &FoundLimits, off: bool) -> Option<&'static str> {
    match found {
        FoundLimits::Nothing => None,
        _ if off => Some("limits off"),
        FoundLimits::Unusable(_) => Some("limits not known"),
        FoundLimits::Content(_) => Some("limits"),
    }
}

/// Returns the notice of limits that are not known.
pub fn unusable_limits(diagnostics: &[Diagnostic]) -> String {
    let help = diagnostics.first().and_then(Diagnostic::help).map_or_else(String::new, |help| format!(" ({help})"));
    format!(
        "Every tool call is refused: {}{help}. Correct the file, or use /workflow :limits off for this session.",
        limits_not_known(diagnostics)
    )
}

/// Returns the notice of limits that have changed.
pub fn changed_limits(found: &FoundLimits) -> String {
    match found {
        FoundLimits::Content(limits) => format!("Your limits have changed: {}", in_a_line(limits)),
        FoundLimits::Nothing | FoundLimits::Unusable(_) => NO_LIMITS.to_owned(),
    }
}

/// Returns the notice that the user has switched the limits off or on.
pub fn limits_switched(off: bool) -> &'static str {
    if off {
        "Your limits are off until this session is left, or /workflow :limits on. Branches keep them."
    } else {
        "Your limits are on."
    }
}

/// Returns the panel of `/workflow :limits`.
pub fn limits_panel(found: &FoundLimits, off: bool) -> String {
    let state = if off { "off in this session" } else { "on" };
    match found {
        FoundLimits::Nothing => NO_LIMITS.to_owned(),
        FoundLimits::Unusable(diagnostics) => {
            let errors = diagnostics.iter().map(super::diagnostic_text);
            let errors: Vec<String> = errors.collect();
            format!(
                "Limits: {state}, but not known: every tool call is refused while they are on.\n\n{}",
                errors.join("\n\n")
            )
        }
        FoundLimits::Content(limits) => {
            let lines: Vec<String> = lines(limits).iter().map(|line| format!("- {line}")).collect();
            format!("Limits: {state}, by {}\n{}", on_one_line(&limits.file), lines.join("\n"))
        }
    }
}

fn in_a_line(limits: &UserLimits) -> String {
    lines(limits).join("; ")
}

/// Returns the limits, each in a line.
fn lines(limits: &UserLimits) -> Vec<String> {
    let OwnLimits { write, hide, network, sandbox } = &limits.limits;
    let paths = |paths: &[String]| {
        if paths.is_empty() { "nothing".to_owned() } else { on_one_line(&paths.join(", ")) }
    };
    let write = write.as_deref().map_or_else(|| "everything".to_owned(), paths);
    let mut lines = vec![format!("writable: {write}; never pi's agent folder")];
    lines.extend(hide.as_deref().map(|hide| format!("hidden: {}", paths(hide))));
    if *network == Some(false) {
        lines.push("network of commands: none".to_owned());
    }
    let commands = match sandbox.unwrap_or_default() {
        Sandbox::Required => "in a sandbox; refused where this system has none",
        Sandbox::Preferred => "in a sandbox; without limits where this system has none",
        Sandbox::Off => "without a sandbox: what may be written holds for file tools only",
    };
    lines.push(format!("commands: {commands}"));
    match &limits.tools {
        ToolPolicy::All => {}
        ToolPolicy::Except(refused) if refused.is_empty() => {}
        ToolPolicy::Except(refused) => lines.push(format!("refused tools: {}", named(refused))),
        ToolPolicy::Only(allowed) => {
            lines.push(format!("tools: {}; every other is refused", named(allowed)));
        }
    }
    lines
}

fn named(entries: &[String]) -> String {
    if entries.is_empty() { "none".to_owned() } else { on_one_line(&entries.join(", ")) }
}
