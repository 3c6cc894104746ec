//! What each factor of the design is worth: gains over pairs of configurations that differ
//! in that factor alone.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    prompt::{Condition, FeedbackTemplate, Shots},
    stats::mean,
};

/// The figures of one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Who wrote.
    pub model: String,
    /// What it was shown.
    pub condition: Condition,
    /// Micro precision.
    pub precision: f64,
    /// Micro recall.
    pub recall: f64,
    /// Micro F1.
    pub f1: f64,
    /// Generated units in all.
    pub n_units: f64,
}

/// A factor of the design, with one of its contrasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Factor {
    /// The constrained template (V2) against the unconstrained one (V1).
    Template,
    /// The list of categories against none.
    Guidance,
    /// Exemplars against none.
    FewShot,
    /// The assignment against none.
    Rubric,
    /// Chain of thought against V1.
    CotOverV1,
    /// Chain of thought against V2.
    CotOverV2,
}

impl Factor {
    /// All of them, as tables have them.
    pub const ALL: [Self; 6] = [
        Self::Template,
        Self::Guidance,
        Self::Rubric,
        Self::FewShot,
        Self::CotOverV1,
        Self::CotOverV2,
    ];

    /// What is set against what.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Template => "V2 - V1",
            Self::Guidance => "guided - unguided",
            Self::FewShot => "few - zero shots",
            Self::Rubric => "rubric - none",
            Self::CotOverV1 => "CoT - V1",
            Self::CotOverV2 => "CoT - V2",
        }
    }

    /// The condition that a condition with the factor is set against; `None` for one
    /// without it.
    pub fn without(self, condition: Condition) -> Option<Condition> {
        let from = |template, other| {
            (condition.template == template).then_some(Condition { template: other, ..condition })
        };
        match self {
            Self::Template => from(FeedbackTemplate::V2, FeedbackTemplate::V1),
            Self::CotOverV1 => from(FeedbackTemplate::Cot, FeedbackTemplate::V1),
            Self::CotOverV2 => from(FeedbackTemplate::Cot, FeedbackTemplate::V2),
            Self::Guidance => condition.guided.then_some(Condition { guided: false, ..condition }),
            Self::Rubric => condition.rubric.then_some(Condition { rubric: false, ..condition }),
            Self::FewShot => (condition.shots == Shots::Few)
                .then_some(Condition { shots: Shots::Zero, ..condition }),
        }
    }
}

/// The gain by a factor over its pairs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactorEffect {
    /// What is set against what.
    pub factor: &'static str,
    /// Pairs: the places among the cells of that with the factor and that without.
    pub pairs: Vec<(usize, usize)>,
    /// Mean gain of precision.
    pub mean_precision_gain: f64,
    /// Mean gain of recall.
    pub mean_recall_gain: f64,
    /// Mean gain of F1.
    pub mean_f1_gain: f64,
    /// Pairs in which F1 rose.
    pub wins: usize,
}

/// The effect of a factor over those cells with it that `is_taken` takes; each is set
/// against the cell of the same model that differs in this factor alone. `None` where there
/// is no such pair. Of two cells of one model and condition the first counts.
pub fn effect(
    cells: &[Cell],
    factor: Factor,
    is_taken: impl Fn(&Cell) -> bool,
) -> Option<FactorEffect> {
    let mut places: BTreeMap<(&str, Condition), usize> = BTreeMap::new();
    for (place, cell) in cells.iter().enumerate() {
        places.entry((&cell.model, cell.condition)).or_insert(place);
    }
    let pairs: Vec<(usize, usize)> = places
        .iter()
        .filter(|(_, place)| is_taken(&cells[**place]))
        .filter_map(|((model, condition), &with)| {
            let without = *places.get(&(*model, factor.without(*condition)?))?;
            Some((with, without))
        })
        .collect();
    let gains = |figure: fn(&Cell) -> f64| {
        let gain =
            |&(with, without): &(usize, usize)| figure(&cells[with]) - figure(&cells[without]);
        pairs.iter().map(gain).collect::<Vec<f64>>()
    };
    let f1 = gains(|cell| cell.f1);
    Some(FactorEffect {
        factor: factor.name(),
        mean_precision_gain: mean(&gains(|cell| cell.precision))?,
        mean_recall_gain: mean(&gains(|cell| cell.recall))?,
        mean_f1_gain: mean(&f1)?,
        wins: f1.iter().filter(|gain| 0.0 < **gain).count(),
        pairs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(model: &str, condition: &str, f1: f64) -> Cell {
        let condition = condition.parse().unwrap();
        Cell { model: model.to_owned(), condition, precision: f1, recall: f1, f1, n_units: 1.0 }
    }

    #[test]
    fn a_pair_differs_in_one_factor_and_in_nothing_else() {
        let cells = [
            cell("a", "v1", 0.1),
            cell("a", "v2", 0.2),
            cell("a", "v2+guided", 0.5),
            cell("b", "v1+guided", 0.3),
            cell("b", "cot+guided", 0.2),
        ];
        let of = |factor| effect(&cells, factor, |_| true);
        assert_eq!(of(Factor::Template).unwrap().pairs, [(1, 0)]);
        let guidance = of(Factor::Guidance).unwrap();
        assert_eq!((guidance.pairs, guidance.wins), (vec![(2, 1)], 1));
        assert!((of(Factor::CotOverV1).unwrap().mean_f1_gain + 0.1).abs() < 1e-12);
        assert_eq!(of(Factor::CotOverV1).unwrap().wins, 0);
        assert_eq!(of(Factor::CotOverV2), None);
        assert_eq!(of(Factor::FewShot), None);
    }
}
