//! The events of a run for programs; see [`crate::watch`].
//!
//! States are compared where they are stored. Pauses are told at the end of each event: a run whose rules do not hold is
//! paused without a new state.

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

/// An event of pi that a watching program is told of.
pub(super) enum Noted {
    Nothing,
    /// A turn has ended, with this number of calls and of refused calls.
    Turn(u32, u32),
    /// This tool is called.
    Call(String),
}

/// The parts of the engine that tell of an event.
pub(super) struct Observed<'a> {
    pub run: &'a Run,
    pub agent: &'a Agent,
    pub meter: &'a UsageMeter,
    pub pending: &'a Pending,
}

impl Watch {
    /// Tells the watching program of the answer to a dialog, before the event is handled; returns the part of the event
    /// of which it is told afterwards.
    pub fn note(&self, event: &Event, run: &Run, pending: &Pending, cx: &mut Cx) -> Noted {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        match event {
            Event::TurnEnd { calls, .. } => {
                let refused = calls.iter().filter(|call| call.refused).count();
                return Noted::Turn(count(calls.len()), count(refused));
            }
            Event::ToolCall { name, .. } => return Noted::Call((*name).to_owned()),
            Event::Answer { ticket, .. } => {
                let about = pending.dialog_about(*ticket).filter(|_| cx.ui.exists());
                if let Some((about, state)) = about.zip(self.watched(run)) {
                    let question = RunEvent::Question { state: "over", about, title: None, options: None };
                    self.tell(question, state, cx);
                }
            }
            _ => {}
        }
        Noted::Nothing
    }

    /// Tells programs of this event, its reply, and a pause or a wait that has begun or ended.
    pub fn tell_event(&mut self, noted: Noted, reply: &Reply, observed: &Observed, cx: &mut Cx) {
        self.tell_changes(noted, reply, observed, cx);
        self.begun();
    }

    fn tell_changes(&mut self, noted: Noted, reply: &Reply, observed: &Observed, cx: &mut Cx) {
        let Observed { run, agent, meter, pending } = observed;
        let Some(state) = self.watched(run) else {
            self.note_pause(None, None);
            self.note_wait(false);
            return;
        };
        match (noted, reply) {
            (Noted::Turn(calls, refused), _) => {
                let up_to_now = meter.up_to_now(run, agent, cx);
                let usage = up_to_now.as_ref().unwrap_or(state).into();
                self.tell(RunEvent::Turn { calls, refused, usage }, state, cx);
            }
            (Noted::Call(tool), Reply::Block(why) | Reply::Stop(why)) => {
                let rule = meter.newest_refusal();
                self.tell(RunEvent::Refused { tool, rule, why: text(why) }, state, cx);
            }
            (Noted::Nothing | Noted::Call(_), _) => {}
        }
        if let Reply::Ask { ticket, request } = reply
            && let Some(about) = pending.dialog_about(*ticket).filter(|_| cx.ui.exists())
        {
            let (title, options) = match request {
                Request::Confirm { title, .. } | Request::Input { title } => (Some(title), None),
                Request::Select { title, options } => (Some(title), serde_json::to_value(options).ok()),
                Request::Exec { .. } | Request::Children { .. } => (None, None),
            };
            let title = title.and_then(|title| text(title));
            self.tell(RunEvent::Question { state: "asked", about, title, options }, state, cx);
        }
        for pause in self.note_pause(run.held(), run.pause_reason()) {
            match pause {
                Some(reason) => self.tell_pause(&reason, state, cx),
                None => self.tell(RunEvent::Resumed { usage: state.into() }, state, cx),
            }
        }
        let is_paused = run.held().or(run.pause_reason()).is_some();
        if self.note_wait(!is_paused && agent.activity.is_waiting()) {
            self.tell(RunEvent::Waiting { usage: state.into() }, state, cx);
        }
    }

    /// The run that programs are told of.
    pub fn watched<'a>(&self, run: &'a Run) -> Option<&'a RunState> {
        run.running().filter(|_| !self.is_off())
    }
}
