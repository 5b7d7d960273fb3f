//! Names that sessions, models and the host know: of entries, messages, the tool and the commands.

/// Custom type of the session entries that hold a run's state.
///
/// Specification: state management, "Persistence".
pub const STATE_ENTRY_TYPE: &str = "workflow:state";
/// Custom type of the session entry that remembers whether the panel is on: `{"on": true}`.
pub const PANEL_ENTRY_TYPE: &str = "workflow:panel";
/// Field of a state entry with the same meaning as the panel entry; found without a search through a long session.
pub const PANEL_FIELD: &str = "panel";

/// Custom type of the hidden message with the context prompt.
pub const CONTEXT_MESSAGE_TYPE: &str = "workflow:context";
/// Custom type of the message that tells the agent that the user moved or cancelled the run.
pub const MOVED_MESSAGE_TYPE: &str = "workflow:moved";
/// Custom type of the message that reminds the agent of its phase: with a later run of the agent in the same phase, and
/// when it continues without a user interface.
pub const REMINDER_MESSAGE_TYPE: &str = "workflow:reminder";
/// Custom type of the message that the reference shows before the agent continues without a user interface.
pub const COUNTDOWN_TYPE: &str = "workflow:countdown";

/// Custom type of the entry that shows the end of a run.
pub const COMPLETE_TYPE: &str = "workflow:complete";
/// Custom type of the entry that shows what a phase with a fresh context sees, and of the hidden message with the
/// images of the user that it sees.
pub const FRESH_TYPE: &str = "workflow:fresh";
/// Custom type of the entry before a prompt that this package sends in the user's place: `{"fingerprint": …}` of its
/// text.
pub const PROMPT_ENTRY_TYPE: &str = "workflow:prompt";
/// Custom entry type: the whole task of a run whose state entries have its beginning.
pub const TASK_ENTRY_TYPE: &str = "workflow:task";
/// Custom entry type: the input of a child besides its run.
pub const BRANCH_ENTRY_TYPE: &str = "workflow:branch";
/// Custom type of the entry that `/workflow :status` shows.
pub const STATUS_TYPE: &str = "workflow:status";
/// Custom type of the entry that `/workflow :limits` shows.
pub const LIMITS_TYPE: &str = "workflow:limits";
/// Custom type of the entry that records that the user has switched the limits off or on: `{"limits": "off"}`. Nothing
/// reads it.
pub const LIMITS_ENTRY_TYPE: &str = "workflow:limits-switch";
/// Custom type of the entry above a question of a workflow: its subject.
pub const QUESTION_TYPE: &str = "workflow:question";
/// Custom type of the entry that `/workflow :check` shows.
pub const CHECK_TYPE: &str = "workflow:check";
/// Custom type of the entry that `/workflow :graph` shows.
pub const GRAPH_TYPE: &str = "workflow:graph";
/// Custom type of the entry that `/workflow :report` shows.
pub const REPORT_TYPE: &str = "workflow:report";

/// Key of the status that has the events of a run in RPC mode, and the word before them on standard error elsewhere.
pub const EVENT_KEY: &str = "workflow:event";

/// Name of the tool by which the agent moves the run.
pub const STEP_TOOL_NAME: &str = "workflow_step";
/// Name of the tool by which the agent proposes a workflow to the user.
pub const PROPOSE_TOOL_NAME: &str = "workflow_propose";
/// Custom type of the entry that stores the answer of the user to a proposal of the agent: `{"workflow": NAME, "answer": …}`.
pub const PROPOSAL_TYPE: &str = "workflow:proposal";
/// Name of the command that starts and controls a run, without the slash.
pub const WORKFLOW_COMMAND: &str = "workflow";
/// Name of the command that cancels the run, without the slash.
pub const CANCEL_COMMAND: &str = "cancel-workflow";
