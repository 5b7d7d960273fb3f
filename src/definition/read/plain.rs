//! Reads a YAML file, or the YAML front matter of a file, regardless of the meaning of the fields.

use serde_json::Value;

use super::front_matter::split;
use super::yaml::{self, Yaml};
use crate::definition::diagnostic::{Diagnostic, PhaseProblem, Place};
use crate::definition::model::is_metadata;

/// The content of a file.
#[derive(Debug)]
pub struct PlainFile {
    pub value: Value,
    /// The text below the front matter.
    pub body: String,
    /// The places of the fields, by names such as `inputs.zone`; the place of the whole value has an empty name.
    pub places: Vec<(String, Place)>,
}

/// Reads a file. Front matter is read without the data at its top; its numbers and booleans are texts, as the file has
/// them.
///
/// # Errors
///
/// The first syntax error of the file.
pub fn read(file: &str, text: String, has_front_matter: bool) -> Result<PlainFile, Diagnostic> {
    let document = split(text);
    if has_front_matter && document.is_unclosed() {
        return Err(Diagnostic::new(file, PhaseProblem::UnclosedFrontMatter));
    }
    let (yaml, lines_before, body) = match has_front_matter {
        true => (document.front_matter(), document.lines_before, document.body()),
        false => (document.text(), 0, ""),
    };
    let tree =
        yaml::parse(yaml).map_err(|error| Diagnostic::new(file, error.problem).at(yaml, error.place, lines_before))?;
    let mut places = Vec::new();
    let mut ahead = tree.places.iter().map(|place| Place { line: place.line + lines_before, ..*place });
    places.extend(ahead.clone().next().map(|place| (String::new(), place)));
    let mut value = plain(&tree.root, (has_front_matter, ""), &mut ahead, &mut places);
    if let Value::Object(fields) = &mut value
        && has_front_matter
    {
        fields.retain(|name, _| !is_metadata(name));
    }
    Ok(PlainFile { value, body: body.to_owned(), places })
}

fn plain(
    yaml: &Yaml,
    (as_text, name): (bool, &str),
    ahead: &mut impl Iterator<Item = Place>,
    places: &mut Vec<(String, Place)>,
) -> Value {
    ahead.next();
    match yaml {
        Yaml::Null => Value::Null,
        Yaml::Bool(_, text) | Yaml::Number(_, text) if as_text => text.as_str().into(),
        Yaml::Bool(value, _) => (*value).into(),
        Yaml::Number(value, _) => (*value).into(),
        Yaml::String(text) => text.as_str().into(),
        Yaml::List(items) => items.iter().map(|item| plain(item, (as_text, name), ahead, places)).collect(),
        Yaml::Map(entries) => {
            let mut fields = serde_json::Map::new();
            for (key, item) in entries {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                places.extend(ahead.next().map(|place| (name.clone(), place)));
                fields.insert(key.clone(), plain(item, (as_text, &name), ahead, places));
            }
            Value::Object(fields)
        }
    }
}
