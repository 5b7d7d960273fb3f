//! Reads the field `outcomes` of a phase, and of an entry of `phases`.

use super::fields::Fields;
use super::values::{scalar, written};
use super::yaml::Yaml;
use crate::definition::diagnostic::{FieldProblem, PathPart};
use crate::definition::model::{BoundValue, MAX_OUTCOMES, Outcome, Target, WayBound, is_blank, is_name};

/// Reads `outcomes` of a phase. The ids of entries are checked with the workflow.
pub(crate) fn read(fields: &mut Fields) -> Vec<Outcome> {
    let value = fields.tree.root.get("outcomes").cloned();
    read_at(fields, &[], value.as_ref())
}

/// Reads `outcomes` of the entry of `phases` at a path, as [`read`].
pub(crate) fn read_of_entry(fields: &mut Fields, here: &[PathPart], entry: &Yaml) -> Vec<Outcome> {
    let outcomes = read_at(fields, here, entry.get("outcomes")).into_iter();
    outcomes.map(|outcome| Outcome { of_entry: true, ..outcome }).collect()
}

/// Reads the value of `outcomes` of the mapping at a path; empty without a value.
fn read_at(fields: &mut Fields, here: &[PathPart], value: Option<&Yaml>) -> Vec<Outcome> {
    let field = "outcomes";
    let at = [here, &[PathPart::Key(field)]].concat();
    let problem = match value {
        None | Some(Yaml::Null) => return Vec::new(),
        Some(Yaml::Map(entries)) if (1..=MAX_OUTCOMES).contains(&entries.len()) => {
            return entries.iter().map(|(name, value)| outcome(fields, &at, (name, value), &WAY)).collect();
        }
        Some(Yaml::Map(_)) => FieldProblem::EntryCount { field, limit: MAX_OUTCOMES },
        Some(other) => {
            FieldProblem::wrong_type(field, "a mapping like `{ clean: next, issues: implement }`", other.kind())
        }
    };
    fields.report(&at, problem);
    Vec::new()
}

/// The fields of an outcome that is a mapping.
pub(super) const WAY: [&str; 3] = ["to", "max", "then"];

/// Reads an outcome: its target, or a mapping with the fields `known`, of which only the fields of [`WAY`] are read
/// here. An outcome with errors leads to the next entry.
pub(super) fn outcome(
    fields: &mut Fields,
    at: &[PathPart],
    (name, value): (&str, &Yaml),
    known: &'static [&'static str],
) -> Outcome {
    let mut outcome = Outcome::new(name, Target::Next);
    if !is_name(name) {
        let problem = FieldProblem::BadName { field: "outcomes", name: name.to_owned() };
        fields.report(&[at, &[PathPart::Name(name)]].concat(), problem);
        return outcome;
    }
    let here = [at, &[PathPart::Key(name)]].concat();
    let field = format!("outcomes.{name}");
    let Yaml::Map(_) = value else {
        outcome.target = target(fields, &here, field, value);
        return outcome;
    };
    fields.check_part(&here, "outcomes", known);
    let to = value.get("to").unwrap_or(&Yaml::Null);
    let at_to = [&here, &[PathPart::Key("to")][..]].concat();
    outcome.target = target(fields, &at_to, format!("{field}.to"), to);
    let bad = |fields: &mut Fields, key, expected: &str| {
        report_part(fields, at, (name, value), key, expected.to_owned());
    };
    let Some(max) = value.get("max") else {
        if value.get("then").is_some() {
            bad(fields, "max", "a number of times beside `then`");
        }
        return outcome;
    };
    let at_max = [&here, &[PathPart::Key("max")][..]].concat();
    let expected = || format!("a whole number from 1 to {}", WayBound::LIMIT);
    let max = match (fields.input_of_bound(&at_max, &format!("{field}.max"), max), max) {
        (Some(name), _) => BoundValue::Input(name),
        (None, Yaml::Number(max, _)) if max.fract() == 0.0 && (1.0..=f64::from(WayBound::LIMIT)).contains(max) => {
            BoundValue::Fixed(*max as u32)
        }
        (None, Yaml::String(text)) if text.trim().parse::<u32>().is_ok() => {
            let (field, expected, value) = (format!("{field}.max"), expected(), text.clone());
            fields.report(&at_max, FieldProblem::Quoted { field, expected, value });
            1.into()
        }
        (None, _) => {
            bad(fields, "max", &expected());
            1.into()
        }
    };
    if matches!(outcome.target, Target::Done | Target::Stop | Target::End) {
        let expected = "`next`, `loop` or the id of an entry beside `max`";
        bad(fields, "to", expected);
    }
    let at_then = [&here, &[PathPart::Key("then")][..]].concat();
    let then = value.get("then").map(|then| target(fields, &at_then, format!("{field}.then"), then));
    outcome.bound = Some(WayBound { max, then });
    outcome
}

/// Reports a value in an outcome that is a mapping.
pub(super) fn report_part(
    fields: &mut Fields,
    at: &[PathPart],
    (name, value): (&str, &Yaml),
    key: &'static str,
    expected: String,
) {
    let problem = FieldProblem::bad(
        format!("outcomes.{name}.{key}"),
        expected,
        value.get(key).map_or_else(|| "none".to_owned(), written),
    );
    fields.report(&[at, &[PathPart::Key(name), PathPart::Key(key)]].concat(), problem);
}

fn target(fields: &mut Fields, at: &[PathPart], field: String, value: &Yaml) -> Target {
    if let Some(word) = scalar(value).filter(|word| !is_blank(word)) {
        return Target::of(&word);
    }
    let problem = FieldProblem::bad(field, "`next`, `loop`, `done`, `stop` or the id of an entry", written(value));
    fields.report(at, problem);
    Target::Next
}
