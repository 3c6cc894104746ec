//! Quantised weights as a GGUF file has them: 32 of one output at a time.

use super::codes::DEPTH;

/// 32 weights of one output.
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct FileBlock {
    /// The scale, in half precision.
    pub(in crate::nn) scale: u16,
    /// The minimum, in half precision; zero in a symmetric format.
    pub(in crate::nn) minimum: u16,
    /// The codes; of eight-bit ones, the bits of an `i8`.
    pub(in crate::nn) codes: [u8; DEPTH],
}

impl FileBlock {
    /// The bytes of a block of each format.
    pub(in crate::nn) const Q4_0_BYTES: usize = 18;
    /// A scale, a minimum and 32 half bytes.
    pub(in crate::nn) const Q4_1_BYTES: usize = 20;
    /// A scale, 32 bits and 32 half bytes.
    pub(in crate::nn) const Q5_0_BYTES: usize = 22;
    /// A scale, a minimum, 32 bits and 32 half bytes.
    pub(in crate::nn) const Q5_1_BYTES: usize = 24;
    /// A scale and 32 bytes.
    pub(in crate::nn) const Q8_0_BYTES: usize = 34;

    /// Reads a block of `Q4_0`.
    pub(in crate::nn) fn q4_0(bytes: &[u8; Self::Q4_0_BYTES]) -> Self {
        Self { scale: short(bytes, 0), minimum: 0, codes: half_bytes(bytes, 2) }
    }

    /// Reads a block of `Q4_1`.
    pub(in crate::nn) fn q4_1(bytes: &[u8; Self::Q4_1_BYTES]) -> Self {
        Self { scale: short(bytes, 0), minimum: short(bytes, 2), codes: half_bytes(bytes, 4) }
    }

    /// Reads a block of `Q5_0`.
    pub(in crate::nn) fn q5_0(bytes: &[u8; Self::Q5_0_BYTES]) -> Self {
        let codes = with_fifth_bits(half_bytes(bytes, 6), bytes, 2);
        Self { scale: short(bytes, 0), minimum: 0, codes }
    }

    /// Reads a block of `Q5_1`.
    pub(in crate::nn) fn q5_1(bytes: &[u8; Self::Q5_1_BYTES]) -> Self {
        let codes = with_fifth_bits(half_bytes(bytes, 8), bytes, 4);
        Self { scale: short(bytes, 0), minimum: short(bytes, 2), codes }
    }

    /// Reads a block of `Q8_0`.
    pub(in crate::nn) fn q8_0(bytes: &[u8; Self::Q8_0_BYTES]) -> Self {
        let mut codes = [0; DEPTH];
        codes.copy_from_slice(&bytes[2..]);
        Self { scale: short(bytes, 0), minimum: 0, codes }
    }
}

fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// Codes 0 to 15 are the low halves of sixteen bytes, 16 to 31 the high ones.
fn half_bytes(bytes: &[u8], at: usize) -> [u8; DEPTH] {
    let mut codes = [0; DEPTH];
    for (index, pair) in bytes[at..].iter().enumerate() {
        codes[index] = pair & 15;
        codes[index + DEPTH / 2] = pair >> 4;
    }
    codes
}

/// Bit `i` of four bytes is the fifth bit of code `i`.
fn with_fifth_bits(mut codes: [u8; DEPTH], bytes: &[u8], at: usize) -> [u8; DEPTH] {
    for (index, code) in codes.iter_mut().enumerate() {
        *code |= (bytes[at + index / 8] >> (index % 8) & 1) << 4;
    }
    codes
}
