//! Runs the `tests` of phases.

use super::fuel::Fuel;
use crate::definition::diagnostic::{Anchored, CallProblem, Decision, PathPart, WorkflowProblem};
use crate::definition::model::{
    EntryKind, HiddenCause, Library, Limits, Permission, Phase, PhaseTest, Refusal, Stale, Workflow, WorkflowFiles,
    expansions, permission, with_names, writes_path,
};

/// Runs the tests of all phases, in each workflow that lists them.
pub(crate) fn run(
    library: &Library,
    host: &dyn WorkflowFiles,
    fuel: &Fuel,
    anchored: &mut Vec<Anchored>,
) -> Result<(), Stale> {
    for workflow in library.scopes() {
        fuel.begin([workflow]);
        let kept = library.script_folders(&workflow.key);
        for entry in &workflow.phases {
            let EntryKind::Phase(phase) = &entry.kind else { continue };
            for test in &phase.tests {
                let limits = Limits::of(phase, workflow).keeping(kept.clone());
                if !fuel.spend(steps_of_call(&limits, test.parts().1.unwrap_or_default())) {
                    break;
                }
                let problem = wrong(test, (phase, workflow), &limits, host)?;
                anchored.extend(problem.map(|problem| Anchored::of_call(phase, test, problem)));
            }
        }
        if fuel.is_over() {
            anchored.push(Anchored::new(workflow, WorkflowProblem::UncheckedCalls, &[PathPart::Key("phases")]));
        }
    }
    Ok(())
}

/// Steps of the decision on a call: the host tells where each path leads, and each glob is compared with the argument.
pub(super) fn steps_of_call(limits: &Limits, argument: &str) -> usize {
    const HOST: usize = 500;
    let rules = limits.write.iter().flat_map(|write| write.iter()).chain(limits.hide);
    let kept = limits.kept.len().saturating_mul(HOST);
    let of_rule = |rule: &String| HOST + expansions(rule) * (rule.len() + argument.len());
    HOST + kept + rules.map(of_rule).fold(0, usize::saturating_add)
}

/// Returns the problem of a test that fails.
fn wrong(
    test: &PhaseTest,
    (phase, workflow): (&Phase, &Workflow),
    limits: &Limits,
    host: &dyn WorkflowFiles,
) -> Result<Option<CallProblem>, Stale> {
    let (tool, argument) = test.parts();
    let path = || Ok(argument.map(with_names));
    let by = limits.write_file;
    let (allowed, decision) = match permission((&phase.tools, &limits.clone().with_names()), tool, false, &path, host)?
    {
        Permission::Allowed => (true, Decision::Allowed),
        Permission::Files { .. } if writes_path(tool) && limits.write.is_some() => (true, Decision::Writable { by }),
        Permission::Files { .. } => (true, Decision::Allowed),
        Permission::Confined { .. } => (true, Decision::Confined),
        Permission::Refused(Refusal::Kept { .. }) => (false, Decision::Kept),
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
