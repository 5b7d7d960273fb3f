//! Events in, effects out.
//!
//! **Invariant: the engine performs nothing.** [`Engine::handle`] takes an event with its context and returns the
//! effects as data. The engine asks the host through one trait and has no other way outside.
//! `docs/architecture.md` names the parts and the files.

mod agent;
mod answers;
mod arguments;
mod ask;
mod branches;
mod briefing;
mod budget;
mod commands;
mod consent;
mod context;
mod continuation;
mod deadlines;
mod display;
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
mod new_workflow;
mod pace;
mod proposals;
mod quota;
mod repetition;
mod run_dir;
mod run_through;
mod running;
mod scripts;
mod session;
mod start;
mod state;
mod step_tool;
mod tools;
mod users_messages;
mod watching;

use crate::definition::Stale;

use context::Cx;
use continuation::tell_pause;
use deadlines::state::{BUDGET_TIMER, SILENCE_TIMER};
use display::Shown;
use entries::MAY_HAVE_RUN;
use fresh_start::mark_prompts;
use scripts::follow_scripts;
use state::{Turn, Waiter};
use watching::Observed;

pub use arguments::prepared;
pub use budget::bound;
pub use commands::{
    ACCEPT_RULES_FLAG, ALLOW_COMMANDS_FLAG, ALLOW_INPUTS_FLAG, ALLOW_VALUES_FLAG, BUDGET_FLAG, COMMANDS, Command,
    Completion, EVENTS_FLAG, MORE_FLAG, SILENCE_FLAG, WAIT_FLAG,
};
pub use context::{Context, Ui};
pub use effect::{ChildStart, Effect, Level, Output, OutputFile, Reply, Request, Summary, ToolResult};
pub use event::{Answer, ChildEnd, ChildReport, CommandEnd, EndedCall, Event, Facts, Ran, Stop, Watching};
pub use host::Host;
pub use may::{May, may};
pub use pace::Pace;
pub use proposals::{PROPOSE_TOOL_LABEL, propose_parameters};
pub use quota::ModelFailure;
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
        if follow_scripts(&mut self.run, &event, &cx).is_err() {
            return Output::default();
        }
        if may_go_on(&event) && self.run.running().is_some() && self.run.claim(false, cx.host).is_err() {
            return Output::default();
        }
        self.tell_hold(&mut cx);
        let begins_turn = event.begins_turn();
        if begins_turn {
            self.briefing.begin_turn();
        }
        if let Event::Answer { ticket, .. } = event {
            self.meter.end_dialog(ticket, cx.unix_ms);
        }
        let called = if let Event::ToolCall { name, .. } = &event { Some(*name) } else { None };
        let Self { run, agent, meter, pending, watch, .. } = &*self;
        watch.tell_before(&event, &Observed { run, agent, meter, pending }, &mut cx);
        let was_waiting = self.quota.is_waiting();
        let reply = self.react(event, &mut cx);
        if begins_turn {
            self.turn = Turn::default();
        }
        let Ok(reply) = reply else { return Output::default() };
        if !matches!(reply, Reply::Ask { .. }) {
            // No call or command has brought the run to the entry.
            self.pause_unless_begun(MAY_HAVE_RUN, &mut cx);
        }
        self.agent.forget_end(&self.run);
        if let Reply::Ask { ticket, .. } = reply
            && self.pending.is_dialog_of_call(ticket)
        {
            self.meter.begin_dialog(ticket, cx.unix_ms);
        }
        self.tell_hold(&mut cx);
        cx.gone = cx.gone || self.proposals.follow(&self.run, &mut cx).is_err();
        self.quota.follow(&self.run, &mut cx);
        // A process that ends with its prompt stays for the wait.
        let stays = reply == Reply::None && !was_waiting && self.quota.is_waiting() && !cx.ui.exists();
        let reply = if stays { Reply::Settle } else { reply };
        mark_prompts(&self.run, &mut cx);
        let Self { run, agent, meter, pending, watch, deadlines, session, children, .. } = &mut *self;
        let observed = Observed { run, agent, meter, pending };
        watch.tell_after(called, &reply, &observed, &mut cx);
        deadlines.follow(&observed, children, session, &mut cx);
        if cx.gone {
            return Output { effects: Vec::new(), reply: reply.restriction() };
        }
        let Self { run, agent, limits, meter, children, .. } = self;
        let shown = Shown { run, agent, limits, meter, children, has_dialog: self.pending.is_for_user() };
        self.display.update(&shown, &mut cx);
        if !self.works_on_run() {
            cx.effects.extend(self.run.release_claim());
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
            Event::Input { from_user } => return self.input(from_user, cx),
            Event::TerminalInput { interrupts } => {
                self.agent.interrupt_countdown(&self.run, cx);
                if interrupts
                    && self.quota.is_waiting()
                    && let Some(ended) = self.run.attended(cx.unix_ms)
                {
                    self.transition(ended, cx);
                    tell_pause(&self.run, cx);
                }
            }
            Event::BeforeAgentStart { role } => return self.before_agent_start(role, cx),
            Event::Compacted => return Ok(self.briefing.compacted(&self.run, &self.agent)),
            Event::Role(role) => self.briefing.set_role(role),
            Event::MessageStart { from_user } => self.agent.message_start(from_user, &self.run),
            Event::AgentStart => self.agent_start(cx)?,
            Event::TurnStart => self.agent.ending.turn_start(cx),
            Event::TurnEnd { queued, calls } => return self.turn_end(queued, calls, cx),
            Event::AgentEnd { stop } => self.agent_end(stop, cx),
            Event::BeforeSettle => return self.before_settle(cx),
            Event::AgentSettled => {
                let interrupted = self.agent.is_interrupted();
                self.agent_settled(cx);
                let start = self.proposals.take_start(interrupted, &mut self.run, &mut self.session, cx);
                let reply = start.map_or(Reply::None, |start| self.begin_run(&start, cx));
                return Ok(self.follow_entries(reply, Waiter::User, cx));
            }
            Event::ToolCall { name, carries_calls } => {
                return Ok(self.tool_call(name, carries_calls, cx));
            }
            Event::Step { input, nested } => {
                let reply = self.step(input, nested, cx);
                return Ok(self.follow_entries(reply, Waiter::Call { nested }, cx));
            }
            Event::Propose { input, nested } => {
                let next = self.proposals.called(input, nested, &mut self.run, &mut self.session, cx)?;
                return Ok(self.proposals.reply(next, &mut self.pending, &mut self.agent));
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
            Event::Timer { id: quota::TIMER, idle } => self.quota.tick(idle, cx),
            Event::Timer { id: id @ (BUDGET_TIMER | SILENCE_TIMER), .. } => self.deadline(id, cx),
            Event::Timer { id, idle } => self.timer(id, idle, cx),
            Event::TimeSkipped { ms } => {
                self.meter.skip(ms, &mut self.agent.activity, cx.unix_ms);
                // The state is stored, so that a later process knows the time that was no work.
                if let Some(state) = self.run.running().cloned() {
                    self.transition(state, cx);
                }
            }
            Event::ViewBegun { first_kept } => self.fresh_start.begun(first_kept),
            Event::NotStored { is_newest } => self.not_stored(is_newest, cx),
        }
        Ok(Reply::None)
    }
}

/// Returns true for an event in which a run that this process has not claimed may go on. The beginning of a session, a
/// start and a command claim it themselves, also the command at the end of a wait.
fn may_go_on(event: &Event) -> bool {
    matches!(event, Event::Input { .. } | Event::AgentStart | Event::Answer { .. })
}

/// A command that prompted the agent ends when the agent is at rest.
fn settling(reply: Reply, cx: &Cx) -> Reply {
    if cx.prompted && reply == Reply::None { Reply::Settle } else { reply }
}

#[cfg(test)]
mod tests;
