//! Workflows of installed packages: keys, references, command names, the folders that are searched.

use super::super::fixtures::{Files, package};
use super::*;

const PHASE_OUTSIDE: &str = "name: F\ncommandName: f\ninitialMessage: Go\nphases: [../../../a.md]\n";

/// Returns a workflow with this command name and these entries.
fn flow(command: &str, phases: &str) -> String {
    format!("name: {command}\ncommandName: {command}\ninitialMessage: Go\nphases: [{phases}]\n")
}

fn own(files: &[(&str, &str)]) -> std::collections::BTreeMap<String, String> {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

/// Returns a package of the user with these files, which lists `./workflows`.
fn kit(name: &str, files: &[(&str, &str)]) -> (Package, std::collections::BTreeMap<String, String>) {
    package(name, PackageScope::User, r#"["./workflows"]"#, files)
}

fn references(library: &Library, key: &str) -> Vec<String> {
    let entries = library.get(key).unwrap().phases.iter();
    let keys = entries.filter_map(|entry| match &entry.kind {
        EntryKind::Workflow { key, .. } => Some(key.clone()),
        EntryKind::Phase(_) => None,
    });
    keys.collect()
}

#[test]
fn the_key_has_the_package_in_front() {
    let review = flow("review", "a.md");
    let files = Files {
        global: own(&[("review/workflow.yaml", &review), ("review/a.md", PHASE)]),
        packages: vec![kit(
            "@acme/kit",
            &[
                ("workflows/review/workflow.yaml", &review),
                ("workflows/review/a.md", PHASE),
                ("workflows/group/deep/workflow.yaml", &flow("deep", "../../../shared/a.md")),
                ("shared/a.md", PHASE),
                ("other/no/workflow.yaml", &review),
                ("workflows/node_modules/no/workflow.yaml", &review),
            ],
        )],
        ..Files::default()
    };
    let (library, diagnostics) = load_files(&files);
    assert_eq!(keys(&library), ["review", "@acme/kit/review", "@acme/kit/deep"]);
    assert_eq!(library.get("@acme/kit/deep").unwrap().package(), Some("@acme/kit"));
    assert_eq!(library.get("review").unwrap().package(), None);
    assert_eq!(
        diagnostics,
        [
            "~/packages/0/workflows/review/workflow.yaml:2:14: `/workflow review` starts \"review\" (~/workflows/review/workflow.yaml), not this workflow of the package \"@acme/kit\""
        ]
    );
    assert_eq!(library.by_command_name("review").unwrap().key, "review");
    assert_eq!(library.by_command_name("@acme/kit/review").unwrap().key, "@acme/kit/review");
    assert_eq!(library.by_command_name("deep").unwrap().key, "@acme/kit/deep");
    let names: Vec<String> = library.for_users().map(|(name, _)| name).collect();
    assert_eq!(names, ["review", "@acme/kit/review", "deep"]);
}

#[test]
fn a_reference_means_the_own_package_first() {
    let plain = flow("x", "a.md");
    let files = Files {
        global: own(&[
            ("shared/workflow.yaml", &flow("shared", "a.md")),
            ("shared/a.md", PHASE),
            (
                "all/workflow.yaml",
                &flow(
                    "all",
                    "{subworkflow: shared}, {subworkflow: Only}, {subworkflow: kit/shared}, {subworkflow: both}",
                ),
            ),
        ]),
        project: own(&[("users/workflow.yaml", &flow("users", "../a.md")), ("a.md", PHASE)]),
        packages: vec![
            kit(
                "kit",
                &[
                    ("workflows/shared/workflow.yaml", &plain),
                    ("workflows/shared/a.md", PHASE),
                    ("workflows/only/workflow.yaml", &flow("only", "../shared/a.md")),
                    ("workflows/both/workflow.yaml", &flow("both", "../shared/a.md")),
                    (
                        "workflows/all/workflow.yaml",
                        &flow(
                            "kit-all",
                            "{subworkflow: shared}, {subworkflow: USERS}, {subworkflow: second/both}, {subworkflow: kit/only}",
                        ),
                    ),
                ],
            ),
            kit("second", &[("workflows/both/workflow.yaml", &flow("both", "a.md")), ("workflows/both/a.md", PHASE)]),
        ],
        ..Files::default()
    };
    let (library, diagnostics) = load_files(&files);
    assert_eq!(references(&library, "all"), ["shared", "kit/only", "kit/shared", "kit/both"]);
    assert_eq!(references(&library, "kit/all"), ["kit/shared", "users", "second/both", "kit/only"]);
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    assert!(diagnostics[0].contains("`/workflow both` starts \"kit/both\""), "{diagnostics:?}");
}

#[test]
fn a_broken_workflow_of_the_own_package_is_not_replaced_by_the_users() {
    let files = Files {
        global: own(&[("shared/workflow.yaml", &flow("s", "a.md")), ("shared/a.md", PHASE)]),
        packages: vec![kit(
            "kit",
            &[
                ("workflows/shared/workflow.yaml", "name: ["),
                ("workflows/all/workflow.yaml", &flow("all", "{subworkflow: shared}")),
                ("workflows/odd/workflow.yaml", &flow("odd", "{subworkflow: nowhere}")),
            ],
        )],
        ..Files::default()
    };
    let (library, diagnostics) = load_files(&files);
    assert_eq!(keys(&library), ["shared"]);
    assert!(
        diagnostics.contains(
            &"~/packages/0/workflows/all/workflow.yaml:4:10: the workflow \"kit/all\" refers to \"kit/shared\", which has errors".to_owned()
        ),
        "{diagnostics:#?}"
    );
    assert!(library.left_out().iter().any(|left_out| left_out.is_called("kit/all")));
    assert!(library.left_out().iter().any(|left_out| left_out.is_called("shared")));
}

#[test]
fn a_phase_file_stays_in_its_package() {
    let files = Files {
        packages: vec![kit("kit", &[("workflows/f/workflow.yaml", PHASE_OUTSIDE), ("a.md", PHASE)])],
        ..Files::default()
    };
    let (library, diagnostics) = load_files(&files);
    assert_eq!(keys(&library), [""; 0]);
    assert_eq!(
        diagnostics,
        ["~/packages/0/workflows/f/workflow.yaml:4:10: the phase file `../../../a.md` is outside the package"]
    );
}

#[test]
fn bad_lists_of_folders_are_reported() {
    let found = |value: &str| {
        let files = [("w/x/workflow.yaml", &*flow("x", "a.md")), ("w/x/a.md", PHASE)];
        let files = Files { packages: vec![package("kit", PackageScope::User, value, &files)], ..Files::default() };
        let (library, diagnostics) = load_files(&files);
        (library.iter().count(), diagnostics)
    };
    let told = |value: &str, count, message: &str| {
        let (workflows, diagnostics) = found(value);
        assert_eq!(workflows, count, "{value}");
        assert_eq!(diagnostics, [format!("~/packages/0/package.json:3:{message}")], "{value}");
    };
    for value in [r#"["w"]"#, r#"["./w/"]"#, r#"["w", "./w"]"#, r#"["w/x/.."]"#, r#"["."]"#, r#"["a/../w", ".\\w"]"#] {
        assert_eq!(found(value), (1, vec![]), "{value}");
    }
    assert_eq!(found("[]"), (0, vec![]));
    for (value, kind) in [
        ("\"w\"", "a string"),
        ("null", "an empty value"),
        ("7", "a number"),
        ("{}", "a mapping"),
        ("true", "a boolean"),
    ] {
        let message = format!("34: `pi-workflows.workflows`: expected a list of folders, found {kind}");
        told(value, 0, &message);
    }
    told(r#"["w", 7]"#, 1, "40: `pi-workflows.workflows[1]`: expected the path of a folder, found a number");
    told(r#"["w", "v"]"#, 1, "40: the folder `v` does not exist");
    let many = format!("[{}\"w\"]", "\"w\", ".repeat(100));
    told(&many, 0, "34: `pi-workflows.workflows` must not have more than 100 entries");
    told(r#"["../w"]"#, 0, "35: the folder `../w` is outside the package");
    told(r#"["/w", "w"]"#, 1, "35: the folder `/w` is outside the package");
    told(r#"["C:\\w"]"#, 0, "35: the folder `C:\\w` is outside the package");
}

#[test]
fn a_package_of_the_project_of_the_same_name_replaces_the_users() {
    let files = [("workflows/x/workflow.yaml", &*flow("x", "a.md")), ("workflows/x/a.md", PHASE)];
    let of = |scope| package("kit", scope, r#"["workflows"]"#, &files);
    for (second, asks) in [(PackageScope::Project, true), (PackageScope::User, false)] {
        let packages = vec![of(PackageScope::User), of(second)];
        let files = Files { packages, ..Files::default() };
        let (library, diagnostics) = Library::check(&files).unwrap();
        let workflow = library.get("kit/x").unwrap();
        assert_eq!((keys(&library), &*workflow.folder), (vec!["kit/x"], "~/packages/1/workflows/x"));
        assert_eq!(library.replacements_in(workflow), if asks { vec!["kit/x"] } else { vec![] });
        let texts: Vec<String> = diagnostics.iter().map(Diagnostic::to_string).collect();
        assert_eq!(
            texts,
            [
                "~/packages/1/workflows/x/workflow.yaml:1:7: this workflow replaces the other \"kit/x\" (~/packages/0/workflows/x)"
            ]
        );
    }
}

#[test]
fn a_packages_workflow_replaces_none_of_the_user() {
    let review = flow("review", "a.md");
    let files = Files {
        global: own(&[("review/workflow.yaml", &review), ("review/a.md", PHASE)]),
        packages: vec![package(
            "kit",
            PackageScope::Project,
            r#"["workflows"]"#,
            &[("workflows/review/workflow.yaml", &review), ("workflows/review/a.md", PHASE)],
        )],
        ..Files::default()
    };
    let (library, _) = load_files(&files);
    for workflow in library.iter() {
        assert_eq!(library.replacements_in(workflow), [""; 0], "{}", workflow.key);
    }
}
