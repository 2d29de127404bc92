//! Tables: columns as wide as what stands in them, also when rows come little by little.

use super::paint::Paint;

/// Wider cells push the rest of their row aside instead of widening the column for all.
const WIDTH_MAX: usize = 40;

/// How a column is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// A table that is written in parts.
pub(super) struct Table {
    heads: Vec<&'static str>,
    aligns: Vec<Align>,
    widths: Vec<usize>,
    has_head: bool,
    paint: Paint,
}

impl Table {
    pub fn new(columns: &[(&'static str, Align)], paint: Paint) -> Table {
        let (heads, aligns): (Vec<_>, Vec<_>) = columns.iter().copied().unzip();
        let widths = heads.iter().map(|head| head.chars().count()).collect();
        Table { heads, aligns, widths, has_head: false, paint }
    }

    /// These rows, after the heads if they are the first; nothing when there are none.
    pub fn rows(&mut self, rows: &[Vec<String>]) -> String {
        if rows.is_empty() {
            return String::new();
        }
        for row in rows {
            for (width, cell) in self.widths.iter_mut().zip(row) {
                *width = cell.chars().count().min(WIDTH_MAX).max(*width);
            }
        }
        let mut text = String::new();
        if !std::mem::replace(&mut self.has_head, true) {
            let heads: Vec<String> = self.heads.iter().map(|head| (*head).to_owned()).collect();
            text += &self.paint.bold(&self.line(&heads));
            text.push('\n');
        }
        for row in rows {
            text += &self.line(row);
            text.push('\n');
        }
        text
    }

    fn line(&self, cells: &[String]) -> String {
        let columns = cells.iter().zip(&self.aligns).zip(&self.widths);
        let cells: Vec<String> = columns
            .map(|((cell, align), &width)| match align {
                Align::Left => format!("{cell:width$}"),
                Align::Right => format!("{cell:>width$}"),
            })
            .collect();
        cells.join("  ").trim_end().to_owned()
    }
}

/// Names and values below each other, the values in one column.
pub(super) fn card(title: &str, lines: &[(&str, String)], paint: Paint) -> String {
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let lines: Vec<String> = lines.iter().map(|(name, value)| format!("  {name:width$}  {value}\n")).collect();
    format!("{}\n{}", paint.bold(title), lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_widen_with_what_comes() {
        let mut table = Table::new(&[("NAME", Align::Left), ("RECORDS", Align::Right)], Paint::plain());
        let row = |name: &str, number: &str| vec![name.to_owned(), number.to_owned()];
        assert_eq!(table.rows(&[]), "");
        assert_eq!(table.rows(&[row("a", "7")]), "NAME  RECORDS\na           7\n");
        assert_eq!(table.rows(&[row("longer", "12,345,678")]), "longer  12,345,678\n");
    }

    #[test]
    fn a_card_has_its_values_in_one_column() {
        assert_eq!(
            card("orders", &[("id", "1".into()), ("sealed", "2".into())], Paint::plain()),
            "orders\n  id      1\n  sealed  2\n"
        );
    }
}
