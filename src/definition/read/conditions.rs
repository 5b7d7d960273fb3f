//! Reads the field `when` of an entry of `phases`, and of an outcome of a question.

use super::fields::Fields;
use super::values::{self, scalar, written};
use super::yaml::Yaml;
use crate::definition::diagnostic::{FieldProblem, PathPart};
use crate::definition::model::{Condition, MAX_CONDITIONS, MAX_OPTIONS, MAX_VALUE, either, trim};

/// Reads the `when` of the mapping at a path. Names and values are checked with the workflow.
pub(crate) fn read(fields: &mut Fields, at: &[PathPart], mapping: &Yaml) -> Vec<Condition> {
    let here = [at, &[PathPart::Key("when")]].concat();
    let entries = match mapping.get("when") {
        None | Some(Yaml::Null) => return Vec::new(),
        Some(Yaml::Map(entries)) if (1..=MAX_CONDITIONS).contains(&entries.len()) => entries,
        Some(Yaml::Map(_)) => {
            let problem = FieldProblem::EntryCount { field: "when", limit: MAX_CONDITIONS };
            fields.report(&here, problem);
            return Vec::new();
        }
        Some(other) => {
            let problem = FieldProblem::wrong_type("when", "a mapping like `{ outcome.triage: large }`", other.kind());
            fields.report(&here, problem);
            return Vec::new();
        }
    };
    let mut read = Vec::new();
    for (key, value) in entries {
        if key == Condition::GIVEN {
            read.extend(given(fields, &here, value));
        } else {
            read.extend(condition(fields, &here, key, value));
        }
    }
    read
}

/// Reads the names of values that the run must have.
fn given(fields: &mut Fields, here: &[PathPart], value: &Yaml) -> Vec<Condition> {
    let names = if let Yaml::List(items) = value { items.clone() } else { vec![value.clone()] };
    let at = [here, &[PathPart::Key(Condition::GIVEN)]].concat();
    if !(1..=MAX_CONDITIONS).contains(&names.len()) {
        fields.report(&at, FieldProblem::EntryCount { field: "when.given", limit: MAX_CONDITIONS });
    }
    let mut read = Vec::new();
    for name in &names {
        let of = match scalar(name) {
            Some(text) => values::read("when.given", &text, &Condition::GIVEN_FORMS),
            None => Err(FieldProblem::bad("when.given", either(&Condition::GIVEN_FORMS), written(name))),
        };
        match of {
            Ok(of) => read.push(Condition { of, values: Vec::new() }),
            Err(problem) => fields.report(&at, problem),
        }
    }
    read
}

fn condition(fields: &mut Fields, here: &[PathPart], key: &str, value: &Yaml) -> Option<Condition> {
    let of = match values::read("when", key, &Condition::FORMS) {
        Ok(of) => of,
        Err(problem) => {
            fields.report(&[here, &[PathPart::Name(key)]].concat(), problem);
            return None;
        }
    };
    let trimmed = |value: &Yaml| Some(trim(&scalar(value)?).to_owned());
    let values: Option<Vec<String>> = match value {
        Yaml::List(items) => items.iter().map(trimmed).collect(),
        value => trimmed(value).map(|value| vec![value]),
    };
    let is_value = |value: &String| value.chars().count() <= MAX_VALUE;
    let values = values.filter(|values| (1..=MAX_OPTIONS).contains(&values.len()) && values.iter().all(is_value));
    let Some(values) = values else {
        let problem = FieldProblem::bad(
            format!("when.{key}"),
            format!("a value, or a list of 1 to {MAX_OPTIONS} values"),
            written(value),
        );
        fields.report(&[here, &[PathPart::Key(key)]].concat(), problem);
        return None;
    };
    Some(Condition { of, values })
}
