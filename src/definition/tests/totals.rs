//! Tests of the totals of one load, which reads nothing twice.

use std::rc::Rc;

use super::*;

fn linked(links: &[(&str, &str)], files: &[(&str, &str)]) -> Files {
    let own = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    let in_global = |(path, target): (String, String)| (format!("global/{path}"), target);
    Files {
        links: links.iter().map(own).map(in_global).collect(),
        global: files.iter().map(own).collect(),
        ..Files::default()
    }
}

#[test]
fn a_library_folder_is_looked_through_once() {
    let flow = [("w/workflow.yaml", FLOW), ("w/a.md", PHASE)];
    let deep = [("x/y/w/workflow.yaml", FLOW), ("x/y/w/a.md", PHASE)];
    for (links, files, lists) in [
        (&[("l1", ""), ("l2", ""), ("l3", ""), ("l4", ""), ("l5", "")][..], &flow, 3),
        (&[("x/up", ""), ("x/y/up", "x"), ("x/y/here", "x/y"), ("z", "x/y")], &deep, 6),
        (&[("a", "b"), ("b/a", "b"), ("b/b", "b")], &flow, 4),
    ] {
        let files = linked(links, files);
        let (library, diagnostics) = load_files(&files);
        assert_eq!(diagnostics, [""; 0], "{links:?}");
        assert_eq!(keys(&library), ["w"], "{links:?}");
        assert!(files.lists.get() <= lists, "{links:?}: {} folders", files.lists.get());
        let (checked, diagnostics) = Library::check(&files).unwrap();
        assert_eq!((keys(&checked), diagnostics), (vec!["w"], vec![]), "{links:?}");
    }
}

#[test]
fn a_link_to_a_workflow_is_a_workflow_of_its_own() {
    let files = [("lib/w/workflow.yaml", FLOW), ("lib/w/a.md", PHASE)];
    let files = linked(&[("alias", "lib/w"), ("other", "lib/w"), ("round", "lib")], &files);
    let (library, _) = load_files(&files);
    assert_eq!(keys(&library), ["alias", "other", "w"]);
    // Three files `workflow.yaml`, one phase file, and five more paths without a file.
    assert!(files.reads.get() <= 3 + 1 + 5, "{} reads", files.reads.get());
}

#[test]
fn a_phase_file_is_read_once_and_shared() {
    let phases: Vec<String> = (0..40).map(|n| format!("p{n}")).collect();
    let list: Vec<String> = phases.iter().map(|id| format!("../_shared/{id}.md")).collect();
    let yaml = FLOW.replace("  - a.md", &format!("  - {}", list.join("\n  - ")));
    let mut files = Files::default();
    for id in &phases {
        let text = PHASE.replace("id: a", &format!("id: {id}"));
        files.global.insert(format!("_shared/{id}.md"), text + &"x".repeat(1 << 20));
    }
    for n in 0..100 {
        let yaml = yaml.replace("commandName: flow", &format!("commandName: w{n}"));
        files.global.insert(format!("w{n:02}/workflow.yaml"), yaml);
    }
    let (library, diagnostics) = load_files(&files);
    assert_eq!((library.iter().count(), diagnostics), (100, vec![]));
    assert!(files.reads.get() <= 100 + 40 + 2, "{} reads", files.reads.get());
    let [first, last] = ["w00", "w99"].map(|key| &library.get(key).unwrap().phases[7]);
    let (EntryKind::Phase(first), EntryKind::Phase(last)) = (&first.kind, &last.kind) else { panic!() };
    assert!(Rc::ptr_eq(first, last));
}

#[test]
fn a_broken_phase_file_keeps_all_its_workflows_out() {
    let (library, diagnostics) = load(&[
        ("a/workflow.yaml", FLOW),
        ("a/a.md", "---\nid:\n---\nDo it."),
        ("b/workflow.yaml", &FLOW.replace("a.md", "../a/a.md").replace("commandName: flow", "commandName: b")),
    ]);
    assert_eq!((keys(&library), library.left_out().len(), diagnostics.len()), (vec![], 2, 1));
}

/// Checks that the diagnostic says which total was reached; returns the library of what was read before.
#[track_caller]
fn reached(files: &Files, diagnostic: &str) -> Library {
    let (library, diagnostics) = load_files(files);
    assert_eq!(diagnostics, [diagnostic]);
    let (again, diagnostics) = load_files(files);
    assert!(library.iter().eq(again.iter()) && diagnostics == [diagnostic]);
    let (_, diagnostics) = Library::check(files).unwrap();
    assert!(diagnostics.iter().any(|found| found.to_string() == diagnostic), "{diagnostics:?}");
    let found = diagnostics.iter().find(|found| found.to_string() == diagnostic).unwrap();
    assert_eq!(found.severity(), Severity::Error);
    let help = "remove from the workflows folders what does not belong to a workflow";
    assert_eq!(found.help().as_deref(), Some(help));
    library
}

