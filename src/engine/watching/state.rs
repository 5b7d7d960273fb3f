//! The state up to which a watching program was told of the run.

use crate::definition::Library;
use crate::engine::context::Cx;
use crate::engine::effect::Effect;
use crate::engine::event::Watching;
use crate::run::{PauseReason, RunState};
use crate::watch::{RunEvent, between};

/// The events of the run that were told, and the program that gets them.
#[derive(Debug, Default)]
pub struct Watch {
    watching: Watching,
    /// The state up to which events were told.
    told: Option<RunState>,
    /// The pause that was told.
    paused: Option<PauseReason>,
}

impl Watch {
    pub fn begin_session(&mut self, watching: Watching) {
        *self = Self { watching, ..Self::default() };
    }

    /// Tells the events that have led to a new state; `continued`: it was read from the session.
    pub fn follow(&mut self, new: &RunState, library: &Library, continued: bool, cx: &mut Cx) {
        // The run that contains a branch tells of the branch.
        if self.is_off() || new.progress().branch.is_some() {
            return;
        }
        if self.told.is_none() && !new.is_running() {
            return;
        }
        let before = self.told.replace(new.clone());
        let (same, other) = match before {
            Some(before) if before.task_id == new.task_id => (Some(before), None),
            before => (None, before),
        };
        if let Some(other) = other {
            self.paused = None;
            if other.is_running() {
                self.tell(RunEvent::replaced(&other), &other, cx);
            }
        }
        for event in between(same.as_ref(), new, library, continued) {
            self.tell(event, new, cx);
        }
    }

    /// Tells an event of a run in this state.
    pub fn tell(&self, event: RunEvent, state: &RunState, cx: &mut Cx) {
        let event = match self.watching {
            Watching::Off => return,
            Watching::Names => event.without_texts(),
            Watching::Texts => event,
        };
        cx.push(Effect::TellWatcher(event.line(cx.unix_ms, state)));
    }

    /// Returns true if no program watches.
    pub fn is_off(&self) -> bool {
        self.watching == Watching::Off
    }

    /// Notes the pause of the run, or that it has none; returns true if it is not the one that was told.
    pub fn note_pause(&mut self, now: Option<&PauseReason>) -> bool {
        let is_new = now != self.paused.as_ref();
        if is_new {
            self.paused = now.cloned();
        }
        is_new
    }
}
