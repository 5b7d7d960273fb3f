//! The consent to the commands of all gates of a run, before it starts.

use crate::text;

use crate::engine::context::Cx;
use crate::engine::effect::{Effect, Level, Reply, Request};
use crate::engine::event::Answer;
use crate::engine::gate::{Consent, ONCE_IN_RUN, REMEMBERED_COMMAND, dialog};
use crate::engine::state::{Engine, PendingRequest, Start, StartConsent};
use crate::protocol::STATUS_TYPE;
use serde_json::json;

impl Engine {
    /// Starts a run. If the gates that it can reach run commands that need the user's consent, the user is asked first, once
    /// for all. Without a user interface the run starts, and pauses at the gate.
    pub(super) fn start_if_allowed(&mut self, start: Start, cx: &mut Cx) -> Reply {
        let commands = self.commands_to_allow(&start);
        if commands.is_empty() || self.session.allow_commands || !cx.ui.exists() {
            return self.start(&start, cx);
        }
        let Some(identity) = cx.files.project_identity() else {
            return self.ask_before_start(start, commands, None, cx);
        };
        let recalled =
            |about: &String| self.session.remembered(REMEMBERED_COMMAND, &identity, about).key;
        let request = Request::Recall { keys: commands.iter().map(recalled).collect() };
        let identity = Some(identity);
        let consent = StartConsent { start, commands, identity, is_asked: false };
        self.ask(PendingRequest::StartConsent(consent), request)
    }

    pub(in crate::engine) fn answer_start_consent(
        &mut self,
        consent: StartConsent,
        answer: Answer,
        cx: &mut Cx,
    ) -> Reply {
        let StartConsent { mut start, mut commands, identity, is_asked } = consent;
        if !is_asked {
            if let (Answer::Recalled(values), Some(identity)) = (answer, &identity) {
                commands = self.not_remembered(commands, identity, values);
            }
            if commands.is_empty() {
                return self.start(&start, cx);
            }
            return self.ask_before_start(start, commands, identity, cx);
        }
        match Consent::of(&answer, identity.as_deref()) {
            Consent::No => {
                cx.notify(Level::Info, "The workflow is not started.");
                self.not_started(cx);
                return Reply::None;
            }
            Consent::Once => {}
            Consent::Session => self.session.allowed_commands.extend(commands.iter().cloned()),
            Consent::Always { identity } => self.remember_consents(&commands, identity, cx),
        }
        start.allowed.extend(commands);
        // The files may have been read again meanwhile: what is new is asked for.
        self.start_if_allowed(start, cx)
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
        start: Start,
        commands: Vec<String>,
        identity: Option<String>,
        cx: &mut Cx,
    ) -> Reply {
        let options: Vec<String> = Consent::options(identity.as_deref(), ONCE_IN_RUN)
            .map(|(_, option)| option.into())
            .collect();
        let library = self.definitions.library();
        let Some(workflow) = library.by_command_name(&start.command_name) else {
            return self.start(&start, cx);
        };
        let preview = text::RunPreview::of(workflow, library);
        let text::Question { title, above } =
            preview.question(&commands, dialog(cx.ui, options.len()));
        if let Some(content) = above {
            let data = json!({ "content": content });
            cx.push(Effect::AppendEntry { custom_type: STATUS_TYPE, data });
        }
        let consent = StartConsent { start, commands, identity, is_asked: true };
        self.ask(PendingRequest::StartConsent(consent), Request::Select { title, options })
    }
}
