//! Two planes with a point for each run: recall and precision, units and F1.

use super::{
    Estimate, Figures, Report, RunSummary,
    labels::place,
    scale::{Scale, draw_axes},
    svg::{HALO, Ink, Side, Svg, cut},
    text::{ends, figure, interval},
};

/// More runs than this are named by their number, with a key under the plane.
const MAX_NAMED: usize = 12;

const WIDTH: f64 = 620.0;
const PLANE: ((f64, f64), (f64, f64)) = ((64.0, 24.0), (586.0, 404.0));

struct Point {
    run: usize,
    x: f64,
    y: f64,
    x_ends: Option<(f64, f64)>,
    y_ends: Option<(f64, f64)>,
    told: String,
}

/// Precision over recall, with the lines on which F1 is the same.
pub(super) fn precision_recall(report: &Report) -> Option<Svg> {
    let points: Vec<Point> = headlines(report)
        .filter_map(|(run, summary, figures)| {
            Some(Point {
                run,
                x: finite(figures.recall.value)?,
                y: finite(figures.precision.value)?,
                x_ends: ends(&figures.recall),
                y_ends: ends(&figures.precision),
                told: told(summary, figures),
            })
        })
        .collect();
    let title = "Precision and recall of the runs";
    let description = described(&points, "recall", "precision");
    let (x, y) = scales(&points, (0.0, 1.0));
    let mut svg = started("precision-recall", title, &description, report, &points)?;
    draw_axes(&mut svg, &x, &y, ("recall", "precision"));
    isolines(&mut svg, &x, &y);
    draw_points(&mut svg, report, &points, &x, &y);
    Some(svg)
}

/// F1 over the units that a run has on a paragraph.
pub(super) fn units_f1(report: &Report) -> Option<Svg> {
    let points: Vec<Point> = headlines(report)
        .filter_map(|(run, summary, figures)| {
            Some(Point {
                run,
                x: finite(summary.units_per_paragraph)?,
                y: finite(figures.f1.value)?,
                x_ends: None,
                y_ends: ends(&figures.f1),
                told: told(summary, figures),
            })
        })
        .collect();
    let title = "F1 against units on a paragraph";
    let description = described(&points, "units on a paragraph", "F1");
    let (x, y) = scales(&points, (0.0, f64::INFINITY));
    let mut svg = started("units-f1", title, &description, report, &points)?;
    draw_axes(&mut svg, &x, &y, ("generated units on a paragraph, mean", "F1"));
    draw_points(&mut svg, report, &points, &x, &y);
    Some(svg)
}

