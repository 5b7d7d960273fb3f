//! The person's hand on a run: `/workflow :status` and the like.

use serde_json::json;

use crate::definition::{FileError, Library, Severity, WorkflowFiles, is_space, trim};
use crate::run::{
    Active, Arrival, Evidence, Leaving, Outline, PauseReason, RunState, advance, go_to,
};
use crate::text;

use super::commands::unknown;
use super::gate::{By, waits_for_person};
use super::hooks::Announce;
use super::{
    CHECK_TYPE, Effect, Engine, GRAPH_TYPE, Level, Moment, Mover, Output, STATUS_TYPE, persist,
};

/// A control, and when it makes sense.
struct Control {
    name: &'static str,
    description: &'static str,
    offered: fn(Option<&RunState>) -> bool,
}

/// A command name cannot contain a colon, so no workflow is hidden by these.
const CONTROLS: [Control; 10] = [
    Control { name: ":status", description: "Show the phases of the run", offered: has_run },
    Control {
        name: ":pause",
        description: "Do not continue automatically",
        offered: |state| state.is_some_and(|state| state.progress.paused.is_none()),
    },
    Control {
        name: ":resume",
        description: "Go on after a pause",
        offered: |state| state.is_some_and(|state| state.progress.paused.is_some()),
    },
    Control { name: ":next", description: "Go to the next phase", offered: has_run },
    Control { name: ":back", description: "Go back to the phase before", offered: has_run },
    Control { name: ":skip", description: "Pass over the phase", offered: has_run },
    Control { name: ":cancel", description: "Cancel the run", offered: has_run },
    Control { name: ":graph", description: "Show a workflow as a diagram", offered: |_| true },
    Control {
        name: ":panel",
        description: "Show the phases above the editor, or not",
        offered: |_| true,
    },
    Control {
        name: ":check",
        description: "Show what is wrong in the workflow files",
        offered: |_| true,
    },
];

fn has_run(state: Option<&RunState>) -> bool {
    state.is_some()
}

/// Which way the person moves a run.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Next,
    Back,
    Skip,
}

impl Engine {
    /// Runs a control.
    ///
    /// # Errors
    ///
    /// [`FileError::Stale`] only.
    pub(super) fn control(
        &mut self,
        name: &str,
        has_ui: bool,
        at: Moment,
        files: &dyn WorkflowFiles,
    ) -> Result<Output, FileError> {
        let (control, argument) = name.split_once(is_space).unwrap_or((name, ""));
        match control {
            ":check" => return self.show_check(has_ui, files),
            ":graph" => return self.show_graph(trim(argument), has_ui, files),
            ":panel" => return Ok(self.switch_panel()),
            _ => {}
        }
        Ok(self.control_run(name, has_ui, at, files))
    }

    fn control_run(
        &mut self,
        name: &str,
        has_ui: bool,
        at: Moment,
        files: &dyn WorkflowFiles,
    ) -> Output {
        if !CONTROLS.iter().any(|control| control.name == name) {
            let names = CONTROLS.map(|control| control.name).join(", ");
            return notice(Level::Error, format!("Unknown control: \"{name}\". There are {names}"));
        }
        if self.run.as_ref().is_none_or(|state| !state.active) {
            return notice(Level::Info, "No active workflow.".into());
        }
        let held = self.hold();
        match (name, &held) {
            (":next" | ":back" | ":skip", Some(reason)) if self.shown().is_some() => {
                return self.refuse_control(reason);
            }
            (":pause", Some(reason)) => return self.refuse_control(reason),
            _ => {}
        }
        match name {
            ":status" => self.show_status(has_ui, at),
            ":pause" => {
                let mut effects = self.withdraw_gate();
                effects.extend(self.pause(PauseReason::Person, has_ui, at));
                effects.into()
            }
            ":resume" => self.resume_by_hand(at, files),
            ":next" => self.next_by_hand(at, files),
            ":back" => self.go(Way::Back, Vec::new(), at),
            ":skip" => self.go(Way::Skip, Vec::new(), at),
            _ => self.cancel_command(),
        }
    }

    /// The controls that begin like this and make sense now, each with what it does.
    pub(super) fn controls(
        &self,
        prefix: &str,
    ) -> impl Iterator<Item = (&'static str, &'static str)> {
        let state = self.run.as_ref().filter(|state| state.active);
        let held = self.hold().is_some();
        CONTROLS
            .iter()
            .filter(move |control| (control.offered)(state) || held && control.name == ":resume")
            .filter(move |control| control.name.starts_with(prefix))
            .map(|control| (control.name, control.description))
    }

    /// Shows a workflow as a diagram: the one of that name, or that of the run.
    fn show_graph(
        &mut self,
        name: &str,
        has_ui: bool,
        files: &dyn WorkflowFiles,
    ) -> Result<Output, FileError> {
        let (library, _) = Library::load(files)?;
        let workflow = match self.run.as_ref().filter(|state| state.active && name.is_empty()) {
            Some(state) => library.get(&state.workflow_key),
            None => library.by_command_name(name).or_else(|| library.get(name)),
        };
        let Some(workflow) = workflow else {
            let text = if name.is_empty() {
                "Usage: /workflow :graph NAME".to_owned()
            } else {
                unknown(name, &library)
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

    /// Reads all files again and shows every fault.
    fn show_check(&mut self, has_ui: bool, files: &dyn WorkflowFiles) -> Result<Output, FileError> {
        let (library, mut faults) = Library::check(files)?;
        let content = text::check_report(&library, &faults);
        faults.retain(|fault| fault.severity() == Severity::Error);
        let level = if faults.is_empty() { Level::Info } else { Level::Error };
        self.known_errors = faults.iter().map(text::diagnostic).collect();
        // The record is about an earlier reading.
        (self.library, self.errors, self.is_read) = (library, faults, false);
        Ok(show(CHECK_TYPE, content, level, has_ui))
    }

    fn show_status(&self, has_ui: bool, at: Moment) -> Output {
        let Some(active) = self.shown() else { return unavailable() };
        let content = text::status_panel(&active, at.unix_ms);
        show(STATUS_TYPE, content, Level::Info, has_ui)
    }

    /// Goes on after a pause. A gate that waits for the person is checked again at once.
    fn resume_by_hand(&mut self, at: Moment, files: &dyn WorkflowFiles) -> Output {
        let mut effects = match self.hold().map(|reason| self.accept_rules(&reason)) {
            Some(Err(refused)) => return refused,
            Some(Ok(effects)) => effects,
            None => Vec::new(),
        };
        let waits = self.active().is_some_and(|active| waits_for_person(&active));
        effects.extend(self.resume());
        if waits && !self.gate_is_open() && self.open_gate(By::Person).is_some() {
            let next = self.next_by_hand(at, files);
            effects.extend(next.effects);
            return Output { effects, reply: next.reply };
        }
        if effects.is_empty() {
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
        match self.open_gate(By::Person) {
            Some(gate) => self.begin_gate(gate, at, files),
            None => self.advance_by_person(Vec::new(), at),
        }
    }

    /// Moves the run on, its gate passed with this evidence.
    pub(super) fn advance_by_person(&mut self, evidence: Vec<Evidence>, at: Moment) -> Output {
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
            "The person moved the workflow {verb}: {from} → {}.",
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
