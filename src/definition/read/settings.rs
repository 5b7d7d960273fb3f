//! Reads the user's `settings.yaml`.

use std::slice;

use super::budget::duration;
use super::fields::{Fields, texts};
use super::models::read_aliases;
use super::own_limits::{self, PathVariables};
use super::tools;
use super::yaml::Yaml;
use crate::definition::diagnostic::{Diagnostic, FieldProblem, Mapping, PathPart, Problem, SettingsProblem, ValueKind};
use crate::definition::model::schema::names;
use crate::definition::model::{
    Field, LIMITS_FIELDS, ON_EVENT_FIELDS, OnEvent, SETTINGS_FIELDS, Settings, Stale, Surroundings, UserLimits,
    WorkflowFiles, is_blank, wait_ms,
};

const FIELDS: [&str; SETTINGS_FIELDS.len()] = names(&SETTINGS_FIELDS);
const LIMITS: [&str; LIMITS_FIELDS.len()] = names(&LIMITS_FIELDS);
const ON_EVENT: [&str; ON_EVENT_FIELDS.len()] = names(&ON_EVENT_FIELDS);

/// Parses the file, and refuses unknown keys.
pub(crate) fn parse<'a>(file: &'a str, text: &'a str, diagnostics: &'a mut Vec<Diagnostic>) -> Option<Fields<'a>> {
    let mut fields = Fields::parse(file, text, 0, (Mapping::Settings, &FIELDS[..]), diagnostics)?;
    fields.check_keys();
    Some(fields)
}

/// Reads the limits of every session, with `check` their warnings too. `None` without limits, and after an error: limits
/// that are partly understood are not reliable.
pub(crate) fn limits(
    fields: &mut Fields,
    files: &dyn WorkflowFiles,
    check: Option<&Surroundings>,
) -> Result<Option<UserLimits>, Stale> {
    let [field, ..] = &SETTINGS_FIELDS;
    let read = |fields: &mut Fields| -> Result<UserLimits, Stale> {
        let tools = tools::read(fields);
        tools::check_case(fields, &|| files.tools(), check)?;
        let limits = own_limits::read(fields, PathVariables::None);
        if let Some(surroundings) = check {
            tools::check_names(fields, surroundings);
        }
        Ok(UserLimits { file: fields.file.to_owned(), tools, limits })
    };
    fields.has_errors = false;
    fields.check_values(slice::from_ref(field));
    let limits = fields.tree.root.get("limits").map(Yaml::kind);
    if let Some(found) = limits.filter(|kind| !matches!(kind, ValueKind::Null | ValueKind::Mapping)) {
        fields.report(&[PathPart::Key("limits")], FieldProblem::wrong_type("limits", "a mapping of limits", found));
    }
    fields.check_part(&[PathPart::Key("limits")], "limits", &LIMITS);
    let limits = fields.within(&[PathPart::Key("limits")], read).transpose()?;
    Ok(limits.filter(|_| !fields.has_errors))
}

/// Reads the other keys. After an error in a key it has its careful value: nothing that a file has to allow, or may switch
/// off.
pub(crate) fn others(fields: &mut Fields) -> Settings {
    let [_, models, wait, builtin, on_event] = &SETTINGS_FIELDS;
    fields.check_values(slice::from_ref(models));
    Settings {
        models: read_aliases(fields),
        wait_ms: alone(fields, wait, read_wait).flatten(),
        builtin: alone(fields, builtin, |fields| fields.switch("builtin", true)).unwrap_or(false),
        on_event: alone(fields, on_event, read_on_event).flatten(),
    }
}

/// Reads a key; `None` after an error in it.
fn alone<T>(fields: &mut Fields, field: &Field, read: impl FnOnce(&mut Fields) -> T) -> Option<T> {
    fields.has_errors = false;
    fields.check_values(slice::from_ref(field));
    let value = read(fields);
    (!fields.has_errors).then_some(value)
}

fn read_wait(fields: &mut Fields) -> Option<u64> {
    let value = fields.tree.root.get("wait").filter(|value| **value != Yaml::Null)?;
    let found = duration(value).and_then(wait_ms);
    if found.is_none() {
        fields.report(&[PathPart::Key("wait")], SettingsProblem::NotAWait);
    }
    found
}

/// Reads a program and its arguments, alone or as `program` beside `texts`.
fn read_on_event(fields: &mut Fields) -> Option<OnEvent> {
    let value = fields.tree.root.get("onEvent").filter(|value| **value != Yaml::Null)?.clone();
    fields.check_part(&[PathPart::Key("onEvent")], "onEvent", &ON_EVENT);
    let has_texts = fields.within(&[PathPart::Key("onEvent")], |fields| fields.switch("texts", false))?;
    let mut at = vec![PathPart::Key("onEvent")];
    let list = match (value.get("program"), &value) {
        (Some(program), _) => {
            at.push(PathPart::Key("program"));
            program
        }
        (None, Yaml::Map(_)) => &Yaml::List(Vec::new()),
        (None, value) => value,
    };
    let problem: Problem = match (list, texts(list.items())) {
        (Yaml::List(_), Ok(program)) if program.first().is_some_and(|program| !is_blank(program)) => {
            return Some(OnEvent { program, texts: has_texts });
        }
        (Yaml::List(_), Ok(_)) => SettingsProblem::NoProgram.into(),
        (_, Err((index, found))) => {
            at.push(PathPart::Item(index));
            FieldProblem::wrong_type("onEvent", "a text", found).into()
        }
        (_, Ok(_)) => FieldProblem::wrong_type("onEvent", "a list of a program and its arguments", list.kind()).into(),
    };
    fields.report(&at, problem);
    None
}
