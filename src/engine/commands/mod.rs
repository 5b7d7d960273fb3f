//! The slash commands.
//!
//! | file | content |
//! | --- | --- |
//! | `controls` | `/workflow :status` and the like: the controls and their dispatch |
//! | `moves` | the controls that move, pause, resume or cancel the run |
//! | `show` | the controls that show something |
//! | `complete` | completions of the arguments of `/workflow` |

mod complete;
mod controls;
mod moves;
mod show;

use crate::definition::{Stale, trim};
use crate::protocol::{CANCEL_COMMAND, WORKFLOW_COMMAND};

use super::context::Cx;
use super::effect::{Effect, Level, Reply};
use super::hold::held_notice;
use super::quota::state::OVER;
use super::run_dir::restore_run_dir;
use super::state::Engine;

pub use complete::Completion;
pub(super) use show::show;

/// Registration of a command or a flag.
#[derive(Debug)]
pub struct Command {
    /// Its name, without the slash.
    pub name: &'static str,
    /// Its description, in a line.
    pub description: &'static str,
}

/// All commands.
pub const COMMANDS: [Command; 2] = [
    Command {
        name: WORKFLOW_COMMAND,
        description: "Start a configured workflow. Usage: /workflow {name} {description}",
    },
    Command {
        name: CANCEL_COMMAND,
        description: "Cancel the active workflow and jump to DONE. Bypasses the not-done reminder loop.",
    },
];

/// The flag by which the commands of a project's workflows run without a question.
pub const ALLOW_COMMANDS_FLAG: Command = Command {
    name: "allow-workflow-commands",
    description: "Run the commands that gates of the project's and of packages' workflows name, without a question",
};

/// The flag that allows values of a run as commands, one on each line, without a question.
pub const ALLOW_VALUES_FLAG: Command = Command {
    name: "allow-workflow-value",
    description: "Run this value as a command, such as that of `check` of the workflow goal, without a question",
};

/// The flag that allows the values that a command line gives to inputs of the type `command`.
pub const ALLOW_INPUTS_FLAG: Command = Command {
    name: "allow-workflow-inputs",
    description: "Run the commands that /workflow of this command line gives to inputs, without a question",
};

/// The flag with a bound for each run beside the budgets of its workflow, such as `cost=2,time=30m`.
pub const BUDGET_FLAG: Command = Command {
    name: "workflow-budget",
    description: "What a workflow may take beside its own budgets, such as cost=2,time=30m",
};

/// The flag that accepts changed rules of a run, if its value is the seal of the new rules.
pub const ACCEPT_RULES_FLAG: Command = Command {
    name: "accept-workflow-rules",
    description: "Go on with a run whose rules have changed, if they have this seal",
};

/// The flag that adds to a budget of a run that is used up.
pub const MORE_FLAG: Command = Command {
    name: "workflow-budget-more",
    description: "What /workflow :resume adds to a budget that is used up, such as 1.00; \"unknown\" accepts unknown costs",
};

/// The flag by which the events of the run are written to standard error in print and JSON mode, and have their texts.
pub const EVENTS_FLAG: Command = Command {
    name: "workflow-events",
    description: "Write the events of a workflow to standard error in print and JSON mode, as JSON lines; \"full\": with texts, in RPC mode too",
};

/// The flag with the time that waits for limits of the model may take.
pub const WAIT_FLAG: Command = Command {
    name: "workflow-wait",
    description: "How long a run may wait for the ends of limits of the model in all, such as 6h",
};

/// The flag with the time after which an agent without new output is stopped.
pub const SILENCE_FLAG: Command = Command {
    name: "workflow-silence",
    description: "The time without new output after which the agent of a run is stopped, such as 2h, or off",
};

impl Engine {
    /// Runs a command.
    pub(super) fn command(&mut self, name: &str, arguments: &str, cx: &mut Cx) -> Result<Reply, Stale> {
        let arguments = trim(arguments);
        let control = controls::find(arguments).filter(|_| name == WORKFLOW_COMMAND);
        let is_of_wait = control == Some((controls::Control::Wait, OVER));
        if is_of_wait && !self.quota.is_due(cx.unix_ms) {
            return Ok(Reply::None);
        }
        // A command that only shows something leaves the agent to its countdown.
        let shows = control.is_some_and(|(control, _)| control.only_shows());
        let was_at_rest = self.agent.activity.is_at_rest();
        let was_held = self.run.held().is_some();
        if self.run.running().is_some() && (!shows || self.run.is_of_other_process()) {
            self.run.claim(false, cx.host)?;
            if self.run.is_of_other_process() && !matches!(control, Some((controls::Control::Resume, _))) {
                cx.fail(Level::Warning, held_notice(&self.run, &self.session, cx.ui));
                return Ok(Reply::None);
            }
        }
        if !shows {
            self.agent.activity.stop(cx);
            if !is_of_wait && let Some(ended) = self.run.attended(cx.unix_ms) {
                self.transition(ended, cx);
            }
        }
        if was_held {
            self.run.read_files(|definitions| definitions.refresh(cx.host))?;
            if self.run.held().is_none() {
                restore_run_dir(&mut self.run, cx)?;
            }
        }
        let reply = match (name, control) {
            (WORKFLOW_COMMAND, Some((control, argument))) => {
                self.control(control, argument, was_at_rest || was_held, cx)?
            }
            (WORKFLOW_COMMAND, None) if arguments.starts_with(':') => {
                cx.fail(Level::Error, controls::unknown(arguments));
                Reply::None
            }
            (WORKFLOW_COMMAND, None) => self.workflow_command(arguments, cx)?,
            (CANCEL_COMMAND, _) => {
                self.cancel_by_user(cx);
                Reply::None
            }
            _ => Reply::None,
        };
        if cx.failed && !cx.ui.exists() && reply == Reply::None {
            cx.push(Effect::SetExitCode(1));
        }
        // The wait goes on unless the agent was prompted.
        if !shows && was_at_rest && !cx.prompted {
            self.agent.wait_for_user(&self.run, cx);
        }
        Ok(reply)
    }
}
