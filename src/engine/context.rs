//! The context of an event: time, randomness, user interface and files.

use serde_json::json;

use crate::definition::Stale;
use crate::text::TerminalSize;

use super::effect::{Effect, Level};
use super::host::Host;

/// The context of an event.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Time of the event, in milliseconds since 1970.
    pub unix_ms: u64,
    /// 64 random bits.
    pub random: u64,
    /// The user interface of the session.
    pub ui: Ui,
    /// Read access to the session, to pi and to the granted folders.
    pub host: &'a dyn Host,
}

/// The user interface of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ui {
    /// None: print and JSON mode.
    #[default]
    None,
    /// Another program shows dialogs and notices: RPC mode.
    Program,
    /// pi's terminal interface.
    Terminal,
}

impl Ui {
    /// Returns true if the user can be asked.
    pub fn exists(self) -> bool {
        self != Self::None
    }

    /// Returns true if it is a terminal.
    pub fn is_terminal(self) -> bool {
        self == Self::Terminal
    }
}

/// An event while it is handled: its context, and the effects so far, in their order.
pub(super) struct Cx<'a> {
    pub unix_ms: u64,
    pub random: u64,
    pub ui: Ui,
    pub host: &'a dyn Host,
    pub effects: Vec<Effect>,
    /// The agent was prompted.
    pub prompted: bool,
    /// The status line is to be set at the end of the event.
    pub updates_status: bool,
    /// The panel is to be set at the end of the event.
    pub draws_panel: bool,
    /// The command that was given has failed.
    pub failed: bool,
    /// The session is gone: nothing is to be done any more.
    pub gone: bool,
}

impl<'a> Cx<'a> {
    pub fn new(context: &Context<'a>) -> Self {
        let Context { unix_ms, random, ui, host } = *context;
        let effects = Vec::new();
        Self {
            unix_ms,
            random,
            ui,
            host,
            effects,
            prompted: false,
            updates_status: false,
            draws_panel: false,
            failed: false,
            gone: false,
        }
    }

    pub fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Shows a text in the transcript; the model does not get it.
    pub fn show(&mut self, custom_type: &'static str, content: impl AsRef<str>) {
        self.push(Effect::AppendEntry { custom_type, data: json!({ "content": content.as_ref() }) });
    }

    /// Shows the run in the status line, when the event has been handled.
    pub fn update_status(&mut self) {
        self.updates_status = true;
    }

    /// The host's answer; `None` too if the session is gone.
    pub fn unless_gone<T>(&mut self, answer: Result<Option<T>, Stale>) -> Option<T> {
        self.gone |= answer.is_err();
        answer.ok().flatten()
    }

    /// The size of the user's terminal; `None` outside a terminal, and where the host does not know it.
    pub fn terminal_size(&mut self) -> Option<TerminalSize> {
        if self.ui.is_terminal() { self.unless_gone(self.host.terminal_size()) } else { None }
    }

    /// Returns true if a message in the user's role waits for the agent.
    pub fn has_waiting_message(&mut self) -> bool {
        self.unless_gone(self.host.has_waiting_message().map(Some)).unwrap_or(false)
    }

    /// Prompts the agent in the user's place.
    pub fn prompt(&mut self, text: String) {
        self.prompted = true;
        self.push(Effect::SendUserMessage(text));
    }

    /// Takes back the prompts of this event: the agent gets them later.
    pub fn take_prompts(&mut self) -> Vec<String> {
        self.prompted = false;
        let (prompts, others): (Vec<Effect>, Vec<Effect>) = std::mem::take(&mut self.effects)
            .into_iter()
            .partition(|effect| matches!(effect, Effect::SendUserMessage(_)));
        self.effects = others;
        let text = |effect| if let Effect::SendUserMessage(text) = effect { Some(text) } else { None };
        prompts.into_iter().filter_map(text).collect()
    }

    /// Shows a notice, unless this event has shown it.
    pub fn notify(&mut self, level: Level, text: impl Into<String>) {
        let notice = Effect::Notify { level, text: text.into() };
        if !self.effects.contains(&notice) {
            self.push(notice);
        }
    }

    /// Tells the user why a command failed. A process without a user interface ends with exit status 1.
    pub fn fail(&mut self, level: Level, text: impl Into<String>) {
        self.failed = true;
        self.notify(level, text);
    }
}
