//! The files in `scripts/` of a workflow's folder.

use super::*;

const FLOW: &str = "name: W\ncommandName: w\ninitialMessage: Go\nphases: [{ run: 'sh \"$dir/scripts/a.sh\"', env: { dir: workflowDir } }]\n";

/// The user's workflow `w` with these files in its folder.
fn files(scripts: &[(&str, &str)]) -> Files {
    let mut files = Files::default();
    files.global.insert("w/workflow.yaml".into(), FLOW.into());
    files.global.extend(scripts.iter().map(|(path, text)| (format!("w/{path}"), (*text).to_owned())));
    files
}

#[track_caller]
fn seal(files: &Files) -> String {
    let (library, diagnostics) = load_files(files);
    assert_eq!(diagnostics, [""; 0]);
    library.seal("w").unwrap()
}

/// The only diagnostic; the workflow is left out.
#[track_caller]
fn error(files: &Files) -> String {
    let (library, diagnostics) = load_files(files);
    assert_eq!((keys(&library), diagnostics.len(), library.left_out().len()), (vec![], 1, 1), "{diagnostics:?}");
    diagnostics.concat()
}

#[test]
fn each_change_of_a_file_is_a_change_of_the_rules() {
    let none = seal(&files(&[]));
    assert_eq!(seal(&files(&[("notes.md", "x"), ("other/a.sh", "x")])), none, "other folders are none");
    let mut seals = vec![none];
    for scripts in [
        &[("scripts/a.sh", "x")][..],
        &[("scripts/a.sh", "y")],
        &[("scripts/a.sh", "")],
        &[("scripts/b.sh", "x")],
        &[("scripts/x/a.sh", "x")],
        &[("scripts/a.sh", "x"), ("scripts/b.sh", "x")],
        &[("scripts/a.sh", "x"), ("scripts/x/a.sh", "")],
        &[("scripts/a", "xb"), ("scripts/c", "x")],
        &[("scripts/ax", "b"), ("scripts/c", "x")],
    ] {
        let seal = seal(&files(scripts));
        assert!(!seals.contains(&seal), "{scripts:?}");
        seals.push(seal);
    }
}

#[test]
fn a_group_and_a_nested_workflow_have_the_folder_of_their_file() {
    let mut files = files(&[("scripts/a.sh", "x")]);
    let outer = "name: O\ncommandName: o\ninitialMessage: Go\nphases: [{ phases: [{ subworkflow: w }] }]\n";
    files.project.insert("deep/o/workflow.yaml".into(), outer.into());
    files.project.insert("deep/o/scripts/b".into(), "y".into());
    let (library, diagnostics) = load_files(&files);
    assert_eq!(diagnostics, [""; 0]);
    let dirs: Vec<&str> = library.scopes().map(|scope| &*scope.dir).collect();
    let outer = "/project/.pi/workflows/deep/o";
    assert_eq!(dirs, ["/home/workflows/w", outer, outer]);
    assert_eq!(library.script_folders("o"), [&format!("{outer}/scripts"), "/home/workflows/w/scripts"]);
    assert_eq!(library.script_folders("w"), ["/home/workflows/w/scripts"]);
    assert_eq!(library.script_folders("x"), [""; 0]);
    let shown = library.get("w").unwrap().shown_scripts().unwrap();
    assert!(shown.starts_with("with ~/workflows/w/scripts/: 1 file, SHA-256 "), "{shown}");
}

#[test]
fn too_many_and_too_large_files_are_errors() {
    let many = |count: usize| {
        let mut files = files(&[]);
        files.global.extend((0..count).map(|number| (format!("w/scripts/{number}"), String::new())));
        files
    };
    seal(&many(100));
    for count in [101, 200, 201, 60_000] {
        assert!(error(&many(count)).contains("w/scripts: `scripts/` has more than 100 files"), "{count}");
    }
    let folders: Vec<String> = (0..101).map(|number| format!("scripts/{number}/a/b")).collect();
    let folders: Vec<(&str, &str)> = folders.iter().take(51).map(|path| (&**path, "")).collect();
    assert!(error(&files(&folders)).contains("has more than 100 files"));
    let (half, rest) = ("x".repeat(512 * 1024), "x".repeat(512 * 1024 + 1));
    seal(&files(&[("scripts/a", &half), ("scripts/b", &half)]));
    for scripts in [&[("scripts/a", &*half), ("scripts/b", &rest)][..], &[("scripts/a", &rest.repeat(2))]] {
        assert!(error(&files(scripts)).contains("w/scripts: the files in `scripts/` have more than 1 MiB"));
    }
}

#[test]
fn links_are_errors() {
    for (link, target, at) in [
        ("w/scripts", "other", "w/scripts"),
        ("w/scripts/link", "other", "w/scripts/link"),
        ("w/scripts/link.sh", "other/b.sh", "w/scripts/link.sh"),
        ("w/scripts/x/loop", "w/scripts", "w/scripts/x/loop"),
    ] {
        let mut files = files(&[("scripts/a.sh", "x"), ("scripts/x/a.sh", "x")]);
        files.global.insert("other/b.sh".into(), "y".into());
        if link == "w/scripts" {
            files.global.retain(|path, _| !path.starts_with("w/scripts"));
        }
        files.links.insert(format!("global/{link}"), target.into());
        let error = error(&files);
        assert!(error.starts_with(&format!("~/workflows/{at}: a link, or neither a file nor a folder")), "{error}");
    }
}
