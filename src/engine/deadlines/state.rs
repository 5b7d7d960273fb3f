//! The timers of the agent's work that the host runs.

use crate::engine::context::Cx;
use crate::engine::effect::Effect;
use crate::engine::state::Place;

/// The timer of the budgets of time.
pub const BUDGET_TIMER: u64 = 3;
/// The timer of the agent's silence.
pub const SILENCE_TIMER: u64 = 4;
/// A timer is set anew if its end has moved by more than this time, in milliseconds.
const EXACT_MS: u64 = 1000;

#[derive(Debug, Default)]
pub struct Deadlines {
    /// The host watches its clock.
    clock: bool,
    /// The time at which a budget of time is used up, in milliseconds since 1970.
    budget: Option<u64>,
    /// The time that the agent may be silent, in milliseconds; 0 without a timer.
    silence: u64,
    /// The visit in which the agent was stopped because it was silent.
    silent_at: Option<Place>,
}

impl Deadlines {
    /// A timer ran out.
    pub fn ran_out(&mut self, id: u64) {
        match id {
            BUDGET_TIMER => self.budget = None,
            _ => self.silence = 0,
        }
    }

    /// The agent is silent at this place; returns true if it was stopped there before.
    pub fn fell_silent(&mut self, place: Place) -> bool {
        self.silent_at.replace(place.clone()) == Some(place)
    }

    /// The user has said something: an agent that is silent is told again.
    pub fn forget(&mut self) {
        self.silent_at = None;
    }

    /// Sets the timers. `left`: the time that is left of the budgets of time; `silence`: the time that the agent may be silent, or 0.
    pub(super) fn set(&mut self, works: bool, left: Option<u64>, silence: u64, cx: &mut Cx) {
        if std::mem::replace(&mut self.clock, works) != works {
            cx.push(Effect::WatchClock(works));
        }
        let end = left.map(|left| cx.unix_ms.saturating_add(left));
        let is_same = match (end, self.budget) {
            (Some(end), Some(set)) => end.abs_diff(set) <= EXACT_MS,
            (end, set) => end == set,
        };
        if !is_same {
            self.budget = end;
            timer(BUDGET_TIMER, left, cx, |id, delay_ms| Effect::StartTimer { id, delay_ms });
        }
        if std::mem::replace(&mut self.silence, silence) != silence {
            let delay = Some(silence).filter(|ms| *ms > 0);
            timer(SILENCE_TIMER, delay, cx, |id, delay_ms| Effect::StartTimerAtSilence { id, delay_ms });
        }
    }
}

/// Starts a timer with this delay, or stops it.
fn timer(id: u64, delay: Option<u64>, cx: &mut Cx, start: fn(u64, u32) -> Effect) {
    cx.push(match delay {
        Some(delay) => start(id, u32::try_from(delay).unwrap_or(u32::MAX)),
        None => Effect::StopTimer { id },
    });
}
