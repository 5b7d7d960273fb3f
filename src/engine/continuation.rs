//! An agent that stopped before DONE: it continues, or the run pauses for the user.

use crate::definition::{AutoContinue, Stale};
use crate::run::{Arrival, PauseReason, RunState};
use crate::text;

use super::briefing::state::Mover;
use super::context::Cx;
use super::effect::{Effect, Level, Reply};
use super::event::Stop;
use super::moved::Moved;
use super::state::{Engine, Origin};
use super::tools::lacks_step_tool;

/// The continuation after the agent has stopped.
enum Decision {
    Continue(AutoContinue),
    Pause(PauseReason),
    /// The phase is a conversation: the user's message is next.
    Converse,
    /// The run is paused or held, a request is pending, or the workflow does not continue automatically.
    Wait,
}

impl Engine {
    /// Returns true if the agent continues after a countdown, in which the user can interrupt it. A branch has no
    /// countdown: nobody watches it.
    fn counts_down(&self, cx: &Cx) -> bool {
        let is_branch = |state: &RunState| state.progress.branch.is_some();
        cx.ui.exists() && !self.running().is_some_and(is_branch)
    }

    /// Without a countdown the agent continues before it is at rest.
    pub(super) fn before_settle(&mut self, cx: &mut Cx) -> Result<Reply, Stale> {
        if self.counts_down(cx) || !self.agent.last_stop.is_of_agent() {
            return Ok(Reply::None);
        }
        self.cancel_nested_calls(cx);
        if let Some(moved) = self.leave_over_budget(cx) {
            return self.go_on_over_budget(moved, cx);
        }
        let reply = match self.decide_and_count(cx) {
            Decision::Continue(_) => {
                self.keep_step_tool(cx)?;
                let reply = match self.start_fresh(cx)? {
                    Some(reply) => Some(reply),
                    None => self.give_not_done_in_run().map(Reply::Continue),
                };
                self.continued(Origin::Own);
                reply
            }
            Decision::Pause(reason) => {
                self.pause(reason, cx);
                None
            }
            Decision::Converse => {
                self.pause(PauseReason::Conversation, cx);
                None
            }
            Decision::Wait => None,
        };
        Ok(reply.unwrap_or_default())
    }

    /// The agent, which has stopped in a phase that has used up its budget, goes on with the next phase.
    fn go_on_over_budget(&mut self, moved: Moved, cx: &mut Cx) -> Result<Reply, Stale> {
        if moved.arrival == Arrival::Done {
            self.announce_end(cx);
            return Ok(Reply::None);
        }
        if self.pause_reason().is_some() {
            return Ok(Reply::None);
        }
        if let Some(reply) = self.start_fresh(cx)? {
            return Ok(reply);
        }
        let prompt = self.give_prompt();
        Ok(Reply::Continue(format!("{}\n\n{prompt}", moved.told)))
    }

    /// The agent is at rest. With a user interface it continues after a countdown.
    ///
    /// Specification: hook lifecycle, "Case B".
    pub(super) fn agent_settled(&mut self, cx: &mut Cx) {
        self.activity.end_work();
        self.agent.is_starting = false;
        self.ending.follow_stop(self.agent.last_stop, cx);
        self.ending.prompted();
        self.cancel_nested_calls(cx);
        self.agent.is_stopping = false;
        // The end of a run that the user ended after the agent had stopped.
        self.announce_end(cx);
        let prompt = self.agent.prompt_at_rest.take();
        if self.active().is_none() || self.pause_reason().is_some() || self.at_entry().is_some() {
            if let Some(prompt) = prompt {
                self.briefing.note(prompt);
            }
            return;
        }
        if let Some(prompt) = prompt {
            return cx.prompt(prompt);
        }
        if self.agent.last_stop.is_of_agent()
            && self.counts_down(cx)
            && let Some(moved) = self.leave_over_budget(cx)
        {
            return self.tell_move(moved, Mover::Budget, cx);
        }
        match self.agent.last_stop {
            Stop::Aborted => self.pause(PauseReason::Aborted, cx),
            Stop::Failed => self.pause(PauseReason::ModelError, cx),
            Stop::Completed | Stop::CutOff if self.counts_down(cx) => match self.decide_and_count(cx) {
                Decision::Continue(bounds) => self.activity.start_countdown(bounds.delay_seconds, cx),
                Decision::Pause(reason) => self.pause(reason, cx),
                Decision::Converse => self.wait_for_user(cx),
                Decision::Wait if self.pending.is_empty() => self.wait_for_user(cx),
                Decision::Wait => {}
            },
            Stop::Completed | Stop::CutOff => {}
        }
    }

    /// Cancels the pending requests of nested calls of `workflow_step`: the agent has stopped, so the tool that made
    /// the calls has ended, and their results are not read.
    fn cancel_nested_calls(&mut self, cx: &mut Cx) {
        let tickets = self.pending.drop_nested_calls();
        for ticket in &tickets {
            self.meter.end_dialog(*ticket, cx.unix_ms);
        }
        cx.effects.extend(tickets.into_iter().map(|ticket| Effect::CancelRequest { ticket }));
    }

