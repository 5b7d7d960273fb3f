//! The consent to the commands of all gates of a run, before it starts.

use crate::text;

use super::start::Start;
use crate::engine::context::Cx;
use crate::engine::effect::Reply;
use crate::engine::gate::{Consent, ONCE_IN_RUN, REMEMBERED_COMMAND, dialog, title_of};
use crate::engine::state::{Engine, Waiter};

impl Engine {
    /// Starts a run. If the gates that it can reach run commands that need the user's consent, the user is asked first,
    /// once for all. Without a user interface the run starts, and pauses at the gate.
    pub(super) fn start_if_allowed(&mut self, start: Start, cx: &mut Cx) -> Reply {
        let mut commands = self.commands_to_allow(&start);
        if commands.is_empty() || self.session.allow_commands || !cx.ui.exists() {
            return self.start(&start, cx);
        }
        let identity = cx.host.project_identity();
        commands.retain(|command| !self.session.remembers(REMEMBERED_COMMAND, identity.as_deref(), command, cx));
        if commands.is_empty() {
            return self.start(&start, cx);
        }
        self.ask_before_start(start, commands, identity, cx)
    }

    /// The commands of the gates that a run can reach which the user has not allowed.
    fn commands_to_allow(&self, start: &Start) -> Vec<String> {
        let library = self.definitions.library();
        let Some(workflow) = library.by_command_name(&start.command_name) else {
            return Vec::new();
        };
        let known = [&self.session.allowed_commands, &start.allowed];
        let commands = text::RunPreview::of(workflow, library).commands();
        let is_new = |command: &&str| !known.iter().any(|known| known.contains(*command));
        commands.into_iter().filter(is_new).map(Into::into).collect()
    }

    fn ask_before_start(
        &mut self,
        mut start: Start,
        commands: Vec<String>,
        identity: Option<String>,
        cx: &mut Cx,
    ) -> Reply {
        let options: Vec<String> =
            Consent::options(identity.as_deref(), ONCE_IN_RUN).map(|(_, option)| option.into()).collect();
        let library = self.definitions.library();
        let Some(workflow) = library.by_command_name(&start.command_name) else {
            return self.start(&start, cx);
        };
        let preview = text::RunPreview::of(workflow, library);
        let title = title_of(preview.question(&commands, dialog(cx.ui, options.len())), cx);
        self.select(Waiter::User, title, options, move |engine, chosen, cx| {
            match Consent::of(chosen, identity.as_deref()) {
                Consent::No => return engine.tell_not_started(cx),
                Consent::Once => {}
                Consent::Session => {
                    engine.session.allowed_commands.extend(commands.iter().cloned());
                }
                Consent::Always { identity } => engine.session.remember(REMEMBERED_COMMAND, identity, &commands, cx),
            }
            start.allowed.extend(commands);
            // The files may have been read again meanwhile: what is new is asked for.
            engine.start_if_allowed(start, cx)
        })
    }
}
