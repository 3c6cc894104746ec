//! The figures of a scorer's card: confusion and calibration, as SVG.

use std::fmt::Write;

use crate::agreement::SimilarityCard;

/// What is drawn with, light and dark, so that a figure stands on any page.
const STYLE: &str = "<style>text{font:14px system-ui,sans-serif;fill:#222}.s{fill:#666;font-size:12px}\
    .a{stroke:#888;fill:none}.d{stroke:#999;stroke-dasharray:4 4;fill:none}.p{fill:#1f6f8b}\
    .l{stroke:#1f6f8b;stroke-width:2;fill:none}.bg{fill:#fff}\
    @media(prefers-color-scheme:dark){text{fill:#eee}.s{fill:#aaa}.bg{fill:#181818}.p{fill:#5bb8d4}\
    .l{stroke:#5bb8d4}}</style>";

/// Pairs by whole gold (rows) and whole rating (columns), each row shaded by its shares, as
/// in the paper's Figure 3.
pub fn confusion_svg(card: &SimilarityCard) -> String {
    const CELL: usize = 64;
    let (left, top) = (70, 50);
    let (width, height) = (left + 5 * CELL + 20, top + 5 * CELL + 50);
    let mut svg = opened(width, height, "Pairs by gold and rating");
    for (gold, row) in card.confusion.iter().enumerate() {
        let total: usize = row.iter().sum();
        for (rating, &count) in row.iter().enumerate() {
            let share = if total == 0 { 0.0 } else { count as f64 / total as f64 };
            let (x, y) = (left + rating * CELL, top + gold * CELL);
            // The shade is laid over the page, so that it suits light and dark.
            put(
                &mut svg,
                format_args!(
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"#1f8bb0\" \
                     fill-opacity=\"{share:.3}\" stroke=\"#8888\"/>"
                ),
            );
            let (x, y) = (x + CELL / 2, y + CELL / 2);
            put(
                &mut svg,
                format_args!(
                    "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{count}</text>\
                     <text class=\"s\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{:.0} %</text>",
                    y + 18,
                    100.0 * share
                ),
            );
        }
        let y = top + gold * CELL + CELL / 2 + 5;
        put(
            &mut svg,
            format_args!("<text x=\"{}\" y=\"{y}\" text-anchor=\"end\">{gold}</text>", left - 10),
        );
        let x = left + gold * CELL + CELL / 2;
        put(
            &mut svg,
            format_args!("<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{gold}</text>", top - 10),
        );
    }
    let middle = left + 5 * CELL / 2;
    put(
        &mut svg,
        format_args!(
            "<text class=\"s\" x=\"{middle}\" y=\"18\" text-anchor=\"middle\">rating</text>"
        ),
    );
    let y = top + 5 * CELL / 2;
    put(
        &mut svg,
        format_args!(
            "<text class=\"s\" x=\"18\" y=\"{y}\" text-anchor=\"middle\" \
             transform=\"rotate(-90 18 {y})\">gold</text>"
        ),
    );
    put(
        &mut svg,
        format_args!(
            "<text class=\"s\" x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{} pairs; shares of a \
             row</text>",
            height - 18,
            card.n
        ),
    );
    svg.push_str("</svg>\n");
    svg
}

/// The reliability of the probabilities where the scorer gives them, else the mean gold
/// over the mean rating of pairs rated about alike. On the dashed line they would be right.
pub fn calibration_svg(card: &SimilarityCard) -> String {
    if let Some(calibration) = &card.calibration {
        let points: Vec<(f64, f64, usize)> =
            calibration.bins.iter().map(|bin| (bin.confidence, bin.accuracy, bin.n)).collect();
        return plot(&points, 1.0, "confidence", "accuracy");
    }
    let points: Vec<(f64, f64, usize)> =
        card.rating_calibration.iter().map(|bin| (bin.rating, bin.gold, bin.n)).collect();
    plot(&points, 4.0, "mean rating", "mean gold")
}

fn plot(points: &[(f64, f64, usize)], most: f64, x_name: &str, y_name: &str) -> String {
    const SIDE: f64 = 320.0;
    let (left, top) = (60.0, 20.0);
    let mut svg = opened(420, 400, &format!("{y_name} over {x_name}"));
    let place = |x: f64, y: f64| (left + x / most * SIDE, top + SIDE - y / most * SIDE);
    put(
        &mut svg,
        format_args!(
            "<rect class=\"a\" x=\"{left}\" y=\"{top}\" width=\"{SIDE}\" height=\"{SIDE}\"/>\
             <path class=\"d\" d=\"M{left} {} L{} {top}\"/>",
            top + SIDE,
            left + SIDE
        ),
    );
    for step in 0..=4_u8 {
        let value = most * f64::from(step) / 4.0;
        let (x, y) = place(value, value);
        put(
            &mut svg,
            format_args!(
                "<text class=\"s\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{value}</text>\
                 <text class=\"s\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{value}</text>",
                top + SIDE + 18.0,
                left - 8.0,
                y + 4.0
            ),
        );
    }
    let mut path = String::new();
    let total: usize = points.iter().map(|point| point.2).sum();
    for (at, &(x, y, n)) in points.iter().enumerate() {
        let (x, y) = place(x, y);
        put(&mut path, format_args!("{}{x:.1} {y:.1} ", if at == 0 { "M" } else { "L" }));
        let radius = 3.0 + 12.0 * (n as f64 / total as f64).sqrt();
        put(
            &mut svg,
            format_args!(
                "<circle class=\"p\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" \
                 fill-opacity=\"0.75\"><title>{n} pairs</title></circle>"
            ),
        );
    }
    put(
        &mut svg,
        format_args!(
            "<path class=\"l\" d=\"{}\"/>\
             <text class=\"s\" x=\"220\" y=\"385\" text-anchor=\"middle\">{x_name}</text>\
             <text class=\"s\" x=\"18\" y=\"180\" text-anchor=\"middle\" \
             transform=\"rotate(-90 18 180)\">{y_name}</text></svg>\n",
            path.trim_end()
        ),
    );
    svg
}

fn opened(width: usize, height: usize, title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\"><title>{title}</title>{STYLE}<rect class=\"bg\" \
         width=\"{width}\" height=\"{height}\"/>"
    )
}

/// Appends; a text takes whatever is written to it.
fn put(text: &mut String, what: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(what);
}
