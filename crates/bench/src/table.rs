//! Tables as text.

use std::fmt::Display;

/// The columns of a table: whether cells stand on the left, and how wide they are.
pub(crate) struct Table(Vec<(bool, usize)>);

impl Table {
    /// Prints the titles. A column is `<` or `>`, its width and its title; `|` is between columns.
    pub(crate) fn start(columns: &str) -> Self {
        let columns = columns.split('|').map(|column| {
            let (width, title) = column.trim().split_once(' ').unwrap_or((column, ""));
            let is_left = width.starts_with('<');
            ((is_left, width[1..].parse().unwrap_or_default()), title)
        });
        let (widths, titles): (Vec<_>, Vec<_>) = columns.unzip();
        let table = Self(widths);
        table.row(&titles.iter().map(|title| title as &dyn Display).collect::<Vec<_>>());
        table
    }

    /// Prints a row.
    pub(crate) fn row(&self, cells: &[&dyn Display]) {
        let cells = self.0.iter().zip(cells).map(|(&(is_left, width), cell)| {
            let cell = cell.to_string();
            if is_left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        println!("{}", cells.collect::<Vec<_>>().join(" ").trim_end());
    }
}

/// Prints whether a bar is met, or where we lose.
pub(crate) fn verdict(is_met: bool, text: &str) {
    println!("{}: {text}", if is_met { "met" } else { "where we lose" });
}
