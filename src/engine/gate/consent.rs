//! The user's consent to the commands of a gate, and approvals.

use serde_json::json;

use crate::definition::CheckKind;
use crate::protocol::{APPROVAL_TYPE, STATUS_TYPE};
use crate::run::PauseReason;
use crate::sorted::Set;
use crate::text;

use super::standing::if_stands;
use super::verdict::Outcome;
use crate::engine::context::{Cx, Ui};
use crate::engine::effect::{Effect, Reply};
use crate::engine::gate::state::{CheckResult, OpenGate};
use crate::engine::state::Engine;

/// Kind of the values in the store that remember a consent.
const REMEMBERED: &str = "allowed-command";

/// The option of a consent that is not kept: at a gate or a step, and before a run.
pub(in crate::engine) const ONCE: &str = "Yes, once";
pub(in crate::engine) const ONCE_IN_RUN: &str = "Yes, for this run";

/// Commands that the user is to allow.
pub(in crate::engine) struct Unallowed {
    pub commands: Vec<String>,
    /// The project's identity, under which a consent can be remembered.
    identity: Option<String>,
}

impl Unallowed {
    /// The title and the options of the dialog. A key that was meant for the editor chooses the first option: that
    /// option does no harm. A consent can be remembered only where the project's identity is known.
    pub(in crate::engine) fn dialog(
        &self,
        once: &str,
        question: impl FnOnce(&[String], text::Dialog) -> text::Question,
        cx: &mut Cx,
    ) -> (text::Title, Vec<String>) {
        let always = self.identity.as_ref().map(|_| "Yes, always in this folder");
        let options = ["No", once, "Yes, for this session"].into_iter().chain(always);
        let options: Vec<String> = options.map(Into::into).collect();
        let question = question(&self.commands, dialog(cx.ui, options.len()));
        (title_of(question, cx), options)
    }
}

/// The user's answer to an approval question.
#[derive(Clone, Copy)]
enum Approval {
    NotYet,
    Yes,
    No,
}

