//! What was worked out before, as much of it as is kept.

use std::collections::HashMap;

/// At most so many entries, those used last: when the young ones are half of what
/// is kept they become old, and those that were old and not used since are gone.
pub(super) struct Generations<K, V> {
    n_kept: usize,
    young: HashMap<K, V>,
    old: HashMap<K, V>,
}

impl<K: std::hash::Hash + Eq + Copy, V: Clone> Generations<K, V> {
    pub(super) fn new(n_kept: usize) -> Self {
        Self { n_kept, young: HashMap::new(), old: HashMap::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    pub(super) fn get(&mut self, key: &K) -> Option<V> {
        if let Some(value) = self.young.get(key) {
            return Some(value.clone());
        }
        let value = self.old.remove(key)?;
        self.insert(*key, value.clone());
        Some(value)
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        if self.n_kept / 2 <= self.young.len() {
            self.old = std::mem::take(&mut self.young);
        }
        self.old.remove(&key);
        self.young.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_no_more_is_kept_than_asked() {
        let mut known = Generations::new(8);
        known.insert(0, "always");
        for key in 1..100 {
            known.insert(key, "once");
            assert_eq!(known.get(&0), Some("always"));
            assert!(known.len() <= 8);
        }
        assert_eq!(known.get(&99), Some("once"));
        assert_eq!(known.get(&1), None);
    }
}
