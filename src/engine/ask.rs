//! Requests to the user and the host that are not answered yet, each with what follows its answer.
//!
//! **Invariant: what follows is data.** A pending request names what it belongs to, as it was when the request was made;
//! [`Engine::answered`](super::Engine) decides once if that still stands, and goes on with it.

use super::budget::state::UsageMeter;
use super::context::Cx;
use super::effect::{Effect, Reply, Request};
use super::entries::state::{EntryAsked, OpenEntry};
use super::event::Answer;
use super::gate::state::{GateAsked, OpenGate};
use super::new_workflow::state::NewWorkflow;
use super::proposals::state::ProposalAsked;
use super::start::state::StartAsked;
use super::state::Waiter;
use crate::run::{PauseReason, Seal};
use crate::sorted::Map;

/// The pending requests by ticket.
#[derive(Debug, Default)]
pub struct Pending {
    requests: Map<u64, Waiting>,
    last_ticket: u64,
}

/// A request that is not answered yet.
#[derive(Debug)]
pub struct Waiting {
    pub waiter: Waiter,
    /// The user has a dialog for the request.
    is_for_user: bool,
    /// The user did something else meanwhile: the answer has no effect.
    pub is_withdrawn: bool,
    pub then: Then,
}

/// The continuation after an answer, as data.
#[derive(Debug)]
pub enum Then {
    /// A gate goes on.
    Gate(Box<OpenGate>, GateAsked),
    /// An entry without the model goes on.
    Entry(Box<OpenEntry>, EntryAsked),
    /// A run starts, or another question follows.
    Start(StartAsked),
    /// A proposal of the agent goes on.
    Proposal(ProposalAsked),
    /// Another question about a new workflow follows, or it is written.
    New(NewWorkflow),
    /// The agent cancels the run, if the user says yes.
    Cancel { task_id: String },
    /// The run goes on by these rules, with `more` for its budget, if the user accepts the rules.
    AcceptRules { reason: PauseReason, rules: Seal, more: String },
    /// The run goes on here, with `more` for its budget, if the user takes it over from another process.
    TakeOver { more: String },
    /// The user gives a budget more.
    GiveMore { task_id: String, reason: PauseReason, was_at_rest: bool },
    /// A budget gets more, or answers whose cost is not known are accepted, if the user says yes.
    ConfirmMore { task_id: String, reason: PauseReason, was_at_rest: bool, more: String },
}

impl Then {
    /// Returns true if the request belongs to a gate that is being checked, or to an entry without the model.
    fn is_of_gate(&self) -> bool {
        matches!(self, Self::Gate(..) | Self::Entry(..))
    }

    /// The occasion of a question, as events name it.
    fn about(&self) -> &'static str {
        match self {
            Self::Gate(..) => "gate",
            Self::Entry(..) => "entry",
            Self::Start(_) | Self::Proposal(_) => "start",
            Self::New(_) => "workflow",
            Self::Cancel { .. } => "cancel",
            Self::AcceptRules { .. } => "rules",
            Self::TakeOver { .. } => "claim",
            Self::GiveMore { .. } | Self::ConfirmMore { .. } => "budget",
        }
    }
}

impl Pending {
    /// Makes a request. Its ticket is used by no other request of this engine.
    pub fn ask(&mut self, waiter: Waiter, request: Request, then: Then) -> Reply {
        self.last_ticket += 1;
        let waiting = Waiting { waiter, is_for_user: request.is_for_user(), is_withdrawn: false, then };
        self.requests.insert(self.last_ticket, waiting);
        Reply::Ask { ticket: self.last_ticket, request }
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

    /// Returns true if the user has a dialog for this request, and a tool call waits for it.
    pub fn is_dialog_of_call(&self, ticket: u64) -> bool {
        let request = self.requests.get(&ticket);
        request.is_some_and(|request| request.is_for_user && request.waiter != Waiter::User)
    }

    /// The occasion of the user's dialog with this ticket, if the user has one.
    pub fn dialog_about(&self, ticket: u64) -> Option<&'static str> {
        let request = self.requests.get(&ticket).filter(|request| request.is_for_user)?;
        Some(request.then.about())
    }

