//! The entries of a run in the session: each entry has a number, and may have only the changes since the entry before.
//!
//! An entry is the reference's JSON, complete in the fields that the reference reads. Of `progress`, which only this
//! package reads, a **part** has only the records by key that changed since the entry before, `null` for a removed
//! record, and all other fields in full. [`restore`](super::restore) merges parts down to a complete entry.

use serde_json::Value;

use super::bounds::{MAX_LENGTH, cut_texts};
use super::mark::{MARK, MAX_PARTS, MAX_PARTS_LENGTH, Mark};
use super::stored::{records_of, take_changes};
use super::{progress::PROGRESS_VERSION, state::RunState};

/// Maximum length of a complete entry without its task, in bytes of JSON; a longer run is stored in parts. So most runs
/// have complete entries only.
const MAX_SMALL: usize = 4 << 10;
/// Maximum number of records of a run whose length is measured; a run with more records counts as long.
const MAX_FEW: usize = 64;
#[derive(Debug, Default)]
pub struct Journal(Last);

#[derive(Debug, Default)]
enum Last {
    /// There is no entry, or no entry that can be continued.
    #[default]
    None,
    Known(Box<RunState>, Mark),
    /// Other extensions may have dropped the entry.
    Unsure(Box<RunState>, Mark),
    /// The session refused this entry, or an earlier entry that this entry continues.
    Refused(Box<RunState>),
}

impl Journal {
    /// Continues after the newest entry of the session, which has this state; an entry without a mark cannot be
    /// continued.
    pub fn after(state: &RunState, mark: Mark) -> Self {
        let is_marked = mark.number > 0 && state.progress.broken.is_none();
        Self(if is_marked { Last::Known(Box::new(state.clone()), mark) } else { Last::None })
    }

    /// The session did not take an entry: the next entry is complete.
    pub fn refused(&mut self) {
        self.0 = match std::mem::take(&mut self.0) {
            Last::Known(state, _) | Last::Unsure(state, _) | Last::Refused(state) => Last::Refused(state),
            Last::None => Last::None,
        };
    }

    /// Returns a complete entry in place of the newest entry, if the session has refused that entry or an earlier entry
    /// that it may continue. The next entry is complete too.
    pub fn again(&mut self) -> Option<Value> {
        match std::mem::take(&mut self.0) {
            Last::Refused(mut state) => {
                let data = self.entry(&mut state, || None);
                self.0 = Last::Refused(state);
                Some(data)
            }
            last => {
                self.0 = last;
                None
            }
        }
    }

    /// The newest entry was handed over and may be dropped: the session is searched for the entry before it is
    /// continued.
    pub fn doubt(&mut self) {
        self.0 = match std::mem::take(&mut self.0) {
            Last::Known(state, mark) | Last::Unsure(state, mark) => Last::Unsure(state, mark),
            other @ (Last::None | Last::Refused(..)) => other,
        };
    }

    /// Returns the next entry of the run; the part beyond the bounds of an entry is dropped from the state too.
    /// `newest` returns the newest state entry of the session, as JSON.
    pub fn entry(&mut self, state: &mut RunState, newest: impl FnOnce() -> Option<String>) -> Value {
        let last = match std::mem::take(&mut self.0) {
            Last::Unsure(last, mark) if !is_marked(&last, mark, newest()) => None,
            Last::Known(last, mark) | Last::Unsure(last, mark) => Some((last, mark)),
            Last::None | Last::Refused(..) => None,
        };
        let last = last.filter(|(last, _)| last.task_id == state.task_id);
        state.bound_lists();
        loop {
            let (data, mark) = next(state, last.as_ref().map(|(last, mark)| (&**last, *mark)));
            if data.to_string().len() <= MAX_LENGTH || !state.drop_least_important() {
                self.0 = Last::Known(Box::new(state.clone()), mark);
                return data;
            }
        }
    }
}

/// Returns the entry of a state that follows the entry of another state, with its place.
fn next(state: &RunState, last: Option<(&RunState, Mark)>) -> (Value, Mark) {
    let before = last.map_or_else(Mark::default, |(_, mark)| mark);
    let number = before.number.saturating_add(1);
    let can_be_part = state.progress.version == PROGRESS_VERSION
        // A run that waits for a child reads only the child's newest entry.
        && state.progress.branch.is_none()
        && before.parts < MAX_PARTS
        && before.length < MAX_PARTS_LENGTH
        && number < u64::MAX;
    let continued = last.filter(|_| can_be_part && !is_small(state));
    let (mut data, parts) = match continued {
        None => (serde_json::to_value(state).unwrap_or_default(), 0),
        Some((last, _)) => (part(state, last), before.parts.saturating_add(1)),
    };
    cut_texts(&mut data);
    let length = match parts {
        0 => 0,
        _ => before.length.saturating_add(data.to_string().len() as u64),
    };
    let mark = Mark { number, parts, length };
    (marked(data, mark), mark)
}

