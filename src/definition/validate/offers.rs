//! Warnings about workflows with `whenToUse` that the agent is not offered.

use crate::definition::diagnostic::{Anchored, PathPart, WorkflowProblem};
use crate::definition::model::{Library, Show};

/// Reports a `whenToUse` of a workflow that the user cannot start, and one for which the list of offers has no room.
pub(crate) fn report(library: &Library, anchored: &mut Vec<Anchored>) {
    let at = [PathPart::Key("whenToUse")];
    for workflow in library.iter() {
        if workflow.when_to_use.is_some() && workflow.show == Show::Workflows {
            anchored.push(Anchored::new(workflow, WorkflowProblem::NotForUsers, &at));
        }
    }
    for offer in library.offers().iter().filter(|offer| !offer.fits) {
        anchored.push(Anchored::new(offer.workflow, WorkflowProblem::TooManyOffers, &at));
    }
}
