//! A branch of a parallel group, and the work on it as the run that has the group stores it.

use serde::Serialize;

use crate::definition::{Entry, Library};

use super::path::PhasePath;

/// Maximum length of the name of a branch, in characters.
pub const MAX_BRANCH_NAME: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Branch {
    /// [`PhasePath::key`] of its entry; of an item [`PhasePath::scope_key`] of the group with the item.
    pub key: String,
    /// Its name for users: the name of its entry, or the item, on one line and shortened. No other branch of the group
    /// has this name.
    pub name: String,
    /// The number of transitions of the run when it came to the group; in the run of a child, the number when the child
    /// began.
    pub step: u64,
}

/// The work on a branch, as the run that has the group stores it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchRun {
    /// See [`Branch::name`].
    pub name: String,
    /// Its input: the number of the visit of the group, its item, and the seal of the run.
    pub given: String,
    /// Its beginning, in milliseconds since 1970.
    pub started_at: u64,
    /// Its end, in milliseconds since 1970; `None` while it has not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<u64>,
    /// The file of its session; `None` if the session is not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The kind of its end; `None` while the branch has not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<BranchEnd>,
    /// The reason for its wait, in words, if the branch waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum BranchEnd {
    /// The branch came to its end.
    Done {
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<String>,
    },
    /// The branch failed.
    Failed {
        /// The reason, in words.
        why: String,
    },
}

impl Branch {
    /// Returns true if this is the key of an entry in the branch.
    pub fn has(&self, key: &str) -> bool {
        key.strip_prefix(&*self.key).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':']))
    }

    /// The path to its first entry.
    pub fn path(&self) -> Option<PhasePath> {
        PhasePath::parse(&self.key).or_else(|| PhasePath::parse(&format!("{}:0", self.key)))
    }

    /// Its entries: one entry, or all entries of the group for an item.
    pub fn entries<'a>(&self, library: &'a Library) -> &'a [Entry] {
        let path = self.path();
        let first = path.as_ref().and_then(|path| path.last());
        let scope = first.and_then(|first| library.get(&first.workflow_key));
        let (Some(first), Some(scope)) = (first, scope) else { return &[] };
        let index = first.phase_index;
        let own = if first.item.is_some() { 0..scope.phases.len() } else { index..index + 1 };
        scope.phases.get(own).unwrap_or_default()
    }

    /// The depth of the outermost scope that is in the branch as a whole.
    pub fn depth(&self) -> usize {
        let of_entry = PhasePath::parse(&self.key).is_some();
        self.path().map_or(1, |path| path.len()) + usize::from(of_entry)
    }
}
