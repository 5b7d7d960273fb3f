//! The rules of a run in one line, for the user at the start of the run.

use super::names::{first_of, short_name};
use crate::definition::{Library, Limits, Phase, Surroundings, ToolPolicy, Workflow};

/// Maximum number of names in a part of the line.
const MAX_NAMES: usize = 3;

/// Returns the rules that hold in a run of a workflow, such as "read-only except docs/ in 2 of 5 phases; no network in
/// review; 3 gates"; `None` without rules.
pub fn rules_in_a_line(library: &Library, key: &str) -> Option<String> {
    let phases = phases(library, key);
    let mut parts: Vec<String> = Vec::new();
    let (mut written, mut hidden) = (Vec::new(), Vec::new());
    let (mut offline, mut open, mut listed) = (Vec::new(), Vec::new(), Vec::new());
    for (phase, scope) in phases.iter().filter(|(phase, _)| phase.is_of_agent()) {
        let limits = Limits::of(phase, scope);
        if let Some(write) = limits.write.as_deref() {
            add(&mut written, write, phase);
        }
        if !limits.hide.is_empty() {
            add(&mut hidden, limits.hide, phase);
        }
        if !limits.network {
            offline.push(*phase);
        }
        if !limits.hold_commands() && limits.write.is_some() {
            open.push(*phase);
        }
        if phase.tools != ToolPolicy::All {
            listed.push(*phase);
        }
    }
    let place = |of: &[&Phase]| place(of, phases.len());
    for (paths, of) in &written {
        let except = if paths.is_empty() { String::new() } else { format!(" except {}", in_brief(paths)) };
        parts.push(format!("read-only{except}{}", place(of)));
    }
    parts.extend(hidden.iter().map(|(paths, of)| format!("{} hidden{}", in_brief(paths), place(of))));
    for (words, of) in [("no network", offline), ("commands not confined", open), ("some tools only", listed)] {
        if !of.is_empty() {
            parts.push(format!("{words}{}", place(&of)));
        }
    }
    let gates = phases.iter().filter(|(phase, _)| phase.gate.is_some()).count();
    match gates {
        0 => {}
        1 => parts.push("1 gate".into()),
        _ => parts.push(format!("{gates} gates")),
    }
    let has_budget = |workflow: &&Workflow| !workflow.budget.0.is_empty();
    let of_workflows = library.reached(key).unwrap_or_default().iter().any(has_budget);
    if of_workflows || phases.iter().any(|(phase, _)| !phase.budget.0.is_empty()) {
        parts.push("a budget".into());
    }
    (!parts.is_empty()).then(|| format!("Rules of this run: {}.", parts.join("; ")))
}

/// Paths, and the phases that have them.
type Paths<'a> = (Vec<String>, Vec<&'a Phase>);

fn add<'a>(all: &mut Vec<Paths<'a>>, paths: &[String], phase: &'a Phase) {
    let mut paths = paths.to_vec();
    paths.sort();
    match all.iter_mut().find(|(other, _)| *other == paths) {
        Some((_, phases)) => phases.push(phase),
        None => all.push((paths, vec![phase])),
    }
}

/// Returns the phases that a run of a workflow can reach, each with the workflow or group that lists the phase.
fn phases<'a>(library: &'a Library, key: &'a str) -> Vec<(&'a Phase, &'a Workflow)> {
    let reached = library.reached(key).unwrap_or_default().into_iter();
    reached.flat_map(|scope| scope.own_phases().map(move |phase| (phase, scope))).collect()
}

/// Returns the phases in which a rule holds: their ids, or their number.
fn place(of: &[&Phase], count: usize) -> String {
    if of.len() == count {
        return String::new();
    }
    match of {
        [only] => format!(" in {}", short_name(&only.id)),
        of => format!(" in {} of {count} phases", of.len()),
    }
}

fn in_brief(paths: &[String]) -> String {
    first_of(paths.iter().map(|path| short_name(path)), MAX_NAMES)
}

