//! Maps and sets as sorted lists.
//!
//! The lists replace the standard library's trees: each kind of tree takes 7 KB of code in the component. They are
//! short, or are filled nearly in order: an entry that is added before the end moves all entries behind it.

use std::borrow::Borrow;
use std::fmt;
use std::ops::{Deref, DerefMut, Index};

use litemap::LiteMap;
use serde::Serialize;

pub use litemap::Entry;

/// A map, in the order of its keys.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Map<K, V>(LiteMap<K, V>);

impl<K, V> Map<K, V> {
    pub const fn new() -> Self {
        Self(LiteMap::new_vec())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    pub fn into_values(self) -> impl Iterator<Item = V> {
        self.into_iter().map(|(_, value)| value)
    }
}

impl<K: Ord, V> Map<K, V> {
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V, Vec<(K, V)>> {
        self.0.entry(key)
    }
}

impl<K, V> Deref for Map<K, V> {
    type Target = LiteMap<K, V>;

    fn deref(&self) -> &LiteMap<K, V> {
        &self.0
    }
}

impl<K, V> DerefMut for Map<K, V> {
    fn deref_mut(&mut self) -> &mut LiteMap<K, V> {
        &mut self.0
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Map<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_map().entries(self.0.iter()).finish()
    }
}

impl<K: Ord + Borrow<Q>, Q: Ord + ?Sized, V> Index<&Q> for Map<K, V> {
    type Output = V;

    /// # Panics
    ///
    /// If there is no such key.
    #[allow(clippy::expect_used, reason = "as of a map of std")]
    fn index(&self, key: &Q) -> &V {
        self.0.get(key).expect("the key is there")
    }
}

impl<K: Ord, V> Extend<(K, V)> for Map<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.0.insert(key, value);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for Map<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K, V> IntoIterator for Map<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_tuple_vec().into_iter()
    }
}

impl<'a, K, V> IntoIterator for &'a Map<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = <&'a LiteMap<K, V> as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        (&self.0).into_iter()
    }
}

impl<'a, K, V> IntoIterator for &'a mut Map<K, V> {
    type Item = (&'a K, &'a mut V);
    type IntoIter = <&'a mut LiteMap<K, V> as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        (&mut self.0).into_iter()
    }
}

/// Writes a map also if it is empty; `litemap` would write a list.
impl<K: Serialize, V: Serialize> Serialize for Map<K, V> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

/// A set, in order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Set<T>(Vec<T>);

impl<T: Ord> Set<T> {
    /// Adds an element. Returns true if it is new.
    pub fn insert(&mut self, element: T) -> bool {
        match self.0.binary_search(&element) {
            Ok(_) => false,
            Err(at) => {
                self.0.insert(at, element);
                true
            }
        }
    }

    /// Removes an element. Returns true if it was there.
    pub fn remove<Q: Ord + ?Sized>(&mut self, element: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        let found = self.find(element);
        if let Ok(at) = found {
            self.0.remove(at);
        }
        found.is_ok()
    }

    pub fn contains<Q: Ord + ?Sized>(&self, element: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.find(element).is_ok()
    }

    /// The element that equals this value.
    pub fn get<Q: Ord + ?Sized>(&self, element: &Q) -> Option<&T>
    where
        T: Borrow<Q>,
    {
        self.find(element).ok().and_then(|at| self.0.get(at))
    }

    fn find<Q: Ord + ?Sized>(&self, element: &Q) -> Result<usize, usize>
    where
        T: Borrow<Q>,
    {
        self.0.binary_search_by(|other| other.borrow().cmp(element))
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        self.0.retain(keep);
    }
}

impl<T> Set<T> {
    pub const fn new() -> Self {
        Self(Vec::new())
    }
}

impl<T> Deref for Set<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> Default for Set<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for Set<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_set().entries(&self.0).finish()
    }
}

impl<T: Ord> Extend<T> for Set<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        for element in elements {
            self.insert(element);
        }
    }
}

impl<'a, T: Ord + Copy> Extend<&'a T> for Set<T> {
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, elements: I) {
        self.extend(elements.into_iter().copied());
    }
}

impl<T: Ord> FromIterator<T> for Set<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut set = Self::new();
        set.extend(elements);
        set
    }
}

impl<T: Ord, const N: usize> From<[T; N]> for Set<T> {
    fn from(elements: [T; N]) -> Self {
        elements.into_iter().collect()
    }
}

impl<T> IntoIterator for Set<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Set<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: Serialize> Serialize for Set<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Each change is a key, and true to insert it.
        #[test]
        fn a_map_is_as_that_of_std(changes in prop::collection::vec((0..20_u8, any::<bool>()), 0..60)) {
            let (mut own, mut other) = (Map::new(), BTreeMap::new());
            for (at, (key, inserts)) in changes.iter().enumerate() {
                match inserts {
                    true => prop_assert_eq!(own.insert(*key, at), other.insert(*key, at)),
                    false => prop_assert_eq!(own.remove(key), other.remove(key)),
                }
                *own.entry(7).or_insert(0) += at;
                *other.entry(7).or_insert(0) += at;
                prop_assert_eq!(own.get(key), other.get(key));
                prop_assert!(own.iter().eq(other.iter()));
            }
            prop_assert_eq!(serde_json::to_string(&own).unwrap(), serde_json::to_string(&other).unwrap());
            prop_assert!(own.into_values().eq(other.into_values()));
        }

        #[test]
        fn a_set_is_as_that_of_std(changes in prop::collection::vec((0..20_u8, any::<bool>()), 0..60)) {
            let (mut own, mut other) = (Set::new(), BTreeSet::new());
            for (element, inserts) in changes {
                match inserts {
                    true => prop_assert_eq!(own.insert(element), other.insert(element)),
                    false => prop_assert_eq!(own.remove(&element), other.remove(&element)),
                }
                prop_assert_eq!(own.get(&element), other.get(&element));
                prop_assert_eq!((own.first(), own.last()), (other.first(), other.last()));
                prop_assert!(own.iter().eq(other.iter()));
            }
            own.retain(|element| element % 2 == 0);
            other.retain(|element| element % 2 == 0);
            prop_assert!(own.into_iter().eq(other));
        }
    }

    #[test]
    fn an_empty_map_is_a_map() {
        assert_eq!(serde_json::to_string(&Map::<String, u8>::new()).unwrap(), "{}");
        assert_eq!(serde_json::to_string(&Set::<u8>::new()).unwrap(), "[]");
    }
}
