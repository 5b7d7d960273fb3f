//! Reads the field `model`, and the user's aliases of models.

use super::fields::Fields;
use super::yaml::Yaml;
use crate::definition::diagnostic::{FieldProblem, ModelProblem, PathPart, ValueKind};
use crate::definition::model::{Aliases, OwnModel, Thinking, is_blank, trim};

/// The value of `model` and of an alias.
const NAMES: &str = "the name of a model or a list of names";

/// Returns one name, or a list of names; or the kind of the first value that is no name, with its index in the list.
fn names(value: &Yaml) -> Result<Vec<String>, (Option<usize>, ValueKind)> {
    let name = |value: &Yaml| match value {
        Yaml::String(name) if !is_blank(name) => Some(trim(name).to_owned()),
        _ => None,
    };
    match value {
        // An alias may stand for no model; a field without a value is reported.
        Yaml::Null => Ok(Vec::new()),
        Yaml::String(text) if is_blank(text) => Ok(Vec::new()),
        Yaml::List(items) => {
            let items = items.iter().enumerate();
            items.map(|(index, item)| name(item).ok_or((Some(index), item.kind()))).collect()
        }
        other => name(other).map(|name| vec![name]).ok_or((None, other.kind())),
    }
}

/// Reads the field `model`: names in the order of preference.
pub(crate) fn read(fields: &mut Fields) -> OwnModel {
    OwnModel { names: read_names(fields), of_entry: false }
}

fn read_names(fields: &mut Fields) -> Vec<String> {
    let value = fields.tree.root.get("model").unwrap_or(&Yaml::Null);
    match names(value) {
        Ok(names) if matches!(value, Yaml::String(text) if text.contains(',')) => {
            let problem = FieldProblem::bad("model", NAMES, format!("`{}`", names.join(" ")));
            let list = names.first().map(|names| format!("model: [{names}]"));
            fields.report(&[PathPart::Key("model")], problem.suggest(list));
            Vec::new()
        }
        Ok(names) => {
            for (index, name) in names.iter().enumerate() {
                // An alias before the level is compared with the user's aliases, if pi's models are known.
                let level = name.strip_prefix(':').filter(|level| Thinking::from_name(level).is_none());
                if let Some(level) = level.filter(|level| !level.contains('/')) {
                    let at = [PathPart::Key("model"), PathPart::Item(index)];
                    fields.report(&at, ModelProblem::UnknownThinking { name: level.to_owned() });
                }
            }
            names
        }
        Err((index, found)) => {
            let path = [Some(PathPart::Key("model")), index.map(PathPart::Item)];
            let path: Vec<PathPart> = path.into_iter().flatten().collect();
            fields.report(&path, FieldProblem::wrong_type("model", NAMES, found));
            Vec::new()
        }
    }
}

/// Reads the field `models`: the user's aliases of models. Aliases without errors are returned.
pub(crate) fn read_aliases(fields: &mut Fields) -> Aliases {
    let mut aliases = Aliases::default();
    for (alias, value) in fields.entries("models", "a mapping of names to models", None) {
        let above = PathPart::Key("models");
        let at = PathPart::Key(&alias);
        if alias.contains('/') || is_blank(&alias) {
            fields.report(&[above, PathPart::Name(&alias)], ModelProblem::BadAlias { alias: alias.clone() });
            continue;
        }
        match names(&value) {
            Ok(names) => {
                let bad = names.iter().enumerate().filter(|(_, name)| !name.contains('/'));
                let bad: Vec<(usize, String)> = bad.map(|(index, name)| (index, name.clone())).collect();
                for (index, name) in &bad {
                    let problem = ModelProblem::NotAModel { name: name.clone() };
                    fields.report(&[above, at, PathPart::Item(*index)], problem);
                }
                if bad.is_empty() {
                    aliases.insert(alias, names);
                }
            }
            Err((index, found)) => {
                let path = [Some(above), Some(at), index.map(PathPart::Item)];
                let path: Vec<PathPart> = path.into_iter().flatten().collect();
                fields.report(&path, FieldProblem::wrong_type(alias.clone(), NAMES, found));
            }
        }
    }
    aliases
}
