//! Reads the field `inputs` of a workflow, and `with` of an entry of `phases`.

use crate::sorted::Map;

use super::fields::Fields;
use super::values;
use super::yaml::Yaml;
use crate::definition::diagnostic::anchor::Step;
use crate::definition::diagnostic::excerpt::short;
use crate::definition::diagnostic::field::FieldProblem;
use crate::definition::diagnostic::value::Expected;
use crate::definition::model::blank::{is_blank, trim};
use crate::definition::model::inputs::{Given, Input, InputKind, MAX_VALUE, is_name};
use crate::definition::model::nearest::nearest;
use crate::definition::model::schema;
use crate::definition::model::schema::{INPUT_TYPES, MAX_INPUTS, MAX_OPTIONS};
use crate::definition::model::values::ValueName;
use crate::definition::model::words::either;

/// The keys of an input.
const FIELDS: [&str; schema::INPUT_FIELDS.len()] = schema::names(&schema::INPUT_FIELDS);

/// Reads the `with` of an entry of `phases`; `None` after an error. Names and values are checked with the library.
pub(crate) fn read_given(
    fields: &mut Fields,
    index: usize,
    entry: &Yaml,
) -> Option<Map<String, Given>> {
    let here = [Step::Key("phases"), Step::Item(index), Step::Key("with")];
    let entries = match entry.get("with") {
        None | Some(Yaml::Null) => return Some(Map::new()),
        Some(Yaml::Map(entries)) => entries,
        Some(other) => {
            let (field, found) = ("with".into(), other.kind());
            let expected = Expected::Other("a mapping of names to values");
            fields.report(&here, FieldProblem::WrongType { field, expected, found });
            return None;
        }
    };
    let mut all = Map::new();
    for (name, value) in entries {
        let Some(text) = scalar(value) else {
            let (field, found) = (format!("with.{name}"), written(value));
            let expected = "a value".into();
            let suggestion = match value {
                // `{input.NAME}` without quotes.
                Yaml::Map(entries) => entries.first().map(|(key, _)| format!("\"{{{key}}}\"")),
                _ => None,
            };
            let problem = FieldProblem::BadValue { field, expected, found, suggestion };
            fields.report(&[here[0], here[1], here[2], Step::Key(name)], problem);
            return None;
        };
        match given(fields, &[here[0], here[1], here[2], Step::Key(name)], name, text) {
            Ok(given) => all.insert(name.clone(), given),
            Err(problem) => {
                fields.report(&[here[0], here[1], here[2], Step::Key(name)], problem);
                return None;
            }
        };
    }
    Some(all)
}

/// A name stands bare, or quoted in braces. Any other quoted text is the value.
fn given(fields: &Fields, at: &[Step], name: &str, text: String) -> Result<Given, FieldProblem> {
    let field = format!("with.{name}");
    let in_braces = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let bare = || ValueName::is_begun_by(&text) && fields.is_bare(at, &text);
    match in_braces.filter(|name| ValueName::is_begun_by(name)) {
        Some(name) => Ok(Given::Name(values::read(&field, name, &Given::FORMS)?)),
        None if bare() => Ok(Given::Name(values::read(&field, &text, &Given::FORMS)?)),
        None => Ok(Given::Value(text)),
    }
}

/// Reads `inputs`; `None` after an error.
pub(crate) fn read(fields: &mut Fields) -> Option<Vec<Input>> {
    let entries = fields.entries("inputs", "a mapping of names to inputs", Some(MAX_INPUTS))?;
    let inputs: Vec<Option<Input>> =
        entries.iter().map(|(name, value)| input(fields, name, value)).collect();
    inputs.into_iter().collect()
}

fn input(fields: &mut Fields, name: &str, value: &Yaml) -> Option<Input> {
    let at = [Step::Key("inputs"), Step::Name(name)];
    if !is_name(name) {
        fields.report(&at, FieldProblem::BadName { field: "inputs", name: name.to_owned() });
        return None;
    }
    let Yaml::Map(entries) = value else {
        let (field, found) = (format!("inputs.{name}"), value.kind().to_string());
        let expected = "a mapping like `{ type: text }`".into();
        fields.report(&at, FieldProblem::BadValue { field, expected, found, suggestion: None });
        return None;
    };
    for (key, _) in entries {
        if !FIELDS.contains(&&**key) {
            let problem =
                FieldProblem::UnknownPart { of: "inputs", field: key.clone(), known: &FIELDS };
            fields.report(&[at[0], Step::Key(name), Step::Name(key)], problem);
            return None;
        }
    }
    if value.get("options") == Some(&Yaml::Null) {
        // Reported as a field without a value.
        return None;
    }
    let mut bad = |key: &str, expected: String, suggestion: Option<&str>| {
        let found = value.get(key).map_or_else(|| "nothing".into(), written);
        let field = format!("inputs.{name}.{key}");
        let suggestion = suggestion.map(ToOwned::to_owned);
        let problem = FieldProblem::BadValue { field, expected, found, suggestion };
        fields.report(&[at[0], Step::Key(name), Step::Key(key)], problem);
    };
    let options = match value.get("options") {
        None => None,
        Some(list) => {
            let text = |option: &Yaml| Some(trim(&scalar(option)?).to_owned());
            let texts: Option<Vec<String>> = list.items().iter().map(text).collect();
            let is_option = |text: &String| !is_blank(text) && text.chars().count() <= MAX_VALUE;
            let texts = texts.filter(|texts| {
                (1..=MAX_OPTIONS).contains(&texts.len()) && texts.iter().all(is_option)
            });
            if texts.is_none() {
                bad("options", format!("a list of 1 to {MAX_OPTIONS} texts"), None);
            }
            Some(texts?)
        }
    };
    let word = value.get("type").and_then(scalar).unwrap_or_default();
    let kind = match (&*word, options) {
        ("text", None) => InputKind::Text,
        ("number", None) => InputKind::Number,
        ("flag", None) => InputKind::Flag,
        ("choice", Some(options)) => InputKind::Choice(options),
        ("choice", None) => {
            bad("options", "a list of texts with `type: choice`".into(), None);
            return None;
        }
        ("text" | "number" | "flag", Some(_)) => {
            bad("options", "none without `type: choice`".into(), None);
            return None;
        }
        _ => {
            let expected = either(&INPUT_TYPES);
            bad("type", expected, nearest(&word, INPUT_TYPES));
            return None;
        }
    };
    let mut input = Input {
        name: name.to_owned(),
        default: (kind == InputKind::Flag).then(|| "false".to_owned()),
        kind,
        description: value.get("description").and_then(scalar),
    };
    if let Some(default) = value.get("default").filter(|default| **default != Yaml::Null) {
        input.default = scalar(default).and_then(|text| input.value(&text));
        if input.default.is_none() {
            let given = scalar(default).unwrap_or_default();
            bad("default", input.expected(), nearest(&given, input.options()));
            return None;
        }
    }
    Some(input)
}

/// A value that is a text, a number or a boolean, as text.
pub(crate) fn scalar(value: &Yaml) -> Option<String> {
    if *value == Yaml::Null { None } else { value.scalar_text() }
}

/// A value as a diagnostic names it.
pub(crate) fn written(value: &Yaml) -> String {
    scalar(value).map_or_else(|| value.kind().to_string(), |text| format!("`{}`", short(&text, 80)))
}
