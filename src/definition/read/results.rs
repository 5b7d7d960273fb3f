//! Reads the field `results` of a phase.

use super::fields::Fields;
use super::values::{scalar, written};
use super::yaml::Yaml;
use crate::definition::diagnostic::anchor::Step;
use crate::definition::diagnostic::field::FieldProblem;
use crate::definition::model::blank::is_blank;
use crate::definition::model::nearest::nearest;
use crate::definition::model::results::Results;

const FIELD: &str = "results";

/// Reads `results`; `None` after an error. The ids of phases are checked with the workflow.
pub(crate) fn read(fields: &mut Fields) -> Option<Results> {
    let problem = |found: String, suggestion: Option<String>| {
        let expected = "`all`, `none` or a list of ids of phases".into();
        FieldProblem::BadValue { field: FIELD.into(), expected, found, suggestion }
    };
    let tree = fields.tree.clone();
    let (item, problem) = match tree.root.get(FIELD) {
        None | Some(Yaml::Null) => return Some(Results::All),
        Some(Yaml::List(items)) if items.is_empty() => {
            (None, problem("an empty list".into(), Some(format!("{FIELD}: none"))))
        }
        Some(Yaml::List(items)) => {
            let name = |item: &Yaml| scalar(item).filter(|name| !is_blank(name));
            let names: Vec<Option<String>> = items.iter().map(name).collect();
            match names.iter().position(Option::is_none) {
                None => return Some(Results::Of(names.into_iter().flatten().collect())),
                Some(index) => {
                    let found = items.get(index).map(written).unwrap_or_default();
                    (Some(index), problem(found, None))
                }
            }
        }
        Some(Yaml::String(word)) if word == "all" => return Some(Results::All),
        Some(Yaml::String(word)) if word == "none" => return Some(Results::Of(Vec::new())),
        Some(Yaml::String(word)) if !is_blank(word) => {
            let meant = nearest(word, Results::WORDS).map(Into::into);
            let meant = meant.unwrap_or_else(|| format!("{FIELD}: [{}]", word.trim()));
            (None, problem(format!("`{word}`"), Some(meant)))
        }
        Some(other) => (None, problem(written(other), None)),
    };
    let path = [Some(Step::Key(FIELD)), item.map(Step::Item)];
    fields.report(&path.into_iter().flatten().collect::<Vec<Step>>(), problem);
    None
}
