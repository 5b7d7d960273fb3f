//! The user's consent to the commands of a gate, and approvals.

use serde_json::json;

use crate::protocol::{APPROVAL_TYPE, STATUS_TYPE};
use crate::text;

use crate::engine::context::{Cx, Ui};
use crate::engine::effect::{Effect, Reply, Request};
use crate::engine::event::Answer;
use crate::engine::state::{Awaited, Engine, OpenGate};

/// Kind of the values in the store that remember a consent.
pub(in crate::engine) const REMEMBERED: &str = "allowed-command";

/// The option for [`Consent::Once`]: at a gate, and before a run.
const ONCE: &str = "Yes, once";
pub(in crate::engine) const ONCE_IN_RUN: &str = "Yes, for this run";

/// The user's consent to commands.
pub(in crate::engine) enum Consent<'a> {
    No,
    Once,
    Session,
    /// As long as the commands stay the same, in the project of this identity.
    Always {
        identity: &'a str,
    },
}

impl<'a> Consent<'a> {
    /// The options, in the order of the dialog. The first one is chosen by a key that was meant for the editor: it does no
    /// harm. A consent can be remembered only where the project's identity is known.
    pub(in crate::engine) fn options(
        identity: Option<&'a str>,
        once: &'static str,
    ) -> impl Iterator<Item = (Self, &'static str)> {
        let always = identity
            .map(|identity| (Self::Always { identity }, "Yes, always while they stay the same"));
        [(Self::No, "No"), (Self::Once, once), (Self::Session, "Yes, for this session")]
            .into_iter()
            .chain(always)
    }

    /// The option that was chosen; no option is no consent.
    pub(in crate::engine) fn of(answer: &Answer, identity: Option<&'a str>) -> Self {
        let chosen = answer.selected().and_then(|index| Self::options(identity, ONCE).nth(index));
        chosen.map_or(Self::No, |(consent, _)| consent)
    }
}

/// The user's answer to an approval question.
#[derive(Clone, Copy)]
pub(super) enum Approval {
    NotYet,
    Yes,
    No,
}

impl Approval {
    /// The options, in the order of the dialog.
    const OPTIONS: [(Self, &'static str); 3] =
        [(Self::NotYet, "Not yet"), (Self::Yes, "Yes"), (Self::No, "No")];

    /// The option that was chosen; no option is [`Self::NotYet`].
    pub(super) fn of(answer: &Answer) -> Self {
        let chosen = answer.selected().and_then(|index| Self::OPTIONS.get(index));
        chosen.map_or(Self::NotYet, |(approval, _)| *approval)
    }
}

impl Engine {
    /// The commands of a gate that need the user's consent: those of workflows that are not the user's own, and that the
    /// user has not allowed for this session or this run.
    pub(super) fn commands_without_consent(&self, gate: &OpenGate) -> Vec<String> {
        let commands = gate.foreign_commands().into_iter().map(|(command, ..)| command);
        let session = &self.session;
        let in_run = session
            .allowed_in_run
            .as_ref()
            .filter(|(task_id, _)| self.running().is_some_and(|state| state.task_id == *task_id));
        let is_allowed = |command: &&str| {
            session.allowed_commands.contains(*command)
                || in_run.is_some_and(|(_, allowed)| allowed.contains(*command))
        };
        commands.filter(|command| !is_allowed(command)).map(Into::into).collect()
    }

    /// Looks up the remembered consents to these commands.
    pub(super) fn recall_consents(
        &mut self,
        gate: OpenGate,
        commands: Vec<String>,
        identity: String,
    ) -> Reply {
        let session = &self.session;
        let key = |command: &String| session.remembered(REMEMBERED, &identity, command).key;
        let keys = commands.iter().map(key).collect();
        let awaited = Awaited::RememberedConsents { commands, identity };
        self.await_answer(gate, awaited, Request::Recall { keys })
    }

    /// The commands among these whose remembered value is not a consent.
    pub(in crate::engine) fn not_remembered(
        &self,
        mut commands: Vec<String>,
        identity: &str,
        values: Vec<Option<String>>,
    ) -> Vec<String> {
        let mut values = values.into_iter();
        commands.retain(|command| {
            let consent = self.session.remembered(REMEMBERED, identity, command);
            values.next().flatten() != Some(consent.value)
        });
        commands
    }

    pub(in crate::engine) fn remember_consents(
        &self,
        commands: &[String],
        identity: &str,
        cx: &mut Cx,
    ) {
        for command in commands {
            cx.push(self.session.remembered(REMEMBERED, identity, command).keep());
        }
    }

    /// Asks for the consent to these commands.
    pub(super) fn ask_consent(
        &mut self,
        gate: OpenGate,
        commands: Vec<String>,
        identity: Option<String>,
        cx: &mut Cx,
    ) -> Reply {
        let (of, source) = gate.source_of(&commands);
        let options: Vec<String> =
            Consent::options(identity.as_deref(), ONCE).map(|(_, option)| option.into()).collect();
        let question = text::consent_question(of, source, &commands, dialog(cx.ui, options.len()));
        self.select(gate, Awaited::Consent { commands, identity }, question, options, cx)
    }

    /// Asks the user for an approval.
    pub(super) fn ask_approval(&mut self, gate: OpenGate, question: &str, cx: &mut Cx) -> Reply {
        let of = gate.current_gate().map_or("", |gate| &gate.of);
        let workflow = self.active().map_or("", |active| &active.root.name);
        let options: Vec<String> = Approval::OPTIONS.map(|(_, option)| option.into()).into();
        let dialog = dialog(cx.ui, options.len());
        let question = text::approval_question(of, workflow, question, dialog);
        self.show_subject(&gate, cx);
        self.select(gate, Awaited::Approval, question, options, cx)
    }

    /// Shows the subject of an approval above its question: the summary of the phase, and the checks so far. The model
    /// does not get it.
    fn show_subject(&self, gate: &OpenGate, cx: &mut Cx) {
        let Some(active) = self.active().filter(|_| cx.ui.exists()) else { return };
        let summaries = active.state.summaries();
        let stored = || summaries.last().filter(|_| active.state.has_handed_over());
        let summary =
            gate.requester.summary().or_else(|| stored().map(|(_, summary)| &*summary.text));
        if let Some(content) = text::approval_subject(active.phase, &gate.evidence, summary) {
            let data = json!({ "content": content });
            cx.push(Effect::AppendEntry { custom_type: APPROVAL_TYPE, data });
        }
    }

    /// Asks the user to choose. The part of the question that the dialog has no room for goes into an entry before it,
    /// which the model does not get.
    fn select(
        &mut self,
        gate: OpenGate,
        awaited: Awaited,
        question: text::Question,
        options: Vec<String>,
        cx: &mut Cx,
    ) -> Reply {
        let text::Question { title, above } = question;
        if let Some(content) = above {
            let data = json!({ "content": content });
            cx.push(Effect::AppendEntry { custom_type: STATUS_TYPE, data });
        }
        self.await_answer(gate, awaited, Request::Select { title, options })
    }
}

/// The dialog for a question with this number of options.
pub(in crate::engine) fn dialog(ui: Ui, options: usize) -> text::Dialog {
    if ui.is_terminal() { text::Dialog::Terminal { options } } else { text::Dialog::Program }
}
