//! Reads the field `outcomes` of a phase, and of an entry of `phases`.

use super::fields::Fields;
use super::partly::{self, Partly};
use super::values::{scalar, written};
use super::yaml::Yaml;
use crate::definition::diagnostic::anchor::Step;
use crate::definition::diagnostic::field::FieldProblem;
use crate::definition::diagnostic::value::Expected;
use crate::definition::model::blank::is_blank;
use crate::definition::model::inputs::is_name;
use crate::definition::model::outcomes::{Outcome, Target};
use crate::definition::model::schema::MAX_OUTCOMES;

/// Reads `outcomes` of a phase. The ids of entries are checked with the workflow.
pub(crate) fn read(fields: &mut Fields) -> Partly<Vec<Outcome>> {
    let value = fields.tree.root.get("outcomes").cloned();
    read_at(fields, &[], value.as_ref())
}

/// Reads `outcomes` of the entry of `phases` at a path, as [`read`].
pub(crate) fn read_of_entry(
    fields: &mut Fields,
    here: &[Step],
    entry: &Yaml,
) -> Partly<Vec<Outcome>> {
    let of_entry = |outcomes: Vec<Outcome>| {
        let outcomes = outcomes.into_iter();
        outcomes.map(|outcome| Outcome { of_entry: true, ..outcome }).collect()
    };
    read_at(fields, here, entry.get("outcomes")).map(of_entry).map_err(of_entry)
}

/// Reads the value of `outcomes` of the mapping at a path; none without a value.
fn read_at(fields: &mut Fields, here: &[Step], value: Option<&Yaml>) -> Partly<Vec<Outcome>> {
    let field = "outcomes";
    let at = [here, &[Step::Key(field)]].concat();
    let problem = match value {
        None | Some(Yaml::Null) => return Ok(Vec::new()),
        Some(Yaml::Map(entries)) if (1..=MAX_OUTCOMES).contains(&entries.len()) => {
            return partly::each(
                entries.iter().map(|(name, target)| outcome(fields, &at, name, target)),
            );
        }
        Some(Yaml::Map(_)) => FieldProblem::EntryCount { field, limit: MAX_OUTCOMES },
        Some(other) => FieldProblem::WrongType {
            field: field.into(),
            expected: Expected::Other("a mapping like `{ clean: next, issues: implement }`"),
            found: other.kind(),
        },
    };
    fields.report(&at, problem);
    Err(Vec::new())
}

/// Reads an outcome. One with errors leads to the next entry.
pub(super) fn outcome(
    fields: &mut Fields,
    at: &[Step],
    name: &str,
    target: &Yaml,
) -> Partly<Outcome> {
    if !is_name(name) {
        let problem = FieldProblem::BadName { field: "outcomes", name: name.to_owned() };
        fields.report(&[at, &[Step::Name(name)]].concat(), problem);
        return Err(Outcome::new(name, Target::Next));
    }
    let Some(word) = scalar(target).filter(|word| !is_blank(word)) else {
        let problem = FieldProblem::BadValue {
            field: format!("outcomes.{name}"),
            expected: "`next`, `loop`, `done`, `stop` or the id of an entry".into(),
            found: written(target),
            suggestion: None,
        };
        fields.report(&[at, &[Step::Key(name)]].concat(), problem);
        return Err(Outcome::new(name, Target::Next));
    };
    Ok(Outcome::new(name, Target::of(&word)))
}
