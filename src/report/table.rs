//! Tables of plain text, columns in line.

/// A table: a head and rows of as many cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The head of each column.
    pub head: Vec<String>,
    /// The rows, each with a cell for each column.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(head: &[&str]) -> Self {
        Self { head: head.iter().map(|&cell| cell.to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = String>) {
        self.rows.push(row.into_iter().collect());
    }
}

/// The table as text: the first column to the left, numbers to the right, a rule
/// under the head. Every line ends with a line feed and without trailing space.
pub fn render_text(table: &Table) -> String {
    let n_columns = table.head.len();
    let width = |text: &str| text.chars().count();
    let lines = || std::iter::once(&table.head).chain(&table.rows);
    let widths: Vec<usize> = (0..n_columns)
        .map(|column| lines().filter_map(|row| row.get(column)).map(|cell| width(cell)).max())
        .map(Option::unwrap_or_default)
        .collect();
    let to_right: Vec<bool> = (0..n_columns)
        .map(|column| 0 < column && table.rows.iter().all(|row| is_number(row.get(column))))
        .collect();
    let mut text = String::new();
    let mut write_line = |row: &[String]| {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[column].saturating_sub(width(cell)));
            if 0 < column {
                line.push_str("  ");
            }
            if to_right[column] {
                line.push_str(&padding);
                line.push_str(cell);
            } else {
                line.push_str(cell);
                line.push_str(&padding);
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    };
    write_line(&table.head);
    let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
    write_line(&rule);
    for row in &table.rows {
        write_line(row);
    }
    text
}

/// The table as CSV, the head first.
pub fn render_csv(table: &Table) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in std::iter::once(&table.head).chain(&table.rows) {
        writer.write_record(row)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Whether a cell holds a figure, a range of figures, or nothing.
fn is_number(cell: Option<&String>) -> bool {
    cell.is_none_or(|cell| cell.chars().all(|ch| ch.is_ascii_digit() || " .,-–+%/[]".contains(ch)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_to_the_right_and_words_to_the_left() {
        let mut table = Table::new(&["subset", "F1", "note"]);
        table.push(["full".to_owned(), "0.5".to_owned(), "good".to_owned()]);
        table.push(["single".to_owned(), "10.25".to_owned(), String::new()]);
        assert_eq!(
            render_text(&table),
            "subset     F1  note\n------  -----  ----\nfull      0.5  good\nsingle  10.25\n"
        );
    }
}
