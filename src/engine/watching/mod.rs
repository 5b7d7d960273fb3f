//! The events of a run for programs; see [`crate::watch`].
//!
//! States are compared where they are stored. A pause of a run whose rules do not hold has no state: it is told at the
//! end of an event.

pub(super) mod state;

use crate::run::RunState;
use crate::watch::{RunEvent, text};

use super::ask::Pending;
use super::budget::state::UsageMeter;
use super::context::Cx;
use super::effect::{Reply, Request};
use super::event::Event;
use super::state::{Agent, Run};
use state::Watch;

/// The parts of the engine that tell of an event.
pub(super) struct Observed<'a> {
    pub run: &'a Run,
    pub agent: &'a Agent,
    pub meter: &'a UsageMeter,
    pub pending: &'a Pending,
}

impl Watch {
    /// Tells programs of the answer to a dialog and of the end of a turn, before the event is handled.
    pub fn tell_before(&self, event: &Event, observed: &Observed, cx: &mut Cx) {
        let Observed { run, agent, meter, pending } = observed;
        let Some(state) = self.watched(run) else { return };
        match event {
            Event::TurnEnd { calls, .. } => {
                let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
                let refused = count(calls.iter().filter(|call| call.refused).count());
                let up_to_now = meter.up_to_now(run, agent, cx);
                let usage = up_to_now.as_ref().unwrap_or(state).into();
                self.tell(RunEvent::Turn { calls: count(calls.len()), refused, usage }, state, cx);
            }
            Event::Answer { ticket, .. } => {
                if let Some(about) = pending.dialog_about(*ticket).filter(|_| cx.ui.exists()) {
                    self.tell(RunEvent::Question { state: "over", about, title: None, options: None }, state, cx);
                }
            }
            _ => {}
        }
    }

    /// Tells programs of the reply to an event, which may be a call of this tool, and of a pause or a wait that has begun
    /// or ended.
    pub fn tell_after(&mut self, called: Option<&str>, reply: &Reply, observed: &Observed, cx: &mut Cx) {
        let Some(state) = self.watched(observed.run) else { return self.forget() };
        if let (Some(tool), Reply::Block(why) | Reply::Stop(why)) = (called, reply) {
            let rule = observed.meter.newest_refusal();
            self.tell(RunEvent::Refused { tool: tool.to_owned(), rule, why: text(why) }, state, cx);
        }
        if let Reply::Ask { ticket, request } = reply
            && let Some(about) = observed.pending.dialog_about(*ticket).filter(|_| cx.ui.exists())
        {
            let (title, options) = match request {
                Request::Confirm { title, .. } | Request::Input { title } => (Some(title), None),
                Request::Select { title, options } => (Some(title), serde_json::to_value(options).ok()),
                Request::Exec { .. } | Request::Children { .. } => (None, None),
            };
            let title = title.and_then(|title| text(title));
            self.tell(RunEvent::Question { state: "asked", about, title, options }, state, cx);
        }
        self.tell_standing(state, observed, cx);
        self.begun();
    }

    /// Tells that the run is paused or waits, or no longer, with its sums up to now.
    fn tell_standing(&mut self, state: &RunState, observed: &Observed, cx: &mut Cx) {
        let Observed { run, agent, meter, .. } = observed;
        let pause = run.held().or(run.pause_reason());
        let waits = pause.is_none() && agent.activity.is_waiting();
        let begins_to_wait = self.note_wait(waits);
        if begins_to_wait || !self.has_told(pause) {
            let up_to_now = meter.up_to_now(run, agent, cx);
            let state = up_to_now.as_ref().unwrap_or(state);
            self.tell_pause(pause, state, cx);
            if begins_to_wait {
                self.tell(RunEvent::Waiting { usage: state.into() }, state, cx);
            }
        }
    }

    /// The run that programs are told of.
    pub fn watched<'a>(&self, run: &'a Run) -> Option<&'a RunState> {
        run.running().filter(|_| !self.is_off())
    }
}
