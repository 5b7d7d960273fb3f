//! Reads the field `each` of a group.

use super::fields::Fields;
use super::values::{self, scalar, written};
use super::yaml::Yaml;
use crate::definition::diagnostic::{FieldProblem, PathPart};
use crate::definition::model::{Each, MAX_ITEMS, MAX_VALUE, ValueName, is_blank};

/// Reads `each`; `None` without it, and after an error. Names are checked with the workflow.
pub(crate) fn read(fields: &mut Fields) -> Option<Each> {
    let tree = std::rc::Rc::clone(&fields.tree);
    let problem = match tree.root.get("each") {
        // `check_values` reports a field without a value.
        None | Some(Yaml::Null) => return None,
        Some(Yaml::List(items)) if items.iter().any(|item| name(item).is_some()) => {
            match items.iter().map(|item| name(item).ok_or(item)).collect() {
                Ok(names) if items.len() <= MAX_ITEMS => return Some(Each::Of(names)),
                Ok(_) => bad(format!("at most {MAX_ITEMS} lists"), format!("{}", items.len())),
                Err(text) => {
                    bad("names of lists only, or texts only".into(), format!("{} beside a name", written(text)))
                }
            }
        }
        Some(Yaml::List(items)) => {
            let texts: Result<Vec<String>, &Yaml> =
                items.iter().map(|item| scalar(item).filter(|text| is_item(text)).ok_or(item)).collect();
            let found = match (texts, items.len()) {
                (_, 0) => "an empty list".to_owned(),
                (_, count) if count > MAX_ITEMS => format!("a list of {count}"),
                (Err(Yaml::String(text)), _) if is_blank(text) => "a list with a blank text".into(),
                (Err(item), _) => format!("a list with {}", written(item)),
                (Ok(texts), _) => return Some(Each::Items(texts)),
            };
            let expected =
                format!("a list of 1 to {MAX_ITEMS} texts, each on one line with at most {MAX_VALUE} characters");
            bad(expected, found)
        }
        Some(Yaml::String(name)) => match values::read("each", name, &Each::FORMS) {
            Ok(of) => return Some(Each::Of(vec![of])),
            Err(problem) => problem,
        },
        Some(other) => bad("a list, `input.NAME` or `output.ID.NAME`, or a list of these".into(), written(other)),
    };
    fields.report(&[PathPart::Key("each")], problem);
    None
}

/// Returns the name of a list that an item is.
fn name(item: &Yaml) -> Option<ValueName> {
    let Yaml::String(text) = item else { return None };
    ValueName::parse(text).ok().filter(|name| Each::FORMS.contains(&name.form()))
}

fn bad(expected: String, found: String) -> FieldProblem {
    FieldProblem::bad("each", expected, found)
}

fn is_item(item: &str) -> bool {
    !is_blank(item) && !item.contains(['\n', '\r', '\0']) && item.chars().count() <= MAX_VALUE
}
