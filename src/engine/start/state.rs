//! A run that is to start, and the questions before its start.

use crate::engine::consent::Unallowed;
use crate::engine::context::Cx;
use crate::engine::effect::{Level, Request};
use crate::sorted::{Map, Set};

/// A run that is to start.
#[derive(Debug, Clone, Default)]
pub struct Start {
    pub command_name: String,
    pub task: String,
    /// The values of inputs, by name.
    pub values: Map<String, String>,
    /// The commands that the user has allowed for this run.
    pub allowed: Set<String>,
    /// The user starts the run in the place of the run in progress.
    pub replaces_run: bool,
    /// The agent has proposed the run, and the user has allowed it.
    pub is_proposed: bool,
    /// The inputs that the user is asked for although a run needs no value of them.
    pub to_ask: Set<String>,
}

/// A question before a run starts.
#[derive(Debug)]
pub enum StartAsked {
    /// One of these workflows, by their names for users.
    Workflow(Vec<String>),
    /// The task.
    Task(Start),
    /// An option of an input of this name.
    Choice { start: Start, name: String, options: Vec<String> },
    /// The value of an input of this name.
    Text { start: Start, name: String },
    /// Another item for an input of this name, a list.
    Item { start: Start, name: String, items: Vec<String> },
    /// A yes to end the run in progress.
    Another(Start),
    /// A yes to the project's workflow with this key in the place of the user's own. `identity`: the project's identity,
    /// under which the yes is remembered.
    Replacement { start: Start, identity: Option<String>, key: String },
    /// A yes to this number of agents; `identity` as above.
    ManyAgents { start: Start, identity: Option<String>, about: String },
    /// The consent to the commands of all gates.
    Consent(Start, Unallowed),
}

/// The next action before a run starts.
pub enum Next {
    /// An answer.
    Ask(Request, StartAsked),
    /// Nothing: the run starts.
    Ready(Start),
    /// The run cannot start, and the user was told why.
    Refused,
    /// The user does not start the run.
    Declined,
}

impl Next {
    /// The user does not start the run, and is told so.
    pub fn declined(cx: &mut Cx) -> Self {
        cx.notify(Level::Info, "The workflow is not started.");
        Self::Declined
    }
}
