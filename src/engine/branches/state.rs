//! The children that work on the branches of the group at which the run is.

use crate::sorted::Map;

use crate::definition::Library;
use crate::engine::context::Cx;
use crate::engine::effect::Effect;
use crate::engine::state::{Place, Run};
use crate::run::{Active, Branch, PauseReason, RunState};
use crate::text::{self, BranchNow};
use crate::usage::Usage;

/// The children of this instance. Their results are stored with the run; the children and this value end with the
/// instance.
#[derive(Debug, Default)]
pub struct Children {
    /// The visit of the group that has these branches.
    place: Option<Place>,
    /// The working children, by the key of their branch.
    working: Map<String, Child>,
    /// Set while all children end. The inner value is the reason for which the run pauses then; `None` if the children
    /// were interrupted.
    ending: Option<Option<PauseReason>>,
    /// The branches that have met a limit of the model; its end, if it was told.
    limits: Map<String, Option<u64>>,
    /// The reason for which a branch waits whose agent is silent.
    pub silent: Option<PauseReason>,
    /// The children that still work on a group that the run has left, by the key of their branch; their usage still
    /// counts.
    left: Map<String, Child>,
}

#[derive(Debug)]
pub struct Child {
    pub branch: Branch,
    /// Its run in the newest report; `None` before the first report.
    pub state: Option<RunState>,
    /// The state entry with that run.
    pub newest: Option<String>,
    /// Its usage since that entry.
    pub usage: Usage,
    /// The tool that it called last, with the beginning of an argument.
    pub last_call: Option<String>,
    /// The user has stopped the child.
    pub is_stopped: bool,
}

impl Child {
    fn new(branch: Branch) -> Self {
        let (state, newest, usage, last_call) = (None, None, Usage::default(), None);
        Self { branch, state, newest, usage, last_call, is_stopped: false }
    }
}

impl Children {
    /// Begins without children, at the group at which the run is.
    pub fn begin(&mut self, state: &RunState) {
        let is_same_run = self.place.as_ref().is_some_and(|place| place.is_of(state));
        let before = std::mem::take(self);
        let mut left = if is_same_run { before.left } else { Map::new() };
        left.extend(before.working.into_iter().filter(|_| is_same_run));
        *self = Self { place: Some(Place::of(state)), left, ..Self::default() };
    }

    /// Aborts and forgets all children.
    pub fn forget(&mut self, cx: &mut Cx) {
        self.abort(cx);
        *self = Self::default();
    }

    /// Aborts the working children.
    pub fn abort(&self, cx: &mut Cx) {
        let keys = self.working.keys().cloned();
        cx.effects.extend(keys.map(|key| Effect::AbortChild { key }));
    }

    /// A child begins to work on a branch.
    pub fn add(&mut self, branch: Branch) {
        // The host does not report the end of an earlier child of this branch.
        self.left.remove(&branch.key);
        self.working.insert(branch.key.clone(), Child::new(branch));
    }

    /// The child of a branch, if it works at the place of this run.
    pub fn get_mut(&mut self, key: &str, state: &RunState) -> Option<&mut Child> {
        self.is_at(state).then(|| self.working.get_mut(key)).flatten()
    }

    /// The child of a branch has ended.
    pub fn remove(&mut self, key: &str) -> Option<Child> {
        self.working.remove(key)
    }

    /// Removes the child of a branch whose group this run has left.
    pub fn remove_left(&mut self, key: &str, state: &RunState) -> Option<Child> {
        if !self.place.as_ref().is_some_and(|place| place.is_of(state)) {
            return None;
        }
        let at_place = if self.is_at(state) { None } else { self.working.remove(key) };
        at_place.or_else(|| self.left.remove(key))
    }

    pub fn get(&self, key: &str) -> Option<&Child> {
        self.working.get(key)
    }

    /// A line for each branch of the group at which a run is, as many as the user's terminal has room for.
    pub fn lines(&self, run: &Run, cx: &mut Cx) -> String {
        let Some(Active { state, library, .. }) = run.active() else { return String::new() };
        let now = |branch: &_| self.branch_now(branch, library);
        let lines = text::branch_lines(state, &state.current_path, library, &now);
        text::fitting_branches(lines, cx.terminal_size()).join("\n")
    }

    /// Shows the lines of the branches while the children work.
    pub fn show(&self, run: &Run, cx: &mut Cx) {
        let lines = self.lines(run, cx);
        cx.push(Effect::ShowChildren(lines));
    }

    /// Returns the present activity of the child of a branch.
    pub fn branch_now(&self, branch: &Branch, library: &Library) -> BranchNow {
        let child = self.get(&branch.key);
        let state = child.and_then(|child| child.state.as_ref());
        BranchNow {
            works: child.is_some(),
            phase: state.map(|state| text::branch_phase(state, library).unwrap_or_else(|| "ends".to_owned())),
            last_call: child.and_then(|child| child.last_call.clone()),
        }
    }

    pub fn count(&self) -> usize {
        self.working.len()
    }

    /// Returns true if the children belong to the group at which this run is.
    pub fn is_at(&self, state: &RunState) -> bool {
        self.place.as_ref() == Some(&Place::of(state))
    }

    /// Notes that all children end: interrupted, or for this reason. The first call counts.
    pub fn end(&mut self, reason: Option<PauseReason>) {
        self.ending.get_or_insert(reason);
    }

    /// Returns true if all children end, so that no other child begins.
    pub fn is_ending(&self) -> bool {
        self.ending.is_some()
    }

    /// A branch has met a limit with this end: no other child begins before it.
    pub fn meet_limit(&mut self, key: &str, until: Option<u64>) {
        self.limits.insert(key.to_owned(), until);
    }

    /// The end of the limit for which branches wait, unless they were interrupted.
    pub fn limit(&self) -> Option<Option<u64>> {
        self.limits.values().copied().max().filter(|_| !self.is_ending())
    }

    /// Returns true if every branch of the run that waits waits for the end of a limit.
    pub fn wait_only_for_limit(&self, state: &RunState) -> bool {
        let branches = &state.progress().branches;
        branches.iter().all(|(key, run)| run.waits.is_none() || self.limits.contains_key(key))
    }

    /// The reason for which the children end, if they were not interrupted.
    pub fn reason(&self) -> Option<PauseReason> {
        self.ending.clone().flatten()
    }
}
