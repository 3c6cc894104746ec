//! How a rotation is slowed down for texts longer than a model was first trained on.

use std::f32::consts::PI;

use super::Rotation;

/// How a rotation is slowed down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scaling {
    /// Not at all.
    None,
    /// All pairs alike.
    Linear {
        /// By this.
        factor: f32,
    },
    /// Those that turn least, as Llama 3.1 and later.
    Llama3 {
        /// By this, at most.
        factor: f32,
        /// Pairs that turn less often than this in the original length are slowed
        /// down in full.
        low_turns: f32,
        /// Pairs that turn more often than this are left alone.
        high_turns: f32,
        /// The length of the texts that the model was first trained on.
        original_length: usize,
    },
    /// Those that turn least, and all scores grow (Peng and others 2023).
    Yarn {
        /// By this, at most.
        factor: f32,
        /// Pairs that turn less often than this are slowed down in full.
        low_turns: f32,
        /// Pairs that turn more often than this are left alone.
        high_turns: f32,
        /// The length of the texts that the model was first trained on.
        original_length: usize,
        /// What queries and keys are multiplied by; `None` for the paper's.
        attention_factor: Option<f32>,
    },
}

impl Scaling {
    /// Slows a rotation down. Returns what the products of queries and keys are
    /// multiplied by besides.
    pub(super) fn apply(self, rotation: &mut Rotation, head_size: usize) -> f32 {
        let n_pairs = head_size / 2;
        match self {
            Self::None => 1.0,
            Self::Linear { factor } => {
                rotation.factor *= factor;
                1.0
            }
            Self::Llama3 { factor, low_turns, high_turns, original_length } => {
                let divisor = |pair: usize| {
                    let exponent = pair as f32 / n_pairs as f32;
                    let length = 2.0 * PI * rotation.base.powf(exponent);
                    let turns = original_length as f32 / length;
                    if turns > high_turns {
                        1.0
                    } else if turns < low_turns {
                        factor
                    } else {
                        blend((turns - low_turns) / (high_turns - low_turns), factor)
                    }
                };
                rotation.divisors = Some((0..n_pairs).map(divisor).collect());
                1.0
            }
            Self::Yarn { factor, low_turns, high_turns, original_length, attention_factor } => {
                // The pair that turns so often in the original length.
                let pair = |turns: f32| {
                    let length = original_length as f32 / (turns * 2.0 * PI);
                    head_size as f32 * length.ln() / (2.0 * rotation.base.ln())
                };
                let first = pair(high_turns).floor().max(0.0);
                let last = pair(low_turns).ceil().min(head_size as f32 - 1.0);
                let divisor = |pair: usize| {
                    let ramp = (pair as f32 - first) / (last - first).max(0.001);
                    blend(1.0 - ramp.clamp(0.0, 1.0), factor)
                };
                rotation.divisors = Some((0..n_pairs).map(divisor).collect());
                attention_factor.unwrap_or_else(|| 1.0 + 0.1 * factor.max(1.0).ln()).powi(2)
            }
        }
    }
}

/// The divisor of a pair that keeps a part of its speed and is slowed down by
/// `factor` for the rest.
fn blend(kept: f32, factor: f32) -> f32 {
    1.0 / ((1.0 - kept) / factor + kept)
}
