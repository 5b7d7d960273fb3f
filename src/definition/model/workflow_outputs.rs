//! The outputs of a workflow: values that come out of it where another workflow nests it.

use crate::sorted::Set;

use super::groups::{FileEntry, entries_of_file, type_of};
use super::outcomes::Target;
use super::parallel::Need;
use super::paths::group_key;
use super::value_type::Output;
use super::values::{ValueName, WorkflowOutput};
use super::work::Step;
use super::workflow::{Workflow, output_of};

/// Returns the outputs of a workflow with the types of their values; an output whose value there is not is left out.
/// The workflows nested in it must have [`Workflow::given`].
pub(crate) fn with_types<'a>(workflow: &'a Workflow, get: &dyn Fn(&str) -> Option<&'a Workflow>) -> Vec<Output> {
    let (all, end) = (entries_of_file(workflow, get), [workflow.phases.len()]);
    let output = |WorkflowOutput { name, of }: &WorkflowOutput| {
        let ValueName::Output { phase, name: inner } = of else { return None };
        let kind = type_of((workflow, &end), of, &all, get)?.whole().into_owned();
        let mut called = all.iter().filter(|other| other.entry.id() == phase);
        let (entry, output) = called.find_map(|of| Some((of, output_of(of.entry, inner, get)?)))?;
        let is_optional = may_be_missing(workflow, entry, output, get);
        Some(Output { name: name.clone(), kind, is_optional, description: None, max_items: None })
    };
    workflow.outputs.iter().filter_map(output).collect()
}

/// Returns true if the output of an entry may be missing at the end of its file: the entry may be left without it, or the
/// run may come to the end without the entry.
fn may_be_missing<'a>(
    file: &'a Workflow,
    of: &FileEntry<'a>,
    output: &Output,
    get: &dyn Fn(&str) -> Option<&'a Workflow>,
) -> bool {
    let groups = (1..of.at.len()).filter_map(|depth| get(&group_key(&file.key, of.at.get(..depth)?)));
    let scopes: Vec<&Workflow> = std::iter::once(file).chain(groups).collect();
    // The items of a group give a list, without an item an empty one.
    if scopes.iter().any(|scope| scope.each.is_some()) {
        return false;
    }
    let may_fail = of.entry.as_phase().is_some_and(|phase| {
        let fails = phase.step().is_some() && phase.outcomes.iter().any(|outcome| outcome.name == Step::FAILED);
        // A phase that has used up its budget is left without its outputs.
        fails || phase.on_budget.as_ref().is_some_and(|target| *target != Target::Stop)
    });
    let mut ways = scopes.into_iter().zip(&of.at);
    output.is_optional || may_fail || ways.any(|(scope, index)| may_pass_by(scope, *index))
}

/// Returns true if a run may leave a scope without the entry at this index.
fn may_pass_by(scope: &Workflow, index: usize) -> bool {
    if let Some(parallel) = &scope.parallel {
        return parallel.need != Need::All || scope.phases.get(index).is_none_or(|entry| !entry.when.is_empty());
    }
    let later = scope.phases.iter().skip(index + 1);
    let later: Set<&str> = later.flat_map(|entry| [Some(entry.id()), entry.nested_key()]).flatten().collect();
    let leads_past = |target: &Target| match target {
        Target::Done | Target::End => true,
        Target::Entry(id) => later.contains(&**id),
        Target::Next | Target::Loop | Target::Stop => false,
    };
    let mut before = scope.phases.iter().take(index);
    scope.phases.get(index).is_none_or(|entry| !entry.when.is_empty())
        || before.any(|entry| {
            let over_budget = entry.as_phase().and_then(|phase| phase.on_budget.as_ref());
            let mut targets = entry.outcomes().iter().flat_map(|outcome| outcome.targets()).chain(over_budget);
            targets.any(leads_past)
        })
}
