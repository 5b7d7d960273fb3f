//! Reads the type of an input or an output, with the fields that say more about it.

use std::ops::RangeInclusive;

use super::fields::Fields;
use super::values::{input_of_bound, scalar, written};
use super::yaml::Yaml;
use crate::definition::diagnostic::{FieldProblem, PathPart};
use crate::definition::model::{
    Bounds, MAX_ITEMS, MAX_OPTIONS, MAX_OUTPUTS, MAX_TEXT, MAX_VALUE, Output, RECORD_FIELDS, VALUE_TYPES, ValueType,
    either, is_blank, is_name, nearest, schema, trim,
};

/// An entry of `inputs` or of `outputs`.
#[derive(Clone, Copy)]
pub(crate) struct Declaration<'a> {
    /// `inputs` or `outputs`.
    pub of: &'static str,
    /// The types that the entry may have.
    pub types: &'static [&'static str],
    /// The fields that the entry may have.
    pub known: &'static [&'static str],
    pub name: &'a str,
    pub value: &'a Yaml,
}

/// The field with the fields of records.
const FIELDS: &str = "fields";

const OF_RECORD: [&str; RECORD_FIELDS.len()] = schema::names(&RECORD_FIELDS);

/// Reads a field of records; `None` after an error.
fn record_field(fields: &mut Fields, name: &str, value: &Yaml) -> Option<Output> {
    let declared = Declaration { of: FIELDS, types: &VALUE_TYPES, known: &OF_RECORD, name, value };
    let kind = declared.value_type(fields)?;
    let is_optional = declared.optional(fields)?;
    let description = declared.description(fields);
    Some(Output { name: name.to_owned(), kind, is_optional, max_items: None, description })
}

