//! What happens in the life of a session and of the agent.

use serde_json::json;

use crate::definition::{FileError, ToolPolicy, WorkflowFiles};
use crate::run::{Active, RunState};
use crate::text::{self, DefaultRole};

use super::{
    COMPLETE_TYPE, Effect, Ended, Engine, Facts, Level, Output, Reply, STEP_TOOL, Stop, persist,
};

/// How the end of a run is worded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Announce {
    /// As the workflow says it.
    Done,
    /// As `/cancel-workflow` says it.
    CancelCommand,
}

impl Engine {
    /// Loads the workflows and takes up the run that the session tells of.
    ///
    /// Specification: hook lifecycle, "updateStatus"; state management, "When reconstruction runs".
    pub(super) fn session(
        &mut self,
        stored: Option<RunState>,
        in_view: Option<String>,
        facts: Facts,
        files: &dyn WorkflowFiles,
    ) -> Result<Output, FileError> {
        let mut effects = self.stop_countdown();
        effects.extend(self.withdraw_gate());
        self.cancel_pending = false;
        self.questions.clear();
        self.untold_move = None;
        self.note = None;
        self.in_view = in_view;
        self.gate_had = false;
        let unusable = facts.unusable.clone();
        Facts {
            has_ui: self.has_ui,
            project: self.project,
            allow_commands: self.allow_commands,
            terminal: self.terminal,
            panel: self.panel,
            unusable: _,
            at_work: self.agent.running,
        } = facts;
        effects.extend(self.reload(files)?);
        self.run = stored.map(|state| state.sealed(&self.library));
        self.told_hold = None;
        let held = self.tell_hold();
        if held.is_empty() {
            effects.extend(self.rest_or_status());
        }
        effects.extend(held);
        if unusable != self.told_unusable {
            let text = unusable.as_ref().map(|why| format!("Workflow: the run that this session stores is left out: {why}. Tools are not refused."));
            effects.extend(text.map(|text| Effect::Notify { level: Level::Warning, text }));
            self.told_unusable = unusable;
        }
        Ok(effects.into())
    }

    /// The session ends, and everything of it. Without a user interface, the last word is how the run
    /// stands, and the exit status says whether it is done.
    pub(super) fn session_shutdown(&mut self, has_ui: bool) -> Output {
        let countdown = self.stop_countdown();
        let last = std::mem::take(self);
        self.last_ticket = last.last_ticket;
        self.known_errors = last.known_errors;
        self.keeps_newest = last.keeps_newest;
        if has_ui {
            return countdown.into();
        }
        let (text, done) = match (&last.run, &last.ended) {
            (Some(state), _) if state.active => {
                (text::unfinished_line(state, &last.library), false)
            }
            (_, Some(ended)) => {
                (text::ended_line(&ended.workflow, ended.cancelled), !ended.cancelled)
            }
            _ => return Output::default(),
        };
        let mut effects = vec![Effect::Notify { level: Level::Info, text }];
        if !done {
            effects.push(Effect::SetExitCode(1));
        }
        effects.into()
    }

    /// Specification: hook lifecycle, "handleBeforeAgentStart".
    pub(super) fn before_agent_start(&mut self, role: DefaultRole) -> Output {
        self.role = role;
        self.cancel_pending = false;
        self.untold_move = None;
        self.gate_had = false;
        self.agent.worked = false;
        let mut effects = self.end_rest();
        let briefing = self.briefing();
        effects.extend(briefing.effects);
        Output { effects, reply: briefing.reply }
    }

    /// Specification: hook lifecycle, "updateStatus".
    pub(super) fn turn_end(&mut self) -> Output {
        self.untold_move = None;
        self.gate_had = false;
        let mut effects = vec![self.status()];
        effects.extend(self.brief_unseen());
        effects.into()
    }

    /// Specification: hook lifecycle, "handleToolCall".
    ///
    /// A whitelist does not refuse a tool that carries the calls of others: it may be the only way to those that
    /// the whitelist names, and each call that it makes is judged by itself. A blacklist that names it does.
    pub(super) fn tool_call(&mut self, name: &str, carries_calls: bool) -> Output {
        if name == STEP_TOOL.name {
            return Output::default();
        }
        if let Some(reason) = self.hold() {
            return Output::reply(Reply::Block(text::held(&reason)));
        }
        if self.agent_waits() {
            return Output::reply(Reply::Block(text::GATE_OPEN.into()));
        }
        let passes =
            |active: &Active| carries_calls && matches!(active.phase.tools, ToolPolicy::Only(_));
        let reason = self
            .active()
            .filter(|active| !passes(active))
            .and_then(|active| text::block_reason(&active, name));
        // The calls that it carries are work, or are not.
        self.agent.worked |= reason.is_none() && !carries_calls;
        Output::reply(reason.map_or(Reply::None, Reply::Block))
    }

    /// Specification: hook lifecycle, "handleAgentEnd", case A; for case B see `agent_settled`.
    pub(super) fn agent_end(&mut self, stop: Stop) -> Output {
        self.cancel_pending = false;
        self.agent_stopped(stop);
        match &self.run {
            Some(state) if !state.active && !state.completion_notified => {
                self.announce_end(Announce::Done)
            }
            _ => Output::default(),
        }
    }

    /// Shows the end of the run, stores that it was shown, and forgets the run.
    pub(super) fn announce_end(&mut self, announce: Announce) -> Output {
        let Some(state) = self.run.take() else { return Output::default() };
        let workflow = self.library.get(&state.workflow_key);
        let content = match (announce, workflow) {
            (Announce::CancelCommand, _) => text::command_cancelled_message(&state),
            (Announce::Done, Some(workflow)) => {
                text::completion_message(&state, workflow, &self.library)
            }
            (Announce::Done, None) => {
                self.run = Some(state);
                return Output::default();
            }
        };
        let name = workflow.map_or(&state.workflow_key, |workflow| &workflow.name).clone();
        self.ended = Some(Ended { workflow: name.clone(), cancelled: state.cancelled });
        vec![
            completion_entry(&state, &name, content),
            persist(&state.notified()),
            Effect::SetStatus(None),
        ]
        .into()
    }
}

/// The entry that shows the end of a run in the transcript.
fn completion_entry(state: &RunState, workflow: &str, content: String) -> Effect {
    Effect::AppendEntry {
        custom_type: COMPLETE_TYPE,
        data: json!({
            "content": content,
            "taskId": state.task_id,
            "cancelled": state.cancelled,
            "workflow": workflow,
        }),
    }
}
