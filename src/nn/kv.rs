//! Keys and values of sequences: a tree of shared segments.
//!
//! A [`Segment`] holds what the attention needs of some consecutive tokens and
//! knows the segment that comes before it. Sequences that begin alike share the
//! segments of their beginning by reference; each has a [`Sequence`] of its own,
//! the only part that still grows.

use std::sync::Arc;

use candle_core::Tensor;

use super::{
    kv_layout::{KvElement, KvShape, LayerKv},
    kv_memory::{KvMemory, KvMemoryError, Reservation},
};

/// Keys and values of consecutive tokens.
#[derive(Debug)]
pub struct Segment {
    parent: Option<Arc<Segment>>,
    start: usize,
    length: usize,
    capacity: usize,
    shape: KvShape,
    storage: Storage,
    _reservation: Option<Reservation>,
}

/// Where the keys and values of a segment lie, for each layer.
#[derive(Debug)]
enum Storage {
    /// With this project's own kernels.
    Kernels(Vec<LayerKv>),
    /// On devices: `[n_kv_heads, 2, capacity, head_size]`.
    Devices(Vec<Tensor>),
    /// With those of another segment, of which this one is the beginning.
    Beginning(Arc<Segment>),
}

impl Storage {
    /// None on devices.
    fn layers(&self) -> &[LayerKv] {
        match self {
            Self::Kernels(layers) => layers,
            Self::Devices(_) | Self::Beginning(_) => &[],
        }
    }
}

impl Segment {
    /// The segment before it.
    pub(super) fn parent(&self) -> Option<&Arc<Segment>> {
        self.parent.as_ref()
    }

    /// Its first tokens, which share its keys and values; itself where those are all.
    pub(super) fn first(self: &Arc<Self>, n_tokens: usize) -> Arc<Self> {
        if n_tokens >= self.length {
            return Arc::clone(self);
        }
        let &Self { start, capacity, shape, .. } = self.as_ref();
        Arc::new(Self {
            parent: self.parent.clone(),
            start,
            length: n_tokens,
            capacity,
            shape,
            storage: Storage::Beginning(Arc::clone(self.whole())),
            _reservation: None,
        })
    }

    /// The segment whose keys and values it has.
    fn whole(self: &Arc<Self>) -> &Arc<Self> {
        match &self.storage {
            Storage::Beginning(whole) => whole,
            Storage::Kernels(_) | Storage::Devices(_) => self,
        }
    }