    /// Decides how the run goes on, and counts a continuation in which the agent did nothing.
    fn decide_and_count(&mut self, cx: &mut Cx) -> Decision {
        let idle = self.idle();
        let decision = self.decide(idle, cx);
        match decision {
            Decision::Continue(_) | Decision::Pause(_) => self.amend(|progress| progress.idle = idle),
            Decision::Converse | Decision::Wait => {}
        }
        decision
    }

    /// The number of continuations in a row, up to now, in which the agent did nothing.
    /// [`Repetition`](super::state::Repetition) counts the answers that were cut off instead.
    fn idle(&self) -> u32 {
        let counted = self.running().map_or(0, |state| state.progress.idle);
        let continued = self.agent.origin != Origin::Other;
        match self.agent.last_stop {
            _ if self.agent.worked || !continued => 0,
            Stop::CutOff => counted,
            Stop::Completed | Stop::Aborted | Stop::Failed => counted.saturating_add(1),
        }
    }

    fn decide(&self, idle: u32, cx: &mut Cx) -> Decision {
        let Some(active) = self.active() else { return Decision::Wait };
        let progress = &active.state.progress;
        if progress.paused.is_some() || !self.pending.is_empty() {
            return Decision::Wait;
        }
        if let Some(reason) = self.budget_used_up(cx) {
            return Decision::Pause(reason);
        }
        if active.phase.interactive {
            return Decision::Converse;
        }
        match lacks_step_tool(cx.host) {
            Ok(false) => {}
            Ok(true) => return Decision::Wait,
            Err(Stale) => {
                cx.gone = true;
                return Decision::Wait;
            }
        }
        let Some(bounds) = active.root.auto_continue else { return Decision::Wait };
        if self.repetition.cut_off() > bounds.max_idle {
            Decision::Pause(PauseReason::CutOff { times: self.repetition.cut_off() })
        } else if idle >= bounds.max_idle {
            Decision::Pause(PauseReason::Idle { times: idle })
        } else if progress.continuations >= bounds.max_per_phase {
            Decision::Pause(PauseReason::Limit { times: progress.continuations })
        } else {
            Decision::Continue(bounds)
        }
    }

    /// The agent is told to continue.
    pub(super) fn continued(&mut self, origin: Origin) {
        self.agent.origin = origin;
        self.agent.worked = false;
        self.amend(|progress| progress.continuations = progress.continuations.saturating_add(1));
    }

    /// Pauses the run in progress.
    pub(super) fn pause(&mut self, reason: PauseReason, cx: &mut Cx) {
        match self.running().cloned() {
            Some(state) => self.pause_as(&state, reason, cx),
            None => self.activity.stop(cx),
        }
    }

    /// Pauses the run in this state: the pause is stored, shown and told once. Without a user interface the last line
    /// of the process tells the pause.
    pub(super) fn pause_as(&mut self, state: &RunState, reason: PauseReason, cx: &mut Cx) {
        self.activity.stop(cx);
        self.transition(state.paused(reason, cx.unix_ms), cx);
        self.end_agents_run();
        self.tell_pause(cx);
    }

    /// Tells the user that the run is paused, and how to resume it. The pause of a branch is told by the run that
    /// contains the branch.
    pub(super) fn tell_pause(&self, cx: &mut Cx) {
        let active = self.active().filter(|active| active.state.progress.branch.is_none());
        let notice = active.and_then(|active| text::pause_notice(&active));
        if let Some(notice) = notice.filter(|_| cx.ui.exists()) {
            cx.notify(Level::Warning, notice);
        }
    }

    /// Returns true if a message of the user does not resume the run. The user is told so with the first message in
    /// each pause: the agent answers the message as if the run went on.
    pub(super) fn tell_needs_resume(&mut self, cx: &mut Cx) -> bool {
        if let Some(reason) = self.held() {
            let notice = self.held_notice(&reason, cx.ui);
            // A hold that begins with the message is told together with the message.
            let told = self.run.told_hold.as_mut().filter(|told| told.reason == reason);
            if told.is_some_and(|told| !std::mem::replace(&mut told.with_message, true)) {
                let effect = Effect::Notify { level: Level::Warning, text: notice };
                if !cx.effects.contains(&effect) {
                    cx.push(effect);
                }
            }
            return true;
        }
        let paused = self.running().and_then(|state| state.progress.paused.clone());
        let is_at_entry = self.at_entry().is_some();
        let Some(pause) = paused.filter(|pause| is_at_entry || pause.reason.needs_resume()) else {
            return is_at_entry;
        };
        if self.run.told_pause.as_ref() != Some(&pause)
            && let Some(notice) = self.active().and_then(|active| text::pause_notice(&active))
        {
            cx.notify(Level::Warning, notice);
            self.run.told_pause = Some(pause);
        }
        true
    }

    /// Ends the pause of the run in progress; returns false if it is not paused.
    pub(super) fn resume(&mut self, cx: &mut Cx) -> bool {
        let paused = self.running().filter(|state| state.progress.paused.is_some());
        let Some(new) = paused.map(RunState::resumed) else { return false };
        self.repetition.forget();
        self.transition(new, cx);
        true
    }
}
