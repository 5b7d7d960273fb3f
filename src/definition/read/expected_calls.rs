//! Reads the field `tests` of a phase.

use std::rc::Rc;

use super::fields::Fields;
use super::yaml::Yaml;
use crate::definition::diagnostic::{CallProblem, PathPart, Problem, ToolProblem};
use crate::definition::model::schema::names;
use crate::definition::model::{MAX_TESTS, PhaseTest, Surroundings, TESTS_FIELDS, is_blank, is_of_pi};

const LISTS: [&str; TESTS_FIELDS.len()] = names(&TESTS_FIELDS);

/// Reads `tests`. [`check`] reports errors in `tests`, which leave nothing out.
pub(crate) fn read(fields: &Fields) -> Vec<PhaseTest> {
    let value = fields.tree.root.get("tests");
    tests(value).0
}

/// The calls in a value of `tests`, and the errors in it.
fn tests(value: Option<&Yaml>) -> (Vec<PhaseTest>, Vec<(Vec<PathPart<'_>>, Problem)>) {
    let mut tests = Vec::new();
    let mut problems: Vec<(Vec<PathPart>, Problem)> = Vec::new();
    match value {
        None => {}
        Some(Yaml::Map(entries)) if !entries.is_empty() => {
            for (key, _) in entries.iter().filter(|(key, _)| !LISTS.contains(&&**key)) {
                let problem = CallProblem::UnknownTests { field: key.clone(), known: &LISTS };
                problems.push((vec![PathPart::Key("tests"), PathPart::Name(key)], problem.into()));
            }
            for list in LISTS {
                read_list(entries, list, &mut tests, &mut problems);
            }
        }
        Some(other) => {
            let expected = "a mapping with `allowed` or `refused`";
            let problem = CallProblem::BadTests { field: "tests".into(), expected, found: other.kind() };
            problems.push((vec![PathPart::Key("tests")], problem.into()));
        }
    }
    if tests.len() > MAX_TESTS {
        tests.truncate(MAX_TESTS);
        problems.push((vec![PathPart::Key("tests")], CallProblem::TooManyTests { limit: MAX_TESTS }.into()));
    }
    (tests, problems)
}

/// Reports the errors in `tests`.
pub(crate) fn check(fields: &mut Fields, surroundings: &Surroundings) {
    let tree = Rc::clone(&fields.tree);
    let (tests, mut problems) = tests(tree.root.get("tests"));
    for test in &tests {
        let (tool, _) = test.parts();
        if !is_of_pi(tool) && surroundings.lacks_tool(tool) {
            let [allowed, refused] = LISTS;
            let list = if test.allowed { allowed } else { refused };
            let at = vec![PathPart::Key("tests"), PathPart::Key(list), PathPart::Item(test.index)];
            let (name, suggestion) = (tool.to_owned(), surroundings.nearest_tool(tool));
            problems.push((at, ToolProblem::UnknownTool { name, suggestion }.into()));
        }
    }
    for (at, problem) in problems {
        fields.report(&at, problem);
    }
}

fn read_list(
    entries: &[(String, Yaml)],
    list: &'static str,
    tests: &mut Vec<PhaseTest>,
    problems: &mut Vec<(Vec<PathPart>, Problem)>,
) {
    let at = [PathPart::Key("tests"), PathPart::Key(list)];
    let mut bad = |at: &[PathPart<'static>], expected, found| {
        let problem = CallProblem::BadTests { field: format!("tests.{list}"), expected, found };
        problems.push((at.to_vec(), problem.into()));
    };
    let items = match entries.iter().find(|(key, _)| key == list).map(|(_, value)| value) {
        None => return,
        Some(Yaml::List(items)) if !items.is_empty() => items,
        Some(other) => return bad(&at, "a list of at least one tool call", other.kind()),
    };
    for (index, item) in items.iter().enumerate() {
        match item {
            Yaml::String(call) if !is_blank(call) => {
                let (call, allowed) = (call.trim().to_owned(), list == "allowed");
                tests.push(PhaseTest { call, allowed, index });
            }
            other => bad(&[at[0], at[1], PathPart::Item(index)], "`TOOL ARGUMENT`", other.kind()),
        }
    }
}
