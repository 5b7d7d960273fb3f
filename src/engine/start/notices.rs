//! Notices: which workflows there are and why one is not there; the rules of a run that starts.

use crate::definition::{Library, nearest};
use crate::engine::context::Cx;
use crate::engine::effect::Level;
use crate::text;

/// The usage of `/workflow`, with the workflows that can be started.
pub fn usage(library: &Library) -> String {
    let mut workflows: Vec<String> = library
        .for_users()
        .map(|(name, workflow)| format!("  {name} — {}", text::short_name(&workflow.name)))
        .collect();
    if workflows.is_empty() {
        workflows.push("  none yet; /workflow :new NAME writes one".to_owned());
    }
    format!("Usage: /workflow {{name}} {{description}}\n\nAvailable workflows:\n{}", workflows.join("\n"))
}

/// The reason why the project's workflows are missing and how to change it, on a line of its own; empty if nothing is
/// missing.
pub fn untrusted(cx: &mut Cx) -> String {
    let folder = cx.unless_gone(cx.host.untrusted());
    folder.map_or_else(String::new, |folder| format!("\n{}", text::untrusted(&folder, cx.ui.is_terminal())))
}

/// The line about workflows that are missing because pi was started below their folder; empty if there are none.
pub fn above(cx: &mut Cx) -> String {
    let folder = cx.unless_gone(cx.host.workflows_above());
    folder.map_or_else(String::new, |folder| format!("\n{}", text::above(&folder)))
}

/// The reason why a name in a folder of workflows is passed over.
const LEADS_OUT: &str =
    "(a link that leads nowhere, or out of its folder: only workflows in your own folder can lie elsewhere)";

/// The notice for a command name that no workflow has.
pub fn unknown_workflow(name: &str, library: &Library, cx: &mut Cx) -> String {
    if library.left_out().iter().any(|left_out| left_out.is_called(name)) {
        return format!("The workflow \"{name}\" has errors: /workflow :check shows them.");
    }
    let names: Vec<String> = library.for_users().map(|(name, _)| name).collect();
    let available = if names.is_empty() { "(none)".to_owned() } else { names.join(", ") };
    let meant = nearest(name, names.iter().map(String::as_str))
        .map_or(String::new(), |meant| format!("\nDid you mean \"{meant}\"?"));
    let skipped = library.skipped().iter().map(|place| format!("\nNot read: {place} {LEADS_OUT}"));
    format!(
        "Unknown workflow: \"{name}\". Available: {available}{meant}{}{}{}",
        skipped.collect::<String>(),
        untrusted(cx),
        above(cx)
    )
}

/// Tells the user the rules of a run of a workflow, and the names in them that no tool has.
pub fn tell_rules(library: &Library, key: &str, cx: &mut Cx) {
    if cx.gone {
        return;
    }
    let line = text::rules_in_a_line(library, key);
    let tools = cx.unless_gone(cx.host.tools().map(Some));
    let unknown = tools.and_then(|tools| text::unknown_tools(library, key, tools));
    for (level, notice) in [(Level::Warning, unknown), (Level::Info, line)] {
        notice.into_iter().for_each(|notice| cx.notify(level, notice));
    }
}
