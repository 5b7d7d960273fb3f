//! The panel above the editor: the phases of the run with their marks, times, tokens and costs. Off until the user
//! turns it on.

use serde_json::json;

use crate::protocol::PANEL_ENTRY_TYPE;
use crate::run::Active;
use crate::text;

use super::context::Cx;
use super::effect::{Effect, Level};
use super::state::Engine;

impl Engine {
    /// Turns the panel on or off; the session remembers it.
    pub(super) fn switch_panel(&mut self, cx: &mut Cx) {
        self.session.panel = !self.session.panel;
        let on = self.session.panel;
        cx.push(Effect::AppendEntry { custom_type: PANEL_ENTRY_TYPE, data: json!({ "on": on }) });
        self.draw_panel(cx);
        let text = match (on, self.is_running()) {
            (true, true) => "The panel is on.",
            (true, false) => "The panel shows the phases of the next run.",
            (false, _) => "The panel is off.",
        };
        cx.notify(Level::Info, text);
    }

    /// Draws the panel, or takes it away if it is off, hidden or without a run.
    pub(super) fn draw_panel(&self, cx: &mut Cx) {
        let shows = self.session.panel && !self.hides_panel(cx.ui);
        let state = if shows && self.active().is_some() { self.up_to_now(cx) } else { None };
        let library = self.definitions.library();
        let active = state.as_ref().and_then(|state| Active::resolve(state, library));
        let lines = active
            .map(|active| text::phase_panel(&active, self.activity.is_waiting(), &|branch| self.branch_now(branch)));
        cx.push(Effect::SetPanel(lines));
    }
}
