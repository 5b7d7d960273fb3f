//! The end of a gate's checks: the run moves on, stays or pauses.

use serde_json::json;

use crate::definition::CheckKind;
use crate::run::{PauseReason, RunState};
use crate::text;

use crate::engine::context::Cx;
use crate::engine::effect::{Effect, Level, Reply};
use crate::engine::entries::state::Passage;
use crate::engine::gate::state::{Caller, OpenGate, Requester};
use crate::engine::state::{Engine, Waiter};
use crate::engine::step_tool::{RUN_ENDED, handing_over, result};

/// The end of the checks.
pub(super) enum Outcome {
    Passed,
    /// The last check failed.
    Failed,
    /// The checks ended without a result; the text is for the agent or the user who asked to leave the phase.
    Interrupted(String),
    /// The run waits for the user.
    Paused(PauseReason),
}

/// The answer to the agent or the user who asked to leave a phase, where the run does not move on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// A check failed, and the run stays.
    Failed,
    /// The user, who wants to leave the phase, said no to an approval.
    Declined,
    /// The checks were stopped.
    Interrupted,
    /// The run has left the phase, or ended, while the checks were made.
    Overtaken,
    Paused,
}

impl Verdict {
    /// Its name in the details of the tool's result.
    fn name(self) -> &'static str {
        match self {
            Self::Failed | Self::Declined => "failed",
            Self::Interrupted => "interrupted",
            Self::Overtaken => "overtaken",
            Self::Paused => "paused",
        }
    }
}

impl Engine {
    pub(super) fn close_gate(&mut self, gate: OpenGate, outcome: Outcome, cx: &mut Cx) -> Reply {
        self.turn.gate_checked |= gate.requester().caller().is_some();
        self.meter.gate_tried(matches!(outcome, Outcome::Failed));
        match outcome {
            Outcome::Passed => {
                let library = self.definitions.library();
                if gate.is_at_end() {
                    self.run.amend(library, |state| gate.with_changes(&state));
                }
                let (evidence, outcome) = (gate.kept_evidence(), gate.outcome());
                match gate.requester() {
                    Requester::Agent(caller) => self.advance_by_agent(caller, outcome, evidence, cx),
                    Requester::User => {
                        self.advance_by_user(outcome, evidence, cx);
                        Reply::None
                    }
                    Requester::Entry(passage) => self.leave_entry(passage.clone(), outcome, evidence, cx),
                }
            }
            Outcome::Failed => self.gate_failed(&gate, cx),
            // No agent can try again to leave an entry without the model.
            Outcome::Interrupted(why) if gate.is_of_entry() => {
                let of = self.active().map_or_else(String::new, |active| active.phase.name.clone());
                self.pause_at_gate(&gate, PauseReason::Step { of, why }, cx)
            }
            Outcome::Interrupted(text) => {
                let hands_over = |caller: &Caller| caller.summary.is_some() || caller.outputs.is_some();
                if gate.requester().caller().is_some_and(hands_over)
                    && let Some(state) = self.handed_over(&gate)
                {
                    self.transition(state, cx);
                }
                self.answer_requester(gate.requester(), text, Verdict::Interrupted, cx)
            }
            Outcome::Paused(reason) => self.pause_at_gate(&gate, reason, cx),
        }
    }

    /// The run with the values that the agent hands over: a failed attempt does not lose these values.
    fn handed_over(&self, gate: &OpenGate) -> Option<RunState> {
        Some(handing_over(&self.shown()?, gate.requester().caller()))
    }

    /// The rules of the run do not hold any more: its phase is not left, whatever the result of the checks.
    pub(super) fn gate_held(&mut self, gate: &OpenGate, reason: &PauseReason, cx: &mut Cx) -> Reply {
        self.turn.gate_checked |= gate.requester().caller().is_some();
        let state = self.handed_over(gate).or_else(|| self.running().cloned());
        if let Some(state) = state {
            self.transition(state.with_evidence(gate.kept_evidence()), cx);
        }
        self.end_agents_run();
        self.answer_requester(gate.requester(), text::held(reason), Verdict::Paused, cx)
    }

