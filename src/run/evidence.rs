//! The evidence of checks: their results.

use serde::Serialize;

use crate::usage::is_default;

use super::tail::note;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    pub name: String,
    pub passed: bool,
    /// The result in words: the end of the command, the file that matched, the user's answer.
    pub result: String,
    pub duration_ms: u64,
    /// The number of the attempt to leave the phase, from 1.
    pub attempt: u32,
    /// The end of the command's output; empty for other checks.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tail: String,
    /// The bytes of the output before `tail`.
    #[serde(skip_serializing_if = "is_default")]
    pub missing: u64,
    /// The path of the file with the whole output of a step, or of a check whose `tail` is not all of it, from the project's
    /// directory; empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file: String,
}

impl Evidence {
    /// The end of the command's output for readers: it begins with a line about what is missing before it. Empty without output.
    pub fn shown_tail(&self) -> String {
        if self.tail.is_empty() { String::new() } else { note(self.missing, &self.file) + &self.tail }
    }
}
