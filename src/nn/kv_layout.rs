//! How keys and values lie in memory.

use half::{f16, slice::HalfFloatSliceExt};

use super::{
    config::DecoderConfig,
    kernels::{Element, LANES},
};

/// The numbers that keys and values are kept as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KvNumbers {
    /// Single precision.
    F32,
    /// Half precision: half the memory and half the traffic.
    F16,
}

/// How keys and values of one model lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KvShape {
    pub(super) numbers: KvNumbers,
    pub(super) n_layers: usize,
    n_kv_heads: usize,
    head_size: usize,
}

impl KvShape {
    pub(super) fn of(config: &DecoderConfig, numbers: KvNumbers) -> Self {
        let &DecoderConfig { n_kv_heads, head_size, .. } = config;
        Self { numbers, n_layers: config.n_layers(), n_kv_heads, head_size }
    }

    /// What keys and values are kept as.
    pub(super) fn numbers(self) -> KvNumbers {
        self.numbers
    }

    /// A small one, to try things out.
    #[cfg(test)]
    pub(super) fn example() -> Self {
        Self { numbers: KvNumbers::F32, n_layers: 2, n_kv_heads: 3, head_size: 8 }
    }

    /// The width of a value in memory: whole lanes, with zeros after its end.
    pub(super) fn value_width(self) -> usize {
        self.head_size.next_multiple_of(LANES)
    }

    /// What a segment for this many tokens takes.
    pub(super) fn bytes(self, capacity: usize) -> usize {
        let numbers = self.keys_of_head(capacity) + self.values_of_head(capacity);
        let size = match self.numbers {
            KvNumbers::F32 => size_of::<f32>(),
            KvNumbers::F16 => size_of::<f16>(),
        };
        self.n_layers * self.n_kv_heads * numbers * size
    }

    /// The numbers of a head's keys.
    pub(super) fn keys_of_head(self, capacity: usize) -> usize {
        capacity.next_multiple_of(LANES) * self.head_size
    }

    /// The numbers of a head's values.
    pub(super) fn values_of_head(self, capacity: usize) -> usize {
        capacity * self.value_width()
    }
}

/// Keys and values of one layer. The keys of a head lie in tiles of sixteen
/// tokens, one lane each, so that a score needs no sum across lanes; the values of
/// a head lie token by token.
#[derive(Debug)]
pub(super) struct LayerKv {
    keys: Numbers,
    values: Numbers,
}

impl LayerKv {
    /// Room for so many tokens, all zero.
    pub(super) fn zeros(shape: KvShape, capacity: usize) -> Self {
        let zeros = |count| Numbers::zeros(shape.numbers, shape.n_kv_heads * count);
        Self {
            keys: zeros(shape.keys_of_head(capacity)),
            values: zeros(shape.values_of_head(capacity)),
        }
    }

    /// The keys of one head: tiles of `head_size` rows of sixteen tokens.
    ///
    /// # Panics
    ///
    /// If `E` is not what they are kept as.
    pub(super) fn keys<E: KvElement>(&self, shape: KvShape, capacity: usize, head: usize) -> &[E] {
        let size = shape.keys_of_head(capacity);
        &E::of(&self.keys)[head * size..][..size]
    }

    /// The values of one head: a row for each token.
    ///
    /// # Panics
    ///
    /// If `E` is not what they are kept as.
    pub(super) fn values<E: KvElement>(
        &self,
        shape: KvShape,
        capacity: usize,
        head: usize,
    ) -> &[E] {
        let size = shape.values_of_head(capacity);
        &E::of(&self.values)[head * size..][..size]
    }

    /// Puts the key and the value of one head of the token at `index`.
    pub(super) fn put(
        &mut self,
        (shape, capacity): (KvShape, usize),
        (head, index): (usize, usize),
        key: &[f32],
        value: &[f32],
    ) {
        let first_key = head * shape.keys_of_head(capacity)
            + index / LANES * LANES * shape.head_size
            + index % LANES;
        let first_value = head * shape.values_of_head(capacity) + index * shape.value_width();
        match &mut self.keys {
            Numbers::F32(keys) => scatter(key, &mut keys[first_key..]),
            Numbers::F16(keys) => {
                let mut halves = [f16::ZERO; 64];
                for (part, key) in key.chunks(halves.len()).enumerate() {
                    let halves = &mut halves[..key.len()];
                    halves.convert_from_f32_slice(key);
                    scatter(halves, &mut keys[first_key + part * 64 * LANES..]);
                }
            }
        }
        match &mut self.values {
            Numbers::F32(values) => values[first_value..][..value.len()].copy_from_slice(value),
            Numbers::F16(values) => {
                values[first_value..][..value.len()].convert_from_f32_slice(value);
            }
        }
    }
}

/// Numbers of either kind.
#[derive(Debug)]
pub(super) enum Numbers {
    F32(Vec<f32>),
    F16(Vec<f16>),
}

impl Numbers {
    fn zeros(numbers: KvNumbers, count: usize) -> Self {
        match numbers {
            KvNumbers::F32 => Self::F32(vec![0.0; count]),
            KvNumbers::F16 => Self::F16(vec![f16::ZERO; count]),
        }
    }
}

/// A number that keys and values are kept as.
pub(super) trait KvElement: Element {
    /// The numbers; none where they are kept as others.
    fn of(numbers: &Numbers) -> &[Self];
}

impl KvElement for f32 {
    fn of(numbers: &Numbers) -> &[Self] {
        if let Numbers::F32(numbers) = numbers { numbers } else { &[] }
    }
}

impl KvElement for f16 {
    fn of(numbers: &Numbers) -> &[Self] {
        if let Numbers::F16(numbers) = numbers { numbers } else { &[] }
    }
}

/// Writes numbers to every sixteenth place.
fn scatter<E: Copy>(numbers: &[E], places: &mut [E]) {
    for (number, places) in numbers.iter().zip(places.chunks_mut(LANES)) {
        places[0] = *number;
    }
}
