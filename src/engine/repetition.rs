//! An agent that does the same again and again: it is told, and then the run pauses.

use crate::run::PauseReason;
use crate::text;

use super::context::Cx;
use super::effect::Effect;
use super::event::EndedCall;
use super::state::{Engine, VisitId};

impl Engine {
    /// Counts the calls of a turn, after which the agent goes on. Half-way to the bound the agent is told, with another
    /// answer to follow; at the bound the run pauses.
    pub(super) fn stop_repetition(&mut self, calls: &[EndedCall], cx: &mut Cx) {
        let Some(active) = self.active() else { return };
        let bound = active.root.auto_continue.unwrap_or_default().max_repeats;
        let state = active.state;
        let phase = state.current_path.key();
        let number = state.progress.visits.get(&phase).map_or(0, |visit| visit.number);
        let visit = VisitId { task_id: state.task_id.clone(), phase, number };
        let (before, now) = self.repetition.count(visit, calls, self.turn.gate_checked);
        if bound == 0 || self.pause_reason().is_some() {
            return;
        }
        let half = bound.div_ceil(2);
        if before < half && now >= half {
            cx.push(Effect::Steer(text::repeats(now, bound)));
        } else if now >= bound {
            self.repetition.forget();
            self.pause(PauseReason::Repeats { times: now }, cx);
        }
    }
}
