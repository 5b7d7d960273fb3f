//! Gates: the checks before a phase is left.
//!
//! Checks are made one after another and stop at the first check that fails. A command and the user's consent to it are
//! pending requests; until its answer comes the run stays as it is. An answer for a phase that the run has left has no
//! effect.
//!
//! | file | content |
//! | --- | --- |
//! | `state` | a gate whose checks are being made |
//! | `checks` | the checks, one after another |
//! | `files` | checks of files |
//! | `verdict` | the end of the checks: the run moves, stays or pauses |

mod checks;
mod files;
pub(super) mod state;
mod verdict;

use super::ask::Then;
use super::context::Cx;
use super::effect::Reply;
use super::event::Answer;
use super::state::Engine;
use checks::Next;
use state::{GateAsked, OpenGate};

impl Engine {
    /// Begins with the checks of a gate.
    pub(super) fn begin_gate(&mut self, mut gate: OpenGate, cx: &mut Cx) -> Reply {
        let next = gate.begin(&self.run, &self.session, cx);
        self.follow_gate(gate, next, cx)
    }

    /// Goes on with a gate after an answer.
    pub(super) fn gate_answered(&mut self, mut gate: OpenGate, asked: GateAsked, answer: Answer, cx: &mut Cx) -> Reply {
        let next = gate.answered(asked, answer, (&self.run, &mut self.session), cx);
        self.follow_gate(gate, next, cx)
    }

    fn follow_gate(&mut self, gate: OpenGate, next: Next, cx: &mut Cx) -> Reply {
        match next {
            Next::Ask(request, asked) => {
                self.pending.ask(gate.requester().waiter(), request, Then::Gate(Box::new(gate), asked))
            }
            Next::Close(outcome) => self.close_gate(gate, outcome, cx),
            Next::Gone => Reply::None,
        }
    }
}
