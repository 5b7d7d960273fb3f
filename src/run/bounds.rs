//! The bounds of a written entry, so that [`restore`](super::restore) can read every entry. Only the journal applies
//! the bounds.

use crate::sorted::Set;

use serde_json::Value;

use super::progress::{MAX_VISITS, Progress};
use super::state::{RunState, RunStatus};
use super::{path::PhasePath, stored::MAX_TOOLS, visit::Visit};

/// Maximum length of a text in an entry, in bytes. The texts of a run that matter to its rules are shorter.
const MAX_TEXT: usize = 64 << 10;
/// Maximum number of records of the work on branches in an entry: 4 groups with the maximum number of branches.
const MAX_BRANCHES: usize = 256;
/// Maximum length of an entry, in bytes of JSON; less than the maximum that is read, because the host may write the
/// JSON in another form.
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
    /// Drops the records beyond the bounds of the lists, first the records of phases without a visit. A workflow has
    /// fewer phases than the bounds, but the user may accept changed files again and again.
    pub(super) fn bound_lists(&mut self) {
        self.forget_oldest();
        if self.progress.outcomes.len().max(self.progress.outputs.len()) > MAX_VISITS {
            self.drop_outcomes();
        }
        let progress = &mut self.progress;
        let visits = &progress.visits;
        progress.passed_over.keep_at_most(MAX_VISITS, |_| true);
        progress.allowances.keep_at_most(MAX_VISITS, |key| visits.contains_key(key));
        progress.tools_added.truncate(MAX_TOOLS);
        self.drop_branches(MAX_BRANCHES);
    }

    /// Drops the records of the work on branches above a number, the oldest first, but no record of the group at which
    /// the run is: the records of other groups are for display only. Returns false if no record was dropped.
    fn drop_branches(&mut self, most: usize) -> bool {
        let excess = self.progress.branches.len().saturating_sub(most);
        if excess == 0 {
            return false;
        }
        let here = self.current_path.below();
        let runs = self.progress.branches.iter().filter(|(key, _)| !key.starts_with(&here));
        let mut others: Vec<(u64, String)> = runs.map(|(key, run)| (run.started_at, key.to_owned())).collect();
        others.sort_unstable();
        others.truncate(excess);
        for (_, key) in &others {
            self.progress.branches.remove(key);
        }
        !others.is_empty()
    }

    /// Drops half of the least important data of a run that is too long. The order: evidence; visits, the oldest first;
    /// the work on branches of other groups; the reasons of entries that were passed over; tools; outcomes and outputs
    /// that no condition can name; of a run that has ended, the rest. Returns false if nothing of these is left.
    pub(super) fn drop_least_important(&mut self) -> bool {
        let has_evidence = |_: &str, visit: &Visit| !visit.evidence.is_empty();
        let checked = self.progress.visits.iter().filter(|(key, visit)| has_evidence(key, visit));
        let checked: Vec<String> = checked.map(|(key, _)| key.to_owned()).take(2).collect();
        if let [key] = &checked[..]
            && let Some(visit) = self.progress.visits.get_mut(key)
            && visit.evidence.iter().any(|check| !check.tail.is_empty())
        {
            visit.evidence.iter_mut().for_each(|check| check.tail.clear());
            return true;
        }
        let current = self.current_path.key();
        if self.drop_older_half(has_evidence, Self::drop_evidence)
            || self.drop_older_half(|key, _| key != current, Self::forget)
            || self.drop_branches(self.progress.branches.len() / 2)
        {
            return true;
        }
        if !self.progress.passed_over.is_empty() {
            self.progress.passed_over.clear();
            return true;
        }
        let tools = &mut self.progress.tools_added;
        if !tools.is_empty() {
            tools.truncate(tools.len() / 2);
            return true;
        }
        self.drop_outcomes() || self.drop_past()
    }

    /// Applies `drop` to the older half of the visits that are meant. Returns false if there are no such visits.
    fn drop_older_half<T>(
        &mut self,
        is_meant: impl Fn(&str, &Visit) -> bool,
        drop: impl Fn(&mut Self, &str) -> T,
    ) -> bool {
        let visits = self.visits_by(|visit| Some(visit.step)).into_iter();
        let keys = visits.filter(|(key, visit)| is_meant(key, visit)).map(|(key, _)| key.to_owned());
        let mut keys: Vec<String> = keys.collect();
        keys.truncate(keys.len().div_ceil(2));
        for key in &keys {
            drop(self, key);
        }
        !keys.is_empty()
    }

    /// Drops the outcomes and outputs that no condition can name: in nested workflows that the run has left and that
    /// have no visit for the user to go back to. All others stay, because a missing outcome or output changes which
    /// entries are passed over; a run with too many of them is held when it is read. Returns false if nothing was
    /// dropped.
    fn drop_outcomes(&mut self) -> bool {
        let Progress { outcomes, outputs, .. } = &mut self.progress;
        let before = outcomes.len() + outputs.len();
        if self.status != RunStatus::Running {
            outcomes.clear();
            outputs.clear();
            return before > 0;
        }
        let mut open = Set::new();
        let visited = self.progress.visits.keys().filter_map(PhasePath::parse);
        for path in visited.chain([self.current_path.clone()]) {
            open.extend(path.scopes().map(|path| path.outer_key()));
        }
        let is_open = |key: &str| PhasePath::parse(key).is_none_or(|path| open.contains(&path.outer_key()));
        let Progress { outcomes, outputs, .. } = &mut self.progress;
        outcomes.keep(is_open);
        outputs.keep(is_open);
        outcomes.len() + outputs.len() < before
    }

    /// Drops everything that a run that has ended does not need, so that its end can always be stored. Returns false if
    /// the run goes on, or nothing is left to drop.
    fn drop_past(&mut self) -> bool {
        let bare = Progress { version: self.progress.version, ..Progress::default() };
        if self.is_running() || self.progress == bare && self.current_path.len() == 1 {
            return false;
        }
        self.progress = bare;
        self.current_path.truncate(1);
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::run::path::path_to;
    use crate::run::{
        Allowance, BranchEnd, BranchRun, Evidence, Journal, Leaving, PassedOver, PassedOverReason, PauseReason, restore,
    };
    use crate::usage::Usage;

    /// A text of 256 times this many characters, of the characters that take the most bytes as JSON.
    fn text(size: usize) -> String {
        ["x", "\u{1}", "ä", "😀", "\\\""][size % 5].repeat(size << 8)
    }

    /// A run with texts of any length everywhere, after some transitions.
    #[derive(Debug, Clone)]
    enum Growth {
        Move { phase: usize, name: usize },
        Evidence { count: usize, size: usize },
        Pause { kind: usize, size: usize },
        Models { size: usize },
        Outcomes { count: usize, size: usize },
        PassedOver { count: usize, size: usize },
        Tools { count: usize, size: usize },
        Inputs { count: usize, size: usize },
        Summary { size: usize },
        Gates { count: usize, size: usize },
        Allowances { count: usize },
        Path { depth: usize, size: usize },
        End { announced: bool },
    }

    /// A number that is small in most cases: large states take long.
    fn rarely(most: usize) -> impl Strategy<Value = usize> {
        prop_oneof![12 => 0..5_usize, 1 => 0..most]
    }

    fn growth() -> impl Strategy<Value = Growth> {
        let size = || rarely(300);
        prop_oneof![
            (0..6000_usize, size()).prop_map(|(phase, name)| Growth::Move { phase, name }),
            (rarely(30), rarely(40)).prop_map(|(count, size)| Growth::Evidence { count, size }),
            (0..5_usize, size()).prop_map(|(kind, size)| Growth::Pause { kind, size }),
            size().prop_map(|size| Growth::Models { size }),
            (rarely(5000), 0..3_usize).prop_map(|(count, size)| Growth::Outcomes { count, size }),
            (rarely(7000), 0..3_usize).prop_map(|(count, size)| Growth::PassedOver { count, size }),
            (rarely(20_000), 0..2_usize).prop_map(|(count, size)| Growth::Tools { count, size }),
            (0..20_usize, rarely(16)).prop_map(|(count, size)| Growth::Inputs { count, size }),
            size().prop_map(|size| Growth::Summary { size }),
            (0..50_usize, 0..2_usize).prop_map(|(count, size)| Growth::Gates { count, size }),
            rarely(5000).prop_map(|count| Growth::Allowances { count }),
            (1..101_usize, 0..2_usize).prop_map(|(depth, size)| Growth::Path { depth, size }),
            any::<bool>().prop_map(|announced| Growth::End { announced }),
        ]
    }

    fn grown(state: &RunState, growth: &Growth) -> RunState {
        let mut new = state.clone();
        let progress = &mut new.progress;
        match *growth {
            Growth::Move { phase, name } => {
                new.global_step_count += 1;
                new.current_path = path_to(&[("w", phase)]);
                let now = new.global_step_count;
                return new.moved_from(state, Leaving::Done, now).named(&text(name));
            }
            Growth::Evidence { count, size } => {
                let check = Evidence {
                    name: text(size),
                    passed: true,
                    result: text(size),
                    duration_ms: 1,
                    attempt: 1,
                    tail: text(size),
                    file: text(size),
                    ..Evidence::default()
                };
                return state.with_evidence(vec![check; count]);
            }
            Growth::Pause { kind, size } => {
                let (of, name, question, outcome) = (text(size), text(size), text(size), text(size));
                let reason = match kind {
                    0 => PauseReason::Gate { name, times: 3 },
                    1 => PauseReason::Loops { of, outcome, scope: Some(text(size)) },
                    2 => PauseReason::Question { question },
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
                let key = new.current_path.key();
                if let Some(visit) = new.progress.visits.get_mut(&key) {
                    visit.model = Some(text(size));
                }
                return new;
            }
            Growth::Outcomes { count, size } => {
                for index in 0..count {
                    progress.outcomes.insert(format!("w:{index}"), "o".repeat(20 * size));
                }
            }
            Growth::PassedOver { count, size } => {
                for index in 0..count {
                    let because = PassedOverReason::Outcome { of: text(size), outcome: text(size) };
                    let passed = PassedOver { name: text(size), step: 1, because };
                    progress.passed_over.insert(format!("w:{index}"), passed);
                }
            }
            Growth::Tools { count, size } => {
                progress.tools_added = vec![text(size); count];
            }
            Growth::Inputs { count, size } => {
                progress.inputs = (0..count).map(|n| (format!("i{n}"), text(size))).collect();
            }
            Growth::Summary { size } => {
                let library = crate::definition::fixtures::library(&[("w", &["a"])]);
                let phase = library.get("w").unwrap().phases[0].as_phase().unwrap();
                return state.with_summary(phase, &text(size));
            }
            Growth::Gates { count, size } => {
                for index in 0..count {
                    progress.loops.insert(format!("{index}{}", text(size)), 1);
                }
            }
            Growth::Allowances { count } => {
                for index in 0..count {
                    progress.allowances.insert(format!("w:{index}"), Allowance::default());
                }
            }
            Growth::Path { depth, size } => {
                let key = text(size);
                new.current_path.truncate(1);
                for _ in 1..depth {
                    new.current_path.enter(&format!("n{key}"), None);
                }
            }
            Growth::End { announced } => {
                let ended = state.cancelled();
                return if announced { ended.announced() } else { ended };
            }
        }
        new
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_stored_is_read_back(growths in prop::collection::vec(growth(), 1..10)) {
            let mut state = RunState::new("w", &text(30), 1, 2).begun(1);
            state.progress.version = crate::run::PROGRESS_VERSION;
            let mut journal = Journal::default();
            let mut entries = vec![journal.entry(&mut state, || None).to_string()];
            for growth in growths {
                state = grown(&state, &growth);
                let entry = journal.entry(&mut state, || None).to_string();
                prop_assert!(entry.len() <= MAX_LENGTH, "{:?}: {}", growth, entry.len());
                entries.push(entry);
                let found = restore(entries.iter().rev()).unwrap();
                prop_assert_eq!(&found.progress.broken, &None, "{:?}", growth);
                prop_assert_eq!(found.status, state.status);
                prop_assert_eq!(&found.current_path, &state.current_path);
                prop_assert_eq!(found.progress.paused.is_some(), state.progress.paused.is_some());
                prop_assert_eq!(found.progress.visits.len(), state.progress.visits.len());
                prop_assert_eq!(found.progress.outcomes.len(), state.progress.outcomes.len());
            }
        }
    }

    /// An outcome that is gone changes which entries are passed over.
    #[test]
    fn outcomes_that_conditions_can_name_are_kept_or_hold_the_run() {
        let mut state = RunState::new("w", "", 1, 2).begun(1);
        state.progress.version = crate::run::PROGRESS_VERSION;
        // A nested workflow that the run has left with a visit, one without a visit, and the one where the run is.
        let visit = state.progress.visits["w:0"].clone();
        state.progress.visits.insert("w:1/seen:0", visit);
        state.current_path = path_to(&[("w", 3), ("open", 0)]);
        let scopes = [("w", 900), ("w:1/seen", 900), ("w:2/gone", 3000), ("w:3/open", 900)];
        for (scope, count) in scopes {
            for index in 0..count {
                state.progress.outcomes.insert(format!("{scope}:{index}"), "o".to_owned());
            }
        }
        let stored = |state: &mut RunState| {
            let entry = Journal::default().entry(state, || None).to_string();
            assert!(entry.len() <= MAX_LENGTH);
            restore([entry]).unwrap()
        };
        let found = stored(&mut state);
        assert_eq!(found.progress.broken, None);
        assert_eq!(found.progress.outcomes.len(), 2700);
        assert!(!found.progress.outcomes.contains_key("w:2/gone:0"));
        for index in 0..3000 {
            state.progress.outcomes.insert(format!("w:{}", 1000 + index), "o".to_owned());
        }
        let broken = stored(&mut state).progress.broken.unwrap();
        assert_eq!(broken.why, crate::run::BrokenReason::TooMany { list: "outcomes", most: MAX_VISITS });
        // An end is stored in any case.
        assert_eq!(stored(&mut state.cancelled()).progress.broken, None);
        let long = "k".repeat(60_000);
        state.current_path = path_to(&vec![(long.as_str(), 0); 101]);
        assert_eq!(stored(&mut state.cancelled()).progress.broken, None);
    }

    #[test]
    fn evidence_past_the_bound_gives_way_to_newer_evidence() {
        let mut state = RunState::new("w", "", 1, 2).begun(1);
        let mut journal = Journal::default();
        for phase in 0..20 {
            let growth = [Growth::Evidence { count: 20, size: 15 }, Growth::Move { phase: phase + 1, name: 0 }];
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

    #[test]
    fn a_long_text_is_cut_where_it_is_stored() {
        let question = "q".repeat(2 << 20);
        let state = RunState::new("w", "", 1, 2).begun(1);
        let mut state = state.paused(PauseReason::Question { question }, 1);
        let entry = Journal::default().entry(&mut state, || None).to_string();
        assert!(entry.len() < 2 * MAX_TEXT);
        assert_eq!(restore([entry]).unwrap().progress.broken, None);
    }

    /// A group in a group that is repeated has other keys for each item.
    #[test]
    fn the_work_on_branches_of_a_thousand_visits_is_bounded() {
        let mut state = RunState::new("w", "", 1, 2).begun(1);
        state.progress.version = crate::run::PROGRESS_VERSION;
        let mut journal = Journal::default();
        let mut entries = Vec::new();
        let name = "n".repeat(200);
        for item in 0..1000_u64 {
            state.current_path = PhasePath::parse(&format!("w:0/g@{item}:0")).unwrap();
            for branch in 0..16 {
                let run = BranchRun {
                    name: name.clone(),
                    given: format!("1 seal {name}"),
                    started_at: item,
                    ended_at: Some(item),
                    session: Some("/s/".to_owned() + &"d".repeat(200)),
                    end: Some(BranchEnd::Done { outcome: None }),
                    waits: None,
                };
                let key = format!("{}p:{branch}", state.current_path.below());
                state.progress.branches.insert(key, run);
            }
            let entry = journal.entry(&mut state, || None).to_string();
            assert!(entry.len() < 1 << 20, "{}", entry.len());
            entries.push(entry);
            let later = journal.entry(&mut state, || None).to_string();
            entries.push(later);
        }
        let has = |key: &str| state.progress.branches.contains_key(key);
        assert_eq!(state.progress.branches.len(), MAX_BRANCHES);
        assert!(has("w:0/g@999:0/p:15") && has("w:0/g@984:0/p:0") && !has("w:0/g@983:0/p:15"));
        let found = restore(entries.iter().rev()).unwrap();
        assert_eq!(found.progress.broken, None);
        assert_eq!(found.progress.branches, state.progress.branches);
        // A part has what has changed.
        assert!(entries.iter().skip(1).step_by(2).any(|entry| entry.len() < 2000));
        // The records of the group at which the run is stay.
        state.current_path = PhasePath::parse("w:0/g@990:0").unwrap();
        while state.drop_branches(state.progress.branches.len() / 2) {}
        assert_eq!(state.progress.branches.len(), 16);
    }
}
