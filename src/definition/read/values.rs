//! Reads values, and names of values.

use super::yaml::Yaml;
use crate::definition::diagnostic::FieldProblem;
use crate::definition::model::{ValueName, either, short};

/// Reads the name of a value, in one of these forms.
pub(crate) fn read(field: &str, text: &str, forms: &[&str]) -> Result<ValueName, FieldProblem> {
    let is_allowed = |name: &ValueName| forms.contains(&name.form());
    let suggestion = match ValueName::parse(text) {
        Ok(name) if is_allowed(&name) => return Ok(name),
        Ok(_) => None,
        Err(_) if text.starts_with('{') && text.ends_with('}') => Some(text.trim_matches(['{', '}']).to_owned())
            .filter(|name| ValueName::parse(name).as_ref().is_ok_and(is_allowed)),
        Err(meant) => meant.filter(|meant| ValueName::parse(meant).as_ref().is_ok_and(is_allowed)),
    };
    Err(FieldProblem::bad(field, either(forms), format!("`{}`", short(text, 80))).suggest(suggestion))
}

/// Reads the name of an input that a bound has; `None` if the value is no name.
pub(crate) fn input_of_bound(field: &str, value: &Yaml) -> Option<Result<String, FieldProblem>> {
    let Yaml::String(text) = value else { return None };
    let text = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    let is_meant = ValueName::parse(text).is_err_and(|meant| meant.is_some());
    (ValueName::is_begun_by(text) || is_meant).then(|| {
        read(field, text, &[ValueName::INPUT]).map(|name| match name {
            ValueName::Input(name) => name,
            // The form of the name is not allowed for a bound.
            other => other.to_string(),
        })
    })
}

/// Returns a value that is a text, a number or a boolean, as text.
pub(crate) fn scalar(value: &Yaml) -> Option<String> {
    if *value == Yaml::Null { None } else { value.scalar_text() }
}

/// Returns a value as a diagnostic names it.
pub(crate) fn written(value: &Yaml) -> String {
    scalar(value).map_or_else(|| value.kind().to_string(), |text| format!("`{}`", short(&text, 80)))
}
