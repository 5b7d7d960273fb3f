//! Events of the agent's work, and of its tool calls.

use serde_json::json;

use crate::definition::{FileAccess, FoundLimits, Permission, Sandbox, Stale, permission};
use crate::protocol::{COMPLETE_TYPE, PROPOSE_TOOL_NAME, STEP_TOOL_NAME};
use crate::run::{Active, RunState};
use crate::text::{self, DefaultRole, RulesOf};
use crate::usage::Rule;

use super::briefing::state::Mover;
use super::context::Cx;
use super::continuation::tell_needs_resume;
use super::effect::{Effect, Level, Reply};
use super::ending::refuse_behind_end;
use super::event::{EndedCall, Stop};
use super::hold::held_notice;
use super::state::{AgentOf, Ended, Engine, Standing};
use super::tools::keep_step_tool;

impl Engine {
    /// A prompt was given: a countdown ends, and a message of the user ends a pause. While another process has the session
    /// the prompt is dropped: pi would store it, and open the session at it from then on.
    pub(super) fn input(&mut self, from_user: bool, cx: &mut Cx) -> Result<Reply, Stale> {
        if self.run.is_of_other_process() {
            cx.notify(Level::Warning, held_notice(&self.run, &self.session, cx.ui));
            return Ok(Reply::Drop);
        }
        if from_user && self.run.held().is_some() {
            self.run.read_files(|definitions| definitions.refresh(cx.host))?;
        }
        self.agent.activity.stop(cx);
        self.agent.prompted(from_user);
        if from_user {
            if let Some(ended) = self.run.attended(cx.unix_ms) {
                self.transition(ended, cx);
            }
            self.agent.ending.end_pause();
            self.proposals.user_spoke();
            self.repetition.forget();
            self.deadlines.forget();
        }
        if from_user && !tell_needs_resume(&mut self.run, &self.session, cx) {
            self.resume(cx);
        }
        Ok(Reply::None)
    }

    /// Specification: hook lifecycle, "handleBeforeAgentStart".
    pub(super) fn before_agent_start(&mut self, role: DefaultRole, cx: &mut Cx) -> Result<Reply, Stale> {
        self.limits.follow(cx)?;
        self.briefing.set_role(role);
        if let Some(prompt) = self.agent.starts() {
            self.briefing.note(prompt);
        }
        self.agent.activity.stop(cx);
        keep_step_tool(&mut self.run, &mut self.session, cx)?;
        Ok(self.briefing.at_start(&self.run, &mut self.keeper, cx))
    }

    pub(super) fn agent_start(&mut self, cx: &mut Cx) -> Result<(), Stale> {
        self.agent.activity.stop(cx);
        self.agent.activity.begin_work(cx.unix_ms);
        self.begin_view(cx)?;
        if std::mem::take(&mut self.agent.is_starting) {
            self.briefing.tell_at_start(&self.run, &self.agent, cx);
        }
        Ok(())
    }

    /// Specification: hook lifecycle, "updateStatus".
    pub(super) fn turn_end(&mut self, queued: bool, calls: &[EndedCall], cx: &mut Cx) -> Result<Reply, Stale> {
        if !calls.is_empty() && !self.agent.ending.is_begun() && self.stop_over_budget(cx).is_none() {
            self.stop_repetition(calls, cx);
        }
        self.agent.ending.turn_over(queued);
        keep_step_tool(&mut self.run, &mut self.session, cx)?;
        cx.update_status();
        let reply = self.start_fresh(cx)?;
        let unseen = self.briefing.unseen_prompt(&self.run, &self.agent);
        cx.effects.extend(unseen.map(Effect::Brief));
        Ok(reply.unwrap_or_default())
    }

