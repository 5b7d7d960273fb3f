//! The path of a phase through nested workflows, and the names that are made of a path.

use std::ops::{Deref, DerefMut};

use crate::definition::is_group_key;

/// A scope of a path: a workflow, and its current entry.
///
/// Specification: state management, "PathSegment".
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Segment {
    pub workflow_key: String,
    /// Index into its `phases`, from 0.
    pub phase_index: usize,
    /// Index of the item of a group that is repeated, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<usize>,
}

impl Segment {
    /// Returns the first entry of a scope.
    fn first(workflow_key: &str, item: Option<usize>) -> Self {
        Self { workflow_key: workflow_key.to_owned(), phase_index: 0, item }
    }

    /// Returns the name of the scope: its key, and for a repeated group the item, for example `release//2@0`.
    fn scope(&self) -> String {
        match self.item {
            Some(item) => format!("{}@{item}", self.workflow_key),
            None => self.workflow_key.clone(),
        }
    }

    fn of_scope(mut name: String, phase_index: usize) -> Self {
        let is_item = |item: &str| item.bytes().all(|byte| byte.is_ascii_digit());
        let item = name.rsplit_once('@').filter(|(key, item)| is_group_key(key) && is_item(item));
        let item = item.and_then(|(key, item)| Some((key.len(), item.parse().ok()?)));
        if let Some((length, _)) = item {
            name.truncate(length);
        }
        Self { workflow_key: name, phase_index, item: item.map(|(_, item)| item) }
    }
}

/// The path to an entry: the scope of the root workflow first, the innermost last. Never empty.
///
/// No two paths have the same [`key`](Self::key). Only this type makes keys and reads them.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct PhasePath(Vec<Segment>);

impl PhasePath {
    /// Returns the path to the first entry of a root workflow.
    pub fn start(workflow_key: &str) -> Self {
        Self(vec![Segment::first(workflow_key, None)])
    }

    /// Returns a path of these scopes; `None` without any.
    pub fn of(scopes: Vec<Segment>) -> Option<Self> {
        (!scopes.is_empty()).then_some(Self(scopes))
    }

    /// Returns the path with this key; `None` if no path has this key.
    pub fn parse(key: &str) -> Option<Self> {
        let mut path = Vec::new();
        // A part ends at `:INDEX`: the key of a package's workflow has `/` too.
        let mut workflow_key = String::new();
        for part in key.split('/') {
            workflow_key.push_str(part);
            let index = workflow_key.rsplit_once(':').and_then(|(key, index)| {
                Some((key.len(), index.parse().ok().filter(|_| index.bytes().all(|b| b.is_ascii_digit()))?))
            });
            match index {
                Some((length, phase_index)) => {
                    workflow_key.truncate(length);
                    path.push(Segment::of_scope(std::mem::take(&mut workflow_key), phase_index));
                }
                None => workflow_key.push('/'),
            }
        }
        Self::of(path).filter(|_| workflow_key.is_empty())
    }

    /// Returns the name of the entry, for example `release:1/review:0`.
    pub fn key(&self) -> String {
        key(&self.0)
    }

    /// Returns the name of the innermost scope, for example `release:1/review`; the name of a root begins with `/`.
    pub fn scope_key(&self) -> String {
        self.0.split_last().map_or_else(String::new, |(last, outer)| format!("{}/{}", key(outer), last.scope()))
    }

    /// Returns the key of the entry that contains the innermost scope; an empty text for a root.
    pub fn outer_key(&self) -> String {
        self.0.split_last().map_or_else(String::new, |(_, outer)| key(outer))
    }

    /// Returns the beginning of the keys of all entries nested in this entry, and of no other keys.
    pub fn below(&self) -> String {
        format!("{}/", self.key())
    }

    /// Returns the beginning of the keys of all entries of the innermost scope and of the entries nested in them, and
    /// of no other keys.
    pub fn within_scope(&self) -> String {
        self.0.split_last().map_or_else(String::new, |(last, outer)| match outer {
            [] => format!("{}:", last.scope()),
            _ => format!("{}/{}:", key(outer), last.scope()),
        })
    }

    /// Returns the path to the entry at this depth that contains this entry, or is this entry; from 1, for the root.
    pub fn at_depth(&self, depth: usize) -> Self {
        let mut path = self.clone();
        path.truncate(depth);
        path
    }

    /// Returns the paths to the entries that contain this entry, the entry in the root first, and this path at the end.
    pub fn scopes(&self) -> impl DoubleEndedIterator<Item = Self> {
        (1..=self.0.len()).map(|depth| self.at_depth(depth))
    }

