//! The tool that the agent moves on with.

use serde_json::{Value, json};

use crate::definition::{WorkflowFiles, is_blank};
use crate::run::{
    Active, Arrival, Evidence, Leaving, LoopError, PauseReason, RunState, advance, restart,
};
use crate::text;

use super::commands::Question;
use super::gate::By;
use super::{Effect, Engine, Level, Moment, Mover, Output, Reply, Request, ToolResult, persist};

/// A tool as it is made known.
#[derive(Debug)]
pub struct StepTool {
    /// Its name.
    pub name: &'static str,
    /// Its name for users.
    pub label: &'static str,
    /// What it does, for the model.
    pub description: &'static str,
    /// One line for the system prompt.
    pub prompt_snippet: &'static str,
    /// Bullets for the system prompt.
    pub prompt_guidelines: [&'static str; 4],
}

/// `workflow_step`.
pub const STEP_TOOL: StepTool = StepTool {
    name: "workflow_step",
    label: "Workflow Step",
    description: "Show current workflow status, advance to the next phase, loop back to the start of the current scope, or cancel the active workflow. Use this to coordinate any configured workflow.",
    prompt_snippet: "Advance the active workflow to the next phase",
    prompt_guidelines: [
        "Use workflow_step with action='next' when you finish a phase and want to advance.",
        "Use workflow_step with action='status' to check current workflow state.",
        "Use workflow_step with action='cancel' to abort the current workflow.",
        "Use workflow_step with action='loop' to restart the current scope from the beginning.",
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
                }
            }
        })
    }
}

const NO_WORKFLOW: &str = "No active workflow. Use /workflow {name} {description} to start one.";

pub(super) const UNAVAILABLE: &str = "The workflow configuration for this session is no longer available. Use workflow_step with action='cancel' to clear it, or reload the workflow definitions.";

impl Engine {
    /// Runs one call of the tool.
    pub(super) fn step(
        &mut self,
        input: &str,
        nested: bool,
        at: Moment,
        files: &dyn WorkflowFiles,
    ) -> Output {
        let input: Value = serde_json::from_str(input).unwrap_or_default();
        let action = input.get("action").and_then(Value::as_str);
        let cancel_pending = std::mem::take(&mut self.cancel_pending);
        if let (Some(action @ ("next" | "loop" | "cancel")), Some(reason)) = (action, self.hold()) {
            return self.step_held(action, &reason);
        }
        match action {
            Some("next" | "loop" | "cancel") if self.is_running() && self.untold_move.is_some() => {
                self.step_outdated()
            }
            Some("status") => self.step_status(),
            Some("next" | "loop" | "cancel") if self.agent_waits() => {
                result(text::GATE_OPEN, json!({ "active": true, "gate": "open" }))
            }
            Some("next") => {
                let summary = summary(&input).map(str::to_owned);
                self.step_next(Caller { summary, nested }, at, files)
            }
            Some("loop") => self.step_loop(summary(&input), nested, at),
            Some("cancel") => self.step_cancel(cancel_pending, nested),
            _ => result(
                "Unknown action. Call workflow_step with action='next', 'status', 'loop' or 'cancel'.",
                json!({ "error": "unknown action" }),
            ),
        }
    }

    fn is_active(&self) -> bool {
        self.run.as_ref().is_some_and(|state| state.active)
    }

    fn step_status(&self) -> Output {
        if !self.is_active() {
            return result(NO_WORKFLOW, json!({ "active": false }));
        }
        let held = self.hold().map(|reason| format!("\n\n{}", text::held(&reason)));
        let held = held.unwrap_or_default();
        let Some(active) = self.shown() else {
            let details = json!({ "active": false, "stale": true });
            return result(format!("{UNAVAILABLE}{held}"), details);
        };
        let details = json!({
            "active": true,
            "workflowKey": active.state.workflow_key,
            "currentPath": active.state.current_path,
        });
        result(format!("{}{held}", text::status(&active)), details)
    }

    /// A call that would move a run whose rules do not hold. Where its files cannot be read, the words of the
    /// specification come first.
    pub(super) fn step_held(&self, action: &str, reason: &PauseReason) -> Output {
        let held = text::held(reason);
        let key = self.run.as_ref().map_or("", |state| &state.workflow_key);
        match action {
            "next" if self.shown().is_none() => {
                let text = format!("Workflow definition '{key}' not found.\n\n{held}");
                result(text, json!({ "active": false }))
            }
            "loop" if matches!(reason, PauseReason::FilesUnreadable { .. }) => {
                let error = LoopError::NotFound.to_string();
                let details = json!({ "active": true, "error": error });
                result(format!("⚠️ {error}\n\n{held}"), details)
            }
            _ => result(held, json!({ "active": true, "held": true })),
        }
    }

