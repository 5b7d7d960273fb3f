//! The evidence of checks: their results, and the project's files on which they were made.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::usage::is_default;

use super::tail::note;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    pub label: String,
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
    /// The project's files when the check passed.
    #[serde(flatten)]
    pub files: CheckedFiles,
    /// The check, if it is made again before DONE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recheck: Option<CheckPlace>,
    /// The files that have changed between the check and the end of the gate or of the run; `None` if no file has
    /// changed, or the changes are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<Changed>,
}

/// The project's files when a check passed. Stored as the field `tree` or `changedMeanwhile`, or without either.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CheckedFiles {
    /// The files are not known, or the check has not passed.
    #[default]
    Unknown,
    /// The files were in this state, as the host names it, before and after the check: the check has read these files.
    Tree(String),
    /// These files changed while the check was made: the check has read their old or their new content.
    ChangedMeanwhile(Changed),
}

impl CheckedFiles {
    /// The files of a check that takes time, with their states before and after it.
    pub fn between(before: Option<&ProjectState>, after: Option<&ProjectState>) -> Self {
        match (before, after) {
            (Some(before), Some(after)) if before.tree == after.tree => Self::of(before),
            (Some(before), Some(after)) => {
                let changed = after.changed_since(&before.tree).filter(|changed| changed.count > 0);
                changed.map_or(Self::Unknown, |changed| Self::ChangedMeanwhile(changed.clone()))
            }
            (None, _) | (_, None) => Self::Unknown,
        }
    }

    /// The files in this state.
    pub fn of(now: &ProjectState) -> Self {
        if now.tree.is_empty() { Self::Unknown } else { Self::Tree(now.tree.clone()) }
    }

    /// The name of the state of the files, if it is known.
    pub fn tree(&self) -> Option<&String> {
        match self {
            Self::Tree(tree) => Some(tree),
            Self::Unknown | Self::ChangedMeanwhile(_) => None,
        }
    }
}

impl Serialize for CheckedFiles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        match self {
            Self::Unknown => {}
            Self::Tree(tree) => fields.serialize_entry("tree", tree)?,
            Self::ChangedMeanwhile(changed) => fields.serialize_entry("changedMeanwhile", changed)?,
        }
        fields.end()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckPlace {
    /// The identity of its gate, see [`GateAhead::key`].
    pub gate: String,
    pub index: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Changed {
    pub count: u64,
    /// The paths of some of these files, from the top of the work tree, at most [`Changed::MAX_PATHS`].
    pub paths: Vec<String>,
}

impl Changed {
    pub const MAX_PATHS: usize = 3;

    const NONE: &Self = &Self { count: 0, paths: Vec::new() };
}

/// The project's files now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectState {
    /// The name of the state of the files; the same files have the same name.
    pub tree: String,
    /// The changes since each earlier state that is still known.
    pub since: Vec<(String, Changed)>,
}

impl ProjectState {
    /// The files that have changed since a state; `None` if the changes are not known.
    pub fn changed_since(&self, tree: &str) -> Option<&Changed> {
        if tree == self.tree {
            return Some(Changed::NONE);
        }
        self.since.iter().find(|(known, _)| known == tree).map(|(_, changed)| changed)
    }
}

impl Evidence {
    /// The end of the command's output for readers: it begins with a line about what is missing before it. Empty without output.
    pub fn shown_tail(&self) -> String {
        if self.tail.is_empty() { String::new() } else { note(self.missing, &self.file) + &self.tail }
    }

    /// Notes the files that have changed since the check.
    pub fn note_changes(&mut self, now: &ProjectState) {
        let changed = self.files.tree().and_then(|tree| now.changed_since(tree));
        self.changed = changed.filter(|changed| changed.count > 0).cloned();
    }

    /// Notes that the check was made again: changes since this check say nothing any more.
    pub fn note_repetition(&mut self) {
        self.changed = None;
        if let CheckedFiles::ChangedMeanwhile(_) = self.files {
            self.files = CheckedFiles::Unknown;
        }
    }

    /// Returns true if the check has passed, and files are known to have changed since, or while the check was made.
    pub fn is_outdated(&self) -> bool {
        self.passed && (self.changed.is_some() || matches!(self.files, CheckedFiles::ChangedMeanwhile(_)))
    }

    /// Returns true if the check has passed and is made again before DONE if files have changed.
    pub fn is_rechecked(&self) -> bool {
        self.passed && self.recheck.is_some()
    }
}
