//! The user's `settings.yaml`, which no project and no package has.

use std::rc::Rc;

use super::diagnostic::{Diagnostic, FileProblem, LimitProblem, PathPart, SettingsProblem, Severity};
use super::model::{
    FileError, LEFT_OVER_LIMITS, MISNAMED, ReadError, SETTINGS_FILE, Sandbox, Settings, Stale, Surroundings,
    USERS_ROOT, UserLimits, WorkflowFiles, join,
};
use super::read::fields::Fields;
use super::read::yaml::{Tree, Yaml};
use super::read::{plain, settings};
use super::validate::limits::path_problems;
use super::validate::models::problem_of;

/// The limits of every session, as the user's file has them.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum FoundLimits {
    /// There are none.
    #[default]
    Nothing,
    /// They are not known, because of these errors: every tool call is refused. The user wanted limits, and none holds
    /// for sure.
    Unusable(Vec<Diagnostic>),
    Content(UserLimits),
}

/// The settings as they were read.
#[derive(Default)]
pub(crate) struct UsersSettings {
    pub settings: Settings,
    limits: Option<UserLimits>,
    /// Its content; `None` if the file cannot be read.
    pub tree: Option<Rc<Tree>>,
    /// The problems of the file as a whole and of its limits.
    pub of_limits: Vec<Diagnostic>,
    /// The problems of its other keys.
    pub of_others: Vec<Diagnostic>,
}

/// Reads the limits of every session; `looks_further`: and looks for files of earlier versions with limits, and for
/// settings under another name.
///
/// # Errors
///
/// If the session is gone.
pub fn users_limits(files: &dyn WorkflowFiles, looks_further: bool) -> Result<FoundLimits, Stale> {
    let UsersSettings { limits, tree, of_limits: mut errors, .. } = read(files, None)?;
    if looks_further {
        report_left_over(&LEFT_OVER_LIMITS, tree.as_deref(), files, &mut errors)?;
        if let Some((file, _)) = text(files, MISNAMED)? {
            errors.push(Diagnostic::new(file, SettingsProblem::OtherName));
        }
    }
    errors.retain(|diagnostic| diagnostic.severity() == Severity::Error);
    Ok(match limits {
        _ if !errors.is_empty() => FoundLimits::Unusable(errors),
        Some(limits) => FoundLimits::Content(limits),
        None => FoundLimits::Nothing,
    })
}

/// Reads the user's settings; with `check` the warnings too.
pub(crate) fn read(files: &dyn WorkflowFiles, check: Option<&Surroundings>) -> Result<UsersSettings, Stale> {
    let mut read = UsersSettings::default();
    match text(files, SETTINGS_FILE)? {
        None => read.tree = Some(Rc::new(Tree::of(Yaml::Null))),
        Some((_, Err(diagnostic))) => {
            read.settings = Settings::careful();
            read.of_limits.push(diagnostic);
        }
        Some((file, Ok(text))) => understand((&file, &text), files, check, &mut read)?,
    }
    Ok(read)
}

/// Reports files of earlier versions that are still there, each with the line that has its content, unless the settings
/// have this key or cannot be read.
pub(crate) fn report_left_over(
    left_over: &[(&'static str, &'static str)],
    settings: Option<&Tree>,
    files: &dyn WorkflowFiles,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<(), Stale> {
    for &(name, key) in left_over {
        let Some((file, content)) = text(files, name)? else { continue };
        let has_no_key = settings.is_some_and(|settings| settings.root.get(key).is_none());
        let content = content.ok().filter(|_| has_no_key && key != "onEvent");
        let value = content.and_then(|content| plain::read(&file, content, false).ok()).map(|content| content.value);
        let value = value.filter(|value| value.as_object().is_some_and(|fields| !fields.is_empty()));
        // JSON is YAML.
        let line = value.map(|value| format!("{key}: {value}"));
        diagnostics.push(Diagnostic::new(file, SettingsProblem::LeftOver { name, key, line }));
    }
    Ok(())
}

fn understand(
    (file, text): (&str, &str),
    files: &dyn WorkflowFiles,
    check: Option<&Surroundings>,
    read: &mut UsersSettings,
) -> Result<(), Stale> {
    let Some(mut fields) = settings::parse(file, text, &mut read.of_limits) else {
        read.settings = Settings::careful();
        return Ok(());
    };
    read.tree = Some(Rc::clone(&fields.tree));
    let is_known = !fields.has_errors;
    let limits = settings::limits(&mut fields, files, check)?;
    if let Some(limits) = limits.as_ref().filter(|_| check.is_some()) {
        warn_of_limits(&mut fields, limits, files)?;
    }
    read.limits = limits;
    let count = fields.diagnostics.len();
    let settings = settings::others(&mut fields);
    if let Some(models) = check.and_then(|surroundings| surroundings.models.as_ref()) {
        for (alias, names) in settings.models.iter() {
            for (index, name) in names.iter().enumerate() {
                if let Some(problem) = problem_of(name, &settings.models, models) {
                    fields.report(&[PathPart::Key("models"), PathPart::Key(alias), PathPart::Item(index)], problem);
                }
            }
        }
    }
    read.of_others = read.of_limits.split_off(count);
    read.settings = if is_known { settings } else { Settings::careful() };
    Ok(())
}

fn warn_of_limits(fields: &mut Fields, limits: &UserLimits, files: &dyn WorkflowFiles) -> Result<(), Stale> {
    for (field, index, problem) in path_problems(&limits.limits, files)? {
        fields.report(&[PathPart::Key("limits"), PathPart::Key(field), PathPart::Item(index)], problem);
    }
    if limits.limits.sandbox == Some(Sandbox::Off) {
        fields.report(&[PathPart::Key("limits"), PathPart::Name("sandbox")], LimitProblem::OpenLimits);
    }
    Ok(())
}

/// The name of a file as a user would write it, and its text.
type NamedText = (String, Result<String, Diagnostic>);

/// Returns a file of the user's; `None` if there is no such file.
fn text(files: &dyn WorkflowFiles, name: &str) -> Result<Option<NamedText>, Stale> {
    let bytes = match files.read(USERS_ROOT, name) {
        Ok(bytes) => Ok(bytes),
        Err(ReadError::Stale) => return Err(Stale),
        Err(ReadError::File(FileError::NotFound | FileError::NoSuchRoot)) => return Ok(None),
        Err(ReadError::File(error)) => Err(error),
    };
    let roots = files.roots()?;
    let root = roots.iter().find(|root| root.name == USERS_ROOT);
    let file = root.map_or_else(|| name.to_owned(), |root| join(&root.path, name));
    let text = match bytes {
        Ok(bytes) => str::from_utf8(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes))
            .map(ToOwned::to_owned)
            .map_err(|_| Diagnostic::new(&file, SettingsProblem::NotUtf8)),
        Err(error) => Err(Diagnostic::new(&file, FileProblem::Unreadable(error))),
    };
    Ok(Some((file, text)))
}
