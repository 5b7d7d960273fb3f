//! The work of validation is counted: it grows with the files, or ends with "too large to check".

use std::fmt::Write as _;

use super::super::load::read;
use super::super::validate::fuel::Fuel;
use super::*;
use crate::definition::Severity;
use crate::definition::fixtures::Files;

fn phase(id: &str, more: &str, text: &str) -> String {
    format!("---\nid: {id}\nname: P\nemoji: '*'\n{more}---\nDo it.\n{text}\n")
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(", ")
}

fn workflow(key: &str, phases: &str) -> String {
    format!("name: {key}\ncommandName: {key}\ninitialMessage: Go\nphases: [{phases}]\n")
}

/// Adds the workflow `w` of phases with these fields and texts.
fn of_phases(files: &mut Files, count: usize, more: impl Fn(usize) -> String, text: impl Fn(usize) -> String) {
    for p in 0..count {
        files.project.insert(format!("w/p{p}.md"), phase(&format!("p{p}"), &more(p), &text(p)));
    }
    files.project.insert("w/workflow.yaml".into(), workflow("w", &list(count, |p| format!("p{p}.md"))));
}

/// Makes files of a size.
type Make = fn(&mut Files, usize);

/// The dimensions that files can grow in, each with the size with which the count begins.
const DIMENSIONS: [(&str, usize, Make); 18] = [
    ("phases", 40, |files, n| of_phases(files, n, |_| String::new(), |_| String::new())),
    ("unknown targets", 20, |files, n| {
        of_phases(files, n, |p| format!("outcomes: {{ a: some-wrng-{p}, b: sume-wrong-{p} }}\n"), |_| String::new());
    }),
    ("unknown results", 20, |files, n| {
        of_phases(files, n, |_| format!("results: [{}]\n", list(20, |r| format!("pp{r}"))), |_| String::new());
    }),
    ("checks", 5, |files, n| {
        let checks = |_| format!("gate: [{}]\n", list(n, |c| format!("{{ run: x, env: {{ a: summary.p{c} }} }}")));
        of_phases(files, 20, checks, |_| String::new());
    }),
    ("variables of commands", 5, |files, n| {
        let env = |_| format!("gate: [{{ run: x, env: {{ {} }} }}]\n", list(n, |v| format!("v{v}: outcome.p{v}")));
        of_phases(files, 20, env, |_| String::new());
    }),
    ("variables of texts", 40, |files, n| {
        let text = |p| list(n, |v| format!("{{output.p{p}.v{v}}} {{summary.q{v}}} {{input.i{v}}} {{v{v}}}"));
        of_phases(files, 5, |_| String::new(), text);
    }),
    ("long texts", 1_000, |files, n| of_phases(files, 3, |_| String::new(), |_| "{a}".repeat(n))),
    ("globs", 20, |files, n| {
        let gate = format!("gate: [{}]\n", list(8, |c| format!("{{ file: d{c}/a/b/c/x.md }}")));
        of_phases(
            files,
            10,
            |_| format!("write: [{}]\n{gate}", list(n, |g| format!("'d{g}/**/*.{{md,txt}}'"))),
            |_| String::new(),
        );
    }),
    ("files of gates", 5, |files, n| {
        let gate = |_| format!("write: [a/]\ngate: [{}]\n", list(n, |c| format!("{{ file: b/{c} }}")));
        of_phases(files, 10, gate, |_| String::new());
    }),
    ("branches", 4, |files, n| branches(files, 10, n, 20)),
    ("groups", 10, |files, n| branches(files, n, 8, 20)),
    ("paths of branches", 20, |files, n| branches(files, 10, 8, n)),
    ("workflows without their nested one", 50, |files, n| {
        for k in 0..n {
            let text = workflow(&format!("k{k}"), &format!("{{ subworkflow: unknown-{k} }}"));
            files.project.insert(format!("known-{k}/workflow.yaml"), text);
        }
    }),
    ("unknown nested workflows", 50, |files, n| {
        let text = workflow("w", &list(n, |k| format!("{{ subworkflow: unknown-{k} }}")));
        files.project.insert("w/workflow.yaml".into(), text);
    }),
    ("cycles", 12, |files, n| {
        for k in 0..n {
            let to = list(10, |i| format!("{{ phases: [{{ subworkflow: w{} }}] }}", (k * 7 + i) % n));
            files.project.insert(format!("w{k}/workflow.yaml"), workflow(&format!("w{k}"), &to));
        }
    }),
    ("levels", 10, |files, n| levels(files, n, 10)),
    ("values of nested workflows", 10, |files, n| levels(files, 10, n)),
    ("exits", 5, |files, n| {
        let outcomes = list(20, |o| format!("o{o}: done"));
        of_phases(files, n, |_| format!("outcomes: {{ {outcomes} }}\n"), |_| String::new());
        for k in 0..20 {
            let nested = if k == 0 { "w".to_owned() } else { format!("v{}", k - 1) };
            let entries = list(10, |e| format!("{{ id: e{e}, subworkflow: {nested} }}"));
            files.project.insert(format!("v{k}/workflow.yaml"), workflow(&format!("v{k}"), &entries));
        }
    }),
];

