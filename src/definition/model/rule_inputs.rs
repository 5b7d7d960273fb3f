//! The inputs of a workflow that its rules use: in paths, and as bounds.

use crate::sorted::Map;

use super::budget::Measure;
use super::files::MAX_NESTING;
use super::gate::CheckKind;
use super::inputs::Given;
use super::outcomes::Outcome;
use super::path_variables::{PathVariable, variables};
use super::value_type::Output;
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
        CheckKind::Run { .. } => None,
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

/// A field with a bound.
#[derive(Debug, Clone, Copy)]
pub enum BoundField<'a> {
    GateAttempts,
    Budget(Measure),
    /// `parallel` of the group.
    AtOnce,
    /// `max` of this outcome of the entry at this index.
    Way(usize, &'a Outcome),
    /// `max` of this output, which is a list.
    Items(&'a Output),
    /// `timeout` of the check at this index in the gate, or of the step.
    Timeout(Option<usize>),
}

/// A bound that is the value of an input: the phase in whose file the bound stands, or `None` for the `workflow.yaml`;
/// the field; and the name of the input.
type BoundOfInput<'a> = ((Option<&'a Phase>, BoundField<'a>), &'a str);

/// Returns the bounds of a workflow and of its entries that are values of inputs.
pub(crate) fn bounds_of_inputs<'a>(workflow: &'a Workflow) -> Vec<BoundOfInput<'a>> {
    let mut found: Vec<BoundOfInput> = Vec::new();
    let mut add = |of, field, name: Option<&'a str>| found.extend(name.map(|name| ((of, field), name)));
    add(None, BoundField::AtOnce, workflow.parallel.as_ref().and_then(|parallel| parallel.at_once.input()));
    for (measure, bound) in &workflow.budget.0 {
        add(None, BoundField::Budget(*measure), bound.input());
    }
    for (index, entry) in workflow.phases.iter().enumerate() {
        let phase = entry.as_phase();
        for outcome in entry.outcomes() {
            let of_file = phase.filter(|_| !outcome.of_entry);
            let max = outcome.bound.as_ref().and_then(|bound| bound.max.input());
            add(of_file, BoundField::Way(index, outcome), max);
        }
        let Some(own) = phase else { continue };
        for (measure, bound) in &own.budget.0 {
            add(phase, BoundField::Budget(*measure), bound.input());
        }
        for output in &own.outputs {
            add(phase, BoundField::Items(output), output.max_items.as_deref());
        }
        add(phase, BoundField::Timeout(None), own.step().and_then(|step| step.timeout.input()));
        let Some(gate) = &own.gate else { continue };
        add(phase, BoundField::GateAttempts, gate.attempts.input());
        for (number, check) in gate.checks.iter().enumerate() {
            if let CheckKind::Run { timeout, .. } = &check.kind {
                add(phase, BoundField::Timeout(Some(number)), timeout.input());
            }
        }
    }
    found
}
