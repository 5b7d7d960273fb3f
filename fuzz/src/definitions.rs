//! Loading: any files, separated by lines `=== ROOT/PATH` with their names.

use pi_workflows::definition::{Diagnostic, Entry, Library, Severity, Workflow};
use pi_workflows::engine::run_through;
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
    for workflow in library.for_users() {
        let _ = run_through(&folder, &workflow.command_name, "a task");
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
        match entry {
            Entry::Phase(phase) => {
                assert!(!phase.id.trim().is_empty() && !phase.name.trim().is_empty());
                assert!(!phase.emoji.trim().is_empty() && !phase.instructions.trim().is_empty());
            }
            Entry::Workflow(key) => assert!(library.get(key).is_some(), "{key} is not there"),
        }
    }
    let about = text::description(workflow, library).unwrap_or_default();
    assert!(!about.contains('\n') && about.chars().count() <= 101, "{about:?}");
    assert!(text::mermaid(workflow, library).len() < 1 << 20);
    let _ = (text::boxes(workflow, library), text::phase_names(workflow, library));
    let _ = text::preview(workflow, library, "a task");
    walk(workflow, library);
}

/// `next` leads through every phase in order, to the end.
fn walk(workflow: &Workflow, library: &Library) {
    let total = library.phase_count(&workflow.phases);
    let mut state = enter(&RunState::new(&workflow.key, "a task", 0, 0), library);
    for number in 1..=total.min(100) {
        let active = Active::resolve(&state, library).expect("a run is somewhere");
        assert_eq!(Outline::of(&active), Outline { current: number, total });
        assert!(text::context_reminder(&active).len() <= 300);
        let _ = (
            text::status_panel(&active, 1, true, None),
            text::phase_panel(&active),
            text::status(&active),
        );
        state = advance(&state, library).0;
    }
    assert_eq!(state.is_running(), total > 100);
}
