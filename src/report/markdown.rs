//! Tables in Markdown.

use super::Table;

/// The table as Markdown of GitHub's kind, numbers not moved. A bar in a cell is escaped,
/// and so is what would be taken for markup.
pub fn render_markdown(table: &Table) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        line_of(&cells.join(" | "))
    };
    let rule = vec!["---".to_owned(); table.head.len()];
    let mut text = line(&table.head);
    text.push_str(&line_of(&rule.join(" | ")));
    for row in &table.rows {
        text.push_str(&line(row));
    }
    text
}

fn line_of(cells: &str) -> String {
    format!("| {cells} |\n")
}

fn escaped(cell: &str) -> String {
    let mut text = String::with_capacity(cell.len());
    for ch in cell.chars() {
        match ch {
            '|' | '*' | '_' | '`' | '<' | '[' | '\\' => text.extend(['\\', ch]),
            '\n' | '\r' => text.push(' '),
            _ => text.push(ch),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_in_a_cell_parts_no_column() {
        let mut table = Table::new(&["kind", "n"]);
        table.push(["a|b*".to_owned(), "3".to_owned()]);
        assert_eq!(render_markdown(&table), "| kind | n |\n| --- | --- |\n| a\\|b\\* | 3 |\n");
    }
}
