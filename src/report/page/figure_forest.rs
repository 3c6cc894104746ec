//! The differences to the baseline with their intervals, overall and by class.

use super::{
    Comparison, Report,
    scale::{Scale, draw_bottom},
    svg::{HALO, Ink, Paint, Side, Svg, cut},
    text::{ends, figure, interval, p_value, percent, signed},
};

const ROW: f64 = 22.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 520.0;
const WIDTH: f64 = 780.0;
const TOP: f64 = 34.0;

enum Row<'a> {
    Head(String),
    Found(&'a Comparison),
    Space,
}

/// A row for each soft comparison, run by run, the whole corpus before its classes; all
/// measures where none is soft, and `None` without comparisons.
pub(super) fn forest(report: &Report) -> Option<Svg> {
    let rows = rows(report);
    let shown: Vec<&Comparison> = rows
        .iter()
        .filter_map(|row| if let Row::Found(found) = row { Some(*found) } else { None })
        .collect();
    let figures = shown.iter().flat_map(|one| {
        let within = ends(&one.difference).map(|(low, high)| [low, high]);
        one.difference.value.into_iter().chain(within.into_iter().flatten()).chain([0.0])
    });
    let x = Scale::about(figures, (-1.0, 1.0), (LEFT, RIGHT));
    let bottom = TOP + rows.len() as f64 * ROW + 6.0;
    let told: Vec<String> = shown.iter().map(|one| told(one)).collect();
    let description = format!("A row for each difference to the baseline. {}.", told.join("; "));
    let title = "Differences to the baseline";
    let mut svg = Svg::new("forest", title, &description, WIDTH, bottom + 70.0);
    draw_bottom(&mut svg, &x, (bottom, TOP - 6.0), "difference to the baseline");
    svg.line((x.at(0.0), bottom), (x.at(0.0), TOP - 6.0), Ink::Soft, 1.25);
    draw_heads(&mut svg, report);
    let most = shown.iter().map(|one| one.n_paragraphs).max().unwrap_or(1).max(1);
    for (at, row) in rows.iter().enumerate() {
        let middle = TOP + (at as f64 + 0.5) * ROW;
        match row {
            Row::Head(words) => {
                let words = cut(words, RIGHT - 20.0);
                let more = format!(" font-weight=\"600\"{HALO}");
                svg.text_with((14.0, middle + 4.0), Side::Start, Ink::Text, &more, words);
            }
            Row::Found(found) => draw_row(&mut svg, found, &x, middle, most),
            Row::Space => (),
        }
    }
    let note = "filled: adjusted p below 0.05; larger: more paragraphs";
    svg.text_with((LEFT, bottom + 58.0), Side::Start, Ink::Soft, " font-size=\"11\"", note);
    (!shown.is_empty()).then_some(svg)
}

fn rows(report: &Report) -> Vec<Row<'_>> {
    let has_soft = report.comparisons.iter().any(|one| one.measure == "soft");
    let shown = || report.comparisons.iter().filter(move |one| !has_soft || one.measure == "soft");
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for one in shown() {
        if !pairs.contains(&(&one.run, &one.baseline)) {
            pairs.push((&one.run, &one.baseline));
        }
    }
    let mut rows = Vec::new();
    for (run, baseline) in pairs {
        if !rows.is_empty() {
            rows.push(Row::Space);
        }
        rows.push(Row::Head(format!("{run} \u{2212} {baseline}")));
        let own = || shown().filter(move |one| one.run == run && one.baseline == baseline);
        rows.extend(own().filter(|one| one.part == "all").map(Row::Found));
        rows.extend(own().filter(|one| one.part != "all").map(Row::Found));
    }
    rows
}

/// What a row compares, as `all, precision`; a measure that is not soft is named.
pub(super) fn row_name(found: &Comparison) -> String {
    let measure = if found.measure == "soft" { "" } else { &found.measure };
    let words = [found.part.as_str(), &found.figure, measure];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
}

fn told(found: &Comparison) -> String {
    format!(
        "{} less {} ({}): {} ({}), adjusted p {}, {} paragraphs, {} clusters",
        found.run,
        found.baseline,
        row_name(found),
        signed(found.difference.value, 3),
        interval(&found.difference, true),
        p_value(found.p_adjusted),
        found.n_paragraphs,
        found.n_clusters
    )
}

fn draw_heads(svg: &mut Svg, report: &Report) {
    let within = format!("difference, {} % interval", percent(report.confidence));
    svg.text((RIGHT + 16.0, 18.0), Side::Start, Ink::Soft, within);
    svg.text((WIDTH - 14.0, 18.0), Side::End, Ink::Soft, "adj. p");
}

fn draw_row(svg: &mut Svg, found: &Comparison, x: &Scale, middle: f64, most: usize) {
    let base = middle + 4.0;
    let name = cut(&row_name(found), LEFT - 44.0);
    svg.text((28.0, base), Side::Start, Ink::Text, name);
    let ink = Ink::Run(0);
    if let Some((low, high)) = ends(&found.difference) {
        svg.line((x.within(low), middle), (x.within(high), middle), ink, 1.75);
        for end in [low, high] {
            let at = x.within(end);
            svg.line((at, middle - 3.5), (at, middle + 3.5), ink, 1.25);
        }
    }
    if let Some(value) = found.difference.value.filter(|value| value.is_finite()) {
        let side = 6.0 + 7.0 * (found.n_paragraphs as f64 / most as f64).sqrt();
        let is_filled = found.p_adjusted.is_some_and(|p| p < 0.05);
        let paint = if is_filled { Paint::Filled(ink) } else { Paint::Hollow(ink) };
        let corner = (x.within(value) - side / 2.0, middle - side / 2.0);
        svg.rect(corner, (side, side), paint, &told(found));
    }
    let words = match ends(&found.difference) {
        Some((low, high)) => format!(
            "{} ({} to {})",
            signed(found.difference.value, 3),
            figure(Some(low), 3),
            figure(Some(high), 3)
        ),
        None => signed(found.difference.value, 3),
    };
    svg.text((RIGHT + 16.0, base), Side::Start, Ink::Text, words);
    svg.text((WIDTH - 14.0, base), Side::End, Ink::Text, p_value(found.p_adjusted));
}
