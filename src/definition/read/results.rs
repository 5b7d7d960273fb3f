//! Reads the field `results` of a phase.

use super::fields::Fields;
use super::values::{scalar, written};
use super::yaml::Yaml;
use crate::definition::diagnostic::{FieldProblem, PathPart};
use crate::definition::model::{Results, is_blank, nearest};

const FIELD: &str = "results";

/// Reads `results`. The ids of phases are checked with the workflow.
pub(crate) fn read(fields: &mut Fields) -> Results {
    let problem = |found: String, suggestion: Option<String>| {
        FieldProblem::bad(FIELD, "`all`, `none` or a list of ids of phases", found).suggest(suggestion)
    };
    let tree = fields.tree.clone();
    let problem = match tree.root.get(FIELD) {
        None | Some(Yaml::Null) => return Results::All,
        Some(Yaml::List(items)) if items.is_empty() => problem("an empty list".into(), Some(format!("{FIELD}: none"))),
        Some(Yaml::List(items)) => {
            let name = |item: &Yaml| scalar(item).filter(|name| !is_blank(name));
            let names: Vec<Option<String>> = items.iter().map(name).collect();
            let Some(index) = names.iter().position(Option::is_none) else {
                return Results::Of(names.into_iter().flatten().collect());
            };
            let found = items.get(index).map(written).unwrap_or_default();
            fields.report(&[PathPart::Key(FIELD), PathPart::Item(index)], problem(found, None));
            return Results::All;
        }
        Some(Yaml::String(word)) if word == "all" => return Results::All,
        Some(Yaml::String(word)) if word == "none" => return Results::Of(Vec::new()),
        Some(Yaml::String(word)) if !is_blank(word) => {
            let meant = nearest(word, Results::WORDS).map(Into::into);
            let meant = meant.unwrap_or_else(|| format!("{FIELD}: [{}]", word.trim()));
            problem(format!("`{word}`"), Some(meant))
        }
        Some(other) => problem(written(other), None),
    };
    fields.report(&[PathPart::Key(FIELD)], problem);
    Results::All
}
