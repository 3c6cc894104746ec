//! The figures of a report, each a file of its own.

use super::{
    Report,
    figure_effects::effects,
    figure_forest::forest,
    figure_planes::{precision_recall, units_f1},
    figure_ratings::ratings,
    svg::Svg,
};

/// What a page says under a figure.
pub(super) struct Drawn {
    /// The figure's name, which is its file's without the extension.
    pub(super) name: &'static str,
    /// How to read it.
    pub(super) caption: &'static str,
    /// The figure.
    pub(super) svg: Svg,
}

/// Those figures that there is something to draw for.
pub(super) fn drawn(report: &Report) -> Vec<Drawn> {
    let found = [
        (
            "precision-recall",
            "Precision and recall of each run with their intervals. On a broken line F1 is the \
             same.",
            precision_recall(report),
        ),
        (
            "units-f1",
            "F1 of each run with its interval, against how many units it generates on a \
             paragraph.",
            units_f1(report),
        ),
        (
            "effects",
            "Runs that differ in one factor alone. A line leads from the run without the factor \
             to the run with it: full where F1 rose, broken where it did not.",
            effects(report),
        ),
        (
            "forest",
            "Differences to the baseline on the paragraphs that both runs have, with intervals \
             and p-values adjusted by Holm over the family.",
            forest(report),
        ),
        (
            "ratings",
            "Ratings of pairs of a generated and an instructor's unit, as shares of all pairs \
             and of aligned pairs.",
            ratings(report),
        ),
    ];
    found
        .into_iter()
        .filter_map(|(name, caption, svg)| Some(Drawn { name, caption, svg: svg? }))
        .collect()
}

/// The figures as files: name with extension, SVG. A figure that there is nothing to draw
/// for is left out: `precision-recall.svg`, `units-f1.svg`, `effects.svg`, `forest.svg`,
/// `ratings.svg`.
pub fn figures(report: &Report) -> Vec<(String, String)> {
    drawn(report)
        .into_iter()
        .map(|figure| (format!("{}.svg", figure.name), figure.svg.file()))
        .collect()
}
