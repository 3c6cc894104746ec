//! Differences between runs on the paragraphs that they share.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{
    Clusters, Counts, Figure, InstrumentDifference, Level, Measure, Verbosity, cluster_sums,
    clusters, counted, instrument_differences, shared::Shared, verbosity,
};
use crate::{
    corpus::natural_order,
    experiment::FinishedRun,
    matching::{AlignmentKind, CompleteScores},
    stats::{
        ClusterSums, Draws, Equivalence, Interval, RandomisationTest, RatioBootstrap,
        RatioEstimate, benjamini_hochberg, difference_bootstrap, difference_linearised,
        equivalence, holm, minimum_detectable_difference, randomisation_test,
        two_way_difference_linearised, wild_cluster_bootstrap,
    },
};

/// How runs are compared.
#[derive(Clone, Debug)]
pub struct ComparisonSettings {
    /// What is drawn whole.
    pub level: Level,
    /// How units are aligned.
    pub kind: AlignmentKind,
    /// The measures.
    pub measures: Vec<Measure>,
    /// The draws of the bootstrap and of the randomisation test, and the share that
    /// intervals hold.
    pub draws: Draws,
    /// The difference of F1 that would not matter: what equivalence is tested against.
    pub margin: f64,
    /// The power for which the detectable difference is given.
    pub power: f64,
}

impl Default for ComparisonSettings {
    /// Soft, by student, 10,000 draws, a margin of 0.02, a power of 0.8.
    fn default() -> Self {
        Self {
            level: Level::default(),
            kind: AlignmentKind::default(),
            measures: vec![Measure::Soft],
            draws: Draws { n: 10_000, ..Draws::default() },
            margin: 0.02,
            power: 0.8,
        }
    }
}

/// A run set against the baseline.
#[derive(Clone, Debug, Serialize)]
pub struct RunComparison {
    /// The run's name.
    pub run: String,
    /// The paragraphs that both have.
    pub n_paragraphs: usize,
    /// Those that the baseline alone has.
    pub n_baseline_alone: usize,
    /// Those that the run alone has.
    pub n_run_alone: usize,
    /// The clusters of the level.
    pub n_clusters: usize,
    /// The classes.
    pub n_classes: usize,
    /// Paragraphs whose names tell neither student nor class; there the draft stands in.
    pub n_untold: usize,
    /// How much the baseline writes.
    pub baseline_verbosity: Verbosity,
    /// How much the run writes.
    pub run_verbosity: Verbosity,
    /// What the instruments differ in.
    pub instrument_differences: Vec<InstrumentDifference>,
    /// The differences, by measure and figure.
    pub figures: Vec<PairedFigure>,
}

/// How far a figure of a run lies above the baseline's.
#[derive(Clone, Debug, Serialize)]
pub struct PairedFigure {
    /// What counts.
    #[serde(serialize_with = "as_text")]
    pub measure: Measure,
    /// Which figure.
    pub figure: Figure,
    /// The baseline's.
    pub baseline: f64,
    /// The run's.
    pub run: f64,
    /// The difference and its interval by linearisation; `None` of fewer than two clusters.
    pub linearised: Option<LinearisedDifference>,
    /// By the bootstrap over clusters.
    pub bootstrap: Option<RatioBootstrap>,
    /// By randomisation of whole clusters.
    pub randomisation: Option<RandomisationTest>,
    /// The p-value of randomisation after Holm, over all runs of the comparison.
    pub p_holm: Option<f64>,
    /// The same after Benjamini and Hochberg, over all lines of the table.
    pub q_value: Option<f64>,
    /// Whether the runs are equivalent within the margin.
    pub equivalence: Option<Equivalence>,
    /// The least difference that would be found with the power, at 5 %.
    pub detectable: Option<f64>,
    /// With students and classes crossed, since some students sit in several classes.
    pub crossed: Option<LinearisedDifference>,
    /// With whole classes drawn.
    pub by_class: Option<ByClass>,
}

/// A difference with its standard error and interval.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LinearisedDifference {
    /// The run's less the baseline's.
    pub difference: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Degrees of freedom of t.
    pub degrees: f64,
    /// What it lies between.
    pub interval: Interval,
}

