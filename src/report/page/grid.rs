//! A table whose cells are figures, written as CSV, Markdown, LaTeX or HTML.

use std::fmt::Write;

use super::{
    Estimate,
    text::{NOTHING, count, ends, escaped, figure, interval, p_value, signed},
};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Words, to the left.
    Words,
    /// A figure or a count, to the right.
    Number,
    /// A figure with its interval: three columns of a CSV file.
    Estimate,
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    /// Words.
    Words(String),
    /// A count.
    Count(usize),
    /// A figure to so many places.
    Figure(Option<f64>, usize),
    /// A p-value.
    P(Option<f64>),
    /// The standing of a scorer, and whether it has a card.
    Standing(String, bool),
    /// A gain: a difference without an interval.
    Gain(f64),
    /// A figure with its interval.
    Estimate(Estimate),
    /// A difference with its interval.
    Difference(Estimate),
}

/// A table with a name for files and a caption.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grid {
    /// As `conditions`.
    pub(super) name: String,
    /// What it shows, a sentence.
    pub(super) caption: String,
    /// The head and kind of each column.
    pub(super) columns: Vec<(String, Kind)>,
    /// The rows, each with a cell for each column.
    pub(super) rows: Vec<Vec<Cell>>,
    /// What stands under it, as signatures.
    pub(super) notes: Vec<String>,
}

/// Columns by their heads.
pub(super) fn columns(heads: &[(&str, Kind)]) -> Vec<(String, Kind)> {
    heads.iter().map(|&(head, kind)| (head.to_owned(), kind)).collect()
}

impl Cell {
    pub(super) fn words(words: &str) -> Self {
        Self::Words(words.to_owned())
    }

    fn shown(&self) -> String {
        match self {
            Self::Words(words) | Self::Standing(words, _) => words.clone(),
            Self::Count(n) => count(*n),
            Self::Figure(value, places) => figure(*value, *places),
            Self::P(value) => p_value(*value),
            Self::Gain(value) => signed(Some(*value), 3),
            Self::Estimate(estimate) => figure(estimate.value, 3),
            Self::Difference(estimate) => signed(estimate.value, 3),
        }
    }

    fn within(&self) -> String {
        match self {
            Self::Estimate(estimate) => interval(estimate, false),
            Self::Difference(estimate) => interval(estimate, true),
            _ => String::new(),
        }
    }

    /// What is read on one line: an interval follows its figure in brackets.
    fn line(&self) -> String {
        let within = self.within();
        let shown = self.shown();
        if within.is_empty() { shown } else { format!("{shown} [{within}]") }
    }

    /// The fields of a CSV file: figures as exact as they are, nothing where they are not.
    fn fields(&self) -> Vec<String> {
        let exact = |value: Option<f64>| {
            value.filter(|v| v.is_finite()).map_or_else(String::new, |value| value.to_string())
        };
        match self {
            Self::Words(words) | Self::Standing(words, _) => vec![words.clone()],
            Self::Count(n) => vec![n.to_string()],
            Self::Figure(value, _) | Self::P(value) => vec![exact(*value)],
            Self::Gain(value) => vec![exact(Some(*value))],
            Self::Estimate(estimate) | Self::Difference(estimate) => {
                let ends = ends(estimate);
                vec![
                    exact(estimate.value),
                    exact(ends.map(|ends| ends.0)),
                    exact(ends.map(|ends| ends.1)),
                ]
            }
        }
    }
}

impl Grid {
    /// RFC 4180, with line feeds. An estimate has the columns `NAME`, `NAME low` and
    /// `NAME high`.
    pub(super) fn csv(&self) -> String {
        let head = self.columns.iter().flat_map(|(name, kind)| match kind {
            Kind::Estimate => {
                vec![name.clone(), format!("{name} low"), format!("{name} high")]
            }
            _ => vec![name.clone()],
        });
        let mut text = csv_line(head);
        for row in &self.rows {
            text.push_str(&csv_line(row.iter().flat_map(Cell::fields)));
        }
        text
    }

