//! Reads the field `outputs` of a phase.

use super::fields::Fields;
use super::value_type::Declaration;
use super::yaml::Yaml;
use crate::definition::model::schema::{self};
use crate::definition::model::{MAX_OUTPUTS, OUTPUT_FIELDS, Output};

const FIELDS: [&str; OUTPUT_FIELDS.len()] = schema::names(&OUTPUT_FIELDS);

/// Reads the outputs, each with one of these types.
pub(crate) fn read(fields: &mut Fields, types: &'static [&'static str]) -> Vec<Output> {
    let entries = fields.entries("outputs", "a mapping of names to outputs", Some(MAX_OUTPUTS));
    entries.iter().filter_map(|(name, value)| output(fields, types, name, value)).collect()
}

/// Reads an output; `None` after an error.
fn output(fields: &mut Fields, types: &'static [&'static str], name: &str, value: &Yaml) -> Option<Output> {
    let declared = Declaration { of: "outputs", types, known: &FIELDS, name, value };
    let kind = declared.value_type(fields)?;
    let is_optional = declared.optional(fields)?;
    let description = declared.description(fields);
    let max_items = declared.max_items().and_then(Result::ok);
    Some(Output { name: name.to_owned(), kind, is_optional, max_items, description })
}
