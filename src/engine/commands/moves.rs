//! The controls that move, resume or cancel the run.

use crate::run::{
    Arrival, Evidence, Leaving, LoopError, PauseReason, RunState, advance, back, leave, skip_item, skip_to,
};
use crate::text;

use crate::engine::ask::UsersWord;
use crate::engine::briefing::not_done;
use crate::engine::briefing::state::{Moved, Mover};
use crate::engine::budget::Widened;
use crate::engine::context::{Cx, Ui};
use crate::engine::continuation::tell_pause;
use crate::engine::effect::{Effect, Level, Reply};
use crate::engine::ending::stop_behind_end;
use crate::engine::gate::state::{OpenGate, Requester};
use crate::engine::hold::held_notice;
use crate::engine::state::{Engine, Run, Session};

/// Notice that the files of a run do not give its phase.
const UNAVAILABLE: &str = "The workflow's files are no longer available.";

impl Engine {
    /// Goes on after a pause, or where the run waits for the user. `more` is added to a budget that is used up, if the
    /// user confirms the amount.
    pub(in crate::engine) fn resume_by_user(&mut self, more: &str, was_at_rest: bool, cx: &mut Cx) -> Reply {
        match self.run.held() {
            Some(_) => self.resume_held(more, cx),
            None => self.resume_with(more, None, was_at_rest, cx),
        }
    }

    /// Goes on with a run whose rules hold. A gate that waits for the consent to its commands is checked again at once, unless
    /// the phase has outcomes. `word`: the user has confirmed that the budget gets `more`.
    pub(in crate::engine) fn resume_with(
        &mut self,
        more: &str,
        word: Option<UsersWord>,
        was_at_rest: bool,
        cx: &mut Cx,
    ) -> Reply {
        match self.widen_budgets(more, word, was_at_rest, cx) {
            Widened::Yes => {}
            Widened::No => return Reply::None,
            Widened::Asked(reply) => return reply,
        }
        // In a phase with outcomes, the agent names the outcome again.
        let gate_waits = self.run.active().is_some_and(|active| active.phase.outcomes.is_empty())
            && matches!(self.run.pause_reason(), Some(PauseReason::Commands { .. }));
        let was_paused = self.resume(cx);
        if gate_waits && !self.pending.has_gate() && OpenGate::ahead(&self.run, Requester::User, None).is_some() {
            return self.next_by_user("", cx);
        }
        if !was_paused && !was_at_rest {
            cx.notify(Level::Info, "The workflow is not paused.");
        } else if !self.agent.has_begun()
            && let Some(reminder) = not_done(&self.run, &self.agent)
        {
            cx.prompt(reminder);
        }
        Reply::None
    }

    /// Moves the run on, if its gate is passed: to the target of this outcome, or without an outcome to the next phase.
    pub(super) fn next_by_user(&mut self, outcome: &str, cx: &mut Cx) -> Reply {
        if self.pending.has_gate() {
            cx.notify(
                Level::Info,
                match self.children.count() {
                    0 => "The gate of this phase is being checked.",
                    _ => "Its branches are being worked on; /workflow :skip goes on without them.",
                },
            );
            return Reply::None;
        }
        if let Some(active) = self.run.active().filter(|_| !outcome.is_empty()) {
            let refusal = match active.question() {
                _ if active.phase.outcomes.iter().all(|other| other.name != outcome) => {
                    Some(text::unknown_outcome(active.phase, outcome))
                }
                Some(question) if !active.offers(outcome) => text::bad_answer(&question, outcome, ""),
                Some(_) | None => None,
            };
            if let Some(refusal) = refusal {
                cx.fail(Level::Warning, refusal);
                return Reply::None;
            }
        }
        let outcome = Some(outcome).filter(|outcome| !outcome.is_empty());
        match OpenGate::ahead(&self.run, Requester::User, outcome.map(Into::into)) {
            Some(gate) => self.begin_gate(gate, cx),
            None => self.advance_by_user(outcome, Vec::new(), cx),
        }
    }

