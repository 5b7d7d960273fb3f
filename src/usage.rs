//! What a run took: tokens, cost, time.

use std::collections::BTreeMap;

use serde::Serialize;

/// Maximum number of models that are kept of a visit.
pub const MAX_MODELS: usize = 20;

/// What a part of a run took, as pi reports it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Answers of the model, those included that failed.
    pub turns: u32,
    /// Input tokens.
    pub input: u64,
    /// Output tokens, with those of reasoning.
    pub output: u64,
    /// Tokens read from the prompt cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_read: u64,
    /// Tokens written to the prompt cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write: u64,
    /// Tokens of reasoning, as far as they are reported.
    #[serde(skip_serializing_if = "is_zero")]
    pub reasoning: u64,
    /// The cost in US dollars of the answers that have a price.
    pub cost: f64,
    /// Answers without a price: their cost is unknown.
    #[serde(skip_serializing_if = "is_none")]
    pub unpriced: u32,
    /// Tool calls by the model.
    #[serde(skip_serializing_if = "is_none")]
    pub tool_calls: u32,
    /// Refused tool calls.
    #[serde(skip_serializing_if = "is_none")]
    pub refusals: u32,
    /// The time in which the agent was at work, in milliseconds.
    pub work_ms: u64,
    /// The number of answers of each model, by pi's name for it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, u32>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_none(number: &u32) -> bool {
    *number == 0
}

impl Usage {
    /// Tests if nothing was used.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds what another part took.
    pub fn add(&mut self, other: &Usage) {
        self.turns = self.turns.saturating_add(other.turns);
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        self.cost += other.cost;
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
        self.refusals = self.refusals.saturating_add(other.refusals);
        self.work_ms = self.work_ms.saturating_add(other.work_ms);
        for (model, answers) in &other.models {
            if self.models.len() < MAX_MODELS || self.models.contains_key(model) {
                let count = self.models.entry(model.clone()).or_default();
                *count = count.saturating_add(*answers);
            }
        }
    }

    /// All tokens.
    pub fn tokens(&self) -> u64 {
        let all = [self.input, self.output, self.cache_read, self.cache_write];
        all.into_iter().fold(0, u64::saturating_add)
    }
}