    /// The call refers to a phase that the run has already left, without the model's knowledge.
    fn step_outdated(&self) -> Output {
        let words = match self.untold_move {
            Some(Mover::NestedCall) => text::outdated_in_script,
            _ => text::outdated,
        };
        let text = self.active().map(|active| words(&active)).unwrap_or_default();
        result(text, json!({ "active": true, "moved": true }))
    }

    fn step_next(&mut self, caller: Caller, at: Moment, files: &dyn WorkflowFiles) -> Output {
        let Some(state) = self.run.as_ref().filter(|state| state.active) else {
            return result(NO_WORKFLOW, json!({ "active": false }));
        };
        let Some(before) = Active::resolve(state, &self.library) else {
            let text = format!("Workflow definition '{}' not found.", state.workflow_key);
            return result(text, json!({ "active": false }));
        };
        if before.phase.summary_required
            && caller.summary.is_none()
            && !before.state.has_handed_over()
        {
            let details = json!({ "active": true, "error": "summary required" });
            return result(text::summary_missing(&before), details);
        }
        let paused = before.state.progress.paused.as_ref();
        let waits_at_gate = paused.is_some_and(|pause| pause.reason.keeps_phase());
        let paused = text::paused(&before);
        let by = By::Agent(caller.clone());
        match (self.open_gate(by), paused) {
            (Some(_), _) if self.gate_is_open() => {
                result(text::GATE_OPEN, json!({ "active": true, "gate": "open" }))
            }
            (Some(_), _) if self.gate_had => {
                result(text::GATE_HAD, json!({ "active": true, "gate": "open" }))
            }
            (gate, Some(text)) if gate.is_some() || waits_at_gate => {
                result(text, json!({ "active": true, "gate": "paused" }))
            }
            (Some(gate), _) => self.begin_gate(gate, at, files),
            (None, _) => self.advance_by_agent(&caller, Vec::new(), at),
        }
    }

    /// Moves on, its gate passed with this evidence.
    pub(super) fn advance_by_agent(
        &mut self,
        caller: &Caller,
        evidence: Vec<Evidence>,
        at: Moment,
    ) -> Output {
        let Some(before) = self.active() else {
            return result(UNAVAILABLE, json!({ "active": false, "stale": true }));
        };
        let state = before.state;
        let left = handing_over(&before, caller.summary.as_deref()).with_evidence(evidence);
        let (new, arrival) = advance(&left, &self.library);
        let new = new.moved_from(state, Leaving::Done, at.unix_ms);
        let from = before.phase.name.clone();
        let (mut text, to) = match (arrival, Active::resolve(&new, &self.library)) {
            (Arrival::Phase, Some(after)) => {
                (text::advanced(&before, &after), after.phase.name.clone())
            }
            _ => (text::done(&before), "DONE".to_owned()),
        };
        let effects = vec![persist(&new)];
        self.run = Some(new);
        if arrival == Arrival::Phase {
            text.push_str(&self.prompt_in_result(caller.nested));
        }
        self.moved(effects, text, json!({ "advanced": true, "from": from, "to": to }))
    }

    fn step_loop(&mut self, summary: Option<&str>, nested: bool, at: Moment) -> Output {
        let Some(state) = self.run.as_ref().filter(|state| state.active) else {
            return result("No active workflow to loop.", json!({ "active": false }));
        };
        let of_gate =
            state.progress.paused.as_ref().is_some_and(|pause| pause.reason.keeps_phase());
        if of_gate && let Some(active) = self.active() {
            let text = text::paused(&active).unwrap_or_default();
            return result(text, json!({ "active": true, "gate": "paused" }));
        }
        let left = match Active::resolve(state, &self.library) {
            Some(before) => handing_over(&before, summary),
            None => state.clone(),
        };
        let new = match restart(&left, &self.library) {
            Ok(new) => new,
            Err(error) => {
                let details = json!({ "active": true, "error": error.to_string() });
                let refused = result(format!("⚠️ {error}"), details);
                return match error {
                    LoopError::Exhausted { .. } => {
                        let text = format!("The agent wants to loop again. {error}");
                        let effects = vec![Effect::Notify { level: Level::Warning, text }];
                        Output { effects, ..refused }
                    }
                    LoopError::Disabled | LoopError::NotFound => refused,
                };
            }
        };
        let new = new.moved_from(state, Leaving::Again, at.unix_ms);
        let Some(after) = Active::resolve(&new, &self.library) else {
            return result(UNAVAILABLE, json!({ "active": false, "stale": true }));
        };
        let scope =
            state.current_path.last().and_then(|scope| self.library.get(&scope.workflow_key));
        let to = scope.and_then(|scope| scope.phases.first());
        let to = to.map_or("", |entry| self.library.entry_name(entry));
        let mut text = text::looped(scope.map_or("", |scope| &scope.name), &after);
        let details = json!({ "looped": true, "to": to });
        let effects = vec![persist(&new)];
        self.run = Some(new);
        text.push_str(&self.prompt_in_result(nested));
        self.moved(effects, text, details)
    }

