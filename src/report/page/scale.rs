//! Axes: what range they show, where their ticks stand, and how they are drawn.

use super::svg::{Ink, Side, Svg};

/// From figures to pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// The figure at the low end.
    pub(super) low: f64,
    /// The figure at the high end.
    pub(super) high: f64,
    /// What lies between two ticks.
    pub(super) step: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// A scale with round ends about all finite figures, inside `bounds`, from one pixel
    /// to another.
    pub(super) fn about(
        figures: impl IntoIterator<Item = f64>,
        bounds: (f64, f64),
        pixels: (f64, f64),
    ) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for figure in figures.into_iter().filter(|figure| figure.is_finite()) {
            (low, high) = (low.min(figure), high.max(figure));
        }
        if high < low {
            (low, high) = (0.0, 1.0);
        }
        let within = |figure: f64| figure.max(bounds.0).min(bounds.1);
        let (low, high) = (within(low), within(high));
        let margin = ((high - low) * 0.12).max(0.01);
        let (low, high) = ((low - margin).max(bounds.0), (high + margin).min(bounds.1));
        let step = round_step((high - low) / 5.0);
        Self {
            low: ((low / step).floor() * step).max(bounds.0),
            high: ((high / step).ceil() * step).min(bounds.1),
            step,
            from: pixels.0,
            to: pixels.1,
        }
    }

    /// The pixel of a figure.
    pub(super) fn at(&self, figure: f64) -> f64 {
        let span = self.high - self.low;
        let share = if span > 0.0 { (figure - self.low) / span } else { 0.5 };
        self.from + share * (self.to - self.from)
    }

    /// The same, never beyond the ends.
    pub(super) fn within(&self, figure: f64) -> f64 {
        self.at(figure.clamp(self.low, self.high.max(self.low)))
    }

    /// The figures with a tick.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let first = (self.low / self.step - 1e-9).ceil();
        (0..64_u8)
            .map(|at| (first + f64::from(at)) * self.step)
            .take_while(|tick| *tick <= self.high + self.step * 1e-6)
            .collect()
    }

    /// As many places as the ticks need.
    pub(super) fn places(&self) -> usize {
        (0..6_u8)
            .find(|&places| {
                let scaled = self.step * 10_f64.powi(i32::from(places));
                (scaled - scaled.round()).abs() < 1e-6
            })
            .map_or(3, usize::from)
    }

    /// A tick in words.
    pub(super) fn name(&self, tick: f64) -> String {
        super::text::figure(Some(tick), self.places())
    }
}

/// The least of 1, 2 and 5 times a power of ten that is no less.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.max(1e-6).log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| least <= times * power * 1.000_001);
    times.unwrap_or(10.0) * power
}

/// Both axes of a plane, its grid and the names of the axes.
pub(super) fn draw_axes(svg: &mut Svg, x: &Scale, y: &Scale, names: (&str, &str)) {
    draw_bottom(svg, x, (y.from, y.to), names.0);
    for tick in y.ticks() {
        let at = y.at(tick);
        svg.line((x.from, at), (x.to, at), Ink::Line, 1.0);
        svg.text((x.from - 8.0, at + 4.0), Side::End, Ink::Soft, y.name(tick));
    }
    let (left, middle) = (x.from - 46.0, f64::midpoint(y.from, y.to));
    let turned =
        format!(" transform=\"rotate(-90 {} {})\"", super::svg::num(left), super::svg::num(middle));
    svg.text_with((left, middle), Side::Middle, Ink::Text, &turned, names.1);
    svg.line((x.from, y.from), (x.to, y.from), Ink::Soft, 1.0);
    svg.line((x.from, y.from), (x.from, y.to), Ink::Soft, 1.0);
}

/// The lower axis alone with its grid between two heights.
pub(super) fn draw_bottom(svg: &mut Svg, x: &Scale, (bottom, top): (f64, f64), name: &str) {
    for tick in x.ticks() {
        let at = x.at(tick);
        svg.line((at, bottom), (at, top), Ink::Line, 1.0);
        svg.text((at, bottom + 18.0), Side::Middle, Ink::Soft, x.name(tick));
    }
    svg.text((f64::midpoint(x.from, x.to), bottom + 38.0), Side::Middle, Ink::Text, name);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_hold_the_figures() {
        let scale = Scale::about([0.213, 0.387], (0.0, 1.0), (0.0, 100.0));
        assert!(scale.low <= 0.213 && 0.387 <= scale.high);
        let names: Vec<String> = scale.ticks().iter().map(|&tick| scale.name(tick)).collect();
        assert_eq!(names, ["0.15", "0.20", "0.25", "0.30", "0.35", "0.40", "0.45"]);
    }

    #[test]
    fn one_figure_or_none_still_have_a_scale() {
        for figures in [vec![], vec![0.5], vec![1.0, 1.0], vec![f64::NAN], vec![7.0]] {
            let scale = Scale::about(figures, (0.0, 1.0), (0.0, 100.0));
            assert!(scale.low < scale.high && 2 <= scale.ticks().len(), "{scale:?}");
        }
    }
}
