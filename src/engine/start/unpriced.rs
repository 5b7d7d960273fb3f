//! Models without a price in a workflow whose cost is bounded.

use crate::definition::{Budget, EntryKind, Library, Measure, Model, choose};
use crate::engine::context::Cx;

/// Models without a price that work where the cost of a run is bounded.
#[derive(Debug, Default)]
pub struct Unpriced {
    pub models: Vec<String>,
    /// Nothing but the cost is bounded, and no model of the run has a price.
    pub is_unbounded: bool,
}

impl Unpriced {
    /// Returns the models without a price; none if pi's models are not known. `bound` is the bound of the command line.
    pub fn of(command_name: &str, bound: &Budget, library: &Library, cx: &mut Cx) -> Self {
        let Some(root) = library.by_command_name(command_name) else { return Self::default() };
        let all = library.reached(&root.key).unwrap_or_default();
        let of_phases = all.iter().flat_map(|workflow| workflow.own_phases().map(|phase| &phase.budget));
        let budgets = all.iter().map(|workflow| &workflow.budget).chain(of_phases);
        let measures: Vec<Measure> =
            budgets.flat_map(|budget| budget.0.keys()).chain(bound.0.keys()).copied().collect();
        if !measures.contains(&Measure::Cost) {
            return Self::default();
        }
        let Some(models) = cx.unless_gone(cx.host.models()) else { return Self::default() };
        let current = cx.unless_gone(cx.host.model_setting()).map(|current| current.model);
        let of_entries = all.iter().flat_map(|workflow| &workflow.phases).map(|entry| match &entry.kind {
            EntryKind::Phase(phase) => &phase.model.names,
            EntryKind::Workflow { model, .. } => &model.names,
        });
        let names = all.iter().map(|workflow| &workflow.model.names).chain(of_entries);
        let chosen = names.filter_map(|names| choose(names, library.aliases(), &models, current.as_ref()).ok());
        let users = current.clone().filter(|_| root.model.names.is_empty());
        let used: Vec<Model> = chosen.map(|setting| setting.model).chain(users).collect();
        let has_none = |model: &&Model| models.iter().any(|known| known.model == **model && !known.priced);
        let mut unpriced: Vec<String> = used.iter().filter(has_none).map(ToString::to_string).collect();
        let is_alone = measures.iter().all(|measure| *measure == Measure::Cost);
        let is_unbounded = is_alone && !used.is_empty() && unpriced.len() == used.len();
        unpriced.sort();
        unpriced.dedup();
        Self { models: unpriced, is_unbounded }
    }
}
