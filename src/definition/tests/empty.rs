//! Fields without a value. Every field but a text is a rule, and an empty rule protects nothing.

use super::*;
use crate::definition::schema::{BUDGET_FIELDS, CHECK_FIELDS, ENTRY_FIELDS, Field, INPUT_FIELDS, Kind, TOOLS_FIELDS};

fn phase_with(lines: &str) -> String {
    without(PHASE, lines).replacen("---\n", &format!("---\n{lines}"), 1)
}

/// Returns a file without the line of the first field in `lines`.
fn without(file: &str, lines: &str) -> String {
    let field = lines.split_inclusive(':').next().unwrap_or(lines);
    file.split_inclusive('\n').filter(|line| lines.is_empty() || !line.starts_with(field)).collect()
}

/// Returns the errors of a workflow with these lines, and of a workflow whose phase has these lines.
fn errors(flow: &str, phase: &str) -> (bool, Vec<String>) {
    let (library, diagnostics) = load(&[
        ("w/workflow.yaml", &format!("{}{flow}", without(FLOW, flow))),
        ("w/a.md", &phase_with(phase)),
        ("v/workflow.yaml", "name: V\nshow: workflows\nphases: [../w/b.md]\n"),
        ("w/b.md", PHASE),
    ]);
    (library.get("w").is_some(), diagnostics)
}

#[track_caller]
fn has_no_value((loads, diagnostics): (bool, Vec<String>), name: &str) {
    assert!(!loads, "{name}");
    let [diagnostic] = &diagnostics[..] else { panic!("{name}: {diagnostics:?}") };
    assert!(diagnostic.ends_with(&format!(": `{name}` has no value")), "{diagnostic}");
}

#[test]
fn each_field_of_a_file_that_is_a_rule_needs_a_value() {
    let mut rules = 0;
    let mut check = |field: &Field, read: &dyn Fn(&str) -> (bool, Vec<String>)| {
        if field.is_required {
            return;
        }
        let name = field.name;
        let blank = match field.kind {
            _ if field.may_be_empty() => return assert_eq!(read(name), (true, vec![]), "{name}"),
            Kind::OneOf(_) => &["", "null", "~", "''", "' '", "# none"][..],
            Kind::NameOrNames => &["", "~", "''", "[]", "# none"],
            Kind::Mapping { .. } => &["", "~", "{}", "# none"],
            _ => &["", "~", "# none"],
        };
        for value in blank {
            has_no_value(read(&format!("{name}: {value}\n")), name);
            rules += 1;
        }
    };
    for field in Workflow::FIELDS {
        let line = |line: &str| errors(&with_colon(line), "");
        check(field, &line);
    }
    for field in Phase::FIELDS {
        let line = |line: &str| errors("", &with_colon(line));
        check(field, &line);
    }
    assert!(rules > 90, "{rules}");
}

fn with_colon(line: &str) -> String {
    if line.contains(':') { line.to_owned() } else { format!("{line}:\n") }
}

#[test]
fn each_field_of_a_part_that_is_a_rule_needs_a_value() {
    let of_check = |field: &Field| match field.name {
        "run" | "file" => format!("gate:\n  - {}:\n", field.name),
        name => format!("gate:\n  - run: a\n    {name}:\n"),
    };
    for field in &CHECK_FIELDS {
        has_no_value(errors("", &of_check(field)), &format!("gate.{}", field.name));
    }
    for field in &BUDGET_FIELDS {
        let lines = format!("budget: {{{}: }}\n", field.name);
        has_no_value(errors("", &lines), &format!("budget.{}", field.name));
        has_no_value(errors(&lines, ""), &format!("budget.{}", field.name));
    }
    for field in &TOOLS_FIELDS {
        let lines = format!("tools:\n  {}:\n", field.name);
        has_no_value(errors("", &lines), &format!("tools.{}", field.name));
    }
    for field in &INPUT_FIELDS {
        let lines = format!("inputs:\n  x:\n    {}:\n    type: text\n", field.name);
        match field.name {
            "type" => {}
            "description" => assert_eq!(errors(&lines, ""), (true, vec![])),
            name => has_no_value(errors(&lines, ""), &format!("inputs.x.{name}")),
        }
    }
    for field in &ENTRY_FIELDS {
        let line = format!("  - subworkflow: v\n    {}:\n", field.name);
        let line = if field.name == "subworkflow" { "  - subworkflow:\n".to_owned() } else { line };
        has_no_value(errors(&line, ""), field.name);
    }
    has_no_value(errors("  - subworkflow: v\n    with: {}\n", ""), "with");
    has_no_value(errors("  - phase:\n", ""), "phase");
}

#[test]
fn an_entry_is_a_phase_or_a_workflow() {
    let (loads, diagnostics) = errors("  - {phase: a.md, subworkflow: 7}\n", "");
    assert!(!loads);
    let expected = "~/workflows/w/workflow.yaml:6:5: `phases`: expected a file name, `phase: FILE`, `subworkflow: KEY`, `prompt: TEXT`, `run: COMMAND`, `ask: QUESTION` or `phases: [ENTRY, …]`, found a mapping";
    assert_eq!(diagnostics, [expected]);
}

#[test]
fn two_at_once_are_two_errors() {
    let (_, diagnostics) = errors("write:\nbudget: {}\n", "tools:\ngate:\n");
    let found: Vec<&str> = diagnostics.iter().filter_map(|text| Some(text.split_once(": ")?.1)).collect();
    let expected = ["write", "budget", "tools", "gate"];
    assert_eq!(found, expected.map(|name| format!("`{name}` has no value")));
}

/// An empty list of tools allows or refuses nothing; the name of a tool that is missing in it is an error.
#[test]
fn a_list_of_tools_may_be_empty_and_has_no_empty_names() {
    for lines in ["tools: {whitelist: []}\n", "tools: {blacklist: []}\n", "write: []\n"] {
        assert_eq!(errors("", lines), (true, vec![]), "{lines}");
    }
    for item in ["", "~", "null", "''", "' '"] {
        let (loads, diagnostics) = errors("", &format!("tools:\n  blacklist:\n    - {item}\n"));
        assert!(!loads, "{item}");
        let [diagnostic] = &diagnostics[..] else { panic!("{diagnostics:?}") };
        let end = "`tools.blacklist`: expected the name of a tool, found an empty value";
        assert!(diagnostic.ends_with(end), "{diagnostic}");
    }
}
