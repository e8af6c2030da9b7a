//! Tables for people: columns without lines.
//!
//! Owns the layout only; cells are cleaned here, colours are marks that [`crate::output`] turns into codes.

use comfy_table::{ContentArrangement, presets};

use crate::text;

/// Blanks between two columns.
const GAP: u16 = 3;

/// Rows under a heading.
#[derive(Debug)]
pub(crate) struct Table {
    table: comfy_table::Table,
    rows: usize,
}

impl Table {
    pub(crate) fn new(heading: &[&str]) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_header(heading.to_vec());
        Self { table, rows: 0 }
    }

    /// A table of names and values, without a heading.
    pub(crate) fn plain() -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING);
        Self { table, rows: 0 }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        // Marks of colour are harmful in text from outside, which is cleaned before it is painted.
        self.table.add_row(cells.map(|cell| if cell.is_empty() { "-".to_owned() } else { cell }));
        self.rows = self.rows.saturating_add(1);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The lines, folded to `width` where there is one.
    pub(crate) fn lines(&self, width: Option<u16>) -> Vec<String> {
        let mut table = self.table.clone();
        let fitted = width.is_some();
        table.set_content_arrangement(if fitted {
            ContentArrangement::Dynamic
        } else {
            ContentArrangement::Disabled
        });
        if let Some(width) = width {
            table.set_width(width);
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, GAP));
        }
        table.lines().map(|line| line.trim_end().to_owned()).collect()
    }
}

/// A cell of a text from outside.
pub(crate) fn cell(text: impl AsRef<str>) -> String {
    text::one_line(text.as_ref()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Color, paint};

    #[test]
    fn columns_are_aligned_without_trailing_blanks() {
        let mut table = Table::new(&["NAME", "PHASE"]);
        table.row([cell("a\nlong\x1bname"), paint(Color::Green, "running")]);
        table.row([cell("b"), String::new()]);
        let lines = table.lines(None);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines.first().map(String::as_str), Some("NAME         PHASE"));
        assert!(lines.get(1).is_some_and(|line| line.starts_with("a longname   ")), "{lines:?}");
        assert_eq!(lines.get(2).map(String::as_str), Some("b            -"));
        assert!(!table.is_empty());
    }

    #[test]
    fn long_cells_fold_into_the_terminal() {
        let mut table = Table::new(&["NAME", "REASON"]);
        table.row(["a".to_owned(), "many words ".repeat(20)]);
        assert!(table.lines(Some(40)).iter().all(|line| line.chars().count() <= 40));
        assert_eq!(table.lines(None).len(), 2);
    }
}
