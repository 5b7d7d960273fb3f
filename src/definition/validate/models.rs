//! Warnings about models that pi does not know, and about aliases that the user does not have.

use crate::sorted::Set;

use crate::definition::diagnostic::{Anchored, ModelProblem, PathPart};
use crate::definition::model::{
    Aliases, EntryKind, KnownModel, Library, OwnModel, Surroundings, Thinking, divided, find, nearest,
};

/// Returns the problem of a name, compared with the aliases and with the models that pi knows.
pub(crate) fn problem_of(name: &str, aliases: &Aliases, models: &[KnownModel]) -> Option<ModelProblem> {
    let (before, level) = name.rsplit_once(':').unwrap_or((name, ""));
    // A level that is like no other is left out.
    let with_level = || Thinking::nearest(level).map_or(before.to_owned(), |level| format!("{before}:{level}"));
    if !name.contains('/') {
        let (alias, _) = divided(name, aliases);
        // An unknown level of the user's model is reported where it is read.
        if name.starts_with(':') || aliases.contains_key(alias) {
            return None;
        }
        let near = || nearest(alias, aliases.keys().map(String::as_str)).map(Into::into);
        let suggestion = if aliases.contains_key(before) { Some(with_level()) } else { near() };
        return Some(ModelProblem::UnknownAlias { name: alias.to_owned(), suggestion });
    }
    if find(name, models).is_some() {
        return None;
    }
    let level = find(before, models).map(|_| with_level());
    let known: Vec<String> = models.iter().map(|known| known.model.to_string()).collect();
    let near = || nearest(name, known.iter().map(String::as_str)).map(Into::into);
    let suggestion = level.or_else(near);
    Some(ModelProblem::UnknownModel { name: name.to_owned(), suggestion })
}

/// Reports the names in each field `model` that mean no model. Without the list of pi's models nothing is reported.
pub(crate) fn report(library: &Library, surroundings: &Surroundings, anchored: &mut Vec<Anchored>) {
    let Some(models) = &surroundings.models else { return };
    let aliases = library.aliases();
    let problems = |model: &OwnModel| -> Vec<(usize, ModelProblem)> {
        let names = model.names.iter().enumerate();
        names.filter_map(|(index, name)| Some((index, problem_of(name, aliases, models)?))).collect()
    };
    // Several workflows may list a phase.
    let mut seen = Set::new();
    for workflow in library.scopes() {
        for (index, problem) in problems(&workflow.model) {
            anchored.push(Anchored::new(workflow, problem, &[PathPart::Key("model"), PathPart::Item(index)]));
        }
        for (entry, kind) in workflow.phases.iter().map(|entry| &entry.kind).enumerate() {
            let (model, phase) = match kind {
                EntryKind::Phase(phase) => (&phase.model, Some(phase).filter(|phase| !phase.model.of_entry)),
                EntryKind::Workflow { model, .. } => (model, None),
            };
            if phase.is_some_and(|phase| !seen.insert((&phase.file, &phase.at))) {
                continue;
            }
            for (index, problem) in problems(model) {
                let at = [PathPart::Key("model"), PathPart::Item(index)];
                let in_entry = [PathPart::Key("phases"), PathPart::Item(entry), at[0], at[1]];
                anchored.push(match phase {
                    Some(phase) => Anchored::of_phase(phase, problem, &at),
                    None => Anchored::new(workflow, problem, &in_entry),
                });
            }
        }
    }
}
