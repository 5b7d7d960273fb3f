//! Run-control subcommands: `/workflow :status` and the like.

use serde_json::json;

use crate::definition::{FileError, Library, Severity, WorkflowFiles, is_space, nearest, trim};
use crate::run::{
    Active, Arrival, Evidence, Leaving, Outline, PauseReason, RunState, advance, go_to,
};
use crate::text;

use super::commands::unknown_workflow;
use super::countdown::Rest;
use super::gate::{By, waits_for_user};
use super::hooks::Announce;
use super::{
    CHECK_TYPE, Effect, Engine, GRAPH_TYPE, Level, Moment, Mover, Output, STATUS_TYPE, persist,
};

/// A subcommand of `/workflow` that controls or shows the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    Status,
    Pause,
    Resume,
    Next,
    Back,
    Skip,
    Cancel,
    Graph,
    Panel,
    Check,
}

/// Every control with its name and what it does. A command name cannot contain a colon, so no workflow is hidden by these.
const CONTROLS: [(Control, &str, &str); 10] = [
    (Control::Status, ":status", "Show the phases of the run"),
    (Control::Pause, ":pause", "Do not continue automatically"),
    (Control::Resume, ":resume", "Go on after a pause or an interrupted countdown"),
    (Control::Next, ":next", "Go to the next phase"),
    (Control::Back, ":back", "Go back to the phase before"),
    (Control::Skip, ":skip", "Pass over the phase"),
    (Control::Cancel, ":cancel", "Cancel the run"),
    (Control::Graph, ":graph", "Show a workflow as a diagram"),
    (Control::Panel, ":panel", "Show the phases above the editor, or not"),
    (Control::Check, ":check", "Show what is wrong in the workflow files"),
];

impl Control {
    /// Tests if it changes nothing of the run.
    pub(super) fn only_shows(self) -> bool {
        match self {
            Self::Status | Self::Graph | Self::Panel | Self::Check => true,
            Self::Pause | Self::Resume | Self::Next | Self::Back | Self::Skip | Self::Cancel => {
                false
            }
        }
    }

    /// Tests if it works while the rules of the run do not hold.
    fn works_while_held(self) -> bool {
        match self {
            Self::Status
            | Self::Resume
            | Self::Cancel
            | Self::Graph
            | Self::Panel
            | Self::Check => true,
            Self::Pause | Self::Next | Self::Back | Self::Skip => false,
        }
    }
}

/// The control that these arguments of `/workflow` call, and its own argument. Only `:graph` takes one.
pub(super) fn find(arguments: &str) -> Option<(Control, &str)> {
    let (name, argument) = arguments.split_once(is_space).unwrap_or((arguments, ""));
    let (control, ..) = CONTROLS.iter().find(|(_, other, _)| *other == name)?;
    let argument = trim(argument);
    (argument.is_empty() || *control == Control::Graph).then_some((*control, argument))
}

/// The answer to arguments that call no control.
pub(super) fn unknown(arguments: &str) -> Output {
    let names = CONTROLS.map(|(_, name, _)| name);
    let meant = match nearest(arguments, names) {
        Some(name) if name == arguments => String::new(),
        Some(name) => format!(" Did you mean {name}?"),
        None => String::new(),
    };
    let text = format!("Unknown control: \"{arguments}\".{meant} There are {}", names.join(", "));
    notice(Level::Error, text)
}

/// Which way the user moves a run.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Next,
    Back,
    Skip,
}

impl Engine {
    /// Runs a control. `was_at_rest`: the run was in a countdown, or waited for the user.
    ///
    /// # Errors
    ///
    /// [`FileError::Stale`] only.
    pub(super) fn control(
        &mut self,
        control: Control,
        argument: &str,
        was_at_rest: bool,
        has_ui: bool,
        at: Moment,
        files: &dyn WorkflowFiles,
    ) -> Result<Output, FileError> {
        let has_run = self.run.as_ref().is_some_and(|state| state.active);
        if let Some(reason) = self.hold().filter(|_| !control.works_while_held()) {
            let moves = matches!(control, Control::Next | Control::Back | Control::Skip);
            if !moves || self.shown().is_some() {
                return Ok(self.refuse_control(&reason));
            }
        }
        Ok(match control {
            Control::Check => self.show_check(has_ui, files)?,
            Control::Graph => self.show_graph(argument, has_ui, files)?,
            Control::Panel => self.switch_panel(),
            _ if !has_run => notice(Level::Info, "No active workflow.".into()),
            Control::Status => self.show_status(has_ui, at),
            Control::Pause => {
                let mut effects = self.withdraw_gate();
                effects.extend(self.pause(PauseReason::User, has_ui, at));
                effects.into()
            }
            Control::Resume => self.resume_by_hand(was_at_rest, at, files),
            Control::Next => self.next_by_hand(at, files),
            Control::Back => self.go(Way::Back, Vec::new(), at),
            Control::Skip => self.go(Way::Skip, Vec::new(), at),
            Control::Cancel => self.cancel_command(),
        })
    }

