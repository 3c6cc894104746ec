//! Keys and values of sequences: a tree of shared segments.
//!
//! A [`Segment`] holds what the attention needs of some consecutive tokens and
//! knows the segment that comes before it. Sequences that begin alike share the
//! segments of their beginning by reference; each has a [`Sequence`] of its own,
//! the only part that still grows.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use candle_core::Tensor;

use super::{config::DecoderConfig, kernels::LANES};

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

    fn reserve(&self, bytes: usize) -> Result<Reservation, KvMemoryError> {
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
struct Reservation {
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

/// How keys and values of one model lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KvShape {
    n_layers: usize,
    n_kv_heads: usize,
    head_size: usize,
}

impl KvShape {
    pub(super) fn of(config: &DecoderConfig) -> Self {
        let &DecoderConfig { n_kv_heads, head_size, .. } = config;
        Self { n_layers: config.n_layers(), n_kv_heads, head_size }
    }

    /// The width of a value in memory: whole lanes, with zeros after its end.
    pub(super) fn value_width(self) -> usize {
        self.head_size.next_multiple_of(LANES)
    }

    /// What a segment for this many tokens takes.
    pub(super) fn bytes(self, capacity: usize) -> usize {
        let numbers = self.keys_of_head(capacity) + self.values_of_head(capacity);
        self.n_layers * self.n_kv_heads * numbers * size_of::<f32>()
    }

    fn keys_of_head(self, capacity: usize) -> usize {
        capacity.next_multiple_of(LANES) * self.head_size
    }

    fn values_of_head(self, capacity: usize) -> usize {
        capacity * self.value_width()
    }
}

/// Keys and values of one layer. The keys of a head lie in tiles of sixteen
/// tokens, one lane each, so that a score needs no sum across lanes; the values of
/// a head lie token by token.
#[derive(Debug)]
struct LayerKv {
    keys: Vec<f32>,
    values: Vec<f32>,
}

/// Keys and values of consecutive tokens.
#[derive(Debug)]
pub struct Segment {
    parent: Option<Arc<Segment>>,
    start: usize,
    length: usize,
    capacity: usize,
    shape: KvShape,
    storage: Storage,
    _reservation: Reservation,
}

/// Where the keys and values of a segment lie, for each layer.
#[derive(Debug)]
enum Storage {
    /// With this project's own kernels.
    Kernels(Vec<LayerKv>),
    /// On devices: `[n_kv_heads, 2, capacity, head_size]`.
    Devices(Vec<Tensor>),
}

impl Storage {
    /// None on devices.
    fn layers(&self) -> &[LayerKv] {
        match self {
            Self::Kernels(layers) => layers,
            Self::Devices(_) => &[],
        }
    }
}

impl Segment {
    /// Where in the sequence its first token stands.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// Where in the sequence the next token will stand.
    pub(super) fn end(&self) -> usize {
        self.start + self.length
    }

    /// The number of its own tokens.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// The tokens that it has room for.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// The keys and values of one layer, where they lie on a device.
    pub(super) fn tensor(&self, layer: usize) -> Option<&Tensor> {
        match &self.storage {
            Storage::Kernels(_) => None,
            Storage::Devices(layers) => layers.get(layer),
        }
    }

    /// How keys and values lie.
    pub(super) fn shape(&self) -> KvShape {
        self.shape
    }

    /// The keys of one head: tiles of `head_size` rows of sixteen tokens.
    pub(super) fn keys(&self, layer: usize, head: usize) -> &[f32] {
        let size = self.shape.keys_of_head(self.capacity);
        &self.storage.layers()[layer].keys[head * size..][..size]
    }

    /// The values of one head: a row for each token.
    pub(super) fn values(&self, layer: usize, head: usize) -> &[f32] {
        let size = self.shape.values_of_head(self.capacity);
        &self.storage.layers()[layer].values[head * size..][..size]
    }

    /// This segment and those before it, the first of the sequence first.
    pub(super) fn chain(&self) -> Vec<&Segment> {
        let mut chain = vec![self];
        while let Some(parent) = chain[chain.len() - 1].parent.as_deref() {
            chain.push(parent);
        }
        chain.reverse();
        chain
    }
}

/// A sequence of tokens that a decoder works on.
#[derive(Debug)]
pub struct Sequence {
    tail: Segment,
}

impl Sequence {
    /// An empty continuation of `prefix`, or of nothing, with room for `capacity`
    /// tokens of its own.
    ///
    /// # Errors
    ///
    /// If the memory does not suffice now.
    pub(super) fn new(
        shape: KvShape,
        prefix: Option<Arc<Segment>>,
        capacity: usize,
        memory: &KvMemory,
    ) -> Result<Self, KvMemoryError> {
        let reservation = memory.reserve(shape.bytes(capacity))?;
        let layer = || LayerKv {
            keys: vec![0.0; shape.n_kv_heads * shape.keys_of_head(capacity)],
            values: vec![0.0; shape.n_kv_heads * shape.values_of_head(capacity)],
        };
        let layers = std::iter::repeat_with(layer).take(shape.n_layers).collect();
        Ok(Self::with(shape, prefix, capacity, (Storage::Kernels(layers), reservation)))
    }

    /// The same, with keys and values in `n_bytes` of tensors on devices.
    ///
    /// # Errors
    ///
    /// If the memory does not suffice now, that of the devices or its bound.
    pub(super) fn on_devices(
        shape: KvShape,
        prefix: Option<Arc<Segment>>,
        capacity: usize,
        memory: &KvMemory,
        (n_bytes, layers): (usize, impl FnOnce() -> Result<Vec<Tensor>, candle_core::Error>),
    ) -> Result<Self, KvMemoryError> {
        let reservation = memory.reserve(n_bytes)?;
        let layers = layers().map_err(|_| KvMemoryError {
            needed_bytes: n_bytes,
            used_bytes: memory.used_bytes() - n_bytes,
            limit_bytes: memory.limit_bytes,
        })?;
        Ok(Self::with(shape, prefix, capacity, (Storage::Devices(layers), reservation)))
    }

    fn with(
        shape: KvShape,
        prefix: Option<Arc<Segment>>,
        capacity: usize,
        (storage, reservation): (Storage, Reservation),
    ) -> Self {
        let tail = Segment {
            start: prefix.as_deref().map_or(0, Segment::end),
            parent: prefix,
            length: 0,
            capacity,
            shape,
            storage,
            _reservation: reservation,
        };
        Self { tail }
    }

    /// The number of tokens, those of the prefix with them.
    pub fn n_tokens(&self) -> usize {
        self.tail.end()
    }

    /// How many tokens may still follow.
    pub fn n_free(&self) -> usize {
        self.tail.capacity - self.tail.length
    }

    /// Ends it: others may now continue it, and nobody can change it any more.
    pub fn freeze(self) -> Arc<Segment> {
        Arc::new(self.tail)
    }

    /// The part that is its own.
    pub(super) fn tail(&self) -> &Segment {
        &self.tail
    }

    /// Makes room for tokens at the end and returns the position of the first; their
    /// keys and values have to follow.
    ///
    /// # Panics
    ///
    /// If there is no more room.
    pub(super) fn extend(&mut self, n_tokens: usize) -> usize {
        assert!(n_tokens <= self.n_free(), "no room for {n_tokens} more tokens");
        let first = self.n_tokens();
        self.tail.length += n_tokens;
        first
    }

    /// Puts the key and the value of one head of one of its own tokens.
    pub(super) fn put(&mut self, place: Place, key: &[f32], value: &[f32]) {
        let Segment { start, capacity, shape, ref mut storage, .. } = self.tail;
        // Devices put theirs themselves.
        let Storage::Kernels(layers) = storage else { return };
        let index = place.position - start;
        let layer = &mut layers[place.layer];
        let keys = &mut layer.keys[place.head * shape.keys_of_head(capacity)..];
        let tile = &mut keys[index / LANES * LANES * shape.head_size..];
        for (number, lanes) in key.iter().zip(tile.chunks_mut(LANES)) {
            lanes[index % LANES] = *number;
        }
        let values = &mut layer.values[place.head * shape.values_of_head(capacity)..];
        values[index * shape.value_width()..][..value.len()].copy_from_slice(value);
    }
}

/// Where the key and value of a new token go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) layer: usize,
    pub(super) head: usize,
    /// In the sequence, from its first token on.
    pub(super) position: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: KvShape = KvShape { n_layers: 2, n_kv_heads: 3, head_size: 8 };

    #[test]
    fn memory_is_bounded_and_comes_back() {
        let bytes = SHAPE.bytes(20);
        assert_eq!(bytes, 2 * 3 * (32 * 8 + 20 * 16) * 4);
        let memory = KvMemory::new(2 * bytes);
        let first = Sequence::new(SHAPE, None, 20, &memory).unwrap().freeze();
        let second = Sequence::new(SHAPE, Some(Arc::clone(&first)), 20, &memory).unwrap();
        let error = Sequence::new(SHAPE, None, 1, &memory).unwrap_err();
        assert_eq!((error.used_bytes, error.limit_bytes), (2 * bytes, 2 * bytes));
        drop(first);
        assert_eq!(memory.used_bytes(), 2 * bytes, "the second still leans on the first");
        drop(second);
        assert_eq!(memory.used_bytes(), 0);
    }

    #[test]
    fn a_chain_runs_from_the_first_token_on() {
        let memory = KvMemory::new(1 << 20);
        let mut first = Sequence::new(SHAPE, None, 5, &memory).unwrap();
        assert_eq!(first.extend(5), 0);
        let mut second = Sequence::new(SHAPE, Some(first.freeze()), 3, &memory).unwrap();
        assert_eq!(second.extend(2), 5);
        let starts: Vec<usize> = second.tail().chain().iter().map(|part| part.start()).collect();
        assert_eq!((starts, second.n_tokens(), second.n_free()), (vec![0, 5], 7, 1));
    }
}
