//! The workflows of this package.

use super::super::fixtures::{Files, package};
use super::*;

fn files(own: &[(&str, &str)]) -> Files {
    let goal = "commandName: goal\nphases: [{ run: 'true' }]\n";
    let files = [("workflows/goal/workflow.yaml", goal)];
    let builtin = package("@x/y", PackageScope::User, r#"["./workflows"]"#, &files);
    let global = own.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    Files { builtin: Some(builtin), global, ..Files::default() }
}

#[test]
fn they_are_there_unless_the_settings_say_no_or_cannot_be_read() {
    for (settings, is_there) in [
        (None, true),
        (Some("builtin: true"), true),
        (Some("builtin: false"), false),
        (Some("builtin: no"), false),
        (Some("builtin:"), false),
        (Some(""), false),
        (Some("bultin: true"), false),
        (Some("{"), false),
    ] {
        let settings = settings.map(|text| ("settings.yaml", text));
        let files = files(&settings.into_iter().collect::<Vec<_>>());
        let (library, _) = Library::load(&files).unwrap();
        assert_eq!(library.by_command_name("goal").is_some(), is_there, "{settings:?}");
    }
}

#[test]
fn a_workflow_of_the_same_name_goes_before_and_nothing_is_told() {
    let own = "commandName: goal\nphases: [{ run: 'false' }]\n";
    let files = files(&[("goal/workflow.yaml", own)]);
    let (library, diagnostics) = Library::check(&files).unwrap();
    assert_eq!(diagnostics, []);
    assert_eq!(library.by_command_name("goal").unwrap().key, "goal");
    assert_eq!(library.by_command_name("@x/y/goal").unwrap().key, "@x/y/goal");
}
