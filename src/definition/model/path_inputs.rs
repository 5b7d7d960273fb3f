//! The inputs of a workflow that are part of paths.

use crate::sorted::{Map, Set};

use super::gate::CheckKind;
use super::inputs::Given;
use super::path_variables::{PathVariable, variables};
use super::values::ValueName;
use super::workflow::{EntryKind, Workflow};

/// Returns the names of the inputs of a workflow that are part of paths, or that `with` gives to such inputs of nested workflows.
/// `known` has those of other workflows.
pub(crate) fn inputs_of_paths<'a>(
    key: &str,
    get: &dyn Fn(&str) -> Option<&'a Workflow>,
    known: &mut Map<&'a str, Set<&'a str>>,
) -> Set<&'a str> {
    if let Some(used) = known.get(key) {
        return used.clone();
    }
    let Some(workflow) = get(key) else { return Set::new() };
    // For a workflow that leads back to itself, which is left out.
    known.insert(&workflow.key, Set::new());
    let mut used: Set<&str> = Set::new();
    let phases = workflow.own_phases();
    let gates = phases.filter_map(|phase| phase.gate.as_ref()).chain(&workflow.gate);
    let files = gates.flat_map(|gate| &gate.checks).filter_map(|check| match &check.kind {
        CheckKind::File { path, .. } => Some(path),
        CheckKind::Run { .. } | CheckKind::Approve { .. } => None,
    });
    let confinements = workflow.own_phases().map(|phase| &phase.confinement);
    let written = confinements.chain([&workflow.confinement]).flat_map(|of| of.write.iter().flatten());
    for variable in files.chain(written).flat_map(|path| variables(path)) {
        let PathVariable::Input(name) = variable;
        used.extend(workflow.inputs.iter().map(|of| &*of.name).find(|of| **of == *name));
    }
    for entry in &workflow.phases {
        let EntryKind::Workflow { key, with } = &entry.kind else { continue };
        let nested = inputs_of_paths(key, get, known);
        for (name, given) in with {
            if let (Given::Name(ValueName::Input(own)), true) = (given, nested.contains(&**name)) {
                used.insert(own);
            }
        }
    }
    known.insert(&workflow.key, used.clone());
    used
}
