//! Records of a run by key, shared between the states that have them.

use crate::sorted::Map;
use std::borrow::Borrow;
use std::ops::Index;
use std::rc::Rc;

use serde::ser::{Serialize, SerializeMap, Serializer};

/// Records by key, in the order of the keys.
///
/// Each transition makes a new state, and a run has thousands of records: a clone shares all of them, and a change
/// copies only the list of pointers. So the difference between two states is found without a comparison of the shared
/// records.
#[derive(Debug)]
pub struct Records<V>(Rc<Map<Rc<str>, Rc<V>>>);

impl<V> Records<V> {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, key: &str) -> Option<&V> {
        self.0.get(key).map(|value| &**value)
    }

    pub fn contains_key(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(|key| &**key)
    }

    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.0.values().map(|value| &**value)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }

    /// Adds a record, in place of a record with the same key.
    pub fn insert(&mut self, key: impl Into<Rc<str>>, value: V) {
        Rc::make_mut(&mut self.0).insert(key.into(), Rc::new(value));
    }

    pub fn clear(&mut self) {
        if !self.is_empty() {
            self.0 = Rc::default();
        }
    }

    /// Returns the records that `old` lacks or has with another value, and the keys that only `old` has.
    pub fn changes_since<'a>(&'a self, old: &'a Self) -> Vec<(&'a str, Option<&'a V>)>
    where
        V: PartialEq,
    {
        let mut changes = Vec::new();
        if Rc::ptr_eq(&self.0, &old.0) {
            return changes;
        }
        let mut before = old.0.iter().peekable();
        for (key, value) in &*self.0 {
            // A shared key is not compared by its text.
            while let Some((gone, _)) = before.next_if(|(other, _)| *other != key && *other < key) {
                changes.push((&**gone, None));
            }
            let same = before.next_if(|(other, _)| *other == key);
            if !same.is_some_and(|(_, other)| Rc::ptr_eq(other, value) || other == value) {
                changes.push((&**key, Some(&**value)));
            }
        }
        changes.extend(before.map(|(gone, _)| (&**gone, None)));
        changes
    }
}

impl<V: Clone> Records<V> {
    /// Adds the records of `older` whose keys it does not have.
    pub fn add_older(&mut self, older: &Self) {
        let newer = std::mem::replace(self, older.clone());
        if !newer.is_empty() {
            let newer = newer.0.iter().map(|(key, value)| (Rc::clone(key), Rc::clone(value)));
            Rc::make_mut(&mut self.0).extend(newer);
        }
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut V> {
        if !self.contains_key(key) {
            return None;
        }
        Rc::make_mut(&mut self.0).get_mut(key).map(Rc::make_mut)
    }

    /// Returns the record of a key, to change it; a new one if there was none.
    pub fn get_or_insert(&mut self, key: &str, new: impl FnOnce() -> V) -> &mut V {
        let records = Rc::make_mut(&mut self.0);
        Rc::make_mut(records.entry(key.into()).or_insert_with(|| Rc::new(new())))
    }

    pub fn remove(&mut self, key: &str) -> Option<V> {
        if !self.contains_key(key) {
            return None;
        }
        Rc::make_mut(&mut self.0).remove(key).map(Rc::unwrap_or_clone)
    }

    /// Removes the records whose keys do not fit.
    pub fn keep(&mut self, fits: impl Fn(&str) -> bool) {
        let gone: Vec<Rc<str>> = self.0.keys().filter(|key| !fits(key)).cloned().collect();
        for key in gone {
            self.remove(&key);
        }
    }

    /// Replaces the records whose keys fit by the records of `others` whose keys fit.
    pub fn replace(&mut self, fits: impl Fn(&str) -> bool, others: &Self)
    where
        V: Clone,
    {
        self.keep(|key| !fits(key));
        for (key, value) in others.iter().filter(|(key, _)| fits(key)) {
            self.insert(key, value.clone());
        }
    }

    /// Drops the records above a number, first the records that are not wanted.
    pub fn keep_at_most(&mut self, most: usize, is_wanted: impl Fn(&str) -> bool) {
        let excess = self.len().saturating_sub(most);
        if excess == 0 {
            return;
        }
        let (wanted, others): (Vec<_>, Vec<_>) = self.0.keys().cloned().partition(|key| is_wanted(key));
        for key in others.into_iter().chain(wanted).take(excess) {
            self.remove(&key);
        }
    }
}

impl<V> Clone for Records<V> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<V> Default for Records<V> {
    fn default() -> Self {
        Self(Rc::default())
    }
}

impl<V: PartialEq> PartialEq for Records<V> {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl<V, K: Into<Rc<str>>> FromIterator<(K, V)> for Records<V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(records: I) -> Self {
        let records = records.into_iter().map(|(key, value)| (key.into(), Rc::new(value)));
        Self(Rc::new(records.collect()))
    }
}

impl<V, K: Into<Rc<str>>, const N: usize> From<[(K, V); N]> for Records<V> {
    fn from(records: [(K, V); N]) -> Self {
        records.into_iter().collect()
    }
}

impl<V, K: Borrow<str> + ?Sized> Index<&K> for Records<V> {
    type Output = V;

    /// # Panics
    ///
    /// If there is no record of this key.
    #[allow(clippy::indexing_slicing, reason = "as of a map of std")]
    fn index(&self, key: &K) -> &V {
        &self.0[key.borrow()]
    }
}

impl<V: Serialize> Serialize for Records<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_those_between_two_states() {
        let old: Records<u32> = [("a", 1), ("b", 2), ("c", 3), ("e", 5)].into();
        let mut new = old.clone();
        assert_eq!(new.changes_since(&old), []);
        new.insert("d", 4);
        *new.get_mut("b").unwrap() = 7;
        // A change that changes nothing.
        *new.get_mut("c").unwrap() = 3;
        assert_eq!(new.remove("a"), Some(1));
        assert_eq!(new.remove("z"), None);
        assert_eq!(new.get_mut("z"), None);
        new.keep(|key| key != "e");
        let expected = [("a", None), ("b", Some(&7)), ("d", Some(&4)), ("e", None)];
        assert_eq!(new.changes_since(&old), expected);
        assert_eq!(old.keys().collect::<Vec<_>>(), ["a", "b", "c", "e"], "the old state is untouched");
        assert_eq!(old["b"], 2);
        assert_eq!(Records::default().changes_since(&old).len(), 4);
        *new.get_or_insert("d", || 0) += 1;
        *new.get_or_insert("f", || 0) += 1;
        assert_eq!(new, [("b", 7), ("c", 3), ("d", 5), ("f", 1)].into());
        new.clear();
        assert!(new.is_empty() && old.len() == 4);
    }
}
