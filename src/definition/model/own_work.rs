//! Entries of a workflow that the run works through without the model.

use super::bound_values::BudgetBounds;
use super::confinement::Confinement;
use super::outcomes::Outcome;
use super::outputs::Output;
use super::results::Results;
use super::work::{Question, Step, Work};
use super::workflow::{ContextMode, Phase, ToolPolicy};

/// The parts of an entry without the model that a user writes.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnWork {
    /// See [`Phase::id`].
    pub id: String,
    /// See [`Phase::name`].
    pub name: String,
    /// The `workflow.yaml` that has it, as a user would write it.
    pub file: String,
    /// The work; not [`Work::Agent`].
    pub work: Work,
    /// The ways in which it can be left.
    pub outcomes: Vec<Outcome>,
    /// The values that it gives.
    pub outputs: Vec<Output>,
}

impl From<OwnWork> for Phase {
    /// A phase in which the agent has no tools.
    fn from(OwnWork { id, name, file, work, outcomes, outputs }: OwnWork) -> Self {
        Self {
            id,
            name,
            emoji: work.emoji().to_owned(),
            instructions: String::new(),
            file,
            work,
            tools: ToolPolicy::Only(Vec::new()),
            confinement: Confinement::default(),
            budget: BudgetBounds::default(),
            tests: Vec::new(),
            profiles: None,
            summary_required: None,
            context: Some(ContextMode::Shared),
            on_budget: None,
            interactive: false,
            results: Results::All,
            outcomes,
            outputs,
            gate: None,
            model: Vec::new(),
            thinking: None,
        }
    }
}

impl Phase {
    /// Returns true if the agent works in it.
    pub fn is_of_agent(&self) -> bool {
        match self.work {
            Work::Agent => true,
            Work::Run(_) | Work::Ask(_) => false,
        }
    }

    /// The command that it runs, if it is a step.
    pub fn step(&self) -> Option<&Step> {
        match &self.work {
            Work::Run(step) => Some(step),
            Work::Agent | Work::Ask(_) => None,
        }
    }

    /// The question that it asks, if it is one.
    pub fn question(&self) -> Option<&Question> {
        match &self.work {
            Work::Ask(question) => Some(question),
            Work::Agent | Work::Run(_) => None,
        }
    }
}
