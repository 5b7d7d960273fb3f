//! The part of a run that the current phase gets: `results`.

use std::borrow::Cow;

use crate::definition::{Entry, Results};

use super::{active::Active, path::PhasePath, state::RunState, visit::PassedOverReason};

impl<'a> Active<'a> {
    /// Returns true if the current phase gets the results of the phase at this path.
    pub fn sees(&self, path: &PhasePath) -> bool {
        let Results::Of(names) = &self.phase.results else { return true };
        let is_named = |entry: &Entry| names.iter().any(|name| entry.is_called(name));
        let groups = self.scope.group.as_ref().map_or(0, |group| group.at.len());
        let depth = self.state.current_path.len().saturating_sub(groups + 1);
        let Some(outer) = self.state.current_path.get(..depth) else { return false };
        let Some(of_file) = path.get(depth..).filter(|_| path.starts_with(outer)) else { return false };
        let file = self.state.current_path.get(depth).map(|segment| &segment.workflow_key);
        if of_file.first().map(|segment| &segment.workflow_key) != file {
            return false;
        }
        // The entry in the file, and the entries in the groups on the way to it.
        for segment in of_file {
            let scope = self.library.get(&segment.workflow_key);
            let Some(entry) = scope.and_then(|scope| scope.phases.get(segment.phase_index)) else {
                return false;
            };
            if is_named(entry) {
                return true;
            }
            if entry.group_key().is_none() {
                return false;
            }
        }
        false
    }

    /// Returns the state as the current phase gets it: without the summaries, the outputs and the evidence that its
    /// `results` leave out. With such `results` the state does not tell either which entries an outcome passed over.
    ///
    /// **Invariant: each text for the agent about its phase is made from this state.**
    pub fn seen(&self) -> Cow<'a, RunState> {
        if self.phase.results == Results::All {
            return Cow::Borrowed(self.state);
        }
        let mut state = self.state.clone();
        let is_hidden = |key: &&str| !PhasePath::parse(key).is_some_and(|path| self.sees(&path));
        for key in self.state.progress.visits.keys().filter(is_hidden) {
            if let Some(visit) = state.progress.visits.get_mut(key) {
                visit.summary = None;
                visit.evidence.clear();
            }
        }
        for key in self.state.progress.outputs.keys().filter(is_hidden) {
            if let Some(handed) = state.progress.outputs.get_mut(key) {
                handed.is_hidden = true;
            }
        }
        for (key, passed) in self.state.progress.passed_over.iter() {
            let by_input = match &passed.because {
                PassedOverReason::Condition { of, .. } | PassedOverReason::NoItems { of } => of.starts_with("input."),
                PassedOverReason::Outcome { .. } | PassedOverReason::Budget { .. } => false,
            };
            if !by_input {
                state.progress.passed_over.remove(key);
            }
        }
        Cow::Owned(state)
    }

    /// Returns the active run with this state in place of its own.
    pub fn with<'b>(&self, state: &'b RunState) -> Active<'b>
    where
        'a: 'b,
    {
        Active { state, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::{phase, workflow};
    use crate::definition::{Entry, Library};
    use crate::run::{Evidence, Leaving, advance};

    /// A run of `r`: a, s (b, c), d, with a summary and evidence of each, at its last phase, which has these results.
    fn seen(results: Results) -> Vec<(String, bool)> {
        let mut last = phase("d");
        last.results = results;
        let mut root = workflow("r", &["a", "@s", "x"]);
        root.phases[2] = Entry::phase(last);
        let library = Library::new(vec![root, workflow("s", &["b", "c"])], &mut Vec::new());
        let mut state = RunState::new("r", "", 0, 0).begun(0);
        for id in ["a", "b", "c"] {
            let check = Evidence {
                name: id.into(),
                passed: true,
                result: "it holds".into(),
                duration_ms: 0,
                attempt: 1,
                tail: format!("output of {id}"),
                ..Evidence::default()
            };
            let left = state.with_summary(&phase(id), id).with_evidence(vec![check]);
            state = advance(&left, &library).0.moved_from(&left, Leaving::Done, 0);
        }
        let state = state.with_summary(&phase("d"), "d");
        let active = Active::resolve(&state, &library).unwrap();
        let seen = active.seen();
        let visits = seen.progress.visits.iter().map(|(_, visit)| {
            let summary = visit.summary.as_ref().map(|summary| summary.text.clone());
            (summary.unwrap_or_default(), !visit.evidence.is_empty())
        });
        visits.filter(|(summary, evidence)| !summary.is_empty() || *evidence).collect()
    }

    #[test]
    fn a_phase_gets_the_results_that_it_names() {
        let names = |names: &[&str]| Results::Of(names.iter().map(|&name| name.into()).collect());
        let (a, b, c) = (("a".into(), true), ("b".into(), true), ("c".into(), true));
        let d = ("d".into(), false);
        let all = [a.clone(), b.clone(), c.clone(), d.clone()];
        assert_eq!(seen(Results::All), all);
        assert_eq!(seen(names(&[])), []);
        assert_eq!(seen(names(&["a"])), [a]);
        assert_eq!(seen(names(&["s"])), [b, c]);
        assert_eq!(seen(names(&["d"])), [d], "an earlier visit of the phase itself");
    }
}
