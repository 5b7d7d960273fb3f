//! Reads the `task.md` of a comparison.

use std::time::Duration;

use super::budget::duration;
use super::fields::Fields;
use super::front_matter::split;
use super::values::scalar;
use super::yaml::Yaml;
use crate::definition::diagnostic::anchor::Step;
use crate::definition::diagnostic::field::FieldProblem;
use crate::definition::diagnostic::meant::Mapping;
use crate::definition::diagnostic::report::Diagnostic;
use crate::definition::diagnostic::value::Needs;
use crate::definition::model::blank::is_blank;
use crate::definition::model::schema::{TASK_FIELDS, names};

const FIELDS: [&str; TASK_FIELDS.len()] = names(&TASK_FIELDS);

/// The time of a run without a `timeout`.
const TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// The time of a script without a `checkTimeout`.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10 * 60);
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

/// A task of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The task for the agent.
    pub text: String,
    /// Values of inputs; a name occurs once for each item of a list.
    pub inputs: Vec<(String, String)>,
    /// The time in which a run must end.
    pub timeout: Duration,
    /// The time in which `setup` and `check` must each end.
    pub check_timeout: Duration,
    /// What a run may take, as on the command line.
    pub budget: Option<String>,
    /// The repository of the project, and its commit.
    pub repo: Option<(String, String)>,
}

/// Reads a task. `bounds` tells what is wrong with a text of bounds.
///
/// # Errors
///
/// What is wrong with the file.
pub fn read(file: &str, text: String, bounds: impl Fn(&str) -> Result<(), String>) -> Result<Task, Vec<Diagnostic>> {
    let document = split(text);
    let mut diagnostics = Vec::new();
    let task = understand(file, &document, bounds, &mut diagnostics);
    match task {
        Some(task) if diagnostics.is_empty() => Ok(task),
        _ => Err(diagnostics),
    }
}

