//! Places in files that are named by the way that leads to them.

use super::problem::Problem;
use super::report::Diagnostic;
use crate::definition::model::expected_calls::PhaseTest;
use crate::definition::model::schema;
use crate::definition::model::workflow::Workflow;

/// One step from a value into a part of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Step<'a> {
    /// The value of a key.
    Key(&'a str),
    /// A key itself.
    Name(&'a str),
    /// An item of a list, from 0.
    Item(usize),
}

/// A diagnostic that shows only beside other workflows; its place in the `workflow.yaml` is not looked up yet.
pub(crate) struct Unplaced {
    pub diagnostic: Diagnostic,
    pub anchor: Anchor,
}

impl Unplaced {
    pub fn new(workflow: &Workflow, problem: impl Into<Problem>, anchor: Anchor) -> Self {
        Self { diagnostic: Diagnostic::new(workflow.file(), problem), anchor }
    }
}

/// The part of a `workflow.yaml` or of a phase file that a diagnostic is about.
#[derive(Debug)]
pub(crate) enum Anchor {
    /// A node of the `workflow.yaml`.
    Field(Vec<Step<'static>>),
    /// A node of the front matter of a phase file.
    Phase(Vec<Step<'static>>),
    /// The value of this key of the mapping at a path of the `workflow.yaml`.
    Value(Vec<Step<'static>>, String),
    /// This key of the mapping at a path of the `workflow.yaml`.
    Key(Vec<Step<'static>>, String),
    /// The value of this key of the mapping at a path of the front matter of a phase file.
    PhaseValue(Vec<Step<'static>>, String),
    /// The value of `name`.
    Name,
    /// The value of `commandName`.
    CommandName,
    /// The list of phases.
    Phases,
    /// The first reference to one of these keys, in any case.
    Reference(Vec<String>),
    /// The name of this index in a user's alias of models.
    Alias(String, usize),
}

impl Anchor {
    /// The entry of a tool call in `tests` of its phase file.
    pub fn of_call(call: &PhaseTest) -> Self {
        let [allowed, refused] = schema::names(&schema::TESTS_FIELDS);
        let list = if call.allowed { allowed } else { refused };
        Self::Phase(vec![Step::Key("tests"), Step::Key(list), Step::Item(call.index)])
    }
}
