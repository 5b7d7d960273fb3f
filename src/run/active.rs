//! A run's state, looked up in the library.

use crate::definition::{ContextMode, Entry, Library, Phase, Workflow};

use super::{RunState, Segment, advance};

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
    /// The current phase.
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
            match entry {
                Entry::Workflow(key) if *key == inner.workflow_key => {}
                Entry::Workflow(_) | Entry::Phase(_) => return None,
            }
        }
        let root = library.get(&state.current_path.first()?.workflow_key)?;
        let Segment { workflow_key, phase_index: index } = state.current_path.last()?;
        let scope = library.get(workflow_key)?;
        let phase = library.first_phase(scope.phases.get(*index..)?)?;
        Some(Self { library, state, root, scope, index: *index, phase })
    }

    /// The names of the workflows from the root to the innermost.
    pub fn breadcrumb(&self) -> Vec<&'a str> {
        let scopes = self.state.current_path.iter();
        scopes.filter_map(|scope| Some(&*self.library.get(&scope.workflow_key)?.name)).collect()
    }

    /// The entry before the current one in the innermost workflow.
    pub fn previous(&self) -> Option<&'a Entry> {
        self.scope.phases.get(self.index.checked_sub(1)?)
    }

    /// The entry after the current one in the innermost workflow.
    pub fn next(&self) -> Option<&'a Entry> {
        self.scope.phases.get(self.index.checked_add(1)?)
    }

    /// Tests if the phase is to see nothing of the earlier work: it says `context: fresh`, or its workflow does. The first
    /// phase of a nested workflow has the default of the entry that contains it, the first of all is shared.
    pub fn is_fresh(&self) -> bool {
        let of_entry = || {
            let mut innermost_first = self.state.current_path.iter().rev();
            let entry = innermost_first.find(|segment| segment.phase_index > 0)?;
            self.library.get(&entry.workflow_key)?.context
        };
        self.phase.context.or_else(of_entry) == Some(ContextMode::Fresh)
    }

    /// Tests if the phase cannot be left without a summary: it says so, or the next one starts fresh.
    pub fn needs_summary(&self) -> bool {
        self.phase.summary_required == Some(true) || {
            let (next, _) = advance(self.state, self.library);
            Active::resolve(&next, self.library).is_some_and(|next| next.is_fresh())
        }
    }

    /// Tests if the run is inside a nested workflow.
    pub fn is_nested(&self) -> bool {
        self.state.current_path.len() > 1
    }
}
