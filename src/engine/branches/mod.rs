//! The branches of a parallel group. Child agents work on the branches within the call or the command that moved the
//! run to the group.
//!
//! **Invariant: children are state.** The input and the end of a child are stored with the run; an effect starts the
//! child, an event ends it, and the state alone decides if the run goes on. So no child works again on a branch that
//! has ended, whatever ended the other branches.

pub(super) mod state;

use serde_json::json;

use crate::definition::Stale;
use crate::protocol::{BRANCH_ENTRY_TYPE, PROMPT_ENTRY_TYPE, STATE_ENTRY_TYPE};
use crate::run::{Active, Branch, BranchEnd, BranchRun, Joined, OVER_BUDGET, PauseReason, RunState, restore};
use crate::text;

use super::branches::state::Child;
use super::budget::budget_used_up;
use super::context::Cx;
use super::effect::{ChildStart, Effect, Level, Request};
use super::entries::state::{EntryAsked, OpenReply};
use super::entries::{Next, show_outcome};
use super::event::{ChildEnd, ChildReport};
use super::long_task;
use super::quota;
use super::state::{Engine, Run};
use super::users_messages::{prompt_mark, users_own};

/// The prompt by which a child goes on, or begins with an entry without the model.
const RESUME: &str = "/workflow :resume";

/// Maximum length of the user's messages that a child is given, in characters.
const MAX_MESSAGES: usize = 100_000;

impl Engine {
    /// Starts children on the branches of the current group that have not ended.
    pub(super) fn begin_branches(&mut self, reply: &mut OpenReply, cx: &mut Cx) -> Next {
        let Some(active) = self.run.active() else { return Next::Left };
        let mut state = active.state.passing_over_branches(active.library);
        for branch in state.branches(active.library) {
            // The answer for which a branch waited may have come.
            if let Some(run) = state.branch_run(&branch).filter(|run| run.waits.is_some()) {
                let run = BranchRun { waits: None, ..run.clone() };
                state = state.with_branch_run(&branch, run);
            }
        }
        if let Some(why) = state.why_branches_meet(active.library) {
            return Next::NotEnded(None, why);
        }
        self.children.begin(&state);
        self.run.change_unstored(|_, _| state);
        if self.start_children(cx).is_err() || self.children.count() == 0 {
            return self.branches_ended(reply, true, cx);
        }
        Next::Ask(Request::Children { progress: self.children.lines(&self.run, cx) }, EntryAsked::Branches)
    }

    /// Starts as many children as can work at a time, on branches that neither have ended nor wait.
    fn start_children(&mut self, cx: &mut Cx) -> Result<(), Stale> {
        let Some(active) = self.run.active().filter(|_| !self.children.is_ending() && self.children.limit().is_none())
        else {
            return Ok(());
        };
        let library = active.library;
        let group = active.state.parallel_group(library);
        let at_once = group.and_then(|group| group.parallel.as_ref()).map_or(0, |of| active.state.at_once(of, library));
        let (mut state, workflow) = (active.state.clone(), active.root.name.clone());
        let setting = self.keeper.users_own(cx);
        let tools = users_tools(&state, cx)?;
        let messages = handed_messages(&state, cx)?;
        let allowed = self.session.allowed_now(&self.run);
        let (mut started, mut added) = (Vec::new(), Vec::new());
        for branch in state.branches(library) {
            if self.children.count() + added.len() >= at_once as usize {
                break;
            }
            let before = state.branch_run(&branch).cloned();
            let is_open = before.as_ref().is_none_or(|run| run.end.is_none() && run.waits.is_none());
            if !is_open || self.children.get(&branch.key).is_some() {
                continue;
            }
            let mut run = before.unwrap_or_else(|| BranchRun {
                name: branch.name.clone(),
                given: state.given_to(&branch),
                started_at: cx.unix_ms,
                ended_at: None,
                session: None,
                end: None,
                waits: None,
            });
            let child = state.child(&branch, library, cx.unix_ms);
            let Some(child) = child.filter(RunState::is_running) else {
                let why = "none of its entries can be entered".to_owned();
                (run.end, run.ended_at) = (Some(BranchEnd::Failed { why }), Some(cx.unix_ms));
                state = state.with_branch_run(&branch, run);
                continue;
            };
            let start = child_start(&branch, child, &run, (&workflow, &messages), library);
            let (setting, tools, allowed) = (setting.clone(), tools.clone(), allowed.clone());
            started.push(Effect::StartChild(Box::new(ChildStart { setting, tools, allowed, ..start })));
            state = state.with_branch_run(&branch, run);
            added.push(branch);
        }
        let is_changed = state != *active.state;
        added.into_iter().for_each(|branch| self.children.add(branch));
        if is_changed {
            self.transition(state, cx);
        }
        cx.effects.extend(started);
        Ok(())
    }

