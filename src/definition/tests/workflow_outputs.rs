//! Outputs of workflows: values that come out of a nested workflow.

use super::load;
use crate::definition::fixtures::Files;
use crate::definition::{Library, Output};

/// The entries of a nested workflow.
const INNER: &str = "phases:
  - id: look
    prompt: Look.
    outcomes: { none: done, some: next }
    outputs:
      found: { type: list, max: 3, fields: { title: { type: text }, file: { type: text, optional: true } } }
      ok: { type: flag }
      note: { type: text, max: 50, optional: true }
  - id: fix
    prompt: Fix.
    outputs: { size: { type: choice, options: [small, large] } }
  - id: work
    when: { outcome.look: some }
    each: output.look.found
    phases: [{ id: do, prompt: \"Do {item.title}\", outputs: { n: { type: number }, parts: { type: list, max: 2 } } }]
";

/// The library of `in`, with these outputs, and of `w`, with these lines, and all messages of a check.
fn check(outputs: &str, outer: &str) -> (Library, Vec<String>) {
    let inner = format!("name: In\nshow: workflows\n{outputs}{INNER}");
    let outer = format!("name: W\ncommandName: w\n{outer}");
    let all = [("in/workflow.yaml", inner), ("w/workflow.yaml", outer)];
    let files = Files { global: all.map(|(path, text)| (path.to_owned(), text)).into(), ..Files::default() };
    let (library, diagnostics) = Library::check(&files).unwrap();
    (library, diagnostics.iter().map(ToString::to_string).collect())
}

/// The outputs of a workflow, each in words.
fn given(library: &Library, key: &str) -> Vec<String> {
    let words = |Output { name, kind, is_optional, .. }: &Output| {
        format!("{name}{}: {}", if *is_optional { "?" } else { "" }, kind.in_brief())
    };
    library.get(key).unwrap().given.iter().map(words).collect()
}

const OUTPUTS: &str = "outputs:
  found: output.look.found
  ok: output.look.ok
  note: output.look.note
  size: output.fix.size
  numbers: output.do.n
  parts: output.do.parts
";

#[test]
fn they_have_the_types_of_their_values_and_are_optional_where_these_may_be_missing() {
    let outer = "outputs: { all: output.in.found, size: output.in.size }
phases:
  - subworkflow: in
  - { id: a, prompt: \"{output.in.found} {output.in.size}\", when: { output.in.ok: true } }
  - { id: each, each: output.in.found, phases: [{ id: b, prompt: \"{item.title}\" }] }
  - { run: \"true\", env: { n: output.in.numbers }, when: { given: output.in.note } }
";
    let (library, messages) = check(OUTPUTS, outer);
    assert_eq!(messages, [""; 0]);
    let kind = |name: &str| library.output(library.get("w").unwrap(), "in", name).unwrap().kind.expected();
    assert_eq!(kind("numbers"), "a list of at most 3 texts of one line and at most 1000 characters, 16000 in all");
    assert!(kind("parts").starts_with("a list of at most 6 texts"), "{}", kind("parts"));
    let words = given(&library, "in");
    let names: Vec<&str> = words.iter().map(|word| word.split(':').next().unwrap()).collect();
    assert_eq!(names, ["found", "ok", "note?", "size?", "numbers", "parts"]);
    let words = given(&library, "w");
    let names: Vec<&str> = words.iter().map(|word| word.split(':').next().unwrap()).collect();
    assert_eq!(names, ["all", "size?"]);
}

#[test]
fn an_output_of_a_phase_with_a_budget_that_leads_on_may_be_missing() {
    for (target, mark) in [("next", "?"), ("done", "?"), ("stop", "")] {
        let inner = format!(
            "name: In\nshow: workflows\noutputs: {{ x: output.p.x }}\nphases: [{{ id: p, prompt: x, budget: {{ turns: 3 }}, onBudget: {target}, outputs: {{ x: {{ type: flag }} }} }}]\n"
        );
        let outer = "name: W\ncommandName: w\nphases: [{ subworkflow: in }]\n";
        let (library, diagnostics) = load(&[("in/workflow.yaml", &inner), ("w/workflow.yaml", outer)]);
        assert_eq!(diagnostics.len(), 0, "{diagnostics:?}");
        assert!(given(&library, "in")[0].starts_with(&format!("x{mark}:")), "{target}: {:?}", given(&library, "in"));
    }
}

#[test]
fn what_is_no_output_of_an_entry_of_the_file_is_an_error() {
    let outer = "phases: [{ subworkflow: in }]\n";
    let many: String = (0..21).map(|n| format!("x{n}: output.look.ok, ")).collect();
    for (outputs, message) in [
        ("{}", "`outputs` must have 1 to 20 entries"),
        (&*format!("{{ {many} }}"), "`outputs` must have 1 to 20 entries"),
        ("", "`outputs`"),
        ("[output.look.ok]", "`outputs`: expected a mapping like `{ findings: output.bugs.findings }`"),
        ("output.look.ok", "`outputs`: expected a mapping like"),
        ("{ x: { type: list } }", "`outputs.x`: expected `output.ID.NAME`, found"),
        ("{ x: }", "`outputs.x`: expected `output.ID.NAME`, found an empty value"),
        ("{ x: 7 }", "`outputs.x`: expected `output.ID.NAME`, found `7`"),
        ("{ x: [output.look.ok] }", "`outputs.x`: expected `output.ID.NAME`, found"),
        ("{ x: input.look }", "`outputs.x`: expected `output.ID.NAME`, found `input.look`"),
        ("{ x: workflowDir }", "`outputs.x`: expected `output.ID.NAME`, found `workflowDir`"),
        ("{ x: outcome.look }", "`outputs.x`: expected `output.ID.NAME`, found `outcome.look`"),
        ("{ x: item.title }", "`outputs.x`: expected `output.ID.NAME`, found `item.title`"),
        ("{ \"a b\": output.look.ok }", "`outputs`: expected at most 60 letters"),
        (
            "{ x: output.look.okk }",
            "`outputs.x`: expected an output of an entry of the workflow, found `output.look.okk`",
        ),
        ("{ x: output.in.x }", "`outputs.x`: expected an output of an entry of the workflow, found `output.in.x`"),
        ("{ x: output.work.n }", "`outputs.x`: expected an output of an entry of the workflow, found `output.work.n`"),
    ] {
        let (library, messages) = check(&format!("outputs: {outputs}\n"), outer);
        assert!(library.get("in").is_none(), "{outputs}");
        let first = &messages[0];
        assert!(first.contains("in/workflow.yaml") && first.contains(message), "{outputs}: {messages:?}");
    }
}

#[test]
fn what_does_not_come_out_is_an_error_outside() {
    for (outer, message) in [
        ("{ id: a, prompt: x, when: { output.in.size: small } }", "output.in.size"),
        ("{ id: a, prompt: x, when: { output.look.ok: true } }", "output.look.ok"),
        (
            "{ each: output.in.ok, phases: [{ id: a, prompt: x }] }",
            "`each`: expected an input or an output of an earlier phase that is a list, found `output.in.ok`",
        ),
        (
            "{ run: \"true\", env: { a: output.in.title } }",
            "`env.a`: expected an output of an entry of the workflow, found `output.in.title`",
        ),
        (
            "{ id: a, prompt: x, when: { output.in.ok: maybe } }",
            "`when.output.in.ok`: expected `true` or `false`, found `maybe`",
        ),
    ] {
        let (library, messages) =
            check("outputs: { ok: output.look.ok }\n", &format!("phases: [{{ subworkflow: in }}, {outer}]\n"));
        assert!(library.get("w").is_none(), "{outer}");
        assert!(messages[0].contains(message), "{outer}: {messages:?}");
    }
    // A value of a nested workflow that comes later.
    let later = "phases: [{ id: a, prompt: x, when: { output.in.ok: true } }, { subworkflow: in }]\n";
    let (_, messages) = check("outputs: { ok: output.look.ok }\n", later);
    assert!(messages[0].contains("`output.in.ok`, which does not come earlier"), "{messages:?}");
}

/// Each workflow nests the next one twice, and gives on what both give: the types are found once for each workflow.
#[test]
fn the_types_of_deep_nesting_take_linear_time() {
    let mut files = Vec::new();
    for depth in 0..45 {
        let below = depth + 1;
        let text = format!(
            "name: N{depth}\nshow: workflows\noutputs: {{ all: output.both.x }}\nphases:\n  - {{ id: a, subworkflow: n{below} }}\n  - {{ id: b, subworkflow: n{below} }}\n  - each: [output.a.all, output.b.all]\n    phases: [{{ id: both, prompt: x, outputs: {{ x: {{ type: text }} }} }}]\n"
        );
        files.push((format!("n{depth}/workflow.yaml"), text));
    }
    let last = "name: Last\nshow: workflows\noutputs: { all: output.p.x }\nphases: [{ id: p, prompt: x, outputs: { x: { type: list, max: 1 } } }]\n";
    files.push(("n45/workflow.yaml".to_owned(), last.to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let before = std::time::Instant::now();
    let (library, diagnostics) = load(&files);
    assert_eq!(diagnostics.len(), 0, "{diagnostics:?}");
    assert_eq!(library.get("n0").unwrap().given.len(), 1);
    assert!(before.elapsed().as_secs() < 5);
}
