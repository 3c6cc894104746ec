//! From data to a scorer or a segmenter.

use super::{
    DistillError, Distilled, Figures, MarkedText, RatedPair, Report, ScorerSettings,
    SegmenterSettings, figures, load_marked, load_rated, marked,
    scorer::PairLesson,
    segmenter::CutLesson,
    task::{Setup, Task},
    training::Lesson,
};
use crate::{
    distilled::{DistilledFiles, Kind},
    nn::{Cpu, EncoderPrecision, trainable::Parameters},
    segment::{DistilledSegmenter, PlaceHead, Segmenter},
    similarity::{DistilledScorer, PairHead, Rating, Scorer, UnitPair},
};

/// Trains a scorer and writes it, or tries its settings out by folds.
pub fn distill_scorer(
    settings: &ScorerSettings,
    run: &Distilled<'_>,
) -> Result<Report, DistillError> {
    let setup = Setup::new(settings, run)?;
    let (train, dev) = setup.data(load_rated)?;
    setup.run(&RatingTask { settings }, &train, &dev)
}

/// Trains a segmenter and writes it, or tries its settings out by folds.
pub fn distill_segmenter(
    settings: &SegmenterSettings,
    run: &Distilled<'_>,
) -> Result<Report, DistillError> {
    let setup = Setup::new(settings, run)?;
    let students = settings.students.as_deref().map(marked::students).transpose()?;
    let students = students.unwrap_or_default();
    let (train, dev) = setup.data(|path| load_marked(path, &students))?;
    setup.run(&CuttingTask { settings }, &train, &dev)
}

/// To rate pairs as people did.
struct RatingTask<'a> {
    settings: &'a ScorerSettings,
}

impl Task for RatingTask<'_> {
    type Item = RatedPair;
    const KIND: Kind = Kind::Scorer;

    fn student(pair: &RatedPair) -> &str {
        &pair.student
    }

    fn lesson<'a>(
        &'a self,
        setup: &Setup<'_>,
        data: [&[&'a RatedPair]; 2],
        parameters: &mut Parameters,
    ) -> Result<Box<dyn Lesson + 'a>, DistillError> {
        Ok(Box::new(PairLesson::new(self.settings, setup, data, parameters)?))
    }

    fn head(&self) -> serde_json::Result<serde_json::Value> {
        let head = &self.settings.head;
        serde_json::to_value(PairHead { features: head.features.clone(), hidden: head.hidden })
    }

    fn examine(
        files: &DistilledFiles,
        cpu: Cpu,
        dev: &[&RatedPair],
    ) -> Result<Figures, DistillError> {
        let scorer = DistilledScorer::new(files, EncoderPrecision::default(), cpu)?;
        let pairs: Vec<UnitPair<'_>> =
            dev.iter().map(|pair| UnitPair { generated: &pair.a, gold: &pair.b }).collect();
        let ratings = scorer.score(&pairs).into_iter().map(|rating| rating.map(Rating::get));
        let ratings: Vec<f64> = ratings
            .collect::<Result<_, _>>()
            .map_err(|error| DistillError::Settings(error.to_string()))?;
        Ok(figures::of_ratings(dev, &ratings))
    }
}

/// To cut texts as people did.
struct CuttingTask<'a> {
    settings: &'a SegmenterSettings,
}

impl Task for CuttingTask<'_> {
    type Item = MarkedText;
    const KIND: Kind = Kind::Segmenter;

    fn student(text: &MarkedText) -> &str {
        &text.student
    }

    fn lesson<'a>(
        &'a self,
        setup: &Setup<'_>,
        data: [&[&'a MarkedText]; 2],
        parameters: &mut Parameters,
    ) -> Result<Box<dyn Lesson + 'a>, DistillError> {
        Ok(Box::new(CutLesson::new(self.settings, setup, data, parameters)?))
    }

    fn head(&self) -> serde_json::Result<serde_json::Value> {
        let head = &self.settings.head;
        serde_json::to_value(PlaceHead { hidden: head.hidden, threshold: head.threshold })
    }

    fn examine(
        files: &DistilledFiles,
        cpu: Cpu,
        dev: &[&MarkedText],
    ) -> Result<Figures, DistillError> {
        let precision = EncoderPrecision::default();
        let segmenter = DistilledSegmenter::new(files, precision, cpu)?;
        let texts: Vec<&str> = dev.iter().map(|text| text.text.as_str()).collect();
        let cuts: Vec<_> = segmenter
            .segment(&texts)
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(|error| DistillError::Settings(error.to_string()))?;
        Ok(figures::of_cuts(dev, &cuts))
    }
}
