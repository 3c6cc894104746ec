//! How far those who gave the gold agree with one another.

use serde::{Deserialize, Serialize};

use super::PairAnnotation;
use crate::stats::{ceiling, icc_2_1, mean_correlation, ordinal_alpha};

/// The agreement of several raters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RaterFigures {
    /// How many there are.
    pub n_raters: usize,
    /// The pairs that two or more of them rated.
    pub n_shared: usize,
    /// The mean of Pearson's correlations of any two.
    pub pearson: Option<f64>,
    /// ICC(2,1) over the pairs that all rated.
    pub icc: Option<f64>,
    /// Krippendorff's ordinal alpha.
    pub alpha: Option<f64>,
    /// The correlation with their mean that a scorer without error would have.
    pub ceiling: Option<f64>,
}

/// `None` where no pair has two ratings.
pub(super) fn rater_figures(pairs: &[&PairAnnotation]) -> Option<RaterFigures> {
    let n_raters = pairs.iter().map(|pair| pair.ratings.len()).max()?;
    let items: Vec<Vec<Option<f64>>> = pairs.iter().map(|pair| pair.ratings.clone()).collect();
    let given: Vec<Vec<f64>> =
        items.iter().map(|item| item.iter().copied().flatten().collect()).collect();
    let n_shared = given.iter().filter(|given| 2 <= given.len()).count();
    if n_shared == 0 {
        return None;
    }
    let by_all: Vec<Vec<f64>> =
        given.iter().filter(|given| given.len() == n_raters).cloned().collect();
    let pearson = mean_correlation(&items);
    let n_ratings = given.iter().map(Vec::len).sum::<usize>() as f64 / given.len() as f64;
    Some(RaterFigures {
        n_raters,
        n_shared,
        pearson,
        icc: icc_2_1(&by_all),
        alpha: ordinal_alpha(&given),
        ceiling: pearson.and_then(|pearson| ceiling(pearson, n_ratings)),
    })
}
