//! Reads the field `outputs` of a workflow.

use super::fields::Fields;
use super::values::{self, written};
use super::yaml::Yaml;
use crate::definition::diagnostic::{FieldProblem, PathPart};
use crate::definition::model::{MAX_OUTPUTS, WorkflowOutput, is_name};

/// Reads `outputs`. The values that they name are checked with the workflow.
pub(crate) fn read(fields: &mut Fields) -> Vec<WorkflowOutput> {
    let field = "outputs";
    let entries = fields.entries(field, "a mapping like `{ findings: output.bugs.findings }`", Some(MAX_OUTPUTS));
    let mut outputs = Vec::with_capacity(entries.len());
    for (name, value) in &entries {
        if !is_name(name) {
            let problem = FieldProblem::BadName { field, name: name.clone() };
            fields.report(&[PathPart::Key(field), PathPart::Name(name)], problem);
            continue;
        }
        let of = match value {
            Yaml::String(text) => values::read(&format!("{field}.{name}"), text, &WorkflowOutput::FORMS),
            other => {
                let expected = WorkflowOutput::FORMS.map(|form| format!("`{form}`")).concat();
                Err(FieldProblem::bad(format!("{field}.{name}"), expected, written(other)))
            }
        };
        match of {
            Ok(of) => outputs.push(WorkflowOutput { name: name.clone(), of }),
            Err(problem) => fields.report(&[PathPart::Key(field), PathPart::Key(name)], problem),
        }
    }
    outputs
}
