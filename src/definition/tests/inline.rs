//! Phases without a file: entries with `prompt`.

use super::load;
use crate::definition::fixtures::Files;
use crate::definition::{Diagnostic, Library, Phase};

/// A workflow with these files beside a `workflow.yaml` with these entries, what a check tells of it, and all lines that
/// it tells of.
fn check(entries: &str, files: &[(&str, &str)]) -> (Library, Vec<String>, Vec<String>) {
    let yaml = format!("name: W\ncommandName: w\ninputs: {{ scope: {{ type: text }} }}\nphases:\n{entries}");
    let all = [("w/workflow.yaml", &*yaml)].into_iter().chain(files.iter().copied());
    let all = all.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let files = Files { global: all.collect(), ..Files::default() };
    let (library, diagnostics) = Library::check(&files).unwrap();
    let line = |found: &Diagnostic| {
        let (name, place) = (found.file.strip_prefix("~/workflows/").unwrap(), found.place.unwrap());
        files.global[name].lines().nth(place.line - 1).unwrap().trim().trim_start_matches("- ").to_owned()
    };
    let lines = diagnostics.iter().map(line).collect();
    (library, diagnostics.iter().map(Diagnostic::message).collect(), lines)
}

fn phases(library: &Library) -> Option<Vec<Phase>> {
    Some(library.get("w")?.own_phases().cloned().collect())
}

/// An entry with `prompt` gives the phase that a file gives, and the same diagnostics of the same lines.
#[test]
fn a_phase_without_a_file_is_that_of_its_file() {
    for fields in [
        "",
        "emoji: 🔍",
        "write: []\nnetwork: false",
        "tools: { whitelist: [read, bash] }\nsandbox: preferred\nwrite:\n  - docs/",
        "summary: required\ncontext: fresh\nmodel: [strong, p/m:high]",
        "outcomes: { more: loop, enough: { to: next } }\ngate: [{ run: npm test, outcome: enough }]\ngateAttempts: 2",
        "outputs: { n: { type: number, min: 1 } }\nresults: none\nbudget: { turns: 7 }\nonBudget: stop",
        "availableProfiles: [p]\ntests: { allowed: [read], refused: [write a.md] }\nhide: [.env]",
        "interactive: true\nwrite: [\"{runDir}/\", \"{input.scope}/\"]",
        // With errors.
        "write:",
        "write: docs/",
        "network: nope",
        "tools: { whitelist: [Bash] }",
        "tools: { whitelist: [read], blacklist: [edit] }",
        "outcomes: { more: nowhere }",
        "gate: [{ file: ../a.md }, { run: a, env: { a: output.x.y } }]",
        "gate: [{ file: a.md, contains: \"(\" }]",
        "gateAttempts: 0",
        "outputs: { n: { type: nmber } }",
        "budget: { cost: -1 }\nonBudget: later",
        "results: [nobody]",
        "readonly: true\nallowedTools: [read]",
        "network: false\nsandbox: off\nwrite: [docs]",
        "unknwon: 1",
        "verify: npm test",
    ] {
        let file = format!("---\nid: a\nname: A\n{fields}\n---\n\nDo {{descripton}}, {{input.scope}}.\n");
        let indented: String = fields.lines().map(|line| format!("    {line}\n")).collect();
        let entry =
            format!("  - id: a\n    name: A\n{indented}    prompt: |\n\n      Do {{descripton}}, {{input.scope}}.\n\n");
        let (of_file, told_of_file, lines_of_file) = check("  - a.md\n", &[("w/a.md", &file)]);
        let (of_entry, told, lines) = check(&entry, &[]);
        let mut told_alike: Vec<String> = told.iter().map(|message| message.replace(" in `prompt`", "")).collect();
        let mut told_of_file = told_of_file;
        told_of_file.sort();
        told_alike.sort();
        assert_eq!(told_alike, told_of_file, "{fields}");
        let sorted = |mut lines: Vec<String>| {
            lines.sort();
            lines
        };
        assert_eq!(sorted(lines), sorted(lines_of_file), "{fields}");
        assert_eq!(of_entry.seal("w"), of_file.seal("w"), "{fields}");
        let of_entry = phases(&of_entry).map(|phases| {
            let as_file = |phase: Phase| Phase { file: "~/workflows/w/a.md".into(), at: vec![], ..phase };
            phases.into_iter().map(as_file).collect::<Vec<_>>()
        });
        assert_eq!(of_entry, phases(&of_file), "{fields}");
    }
}

#[test]
fn what_is_left_out_is_made_of_the_place() {
    let yaml = "name: W\ncommandName: w\nphases:\n  - prompt: One\n  - phases:\n      - prompt: >\n          Two\n          three\n      - { prompt: \" Four \\n\", name: \"4\" }\n  - { id: look-at, prompt: Five }\n";
    let (library, diagnostics) = load(&[("w/workflow.yaml", yaml)]);
    assert_eq!(diagnostics, [""; 0]);
    let phases = library.scopes().flat_map(|scope| scope.own_phases());
    let found: Vec<_> = phases.map(|of| (&*of.id, &*of.name, &*of.instructions, &of.at[..])).collect();
    let expected: [(&str, &str, &str, &[usize]); 4] = [
        ("phase-1", "Phase 1", "One", &[0]),
        ("look-at", "Look At", "Five", &[2]),
        ("phase-2-1", "Phase 2 1", "Two three", &[1, 0]),
        ("phase-2-2", "4", "Four", &[1, 1]),
    ];
    assert_eq!(found, expected);
    assert!(library.get("w").unwrap().own_phases().all(|of| of.file == "~/workflows/w/workflow.yaml"));
}

/// A rule in an entry is a rule of the seal; its text is not, as that of a file.
#[test]
fn rules_of_entries_are_in_the_seal() {
    let seal = |entry: &str| {
        let yaml = format!("name: W\ncommandName: w\nphases:\n  - {{ id: a, {entry} }}\n");
        load(&[("w/workflow.yaml", &yaml)]).0.seal("w").unwrap()
    };
    let first = seal("prompt: One");
    assert_eq!(seal("prompt: Two"), first);
    let others = ["prompt: One, write: []", "prompt: One, gate: [{ run: x }]", "prompt: \"{runDir}\"", "run: x"];
    for other in others {
        assert_ne!(seal(other), first, "{other}");
    }
}
