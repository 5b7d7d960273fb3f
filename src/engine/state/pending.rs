//! Requests to the user or the host that are not answered yet.

use std::collections::{BTreeMap, BTreeSet};

use crate::definition::Measure;

use super::gate::{OpenGate, Requester};

/// The pending requests by ticket.
#[derive(Debug, Default)]
pub struct Pending {
    requests: BTreeMap<u64, PendingRequest>,
    last_ticket: u64,
}

impl Pending {
    /// Stores a request, and returns its ticket, which no other request of this engine has or had.
    pub fn insert(&mut self, request: PendingRequest) -> u64 {
        self.last_ticket += 1;
        self.requests.insert(self.last_ticket, request);
        self.last_ticket
    }

    pub fn remove(&mut self, ticket: u64) -> Option<PendingRequest> {
        self.requests.remove(&ticket)
    }

    /// Drops all requests; their tickets are not used again.
    pub fn clear(&mut self) {
        self.requests.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Tests if the user has a dialog for any of them.
    pub fn is_for_user(&self) -> bool {
        self.requests.values().any(PendingRequest::is_for_user)
    }

    /// Tests if the user has a dialog for this request, and a tool call waits for it.
    pub fn is_dialog_of_call(&self, ticket: u64) -> bool {
        self.requests.get(&ticket).is_some_and(|request| match request {
            PendingRequest::Cancel { .. } => true,
            PendingRequest::Gate(gate) => gate.is_for_user() && gate.requester != Requester::User,
            PendingRequest::StartAnother(_)
            | PendingRequest::ChooseWorkflow { .. }
            | PendingRequest::EnterTask { .. }
            | PendingRequest::EnterInput { .. }
            | PendingRequest::MoreBudget { .. }
            | PendingRequest::Replacement(_)
            | PendingRequest::StartConsent(_) => false,
        })
    }

    /// The gates that are being checked. A withdrawn one is among them until its answer comes.
    pub fn gates(&self) -> impl Iterator<Item = &OpenGate> {
        self.requests.values().filter_map(|request| match request {
            PendingRequest::Gate(gate) => Some(&**gate),
            PendingRequest::StartAnother(_)
            | PendingRequest::Cancel { .. }
            | PendingRequest::ChooseWorkflow { .. }
            | PendingRequest::EnterTask { .. }
            | PendingRequest::EnterInput { .. }
            | PendingRequest::MoreBudget { .. }
            | PendingRequest::Replacement(_)
            | PendingRequest::StartConsent(_) => None,
        })
    }

    /// Marks the gates that are being checked as withdrawn, and returns their tickets.
    pub fn withdraw_gates(&mut self) -> Vec<u64> {
        let mut tickets = Vec::new();
        for (ticket, request) in &mut self.requests {
            if let PendingRequest::Gate(gate) = request {
                gate.withdrawn = true;
                tickets.push(*ticket);
            }
        }
        tickets
    }

    /// Drops the requests of nested calls of the step tool, and returns their tickets.
    pub fn drop_nested_calls(&mut self) -> Vec<u64> {
        let nested = self.requests.iter().filter(|(_, request)| request.is_of_nested_call());
        let tickets: Vec<u64> = nested.map(|(ticket, _)| *ticket).collect();
        for ticket in &tickets {
            self.requests.remove(ticket);
        }
        tickets
    }
}

/// A request that is not answered yet.
#[derive(Debug)]
pub enum PendingRequest {
    /// Confirmation of a start although a run is in progress.
    StartAnother(Start),
    /// Confirmation of a cancellation by the agent.
    Cancel { nested: bool, task_id: String },
    /// Choice of the workflow to start.
    ChooseWorkflow { command_names: Vec<String> },
    /// The task of the workflow to start.
    EnterTask { command_name: String, values: BTreeMap<String, String> },
    /// The value of an input of the workflow to start; `options` are those that are shown.
    EnterInput { start: Start, name: String, options: Vec<String> },
    /// Confirmation of a start in which the project replaces workflows of the user.
    Replacement(Replacement),
    /// The user's consent to the commands of a run to start.
    StartConsent(StartConsent),
    /// The amount that the user adds to a budget.
    MoreBudget { task_id: String, measure: Measure, was_at_rest: bool },
    /// The answer that a check of a gate needs; see [`Awaited`](super::gate::Awaited).
    Gate(Box<OpenGate>),
}

impl PendingRequest {
    fn is_for_user(&self) -> bool {
        match self {
            Self::StartAnother(_)
            | Self::Cancel { .. }
            | Self::ChooseWorkflow { .. }
            | Self::EnterTask { .. }
            | Self::EnterInput { .. }
            | Self::MoreBudget { .. } => true,
            Self::Replacement(replacement) => {
                matches!(replacement.step, ReplacementStep::Confirm { .. })
            }
            Self::StartConsent(consent) => consent.is_asked,
            Self::Gate(gate) => gate.is_for_user(),
        }
    }

    fn is_of_nested_call(&self) -> bool {
        match self {
            Self::Cancel { nested, .. } => *nested,
            Self::Gate(gate) => gate.requester.is_nested_call(),
            Self::StartAnother(_)
            | Self::ChooseWorkflow { .. }
            | Self::EnterTask { .. }
            | Self::EnterInput { .. }
            | Self::MoreBudget { .. }
            | Self::Replacement(_)
            | Self::StartConsent(_) => false,
        }
    }
}

/// A run to start.
#[derive(Debug, Clone)]
pub struct Start {
    pub command_name: String,
    pub task: String,
    /// The values of inputs, by name.
    pub values: BTreeMap<String, String>,
    /// The commands that the user has allowed for it.
    pub allowed: BTreeSet<String>,
}

/// A start that waits for the user's consent to commands.
#[derive(Debug)]
pub struct StartConsent {
    pub start: Start,
    pub commands: Vec<String>,
    /// The project's identity, where it is known.
    pub identity: Option<String>,
    /// The user is asked; before that, the remembered consents are looked up.
    pub is_asked: bool,
}

/// A start that waits for the user's yes.
#[derive(Debug)]
pub struct Replacement {
    pub start: Start,
    /// The project's identity, where it is known.
    pub identity: Option<String>,
    pub step: ReplacementStep,
}

#[derive(Debug)]
pub enum ReplacementStep {
    /// The remembered answers for these keys are looked up.
    Recall { keys: Vec<String> },
    /// The user is asked about this key.
    Confirm { key: String },
}
