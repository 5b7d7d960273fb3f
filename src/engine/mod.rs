//! Events in, effects out.
//!
//! **Invariant: the engine performs nothing.** [`Engine::handle`] takes what happened and returns
//! what is to be done, as data. It reads files through one trait and has no other way outside.
//!
//! | file | events |
//! | --- | --- |
//! | `hooks` | sessions, runs of the agent, tool calls |
//! | `briefing` | what the model is told about its phase, and when |
//! | `gate` | what is checked before a phase is left |
//! | `hold` | what happens while the rules of a run do not hold |
//! | `step_tool` | calls of `workflow_step` |
//! | `commands` | `/workflow` and `/cancel-workflow`, their questions, their completions |
//! | `controls` | `/workflow :status` and the like, by which the user moves a run |
//! | `picker` | the questions of `/workflow` alone |
//! | `replacement` | the question before a project's workflow runs in the place of the user's own |
//! | `panel` | the phases above the editor |
//! | `continuation` | what happens when the agent stops too early: go on, or pause |
//! | `countdown` | the seconds before the agent is told to go on |
//!
//! `run_through` plays a run without pi and without a model.

mod briefing;
mod commands;
mod continuation;
mod controls;
mod countdown;
mod effect;
mod event;
mod gate;
mod hold;
mod hooks;
mod panel;
mod picker;
mod replacement;
mod run_through;
mod step_tool;

use std::collections::BTreeSet;

use serde_json::json;

use crate::definition::{Diagnostic, FileError, Library, Severity, WorkflowFiles};
use crate::run::{Active, PauseReason, RunState, STATE_ENTRY_TYPE, Seal, Unusable};
use crate::text::{self, DefaultRole};

use commands::Question;
use continuation::Agent;
use countdown::Rest;

pub use commands::{ALLOW_COMMANDS_FLAG, COMMANDS, Command, Completion, WORKFLOW_COMMAND};
pub use effect::{Effect, Level, Output, Reply, Request, ToolResult};
pub use event::{Answer, CommandEnd, Event, Facts, Moment, Stop};
pub use run_through::run_through;
pub use step_tool::{STEP_TOOL, StepTool};

/// The custom type of the hidden message with the context prompt.
pub const CONTEXT_MESSAGE_TYPE: &str = "workflow:context";
/// The custom type of what is shown when a run ends.
pub const COMPLETE_TYPE: &str = "workflow:complete";
/// The custom type of the panel that `/workflow :status` shows.
pub const STATUS_TYPE: &str = "workflow:status";
/// The custom type of what stands above the question of an approval: its subject.
pub const APPROVAL_TYPE: &str = "workflow:approval";
/// The custom type of the panel that `/workflow :check` shows.
pub const CHECK_TYPE: &str = "workflow:check";
/// The custom type of the diagram that `/workflow :graph` shows.
pub const GRAPH_TYPE: &str = "workflow:graph";
/// The custom type of the entry that remembers whether the panel is on: `{"on": true}`.
pub const PANEL_ENTRY_TYPE: &str = "workflow:panel";
/// The field of a state entry that says the same: a state is found without searching a long session.
pub const PANEL_FIELD: &str = "panel";
/// The custom type of what the agent is told when the user moved the run.
pub const MOVED_MESSAGE_TYPE: &str = "workflow:moved";
/// The custom type of what the agent is told with a later run in the same phase, and when it goes on
/// without a user interface.
pub const REMINDER_MESSAGE_TYPE: &str = "workflow:reminder";
/// The custom type of what is shown before the agent is told to go on, without a user interface.
pub const COUNTDOWN_TYPE: &str = "workflow:countdown";

/// Workflows in one session: which there are, and the run in progress.
#[derive(Debug, Default)]
pub struct Engine {
    library: Library,
    /// The errors in the files of the library.
    errors: Vec<Diagnostic>,
    /// Whether the library is what the host's record is about.
    is_read: bool,
    /// The run in progress, or one that has ended and is still to be announced.
    run: Option<RunState>,
    /// The reason that the user was last told of why the rules of the run do not hold.
    told_hold: Option<PauseReason>,
    /// The rules of the files that the user was told of while they are not those of the run: these can be accepted.
    offered: Option<Seal>,
    /// The error in the stored state that the user was last told of.
    told_unusable: Option<Unusable>,
    /// Whether the agent's last action was a first call of `cancel`. Never stored.
    cancel_pending: bool,
    rest: Rest,
    agent: Agent,
    /// The agent's role where the workflow does not say it.
    role: DefaultRole,
    /// The origin of a move that the model's current answer does not know yet.
    untold_move: Option<Mover>,
    /// What the agent is told with the next context prompt.
    note: Option<String>,
    /// How the last run of this session ended, for the last line of a process without a user interface.
    ended: Option<Ended>,
    /// The context prompt that the model has in view.
    in_view: Option<String>,
    /// Whether the model is to get the newest context prompt only.
    keeps_newest: bool,
    /// Whether the agent's answer at hand has had its gate: a second `next` in it comes too early.
    gate_had: bool,
    /// Whether there is a user interface.
    has_ui: bool,
    /// Whether the user interface is a terminal.
    terminal: bool,
    /// Whether the panel above the editor is on.
    panel: bool,
    /// The project's directory, which consents to commands are bound to.
    project: String,
    /// Whether the commands of a project's workflows run without a question.
    allow_commands: bool,
    /// The commands that the user allowed for this session.
    allowed_commands: BTreeSet<String>,
    /// The keys of the user's workflows that the user lets the project replace in this session.
    accepted_replacements: BTreeSet<String>,
    /// What is asked of the user or the host, by ticket.
    questions: Vec<(u64, Question)>,
    last_ticket: u64,
    /// The errors in files that the user knows of, in words, so that the notice is not repeated.
    known_errors: Vec<String>,
}

