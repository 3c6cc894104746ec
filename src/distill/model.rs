//! From data to a model: training, folds, what is written.

use std::collections::{BTreeMap, BTreeSet};

use candle_core::Device;
use serde::Serialize;

use super::{
    DistillError, Figures, MarkedText, RatedPair, ScorerSettings, SegmenterSettings, Settings,
    base::Origin,
    batches::folds,
    checkpoint::Checkpoint,
    figures,
    folder::{Out, Paths, render, settings_error},
    load_marked, load_pairs, marked,
    scorer::PairLesson,
    segmenter::CutLesson,
    settings::StepSettings,
    training::{Course, Lesson, Training, Watch},
};
use crate::{
    distilled::Kind,
    nn::{Cpu, EncoderPrecision, trainable::Parameters},
    segment::{DistilledSegmenter, PlaceHead, Segmenter},
    similarity::{DistilledScorer, PairHead, Rating, Scorer, UnitPair},
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

/// Trains a scorer and writes it, or tries its settings out by folds.
pub fn distill_scorer(
    settings: &ScorerSettings,
    run: &Distilled<'_>,
) -> Result<Report, DistillError> {
    let paths = Paths::of(settings, run.n_folds)?;
    let train = load_pairs(paths.train)?;
    let dev = paths.dev.map(load_pairs).transpose()?.unwrap_or_default();
    let student = |pair: &RatedPair| pair.student.clone();
    check_apart(&train, &dev, student, &paths)?;
    let origin = Origin::load(paths.base)?;
    let base = origin.base(&settings.encoder, run.cpu)?;
    let lesson = |learnt: &[&RatedPair], tried: &[&RatedPair], go: Go<'_>| {
        let mut parameters = Parameters::default();
        let both = [learnt, tried].map(<[&RatedPair]>::to_vec);
        let [learnt, tried] = &both;
        let training = (&mut parameters, run.device);
        let lesson = PairLesson::new(settings, (&origin, &base), [learnt, tried], training)?;
        go(&lesson, &parameters)
    };
    if 0 < run.n_folds {
        let fingerprint = String::new();
        return by_folds(&train, student, settings.seed, run, &paths, |learnt, tried, what| {
            lesson(learnt, tried, &mut |lesson, parameters| {
                training(settings, what, &fingerprint, None, run).run(lesson, parameters).map(Some)
            })
        });
    }
    let out = Out::new(&paths, Kind::Scorer, &base)?;
    let fingerprint = paths.fingerprint(&settings.render()?)?;
    let head = PairHead { features: settings.head.features.clone(), hidden: settings.head.hidden };
    let head = serde_json::to_value(head).map_err(|error| settings_error(&error))?;
    let (learnt, tried): (Vec<_>, Vec<_>) = (train.iter().collect(), dev.iter().collect());
    let mut own = Vec::new();
    let course = lesson(&learnt, &tried, &mut |lesson, parameters| {
        let checkpoint = Some(Checkpoint { path: out.checkpoint() });
        let training = training(settings, "scorer", &fingerprint, checkpoint, run);
        let course = training.run(lesson, parameters)?;
        let layers = settings.encoder.layers;
        let make = (Kind::Scorer, layers, head.clone(), settings.encoder.matrices);
        own = render(parameters, &base, make)?;
        Ok(Some(course))
    })?;
    let files = out.files(&base, &own);
    let scorer = DistilledScorer::new("distilled", &files, EncoderPrecision::default(), run.cpu)?;
    let pairs: Vec<UnitPair<'_>> =
        dev.iter().map(|pair| UnitPair { generated: &pair.a, gold: &pair.b }).collect();
    let ratings = scorer.score(&pairs).into_iter().map(|rating| rating.map(Rating::get));
    let ratings: Vec<f64> = ratings
        .collect::<Result<_, _>>()
        .map_err(|error| DistillError::Settings(error.to_string()))?;
    let written = (!dev.is_empty()).then(|| figures::of_ratings(&tried, &ratings));
    out.finish(&base, &own, course, written, (&settings.render()?, &paths))
}