    /// A table of GitHub's Markdown under its caption.
    pub(super) fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = format!("{}\n\n", in_markdown(&self.caption));
        text.push_str(&line(self.columns.iter().map(|(name, _)| in_markdown(name)).collect()));
        let rule = |kind| if kind == Kind::Words { "---" } else { "---:" };
        text.push_str(&line(self.columns.iter().map(|(_, kind)| rule(*kind).to_owned()).collect()));
        for row in &self.rows {
            text.push_str(&line(row.iter().map(|cell| in_markdown(&cell.line())).collect()));
        }
        if !self.notes.is_empty() {
            text.push('\n');
        }
        for note in &self.notes {
            let _ = writeln!(text, "- {}", in_markdown(note));
        }
        text
    }

    /// A table of LaTeX with `booktabs`; of more than 40 rows one with `longtable`.
    pub(super) fn latex(&self) -> String {
        let is_long = 40 < self.rows.len();
        let spec: String = self
            .columns
            .iter()
            .map(|(_, kind)| if *kind == Kind::Words { 'l' } else { 'r' })
            .collect();
        let head: Vec<String> = self.columns.iter().map(|(name, _)| in_latex(name)).collect();
        let head = format!("\\toprule\n{} \\\\\n\\midrule\n", head.join(" & "));
        let caption = format!("\\caption{{{}}}", in_latex(&self.caption));
        let label = format!("\\label{{tab:{}}}", self.name);
        let mut text = String::from("% needs \\usepackage{booktabs}");
        text.push_str(if is_long { " and \\usepackage{longtable}\n" } else { "\n" });
        let _ = if is_long {
            write!(text, "\\begin{{longtable}}{{{spec}}}\n{caption}{label}\\\\\n{head}\\endhead\n")
        } else {
            write!(
                text,
                "\\begin{{table}}[tbp]\n\\centering\n{caption}\n{label}\n\\begin{{tabular}}{{{spec}}}\n\
                 {head}"
            )
        };
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(latex_cell).collect();
            let _ = writeln!(text, "{} \\\\", cells.join(" & "));
        }
        text.push_str("\\bottomrule\n");
        text.push_str(if is_long { "\\end{longtable}\n" } else { "\\end{tabular}\n" });
        for note in &self.notes {
            let _ = writeln!(text, "\n{{\\footnotesize {}\\par}}", in_latex(note));
        }
        text.push_str(if is_long { "" } else { "\\end{table}\n" });
        text
    }

    /// The same with these columns alone, in the order they are named.
    pub(super) fn only(&self, heads: &[&str]) -> Self {
        let kept: Vec<usize> = heads
            .iter()
            .filter_map(|head| self.columns.iter().position(|(name, _)| name == head))
            .collect();
        let columns = kept.iter().filter_map(|&at| self.columns.get(at).cloned()).collect();
        let rows = self.rows.iter();
        let rows = rows.map(|row| kept.iter().filter_map(|&at| row.get(at).cloned()).collect());
        Self { columns, rows: rows.collect(), ..self.clone() }
    }

    /// A table of HTML; the first column heads the rows.
    pub(super) fn html(&self) -> String {
        let mut text = String::from("<div class=\"scroll\" tabindex=\"0\" role=\"region\" ");
        let caption = escaped(&self.caption);
        let _ = write!(text, "aria-label=\"{caption}\"><table><caption>{caption}</caption><thead>");
        text.push_str("<tr>");
        for (name, kind) in &self.columns {
            let class = if *kind == Kind::Words { "" } else { " class=\"n\"" };
            let _ = write!(text, "<th scope=\"col\"{class}>{}</th>", escaped(name));
        }
        text.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            text.push_str("<tr>");
            for (at, (cell, (_, kind))) in row.iter().zip(&self.columns).enumerate() {
                let class = if *kind == Kind::Words { "" } else { " class=\"n\"" };
                let (open, close) = if at == 0 { ("th scope=\"row\"", "th") } else { ("td", "td") };
                let within = cell.within();
                let within =
                    if within.is_empty() { within } else { format!("<small>{within}</small>") };
                let shown = escaped(&cell.shown());
                let shown = match cell {
                    Cell::Standing(_, false) => format!("<strong class=\"warn\">{shown}</strong>"),
                    _ => shown,
                };
                let _ = write!(text, "<{open}{class}>{shown}{within}</{close}>");
            }
            text.push_str("</tr>");
        }
        text.push_str("</tbody></table></div>");
        text
    }
}

fn csv_line(fields: impl Iterator<Item = String>) -> String {
    let quoted = |field: String| {
        if field.contains(['"', ',', '\n', '\r']) || field != field.trim() {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field
        }
    };
    let fields: Vec<String> = fields.map(quoted).collect();
    format!("{}\n", fields.join(","))
}

fn in_markdown(words: &str) -> String {
    let mut text = String::with_capacity(words.len());
    for ch in words.chars() {
        match ch {
            '|' | '*' | '_' | '`' | '<' | '[' | ']' | '\\' | '~' | '$' | '&' => {
                text.extend(['\\', ch]);
            }
            '\n' | '\r' | '\t' => text.push(' '),
            _ => text.push(ch),
        }
    }
    text
}

