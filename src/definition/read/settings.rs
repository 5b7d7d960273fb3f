//! Reads the user's `settings.yaml`.

use super::budget::duration;
use super::fields::Fields;
use super::yaml::Yaml;
use crate::definition::diagnostic::{Diagnostic, Mapping, PathPart, SettingsProblem};
use crate::definition::model::schema::names;
use crate::definition::model::{ON_QUOTA, SETTINGS_FIELDS, Settings, wait_ms};

const FIELDS: [&str; SETTINGS_FIELDS.len()] = names(&SETTINGS_FIELDS);

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
