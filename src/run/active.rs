//! A run's state, looked up in the library.

use crate::definition::{
    Condition, ContextMode, Entry, EntryKind, Library, Limits, Outcome, Output, OwnModel, Phase, Question, Sandbox,
    ValueName, Workflow,
};

use crate::sorted::Set;

use super::{path::Segment, state::RunState};

/// An active run with everything that its state names.
///
/// Specification: state management, "ActiveWorkflow Resolution".
#[derive(Debug, Clone, Copy)]
pub struct Active<'a> {
    /// The library in which the names were looked up.
    pub library: &'a Library,
    /// The state it was resolved from.
    pub state: &'a RunState,
    /// The workflow that was started.
    pub root: &'a Workflow,
    /// The innermost workflow.
    pub scope: &'a Workflow,
    /// The index of the current entry in the innermost workflow.
    pub index: usize,
    pub phase: &'a Phase,
}

impl<'a> Active<'a> {
    /// Resolves a state; `None` if the run is not running, or if its path does not lead to a phase of the library.
    pub fn resolve(state: &'a RunState, library: &'a Library) -> Option<Self> {
        if !state.is_running() {
            return None;
        }
        for scopes in state.current_path.windows(2) {
            let [outer, inner] = scopes else { continue };
            let entry = library.get(&outer.workflow_key)?.phases.get(outer.phase_index)?;
            match &entry.kind {
                EntryKind::Workflow { key, .. } if *key == inner.workflow_key => {}
                EntryKind::Workflow { .. } | EntryKind::Phase(_) => return None,
            }
        }
        let is_branch =
            |scope: &Segment| library.get(&scope.workflow_key).is_some_and(|group| group.parallel.is_some());
        if state.progress.branch.is_none() && state.current_path.iter().any(is_branch) {
            return None;
        }
        let root = library.get(&state.current_path.first()?.workflow_key)?;
        let Segment { workflow_key, phase_index: index, .. } = state.current_path.last()?;
        let scope = library.get(workflow_key)?;
        let phase = library.first_phase(scope.phases.get(*index..)?)?;
        Some(Self { library, state, root, scope, index: *index, phase })
    }

