//! `context` as it is written, and the warning beside it.

use super::*;

fn phase(id: &str, lines: &str) -> String {
    format!("---\nid: {id}\nname: {id}\nemoji: '*'\n{lines}---\nDo it.\n")
}

/// The diagnostics of a check of a workflow `w` with these phases; `lines` are in its `workflow.yaml`.
fn check(lines: &str, phases: &[(&str, &str)]) -> (Library, Vec<String>) {
    let list: Vec<String> = phases.iter().map(|(id, _)| format!("{id}.md")).collect();
    let flow = format!(
        "name: W\ncommandName: w\ninitialMessage: Go\n{lines}phases: [{}, {{subworkflow: n}}]\n",
        list.join(", ")
    );
    let mut global = vec![("w/workflow.yaml".to_owned(), flow)];
    global.extend(phases.iter().map(|(id, lines)| (format!("w/{id}.md"), phase(id, lines))));
    let nested = "name: N\nshow: workflows\ncontext: fresh\nphases: [c.md, d.md]\n";
    global.push(("n/workflow.yaml".to_owned(), nested.to_owned()));
    global.push(("n/c.md".to_owned(), phase("c", "summary: optional\n")));
    global.push(("n/d.md".to_owned(), phase("d", "context: shared\n")));
    let files = Files { global: global.into_iter().collect(), ..Files::default() };
    let (library, diagnostics) = Library::check(&files).unwrap();
    (library, diagnostics.iter().map(Diagnostic::to_string).collect())
}

#[test]
fn the_workflow_says_it_for_all_phases_but_the_first() {
    let (library, _) = check("context: fresh\n", &[("a", ""), ("b", "")]);
    let workflow = library.get("w").unwrap();
    let fresh: Vec<bool> = workflow.own_phases().map(|phase| workflow.starts_fresh(phase)).collect();
    assert_eq!(fresh, [false, true]);
    let nested = library.get("n").unwrap();
    let fresh: Vec<bool> = nested.own_phases().map(|phase| nested.starts_fresh(phase)).collect();
    assert_eq!(fresh, [false, false], "the phase decides");
}

#[test]
fn an_optional_summary_before_a_fresh_phase_is_reported() {
    let warning = |next: &str| {
        format!("~/workflows/w/a.md:5:10: `summary: optional` has no effect: the next phase, `{next}`, starts fresh")
    };
    let optional = "summary: optional\n";
    for (flow, a, b, expected) in [
        ("", optional, "context: fresh\n", Some("b")),
        ("context: fresh\n", optional, "", Some("b")),
        ("context: fresh\n", optional, "context: shared\n", None),
        ("", optional, "", None),
        ("", "summary: required\n", "context: fresh\n", None),
        ("", "", "context: fresh\n", None),
    ] {
        let (_, found) = check(flow, &[("a", a), ("b", b)]);
        assert_eq!(found, expected.map(warning).into_iter().collect::<Vec<_>>(), "{flow}{a}{b}");
    }
    // The first phase of a nested workflow has the default of the workflow around it.
    let (_, found) = check("context: fresh\n", &[("a", optional)]);
    assert_eq!(found, [warning("c")]);
    let (_, found) = check("", &[("a", optional)]);
    assert_eq!(found, [""; 0]);
}

#[test]
fn another_word_is_an_error() {
    phase_refused(
        &PHASE.replacen("emoji: '*'\n", "emoji: '*'\ncontext: new\n", 1),
        &["~/workflows/w/a.md:5:10: `context`: expected `shared` or `fresh`, found `new`"],
    );
}