const TOO_MANY: &str = "nothing is loaded from here on: the workflows folders have more than 50000 entries";
const TOO_LARGE: &str = "nothing is loaded from here on: the workflow files have more than 64 MiB";

#[test]
fn entries_are_read_up_to_a_total() {
    let mut files = linked(&[], &[("a/workflow.yaml", FLOW), ("a/a.md", PHASE)]);
    for n in 0..MAX_ENTRIES - 3 {
        files.global.insert(format!("zz/{n}.txt"), String::new());
    }
    // `a`, `zz` and the one phase of `a` are entries too.
    assert_eq!(load_files(&files).1, [""; 0]);
    files.global.insert("zz/more.txt".into(), String::new());
    files.project.insert("p/workflow.yaml".into(), FLOW.into());
    let library = reached(&files, &format!("~/workflows/zz: {TOO_MANY}"));
    assert_eq!(keys(&library), ["a"]);
}

#[test]
fn phases_count_as_entries() {
    let mut files = Files::default();
    for n in 0..1000 {
        let text = PHASE.replace("id: a", &format!("id: p{n}"));
        files.global.insert(format!("_shared/{n}.md"), text);
    }
    let list: Vec<String> = (0..1000).map(|n| format!("../_shared/{n}.md")).collect();
    let yaml = FLOW.replace("a.md", &list.join("\n  - "));
    for n in 0..60 {
        let yaml = yaml.replace("commandName: flow", &format!("commandName: w{n}"));
        files.global.insert(format!("w{n:02}/workflow.yaml"), yaml);
    }
    // Of the entries, 61 are the folders, and 1000 the files in the library folder.
    let (library, diagnostics) = load_files(&files);
    assert_eq!(diagnostics, [format!("~/workflows/w49: {TOO_MANY}")]);
    assert_eq!((keys(&library).len(), library.left_out().len()), (49, 1));
}

#[test]
fn bytes_are_read_up_to_a_total() {
    let mut files = linked(&[], &[("a/workflow.yaml", FLOW), ("a/a.md", PHASE)]);
    let list: Vec<String> = (0..70).map(|n| format!("p{n}.md")).collect();
    let yaml = FLOW.replace("flow", "large").replace("a.md", &list.join("\n  - "));
    files.global.insert("b/workflow.yaml".into(), yaml);
    for (n, path) in list.iter().enumerate() {
        let text = PHASE.replace("id: a", &format!("id: p{n}"));
        files.global.insert(format!("b/{path}"), text + &"x".repeat((1 << 20) - 100));
    }
    files.global.insert("c/workflow.yaml".into(), FLOW.replace("flow", "c"));
    let library = reached(&files, &format!("~/workflows/b/p64.md: {TOO_LARGE}"));
    assert_eq!(keys(&library), ["a"]);
    let left_out: Vec<&str> = library.left_out().iter().map(|left_out| &*left_out.key).collect();
    assert_eq!(left_out, ["b"]);
}

#[test]
fn the_files_that_may_have_been_meant_are_looked_for_a_few_times() {
    let mut files = Files::default();
    let list = (0..1000).map(|n| format!("gone{n}.md")).collect::<Vec<_>>().join("\n  - ");
    files.global.insert("w/workflow.yaml".into(), FLOW.replace("a.md", &list));
    for n in 0..100 {
        files.global.insert(format!("w/{n}.txt"), String::new());
    }
    let (_, diagnostics) = load_files(&files);
    assert_eq!(diagnostics.len(), 1000);
    assert!(files.lists.get() < 60, "{} lists", files.lists.get());
}

#[test]
fn checks_of_gates_count_and_expressions_more() {
    for (check, loaded) in [("run: make", 300), ("file: a, contains: a+", 198), ("file: a, contains: (", 0)] {
        let checks = format!("  - {{{check}}}\n").repeat(50);
        let phase = PHASE.replace("id: a\n", &format!("id: a\ngate:\n{checks}"));
        assert_ne!(phase, PHASE);
        let mut files = Files::default();
        for n in 0..300 {
            let yaml = FLOW.replace("commandName: flow", &format!("commandName: w{n}"));
            files.global.insert(format!("w{n:03}/workflow.yaml"), yaml);
            files.global.insert(format!("w{n:03}/a.md"), phase.clone());
        }
        let (library, diagnostics) = load_files(&files);
        assert_eq!(library.iter().count(), loaded, "{check}");
        let reached = diagnostics.iter().any(|diagnostic| diagnostic.contains("nothing is loaded from here on"));
        assert_eq!(reached, loaded < 300, "{check}");
    }
}
