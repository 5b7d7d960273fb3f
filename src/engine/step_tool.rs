//! `workflow_step`, the tool by which the agent moves the run.

use serde_json::{Value, json};

use crate::definition::{Outcome, Phase, is_blank, trim};
use crate::protocol::STEP_TOOL_NAME;
use crate::run::{
    Active, Arrival, Evidence, Leaving, LoopError, Outputs, PauseReason, PhasePath, RunState, WrongOutput,
    given_outputs, leave, restart, way_back,
};
use crate::text;

use super::ask::Then;
use super::briefing::state::Mover;
use super::consent::room;
use super::context::Cx;
use super::effect::{Level, Reply, Request, ToolResult, YesOrNo};
use super::gate::state::{OpenGate, Requester, StepCall};
use super::state::{Engine, Run, Standing, Waiter};

/// Registration of a tool.
#[derive(Debug)]
pub struct StepTool {
    /// Its name.
    pub name: &'static str,
    /// Its name for users.
    pub label: &'static str,
    /// Its description for the model.
    pub description: &'static str,
    /// One line for the system prompt.
    pub prompt_snippet: &'static str,
    /// Bullets for the system prompt.
    pub prompt_guidelines: [&'static str; 4],
}

/// `workflow_step`.
pub const STEP_TOOL: StepTool = StepTool {
    name: STEP_TOOL_NAME,
    label: "Workflow Step",
    description: "Show current workflow status, advance to the next phase, loop back to the start of the current scope, or cancel the active workflow. Use this to coordinate any configured workflow.",
    prompt_snippet: "Advance the active workflow to the next phase",
    prompt_guidelines: [
        "Use workflow_step with action='next' when you finish a phase and want to advance.",
        "Use workflow_step with action='status' to check current workflow state.",
        "Use workflow_step with action='cancel' to abort the current workflow.",
        "Use workflow_step with action='loop' to restart the current scope from the beginning, where the phase's instructions offer it.",
    ],
};

impl StepTool {
    /// The JSON Schema of its arguments.
    pub fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "required": ["action"],
            "properties": {
                "action": {
                    "type": "string",
                    "enum": ["next", "status", "cancel", "loop"],
                    "description": "\"next\" to advance to the next phase, \"status\" to check current state, \"cancel\" to abort the workflow, \"loop\" to restart the current scope from phase 0"
                },
                "summary": {
                    "type": "string",
                    "description": "Optional summary of what was accomplished in the current phase"
                },
                "outcome": {
                    "type": "string",
                    "description": "With \"next\": the outcome of the current phase, where its instructions list outcomes"
                },
                "outputs": {
                    "type": "object",
                    "additionalProperties": true,
                    "description": "With \"next\": the outputs of the current phase by name, where its instructions list outputs"
                }
            }
        })
    }
}

/// The number of calls with missing or wrong outputs in a visit after which the run pauses.
const MAX_OUTPUTS_REFUSED: u32 = 5;

const NO_WORKFLOW: &str = "No active workflow. Use /workflow {name} {description} to start one.";

pub(super) const UNAVAILABLE: &str = "The workflow configuration for this session is no longer available. Use workflow_step with action='cancel' to clear it, or reload the workflow definitions.";

/// Result of a call whose run has ended while it waited.
pub(super) const RUN_ENDED: &str = "The workflow has ended meanwhile; this call had no effect.";

/// An action that moves the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Move {
    Next,
    Loop,
    Cancel,
}

impl Move {
    fn of(action: &str) -> Option<Self> {
        match action {
            "next" => Some(Self::Next),
            "loop" => Some(Self::Loop),
            "cancel" => Some(Self::Cancel),
            _ => None,
        }
    }
}

