//! The view of the conversation for a phase that sees nothing of the earlier work.

use crate::engine::effect::{Reply, Summary};
use crate::engine::state::Agent;
use crate::run::{Active, RunState};

/// A view that is begun before the first request to the model, and kept by a compaction behind the turn.
#[derive(Debug, Default)]
pub struct FreshStart(Option<View>);

#[derive(Debug)]
struct View {
    /// The run whose phase began the view.
    task_id: String,
    /// The number of steps of this run.
    step: u64,
    /// Replaces the earlier messages.
    summary: Summary,
    /// The id of the first entry of the session in the view; known when the host has begun the view.
    first_kept: Option<String>,
}

/// Returns true if a phase is to start fresh, and has not yet.
pub fn is_to_start_fresh(active: &Active) -> bool {
    active.state.progress().fresh_start && active.is_fresh()
}

impl FreshStart {
    /// Returns true if the agent, which is at work, has not seen the fresh context of the phase yet.
    pub fn is_ahead(&self, active: &Active, agent: &Agent) -> bool {
        agent.activity.is_working() && is_to_start_fresh(active) && !self.is_of(active.state)
    }

    /// There is no view: the agent starts anew, or the session moved.
    pub fn forget(&mut self) {
        self.0 = None;
    }

    /// The current phase of a run begins a view.
    pub fn begin(&mut self, state: &RunState, summary: Summary) {
        let (task_id, step) = (state.task_id.clone(), state.global_step_count);
        self.0 = Some(View { task_id, step, summary, first_kept: None });
    }

    /// The host has begun the view, with this entry of the session.
    pub fn begun(&mut self, first_kept: Option<String>) {
        if let Some(view) = &mut self.0 {
            view.first_kept = first_kept;
        }
    }

    /// Returns true if the current phase of a run began the view.
    pub fn is_of(&self, state: &RunState) -> bool {
        let RunState { task_id, global_step_count, .. } = state;
        self.0.as_ref().is_some_and(|view| (&view.task_id, &view.step) == (task_id, global_step_count))
    }

    /// The turn is over: returns the compaction that keeps the view that was begun with the turn, if there is such a
    /// view.
    pub fn keep(&mut self) -> Option<Reply> {
        let View { summary, first_kept, .. } = self.0.take()?;
        Some(Reply::Compact { summary, first_kept, prompt: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_kept_once_and_by_the_phase_that_began_it() {
        let state = RunState::new("w", "x", 0, 0);
        let mut moved = state.clone();
        moved.global_step_count = 1;
        let summary = Summary { text: "What was done.".into(), images_of: Vec::new() };
        let mut start = FreshStart::default();
        start.begun(Some("e1".into()));
        assert_eq!(start.keep(), None, "the host tells of a view that is not ours");
        start.begin(&state, summary.clone());
        start.begun(Some("e2".into()));
        assert!(start.is_of(&state) && !start.is_of(&moved));
        let first_kept = Some("e2".into());
        assert_eq!(start.keep(), Some(Reply::Compact { summary, first_kept, prompt: None }));
        assert_eq!(start.keep(), None);
        assert!(!start.is_of(&state));
    }
}
