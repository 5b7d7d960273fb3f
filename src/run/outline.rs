//! All phases of a workflow in a row, numbered across nested workflows.

use crate::definition::{Entry, Library, Phase};

use super::{active::Active, path::PhasePath, state::RunState};

/// Position of a run among all phases of its workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    /// The number of the current phase, from 1.
    pub current: u64,
    /// The number of phases; at most [`u64::MAX`].
    pub total: u64,
}

/// A phase with its position among all phases.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberedPhase<'a> {
    /// Its number, from 1.
    pub number: u64,
    /// The names of the nested workflows that lead to it, the outermost first. Tells phases of the
    /// same name apart.
    pub scopes: Vec<&'a str>,
    pub path: PhasePath,
    pub phase: &'a Phase,
}

impl Outline {
    /// Returns the position of an active run; the run of a branch has its position among the phases of the branch.
    pub fn of(active: &Active) -> Self {
        let (outside, entries) = match &active.state.progress.branch {
            Some(branch) => (branch.depth().saturating_sub(1), branch.entries(active.library)),
            None => (0, &active.root.phases[..]),
        };
        let before = active.state.current_path.iter().skip(outside).fold(0_u64, |count, segment| {
            let entries = active
                .library
                .get(&segment.workflow_key)
                .and_then(|scope| scope.phases.get(..segment.phase_index))
                .unwrap_or_default();
            count.saturating_add(active.library.phase_count(entries))
        });
        Self { current: before.saturating_add(1), total: active.library.phase_count(entries) }
    }

    /// Returns the phases from number `first` on, at most `limit`.
    pub fn phases<'a>(active: &Active<'a>, first: u64, limit: usize) -> Vec<NumberedPhase<'a>> {
        let (library, state) = (active.library, active.state);
        let (path, entries) = match &state.progress.branch {
            Some(branch) => (branch.path(), branch.entries(library)),
            None => (Some(PhasePath::start(&active.root.key)), &active.root.phases[..]),
        };
        let Some(path) = path else { return Vec::new() };
        let (scopes, phases) = (Vec::new(), Vec::new());
        let from = path.last().map_or(0, |entry| entry.phase_index);
        let mut walk = Walk { library, state, first, limit, number: 0, scopes, path, phases };
        walk.entries(entries, from);
        walk.phases
    }
}

/// A walk through all entries that skips the entries before the first phase.
struct Walk<'a> {
    library: &'a Library,
    state: &'a RunState,
    first: u64,
    limit: usize,
    number: u64,
    scopes: Vec<&'a str>,
    path: PhasePath,
    phases: Vec<NumberedPhase<'a>>,
}

impl<'a> Walk<'a> {
    /// The listed item of the group at the path: the item at which the run is; if the run is behind the group, its last
    /// item; if the run is before the group, its first item.
    fn item_of(&self, group: &str) -> Option<usize> {
        self.library.get(group)?.each.as_ref()?;
        let depth = self.path.len();
        let at = self.state.at(self.path.clone());
        let last = at.items(depth, group, self.library)?.len().saturating_sub(1);
        let current = &self.state.current_path;
        match current.get(depth).filter(|_| current.at_depth(depth) == self.path) {
            Some(segment) => segment.item,
            None if current.indices() > self.path.indices() => Some(last),
            None => Some(0),
        }
    }

    /// `from`: the index of the first entry.
    fn entries(&mut self, entries: &'a [Entry], from: usize) {
        for (index, entry) in (from..).zip(entries) {
            if self.phases.len() >= self.limit {
                return;
            }
            let end = self.number.saturating_add(self.library.phase_count(std::slice::from_ref(entry)));
            if end < self.first {
                self.number = end;
                continue;
            }
            self.path.set_index(index);
            if let Some(phase) = self.library.phase_at(entry) {
                self.number = end;
                let (scopes, path) = (self.scopes.clone(), self.path.clone());
                self.phases.push(NumberedPhase { number: end, scopes, path, phase });
            } else if let Some(nested) = entry.nested_key().and_then(|key| self.library.get(key)) {
                self.scopes.push(self.library.entry_name(entry));
                self.path.enter(&nested.key, self.item_of(&nested.key));
                self.entries(&nested.phases, 0);
                self.path.leave();
                self.scopes.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::library;
    use crate::run::{RunState, advance};

    #[test]
    fn phases_are_numbered_across_nested_workflows() {
        let library = library(&[("r", &["a", "@s", "@s", "z"]), ("s", &["b", "@t"]), ("t", &["c"])]);
        let mut state = RunState::new("r", "", 0, 0);
        for number in 1..=6 {
            let active = Active::resolve(&state, &library).unwrap();
            let outline = Outline::of(&active);
            assert_eq!(outline, Outline { current: number, total: 6 });
            let phases = Outline::phases(&active, number, 1);
            assert_eq!((phases[0].number, phases[0].phase), (number, active.phase));
            assert_eq!(phases[0].path, state.current_path);
            state = advance(&state, &library).0;
        }
        let first = RunState::new("r", "", 0, 0);
        let active = Active::resolve(&first, &library).unwrap();
        let names: Vec<String> = Outline::phases(&active, 2, 3)
            .iter()
            .map(|at| format!("{} {} {}", at.number, at.scopes.join(">"), at.phase.id))
            .collect();
        assert_eq!(names, ["2 The s b", "3 The s>The t c", "4 The s b"]);
    }

    #[test]
    fn a_tower_of_doublings_is_counted_and_not_walked() {
        let keys: Vec<String> = (0..=90).map(|level| format!("w{level:02}")).collect();
        let entries: Vec<[String; 2]> = keys.iter().skip(1).map(|key| [format!("@{key}"), format!("@{key}")]).collect();
        let refs: Vec<[&str; 2]> = entries.iter().map(|[a, b]| [a.as_str(), b.as_str()]).collect();
        let mut all: Vec<(&str, &[&str])> =
            keys.iter().zip(&refs).map(|(key, entries)| (key.as_str(), entries.as_slice())).collect();
        all.push(("w90", &["leaf"]));
        let library = library(&all);
        let state = crate::run::enter(&RunState::new("w00", "", 0, 0), &library);
        let active = Active::resolve(&state, &library).unwrap();
        assert_eq!(Outline::of(&active).total, u64::MAX);
        assert_eq!(Outline::phases(&active, 1_000_000, 3)[2].number, 1_000_002);
    }
}