impl Engine {
    /// Runs one call of the tool.
    pub(super) fn step(&mut self, input: &str, nested: bool, cx: &mut Cx) -> Reply {
        let input: Value = serde_json::from_str(input).unwrap_or_default();
        let cancel_asked = std::mem::take(&mut self.agent.cancel_asked);
        let action = match input.get("action").and_then(Value::as_str) {
            Some("status") => {
                if self.run.held().is_some() {
                    self.agent.end_run();
                }
                let (text, details) = status(&self.run);
                return result(text, details);
            }
            action => action.and_then(Move::of),
        };
        let Some(action) = action else {
            let text = text::unknown_action(self.run.at_phase().as_ref());
            return result(text, json!({ "error": "unknown action" }));
        };
        match self.run.standing() {
            Standing::Held(reason) => {
                let (text, details) = told_held(action, reason, &self.run);
                self.agent.end_run();
                return result(text, details);
            }
            Standing::Entry(active) => {
                let text = text::paused(&active).unwrap_or_else(|| text::at_entry(&active));
                if self.run.pause_reason().is_some() {
                    self.agent.end_run();
                }
                return result(text, json!({ "active": true, "gate": "entry" }));
            }
            Standing::Phase(active) => {
                // The call refers to a phase that the run has already left, which the model does not know.
                let outdated = match self.briefing.untold_move() {
                    Some(Mover::NestedCall) => Some(text::outdated_in_script(&active)),
                    Some(Mover::User | Mover::Budget) => Some(text::outdated(&active)),
                    None if self.fresh_start.is_ahead(&active, &self.agent) => Some(text::NOT_STARTED.into()),
                    None if self.turn.left.is_some() => Some(text::MOVED_IN_ANSWER.into()),
                    None => None,
                };
                if let Some(text) = outdated {
                    return result(text, json!({ "active": true, "moved": true }));
                }
            }
            Standing::NoRun => {}
        }
        if self.pending.is_gate_of_call() {
            return gate_result(text::GATE_OPEN);
        }
        if let Some(refusal) = self.refuse_while_running(cx) {
            return refusal;
        }
        let summary = input.get("summary").and_then(Value::as_str);
        let summary = summary.filter(|summary| !is_blank(summary)).map(str::to_owned);
        let call = StepCall { summary, outputs: None, nested };
        let outcome = input.get("outcome").and_then(Value::as_str).map(trim);
        match action {
            Move::Next => {
                let outputs = input.get("outputs").unwrap_or(&Value::Null);
                self.step_next(call, outcome.unwrap_or_default(), outputs, cx)
            }
            Move::Loop => self.step_loop(&call, cx),
            Move::Cancel => self.step_cancel(cancel_asked, nested, cx),
        }
    }

    fn step_next(&mut self, mut call: StepCall, outcome: &str, outputs: &Value, cx: &mut Cx) -> Reply {
        let Some(before) = self.run.active() else {
            return result(NO_WORKFLOW, json!({ "active": false }));
        };
        let outcome = match outcome_called(outcome, before.phase) {
            Some(outcome) => Some(outcome.name.clone()),
            None if before.phase.outcomes.is_empty() => None,
            None => {
                let details = json!({ "active": true, "error": "outcome required" });
                return result(text::outcome_missing(&before, outcome), details);
            }
        };
        if call.summary.as_deref().is_some_and(text::is_placeholder) {
            let details = json!({ "active": true, "error": "summary required" });
            return result(text::summary_is_placeholder(&before), details);
        }
        let has_summary = call.summary.is_some() || before.state.has_handed_over();
        if !has_summary && !before.stops(outcome.as_deref()) && before.needs_summary() {
            let details = json!({ "active": true, "error": "summary required" });
            return result(text::summary_missing(&before), details);
        }
        let paused = before.state.progress().paused.as_ref();
        let waits_at_gate = paused.is_some_and(|pause| pause.reason.keeps_phase());
        let paused = text::paused(&before);
        // Outputs from an earlier call in this visit stay valid. A stop is allowed without outputs.
        let stops = before.stops(outcome.as_deref());
        if !outputs.is_null() || before.state.handed_outputs().is_none() && !stops {
            match outputs_of_call(&before, outputs) {
                Ok(outputs) => call.outputs = Some(outputs).filter(|outputs| !outputs.is_empty()),
                Err(text) => return self.refuse_outputs(paused.filter(|_| waits_at_gate), text, cx),
            }
        }
        let gate = OpenGate::ahead(&self.run, Requester::Agent(call.clone()), outcome.clone());
        match (gate, paused) {
            (Some(_), _) if self.pending.has_gate() => gate_result(text::GATE_OPEN),
            (Some(_), _) if self.turn.gate_checked => gate_result(text::GATE_HAD),
            (gate, Some(text)) if gate.is_some() || waits_at_gate => {
                self.agent.end_run();
                result(text, json!({ "active": true, "gate": "paused" }))
            }
            (Some(gate), _) => self.begin_gate(gate, cx),
            (None, _) => self.advance_by_agent(&call, outcome.as_deref(), Vec::new(), cx),
        }
    }