impl Approval {
    /// The options, in the order of the dialog.
    const OPTIONS: [(Self, &'static str); 3] = [(Self::NotYet, "Not yet"), (Self::Yes, "Yes"), (Self::No, "No")];

    /// The option that was chosen; no option is [`Self::NotYet`].
    fn of(chosen: Option<usize>) -> Self {
        let chosen = chosen.and_then(|index| Self::OPTIONS.get(index));
        chosen.map_or(Self::NotYet, |(approval, _)| *approval)
    }
}

impl Engine {
    /// The commands that the user has allowed for the run in progress.
    pub(in crate::engine) fn allowed_in_run(&self) -> Option<&Set<String>> {
        let (task_id, allowed) = self.session.allowed_in_run.as_ref()?;
        self.running().filter(|state| state.task_id == *task_id).map(|_| allowed)
    }

    /// The commands that the user has allowed for the session or for the run in progress.
    pub(in crate::engine) fn allowed_commands(&self) -> impl Iterator<Item = &String> {
        self.session.allowed_commands.iter().chain(self.allowed_in_run().into_iter().flatten())
    }

    /// The commands, of workflows that are not the user's own, that still need the user's consent; `None` if there are
    /// none. `allowed` are the commands that are allowed for a run already.
    pub(in crate::engine) fn unallowed<'a>(
        &self,
        commands: impl Iterator<Item = &'a str>,
        allowed: Option<&Set<String>>,
        cx: &mut Cx,
    ) -> Option<Unallowed> {
        let session = &self.session;
        let is_allowed = |command: &&str| {
            session.allowed_commands.contains(*command) || allowed.is_some_and(|allowed| allowed.contains(*command))
        };
        let mut commands: Vec<String> = commands.filter(|command| !is_allowed(command)).map(Into::into).collect();
        if commands.is_empty() || session.allow_commands {
            return None;
        }
        let identity = cx.host.project_identity();
        commands.retain(|command| !session.remembers(REMEMBERED, identity.as_deref(), command, cx));
        (!commands.is_empty()).then_some(Unallowed { commands, identity })
    }

    /// Returns true if the user has allowed the commands with this option, and keeps the consent as the option says; no
    /// option is no consent.
    pub(in crate::engine) fn allow(&mut self, asked: &Unallowed, chosen: Option<usize>, cx: &mut Cx) -> bool {
        match (chosen, &asked.identity) {
            (Some(1), _) => {}
            (Some(2), _) => self.session.allowed_commands.extend(asked.commands.iter().cloned()),
            (Some(3), Some(identity)) => self.session.remember(REMEMBERED, identity, &asked.commands, cx),
            _ => return false,
        }
        true
    }

    pub(super) fn ask_approval(&mut self, gate: OpenGate, question: &str, cx: &mut Cx) -> Reply {
        let of = gate.current_gate().map_or("", |gate| &gate.of);
        let workflow = self.active().map_or("", |active| &active.root.name);
        let options: Vec<String> = Approval::OPTIONS.map(|(_, option)| option.into()).into();
        let dialog = dialog(cx.ui, options.len());
        let question = text::approval_question(of, workflow, question, dialog);
        self.show_subject(&gate, cx);
        let title = title_of(question, cx);
        self.select(gate.stand.purpose(), title, options, if_stands(gate, Self::approved))
    }

    /// Goes on after the user's answer to an approval.
    fn approved(&mut self, gate: OpenGate, chosen: Option<usize>, cx: &mut Cx) -> Reply {
        match Approval::of(chosen) {
            Approval::Yes => self.checked(gate, CheckResult::new(true, "the user said yes"), cx),
            Approval::No => {
                let title = text::Title::new("Why not? The agent is told.", "");
                let then = |engine: &mut Self, gate, reason: Option<String>, cx: &mut Cx| {
                    let reason = reason.as_deref().map(str::trim).unwrap_or_default();
                    let result = if reason.is_empty() {
                        "the user said no".to_owned()
                    } else {
                        format!("the user said no: {reason}")
                    };
                    engine.checked(gate, CheckResult::new(false, result), cx)
                };
                self.ask_text(gate.stand.purpose(), title, if_stands(gate, then))
            }
            Approval::NotYet => {
                let question = match gate.current().map(|check| &check.kind) {
                    Some(CheckKind::Approve { question }) => question.clone(),
                    Some(CheckKind::Run { .. } | CheckKind::File { .. }) | None => String::new(),
                };
                self.close_gate(gate, Outcome::Paused(PauseReason::Approval { question }), cx)
            }
        }
    }

    /// Shows the subject of an approval above its question: the summary of the phase, and the checks so far. The model
    /// does not get it.
    fn show_subject(&self, gate: &OpenGate, cx: &mut Cx) {
        let Some(active) = self.active().filter(|_| cx.ui.exists()) else { return };
        let summaries = active.state.summaries();
        let stored = || summaries.last().filter(|_| active.state.has_handed_over());
        let caller = gate.requester().caller();
        let summary = caller.and_then(|caller| caller.summary.as_deref());
        let summary = summary.or_else(|| stored().map(|(_, summary)| &*summary.text));
        let outputs = caller.and_then(|caller| caller.outputs.as_ref());
        let outputs = outputs.or_else(|| active.state.handed_outputs()).cloned().unwrap_or_default();
        let now = gate.with_changes(active.state);
        let changed = text::changed_since(&now, active.library);
        let subject = text::approval_subject(active.phase, gate.evidence(), &changed, summary, &outputs);
        if let Some(content) = subject {
            let data = json!({ "content": content });
            cx.push(Effect::AppendEntry { custom_type: APPROVAL_TYPE, data });
        }
    }
}

/// The title of a question. The part that the dialog has no room for goes into an entry before it, which the model does
/// not get.
pub(in crate::engine) fn title_of(question: text::Question, cx: &mut Cx) -> text::Title {
    let text::Question { title, above } = question;
    if let Some(content) = above {
        let data = json!({ "content": content });
        cx.push(Effect::AppendEntry { custom_type: STATUS_TYPE, data });
    }
    title
}

/// The dialog for a question with this number of options.
pub(in crate::engine) fn dialog(ui: Ui, options: usize) -> text::Dialog {
    if ui.is_terminal() { text::Dialog::Terminal { options } } else { text::Dialog::Program }
}
