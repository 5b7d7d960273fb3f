//! A workflow of an installed package, through the interface.

use super::host::*;

#[test]
fn a_workflow_of_a_package_runs_to_its_end() {
    let mut pi = Host::with_files([
        (
            "package:kit/workflows/two/workflow.yaml",
            "name: Two\ncommandName: two\ninitialMessage: Go\nphases: [../../shared/a.md, {subworkflow: part}]\n",
        ),
        ("package:kit/workflows/part/workflow.yaml", "name: Part\nshow: workflows\nphases: [../../shared/a.md]\n"),
        ("package:kit/shared/a.md", "---\nid: a\nname: A\nemoji: 🔹\n---\nDo it.\n"),
        ("global/two/workflow.yaml", "name: Own\ncommandName: two\ninitialMessage: Go\nphases: [a.md]\n"),
        ("global/two/a.md", "---\nid: a\nname: Own\nemoji: 🔸\n---\nDo it.\n"),
    ])
    .start_session();
    let mut offered: Vec<String> = pi.complete("workflow", "").into_iter().map(|completion| completion.value).collect();
    offered.retain(|value| !value.starts_with(':'));
    assert_eq!(offered, ["two", "kit/two"]);
    assert_eq!(pi.command("workflow", "kit/two It"), Outcome::Settle);
    assert!(pi.event(Event::BeforeAgentStart).contains("▸ 🔹 A"));
    let (text, _) = pi.step("next");
    assert!(text.contains("Part"), "{text}");
    let (text, _) = pi.step("next");
    assert!(text.contains("→ DONE"), "{text}");
}
