//! The display of the run in pi: the line in the status bar, and the panel above the editor with the phases, their
//! marks, times, tokens and costs.

use serde_json::json;

use crate::protocol::PANEL_ENTRY_TYPE;
use crate::run::Active;
use crate::text;

use super::branches::state::Children;
use super::budget::state::UsageMeter;
use super::context::Cx;
use super::effect::{Effect, Level};
use super::limits::state::Limits;
use super::state::{Agent, Run};

/// The display as it was set last.
#[derive(Debug, Default)]
pub struct Display {
    /// The panel is on; it is off until the user turns it on.
    panel: bool,
    /// A dialog hides the panel: a small terminal has no room for the options beside both.
    is_hidden: bool,
    /// The status line shows that the run waits for the user.
    shows_wait: bool,
    /// pi shows that the run waits for the user without a dialog, in these words.
    blocked: Option<String>,
}

impl Display {
    /// Restores the user's choice that the session stores.
    pub fn begin_session(&mut self, panel: bool, cx: &mut Cx) {
        cx.draws_panel |= std::mem::replace(&mut self.panel, panel) != panel;
    }

    pub fn has_panel(&self) -> bool {
        self.panel
    }

    /// Turns the panel on or off; the session remembers it.
    pub fn switch_panel(&mut self, run: &Run, cx: &mut Cx) {
        self.panel = !self.panel;
        cx.push(Effect::AppendEntry { custom_type: PANEL_ENTRY_TYPE, data: json!({ "on": self.panel }) });
        cx.draws_panel = true;
        let text = match (self.panel, run.active().is_some()) {
            (true, true) => "The panel is on.",
            (true, false) => "The panel shows the phases of the next run.",
            (false, _) => "The panel is off.",
        };
        cx.notify(Level::Info, text);
    }

    /// Sets the parts that have changed with this event.
    pub fn update(&mut self, of: &Shown, cx: &mut Cx) {
        let waits = of.agent.activity.is_waiting();
        let sets_line = std::mem::replace(&mut self.shows_wait, waits) != waits || cx.updates_status;
        if sets_line {
            cx.push(Effect::SetStatus(line(of.run, of.limits, waits, cx.unix_ms)));
        }
        let is_hidden = cx.ui.is_terminal() && of.has_dialog;
        let is_moved = std::mem::replace(&mut self.is_hidden, is_hidden) != is_hidden;
        if cx.draws_panel || self.panel && (sets_line || is_moved) {
            self.draw_panel(of, cx);
        }
        let blocked = blocked(of).filter(|_| cx.ui.is_terminal());
        if blocked != self.blocked {
            self.blocked.clone_from(&blocked);
            cx.push(Effect::SetBlocked(blocked));
        }
    }

    /// Sets the panel, or takes it away if it is off, hidden or without a run.
    fn draw_panel(&self, of: &Shown, cx: &mut Cx) {
        let shows = self.panel && !self.is_hidden && of.run.active().is_some();
        let state = if shows { of.meter.up_to_now(of.run, of.agent, cx) } else { None };
        let active = state.as_ref().and_then(|state| Active::resolve(state, of.run.library()));
        let branch = |branch: &_| of.children.branch_now(branch, of.run.library());
        let terminal = cx.terminal_size();
        let lines = active.map(|active| text::phase_panel(&active, self.shows_wait, terminal, &branch));
        cx.push(Effect::SetPanel(lines));
    }
}

/// The parts of the engine that are shown.
pub struct Shown<'a> {
    pub run: &'a Run,
    pub agent: &'a Agent,
    pub limits: &'a Limits,
    pub meter: &'a UsageMeter,
    pub children: &'a Children,
    /// The user has a dialog.
    pub has_dialog: bool,
}

/// Returns the words for a run that waits for the user without a dialog.
fn blocked(Shown { run, agent, has_dialog, .. }: &Shown) -> Option<String> {
    let state = run.running().filter(|_| run.agent_of().tells_user)?;
    let waits = match run.held().or(run.pause_reason()) {
        Some(reason) => reason.is_for_user(),
        None => agent.activity.is_waiting(),
    };
    let is_at_rest = !agent.activity.is_working() && !has_dialog;
    (waits && is_at_rest).then(|| text::waits_for_user(state, run.library()))
}

/// The line in the status bar: the run, and the user's limits.
fn line(run: &Run, limits: &Limits, waits: bool, now: u64) -> Option<String> {
    let line = text::status_line(run.state(), run.library(), waits, now);
    let limits = text::limits_in_brief(limits.found(), limits.are_off());
    match (line, limits) {
        (Some(line), Some(limits)) => Some(format!("{line} · {limits}")),
        (line, limits) => line.or_else(|| limits.map(Into::into)),
    }
}