/// Returns the warning of names in the lists of tools of a workflow that no tool has; `None` without such names, or if
/// the tools are not known.
pub fn unknown_tools(library: &Library, key: &str, tools: Vec<String>) -> Option<String> {
    let known = Surroundings { tools, ..Surroundings::default() };
    let mut unknown: Vec<&String> = Vec::new();
    for (phase, _) in phases(library, key) {
        let names: &[String] = match &phase.tools {
            ToolPolicy::All => &[],
            ToolPolicy::Except(names) | ToolPolicy::Only(names) => names,
        };
        unknown.extend(names.iter().filter(|name| known.lacks_tool(name)));
    }
    unknown.sort();
    unknown.dedup();
    if known.tools.is_empty() || unknown.is_empty() {
        return None;
    }
    let named = unknown.iter().map(|name| {
        let meant = known.nearest_tool(name).map(|meant| format!(" (did you mean `{meant}`?)"));
        format!("`{}`{}", short_name(name), meant.unwrap_or_default())
    });
    Some(format!("No tool has a name that the workflow lists: {}.", first_of(named, MAX_NAMES)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::Files;

    /// A workflow of five phases with these lines of front matter.
    fn library(flow: &str, phases: [&str; 5]) -> Library {
        let mut files = Files::default();
        for (index, lines) in phases.iter().enumerate() {
            let text = format!("---\nid: p{index}\nname: P\nemoji: '*'\n{lines}---\nDo it.\n");
            files.global.insert(format!("w/p{index}.md"), text);
        }
        let text =
            "name: W\ncommandName: w\ninitialMessage: Go\nphases: [p0.md, p1.md, {phases: [p2.md]}, p3.md, p4.md]\n";
        files.global.insert("w/workflow.yaml".into(), format!("{text}{flow}"));
        let (library, diagnostics) = Library::load(&files).unwrap();
        assert_eq!(diagnostics, []);
        library
    }

    #[test]
    fn the_rules_of_a_run_are_told_in_a_line() {
        let gate = "gate: [{ run: make }]\n";
        for (flow, phases, expected) in [
            ("", ["", "", "", "", ""], None),
            ("author: me\n", ["interactive: true\n", "", "", "", ""], None),
            (
                "",
                ["write: [docs/]\n", "write: [docs/]\ngate: [{ run: x }]\n", "network: false\n", gate, gate],
                Some("read-only except docs/ in 2 of 5 phases; no network in p2; 3 gates"),
            ),
            ("write: []\nnetwork: false\n", ["", "", "", "", ""], Some("read-only; no network")),
            (
                "hide: [.env]\n",
                ["write: [a, b, c, d]\n", "hide: []\n", "", "", ""],
                Some("read-only except a, b, c and 1 more in p0; .env hidden in 4 of 5 phases"),
            ),
            (
                "budget: { turns: 3 }\n",
                ["tools: { whitelist: [read] }\n", "write: []\nsandbox: off\n", "", "", ""],
                Some("read-only in p1; commands not confined in p1; some tools only in p0; a budget"),
            ),
        ] {
            let library = library(flow, phases);
            let line = rules_in_a_line(&library, "w");
            assert_eq!(line, expected.map(|rules| format!("Rules of this run: {rules}.")));
        }
    }

    #[test]
    fn names_that_no_tool_has_are_told_with_the_nearest() {
        let tools = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let lists = "tools: { blacklist: [edi, edit, bash] }\n";
        let library = library("", [lists, "tools: { whitelist: [read, other, edi, workflow_step] }\n", "", "", ""]);
        let known = tools(&["read", "edit", "bash"]);
        assert_eq!(
            unknown_tools(&library, "w", known).unwrap(),
            "No tool has a name that the workflow lists: `edi` (did you mean `edit`?), `other`."
        );
        assert_eq!(unknown_tools(&library, "w", tools(&["read", "edit", "bash", "edi", "other"])), None);
        assert_eq!(unknown_tools(&library, "w", tools(&[])), None);
    }
}
