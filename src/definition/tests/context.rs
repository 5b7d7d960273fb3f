//! `context` as it is written.

use super::*;

fn phase(id: &str, lines: &str) -> String {
    format!("---\nid: {id}\nname: {id}\nemoji: '*'\n{lines}---\nDo it.\n")
}

/// The library with a workflow `w` with these phases; `lines` are in its `workflow.yaml`.
fn check(lines: &str, phases: &[(&str, &str)]) -> Library {
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
    Library::check(&files).unwrap().0
}

#[test]
fn the_workflow_says_it_for_all_phases_but_the_first() {
    let library = check("context: fresh\n", &[("a", ""), ("b", "")]);
    let workflow = library.get("w").unwrap();
    let fresh: Vec<bool> = workflow.own_phases().map(|phase| workflow.starts_fresh(phase)).collect();
    assert_eq!(fresh, [false, true]);
    let nested = library.get("n").unwrap();
    let fresh: Vec<bool> = nested.own_phases().map(|phase| nested.starts_fresh(phase)).collect();
    assert_eq!(fresh, [false, false], "the phase decides");
}

#[test]
fn another_word_is_an_error() {
    phase_refused(
        &PHASE.replacen("emoji: '*'\n", "emoji: '*'\ncontext: new\n", 1),
        &["~/workflows/w/a.md:5:10: `context`: expected `shared` or `fresh`, found `new`"],
    );
}