/// Trains a segmenter and writes it, or tries its settings out by folds.
pub fn distill_segmenter(
    settings: &SegmenterSettings,
    run: &Distilled<'_>,
) -> Result<Report, DistillError> {
    let paths = Paths::of(settings, run.n_folds)?;
    let students = settings.students.as_deref().map(marked::students).transpose()?;
    let students = students.unwrap_or_default();
    let train = load_marked(paths.train, &students)?;
    let dev = paths.dev.map(|path| load_marked(path, &students)).transpose()?.unwrap_or_default();
    let student = |text: &MarkedText| text.student.clone();
    check_apart(&train, &dev, student, &paths)?;
    let origin = Origin::load(paths.base)?;
    let base = origin.base(&settings.encoder, run.cpu)?;
    let lesson = |learnt: &[&MarkedText], tried: &[&MarkedText], go: Go<'_>| {
        let mut parameters = Parameters::default();
        let both = [learnt, tried].map(<[&MarkedText]>::to_vec);
        let [learnt, tried] = &both;
        let training = (&mut parameters, run.device);
        let lesson = CutLesson::new(settings, (&origin, &base), [learnt, tried], training)?;
        go(&lesson, &parameters)
    };
    if 0 < run.n_folds {
        let fingerprint = String::new();
        return by_folds(&train, student, settings.seed, run, &paths, |learnt, tried, what| {
            lesson(learnt, tried, &mut |lesson, parameters| {
                training(settings, what, &fingerprint, None, run).run(lesson, parameters).map(Some)
            })
        });
    }
    let out = Out::new(&paths, Kind::Segmenter, &base)?;
    let fingerprint = paths.fingerprint(&settings.render()?)?;
    let head = PlaceHead { hidden: settings.head.hidden, threshold: settings.head.threshold };
    let head = serde_json::to_value(head).map_err(|error| settings_error(&error))?;
    let (learnt, tried): (Vec<_>, Vec<_>) = (train.iter().collect(), dev.iter().collect());
    let mut own = Vec::new();
    let course = lesson(&learnt, &tried, &mut |lesson, parameters| {
        let checkpoint = Some(Checkpoint { path: out.checkpoint() });
        let training = training(settings, "segmenter", &fingerprint, checkpoint, run);
        let course = training.run(lesson, parameters)?;
        let layers = settings.encoder.layers;
        let make = (Kind::Segmenter, layers, head.clone(), settings.encoder.matrices);
        own = render(parameters, &base, make)?;
        Ok(Some(course))
    })?;
    let files = out.files(&base, &own);
    let precision = EncoderPrecision::default();
    let segmenter = DistilledSegmenter::new("distilled", &files, precision, run.cpu)?;
    let texts: Vec<&str> = dev.iter().map(|text| text.text.as_str()).collect();
    let cuts = segmenter.segment(&texts).into_iter().zip(&texts).map(|(cut, text)| {
        let mut ends = cut?.ends().to_vec();
        ends.retain(|end| *end < text.len());
        Ok(ends)
    });
    let cuts: Vec<Vec<usize>> = cuts
        .collect::<Result<_, crate::segment::SegmentError>>()
        .map_err(|error| DistillError::Settings(error.to_string()))?;
    let written = (!dev.is_empty()).then(|| figures::of_cuts(&tried, &cuts));
    out.finish(&base, &own, course, written, (&settings.render()?, &paths))
}

/// Trains on a lesson.
type Go<'a> = &'a mut dyn FnMut(&dyn Lesson, &Parameters) -> Result<Option<Course>, DistillError>;

fn training<'a, H>(
    settings: &Settings<H>,
    what: &'a str,
    fingerprint: &str,
    checkpoint: Option<Checkpoint>,
    run: &Distilled<'a>,
) -> Training<'a> {
    let steps: StepSettings = settings.steps;
    Training {
        what,
        seed: settings.seed,
        steps,
        optimizer: settings.optimizer,
        fingerprint: fingerprint.to_owned(),
        checkpoint,
        watch: run.watch,
    }
}

/// Complains where a student is in both files.
fn check_apart<T>(
    train: &[T],
    dev: &[T],
    student: impl Fn(&T) -> String,
    paths: &Paths<'_>,
) -> Result<(), DistillError> {
    let learnt: BTreeSet<String> = train.iter().map(&student).collect();
    match dev.iter().map(&student).find(|student| learnt.contains(student)) {
        None => Ok(()),
        Some(student) => Err(DistillError::File {
            path: paths.dev.unwrap_or(paths.train).to_owned(),
            reason: format!(
                "{student} is in {} too: what is learnt from and what is tried out on must be of \
                 different students",
                paths.train
            ),
        }),
    }
}

fn by_folds<T>(
    data: &[T],
    student: impl Fn(&T) -> String,
    seed: u64,
    run: &Distilled<'_>,
    paths: &Paths<'_>,
    mut train: impl FnMut(&[&T], &[&T], &str) -> Result<Option<Course>, DistillError>,
) -> Result<Report, DistillError> {
    let students: Vec<String> = data.iter().map(&student).collect();
    let parts = folds(students.iter().map(String::as_str), run.n_folds, seed);
    if parts.iter().any(BTreeSet::is_empty) {
        let reason = format!("--folds: there are fewer than {} students", run.n_folds);
        return Err(DistillError::Settings(reason));
    }
    let mut figures = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let is_tried = |(_, student): &(&T, &String)| part.contains(student.as_str());
        let of = |tried: bool| -> Vec<&T> {
            let all = data.iter().zip(&students);
            all.filter(|item| is_tried(item) == tried).map(|(item, _)| item).collect()
        };
        let what = format!("fold {} of {}", index + 1, run.n_folds);
        let course = train(&of(false), &of(true), &what)?;
        figures.extend(course.and_then(|course| course.figures.get(course.kept).cloned()));
    }
    let mut mean_over_folds: BTreeMap<String, f64> = BTreeMap::new();
    for (name, value) in figures.iter().flat_map(|figures| &figures.by_name) {
        *mean_over_folds.entry(name.clone()).or_default() += value / figures.len() as f64;
    }
    Ok(Report {
        version: env!("CARGO_PKG_VERSION"),
        trained: None,
        written: None,
        epoch: None,
        folds: figures,
        mean_over_folds,
        data: paths.digests()?,
    })
}
