//! The rotary embedding of positions.

use super::{
    config::{Rotation, RotationStyle},
    kernels::{Cpu, rotate_halves, rotate_pairs},
};

/// By how much each pair of a head turns a position.
#[derive(Debug)]
pub(super) struct Rotary {
    style: RotationStyle,
    frequencies: Vec<f32>,
}

/// The cosines and sines of one position.
#[derive(Debug)]
pub(super) struct Angles {
    cosines: Vec<f32>,
    sines: Vec<f32>,
}

impl Angles {
    /// One for each pair.
    pub(super) fn cosines(&self) -> &[f32] {
        &self.cosines
    }

    /// One for each pair.
    pub(super) fn sines(&self) -> &[f32] {
        &self.sines
    }
}

impl Rotary {
    /// For heads of this size.
    pub(super) fn new(rotation: &Rotation, head_size: usize) -> Self {
        let Rotation { style, base, factor, divisors } = rotation;
        let frequencies = (0..head_size / 2)
            .map(|pair| {
                let frequency = 1.0 / base.powf((2 * pair) as f32 / head_size as f32) / factor;
                frequency / divisors.as_ref().map_or(1.0, |divisors| divisors[pair])
            })
            .collect();
        Self { style: *style, frequencies }
    }

    /// The angles of one position, rounded to single precision before their
    /// cosines and sines are taken, as the reference implementations do.
    pub(super) fn angles(&self, position: usize) -> Angles {
        let angles = self.frequencies.iter().map(|frequency| position as f32 * frequency);
        #[expect(clippy::cast_possible_truncation, reason = "single precision is wanted")]
        let rounded = |value: f64| value as f32;
        Angles {
            cosines: angles.clone().map(|angle| rounded(f64::from(angle).cos())).collect(),
            sines: angles.map(|angle| rounded(f64::from(angle).sin())).collect(),
        }
    }

    /// Turns one head.
    pub(super) fn rotate(&self, cpu: Cpu, head: &mut [f32], angles: &Angles) {
        match self.style {
            RotationStyle::Pairs => rotate_pairs(cpu, head, &angles.cosines, &angles.sines),
            RotationStyle::Halves => rotate_halves(cpu, head, &angles.cosines, &angles.sines),
        }
    }
}
