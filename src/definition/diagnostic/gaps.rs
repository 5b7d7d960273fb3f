//! The parts of files with errors, so that no check takes them for absent.
//!
//! One check tells all that is wrong: a workflow with errors is checked with what could be read of it, and is left out
//! of the library all the same. Each part with an error is a gap. The rule is: *a check reports what is wrong with
//! anything that may stand in the gaps*, and nothing else. So it says nothing
//!
//! | of | where there is a gap in |
//! | --- | --- |
//! | a name that is no entry's: in `outcomes`, `onGateFail`, `results`, `when`, `with`, `env` and texts | `phases`, an entry of it as a whole, or the `id` of a phase |
//! | an outcome that a phase does not have | `outcomes` of the phase as a whole |
//! | an outcome with which a workflow does not end | `phases` of the workflow or of one nested in it, or anything about the ways through them; also where one of these is not there or leads to a cycle |
//! | an output that a phase does not have, the type of one | `outputs` of the phase as a whole, this output |
//! | an input that a workflow does not have, the type or the lack of one | `inputs` of the workflow as a whole, this input |
//! | `loop` where it is forbidden | `loopable` |
//! | a limit that has no effect, a call in `tests` | `tools`, `write`, `hide`, `network` and `sandbox` of the phase and of the workflow |
//! | the ways through a workflow, and values that a phase never gets | anything that decides on its ways, also errors that a check found in it |
//!
//! A workflow without a gap is left out for the errors that it has beside workflows without one, whatever a gap
//! elsewhere may be.

use crate::sorted::Map;

use super::anchor::{Anchor, Step, in_group};
use crate::definition::model::workflow::{Phase, Workflow};

/// Gaps in files. See the module.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    /// The paths of the gaps by file, as a user would write the file; sorted.
    files: Map<String, Vec<String>>,
}

/// Behind each step of a path: no key has it.
const END: char = '\0';

impl Gaps {
    /// Adds gaps of a file.
    pub fn add(&mut self, file: &str, gaps: impl IntoIterator<Item = Anchor>) {
        let mut gaps: Vec<String> = gaps.into_iter().map(|gap| path(&gap.steps())).collect();
        if gaps.is_empty() {
            return;
        }
        let known = self.files.entry(file.to_owned()).or_default();
        known.append(&mut gaps);
        known.sort_unstable();
        known.dedup();
    }

    /// Adds a file as a whole.
    pub fn add_file(&mut self, file: &str) {
        self.add(file, [Anchor::of(&[])]);
    }

    /// Returns true if nothing is known of a file or folder.
    pub fn has_whole_files(&self) -> bool {
        self.files.iter().any(|(_, gaps)| gaps.first().is_some_and(String::is_empty))
    }

    /// Returns true if the value at a path is a gap, or part of one. A file without a name is one as a whole: an entry
    /// of `phases` that cannot be read names none.
    pub fn covers(&self, file: &str, at: &[Step]) -> bool {
        if file.is_empty() {
            return true;
        }
        let Some(gaps) = self.files.get(file) else { return false };
        (0..=at.len()).any(|depth| {
            let above = path(at.get(..depth).unwrap_or_default());
            gaps.binary_search(&above).is_ok()
        })
    }

    /// Returns true if there is a gap at a path, above it or below it.
    pub fn touches(&self, file: &str, at: &[Step]) -> bool {
        let Some(gaps) = self.files.get(file) else { return file.is_empty() };
        let at_path = path(at);
        let first = gaps.partition_point(|gap| *gap < at_path);
        gaps.get(first).is_some_and(|gap| gap.starts_with(&at_path)) || self.covers(file, at)
    }

    /// Does as [`Self::covers`] in the mapping of a workflow or of a group.
    pub fn covers_in(&self, scope: &Workflow, at: &[Step]) -> bool {
        self.covers(&scope.file(), &in_scope(scope, at))
    }

    /// Does as [`Self::touches`] in the mapping of a workflow or of a group.
    pub fn touches_in(&self, scope: &Workflow, at: &[Step]) -> bool {
        self.touches(&scope.file(), &in_scope(scope, at))
    }

    /// Does as [`Self::covers`] in the file of the phase at `index`, or in its entry where it has no file of its own.
    pub fn covers_of_phase(&self, (scope, index): (&Workflow, usize), phase: &Phase, at: &[Step]) -> bool {
        if phase.is_of_agent() {
            return self.covers(&phase.file, at);
        }
        let entry = [Step::Key("phases"), Step::Item(index)];
        self.covers_in(scope, &[&entry, at].concat())
    }

    /// Does the same, also for a gap below the value.
    pub fn touches_of_phase(&self, (scope, index): (&Workflow, usize), phase: &Phase, at: &[Step]) -> bool {
        if phase.is_of_agent() {
            return self.touches(&phase.file, at);
        }
        let entry = [Step::Key("phases"), Step::Item(index)];
        self.touches_in(scope, &[&entry, at].concat())
    }

    /// Returns true if an entry of a workflow or of a group may have any id.
    pub fn has_unknown_ids(&self, scope: &Workflow) -> bool {
        self.covers_in(scope, &[Step::Key("phases")])
            || scope.phases.iter().enumerate().any(|(index, entry)| {
                let at = [Step::Key("phases"), Step::Item(index)];
                entry.id().is_empty() || self.covers_in(scope, &at)
            })
    }

    /// Returns true if there is a gap in one of these fields of a file.
    pub fn touches_one(&self, file: &str, fields: &[&str]) -> bool {
        (file.is_empty() || self.files.contains_key(file))
            && fields.iter().any(|field| self.touches(file, &[Step::Key(field)]))
    }
}

/// The path in the file of a path in a workflow, or in a group.
fn in_scope<'a>(scope: &Workflow, at: &[Step<'a>]) -> Vec<Step<'a>> {
    in_group(scope.group.as_ref().map(|group| &group.at[..]).unwrap_or_default(), at)
}

fn path(at: &[Step]) -> String {
    let mut path = String::new();
    for step in at {
        match step {
            Step::Key(name) | Step::Name(name) => path.push_str(name),
            Step::Item(index) => path.push_str(&index.to_string()),
        }
        path.push(END);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_covers_what_is_in_it_and_touches_what_is_around_it() {
        let mut gaps = Gaps::default();
        gaps.add("f", [Anchor::of(&[Step::Key("outcomes"), Step::Name("a")]), Anchor::of(&[Step::Key("id")])]);
        let at = |steps: &[Step]| (gaps.covers("f", steps), gaps.touches("f", steps));
        assert_eq!(at(&[]), (false, true));
        assert_eq!(at(&[Step::Key("outcomes")]), (false, true));
        assert_eq!(at(&[Step::Key("outcomes"), Step::Key("a")]), (true, true));
        assert_eq!(at(&[Step::Key("outcomes"), Step::Key("ab")]), (false, false));
        assert_eq!(at(&[Step::Key("outcomes"), Step::Key("a"), Step::Key("to")]), (true, true));
        assert_eq!(at(&[Step::Key("ids")]), (false, false));
        assert!(gaps.touches_one("f", &["phases", "id"]) && !gaps.touches_one("f", &["phases"]));
        assert!(!gaps.covers("g", &[]) && !gaps.has_whole_files());
        gaps.add_file("g");
        assert!(gaps.covers("g", &[Step::Key("id")]) && gaps.has_whole_files());
    }
}
