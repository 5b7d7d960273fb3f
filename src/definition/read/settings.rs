//! Reads the user's `settings.yaml`.

use super::budget::duration;
use super::fields::{Fields, is_blank_text, texts};
use super::yaml::Yaml;
use crate::definition::diagnostic::{Diagnostic, FieldProblem, Mapping, PathPart, STRING, SettingsProblem, ValueKind};
use crate::definition::model::schema::names;
use crate::definition::model::{ON_EVENT_FIELDS, ON_QUOTA, OnEvent, SETTINGS_FIELDS, Settings, wait_ms};

const FIELDS: [&str; SETTINGS_FIELDS.len()] = names(&SETTINGS_FIELDS);
const ON_EVENT: [&str; ON_EVENT_FIELDS.len()] = names(&ON_EVENT_FIELDS);

/// Reads the settings, and reports the errors in them. `None` after an error.
pub(crate) fn read((file, text): (&str, &str), diagnostics: &mut Vec<Diagnostic>) -> Option<Settings> {
    let of = (Mapping::Other, &FIELDS[..]);
    let mut fields = Fields::parse(file, text, 0, of, diagnostics)?;
    fields.check_own_keys(SettingsProblem::NoSetting);
    fields.check_values(&SETTINGS_FIELDS);
    let without = Settings::default();
    let settings = Settings {
        builtin: fields.switch("builtin", without.builtin),
        waits: fields.choice("onQuota", &ON_QUOTA) == 1,
        max_wait_ms: max_wait(&mut fields).unwrap_or(without.max_wait_ms),
        on_event: on_event(&mut fields),
    };
    (!fields.has_errors).then_some(settings)
}

fn max_wait(fields: &mut Fields) -> Option<u64> {
    let value = fields.tree.root.get("maxWait").filter(|value| **value != Yaml::Null)?;
    let found = duration(value).and_then(wait_ms);
    if found.is_none() {
        fields.report(&[PathPart::Key("maxWait")], SettingsProblem::NotAWait);
    }
    found
}

/// Reads a program and its arguments, alone or beside `texts`.
fn on_event(fields: &mut Fields) -> Option<OnEvent> {
    if !matches!(fields.tree.root.get("onEvent"), Some(Yaml::Map(_))) {
        return Some(OnEvent { program: program(fields, "onEvent")?, texts: false });
    }
    let at = [PathPart::Key("onEvent")];
    let read = |fields: &mut Fields| {
        if fields.tree.root.get("program").is_none() {
            fields.report(&[], FieldProblem::wrong_type("onEvent", PROGRAM, ValueKind::Mapping));
        }
        Some(OnEvent { program: program(fields, "program")?, texts: fields.switch("texts", false) })
    };
    fields.check_part("onEvent", &ON_EVENT);
    fields.within(&at, read)?
}

const PROGRAM: &str = "a program and its arguments";

fn program(fields: &mut Fields, field: &'static str) -> Option<Vec<String>> {
    let items = fields.list(field, PROGRAM)?;
    let (index, problem) = match (items.first(), texts(&items)) {
        // `check_values` reports a list without a program.
        (None, _) => return None,
        (Some(program), Ok(_)) if is_blank_text(program) => (0, FieldProblem::Blank { field: field.into() }),
        (_, Ok(program)) => return Some(program),
        (_, Err((index, found))) => (index, FieldProblem::wrong_type(field, STRING, found)),
    };
    fields.report(&[PathPart::Key(field), PathPart::Item(index)], problem);
    None
}