    /// Refuses a `next` with missing or wrong outputs. The fifth refusal in a visit pauses the run. In a pause that
    /// keeps the phase, whose text is `paused`, refusals do not count.
    fn refuse_outputs(&mut self, paused: Option<String>, mut text: String, cx: &mut Cx) -> Reply {
        if let Some(paused) = paused {
            self.agent.end_run();
            return result(paused, json!({ "active": true, "gate": "paused" }));
        }
        self.run.change_unstored(|state, _| state.outputs_refused());
        let visit = self.run.running().and_then(|state| state.progress().visits.get(&state.current_path.key()));
        let times = visit.map_or(0, |visit| visit.outputs_refused);
        if times >= MAX_OUTPUTS_REFUSED {
            let reason = PauseReason::Outputs { of: self.run.phase_name(), times };
            text.push_str(&format!("\n\nThe workflow is paused: {reason}. Stop here and wait for the user."));
            self.pause(reason, cx);
        }
        result(text, json!({ "active": true, "error": "outputs required" }))
    }

    /// Pauses a run that has come from this path into a nested workflow without an output that the nested workflow
    /// needs; returns true if the run pauses.
    pub(super) fn pause_without_output(&mut self, before: &PhasePath, cx: &mut Cx) -> bool {
        let library = self.run.library();
        let reason = self.run.running().and_then(|state| state.missing_value(before, library));
        let reason = reason.filter(|_| self.run.pause_reason().is_none());
        let pauses = reason.is_some();
        if let Some(reason) = reason {
            self.pause(reason, cx);
        }
        pauses
    }

    /// Moves the run to the target of the outcome, its gate passed with this evidence.
    pub(super) fn advance_by_agent(
        &mut self,
        call: &StepCall,
        outcome: Option<&str>,
        evidence: Vec<Evidence>,
        cx: &mut Cx,
    ) -> Reply {
        let Some(before) = self.run.active() else {
            return result(UNAVAILABLE, json!({ "active": false, "stale": true }));
        };
        let left = call.handed_over(&before).with_evidence(evidence);
        let (new, arrival) = match leave(&left, outcome, before.library) {
            Ok(moved) => moved,
            Err(error) => {
                // The outcome leads back, and the workflow allows no more loops: the run waits for the user.
                let reason = loops_reason(&before, &left, outcome.unwrap_or_default(), error);
                let text = format!("The workflow is paused: {reason}. Stop here and wait for the user.");
                self.pause_as(&left, reason, cx);
                return result(text, json!({ "active": true, "error": error.to_string() }));
            }
        };
        let new = new.moved_from(before.state, Leaving::Done, cx.unix_ms);
        let from = before.phase.name.clone();
        let from_path = before.state.current_path.clone();
        let (mut text, to) = match (arrival, Active::resolve(&new, before.library)) {
            (Arrival::Phase, Some(after)) => (text::advanced(&before, &after, outcome), after.phase.name.clone()),
            _ => {
                let to = if new.is_stopped() { "STOPPED" } else { "DONE" };
                (text::done(&before, outcome, &new), to.to_owned())
            }
        };
        let left = before.state.clone();
        self.agent.worked = true;
        self.turn.left = Some(left);
        self.transition(new, cx);
        if arrival == Arrival::Phase {
            match self.pause_without_output(&from_path, cx) {
                true => text.extend(self.run.active().and_then(|active| text::paused(&active))),
                false => text.push_str(&self.briefing.give_prompt_in_result(call.nested, &self.run)),
            }
        }
        let mut details = json!({ "advanced": true, "from": from, "to": to });
        if let Some((fields, outcome)) = details.as_object_mut().zip(outcome) {
            fields.insert("outcome".into(), outcome.into());
        }
        result(text, details)
    }