    /// Moves the run to the target of this outcome, or without an outcome to the next phase, its gate passed with this
    /// evidence.
    pub(in crate::engine) fn advance_by_user(
        &mut self,
        outcome: Option<&str>,
        evidence: Vec<Evidence>,
        cx: &mut Cx,
    ) -> Reply {
        let Some(active) = self.run.active() else {
            cx.fail(Level::Warning, unavailable(&self.run, &self.session, cx.ui));
            return Reply::None;
        };
        match leave(&active.state.with_evidence(evidence), outcome, active.library) {
            Ok((new, arrival)) => self.move_by_user(new, arrival, Leaving::Done, cx),
            Err(LoopError::Exhausted) => cx.fail(Level::Warning, text::no_more_loops()),
            Err(LoopError::UsedUp { max }) => {
                let notice = text::used_up(active.phase, outcome.unwrap_or_default(), max);
                cx.fail(Level::Warning, notice);
            }
            Err(error @ (LoopError::Disabled | LoopError::PassedOver | LoopError::NotFound)) => {
                cx.fail(Level::Warning, error.to_string());
            }
        }
        Reply::None
    }

    /// Skips the phase, or all entries up to the phase with this id in the same workflow, whatever their conditions.
    /// The evidence of earlier attempts stays.
    pub(super) fn skip_by_user(&mut self, id: &str, cx: &mut Cx) {
        let Some(active) = self.run.active() else {
            cx.fail(Level::Warning, unavailable(&self.run, &self.session, cx.ui));
            return;
        };
        if id.is_empty() {
            let skipped = skip_item(active.state, active.library);
            let (new, arrival) = skipped.unwrap_or_else(|| advance(active.state, active.library));
            return self.move_by_user(new, arrival, Leaving::Skipped, cx);
        }
        let index = active.scope.position(id);
        let moved = index.and_then(|index| skip_to(active.state, index, active.library));
        let Some((new, arrival)) = moved else {
            cx.fail(Level::Warning, text::unknown_phase(active.scope, id));
            return;
        };
        self.move_by_user(new, arrival, Leaving::Skipped, cx);
    }

    pub(super) fn back_by_user(&mut self, cx: &mut Cx) {
        let Some(active) = self.run.active() else {
            cx.fail(Level::Warning, unavailable(&self.run, &self.session, cx.ui));
            return;
        };
        match back(active.state, active.library) {
            Some(new) => self.move_by_user(new, Arrival::Phase, Leaving::Again, cx),
            None => cx.notify(Level::Info, "This is the first phase."),
        }
    }

    /// Moves the run for the user, and tells the agent: at once if the agent works, by a prompt if the agent is at
    /// rest, with the next context prompt if the run is paused.
    fn move_by_user(&mut self, new: RunState, arrival: Arrival, leaving: Leaving, cx: &mut Cx) {
        let way = match leaving {
            Leaving::Done | Leaving::OverBudget => "on",
            Leaving::Skipped => "on, and skipped a phase",
            Leaving::Again => "back",
        };
        let by = format!("The user moved the workflow {way}");
        let Some(moved) = self.move_run(new, (arrival, leaving), &by, cx) else { return };
        let paused = self.run.pause_reason().is_some();
        // Elsewhere the transcript shows the message, or the end of the run.
        if !cx.ui.exists() || paused && arrival == Arrival::Phase {
            cx.notify(Level::Info, moved.from_to.clone());
        }
        if self.run.pause_reason().is_some_and(PauseReason::needs_resume) {
            tell_pause(&self.run, cx);
        }
        self.tell_move(moved, Mover::User, cx);
    }

