//! Groups: entries that are a scope of their own within a file.

use super::load_files;
use super::ways::files;
use crate::definition::{FileEntry, Library, Workflow};

const A: (&str, &str) = ("a", "");

fn phases<'a>() -> [(&'a str, &'a str); 4] {
    [A, ("b", "outcomes: {x: next, y: next}"), ("c", "outputs: {n: {type: number}}"), ("d", "")]
}

/// Returns the entries of the file of `w`, each as its place and its id.
fn places(library: &Library) -> Vec<String> {
    let entries = library.entries_of_file(library.get("w").unwrap());
    let place = |of: &FileEntry| format!("{:?} {}", of.at, of.entry.id());
    entries.iter().map(place).collect()
}

#[test]
fn a_group_is_a_scope_with_the_fields_of_its_file() {
    let workflow = "write: [src/]\nphases:\n  - a.md\n  - id: g\n    name: The group\n    loopable: false\n    phases: [b.md, {phases: [c.md]}]\n  - d.md";
    let (library, diagnostics) = load_files(&files(workflow, &phases()));
    assert_eq!(diagnostics, [""; 0]);
    assert_eq!(places(&library), ["[0] a", "[1] g", "[1, 0] b", "[1, 1] c", "[1, 1, 0] c", "[2] d"]);
    let group = library.get("w//1").unwrap();
    let Workflow { name, loopable, limits, .. } = group;
    assert_eq!((&**name, *loopable), ("The group", false));
    assert_eq!(limits.write.as_deref(), Some(&["src/".to_owned()][..]));
    assert!(library.get("w//1.1").is_some());
    assert_eq!(library.iter().map(|workflow| &*workflow.key).collect::<Vec<_>>(), ["n", "w"]);
    assert_eq!(library.phase_count(&library.get("w").unwrap().phases), 4);
}

#[test]
fn names_of_values_are_those_of_the_file() {
    let workflow = "inputs: {s: {type: choice, options: [p, q]}}\nphases:\n  - b.md\n  - phases: [c.md, {phase: a.md, when: {outcome.b: x, input.s: p}}]\n  - phase: d.md\n    when: {output.c.n: 3}";
    let (library, diagnostics) = load_files(&files(workflow, &phases()));
    assert_eq!(diagnostics, [""; 0]);
    assert!(library.get("w").is_some());
}

#[test]
fn a_group_with_an_error_leaves_its_file_out() {
    for workflow in [
        "phases:\n  - a.md\n  - phases: [{phase: b.md, outcomes: {x: a}}]",
        "phases:\n  - a.md\n  - phases: [b.md, {phase: c.md, when: {outcome.d: x}}]\n  - d.md",
        "phases:\n  - phases: [a.md, a.md]",
        "phases:\n  - phases: []",
        "phases:\n  - phases:\n  - a.md",
        "phases:\n  - {phases: [a.md], with: {x: 1}}",
        "phases:\n  - {phases: [a.md], write: [x]}",
        "phases:\n  - {phases: [a.md], gate: [{file: x}]}",
        "phases:\n  - {phases: [a.md], loopable: 'no'}",
        "phases:\n  - {phase: a.md, loopable: false}",
        "phases:\n  - {phase: a.md, phases: [b.md]}",
        "phases:\n  - {phases: [{subworkflow: w}]}",
    ] {
        let (library, diagnostics) = load_files(&files(workflow, &phases()));
        assert!(library.get("w").is_none(), "{workflow}");
        assert_eq!(diagnostics.len(), 1, "{workflow} {diagnostics:?}");
        assert!(library.left_out().iter().all(|left_out| left_out.key == "w"));
    }
}

#[test]
fn every_rule_of_a_parallel_group_is_in_the_seal() {
    let read_only = "tools: {whitelist: [read]}\noutcomes: {x: next, y: next}";
    let phases = [("a", read_only), ("b", read_only), ("c", read_only), ("d", "")];
    let seal = |group: &str| {
        let workflow = format!("phases:\n  - {{phases: [a.md, b.md, c.md], {group}}}\n  - d.md");
        let (library, diagnostics) = load_files(&files(&workflow, &phases));
        assert_eq!(diagnostics, [""; 0], "{group}");
        library.seal("w").unwrap()
    };
    let groups = [
        "id: g",
        "id: g, parallel: true",
        "id: g, parallel: 3",
        "id: g, parallel: true, need: 3",
        "id: g, parallel: true, need: 2",
        "id: g, parallel: true, outcomes: {x: next, y: next}",
        "id: g, parallel: true, outcomes: {y: next, x: next}",
        "id: g, parallel: true, outcomes: {x: next}",
        "id: g, parallel: true, outcomes: {x: done}",
        "id: g, parallel: true, each: [i, j]",
        "id: g, each: [i, j]",
        "id: h, parallel: true",
    ];
    let seals: std::collections::BTreeSet<_> = groups.iter().map(|group| seal(group)).collect();
    assert_eq!(seals.len(), groups.len());
    // `parallel: false` gives the seal of a file without the field, which was stored before the field existed.
    assert_eq!(seal("id: g, parallel: false"), seal("id: g"));
    assert_eq!(seal("id: g, parallel: 4, need: all"), seal("id: g, parallel: true"));
}
