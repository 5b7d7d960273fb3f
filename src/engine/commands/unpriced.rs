//! The question before a run starts in which nothing but a cost that is not known bounds a phase.

use crate::text;

use super::start::Start;
use crate::engine::ask::{UsersWord, YesOrNo};
use crate::engine::budget::UNKNOWN;
use crate::engine::budget::unpriced::Unpriced;
use crate::engine::context::Cx;
use crate::engine::effect::{Level, Reply};
use crate::engine::state::{Engine, Waiter};

impl Engine {
    /// Asks the user before a run starts in which nothing that can be counted bounds a phase; without a user interface
    /// an option is needed. `None` if there is no such phase, or if the user has agreed already.
    pub(super) fn ask_if_unbounded(&mut self, start: &Start, cx: &mut Cx) -> Option<Reply> {
        let unpriced = Unpriced::of(&start.command_name, &self.session.bound, self.definitions.library(), cx);
        if unpriced.unbounded.is_empty() || start.uncounted {
            return None;
        }
        let why = text::only_cost(&unpriced.unbounded, &unpriced.models);
        let mut start = start.clone();
        start.uncounted = true;
        if UsersWord::of_option(&mut self.session.more, |value| value == UNKNOWN).is_some() {
            return Some(self.start_unless_replaced(start, cx));
        }
        if !cx.ui.exists() {
            cx.fail(Level::Error, text::needs_bound(&why));
            return Some(Reply::None);
        }
        let request = YesOrNo::Choice { title: text::only_cost_question(&why), no: "No", yes: "Yes" };
        Some(self.ask_word(Waiter::User, request, |engine, word, cx| match word {
            Some(_) => engine.start_unless_replaced(start, cx),
            None => engine.tell_not_started(cx),
        }))
    }
}
