//! The outputs of workflows: their types, and the values that they name.

use super::flow::Errors;
use crate::definition::diagnostic::{FieldProblem, PathPart};
use crate::definition::model::{Workflow, WorkflowOutput, with_types};
use crate::sorted::Map;

/// Adds [`Workflow::given`]. `depths` are the depths of what each workflow nests: the types of an outer workflow follow from
/// those of the workflows in it, which are found once.
pub(super) fn add_types(workflows: &mut [Workflow], depths: &[usize]) {
    let with_outputs =
        workflows.iter().zip(depths).enumerate().filter(|(_, (workflow, _))| !workflow.outputs.is_empty());
    let mut order: Vec<(usize, usize)> = with_outputs.map(|(at, (_, depth))| (*depth, at)).collect();
    if order.is_empty() {
        return;
    }
    order.sort_unstable();
    // Of two workflows with the same key the first counts.
    let index: Map<String, usize> = workflows.iter().enumerate().rev().map(|(at, of)| (of.key.clone(), at)).collect();
    for (_, at) in order {
        let get = |key: &str| workflows.get(*index.get(key)?);
        let given = workflows.get(at).map(|workflow| with_types(workflow, &get));
        if let (Some(workflow), Some(given)) = (workflows.get_mut(at), given) {
            workflow.given = given;
        }
    }
}

impl Errors<'_, '_> {
    /// Checks that the values of the outputs of the workflow are there.
    pub(super) fn outputs_of_workflow(&mut self) {
        let workflow = self.workflow;
        for WorkflowOutput { name, of } in &workflow.outputs {
            let Some((expected, suggestion)) = self.unknown(of) else { continue };
            let problem = FieldProblem::bad(format!("outputs.{name}"), expected, format!("`{of}`")).suggest(suggestion);
            self.report(problem, &[PathPart::Key("outputs"), PathPart::Key(name)]);
        }
    }
}
