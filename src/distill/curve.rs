//! The course of a training, as a table and as a picture.

use std::fmt::Write as _;

use super::training::Course;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 360.0;
const MARGIN: f64 = 56.0;

/// Steps over which a loss is smoothed.
const SMOOTHING: usize = 20;

/// A row a step: its number, its loss, and where an epoch ends its figure on dev.
pub(super) fn csv(course: &Course) -> String {
    let mut text = "step,loss,dev\n".to_owned();
    for (index, loss) in course.losses.iter().enumerate() {
        let is_end = (index + 1).is_multiple_of(course.n_batches);
        let figures = course.figures.get((index + 1) / course.n_batches - usize::from(is_end));
        let dev = figures.filter(|_| is_end).and_then(|figures| figures.chosen);
        let dev = dev.map(|chosen| format!("{chosen:.6}"));
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{},{loss:.6},{}", index + 1, dev.unwrap_or_default());
    }
    text
}

/// The loss, smoothed, and the figure on dev over the steps.
pub(super) fn svg(course: &Course, title: &str) -> String {
    let n_steps = course.losses.len().max(1) as f64;
    let top = course.losses.iter().copied().fold(1e-9, f64::max);
    let x = |step: f64| MARGIN + (WIDTH - 2.0 * MARGIN) * step / n_steps;
    let y = |part: f64| HEIGHT - MARGIN - (HEIGHT - 2.0 * MARGIN) * part.clamp(0.0, 1.0);
    let smooth = |index: usize| {
        let some = &course.losses[index.saturating_sub(SMOOTHING - 1)..=index];
        some.iter().sum::<f64>() / some.len() as f64
    };
    let points = (0..course.losses.len())
        .map(|index| format!("{:.1},{:.1}", x(index as f64 + 1.0), y(smooth(index) / top)));
    let points: Vec<String> = points.collect();
    let ends = course.figures.iter().enumerate().filter_map(|(epoch, figures)| {
        let chosen = figures.chosen?;
        let (x, y) = (x(((epoch + 1) * course.n_batches) as f64), y(chosen));
        Some(format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"#c2410c\"/><text x=\"{x:.1}\" \
             y=\"{:.1}\" text-anchor=\"middle\" fill=\"#c2410c\">{:.3}</text>\n",
            y - 9.0,
            chosen
        ))
    });
    let ends: String = ends.collect();
    let (left, right, low, high) = (MARGIN, WIDTH - MARGIN, y(0.0), y(1.0));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<title>{title}</title>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <path d=\"M{left} {high}V{low}H{right}\" fill=\"none\" stroke=\"#888\"/>\n\
         <text x=\"{left}\" y=\"24\" font-size=\"14\">{title}</text>\n\
         <text x=\"{left}\" y=\"42\" fill=\"#1d4ed8\">loss, mean of {SMOOTHING} steps (top: {top:.2})</text>\n\
         <text x=\"{right}\" y=\"42\" text-anchor=\"end\" fill=\"#c2410c\">figure on dev after each epoch (top: 1)</text>\n\
         <polyline fill=\"none\" stroke=\"#1d4ed8\" stroke-width=\"1.5\" points=\"{}\"/>\n{ends}\
         <text x=\"{right}\" y=\"{:.1}\" text-anchor=\"end\">{n_steps} steps</text>\n</svg>\n",
        points.join(" "),
        low + 20.0
    )
}

#[cfg(test)]
mod tests {
    use super::{super::Figures, *};

    #[test]
    fn a_row_says_a_step_and_at_the_end_of_an_epoch_its_figure() {
        let figures = |chosen| Figures { chosen, by_name: [].into() };
        let course = Course {
            losses: vec![2.0, 1.5, 1.0, 0.5],
            figures: vec![figures(Some(0.5)), figures(Some(0.75))],
            kept: 1,
            n_batches: 2,
        };
        let expected =
            "step,loss,dev\n1,2.000000,\n2,1.500000,0.500000\n3,1.000000,\n4,0.500000,0.750000\n";
        assert_eq!(csv(&course), expected);
        let picture = svg(&course, "scorer");
        assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
        assert_eq!(picture.matches("<circle").count(), 2);
    }
}
