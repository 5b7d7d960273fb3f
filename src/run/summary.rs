//! Summaries: texts that a phase hands over to later phases.

use crate::definition::{Phase, short, trim, with_emoji};

use super::{outputs::MAX_NAME, path::PhasePath, state::RunState, visit::Summary};

/// Maximum length of a summary, in characters; the rest is cut off.
const MAX_SUMMARY: usize = 4000;
/// Maximum length of all summaries of a run together, in characters: every state entry of the session holds all
/// summaries.
const MAX_SUMMARIES: usize = 100_000;
/// Length to which the oldest summaries are cut if all together are too long, in characters.
const MAX_OLD_SUMMARY: usize = 100;
/// The end of a text that was cut.
const CUT: &str = "… (cut)";

impl RunState {
    /// Returns the run with a summary of its current phase, in place of the summary of an earlier visit.
    pub fn with_summary(&self, phase: &Phase, text: &str) -> Self {
        let mut new = self.clone();
        let summary = Summary {
            id: phase.id.clone(),
            name: with_emoji(&short(&phase.emoji, MAX_NAME), &short(&phase.name, MAX_NAME)),
            text: cut(trim(text), MAX_SUMMARY),
            step: self.global_step_count,
        };
        if let Some(visit) = new.progress.visits.get_mut(&self.current_path.key()) {
            visit.summary = Some(summary);
        }
        new.shorten_summaries();
        new
    }

    /// Returns true if the current phase has handed over a summary in this visit.
    pub fn has_handed_over(&self) -> bool {
        let visit = self.progress.visits.get(&self.current_path.key());
        let summary = visit.and_then(|visit| visit.summary.as_ref());
        summary.is_some_and(|summary| summary.step == self.global_step_count)
    }

    /// Returns all summaries, oldest first, each with the path of its phase.
    pub fn summaries(&self) -> Vec<(PhasePath, &Summary)> {
        let visits = self.visits_by(|visit| Some(visit.summary.as_ref()?.step)).into_iter();
        visits.filter_map(|(key, visit)| Some((PhasePath::parse(key)?, visit.summary.as_ref()?))).collect()
    }

    fn shorten_summaries(&mut self) {
        let summaries = self.progress.visits.values().filter_map(|visit| visit.summary.as_ref());
        let mut total: usize = summaries.map(|summary| summary.text.len()).sum();
        if total <= MAX_SUMMARIES {
            return;
        }
        let visits = self.visits_by(|visit| Some(visit.summary.as_ref()?.step)).into_iter();
        let oldest_first: Vec<String> = visits.map(|(key, _)| key.to_owned()).collect();
        let visits = &mut self.progress.visits;
        for key in oldest_first {
            if total <= MAX_SUMMARIES {
                return;
            }
            if let Some(summary) = visits.get_mut(&key).and_then(|visit| visit.summary.as_mut()) {
                total -= summary.text.len();
                summary.text = cut(&summary.text, MAX_OLD_SUMMARY);
                total += summary.text.len();
            }
        }
    }
}

/// Cuts a text to `limit` characters, and adds a mark to a longer text.
pub fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => text.get(..at).unwrap_or_default().to_owned() + CUT,
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::{library, phase};
    use crate::run::path::path_to;
    use crate::run::{Leaving, advance};

    #[test]
    fn a_summary_is_kept_with_its_phase() {
        let library = library(&[("r", &["a", "@s"]), ("s", &["b"])]);
        let first = RunState::new("r", "", 0, 0).begun(0);
        let state = first.with_summary(&phase("a"), "  found it\n");
        assert!(first.summaries().is_empty());
        let (second, _) = advance(&state, &library);
        let second = second.moved_from(&state, Leaving::Done, 1).with_summary(&phase("b"), "sound");
        let texts: Vec<_> = second
            .summaries()
            .into_iter()
            .map(|(path, summary)| (path.key(), summary.text.clone(), summary.step))
            .collect();
        assert_eq!(
            texts,
            [("r:0".to_owned(), "found it".to_owned(), 0), ("r:1/s:0".to_owned(), "sound".to_owned(), 1)]
        );
    }

    #[test]
    fn long_summaries_are_cut() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöüß", 3), "äöü… (cut)");
        let state = RunState::new("r", "", 0, 0).begun(0).with_summary(&phase("a"), &"x".repeat(1 << 20));
        assert_eq!(state.summaries()[0].1.text.chars().count(), MAX_SUMMARY + CUT.chars().count());
    }

    #[test]
    fn the_oldest_of_very_many_are_shortened() {
        let mut state = RunState::new("r", "", 0, 0);
        for index in 0..50 {
            state.current_path = path_to(&[("r", index)]);
            state.global_step_count = index as u64;
            state = state.begun(0).with_summary(&phase("a"), &"x".repeat(4000));
        }
        let lengths: Vec<usize> = state.summaries().iter().map(|(_, summary)| summary.text.len()).collect();
        assert!(lengths.iter().sum::<usize>() <= MAX_SUMMARIES);
        assert!(lengths[0] < 200 && lengths[49] == 4000);
    }
}
