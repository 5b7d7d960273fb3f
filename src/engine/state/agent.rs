//! The state of the agent, and of one turn of it.

use crate::text::DefaultRole;
use crate::usage::Usage;

use crate::engine::effect::Summary;
use crate::engine::event::Stop;

/// The agent of the session.
#[derive(Debug, Default)]
pub struct Agent {
    pub activity: Activity,
    /// The time when it began to work, in milliseconds since 1970.
    pub working_since: u64,
    /// The origin of the prompt that the agent works on, or worked on last.
    pub origin: Origin,
    /// Since its prompt the agent did more than talk and ask for status.
    pub worked: bool,
    /// The agent's last action was a first call of `cancel`. Never stored.
    pub cancel_asked: bool,
    /// The moves in this agent run that were refused while a tool call ran.
    pub refused_moves: u32,
    /// Refusals, attempts at gates and dialogs since the newest state entry, which pi's entries do not tell.
    pub noted: Usage,
    /// The ticket of a dialog that a tool call waits for, and its beginning in milliseconds since 1970.
    pub dialog: Option<(u64, u64)>,
    /// The end of its last turn.
    pub last_stop: Stop,
    /// Its role where the workflow does not say it.
    pub role: DefaultRole,
    /// The context prompt that the model has in view.
    pub in_view: Option<String>,
    /// The host sends the model the newest context prompt only.
    pub keeps_newest: bool,
    /// The view that was begun with the present turn.
    pub view: Option<View>,
    /// Told with the next context prompt.
    pub note: Option<String>,
    /// It was aborted for a move of the user, which ends its tool calls, and is not at rest yet.
    pub is_stopping: bool,
    /// Prompts it when it is at rest: it goes on in another phase.
    pub prompt_at_rest: Option<String>,
    /// Set while the agent's run ends because the run of the workflow is paused.
    pub ending: Option<Ending>,
}

/// The end of the agent's run, because the run of the workflow is paused: all tool calls are refused, and the model gives at
/// most one more answer after the one at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The turn in which it began is not over.
    Begun,
    /// The last answer.
    LastAnswer,
    /// The last answer was given: a further request to the model is prevented.
    Over,
}

impl Agent {
    pub fn is_working(&self) -> bool {
        self.activity == Activity::Working
    }

    /// Tests if the run is in a countdown or waits for the user.
    pub fn is_at_rest(&self) -> bool {
        match self.activity {
            Activity::Countdown { .. } | Activity::Waiting => true,
            Activity::Idle | Activity::Working => false,
        }
    }
}

/// A view of the conversation without the earlier messages.
#[derive(Debug)]
pub struct View {
    /// The run whose phase began it.
    pub task_id: String,
    /// The number of steps of this run.
    pub step: u64,
    /// Stands for the earlier messages.
    pub summary: Summary,
}

/// State of the agent. A paused run leaves it [`Activity::Idle`]: the pause says more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Activity {
    /// It is about to work, or has nothing to do.
    #[default]
    Idle,
    /// It runs.
    Working,
    /// It is prompted to continue when the seconds are over.
    Countdown {
        /// The seconds that are left.
        seconds: u32,
    },
    /// Nothing happens until the user sends a message or resumes the run.
    Waiting,
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
    /// The origin of a move that the model does not know of in this turn.
    pub untold_move: Option<Mover>,
}

/// Origin of a move that the model does not know of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mover {
    /// The user, by a command.
    User,
    /// A nested call of `workflow_step`, whose result goes to the tool that made it.
    NestedCall,
}
