//! How exactly an encoder multiplies.

use std::fmt;

/// What an encoder's weights, and the states that they are multiplied with, are
/// rounded to. Everything between the matrix products is in single precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EncoderPrecision {
    /// Not rounded.
    F32,
    /// Fourteen bits, a scale for every 32: vectors differ from those in single
    /// precision in their last digits only.
    #[default]
    Int16,
    /// Eight bits, a scale for every 32, as in `Q8_0`: half the memory of sixteen,
    /// and cosines off by up to a hundredth.
    Int8,
}

impl EncoderPrecision {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::F32, Self::Int16, Self::Int8];
}

impl fmt::Display for EncoderPrecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::Int16 => "int16",
            Self::Int8 => "int8",
        })
    }
}
