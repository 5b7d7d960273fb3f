//! `model` and the user's aliases as they are written.

use super::*;

fn read(lines: &str) -> (Option<Vec<String>>, Vec<String>) {
    let phase = PHASE.replacen("emoji: '*'\n", &format!("emoji: '*'\n{lines}\n"), 1);
    let (library, diagnostics) = load(&[("w/workflow.yaml", FLOW), ("w/a.md", &phase)]);
    let of_phase = |workflow: &Workflow| match &workflow.phases[..] {
        [entry] => entry.as_phase().map(|phase| phase.model.names.clone()).unwrap(),
        other => panic!("{other:?}"),
    };
    (library.get("w").map(of_phase), diagnostics)
}

#[test]
fn an_entry_goes_before_the_file_of_its_phase() {
    for (entry, model) in
        [("model: fast", &["fast"][..]), ("model: [fast, ':low']", &["fast", ":low"]), ("name: A", &["strong:high"])]
    {
        let phase = PHASE.replacen("emoji: '*'\n", "emoji: '*'\nmodel: strong:high\n", 1);
        let yaml = FLOW.replace("  - a.md", &format!("  - phase: a.md\n    {entry}"));
        let (library, diagnostics) = load(&[("w/workflow.yaml", &yaml), ("w/a.md", &phase)]);
        assert_eq!(diagnostics, [""; 0], "{entry}");
        let own = &library.get("w").unwrap().own_phases().next().unwrap().model;
        assert_eq!(own.names, model, "{entry}");
        assert_eq!(own.of_entry, entry.starts_with("model"), "{entry}");
    }
}

#[test]
fn models_and_levels_are_read() {
    for (lines, model) in [
        ("", vec![]),
        ("model: strong:low", vec!["strong:low"]),
        ("model: a/b:c/d:high", vec!["a/b:c/d:high"]),
        ("model: [ strong, ' a/b ' ]", vec!["strong", "a/b"]),
        ("model: ':off'", vec![":off"]),
        ("model: :max", vec![":max"]),
        ("model: ':ultra'", vec![":ultra"]),
    ] {
        let (read, diagnostics) = read(lines);
        assert_eq!(read, Some(model.into_iter().map(str::to_owned).collect()), "{lines}");
        assert_eq!(diagnostics.is_empty(), !lines.contains("ultra"), "{lines}");
    }
}

#[test]
fn a_model_is_a_name_or_a_list_of_names() {
    let expected = "expected the name of a model or a list of names, found";
    for (lines, place, found) in [
        ("model: 7", "5:8", "a number"),
        ("model: {a: b}", "5:8", "a mapping"),
        ("model: [a, [b]]", "5:12", "a list"),
        ("model: [a, null]", "5:12", "an empty value"),
    ] {
        let (model, diagnostics) = read(lines);
        assert_eq!(model, None, "{lines}");
        assert_eq!(diagnostics, [format!("~/workflows/w/a.md:{place}: `model`: {expected} {found}")]);
    }
}

#[test]
fn aliases_are_the_users_own() {
    let own =
        |files: &[(&str, &str)]| files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    let aliases = "models:\n  strong: [a/b, c/d]\n  fast: e/f\n  none:\n";
    let files = Files {
        global: own(&[("settings.yaml", aliases), ("w/settings.yaml", "models: { strong: x/y }")]),
        project: own(&[("settings.yaml", "models: { strong: x/y, other: x/z }")]),
        ..Files::default()
    };
    let (library, diagnostics) = load_files(&files);
    assert_eq!(diagnostics, [""; 0]);
    let names: Vec<&String> = library.aliases().keys().collect();
    assert_eq!(names, ["fast", "none", "strong"]);
    assert_eq!(library.aliases()["strong"], ["a/b", "c/d"]);
    assert_eq!(library.aliases()["none"], [""; 0]);
}

#[test]
fn an_alias_with_errors_does_not_affect_the_others_nor_a_workflow() {
    let (library, diagnostics) = load(&[
        ("settings.yaml", "models:\n  strong: [a/b, fast]\n  fast: e/f\n  a/b: c/d\n"),
        ("w/workflow.yaml", FLOW),
        ("w/a.md", PHASE),
    ]);
    assert_eq!(keys(&library), ["w"]);
    assert_eq!(library.aliases().keys().collect::<Vec<_>>(), ["fast"]);
    assert_eq!(
        diagnostics,
        [
            "~/workflows/settings.yaml:2:17: `fast` is not the name of a model",
            "~/workflows/settings.yaml:4:3: `a/b` cannot be an alias: a name with `/` is that of a model",
        ]
    );
}
