//! Reads the fields `parallel`, `decide` and `need` of a group.

use super::fields::Fields;
use super::values::{scalar, written};
use super::yaml::Yaml;
use crate::definition::diagnostic::{FieldProblem, ParallelProblem, PathPart};
use crate::definition::model::{BoundValue, Decide, MAX_OUTCOMES, Need, Parallel, is_name};

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
    let decide = match tree.root.get("decide") {
        None | Some(Yaml::Null) => Some(None),
        Some(value) => decide(fields, value).map(Some),
    };
    let need = match tree.root.get("need") {
        None | Some(Yaml::Null) => Some(None),
        Some(Yaml::String(word)) if word == "all" => Some(Some(Need::All)),
        Some(value) => match count(value, Parallel::MAX) {
            Some(number) => Some(Some(Need::AtLeast(number))),
            None => {
                let expected = format!("`all` or a number from 1 to {}", Parallel::MAX);
                bad(fields, "need", expected, Some(value));
                None
            }
        },
    };
    let (decide, need) = (decide?, need?);
    let Some(at_once) = at_once else {
        let others = [("decide", decide.is_some()), ("need", need.is_some())];
        let others = others.into_iter().filter_map(|(field, is_there)| is_there.then_some(field));
        let without: Vec<&str> = others.collect();
        for field in &without {
            bad(fields, field, "`parallel` beside it".into(), None);
        }
        return None;
    };
    Some(Parallel { at_once, need: need.unwrap_or(Need::All), decide })
}

/// Reports the fields that a parallel group without `each` cannot have.
pub(crate) fn without_each(fields: &mut Fields) {
    for field in ["loopable", "maxLoops"] {
        if !matches!(fields.tree.root.get(field), None | Some(Yaml::Null)) {
            fields.report(&[PathPart::Name(field)], ParallelProblem::NeedsEach { field });
        }
    }
}

/// Reads `decide`: `majority`, or a list of names of outcomes.
fn decide(fields: &mut Fields, value: &Yaml) -> Option<Decide> {
    let names = match value {
        Yaml::String(word) if word == Decide::MAJORITY => return Some(Decide::Majority),
        Yaml::List(items) => {
            items.iter().map(|item| scalar(item).filter(|name| is_name(name))).collect::<Option<Vec<_>>>()
        }
        _ => None,
    };
    let is_sound = |names: &Vec<String>| {
        let mut sorted = names.clone();
        sorted.sort();
        sorted.dedup();
        (1..=MAX_OUTCOMES).contains(&names.len()) && sorted.len() == names.len()
    };
    let names = names.filter(is_sound);
    if names.is_none() {
        let expected = "`majority` or a list of different outcomes, the one that decides first";
        bad(fields, "decide", expected.into(), Some(value));
    }
    names.map(Decide::First)
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