    /// A child did something, or ended.
    pub(super) fn child_told(&mut self, report: ChildReport, ended: Option<ChildEnd>, cx: &mut Cx) {
        let Some(state) = self.run.active().map(|active| active.state.clone()) else { return };
        let Some(child) = self.children.get_mut(&report.key, &state) else {
            if ended.is_some() {
                self.count_left(&report, &state, cx);
            }
            return;
        };
        let has_moved = child.newest != report.newest;
        if let Err(why) = child.take(report.newest.as_deref()) {
            cx.notify(Level::Warning, format!("{}: {why}", text::branch_name(&child.branch)));
        }
        child.usage = report.usage;
        child.last_call = report.last_call;
        let silent = child.silent().cloned();
        if silent.is_some() && ended.is_none() {
            // A tool may ignore that the child has ended its call.
            cx.push(Effect::AbortChild { key: report.key.clone() });
        }
        let branch = child.branch.clone();
        let mut new = match &child.state {
            Some(of_child) => state.with_child(&branch, of_child, &child.usage),
            None => state.clone(),
        };
        let Some(mut run) = new.branch_run(&branch).cloned() else { return };
        let is_new_session = run.session != report.session;
        run.session = report.session;
        if let Some(ended) = &ended {
            let child = self.children.remove(&branch.key);
            // An aborted child aborts all children, unless this child alone was stopped. Its run may have ended
            // nevertheless.
            let is_alone = silent.is_some() || child.as_ref().is_some_and(|child| child.is_stopped);
            if *ended == ChildEnd::Aborted && !is_alone {
                self.children.end(None);
            }
            let limit = child.as_ref().and_then(Child::limit);
            (run.end, run.waits) = child.map_or((None, None), |child| child.ended(ended));
            if let (Some(until), Some(_)) = (limit, &run.waits) {
                self.children.meet_limit(&branch.key, until);
            }
            self.children.silent = silent.filter(|_| run.waits.is_some()).or(self.children.silent.take());
            self.run.change_unstored(|_, _| new.clone());
            if run.end == Some(over_budget()) && budget_used_up(&self.run, &self.agent, &self.meter, cx).is_some() {
                // The used-up budget is the budget of the run, which all branches share: the branches go on when the
                // user gives more.
                run.end = None;
            }
            let name = text::branch_name(&branch);
            match (&run.end, &run.waits) {
                (Some(BranchEnd::Failed { why }), _) => {
                    cx.notify(Level::Warning, format!("{name} has failed: {why}"));
                }
                (None, Some(why)) => cx.notify(Level::Warning, format!("{name} waits: {why}")),
                (None, None) | (Some(BranchEnd::Done { .. }), _) => {}
            }
        }
        run.ended_at = run.end.as_ref().map(|_| cx.unix_ms);
        new = new.with_branch_run(&branch, run);
        if ended.is_some() || has_moved || is_new_session {
            self.transition(new, cx);
        } else {
            self.run.change_unstored(|_, _| new);
        }
        self.end_children_over_budget(cx);
        // If the session is gone, the children are gone too.
        if ended.is_some() && !self.children.is_ending() && self.start_children(cx).is_err() {
            return;
        }
        self.children.show(&self.run, cx);
        cx.draws_panel |= self.display.has_panel();
    }

    /// Counts the usage of a child that ended after the run had left the group.
    fn count_left(&mut self, report: &ChildReport, state: &RunState, cx: &mut Cx) {
        let Some(mut child) = self.children.remove_left(&report.key, state) else { return };
        let known = child.state.clone();
        if child.take(report.newest.as_deref()).is_err() {
            return;
        }
        let Some(of_child) = child.state.map(|of_child| of_child.clone().with_usage(&of_child, &report.usage)) else {
            return;
        };
        let new = state.with_usage_of_child(&child.branch, &of_child, known.as_ref());
        self.transition(new, cx);
    }

    /// Ends all children when a budget that they share is used up.
    pub(super) fn end_children_over_budget(&mut self, cx: &mut Cx) {
        if self.children.is_ending() {
            return;
        }
        if let Some(reason) = budget_used_up(&self.run, &self.agent, &self.meter, cx) {
            self.children.end(Some(reason));
            self.children.abort(cx);
        }
    }

