//! The waits of a run for the ends of limits of its model.

use serde::Serialize;

use crate::usage::is_default;

/// The wait for a limit whose end is not told, in milliseconds: the first one, and the next ones without work between.
/// After as many waits the run waits for the user.
const UNTOLD_MS: [u64; 3] = [300_000, 900_000, 3_600_000];

/// The time behind the end of a limit at which the run goes on, in milliseconds: clocks differ.
const MARGIN_MS: u64 = 1000;

/// The waits of a run for the ends of limits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QuotaWaits {
    /// The user's choice for this run: the maximum time of all waits since the user acted last, in milliseconds; 0 for no
    /// wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ms: Option<u64>,
    /// The number of waits in a row without work between, since the user acted last.
    #[serde(skip_serializing_if = "is_default")]
    pub in_row: u32,
    /// The time of the waits since the user acted last, in milliseconds.
    #[serde(skip_serializing_if = "is_default")]
    pub unattended_ms: u64,
    /// The output tokens and tool calls of the run at the last limit: more of them are work.
    #[serde(skip_serializing_if = "is_default")]
    pub worked: u64,
    /// The number of all waits of the run.
    #[serde(skip_serializing_if = "is_default")]
    pub count: u32,
    /// Their time, in milliseconds.
    #[serde(skip_serializing_if = "is_default")]
    pub ms: u64,
}

impl QuotaWaits {
    /// The time at which the run goes on by itself after a limit with this end, if the waits stay within their bounds.
    pub(super) fn end(&self, until: Option<u64>, max_ms: u64, now: u64) -> Option<u64> {
        let untold = UNTOLD_MS.get(self.in_row as usize)?;
        let end = until.unwrap_or(now.saturating_add(*untold)).max(now).saturating_add(MARGIN_MS);
        self.has_room(end, max_ms, now).then_some(end)
    }

    /// Returns true if the waits up to this end stay within `max_ms`.
    pub(super) fn has_room(&self, end: u64, max_ms: u64, now: u64) -> bool {
        let ms = self.unattended_ms.saturating_add(end.saturating_sub(now));
        max_ms > 0 && ms <= max_ms.saturating_add(MARGIN_MS)
    }
}
