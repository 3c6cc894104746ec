//! Cards of scorers and segmenters as tables.

use super::Table;
use crate::{
    agreement::{
        PUBLISHED_SCORERS, PUBLISHED_SEGMENTERS, RaterFigures, SegmentationCard,
        SegmentationFigures, SimilarityCard, SimilarityFigures,
    },
    stats::{Difference, Interval},
};

/// A table and what it shows.
pub type Titled = (String, Table);

/// A figure to three places; `-` where it has no value.
fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

fn between(interval: Option<Interval>) -> String {
    interval
        .map_or_else(String::new, |interval| format!("{:.3} - {:.3}", interval.low, interval.high))
}

/// The tables of a scorer's card, what people look at first before the rest.
pub fn similarity_tables(card: &SimilarityCard) -> Vec<Titled> {
    let mut tables = vec![("Agreement with gold".to_owned(), agreement(card))];
    if !card.subsets.is_empty() {
        tables.push(("By kind".to_owned(), kinds(card)));
    }
    tables.push(("By whole gold".to_owned(), levels(card)));
    tables.push((
        "Pairs by whole gold (rows) and whole rating (columns)".to_owned(),
        confusion(card),
    ));
    if let Some(calibration) = &card.calibration {
        let title = format!(
            "Calibration of the probabilities: ECE {:.3}, Brier {:.3}",
            calibration.ece, calibration.brier
        );
        let mut table = Table::new(&["pairs", "confidence", "accuracy"]);
        for bin in &calibration.bins {
            let figures = [bin.confidence, bin.accuracy].map(|value| figure(Some(value)));
            table.push(std::iter::once(bin.n.to_string()).chain(figures));
        }
        tables.push((title, table));
    }
    tables.push(("Gold of the pairs rated about alike".to_owned(), rating_calibration(card)));
    if let Some(raters) = &card.raters {
        tables.push(("The raters with each other".to_owned(), raters_table(raters)));
    }
    if let Some(test) = &card.alternative_annotator {
        let title = format!(
            "In place of a rater (alternative-annotator test, epsilon {}): winning rate {:.3}, \
             advantage {:.3}",
            test.epsilon, test.winning_rate, test.advantage
        );
        let mut table =
            Table::new(&["rater", "pairs", "scorer as near", "rater as near", "p", "won"]);
        for rater in &test.annotators {
            table.push([
                (rater.annotator + 1).to_string(),
                rater.n_items.to_string(),
                figure(Some(rater.scorer_advantage)),
                figure(Some(rater.annotator_advantage)),
                format!("{:.4}", rater.p_value),
                if rater.is_won { "yes" } else { "no" }.to_owned(),
            ]);
        }
        tables.push((title, table));
    }
    if let Some(difference) = &card.difference {
        let title = format!("Difference to {} on {} pairs", difference.against, difference.n);
        let mut table = Table::new(&["figure", "difference", "within", "p"]);
        for (name, found) in [
            ("Pearson", difference.pearson),
            ("Spearman", difference.spearman),
            ("MAE", difference.mae),
        ] {
            table.push(difference_row(name, found));
        }
        tables.push((title, table));
    }
    let mut published = Table::new(&["the paper, 120 pairs of its own", "Pearson", "Spearman"]);
    for scorer in PUBLISHED_SCORERS {
        let figures = [scorer.pearson, scorer.spearman].map(|value| figure(Some(value)));
        published.push(std::iter::once(scorer.name.to_owned()).chain(figures));
    }
    tables.push((
        "Beside it: Table 3 of the paper (other pairs, other annotators)".to_owned(),
        published,
    ));
    tables
}

fn difference_row(name: &str, difference: Option<Difference>) -> [String; 4] {
    [
        name.to_owned(),
        difference.map_or_else(|| "-".to_owned(), |found| format!("{:+.3}", found.difference)),
        between(difference.map(|found| found.interval)),
        difference.map_or_else(String::new, |found| format!("{:.4}", found.p_value)),
    ]
}

fn agreement(card: &SimilarityCard) -> Table {
    let percent = (card.bootstrap.level * 100.0).round();
    let within = format!("{percent} % within");
    let mut table = Table::new(&["figure", "value", &within]);
    let accuracy = card.tie_threshold.map_or_else(
        || "pairwise accuracy".to_owned(),
        |threshold| format!("pairwise accuracy (ties up to {threshold:.3})"),
    );
    let intervals = &card.intervals;
    for (name, value, interval) in [
        ("Pearson", card.pearson, intervals.pearson),
        ("Spearman", card.spearman, intervals.spearman),
        ("Kendall's tau-b", card.kendall_tau_b, intervals.kendall_tau_b),
        (&accuracy, card.pairwise_accuracy, None),
        ("quadratic kappa", card.quadratic_kappa, intervals.quadratic_kappa),
        ("ICC(2,1)", card.icc, intervals.icc),
        ("ordinal alpha", card.alpha, None),
        ("mean absolute error", card.mae, intervals.mae),
        ("bias (rating less gold)", card.bias, intervals.bias),
        ("slope (rating over gold)", card.slope, intervals.slope),
    ] {
        table.push([name.to_owned(), figure(value), between(interval)]);
    }
    table
}

