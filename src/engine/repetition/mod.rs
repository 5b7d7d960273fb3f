//! An agent that does the same again and again, or whose answers are cut off: the agent is told, and then the run
//! pauses.

pub(super) mod state;

use super::context::Cx;
use super::effect::Effect;
use super::event::EndedCall;
use super::models::state::VisitId;
use super::state::Engine;
use state::Consequence;

impl Engine {
    /// Counts the calls of a turn, after which the agent goes on.
    pub(super) fn stop_repetition(&mut self, calls: &[EndedCall], cx: &mut Cx) {
        let Some(active) = self.run.active() else { return };
        let state = active.state;
        let phase = state.current_path.key();
        let number = state.progress().visits.get(&phase).map_or(0, |visit| visit.number);
        let visit = VisitId { task_id: state.task_id.clone(), phase, number };
        // The calls of an answer that moves the run belong to the phase that was left.
        let moved = self.turn.left.is_some() || self.briefing.untold_move().is_some();
        let turn = state::Turn {
            calls,
            moved,
            gate_checked: self.turn.gate_checked,
            is_paused: self.run.pause_reason().is_some(),
        };
        match self.repetition.after_turn(visit, &turn, self.session.facts.pace) {
            Some(Consequence::Tell(text)) => cx.push(Effect::Steer(text)),
            Some(Consequence::Pause(reason)) => self.pause(reason, cx),
            None => {}
        }
    }
}