    /// Specification: state management, "Two-Step Cancellation".
    fn step_cancel(&mut self, confirmed: bool, nested: bool) -> Output {
        let Some(state) = self.run.as_ref().filter(|state| state.active) else {
            return result("No active workflow to cancel.", json!({ "active": false }));
        };
        let task = text::short_task(state);
        if !confirmed {
            let text = format!(
                "⚠️ **Confirm cancellation** of workflow \"{task}\"?\nCall workflow_step with action='cancel' again to confirm. This cannot be undone."
            );
            self.cancel_pending = true;
            return result(text, json!({ "active": true, "cancelPending": true }));
        }
        let question = Question::Cancel { nested, task_id: state.task_id.clone() };
        if self.terminal {
            let workflow = text::run_name(state, &self.library);
            let title = text::cancel_question(&workflow, &state.task_description);
            let options = ["No, go on", "Yes, cancel it"].map(Into::into).into();
            return self.ask(question, Request::Select { title, options });
        }
        let task = text::in_question(&state.task_description);
        let message = format!("{task}\n\nThe agent wants to cancel this workflow. Cancel it?");
        let title = "Cancel the workflow?".to_owned();
        self.ask(question, Request::Confirm { title, message })
    }

    /// The run is cancelled, as the agent wanted.
    pub(super) fn step_cancelled(&mut self, at: Moment) -> Output {
        let Some(state) = self.run.as_ref().filter(|state| state.active) else {
            return result("No active workflow to cancel.", json!({ "active": false }));
        };
        let text = format!("Workflow cancelled: \"{}\"", state.task_description);
        let new = state.cancelled().moved_from(state, Leaving::Again, at.unix_ms);
        let effects = vec![persist(&new)];
        self.run = Some(new);
        self.moved(effects, text, json!({ "active": false, "cancelled": true }))
    }

    /// The user does not want the run to be cancelled.
    pub(super) fn step_cancel_declined(&self) -> Output {
        let text =
            "The user declined: the workflow is not cancelled. Continue with the current phase.";
        result(text, json!({ "active": true, "cancelled": false, "declined": true }))
    }

    fn moved(&mut self, mut effects: Vec<Effect>, text: String, details: Value) -> Output {
        self.agent.worked = true;
        effects.push(self.status());
        Output::from(effects).with(Reply::Tool(ToolResult { text, details }))
    }
}

/// A call of the tool that moves the run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Caller {
    /// Summary that the phase hands over.
    pub summary: Option<String>,
    /// Set if another tool made the call: the model does not see the result.
    pub nested: bool,
}

/// The summary among the arguments, if it says anything.
fn summary(input: &Value) -> Option<&str> {
    input.get("summary").and_then(Value::as_str).filter(|summary| !is_blank(summary))
}

/// The run, its phase having handed this over.
pub(super) fn handing_over(active: &Active, summary: Option<&str>) -> RunState {
    match summary {
        Some(summary) => active.state.with_summary(active.phase, summary),
        None => active.state.clone(),
    }
}

fn result(text: impl Into<String>, details: Value) -> Output {
    Output::reply(tool_reply(text, details))
}

/// The answer to a call whose run has ended while it waited.
pub(super) fn ended() -> Output {
    result(RUN_ENDED, json!({ "active": false }))
}

/// Result of a call whose run has ended while it waited.
pub(super) const RUN_ENDED: &str = "The workflow has ended meanwhile; this call had no effect.";

/// The tool's answer.
pub(super) fn tool_reply(text: impl Into<String>, details: Value) -> Reply {
    Reply::Tool(ToolResult { text: text.into(), details })
}