    /// The controls that begin like this and make sense now, each with what it does.
    pub(super) fn controls(
        &self,
        prefix: &str,
    ) -> impl Iterator<Item = (&'static str, &'static str)> {
        CONTROLS
            .iter()
            .filter(move |(_, name, _)| name.starts_with(prefix))
            .filter(|(control, ..)| self.offers(*control))
            .map(|(_, name, description)| (*name, *description))
    }

    fn offers(&self, control: Control) -> bool {
        let run = self.run.as_ref().filter(|state| state.active);
        let is_paused = run.is_some_and(|state| state.progress.paused.is_some());
        let waits = self.is_at_rest() || self.hold().is_some();
        match control {
            Control::Graph | Control::Panel | Control::Check => true,
            Control::Status | Control::Next | Control::Back | Control::Skip | Control::Cancel => {
                run.is_some()
            }
            Control::Pause => run.is_some() && !is_paused,
            Control::Resume => is_paused || (run.is_some() && waits),
        }
    }

    /// Shows a workflow as a diagram: the one of that name, or that of the run.
    fn show_graph(
        &mut self,
        name: &str,
        has_ui: bool,
        files: &dyn WorkflowFiles,
    ) -> Result<Output, FileError> {
        let (library, _) = Library::load(files)?;
        let run = self.run.as_ref().filter(|state| state.active);
        let mut for_users = library.for_users();
        let workflow = match (name, run) {
            ("", Some(state)) => library.get(&state.workflow_key),
            ("", None) => for_users.next().filter(|_| for_users.next().is_none()),
            _ => library.by_command_name(name).or_else(|| library.get(name)),
        };
        let Some(workflow) = workflow else {
            let text = if name.is_empty() {
                "Usage: /workflow :graph NAME".to_owned()
            } else {
                unknown_workflow(name, &library)
            };
            return Ok(notice(Level::Error, text));
        };
        let content = text::boxes(workflow, &library).join("\n");
        // A program that shows the session may draw better than a terminal does.
        let data = json!({ "content": content, "mermaid": text::mermaid(workflow, &library) });
        let mut effects = vec![Effect::AppendEntry { custom_type: GRAPH_TYPE, data }];
        if !has_ui {
            effects.push(Effect::Notify { level: Level::Info, text: content });
        }
        Ok(effects.into())
    }

    /// Reads all files again and shows every diagnostic.
    fn show_check(&mut self, has_ui: bool, files: &dyn WorkflowFiles) -> Result<Output, FileError> {
        let (library, mut diagnostics) = Library::check(files)?;
        let content = text::check_report(&library, &diagnostics);
        diagnostics.retain(|diagnostic| diagnostic.severity() == Severity::Error);
        let level = if diagnostics.is_empty() { Level::Info } else { Level::Error };
        self.known_errors = diagnostics.iter().map(text::diagnostic_text).collect();
        // The record is about an earlier reading.
        (self.library, self.errors, self.is_read) = (library, diagnostics, false);
        Ok(show(CHECK_TYPE, content, level, has_ui))
    }

    fn show_status(&self, has_ui: bool, at: Moment) -> Output {
        let Some(active) = self.shown() else { return unavailable() };
        let content = text::status_panel(&active, at.unix_ms, self.rest == Rest::Waiting);
        show(STATUS_TYPE, content, Level::Info, has_ui)
    }

    /// Goes on after a pause, or where the run waits for the user. A gate that waits for the user is checked again at
    /// once.
    fn resume_by_hand(
        &mut self,
        was_at_rest: bool,
        at: Moment,
        files: &dyn WorkflowFiles,
    ) -> Output {
        let mut effects = match self.hold().map(|reason| self.accept_rules(&reason)) {
            Some(Err(refused)) => return refused,
            Some(Ok(effects)) => effects,
            None => Vec::new(),
        };
        let waits = self.active().is_some_and(|active| waits_for_user(&active));
        effects.extend(self.resume());
        if waits && !self.gate_is_open() && self.open_gate(By::User).is_some() {
            let next = self.next_by_hand(at, files);
            effects.extend(next.effects);
            return Output { effects, reply: next.reply };
        }
        if effects.is_empty() && !was_at_rest {
            return notice(Level::Info, "The workflow is not paused.".into());
        }
        let reminder = self.not_done();
        effects.extend(reminder.filter(|_| !self.agent.running).map(Effect::SendUserMessage));
        effects.into()
    }