/// The runs that have figures, with their place and their headline.
fn headlines(report: &Report) -> impl Iterator<Item = (usize, &RunSummary, &Figures)> {
    report.runs.iter().enumerate().filter_map(|(at, run)| Some((at, run, run.figures.first()?)))
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

fn told(run: &RunSummary, figures: &Figures) -> String {
    let write = |name: &str, estimate: &Estimate| {
        let within = interval(estimate, false);
        let within = if within.is_empty() { within } else { format!(" ({within})") };
        format!("{name} {}{within}", figure(estimate.value, 3))
    };
    format!(
        "{}: {}, {}, {}",
        run.name,
        write("precision", &figures.precision),
        write("recall", &figures.recall),
        write("F1", &figures.f1)
    )
}

fn described(points: &[Point], x: &str, y: &str) -> String {
    let told: Vec<&str> = points.iter().map(|point| point.told.as_str()).collect();
    format!("A point for each run, {y} over {x}. {}.", told.join("; "))
}

fn scales(points: &[Point], x_bounds: (f64, f64)) -> (Scale, Scale) {
    let spread = |value: f64, ends: Option<(f64, f64)>| {
        [value].into_iter().chain(ends.map(|(low, high)| [low, high]).into_iter().flatten())
    };
    let ((left, top), (right, bottom)) = PLANE;
    (
        Scale::about(points.iter().flat_map(|p| spread(p.x, p.x_ends)), x_bounds, (left, right)),
        Scale::about(points.iter().flat_map(|p| spread(p.y, p.y_ends)), (0.0, 1.0), (bottom, top)),
    )
}

/// The empty plane; `None` without points.
fn started(
    name: &str,
    title: &str,
    description: &str,
    report: &Report,
    points: &[Point],
) -> Option<Svg> {
    let is_keyed = MAX_NAMED < report.runs.len();
    let key = if is_keyed { points.len().div_ceil(2) as f64 * 18.0 + 14.0 } else { 0.0 };
    let svg = Svg::new(name, title, description, WIDTH, PLANE.1.1 + 52.0 + key);
    (!points.is_empty()).then_some(svg)
}

/// Where precision and recall give the same F1, named at the right or the upper end.
fn isolines(svg: &mut Svg, x: &Scale, y: &Scale) {
    let ((left, top), (right, _)) = PLANE;
    let f1 = |recall: f64, precision: f64| 2.0 * recall * precision / (recall + precision);
    let span = f1(x.high, y.high) - f1(x.low, y.low).max(0.0);
    let step = if span < 0.3 { 0.05 } else { 0.1 };
    for at in 1..20_u8 {
        let level = f64::from(at) * step;
        if 1.0 <= level {
            break;
        }
        // recall = F1 precision / (2 precision - F1), and the other way round.
        let other = |one: f64| level * one / (2.0 * one - level);
        let points: Vec<(f64, f64)> = (0..=160_u8)
            .map(|step| x.low + (x.high - x.low) * f64::from(step) / 160.0)
            .filter(|recall| level < 2.0 * recall)
            .map(|recall| (recall, other(recall)))
            .filter(|(_, precision)| (y.low..=y.high).contains(precision))
            .map(|(recall, precision)| (x.at(recall), y.at(precision)))
            .collect();
        if points.len() < 2 {
            continue;
        }
        svg.path(&points, Ink::Soft, 1.0, " stroke-opacity=\"0.55\" stroke-dasharray=\"2 3\"");
        let name = super::text::figure(Some(level), 2);
        let at_right = other(x.high);
        if level < 2.0 * x.high && (y.low..=y.high).contains(&at_right) {
            let place = (right + 5.0, y.at(at_right) + 4.0);
            svg.text_with(place, Side::Start, Ink::Soft, " font-size=\"10\"", name);
        } else if let Some(&(first, _)) = points.first()
            && left + 16.0 < first
        {
            let place = (first, top - 5.0);
            svg.text_with(place, Side::Middle, Ink::Soft, " font-size=\"10\"", name);
        }
    }
    let place = (right + 25.0, top - 5.0);
    svg.text_with(place, Side::End, Ink::Soft, " font-size=\"10\" font-weight=\"600\"", "F1");
}

fn draw_points(svg: &mut Svg, report: &Report, points: &[Point], x: &Scale, y: &Scale) {
    let is_keyed = MAX_NAMED < report.runs.len();
    let name = |run: usize| report.runs.get(run).map_or("", |run| run.name.as_str());
    let mut lines = Vec::new();
    for point in points {
        let at = (x.at(point.x), y.at(point.y));
        let across =
            point.x_ends.map(|(low, high)| ((x.within(low), at.1), (x.within(high), at.1)));
        let along = point.y_ends.map(|(low, high)| ((at.0, y.within(low)), (at.0, y.within(high))));
        for (from, to) in across.into_iter().chain(along) {
            svg.path(&[from, to], Ink::Run(point.run), 1.0, FAINT);
            lines.push((from, to));
        }
    }
    let places: Vec<(f64, f64)> = points.iter().map(|p| (x.at(p.x), y.at(p.y))).collect();
    let labels: Vec<String> = points
        .iter()
        .map(
            |point| {
                if is_keyed { (point.run + 1).to_string() } else { cut(name(point.run), 220.0) }
            },
        )
        .collect();
    let found = place(&places, &labels, &lines, PLANE);
    for ((at, label), found) in places.iter().zip(&labels).zip(found) {
        let Some(label_at) = found else {
            continue;
        };
        if let Some(end) = label_at.leader {
            svg.line(*at, end, Ink::Soft, 0.75);
        }
        svg.text_with(label_at.at, label_at.side, Ink::Text, HALO, label);
    }
    for (point, &at) in points.iter().zip(&places) {
        svg.mark(at, point.run, 5.0, &point.told);
    }
    if is_keyed {
        draw_key(svg, points, &name);
    }
}

/// Whiskers stand back behind points and labels.
const FAINT: &str = " stroke-opacity=\"0.6\"";

fn draw_key<'a>(svg: &mut Svg, points: &[Point], name: &impl Fn(usize) -> &'a str) {
    let rows = points.len().div_ceil(2).max(1);
    for (at, point) in points.iter().enumerate() {
        let left = PLANE.0.0 + (at / rows) as f64 * 272.0;
        let base = PLANE.1.1 + 62.0 + (at % rows) as f64 * 18.0;
        svg.mark((left, base - 4.0), point.run, 4.5, "");
        svg.text((left + 30.0, base), Side::End, Ink::Text, point.run + 1);
        svg.text((left + 38.0, base), Side::Start, Ink::Text, cut(name(point.run), 222.0));
    }
}
