//! Runs the `tests` of phases.

use crate::definition::diagnostic::{Anchor, CallProblem, Decision, Diagnostic, Unplaced};
use crate::definition::model::{
    EntryKind, HiddenCause, Library, Limits, Permission, Phase, PhaseTest, Refusal, Stale, Workflow, WorkflowFiles,
    permission, with_names, writes_path,
};

/// Runs the tests of all phases, in each workflow that lists them.
pub(crate) fn run(library: &Library, host: &dyn WorkflowFiles, unplaced: &mut Vec<Unplaced>) -> Result<(), Stale> {
    for workflow in library.scopes() {
        for entry in &workflow.phases {
            let EntryKind::Phase(phase) = &entry.kind else { continue };
            for test in &phase.tests {
                let problem = wrong(test, phase, workflow, host)?;
                unplaced.extend(problem.map(|problem| Unplaced {
                    diagnostic: Diagnostic::new(&phase.file, problem),
                    anchor: Anchor::of_call(test),
                }));
            }
        }
    }
    Ok(())
}

/// The problem of a test that fails.
fn wrong(
    test: &PhaseTest,
    phase: &Phase,
    workflow: &Workflow,
    host: &dyn WorkflowFiles,
) -> Result<Option<CallProblem>, Stale> {
    let (tool, argument) = test.parts();
    let path = || Ok(argument.map(with_names));
    let limits = Limits::of(phase, workflow);
    let by = limits.write_file;
    let (allowed, decision) = match permission((&phase.tools, &limits.clone().with_names()), tool, false, &path, host)?
    {
        Permission::Allowed => (true, Decision::Allowed),
        Permission::Within { .. } if writes_path(tool) && limits.write.is_some() => (true, Decision::Writable { by }),
        Permission::Within { .. } => (true, Decision::Allowed),
        Permission::Confined { .. } => (true, Decision::Confined),
        Permission::Refused(Refusal::Tool) => (false, Decision::Tools),
        Permission::Refused(Refusal::MayWrite) => (false, Decision::MayWrite { by }),
        Permission::Refused(Refusal::Path { .. } | Refusal::Unresolved { .. }) => (false, Decision::Path { by }),
        Permission::Refused(Refusal::Hidden { cause, .. }) => {
            (false, Decision::Hidden { by: limits.hide_file, may_read: cause == HiddenCause::MayRead })
        }
    };
    let problem = || CallProblem::WrongTest {
        call: test.call.clone(),
        workflow: workflow.key.clone(),
        decision,
        writable: limits.write.as_deref().map(|rules| match rules {
            [] => "no entry".to_owned(),
            rules => rules.join(", "),
        }),
    };
    Ok((allowed != test.allowed).then(problem))
}
