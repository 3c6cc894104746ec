//! What scorer and segmenter are trained alike by: data, folds, what is written.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use candle_core::Device;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    DistillError, EncoderSettings, Figures, Keep, Settings, StepSettings,
    base::{Base, Origin},
    batches::folds,
    checkpoint::Checkpoint,
    folder::{Out, Paths, render, settings_error},
    training::{Lesson, Training, Watch},
};
use crate::{
    agreement::AnnotationError,
    distilled::{DistilledFiles, Kind},
    nn::{
        Cpu,
        trainable::{AdamWSettings, Parameters},
    },
};

/// What a training needs beside its settings.
#[derive(Clone, Copy)]
pub struct Distilled<'a> {
    /// Where the layers that are trained are computed.
    pub device: &'a Device,
    /// What computes those that are not.
    pub cpu: Cpu,
    /// How many folds; 0 to train a model and write it.
    pub n_folds: usize,
    /// Sees how it goes.
    pub watch: &'a dyn Watch,
}

/// What came of a training.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The version of this program.
    pub version: &'static str,
    /// Figures on dev of the weights as they were trained, in single precision.
    pub trained: Option<Figures>,
    /// The same of the model as it is written and read back, by the program's own kernels.
    pub written: Option<Figures>,
    /// The epoch, counted from one, that the weights are of.
    pub epoch: Option<usize>,
    /// The figures of each fold on its students, of weights that did not see them.
    pub folds: Vec<Figures>,
    /// The mean over folds of each figure.
    pub mean_over_folds: BTreeMap<String, f64>,
    /// BLAKE3 of the data, in hexadecimal.
    pub data: Vec<String>,
}

/// What is learnt.
pub(super) trait Task {
    /// What it is learnt from.
    type Item;
    /// What becomes of it.
    const KIND: Kind;

    /// Whose an item is.
    fn student(item: &Self::Item) -> &str;

    /// Items to learn from and items to try out on; what is trained goes to the
    /// parameters.
    fn lesson<'a>(
        &'a self,
        setup: &Setup<'_>,
        data: [&[&'a Self::Item]; 2],
        parameters: &mut Parameters,
    ) -> Result<Box<dyn Lesson + 'a>, DistillError>;

    /// What the model's file says of its head.
    fn head(&self) -> serde_json::Result<serde_json::Value>;

    /// How well the model does as it is written.
    fn examine(
        files: &DistilledFiles,
        cpu: Cpu,
        dev: &[&Self::Item],
    ) -> Result<Figures, DistillError>;
}

/// A training, before anything is learnt.
pub(super) struct Setup<'a> {
    pub(super) origin: Origin,
    pub(super) base: Base,
    pub(super) device: &'a Device,
    run: &'a Distilled<'a>,
    paths: Paths<'a>,
    encoder: EncoderSettings,
    steps: StepSettings,
    optimizer: AdamWSettings,
    seed: u64,
    /// The settings as text.
    settings: String,
}

impl<'a> Setup<'a> {
    /// Checks the settings and reads the model to begin from.
    pub(super) fn new<H: DeserializeOwned + Serialize + Default>(
        settings: &'a Settings<H>,
        run: &'a Distilled<'a>,
    ) -> Result<Self, DistillError> {
        let paths = Paths::of(settings, run.n_folds)?;
        let StepSettings { keep, patience, .. } = settings.steps;
        let compares = keep == Keep::Best || 0 < patience;
        if compares && run.n_folds == 0 && paths.dev.is_none() {
            let reason = "steps: `keep = \"best\"` and `patience` compare epochs on data that was \
                          not learnt from: give it with --dev";
            return Err(DistillError::Settings(reason.to_owned()));
        }
        let origin = Origin::load(paths.base)?;
        Ok(Self {
            base: origin.base(&settings.encoder, run.cpu)?,
            origin,
            device: run.device,
            run,
            paths,
            encoder: settings.encoder,
            steps: settings.steps,
            optimizer: settings.optimizer,
            seed: settings.seed,
            settings: settings.render()?,
        })
    }

    /// The data to learn from and, where there is any, to try out on.
    pub(super) fn data<T>(
        &self,
        load: impl Fn(&Utf8Path) -> Result<Vec<T>, AnnotationError>,
    ) -> Result<(Vec<T>, Vec<T>), DistillError> {
        Ok((load(self.paths.train)?, self.paths.dev.map(load).transpose()?.unwrap_or_default()))
    }

