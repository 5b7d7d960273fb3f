//! Calls in a row that bring nothing new, and answers in a row that were cut off.

use crate::engine::event::EndedCall;
use crate::engine::models::state::VisitId;
use crate::engine::pace::Pace;
use crate::protocol::STEP_TOOL_NAME;
use crate::run::PauseReason;
use crate::sorted::Set;
use crate::text;

/// A call that takes at least this time, in milliseconds, has news: it waits for something.
const WAITING: u64 = 10_000;

/// Counts the calls of the model, one after the other, that bring nothing new: a call that is refused, and a call that
/// the model has already made in this visit of the phase, with the same result. A call of `workflow_step` has news if a
/// gate is checked. This count is never stored.
#[derive(Debug, Default)]
pub struct Repetition {
    visit: Option<VisitId>,
    /// The hashes of the calls of this visit.
    seen: Set<u64>,
    in_a_row: u32,
    /// The answers in a row that were cut off at the model's output limit.
    cut_off: u32,
}

/// The calls of a turn after which the agent goes on.
pub struct Turn<'a> {
    pub calls: &'a [EndedCall],
    /// The run moved in this turn.
    pub moved: bool,
    pub gate_checked: bool,
    /// The run is paused: the calls count, and nothing follows.
    pub is_paused: bool,
}

/// The consequence of a turn.
pub enum Consequence {
    Tell(String),
    Pause(PauseReason),
}

impl Repetition {
    /// Counts a turn. Half-way to a bound the agent is told, because another answer follows; at the bound the run
    /// pauses. pi makes no call of an answer that was cut off, so the answer itself counts; pi tells the agent of each.
    pub fn after_turn(&mut self, visit: VisitId, turn: &Turn, pace: Pace) -> Option<Consequence> {
        let Pace { max_repeats: bound, max_idle, .. } = pace;
        let times = self.answered(turn.calls.iter().any(|call| call.cut_off));
        if times > 0 {
            return if turn.is_paused {
                None
            } else if times > max_idle {
                Some(Consequence::Pause(PauseReason::CutOff { times }))
            } else {
                (times == max_idle.div_ceil(2)).then(|| Consequence::Tell(text::CUT_OFF.into()))
            };
        }
        let (before, now) = self.count(visit, if turn.moved { &[] } else { turn.calls }, turn.gate_checked);
        let half = bound.div_ceil(2);
        if bound == 0 || turn.is_paused {
            None
        } else if before < half && now >= half {
            Some(Consequence::Tell(text::repeats(now, bound)))
        } else if now >= bound {
            self.forget();
            Some(Consequence::Pause(PauseReason::Repeats { times: now }))
        } else {
            None
        }
    }

    /// The count begins anew: the user has said something.
    pub fn forget(&mut self) {
        self.in_a_row = 0;
        self.cut_off = 0;
    }

    /// The number of answers in a row, up to the last answer, that were cut off at the model's output limit.
    pub fn cut_off(&self) -> u32 {
        self.cut_off
    }

    /// The model has given an answer. Returns the number of answers in a row that were cut off at the output limit.
    pub fn answered(&mut self, cut_off: bool) -> u32 {
        self.cut_off = if cut_off { self.cut_off.saturating_add(1) } else { 0 };
        self.cut_off
    }

    /// Returns the number of calls in a row without news, before and after the calls of a turn. `checked`: a gate was
    /// checked in this turn.
    pub fn count(&mut self, visit: VisitId, calls: &[EndedCall], checked: bool) -> (u32, u32) {
        if self.visit.as_ref() != Some(&visit) {
            *self = Self { visit: Some(visit), ..Self::default() };
        }
        let before = self.in_a_row;
        for call in calls {
            let is_new = match &*call.name {
                STEP_TOOL_NAME => checked,
                _ => self.seen.insert(call.hash),
            };
            let has_news = !call.refused && (is_new || call.duration_ms >= WAITING);
            self.in_a_row = if has_news { 0 } else { self.in_a_row.saturating_add(1) };
        }
        (before.min(self.in_a_row), self.in_a_row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_news_once_in_a_visit() {
        let call = |name: &str, hash, refused, duration_ms| EndedCall {
            name: name.into(),
            hash,
            refused,
            duration_ms,
            cut_off: false,
        };
        let visit = |number| VisitId { task_id: "t".into(), phase: "a".into(), number };
        let mut repetition = Repetition::default();
        let mut count = |number, calls: &[_], checked| repetition.count(visit(number), calls, checked).1;
        let [one, two] = [call("bash", 1, false, 5), call("bash", 2, false, 5)];
        assert_eq!(count(1, &[one.clone(), two.clone()], false), 0);
        assert_eq!(count(1, &[one.clone(), two.clone(), one.clone()], false), 3, "two calls in turn");
        assert_eq!(count(1, &[call("bash", 1, false, WAITING)], false), 0, "a call that waits");
        assert_eq!(count(1, &[call("edit", 3, true, 0), call("edit", 4, true, WAITING)], false), 2, "refused calls");
        assert_eq!(count(1, &[call(STEP_TOOL_NAME, 5, false, 0)], false), 3, "the run did not move");
        assert_eq!(count(1, &[call(STEP_TOOL_NAME, 5, false, 0)], true), 0, "a gate was checked");
        assert_eq!(count(1, std::slice::from_ref(&one), false), 1);
        assert_eq!(count(2, std::slice::from_ref(&one), false), 0, "another visit");
        assert_eq!(count(2, &[one], false), 1);
        repetition.forget();
        assert_eq!(repetition.in_a_row, 0);
    }
}
