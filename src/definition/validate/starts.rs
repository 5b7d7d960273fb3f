//! Warnings about what a user starts: command names that several workflows have, and fields without an effect.

use crate::sorted::Map;

use crate::definition::diagnostic::{Anchored, PathPart, WorkflowProblem};
use crate::definition::model::{Library, Show, Workflow};

/// Reports command names that differ from an earlier name in case only.
pub(crate) fn similar_command_names(library: &Library, anchored: &mut Vec<Anchored>) {
    let mut by_name: Map<String, &Workflow> = Map::new();
    // A workflow of a package can be started by the name of the package too.
    let of_users = |workflow: &&Workflow| workflow.show == Show::User && workflow.package().is_none();
    for workflow in library.iter().filter(of_users) {
        let first = *by_name.entry(workflow.command_name.to_ascii_lowercase()).or_insert(workflow);
        if first.command_name != workflow.command_name {
            let problem = WorkflowProblem::SimilarCommandName {
                names: [first.command_name.clone(), workflow.command_name.clone()],
                keys: [first.key.clone(), workflow.key.clone()],
            };
            anchored.push(Anchored::new(workflow, problem, &[PathPart::Key("commandName")]));
        }
    }
}

/// Reports the command names that several workflows have.
pub(crate) fn report_duplicates(library: &Library, anchored: &mut Vec<Anchored>) {
    // A workflow of this package gives its name away.
    let is_own = |workflow: &&Workflow| !workflow.command_name.is_empty() && !workflow.is_builtin();
    for workflow in library.iter().filter(is_own) {
        let name = &workflow.command_name;
        let first = library.by_command_name(name).filter(|first| first.key != workflow.key);
        anchored.extend(first.map(|first| {
            let package = workflow.package().filter(|_| library.start_name(workflow).is_some());
            if let Some(package) = package {
                let problem = WorkflowProblem::PackageCommandName {
                    name: name.clone(),
                    package: package.to_owned(),
                    first: first.key.clone(),
                    first_file: first.file(),
                };
                return Anchored::new(workflow, problem, &[PathPart::Key("commandName")]);
            }
            let problem = WorkflowProblem::DuplicateCommandName {
                name: name.clone(),
                first: first.key.clone(),
                second: workflow.key.clone(),
                first_file: first.file(),
            };
            Anchored::new(workflow, problem, &[PathPart::Key("commandName")])
        }));
    }
}

/// Reports a `whenToUse` and a `defaultTask` of a workflow that the user cannot start, and a `whenToUse` for which the list of
/// offers has no room.
pub(crate) fn offers(library: &Library, anchored: &mut Vec<Anchored>) {
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
