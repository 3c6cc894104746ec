//! How often each rating was given, a panel for each run.

use super::{
    Report, RunSummary,
    svg::{Ink, Paint, Side, Svg, cut},
    text::{count, figure},
};

const PANEL: (f64, f64) = (204.0, 150.0);
const LEFT: f64 = 52.0;
const TOP: f64 = 78.0;
const CELL: (f64, f64) = (PANEL.0 + 26.0, PANEL.1 + 86.0);
const IN_ROW: usize = 4;

/// The shares of ratings among all pairs and among aligned pairs; `None` without pairs.
pub(super) fn ratings(report: &Report) -> Option<Svg> {
    let runs: Vec<(usize, &RunSummary)> = report
        .runs
        .iter()
        .enumerate()
        .filter(|(_, run)| run.all_ratings.iter().chain(&run.aligned_ratings).any(|&n| 0 < n))
        .collect();
    let in_row = runs.len().min(IN_ROW);
    let width = (LEFT + in_row as f64 * CELL.0).max(440.0);
    let height = TOP + runs.len().div_ceil(IN_ROW) as f64 * CELL.1 - 28.0;
    let told: Vec<String> = runs
        .iter()
        .map(|(_, run)| {
            format!(
                "{}: all pairs {}, aligned pairs {}",
                run.name,
                listed(&run.all_ratings),
                listed(&run.aligned_ratings)
            )
        })
        .collect();
    let description = format!(
        "A panel for each run: the share of pairs rated 0, 1, 2, 3 and 4, of all pairs and of \
         aligned pairs. Pairs by rating, {}.",
        told.join("; ")
    );
    let mut svg = Svg::new("ratings", "Ratings of pairs", &description, width, height);
    svg.rect((LEFT, 14.0), (12.0, 12.0), Paint::Pale(Ink::Run(0)), "");
    svg.text((LEFT + 18.0, 24.0), Side::Start, Ink::Text, "all pairs");
    svg.rect((LEFT + 92.0, 14.0), (12.0, 12.0), Paint::Filled(Ink::Run(0)), "");
    svg.text((LEFT + 110.0, 24.0), Side::Start, Ink::Text, "aligned pairs");
    for (at, (_, run)) in runs.iter().enumerate() {
        let left = LEFT + (at % IN_ROW) as f64 * CELL.0;
        let top = TOP + (at / IN_ROW) as f64 * CELL.1;
        panel(&mut svg, run, (left, top), at % IN_ROW == 0);
    }
    (!runs.is_empty()).then_some(svg)
}

fn listed(counts: &[usize; 5]) -> String {
    counts.map(|n| n.to_string()).join(" ")
}

fn share(n: usize, counts: &[usize; 5]) -> f64 {
    let total: usize = counts.iter().sum();
    if total == 0 { 0.0 } else { n as f64 / total as f64 }
}

fn panel(svg: &mut Svg, run: &RunSummary, (left, top): (f64, f64), is_first: bool) {
    let (right, bottom) = (left + PANEL.0, top + PANEL.1);
    let bold = " font-weight=\"600\"";
    svg.text_with((left, top - 26.0), Side::Start, Ink::Text, bold, cut(&run.name, PANEL.0 * 0.94));
    let total = |counts: &[usize; 5]| count(counts.iter().sum());
    let totals =
        format!("{} pairs, {} aligned", total(&run.all_ratings), total(&run.aligned_ratings));
    svg.text_with((left, top - 10.0), Side::Start, Ink::Soft, " font-size=\"11\"", totals);
    for quarter in 0..=4_u8 {
        let tick = f64::from(quarter) / 4.0;
        let at = bottom - tick * PANEL.1;
        svg.line((left, at), (right, at), Ink::Line, 1.0);
        if is_first {
            let name = format!("{} %", figure(Some(100.0 * tick), 0));
            svg.text((left - 8.0, at + 4.0), Side::End, Ink::Soft, name);
        }
    }
    let step = PANEL.0 / 5.0;
    for (rating, (&all, &aligned)) in run.all_ratings.iter().zip(&run.aligned_ratings).enumerate() {
        let middle = left + (rating as f64 + 0.5) * step;
        for (n, counts, paint, name, side) in [
            (all, &run.all_ratings, Paint::Pale(Ink::Run(0)), "all", -1.0),
            (aligned, &run.aligned_ratings, Paint::Filled(Ink::Run(0)), "aligned", 0.0),
        ] {
            let share = share(n, counts);
            let told = format!(
                "rated {rating}: {} of {name} pairs, {} %",
                count(n),
                figure(Some(100.0 * share), 1)
            );
            let height = share * PANEL.1;
            svg.rect((middle + side * 14.0, bottom - height), (14.0, height), paint, &told);
        }
        svg.text((middle, bottom + 17.0), Side::Middle, Ink::Soft, rating);
    }
    svg.line((left, bottom), (right, bottom), Ink::Soft, 1.0);
    let middle = f64::midpoint(left, right);
    svg.text((middle, bottom + 34.0), Side::Middle, Ink::Text, "rating");
}
