//! The memory of keys and values, and who has how much of it.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// A bound on the memory of keys and values.
#[derive(Clone, Debug)]
pub struct KvMemory {
    limit_bytes: usize,
    used_bytes: Arc<AtomicUsize>,
}

impl KvMemory {
    /// Room for this much.
    pub fn new(limit_bytes: usize) -> Self {
        Self { limit_bytes, used_bytes: Arc::default() }
    }

    /// The bound.
    pub fn limit_bytes(&self) -> usize {
        self.limit_bytes
    }

    /// What is in use now.
    pub fn used_bytes(&self) -> usize {
        self.used_bytes.load(Ordering::Acquire)
    }

    /// Takes some of it.
    ///
    /// # Errors
    ///
    /// If there is not so much left.
    pub(super) fn reserve(&self, bytes: usize) -> Result<Reservation, KvMemoryError> {
        let grown = |used: usize| used.checked_add(bytes).filter(|&used| used <= self.limit_bytes);
        match self.used_bytes.fetch_update(Ordering::AcqRel, Ordering::Acquire, grown) {
            Ok(_) => Ok(Reservation { bytes, memory: self.clone() }),
            Err(used_bytes) => Err(KvMemoryError {
                needed_bytes: bytes,
                used_bytes,
                limit_bytes: self.limit_bytes,
            }),
        }
    }
}

/// Memory that is given back when this is dropped.
#[derive(Debug)]
pub(super) struct Reservation {
    bytes: usize,
    memory: KvMemory,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory.used_bytes.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

/// There is no room for more keys and values now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the keys and values need {needed_bytes} bytes, and {used_bytes} of {limit_bytes} are in use"
)]
pub struct KvMemoryError {
    /// What was asked for.
    pub needed_bytes: usize,
    /// What is in use.
    pub used_bytes: usize,
    /// The bound.
    pub limit_bytes: usize,
}