    /// Where its keys and values lie.
    fn storage(&self) -> &Storage {
        match &self.storage {
            Storage::Beginning(whole) => &whole.storage,
            own => own,
        }
    }

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
        match self.storage() {
            Storage::Kernels(_) | Storage::Beginning(_) => None,
            Storage::Devices(layers) => layers.get(layer),
        }
    }

    /// How keys and values lie.
    pub(super) fn shape(&self) -> KvShape {
        self.shape
    }

    /// The keys of one head: tiles of `head_size` rows of sixteen tokens.
    ///
    /// # Panics
    ///
    /// If `E` is not what they are kept as.
    pub(super) fn keys<E: KvElement>(&self, layer: usize, head: usize) -> &[E] {
        self.storage().layers()[layer].keys(self.shape, self.capacity, head)
    }

    /// The values of one head: a row for each token.
    ///
    /// # Panics
    ///
    /// If `E` is not what they are kept as.
    pub(super) fn values<E: KvElement>(&self, layer: usize, head: usize) -> &[E] {
        self.storage().layers()[layer].values(self.shape, self.capacity, head)
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
        let mut sequence = Self::imagined(shape, prefix, capacity, memory, shape.bytes(capacity))?;
        let layer = || LayerKv::zeros(shape, capacity);
        let layers = std::iter::repeat_with(layer).take(shape.n_layers).collect();
        sequence.tail.storage = Storage::Kernels(layers);
        Ok(sequence)
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
        let mut sequence = Self::imagined(shape, prefix, capacity, memory, n_bytes)?;
        let layers = layers().map_err(|_| KvMemoryError {
            needed_bytes: n_bytes,
            used_bytes: memory.used_bytes() - n_bytes,
            limit_bytes: memory.limit_bytes(),
        })?;
        sequence.tail.storage = Storage::Devices(layers);
        Ok(sequence)
    }

    /// One that takes `n_bytes` of the memory and has no keys and values, to try out
    /// what would fit: no decoder can read in it.
    ///
    /// # Errors
    ///
    /// If the memory does not suffice now.
    pub(super) fn imagined(
        shape: KvShape,
        prefix: Option<Arc<Segment>>,
        capacity: usize,
        memory: &KvMemory,
        n_bytes: usize,
    ) -> Result<Self, KvMemoryError> {
        let reservation = memory.reserve(n_bytes)?;
        let tail = Segment {
            start: prefix.as_deref().map_or(0, Segment::end),
            parent: prefix,
            length: 0,
            capacity,
            shape,
            storage: Storage::Kernels(Vec::new()),
            _reservation: Some(reservation),
        };
        Ok(Self { tail })
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
        layers[place.layer].put((shape, capacity), (place.head, index), key, value);
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

    fn shape() -> KvShape {
        KvShape::example()
    }

    #[test]
    fn memory_is_bounded_and_comes_back() {
        let bytes = shape().bytes(20);
        assert_eq!(bytes, 2 * 3 * (32 * 8 + 20 * 16) * 4);
        let memory = KvMemory::new(2 * bytes);
        let first = Sequence::new(shape(), None, 20, &memory).unwrap().freeze();
        let second = Sequence::new(shape(), Some(Arc::clone(&first)), 20, &memory).unwrap();
        let error = Sequence::new(shape(), None, 1, &memory).unwrap_err();
        assert_eq!((error.used_bytes, error.limit_bytes), (2 * bytes, 2 * bytes));
        drop(first);
        assert_eq!(memory.used_bytes(), 2 * bytes, "the second still leans on the first");
        drop(second);
        assert_eq!(memory.used_bytes(), 0);
    }

    #[test]
    fn a_chain_runs_from_the_first_token_on() {
        let memory = KvMemory::new(1 << 20);
        let mut first = Sequence::new(shape(), None, 5, &memory).unwrap();
        assert_eq!(first.extend(5), 0);
        let mut second = Sequence::new(shape(), Some(first.freeze()), 3, &memory).unwrap();
        assert_eq!(second.extend(2), 5);
        let starts: Vec<usize> = second.tail().chain().iter().map(|part| part.start()).collect();
        assert_eq!((starts, second.n_tokens(), second.n_free()), (vec![0, 5], 7, 1));
    }

    #[test]
    fn a_beginning_shares_the_memory_of_the_whole_and_keeps_it() {
        let memory = KvMemory::new(1 << 20);
        let mut sequence = Sequence::new(shape(), None, 40, &memory).unwrap();
        sequence.extend(40);
        let place = Place { layer: 1, head: 2, position: 20 };
        sequence.put(place, &[3.0; 8], &[4.0; 8]);
        let whole = sequence.freeze();
        let beginning = whole.first(30).first(21);
        assert_eq!((beginning.start(), beginning.end(), beginning.length()), (0, 21, 21));
        assert_eq!(beginning.keys::<f32>(1, 2).as_ptr(), whole.keys::<f32>(1, 2).as_ptr());
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&beginning.values::<f32>(1, 2)[20 * 16..][..8]), bits(&[4.0; 8]));
        assert!(Arc::ptr_eq(&whole.first(40), &whole));
        let next = Sequence::new(shape(), Some(beginning), 2, &memory).unwrap();
        assert_eq!(next.n_tokens(), 21);
        drop(whole);
        assert_eq!(memory.used_bytes(), shape().bytes(40) + shape().bytes(2));
        drop(next);
        assert_eq!(memory.used_bytes(), 0);
    }
}