/// Returns true if an entry of the session is the entry of this state.
fn is_marked(state: &RunState, mark: Mark, entry: Option<String>) -> bool {
    let entry: Option<Value> = entry.and_then(|entry| serde_json::from_str(&entry).ok());
    entry.is_some_and(|entry| {
        let task = entry.get("taskId").and_then(Value::as_str);
        let number = entry.pointer("/progress/entry/number").and_then(Value::as_u64);
        task == Some(&state.task_id) && number == Some(mark.number)
    })
}

fn marked(mut data: Value, mark: Mark) -> Value {
    if let Some(progress) = data.get_mut("progress").and_then(Value::as_object_mut) {
        progress.insert(MARK.to_owned(), serde_json::to_value(mark).unwrap_or_default());
    }
    data
}

/// Returns true if a complete entry is short.
fn is_small(state: &RunState) -> bool {
    if records_of(&state.progress) > MAX_FEW {
        return false;
    }
    let without_task = RunState { task_description: String::new(), ..state.clone() };
    serde_json::to_string(&without_task).is_ok_and(|json| json.len() <= MAX_SMALL)
}

/// Returns the entry of a state as a part that continues the entry of another state.
fn part(new: &RunState, old: &RunState) -> Value {
    let mut rest = new.clone();
    let changed = take_changes(&mut rest.progress, &old.progress);
    let mut data = serde_json::to_value(rest).unwrap_or_default();
    if let Some(progress) = data.get_mut("progress").and_then(Value::as_object_mut) {
        progress.extend(changed);
    }
    data
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::definition::{Budget, Measure};
    use crate::run::path::path_to;
    use crate::run::{Allowance, BrokenReason, Evidence, Leaving, PauseReason, Seal, restore, restore_with_mark};
    use crate::usage::Usage;

    /// A branch of a session: the entries, oldest first, each with the state that it stores.
    #[derive(Clone, Default)]
    struct Branch(Vec<(Value, Option<RunState>)>);

    impl Branch {
        fn entries(&self) -> Vec<String> {
            self.0.iter().rev().map(|(data, _)| data.to_string()).collect()
        }

        /// The state that the newest entry of a run stores.
        fn state(&self) -> RunState {
            self.0.iter().rev().find_map(|(_, state)| state.clone()).unwrap()
        }
    }

    /// A run that has gone through this number of phases.
    fn long_run(phases: usize) -> RunState {
        let mut state = RunState::new("w", "the task", 1, 2).begun(1);
        state.progress.version = PROGRESS_VERSION;
        state.progress.seal = Some(Seal { version: 3, hash: "h".into() });
        for index in 1..phases {
            state = moved(&state, index);
        }
        state
    }

    fn moved(state: &RunState, index: usize) -> RunState {
        let mut new = state.clone();
        new.global_step_count += 1;
        new.current_path = path_to(&[("w", index)]);
        let now = new.global_step_count;
        new.moved_from(state, Leaving::Done, now)
    }

    #[derive(Debug, Clone)]
    enum Action {
        Move(usize),
        Use(u32),
        Check(u32),
        Outcome(usize, bool),
        Allow(usize),
        Tools(usize),
        Pause(bool),
        Other(usize, bool),
        /// The host drops the next entry, and says so.
        NotStored,
        /// pi ends and starts again.
        Restart,
        /// The user moves back by this number of entries.
        Back(usize),
        /// The reference moves the run.
        Reference,
        /// Entries of other runs, and without one.
        Noise,
    }

    fn action() -> impl Strategy<Value = Action> {
        prop_oneof![
            (0..90_usize).prop_map(Action::Move),
            any::<u32>().prop_map(Action::Use),
            (0..3_u32).prop_map(Action::Check),
            (0..5_usize, any::<bool>()).prop_map(|(key, set)| Action::Outcome(key, set)),
            (0..5_usize).prop_map(Action::Allow),
            (0..3_usize).prop_map(Action::Tools),
            any::<bool>().prop_map(Action::Pause),
            (0..3_usize, any::<bool>()).prop_map(|(key, set)| Action::Other(key, set)),
            Just(Action::NotStored),
            Just(Action::Restart),
            (1..9_usize).prop_map(Action::Back),
            Just(Action::Reference),
            Just(Action::Noise),
        ]
    }

    fn changed(state: &RunState, action: &Action) -> RunState {
        let mut new = state.clone();
        let progress = &mut new.progress;
        match *action {
            Action::Move(index) => return moved(state, index),
            Action::Use(turns) => {
                return state.clone().with_usage(state, &Usage { turns, ..Usage::default() });
            }
            Action::Check(attempt) => {
                let (name, result) = ("l".to_owned(), "r".to_owned());
                let tail = String::new();
                let check =
                    Evidence { name, passed: true, result, duration_ms: 1, attempt, tail, ..Evidence::default() };
                return state.with_evidence(vec![check]);
            }
            Action::Outcome(index, true) => {
                progress.outcomes.insert(format!("w:{index}"), "o".to_owned());
            }
            Action::Outcome(index, false) => {
                progress.outcomes.remove(&format!("w:{index}"));
            }
            Action::Allow(index) => {
                let key = format!("w:{index}");
                let allowance = progress.allowances.get_or_insert(&key, Allowance::default);
                allowance.added = Budget([(Measure::Turns, 1)].into());
            }
            Action::Tools(count) => progress.tools_added = vec!["t".to_owned(); count],
            Action::Pause(true) => return state.paused(PauseReason::User, 3),
            Action::Pause(false) => return state.resumed(),
            Action::Other(index, true) => {
                progress.others.insert(format!("o{index}"), json!({ "a": [null] }));
            }
            Action::Other(index, false) => {
                progress.others.shift_remove(&format!("o{index}"));
            }
            Action::NotStored | Action::Restart | Action::Back(_) | Action::Reference | Action::Noise => {}
        }
        new
    }

    /// Plays actions, and returns the branch.
    fn play(actions: &[Action]) -> Branch {
        let mut journal = Journal::default();
        let first = long_run(80);
        let mut branch = Branch(vec![(journal.entry(&mut first.clone(), || None), Some(first))]);
        for action in actions {
            match *action {
                Action::NotStored => {
                    let _ = journal.entry(&mut moved(&branch.state(), 3), || None);
                    journal.refused();
                }
                Action::Restart => {}
                Action::Back(count) => branch.0.truncate(branch.0.len().saturating_sub(count).max(1)),
                Action::Reference => {
                    let (mut data, _) = branch.0.last().unwrap().clone();
                    if data["taskId"] != branch.state().task_id {
                        continue;
                    }
                    data["globalStepCount"] = 900.into();
                    let state = RunState { global_step_count: 900, ..branch.state() };
                    branch.0.push((data, Some(state)));
                }
                Action::Noise => {
                    let other = json!({ "workflowKey": null });
                    branch.0.push((other, None));
                }
                _ => {
                    let state = changed(&branch.state(), action);
                    let newest = branch.entries().into_iter().next();
                    branch.0.push((journal.entry(&mut state.clone(), || newest), Some(state)));
                    continue;
                }
            }
            let restored = restore_with_mark(branch.entries()).unwrap();
            journal = Journal::after(&restored.state, restored.mark);
        }
        branch
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever happens to the session, the entries give the state that was stored last. Without one of the
        /// entries, the others give that state too, or a run that is held.
        #[test]
        fn parts_give_the_state(actions in prop::collection::vec(action(), 0..30), cut in any::<prop::sample::Index>()) {
            let branch = play(&actions);
            prop_assert_eq!(restore(branch.entries()), Some(branch.state()));
            let gone = cut.index(branch.0.len());
            let mut rest = branch.clone();
            rest.0.remove(branch.0.len() - 1 - gone);
            let expected = rest.0.iter().rev().find_map(|(_, state)| state.clone());
            match restore(rest.entries()) {
                Some(state) if state.progress.broken.is_some() => {}
                state => prop_assert_eq!(state, expected, "without entry {}", gone),
            }
            // An entry that is broken off in the middle.
            let mut entries = branch.entries();
            let half = entries[gone].len() / 2;
            entries[gone].truncate(half);
            match restore(&entries) {
                Some(state) if state.progress.broken.is_some() => {}
                state => prop_assert_eq!(state, Some(branch.state()), "entry {} in half", gone),
            }
        }
    }

    #[test]
    fn a_step_of_a_long_run_stores_what_changed() {
        let mut journal = Journal::default();
        let mut state = long_run(5000);
        let complete = journal.entry(&mut state.clone(), || None).to_string();
        assert!(complete.len() > 200_000);
        let mut entries = vec![complete];
        for step in 0..100 {
            let before = state;
            let usage = Usage { turns: 1, cost: 0.1, ..Usage::default() };
            state = moved(&before, 7 * step).with_usage(&before, &usage);
            let entry = journal.entry(&mut state.clone(), || None).to_string();
            assert!(entry.len() < 1500, "{}: {entry}", entry.len());
            entries.insert(0, entry);
        }
        assert_eq!(restore(&entries), Some(state));
        // A complete entry of a short run does not change its form.
        let short = long_run(3);
        let mut entry = Journal::default().entry(&mut short.clone(), || None);
        let mark = entry["progress"].as_object_mut().unwrap().shift_remove(MARK);
        assert_eq!(mark, Some(json!({ "number": 1 })));
        assert_eq!(entry, serde_json::to_value(&short).unwrap());
    }

    #[test]
    fn the_complete_entry_of_a_later_version_is_no_part() {
        let mut state = long_run(3);
        state.progress.version = PROGRESS_VERSION + 1;
        let state = state.cancelled();
        let entry = Journal::default().entry(&mut state.clone(), || None);
        assert_eq!(entry["progress"]["version"], 2);
        assert_eq!(restore([entry.to_string()]), Some(state));
    }

    #[test]
    fn a_part_is_continued_only_if_it_is_the_newest_entry() {
        let (first, second) = (long_run(80), long_run(81));
        let mut journal = Journal::default();
        let stored = journal.entry(&mut first.clone(), || None);
        let part = journal.entry(&mut second.clone(), || panic!("it is known"));
        for (newest, is_continued) in
            [(Some(&part), true), (Some(&stored), false), (Some(&json!({})), false), (None, false)]
        {
            let mut journal = Journal::default();
            let _ = journal.entry(&mut first.clone(), || None);
            let _ = journal.entry(&mut second.clone(), || None);
            journal.doubt();
            let next = journal.entry(&mut first.clone(), || newest.map(Value::to_string));
            assert_eq!(next["progress"][MARK]["parts"] == 2, is_continued, "{newest:?}");
        }
    }

    /// All entries of one event are made before the first entry is stored.
    #[test]
    fn an_entry_after_a_refused_one_is_complete() {
        let mut journal = Journal::default();
        let mut state = long_run(80);
        let mut entries = vec![journal.entry(&mut state.clone(), || None).to_string()];
        assert_eq!(journal.again(), None);
        for refused in [&[0][..], &[1], &[0, 1], &[0, 1, 2]] {
            let made = [3, 4, 5].map(|index| {
                state = moved(&state, index);
                journal.entry(&mut state.clone(), || None).to_string()
            });
            for (number, entry) in made.into_iter().enumerate() {
                let entry = journal.again().map_or(entry, |again| again.to_string());
                if refused.contains(&number) {
                    journal.refused();
                } else {
                    entries.insert(0, entry);
                }
            }
            if refused.len() < 3 {
                assert_eq!(restore(&entries), Some(state.clone()), "{refused:?}");
            }
        }
        state = moved(&state, 6);
        entries.insert(0, journal.entry(&mut state.clone(), || None).to_string());
        assert_eq!(restore(&entries), Some(state));
    }

    #[test]
    fn entries_that_do_not_fit_together_are_held() {
        let mut journal = Journal::default();
        let mut state = long_run(80);
        let mut entries = vec![journal.entry(&mut state.clone(), || None)];
        for index in [3, 4, 5] {
            state = moved(&state, index);
            entries.insert(0, journal.entry(&mut state.clone(), || None));
        }
        let why = |entries: &[Value]| {
            let broken = restore(entries.iter().map(Value::to_string)).unwrap().progress.broken;
            broken.map(|broken| (broken.why, broken.is_usable))
        };
        assert_eq!(why(&entries), None);
        let changed = |index: usize, pointer: &str, value: Value| {
            let mut entries = entries.clone();
            *entries[index].pointer_mut(pointer).unwrap() = value;
            why(&entries)
        };
        let missing = Some((BrokenReason::MissingPart, true));
        for number in [json!(0), json!(1), json!(9), json!(u64::MAX), json!(-1), json!("2"), json!({})] {
            assert_eq!(changed(1, "/progress/entry/number", number.clone()), missing, "{number}");
        }
        assert_eq!(changed(3, "/progress/version", 3.into()), missing, "a later version's");
        assert_eq!(changed(3, "/progress", Value::Null), missing);
        assert_eq!(changed(2, "/taskId", "other".into()), missing);
        for index in [0, 1, 2] {
            let malformed = Some((BrokenReason::Malformed, true));
            assert_eq!(changed(index, "/progress/visits", 7.into()), malformed);
        }
        // Parts that go in circles, and without end.
        let circle = vec![entries[0].clone(), entries[1].clone(), entries[0].clone()];
        assert_eq!(why(&circle), missing);
        let many = std::iter::repeat_n(&entries[0], 40_000).map(Value::to_string);
        let broken = restore(many).unwrap().progress.broken.unwrap();
        assert_eq!(broken.why, BrokenReason::TooManyParts);
        // The parts that were found are usable.
        let found = restore(entries[..2].iter().map(Value::to_string)).unwrap();
        assert_eq!(found.current_path.key(), "w:5");
        assert_eq!(found.progress.seal, state.progress.seal);
        assert!(found.progress.visits.contains_key("w:5") && found.progress.visits.len() < 5);
    }
}
