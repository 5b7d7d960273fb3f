//! Reads the field `outcomes` of a phase.

use super::fields::Fields;
use super::values::{scalar, written};
use crate::definition::diagnostic::anchor::Step;
use crate::definition::diagnostic::field::FieldProblem;
use crate::definition::model::blank::is_blank;
use crate::definition::model::inputs::is_name;
use crate::definition::model::outcomes::{Outcome, Target};
use crate::definition::model::schema::MAX_OUTCOMES;

/// Reads `outcomes`; `None` after an error. The ids of phases are checked with the workflow.
pub(crate) fn read(fields: &mut Fields) -> Option<Vec<Outcome>> {
    let expected = "a mapping like `{ clean: next, issues: implement }`";
    let entries = fields.entries("outcomes", expected, Some(MAX_OUTCOMES))?;
    let outcomes: Vec<Option<Outcome>> = entries
        .iter()
        .map(|(name, target)| {
            let (field, name) = ("outcomes", name.to_string());
            if !is_name(&name) {
                let problem = FieldProblem::BadName { field, name: name.clone() };
                fields.report(&[Step::Key(field), Step::Name(&name)], problem);
                return None;
            }
            let Some(word) = scalar(target).filter(|word| !is_blank(word)) else {
                let problem = FieldProblem::BadValue {
                    field: format!("outcomes.{name}"),
                    expected: "`next`, `loop`, `done` or the id of a phase".into(),
                    found: written(target),
                    suggestion: None,
                };
                fields.report(&[Step::Key(field), Step::Key(&name)], problem);
                return None;
            };
            Some(Outcome { name, target: Target::of(&word) })
        })
        .collect();
    outcomes.into_iter().collect()
}
