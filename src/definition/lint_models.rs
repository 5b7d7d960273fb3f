//! Warnings of a check about models that pi does not know, and about aliases that the user does not have.

use std::collections::BTreeSet;

use super::diagnostic::Diagnostic;
use super::files::{Root, Surroundings};
use super::models::{ALIASES_FILE, ALIASES_ROOT, problem_of};
use super::paths::join;
use super::references::{Anchor, Unplaced};
use super::yaml::Step;
use super::{Library, Workflow};

/// Reports the names in the field `model` of each phase, and in the user's aliases, that mean no model. Without pi's models
/// nothing is known about a name.
pub(super) fn report(
    library: &Library,
    surroundings: &Surroundings,
    roots: &[Root],
    unplaced: &mut Vec<Unplaced>,
) {
    let Some(models) = &surroundings.models else { return };
    let aliases = library.aliases();
    let phases = library.iter().flat_map(Workflow::own_phases);
    // Several workflows may list a phase.
    let mut seen = BTreeSet::new();
    for phase in phases.filter(|phase| seen.insert(&phase.file)) {
        for (index, name) in phase.model.iter().enumerate() {
            if let Some(problem) = problem_of(name, aliases, models) {
                let anchor = Anchor::Phase(vec![Step::Key("model"), Step::Item(index)]);
                let diagnostic = Diagnostic::new(&phase.file, problem);
                unplaced.push(Unplaced { diagnostic, anchor });
            }
        }
    }
    let Some(root) = roots.iter().find(|root| root.name == ALIASES_ROOT) else { return };
    let file = join(&root.path, ALIASES_FILE);
    for (alias, names) in aliases.iter() {
        for (index, name) in names.iter().enumerate() {
            if let Some(problem) = problem_of(name, aliases, models) {
                let anchor = Anchor::Alias(alias.clone(), index);
                unplaced.push(Unplaced { diagnostic: Diagnostic::new(&file, problem), anchor });
            }
        }
    }
}