    /// The run waits for the user before its phase is left.
    fn pause_at_gate(&mut self, gate: &OpenGate, reason: PauseReason, cx: &mut Cx) -> Reply {
        let text = format!(
            "✗ The gate is not passed yet, and the workflow is paused: {reason}. Stop here and wait for the user."
        );
        if let Some(mut state) = self.handed_over(gate) {
            if !gate.evidence().is_empty() {
                state = state.with_evidence(gate.kept_evidence());
            }
            self.pause_as(&state, reason, cx);
        }
        self.answer_requester(gate.requester(), text, Verdict::Paused, cx)
    }

    /// Counts the failure, and keeps its evidence. The run stays, and pauses after the last attempt.
    fn gate_failed(&mut self, gate: &OpenGate, cx: &mut Cx) -> Reply {
        let (Some(before), Some((check, failed, last))) = (self.handed_over(gate), gate.last()) else {
            return Reply::None;
        };
        let (new, times) = before.with_evidence(gate.kept_evidence()).gate_failed(&failed.key);
        let library = self.definitions.library();
        let attempts = before.gate_attempts(&failed.gate, failed.depth, library);
        let left = attempts.saturating_sub(times);
        let mut text = text::gate_failed(&failed.of, last, left);
        if left == 0 || gate.is_of_entry() {
            let reason = PauseReason::Gate { label: last.label.clone(), times };
            text.push_str(&format!("\n\nThe workflow is paused: {reason}. Stop here and wait for the user."));
            self.pause_as(&new, reason, cx);
            return self.answer_requester(gate.requester(), text, Verdict::Paused, cx);
        }
        self.transition(new, cx);
        text.push_str("\n\nFix that, then call workflow_step with action='next' again.");
        let declined = *gate.requester() == Requester::User && matches!(check.kind, CheckKind::Approve { .. });
        let verdict = if declined { Verdict::Declined } else { Verdict::Failed };
        self.answer_requester(gate.requester(), text, verdict, cx)
    }

    /// Tells the result to the agent or the user who wanted to leave the phase. A failure that the user learned by
    /// `/workflow :next` is told to the agent too: the agent has to fix it.
    fn answer_requester(&mut self, requester: &Requester, text: String, verdict: Verdict, cx: &mut Cx) -> Reply {
        match requester {
            Requester::Agent(_) => {
                return result(text, json!({ "active": true, "gate": verdict.name() }));
            }
            Requester::Entry(passage) => return self.after_gate_of_entry(passage.clone(), text, cx),
            Requester::User => {}
        }
        let tells_agent = match verdict {
            Verdict::Failed | Verdict::Declined => true,
            Verdict::Interrupted | Verdict::Overtaken | Verdict::Paused => false,
        };
        if tells_agent && !self.activity.is_working() && self.pause_reason().is_none() {
            self.tell_or_prompt(text, cx);
            return Reply::None;
        }
        let steers = tells_agent && self.activity.is_working();
        let notice = text.lines().next().unwrap_or_default();
        match verdict {
            // A pause has its own notice, or the last line of the process; a user who said no needs none.
            Verdict::Paused | Verdict::Declined => {}
            // The agent at work goes on with the failure: the command has not failed.
            Verdict::Failed if steers => cx.notify(Level::Warning, notice),
            Verdict::Failed | Verdict::Interrupted | Verdict::Overtaken => {
                cx.fail(Level::Warning, notice);
            }
        }
        if steers {
            cx.push(Effect::Steer(text));
        }
        Reply::None
    }

    /// The run is no longer where the gate was opened.
    pub(super) fn gate_overtaken(&mut self, gate: &OpenGate, cx: &mut Cx) -> Reply {
        if *gate.requester() == Requester::User {
            return Reply::None;
        }
        let text = match self.active() {
            Some(active) if gate.stand.is_at(active.state) => {
                text::paused(&active).unwrap_or_else(|| "The user stopped the checks of the gate.".to_owned())
            }
            Some(active) => text::outdated(&active),
            None => RUN_ENDED.to_owned(),
        };
        match gate.requester() {
            // The user's command gets no answer about a place that the run has left.
            Requester::Entry(Passage { waiter: Waiter::User, .. }) => Reply::None,
            Requester::Entry(_) => result(text, json!({ "active": true, "gate": Verdict::Overtaken.name() })),
            requester => self.answer_requester(requester, text, Verdict::Overtaken, cx),
        }
    }
}
