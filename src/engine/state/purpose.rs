//! The party that waits for an answer, and the end of that wait.

use std::cell::Cell;
use std::rc::Rc;

/// A request that waits for an answer.
#[derive(Debug, Clone)]
pub struct Purpose {
    pub waiter: Waiter,
    /// Set if the request is a check of a gate, or the consent to one.
    pub gate: Option<Withdrawal>,
}

/// The party that waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiter {
    /// The user, by a command.
    User,
    /// The agent, by a call of its tool.
    Call {
        /// Another tool made the call.
        nested: bool,
    },
}

/// True after the user did something else while a gate was checked: then the answer has no effect. Copies share the
/// value.
#[derive(Debug, Clone, Default)]
pub struct Withdrawal(Rc<Cell<bool>>);

impl Withdrawal {
    pub fn withdraw(&self) {
        self.0.set(true);
    }

    pub fn is_withdrawn(&self) -> bool {
        self.0.get()
    }
}

impl From<Waiter> for Purpose {
    fn from(waiter: Waiter) -> Self {
        Self { waiter, gate: None }
    }
}
