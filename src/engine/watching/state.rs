//! The state up to which programs were told of the run.

use crate::definition::OnEvent;
use crate::engine::context::Cx;
use crate::engine::effect::Effect;
use crate::engine::event::Watching;
use crate::engine::state::Run;
use crate::run::{PauseReason, RunState};
use crate::watch::{RunEvent, between, paused};

/// The events of the run that were told: to a program that watches, and to the program of the user's settings.
#[derive(Debug, Default)]
pub struct Watch {
    watching: Watching,
    /// The program of the user's settings, as it was when the session began: the agent may write the settings later.
    on_event: Option<OnEvent>,
    /// A session begins: the user is there, and knows what waits.
    is_beginning: bool,
    /// The state up to which events were told.
    told: Option<RunState>,
    /// The pause that was told.
    paused: Option<PauseReason>,
    /// The run was told to wait for a message of the user.
    waits: bool,
}

impl Watch {
    pub fn begin_session(&mut self, watching: Watching, on_event: Option<OnEvent>) {
        *self = Self { watching, on_event, is_beginning: true, ..Self::default() };
    }

    /// The event with which a session begins is over.
    pub fn begun(&mut self) {
        self.is_beginning = false;
    }

    /// An event without a run is over: nothing is paused and nothing waits.
    pub fn forget(&mut self) {
        (self.paused, self.waits, self.is_beginning) = (None, false, false);
    }

    /// Tells the events that have led to a new state of the run; `continued`: it was read from the session.
    pub fn follow(&mut self, new: &RunState, run: &Run, continued: bool, cx: &mut Cx) {
        if self.is_off() || self.told.is_none() && !new.is_running() {
            return;
        }
        let (same, other) = match self.told.replace(new.clone()) {
            Some(before) if before.task_id == new.task_id => (Some(before), None),
            before => (None, before),
        };
        if let Some(other) = other {
            self.paused = None;
            if other.is_running() {
                self.tell(RunEvent::replaced(&other), &other, cx);
            }
        }
        let pause = new.progress().paused.as_ref().map(|pause| &pause.reason);
        // While the rules of the run do not hold, this is its pause.
        let tells_pause = !continued && new.is_running() && run.held().is_none();
        if tells_pause && pause.is_none() {
            self.tell_pause(None, new, cx);
        }
        for event in between(same.as_ref(), new, new.into(), run.library(), continued) {
            self.tell(event, new, cx);
        }
        if tells_pause {
            self.tell_pause(pause, new, cx);
        }
    }

    /// Tells an event of a run in this state.
    pub fn tell(&self, event: RunEvent, state: &RunState, cx: &mut Cx) {
        let is_asked = matches!(event, RunEvent::Question { state: "asked", .. });
        let is_for_user = is_asked || matches!(event, RunEvent::Waiting { .. } | RunEvent::Ended { .. });
        self.give(event, is_for_user, state, cx);
    }

    /// Returns true if programs were told of this pause, or of its end.
    pub fn has_told(&self, pause: Option<&PauseReason>) -> bool {
        self.paused.as_ref() == pause
    }

    /// Tells that a run in this state is paused for this reason, or no longer, if that was not told.
    pub fn tell_pause(&mut self, pause: Option<&PauseReason>, state: &RunState, cx: &mut Cx) {
        if self.has_told(pause) {
            return;
        }
        self.paused = pause.cloned();
        let Some(reason) = pause else {
            return self.tell(RunEvent::Resumed { usage: state.into() }, state, cx);
        };
        for event in paused(reason, state) {
            let is_for_user = matches!(event, RunEvent::Paused { .. }) && reason.is_for_user();
            self.give(event, is_for_user, state, cx);
        }
    }

    /// Gives an event to the program that watches, and to the program of the settings if a user who is away wants to know
    /// of the event. Of a branch only dialogs are told, to the latter: the run that contains the branch tells everything
    /// else.
    fn give(&self, event: RunEvent, is_for_user: bool, state: &RunState, cx: &mut Cx) {
        let is_of_branch = state.progress().branch.is_some();
        let shown = |texts| if texts { event.clone() } else { event.clone().without_texts() };
        let is_told =
            is_for_user && !self.is_beginning && (!is_of_branch || matches!(event, RunEvent::Question { .. }));
        if let Some(OnEvent { program, texts }) = self.on_event.as_ref().filter(|_| is_told) {
            let line = shown(*texts).line(cx.unix_ms, state);
            cx.push(Effect::RunProgram { kind: event.name(), program: program.clone(), line });
        }
        if self.watching != Watching::Off && !is_of_branch {
            let line = shown(self.watching == Watching::Texts).line(cx.unix_ms, state);
            cx.push(Effect::TellWatcher(line));
        }
    }

    /// Returns true if no program is told of events.
    pub fn is_off(&self) -> bool {
        self.watching == Watching::Off && self.on_event.is_none()
    }

    /// Notes that the run waits for a message, or does not; returns true if it waits and was not told to.
    pub fn note_wait(&mut self, waits: bool) -> bool {
        !std::mem::replace(&mut self.waits, waits) && waits
    }
}
