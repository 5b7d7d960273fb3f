//! The seconds before the agent is told to go on.

use super::{Effect, Engine, Output};

/// The only timer of the engine.
const TIMER: u64 = 1;

/// A countdown in progress.
#[derive(Debug)]
pub(super) struct Countdown {
    remaining: u32,
}

impl Engine {
    /// Starts the countdown.
    ///
    /// Specification: hook lifecycle, "Case B", step 4.
    pub(super) fn start_countdown(&mut self, seconds: u32) -> Vec<Effect> {
        let mut effects = self.stop_countdown();
        self.countdown = Some(Countdown { remaining: seconds });
        effects.extend([
            Effect::SetCountdown(Some(widget_line(seconds))),
            Effect::WatchTerminal(true),
            Effect::StartTimer { id: TIMER, delay_ms: if seconds == 0 { 0 } else { 1000 } },
        ]);
        effects
    }

    /// What ends a countdown, if there is one.
    pub(super) fn stop_countdown(&mut self) -> Vec<Effect> {
        if self.countdown.take().is_none() {
            return Vec::new();
        }
        vec![
            Effect::StopTimer { id: TIMER },
            Effect::WatchTerminal(false),
            Effect::SetCountdown(None),
        ]
    }

    /// A second has gone by, or all of them. While pi is busy with something else, say a compaction,
    /// the last second takes longer.
    pub(super) fn timer(&mut self, id: u64, idle: bool) -> Output {
        let Some(countdown) = self.countdown.as_mut().filter(|_| id == TIMER) else {
            return Output::default();
        };
        countdown.remaining = countdown.remaining.saturating_sub(1);
        if countdown.remaining == 0 && !idle {
            countdown.remaining = 1;
        }
        if countdown.remaining > 0 {
            return vec![
                Effect::SetCountdown(Some(widget_line(countdown.remaining))),
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
