//! Whose agent works: the session's, or the agent of a branch.

use crate::run::RunState;

/// The properties in which the agent of the session and the agent of a branch differ. Only texts about the end of a run
/// ask for the branch itself.
#[derive(Debug)]
pub struct AgentOf {
    /// The user is told of the pauses, the waits and the end of its run. Those of a branch are told by the run that
    /// contains the branch.
    pub tells_user: bool,
    /// The options of the command line are for its run, and the user can accept changed rules for it.
    pub takes_options: bool,
    /// It continues after a countdown, in which the user can interrupt it: nobody watches a branch.
    pub counts_down: bool,
    /// It waits for the end of a limit of the model.
    pub waits: bool,
    /// It gets another prompt after the end of its run.
    pub is_prompted_again: bool,
}

impl AgentOf {
    pub const SESSION: Self =
        Self { tells_user: true, takes_options: true, counts_down: true, waits: true, is_prompted_again: true };
    pub const BRANCH: Self =
        Self { tells_user: false, takes_options: false, counts_down: false, waits: false, is_prompted_again: false };

    /// The agent that works on this run; without a run, the session's.
    pub fn run<'a>(state: impl Into<Option<&'a RunState>>) -> &'static Self {
        let is_branch = state.into().is_some_and(|state| state.progress().branch.is_some());
        if is_branch { &Self::BRANCH } else { &Self::SESSION }
    }
}
