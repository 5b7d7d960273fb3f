//! The workflow definitions as they were last read.

use crate::definition::{Diagnostic, Library, Severity, Stale};
use crate::engine::host::Host;
use crate::text;

/// The library, and the errors in its files.
#[derive(Debug, Default)]
pub struct Definitions {
    library: Library,
    pub errors: Vec<Diagnostic>,
    /// `library` matches the host's current file snapshot.
    matches_snapshot: bool,
    /// The errors that the user was told of, as text: the notice is not repeated.
    pub told: Vec<String>,
    /// The number of the readings.
    reading: u32,
}

impl Definitions {
    /// The library as it was last read.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// The number of the readings: another one, another library.
    pub fn reading(&self) -> u32 {
        self.reading
    }

    #[cfg(test)]
    pub fn set_library(&mut self, library: Library) {
        self.reading += 1;
        self.library = library;
    }

    /// Reads the workflow files again unless they are unchanged.
    ///
    /// # Errors
    ///
    /// If the session is gone; the definitions stay as they were.
    pub fn refresh(&mut self, host: &dyn Host) -> Result<(), Stale> {
        if self.matches_snapshot && host.unchanged() {
            return Ok(());
        }
        self.matches_snapshot = false;
        host.start_snapshot();
        let read = Library::load(host);
        host.finish_snapshot();
        let (library, errors) = read?;
        self.replace(library, errors);
        self.matches_snapshot = true;
        Ok(())
    }

    /// Reads the workflow files again, and returns a notice of errors that the user was not told of.
    ///
    /// # Errors
    ///
    /// As [`Self::refresh`].
    pub fn reload(&mut self, host: &dyn Host) -> Result<Option<String>, Stale> {
        self.refresh(host)?;
        let errors = self.errors_as_text();
        if errors == self.told {
            return Ok(None);
        }
        self.told = errors;
        Ok(text::diagnostic_notice(&self.library, &self.errors))
    }

    /// Reads and checks all files, and returns the report, and true if there are errors. All errors count as told.
    ///
    /// # Errors
    ///
    /// As [`Self::refresh`].
    pub fn check(&mut self, host: &dyn Host) -> Result<(String, bool), Stale> {
        let (library, diagnostics) = Library::check(host)?;
        let report = text::check_report(&library, &diagnostics);
        let fails = diagnostics.iter().any(|diagnostic| diagnostic.severity() != Severity::Warning);
        self.replace(library, diagnostics);
        // The host's snapshot is of an earlier reading.
        self.matches_snapshot = false;
        self.told = self.errors_as_text();
        Ok((report, fails))
    }

    fn replace(&mut self, library: Library, mut diagnostics: Vec<Diagnostic>) {
        diagnostics.retain(|diagnostic| diagnostic.severity() == Severity::Error);
        (self.library, self.errors) = (library, diagnostics);
        self.reading = self.reading.wrapping_add(1);
    }

    fn errors_as_text(&self) -> Vec<String> {
        self.errors.iter().map(text::diagnostic_text).collect()
    }
}
