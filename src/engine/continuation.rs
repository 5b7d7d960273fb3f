//! An agent that stopped before DONE: it continues, or the run pauses for the user.

use crate::definition::Stale;
use crate::run::{Arrival, PauseReason, RunState};
use crate::text;

use super::briefing::not_done;
use super::briefing::state::{Moved, Mover};
use super::budget::budget_used_up;
use super::context::Cx;
use super::effect::{Level, Reply};
use super::event::Stop;
use super::hold::held_notice;
use super::pace::Pace;
use super::quota::{self, limit::limit_met};
use super::state::{Agent, Engine, Origin, Run, Session};
use super::tools::{keep_step_tool, lacks_step_tool};

/// The continuation after the agent has stopped.
enum Decision {
    Continue,
    Pause(PauseReason),
    /// The phase is a conversation: the user's message is next.
    Converse,
    /// The run is paused or held, a request is pending, or the workflow does not continue automatically.
    Wait,
}

impl Engine {
    /// Without a countdown the agent continues before it is at rest.
    pub(super) fn before_settle(&mut self, cx: &mut Cx) -> Result<Reply, Stale> {
        if Agent::counts_down(&self.run, cx) || !self.agent.last_stop.is_of_agent() {
            return Ok(Reply::None);
        }
        self.pending.cancel_nested_calls(&mut self.meter, cx);
        if let Some(moved) = self.leave_over_budget(cx) {
            return self.go_on_over_budget(moved, cx);
        }
        let reply = match self.decide_and_count(cx) {
            Decision::Continue => {
                keep_step_tool(&mut self.run, &mut self.session, cx)?;
                let reply = match self.start_fresh(cx)? {
                    Some(reply) => Some(reply),
                    None => self.briefing.give_not_done_in_run(&self.run, &self.agent).map(Reply::Continue),
                };
                self.agent.continued(Origin::Own, &mut self.run);
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
        if self.run.pause_reason().is_some() {
            return Ok(Reply::None);
        }
        if let Some(reply) = self.start_fresh(cx)? {
            return Ok(reply);
        }
        let prompt = self.briefing.give_prompt(&self.run);
        Ok(Reply::Continue(format!("{}\n\n{prompt}", moved.told)))
    }

    /// The agent is at rest. With a user interface it continues after a countdown.
    ///
    /// Specification: hook lifecycle, "Case B".
    pub(super) fn agent_settled(&mut self, cx: &mut Cx) {
        self.agent.activity.end_work();
        self.agent.is_starting = false;
        self.agent.ending.follow_stop(self.agent.last_stop, cx);
        self.agent.ending.prompted();
        self.pending.cancel_nested_calls(&mut self.meter, cx);
        self.agent.is_stopping = false;
        // The end of a run that the user ended after the agent had stopped.
        self.announce_end(cx);
        let prompt = self.agent.prompt_at_rest.take();
        if self.run.active().is_none() || self.run.pause_reason().is_some() || self.run.at_entry().is_some() {
            if let Some(prompt) = prompt {
                self.briefing.note(prompt);
            }
            return;
        }
        if let Some(prompt) = prompt {
            return cx.prompt(prompt);
        }
        if self.agent.last_stop.is_of_agent()
            && Agent::counts_down(&self.run, cx)
            && let Some(moved) = self.leave_over_budget(cx)
        {
            return self.tell_move(moved, Mover::Budget, cx);
        }
        match self.agent.last_stop {
            Stop::Aborted => self.pause(PauseReason::Aborted, cx),
            Stop::Failed => match limit_met(cx) {
                Some(limit) => {
                    let up_to_now = self.meter.up_to_now(&self.run, &self.agent, cx);
                    let reason = quota::reason(limit.until, up_to_now, &mut self.run, &self.session, cx);
                    self.pause(reason, cx);
                }
                None => self.pause(PauseReason::ModelError, cx),
            },
            Stop::Completed | Stop::CutOff if Agent::counts_down(&self.run, cx) => match self.decide_and_count(cx) {
                Decision::Continue => self.agent.activity.start_countdown(self.session.facts.pace.delay_seconds, cx),
                Decision::Pause(reason) => self.pause(reason, cx),
                Decision::Converse => self.agent.wait_for_user(&self.run, cx),
                Decision::Wait if self.pending.is_empty() => self.agent.wait_for_user(&self.run, cx),
                Decision::Wait => {}
            },
            Stop::Completed | Stop::CutOff => {}
        }
    }

    /// Decides how the run goes on, and counts a continuation in which the agent did nothing.
    fn decide_and_count(&mut self, cx: &mut Cx) -> Decision {
        let counted = self.run.running().map_or(0, |state| state.progress().idle);
        let idle = self.agent.idle(counted);
        let decision = self.decide(idle, cx);
        match decision {
            Decision::Continue | Decision::Pause(_) => self.run.change_unstored(|state, _| state.with_idle(idle)),
            Decision::Converse | Decision::Wait => {}
        }
        decision
    }

    fn decide(&self, idle: u32, cx: &mut Cx) -> Decision {
        let Some(active) = self.run.active() else { return Decision::Wait };
        let progress = active.state.progress();
        if progress.paused.is_some() || !self.pending.is_empty() {
            return Decision::Wait;
        }
        if let Some(reason) = budget_used_up(&self.run, &self.agent, &self.meter, cx) {
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
        let Pace { max_idle, max_per_phase, .. } = self.session.facts.pace;
        if !active.root.auto_continue {
            Decision::Wait
        } else if self.repetition.cut_off() > max_idle {
            Decision::Pause(PauseReason::CutOff { times: self.repetition.cut_off() })
        } else if idle >= max_idle {
            Decision::Pause(PauseReason::Idle { times: idle })
        } else if progress.continuations >= max_per_phase {
            Decision::Pause(PauseReason::Limit { times: progress.continuations })
        } else {
            Decision::Continue
        }
    }

    /// Pauses the run in progress.
    pub(super) fn pause(&mut self, reason: PauseReason, cx: &mut Cx) {
        match self.run.running().cloned() {
            Some(state) => self.pause_as(&state, reason, cx),
            None => self.agent.activity.stop(cx),
        }
    }

    /// Pauses the run in this state: the pause is stored, shown and told once. Without a user interface the last line
    /// of the process tells the pause.
    pub(super) fn pause_as(&mut self, state: &RunState, reason: PauseReason, cx: &mut Cx) {
        self.agent.activity.stop(cx);
        self.transition(state.paused(reason, cx.unix_ms), cx);
        self.agent.end_run();
        tell_pause(&self.run, cx);
    }

    /// A timer ran out: at the end of the countdown the agent is prompted, unless a late call has moved the run to a
    /// conversation meanwhile.
    pub(super) fn timer(&mut self, id: u64, idle: bool, cx: &mut Cx) {
        if !self.agent.activity.tick(id, idle, cx) {
            return;
        }
        if self.run.active().is_some_and(|active| active.phase.interactive) {
            self.agent.wait_for_user(&self.run, cx);
        } else if let Some(reminder) = not_done(&self.run, &self.agent) {
            self.agent.continued(Origin::OwnUnreported, &mut self.run);
            cx.prompt(reminder);
        }
    }

    /// Ends the pause of the run in progress; returns false if it is not paused.
    pub(super) fn resume(&mut self, cx: &mut Cx) -> bool {
        let paused = self.run.running().filter(|state| state.progress().paused.is_some());
        let Some(new) = paused.map(RunState::resumed) else { return false };
        self.repetition.forget();
        self.deadlines.forget();
        self.transition(new, cx);
        true
    }
}

/// Tells the user that the run is paused, and how to resume it. The pause of a branch is told by the run that contains
/// the branch.
pub(super) fn tell_pause(run: &Run, cx: &mut Cx) {
    let active = run.active().filter(|_| run.agent_of().tells_user);
    let notice = active.and_then(|active| text::pause_notice(&active));
    if let Some(notice) = notice.filter(|_| cx.ui.exists()) {
        cx.notify(Level::Warning, notice);
    }
}

/// Returns true if a message of the user does not resume the run. The user is told so with the first message in
/// each pause: the agent answers the message as if the run went on.
pub(super) fn tell_needs_resume(run: &mut Run, session: &Session, cx: &mut Cx) -> bool {
    if let Some(reason) = run.held().cloned() {
        let notice = held_notice(run, session, cx.ui);
        // A hold that begins with the message is told together with the message.
        let told = run.told_hold.as_mut().filter(|told| told.reason == reason);
        if told.is_some_and(|told| !std::mem::replace(&mut told.with_message, true)) {
            cx.notify(Level::Warning, notice);
        }
        return true;
    }
    let paused = run.running().and_then(|state| state.progress().paused.clone());
    let is_at_entry = run.at_entry().is_some();
    let Some(pause) = paused.filter(|pause| is_at_entry || pause.reason.needs_resume()) else {
        return is_at_entry;
    };
    if run.told_pause.as_ref() != Some(&pause)
        && let Some(notice) = run.active().and_then(|active| text::pause_notice(&active))
    {
        cx.notify(Level::Warning, notice);
        run.told_pause = Some(pause);
    }
    true
}
