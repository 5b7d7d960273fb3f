//! The agent: its activity, the end of its run, and the state of its turn.

use crate::engine::context::Cx;
use crate::engine::ending::state::Ending;
use crate::engine::event::Stop;
use crate::run::RunState;

use super::activity::Activity;
use super::agent_of::AgentOf;
use super::run::Run;

#[derive(Debug, Default)]
pub struct Agent {
    pub activity: Activity,
    pub ending: Ending,
    /// The origin of the prompt that the agent works on, or worked on last.
    pub origin: Origin,
    /// Since its prompt the agent did more than talk and ask for status.
    pub worked: bool,
    /// The agent's last action was a first call of `cancel`. Never stored.
    pub cancel_asked: bool,
    /// The moves in this agent run that were refused while a tool call ran.
    pub refused_moves: u32,
    /// The end of its last turn.
    pub last_stop: Stop,
    /// The agent is about to start: other extensions may delay the start, and a prompt would not begin another run.
    pub is_starting: bool,
    /// The agent was aborted for a move of the user, which ends its tool calls, and is not at rest yet.
    pub is_stopping: bool,
    /// The prompt for the agent when it is at rest, to go on in another phase.
    pub prompt_at_rest: Option<String>,
}

/// Origin of a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Origin {
    /// The user or another extension.
    #[default]
    Other,
    /// The engine, which has sent a prompt to continue that pi has not reported yet.
    OwnUnreported,
    /// The engine: the agent continues automatically.
    Own,
}

/// State that lasts for one turn of the agent; a new turn is `Turn::default()`.
#[derive(Debug, Default)]
pub struct Turn {
    /// A gate was already checked for the agent: a second `next` in the same turn comes too early.
    pub gate_checked: bool,
    /// The run before the agent's first move in this answer: the calls behind it were meant for the phase that was
    /// left.
    pub left: Option<RunState>,
}

impl Agent {
    /// The session begins. `at_work`: in the middle of a run of the agent.
    pub fn begin_session(&mut self, at_work: bool) {
        let Self { origin, worked, last_stop, .. } = *self;
        *self = Self { activity: Activity::restored(at_work), origin, worked, last_stop, ..Self::default() };
    }

    /// Returns true if the agent is at work, or about to start.
    pub fn has_begun(&self) -> bool {
        self.activity.is_working() || self.is_starting
    }

    /// Returns true if the agent's run was aborted, and not at the end that this package has set.
    pub fn is_interrupted(&self) -> bool {
        self.last_stop == Stop::Aborted && !self.ending.has_aborted()
    }

    /// A prompt was given.
    pub fn prompted(&mut self, by_user: bool) {
        self.origin = match self.origin {
            Origin::OwnUnreported if !by_user => Origin::Own,
            Origin::OwnUnreported | Origin::Own | Origin::Other => Origin::Other,
        };
    }

    /// The agent is about to start on a prompt. Returns the prompt that was kept for the time of its rest.
    pub fn starts(&mut self) -> Option<String> {
        self.cancel_asked = false;
        self.worked = false;
        self.refused_moves = 0;
        self.ending.prompted();
        self.is_stopping = false;
        self.is_starting = true;
        self.prompt_at_rest.take()
    }

    /// A message in the user's role has reached the agent. After the end of a run, a message that the user wrote or the
    /// prompt of the next run gives the agent its rights back. A pause continues: the prompt may be older than the
    /// pause.
    pub fn message_start(&mut self, from_user: bool, run: &Run) {
        if from_user || run.running().is_some() && self.ending.is_behind_end() {
            self.ending.prompted();
        }
    }

    /// The agent is told to continue.
    pub fn continued(&mut self, origin: Origin, run: &mut Run) {
        (self.origin, self.worked) = (origin, false);
        run.change_unstored(|state, _| state.continued());
    }

    /// The run of the workflow is paused or held: the agent's run ends, if it is at work.
    pub fn end_run(&mut self) {
        if self.has_begun() {
            self.ending.begin();
        }
    }

    /// The run of the workflow has ended: an agent at work has no rights until its next prompt.
    pub fn run_ended(&mut self, of: &AgentOf) {
        if self.has_begun() {
            self.ending.run_ended(of);
        }
    }

    /// Waits for the user, if the agent is at rest in a run that is not paused.
    pub fn wait_for_user(&mut self, run: &Run, cx: &mut Cx) {
        self.activity.stop(cx);
        if run.active().is_some_and(|active| active.state.progress().paused.is_none()) {
            self.activity.wait();
        }
    }

    /// Waits for the user if the agent came to rest during a dialog that has ended, unless another request is pending.
    pub fn wait_after_dialog(&mut self, is_pending: bool, run: &Run, cx: &mut Cx) {
        if !self.activity.is_at_rest() && !is_pending {
            self.wait_for_user(run, cx);
        }
    }

    /// A key was pressed in the terminal: a countdown ends.
    pub fn interrupt_countdown(&mut self, run: &Run, cx: &mut Cx) {
        if self.activity.is_counting_down() {
            self.wait_for_user(run, cx);
        }
    }

    /// Returns true if the agent continues after a countdown, in which the user can interrupt it.
    pub fn counts_down(run: &Run, cx: &Cx) -> bool {
        cx.ui.exists() && run.agent_of().counts_down
    }

    /// The number of continuations in a row, up to now, in which the agent did nothing. `counted`: the number up to the
    /// last one. [`Repetition`](crate::engine::repetition::state::Repetition) counts the answers that were cut off
    /// instead.
    pub fn idle(&self, counted: u32) -> u32 {
        match self.last_stop {
            _ if self.worked || self.origin == Origin::Other => 0,
            Stop::CutOff => counted,
            Stop::Completed | Stop::Aborted | Stop::Failed => counted.saturating_add(1),
        }
    }
}