    /// Returns the path to another entry of the innermost scope.
    pub fn with_index(&self, index: usize) -> Self {
        let mut path = self.clone();
        path.set_index(index);
        path
    }

    /// Returns the indices of the entries; in a repeated group the index of the item stands before the index of the
    /// entry. Compared one after the other, the indices give the order of the workflow.
    pub fn indices(&self) -> Vec<usize> {
        let indices = self.0.iter().flat_map(|segment| segment.item.into_iter().chain([segment.phase_index]));
        indices.collect()
    }

    /// Returns the path without the items of its groups.
    pub fn without_items(&self) -> Self {
        Self(self.0.iter().map(|segment| Segment { item: None, ..segment.clone() }).collect())
    }

    /// Goes to another entry of the innermost scope.
    pub fn set_index(&mut self, index: usize) {
        if let Some(last) = self.0.last_mut() {
            last.phase_index = index;
        }
    }

    /// Goes to the first entry of a workflow that is nested in the current entry, or of this item of a group that is
    /// repeated.
    pub fn enter(&mut self, workflow_key: &str, item: Option<usize>) {
        self.0.push(Segment::first(workflow_key, item));
    }

    /// Goes to the first entry of another item of the innermost scope.
    pub fn set_item(&mut self, item: usize) {
        if let Some(last) = self.0.last_mut() {
            (last.item, last.phase_index) = (Some(item), 0);
        }
    }

    /// Goes out to the entry that contains the innermost scope. Returns false, and stays, if that is the root.
    pub fn leave(&mut self) -> bool {
        let is_nested = self.0.len() > 1;
        if is_nested {
            self.0.pop();
        }
        is_nested
    }

    /// Goes out to the scope at this depth, from 1.
    pub fn truncate(&mut self, depth: usize) {
        self.0.truncate(depth.max(1));
    }
}

/// The path to these entries, for tests.
#[cfg(test)]
pub fn path_to(entries: &[(&str, usize)]) -> PhasePath {
    let segment = |&(key, phase_index): &(&str, usize)| Segment::of_scope(key.into(), phase_index);
    PhasePath(entries.iter().map(segment).collect())
}

fn key(path: &[Segment]) -> String {
    let part = |segment: &Segment| format!("{}:{}", segment.scope(), segment.phase_index);
    path.iter().map(part).collect::<Vec<_>>().join("/")
}

impl Deref for PhasePath {
    type Target = [Segment];

    fn deref(&self) -> &[Segment] {
        &self.0
    }
}

impl DerefMut for PhasePath {
    fn deref_mut(&mut self) -> &mut [Segment] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_of_one_path() {
        for entries in [&[("@s/kit/x", 0), ("y", 1), ("kit/z", 2)][..], &[("kit/x", 0)], &[("a:b", 0), ("c/d:e", 1)]] {
            let path = path_to(entries);
            assert_eq!(PhasePath::parse(&path.key()), Some(path));
        }
        assert_eq!(PhasePath::parse("a:b:1").unwrap()[0].workflow_key, "a:b");
        for key in ["a:b:1/c:x", "", "a/b", "a:1/b", "a:-1", "a:+1"] {
            assert_eq!(PhasePath::parse(key), None, "{key}");
        }
    }

    #[test]
    fn the_names_of_a_path_tell_what_is_in_it() {
        let path = path_to(&[("release", 1), ("review", 0)]);
        assert_eq!(path.scope_key(), "release:1/review");
        assert_eq!((path.outer_key(), path.below()), ("release:1".into(), "release:1/review:0/".into()));
        assert_eq!(path.within_scope(), "release:1/review:");
        let root = path.at_depth(1);
        assert_eq!((root.scope_key(), root.outer_key()), ("/release".into(), String::new()));
        assert_eq!(root.within_scope(), "release:");
        assert_eq!(path.scopes().map(|path| path.key()).collect::<Vec<_>>(), ["release:1", "release:1/review:0"]);
    }

    #[test]
    fn a_path_is_never_empty() {
        let mut path = PhasePath::start("r");
        assert!(!path.leave());
        path.enter("s", None);
        path.set_index(4);
        assert_eq!(path.key(), "r:0/s:4");
        assert!(path.leave() && !path.leave());
        path.truncate(0);
        assert_eq!(path.key(), "r:0");
        assert_eq!(PhasePath::of(Vec::new()), None);
    }
}
