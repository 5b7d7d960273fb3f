//! The end of a gate's checks: the run moves on, stays or pauses.

use serde_json::json;

use crate::run::PauseReason;
use crate::text;

use super::checks::Outcome;
use super::state::{OpenGate, Requester, StepCall};
use crate::engine::context::Cx;
use crate::engine::effect::{Effect, Level, Reply};
use crate::engine::state::Engine;
use crate::engine::step_tool::result;

/// The answer to the agent or the user who asked to leave a phase, where the run does not move on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// A check failed, and the run stays.
    Failed,
    /// The checks were stopped.
    Interrupted,
    Paused,
}

impl Verdict {
    /// Its name in the details of the tool's result.
    fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Paused => "paused",
        }
    }
}

impl Engine {
    pub(super) fn close_gate(&mut self, gate: OpenGate, outcome: Outcome, cx: &mut Cx) -> Reply {
        self.turn.gate_checked |= gate.requester().call().is_some();
        self.meter.gate_tried(matches!(outcome, Outcome::Failed));
        match outcome {
            Outcome::Passed => {
                let (evidence, outcome) = (gate.kept_evidence(), gate.outcome());
                match gate.requester() {
                    Requester::Agent(call) => self.advance_by_agent(call, outcome, evidence, cx),
                    Requester::User => self.advance_by_user(outcome, evidence, cx),
                }
            }
            Outcome::Failed => self.gate_failed(&gate, cx),
            Outcome::Interrupted(text) => {
                let hands_over = |call: &StepCall| call.summary.is_some() || call.outputs.is_some();
                if gate.requester().call().is_some_and(hands_over)
                    && let Some(state) = gate.handed_over(&self.run)
                {
                    self.transition(state, cx);
                }
                self.answer_requester(gate.requester(), text, Verdict::Interrupted, cx)
            }
            Outcome::Paused(reason) => self.pause_at_gate(&gate, reason, cx),
        }
    }

    /// The rules of the run do not hold any more: its phase is not left, whatever the result of the checks.
    pub(in crate::engine) fn gate_held(&mut self, gate: &OpenGate, reason: &PauseReason, cx: &mut Cx) -> Reply {
        self.turn.gate_checked |= gate.requester().call().is_some();
        let state = gate.handed_over(&self.run).or_else(|| self.run.running().cloned());
        if let Some(state) = state {
            self.transition(state.with_evidence(gate.kept_evidence()), cx);
        }
        self.agent.end_run();
        self.answer_requester(gate.requester(), text::held(reason), Verdict::Paused, cx)
    }

    /// The run waits for the user's consent to the commands of the gate.
    fn pause_at_gate(&mut self, gate: &OpenGate, reason: PauseReason, cx: &mut Cx) -> Reply {
        let text = format!(
            "✗ The gate is not passed yet, and the workflow is paused: {reason}. Stop here and wait for the user."
        );
        if let Some(state) = gate.handed_over(&self.run) {
            self.pause_as(&state, reason, cx);
        }
        self.answer_requester(gate.requester(), text, Verdict::Paused, cx)
    }

    /// Counts the failure, and keeps its evidence. The run stays, and pauses after the last attempt.
    fn gate_failed(&mut self, gate: &OpenGate, cx: &mut Cx) -> Reply {
        let (Some(before), Some(last)) = (gate.handed_over(&self.run), gate.evidence().last()) else {
            return Reply::None;
        };
        let new = before.with_evidence(gate.kept_evidence()).gate_failed();
        let left = gate.attempts_left();
        let mut text = text::gate_failed(&gate.of, last, left);
        if left == 0 {
            let reason = PauseReason::Gate { name: last.name.clone(), times: last.attempt };
            text.push_str(&format!("\n\nThe workflow is paused: {reason}. Stop here and wait for the user."));
            self.pause_as(&new, reason, cx);
            return self.answer_requester(gate.requester(), text, Verdict::Paused, cx);
        }
        self.transition(new, cx);
        text.push_str("\n\nFix that, then call workflow_step with action='next' again.");
        self.answer_requester(gate.requester(), text, Verdict::Failed, cx)
    }

    /// Tells the result to the agent or the user who wanted to leave the phase. A failure that the user learned by
    /// `/workflow :next` is told to the agent too: the agent has to fix it.
    fn answer_requester(&mut self, requester: &Requester, text: String, verdict: Verdict, cx: &mut Cx) -> Reply {
        if requester.call().is_some() {
            return result(text, json!({ "active": true, "gate": verdict.name() }));
        }
        let notice = text.lines().next().unwrap_or_default();
        match verdict {
            // A pause has its own notice, or the last line of the process.
            Verdict::Paused => {}
            // The agent at work goes on with the failure: the command has not failed.
            Verdict::Failed if self.agent.activity.is_working() => {
                cx.notify(Level::Warning, notice);
                cx.push(Effect::Steer(text));
            }
            Verdict::Failed if self.run.pause_reason().is_none() => self.briefing.tell_or_prompt(text, &self.agent, cx),
            Verdict::Failed | Verdict::Interrupted => cx.fail(Level::Warning, notice),
        }
        Reply::None
    }
}
