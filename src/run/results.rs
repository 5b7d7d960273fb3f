//! The results of the phases so far: their summaries and outputs.

use crate::sorted::Map;

use super::{outputs::Outputs, path::PhasePath, state::RunState, visit::Summary};

/// The result of a phase: a summary, outputs, or both.
#[derive(Debug, Clone, Copy)]
pub struct PhaseResult<'a> {
    /// The phase's emoji and name.
    pub name: &'a str,
    /// The number of transitions of the run before it.
    pub step: u64,
    pub summary: Option<&'a Summary>,
    pub outputs: Option<&'a Outputs>,
}

impl RunState {
    /// Returns all results, oldest first, each with the path of its phase.
    pub fn results(&self) -> Vec<(PhasePath, PhaseResult<'_>)> {
        let mut found: Map<&str, PhaseResult> = Map::new();
        for (key, visit) in self.progress.visits.iter() {
            if let Some(summary) = &visit.summary {
                let Summary { name, step, .. } = summary;
                let result = PhaseResult { name, step: *step, summary: Some(summary), outputs: None };
                found.insert(key, result);
            }
        }
        for (key, handed) in self.progress.outputs.iter().filter(|(_, of)| !of.is_hidden) {
            let summary = found.remove(key).and_then(|result| result.summary);
            let step = summary.map_or(handed.step, |summary| summary.step.max(handed.step));
            let outputs = Some(&handed.values);
            found.insert(key, PhaseResult { name: &handed.name, step, summary, outputs });
        }
        let results = found.into_iter();
        let mut ordered: Vec<(PhasePath, PhaseResult)> =
            results.filter_map(|(key, result)| Some((PhasePath::parse(key)?, result))).collect();
        ordered.sort_by_key(|(_, result)| result.step);
        ordered
    }
}
