//! A segmenter in training.

use std::ops::Range;

use candle_core::{Result, Tensor};

use super::{
    DistillError, Figures, MarkedText, SegmenterSettings, batches, figures,
    task::Setup,
    tower::{Ground, Tower},
    training::Lesson,
};
use crate::{
    nn::trainable::{Noise, Parameters, dropout, gelu, linear},
    segment::{N_SURFACE, PlaceHead, Segmentation, TextRows, text_rows},
};

/// Texts of a batch where nothing is learnt.
const EXAMINED_TOGETHER: usize = 32;

/// Cut texts to learn from, and others to try out on.
pub(super) struct CutLesson<'a> {
    settings: &'a SegmenterSettings,
    tower: Tower,
    ground: Ground,
    learnt: Vec<Text<'a>>,
    tried: Vec<Text<'a>>,
    /// How much a cut weighs, where a place that is none weighs one.
    cut_weight: f64,
}

/// A text, its places, and which of them are cuts.
struct Text<'a> {
    marked: &'a MarkedText,
    first_row: usize,
    rows: TextRows,
    n_tokens: usize,
    is_cut: Vec<bool>,
}

impl<'a> CutLesson<'a> {
    pub(super) fn new(
        settings: &'a SegmenterSettings,
        setup: &Setup<'_>,
        [learnt, tried]: [&[&'a MarkedText]; 2],
        parameters: &mut Parameters,
    ) -> std::result::Result<Self, DistillError> {
        let Setup { origin, base, device, .. } = setup;
        let tower = Tower::new(origin, &settings.encoder, &settings.steps, (parameters, device))?;
        let width = PlaceHead::width(base.encoder.hidden_size());
        let (hidden, rate) = (settings.head.hidden, settings.steps.head_rate);
        let mut noise = Noise::new(settings.seed, 0);
        parameters.insert_linear("head.inner", [hidden, width], rate, (&mut noise, device))?;
        parameters.insert_linear("head.outer", [1, hidden], rate, (&mut noise, device))?;
        let mut all_rows = Vec::new();
        let mut place = |texts: &[&'a MarkedText]| -> std::result::Result<Vec<_>, DistillError> {
            texts
                .iter()
                .map(|text| {
                    let rows = text_rows(base.encoder.reader(), &text.text)
                        .map_err(DistillError::Settings)?;
                    let is_cut = rows.places.iter().map(|place| {
                        let gap = place.end..=place.after.start;
                        text.cut.ends().iter().any(|cut| gap.contains(cut))
                    });
                    let (is_cut, first_row) = (is_cut.collect(), all_rows.len());
                    let n_tokens = rows.rows.iter().map(Vec::len).sum();
                    all_rows.extend(rows.rows.iter().cloned());
                    Ok(Text { marked: text, first_row, rows, n_tokens, is_cut })
                })
                .collect()
        };
        let (mut learnt, tried) = (place(learnt)?, place(tried)?);
        learnt.retain(|text| !text.rows.places.is_empty());
        if learnt.is_empty() {
            let reason = "no text has a place where it could be cut".to_owned();
            return Err(DistillError::Settings(reason));
        }
        let n_places = learnt.iter().map(|text| text.is_cut.len()).sum::<usize>() as f64;
        let n_cuts = learnt.iter().flat_map(|text| &text.is_cut).filter(|is_cut| **is_cut).count();
        let rarity = (n_places - n_cuts as f64) / (n_cuts as f64).max(1.0);
        let cut_weight = rarity.max(1.0).powf(settings.head.class_balance);
        let ground = Ground::new(base, &all_rows)?;
        Ok(Self { settings, tower, ground, learnt, tried, cut_weight })
    }

    /// The logarithm of the odds of each place of some texts; `None` if there is none.
    fn logits(
        &self,
        parameters: &Parameters,
        texts: &[&Text<'_>],
        mut noise: Option<&mut Noise>,
    ) -> Result<Option<Tensor>> {
        let (mut rows, mut first, mut last) = (Vec::new(), Vec::new(), Vec::new());
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let mut surface: Vec<f32> = Vec::new();
        let mut n_tokens = 0;
        for text in texts {
            let mut starts = Vec::new();
            for (index, row) in text.rows.rows.iter().enumerate() {
                rows.push(text.first_row + index);
                starts.push(n_tokens);
                n_tokens += row.len();
            }
            for (place, at) in text.rows.places.iter().zip(&text.rows.tokens) {
                let index = |token: usize| {
                    u32::try_from(starts[at.row] + token).map_err(candle_core::Error::wrap)
                };
                first.push(index(at.first)?);
                last.push(index(at.last)?);
                let start = starts[at.row];
                left.push(start + at.left.start..start + at.left.end);
                right.push(start + at.right.start..start + at.right.end);
                surface.extend(place.surface);
            }
        }
        if first.is_empty() {
            return Ok(None);
        }
        let device = &self.tower.device;
        let read = self.tower.forward(parameters, &self.ground, &rows, noise.as_deref_mut())?;
        let n_places = first.len();
        let pick = |tokens: Vec<u32>| read.states.index_select(&Tensor::new(tokens, device)?, 0);
        let surface = Tensor::from_vec(surface, (n_places, N_SURFACE), device)?;
        let side = |side: &[Range<usize>]| read.directions(side.iter().map(std::iter::once));
        let (left, right) = (side(&left)?, side(&right)?);
        let (apart, product) = ((&left - &right)?.abs()?, (&left * &right)?);
        let input = [pick(first)?, pick(last)?, apart, product, right, surface];
        let input = Tensor::cat(&input, 1)?;
        let rate = self.settings.head.dropout;
        let get = |name: &str| parameters.get(name);
        let input = dropout(&input, rate, noise.as_deref_mut())?;
        let inner = linear(&input, get("head.inner.weight")?, get("head.inner.bias")?)?;
        let inner = dropout(&gelu(&inner)?, rate, noise)?;
        let outer = linear(&inner, get("head.outer.weight")?, get("head.outer.bias")?)?;
        outer.flatten_all().map(Some)
    }

    /// The cuts in each text that is tried out on.
    fn cuts(&self, parameters: &Parameters) -> Result<Vec<Segmentation>> {
        let threshold = self.settings.head.threshold;
        let bound = (threshold / (1.0 - threshold)).ln();
        let mut cuts = Vec::new();
        for texts in self.tried.chunks(EXAMINED_TOGETHER) {
            let texts: Vec<&Text<'_>> = texts.iter().collect();
            let logits = match self.logits(parameters, &texts, None)? {
                Some(logits) => logits.to_vec1::<f32>()?,
                None => Vec::new(),
            };
            let mut logits = logits.into_iter();
            for text in texts {
                let places = text.rows.places.iter().zip(logits.by_ref());
                let found = places.filter(|(_, logit)| bound < f64::from(*logit));
                let text = &text.marked.text;
                let ends = found.map(|(place, _)| place.end).chain([text.len()]).collect();
                cuts.push(Segmentation::new(text, ends).ok_or_else(|| {
                    candle_core::Error::Msg("a place where no character begins".into())
                })?);
            }
        }
        Ok(cuts)
    }
}

impl Lesson for CutLesson<'_> {
    fn batches(&self, epoch: usize) -> Vec<Vec<usize>> {
        let lengths: Vec<usize> = self.learnt.iter().map(|text| text.n_tokens).collect();
        batches::of_lengths(&lengths, self.settings.steps.batch, self.settings.seed, epoch)
    }

    fn loss(&self, parameters: &Parameters, batch: &[usize], noise: &mut Noise) -> Result<Tensor> {
        let texts: Vec<&Text<'_>> = batch.iter().map(|index| &self.learnt[*index]).collect();
        let logits = self.logits(parameters, &texts, Some(noise))?;
        let logits =
            logits.ok_or_else(|| candle_core::Error::Msg("a batch without a place".into()))?;
        let device = &self.tower.device;
        let cuts: Vec<f32> = texts
            .iter()
            .flat_map(|text| text.is_cut.iter().map(|is_cut| f32::from(u8::from(*is_cut))))
            .collect();
        let cuts = Tensor::new(cuts, device)?;
        // log(1 + exp(-|x|)) + max(x, 0) - x * y, which no x overflows.
        let soft = ((logits.abs()?.neg()?.exp()? + 1.0)?.log()? + logits.relu()?)?;
        let losses = (soft - (&logits * &cuts)?)?;
        let weights = ((cuts * (self.cut_weight - 1.0))? + 1.0)?;
        (losses * &weights)?.sum_all()?.broadcast_div(&weights.sum_all()?)
    }

    fn examine(&self, parameters: &Parameters) -> Result<Figures> {
        let texts: Vec<&MarkedText> = self.tried.iter().map(|text| text.marked).collect();
        Ok(figures::of_cuts(&texts, &self.cuts(parameters)?))
    }
}
