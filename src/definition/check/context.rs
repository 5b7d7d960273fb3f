//! Warnings of a check about `context`.

use crate::definition::diagnostic::anchor::{Step, Unplaced};
use crate::definition::diagnostic::phase::PhaseProblem;
use crate::definition::model::library::Library;
use crate::definition::model::workflow::{ContextMode, Entry, EntryKind, Phase};

/// Reports phases that say `summary: optional` although the next one starts fresh.
pub(crate) fn report(library: &Library, unplaced: &mut Vec<Unplaced>) {
    for workflow in library.iter() {
        for entries in workflow.phases.windows(2) {
            let [before, next] = entries else { continue };
            let (Some(before), Some(next)) =
                (last(before, library), library.first_phase(std::slice::from_ref(next)))
            else {
                continue;
            };
            if next.context.or(workflow.context) == Some(ContextMode::Fresh)
                && before.summary_required == Some(false)
            {
                let problem = PhaseProblem::SummaryNeeded { next: next.id.clone() };
                unplaced.push(Unplaced::in_file(&before.file, problem, &[Step::Key("summary")]));
            }
        }
    }
}

/// The last phase of an entry.
fn last<'a>(entry: &'a Entry, library: &'a Library) -> Option<&'a Phase> {
    match &entry.kind {
        EntryKind::Phase(phase) => Some(phase),
        EntryKind::Workflow { key, .. } => last(library.get(key)?.phases.last()?, library),
    }
}
