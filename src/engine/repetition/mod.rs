//! An agent that does the same again and again, or whose answers are cut off: the agent is told, and then the run
//! pauses.

pub(super) mod state;

use crate::definition::AutoContinue;
use crate::run::PauseReason;
use crate::text;

use super::context::Cx;
use super::effect::Effect;
use super::event::EndedCall;
use super::models::state::VisitId;
use super::state::Engine;

impl Engine {
    /// Counts the calls of a turn, after which the agent goes on. Half-way to the bound the agent is told, because
    /// another answer follows; at the bound the run pauses. pi makes no call of an answer that was cut off, so the
    /// answer itself counts.
    pub(super) fn stop_repetition(&mut self, calls: &[EndedCall], cx: &mut Cx) {
        let Some(active) = self.active() else { return };
        let AutoContinue { max_repeats: bound, max_idle, .. } = active.root.auto_continue.unwrap_or_default();
        let state = active.state;
        let phase = state.current_path.key();
        let number = state.progress.visits.get(&phase).map_or(0, |visit| visit.number);
        let visit = VisitId { task_id: state.task_id.clone(), phase, number };
        let cut_off = self.repetition.answered(calls.iter().any(|call| call.cut_off));
        if cut_off > 0 {
            return self.after_cut_off(cut_off, max_idle, cx);
        }
        // The calls of an answer that moves the run belong to the phase that was left.
        let moved = self.turn.left.is_some() || self.briefing.untold_move().is_some();
        let calls = if moved { &[] } else { calls };
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

    /// Handles this number of cut-off answers with calls in a row. pi tells the agent of each.
    fn after_cut_off(&mut self, times: u32, max_idle: u32, cx: &mut Cx) {
        if self.pause_reason().is_some() {
            return;
        }
        if times > max_idle {
            self.pause(PauseReason::CutOff { times }, cx);
        } else if times == max_idle.div_ceil(2) {
            cx.push(Effect::Steer(text::CUT_OFF.into()));
        }
    }
}
