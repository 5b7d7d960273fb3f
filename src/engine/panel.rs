//! The panel above the editor: the phases of the run with their marks. Off until the user asks for it.

use serde_json::json;

use crate::run::STATE_ENTRY_TYPE;
use crate::text;

use super::{Effect, Engine, Level, Output, PANEL_ENTRY_TYPE, PANEL_FIELD};

impl Engine {
    /// Shows the panel or takes it away; the session remembers it.
    pub(super) fn switch_panel(&mut self) -> Output {
        self.panel = !self.panel;
        let data = json!({ "on": self.panel });
        let text = if self.panel && !self.is_running() {
            "The panel shows the phases of the next run."
        } else if self.panel {
            "The panel is on."
        } else {
            "The panel is off."
        };
        let mut effects = vec![Effect::AppendEntry { custom_type: PANEL_ENTRY_TYPE, data }];
        effects.push(self.draw_panel());
        effects.push(Effect::Notify { level: Level::Info, text: text.into() });
        effects.into()
    }

    /// The panel goes with the status line, and what the user said of it with every state.
    pub(super) fn with_panel(&self, mut output: Output) -> Output {
        for effect in &mut output.effects {
            if let Effect::AppendEntry { custom_type: STATE_ENTRY_TYPE, data } = effect
                && self.panel
                && let Some(fields) = data.as_object_mut()
            {
                fields.insert(PANEL_FIELD.to_owned(), true.into());
            }
        }
        let after = output
            .effects
            .iter()
            .rposition(|effect| matches!(effect, Effect::SetStatus(_)))
            .filter(|_| self.panel);
        if let Some(after) = after {
            output.effects.insert(after + 1, self.draw_panel());
        }
        output
    }

    /// Tests if the panel is hidden for a question: a small terminal does not show the options beside both.
    pub(super) fn hides_panel(&self) -> bool {
        self.terminal && self.questions.iter().any(|(_, question)| question.is_for_user())
    }

    pub(super) fn draw_panel(&self) -> Effect {
        let shows = self.panel && !self.hides_panel();
        let lines = self.active().filter(|_| shows).map(|active| text::phase_panel(&active));
        Effect::SetPanel(lines)
    }
}
