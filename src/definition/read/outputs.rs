//! Reads the field `outputs` of a phase, and of a workflow.

use super::fields::Fields;
use super::value_type::Declaration;
use super::values::{self, written};
use super::yaml::Yaml;
use crate::definition::diagnostic::{FieldProblem, PathPart};
use crate::definition::model::{MAX_OUTPUTS, OUTPUT_FIELDS, Output, WorkflowOutput, is_name, schema};

const FIELDS: [&str; OUTPUT_FIELDS.len()] = schema::names(&OUTPUT_FIELDS);

/// Reads the outputs of a phase, each with one of these types.
pub(crate) fn read(fields: &mut Fields, types: &'static [&'static str]) -> Vec<Output> {
    let entries = fields.entries("outputs", "a mapping of names to outputs", Some(MAX_OUTPUTS));
    entries.iter().filter_map(|(name, value)| output(fields, types, name, value)).collect()
}

/// Reads an output; `None` after an error.
fn output(fields: &mut Fields, types: &'static [&'static str], name: &str, value: &Yaml) -> Option<Output> {
    let declared = Declaration { of: "outputs", types, known: &FIELDS, name, value };
    let kind = declared.value_type(fields)?;
    let is_optional = declared.optional(fields)?;
    let description = declared.description(fields);
    let max_items = declared.max_items().and_then(Result::ok);
    Some(Output { name: name.to_owned(), kind, is_optional, max_items, description })
}

/// Reads `outputs` of a workflow. The values that they name are checked with the workflow.
pub(crate) fn read_of_workflow(fields: &mut Fields) -> Vec<WorkflowOutput> {
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
