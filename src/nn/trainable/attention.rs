//! Attention within each text, with its gradients.

use std::{borrow::Cow, ops::Range, sync::Arc};

use candle_core::{CpuStorage, CustomOp3, D, DType, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use super::{Noise, dropout, dropout::Dropout, numbers, slice};
use crate::nn::kernels::{Cpu, softmax};

/// Every token attends to all tokens of its own text. Queries, keys and values are
/// `[n, heads * size]`, the rows of `texts` follow each other and cover all.
///
/// With noise, weights are left out with the probability `rate`.
pub fn attend(
    [queries, keys, values]: [&Tensor; 3],
    n_heads: usize,
    texts: &Arc<Vec<Range<usize>>>,
    (rate, noise): (f64, Option<&mut Noise>),
) -> Result<Tensor> {
    if !queries.device().is_cpu() {
        return padded([queries, keys, values], n_heads, texts, (rate, noise));
    }
    let drop = noise.filter(|_| 0.0 < rate).map(|noise| Dropout { rate, seed: noise.bits() });
    let attention = Attention { n_heads, texts: Arc::clone(texts), drop };
    queries.contiguous()?.apply_op3(&keys.contiguous()?, &values.contiguous()?, attention)
}

/// The same from candle's operations: the texts padded to the longest, and what is
/// padding left out by a mask.
fn padded(
    [queries, keys, values]: [&Tensor; 3],
    n_heads: usize,
    texts: &[Range<usize>],
    (rate, noise): (f64, Option<&mut Noise>),
) -> Result<Tensor> {
    let (_, width) = queries.dims2()?;
    let size = width / n_heads;
    let device = queries.device();
    let longest = texts.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
    let (mut places, mut mask, mut back) = (Vec::new(), Vec::new(), Vec::new());
    for (index, text) in texts.iter().enumerate() {
        for place in 0..longest {
            let is_there = place < text.len();
            // Padding reads any row; the mask keeps it out.
            places.push(to_u32(text.start + if is_there { place } else { 0 })?);
            mask.push(if is_there { 0.0_f32 } else { f32::NEG_INFINITY });
        }
        for place in 0..text.len() {
            back.push(to_u32(index * longest + place)?);
        }
    }
    let places = Tensor::new(places, device)?;
    let mask = Tensor::new(mask, device)?.reshape((texts.len(), 1, 1, longest))?;
    let split = |rows: &Tensor| {
        rows.index_select(&places, 0)?
            .reshape((texts.len(), longest, n_heads, size))?
            .transpose(1, 2)?
            .contiguous()
    };
    let (queries, keys, values) = (split(queries)?, split(keys)?, split(values)?);
    let scores = (queries.matmul(&keys.t()?)? * (1.0 / (size as f64).sqrt()))?;
    let weights = candle_nn::ops::softmax(&scores.broadcast_add(&mask)?, D::Minus1)?;
    let weights = dropout(&weights, rate, noise)?;
    let attended = weights.matmul(&values)?.transpose(1, 2)?.contiguous()?;
    attended.reshape((texts.len() * longest, width))?.index_select(&Tensor::new(back, device)?, 0)
}

fn to_u32(place: usize) -> Result<u32> {
    u32::try_from(place).map_err(candle_core::Error::wrap)
}

struct Attention {
    n_heads: usize,
    texts: Arc<Vec<Range<usize>>>,
    drop: Option<Dropout>,
}

/// One head of one text, its numbers side by side.
struct Head {
    n: usize,
    size: usize,
    /// Softmax of the scores, a row for each query.
    weights: Vec<f32>,
    /// What each of them is multiplied with, where some are left out.
    factors: Option<Vec<f32>>,
}

/// Copies one head of some rows.
fn part(rows: &[f32], width: usize, text: &Range<usize>, columns: &Range<usize>) -> Vec<f32> {
    text.clone().flat_map(|row| &rows[row * width..][columns.clone()]).copied().collect()
}

impl Head {
    /// `keys` with the numbers of a dimension side by side, so that loops run along it.
    fn new(queries: &[f32], keys: &[f32], size: usize, drop: Option<Dropout>) -> Self {
        let n = queries.len() / size;
        let scale = 1.0 / (size as f32).sqrt();
        let mut across = vec![0.0; keys.len()];
        for (key, numbers) in keys.chunks(size).enumerate() {
            for (dimension, number) in numbers.iter().enumerate() {
                across[dimension * n + key] = number * scale;
            }
        }
        let mut weights = vec![0.0; n * n];
        let cpu = Cpu::detect();
        for (query, scores) in queries.chunks(size).zip(weights.chunks_mut(n)) {
            for (number, keys) in query.iter().zip(across.chunks(n)) {
                add_scaled(scores, *number, keys);
            }
            let factor = 1.0 / softmax(cpu, scores);
            for score in scores {
                *score *= factor;
            }
        }
        let factors = drop.map(|drop| {
            let mut factors = vec![1.0; n * n];
            drop.apply(&mut factors);
            factors
        });
        Self { n, size, weights, factors }
    }

    /// `weights * values`.
    fn apply(&self, values: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; self.n * self.size];
        let weights = self.kept();
        for (out, weights) in out.chunks_mut(self.size).zip(weights.chunks(self.n)) {
            for (weight, value) in weights.iter().zip(values.chunks(self.size)) {
                add_scaled(out, *weight, value);
            }
        }
        out
    }

    /// The weights that are not left out.
    fn kept(&self) -> Cow<'_, [f32]> {
        match &self.factors {
            None => Cow::Borrowed(&self.weights),
            Some(factors) => self.weights.iter().zip(factors).map(|(w, f)| w * f).collect(),
        }
    }

    /// The slopes of queries, keys and values.
    fn slopes(
        &self,
        queries: &[f32],
        keys: &[f32],
        values: &[f32],
        slope: &[f32],
    ) -> [Vec<f32>; 3] {
        let (n, size) = (self.n, self.size);
        let scale = 1.0 / (size as f32).sqrt();
        let mut out = [(); 3].map(|()| vec![0.0; n * size]);
        let [for_queries, for_keys, for_values] = &mut out;
        let mut across = vec![0.0; n * size];
        for (key, numbers) in values.chunks(size).enumerate() {
            for (dimension, number) in numbers.iter().enumerate() {
                across[dimension * n + key] = *number;
            }
        }
        let mut for_weights = vec![0.0; n];
        let kept = self.kept();
        for (row, weights) in self.weights.chunks(n).enumerate() {
            let slope = &slope[row * size..][..size];
            let query = &queries[row * size..][..size];
            for_weights.fill(0.0);
            for (number, values) in slope.iter().zip(across.chunks(n)) {
                add_scaled(&mut for_weights, *number, values);
            }
            if let Some(factors) = &self.factors {
                for (slope, factor) in for_weights.iter_mut().zip(&factors[row * n..][..n]) {
                    *slope *= factor;
                }
            }
            let mean: f32 = weights.iter().zip(&for_weights).map(|(w, s)| w * s).sum();
            for (key, weight) in weights.iter().enumerate() {
                add_scaled(&mut for_values[key * size..][..size], kept[row * n + key], slope);
                let for_score = weight * (for_weights[key] - mean) * scale;
                let for_query = &mut for_queries[row * size..][..size];
                add_scaled(for_query, for_score, &keys[key * size..][..size]);
                add_scaled(&mut for_keys[key * size..][..size], for_score, query);
            }
        }
        out
    }
}

