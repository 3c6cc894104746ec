//! What holds of ratios under clustering whatever the clusters.

use proptest::prelude::*;

use super::*;

/// Clusters of two systems, some of them empty, of one system only, or alike.
fn pairs() -> impl Strategy<Value = Vec<(ClusterSums, ClusterSums)>> {
    let sums = || {
        (0_u8..6, 0_u8..4).prop_map(|(below, missed)| ClusterSums {
            above: f64::from(below.saturating_sub(missed)),
            below: f64::from(below),
        })
    };
    let pair = prop_oneof![(sums(), sums()), sums().prop_map(|sums| (sums, sums))];
    prop::collection::vec(pair, 0..14)
}

fn is_finite(interval: Interval) -> bool {
    interval.low.is_finite() && interval.high.is_finite() && interval.low <= interval.high
}

fn is_probability(p_value: f64) -> bool {
    0.0 < p_value && p_value <= 1.0
}

proptest! {
    #[test]
    fn figures_are_numbers_or_none(pairs in pairs(), level in 0.5..0.999) {
        let (first, second): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        let draws = Draws { n: 60, level, ..Draws::default() };
        let groups: Vec<usize> = (0..first.len()).collect();
        let crossed: Vec<usize> = groups.iter().map(|at| at % 3).collect();
        let has_ratio = |sums: &[ClusterSums]| {
            2 <= sums.len() && 0.0 < sums.iter().map(|sums| sums.below).sum::<f64>()
        };
        let one = ratio_linearised(&first, level);
        let two = difference_linearised(&first, &second, level);
        prop_assert_eq!(one.is_some(), has_ratio(&first));
        prop_assert_eq!(two.is_some(), has_ratio(&first) && has_ratio(&second));
        let is_sound = |found: &RatioEstimate| {
            is_finite(found.interval) && found.estimate.is_finite() && 0.0 <= found.standard_error
        };
        for found in [one, two, two_way_linearised(&first, &groups, &crossed, level)] {
            prop_assert!(found.iter().all(is_sound), "{found:?}");
        }
        let is_sound = |found: &RatioBootstrap| {
            let intervals = [Some(found.percentile), found.bca];
            intervals.into_iter().flatten().all(is_finite) && found.standard_error.is_finite()
        };
        for found in [ratio_bootstrap(&first, draws), difference_bootstrap(&first, &second, draws)] {
            prop_assert!(found.iter().all(is_sound), "{found:?}");
        }
        let test = randomisation_test(&first, &second, draws);
        prop_assert_eq!(test.is_some(), two.is_some());
        prop_assert!(test.is_none_or(|test| is_probability(test.p_value)));
        let wild = wild_cluster_bootstrap(&first, &second, draws);
        let is_sound = |found: &WildBootstrap| {
            is_probability(found.p_value) && found.interval.is_none_or(is_finite)
        };
        prop_assert!(wild.iter().all(is_sound), "{wild:?}");
    }

    #[test]
    fn swapped_systems_have_the_same_p_values(pairs in pairs()) {
        let (first, second): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        let draws = Draws { n: 60, ..Draws::default() };
        let p_value = |test: Option<RandomisationTest>| test.map(|test| test.p_value);
        let one = randomisation_test(&first, &second, draws);
        prop_assert_eq!(p_value(one), p_value(randomisation_test(&second, &first, draws)));
        let p_value = |test: Option<WildBootstrap>| test.map(|test| test.p_value);
        let one = wild_cluster_bootstrap(&first, &second, draws);
        let other = wild_cluster_bootstrap(&second, &first, draws);
        prop_assert_eq!(p_value(one), p_value(other));
    }

    #[test]
    fn the_unit_of_the_sums_does_not_matter(pairs in pairs()) {
        let (first, second): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        let scaled = |sums: &[ClusterSums]| -> Vec<ClusterSums> {
            let by_four = |sums: &ClusterSums| ClusterSums {
                above: 4.0 * sums.above,
                below: 4.0 * sums.below,
            };
            sums.iter().map(by_four).collect()
        };
        let draws = Draws { n: 60, ..Draws::default() };
        prop_assert_eq!(
            difference_linearised(&first, &second, 0.95),
            difference_linearised(&scaled(&first), &scaled(&second), 0.95)
        );
        prop_assert_eq!(
            ratio_bootstrap(&first, draws),
            ratio_bootstrap(&scaled(&first), draws)
        );
        prop_assert_eq!(
            randomisation_test(&first, &second, draws),
            randomisation_test(&scaled(&first), &scaled(&second), draws)
        );
    }

    #[test]
    fn adjusted_p_values_keep_their_order_and_grow(p_values in prop::collection::vec(0.0..=1.0, 0..20)) {
        for adjusted in [holm(&p_values), benjamini_hochberg(&p_values)] {
            prop_assert_eq!(adjusted.len(), p_values.len());
            for (p_value, adjusted_p) in p_values.iter().zip(&adjusted) {
                prop_assert!(*p_value <= adjusted_p + 1e-15 && *adjusted_p <= 1.0);
                let mut others = p_values.iter().zip(&adjusted);
                let is_in_order = others.all(|(p, other)| p < p_value || adjusted_p <= other);
                prop_assert!(is_in_order, "{adjusted:?}");
            }
        }
    }
}
