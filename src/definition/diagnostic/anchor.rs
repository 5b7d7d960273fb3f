//! Places in files, named by their path in the YAML.

use super::problem::Problem;
use super::report::Diagnostic;
use crate::definition::model::{Entry, Outcome, Phase, Workflow};

/// A part of a path in the YAML of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PathPart<'a> {
    /// The value of a key.
    Key(&'a str),
    /// A key itself.
    Name(&'a str),
    /// An item of a list, from 0.
    Item(usize),
}

/// A node in the YAML of a file, by the path to it.
#[derive(Debug, Clone)]
pub(crate) struct Anchor(Vec<OwnedPart>);

#[derive(Debug, Clone)]
enum OwnedPart {
    Key(String),
    Name(String),
    Item(usize),
}

impl Anchor {
    pub fn of(path: &[PathPart]) -> Self {
        let owned = path.iter().map(|part| match part {
            PathPart::Key(key) => OwnedPart::Key((*key).to_owned()),
            PathPart::Name(name) => OwnedPart::Name((*name).to_owned()),
            PathPart::Item(index) => OwnedPart::Item(*index),
        });
        Self(owned.collect())
    }

    pub fn path(&self) -> Vec<PathPart<'_>> {
        let path = self.0.iter().map(|part| match part {
            OwnedPart::Key(key) => PathPart::Key(key),
            OwnedPart::Name(name) => PathPart::Name(name),
            OwnedPart::Item(index) => PathPart::Item(*index),
        });
        path.collect()
    }
}

/// A diagnostic of the library. Places are looked up when all diagnostics are known.
pub(crate) struct Anchored {
    pub diagnostic: Diagnostic,
    /// The node in the diagnostic's file.
    pub anchor: Anchor,
}

impl Anchored {
    /// A diagnostic of a `workflow.yaml`, or of a group in one.
    pub fn new(workflow: &Workflow, problem: impl Into<Problem>, at: &[PathPart]) -> Self {
        let group = workflow.group.as_ref().map(|group| &group.at[..]);
        Self::in_file(workflow.file(), problem, &in_group(group.unwrap_or_default(), at))
    }

    /// A diagnostic of a phase: of its file, or of its entry in a `workflow.yaml`.
    pub fn of_phase(phase: &Phase, problem: impl Into<Problem>, at: &[PathPart]) -> Self {
        Self::in_file(&phase.file, problem, &in_group(&phase.at, at))
    }

    /// A diagnostic of a part of an outcome of the entry at an index: in the file of its phase, or in the workflow, which may
    /// give its target.
    pub fn of_outcome(
        (workflow, index): (&Workflow, usize),
        outcome: &Outcome,
        problem: impl Into<Problem>,
        part: &[PathPart],
    ) -> Self {
        let at = [&[PathPart::Key("outcomes"), PathPart::Key(&outcome.name)], part].concat();
        match workflow.phases.get(index).and_then(Entry::as_phase).filter(|_| !outcome.of_entry) {
            Some(phase) => Self::of_phase(phase, problem, &at),
            None => Self::new(workflow, problem, &[&[PathPart::Key("phases"), PathPart::Item(index)], &*at].concat()),
        }
    }

    /// A diagnostic of any file.
    pub fn in_file(file: impl Into<String>, problem: impl Into<Problem>, at: &[PathPart]) -> Self {
        Self { diagnostic: Diagnostic::new(file, problem), anchor: Anchor::of(at) }
    }
}

/// The path to a node of the entry or group to which these indices of entries lead.
pub(crate) fn in_group<'a>(group: &[usize], at: &[PathPart<'a>]) -> Vec<PathPart<'a>> {
    let outer = group.iter().flat_map(|index| [PathPart::Key("phases"), PathPart::Item(*index)]);
    outer.chain(at.iter().copied()).collect()
}
