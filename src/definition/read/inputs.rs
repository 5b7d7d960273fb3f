//! Reads the field `inputs` of a workflow, and `with` of an entry of `phases`.

use crate::sorted::Map;

use super::fields::Fields;
use super::value_type::Declaration;
use super::values::{self, scalar, written};
use super::yaml::Yaml;
use crate::definition::diagnostic::{FieldProblem, PathPart};
use crate::definition::model::schema;
use crate::definition::model::{Given, Input, MAX_INPUTS, Record, VALUE_TYPES_OF_RUN, ValueName, ValueType, nearest};

const FIELDS: [&str; schema::INPUT_FIELDS.len()] = schema::names(&schema::INPUT_FIELDS);

/// Reads the `with` of an entry of `phases`. Names and values are checked with the library.
pub(crate) fn read_given(fields: &mut Fields, index: usize, entry: &Yaml) -> Map<String, Given> {
    let here = [PathPart::Key("phases"), PathPart::Item(index), PathPart::Key("with")];
    let entries = match entry.get("with") {
        None | Some(Yaml::Null) => return Map::new(),
        Some(Yaml::Map(entries)) => entries,
        Some(other) => {
            fields.report(&here, FieldProblem::wrong_type("with", "a mapping of names to values", other.kind()));
            return Map::new();
        }
    };
    let mut all = Map::new();
    for (name, value) in entries {
        let Some(literal) = literal(value) else {
            let (field, found) = (format!("with.{name}"), written(value));
            let expected = "a value, or a list of values";
            let suggestion = match value {
                // YAML reads `{input.NAME}` without quotes as a mapping.
                Yaml::Map(entries) => entries.first().map(|(key, _)| match ValueName::parse(key) {
                    Ok(name) => name.to_string(),
                    Err(_) => format!("\"{{{key}}}\""),
                }),
                _ => None,
            };
            let problem = FieldProblem::bad(field, expected, found).suggest(suggestion);
            fields.report(&[here[0], here[1], here[2], PathPart::Key(name)], problem);
            continue;
        };
        match given(fields, &[here[0], here[1], here[2], PathPart::Key(name)], name, literal) {
            Ok(given) => drop(all.insert(name.clone(), given)),
            Err(problem) => fields.report(&[here[0], here[1], here[2], PathPart::Key(name)], problem),
        }
    }
    all
}

/// Reads a value. A name stands bare, or quoted in braces; any other quoted text is the value itself.
fn given(fields: &Fields, at: &[PathPart], name: &str, literal: Given) -> Result<Given, FieldProblem> {
    let Given::Value(text) = &literal else { return Ok(literal) };
    let field = format!("with.{name}");
    let in_braces = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let is_name = |name: &str| ValueName::is_begun_by(name) || name == ValueName::ITEM;
    let bare = || is_name(text) && fields.is_bare(at, text);
    match in_braces.filter(|name| is_name(name)) {
        Some(name) => Ok(Given::Name(values::read(&field, name, &Given::FORMS)?)),
        None if bare() => Ok(Given::Name(values::read(&field, text, &Given::FORMS)?)),
        None => Ok(literal),
    }
}

pub(crate) fn read(fields: &mut Fields) -> Vec<Input> {
    let entries = fields.entries("inputs", "a mapping of names to inputs", Some(MAX_INPUTS));
    entries.iter().filter_map(|(name, value)| input(fields, name, value)).collect()
}

/// Reads an input; `None` after an error.
fn input(fields: &mut Fields, name: &str, value: &Yaml) -> Option<Input> {
    let declared = Declaration { of: "inputs", types: &VALUE_TYPES_OF_RUN, known: &FIELDS, name, value };
    let kind = declared.value_type(fields)?;
    let is_optional = declared.optional(fields)?;
    let default = match value.get("default").filter(|default| **default != Yaml::Null) {
        None => (kind == ValueType::Flag && !is_optional).then(|| "false".to_owned()),
        Some(_) if is_optional => {
            declared.bad(fields, "default", "none with `optional: true`".into(), None);
            return None;
        }
        Some(default) => {
            let given = records(default, &kind).or_else(|| literal(default));
            let value = given.as_ref().and_then(|given| given.value(&kind));
            if value.is_none() {
                let word = scalar(default).unwrap_or_default();
                let meant = nearest(&word, kind.options());
                declared.bad(fields, "default", kind.expected(), meant);
            }
            Some(value?)
        }
    };
    let description = declared.description(fields);
    Some(Input { name: name.to_owned(), kind, default, is_optional, description })
}

/// Returns a list of records as it stands, each as its JSON; `None` for anything else.
fn records(value: &Yaml, kind: &ValueType) -> Option<Given> {
    let Yaml::List(items) = value else { return None };
    let record = |item: &Yaml| {
        let Yaml::Map(fields) = item else { return None };
        let fields = fields.iter().map(|(name, value)| {
            let value = match value {
                Yaml::List(items) => items.iter().map(scalar).collect::<Option<serde_json::Value>>()?,
                value => scalar(value)?.into(),
            };
            Some((name.clone(), value))
        });
        Some(fields.collect::<Option<Record>>().map(serde_json::Value::Object)?.to_string())
    };
    let records: Option<Vec<String>> = items.iter().map(record).collect();
    records.filter(|_| !kind.is_list_of_texts()).map(Given::List)
}

/// Returns a value, or a list of values, as it stands; `None` for anything else.
fn literal(value: &Yaml) -> Option<Given> {
    match value {
        Yaml::List(items) => {
            let items: Option<Vec<String>> = items.iter().map(scalar).collect();
            Some(Given::List(items?))
        }
        value => Some(Given::Value(scalar(value)?)),
    }
}
