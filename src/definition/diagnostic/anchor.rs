//! Places in files, named by the steps that lead to them.

use super::problem::Problem;
use super::report::Diagnostic;
use crate::definition::model::schema;
use crate::definition::model::{PhaseTest, Workflow};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Step<'a> {
    /// The value of a key.
    Key(&'a str),
    /// A key itself.
    Name(&'a str),
    /// An item of a list, from 0.
    Item(usize),
}

/// A node in the YAML of a file, by the steps to it.
#[derive(Debug, Clone)]
pub(crate) struct Anchor(Vec<OwnedStep>);

#[derive(Debug, Clone)]
enum OwnedStep {
    Key(String),
    Name(String),
    Item(usize),
}

impl Anchor {
    pub fn of(steps: &[Step]) -> Self {
        let owned = steps.iter().map(|step| match step {
            Step::Key(key) => OwnedStep::Key((*key).to_owned()),
            Step::Name(name) => OwnedStep::Name((*name).to_owned()),
            Step::Item(index) => OwnedStep::Item(*index),
        });
        Self(owned.collect())
    }

    /// The entry of a tool call in `tests` of its phase file.
    pub fn of_call(call: &PhaseTest) -> Self {
        let [allowed, refused] = schema::names(&schema::TESTS_FIELDS);
        let list = if call.allowed { allowed } else { refused };
        Self::of(&[Step::Key("tests"), Step::Key(list), Step::Item(call.index)])
    }

    pub fn steps(&self) -> Vec<Step<'_>> {
        let steps = self.0.iter().map(|step| match step {
            OwnedStep::Key(key) => Step::Key(key),
            OwnedStep::Name(name) => Step::Name(name),
            OwnedStep::Item(index) => Step::Item(*index),
        });
        steps.collect()
    }
}

/// A diagnostic of the library. Places are looked up when all diagnostics are known.
pub(crate) struct Unplaced {
    pub diagnostic: Diagnostic,
    /// The node in the diagnostic's file.
    pub anchor: Anchor,
}

impl Unplaced {
    /// A diagnostic of a `workflow.yaml`, or of a group in one.
    pub fn new(workflow: &Workflow, problem: impl Into<Problem>, at: &[Step]) -> Self {
        let group = workflow.group.as_ref().map(|group| &group.at[..]);
        Self::in_file(workflow.file(), problem, &in_group(group.unwrap_or_default(), at))
    }

    /// A diagnostic of any file.
    pub fn in_file(file: impl Into<String>, problem: impl Into<Problem>, at: &[Step]) -> Self {
        Self { diagnostic: Diagnostic::new(file, problem), anchor: Anchor::of(at) }
    }
}

/// The steps to a node of the group to which these indices of entries lead.
pub(crate) fn in_group<'a>(group: &[usize], at: &[Step<'a>]) -> Vec<Step<'a>> {
    let steps = group.iter().flat_map(|index| [Step::Key("phases"), Step::Item(*index)]);
    steps.chain(at.iter().copied()).collect()
}