    /// The names of the workflows from the root to the innermost, as the entries that nest them name them.
    pub fn breadcrumb(&self) -> Vec<&'a str> {
        let entry = |outer: &Segment| self.library.get(&outer.workflow_key)?.phases.get(outer.phase_index);
        let outer = self.state.current_path.windows(2).filter_map(|scopes| entry(scopes.first()?));
        let nested = outer.map(|entry| self.library.entry_name(entry));
        std::iter::once(&*self.root.name).chain(nested).collect()
    }

    /// The entry before the current one in the innermost workflow.
    pub fn previous(&self) -> Option<&'a Entry> {
        self.scope.phases.get(self.index.checked_sub(1)?)
    }

    /// The next entry in the innermost workflow whose conditions hold, or may hold with an outcome of the current
    /// phase.
    pub fn next(&self) -> Option<&'a Entry> {
        let is_open = |condition: &&Condition| match &condition.of {
            ValueName::Outcome(id) => *id == self.phase.id,
            ValueName::Output { phase, .. } => *phase == self.phase.id,
            _ => false,
        };
        self.scope.phases.get(self.index.checked_add(1)?..)?.iter().find(|entry| {
            let decided = entry.when.iter().filter(|condition| !is_open(condition));
            let decided: Vec<Condition> = decided.cloned().collect();
            self.state.refusal(&decided, self.library).is_none()
        })
    }

    /// Returns true if the phase is to see nothing of the earlier work: the phase or its workflow says
    /// `context: fresh`. The first phase of a nested workflow takes the default of the entry that contains the
    /// workflow; the first phase of all is shared.
    pub fn is_fresh(&self) -> bool {
        let branch = self.state.progress.branch.as_ref();
        if branch.is_some_and(|branch| branch.step == self.state.global_step_count) {
            return true;
        }
        let of_entry = || {
            let mut innermost_first = self.state.current_path.iter().rev();
            let entry = innermost_first.find(|segment| segment.phase_index > 0)?;
            self.library.get(&entry.workflow_key)?.context
        };
        self.phase.context.or_else(of_entry) == Some(ContextMode::Fresh)
    }

    /// Returns true if the phase cannot be left without a summary: the phase says so, or a phase of the agent that may
    /// be next starts fresh. Conditions can be on outputs, so any later phase may come after a phase with outputs.
    pub fn needs_summary(&self) -> bool {
        self.state.progress.branch.is_some() || self.phase.summary_required || self.may_lead_to_fresh(&mut Set::new())
    }

    /// `seen` has the keys of the entries without the model that are passed on the way.
    fn may_lead_to_fresh(&self, seen: &mut Set<String>) -> bool {
        if !self.phase.outputs.is_empty() && self.is_before_fresh_phase() {
            return true;
        }
        self.outcomes().into_iter().any(|outcome| {
            let Some(after) = self.after(outcome) else { return false };
            Active::resolve(&after, self.library).is_some_and(|next| {
                let is_passed = !next.phase.is_of_agent() && seen.insert(after.current_path.key());
                let has_branches = next.state.parallel_group(self.library).is_some();
                next.is_fresh() || has_branches || is_passed && next.may_lead_to_fresh(seen)
            })
        })
    }

    /// Returns true if a later phase of the run can start fresh. Each phase of a repeated group is a later one, of another
    /// item.
    fn is_before_fresh_phase(&self) -> bool {
        self.state.current_path.iter().any(|at| {
            let Some(scope) = self.library.get(&at.workflow_key) else { return false };
            let later = if scope.each.is_some() { 0 } else { at.phase_index + 1 };
            scope.phases.iter().skip(later).any(|entry| match &entry.kind {
                EntryKind::Phase(phase) => scope.starts_fresh(phase),
                EntryKind::Workflow { key, .. } => {
                    scope.context == Some(ContextMode::Fresh) || self.library.can_start_fresh(key)
                }
            })
        })
    }

    /// The model of the current phase: its own, or that of the nearest entry or workflow around it.
    pub fn model(&self) -> OwnModel {
        let path = &self.state.current_path;
        let mut model = self.phase.model.clone();
        for (depth, segment) in path.iter().enumerate().rev() {
            let outer = depth.checked_sub(1).and_then(|outer| path.get(outer));
            let entry = outer.and_then(|outer| self.library.get(&outer.workflow_key)?.phases.get(outer.phase_index));
            if let Some(EntryKind::Workflow { model: of_entry, .. }) = entry.map(|entry| &entry.kind) {
                model = model.within(of_entry);
            }
            model = self.library.get(&segment.workflow_key).map_or(model.clone(), |scope| model.within(&scope.model));
        }
        model
    }

    /// The limits of the current phase, with the values of the run.
    pub fn limits(&self) -> Limits<'a> {
        let depth = self.state.current_path.len();
        let value = |variable: &_| self.state.path_value(variable, depth, self.library);
        let kept = self.library.script_folders(&self.root.key);
        let limits = Limits::of(self.phase, self.scope).with_values(value).keeping(kept);
        match limits.sandbox {
            // Nobody watches each of several agents at once.
            Sandbox::Preferred if self.state.progress.branch.is_some() => {
                Limits { sandbox: Sandbox::Required, ..limits }
            }
            Sandbox::Required | Sandbox::Preferred | Sandbox::Off => limits,
        }
    }

    /// The question of the phase, with the answers that the run offers.
    pub fn question(&self) -> Option<Question> {
        let mut question = self.phase.question()?.clone();
        question.answers.retain(|answer| self.state.refusal(&answer.when, self.library).is_none());
        Some(question)
    }

    /// Returns true if the user may leave the phase with this outcome: it is no answer of a question that the run does
    /// not offer.
    pub fn offers(&self, outcome: &str) -> bool {
        self.question().is_none_or(|question| question.answers.iter().any(|answer| answer.outcome == outcome))
    }

    /// The outputs of the phase, with the values of the run.
    pub fn outputs(&self) -> Vec<Output> {
        let depth = self.state.current_path.len();
        let value_of = |name: &str| self.state.number(name, depth, self.library);
        self.phase.outputs.iter().map(|output| output.resolved(value_of)).collect()
    }

    /// An outcome of the phase, with the values of the run.
    pub fn with_bound(&self, outcome: &Outcome) -> Outcome {
        outcome.resolved(|name| self.state.number(name, self.state.current_path.len(), self.library))
    }

    /// Returns true if the phase alone is the branch of a parallel group that this run works on.
    pub fn is_whole_branch(&self) -> bool {
        let branch = self.state.progress.branch.as_ref();
        branch.is_some_and(|branch| {
            branch.path().as_ref() == Some(&self.state.current_path) && branch.entries(self.library).len() == 1
        })
    }

    pub fn is_nested(&self) -> bool {
        self.state.current_path.len() > 1
    }
}