    fn step_loop(&mut self, call: &StepCall, cx: &mut Cx) -> Reply {
        let Some(before) = self.run.active() else {
            return result("No active workflow to loop.", json!({ "active": false }));
        };
        if self.run.pause_reason().is_some_and(PauseReason::keeps_phase) {
            let text = text::paused(&before).unwrap_or_default();
            self.agent.end_run();
            return result(text, json!({ "active": true, "gate": "paused" }));
        }
        let library = before.library;
        let new = match restart(&call.handed_over(&before), library) {
            Ok(new) => new.moved_from(before.state, Leaving::Again, cx.unix_ms),
            Err(error) => {
                match error {
                    LoopError::Exhausted => {
                        let text = format!("The agent wants to loop again. {error}");
                        cx.notify(Level::Warning, text);
                    }
                    LoopError::Disabled | LoopError::UsedUp { .. } | LoopError::PassedOver | LoopError::NotFound => {}
                }
                let details = json!({ "active": true, "error": error.to_string() });
                return result(format!("⚠️ {error}"), details);
            }
        };
        let Some(after) = Active::resolve(&new, library) else {
            return result(UNAVAILABLE, json!({ "active": false, "stale": true }));
        };
        let to = before.scope.phases.first().map_or("", |entry| library.entry_name(entry));
        let details = json!({ "looped": true, "to": to });
        let mut text = text::looped(&before.scope.name, &after);
        let left = before.state.clone();
        self.agent.worked = true;
        self.turn.left = Some(left);
        self.transition(new, cx);
        text.push_str(&self.briefing.give_prompt_in_result(call.nested, &self.run));
        result(text, details)
    }

    /// Specification: state management, "Two-Step Cancellation".
    fn step_cancel(&mut self, confirmed: bool, nested: bool, cx: &mut Cx) -> Reply {
        let Some(state) = self.run.running() else {
            return result("No active workflow to cancel.", json!({ "active": false }));
        };
        if !confirmed {
            let workflow = text::run_name(state, self.run.library());
            let text = format!(
                "⚠️ **Confirm cancellation** of workflow \"{workflow}\"?\nCall workflow_step with action='cancel' again to confirm. This cannot be undone."
            );
            self.agent.cancel_asked = true;
            return result(text, json!({ "active": true, "cancelPending": true }));
        }
        let request = if cx.ui.is_terminal() {
            let workflow = text::run_name(state, self.run.library());
            let title = text::cancel_question(&workflow, &state.task_description, room(2, cx));
            YesOrNo::Choice { title, no: "No, go on", yes: "Yes, cancel it" }
        } else {
            let task = text::in_question(&state.task_description);
            let message = format!("{task}\n\nThe agent wants to cancel this workflow. Cancel it?");
            YesOrNo::Confirmation { title: "Cancel the workflow?", message }
        };
        let then = Then::Cancel { task_id: state.task_id.clone() };
        self.pending.ask(Waiter::Call { nested }, Request::yes_or_no(request), then)
    }

    /// Cancels the run if the user lets the agent do so; `None`: nobody can be asked.
    pub(super) fn cancel_answered(&mut self, task_id: &str, cancels: Option<bool>, cx: &mut Cx) -> Reply {
        let Some(state) = self.run.running().filter(|state| state.task_id == task_id) else {
            return result(RUN_ENDED, json!({ "active": false }));
        };
        let Some(cancels) = cancels else {
            if let Some(reason) = self.run.held() {
                let (text, details) = told_held(Move::Cancel, reason, &self.run);
                self.agent.end_run();
                return result(text, details);
            }
            // Without a user interface the user decides later.
            self.pause(PauseReason::Cancel, cx);
            let text = self.run.active().and_then(|active| text::paused(&active)).unwrap_or_default();
            return result(text, json!({ "active": true, "cancelled": false, "paused": true }));
        };
        if !cancels {
            return result(
                "The user declined: the workflow is not cancelled. Continue with the current phase.",
                json!({ "active": true, "cancelled": false, "declined": true }),
            );
        }
        let text = format!("Workflow cancelled: \"{}\"", state.task_description);
        let new = state.cancelled().moved_from(state, Leaving::Again, cx.unix_ms);
        self.agent.worked = true;
        self.transition(new, cx);
        result(text, json!({ "active": false, "cancelled": true }))
    }
}