/// Parallel groups whose branches are nested workflows with paths.
fn branches(files: &mut Files, groups: usize, branches: usize, paths: usize) {
    for b in 0..branches {
        files.project.insert(format!("b{b}/a.md"), phase("a", "", ""));
        let write = list(paths, |p| format!("b{b}/{p}"));
        let text = format!("name: B\nshow: workflows\nwrite: [{write}]\nphases: [a.md]\n");
        files.project.insert(format!("b{b}/workflow.yaml"), text);
    }
    let mut text = workflow("w", "").replace("[]", "");
    for g in 0..groups {
        let branches = list(branches, |b| format!("{{ id: g{g}b{b}, subworkflow: b{b} }}"));
        writeln!(text, "  - {{ id: g{g}, parallel: true, phases: [{branches}] }}").unwrap();
    }
    files.project.insert("w/workflow.yaml".into(), text);
}

/// Workflows nested in each other that hand an input on.
fn levels(files: &mut Files, levels: usize, entries: usize) {
    for k in 0..levels {
        let inputs = list(5, |i| format!("i{i}: {{ type: text, default: a }}"));
        let with = list(5, |i| format!("i{i}: input.i{i}"));
        let write = list(5, |i| format!("'d/{{input.i{i}}}'"));
        let nested = list(entries, |e| format!("{{ id: n{e}, subworkflow: w{}, with: {{ {with} }} }}", k + 1));
        let phases = if k + 1 == levels { "a.md" } else { &nested };
        let text = workflow(&format!("w{k}"), phases);
        files
            .project
            .insert(format!("w{k}/workflow.yaml"), format!("{text}inputs: {{ {inputs} }}\nwrite: [{write}]\n"));
    }
    files.project.insert(format!("w{}/a.md", levels - 1), phase("a", "", ""));
}

fn made(make: Make, size: usize) -> Files {
    let mut files = Files::default();
    make(&mut files, size);
    files.project.insert("sound/workflow.yaml".into(), workflow("sound", "s.md"));
    files.project.insert("sound/s.md".into(), phase("s", "", ""));
    files
}

/// Twice as many entries, values or paths take at most twice the work for each, and a little for longer names. (A name
/// is looked up among all entries of its workflow, of which there are 1,000 at most.)
#[test]
fn the_work_grows_with_each_dimension() {
    for (name, size, make) in DIMENSIONS {
        for surroundings in [None, Some(Surroundings::default())] {
            let spent = |size: usize| {
                let (files, fuel) = (made(make, size), Fuel::new());
                read(&files, surroundings.as_ref(), &fuel).unwrap();
                fuel.spent()
            };
            let (one, two) = (spent(size), spent(2 * size));
            assert!(two <= 5 * one + 1_000, "{name}: {one}, then {two}");
        }
    }
}

/// With less work than the files need, only the workflow that needs more is left out; the workflow beside it loads.
#[test]
fn a_workflow_that_needs_too_much_work_is_left_out_alone() {
    let mut left_out = 0;
    for (name, size, make) in DIMENSIONS {
        let files = made(make, 5 * size);
        for surroundings in [None, Some(Surroundings::default())] {
            let fuel = Fuel::with(0, 1_000);
            let (library, diagnostics) = read(&files, surroundings.as_ref(), &fuel).unwrap();
            assert!(library.get("sound").is_some(), "{name}");
            let is_too_large = |of: &&Diagnostic| of.message().starts_with("too large to check");
            let too_large: Vec<&Diagnostic> = diagnostics.iter().filter(is_too_large).collect();
            left_out += too_large.len();
            for diagnostic in too_large {
                assert!(!diagnostic.file.contains("sound"), "{name}");
                assert!(diagnostic.severity() > Severity::Warning, "{name}");
                let errors = diagnostics.iter().filter(|of| of.file == diagnostic.file);
                let is_left_out = diagnostic.severity() == Severity::Error;
                assert!(!is_left_out || errors.count() == 1, "{name}");
            }
            let entries: usize = files.project.values().map(|text| text.matches([',', '[', '{', '\n']).count()).sum();
            assert!(fuel.spent() <= 30_000 + 8_000 * (entries + files.project.len()), "{name}: {}", fuel.spent());
        }
    }
    assert!(left_out >= 2, "{left_out}");
}
