//! What was worked out of texts before, as much of it as is kept.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use rayon::prelude::*;

use super::UnitPair;

/// What is kept of texts: with vectors of 384 numbers about 100 MB.
const N_KEPT: usize = 1 << 16;

/// What a text became, or why it became nothing.
pub(super) type Known<V> = Result<Arc<V>, String>;

/// What texts became, by their digests: 65,536 of them, those used last.
pub(super) struct Memory<V> {
    known: Mutex<Generations<[u8; 32], Arc<V>>>,
}

impl<V: Send + Sync> Memory<V> {
    /// With nothing in mind yet.
    pub(super) fn new() -> Self {
        Self { known: Mutex::new(Generations::new(N_KEPT)) }
    }

    /// The texts that are known.
    pub(super) fn len(&self) -> usize {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// What each of some distinct texts becomes, in order. Those that are not known are
    /// handed to `make` together; an empty text is refused.
    pub(super) fn recall(
        &self,
        texts: &[&str],
        make: impl FnOnce(&[&str]) -> Vec<Result<V, String>>,
    ) -> Vec<Known<V>> {
        let keys: Vec<[u8; 32]> =
            texts.par_iter().map(|text| *blake3::hash(text.as_bytes()).as_bytes()).collect();
        let mut all: Vec<Option<Known<V>>> = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let of = |(text, key): (&&str, &[u8; 32])| match text.trim() {
                "" => Some(Err("an empty text says nothing to compare".to_owned())),
                _ => known.get(key).map(Ok),
            };
            texts.iter().zip(&keys).map(of).collect()
        };
        let missing: Vec<usize> = (0..texts.len()).filter(|index| all[*index].is_none()).collect();
        let unread: Vec<&str> = missing.iter().map(|index| texts[*index]).collect();
        let fresh = make(&unread);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for (index, value) in missing.into_iter().zip(fresh) {
            let value = value.map(Arc::new);
            if let Ok(value) = &value {
                known.insert(keys[index], Arc::clone(value));
            }
            all[index] = Some(value);
        }
        let none = || Err("the encoder gave too few vectors".to_owned());
        all.into_iter().map(|value| value.unwrap_or_else(none)).collect()
    }
}

/// The distinct texts of some pairs, and for each pair the places of its two among them.
pub(super) fn distinct<'a>(pairs: &[UnitPair<'a>]) -> (Vec<&'a str>, Vec<[usize; 2]>) {
    let mut texts: Vec<&str> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut place = |text| {
        *places.entry(text).or_insert_with(|| {
            texts.push(text);
            texts.len() - 1
        })
    };
    let places = pairs.iter().map(|pair| [place(pair.generated), place(pair.gold)]).collect();
    (texts, places)
}

/// At most so many entries, those used last: when the young ones are half of what
/// is kept they become old, and those that were old and not used since are gone.
struct Generations<K, V> {
    n_kept: usize,
    young: HashMap<K, V>,
    old: HashMap<K, V>,
}

impl<K: std::hash::Hash + Eq + Copy, V: Clone> Generations<K, V> {
    fn new(n_kept: usize) -> Self {
        Self { n_kept, young: HashMap::new(), old: HashMap::new() }
    }

    fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    fn get(&mut self, key: &K) -> Option<V> {
        if let Some(value) = self.young.get(key) {
            return Some(value.clone());
        }
        let value = self.old.remove(key)?;
        self.insert(*key, value.clone());
        Some(value)
    }

    fn insert(&mut self, key: K, value: V) {
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
