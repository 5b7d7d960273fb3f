//! The file with the user's limits.

use super::check::limits::path_problems;
use super::diagnostic::anchor::Step;
use super::diagnostic::description::Severity;
use super::diagnostic::file::FileProblem;
use super::diagnostic::limit::LimitProblem;
use super::diagnostic::report::Diagnostic;
use super::model::confinement::Sandbox;
use super::model::files::{FileError, ReadError, Stale, Surroundings, WorkflowFiles};
use super::model::paths::join;
use super::model::user_limits::{LIMITS_FILE, LIMITS_ROOT, UserLimits};
use super::read::user_limits;
use super::read::yaml;

/// The user's `limits.yaml` as it was last read.
#[derive(Debug, Default)]
pub struct LimitsFile {
    /// Its content; `None` without one.
    content: Option<Vec<u8>>,
    limits: Found,
}

/// What the file says.
#[derive(Debug, Default, Clone, PartialEq)]
pub enum Found {
    /// There is no file, and no limit.
    #[default]
    Nothing,
    /// It cannot be read or has these errors. Whoever wrote it wanted a limit: everything is refused until it is known.
    Unusable(Vec<Diagnostic>),
    /// These limits.
    Limits(UserLimits),
}

impl LimitsFile {
    /// What the file said when it was last read.
    pub fn found(&self) -> &Found {
        &self.limits
    }

    /// Reads the file again. Returns true if it has changed.
    ///
    /// # Errors
    ///
    /// If the session is gone; what was found before stays.
    pub fn refresh(&mut self, files: &dyn WorkflowFiles) -> Result<bool, Stale> {
        let (content, limits) = match read(files)? {
            Read::Absent => (None, Found::Nothing),
            Read::Unreadable(error) => {
                let problem = FileProblem::Unreadable(error);
                (None, Found::Unusable(vec![Diagnostic::new(shown_path(files)?, problem)]))
            }
            Read::Content(content) => {
                if self.content.as_ref() == Some(&content) {
                    return Ok(false);
                }
                let (limits, mut diagnostics) = understood(&content, files, None)?;
                diagnostics.retain(|diagnostic| diagnostic.severity() == Severity::Error);
                (Some(content), limits.map_or(Found::Unusable(diagnostics), Found::Limits))
            }
        };
        let is_new = limits != self.limits;
        (self.content, self.limits) = (content, limits);
        Ok(is_new)
    }
}

/// Returns all problems of the user's limits, warnings too.
///
/// # Errors
///
/// If the session is gone.
pub(crate) fn check(
    files: &dyn WorkflowFiles,
    surroundings: &Surroundings,
) -> Result<Vec<Diagnostic>, Stale> {
    Ok(match read(files)? {
        Read::Absent => Vec::new(),
        Read::Unreadable(error) => {
            vec![Diagnostic::new(shown_path(files)?, FileProblem::Unreadable(error))]
        }
        Read::Content(content) => understood(&content, files, Some(surroundings))?.1,
    })
}

enum Read {
    Absent,
    Unreadable(FileError),
    Content(Vec<u8>),
}

fn read(files: &dyn WorkflowFiles) -> Result<Read, Stale> {
    match files.read(LIMITS_ROOT, LIMITS_FILE) {
        Ok(content) => Ok(Read::Content(content)),
        Err(ReadError::Stale) => Err(Stale),
        Err(ReadError::File(FileError::NotFound | FileError::NoSuchRoot)) => Ok(Read::Absent),
        Err(ReadError::File(error)) => Ok(Read::Unreadable(error)),
    }
}

/// The file as a user would write it.
fn shown_path(files: &dyn WorkflowFiles) -> Result<String, Stale> {
    let roots = files.roots()?;
    let root = roots.iter().find(|root| root.name == LIMITS_ROOT);
    Ok(root.map_or_else(|| LIMITS_FILE.to_owned(), |root| join(&root.path, LIMITS_FILE)))
}

/// Understands the content of the file; `None` after an error, which is among the diagnostics.
fn understood(
    content: &[u8],
    files: &dyn WorkflowFiles,
    check: Option<&Surroundings>,
) -> Result<(Option<UserLimits>, Vec<Diagnostic>), Stale> {
    let file = shown_path(files)?;
    let Ok(text) = str::from_utf8(content) else {
        return Ok((None, vec![Diagnostic::new(file, LimitProblem::NotUtf8)]));
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut diagnostics = Vec::new();
    let limits = user_limits::read((&file, text), files, check, &mut diagnostics)?;
    if let Some(UserLimits { confinement, .. }) = limits.as_ref().filter(|_| check.is_some()) {
        let mut warn = |problem: LimitProblem, at: &[Step]| {
            let place = yaml::locate(text, at);
            diagnostics.push(Diagnostic::new(&file, problem).at(text, place, 0));
        };
        for (field, index, problem) in path_problems(confinement, files)? {
            warn(problem, &[Step::Key(field), Step::Item(index)]);
        }
        if confinement.sandbox == Some(Sandbox::Off) {
            warn(LimitProblem::OpenLimits, &[Step::Name("sandbox")]);
        }
    }
    Ok((limits, diagnostics))
}
