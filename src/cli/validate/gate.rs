//! Figures that must not be missed.

use super::Ending;
use crate::similarity::Rating;

/// A bound of a correlation or a kappa.
pub(super) fn correlation(text: &str) -> Result<f64, String> {
    within(text, -1.0, 1.0)
}

/// A bound of a share: of an accuracy, an F1 or WindowDiff.
pub(super) fn share(text: &str) -> Result<f64, String> {
    within(text, 0.0, 1.0)
}

/// A bound of how far ratings lie apart.
pub(super) fn distance(text: &str) -> Result<f64, String> {
    within(text, 0.0, Rating::MAX)
}

/// A bound beyond what a figure can be, or that is no number, would be kept always or
/// never.
fn within(text: &str, least: f64, most: f64) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(bound) if (least..=most).contains(&bound) => Ok(bound),
        _ => Err(format!("give a number from {least} to {most}")),
    }
}

/// A bound that a figure must keep.
pub(super) struct Bound {
    /// The figure's key on the card.
    name: &'static str,
    value: Option<f64>,
    kept_by: Bounding,
}

enum Bounding {
    Least(f64),
    Most(f64),
}

/// The bounds that were asked for.
#[derive(Default)]
pub(super) struct Gate {
    bounds: Vec<Bound>,
}

impl Gate {
    /// The figure must be at least `least`, if that was asked for.
    pub(super) fn least(
        mut self,
        name: &'static str,
        value: Option<f64>,
        least: Option<f64>,
    ) -> Self {
        self.bounds.extend(least.map(|least| Bound {
            name,
            value,
            kept_by: Bounding::Least(least),
        }));
        self
    }

    /// The figure must be at most `most`, if that was asked for.
    pub(super) fn most(
        mut self,
        name: &'static str,
        value: Option<f64>,
        most: Option<f64>,
    ) -> Self {
        self.bounds.extend(most.map(|most| Bound { name, value, kept_by: Bounding::Most(most) }));
        self
    }

    /// What is missed, a line each. A figure without a value keeps no bound.
    pub(super) fn missed(&self) -> Vec<String> {
        self.bounds
            .iter()
            .filter_map(|Bound { name, value, kept_by }| {
                let value_text = value.map_or_else(|| "no value".to_owned(), |v| format!("{v:.4}"));
                match kept_by {
                    Bounding::Least(least) => {
                        let is_kept = value.is_some_and(|value| *least <= value);
                        (!is_kept).then(|| format!("{name} is {value_text}, below {least}"))
                    }
                    Bounding::Most(most) => {
                        let is_kept = value.is_some_and(|value| value <= *most);
                        (!is_kept).then(|| format!("{name} is {value_text}, above {most}"))
                    }
                }
            })
            .collect()
    }

    /// How the command ends, after it told on standard error what was missed.
    pub(super) fn ending(&self, is_complete: bool) -> std::io::Result<Ending> {
        let missed = self.missed();
        let mut stderr = std::io::stderr().lock();
        for line in &missed {
            std::io::Write::write_all(&mut stderr, format!("missed: {line}\n").as_bytes())?;
        }
        Ok(match (missed.is_empty(), is_complete) {
            (false, _) => Ending::Missed,
            (true, false) => Ending::Incomplete,
            (true, true) => Ending::Done,
        })
    }
}