/// A difference where whole classes are drawn: classes are few, so tests are those for few.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ByClass {
    /// By linearisation.
    pub linearised: LinearisedDifference,
    /// By randomisation of whole classes.
    pub p_value: Option<f64>,
    /// By the wild cluster bootstrap.
    pub wild_p_value: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields so")]
fn as_text<S: serde::Serializer>(measure: &Measure, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(measure)
}

impl From<RatioEstimate> for LinearisedDifference {
    fn from(found: RatioEstimate) -> Self {
        Self {
            difference: found.estimate,
            standard_error: found.standard_error,
            degrees: found.degrees,
            interval: found.interval,
        }
    }
}

/// Sets runs against the first of them, each on the paragraphs that both have.
///
/// Differences are those of micro figures. Their intervals are t intervals of the linearised
/// difference over clusters; p-values are those of a randomisation test that swaps whole
/// clusters between the two runs; Holm's correction is taken over the runs, figure by
/// figure. Empty for fewer than two runs.
pub fn compare(runs: &[FinishedRun], settings: &ComparisonSettings) -> Vec<RunComparison> {
    let Some((baseline, others)) = runs.split_first() else { return Vec::new() };
    let counted_baseline = counted(baseline);
    let mut all: Vec<RunComparison> = others
        .iter()
        .map(|run| {
            let shared = Shared::of(&counted_baseline, &counted(run));
            let differences = instrument_differences(baseline, run);
            compare_shared(&shared, &run.name, differences, settings)
        })
        .collect();
    adjust(&mut all);
    all
}

/// The same for each part of the corpus by itself, as `part_of` calls the parts by the names
/// of their paragraphs: the parts in order, and for each the runs. Holm's correction is taken
/// over all parts and runs, figure by figure.
pub fn compare_by(
    runs: &[FinishedRun],
    settings: &ComparisonSettings,
    part_of: impl Fn(&str) -> String,
) -> Vec<(String, RunComparison)> {
    let Some((baseline, others)) = runs.split_first() else { return Vec::new() };
    let counted_baseline = counted(baseline);
    let mut names = Vec::new();
    let mut all = Vec::new();
    for run in others {
        let shared = Shared::of(&counted_baseline, &counted(run));
        let parts: BTreeSet<String> = shared.keys.iter().map(|key| part_of(key)).collect();
        for part in parts {
            let own = shared.part(|key| part_of(key) == part);
            all.push(compare_shared(
                &own,
                &run.name,
                instrument_differences(baseline, run),
                settings,
            ));
            names.push(part);
        }
    }
    adjust(&mut all);
    let mut found: Vec<(String, RunComparison)> = names.into_iter().zip(all).collect();
    found.sort_by(|(a, _), (b, _)| natural_order(a, b));
    found
}

/// Sets the second run of two against the first.
fn compare_shared(
    shared: &Shared<'_>,
    run: &str,
    instrument_differences: Vec<InstrumentDifference>,
    settings: &ComparisonSettings,
) -> RunComparison {
    let by_level = clusters(shared.keys.iter().copied(), settings.level);
    let classes = clusters(shared.keys.iter().copied(), Level::Class);
    let students = clusters(shared.keys.iter().copied(), Level::Student);
    let seed = settings.draws.seed;
    let [baseline_verbosity, run_verbosity] = verbosity(
        &shared.first.iter().collect::<Vec<_>>(),
        &shared.other.iter().collect::<Vec<_>>(),
        settings.kind,
        seed,
    );
    let mut figures = Vec::new();
    for &measure in &settings.measures {
        let [first, other] =
            [&shared.first, &shared.other].map(|scores| counts_of(scores, measure, settings.kind));
        for figure in Figure::ALL {
            let sums =
                |clusters| [&first, &other].map(|counts| cluster_sums(counts, clusters, figure));
            let total = |counts: &[Counts]| counts.iter().copied().sum::<Counts>();
            let (Some(a), Some(b)) = (total(&first).figure(figure), total(&other).figure(figure))
            else {
                continue;
            };
            let mut found = paired_figure(&sums(&by_level), (measure, figure), (a, b), settings);
            found.crossed = crossed([&first, &other], [&students, &classes], figure, settings);
            found.by_class = by_class(&sums(&classes), settings.draws);
            figures.push(found);
        }
    }
    RunComparison {
        run: run.to_owned(),
        n_paragraphs: shared.keys.len(),
        n_baseline_alone: shared.n_first_alone,
        n_run_alone: shared.n_other_alone,
        n_clusters: by_level.names.len(),
        n_classes: classes.names.len(),
        n_untold: by_level.n_untold.max(classes.n_untold),
        baseline_verbosity,
        run_verbosity,
        instrument_differences,
        figures,
    }
}

