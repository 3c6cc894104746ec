//! Krippendorff's alpha for values that have an order and no distances.

/// Krippendorff's alpha with the ordinal metric (Krippendorff 2011, *Computing
/// Krippendorff's Alpha-Reliability*): `1 - (n - 1) sum o_ck d_ck^2 / sum n_c n_k d_ck^2`,
/// with `d_ck` the sum of `n_g` over the values g from c to k less `(n_c + n_k) / 2`.
///
/// `units` are the things that were rated, each with the values it was given, in any
/// number and in any order; a rater that gave none is left out. A unit with fewer than
/// two values says nothing and is passed over. `None` where no unit has two values,
/// and where all values are one.
pub fn ordinal_alpha(units: &[Vec<f64>]) -> Option<f64> {
    let units: Vec<&Vec<f64>> = units.iter().filter(|unit| 2 <= unit.len()).collect();
    let mut values: Vec<f64> = units.iter().flat_map(|unit| unit.iter().copied()).collect();
    values.sort_by(f64::total_cmp);
    values.dedup_by(|a, b| *a <= *b);
    let place = |value: f64| values.partition_point(|&other| other < value);
    let n_values = values.len();
    let mut coincidences = vec![vec![0.0_f64; n_values]; n_values];
    for unit in units {
        let weight = 1.0 / (unit.len() as f64 - 1.0);
        for (i, &a) in unit.iter().enumerate() {
            for (j, &b) in unit.iter().enumerate() {
                if i != j {
                    coincidences[place(a)][place(b)] += weight;
                }
            }
        }
    }
    let margins: Vec<f64> = coincidences.iter().map(|row| row.iter().sum()).collect();
    let total: f64 = margins.iter().sum();
    let (mut observed, mut expected) = (0.0, 0.0);
    for low in 0..n_values {
        for high in low + 1..n_values {
            let between: f64 = margins[low..=high].iter().sum();
            let distance = (between - f64::midpoint(margins[low], margins[high])).powi(2);
            observed += coincidences[low][high] * distance;
            expected += margins[low] * margins[high] * distance;
        }
    }
    (0.0 < expected).then(|| 1.0 - (total - 1.0) * observed / expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_with_one_value_says_nothing() {
        let units = vec![vec![0.0, 0.0], vec![1.0, 1.0], vec![3.0]];
        assert_eq!(ordinal_alpha(&units), ordinal_alpha(&units[..2]));
        assert_eq!(ordinal_alpha(&units), Some(1.0));
    }

    #[test]
    fn where_nothing_varies_there_is_no_alpha() {
        assert_eq!(ordinal_alpha(&[vec![2.0, 2.0], vec![2.0, 2.0]]), None);
        assert_eq!(ordinal_alpha(&[vec![2.0], vec![3.0]]), None);
        assert_eq!(ordinal_alpha(&[]), None);
    }
}
