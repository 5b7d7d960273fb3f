//! The items for which a group is repeated.

use crate::definition::{Each, FileEntry, Library};

use super::{outputs::OutputValue, path::PhasePath, records::Records, state::RunState};

/// The item of a group at which a run is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The item itself; empty if the list no longer has it.
    pub text: String,
    /// Its number, from 1.
    pub number: usize,
    pub count: usize,
}

impl RunState {
    /// Returns the items of the group of this key, an entry of the workflow at this depth of the path; `None` if the
    /// group is not repeated.
    ///
    /// The items come from the list as it is now. The list lies before the group, so it stays the same while the run is
    /// in the group.
    pub fn items(&self, depth: usize, group: &str, library: &Library) -> Option<Vec<String>> {
        Some(match library.get(group)?.each.as_ref()? {
            Each::Items(items) => items.clone(),
            Each::Of(names) => {
                let values = names.iter().filter_map(|name| self.value_if(name, depth, library, |_| true));
                values.flat_map(OutputValue::items).collect()
            }
        })
    }

    /// Returns the item of the innermost group that is repeated, of the scopes down to this depth of the path.
    pub fn item(&self, depth: usize, library: &Library) -> Option<Item> {
        let mut scopes = self.current_path.iter().enumerate().take(depth);
        let (outer, segment) = scopes.rfind(|(_, segment)| segment.item.is_some())?;
        let at = self.at(self.current_path.at_depth(outer));
        let items = at.items(outer, &segment.workflow_key, library).unwrap_or_default();
        let index = segment.item?;
        let text = items.get(index).cloned().unwrap_or_default();
        Some(Item { text, number: index + 1, count: items.len().max(index + 1) })
    }

    /// Returns the depth of the outermost group on the path that lacks the item at which the run would be; `None` if no
    /// group lacks its item.
    pub(super) fn depth_without_item(&self, library: &Library) -> Option<usize> {
        self.current_path.iter().enumerate().position(|(depth, segment)| {
            let items = || self.at(self.current_path.at_depth(depth)).items(depth, &segment.workflow_key, library);
            segment.item.is_some_and(|item| items().is_none_or(|items| items.len() <= item))
        })
    }

    /// Goes to the first entry of a nested workflow or group; a repeated group begins with its first item.
    pub(super) fn enter_nested(&mut self, key: &str, library: &Library) {
        let is_repeated = library.get(key).is_some_and(|group| group.each.is_some());
        self.current_path.enter(key, is_repeated.then_some(0));
    }

    /// The item of the innermost scope, and the number of its items; `None` if the scope is not repeated.
    fn item_of_scope(&self, library: &Library) -> Option<(usize, usize)> {
        let last = self.current_path.last()?;
        let outer = self.current_path.len().saturating_sub(1);
        let items = self.at(self.current_path.at_depth(outer)).items(outer, &last.workflow_key, library);
        Some((last.item?, items?.len()))
    }

    /// Goes to the next item of the innermost scope; returns false, and stays, if there is none.
    pub(super) fn next_item(&mut self, library: &Library) -> bool {
        let next = self.item_of_scope(library).filter(|(item, count)| item + 1 < *count);
        if let Some((item, _)) = next {
            self.current_path.set_item(item + 1);
        }
        next.is_some()
    }

    /// Goes to the last item of the innermost scope, behind which no other item follows.
    pub(super) fn skip_to_last_item(&mut self, library: &Library) {
        if let Some((_, count)) = self.item_of_scope(library) {
            self.current_path.set_item(count.saturating_sub(1));
        }
    }

    /// Returns the place of the records of an entry of the file whose workflow is the innermost scope of `around`.
    pub(super) fn place_of(&self, around: &PhasePath, of: &FileEntry, library: &Library) -> Option<RecordPlace> {
        let (mut path, mut open) = (around.clone(), Vec::new());
        let (last, groups) = of.at.split_last()?;
        for index in groups {
            path.set_index(*index);
            let group = library.get(&path.last()?.workflow_key)?.phases.get(*index)?.group_key()?;
            let depth = path.len();
            let current = self.current_path.get(depth).filter(|_| self.current_path.at_depth(depth) == path);
            let item = match current {
                Some(current) => current.item,
                None => library.get(group)?.each.as_ref().map(|_| 0),
            };
            if current.is_none() && item.is_some() {
                open.push(depth);
            }
            path.enter(group, item);
        }
        path.set_index(*last);
        Some(RecordPlace { path, open })
    }
}

