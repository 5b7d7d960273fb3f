//! The bounds of an entry that is written: [`restore`](super::restore) reads each of them. The journal applies them, and nothing else
//! has to.

use serde_json::Value;

use super::progress::MAX_VISITS;
use super::stored::MAX_TOOLS;
use super::{RunState, phase_key};

/// Maximum length of a text in an entry, in bytes. The texts of a run that matter to its rules are shorter.
const MAX_TEXT: usize = 64 << 10;
/// Maximum length of an entry, in bytes of JSON; less than is read, for the host may write it otherwise.
pub(super) const MAX_LENGTH: usize = 3 << 20;

/// Cuts the texts of an entry, and leaves out fields with too long a name. Recursive; our own entries are not deep.
pub(super) fn cut_texts(data: &mut Value) {
    match data {
        Value::String(text) if text.len() > MAX_TEXT => {
            let is_end = |at: &usize| text.is_char_boundary(*at);
            text.truncate((0..=MAX_TEXT).rev().find(is_end).unwrap_or_default());
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::Array(items) => items.iter_mut().for_each(cut_texts),
        Value::Object(fields) => {
            fields.retain(|name, _| name.len() <= MAX_TEXT);
            fields.values_mut().for_each(cut_texts);
        }
    }
}

impl RunState {
    /// Drops what the lists have beyond their bounds, first of phases without a visit. Workflows have fewer phases; the user may
    /// accept changed files again and again.
    pub(super) fn bound_lists(&mut self) {
        self.forget_oldest();
        let progress = &mut self.progress;
        let visits = &progress.visits;
        progress.outcomes.keep_at_most(MAX_VISITS, |key| visits.contains_key(key));
        progress.passed_over.keep_at_most(MAX_VISITS, |_| true);
        progress.allowances.keep_at_most(MAX_VISITS, |key| visits.contains_key(key));
        progress.tools_added.truncate(MAX_TOOLS);
        progress.tools_hidden.truncate(MAX_TOOLS);
    }

    /// Drops half of what makes the run long and matters least: evidence, then visits, the oldest first, then the reasons of
    /// entries that were passed over, tools, outcomes. Returns false if there is nothing of these.
    pub(super) fn lighten(&mut self) -> bool {
        let oldest_first = |state: &Self, with_evidence: bool| -> Vec<String> {
            let visits = state.visits_by(|visit| Some(visit.step)).into_iter();
            let visits = visits.filter(|(_, visit)| !with_evidence || !visit.evidence.is_empty());
            visits.map(|(key, _)| key.to_owned()).collect()
        };
        let mut keys = oldest_first(self, true);
        if let [key] = &keys[..]
            && let Some(visit) = self.progress.visits.get_mut(key)
            && visit.evidence.iter().any(|check| !check.tail.is_empty())
        {
            visit.evidence.iter_mut().for_each(|check| check.tail.clear());
            return true;
        }
        keys.truncate(keys.len().div_ceil(2));
        for key in &keys {
            if let Some(visit) = self.progress.visits.get_mut(key) {
                visit.evidence.clear();
            }
        }
        if !keys.is_empty() {
            return true;
        }
        let current = phase_key(&self.current_path);
        let mut keys = oldest_first(self, false);
        keys.retain(|key| *key != current);
        keys.truncate(keys.len().div_ceil(2));
        for key in &keys {
            self.forget(key);
        }
        if !keys.is_empty() {
            return true;
        }
        let progress = &mut self.progress;
        if !progress.passed_over.is_empty() {
            progress.passed_over.clear();
            return true;
        }
        if progress.tools_added.len() + progress.tools_hidden.len() > 0 {
            progress.tools_added.truncate(progress.tools_added.len() / 2);
            progress.tools_hidden.truncate(progress.tools_hidden.len() / 2);
            return true;
        }
        let half = progress.outcomes.len() / 2;
        progress.outcomes.keep_at_most(half, |key| progress.visits.contains_key(key));
        half > 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::run::{
        Evidence, Journal, Leaving, PassReason, PassedOver, PauseReason, Segment, restore,
    };
    use crate::usage::Usage;

    /// A text of 256 times this many characters, of those that take the most bytes as JSON.
    fn text(size: usize) -> String {
        ["x", "\u{1}", "ä", "😀", "\\\""][size % 5].repeat(size << 8)
    }

    /// A run with texts of any length everywhere, after some steps.
    #[derive(Debug, Clone)]
    enum Growth {
        Move { phase: usize, name: usize },
        Evidence { count: usize, size: usize },
        Pause { kind: usize, size: usize },
        Models { size: usize },
        Outcomes { count: usize, size: usize },
        PassedOver { count: usize, size: usize },
        Tools { count: usize, size: usize },
        Inputs { size: usize },
    }

    fn growth() -> impl Strategy<Value = Growth> {
        let size = 0..1200_usize;
        prop_oneof![
            (0..6000_usize, size.clone()).prop_map(|(phase, name)| Growth::Move { phase, name }),
            (0..30_usize, 0..40_usize).prop_map(|(count, size)| Growth::Evidence { count, size }),
            (0..5_usize, size.clone()).prop_map(|(kind, size)| Growth::Pause { kind, size }),
            size.clone().prop_map(|size| Growth::Models { size }),
            (0..7000_usize, 0..3_usize).prop_map(|(count, size)| Growth::Outcomes { count, size }),
            (0..7000_usize, 0..3_usize)
                .prop_map(|(count, size)| Growth::PassedOver { count, size }),
            (0..20_000_usize, 0..2_usize).prop_map(|(count, size)| Growth::Tools { count, size }),
            size.prop_map(|size| Growth::Inputs { size }),
        ]
    }

    fn grown(state: &RunState, growth: &Growth) -> RunState {
        let mut new = state.clone();
        let progress = &mut new.progress;
        match *growth {
            Growth::Move { phase, name } => {
                new.global_step_count += 1;
                new.current_path = vec![Segment { workflow_key: "w".into(), phase_index: phase }];
                let now = new.global_step_count;
                return new.moved_from(state, Leaving::Done, now).named(&text(name));
            }
            Growth::Evidence { count, size } => {
                let check = Evidence {
                    label: text(size),
                    passed: true,
                    result: text(size),
                    duration_ms: 1,
                    attempt: 1,
                    tail: text(size),
                };
                return state.with_evidence(vec![check; count]);
            }
            Growth::Pause { kind, size } => {
                let (of, label, question, outcome) =
                    (text(size), text(size), text(size), text(size));
                let reason = match kind {
                    0 => PauseReason::Gate { label, times: 3 },
                    1 => PauseReason::Loops { of, outcome, times: 2 },
                    2 => PauseReason::Approval { question },
                    3 => PauseReason::UnknownCost { of },
                    _ => PauseReason::Unknown(text(size).into()),
                };
                return state.paused(reason, 1);
            }
            Growth::Models { size } => {
                let models = [(text(size), 1)].into();
                let refusals = [(text(size + 1), 1)].into();
                let used = Usage { models, refusals, ..Usage::default() };
                let mut new = state.clone().with_usage(state, &used);
                let key = phase_key(&new.current_path);
                if let Some(visit) = new.progress.visits.get_mut(&key) {
                    visit.model = Some(text(size));
                }
                return new;
            }
            Growth::Outcomes { count, size } => {
                for index in 0..count {
                    progress.outcomes.insert(format!("{index}:w"), text(size));
                }
            }
            Growth::PassedOver { count, size } => {
                for index in 0..count {
                    let because = PassReason::Outcome { of: text(size), outcome: text(size) };
                    let passed = PassedOver { name: text(size), step: 1, because };
                    progress.passed_over.insert(format!("w:{index}"), passed);
                }
            }
            Growth::Tools { count, size } => {
                progress.tools_hidden = vec![text(size); count];
                progress.tools_added = vec![text(size); count];
            }
            Growth::Inputs { size } => {
                progress.inputs.insert("i".to_owned(), text(size));
            }
        }
        new
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_stored_is_read_back(growths in prop::collection::vec(growth(), 1..10)) {
            let mut state = RunState::new("w", &text(30), 1, 2).begun(1);
            state.progress.version = crate::run::PROGRESS_VERSION;
            let mut journal = Journal::default();
            let mut entries = vec![journal.entry(&mut state, || None).to_string()];
            for growth in growths {
                state = grown(&state, &growth);
                entries.push(journal.entry(&mut state, || None).to_string());
                let found = restore(entries.iter().rev()).unwrap();
                prop_assert_eq!(&found.progress.broken, &None, "{:?}", growth);
                prop_assert_eq!(&found.current_path, &state.current_path);
                prop_assert_eq!(found.progress.paused.is_some(), state.progress.paused.is_some());
                prop_assert_eq!(found.progress.visits.len(), state.progress.visits.len());
            }
        }
    }

    #[test]
    fn evidence_past_the_bound_gives_way_to_newer_evidence() {
        let mut state = RunState::new("w", "", 1, 2).begun(1);
        let mut journal = Journal::default();
        for phase in 0..20 {
            let growth = [
                Growth::Evidence { count: 20, size: 15 },
                Growth::Move { phase: phase + 1, name: 0 },
            ];
            for growth in growth {
                state = grown(&state, &growth);
                let entry = journal.entry(&mut state, || None).to_string();
                assert!(entry.len() <= MAX_LENGTH);
                let found = restore([entry]).unwrap();
                assert_eq!(found.progress, state.progress, "it is in memory as it is stored");
            }
        }
        assert_eq!(state.progress.visits["w:19"].evidence.len(), 20);
        assert_eq!(state.progress.visits["w:0"].evidence.len(), 0);
        assert_eq!(state.progress.visits.len(), 21);
    }
}
