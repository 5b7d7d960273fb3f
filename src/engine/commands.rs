//! The slash commands.

use crate::definition::{
    FileError, Library, Show, WorkflowFiles, is_blank, is_space, nearest, trim,
};
use crate::run::{Active, MAX_TASK, RunState};
use crate::text;

use super::controls;
use super::countdown::Rest;
use super::gate::OpenGate;
use super::hooks::Announce;
use super::replacement::Replacement;
use super::{Answer, Effect, Engine, Level, Moment, Mover, Output, Reply, Request, persist};

/// A command as it is made known.
#[derive(Debug)]
pub struct Command {
    /// Its name, without the slash.
    pub name: &'static str,
    /// What it does, in a line.
    pub description: &'static str,
}

/// The command that starts a workflow; the only one with an argument.
pub const WORKFLOW_COMMAND: &str = "workflow";

/// All commands.
pub const COMMANDS: [Command; 2] = [
    Command {
        name: WORKFLOW_COMMAND,
        description: "Start a configured workflow. Usage: /workflow {name} {description}",
    },
    Command {
        name: "cancel-workflow",
        description: "Cancel the active workflow and jump to DONE. Bypasses the not-done reminder loop.",
    },
];

/// The flag by which the commands of a project's workflows run without a question.
pub const ALLOW_COMMANDS_FLAG: Command = Command {
    name: "allow-workflow-commands",
    description: "Run the commands that gates of this project's workflows name, without a question",
};

/// A proposal for what follows `/workflow`.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// What is inserted.
    pub value: String,
    /// What is shown of it.
    pub label: String,
    /// What stands beside it.
    pub description: String,
}

/// The option of a question in a terminal that means yes. No comes first: a key that was meant for the editor does no harm.
const YES: usize = 1;

/// A question that is open.
#[derive(Debug)]
pub(super) enum Question {
    /// Whether to start this although a run is in progress.
    StartAnother { command_name: String, task: String },
    /// Whether to cancel the run, as the agent wants to.
    Cancel { nested: bool, task_id: String },
    /// Which of these workflows to start.
    Pick { names: Vec<String> },
    /// What the task is.
    Task { command_name: String },
    /// Confirmation of a start in which the project replaces workflows of the user.
    Replacement(Replacement),
    /// What a check of a gate needs.
    Gate(Box<OpenGate>),
}

impl Question {
    /// Tests if the user has a dialog for it.
    pub(super) fn is_for_user(&self) -> bool {
        match self {
            Self::StartAnother { .. }
            | Self::Cancel { .. }
            | Self::Pick { .. }
            | Self::Task { .. } => true,
            Self::Replacement(replacement) => replacement.is_for_user(),
            Self::Gate(gate) => gate.is_for_user(),
        }
    }
}

impl Engine {
    /// Runs a command.
    pub(super) fn command(
        &mut self,
        name: &str,
        arguments: &str,
        has_ui: bool,
        at: Moment,
        files: &dyn WorkflowFiles,
    ) -> Result<Output, FileError> {
        let arguments = trim(arguments);
        let control = Some(arguments).filter(|_| name == WORKFLOW_COMMAND).and_then(controls::find);
        // A command that only shows something leaves the agent to its countdown.
        let shows = control.is_some_and(|(control, _)| control.only_shows());
        let was_at_rest = self.is_at_rest();
        let waited = self.rest == Rest::Waiting;
        let mut effects = if shows { Vec::new() } else { self.stop_countdown() };
        let was_held = self.hold().is_some();
        if was_held {
            self.refresh(files)?;
        }
        let output = match (name, control) {
            (WORKFLOW_COMMAND, Some((control, argument))) => {
                self.control(control, argument, was_at_rest || was_held, has_ui, at, files)?
            }
            (WORKFLOW_COMMAND, None) if arguments.starts_with(':') => controls::unknown(arguments),
            (WORKFLOW_COMMAND, None) => self.workflow_command(arguments, at, files)?,
            ("cancel-workflow", _) => self.cancel_command(),
            _ => Output::default(),
        };
        let failed = |effect: &Effect| {
            matches!(effect, Effect::Notify { level: Level::Warning | Level::Error, .. })
        };
        if !has_ui && output.reply == Reply::None && output.effects.last().is_some_and(failed) {
            effects.push(Effect::SetExitCode(1));
        }
        let prompts = |effect: &Effect| matches!(effect, Effect::SendUserMessage(_));
        let sets_status = |effect: &Effect| matches!(effect, Effect::SetStatus(_));
        let is_status_set = output.effects.iter().any(sets_status);
        let goes_on = output.effects.iter().any(prompts);
        if waited && goes_on && !is_status_set {
            effects.push(self.status());
        }
        effects.extend(output.effects);
        if was_at_rest && !goes_on && !shows {
            let status_stands = waited && !is_status_set;
            effects.extend(self.wait_for_user().into_iter().filter(|_| !status_stands));
        }
        Ok(Output { effects, reply: output.reply })
    }

