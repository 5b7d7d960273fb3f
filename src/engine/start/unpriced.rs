//! Models without a price in a workflow whose cost is bounded.

use crate::definition::{Budget, BudgetBounds, EntryKind, KnownModel, Library, Measure, Phase, Workflow, choose};
use crate::sorted::Set;

use crate::engine::context::Cx;

/// Maximum number of models without a price that a run names. An answer of any further such model pauses the run.
const MAX_MODELS: usize = 20;

/// Models and phases that the bounds on the cost of a run do not cover.
#[derive(Debug, Default)]
pub struct Unpriced<'a> {
    /// The models without a price that work on phases whose cost is bounded.
    pub models: Vec<String>,
    /// The phases in which a model without a price works and nothing else is bounded.
    pub unbounded: Vec<&'a Phase>,
}

impl<'a> Unpriced<'a> {
    /// Returns the models and phases that the bounds on the cost of a run do not cover; none if pi's models are not
    /// known.
    pub fn of(command_name: &str, bound: &Budget, library: &'a Library, cx: &mut Cx) -> Self {
        let mut found = Self::default();
        let workflow = library.by_command_name(command_name);
        let phases = workflow.map(|workflow| phases_with_cost(workflow, bound, library));
        let Some(phases) = phases.filter(|phases| !phases.is_empty()) else { return found };
        let Some(models) = cx.unless_gone(cx.host.models()) else { return found };
        let current = cx.unless_gone(cx.host.model_setting());
        for (phase, names, is_alone) in phases {
            let current = current.as_ref().map(|setting| &setting.model);
            let chosen = choose(names, library.aliases(), &models, current).ok();
            let used = chosen.as_ref().map(|setting| &setting.model).or(current);
            let is_unpriced = |known: &&KnownModel| Some(&known.model) == used && !known.priced;
            let Some(known) = models.iter().find(is_unpriced) else { continue };
            let name = known.model.to_string();
            if !found.models.contains(&name) && found.models.len() < MAX_MODELS {
                found.models.push(name);
            }
            if is_alone && !found.unbounded.iter().any(|other| std::ptr::eq(*other, phase)) {
                found.unbounded.push(phase);
            }
        }
        found
    }
}

/// A phase, the names of its models, and true if nothing but its cost is bounded.
type Bounded<'a> = (&'a Phase, &'a [String], bool);

/// Maximum number of nested workflows that are looked at, each once for each model that it may have.
const MAX_NESTED: usize = 10_000;

/// The phases of a workflow, at any depth, in which an agent works and whose cost is bounded. `bound` is the bound of the
/// command line.
fn phases_with_cost<'a>(workflow: &'a Workflow, bound: &Budget, library: &'a Library) -> Vec<Bounded<'a>> {
    let other =
        |budget: &BudgetBounds| Measure::ALL.iter().any(|measure| *measure != Measure::Cost && budget.has(*measure));
    let with = |(cost, others): (bool, bool), budget: &BudgetBounds| {
        (cost || budget.has(Measure::Cost), others || other(budget))
    };
    let of_bound =
        |is: fn(&Measure) -> bool| Measure::ALL.iter().any(|measure| is(measure) && bound.get(*measure).is_some());
    let outside = (of_bound(|measure| *measure == Measure::Cost), of_bound(|measure| *measure != Measure::Cost));
    let mut found = Vec::new();
    let mut seen = Set::new();
    let nearest = |inner: &'a [String], outer: &'a [String]| if inner.is_empty() { outer } else { inner };
    let mut ahead: Vec<(&Workflow, &[String], &[String], _)> = vec![(workflow, &[], &[], outside)];
    while let Some((workflow, of_entry, around, budgets)) = ahead.pop().filter(|_| seen.len() < MAX_NESTED) {
        let inside = with(budgets, &workflow.budget);
        let outer = nearest(of_entry, nearest(&workflow.model.names, around));
        if !seen.insert((&workflow.key, outer, inside)) {
            continue;
        }
        for entry in &workflow.phases {
            match &entry.kind {
                EntryKind::Phase(phase) if phase.is_of_agent() => {
                    let (cost, others) = with(inside, &phase.budget);
                    found.extend(cost.then_some((&**phase, nearest(&phase.model.names, outer), !others)));
                }
                EntryKind::Phase(_) => {}
                EntryKind::Workflow { key, model, .. } => {
                    ahead.extend(library.get(key).map(|nested| (nested, &*model.names, outer, inside)));
                }
            }
        }
    }
    found
}
