//! Drawing the next token.
//!
//! The rules and their order are those of Hugging Face's `generate`: the penalty of
//! tokens that were there before, then temperature, then the most likely `top_k`,
//! then the nucleus of mass `top_p`, then one draw.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How a token is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplingRules {
    /// Zero takes the likeliest token; else logits are divided by it.
    pub temperature: f64,
    /// Only this many of the likeliest are kept, and with the last of them all that
    /// are as likely; `None` and zero keep all.
    pub top_k: Option<usize>,
    /// The likeliest tokens up to and with the one that brings their mass to this
    /// are kept; one keeps all.
    pub top_p: f64,
    /// The logit of a token that was there before, in the prompt or the reply, is
    /// divided by this where it is positive and multiplied where not; one is off.
    pub repetition_penalty: f32,
}

/// Draws the tokens of one reply.
#[derive(Clone, Debug)]
pub struct Sampler {
    rules: SamplingRules,
    rng: ChaCha8Rng,
    /// The tokens that were there, each once.
    seen: Vec<u32>,
    was_seen: Vec<bool>,
}

/// Logits that cannot be drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the model predicts {n_flawed} tokens with what is not a number: its weights are damaged")]
pub struct FlawedLogits {
    /// How many are not finite.
    pub n_flawed: usize,
}

impl Sampler {
    /// A sampler for a reply to `prompt`. Two with the same rules and seed draw the
    /// same tokens from the same logits.
    pub fn new(rules: SamplingRules, seed: u64, prompt: &[u32]) -> Self {
        let mut sampler = Self {
            rules,
            rng: ChaCha8Rng::seed_from_u64(seed),
            seen: Vec::new(),
            was_seen: Vec::new(),
        };
        for &token in prompt {
            sampler.note(token);
        }
        sampler
    }

    /// Draws a token and notes it as seen. The logits are worked on in place.
    ///
    /// Of equally likely tokens the one with the lowest number comes first, which
    /// for a temperature of zero means that it is taken.
    ///
    /// # Errors
    ///
    /// If a logit is not a finite number.
    pub fn draw(&mut self, logits: &mut [f32]) -> Result<u32, FlawedLogits> {
        let n_flawed = logits.iter().filter(|logit| !logit.is_finite()).count();
        if n_flawed > 0 || logits.is_empty() {
            return Err(FlawedLogits { n_flawed });
        }
        self.penalize(logits);
        let token = if self.rules.temperature > 0.0 {
            let candidates = candidates(&self.rules, logits);
            pick(&candidates, self.rng.random())
        } else {
            likeliest(logits)
        };
        self.note(token);
        Ok(token)
    }

    fn penalize(&self, logits: &mut [f32]) {
        let penalty = self.rules.repetition_penalty;
        #[expect(clippy::float_cmp, reason = "one is exactly off")]
        if penalty == 1.0 {
            return;
        }
        for &token in &self.seen {
            if let Some(logit) = logits.get_mut(token as usize) {
                *logit = if *logit < 0.0 { *logit * penalty } else { *logit / penalty };
            }
        }
    }

    fn note(&mut self, token: u32) {
        let index = token as usize;
        if index >= self.was_seen.len() {
            self.was_seen.resize(index + 1, false);
        }
        if !std::mem::replace(&mut self.was_seen[index], true) {
            self.seen.push(token);
        }
    }
}

/// The token with the greatest logit; of several, the first.
fn likeliest(logits: &[f32]) -> u32 {
    let mut best = (0, f32::NEG_INFINITY);
    for (token, &logit) in (0..).zip(logits) {
        if logit > best.1 {
            best = (token, logit);
        }
    }
    best.0
}

/// What is less likely than the likeliest by this factor, as a power of e, is never
/// drawn: all of it together has no chance that a draw could tell from none.
const FAINT: f64 = -40.0;

/// What may be drawn, with its mass, in the order of tokens. The masses need not
/// add up to one.
fn candidates(rules: &SamplingRules, logits: &[f32]) -> Vec<(u32, f64)> {
    let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exponent = |logit: f32| f64::from(logit - greatest) / rules.temperature;
    let mut kept: Vec<(u32, f64)> = (0..)
        .zip(logits)
        .map(|(token, &logit)| (token, exponent(logit)))
        .filter(|&(_, exponent)| exponent >= FAINT)
        .collect();
    // The likeliest first, of several the lowest token first.
    kept.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    if let Some(top_k) = rules.top_k.filter(|&top_k| top_k > 0)
        && let Some(&(_, least)) = kept.get(top_k - 1)
    {
        kept.truncate(kept.partition_point(|&(_, exponent)| exponent >= least));
    }
    for (_, exponent) in &mut kept {
        *exponent = exponent.exp();
    }
    if rules.top_p < 1.0 {
        let target = rules.top_p * kept.iter().map(|(_, mass)| mass).sum::<f64>();
        let mut sum = 0.0;
        let needed = kept.iter().take_while(|&&(_, mass)| {
            let is_needed = sum < target;
            sum += mass;
            is_needed
        });
        let n_needed = needed.count().max(1);
        kept.truncate(n_needed);
    }
    kept.sort_unstable_by_key(|&(token, _)| token);
    kept
}

/// The candidate at a place in `0..1` of the whole mass.
fn pick(candidates: &[(u32, f64)], place: f64) -> u32 {
    let target = place * candidates.iter().map(|(_, mass)| mass).sum::<f64>();
    let mut sum = 0.0;
    for &(token, mass) in candidates {
        sum += mass;
        if target < sum {
            return token;
        }
    }
    // Only rounding leads here.
    candidates.last().map_or(0, |&(token, _)| token)
}

#[cfg(test)]
mod tests;