    /// Trains a model and writes it, or tries the settings out by folds.
    pub(super) fn run<T: Task>(
        &self,
        task: &T,
        train: &[T::Item],
        dev: &[T::Item],
    ) -> Result<Report, DistillError> {
        self.check_apart::<T>(train, dev)?;
        if 0 < self.run.n_folds {
            return self.by_folds(task, train);
        }
        let out = Out::new(&self.paths, T::KIND, &self.base)?;
        let fingerprint = self.paths.fingerprint(&self.settings)?;
        let (learnt, tried): (Vec<_>, Vec<_>) = (train.iter().collect(), dev.iter().collect());
        let mut parameters = Parameters::default();
        let lesson = task.lesson(self, [&learnt, &tried], &mut parameters)?;
        let checkpoint = Some(Checkpoint { path: out.checkpoint() });
        let what = T::KIND.to_string();
        let training = self.training(&what, fingerprint, checkpoint);
        let course = training.run(&*lesson, &parameters)?;
        let head = task.head().map_err(|error| settings_error(&error))?;
        let make = (T::KIND, self.encoder.layers, head, self.encoder.matrices);
        let own = render(&parameters, &self.base, make)?;
        let files = out.files(&self.base, &own);
        let written = T::examine(&files, self.run.cpu, &tried)?;
        let report = Report {
            version: env!("CARGO_PKG_VERSION"),
            trained: (!dev.is_empty()).then(|| course.figures[course.kept].clone()),
            written: (!dev.is_empty()).then_some(written),
            epoch: Some(course.kept + 1),
            folds: Vec::new(),
            mean_over_folds: BTreeMap::new(),
            data: self.paths.digests()?,
        };
        out.finish((&self.base, &own), &course, &report, &self.settings)?;
        Ok(report)
    }

    fn by_folds<T: Task>(&self, task: &T, data: &[T::Item]) -> Result<Report, DistillError> {
        let n_folds = self.run.n_folds;
        let parts = folds(data.iter().map(T::student), n_folds, self.seed);
        if parts.iter().any(BTreeSet::is_empty) {
            let reason = format!("--folds: there are fewer than {n_folds} students");
            return Err(DistillError::Settings(reason));
        }
        let mut figures = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let (tried, learnt): (Vec<_>, Vec<_>) =
                data.iter().partition(|item| part.contains(T::student(item)));
            let what = format!("fold {} of {n_folds}", index + 1);
            let mut parameters = Parameters::default();
            let lesson = task.lesson(self, [&learnt, &tried], &mut parameters)?;
            let course = self.training(&what, String::new(), None).run(&*lesson, &parameters)?;
            figures.push(course.figures[course.kept].clone());
        }
        Ok(Report {
            version: env!("CARGO_PKG_VERSION"),
            trained: None,
            written: None,
            epoch: None,
            mean_over_folds: means(&figures),
            folds: figures,
            data: self.paths.digests()?,
        })
    }

    fn training<'b>(
        &'b self,
        what: &'b str,
        fingerprint: String,
        checkpoint: Option<Checkpoint>,
    ) -> Training<'b> {
        Training {
            what,
            seed: self.seed,
            steps: self.steps,
            optimizer: self.optimizer,
            fingerprint,
            checkpoint,
            watch: self.run.watch,
        }
    }

    /// Complains where a student is in both files.
    fn check_apart<T: Task>(&self, train: &[T::Item], dev: &[T::Item]) -> Result<(), DistillError> {
        let learnt: BTreeSet<&str> = train.iter().map(T::student).collect();
        match dev.iter().map(T::student).find(|student| learnt.contains(student)) {
            None => Ok(()),
            Some(student) => Err(DistillError::File {
                path: self.paths.dev.unwrap_or(self.paths.train).to_owned(),
                reason: format!(
                    "{student} is in {} too: what is learnt from and what is tried out on must be \
                     of different students",
                    self.paths.train
                ),
            }),
        }
    }
}

/// The mean of each figure over the folds that have it.
fn means(folds: &[Figures]) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for (name, value) in folds.iter().flat_map(|figures| &figures.by_name) {
        let (sum, count) = sums.entry(name.clone()).or_default();
        *sum += value;
        *count += 1.0;
    }
    sums.into_iter().map(|(name, (sum, count))| (name, sum / count)).collect()
}
