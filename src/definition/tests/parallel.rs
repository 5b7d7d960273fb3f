//! Promises of the checks of parallel groups: two branches never write the same file, and all that is reported of their
//! ways holds.

use proptest::prelude::*;

use super::ways::files;
use super::*;
use crate::definition::fixtures::{Files, phase, workflow};
use crate::definition::model::below;
use crate::definition::model::written_paths::{is_of_one_item, may_meet};

/// A path of `write`, of parts that mean something.
fn rule() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "a",
        "b",
        "A",
        "docs",
        ".",
        "..",
        "*",
        "**",
        "*.md",
        "[ab]",
        "{a,b/c}",
        "a.md",
        "{runDir}",
        "{itemNumber}",
        "a{itemNumber}",
        "1{itemNumber}",
        "{itemNumber}1",
        "{itemNumber}*",
        ".pi",
        "workflow-runs",
        "r",
        "1",
        "11",
    ]);
    let begin =
        prop::sample::select(vec!["", "", "", "{runDir}/", "{runDir}/", ".pi/workflow-runs/", "/project/", "~/", "./"]);
    (begin, prop::collection::vec(part, 1..4), prop::sample::select(vec!["", "/"]))
        .prop_map(|(begin, parts, end)| format!("{begin}{}{end}", parts.join("/")))
}

/// A path of `write` that may be of one item.
fn rule_of_item() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec!["", "1", "a", "*", "{itemNumber}", "[1]"]);
    (part.clone(), part, rule()).prop_map(|(before, behind, rest)| match rest.as_str() {
        rest if rest.len() % 2 == 0 => format!("{{runDir}}/{before}{{itemNumber}}{behind}/{rest}"),
        _ => format!("{{runDir}}/{before}{{itemNumber}}{behind}"),
    })
}

/// Paths of files in the project.
fn all_files() -> Vec<String> {
    let folders = ["", "a/", "docs/", ".pi/", ".pi/workflow-runs/r/", ".pi/workflow-runs/r/1/"];
    let names = ["a", "b", "c", "docs", "a.md", "1", "11", "111", "a1", "b/c", "a/a", "11/a"];
    folders.iter().flat_map(|folder| names.map(|name| format!("{folder}{name}"))).collect()
}

/// Returns true if a phase with this `write` may write a file, for the item of this number: by `write`, or by a
/// command.
fn allows(rule: &str, item: usize, file: &str) -> bool {
    let value = |variable: &PathVariable| match variable {
        PathVariable::RunDir => Some(".pi/workflow-runs/r".to_owned()),
        PathVariable::ItemNumber => Some(item.to_string()),
        PathVariable::Input(_) | PathVariable::Item | PathVariable::ItemField(_) => None,
    };
    let limits = OwnLimits { write: Some(vec![rule.to_owned()]), ..OwnLimits::default() };
    let phase = Phase { limits, ..phase("a") };
    let scope = workflow("w", &[]);
    let limits = Limits::of(&phase, &scope).with_values(value);
    let path = || Ok(Some(file.to_owned()));
    let decide = |tool| permission((&phase.tools, &limits), tool, false, &path, &Files::default()).unwrap();
    let target = Files::default().resolve_write(file).unwrap().unwrap().path;
    matches!(decide("write"), Permission::Files(_))
        || match decide("bash") {
            Permission::Confined { files, .. } => files.paths().iter().any(|base| below(&target, base).is_some()),
            _ => false,
        }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Two rules that allow the same file may meet.
    #[test]
    fn branches_write_no_common_file(one in rule(), other in rule()) {
        prop_assert_eq!(may_meet(&one, &other), may_meet(&other, &one));
        prop_assert!(may_meet(&one, &one));
        let both = |file: &String| allows(&one, 1, file) && allows(&other, 1, file);
        let common = all_files().into_iter().find(both);
        prop_assert!(common.is_none() || may_meet(&one, &other), "{one} {other} {common:?}");
    }

    /// No file belongs to two items, whatever the rules for items are.
    #[test]
    fn items_write_no_common_file(one in rule_of_item(), other in rule_of_item(), items in (prop::sample::select(vec![1_usize, 2, 11]), prop::sample::select(vec![1_usize, 11]))) {
        if items.0 != items.1 && is_of_one_item(&one) && is_of_one_item(&other) {
            let both = |file: &String| allows(&one, items.0, file) && allows(&other, items.1, file);
            let common = all_files().into_iter().find(both);
            prop_assert_eq!(common, None, "{} {} {:?}", one, other, items);
        }
    }
}

proptest! {
    /// An outcome of the group is reported only if no branch ends with it.
    #[test]
    fn what_is_reported_of_branches_holds(
        conditions in prop::collection::vec(prop::option::of((any::<bool>(), 0..3_usize)), 2..5),
        targets in prop::collection::vec((0..3_usize, 0..3_usize), 4),
        named in prop::sample::select(vec!["", ", outcomes: {good: next}", ", outcomes: {bad: done, good: next}"]),
    ) {
        const TARGETS: [&str; 3] = ["next", "done", "stop"];
        const OUTCOMES: [&str; 3] = ["x", "y", "z"];
        let ids = ["a", "b", "c", "d"];
        let entries = ids.iter().zip(&conditions).map(|(id, condition)| match condition {
            None => format!("{id}.md"),
            Some((true, value)) => format!("{{phase: {id}.md, when: {{outcome.first: {}}}}}", OUTCOMES[*value]),
            Some((false, value)) => format!("{{phase: {id}.md, when: {{input.i: i{value}}}}}"),
        });
        let entries: Vec<String> = entries.collect();
        let yaml = format!(
            "inputs: {{i: {{type: choice, options: [i0, i1, i2]}}}}\nphases:\n  - first.md\n  - {{phases: [{}], id: g, parallel: true{named}}}\n  - last.md",
            entries.join(", ")
        );
        let lines: Vec<String> = targets
            .iter()
            .map(|(good, bad)| format!("outcomes: {{good: {}, bad: {}}}\nwrite: []", TARGETS[*good], TARGETS[*bad]))
            .collect();
        let mut phases = vec![("first", "outcomes: {x: next, y: next, z: done}"), ("last", "")];
        phases.extend(ids.iter().copied().zip(lines.iter().map(String::as_str)).take(conditions.len()));
        let (_, diagnostics) = Library::check(&files(&yaml, &phases)).unwrap();
        let reported: Vec<String> = diagnostics.iter().map(Diagnostic::message).collect();
        let is_told = reported.iter().any(|message| message.starts_with("`outcomes`"));
        // An outcome with which no branch ends, and that is not reported.
        let ends = |name: &str| targets.iter().take(conditions.len()).any(|(good, bad)| {
            TARGETS[if name == "good" { *good } else { *bad }] != "stop"
        });
        let is_wrong = ["good", "bad"].into_iter().any(|name| named.contains(name) && !ends(name));
        prop_assert_eq!(is_told, is_wrong, "{}\n{:?}", yaml, reported);
    }
}