    /// Refuses a tool that the phase does not allow, or that is called before the phase starts fresh, and confines a
    /// tool that the phase allows within limits.
    ///
    /// A whitelist does not refuse a tool that carries calls of other tools: the carrier may be the only way to the
    /// tools that the whitelist names, and each carried call is an event of its own. A blacklist that names the carrier
    /// refuses it.
    ///
    /// Specification: hook lifecycle, "handleToolCall".
    pub(super) fn tool_call(&mut self, name: &str, carries_calls: bool, cx: &mut Cx) -> Reply {
        if self.agent.ending.is_before_start() {
            return Reply::Stop(text::BEFORE_START.into());
        }
        if self.agent.ending.is_behind_end() {
            return refuse_behind_end(name, &self.run, cx);
        }
        if self.briefing.untold_move() == Some(Mover::Budget) {
            // The call is of the phase that the run has left.
            return self.refuse(Rule::Budget, text::CALL_OVER_BUDGET);
        }
        if let Some(refusal) = self.stop_over_budget(cx) {
            self.meter.refused(Rule::Budget);
            return refusal;
        }
        if let Some(refusal) = self.stop_at_end(name, cx) {
            return refusal;
        }
        if name == STEP_TOOL_NAME || name == PROPOSE_TOOL_NAME {
            return Reply::None;
        }
        let reply = self.permitted(name, carries_calls, cx);
        let reply = reply.unwrap_or_else(|gone| Reply::Block(format!("[workflow] {gone}")));
        // A call of a carrier is no work; each carried call is.
        self.agent.worked |= !matches!(reply, Reply::Block(_) | Reply::Stop(_)) && !carries_calls;
        reply
    }

    /// Refuses a tool call by this rule, and counts it for a run.
    fn refuse(&mut self, rule: Rule, text: impl Into<String>) -> Reply {
        if self.run.running().is_some() {
            self.meter.refused(rule);
        }
        Reply::Block(text.into())
    }

    /// The reply to a tool call by the rules of the run and its phase.
    fn permitted(&mut self, name: &str, carries_calls: bool, cx: &mut Cx) -> Result<Reply, Stale> {
        match self.run.standing() {
            Standing::Held(reason) => {
                let text = text::held(reason);
                Ok(self.stop(Rule::Seal, text))
            }
            Standing::Entry(active) => {
                let text = text::at_entry(&active);
                Ok(match self.run.pause_reason() {
                    Some(_) => self.stop(Rule::Pause, text),
                    None => {
                        self.meter.refused(Rule::Gate);
                        Reply::Stop(text)
                    }
                })
            }
            Standing::NoRun | Standing::Phase(_) if self.pending.is_gate_of_call() => {
                Ok(self.refuse(Rule::Gate, text::GATE_OPEN))
            }
            Standing::Phase(active) if self.fresh_start.is_ahead(&active, &self.agent) => {
                Ok(self.refuse(Rule::FreshStart, text::NOT_STARTED))
            }
            Standing::NoRun | Standing::Phase(_) => self.judged(name, carries_calls, cx),
        }
    }

    /// The reply to a tool call by the user's limits, and by the rules of a phase.
    fn judged(&mut self, name: &str, carries_calls: bool, cx: &mut Cx) -> Result<Reply, Stale> {
        let active = self.run.active();
        let user = match self.limits.in_force() {
            FoundLimits::Nothing => None,
            FoundLimits::Unusable(diagnostics) => {
                return Ok(Reply::Block(text::unknown_limits(diagnostics)));
            }
            FoundLimits::Content(user) => Some(RulesOf::User(user)),
        };
        let of_phase = active.as_ref().map(RulesOf::Phase);
        let left = self.turn.left.as_ref().and_then(|left| Active::resolve(left, self.run.library()));
        let of_left = left.as_ref().map(RulesOf::Phase);
        let path = || cx.host.call_argument("path");
        let mut confining = Vec::new();
        let mut decision = Permission::Allowed;
        for rules in user.into_iter().chain(of_left).chain(of_phase) {
            let scope = (rules.tools(), &rules.limits());
            let own = permission(scope, name, carries_calls, &path, cx.host)?;
            if let Permission::Refused(refusal) = own {
                let text = text::refusal(rules, name, &refusal);
                return Ok(self.refuse((&refusal).into(), text));
            }
            if let Permission::Confined { .. } = own {
                confining.push(rules);
            }
            decision = decision.and(own);
        }
        Ok(match decision {
            Permission::Allowed => Reply::None,
            // Not reached: the loop above returns at the first refusal.
            Permission::Refused(refusal) => self.refuse((&refusal).into(), name),
            Permission::Files(files) => confine(files, true, String::new(), Vec::new()),
            Permission::Confined { files, network, unconfined } => {
                let Err(reason) = cx.host.can_confine(network)? else {
                    let notice = text::confinement_notice(&confining, &files, network);
                    let signs = text::failure_signs(network, &files.hidden);
                    return Ok(confine(files, network, notice, signs));
                };
                let refusal = text::cannot_confine(&confining, &reason);
                if !self.session.told_unconfined.contains(&unconfined) {
                    self.session.told_unconfined.push(unconfined);
                    cx.notify(Level::Warning, text::unconfined_notice(unconfined, &reason));
                }
                match unconfined {
                    Sandbox::Preferred => Reply::None,
                    Sandbox::Required | Sandbox::Off => self.refuse(Rule::Sandbox, refusal),
                }
            }
        })
    }