    fn workflow_command(
        &mut self,
        arguments: &str,
        at: Moment,
        files: &dyn WorkflowFiles,
    ) -> Result<Output, FileError> {
        let mut effects = Vec::from_iter(self.reload(files)?);
        let arguments = trim(arguments);
        let (name, task) = arguments.split_once(is_space).unwrap_or((arguments, ""));
        if name.is_empty() {
            if self.terminal
                && let Some(question) = self.pick()
            {
                effects.extend(question.effects);
                return Ok(Output { effects, reply: question.reply });
            }
            let text = usage(&self.library);
            effects.push(Effect::Notify { level: Level::Info, text });
            return Ok(effects.into());
        }
        let mut refuse = |level, text| {
            effects.push(Effect::Notify { level, text });
            Ok(Output::from(std::mem::take(&mut effects)))
        };
        if is_blank(task) && !self.terminal {
            return refuse(Level::Warning, format!("Usage: /workflow {name} {{description}}"));
        }
        let Some(workflow) = self.library.by_command_name(name) else {
            return refuse(Level::Error, unknown_workflow(name, &self.library));
        };
        if workflow.show == Show::Workflows {
            let text = format!(
                "\"{name}\" is a subworkflow that can only run as part of another workflow. It cannot be started directly."
            );
            return refuse(Level::Error, text);
        }
        let output = if is_blank(task) {
            self.picked(name.to_owned())
        } else {
            self.start_or_ask(name, task, at, files)
        };
        effects.extend(output.effects);
        Ok(Output { effects, reply: output.reply })
    }

    /// Starts a run, or asks first if there is one.
    pub(super) fn start_or_ask(
        &mut self,
        name: &str,
        task: &str,
        at: Moment,
        files: &dyn WorkflowFiles,
    ) -> Output {
        let length = trim(task).chars().count();
        if length > MAX_TASK {
            let text = text::task_too_long(length);
            return Output::effect(Effect::Notify { level: Level::Error, text });
        }
        match self.run.as_ref().filter(|state| state.active) {
            Some(state) if self.terminal => {
                let workflow = text::run_name(state, &self.library);
                let phase = self.shown().map_or("unknown", |active| &active.phase.name);
                let title = text::start_another_question(&workflow, phase, &state.task_description);
                let options = ["No, go on with it", "Yes, start the other"].map(Into::into).into();
                let question =
                    Question::StartAnother { command_name: name.into(), task: task.into() };
                self.ask(question, Request::Select { title, options })
            }
            Some(state) => {
                let phase = Active::resolve(state, &self.library);
                let message = format!(
                    "Phase: {}\nTask: {}\n\nStart a new one?",
                    text::in_question(phase.map_or("unknown", |active| &active.phase.name)),
                    text::in_question(&state.task_description)
                );
                let question =
                    Question::StartAnother { command_name: name.into(), task: task.into() };
                let title = "Workflow already active".to_owned();
                self.ask(question, Request::Confirm { title, message })
            }
            None => self.start_unless_replaced(name, task, at, files),
        }
    }

    pub(super) fn ask(&mut self, question: Question, request: Request) -> Output {
        self.last_ticket += 1;
        self.questions.push((self.last_ticket, question));
        Output::reply(Reply::Ask { ticket: self.last_ticket, request })
    }

    /// Goes on after a question; an answer to none of the open ones is dropped.
    pub(super) fn answer(
        &mut self,
        ticket: u64,
        answer: Answer,
        at: Moment,
        files: &dyn WorkflowFiles,
    ) -> Output {
        let Some(index) = self.questions.iter().position(|(open, _)| *open == ticket) else {
            return Output::default();
        };
        match (self.questions.remove(index).1, answer) {
            (
                Question::StartAnother { command_name, task },
                Answer::Confirmed(true) | Answer::Selected(YES),
            ) => self.start_unless_replaced(&command_name, &task, at, files),
            (Question::StartAnother { .. }, _) => self.not_started(),
            (Question::Pick { mut names }, Answer::Selected(index)) if index < names.len() => {
                self.picked(names.swap_remove(index))
            }
            (Question::Task { command_name }, Answer::Entered(task)) => {
                self.tasked(&command_name, &task, at, files)
            }
            (Question::Pick { .. } | Question::Task { .. }, _) => self.not_started(),
            (Question::Cancel { task_id, .. }, _) if !self.is_run(&task_id) => {
                super::step_tool::ended()
            }
            (Question::Cancel { .. }, Answer::Confirmed(true) | Answer::Selected(YES)) => {
                self.step_cancelled(at)
            }
            // Without anybody to ask, the second call is the confirmation.
            (Question::Cancel { .. }, Answer::NoUi) => match self.hold() {
                Some(reason) => self.step_held("cancel", &reason),
                None => self.step_cancelled(at),
            },
            (Question::Cancel { .. }, _) => self.step_cancel_declined(),
            (Question::Replacement(replacement), answer) => {
                self.answer_replacement(replacement, answer, at, files)
            }
            (Question::Gate(gate), answer) => self.answer_gate(*gate, answer, at, files),
        }
    }