fn understand(
    file: &str,
    document: &super::front_matter::Document,
    bounds: impl Fn(&str) -> Result<(), String>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Task> {
    let needs = Needs { what: "a task", fields: &["repo"] };
    let front_matter = match document.front_matter() {
        yaml if is_blank(yaml) && !document.is_unclosed() => "{}",
        yaml => yaml,
    };
    let of = (Mapping::Other, needs, &FIELDS[..]);
    let mut fields = Fields::parse(file, front_matter, document.lines_before, of, diagnostics)?;
    if let Yaml::Map(entries) = &fields.tree.root {
        let unknown: Vec<String> =
            entries.iter().map(|(key, _)| key.clone()).filter(|key| !FIELDS.contains(&&**key)).collect();
        for field in unknown {
            let problem = FieldProblem::UnknownPart { of: "task.md", field: field.clone(), known: &FIELDS };
            fields.report(&[Step::Name(&field)], problem);
        }
    }
    fields.check_values(&TASK_FIELDS);
    let text = document.body().to_owned();
    if is_blank(&text) {
        fields.report(&[], FieldProblem::Blank { field: "the task below the front matter".into() });
    }
    let repo = optional(&mut fields, "repo");
    let commit = optional(&mut fields, "commit");
    match (&repo, &commit) {
        (Some(_), None) => wrong(&mut fields, "repo", "a `commit` beside it"),
        (None, Some(_)) => fields.missing("repo"),
        _ => {}
    }
    let check_timeout = time(&mut fields, "checkTimeout", CHECK_TIMEOUT);
    let timeout = time(&mut fields, "timeout", TIMEOUT);
    let budget = optional(&mut fields, "budget");
    if let Some(Err(message)) = budget.as_deref().map(bounds) {
        let problem = FieldProblem::BadValue {
            field: "budget".into(),
            expected: "amounts such as `cost=2,time=30m`".into(),
            found: format!("`{}`: {message}", budget.clone().unwrap_or_default()),
            suggestion: None,
        };
        fields.report(&[Step::Key("budget")], problem);
    }
    let inputs = inputs(&mut fields);
    Some(Task { text, inputs, timeout, check_timeout, budget, repo: repo.zip(commit) })
}

/// Reports a field with another value than it must have.
fn wrong(fields: &mut Fields, field: &'static str, expected: &str) {
    let found = fields.tree.root.get(field).map(super::values::written).unwrap_or_default();
    let expected = expected.to_owned();
    let problem = FieldProblem::BadValue { field: field.into(), expected, found, suggestion: None };
    fields.report(&[Step::Key(field)], problem);
}

/// The text of a field, which must be one.
fn optional(fields: &mut Fields, field: &'static str) -> Option<String> {
    match fields.tree.root.get(field) {
        None | Some(Yaml::Null) => None,
        Some(value) => match scalar(value).filter(|text| !is_blank(text)) {
            Some(text) => Some(text),
            None => {
                wrong(fields, field, "a text");
                None
            }
        },
    }
}

fn time(fields: &mut Fields, field: &'static str, default: Duration) -> Duration {
    match fields.tree.root.get(field) {
        None | Some(Yaml::Null) => default,
        Some(value) => match duration(value) {
            Some(time) if !time.is_zero() && time <= MAX_TIMEOUT => time,
            _ => {
                wrong(fields, field, "a duration like `30m` or `1h 30m`, or a number of seconds, at most a day");
                default
            }
        },
    }
}

fn inputs(fields: &mut Fields) -> Vec<(String, String)> {
    let mut inputs = Vec::new();
    for (name, value) in fields.entries("inputs", "a mapping", None) {
        let items = match &value {
            Yaml::List(items) => items.clone(),
            other => vec![other.clone()],
        };
        for item in items {
            match scalar(&item) {
                Some(text) => inputs.push((name.clone(), text)),
                None => {
                    let problem = FieldProblem::BadValue {
                        field: format!("inputs.{name}"),
                        expected: "a text, a number, true or false, or a list of these".into(),
                        found: super::values::written(&item),
                        suggestion: None,
                    };
                    fields.report(&[Step::Key("inputs"), Step::Name(&name)], problem);
                }
            }
        }
    }
    inputs
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn task(text: &str) -> Result<Task, Vec<String>> {
        let bounds = |text: &str| if text == "cost=2" { Ok(()) } else { Err("no".to_owned()) };
        read("task.md", text.to_owned(), bounds).map_err(|diagnostics| {
            diagnostics
                .iter()
                .map(|diagnostic| format!("{}: {}", diagnostic.location(), diagnostic.problem.describe().message))
                .collect()
        })
    }

    #[test]
    fn a_task_is_its_text() {
        let plain = task("Repair the clock.\n").unwrap();
        assert_eq!(plain.text, "Repair the clock.");
        assert_eq!((plain.timeout, plain.budget, plain.repo), (TIMEOUT, None, None));
        assert_eq!(task("---\n---\nDo it").unwrap().text, "Do it");
    }

    #[test]
    fn fields_are_read() {
        let yaml = "repo: https://example.org/x.git\ncommit: 1234567\ninputs:\n  zone: UTC\n  files: [a, 2]\ntimeout: 90\nbudget: cost=2\n";
        let full = task(&format!("---\n{yaml}---\nDo it")).unwrap();
        let inputs = [("zone", "UTC"), ("files", "a"), ("files", "2")];
        assert_eq!(full.inputs, inputs.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(full.timeout, Duration::from_secs(90));
        assert_eq!(full.budget.as_deref(), Some("cost=2"));
        assert_eq!(full.repo, Some(("https://example.org/x.git".to_owned(), "1234567".to_owned())));
    }

    #[test]
    fn what_is_not_understood_is_an_error_with_its_place() {
        for (yaml, wanted) in [
            ("timeuot: 5m", "task.md:2:1: unknown field `timeuot` in `task.md`"),
            ("timeout: soon", "task.md:2:10: `timeout`: expected a duration"),
            ("timeout: 2d", "task.md:2:10: `timeout`: expected a duration"),
            ("timeout:", "task.md:2:1: `timeout` has no value"),
            ("budget: money", "task.md:2:9: `budget`: expected amounts"),
            ("repo: x", "task.md:2:7: `repo`: expected a `commit` beside it"),
            ("commit: x", "task.md:2:1: missing field `repo`"),
            ("inputs: [1]", "task.md:2:9: `inputs`: expected a mapping"),
            ("inputs: { a: { b: 1 } }", "task.md:2:11: `inputs.a`: expected a text"),
            ("- 1", "task.md:2:1: expected a mapping"),
            ("a: [", "task.md:"),
        ] {
            let found = task(&format!("---\n{yaml}\n---\nDo it")).unwrap_err();
            assert!(found.iter().any(|text| text.starts_with(wanted)), "{yaml}: {found:?}");
        }
        assert!(task("---\ntimeout: 1m\n---\n \n").is_err());
        assert!(task("").is_err());
        assert!(task("---\ntimeout: 1m\nDo it").is_err());
    }
}