    /// Shows the end of a run that has ended in this run of the agent.
    ///
    /// Specification: hook lifecycle, "handleAgentEnd", case A; for case B see `continuation`.
    pub(super) fn agent_end(&mut self, stop: Stop, cx: &mut Cx) {
        self.agent.cancel_asked = false;
        self.agent.last_stop = stop;
        if stop.is_of_agent() {
            self.repetition.answered(stop == Stop::CutOff);
        }
        if stop == Stop::Failed {
            self.agent.ending.answer_failed();
            // The answer counts as a turn, and pi may ask again: at the end of a budget the next answer is the last one.
            let stays = self.run.active().is_some_and(|active| active.phase.on_budget.is_none());
            if stays && !self.agent.ending.is_begun() && self.stop_over_budget(cx).is_some() {
                self.agent.ending.turn_over(false);
            }
        }
        self.announce_end(cx);
    }

    /// Shows the end of a run that is done or was cancelled by the agent, in the words of its workflow, and forgets the
    /// run.
    pub(super) fn announce_end(&mut self, cx: &mut Cx) {
        let Some(state) = self.run.state().filter(|state| state.is_unannounced()) else { return };
        let library = self.run.library();
        // The end of a workflow whose files are gone is announced when the files are back.
        let Some(workflow) = library.get(&state.workflow_key) else { return };
        let state = state.clone();
        let all = self.meter.up_to_now(&self.run, &self.agent, cx).unwrap_or_else(|| state.clone());
        let content = match &state.progress().branch {
            Some(branch) => text::branch_over(branch, &workflow.name, state.branch_end().as_ref()),
            None => text::completion_message(&all, workflow, library),
        };
        self.show_end(&state, content, cx);
    }

    /// Shows the end of a run with this text, stores that it was shown, and forgets the run.
    pub(super) fn show_end(&mut self, state: &RunState, content: String, cx: &mut Cx) {
        let workflow = self.run.library().get(&state.workflow_key);
        let workflow = workflow.map_or(&state.workflow_key, |workflow| &workflow.name).clone();
        let data = json!({
            "content": content,
            "taskId": state.task_id,
            "cancelled": state.is_cancelled(),
            "workflow": workflow,
        });
        cx.push(Effect::AppendEntry { custom_type: COMPLETE_TYPE, data });
        // The last line of the process is about the run that the branch is part of.
        let ended = Some(Ended { workflow, how: state.status });
        self.run.ended = ended.filter(|_| AgentOf::run(state).tells_user);
        self.transition(state.announced(), cx);
    }
}

/// The reply to a call that is allowed within limits.
fn confine(files: FileAccess, network: bool, notice: String, signs: Vec<&'static str>) -> Reply {
    let writable = files.paths();
    let FileAccess { hidden, keeps_agent_folder, kept, .. } = files;
    Reply::Confine { writable, hidden, keeps_agent_folder, kept, network, notice, signs }
}