impl Declaration<'_> {
    /// Reports a wrong field of the entry.
    pub fn bad(&self, fields: &mut Fields, key: &str, expected: String, meant: Option<&str>) {
        let problem = FieldProblem::bad(
            format!("{}.{}.{key}", self.of, self.name),
            expected,
            self.value.get(key).map_or_else(|| "nothing".into(), written),
        )
        .suggest(meant);
        fields.report(&[PathPart::Key(self.of), PathPart::Key(self.name), PathPart::Key(key)], problem);
    }

    /// Reads the type; `None` after an error, also in the name of the entry or in the names of its fields.
    pub fn value_type(&self, fields: &mut Fields) -> Option<ValueType> {
        let Self { of, name, .. } = *self;
        let at = [PathPart::Key(of), PathPart::Name(name)];
        if !is_name(name) {
            fields.report(&at, FieldProblem::BadName { field: of, name: name.to_owned() });
            return None;
        }
        let Yaml::Map(_) = self.value else {
            let (expected, found) = ("a mapping like `{ type: text }`", self.value.kind().to_string());
            let word = scalar(self.value).filter(|word| self.types.contains(&&**word));
            let problem = FieldProblem::bad(format!("{of}.{name}"), expected, found);
            fields.report(&at, problem.suggest(word.map(|word| format!("{name}: {{ type: {word} }}"))));
            return None;
        };
        let is_known = fields.check_part(&[at[0], PathPart::Key(name)], of, self.known);
        let bounds = ["min", "max", "options", "fields"];
        if bounds.iter().any(|key| self.value.get(key) == Some(&Yaml::Null)) {
            // `check_values` reports a field without a value.
            return None;
        }
        let word = self.value.get("type").and_then(scalar).unwrap_or_default();
        let belongs = |key: &str| match key {
            "options" => word == "choice",
            "fields" => word == "list",
            "max" => !["choice", "flag", "command"].contains(&&*word),
            _ => word == "number" || word == "list",
        };
        let kind = match &*word {
            word if !self.types.contains(&word) => {
                let meant = nearest(word, self.types.iter().copied());
                self.bad(fields, "type", either(self.types), meant);
                return None;
            }
            _ if !is_known => return None,
            "text" => ValueType::Text(self.count(fields, "max", 1..=MAX_TEXT, MAX_VALUE)?),
            "number" => ValueType::Number(self.bounds(fields)?),
            "choice" => ValueType::Choice(self.options(fields)?),
            "flag" => ValueType::Flag,
            "list" => self.counts(fields)?,
            _ => ValueType::Command,
        };
        let is_lost = |key: &&str| self.value.get(key).is_some() && !belongs(key);
        if let Some(key) = bounds.into_iter().find(is_lost) {
            let of = match key {
                "options" => "choice",
                "fields" => "list",
                "max" => "number`, `type: list` or `type: text",
                _ => "number` or `type: list",
            };
            self.bad(fields, key, format!("none without `type: {of}`"), None);
            return None;
        }
        Some(kind)
    }

    /// Reads `description`, in which no variable is replaced.
    pub fn description(&self, fields: &mut Fields) -> Option<String> {
        let text = self.value.get("description").and_then(scalar)?;
        let at = [PathPart::Key(self.of), PathPart::Key(self.name), PathPart::Key("description")];
        fields.check_no_variables(&at, &format!("{}.{}.description", self.of, self.name), &text);
        Some(text)
    }

    /// Reads `optional`; `None` after an error.
    pub fn optional(&self, fields: &mut Fields) -> Option<bool> {
        match self.value.get("optional") {
            None => Some(false),
            Some(Yaml::Bool(is_optional, _)) => Some(*is_optional),
            // `check_values` reports a field without a value.
            Some(Yaml::Null) => None,
            Some(_) => {
                self.bad(fields, "optional", "`true` or `false`".into(), None);
                None
            }
        }
    }

    fn options(&self, fields: &mut Fields) -> Option<Vec<String>> {
        let Some(list) = self.value.get("options") else {
            self.bad(fields, "options", "a list of texts with `type: choice`".into(), None);
            return None;
        };
        if !(1..=MAX_OPTIONS).contains(&list.items().len()) {
            self.bad(fields, "options", format!("a list of 1 to {MAX_OPTIONS} texts"), None);
            return None;
        }
        let is_option = |text: &String| !is_blank(text) && text.chars().count() <= MAX_VALUE;
        let text = |option: &Yaml| Some(trim(&scalar(option)?).to_owned()).filter(is_option);
        let texts = list.items().iter().enumerate().map(|(index, option)| text(option).ok_or((index, option)));
        let problem = match texts.collect() {
            Ok(texts) => return Some(texts),
            Err((index, option)) => {
                let field = format!("{}.{}.options", self.of, self.name);
                let expected = format!("texts of 1 to {MAX_VALUE} characters");
                (index, FieldProblem::bad(field, expected, written(option)))
            }
        };
        let at = [PathPart::Key(self.of), PathPart::Key(self.name), PathPart::Key("options")];
        fields.report(&[at[0], at[1], at[2], PathPart::Item(problem.0)], problem.1);
        None
    }

    fn bounds(&self, fields: &mut Fields) -> Option<Bounds> {
        let mut number = |key: &str| match self.value.get(key) {
            None => Some(None),
            Some(Yaml::Number(number, _)) if number.is_finite() => Some(Some(*number)),
            Some(_) => {
                self.bad(fields, key, "a number".into(), None);
                None
            }
        };
        let bounds = Bounds { min: number("min")?, max: number("max")? };
        if let Some((min, _)) = bounds.min.zip(bounds.max).filter(|(min, max)| min > max) {
            self.bad(fields, "max", format!("a number of at least {min}"), None);
            return None;
        }
        Some(bounds)
    }

    /// Reads a whole number in a range.
    fn count(&self, fields: &mut Fields, key: &str, mut range: RangeInclusive<usize>, default: usize) -> Option<usize> {
        let Some(value) = self.value.get(key) else { return Some(default) };
        let (least, most) = (*range.start(), *range.end());
        let count = match value {
            Yaml::Number(number, _) => range.find(|count| *count as f64 == *number),
            _ => None,
        };
        if count.is_none() {
            self.bad(fields, key, format!("a whole number from {least} to {most}"), None);
        }
        count
    }

    /// Returns the name of the input that is the `max` of an output, or its problem; `None` if `max` is no name.
    pub fn max_items(&self) -> Option<Result<String, FieldProblem>> {
        let value = self.value.get("max").filter(|_| self.of == "outputs")?;
        input_of_bound(&format!("outputs.{}.max", self.name), value)
    }

    fn counts(&self, fields: &mut Fields) -> Option<ValueType> {
        let min = self.count(fields, "min", 0..=MAX_ITEMS, 0)?;
        let max = match self.max_items() {
            Some(Ok(_)) => MAX_ITEMS,
            Some(Err(problem)) => {
                fields.report(&[PathPart::Key(self.of), PathPart::Key(self.name), PathPart::Key("max")], problem);
                return None;
            }
            None => self.count(fields, "max", min.max(1)..=MAX_ITEMS, MAX_ITEMS)?,
        };
        let fields = match self.value.get("fields") {
            None => Vec::new(),
            Some(_) => {
                let at = [PathPart::Key(self.of), PathPart::Key(self.name)];
                let read = fields.within(&at, |fields| {
                    let entries = fields.entries(FIELDS, "a mapping of names to fields", Some(MAX_OUTPUTS));
                    let count = entries.len();
                    let read: Vec<Output> =
                        entries.iter().filter_map(|(name, value)| record_field(fields, name, value)).collect();
                    (count > 0 && read.len() == count).then_some(read)
                });
                read.flatten()?
            }
        };
        Some(ValueType::List { min, max, fields })
    }
}
