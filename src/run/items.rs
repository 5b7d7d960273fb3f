//! The items for which a group is repeated.

use crate::definition::{Each, FileEntry, Library, ValueName};

use super::{outputs::OutputValue, path::PhasePath, state::RunState};

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
        let lines = |text: &str| text.lines().map(ToOwned::to_owned).collect();
        Some(match library.get(group)?.each.as_ref()? {
            Each::Items(items) => items.clone(),
            Each::Of(ValueName::Input(name)) => lines(&self.inputs(depth, library).remove(name).unwrap_or_default()),
            Each::Of(ValueName::Output { phase, name }) => match self.given_output(depth, (phase, name), library) {
                Some(OutputValue::List(items)) => items.clone(),
                Some(_) | None => Vec::new(),
            },
            // Refused when the file is read.
            Each::Of(_) => Vec::new(),
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

    /// Goes to the next item of the innermost scope; returns false, and stays, if there is none.
    pub(super) fn next_item(&mut self, library: &Library) -> bool {
        let Some(last) = self.current_path.last() else { return false };
        let Some(item) = last.item else { return false };
        let outer = self.current_path.len().saturating_sub(1);
        let items = self.at(self.current_path.at_depth(outer)).items(outer, &last.workflow_key, library);
        let has_next = items.is_some_and(|items| item + 1 < items.len());
        if has_next {
            self.current_path.set_item(item + 1);
        }
        has_next
    }

    /// Returns the path of an entry of the file whose workflow is the innermost scope of `around`. In repeated groups
    /// the path has the item at which the run is, or else the last item.
    pub(super) fn path_to(&self, around: &PhasePath, of: &FileEntry, library: &Library) -> Option<PhasePath> {
        let mut path = around.clone();
        let (last, groups) = of.at.split_last()?;
        for index in groups {
            path.set_index(*index);
            let segment = path.last()?;
            let group = library.get(&segment.workflow_key)?.phases.get(*index)?.group_key()?;
            let current = self.current_path.get(path.len());
            let current = current.filter(|_| self.current_path.at_depth(path.len()) == path);
            let item = match current {
                Some(current) => current.item,
                None => {
                    let at = self.at(path.clone());
                    let items = at.items(path.len(), group, library);
                    items.map(|items| items.len().saturating_sub(1))
                }
            };
            path.enter(group, item);
        }
        path.set_index(*last);
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::for_each as library;
    use crate::run::{Active, Arrival, Leaving, advance, back, begin, restart, skip_item, skip_to};
    use crate::run::{PassedOverReason, given_outputs, restore};
    use crate::sorted::Map;

    /// The run after its plan, which gives these tasks.
    fn planned(tasks: &[&str], library: &Library) -> RunState {
        let run = RunState::new("w", "t", 0, 0).with_inputs(library.get("w").unwrap(), &Map::new());
        let (state, _) = begin(&run, library);
        let state = state.begun(0);
        let phase = Active::resolve(&state, library).unwrap().phase;
        let outputs = given_outputs(phase, &serde_json::json!({ "tasks": tasks })).unwrap();
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
