//! The end of the agent's run, because the run of the workflow has paused or ended.

use crate::engine::context::Cx;
use crate::engine::effect::Effect;
use crate::engine::event::Stop;
use crate::engine::state::AgentOf;
use crate::text;

/// The end of the agent's run: all tool calls are refused, and the model gives at most one more answer after the
/// current answer.
///
/// The end after a pause is dropped when the run of the workflow goes on. The end after a run lasts until the agent
/// gets a newer prompt: until then the agent has no rights of its own.
#[derive(Debug, Default)]
pub struct Ending(Option<(Why, Stage)>);

/// Maximum number of turns behind the end of a run in which a message waits: some messages come only when the agent
/// stops.
const MAX_WAITING: u32 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// The run of the workflow is paused or held.
    Pause,
    /// The run of the workflow has ended.
    End,
    /// The run of a branch has ended: its agent gets no other prompt.
    BranchEnd,
    /// The user has allowed a workflow that the agent proposed: it starts when the agent is at rest.
    Start,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The turn in which the end began is not over.
    Begun,
    /// The last answer, after this number of turns in which a message waited.
    LastAnswer(u32),
    /// The last answer was given: a further request to the model is prevented.
    Over,
    /// A further request was prevented: this package has aborted the agent.
    Aborted,
}

impl Ending {
    /// The run of the workflow is paused or held.
    pub fn begin(&mut self) {
        self.0.get_or_insert((Why::Pause, Stage::Begun));
    }

    /// The run of the workflow has ended.
    pub fn run_ended(&mut self, of: &AgentOf) {
        self.0 = Some((if of.is_prompted_again { Why::End } else { Why::BranchEnd }, Stage::Begun));
    }

    /// A workflow starts when the agent is at rest.
    pub fn begin_before_start(&mut self) {
        self.0 = Some((Why::Start, Stage::Begun));
    }

    /// Returns true if a workflow starts when the agent is at rest.
    pub fn is_before_start(&self) -> bool {
        matches!(self.0, Some((Why::Start, _)))
    }

    /// The agent gets another prompt.
    pub fn prompted(&mut self) {
        self.0 = self.0.filter(|(why, _)| *why == Why::BranchEnd);
    }

    /// The run of the workflow goes on, or the user wants the agent to.
    pub fn end_pause(&mut self) {
        self.0 = self.0.filter(|(why, _)| *why != Why::Pause);
    }

    pub fn is_begun(&self) -> bool {
        self.0.is_some()
    }

    /// Returns true if the run of the workflow has ended, and the agent works on the prompt that belonged to it; or if one
    /// is to start.
    pub fn is_behind_end(&self) -> bool {
        matches!(self.0, Some((Why::End | Why::BranchEnd | Why::Start, _)))
    }

    /// Returns true if the run of a branch has ended.
    pub fn is_of_branch(&self) -> bool {
        matches!(self.0, Some((Why::BranchEnd, _)))
    }

    /// Returns true if the model is to be sent no more requests.
    pub fn is_over(&self) -> bool {
        matches!(self.0, Some((_, Stage::Over | Stage::Aborted)))
    }

    /// Returns true if this package has aborted the agent behind its last answer.
    pub fn has_aborted(&self) -> bool {
        matches!(self.0, Some((_, Stage::Aborted)))
    }

    /// A turn is over. `queued`: the agent gets a message of the user next, and the last answer is for that message.
    pub fn turn_over(&mut self, queued: bool) {
        self.0 = self.0.map(|(why, stage)| match stage {
            // Nobody reads a closing answer of a branch.
            Stage::Begun if why != Why::BranchEnd => (why, Stage::LastAnswer(0)),
            Stage::LastAnswer(turns) if queued && (why == Why::Pause || turns < MAX_WAITING) => {
                (why, Stage::LastAnswer(turns.saturating_add(1)))
            }
            Stage::Aborted => (why, stage),
            Stage::Begun | Stage::LastAnswer(_) | Stage::Over => (why, Stage::Over),
        });
    }

    /// A request to the model follows; there is none after the last answer.
    pub fn turn_start(&mut self, cx: &mut Cx) {
        if self.is_over() {
            self.0 = self.0.map(|(why, _)| (why, Stage::Aborted));
            cx.push(Effect::Abort);
        }
    }

    /// The agent is at rest, and may have been stopped behind the end of a run. Without a user interface pi takes a
    /// stopped answer for a failure, with exit status 1, unless a message stands behind it.
    pub fn follow_stop(&self, last: Stop, cx: &mut Cx) {
        let was_stopped = self.is_over() && last == Stop::Aborted;
        if was_stopped && self.is_behind_end() && !self.is_of_branch() && !cx.ui.exists() {
            cx.push(Effect::Steer(text::STOPPED_BEHIND_END.into()));
        }
    }

    /// The answer failed: pi asks for it again.
    pub fn answer_failed(&mut self) {
        self.0 = self.0.map(|(why, stage)| match stage {
            Stage::Over | Stage::Aborted if why != Why::BranchEnd => (why, Stage::LastAnswer(0)),
            _ => (why, stage),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_more_answer_follows_the_turn_at_hand() {
        let mut ending = Ending::default();
        ending.turn_over(false);
        assert!(!ending.is_begun(), "it begins only by a pause or an end");
        ending.begin();
        ending.turn_over(false);
        assert!(!ending.is_over());
        ending.begin();
        ending.turn_over(true);
        assert!(!ending.is_over(), "a message of the user is answered");
        ending.turn_over(false);
        assert!(ending.is_over());
        ending.answer_failed();
        assert!(ending.is_begun() && !ending.is_over());
    }

    #[test]
    fn a_message_that_waits_does_not_keep_the_agent_going_behind_an_end() {
        let mut ending = Ending::default();
        ending.run_ended(&AgentOf::SESSION);
        let turns = (0..20).take_while(|_| {
            ending.turn_over(true);
            !ending.is_over()
        });
        assert_eq!(turns.count(), 5);
    }

    #[test]
    fn an_end_lasts_until_the_next_prompt_and_that_of_a_branch_for_ever() {
        let mut ending = Ending::default();
        ending.begin();
        ending.run_ended(&AgentOf::SESSION);
        ending.end_pause();
        assert!(ending.is_behind_end(), "nothing goes on");
        ending.prompted();
        assert!(!ending.is_begun());
        ending.run_ended(&AgentOf::BRANCH);
        ending.prompted();
        ending.end_pause();
        assert!(ending.is_behind_end());
        ending.turn_over(false);
        ending.answer_failed();
        assert!(ending.is_over(), "no closing answer");
    }
}
