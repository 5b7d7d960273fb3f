//! Reads the field `each` of a group.

use super::fields::Fields;
use super::values::{self, scalar, written};
use super::yaml::Yaml;
use crate::definition::diagnostic::anchor::Step;
use crate::definition::diagnostic::field::FieldProblem;
use crate::definition::model::blank::is_blank;
use crate::definition::model::each::Each;
use crate::definition::model::value_type::{MAX_ITEMS, MAX_VALUE};

/// Reads `each`; the inner `None` without it, the outer one after an error. Names are checked with the workflow.
pub(crate) fn read(fields: &mut Fields) -> Option<Option<Each>> {
    let tree = std::rc::Rc::clone(&fields.tree);
    let problem = match tree.root.get("each") {
        // An empty value is reported with those of other fields.
        None | Some(Yaml::Null) => return Some(None),
        Some(Yaml::List(items)) => {
            let is_item = |item: &String| {
                !is_blank(item)
                    && !item.contains(['\n', '\r', '\0'])
                    && item.chars().count() <= MAX_VALUE
            };
            let texts = items.iter().map(|item| scalar(item).filter(is_item));
            let texts: Option<Vec<String>> = texts.collect();
            match texts.filter(|texts| (1..=MAX_ITEMS).contains(&texts.len())) {
                Some(texts) => return Some(Some(Each::Items(texts))),
                None => bad(format!("a list of 1 to {MAX_ITEMS} texts, each on one line with at most {MAX_VALUE} characters"), "another list".into()),
            }
        }
        Some(Yaml::String(name)) => match values::read("each", name, &Each::FORMS) {
            Ok(of) => return Some(Some(Each::Of(of))),
            Err(problem) => problem,
        },
        Some(other) => bad("a list, `input.NAME` or `output.ID.NAME`".into(), written(other)),
    };
    fields.report(&[Step::Key("each")], problem);
    None
}

fn bad(expected: String, found: String) -> FieldProblem {
    FieldProblem::BadValue { field: "each".into(), expected, found, suggestion: None }
}