fn add_scaled(out: &mut [f32], factor: f32, terms: &[f32]) {
    for (out, term) in out.iter_mut().zip(terms) {
        *out += factor * term;
    }
}

impl Attention {
    /// Does something with each head of each text, and puts the results in their places.
    fn for_each<const N: usize>(
        &self,
        width: usize,
        n_rows: usize,
        work: impl Fn(&Range<usize>, &Range<usize>, Option<Dropout>) -> [Vec<f32>; N] + Sync,
    ) -> [Vec<f32>; N] {
        let size = width / self.n_heads;
        let heads: Vec<(&Range<usize>, Range<usize>)> = self
            .texts
            .iter()
            .flat_map(|text| {
                (0..self.n_heads).map(move |head| (text, head * size..(head + 1) * size))
            })
            .collect();
        let one = |(index, (text, columns)): (usize, &(&Range<usize>, Range<usize>))| {
            work(text, columns, self.drop.as_ref().map(|drop| drop.branch(index as u64)))
        };
        let made: Vec<[Vec<f32>; N]> = heads.par_iter().enumerate().map(one).collect();
        let mut out = [(); N].map(|()| vec![0.0; n_rows * width]);
        for ((text, columns), made) in heads.iter().zip(made) {
            for (out, made) in out.iter_mut().zip(made) {
                for (row, numbers) in (*text).clone().zip(made.chunks(size)) {
                    out[row * width..][columns.clone()].copy_from_slice(numbers);
                }
            }
        }
        out
    }
}

impl CustomOp3 for Attention {
    fn name(&self) -> &'static str {
        "attention"
    }

    fn cpu_fwd(
        &self,
        queries: &CpuStorage,
        layout: &Layout,
        keys: &CpuStorage,
        keys_layout: &Layout,
        values: &CpuStorage,
        values_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (n_rows, width) = layout.shape().dims2()?;
        let queries = slice(queries, layout)?;
        let (keys, values) = (slice(keys, keys_layout)?, slice(values, values_layout)?);
        let [out] = self.for_each(width, n_rows, |text, columns, drop| {
            let part = |rows| part(rows, width, text, columns);
            [Head::new(&part(queries), &part(keys), columns.len(), drop).apply(&part(values))]
        });
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }

    fn bwd(
        &self,
        queries: &Tensor,
        keys: &Tensor,
        values: &Tensor,
        _out: &Tensor,
        slope: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let (n_rows, width) = queries.dims2()?;
        let shape = queries.shape();
        let device = queries.device();
        let (queries, keys) = (numbers(queries)?, numbers(keys)?);
        let (values, slope) = (numbers(values)?, numbers(&slope.to_dtype(DType::F32)?)?);
        let slopes = self.for_each(width, n_rows, |text, columns, drop| {
            let part = |rows: &[f32]| part(rows, width, text, columns);
            let (queries, keys, values) = (part(&queries), part(&keys), part(&values));
            Head::new(&queries, &keys, columns.len(), drop).slopes(
                &queries,
                &keys,
                &values,
                &part(&slope),
            )
        });
        let [for_queries, for_keys, for_values] = slopes;
        let tensor = |numbers| Tensor::from_vec(numbers, shape, device).map(Some);
        Ok((tensor(for_queries)?, tensor(for_keys)?, tensor(for_values)?))
    }
}