    /// Moves the run on, if its gate is passed.
    fn next_by_hand(&mut self, at: Moment, files: &dyn WorkflowFiles) -> Output {
        if self.gate_is_open() {
            return notice(Level::Info, "The gate of this phase is being checked.".into());
        }
        match self.open_gate(By::User) {
            Some(gate) => self.begin_gate(gate, at, files),
            None => self.advance_by_user(Vec::new(), at),
        }
    }

    /// Moves the run on, its gate passed with this evidence.
    pub(super) fn advance_by_user(&mut self, evidence: Vec<Evidence>, at: Moment) -> Output {
        self.go(Way::Next, evidence, at)
    }

    /// Moves the run, and lets the agent know: at once if it is at work, by a prompt if it is at rest,
    /// with the next context prompt if the run is paused.
    fn go(&mut self, way: Way, evidence: Vec<Evidence>, at: Moment) -> Output {
        let Some(active) = self.active() else { return unavailable() };
        let state = active.state;
        let (new, arrival, leaving) = match way {
            Way::Next | Way::Skip => {
                let (new, arrival) = advance(&with_evidence(way, state, evidence), active.library);
                let leaving = if way == Way::Skip { Leaving::Skipped } else { Leaving::Done };
                (new, arrival, leaving)
            }
            Way::Back => match before(&active) {
                Some(new) => (new, Arrival::Phase, Leaving::Again),
                None => return notice(Level::Info, "This is the first phase.".into()),
            },
        };
        let from = text::phase_title(active.phase);
        let new = new.moved_from(state, leaving, at.unix_ms);
        let paused = new.progress.paused.is_some();
        let mut effects = self.withdraw_gate();
        effects.push(persist(&new));
        self.run = Some(new);
        self.cancel_pending = false;
        effects.push(self.status());
        let verb = match way {
            Way::Next => "on",
            Way::Back => "back",
            Way::Skip => "on, and skipped a phase",
        };
        let to = self.active().map(|active| text::phase_title(active.phase));
        let told = format!(
            "The user moved the workflow {verb}: {from} → {}.",
            to.as_deref().unwrap_or("DONE")
        );
        effects.push(Effect::Notify {
            level: Level::Info,
            text: format!("{from} → {}", to.as_deref().unwrap_or("DONE")),
        });
        match (arrival, self.agent.running) {
            (Arrival::Done, true) => {
                self.untold_move = Some(Mover::User);
                effects.push(Effect::Steer(format!("{told} Stop working on it.")));
            }
            (Arrival::Done, false) => effects.extend(self.announce_end(Announce::Done).effects),
            (Arrival::Phase, true) => {
                self.untold_move = Some(Mover::User);
                let prompt = self.prompt();
                effects.push(Effect::Steer(format!("{told}\n\n{prompt}")));
            }
            (Arrival::Phase, false) if paused => self.note = Some(told),
            (Arrival::Phase, false) => effects.push(Effect::SendUserMessage(told)),
        }
        effects.into()
    }
}

/// The run with what its gate came to; one that is passed over keeps what is known of earlier attempts.
fn with_evidence(way: Way, state: &RunState, evidence: Vec<Evidence>) -> RunState {
    if way == Way::Next { state.with_evidence(evidence) } else { state.clone() }
}

/// The run, moved to the phase before the current one.
fn before(active: &Active) -> Option<RunState> {
    let current = Outline::of(active).current;
    let [step] = <[_; 1]>::try_from(Outline::steps(active, current.checked_sub(1)?, 1)).ok()?;
    (step.number + 1 == current).then(|| go_to(active.state, step.path))
}

/// A panel in the transcript that the model does not get; where there is none, a notice.
fn show(custom_type: &'static str, content: String, level: Level, has_ui: bool) -> Output {
    let data = json!({ "content": content });
    let mut effects = vec![Effect::AppendEntry { custom_type, data }];
    if !has_ui {
        effects.push(Effect::Notify { level, text: content });
    }
    effects.into()
}

fn unavailable() -> Output {
    notice(Level::Warning, "The workflow's files are no longer available.".into())
}

fn notice(level: Level, text: String) -> Output {
    Output::effect(Effect::Notify { level, text })
}
