//! A scorer in training.

use std::collections::{BTreeMap, HashMap};

use candle_core::{D, Result, Tensor};

use super::{
    DistillError, Figures, RatedPair, ScorerHead, ScorerSettings, batches, figures,
    task::Setup,
    tower::{Ground, Tower},
    training::Lesson,
};
use crate::{
    nn::trainable::{Noise, Parameters, dropout, gelu, layer_norm, linear},
    similarity::{Feature, PairHead, unit_rows},
};

/// Pairs of a batch where nothing is learnt.
const EXAMINED_TOGETHER: usize = 128;

/// How many ratings there are.
const N_RATINGS: usize = 5;

/// Rated pairs to learn from, and others to try out on.
pub(super) struct PairLesson<'a> {
    settings: &'a ScorerSettings,
    tower: Tower,
    ground: Ground,
    /// The rows of the ground that each unit is read in.
    units: Vec<Vec<usize>>,
    learnt: Vec<Pair<'a>>,
    groups: Vec<Vec<usize>>,
    tried: Vec<Pair<'a>>,
}

/// A pair by its units.
struct Pair<'a> {
    rated: &'a RatedPair,
    units: [usize; 2],
    weight: f32,
}

impl<'a> PairLesson<'a> {
    pub(super) fn new(
        settings: &'a ScorerSettings,
        setup: &Setup<'_>,
        [learnt, tried]: [&[&'a RatedPair]; 2],
        parameters: &mut Parameters,
    ) -> std::result::Result<Self, DistillError> {
        let Setup { origin, base, device, .. } = setup;
        let tower = Tower::new(origin, &settings.encoder, &settings.steps, (parameters, device))?;
        let ScorerHead { features, hidden, .. } = &settings.head;
        let head = PairHead { features: features.clone(), hidden: *hidden };
        let width = head.width(base.encoder.hidden_size());
        let rate = settings.steps.head_rate;
        let mut noise = Noise::new(settings.seed, 0);
        parameters.insert_norm("head.norm", width, rate, device)?;
        let inner = [*hidden, width];
        parameters.insert_linear("head.inner", inner, rate, (&mut noise, device))?;
        let outer = [N_RATINGS, *hidden];
        parameters.insert_linear("head.outer", outer, rate, (&mut noise, device))?;

        let (mut rows, mut units, mut known) = (Vec::new(), Vec::new(), HashMap::new());
        let mut unit = |text: &'a str| -> std::result::Result<usize, DistillError> {
            if let Some(index) = known.get(text) {
                return Ok(*index);
            }
            let own = unit_rows(&base.encoder, text).map_err(DistillError::Settings)?;
            units.push((rows.len()..rows.len() + own.len()).collect());
            rows.extend(own);
            known.insert(text, units.len() - 1);
            Ok(units.len() - 1)
        };
        let mut place = |pairs: &[&'a RatedPair]| -> std::result::Result<Vec<_>, DistillError> {
            pairs
                .iter()
                .map(|pair| {
                    Ok(Pair { rated: pair, units: [unit(&pair.a)?, unit(&pair.b)?], weight: 1.0 })
                })
                .collect()
        };
        let (mut learnt, tried) = (place(learnt)?, place(tried)?);
        balance(&mut learnt, settings.head.class_balance);
        let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, pair) in learnt.iter().enumerate() {
            groups.entry(&pair.rated.paragraph).or_default().push(index);
        }
        let groups = groups.into_values().collect();
        let ground = Ground::new(base, &rows)?;
        Ok(Self { settings, tower, ground, units, learnt, groups, tried })
    }

