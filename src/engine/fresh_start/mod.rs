//! A phase with `context: fresh`: the model sees nothing of the earlier work.
//!
//! If the run enters the phase while the agent is at work, a compaction that keeps nothing follows the turn, and the
//! context prompt follows the compaction. If the agent is at rest, no turn ends before its first request: the host
//! leaves the earlier messages out of the requests of its first turn, and the compaction, which keeps that turn,
//! follows it.

pub(super) mod state;

use serde_json::json;

use crate::definition::{Stale, UserMessage};
use crate::protocol::{FRESH_TYPE, PROMPT_ENTRY_TYPE};
use crate::run::Active;
use crate::text;

use super::context::Cx;
use super::effect::{Effect, Reply, Summary};
use super::state::{Engine, Run};
use super::users_messages::{prompt_mark, users_own};
use state::is_to_start_fresh;

/// Maximum number of images of the user's messages that a phase sees.
const MAX_IMAGES: u32 = 10;

impl Engine {
    /// The agent starts from rest: its requests leave out the earlier messages.
    pub(super) fn begin_view(&mut self, cx: &mut Cx) -> Result<(), Stale> {
        self.fresh_start.forget();
        let Some(active) = self.run.active().filter(is_to_start_fresh) else { return Ok(()) };
        let (mut summary, notice) = described(&active, cx)?;
        // pi starts the agent without `before-agent-start`, for example, to repeat a failed request.
        if let Some(prompt) = self.briefing.give_missing_prompt(&self.run) {
            summary.text.push_str(&format!("\n\n{prompt}"));
        }
        cx.push(notice);
        cx.push(Effect::BeginView(summary.clone()));
        self.fresh_start.begin(active.state, summary);
        Ok(())
    }

    /// Begins the view of the phase behind a turn, if the phase is to start fresh, or keeps the view that was begun
    /// with the turn. Returns `None` if there is nothing to do.
    pub(super) fn start_fresh(&mut self, cx: &mut Cx) -> Result<Option<Reply>, Stale> {
        let is_begun = self.run.active().is_some_and(|active| self.fresh_start.is_of(active.state));
        let kept = self.fresh_start.keep();
        let Some(active) = self.run.active().filter(is_to_start_fresh) else { return Ok(kept) };
        let new = active.state.started_fresh();
        if is_begun {
            self.transition(new, cx);
            return Ok(kept);
        }
        if self.agent.ending.is_begun() {
            return Ok(None);
        }
        let (summary, notice) = described(&active, cx)?;
        self.transition(new, cx);
        cx.push(notice);
        let prompt = Some(self.briefing.give_prompt(&self.run));
        Ok(Some(Reply::Compact { summary, first_kept: None, prompt }))
    }
}

/// Marks the prompts that are sent in the user's place in the session, if a phase of the run starts fresh: such a phase
/// sees the user's own messages only.
pub(super) fn mark_prompts(run: &Run, cx: &mut Cx) {
    let sends = |effect: &Effect| matches!(effect, Effect::SendUserMessage(_));
    let Some(state) = run.state().filter(|_| cx.effects.iter().any(sends)) else { return };
    if !run.library().can_start_fresh(&state.workflow_key) {
        return;
    }
    let marked = |effect| match effect {
        Effect::SendUserMessage(text) => {
            let data = prompt_mark(&text);
            let mark = Effect::AppendEntry { custom_type: PROMPT_ENTRY_TYPE, data };
            vec![mark, Effect::SendUserMessage(text)]
        }
        other => vec![other],
    };
    cx.effects = std::mem::take(&mut cx.effects).into_iter().flat_map(marked).collect();
}

/// The text for the model in place of the earlier work, and the entry that shows the user what the phase sees.
fn described(active: &Active, cx: &Cx) -> Result<(Summary, Effect), Stale> {
    let messages = users_own(&active.state.task_id, cx)?;
    let notice = text::fresh_notice(active, messages.len());
    let entry = Effect::AppendEntry { custom_type: FRESH_TYPE, data: json!({ "content": notice }) };
    let images_of = with_images(&messages);
    let text = text::fresh_summary(active, &messages, images_of.len());
    let images_of = images_of.into_iter().map(|message| message.id.clone()).collect();
    Ok((Summary { text, images_of }, entry))
}

/// The newest messages with images, as many as there is room for.
fn with_images(messages: &[UserMessage]) -> Vec<&UserMessage> {
    let mut room = MAX_IMAGES;
    let mut chosen = Vec::new();
    for message in messages.iter().filter(|message| message.images > 0) {
        let Some(left) = room.checked_sub(message.images) else { break };
        room = left;
        chosen.push(message);
    }
    chosen
}
