//! How far raters agree with one another, and what that leaves for anyone else.

use super::{mean, pearson};

/// The intraclass correlation ICC(2,1) of Shrout and Fleiss (1979): two-way random
/// effects, absolute agreement, a single rater:
/// (MSR - MSE) / (MSR + (k - 1) MSE + k (MSC - MSE) / n).
///
/// `items` holds a row for each thing rated, with a rating of every rater in one order.
/// `None` of fewer than two items or raters, and where nothing varies.
///
/// # Panics
///
/// If the rows differ in length.
pub fn icc_2_1(items: &[Vec<f64>]) -> Option<f64> {
    let n_raters = items.first()?.len();
    assert!(items.iter().all(|item| item.len() == n_raters), "a rating is missing");
    if items.len() < 2 || n_raters < 2 {
        return None;
    }
    let (n, k) = (items.len() as f64, n_raters as f64);
    let grand = items.iter().flatten().sum::<f64>() / (n * k);
    let item_means: Vec<f64> = items.iter().map(|item| item.iter().sum::<f64>() / k).collect();
    let rater_means: Vec<f64> =
        (0..n_raters).map(|rater| items.iter().map(|item| item[rater]).sum::<f64>() / n).collect();
    let squares = |means: &[f64]| means.iter().map(|mean| (mean - grand).powi(2)).sum::<f64>();
    let mut residuals = 0.0;
    for (item, item_mean) in items.iter().zip(&item_means) {
        for (rating, rater_mean) in item.iter().zip(&rater_means) {
            residuals += (rating - item_mean - rater_mean + grand).powi(2);
        }
    }
    let of_items = k * squares(&item_means) / (n - 1.0);
    let of_raters = n * squares(&rater_means) / (k - 1.0);
    let error = residuals / ((n - 1.0) * (k - 1.0));
    let denominator = of_items + (k - 1.0) * error + k * (of_raters - error) / n;
    (0.0 < denominator).then(|| (of_items - error) / denominator)
}

/// The mean of Pearson's correlations of all pairs of raters, each over the items that
/// both rated. `items` has a row for each item and a place for each rater. `None` where
/// no two raters have one.
pub fn mean_correlation(items: &[Vec<Option<f64>>]) -> Option<f64> {
    let n_raters = items.iter().map(Vec::len).max()?;
    let mut correlations = Vec::new();
    for first in 0..n_raters {
        for second in 0..first {
            let rating = |item: &[Option<f64>], rater| item.get(rater).copied().flatten();
            let (x, y): (Vec<f64>, Vec<f64>) = items
                .iter()
                .filter_map(|item| Some((rating(item, first)?, rating(item, second)?)))
                .unzip();
            correlations.extend(pearson(&x, &y));
        }
    }
    mean(&correlations)
}

/// The correlation that a scorer without any error of its own would have with the mean
/// of `n_raters` raters: the square root of the reliability of their mean, which is
/// k r / (1 + (k - 1) r) by Spearman (1910) and Brown (1910); for two raters
/// sqrt(2 r / (1 + r)). `r` is the mean correlation of two raters. `None` where r is
/// not above zero.
pub fn ceiling(r: f64, n_raters: f64) -> Option<f64> {
    (0.0 < r).then(|| (n_raters * r / (1.0 + (n_raters - 1.0) * r)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rater_who_is_always_higher_costs_absolute_agreement() {
        let same: Vec<Vec<f64>> = (0..5).map(|n| vec![f64::from(n); 2]).collect();
        assert!((icc_2_1(&same).unwrap() - 1.0).abs() < 1e-12);
        let higher: Vec<Vec<f64>> =
            (0..5).map(|n| vec![f64::from(n), f64::from(n) + 1.0]).collect();
        assert!(icc_2_1(&higher).unwrap() < 0.9);
        assert_eq!(icc_2_1(&[vec![1.0, 1.0], vec![1.0, 1.0]]), None);
        assert_eq!(icc_2_1(&[]), None);
    }

    #[test]
    fn two_raters_leave_the_ceiling_of_spearman_and_brown() {
        let found = ceiling(0.7572, 2.0).unwrap();
        assert!((found - (2.0_f64 * 0.7572 / 1.7572).sqrt()).abs() < 1e-12);
        assert_eq!(ceiling(0.0, 2.0), None);
        let items = [vec![Some(1.0), Some(1.0), None], vec![Some(2.0), Some(2.0)]];
        assert!((mean_correlation(&items).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(mean_correlation(&[]), None);
    }
}
