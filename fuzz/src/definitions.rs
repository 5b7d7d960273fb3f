//! Loading: any files, separated by lines `=== ROOT/PATH` with their names.

use std::collections::BTreeSet;

use pi_workflows::definition::{Diagnostic, EntryKind, Library, Severity, Workflow};
use pi_workflows::engine::{Given, run_through};
use pi_workflows::run::{Active, Outline, RunState, advance, enter};
use pi_workflows::text;

use super::folder::Folder;

/// # Panics
///
/// If a property is violated.
pub fn check(data: &[u8]) {
    let folder = Folder::parse(data);
    if !folder.is_small() {
        return;
    }
    let (library, diagnostics) = Library::load(&folder).expect("nothing is stale");
    let (checked, all_diagnostics) = Library::check(&folder).expect("nothing is stale");
    assert!(library.iter().eq(checked.iter()), "a check sees other workflows");
    let errors = |diagnostics: &[Diagnostic]| {
        diagnostics.iter().filter(|diagnostic| diagnostic.severity() == Severity::Error).count()
    };
    assert_eq!(errors(&diagnostics), errors(&all_diagnostics), "a check finds other errors");
    assert!(library.left_out().is_empty() || errors(&diagnostics) > 0, "left out without a word");
    let (commented, _) = Library::load(&folder.commented()).expect("nothing is stale");
    assert!(library.iter().eq(commented.iter()), "the two readers of YAML differ");
    for diagnostic in &all_diagnostics {
        is_plain(&text::diagnostic_text(diagnostic));
    }
    is_plain(&text::check_report(&checked, &all_diagnostics));
    for workflow in library.iter() {
        of_workflow(workflow, &library);
    }
    for (_, workflow) in library.for_users() {
        let samples: Vec<(String, String)> =
            workflow.inputs.iter().map(|input| (input.name.clone(), input.sample())).collect();
        let _ = run_through(&folder, &library, workflow, "a task", Given { inputs: &samples, ..Given::default() });
    }
}

/// Returns true if a text contains no control characters.
pub fn is_plain(text: &str) {
    let command = text.chars().find(|&c| c.is_control() && c != '\n');
    assert_eq!(command, None, "{text:?}");
}

fn of_workflow(workflow: &Workflow, library: &Library) {
    assert!(!workflow.name.trim().is_empty());
    assert!(library.first_phase(&workflow.phases).is_some(), "{} is empty", workflow.key);
    for entry in &workflow.phases {
        match &entry.kind {
            EntryKind::Phase(phase) => {
                assert!(!phase.id.trim().is_empty() && !phase.name.trim().is_empty());
                assert_eq!(phase.instructions.trim().is_empty(), !phase.is_of_agent());
            }
            EntryKind::Workflow { key, .. } => {
                assert!(library.get(key).is_some(), "{key} is not there")
            }
        }
    }
    let about = text::description(workflow, library).unwrap_or_default();
    assert!(!about.contains('\n') && about.chars().count() <= 101, "{about:?}");
    assert!(text::mermaid(workflow, library).len() < 1 << 20);
    assert!(text::outline(workflow, library, None).len() < 1 << 20);
    let _ = text::preview(workflow, library, "a task");
    walk(workflow, library);
}

/// `next` leads through every phase in order, to the end, unless conditions pass over some or groups are repeated.
fn walk(workflow: &Workflow, library: &Library) {
    if has_conditions(workflow, library, &mut BTreeSet::new()) {
        return;
    }
    let total = library.phase_count(&workflow.phases);
    let mut state = enter(&RunState::new(&workflow.key, "a task", 0, 0), library);
    for number in 1..=total.min(100) {
        let active = Active::resolve(&state, library).expect("a run is somewhere");
        assert_eq!(Outline::of(&active), Outline { current: number, total });
        assert!(text::context_reminder(&active).len() <= 300);
        let _ = (
            text::status_panel(&active, 1, true, None, i16::MIN, &|_| text::BranchNow::default()),
            text::phase_panel(&active, true, None, &|_| text::BranchNow::default()),
            text::status(&active),
        );
        state = advance(&state, library).0;
    }
    assert_eq!(state.is_running(), total > 100);
}

/// Returns true if an entry of the workflow, or of one nested in it, has conditions or is repeated.
fn has_conditions<'a>(workflow: &'a Workflow, library: &'a Library, seen: &mut BTreeSet<&'a str>) -> bool {
    seen.insert(&workflow.key)
        && workflow.phases.iter().any(|entry| {
            let nested = match &entry.kind {
                EntryKind::Workflow { key, .. } => library.get(key),
                EntryKind::Phase(_) => None,
            };
            !entry.when.is_empty()
                || nested.is_some_and(|nested| nested.each.is_some())
                || nested.is_some_and(|nested| has_conditions(nested, library, seen))
        })
}