    /// Nothing is started. If the agent came to rest while the user was asked, the run waits for the user.
    pub(super) fn not_started(&mut self) -> Output {
        if self.is_at_rest() || !self.questions.is_empty() {
            return Output::default();
        }
        self.wait_for_user().into()
    }

    fn is_run(&self, task_id: &str) -> bool {
        self.run.as_ref().is_some_and(|state| state.active && state.task_id == task_id)
    }

    /// Starts a run: stores its state, names the session, prompts the agent.
    pub(super) fn start(&mut self, command_name: &str, task: &str, at: Moment) -> Output {
        let Some(workflow) = self.library.by_command_name(command_name) else {
            let text = unknown_workflow(command_name, &self.library);
            return Output::effect(Effect::Notify { level: Level::Error, text });
        };
        let state = RunState::new(&workflow.key, task, at.unix_ms, at.random);
        let state = state.sealed(&self.library).begun(at.unix_ms);
        let task = &state.task_description;
        let mut prompt = text::initial_message(workflow, &self.library, task);
        let mut effects = vec![
            persist(&state),
            Effect::SetStatus(text::status_line(Some(&state), &self.library, false)),
            Effect::SetSessionName(text::session_name(workflow, task)),
        ];
        self.run = Some(state);
        self.told_hold = None;
        if self.agent.running {
            // The prompt goes into the run at hand, which has had its context prompt.
            prompt = format!("{prompt}\n\n{}", self.prompt());
        }
        effects.push(Effect::SendUserMessage(prompt));
        self.ended = None;
        self.cancel_pending = false;
        self.untold_move = self.agent.running.then_some(Mover::User);
        let mut all = self.stop_countdown();
        all.extend(self.withdraw_gate());
        all.extend(effects);
        Output::from(all).with(Reply::Settle)
    }

    /// Ends the run at once. An agent that is at work is told.
    pub(super) fn cancel_command(&mut self) -> Output {
        let Some(state) = self.run.take_if(|state| state.active) else {
            let text = "No active workflow to cancel.".to_owned();
            return Output::effect(Effect::Notify { level: Level::Info, text });
        };
        self.run = Some(state.cancelled());
        let mut effects = self.withdraw_gate();
        effects.extend(self.announce_end(Announce::CancelCommand).effects);
        if self.agent.running {
            let told = "The user cancelled the workflow. Stop working on it.";
            effects.push(Effect::Steer(told.into()));
        }
        // The transcript of a terminal shows the end.
        if !self.terminal {
            let text = "Workflow cancelled.".to_owned();
            effects.push(Effect::Notify { level: Level::Info, text });
        }
        effects.into()
    }

    /// Completions of what follows `/workflow`; none where it is complete, so that Enter runs it. At the beginning of the
    /// argument the files are read again.
    pub fn complete(&mut self, prefix: &str, files: &dyn WorkflowFiles) -> Vec<Completion> {
        if prefix.is_empty() {
            // What cannot be read now stays as it was.
            let _ = self.refresh(files);
        }
        let library = &self.library;
        let (before, name) = match prefix.split_once(is_space) {
            None => ("", prefix),
            Some((":graph", name)) => (":graph ", name.trim_start_matches(is_space)),
            Some(_) => return Vec::new(),
        };
        let controls = self.controls(prefix).map(|(name, description)| Completion {
            value: name.to_owned(),
            label: name.to_owned(),
            description: description.to_owned(),
        });
        let workflows = library
            .for_users()
            .filter(|workflow| workflow.command_name.starts_with(name))
            .map(|workflow| Completion {
                value: format!("{before}{}", workflow.command_name),
                label: workflow.command_name.clone(),
                description: match text::description(workflow, library) {
                    Some(about) => format!("{}: {about}", text::short_name(&workflow.name)),
                    None => text::short_name(&workflow.name),
                },
            });
        let completions: Vec<Completion> = if self.is_running() {
            controls.chain(workflows).collect()
        } else {
            workflows.chain(controls).collect()
        };
        let is_complete = completions.iter().any(|completion| completion.value == prefix);
        if is_complete { Vec::new() } else { completions }
    }
}

fn usage(library: &Library) -> String {
    let workflows: Vec<String> = library
        .for_users()
        .map(|workflow| {
            format!("  {} — {}", workflow.command_name, text::short_name(&workflow.name))
        })
        .collect();
    format!(
        "Usage: /workflow {{name}} {{description}}\n\nAvailable workflows:\n{}",
        workflows.join("\n")
    )
}

pub(super) fn unknown_workflow(name: &str, library: &Library) -> String {
    if library.left_out().iter().any(|left_out| left_out.is_called(name)) {
        return format!("The workflow \"{name}\" has errors: /workflow :check shows them.");
    }
    let names: Vec<&str> =
        library.for_users().map(|workflow| workflow.command_name.as_str()).collect();
    let available = if names.is_empty() { "(none)".to_owned() } else { names.join(", ") };
    let meant = nearest(name, names.iter().copied())
        .map_or(String::new(), |meant| format!("\nDid you mean \"{meant}\"?"));
    format!("Unknown workflow: \"{name}\". Available: {available}{meant}")
}
