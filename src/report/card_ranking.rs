//! The card of a whole chain as tables.

use super::{Table, card::Titled};
use crate::agreement::{PUBLISHED_RANKING, RankingCard, RankingFigures};

/// The tables of the card of a segmenter and a scorer together.
pub fn ranking_tables(card: &RankingCard) -> Vec<Titled> {
    let percent = (card.bootstrap.level * 100.0).round();
    let within = format!("{percent} % within");
    let mut agreement = Table::new(&["figure", "value", &within, "the paper"]);
    let figures = &card.figures;
    let [pearson, spearman] = PUBLISHED_RANKING.map(Some);
    for (name, key, value, published) in [
        ("Pearson", "pearson", figures.pearson, pearson),
        ("Spearman", "spearman", figures.spearman, spearman),
        ("Kendall's tau-b", "kendall_tau_b", figures.kendall_tau_b, None),
        ("pairs of texts in the expert's order", "", figures.pair_accuracy, None),
        ("sets wholly in the expert's order", "", figures.whole_sets, None),
    ] {
        let interval = card.intervals.get(key).copied().flatten();
        agreement.push([
            name.to_owned(),
            figure(value),
            interval.map_or_else(String::new, |it| format!("{:.3} - {:.3}", it.low, it.high)),
            published.map_or_else(String::new, |value| format!("{value:.3}")),
        ]);
    }
    let mut tables = vec![("F1 against the order of experts".to_owned(), agreement)];
    let mut by_rank = Table::new(&["mean rank", "mean F1"]);
    for (rank, f1) in &card.mean_f1_by_rank {
        by_rank.push([rank.clone(), format!("{f1:.3}")]);
    }
    tables.push(("Mean F1 of the texts of a rank".to_owned(), by_rank));
    if !card.raters.is_empty() {
        let mut raters = Table::new(&["rater", "texts", "Pearson", "Spearman", "tau-b", "pairs"]);
        for (name, found) in &card.raters {
            raters.push(rater_row(name, found));
        }
        let with_each_other = card.agreement_of_raters.as_ref().and_then(|it| it.spearman);
        let title = format!("Each rater (Spearman with each other {})", figure(with_each_other));
        tables.push((title, raters));
    }
    tables
}

fn rater_row(name: &str, found: &RankingFigures) -> [String; 6] {
    [
        name.to_owned(),
        found.n.to_string(),
        figure(found.pearson),
        figure(found.spearman),
        figure(found.kendall_tau_b),
        figure(found.pair_accuracy),
    ]
}

fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}
