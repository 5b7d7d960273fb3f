//! Files of the user's own: reading and content.

use super::diagnostic::{Diagnostic, FileProblem, LimitProblem, PathPart, Severity, UserFileProblem};
use super::model::{
    FileError, LIMITS_FILE, ReadError, SETTINGS_FILE, Sandbox, Settings, Stale, Surroundings, USERS_ROOT, UserFile,
    UserLimits, WorkflowFiles, join,
};
use super::read::{settings, user_limits, yaml};
use super::validate::limits::path_problems;

/// The content of a file of the user's own.
#[derive(Debug, Clone, PartialEq)]
pub enum Found<T> {
    Nothing,
    /// The file cannot be read, or has these errors.
    Unusable(Vec<Diagnostic>),
    Content(T),
}

/// A type that a file of the user's own is read into.
pub trait UserContent: Sized + PartialEq {
    const FILE: UserFile;

    /// Reads the text of the file; with `check` its warnings are reported too. `None` after an error, which is
    /// reported.
    fn understand(
        file: (&str, &str),
        files: &dyn WorkflowFiles,
        check: Option<&Surroundings>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Option<Self>, Stale>;
}

/// A file of the user's own as it was last read.
#[derive(Debug)]
pub struct FileOf<T> {
    bytes: Option<Vec<u8>>,
    found: Found<T>,
}

impl<T> Default for FileOf<T> {
    fn default() -> Self {
        Self { bytes: None, found: Found::Nothing }
    }
}

impl<T: UserContent> FileOf<T> {
    /// Returns the content of the file when it was last read.
    pub fn found(&self) -> &Found<T> {
        &self.found
    }

    /// Reads the file again. Returns true if it has changed.
    ///
    /// # Errors
    ///
    /// If the session is gone; the content found before stays.
    pub fn refresh(&mut self, files: &dyn WorkflowFiles) -> Result<bool, Stale> {
        let (bytes, found) = match read::<T>(files)? {
            Read::Absent => (None, Found::Nothing),
            Read::Unreadable(error) => {
                let problem = FileProblem::Unreadable(error);
                (None, Found::Unusable(vec![Diagnostic::new(shown_path::<T>(files)?, problem)]))
            }
            Read::Bytes(bytes) => {
                if self.bytes.as_ref() == Some(&bytes) {
                    return Ok(false);
                }
                let (content, mut diagnostics) = understood::<T>(&bytes, files, None)?;
                diagnostics.retain(|diagnostic| diagnostic.severity() == Severity::Error);
                (Some(bytes), content.map_or(Found::Unusable(diagnostics), Found::Content))
            }
        };
        let is_new = found != self.found;
        (self.bytes, self.found) = (bytes, found);
        Ok(is_new)
    }
}

/// Returns all problems of a file, warnings too.
pub(crate) fn check<T: UserContent>(
    files: &dyn WorkflowFiles,
    surroundings: &Surroundings,
) -> Result<Vec<Diagnostic>, Stale> {
    Ok(match read::<T>(files)? {
        Read::Absent => Vec::new(),
        Read::Unreadable(error) => {
            vec![Diagnostic::new(shown_path::<T>(files)?, FileProblem::Unreadable(error))]
        }
        Read::Bytes(bytes) => understood::<T>(&bytes, files, Some(surroundings))?.1,
    })
}

enum Read {
    Absent,
    Unreadable(FileError),
    Bytes(Vec<u8>),
}

fn read<T: UserContent>(files: &dyn WorkflowFiles) -> Result<Read, Stale> {
    match files.read(USERS_ROOT, T::FILE.name) {
        Ok(bytes) => Ok(Read::Bytes(bytes)),
        Err(ReadError::Stale) => Err(Stale),
        Err(ReadError::File(FileError::NotFound | FileError::NoSuchRoot)) => Ok(Read::Absent),
        Err(ReadError::File(error)) => Ok(Read::Unreadable(error)),
    }
}

/// Returns the path of the file as a user would write it.
fn shown_path<T: UserContent>(files: &dyn WorkflowFiles) -> Result<String, Stale> {
    let roots = files.roots()?;
    let root = roots.iter().find(|root| root.name == USERS_ROOT);
    let name = T::FILE.name;
    Ok(root.map_or_else(|| name.to_owned(), |root| join(&root.path, name)))
}

/// Reads the bytes of the file; `None` after an error, which is among the diagnostics.
fn understood<T: UserContent>(
    bytes: &[u8],
    files: &dyn WorkflowFiles,
    check: Option<&Surroundings>,
) -> Result<(Option<T>, Vec<Diagnostic>), Stale> {
    let file = shown_path::<T>(files)?;
    let Ok(text) = str::from_utf8(bytes) else {
        return Ok((None, vec![Diagnostic::new(file, UserFileProblem::NotUtf8)]));
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut diagnostics = Vec::new();
    let content = T::understand((&file, text), files, check, &mut diagnostics)?;
    Ok((content, diagnostics))
}

/// Limits that cannot be understood refuse everything: the user wanted a limit, and no limit holds for sure.
impl UserContent for UserLimits {
    const FILE: UserFile = LIMITS_FILE;

    fn understand(
        (file, text): (&str, &str),
        files: &dyn WorkflowFiles,
        check: Option<&Surroundings>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Option<Self>, Stale> {
        let limits = user_limits::read((file, text), files, check, diagnostics)?;
        if let Some(Self { limits, .. }) = limits.as_ref().filter(|_| check.is_some()) {
            let mut warn = |problem: LimitProblem, at: &[PathPart]| {
                let place = yaml::locate(text, at);
                diagnostics.push(Diagnostic::new(file, problem).at(text, place, 0));
            };
            for (field, index, problem) in path_problems(limits, files)? {
                warn(problem, &[PathPart::Key(field), PathPart::Item(index)]);
            }
            if limits.sandbox == Some(Sandbox::Off) {
                warn(LimitProblem::OpenLimits, &[PathPart::Name("sandbox")]);
            }
        }
        Ok(limits)
    }
}

impl UserContent for Settings {
    const FILE: UserFile = SETTINGS_FILE;

    fn understand(
        file: (&str, &str),
        _: &dyn WorkflowFiles,
        _: Option<&Surroundings>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Option<Self>, Stale> {
        Ok(settings::read(file, diagnostics))
    }
}

/// Returns the user's settings, and reports the errors of their file: it has the careful settings then.
pub(crate) fn settings(files: &dyn WorkflowFiles, diagnostics: &mut Vec<Diagnostic>) -> Result<Settings, Stale> {
    let mut file = FileOf::default();
    file.refresh(files)?;
    Ok(match file.found {
        Found::Nothing => Settings::default(),
        Found::Content(settings) => settings,
        Found::Unusable(problems) => {
            diagnostics.extend(problems);
            Settings::CAREFUL
        }
    })
}