/// The place of the records of an entry. Outside of a repeated group the records of all of its items count, inside those
/// of the current item.
pub(super) struct RecordPlace {
    path: PhasePath,
    /// The depths of the repeated groups of which all items count.
    open: Vec<usize>,
}

impl RecordPlace {
    /// Returns true if the records of all items of a group count.
    pub fn is_of_items(&self) -> bool {
        !self.open.is_empty()
    }

    /// Returns the records, in the order of the items.
    pub fn records<'a, T>(&self, all: &'a Records<T>) -> Vec<&'a T> {
        self.paths(all).iter().filter_map(|path| all.get(&path.key())).collect()
    }

    /// Returns the paths to the entry, in the order of the items: of all items those with a record at the entry or below.
    pub fn paths<T>(&self, all: &Records<T>) -> Vec<PhasePath> {
        let Some(first) = self.open.first() else { return vec![self.path.clone()] };
        let below = self.path.at_depth(*first).below();
        let mut found: Vec<(Vec<usize>, PhasePath)> = Vec::new();
        for path in all.keys().filter(|key| key.starts_with(&below)).filter_map(PhasePath::parse) {
            let path = path.at_depth(self.path.len());
            let mut same = path.clone();
            let items = self.open.iter().filter_map(|depth| same.get_mut(*depth)?.item.replace(0));
            if items.count() == self.open.len() && same == self.path {
                found.push((path.indices(), path));
            }
        }
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        found.dedup();
        found.into_iter().map(|(_, path)| path).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::for_each as library;
    use crate::definition::{Entry, Outcome, Target};
    use crate::run::{
        Active, Arrival, Leaving, advance, back, begin, leave, leave_over_budget, restart, skip_item, skip_to,
    };
    use crate::run::{PassedOverReason, given_outputs, restore};
    use crate::sorted::Map;

    /// The run after its plan, which gives these tasks.
    fn planned(tasks: &[&str], library: &Library) -> RunState {
        let run = RunState::new("w", "t", 0, 0).with_inputs(library.get("w").unwrap(), &Map::new());
        let (state, _) = begin(&run, library);
        let state = state.begun(0);
        let phase = Active::resolve(&state, library).unwrap().phase;
        let outputs = given_outputs(&phase.outputs, &serde_json::json!({ "tasks": tasks })).unwrap();
        next(&state.with_outputs(phase, outputs), library)
    }

    fn next(state: &RunState, library: &Library) -> RunState {
        advance(state, library).0.moved_from(state, Leaving::Done, 0)
    }

    /// The keys and the items that a run goes through to its end.
    fn way(mut state: RunState, library: &Library) -> Vec<String> {
        let mut way = Vec::new();
        while state.is_running() {
            let item = state.item(state.current_path.len(), library);
            let item = item.map(|Item { text, number, count }| format!(" {number}/{count} {text}"));
            way.push(format!("{}{}", state.current_path.key(), item.unwrap_or_default()));
            let stored = restore([serde_json::to_string(&state).unwrap()]).unwrap();
            assert_eq!(stored, state, "it is stored with its item");
            state = next(&state, library);
        }
        way
    }

    #[test]
    fn a_group_is_gone_through_for_each_item_in_order() {
        let expected =
            ["w:1/w//1@0:0 1/2 one", "w:1/w//1@0:1 1/2 one", "w:1/w//1@1:0 2/2 two", "w:1/w//1@1:1 2/2 two", "w:2"];
        let given = library("output.plan.tasks");
        assert_eq!(way(planned(&["one", "two"], &given), &given), expected);
        let written = library("[one, two]");
        assert_eq!(way(planned(&[], &written), &written), expected);
        let input = library("input.parts");
        let first = way(planned(&[], &input), &input).remove(0);
        assert_eq!(first, "w:1/w//1@0:0 1/2 x");
    }

    #[test]
    fn the_target_end_leaves_the_group_without_its_other_items() {
        let with = |library: &Library| {
            let mut group = library.get("w//1").unwrap().clone();
            let mut phase = group.phases[0].as_phase().unwrap().clone();
            phase.outcomes = vec![Outcome::new("found", Target::End), Outcome::new("none", Target::Next)];
            group.phases[0] = Entry::phase(phase);
            let others = ["w"].map(|key| library.get(key).unwrap().clone());
            Library::new([&others[..], &[group]].concat(), &mut Vec::new())
        };
        let library = with(&library("[one, two, three, four]"));
        let first = planned(&[], &library);
        let (check, _) = leave(&first, Some("none"), &library).unwrap();
        let second = next(&check, &library);
        assert_eq!(second.current_path.key(), "w:1/w//1@1:0");
        let (end, arrival) = leave(&second, Some("found"), &library).unwrap();
        assert_eq!((end.current_path.key(), arrival), ("w:2".into(), Arrival::Phase));
        assert_eq!(end.progress.outcomes.get("w:1").map(String::as_str), Some("found"), "that of the group");
        let because = &end.progress.passed_over["w:1/w//1@1:1"].because;
        assert_eq!(because.to_string(), "`found` of do leads past it");
        assert!(end.progress.passed_over.keys().eq(["w:1/w//1@1:1"]));
        let over_budget = leave_over_budget(&second, &Target::End, &library).unwrap().0;
        assert_eq!(over_budget.current_path.key(), "w:2");
    }

    #[test]
    fn without_an_item_it_is_passed_over() {
        let library = library("output.plan.tasks");
        let state = planned(&[], &library);
        assert_eq!(state.current_path.key(), "w:2");
        let because = &state.progress.passed_over["w:1"].because;
        assert_eq!(*because, PassedOverReason::NoItems { of: "output.plan.tasks".into() });
        assert_eq!(because.to_string(), "output.plan.tasks has no items");
        // The plan was left without its outputs.
        let run = RunState::new("w", "t", 0, 0);
        let (state, _) = begin(&run, &library);
        assert_eq!(next(&state.begun(0), &library).current_path.key(), "w:2");
    }

    #[test]
    fn the_user_passes_over_a_group_without_an_item_in_both_directions() {
        let library = library("output.plan.tasks");
        let end = planned(&[], &library);
        assert_eq!(back(&end, &library).unwrap().current_path.key(), "w:0");
        let plan = back(&end, &library).unwrap();
        let (new, arrival) = skip_to(&plan, 1, &library).unwrap();
        assert_eq!((new.current_path.key(), arrival), ("w:2".into(), Arrival::Phase));
        let because = &new.progress.passed_over["w:1"].because;
        assert_eq!(*because, PassedOverReason::NoItems { of: "output.plan.tasks".into() });
        let two = planned(&["one", "two"], &library);
        assert_eq!(skip_to(&two, 1, &library).unwrap().0.current_path.key(), "w:1/w//1@0:1");
        let (end, _) = skip_item(&skip_item(&two, &library).unwrap().0, &library).unwrap();
        assert_eq!(back(&end, &library).unwrap().current_path.key(), "w:1/w//1@1:1");
    }

    #[test]
    fn loop_restarts_the_item_and_skip_and_back_leave_it() {
        let library = library("output.plan.tasks");
        let first = planned(&["one", "two", "three"], &library);
        assert_eq!(back(&first, &library).unwrap().current_path.key(), "w:0");
        let second = next(&next(&first, &library), &library);
        let check = next(&second, &library);
        assert_eq!(check.current_path.key(), "w:1/w//1@1:1");
        assert_eq!(restart(&check, &library).unwrap().current_path, second.current_path);
        assert_eq!(back(&check, &library).unwrap().current_path, second.current_path);
        let before = back(&second, &library).unwrap();
        assert_eq!(before.current_path, first.current_path);
        let (third, arrival) = skip_item(&second, &library).unwrap();
        assert_eq!((third.current_path.key(), arrival), ("w:1/w//1@2:0".into(), Arrival::Phase));
        let (end, _) = skip_item(&third, &library).unwrap();
        assert_eq!(end.current_path.key(), "w:2");
        assert_eq!(skip_item(&end, &library), None);
    }
}
