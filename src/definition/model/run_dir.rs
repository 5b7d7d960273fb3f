//! The variable `runDir`: the folder of a run in the project.

use super::gate::{CheckKind, Command, Gate};
use super::library::Library;
use super::values::{RUN_DIR_IN_BRACES, ValueName};
use super::workflow::{Phase, Workflow};

impl Workflow {
    /// Returns true if a text, a path or a command of the workflow itself names the folder of the run.
    pub fn names_run_dir(&self) -> bool {
        let texts = [
            Some(&self.initial_message),
            self.role_instruction.as_ref(),
            self.advance_reminder.as_ref(),
            self.block_reason_template.as_ref(),
            self.completion_message.as_ref(),
            self.stop_message.as_ref(),
            self.not_done_reminder.as_ref(),
        ];
        let written = self.limits.write.iter().flatten();
        texts.into_iter().flatten().chain(written).any(|text| text.contains(RUN_DIR_IN_BRACES))
            || self.own_phases().any(phase_names_it)
    }
}

impl Library {
    /// Returns true if a workflow, or a workflow nested in it, names the folder of the run.
    pub fn names_run_dir(&self, key: &str) -> bool {
        self.reached(key).is_some_and(|all| all.into_iter().any(Workflow::names_run_dir))
    }
}

fn phase_names_it(phase: &Phase) -> bool {
    let mut written = phase.limits.write.iter().flatten();
    phase.instructions.contains(RUN_DIR_IN_BRACES)
        || written.any(|path| path.contains(RUN_DIR_IN_BRACES))
        || phase.gate.as_ref().is_some_and(gate_names_it)
        || phase.step().is_some_and(|step| command_names_it(&step.command))
        || phase.question().is_some_and(|question| question.text.contains(RUN_DIR_IN_BRACES))
}

fn command_names_it(command: &Command) -> bool {
    command.env().iter().any(|variable| variable.value == ValueName::RunDir)
}

fn gate_names_it(gate: &Gate) -> bool {
    gate.checks.iter().any(|check| {
        check.label.contains(RUN_DIR_IN_BRACES)
            || match &check.kind {
                CheckKind::Run { command, .. } => command_names_it(command),
                CheckKind::File { path: text, .. } | CheckKind::Approve { question: text } => {
                    text.contains(RUN_DIR_IN_BRACES)
                }
            }
    })
}