    /// Logarithms of the ratings' probabilities, up to a constant: `[pairs, 5]`.
    fn logits(
        &self,
        parameters: &Parameters,
        pairs: &[&Pair<'_>],
        mut noise: Option<&mut Noise>,
    ) -> Result<Tensor> {
        let mut places: BTreeMap<usize, u32> = BTreeMap::new();
        for unit in pairs.iter().flat_map(|pair| pair.units) {
            let next = u32::try_from(places.len()).map_err(candle_core::Error::wrap)?;
            places.entry(unit).or_insert(next);
        }
        // In the order of their places.
        let mut units: Vec<(u32, usize)> =
            places.iter().map(|(unit, place)| (*place, *unit)).collect();
        units.sort_unstable();
        let rows: Vec<usize> =
            units.iter().flat_map(|(_, unit)| self.units[*unit].iter().copied()).collect();
        let read = self.tower.forward(parameters, &self.ground, &rows, noise.as_deref_mut())?;
        let mut ranges = read.ranges.iter();
        let n_rows_of: Vec<usize> = units.iter().map(|(_, unit)| self.units[*unit].len()).collect();
        let of_units =
            n_rows_of.into_iter().map(|n_rows| ranges.by_ref().take(n_rows).collect::<Vec<_>>());
        let vectors = read.directions(of_units.map(Vec::into_iter))?;
        let side = |side: usize| -> Result<Tensor> {
            let places: Vec<u32> = pairs.iter().map(|pair| places[&pair.units[side]]).collect();
            vectors.index_select(&Tensor::new(places, &self.tower.device)?, 0)
        };
        let (left, right) = (side(0)?, side(1)?);
        let product = (&left * &right)?;
        let width = product.dim(1)? as f64;
        let features = self.settings.head.features.iter().map(|feature| match feature {
            Feature::Difference => (&left - &right)?.abs(),
            Feature::Product => Ok(product.clone()),
            Feature::Cosine => product.sum_keepdim(1)? * (4.0 / width),
        });
        let features = Tensor::cat(&features.collect::<Result<Vec<_>>>()?, 1)?;
        let get = |name: &str| parameters.get(name);
        let (weight, bias) = (get("head.norm.weight")?, get("head.norm.bias")?);
        let normed = layer_norm(&features, weight, bias, PairHead::NORM_EPSILON)?;
        let rate = self.settings.head.dropout;
        let normed = dropout(&normed, rate, noise.as_deref_mut())?;
        let inner = linear(&normed, get("head.inner.weight")?, get("head.inner.bias")?)?;
        let inner = dropout(&gelu(&inner)?, rate, noise)?;
        linear(&inner, get("head.outer.weight")?, get("head.outer.bias")?)
    }

    /// The mean ratings of the pairs that are tried out on.
    fn ratings(&self, parameters: &Parameters) -> Result<Vec<f64>> {
        let mut ratings = Vec::with_capacity(self.tried.len());
        for pairs in self.tried.chunks(EXAMINED_TOGETHER) {
            let pairs: Vec<&Pair<'_>> = pairs.iter().collect();
            let logits = self.logits(parameters, &pairs, None)?.detach();
            let probabilities = candle_nn::ops::softmax(&logits, D::Minus1)?;
            for probabilities in probabilities.to_vec2::<f32>()? {
                let mean = (0_u8..).zip(probabilities).map(|(k, p)| f64::from(k) * f64::from(p));
                ratings.push(mean.sum());
            }
        }
        Ok(ratings)
    }
}

impl Lesson for PairLesson<'_> {
    fn batches(&self, epoch: usize) -> Vec<Vec<usize>> {
        batches::of_groups(&self.groups, self.settings.steps.batch, self.settings.seed, epoch)
    }

    fn loss(&self, parameters: &Parameters, batch: &[usize], noise: &mut Noise) -> Result<Tensor> {
        let pairs: Vec<&Pair<'_>> = batch.iter().map(|index| &self.learnt[*index]).collect();
        let logits = self.logits(parameters, &pairs, Some(noise))?;
        let ScorerHead { spread, squared_error, .. } = self.settings.head;
        let device = &self.tower.device;
        let targets: Vec<f32> =
            pairs.iter().flat_map(|pair| target(pair.rated.rating, spread)).collect();
        let targets = Tensor::from_vec(targets, (pairs.len(), N_RATINGS), device)?;
        let logarithms = candle_nn::ops::log_softmax(&logits, D::Minus1)?;
        let levels = Tensor::new(&[[0.0_f32, 1.0, 2.0, 3.0, 4.0]], device)?;
        let means = logarithms.exp()?.broadcast_mul(&levels)?.sum(1)?;
        let truth: Vec<f32> = pairs.iter().map(|pair| to_f32(pair.rated.rating)).collect();
        let errors = (means - Tensor::new(truth, device)?)?.sqr()?;
        let losses = ((errors * squared_error)? - (targets * logarithms)?.sum(1)?)?;
        let weights: Vec<f32> = pairs.iter().map(|pair| pair.weight).collect();
        let total: f32 = weights.iter().sum();
        (losses * Tensor::new(weights, device)?)?.sum_all()? / f64::from(total)
    }

    fn examine(&self, parameters: &Parameters) -> Result<Figures> {
        let pairs: Vec<&RatedPair> = self.tried.iter().map(|pair| pair.rated).collect();
        Ok(figures::of_ratings(&pairs, &self.ratings(parameters)?))
    }
}

/// How likely each rating should be held for a pair of a mean rating.
fn target(rating: f64, spread: f64) -> [f32; N_RATINGS] {
    let weights = [0.0, 1.0, 2.0, 3.0, 4.0]
        .map(|level: f64| (-(level - rating).powi(2) / (2.0 * spread * spread)).exp());
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| to_f32(weight / sum))
}

/// Gives pairs of rare ratings more weight; the mean weight is one.
fn balance(pairs: &mut [Pair<'_>], exponent: f64) {
    let mut counts = [0.0_f64; N_RATINGS];
    let class =
        |pair: &Pair<'_>| (0..4).filter(|k| f64::from(*k) + 0.5 <= pair.rated.rating).count();
    for pair in &*pairs {
        counts[class(pair)] += 1.0;
    }
    let weight = |pair: &Pair<'_>| counts[class(pair)].powf(-exponent);
    let mean = pairs.iter().map(weight).sum::<f64>() / pairs.len() as f64;
    let weights: Vec<f32> = pairs.iter().map(|pair| to_f32(weight(pair) / mean)).collect();
    for (pair, weight) in pairs.iter_mut().zip(weights) {
        pair.weight = weight;
    }
}

#[expect(clippy::cast_possible_truncation, reason = "numbers in single precision")]
fn to_f32(value: f64) -> f32 {
    value as f32
}
