//! The code of a Jupyter notebook.

use serde::Deserialize;

#[derive(Deserialize)]
struct Notebook {
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    cell_type: String,
    #[serde(default)]
    source: serde_json::Value,
}

/// The sources of the code cells, in order.
pub(super) fn code_cells(json: &str) -> Result<Vec<String>, serde_json::Error> {
    let notebook: Notebook = serde_json::from_str(json)?;
    Ok(notebook
        .cells
        .iter()
        .filter(|cell| cell.cell_type == "code")
        .map(|cell| source(&cell.source))
        .collect())
}

/// A cell's source is one string, or a list of them to be joined.
fn source(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Array(lines) => {
            lines.iter().filter_map(serde_json::Value::as_str).collect()
        }
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_is_taken_from_either_form_of_a_cell() {
        let json = r#"{"cells": [
            {"cell_type": "markdown", "source": ["X = 1"]},
            {"cell_type": "code", "source": ["a = 1\n", "b = 2"], "outputs": [], "id": "x"},
            {"cell_type": "code", "source": "c = 3"}
        ], "nbformat": 4}"#;
        assert_eq!(code_cells(json).unwrap(), ["a = 1\nb = 2", "c = 3"]);
        assert!(code_cells("{").is_err());
    }
}