    /// Returns what follows when no child works any more. `has_children`: the host has children.
    pub(super) fn branches_ended(&mut self, reply: &mut OpenReply, has_children: bool, cx: &mut Cx) -> Next {
        // At the end of a limit all branches go on: no branch may wait for the user.
        let is_at_limit = self.run.running().is_some_and(|state| self.children.wait_only_for_limit(state));
        let (ending, limit) = (self.children.reason(), self.children.limit().filter(|_| is_at_limit));
        let silent = self.children.silent.take();
        self.children.forget(cx);
        // A branch may wait because its files give it other rules: the user is told so.
        let waits = |state: &RunState| state.progress().branches.values().any(|run| run.waits.is_some());
        if self.run.running().is_some_and(waits) {
            cx.gone |= self.run.read_files(|definitions| definitions.refresh(cx.host)).is_err();
        }
        let Some(active) = self.run.active() else { return Next::Left };
        reply.told.push(text::branches_told(&active));
        show_outcome(text::branches_shown(&active), cx);
        if let Some(reason) = ending {
            return Next::Pause(reason);
        }
        match active.state.joined(active.library) {
            Joined::Done(outcome) => Next::Ended(active.state.without_failed_branches(active.library), outcome),
            Joined::Stuck(_) | Joined::Open if let Some(until) = limit => {
                let up_to_now = self.meter.up_to_now(&self.run, &self.agent, cx);
                Next::Pause(quota::reason(until, up_to_now, &mut self.run, &self.session, cx))
            }
            // A program that waits for the run knows by the reason that a tool may still work.
            Joined::Stuck(_) if let Some(reason) = silent => Next::Pause(reason),
            Joined::Stuck(why) => Next::NotEnded(None, why),
            Joined::Open if has_children => Next::NotEnded(None, "its branches were interrupted".to_owned()),
            Joined::Open => Next::NotEnded(None, "agents for branches cannot be started here".to_owned()),
        }
    }

    /// Ends a branch for the user; the branch counts as failed.
    pub(super) fn stop_branch(&mut self, name: &str, cx: &mut Cx) {
        let state = self.run.running().cloned();
        let found = state.zip(branch_called(&self.run, name));
        let child = found.and_then(|(state, branch)| self.children.get_mut(&branch.key, &state));
        match child {
            Some(child) => {
                child.is_stopped = true;
                let key = child.branch.key.clone();
                cx.push(Effect::AbortChild { key });
            }
            None => cx.fail(Level::Warning, no_branch(&self.run, name)),
        }
    }

    /// Discards the work on a branch that has ended, or waits, so that the branch begins anew. Returns true if the run
    /// is to go on for this branch.
    pub(super) fn retry_branch(&mut self, name: &str, cx: &mut Cx) -> bool {
        let branch = branch_called(&self.run, name);
        let Some(branch) = branch.filter(|branch| self.children.get(&branch.key).is_none()) else {
            cx.fail(Level::Warning, no_branch(&self.run, name));
            return false;
        };
        let Some(state) = self.run.running().map(|state| state.without_branch_run(&branch)) else {
            return false;
        };
        self.transition(state, cx);
        if self.children.count() == 0 {
            return true;
        }
        if self.start_children(cx).is_ok() {
            self.children.show(&self.run, cx);
        }
        false
    }
}

/// The branch of the current group with this name, entry id or number.
fn branch_called(run: &Run, name: &str) -> Option<Branch> {
    let active = run.active()?;
    let mut branches = active.state.branches(active.library);
    let number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let by_id = |branch: &Branch| {
        let entry = branch.entries(active.library);
        entry.len() == 1 && entry.iter().any(|entry| entry.is_called(name))
    };
    let is_meant = |branch: &Branch| text::branch_name(branch) == name || by_id(branch);
    let found = branches.iter().position(is_meant).or(number)?;
    (found < branches.len()).then(|| branches.swap_remove(found))
}

/// The names of the branches of the current group.
pub(super) fn branch_names(run: &Run) -> Vec<String> {
    let branches = run.active().map(|active| active.state.branches(active.library));
    branches.iter().flatten().map(text::branch_name).collect()
}

fn no_branch(run: &Run, name: &str) -> String {
    let names = branch_names(run);
    if names.is_empty() {
        return "The run is not at a parallel group.".to_owned();
    }
    format!("“{name}” is no branch with which that can be done now: {}.", names.join(", "))
}

