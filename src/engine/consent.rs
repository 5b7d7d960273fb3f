//! The user's consent to commands of workflows that are not the user's own, and the form of the dialogs.

use crate::definition::{Agreement, Command};
use crate::protocol::STATUS_TYPE;
use crate::sorted::Set;
use crate::text;

use super::context::Cx;
use super::effect::Request;
use super::state::{Run, Session};

/// Kind of the values in the store that remember a consent.
const REMEMBERED: &str = "allowed-command";

/// The option of a consent that is not kept: at a gate or a step, and before a run.
pub(super) const ONCE: &str = "Yes, once";
pub(super) const ONCE_IN_RUN: &str = "Yes, for this run";

/// Commands that the user is to allow.
#[derive(Debug, Clone)]
pub(super) struct Unallowed {
    pub commands: Vec<String>,
    /// The project's identity, under which a consent can be remembered.
    identity: Option<String>,
    /// A command is a value of the run: the consent to it holds for the run, as the start's does.
    has_values: bool,
    /// All of the commands are values of the run.
    pub only_values: bool,
}

impl Unallowed {
    pub fn with_values(self, has_values: bool) -> Self {
        Self { has_values, ..self }
    }

    /// The dialog. A key that was meant for the editor chooses the first option: that option does no harm. A consent
    /// can be remembered only where the project's identity is known.
    pub fn dialog(
        &self,
        once: &str,
        question: impl FnOnce(&[String], text::Dialog) -> text::Question,
        cx: &mut Cx,
    ) -> Request {
        let once = if self.has_values { ONCE_IN_RUN } else { once };
        let always = self.identity.as_ref().map(|_| "Yes, always in this folder");
        let options = ["No", once, "Yes, for this session"].into_iter().chain(always);
        let options: Vec<String> = options.map(Into::into).collect();
        let question = question(&self.commands, dialog(options.len(), cx));
        Request::Select { title: title_of(question, cx), options }
    }
}

impl Session {
    /// The commands that the user has allowed for the run in progress.
    pub fn allowed_in_run(&self, run: &Run) -> Option<&Set<String>> {
        let (task_id, allowed) = self.allowed_in_run.as_ref()?;
        run.running().filter(|state| state.task_id == *task_id).map(|_| allowed)
    }

    /// The commands that the user has allowed for the session or for the run in progress.
    pub fn allowed_now(&self, run: &Run) -> Vec<String> {
        let all: Set<&String> =
            self.allowed_commands.iter().chain(self.allowed_in_run(run).into_iter().flatten()).collect();
        all.into_iter().cloned().collect()
    }

    /// The commands, of workflows that are not the user's own, that still need the user's consent, each once; `None` if there are
    /// none. `allowed` are the commands that are allowed for a run already. A value of the run needs the consent to
    /// exactly this value, also where the commands of files are allowed.
    pub fn unallowed<'a>(
        &self,
        commands: impl Iterator<Item = Agreement<'a>>,
        allowed: Option<&Set<String>>,
        cx: &mut Cx,
    ) -> Option<Unallowed> {
        let has =
            |text: &str| self.allowed_commands.contains(text) || allowed.is_some_and(|allowed| allowed.contains(text));
        let is_allowed = |Agreement { shown, value }: &Agreement| {
            let is_given = value.map_or(self.facts.allow_commands, |line| has(&Command::given_value(line)));
            is_given || has(shown)
        };
        let mut seen = Set::new();
        let is_new = |Agreement { shown, value }: &Agreement<'a>| seen.insert((*shown, *value));
        let mut commands: Vec<Agreement> = commands.filter(|of| !is_allowed(of)).filter(is_new).collect();
        if commands.is_empty() {
            return None;
        }
        let identity = cx.host.project_identity();
        commands.retain(|command| !self.remembers(REMEMBERED, identity.as_deref(), command.shown, cx));
        let only_values = commands.iter().all(|command| command.value.is_some());
        let commands: Vec<String> = commands.into_iter().map(|command| command.shown.to_owned()).collect();
        (!commands.is_empty()).then_some(Unallowed { commands, identity, has_values: false, only_values })
    }

    fn allow_in_run(&mut self, commands: &[String], run: &Run) {
        let Some(state) = run.running() else { return };
        let mut allowed = self.allowed_in_run(run).cloned().unwrap_or_default();
        allowed.extend(commands.iter().cloned());
        self.allowed_in_run = Some((state.task_id.clone(), allowed));
    }

    /// Returns true if the user has allowed the commands with this option, and keeps the consent as the option says; no
    /// option is no consent.
    pub fn allow(&mut self, asked: &Unallowed, chosen: Option<usize>, run: &Run, cx: &mut Cx) -> bool {
        match (chosen, &asked.identity) {
            (Some(1), _) if asked.has_values => self.allow_in_run(&asked.commands, run),
            (Some(1), _) => {}
            (Some(2), _) => self.allowed_commands.extend(asked.commands.iter().cloned()),
            (Some(3), Some(_)) => self.remember(REMEMBERED, asked.identity.as_deref(), &asked.commands, cx),
            _ => return false,
        }
        true
    }
}

/// The title of a question. The part that the dialog has no room for goes into an entry before it, which the model does
/// not get.
pub(super) fn title_of(question: text::Question, cx: &mut Cx) -> text::Title {
    let text::Question { title, above } = question;
    if let Some(content) = above {
        cx.show(STATUS_TYPE, content);
    }
    title
}

/// The dialog for a question with this number of options.
pub(super) fn dialog(options: usize, cx: &mut Cx) -> text::Dialog {
    if cx.ui.is_terminal() { text::Dialog::Terminal(room(options, cx)) } else { text::Dialog::Program }
}

/// The room for a question in the user's terminal, beside this number of options.
pub(super) fn room(options: usize, cx: &mut Cx) -> text::Room {
    text::Room::beside(options, cx.terminal_size())
}
