//! Bounds of time while the agent works. An answer or a tool that hangs brings no event, so timers of the host end it: when a
//! budget of time is used up, and, where nobody watches, when the agent gives no new output for long.

pub(super) mod state;

use crate::definition::trim;
use crate::run::PauseReason;
use crate::text;
use crate::watch::RunEvent;

use super::branches::state::Children;
use super::budget::budget_used_up;
use super::commands::SILENCE_FLAG;
use super::context::Cx;
use super::effect::{Effect, Level};
use super::quota::max_wait;
use super::running::running;
use super::state::{Agent, Engine, Place, Run, Session};
use super::watching::Observed;
use state::{BUDGET_TIMER, Deadlines};

/// The time without new output after which an agent that nobody watches is stopped, in milliseconds.
const SILENCE_MS: u64 = 30 * 60_000;

impl Session {
    /// Reads the time of the command line that the agent may be silent. With an error the default holds, and the user is told.
    pub fn read_silence(&mut self, given: Option<&str>, cx: &mut Cx) {
        self.silence = given.and_then(|time| {
            let tell = |error: &String| cx.notify(Level::Error, format!("--{}: {error}.", SILENCE_FLAG.name));
            if trim(time) == "off" { Some(0) } else { max_wait(time).inspect_err(tell).ok() }
        });
    }

    /// The time that the agent of a run may be silent, in milliseconds; 0 if it has no bound.
    fn silence_ms(&self, run: &Run, cx: &Cx) -> u64 {
        let is_watched = Agent::counts_down(run, cx);
        self.silence.unwrap_or(if is_watched { 0 } else { SILENCE_MS })
    }
}

impl Engine {
    /// A timer of the agent's work ran out: the agent is stopped. At the end of a budget the run pauses, or goes on as the phase
    /// says. An agent that is silent goes on with a message once in a visit; the second time the run pauses.
    pub(super) fn deadline(&mut self, id: u64, cx: &mut Cx) {
        self.deadlines.ran_out(id);
        let Some(state) = self.run.running().filter(|_| self.agent.activity.is_working()) else { return };
        if id == BUDGET_TIMER {
            if self.children.count() > 0 {
                self.end_children_over_budget(cx);
            } else if budget_used_up(&self.run, &self.agent, &self.meter, cx).is_some() {
                self.agent.is_stopping = true;
                self.stop_over_budget(cx);
            }
            return;
        }
        if self.agent.ending.is_begun() || self.run.active().is_none() || self.run.pause_reason().is_some() {
            // Its last answer, or a conversation while the run is paused.
            return cx.push(Effect::Abort);
        }
        let (ms, tools) = (self.session.silence_ms(&self.run, cx), running(cx));
        let is_again = self.deadlines.fell_silent(Place::of(state));
        let times = 1 + u32::from(is_again);
        self.agent.is_stopping = true;
        cx.push(Effect::Abort);
        if is_again {
            return self.pause(PauseReason::Silent { times, ms }, cx);
        }
        self.agent.prompt_at_rest = Some(text::silent(&tools, ms));
        if let Some(state) = self.watch.watched(&self.run) {
            let event = RunEvent::Limit { bound: "silent".to_owned(), times: times.into() };
            self.watch.tell(event, state, cx);
        }
    }
}

impl Deadlines {
    /// Starts and stops the timers as the agent's work needs them.
    pub fn follow(&mut self, observed: &Observed, children: &Children, session: &Session, cx: &mut Cx) {
        let Observed { run, agent, meter, pending } = observed;
        let works = agent.activity.is_working() && run.running().is_some();
        // Children that end are the last work before a pause.
        let ends = children.is_ending() && run.running().is_some_and(|state| children.is_at(state));
        let is_open = works && run.pause_reason().is_none() && !pending.is_for_user() && !ends;
        let left = if is_open { meter.time_left(run, agent, cx) } else { None };
        // A request has a bound of its own, or waits for the user.
        let silence = if works && pending.is_empty() { session.silence_ms(run, cx) } else { 0 };
        self.set(works, left, silence, cx);
    }
}