impl Child {
    /// Takes over the state entry that a child has stored last.
    ///
    /// # Errors
    ///
    /// The message, if the entry is unreadable or its run is not on the branch.
    fn take(&mut self, newest: Option<&str>) -> Result<(), String> {
        if self.newest.as_deref() == newest {
            return Ok(());
        }
        self.newest = newest.map(ToOwned::to_owned);
        let state = newest.and_then(|entry| restore([entry]));
        let is_own = |state: &RunState| {
            let branch = state.progress().branch.as_ref();
            branch.is_some_and(|branch| branch.key == self.branch.key) && state.progress().broken.is_none()
        };
        self.state = state.filter(is_own);
        match self.state {
            Some(_) => Ok(()),
            None => Err("the state of its run cannot be read".to_owned()),
        }
    }

    /// The end of the limit at which its run is paused.
    fn limit(&self) -> Option<Option<u64>> {
        match self.state.as_ref()?.progress().paused.as_ref()?.reason {
            PauseReason::Quota { until, .. } => Some(until),
            _ => None,
        }
    }

    /// The reason of the pause of its run, if its agent is silent.
    fn silent(&self) -> Option<&PauseReason> {
        let reason = &self.state.as_ref()?.progress().paused.as_ref()?.reason;
        Some(reason).filter(|reason| matches!(reason, PauseReason::Silent { .. }))
    }

    /// The end of a branch, or the reason for its wait, after this end of its child.
    fn ended(&self, how: &ChildEnd) -> (Option<BranchEnd>, Option<String>) {
        let failed = |why: &str| (Some(BranchEnd::Failed { why: why.to_owned() }), None);
        let end = self.state.as_ref().and_then(RunState::branch_end);
        let paused = self.state.as_ref().and_then(|state| state.progress().paused.as_ref());
        match (end, how) {
            (Some(end), _) => (Some(end), None),
            (None, _) if self.is_stopped => failed("the user stopped it"),
            (None, ChildEnd::Failed(why)) => failed(why),
            (None, ChildEnd::Settled) if self.state.is_none() => failed("the state of its run cannot be read"),
            (None, _) if let Some(pause) = paused.filter(|pause| pause.reason.is_of_model()) => {
                failed(&pause.reason.to_string())
            }
            (None, ChildEnd::Aborted) if self.silent().is_none() => (None, None),
            (None, ChildEnd::Aborted | ChildEnd::Settled) => {
                let why = paused.map(|pause| pause.reason.to_string());
                (None, Some(why.unwrap_or_else(|| "its agent has stopped".to_owned())))
            }
        }
    }
}

/// The end of a branch whose budget is used up.
fn over_budget() -> BranchEnd {
    BranchEnd::Failed { why: OVER_BUDGET.to_owned() }
}

/// The start of a child with this run; a child that has a session continues that session.
fn child_start(
    branch: &Branch,
    child: RunState,
    run: &BranchRun,
    (workflow, messages): (&str, &[String]),
    library: &crate::definition::Library,
) -> ChildStart {
    let begins_with_agent = Active::resolve(&child, library).is_some_and(|active| active.phase.is_of_agent());
    let prompt = match run.session {
        None if begins_with_agent => text::branch_prompt(branch, workflow),
        Some(_) | None => RESUME.to_owned(),
    };
    let state = serde_json::to_value(&child).unwrap_or_default();
    let mut entries =
        vec![(BRANCH_ENTRY_TYPE, json!({ "messages": messages })), (PROMPT_ENTRY_TYPE, prompt_mark(&prompt))];
    entries.extend(long_task::entry(&child));
    // The newest state entry decides.
    entries.push((STATE_ENTRY_TYPE, state));
    ChildStart {
        key: branch.key.clone(),
        label: text::branch_label(branch),
        session: run.session.clone(),
        entries,
        prompt,
        setting: None,
        tools: None,
        allowed: Vec::new(),
    }
}

/// The active tools without the tools that the run has added.
fn users_tools(state: &RunState, cx: &Cx) -> Result<Option<Vec<String>>, Stale> {
    let added = &state.progress().tools_added;
    let tools = cx.host.active_tools()?.map(|mut tools| {
        tools.retain(|tool| !added.contains(tool));
        tools
    });
    Ok(tools)
}

/// The user's own messages since the run began, newest first, up to [`MAX_MESSAGES`].
fn handed_messages(state: &RunState, cx: &Cx) -> Result<Vec<String>, Stale> {
    let mut room = MAX_MESSAGES;
    let mut messages = Vec::new();
    for message in users_own(&state.task_id, cx)? {
        let Some(left) = room.checked_sub(message.text.chars().count()) else { break };
        room = left;
        messages.push(message.text);
    }
    Ok(messages)
}
