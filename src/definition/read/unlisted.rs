//! The files of a root that no workflow lists. Collected for `check` only.

use crate::sorted::Set;

use super::bounded::{Bounded, Stop};
use super::{front_matter, phase_file, yaml};
use crate::definition::diagnostic::{Diagnostic, FileProblem, Place, Severity};
use crate::definition::model::{FileKind, Listed, Root, Surroundings, join};

/// Fields that the front matter of other Markdown seldom has.
const OWN_FIELDS: [&str; 8] = ["emoji", "gate", "outcomes", "outputs", "context", "results", "summary", "write"];

/// Collects the files of one root, and the files that workflows list.
pub(crate) struct Lint<'a> {
    surroundings: &'a Surroundings,
    /// The directory entries that are not folders.
    others: Vec<(String, FileKind)>,
    /// The phase files that workflows list.
    listed: Vec<Listed>,
    /// The paths of the listed files, in lower case.
    listed_paths: Set<String>,
    /// The paths that are suggested in place of missing files, in lower case.
    suggested: Set<String>,
    /// The phases of some workflow are not known.
    misses_phases: bool,
}

impl<'a> Lint<'a> {
    pub fn new(surroundings: &'a Surroundings) -> Self {
        Self {
            surroundings,
            others: Vec::new(),
            listed: Vec::new(),
            listed_paths: Set::new(),
            suggested: Set::new(),
            misses_phases: false,
        }
    }

    pub fn surroundings(&self) -> &'a Surroundings {
        self.surroundings
    }

    /// Adds a directory entry that is not a folder.
    pub fn meet(&mut self, path: String, kind: FileKind) {
        self.others.push((path, kind));
    }

    /// Adds a phase file that a workflow lists.
    pub fn list(&mut self, path: &str, listed: Listed) {
        self.listed_paths.insert(path.to_lowercase());
        self.listed.push(listed);
    }

    /// Adds a file that is suggested in place of a missing one: it is not reported as unused.
    pub fn suggest(&mut self, path: &str) {
        self.suggested.insert(path.to_lowercase());
    }

    /// Records that the phases of a workflow are not known: any file may be one of them.
    pub fn miss_phases(&mut self) {
        self.misses_phases = true;
    }

    pub fn into_listed(self) -> Vec<Listed> {
        self.listed
    }

    /// Reports phase files that no workflow lists, and entries that cannot be read at all.
    pub fn report_unused(
        &mut self,
        files: &mut Bounded,
        root: &Root,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<(), Stop> {
        for (path, kind) in std::mem::take(&mut self.others) {
            let lower = path.to_lowercase();
            if self.listed_paths.contains(&lower) {
                continue;
            }
            let file = join(&root.path, &path);
            match kind {
                FileKind::Other => diagnostics.push(Diagnostic::new(file, FileProblem::Skipped)),
                FileKind::File if lower.ends_with(".md") && !self.misses_phases => {
                    let Ok(bytes) = files.read(&root.name, &path)? else { continue };
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    let suggested = self.suggested.contains(&lower);
                    self.report_unused_phase(&file, text, suggested, files, diagnostics)?;
                }
                FileKind::File | FileKind::Directory => {}
            }
        }
        Ok(())
    }

    fn report_unused_phase(
        &self,
        file: &str,
        text: String,
        suggested: bool,
        files: &Bounded,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<(), Stop> {
        let document = front_matter::split(text.clone());
        // Other Markdown may have front matter too.
        let yaml = yaml::parse(document.front_matter());
        if !suggested && !yaml.is_ok_and(|tree| OWN_FIELDS.iter().any(|field| tree.root.get(field).is_some())) {
            return Ok(());
        }
        if !suggested {
            let place = Some(Place { line: 1, column: 1 });
            diagnostics.push(Diagnostic::new(file, FileProblem::UnusedPhase).at(&text, place, 0));
        }
        // Errors in the file leave nothing out as long as no workflow uses the file.
        let mut own = Vec::new();
        phase_file::read(file, document, files, Some(self.surroundings), &mut own)?;
        own.retain(|diagnostic| diagnostic.severity() == Severity::Warning);
        diagnostics.append(&mut own);
        Ok(())
    }
}