fn kinds(card: &SimilarityCard) -> Table {
    let mut table = Table::new(&[
        "kind", "pairs", "Pearson", "within", "Spearman", "tau-b", "kappa", "MAE", "bias",
        "raters r",
    ]);
    for (name, subset) in &card.subsets {
        let SimilarityFigures {
            n,
            pearson,
            spearman,
            kendall_tau_b,
            quadratic_kappa,
            mae,
            bias,
            ..
        } = subset.figures;
        table.push([
            name.clone(),
            n.to_string(),
            figure(pearson),
            between(subset.pearson_interval),
            figure(spearman),
            figure(kendall_tau_b),
            figure(quadratic_kappa),
            figure(mae),
            figure(bias),
            figure(subset.raters.as_ref().and_then(|raters| raters.pearson)),
        ]);
    }
    table
}

fn levels(card: &SimilarityCard) -> Table {
    let mut table = Table::new(&["gold", "pairs", "mean rating", "MAE", "bias"]);
    for level in &card.levels {
        table.push([
            level.level.to_string(),
            level.n.to_string(),
            figure(level.mean_rating),
            figure(level.mae),
            figure(level.bias),
        ]);
    }
    table
}

fn confusion(card: &SimilarityCard) -> Table {
    let mut table = Table::new(&["gold", "0", "1", "2", "3", "4"]);
    for (gold, row) in card.confusion.iter().enumerate() {
        table.push(std::iter::once(gold).chain(row.iter().copied()).map(|count| count.to_string()));
    }
    table
}

fn rating_calibration(card: &SimilarityCard) -> Table {
    let mut table = Table::new(&["ratings from", "to", "pairs", "mean rating", "mean gold"]);
    for bin in &card.rating_calibration {
        table.push([
            format!("{:.1}", bin.low),
            format!("{:.1}", bin.high),
            bin.n.to_string(),
            figure(Some(bin.rating)),
            figure(Some(bin.gold)),
        ]);
    }
    table
}

fn raters_table(raters: &RaterFigures) -> Table {
    let mut table =
        Table::new(&["raters", "shared pairs", "Pearson", "ICC(2,1)", "alpha", "ceiling"]);
    table.push([
        raters.n_raters.to_string(),
        raters.n_shared.to_string(),
        figure(raters.pearson),
        figure(raters.icc),
        figure(raters.alpha),
        figure(raters.ceiling),
    ]);
    table
}

/// The tables of a segmenter's card.
pub fn segmentation_tables(card: &SegmentationCard) -> Vec<Titled> {
    let percent = (card.bootstrap.level * 100.0).round();
    let within = format!("{percent} % within");
    let mut first = Table::new(&["figure", "value", &within]);
    let window_diff = format!("WindowDiff (k = {} words)", card.k);
    for (name, value, interval) in [
        (window_diff.as_str(), card.window_diff, card.window_diff_interval),
        ("WindowDiff, mean of texts", card.window_diff_mean, None),
        ("boundary precision", card.boundary_precision, None),
        ("boundary recall", card.boundary_recall, None),
        ("boundary F1", card.boundary_f1, card.boundary_f1_interval),
        ("boundary similarity", card.boundary_similarity, None),
        ("unit F1, the same words", card.unit_f1, None),
        ("unit F1, by overlap", card.unit_overlap_f1, None),
    ] {
        first.push([name.to_owned(), figure(value), between(interval)]);
    }
    let mut tables = vec![("Agreement with the annotators".to_owned(), first)];
    let rows: Vec<(&str, &SegmentationFigures)> = card
        .sources
        .iter()
        .map(|(name, figures)| (name.as_str(), figures))
        .chain(card.annotators.as_ref().map(|figures| ("annotators with each other", figures)))
        .collect();
    if !rows.is_empty() {
        let mut table = Table::new(&[
            "source",
            "texts",
            "WindowDiff",
            "P",
            "R",
            "F1",
            "similarity",
            "unit F1",
            "boundaries",
            "found",
        ]);
        for (name, figures) in rows {
            table.push([
                name.to_owned(),
                figures.n.to_string(),
                figure(figures.window_diff),
                figure(figures.boundary_precision),
                figure(figures.boundary_recall),
                figure(figures.boundary_f1),
                figure(figures.boundary_similarity),
                figure(figures.unit_f1),
                figures.n_boundaries.to_string(),
                figures.n_boundaries_found.to_string(),
            ]);
        }
        tables.push(("By source".to_owned(), table));
    }
    if let Some(effect) = &card.effect {
        let mut table = Table::new(&["segmenter", "P", "R", "F1", "units", "gold units"]);
        for (name, figures, units) in [
            ("the run's own", effect.before, effect.n_units_before),
            ("this one", effect.after, effect.n_units_after),
        ] {
            let cells = figures.map(figure).into_iter().chain(units.map(|count| count.to_string()));
            table.push(std::iter::once(name.to_owned()).chain(cells));
        }
        tables.push((format!("Soft micro figures of {}", effect.run), table));
    }
    let mut published =
        Table::new(&["the paper, some fifty messages", "WindowDiff", "P", "R", "F1"]);
    for segmenter in PUBLISHED_SEGMENTERS {
        let figures = [segmenter.window_diff, segmenter.precision, segmenter.recall, segmenter.f1];
        published.push(
            std::iter::once(segmenter.name.to_owned())
                .chain(figures.map(|value| figure(Some(value)))),
        );
    }
    tables.push(("Beside it: the paper (other texts, other annotators)".to_owned(), published));
    tables
}
