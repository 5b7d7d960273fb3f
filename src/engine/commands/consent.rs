//! The consent to the commands of all gates of a run, before it starts.

use crate::text;

use super::start::Start;
use crate::engine::context::Cx;
use crate::engine::effect::Reply;
use crate::engine::gate::ONCE_IN_RUN;
use crate::engine::state::{Engine, Waiter};

impl Engine {
    /// Starts a run. If the gates that it can reach run commands that need the user's consent, the user is asked first,
    /// once for all. Without a user interface the run starts, and pauses at the gate.
    pub(super) fn start_if_allowed(&mut self, mut start: Start, cx: &mut Cx) -> Reply {
        let library = self.definitions.library();
        let Some(workflow) = library.by_command_name(&start.command_name).filter(|_| cx.ui.exists()) else {
            return self.start(&start, cx);
        };
        let preview = text::RunPreview::of(workflow, library);
        let Some(asked) = self.unallowed(preview.commands().into_iter(), Some(&start.allowed), cx) else {
            return self.start(&start, cx);
        };
        let (title, options) = asked.dialog(ONCE_IN_RUN, |commands, dialog| preview.question(commands, dialog), cx);
        self.select(Waiter::User, title, options, move |engine, chosen, cx| {
            if !engine.allow(&asked, chosen, cx) {
                return engine.tell_not_started(cx);
            }
            start.allowed.extend(asked.commands);
            // The files may have been read again meanwhile: new commands need a consent too.
            engine.start_if_allowed(start, cx)
        })
    }
}