/// Words in LaTeX: nothing in them is a command.
pub(super) fn in_latex(words: &str) -> String {
    let mut text = String::with_capacity(words.len());
    for ch in words.chars() {
        match ch {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => text.extend(['\\', ch]),
            '\\' => text.push_str("\\textbackslash{}"),
            '~' => text.push_str("\\textasciitilde{}"),
            '^' => text.push_str("\\textasciicircum{}"),
            '<' => text.push_str("\\textless{}"),
            '>' => text.push_str("\\textgreater{}"),
            '|' => text.push_str("\\textbar{}"),
            '"' => text.push_str("{\\char34}"),
            '`' => text.push_str("\\textasciigrave{}"),
            // Brackets at the start of a row would be an option of the row before it.
            '[' => text.push_str("{[}"),
            ']' => text.push_str("{]}"),
            // Two in a row would be a dash.
            '-' if text.ends_with('-') => text.push_str("{}-"),
            '*' => text.push_str("{*}"),
            '\u{2212}' => text.push_str("$-$"),
            '\u{202f}' => text.push_str("\\,"),
            '–' => text.push_str("--"),
            '\0'..='\u{1f}' | '\u{7f}' => text.push(' '),
            _ => text.push(ch),
        }
    }
    text
}

fn latex_cell(cell: &Cell) -> String {
    let shown = if let Cell::P(Some(p)) = cell
        && *p < 0.0005
    {
        "$<$0.001".to_owned()
    } else {
        in_latex(&cell.shown())
    };
    let within = cell.within();
    if within.is_empty() {
        shown
    } else {
        format!("{shown} {{\\footnotesize {{[}}{}{{]}}}}", in_latex(&within))
    }
}

/// Counts by name of several runs as one table: all names in the order they first stand, and
/// for each run its counts by them, `None` where it has none.
pub(super) fn counted(
    runs: &[(&str, &[(String, usize)])],
) -> (Vec<String>, Vec<Vec<Option<usize>>>) {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in runs.iter().flat_map(|(_, counts)| counts.iter()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let count = |counts: &[(String, usize)], name: &String| {
        counts.iter().find(|one| one.0 == *name).map(|one| one.1)
    };
    let rows =
        runs.iter().map(|(_, counts)| names.iter().map(|name| count(counts, name)).collect());
    let rows = rows.collect();
    (names, rows)
}

/// A count that may be missing.
pub(super) fn count_or_nothing(n: Option<usize>) -> Cell {
    n.map_or_else(|| Cell::words(NOTHING), Cell::Count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(words: &str) -> Grid {
        let estimate = Estimate { value: Some(-0.25), interval: Some((-0.5, 0.125)) };
        Grid {
            name: "t".to_owned(),
            caption: "A & B".to_owned(),
            columns: columns(&[("run", Kind::Words), ("d", Kind::Estimate), ("p", Kind::Number)]),
            rows: vec![vec![Cell::words(words), Cell::Difference(estimate), Cell::P(None)]],
            notes: Vec::new(),
        }
    }

    #[test]
    fn an_estimate_is_three_columns_of_csv() {
        assert_eq!(
            grid("a,\"b\"").csv(),
            "run,d,d low,d high,p\n\"a,\"\"b\"\"\",-0.25,-0.5,0.125,\n"
        );
    }

    #[test]
    fn nothing_in_a_cell_is_a_command_of_latex() {
        let tex = grid(r"\input{x} 50% a_b $#&~^<>|").latex();
        let row = tex.lines().find(|line| line.contains("input")).unwrap();
        assert_eq!(
            row,
            "\\textbackslash{}input\\{x\\} 50\\% a\\_b \\$\\#\\&\\textasciitilde{}\
             \\textasciicircum{}\\textless{}\\textgreater{}\\textbar{} & $-$0.250 \
             {\\footnotesize {[}$-$0.500 to +0.125{]}} & -- \\\\"
        );
        assert!(tex.contains("\\caption{A \\& B}"));
    }

    #[test]
    fn a_bar_in_a_cell_parts_no_column_of_markdown() {
        let text = grid("a|b").markdown();
        assert!(
            text.contains("| a\\|b | \u{2212}0.250 \\[\u{2212}0.500 to +0.125\\] | – |"),
            "{text}"
        );
    }

    #[test]
    fn a_cell_cannot_end_its_element() {
        let text = grid("</td><script>").html();
        assert!(!text.contains("<script") && text.contains("&lt;/td&gt;&lt;script&gt;"));
    }
}
