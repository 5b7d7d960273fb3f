//! Reads the fields `parallel` and `need` of a group.

use super::fields::Fields;
use super::values::written;
use super::yaml::Yaml;
use crate::definition::diagnostic::{FieldProblem, ParallelProblem, PathPart};
use crate::definition::model::{BoundValue, Need, Parallel};

/// Reads the fields; `None` for a group that is not parallel, and after an error.
pub(crate) fn read(fields: &mut Fields) -> Option<Parallel> {
    let tree = std::rc::Rc::clone(&fields.tree);
    let at_once = match tree.root.get("parallel") {
        // `check_values` reports a field without a value.
        None | Some(Yaml::Null) => None,
        Some(Yaml::Bool(true, _)) => Some(Parallel::AT_ONCE.into()),
        Some(Yaml::Bool(false, _)) => None,
        Some(value) => {
            let input = fields.input_of_bound(&[PathPart::Key("parallel")], "parallel", value);
            let number = count(value, Parallel::MOST_AT_ONCE).map(BoundValue::Fixed);
            let at_once = input.map(BoundValue::Input).or(number);
            if at_once.is_none() {
                let expected = format!("`true` or a number from 1 to {}", Parallel::MOST_AT_ONCE);
                bad(fields, "parallel", expected, Some(value));
                return None;
            }
            at_once
        }
    };
    let need = match tree.root.get("need") {
        None | Some(Yaml::Null) => Need::All,
        Some(_) if at_once.is_none() => {
            bad(fields, "need", "`parallel` beside it".into(), None);
            return None;
        }
        Some(Yaml::String(word)) if word == "all" => Need::All,
        Some(value) => match count(value, Parallel::MAX) {
            Some(number) => Need::AtLeast(number),
            None => {
                let expected = format!("`all` or a number from 1 to {}", Parallel::MAX);
                bad(fields, "need", expected, Some(value));
                return None;
            }
        },
    };
    let parallel = Parallel { at_once: at_once?, need };
    // Without `each` the entries do not lead to each other.
    let field = "loopable";
    if tree.root.get("each").is_none() && !matches!(tree.root.get(field), None | Some(Yaml::Null)) {
        fields.report(&[PathPart::Name(field)], ParallelProblem::NeedsEach { field });
    }
    Some(parallel)
}

/// Returns a whole number of branches, from 1 to `most`.
fn count(value: &Yaml, most: usize) -> Option<u32> {
    match value {
        #[allow(clippy::cast_precision_loss, reason = "it is small")]
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        Yaml::Number(number, _) if number.fract() == 0.0 && (1.0..=most as f64).contains(number) => {
            Some(*number as u32)
        }
        _ => None,
    }
}

fn bad(fields: &mut Fields, field: &'static str, expected: String, found: Option<&Yaml>) {
    let problem = FieldProblem::bad(field, expected, found.map_or_else(|| "none".to_owned(), written));
    fields.report(&[PathPart::Key(field)], problem);
}
