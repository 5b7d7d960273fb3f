//! Warnings about `whenToUse` and `defaultTask` of workflows that the user cannot start, and about workflows that the agent is not
//! offered.

use crate::definition::diagnostic::{Anchored, PathPart, WorkflowProblem};
use crate::definition::model::{Library, Show};

/// Reports a `whenToUse` and a `defaultTask` of a workflow that the user cannot start, and a `whenToUse` for which the list of
/// offers has no room.
pub(crate) fn report(library: &Library, anchored: &mut Vec<Anchored>) {
    for workflow in library.iter().filter(|workflow| workflow.show == Show::Workflows) {
        let fields = [("whenToUse", &workflow.when_to_use), ("defaultTask", &workflow.default_task)];
        for (field, _) in fields.into_iter().filter(|(_, value)| value.is_some()) {
            anchored.push(Anchored::new(workflow, WorkflowProblem::NotForUsers { field }, &[PathPart::Key(field)]));
        }
    }
    let at = [PathPart::Key("whenToUse")];
    for offer in library.offers().iter().filter(|offer| !offer.fits) {
        anchored.push(Anchored::new(offer.workflow, WorkflowProblem::TooManyOffers, &at));
    }
}
