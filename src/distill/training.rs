//! Steps, epochs, and what is kept of them.

use candle_core::Tensor;

use super::{
    DistillError, Figures, Keep, StepSettings,
    checkpoint::{Best, Checkpoint, Standing},
};
use crate::nn::trainable::{AdamW, AdamWSettings, Noise, Parameters};

/// What is learnt from what.
pub(super) trait Lesson {
    /// The batches of an epoch; as many in each.
    fn batches(&self, epoch: usize) -> Vec<Vec<usize>>;

    /// The loss of a batch.
    fn loss(
        &self,
        parameters: &Parameters,
        batch: &[usize],
        noise: &mut Noise,
    ) -> candle_core::Result<Tensor>;

    /// How well the model does on what it does not learn from.
    fn examine(&self, parameters: &Parameters) -> candle_core::Result<Figures>;
}

/// Sees how a training goes.
pub trait Watch {
    /// So many steps are to be taken, and so many have been before.
    fn begin(&self, what: &str, n_steps: usize, n_done: usize);
    /// One was taken.
    fn step(&self, loss: f64);
    /// An epoch, counted from one, came to its end.
    fn epoch(&self, epoch: usize, loss: f64, figures: &Figures);
    /// All were taken.
    fn end(&self);
}

/// A training, ready to go.
pub(super) struct Training<'a> {
    pub(super) what: &'a str,
    pub(super) seed: u64,
    pub(super) steps: StepSettings,
    pub(super) optimizer: AdamWSettings,
    pub(super) fingerprint: String,
    pub(super) checkpoint: Option<Checkpoint>,
    pub(super) watch: &'a dyn Watch,
}

/// How a training went.
pub(super) struct Course {
    /// The loss of each step.
    pub(super) losses: Vec<f64>,
    /// The figures after each epoch.
    pub(super) figures: Vec<Figures>,
    /// The epoch, counted from zero, of which the model is.
    pub(super) kept: usize,
    /// The steps of an epoch.
    pub(super) n_batches: usize,
}

impl Training<'_> {
    /// Trains, and leaves the parameters at the values that are kept.
    pub(super) fn run(
        &self,
        lesson: &dyn Lesson,
        parameters: &Parameters,
    ) -> Result<Course, DistillError> {
        let mut optimizer = AdamW::new(parameters, self.optimizer)?;
        let taken_up = match &self.checkpoint {
            Some(checkpoint) => checkpoint.resume(&self.fingerprint, parameters, &mut optimizer)?,
            None => None,
        };
        let fresh = || {
            let standing = Standing {
                fingerprint: self.fingerprint.clone(),
                epoch: 0,
                batch: 0,
                n_steps: 0,
                losses: Vec::new(),
                figures: Vec::new(),
                best: None,
            };
            (standing, Best::new())
        };
        let (mut standing, mut best) = taken_up.unwrap_or_else(fresh);
        let n_batches = lesson.batches(0).len();
        let n_steps = n_batches * self.steps.epochs;
        self.watch.begin(self.what, n_steps, standing.losses.len());
        while standing.epoch < self.steps.epochs && !self.is_out_of_patience(&standing) {
            self.epoch(lesson, parameters, &mut optimizer, (&mut standing, &best), n_steps)?;
            optimizer.show_averages(parameters, true)?;
            let figures = lesson.examine(parameters)?;
            let losses = &standing.losses[standing.losses.len().saturating_sub(n_batches)..];
            let loss = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
            self.watch.epoch(standing.epoch + 1, loss, &figures);
            // What is not there is less than any figure.
            let is_best = figures.chosen.is_some()
                && standing.best.is_none_or(|best| standing.figures[best].chosen < figures.chosen);
            if is_best || self.steps.keep == Keep::Last {
                best = values(parameters)?;
            }
            if is_best {
                standing.best = Some(standing.epoch);
            }
            standing.figures.push(figures);
            optimizer.show_averages(parameters, false)?;
            (standing.epoch, standing.batch) = (standing.epoch + 1, 0);
            self.write(&standing, &optimizer, &best)?;
        }
        self.watch.end();
        for (name, parameter) in parameters.iter() {
            if let Some(numbers) = best.get(name) {
                let (shape, device) = (parameter.var.shape(), parameter.var.device());
                parameter.var.set(&Tensor::from_slice(numbers, shape, device)?)?;
            }
        }
        let last = standing.epoch.saturating_sub(1);
        let kept = match self.steps.keep {
            Keep::Last => last,
            Keep::Best => standing.best.unwrap_or(last),
        };
        Ok(Course { losses: standing.losses, figures: standing.figures, kept, n_batches })
    }

    /// The steps of an epoch that were not taken yet.
    fn epoch(
        &self,
        lesson: &dyn Lesson,
        parameters: &Parameters,
        optimizer: &mut AdamW,
        (standing, best): (&mut Standing, &Best),
        n_steps: usize,
    ) -> Result<(), DistillError> {
        let batches = lesson.batches(standing.epoch);
        let batches_left = batches.get(standing.batch..).unwrap_or_default();
        for batch in batches_left {
            let mut noise = Noise::new(self.seed, standing.n_steps + 1);
            let loss = lesson.loss(parameters, batch, &mut noise)?;
            let slopes = loss.backward()?;
            let step = standing.losses.len();
            optimizer.step(parameters, &slopes, self.steps.factor(step, n_steps))?;
            let loss = f64::from(loss.to_scalar::<f32>()?);
            standing.losses.push(loss);
            standing.n_steps = optimizer.n_steps();
            standing.batch += 1;
            self.watch.step(loss);
            if standing.losses.len().is_multiple_of(self.steps.checkpoint_every) {
                self.write(standing, optimizer, best)?;
            }
        }
        Ok(())
    }

    fn write(
        &self,
        standing: &Standing,
        optimizer: &AdamW,
        best: &Best,
    ) -> Result<(), DistillError> {
        match &self.checkpoint {
            Some(checkpoint) => checkpoint.write(standing, optimizer, best),
            None => Ok(()),
        }
    }

    fn is_out_of_patience(&self, standing: &Standing) -> bool {
        let waited = standing.best.map_or(0, |best| standing.epoch - 1 - best);
        0 < self.steps.patience && self.steps.patience <= waited
    }
}

/// The values of all parameters.
fn values(parameters: &Parameters) -> candle_core::Result<Best> {
    parameters
        .iter()
        .map(|(name, parameter)| {
            Ok((name.to_owned(), parameter.var.as_tensor().flatten_all()?.to_vec1()?))
        })
        .collect()
}
