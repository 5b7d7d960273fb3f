//! Requests to the user or the host that are not answered yet.

use crate::sorted::Map;
use std::fmt;

use crate::engine::context::Cx;
use crate::engine::effect::{Effect, Reply};
use crate::engine::event::Answer;

use super::Engine;
use super::purpose::{Purpose, Waiter};

/// The pending requests by ticket.
#[derive(Debug, Default)]
pub struct Pending {
    requests: Map<u64, Waiting>,
    last_ticket: u64,
}

/// A request that is not answered yet.
pub struct Waiting {
    pub purpose: Purpose,
    /// The user has a dialog for the request.
    pub is_for_user: bool,
    /// The continuation after the answer.
    pub then: Then,
}

/// A continuation after an answer.
pub type Then = Box<dyn FnOnce(&mut Engine, Answer, &mut Cx) -> Reply>;

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { purpose, is_for_user, then: _ } = self;
        f.debug_struct("Waiting").field("purpose", purpose).field("is_for_user", is_for_user).finish_non_exhaustive()
    }
}

impl Pending {
    /// Stores a request, and returns its ticket, which no other request of this engine has or had.
    pub fn insert(&mut self, request: Waiting) -> u64 {
        self.last_ticket += 1;
        self.requests.insert(self.last_ticket, request);
        self.last_ticket
    }

    pub fn remove(&mut self, ticket: u64) -> Option<Waiting> {
        self.requests.remove(&ticket)
    }

    /// Drops all requests; their tickets are not used again.
    pub fn clear(&mut self) {
        self.requests.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Returns true if the user has a dialog for any pending request.
    pub fn is_for_user(&self) -> bool {
        self.requests.values().any(|request| request.is_for_user)
    }

    /// The ticket of the newest request that the user has a dialog for.
    pub fn dialog(&self) -> Option<u64> {
        let dialogs = self.requests.iter().filter(|(_, request)| request.is_for_user);
        dialogs.map(|(ticket, _)| *ticket).max()
    }

    /// Returns true if the user has a dialog for this request, and a tool call waits for it.
    pub fn is_dialog_of_call(&self, ticket: u64) -> bool {
        let request = self.requests.get(&ticket);
        request.is_some_and(|request| request.is_for_user && request.purpose.waiter != Waiter::User)
    }

    /// Returns true if a gate is being checked. A withdrawn gate counts until its answer comes.
    pub fn has_gate(&self) -> bool {
        self.waiters_of_gates().next().is_some()
    }

    /// Returns true if a gate is being checked, or an entry without the model is worked through, that is not withdrawn.
    pub fn has_open_gate(&self) -> bool {
        let mut gates = self.requests.values().filter_map(|request| request.purpose.gate.as_ref());
        gates.any(|withdrawal| !withdrawal.is_withdrawn())
    }

    /// Returns true if a call of the agent's waits for a gate.
    pub fn is_gate_of_call(&self) -> bool {
        self.waiters_of_gates().any(|waiter| waiter != Waiter::User)
    }

    fn waiters_of_gates(&self) -> impl Iterator<Item = Waiter> {
        let gates = self.requests.values().filter(|request| request.purpose.gate.is_some());
        gates.map(|request| request.purpose.waiter)
    }

    /// Withdraws the gates that are being checked: the user did something else.
    pub fn withdraw_gates(&mut self, cx: &mut Cx) {
        for (ticket, request) in &self.requests {
            if let Some(withdrawal) = &request.purpose.gate {
                withdrawal.withdraw();
                cx.push(Effect::CancelRequest { ticket: *ticket });
            }
        }
    }

    /// Drops the requests of nested calls of the step tool, and returns their tickets.
    pub fn drop_nested_calls(&mut self) -> Vec<u64> {
        let is_nested = |request: &Waiting| request.purpose.waiter == Waiter::Call { nested: true };
        let nested = self.requests.iter().filter(|(_, request)| is_nested(request));
        let tickets: Vec<u64> = nested.map(|(ticket, _)| *ticket).collect();
        for ticket in &tickets {
            self.requests.remove(ticket);
        }
        tickets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::state::purpose::Withdrawal;
    use crate::engine::tests::with_cx;

    fn waiting(purpose: Purpose) -> Waiting {
        Waiting { purpose, is_for_user: true, then: Box::new(|_, _, _| Reply::None) }
    }

    #[test]
    fn a_withdrawn_gate_waits_for_its_answer() {
        let mut pending = Pending::default();
        let withdrawal = Withdrawal::default();
        let gate = Some(withdrawal.clone());
        let other = pending.insert(waiting(Waiter::User.into()));
        let ticket = pending.insert(waiting(Purpose { waiter: Waiter::User, gate }));
        with_cx(|cx| {
            pending.withdraw_gates(cx);
            assert_eq!(cx.effects, [Effect::CancelRequest { ticket }]);
        });
        assert!(withdrawal.is_withdrawn() && pending.has_gate());
        assert!(pending.remove(ticket).is_some() && pending.remove(ticket).is_none());
        assert!(!pending.has_gate());
        assert!(pending.remove(other).is_some());
    }

    #[test]
    fn requests_of_nested_calls_are_dropped_alone() {
        let mut pending = Pending::default();
        let user = pending.insert(waiting(Waiter::User.into()));
        let call = pending.insert(waiting(Waiter::Call { nested: false }.into()));
        let nested = pending.insert(waiting(Waiter::Call { nested: true }.into()));
        assert!(pending.is_dialog_of_call(call) && !pending.is_dialog_of_call(user));
        assert_eq!(pending.drop_nested_calls(), [nested]);
        assert!(pending.remove(nested).is_none() && pending.remove(call).is_some());
    }
}