impl Engine {
    /// Takes in what happened at a moment, and returns what is to be done.
    ///
    /// If the session is gone while files are read, nothing is to be done.
    pub fn handle(&mut self, event: Event, at: Moment, files: &dyn WorkflowFiles) -> Output {
        let hidden = self.hides_panel();
        let mut effects = self.tell_hold();
        let Ok(output) = self.react(event, at, files) else { return Output::default() };
        effects.extend(output.effects);
        effects.extend(self.tell_hold());
        self.offered = self.hold().and_then(|_| self.seal_of_files());
        if self.panel && hidden != self.hides_panel() {
            effects.push(self.draw_panel());
        }
        self.with_panel(Output { effects, reply: output.reply })
    }

    fn react(
        &mut self,
        event: Event,
        at: Moment,
        files: &dyn WorkflowFiles,
    ) -> Result<Output, FileError> {
        Ok(match event {
            Event::Session { stored, in_view, facts } => {
                self.session(stored, in_view, facts, files)?
            }
            Event::SessionShutdown { has_ui } => self.session_shutdown(has_ui),
            Event::Input { from_user } => {
                if from_user && self.hold().is_some() {
                    self.refresh(files)?;
                }
                self.input(from_user)
            }
            Event::TerminalInput => self.terminal_input(),
            Event::BeforeAgentStart { role } => self.before_agent_start(role),
            Event::Compacted => self.compacted(),
            Event::Role(role) => {
                self.role = role;
                Output::default()
            }
            Event::AgentStart => self.agent_start(),
            Event::TurnEnd => self.turn_end(),
            Event::AgentEnd { stop } => self.agent_end(stop),
            Event::BeforeSettle { has_ui } => self.before_settle(has_ui, at),
            Event::AgentSettled { has_ui } => self.agent_settled(has_ui, at),
            Event::ToolCall { name, carries_calls } => self.tool_call(name, carries_calls),
            Event::Step { input, nested } => self.step(input, nested, at, files),
            Event::Command { name, arguments, has_ui } => {
                settling(self.command(name, arguments, has_ui, at, files)?)
            }
            Event::Answer { ticket, answer } => settling(self.answer(ticket, answer, at, files)),
            Event::Timer { id, idle } => self.timer(id, idle),
        })
    }

    /// Tests if a run is in progress whose rules hold.
    pub fn is_running(&self) -> bool {
        self.active().is_some()
    }

    /// Tests if a run is in progress, also one whose files are gone.
    pub fn has_run(&self) -> bool {
        self.run.as_ref().is_some_and(|state| state.active)
    }

    /// Whether the agent is at work.
    pub fn is_at_work(&self) -> bool {
        self.agent.running
    }

    /// The run in progress, if its rules hold: nothing is done by other rules.
    fn active(&self) -> Option<Active<'_>> {
        if self.hold().is_some() { None } else { self.shown() }
    }

    /// Reads the workflow files again. A notice tells of errors that were not told of before.
    fn reload(&mut self, files: &dyn WorkflowFiles) -> Result<Option<Effect>, FileError> {
        self.refresh(files)?;
        let errors: Vec<String> = self.errors.iter().map(text::diagnostic_text).collect();
        if errors == self.known_errors {
            return Ok(None);
        }
        self.known_errors = errors;
        let notice = text::diagnostic_notice(&self.library, &self.errors);
        Ok(notice.map(|text| Effect::Notify { level: Level::Warning, text }))
    }

    /// Reads the workflow files again unless they are as they were.
    fn refresh(&mut self, files: &dyn WorkflowFiles) -> Result<(), FileError> {
        if self.is_read && files.unchanged() {
            return Ok(());
        }
        self.is_read = false;
        files.keep_record(true);
        let read = Library::load(files);
        files.keep_record(false);
        let (library, mut errors) = read?;
        errors.retain(|diagnostic| diagnostic.severity() == Severity::Error);
        (self.library, self.errors, self.is_read) = (library, errors, true);
        Ok(())
    }

    /// Key and value under which an answer is remembered for the project of this identity.
    fn remembered(&self, kind: &str, identity: &str, about: &str) -> Remembered {
        let value = json!([self.project, identity, about]).to_string();
        // FNV-1a. Two answers may share a key; the value tells.
        let hash = value.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Remembered { key: format!("{kind}-{hash:016x}"), value }
    }

    fn status(&self) -> Effect {
        let waits = self.rest == Rest::Waiting;
        Effect::SetStatus(text::status_line(self.run.as_ref(), &self.library, waits))
    }
}

/// Origin of a move that the model does not know of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mover {
    /// The user, by a command.
    User,
    /// A nested call of `workflow_step`, whose result goes to the tool that made it.
    NestedCall,
}

/// An answer of the user that outlives the session.
struct Remembered {
    key: String,
    value: String,
}

impl Remembered {
    fn keep(self) -> Effect {
        Effect::Remember { key: self.key, value: self.value }
    }
}

/// How a run ended.
#[derive(Debug)]
struct Ended {
    workflow: String,
    cancelled: bool,
}

/// A command that prompts the agent is done when the agent has come to rest.
fn settling(output: Output) -> Output {
    let prompts = output.effects.iter().any(|effect| matches!(effect, Effect::SendUserMessage(_)));
    if prompts && output.reply == Reply::None { output.with(Reply::Settle) } else { output }
}

/// The entry that keeps a state in the session.
///
/// Specification: state management, "Persistence".
fn persist(state: &RunState) -> Effect {
    let data = serde_json::to_value(state).unwrap_or_default();
    Effect::AppendEntry { custom_type: STATE_ENTRY_TYPE, data }
}

#[cfg(test)]
mod tests;
