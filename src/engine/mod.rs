//! Events in, effects out.
//!
//! **Invariant: the engine performs nothing.** [`Engine::handle`] takes an event with its context and returns the
//! effects as data. The engine asks the host through one trait and has no other way outside.
//!
//! | file | content |
//! | --- | --- |
//! | `state` | the parts, each with its private state; the one writer of the run |
//! | `session` | events of the session |
//! | `accounting` | the usage of a run |
//! | `budget` | budgets: the agent is told near the end of a budget, and the run pauses at the end |
//! | `ask` | requests to the user and the host, and the continuations after the answers |
//! | `attention` | the user is told outside of pi that the run waits or has ended |
//! | `arguments` | the arguments of `workflow_step` in another spelling |
//! | `agent` | events of the agent's work, and of tool calls |
//! | `branches` | the branches of a parallel group, on which children work |
//! | `entries` | entries without the model |
//! | `ending` | the end of the agent's run when the run of the workflow pauses |
//! | `repetition` | an agent that does the same again and again |
//! | `running` | the tool calls that run when a phase is left |
//! | `continuation` | an agent that stopped before DONE: it continues, or the run pauses |
//! | `countdown` | the end of a countdown, and the wait for the user |
//! | `briefing` | the context prompt: when the model gets it, and when a reminder |
//! | `long_task` | a task that is too long for the state entries of its run |
//! | `run_dir` | the folder of a run in the project |
//! | `fresh_start` | a phase that sees nothing of the earlier work |
//! | `host` | the functions of the host for the engine |
//! | `hold` | a run whose rules do not hold |
//! | `step_tool` | calls of `workflow_step` |
//! | `tools` | the tools that the model is shown |
//! | `models` | the model and the thinking level of a phase |
//! | `gate` | the checks before a phase is left |
//! | `commands` | `/workflow` and `/cancel-workflow`, their dialogs and completions |
//! | `panel` | the panel above the editor |
//! | `may` | the decision on a tool call without pi |
//! | `run_through` | a run without pi and without a model |

mod accounting;
mod agent;
mod arguments;
mod ask;
mod attention;
mod branches;
mod briefing;
mod budget;
mod commands;
mod context;
mod continuation;
mod countdown;
mod effect;
mod ending;
mod entries;
mod environment;
mod event;
mod fresh_start;
mod gate;
mod hold;
mod host;
mod limits;
mod long_task;
mod may;
mod models;
mod moved;
mod panel;
mod repetition;
mod run_dir;
mod run_through;
mod running;
mod session;
mod state;
mod step_tool;
mod tools;
mod users_messages;

use crate::definition::Stale;

use context::Cx;
use state::{Turn, Waiter};

pub use arguments::prepared;
pub use budget::bound;
pub use commands::{ACCEPT_RULES_FLAG, ALLOW_COMMANDS_FLAG, BUDGET_FLAG, COMMANDS, Command, Completion, MORE_FLAG};
pub use context::{Context, Ui};
pub use effect::{ChildStart, Effect, Elsewhere, Level, Output, OutputFile, Reply, Request, Summary, ToolResult};
pub use event::{Answer, ChildEnd, ChildReport, CommandEnd, EndedCall, Event, Facts, Stop};
pub use host::Host;
pub use may::{May, may};
pub use run_through::{Given, run_through};
pub use running::{RunningCall, other_tools};
pub use state::Engine;
pub use step_tool::{STEP_TOOL, StepTool};

impl Engine {
    /// Handles an event, and returns the effects and the reply.
    ///
    /// If the session is gone, there are no effects, and the reply is at most the refusal or the limits of a tool call.
    pub fn handle(&mut self, event: Event, context: &Context) -> Output {
        let mut cx = Cx::new(context);
        self.meter.begin_event();
        self.keeper.begin_event();
        let hid_panel = self.hides_panel(cx.ui);
        self.tell_hold(&mut cx);
        let begins_turn = event.begins_turn();
        if begins_turn {
            self.briefing.begin_turn();
        }
        if let Event::Answer { ticket, .. } = event {
            self.meter.end_dialog(ticket, cx.unix_ms);
        }
        let reply = self.react(event, &mut cx);
        if begins_turn {
            self.turn = Turn::default();
        }
        let Ok(reply) = reply else { return Output::default() };
        self.pause_at_entry(&reply, &mut cx);
        self.forget_ending();
        debug_assert!(self.run.is_resolved(self.definitions.library()), "with the files as read last");
        self.begin_dialog(&reply, &cx);
        self.tell_hold(&mut cx);
        self.mark_prompts(&mut cx);
        cx.gone = cx.gone || self.call_for_attention(&mut cx).is_err();
        if cx.gone {
            return Output { effects: Vec::new(), reply: reply.restriction() };
        }
        if self.session.panel && (cx.status_shows_wait.is_some() || hid_panel != self.hides_panel(cx.ui)) {
            self.draw_panel(&mut cx);
        }
        if let Reply::Compact { .. } = reply {
            // The entries become part of the host's compaction, which other extensions can replace.
            self.run.doubt_stored();
        }
        Output { effects: cx.effects, reply }
    }

    fn react(&mut self, event: Event, cx: &mut Cx) -> Result<Reply, Stale> {
        match event {
            Event::Session { stored, in_view, facts } => {
                self.session(stored, in_view, facts, cx)?;
            }
            Event::SessionShutdown => self.session_shutdown(cx),
            Event::Input { from_user } => self.input(from_user, cx)?,
            Event::TerminalInput => self.terminal_input(cx),
            Event::BeforeAgentStart { role } => return self.before_agent_start(role, cx),
            Event::Compacted => return Ok(self.compacted()),
            Event::Role(role) => self.briefing.set_role(role),
            Event::MessageStart { from_user } => self.message_start(from_user),
            Event::AgentStart => self.agent_start(cx)?,
            Event::TurnStart => self.ending.turn_start(cx),
            Event::TurnEnd { queued, calls } => return self.turn_end(queued, calls, cx),
            Event::AgentEnd { stop } => self.agent_end(stop, cx),
            Event::BeforeSettle => return self.before_settle(cx),
            Event::AgentSettled => self.agent_settled(cx),
            Event::ToolCall { name, carries_calls } => {
                return Ok(self.tool_call(name, carries_calls, cx));
            }
            Event::Step { input, nested } => {
                let reply = self.step(input, nested, cx);
                return Ok(self.follow_entries(reply, Waiter::Call { nested }, cx));
            }
            Event::Command { name, arguments } => {
                let reply = self.command(name, arguments, cx)?;
                let reply = self.follow_entries(reply, Waiter::User, cx);
                return Ok(settling(reply, cx));
            }
            Event::Answer { ticket, answer } => {
                let reply = self.answered(ticket, answer, cx);
                return Ok(settling(reply, cx));
            }
            Event::Select { pick, own } => self.selected(pick, own, cx)?,
            Event::Child { report, ended } => self.child_told(report, ended, cx),
            Event::Timer { id, idle } => self.timer(id, idle, cx),
        }
        Ok(Reply::None)
    }
}

/// A command that prompted the agent ends when the agent is at rest.
fn settling(reply: Reply, cx: &Cx) -> Reply {
    if cx.prompted && reply == Reply::None { Reply::Settle } else { reply }
}

#[cfg(test)]
mod tests;