/// The text that answers a call with this action where the agent's run ends because the rules of the run do not hold.
pub(super) fn held_text(action: &str, reason: &PauseReason, run: &Run) -> String {
    match Move::of(action) {
        Some(action) => told_held(action, reason, run).0,
        None => text::held(reason),
    }
}

/// The status of the run as a text, and the details of a tool result with that text.
pub(super) fn status(run: &Run) -> (String, Value) {
    if run.running().is_none() {
        return (NO_WORKFLOW.to_owned(), json!({ "active": false }));
    }
    let held = run.held().map_or_else(String::new, |reason| format!("\n\n{}", text::held(reason)));
    let Some(active) = run.shown() else {
        return (format!("{UNAVAILABLE}{held}"), json!({ "active": false, "stale": true }));
    };
    let details = json!({
        "active": true,
        "workflowKey": active.state.workflow_key,
        "currentPath": active.state.current_path,
    });
    (format!("{}{held}", text::status(&active)), details)
}

/// The text and the details of the result of a call that would move a run whose rules do not hold. Where its files
/// cannot be read, the default text of the specification comes first.
fn told_held(action: Move, reason: &PauseReason, run: &Run) -> (String, Value) {
    let held = text::held(reason);
    let key = run.state().map_or("", |state| &state.workflow_key);
    match action {
        Move::Next if run.shown().is_none() => {
            let text = format!("Workflow definition '{key}' not found.\n\n{held}");
            (text, json!({ "active": false }))
        }
        Move::Loop if matches!(reason, PauseReason::FilesUnreadable { .. }) => {
            let error = LoopError::NotFound.to_string();
            let details = json!({ "active": true, "error": error });
            (format!("⚠️ {error}\n\n{held}"), details)
        }
        Move::Next | Move::Loop | Move::Cancel => (held, json!({ "active": true, "held": true })),
    }
}

/// The reason for a pause at an outcome that leads back when that is not possible. `left`: the run as it leaves the
/// phase.
pub(super) fn loops_reason(before: &Active, left: &RunState, outcome: &str, error: LoopError) -> PauseReason {
    let (of, outcome) = (before.phase.name.clone(), outcome.to_owned());
    if let LoopError::UsedUp { max } = error {
        return PauseReason::Way { of, outcome, times: max };
    }
    let back = way_back(left, &outcome, before.library);
    let scope = back.filter(|scope| *scope != left.current_path.scope_key());
    PauseReason::Loops { of, outcome, scope }
}

/// The outcome of a phase with this name; the case may differ if only one outcome is meant.
fn outcome_called<'a>(name: &str, phase: &'a Phase) -> Option<&'a Outcome> {
    let exact = phase.outcomes.iter().find(|outcome| outcome.name == name);
    exact.or_else(|| {
        let mut alike = phase.outcomes.iter().filter(|outcome| outcome.name.eq_ignore_ascii_case(name));
        alike.next().filter(|_| alike.next().is_none())
    })
}

/// The outputs that a call gives.
///
/// # Errors
///
/// The refusal, if the given outputs do not match the outputs of the phase.
fn outputs_of_call(active: &Active, given: &Value) -> Result<Outputs, String> {
    let (state, expected) = (active.state, active.outputs());
    let outputs = given_outputs(&expected, given)
        .and_then(|outputs| if state.has_room_for(&outputs) { Ok(outputs) } else { Err(vec![WrongOutput::TooLong]) });
    outputs.map_err(|wrong| text::outputs_wrong(active, &wrong))
}

pub(super) fn result(text: impl Into<String>, details: Value) -> Reply {
    Reply::Tool(ToolResult { text: text.into(), details })
}

fn gate_result(text: &str) -> Reply {
    result(text, json!({ "active": true, "gate": "open" }))
}
