//! Summaries: texts that a phase hands over to later phases.

use crate::definition::{Library, Phase, ValueName, short, trim, with_emoji};

use super::path::{PhasePath, Segment};
use super::tail::{Tail, note};
use super::{outputs::MAX_NAME, state::RunState, visit::Summary};
use crate::sorted::Map;

/// Maximum length of a summary, in characters; the rest is cut off.
const MAX_SUMMARY: usize = 4000;
/// Maximum length of all summaries of a run together, in characters: every state entry of the session holds all
/// summaries.
const MAX_SUMMARIES: usize = 100_000;
/// Length to which the oldest summaries are cut if all together are too long, in characters.
const MAX_OLD_SUMMARY: usize = 100;
/// Maximum length of the kept output of a step, in characters.
const MAX_LOG: usize = 20_000;
/// Maximum length of the kept outputs of all steps of a run together, in bytes.
const MAX_LOGS: usize = 200_000;
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
            log: None,
            log_note: String::new(),
            step: self.global_step_count,
        };
        if let Some(visit) = new.progress.visits.get_mut(&self.current_path.key()) {
            visit.summary = Some(summary);
        }
        new.shorten_summaries();
        new
    }

    /// Returns the run with this output of its current step, if a text or a command names the output: it lacks `missing` bytes, and
    /// `file` has all of it, unless it is empty. Of all outputs together [`MAX_LOGS`] characters are kept, the newest.
    pub fn with_log(&self, phase: &Phase, output: &str, missing: u64, file: &str, library: &Library) -> Self {
        let mut new = self.clone();
        if !library.names(&self.workflow_key, &ValueName::Log(phase.id.clone())) {
            return new;
        }
        let visit = new.progress.visits.get_mut(&self.current_path.key());
        if let Some(summary) = visit.and_then(|visit| visit.summary.as_mut()) {
            let tail = Tail::of(trim(output), missing, MAX_LOG, usize::MAX);
            summary.log_note = note(tail.missing, file);
            summary.log = Some(tail.text).filter(|log| !log.is_empty());
        }
        let logs = new.summaries().into_iter().rev();
        let logs = logs.filter_map(|(path, summary)| Some((path.key(), summary.log.as_ref()?.len())));
        let mut total = 0;
        for (key, length) in logs.collect::<Vec<_>>() {
            total += length;
            if let Some(summary) = new.progress.visits.get_mut(&key).and_then(|visit| visit.summary.as_mut())
                && total > MAX_LOGS
            {
                summary.log = None;
            }
        }
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

    /// Returns the summary of the phase with this id; of several phases the summary in the innermost scope, else the
    /// newest. Without such a summary, returns the newest one in the nested workflow or the group with this id. From
    /// outside of a repeated group, returns that of each of its items, in their order.
    pub fn summaries_of(&self, id: &str, library: &Library) -> Vec<&Summary> {
        let counts = |(path, _): &(PhasePath, &Summary)| !self.is_in_another_item(path) && !self.is_of_failed(path);
        let summaries: Vec<(PhasePath, &Summary)> = self.summaries().into_iter().filter(counts).collect();
        let of_phase = summaries.iter().filter(|(_, summary)| summary.id == id).max_by_key(|(path, summary)| {
            (path.len().checked_sub(self.shared(path) + 1) == Some(0), path.len(), summary.step)
        });
        let is_called = |segment: &Segment| {
            let scope = library.get(&segment.workflow_key);
            let entry = scope.and_then(|scope| scope.phases.get(segment.phase_index));
            entry.is_some_and(|entry| entry.is_called(id))
        };
        let called = |path: &PhasePath| path.iter().position(is_called);
        let of_workflow = || summaries.iter().rfind(|(path, _)| called(path).is_some());
        let Some((of, _)) = of_phase.or_else(of_workflow) else { return Vec::new() };
        // The part of a path that tells the items apart: of a nested workflow or group, up to its own item.
        let depth = if of_phase.is_some() { of.len() } else { called(of).map_or(1, |depth| depth + 2) };
        let part = |path: &PhasePath| match of_phase {
            Some(_) => path.clone(),
            None => path.at_depth(depth).with_index(0),
        };
        let same = part(of).without_items();
        let mut newest: Map<Vec<usize>, &Summary> = Map::new();
        for (path, summary) in &summaries {
            if part(path).without_items() == same {
                newest.insert(part(path).indices(), summary);
            }
        }
        newest.into_iter().map(|(_, summary)| summary).collect()
    }

    /// Returns true if a path leads through another item of a repeated group in which the run is.
    fn is_in_another_item(&self, path: &PhasePath) -> bool {
        let apart = path.iter().zip(self.current_path.iter()).find(|(one, other)| one != other);
        apart.is_some_and(|(one, other)| one.workflow_key == other.workflow_key && one.item != other.item)
    }

    /// Returns the number of leading segments that a path has in common with the run's path.
    pub fn shared(&self, path: &PhasePath) -> usize {
        path.iter().zip(self.current_path.iter()).take_while(|(a, b)| a == b).count()
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
