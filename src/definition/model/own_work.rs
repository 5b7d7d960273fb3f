//! Entries of a workflow that the run works through without the model.

use super::budget::BudgetBounds;
use super::gate::as_name;
use super::models::OwnModel;
use super::outcomes::Outcome;
use super::own_limits::OwnLimits;
use super::value_type::Output;
use super::work::{Question, Step, Work};
use super::workflow::{ContextMode, Phase, Results, ToolPolicy};

/// The parts of an entry without the model that a user writes.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnWork {
    pub id: String,
    pub name: String,
    /// The `workflow.yaml` that has it, as a user would write it.
    pub file: String,
    /// The indices of the entries that lead to it.
    pub at: Vec<usize>,
    /// The work; not [`Work::Agent`].
    pub work: Work,
    /// The ways in which the entry can be left.
    pub outcomes: Vec<Outcome>,
    /// The values that the entry gives.
    pub outputs: Vec<Output>,
}

impl From<OwnWork> for Phase {
    /// A phase in which the agent has no tools.
    fn from(OwnWork { id, name, file, at, work, outcomes, outputs }: OwnWork) -> Self {
        Self {
            id,
            name,
            emoji: work.emoji().to_owned(),
            instructions: String::new(),
            file,
            at,
            work,
            tools: ToolPolicy::Only(Vec::new()),
            limits: OwnLimits::default(),
            budget: BudgetBounds::default(),
            profiles: None,
            summary_required: false,
            context: Some(ContextMode::Shared),
            on_budget: None,
            interactive: false,
            results: Results::All,
            outcomes,
            outputs,
            gate: None,
            model: OwnModel::default(),
        }
    }
}

/// Returns the place of a run at a parallel group: a phase with the id, the name and the outcomes of the group, the worst first.
pub(crate) fn place((id, name, file, at): (String, String, String, Vec<usize>), outcomes: Vec<Outcome>) -> Phase {
    OwnWork { id, name, file, at, work: Work::Branches, outcomes, outputs: Vec::new() }.into()
}

impl Phase {
    pub fn is_of_agent(&self) -> bool {
        match self.work {
            Work::Agent => true,
            Work::Run(_) | Work::Ask(_) | Work::Branches => false,
        }
    }

    pub fn step(&self) -> Option<&Step> {
        match &self.work {
            Work::Run(step) => Some(step),
            Work::Agent | Work::Ask(_) | Work::Branches => None,
        }
    }

    /// Returns true if its name is its command line or its question, because it has no name and no id.
    pub fn is_named_after_work(&self) -> bool {
        let text = match &self.work {
            Work::Agent | Work::Branches => return false,
            Work::Run(step) => step.command.line(),
            Work::Ask(question) => &question.text,
        };
        self.name == as_name(text)
    }

    pub fn question(&self) -> Option<&Question> {
        match &self.work {
            Work::Ask(question) => Some(question),
            Work::Agent | Work::Run(_) | Work::Branches => None,
        }
    }
}
