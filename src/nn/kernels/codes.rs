//! The codes of quantised weights: sixteen outputs by thirty-two inputs.
//!
//! Inputs stand in groups of four, the unit of the integer products, and the four
//! codes of an output lie side by side, so that no sum ever crosses outputs.

use super::simd::LANES;

/// Inputs of a block; the inputs of a row have a scale for every 32 of them too.
pub(in crate::nn) const DEPTH: usize = 32;

/// The outputs of half a block: one register of AVX2 holds four inputs of each.
pub(in crate::nn) const HALF: usize = LANES / 2;

/// Four inputs of each of the sixteen outputs, a byte a code: two halves of eight
/// outputs, the four inputs of an output side by side.
pub(super) type Group = [[u8; 4 * HALF]; 2];

/// How codes lie in a block.
pub(in crate::nn) trait Codes: Copy + Send + Sync {
    /// All codes zero.
    const ZERO: Self;
    /// What a symmetric format takes off a code.
    const OFFSET: i32;

    /// Sets the codes of one output, zero so far; of eight-bit codes, the bits of
    /// an `i8`.
    fn set(&mut self, output: usize, codes: &[u8; DEPTH]);
    /// Gets one code.
    fn get(&self, output: usize, input: usize) -> i32;
}

/// Codes of four bits, as in `Q4_0`, `Q4_1` and `Q4_K`. Group `g` of the eight lies in
/// the low halves of the bytes of array `g`, or in the high halves of array `g - 4`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct Codes4(pub(super) [Group; 4]);

/// Codes of five bits, as in `Q5_0`, `Q5_1` and `Q5_K`: four as in [`Codes4`]; the
/// highest of group `g` is bit `g` of the byte at the same place.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct Codes5 {
    pub(super) low: Codes4,
    pub(super) high: Group,
}

/// Codes of six bits, as in `Q6_K`: four as in [`Codes4`]; the highest two of group
/// `g` are bits `2 * (g % 4)` and the next of the byte at the same place of array
/// `g / 4`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct Codes6 {
    pub(super) low: Codes4,
    pub(super) high: [Group; 2],
}

/// Codes of eight bits with a sign, as in `Q8_0`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct Codes8(pub(super) [Group; 8]);

/// Where the code of an output and an input lies: group, half, byte.
fn place(output: usize, input: usize) -> (usize, usize, usize) {
    (input / 4, output / HALF, output % HALF * 4 + input % 4)
}

const EMPTY: Group = [[0; 4 * HALF]; 2];

impl Codes for Codes4 {
    const ZERO: Self = Self([EMPTY; 4]);
    const OFFSET: i32 = 8;

    fn set(&mut self, output: usize, codes: &[u8; DEPTH]) {
        for input in 0..DEPTH / 2 {
            let (group, half, byte) = place(output, input);
            self.0[group][half][byte] = codes[input] & 15 | codes[input + DEPTH / 2] << 4;
        }
    }

    fn get(&self, output: usize, input: usize) -> i32 {
        let (group, half, byte) = place(output, input);
        let pair = self.0[group % 4][half][byte];
        i32::from(if group < 4 { pair & 15 } else { pair >> 4 })
    }
}

impl Codes for Codes5 {
    const ZERO: Self = Self { low: Codes4::ZERO, high: EMPTY };
    const OFFSET: i32 = 16;

    fn set(&mut self, output: usize, codes: &[u8; DEPTH]) {
        self.low.set(output, codes);
        for (input, code) in codes.iter().enumerate() {
            let (group, half, byte) = place(output, input);
            self.high[half][byte] |= (code >> 4 & 1) << group;
        }
    }

    fn get(&self, output: usize, input: usize) -> i32 {
        let (group, half, byte) = place(output, input);
        let high = self.high[half][byte] >> group & 1;
        self.low.get(output, input) | i32::from(high) << 4
    }
}

impl Codes for Codes6 {
    const ZERO: Self = Self { low: Codes4::ZERO, high: [EMPTY; 2] };
    const OFFSET: i32 = 32;

    fn set(&mut self, output: usize, codes: &[u8; DEPTH]) {
        self.low.set(output, codes);
        for (input, code) in codes.iter().enumerate() {
            let (group, half, byte) = place(output, input);
            self.high[group / 4][half][byte] |= (code >> 4 & 3) << (group % 4 * 2);
        }
    }

    fn get(&self, output: usize, input: usize) -> i32 {
        let (group, half, byte) = place(output, input);
        let high = self.high[group / 4][half][byte] >> (group % 4 * 2) & 3;
        self.low.get(output, input) | i32::from(high) << 4
    }
}

impl Codes for Codes8 {
    const ZERO: Self = Self([EMPTY; 8]);
    const OFFSET: i32 = 0;

    fn set(&mut self, output: usize, codes: &[u8; DEPTH]) {
        for (input, &code) in codes.iter().enumerate() {
            let (group, half, byte) = place(output, input);
            self.0[group][half][byte] = code;
        }
    }

    fn get(&self, output: usize, input: usize) -> i32 {
        let (group, half, byte) = place(output, input);
        i32::from(self.0[group][half][byte].cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<C: Codes>(all: &[[u8; DEPTH]], bits: u32, value: impl Fn(u8) -> i32) {
        let mask = u8::try_from((1_u32 << bits) - 1).unwrap();
        let mut codes = C::ZERO;
        for (output, row) in all.iter().enumerate() {
            codes.set(output, &row.map(|code| code & mask));
        }
        for (output, row) in all.iter().enumerate() {
            for (input, code) in row.iter().enumerate() {
                assert_eq!(codes.get(output, input), value(code & mask));
            }
        }
    }

    proptest! {
        #[test]
        fn a_block_gives_its_codes_back(
            all in proptest::collection::vec(proptest::array::uniform32(any::<u8>()), LANES)
        ) {
            check::<Codes4>(&all, 4, i32::from);
            check::<Codes5>(&all, 5, i32::from);
            check::<Codes6>(&all, 6, i32::from);
            check::<Codes8>(&all, 8, |code| i32::from(code.cast_signed()));
        }
    }
}
