//! What keys and values are kept as.

use half::{f16, slice::HalfFloatSliceExt};

use crate::nn::kernels::{Element, LANES};

/// The numbers that keys and values are kept as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::nn) enum KvNumbers {
    /// Single precision.
    F32,
    /// Half precision: half the memory and half the traffic.
    F16,
}

impl KvNumbers {
    /// What one of them takes.
    pub(in crate::nn) fn size_bytes(self) -> usize {
        match self {
            Self::F32 => size_of::<f32>(),
            Self::F16 => size_of::<f16>(),
        }
    }
}

/// The keys or the values of all heads.
#[derive(Debug)]
pub(in crate::nn) enum Numbers {
    F32(Vec<f32>),
    F16(Vec<f16>),
}

impl Numbers {
    /// So many zeros.
    pub(super) fn zeros(numbers: KvNumbers, count: usize) -> Self {
        match numbers {
            KvNumbers::F32 => Self::F32(vec![0.0; count]),
            KvNumbers::F16 => Self::F16(vec![f16::ZERO; count]),
        }
    }

    /// Writes a row of numbers.
    pub(super) fn write(&mut self, first: usize, row: &[f32]) {
        match self {
            Self::F32(numbers) => numbers[first..][..row.len()].copy_from_slice(row),
            Self::F16(numbers) => numbers[first..][..row.len()].convert_from_f32_slice(row),
        }
    }

    /// Writes numbers to every sixteenth place.
    pub(super) fn scatter(&mut self, first: usize, row: &[f32]) {
        match self {
            Self::F32(numbers) => scatter(row, &mut numbers[first..]),
            Self::F16(numbers) => {
                let mut halves = [f16::ZERO; 64];
                for (part, row) in row.chunks(64).enumerate() {
                    let halves = &mut halves[..row.len()];
                    halves.convert_from_f32_slice(row);
                    scatter(halves, &mut numbers[first + part * 64 * LANES..]);
                }
            }
        }
    }
}

/// A number that keys and values are kept as.
pub(in crate::nn) trait KvElement: Element {
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

fn scatter<E: Copy>(numbers: &[E], places: &mut [E]) {
    for (number, places) in numbers.iter().zip(places.chunks_mut(LANES)) {
        places[0] = *number;
    }
}
