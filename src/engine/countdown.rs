//! The seconds before the agent is told to go on, and the wait for the user where they were interrupted.

use crate::run::Active;

use super::{Effect, Engine, Output};

/// The only timer of the engine.
const TIMER: u64 = 1;

/// State of an active run while the agent is at rest. A paused run is [`Rest::Over`]: its pause says more.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Rest {
    /// The agent is at work or about to be, or nothing is to be done.
    #[default]
    Over,
    /// The agent is told to go on in so many seconds.
    Countdown(u32),
    /// Nothing happens until the user sends a message or resumes the run.
    Waiting,
}

impl Engine {
    /// Starts the countdown.
    ///
    /// Specification: hook lifecycle, "Case B", step 4.
    pub(super) fn start_countdown(&mut self, seconds: u32) -> Vec<Effect> {
        let mut effects = self.stop_countdown();
        self.rest = Rest::Countdown(seconds);
        effects.extend([
            Effect::SetCountdown(Some(widget_line(seconds))),
            Effect::WatchTerminal(true),
            Effect::StartTimer { id: TIMER, delay_ms: if seconds == 0 { 0 } else { 1000 } },
        ]);
        effects
    }

    /// Takes the countdown off the screen, if there is one. A wait ends too; the caller sets the status.
    pub(super) fn stop_countdown(&mut self) -> Vec<Effect> {
        match std::mem::take(&mut self.rest) {
            Rest::Countdown(_) => vec![
                Effect::StopTimer { id: TIMER },
                Effect::WatchTerminal(false),
                Effect::SetCountdown(None),
            ],
            Rest::Over | Rest::Waiting => Vec::new(),
        }
    }

    /// Ends a countdown or a wait on the screen: something else happens.
    pub(super) fn end_rest(&mut self) -> Vec<Effect> {
        let waited = self.rest == Rest::Waiting;
        let mut effects = self.stop_countdown();
        effects.extend(waited.then(|| self.status()));
        effects
    }

    /// The run waits for the user from now on, and the status line says so.
    pub(super) fn wait_for_user(&mut self) -> Vec<Effect> {
        let mut effects = self.stop_countdown();
        let is_paused = |active: Active| active.state.progress.paused.is_some();
        if !self.agent.running && self.active().is_some_and(|active| !is_paused(active)) {
            self.rest = Rest::Waiting;
            effects.push(self.status());
        }
        effects
    }

    /// The status; of an agent at rest, that the run waits for the user.
    pub(super) fn rest_or_status(&mut self) -> Vec<Effect> {
        let waits = self.wait_for_user();
        if waits.is_empty() { vec![self.status()] } else { waits }
    }

    /// Tests if the run is in a countdown or waits for the user.
    pub(super) fn is_at_rest(&self) -> bool {
        self.rest != Rest::Over
    }

    /// A key was pressed in the terminal.
    pub(super) fn terminal_input(&mut self) -> Output {
        match self.rest {
            Rest::Countdown(_) => self.wait_for_user().into(),
            Rest::Over | Rest::Waiting => Output::default(),
        }
    }

    /// A second has gone by, or all of them. While pi is busy with something else, say a compaction,
    /// the last second takes longer.
    pub(super) fn timer(&mut self, id: u64, idle: bool) -> Output {
        let Rest::Countdown(remaining) = &mut self.rest else { return Output::default() };
        if id != TIMER {
            return Output::default();
        }
        *remaining = remaining.saturating_sub(1);
        if *remaining == 0 && !idle {
            *remaining = 1;
        }
        if *remaining > 0 {
            return vec![
                Effect::SetCountdown(Some(widget_line(*remaining))),
                Effect::StartTimer { id: TIMER, delay_ms: 1000 },
            ]
            .into();
        }
        let mut effects = self.stop_countdown();
        if let Some(reminder) = self.not_done() {
            self.continued();
            effects.push(Effect::SendUserMessage(reminder));
        }
        effects.into()
    }
}

fn widget_line(seconds: u32) -> String {
    format!("⏳ Auto-continuing in {seconds}s... (type anything to interrupt)")
}
