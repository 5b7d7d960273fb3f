//! The records of a phase in a run: its last visit with the summary, and the reason why it was passed over.

use serde::Serialize;

use crate::definition::{Condition, short};
use crate::usage::{Usage, is_default};

use super::evidence::Evidence;

/// Maximum length of the name of an entry, and of a value in a reason, in characters.
pub(super) const MAX_NAME: usize = 80;

/// The last visit of a phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Visit {
    /// The name of the phase, for readers of the session without the files.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its beginning, in milliseconds since 1970.
    pub started_at: u64,
    /// The number of transitions of the run when the visit began. It orders the visits: a clock can be set back.
    #[serde(skip_serializing_if = "is_default")]
    pub step: u64,
    /// Its end, in milliseconds since 1970; `None` for the current visit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    /// The run left the visit on a way back, or because a budget was used up, or was cancelled in the visit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// The number of this visit among the visits of the phase, from 1.
    #[serde(rename = "passes")]
    pub number: u32,
    /// The summary that the phase handed over, in this visit or in the last visit with a summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// The usage of this visit, up to the newest state entry.
    #[serde(skip_serializing_if = "Usage::is_empty")]
    pub usage: Usage,
    /// The usage of the earlier visits.
    #[serde(skip_serializing_if = "Usage::is_empty")]
    pub earlier: Usage,
    /// The number of calls in this visit that were refused because outputs were missing or wrong.
    #[serde(skip_serializing_if = "is_default")]
    pub outputs_refused: u32,
    /// The evidence of its gate, of the last attempt to leave it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// The model with which the visit ended, as `ModelSetting` is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The user's choice in this visit, in place of the setting of the phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picked: Option<Pick>,
}

impl Visit {
    /// Returns the usage of all visits of the phase, including this visit.
    pub fn all_usage(&self) -> Usage {
        let mut all = self.earlier.clone();
        all.add(&self.usage);
        all
    }
}

/// An entry that was passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PassedOver {
    /// Its name, for readers of the session without the files.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The number of transitions of the run when the entry was passed over.
    pub step: u64,
    #[serde(flatten)]
    pub because: PassedOverReason,
}

/// The reason why an entry was passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum PassedOverReason {
    /// A condition of the entry did not hold.
    Condition {
        /// Its key: `input.NAME`, `output.ID.NAME` or `outcome.ID`.
        of: String,
        /// The value of the run; `None` if the run had no value.
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<String>,
        /// The first values with which the condition holds.
        wanted: Vec<String>,
    },
    /// The outcome of the phase of this id led past the entry.
    Outcome { of: String, outcome: String },
    /// The phase of this name had used up its budget, which leads past the entry.
    Budget { of: String },
    /// The list of this name, for whose items the group is repeated, is empty or absent.
    NoItems { of: String },
}

impl PassedOverReason {
    /// The reason that this condition does not hold with a value of the run. Long texts are shortened, and of many
    /// wanted values the first are kept: every state entry of the session holds the reason of each entry that was
    /// passed over.
    pub(super) fn refused(Condition { of, values }: &Condition, value: Option<String>) -> Self {
        let shortened = |text: &String| short(text, MAX_NAME);
        let mut room = MAX_NAME;
        let wanted = values.iter().take_while(|value| {
            let has_room = room > 0;
            room = room.saturating_sub(value.chars().count());
            has_room
        });
        Self::Condition {
            of: short(&of.to_string(), MAX_NAME),
            value: value.as_ref().map(shortened),
            wanted: wanted.map(shortened).collect(),
        }
    }
}

/// A choice of the user that holds for the visit, whatever the phase says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pick {
    Thinking,
    /// A model, and with it the thinking level.
    Model,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub id: String,
    /// The phase's emoji and name.
    pub name: String,
    /// At most 4,000 characters, and a mark at the end if it was longer.
    pub text: String,
    /// The end of the output of a step whose output is named, at most 20,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// The line about what the log lacks; empty if it is whole.
    #[serde(rename = "logNote", skip_serializing_if = "String::is_empty")]
    pub log_note: String,
    /// The number of transitions of the run before it; orders summaries by age.
    pub step: u64,
}
