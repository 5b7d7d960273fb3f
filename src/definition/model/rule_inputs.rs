//! The inputs of a workflow that its rules use: in paths, and as bounds.

use crate::sorted::Map;

use super::bound_values::BoundValue;
use super::budget::Measure;
use super::gate::CheckKind;
use super::inputs::Given;
use super::path_variables::{PathVariable, variables};
use super::totals::MAX_NESTING;
use super::values::ValueName;
use super::workflow::{EntryKind, Phase, Workflow};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleUse {
    Bound,
    Path,
}

/// Returns the inputs that the rules of a workflow use, or that `with` gives to such inputs of nested workflows, by
/// name. An input with both uses is part of a path. `known` has the inputs of other workflows; a workflow that is
/// nested too deep has no inputs.
pub(crate) fn inputs_of_rules<'a>(
    key: &str,
    depth: usize,
    get: &dyn Fn(&str) -> Option<&'a Workflow>,
    known: &mut Map<&'a str, Map<&'a str, RuleUse>>,
) -> Map<&'a str, RuleUse> {
    if let Some(used) = known.get(key) {
        return used.clone();
    }
    let Some(workflow) = get(key).filter(|_| depth <= MAX_NESTING) else { return Map::new() };
    // Ends the recursion at a workflow that leads back to itself; such a workflow is left out.
    known.insert(&workflow.key, Map::new());
    let mut used: Map<&str, RuleUse> = Map::new();
    let mut add = |name: &'a str, as_what: RuleUse| {
        let known = used.get(name).copied().unwrap_or(as_what);
        used.insert(name, known.max(as_what));
    };
    let own = |name: &str| workflow.inputs.iter().map(|of| &*of.name).find(|of| *of == name);
    let gates = workflow.own_phases().filter_map(|phase| phase.gate.as_ref());
    let files = gates.flat_map(|gate| &gate.checks).filter_map(|check| match &check.kind {
        CheckKind::File { path, .. } => Some(path),
        CheckKind::Run { .. } | CheckKind::Approve { .. } => None,
    });
    let confinements = workflow.own_phases().map(|phase| &phase.limits);
    let written = confinements.chain([&workflow.limits]).flat_map(|of| of.write.iter().flatten());
    for variable in files.chain(written).flat_map(|path| variables(path)) {
        let PathVariable::Input(name) = variable else { continue };
        if let Some(name) = own(&name) {
            add(name, RuleUse::Path);
        }
    }
    for (_, name) in bounds_of_inputs(workflow) {
        add(name, RuleUse::Bound);
    }
    for entry in &workflow.phases {
        let EntryKind::Workflow { key, with, .. } = &entry.kind else { continue };
        let nested = inputs_of_rules(key, depth + 1, get, known);
        for (name, given) in with {
            if let (Given::Name(ValueName::Input(own)), Some(as_what)) = (given, nested.get(&**name)) {
                add(own, *as_what);
            }
        }
    }
    known.insert(&workflow.key, used.clone());
    used
}

/// A field with a bound: `maxLoops`, `gateAttempts`, or a measure of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundField {
    MaxLoops,
    GateAttempts,
    Budget(Measure),
}

/// A bound that is the value of an input: the phase that has the bound, or `None` for the workflow; the field; and the
/// name of the input.
type BoundOfInput<'a> = ((Option<&'a Phase>, BoundField), &'a str);

/// Returns the bounds of a workflow and of its own phases that are values of inputs.
pub(crate) fn bounds_of_inputs(workflow: &Workflow) -> Vec<BoundOfInput<'_>> {
    let mut found: Vec<BoundOfInput> = Vec::new();
    if let BoundValue::Input(name) = &workflow.max_loops {
        found.push(((None, BoundField::MaxLoops), name));
    }
    let own = (None, None, &workflow.budget);
    let phases = workflow.own_phases();
    let phases = phases.map(|phase| (Some(phase), phase.gate.as_ref(), &phase.budget));
    for (phase, gate, budget) in std::iter::once(own).chain(phases) {
        if let Some(BoundValue::Input(name)) = gate.map(|gate| &gate.attempts) {
            found.push(((phase, BoundField::GateAttempts), name));
        }
        for (measure, bound) in &budget.0 {
            if let BoundValue::Input(name) = bound {
                found.push(((phase, BoundField::Budget(*measure)), name));
            }
        }
    }
    found
}
