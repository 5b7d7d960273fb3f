//! Usage: tokens, cost, time.

use crate::sorted::Map;

use serde::Serialize;

use crate::definition::{Refusal, short};

/// Maximum number of names that are kept of a visit: models, and rules that refused calls.
pub const MAX_NAMES: usize = 20;

/// Maximum length of a kept name, in characters.
const MAX_NAME: usize = 100;

/// A rule that refuses tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    Tools,
    Write,
    Hide,
    /// The sandbox for commands, which is not available.
    Sandbox,
    /// A gate that is being checked.
    Gate,
    /// A fresh start that is ahead.
    FreshStart,
    Budget,
    /// The rules of the run, which the files no longer give.
    Seal,
    Pause,
}

impl Rule {
    /// Its name in stored states and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Write => "write",
            Self::Hide => "hide",
            Self::Sandbox => "sandbox",
            Self::Gate => "gate",
            Self::FreshStart => "freshStart",
            Self::Budget => "budget",
            Self::Seal => "seal",
            Self::Pause => "pause",
        }
    }
}

impl From<&Refusal> for Rule {
    fn from(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::Tool => Self::Tools,
            Refusal::MayWrite | Refusal::Path { .. } | Refusal::Kept { .. } | Refusal::Unresolved { .. } => Self::Write,
            Refusal::Hidden { .. } => Self::Hide,
        }
    }
}

/// The usage of a part of a run, as pi reports it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Answers of the model, including answers that failed.
    #[serde(skip_serializing_if = "is_default")]
    pub turns: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub input: u64,
    /// Output tokens, including reasoning tokens.
    #[serde(skip_serializing_if = "is_default")]
    pub output: u64,
    /// Tokens read from the prompt cache.
    #[serde(skip_serializing_if = "is_default")]
    pub cache_read: u64,
    /// Tokens written to the prompt cache.
    #[serde(skip_serializing_if = "is_default")]
    pub cache_write: u64,
    /// Tokens of reasoning, as far as they are reported.
    #[serde(skip_serializing_if = "is_default")]
    pub reasoning: u64,
    /// The cost in US dollars of the answers that have a price.
    #[serde(skip_serializing_if = "is_default")]
    pub cost: f64,
    /// Answers whose cost is unknown: they have no price, or no usage.
    #[serde(skip_serializing_if = "is_default")]
    pub unpriced: u32,
    /// Answers without usage: their tokens are unknown.
    #[serde(skip_serializing_if = "is_default")]
    pub unreported: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub tool_calls: u32,
    /// The number of refused tool calls, by the rule that refused them; see [`Rule`].
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub refusals: Map<String, u32>,
    /// Attempts to leave the phase through a gate.
    #[serde(skip_serializing_if = "is_default")]
    pub gate_attempts: u32,
    /// Attempts in which a check failed.
    #[serde(skip_serializing_if = "is_default")]
    pub gate_failures: u32,
    /// The time in which the agent was at work, in milliseconds.
    #[serde(skip_serializing_if = "is_default")]
    pub work_ms: u64,
    /// The time in which the run waited for the user, in milliseconds.
    #[serde(skip_serializing_if = "is_default")]
    pub wait_ms: u64,
    /// Requests with which pi kept the prompt cache. These requests, their tokens and their cost are in no other field,
    /// and count in no budget.
    #[serde(skip_serializing_if = "is_default")]
    pub warm_ups: u32,
    /// The tokens of these requests.
    #[serde(skip_serializing_if = "is_default")]
    pub warm_tokens: u64,
    /// The cost of these requests in US dollars, as far as it is known.
    #[serde(skip_serializing_if = "is_default")]
    pub warm_cost: f64,
    /// The number of answers of each model, by pi's name for it.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub models: Map<String, u32>,
}

/// Returns true if a field has its default, and is not stored.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Adds counts by name, of at most [`MAX_NAMES`] names.
fn add_counts(counts: &mut Map<String, u32>, others: &Map<String, u32>) {
    for (name, other) in others {
        if let Some(count) = counts.get_mut(name) {
            *count = count.saturating_add(*other);
            continue;
        }
        // A provider's name for a model can have any length.
        let name = short(name, MAX_NAME);
        if counts.len() < MAX_NAMES || counts.contains_key(&name) {
            let count = counts.entry(name).or_default();
            *count = count.saturating_add(*other);
        }
    }
}

impl Usage {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds the usage of another part.
    pub fn add(&mut self, other: &Usage) {
        self.turns = self.turns.saturating_add(other.turns);
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        // A sum that is infinite could not be stored.
        self.cost = (self.cost + other.cost).min(f64::MAX);
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
        self.unreported = self.unreported.saturating_add(other.unreported);
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
        self.gate_attempts = self.gate_attempts.saturating_add(other.gate_attempts);
        self.gate_failures = self.gate_failures.saturating_add(other.gate_failures);
        self.work_ms = self.work_ms.saturating_add(other.work_ms);
        self.wait_ms = self.wait_ms.saturating_add(other.wait_ms);
        self.warm_ups = self.warm_ups.saturating_add(other.warm_ups);
        self.warm_tokens = self.warm_tokens.saturating_add(other.warm_tokens);
        self.warm_cost = (self.warm_cost + other.warm_cost).min(f64::MAX);
        add_counts(&mut self.refusals, &other.refusals);
        add_counts(&mut self.models, &other.models);
    }

    /// Counts a refused tool call.
    pub fn refused(&mut self, rule: Rule) {
        let count = self.refusals.entry(rule.name().to_owned()).or_default();
        *count = count.saturating_add(1);
    }

    pub fn tokens(&self) -> u64 {
        let all = [self.input, self.output, self.cache_read, self.cache_write];
        all.into_iter().fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_shortened() {
        let long = |end: &str| ("x".repeat(1_200_000) + end, 1);
        let mut all = Usage::default();
        all.add(&Usage { models: [long("a"), long("b")].into(), ..Usage::default() });
        all.add(&Usage { models: [long("c")].into(), ..Usage::default() });
        assert_eq!(all.models, [("x".repeat(99) + "…", 3)].into());
    }
}
