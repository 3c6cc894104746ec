//! What factors of the design do to F1: a panel for each, a line for each pair of runs.

use super::{
    Effect, Report,
    scale::Scale,
    svg::{Ink, Paint, Side, Svg, cut},
    text::{figure, signed},
};

/// How high a panel is; it is the wider the fewer there are.
const HEIGHT: f64 = 236.0;
const WIDTHS: (f64, f64) = (176.0, 244.0);
const LEFT: f64 = 64.0;
const TOP: f64 = 58.0;
const GAP: f64 = 20.0;
const IN_ROW: usize = 4;

/// Pairs of runs that differ in one factor alone; `None` without effects.
pub(super) fn effects(report: &Report) -> Option<Svg> {
    let effects: Vec<&Effect> =
        report.effects.iter().filter(|effect| !effect.pairs.is_empty()).collect();
    let n_rows = effects.len().div_ceil(IN_ROW);
    let in_row = effects.len().min(IN_ROW);
    let panel_width = (780.0 / in_row.max(1) as f64 - GAP).clamp(WIDTHS.0, WIDTHS.1);
    let width = LEFT + in_row as f64 * (panel_width + GAP) + 8.0;
    let height = n_rows as f64 * (TOP + HEIGHT + 42.0);
    let told: Vec<String> = effects.iter().map(|effect| told(effect)).collect();
    let description = format!(
        "A panel for each factor, a line for each pair of runs alike in all else, from the run \
         without the factor to the run with it. {}.",
        told.join("; ")
    );
    let title = "Effects of the factors on F1";
    let mut svg = Svg::new("effects", title, &description, width.max(300.0), height);
    for (at, effect) in effects.iter().enumerate() {
        let left = LEFT + (at % IN_ROW) as f64 * (panel_width + GAP);
        let top = (at / IN_ROW) as f64 * (TOP + HEIGHT + 42.0) + TOP;
        let figures = effects.iter().flat_map(|one| one.pairs.iter().flat_map(|p| [p.2, p.3]));
        let y = Scale::about(figures, (0.0, 1.0), (top + HEIGHT, top));
        panel(&mut svg, effect, (left, top, panel_width), &y, at % IN_ROW == 0);
    }
    (!effects.is_empty()).then_some(svg)
}

fn told(effect: &Effect) -> String {
    format!(
        "{}: mean gain {}, F1 rose in {} of {} pairs",
        effect.factor,
        signed(Some(effect.mean_gain), 3),
        effect.wins,
        effect.pairs.len()
    )
}

/// The names of both sides of a factor, with it and without it.
pub(super) fn sides(factor: &str) -> (&str, &str) {
    let found = factor.split_once(" - ").or_else(|| factor.split_once(" \u{2212} "));
    found.unwrap_or(("with", "without"))
}

fn panel(
    svg: &mut Svg,
    effect: &Effect,
    (left, top, width): (f64, f64, f64),
    y: &Scale,
    is_first: bool,
) {
    let (right, bottom) = (left + width, top + HEIGHT);
    let bold = " font-weight=\"600\"";
    let factor = cut(&effect.factor.replace(" - ", " \u{2212} "), width * 0.98);
    svg.text_with((left, top - 32.0), Side::Start, Ink::Text, bold, factor);
    let gain = format!(
        "{} mean, {} of {} rose",
        signed(Some(effect.mean_gain), 3),
        effect.wins,
        effect.pairs.len()
    );
    svg.text((left, top - 15.0), Side::Start, Ink::Soft, gain);
    for tick in y.ticks() {
        let at = y.at(tick);
        svg.line((left, at), (right, at), Ink::Line, 1.0);
        if is_first {
            svg.text((left - 8.0, at + 4.0), Side::End, Ink::Soft, y.name(tick));
        }
    }
    if is_first {
        let (x, middle) = (left - 46.0, f64::midpoint(top, bottom));
        let turned = format!(" transform=\"rotate(-90 {x} {middle})\"");
        svg.text_with((x, middle), Side::Middle, Ink::Text, &turned, "F1");
    }
    let (from, to) = (left + width * 0.25, left + width * 0.75);
    let (present, absent) = sides(&effect.factor);
    let room = width * 0.48;
    svg.text((from, bottom + 18.0), Side::Middle, Ink::Soft, cut(absent, room));
    svg.text((to, bottom + 18.0), Side::Middle, Ink::Soft, cut(present, room));
    for (run, other, f1_with, f1_without) in &effect.pairs {
        if !(f1_with.is_finite() && f1_without.is_finite()) {
            continue;
        }
        let ink = if f1_without < f1_with { Ink::Rise } else { Ink::Fall };
        let dash = if f1_without < f1_with { "" } else { " stroke-dasharray=\"5 3\"" };
        let (start, end) = ((from, y.at(*f1_without)), (to, y.at(*f1_with)));
        svg.path(&[start, end], ink, 1.5, dash);
        let name = |run: &str, f1: f64| format!("{run}: F1 {}", figure(Some(f1), 3));
        svg.dot(start, 4.5, Paint::Hollow(ink), &name(other, *f1_without));
        svg.dot(end, 4.5, Paint::Filled(ink), &name(run, *f1_with));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_names_both_sides() {
        assert_eq!(sides("guided - unguided"), ("guided", "unguided"));
        assert_eq!(sides("rubric"), ("with", "without"));
    }
}