    /// Returns true if a gate is being checked. A withdrawn gate counts until its answer comes.
    pub fn has_gate(&self) -> bool {
        self.gates().next().is_some()
    }

    /// Returns true if a gate is being checked, or an entry without the model is worked through, that is not withdrawn.
    pub fn has_open_gate(&self) -> bool {
        self.gates().any(|request| !request.is_withdrawn)
    }

    /// Returns true if a call of the agent's waits for a gate.
    pub fn is_gate_of_call(&self) -> bool {
        self.gates().any(|request| request.waiter != Waiter::User)
    }

    fn gates(&self) -> impl Iterator<Item = &Waiting> {
        self.requests.values().filter(|request| request.then.is_of_gate())
    }

    /// Withdraws the gates that are being checked: the user did something else.
    pub fn withdraw_gates(&mut self, cx: &mut Cx) {
        for (ticket, request) in &mut self.requests {
            if request.then.is_of_gate() {
                request.is_withdrawn = true;
                cx.push(Effect::CancelRequest { ticket: *ticket });
            }
        }
    }

    /// Cancels the requests of nested calls of `workflow_step`: the agent has stopped, so the tool that made the calls
    /// has ended, and their results are not read.
    pub fn cancel_nested_calls(&mut self, meter: &mut UsageMeter, cx: &mut Cx) {
        self.requests.retain(|ticket, request| {
            let stays = request.waiter != Waiter::Call { nested: true };
            if !stays {
                meter.end_dialog(*ticket, cx.unix_ms);
                cx.push(Effect::CancelRequest { ticket: *ticket });
            }
            stays
        });
    }
}

/// The user's own word, by a dialog or an option of the command line: without it no changed rules are accepted and no
/// budget is widened. A command or a message is not the user's word: pi does not tell who sends it.
pub(super) struct UsersWord(());

impl UsersWord {
    /// The user's yes in a dialog; `None` for any other answer.
    pub fn of_yes(answer: &Answer) -> Option<Self> {
        (answer.yes() == Some(true)).then_some(Self(()))
    }

    /// The text that the user entered in a dialog.
    pub fn of_text(answer: Answer) -> Option<(Self, String)> {
        answer.entered().map(|text| (Self(()), text))
    }

    /// Takes an option of the command line if its value is meant; an option is taken once.
    pub fn of_option(option: &mut Option<String>, is_meant: impl FnOnce(&str) -> bool) -> Option<(Self, String)> {
        let is_meant = option.as_deref().is_some_and(is_meant);
        let value = option.take_if(|_| is_meant)?;
        Some((Self(()), value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests::with_cx;
    use crate::text::Title;

    fn asked(pending: &mut Pending, waiter: Waiter, then: Then) -> u64 {
        match pending.ask(waiter, Request::Input { title: Title::new("", "") }, then) {
            Reply::Ask { ticket, .. } => ticket,
            _ => unreachable!(),
        }
    }

    #[test]
    fn requests_of_nested_calls_are_dropped_alone() {
        let mut pending = Pending::default();
        let user = asked(&mut pending, Waiter::User, Then::TakeOver { more: String::new() });
        let call = asked(&mut pending, Waiter::Call { nested: false }, Then::TakeOver { more: String::new() });
        let nested = asked(&mut pending, Waiter::Call { nested: true }, Then::TakeOver { more: String::new() });
        assert!(pending.is_dialog_of_call(call) && !pending.is_dialog_of_call(user));
        with_cx(|cx| {
            pending.cancel_nested_calls(&mut UsageMeter::default(), cx);
            assert_eq!(cx.effects, [Effect::CancelRequest { ticket: nested }]);
        });
        assert!(pending.remove(nested).is_none() && pending.remove(call).is_some());
        with_cx(|cx| {
            pending.withdraw_gates(cx);
            assert!(cx.effects.is_empty(), "no gate");
        });
        assert!(!pending.remove(user).unwrap().is_withdrawn);
    }
}