/// The counts of some paragraphs.
pub fn counts_of(scores: &[CompleteScores], measure: Measure, kind: AlignmentKind) -> Vec<Counts> {
    scores.iter().map(|scores| Counts::of(scores, measure, kind)).collect()
}

fn paired_figure(
    [first, other]: &[Vec<ClusterSums>; 2],
    (measure, figure): (Measure, Figure),
    (baseline, run): (f64, f64),
    settings: &ComparisonSettings,
) -> PairedFigure {
    let draws = settings.draws;
    let alpha = 1.0 - draws.level;
    let linearised = difference_linearised(first, other, draws.level);
    PairedFigure {
        measure,
        figure,
        baseline,
        run,
        linearised: linearised.map(LinearisedDifference::from),
        bootstrap: difference_bootstrap(first, other, draws),
        randomisation: randomisation_test(first, other, draws),
        p_holm: None,
        q_value: None,
        equivalence: linearised.and_then(|found| equivalence(&found, settings.margin, alpha)),
        detectable: linearised.and_then(|found| {
            minimum_detectable_difference(
                found.standard_error,
                found.degrees,
                alpha,
                settings.power,
            )
        }),
        crossed: None,
        by_class: None,
    }
}

fn crossed(
    [first, other]: [&[Counts]; 2],
    [students, classes]: [&Clusters; 2],
    figure: Figure,
    settings: &ComparisonSettings,
) -> Option<LinearisedDifference> {
    let sums = |counts: &[Counts]| -> Vec<ClusterSums> {
        let of = |own: &Counts| {
            let (above, below) = own.ratio(figure);
            ClusterSums { above, below }
        };
        counts.iter().map(of).collect()
    };
    let groups = (students.of.as_slice(), classes.of.as_slice());
    let level = settings.draws.level;
    two_way_difference_linearised(&sums(first), &sums(other), groups, level).map(Into::into)
}

fn by_class([first, other]: &[Vec<ClusterSums>; 2], draws: Draws) -> Option<ByClass> {
    Some(ByClass {
        linearised: difference_linearised(first, other, draws.level)?.into(),
        p_value: randomisation_test(first, other, draws).map(|test| test.p_value),
        wild_p_value: wild_cluster_bootstrap(first, other, draws).map(|test| test.p_value),
    })
}

/// Corrects p-values for how many there are.
fn adjust(all: &mut [RunComparison]) {
    let p_of = |found: &PairedFigure| found.randomisation.map(|test| test.p_value);
    let n_lines = all.iter().map(|comparison| comparison.figures.len()).max().unwrap_or_default();
    for line in 0..n_lines {
        let family: Vec<(usize, f64)> = all
            .iter()
            .enumerate()
            .filter_map(|(run, comparison)| Some((run, p_of(comparison.figures.get(line)?)?)))
            .collect();
        let adjusted = holm(&family.iter().map(|(_, p)| *p).collect::<Vec<_>>());
        for ((run, _), p) in family.into_iter().zip(adjusted) {
            if let Some(found) = all[run].figures.get_mut(line) {
                found.p_holm = Some(p);
            }
        }
    }
    let mut lines: Vec<&mut PairedFigure> = all
        .iter_mut()
        .flat_map(|comparison| &mut comparison.figures)
        .filter(|found| p_of(found).is_some())
        .collect();
    let p_values: Vec<f64> = lines.iter().filter_map(|found| p_of(found)).collect();
    for (found, q) in lines.iter_mut().zip(benjamini_hochberg(&p_values)) {
        found.q_value = Some(q);
    }
}
