//! The workflows that a check looks at, also those with errors.

use crate::definition::diagnostic::anchor::Step;
use crate::definition::diagnostic::gaps::Gaps;
use crate::definition::model::library::Library;
use crate::definition::model::workflow::{EntryKind, Phase, Workflow};

/// The fields of a `workflow.yaml` that decide on the ways through it, and on the values that its phases get.
const WAYS_OF_WORKFLOW: [&str; 7] = ["phases", "inputs", "loopable", "onMaxLoops", "gate", "onGateFail", "context"];

/// Those of a phase file.
const WAYS_OF_PHASE: [&str; 8] = ["id", "outcomes", "outputs", "results", "gate", "onGateFail", "context", "summary"];

/// The fields that decide on a tool call.
const LIMITS: [&str; 5] = ["tools", "write", "hide", "network", "sandbox"];

/// The workflows that a check looks at.
pub(crate) struct Subject<'a> {
    /// The workflows without errors.
    pub library: &'a Library,
    /// All but the endless ones, those without errors first. Its references may lead nowhere, but to no cycle.
    pub all: &'a Library,
    /// Those that lead to a cycle, or are nested too deep.
    pub endless: &'a [Workflow],
    /// The parts with errors.
    pub gaps: &'a Gaps,
}

impl<'a> Subject<'a> {
    /// All workflows but the endless ones, and the groups in them; those without errors first.
    pub fn workflows(&self) -> impl Iterator<Item = &'a Workflow> + use<'a> {
        self.all.scopes()
    }

    /// All workflows, and the groups in them.
    pub fn with_endless(&self) -> impl Iterator<Item = &'a Workflow> + Clone + use<'a> {
        self.all.scopes().chain(self.endless)
    }

    /// Returns true if a workflow has no errors.
    pub fn is_sound(&self, workflow: &Workflow) -> bool {
        self.library.get(&workflow.key).is_some_and(|sound| sound.folder == workflow.folder)
    }

    /// Returns true if it is known which tool calls a phase of a workflow allows.
    pub fn has_known_limits(&self, phase: &Phase, workflow: &Workflow) -> bool {
        self.is_sound(workflow)
            || !self.gaps.touches_one(&workflow.file(), &LIMITS) && !self.gaps.touches_one(&phase.file, &LIMITS)
    }

    /// Returns true if all ways through a workflow and those nested in it are known, and the values that its phases
    /// get. Of a group the whole file decides on the values.
    pub fn has_known_ways(&self, workflow: &Workflow) -> bool {
        match &workflow.group {
            Some(group) => self.all.get(&group.file).is_some_and(|file| self.knows_ways(file)),
            None => self.knows_ways(workflow),
        }
    }

    fn knows_ways(&self, workflow: &Workflow) -> bool {
        self.is_sound(workflow)
            || !self.gaps.touches_one(&workflow.file(), &WAYS_OF_WORKFLOW)
                && workflow.phases.iter().all(|entry| match &entry.kind {
                    EntryKind::Phase(phase) => !self.gaps.touches_one(&phase.file, &WAYS_OF_PHASE),
                    EntryKind::Workflow { key, .. } => self.all.get(key).is_some_and(|nested| self.knows_ways(nested)),
                })
    }

    /// Returns true if a workflow may have any input.
    pub fn hides_inputs(&self, workflow: &Workflow) -> bool {
        self.gaps.covers(&workflow.file(), &[Step::Key("inputs")])
    }

    /// Returns true if a workflow may have an entry of any id.
    pub fn has_unknown_ids(&self) -> bool {
        self.gaps.has_whole_files() || self.with_endless().any(|workflow| self.gaps.has_unknown_ids(workflow))
    }

    /// Returns true if a phase may have any name in one of its fields.
    pub fn has_unknown_names(&self, field: &str) -> bool {
        let at = [Step::Key(field)];
        let has_gap = |workflow: &Workflow| {
            workflow.phases.iter().enumerate().any(|(index, entry)| {
                entry.as_phase().is_some_and(|phase| self.gaps.covers_of_phase((workflow, index), phase, &at))
            })
        };
        self.has_unknown_ids() || self.with_endless().any(has_gap)
    }
}