    /// Moves the run; `by` names the mover. `None` without a run.
    pub(in crate::engine) fn move_run(
        &mut self,
        new: RunState,
        (arrival, leaving): (Arrival, Leaving),
        by: &str,
        cx: &mut Cx,
    ) -> Option<Moved> {
        let active = self.run.active()?;
        let from = text::phase_title(active.phase);
        let from_path = active.state.current_path.clone();
        let new = new.moved_from(active.state, leaving, cx.unix_ms);
        // pi does not deliver a waiting message after a stop of the calls: behind an end the calls may run to their own
        // end.
        let keeps_calls = !new.is_running() && cx.has_waiting_message();
        let stopped = !keeps_calls && self.agent.stop_running_calls(cx);
        self.pending.withdraw_gates(cx);
        self.agent.cancel_asked = false;
        let is_stopped = new.is_stopped();
        self.transition(new, cx);
        self.follow_budget(cx);
        self.pause_without_output(&from_path, cx);
        let to = self.run.active().map(|active| text::phase_title(active.phase));
        let to = to.as_deref().unwrap_or(if is_stopped { "stopped" } else { "DONE" });
        let from_to = format!("{from} → {to}");
        Some(Moved { told: format!("{by}: {from_to}."), from_to, arrival, stopped })
    }

    /// Lets the agent know of a move.
    pub(in crate::engine) fn tell_move(&mut self, moved: Moved, mover: Mover, cx: &mut Cx) {
        let Moved { told, arrival, stopped, .. } = moved;
        let paused = self.run.pause_reason().is_some();
        match (arrival, self.agent.activity.is_working()) {
            (Arrival::Done, true) if stopped => self.agent.prompt_at_rest = None,
            (Arrival::Done, true) if mover == Mover::User => stop_behind_end(cx),
            // The refusal of the call tells the agent of the end.
            (Arrival::Done, true) => {}
            (Arrival::Done, false) => self.announce_end(cx),
            // Replaces the prompt of an earlier move.
            (Arrival::Phase, true) if stopped => self.agent.prompt_at_rest = Some(told),
            // Told with the next context prompt.
            (Arrival::Phase, true) if paused && self.agent.ending.is_begun() => self.briefing.note(told),
            (Arrival::Phase, true) => {
                self.briefing.moved(mover);
                let prompt = self.briefing.give_prompt(&self.run);
                cx.push(Effect::Steer(format!("{told}\n\n{prompt}")));
            }
            (Arrival::Phase, false) if paused => self.briefing.note(told),
            (Arrival::Phase, false) => self.briefing.tell_or_prompt(told, &self.agent, cx),
        }
    }

    /// Cancels the run at once, and stops an agent that is at work.
    pub(super) fn cancel_by_user(&mut self, cx: &mut Cx) {
        let Some(state) = self.run.running().map(RunState::cancelled) else {
            cx.notify(Level::Info, "No active workflow to cancel.");
            return;
        };
        let stopped = !cx.has_waiting_message() && self.agent.stop_running_calls(cx);
        self.pending.withdraw_gates(cx);
        let all = self.meter.up_to_now(&self.run, &self.agent, cx).unwrap_or_else(|| state.clone());
        let content = text::command_cancelled_message(&all);
        self.show_end(&state, content, cx);
        self.agent.prompt_at_rest = None;
        // A prompt of the next run waits until the agent is at rest.
        self.agent.is_stopping |= self.agent.is_starting;
        if self.agent.has_begun() && !stopped {
            stop_behind_end(cx);
        }
        // The transcript of a terminal shows the end.
        if !cx.ui.is_terminal() {
            cx.notify(Level::Info, "Workflow cancelled.");
        }
    }
}

/// The notice of a control that needs a phase, when no phase is available.
pub(super) fn unavailable(run: &Run, session: &Session, ui: Ui) -> String {
    match run.held() {
        Some(PauseReason::Broken(_)) => held_notice(run, session, ui),
        Some(_) | None => UNAVAILABLE.to_owned(),
    }
}
