//! The variable `runDir`: the folder of a run in the project.

use super::gate::{CheckKind, Command, Gate};
use super::library::Library;
use super::values::ValueName;
use super::workflow::{Phase, Workflow};

impl Workflow {
    /// Returns true if a text, a path or a command of the workflow itself names a value.
    pub fn names(&self, name: &ValueName) -> bool {
        let variable = format!("{{{name}}}");
        let texts = [
            Some(&self.initial_message),
            self.role_instruction.as_ref(),
            self.advance_reminder.as_ref(),
            self.block_reason_template.as_ref(),
            self.completion_message.as_ref(),
            self.not_done_reminder.as_ref(),
        ];
        let written = self.limits.write.iter().flatten();
        texts.into_iter().flatten().chain(written).any(|text| text.contains(&variable))
            || self.own_phases().any(|phase| phase_names_it(phase, name, &variable))
    }
}

impl Library {
    /// Returns true if a workflow, or a workflow nested in it, names a value.
    pub fn names(&self, key: &str, name: &ValueName) -> bool {
        self.reached(key).is_some_and(|all| all.into_iter().any(|workflow| workflow.names(name)))
    }
}

fn phase_names_it(phase: &Phase, name: &ValueName, variable: &str) -> bool {
    let mut written = phase.limits.write.iter().flatten();
    phase.instructions.contains(variable)
        || written.any(|path| path.contains(variable))
        || phase.gate.as_ref().is_some_and(|gate| gate_names_it(gate, name, variable))
        || phase.step().is_some_and(|step| command_names_it(&step.command, name))
        || phase.question().is_some_and(|question| question.text.contains(variable))
}

fn command_names_it(command: &Command, name: &ValueName) -> bool {
    command.env().iter().any(|variable| variable.value == *name)
}

fn gate_names_it(gate: &Gate, name: &ValueName, variable: &str) -> bool {
    gate.checks.iter().any(|check| {
        check.name.contains(variable)
            || match &check.kind {
                CheckKind::Run { command, .. } => command_names_it(command, name),
                CheckKind::File { path, .. } => path.contains(variable),
            }
    })
}
