//! Reads the field `outcomes` of a phase, and of an entry of `phases`.

use super::fields::Fields;
use super::values::{scalar, written};
use super::yaml::Yaml;
use crate::definition::diagnostic::anchor::Step;
use crate::definition::diagnostic::field::FieldProblem;
use crate::definition::diagnostic::value::Expected;
use crate::definition::model::blank::is_blank;
use crate::definition::model::inputs::is_name;
use crate::definition::model::outcomes::{Outcome, Target};
use crate::definition::model::schema::MAX_OUTCOMES;

/// Reads `outcomes` of a phase; `None` after an error. The ids of entries are checked with the workflow.
pub(crate) fn read(fields: &mut Fields) -> Option<Vec<Outcome>> {
    let value = fields.tree.root.get("outcomes").cloned();
    read_at(fields, &[], value.as_ref())
}

/// Reads `outcomes` of the entry of `phases` at a path, as [`read`].
pub(crate) fn read_of_entry(
    fields: &mut Fields,
    here: &[Step],
    entry: &Yaml,
) -> Option<Vec<Outcome>> {
    let outcomes = read_at(fields, here, entry.get("outcomes"))?.into_iter();
    Some(outcomes.map(|outcome| Outcome { of_entry: true, ..outcome }).collect())
}

/// Reads the value of `outcomes` of the mapping at a path; none without a value.
fn read_at(fields: &mut Fields, here: &[Step], value: Option<&Yaml>) -> Option<Vec<Outcome>> {
    let field = "outcomes";
    let at = [here, &[Step::Key(field)]].concat();
    let problem = match value {
        None | Some(Yaml::Null) => return Some(Vec::new()),
        Some(Yaml::Map(entries)) if (1..=MAX_OUTCOMES).contains(&entries.len()) => {
            let outcomes: Vec<Option<Outcome>> =
                entries.iter().map(|(name, target)| outcome(fields, &at, name, target)).collect();
            return outcomes.into_iter().collect();
        }
        Some(Yaml::Map(_)) => FieldProblem::EntryCount { field, limit: MAX_OUTCOMES },
        Some(other) => FieldProblem::WrongType {
            field: field.into(),
            expected: Expected::Other("a mapping like `{ clean: next, issues: implement }`"),
            found: other.kind(),
        },
    };
    fields.report(&at, problem);
    None
}

fn outcome(fields: &mut Fields, at: &[Step], name: &str, target: &Yaml) -> Option<Outcome> {
    if !is_name(name) {
        let problem = FieldProblem::BadName { field: "outcomes", name: name.to_owned() };
        fields.report(&[at, &[Step::Name(name)]].concat(), problem);
        return None;
    }
    let Some(word) = scalar(target).filter(|word| !is_blank(word)) else {
        let problem = FieldProblem::BadValue {
            field: format!("outcomes.{name}"),
            expected: "`next`, `loop`, `done` or the id of an entry".into(),
            found: written(target),
            suggestion: None,
        };
        fields.report(&[at, &[Step::Key(name)]].concat(), problem);
        return None;
    };
    Some(Outcome::new(name, Target::of(&word)))
}
