//! Tables as text, for every subcommand.
//!
//! Guarantees: a row is one line, whatever its cells hold ([`Plain`] writes them). Columns are aligned by characters, two spaces
//! apart, as far as cells are of a size that people read: no cell is cut off, but one of more than `WIDEST` characters is not
//! what others are padded to. So the text is no longer than the cells and `WIDEST` spaces for each of them, and rows are
//! looked at one after the other: they need not be in memory.
#![forbid(unsafe_code)]

use crate::plain::Plain;
use std::fmt::Write;

/// Characters of the longest cell that others are padded to.
const WIDEST: usize = 120;

/// Rows as lines, without spaces at their ends. The columns in `right` are right-aligned. What stands last in a row that has
/// fewer cells than others is a remark: nothing is padded to it.
pub fn lines<R: AsRef<[String]>>(
    rows: impl Iterator<Item = R> + Clone,
    right: &[usize],
) -> impl Iterator<Item = String> {
    let columns = rows.clone().map(|row| row.as_ref().len()).max().unwrap_or(0);
    let mut widths = vec![0; columns];
    for row in rows.clone() {
        let row = row.as_ref();
        let aligned = if row.len() < columns { row.len().saturating_sub(1) } else { columns };
        for (width, cell) in widths.iter_mut().zip(&row[..aligned]) {
            *width = plain_width(cell).filter(|&own| own > *width).unwrap_or(*width);
        }
    }
    let is_right: Vec<bool> = (0..columns).map(|column| right.contains(&column)).collect();
    rows.map(move |row| {
        let mut line = String::new();
        for (column, cell) in row.as_ref().iter().enumerate() {
            let padding = plain_width(cell).map_or(0, |own| widths[column].saturating_sub(own));
            let (before, after) = if is_right[column] { (padding, 0) } else { (0, padding) };
            let gap = if column == 0 { 0 } else { 2 } + before;
            // Writing to a `String` cannot fail.
            let _ = write!(line, "{:gap$}{}{:after$}", "", Plain(cell), "");
        }
        line.truncate(line.trim_end().len());
        line
    })
}

/// The lines of a table in a page of text: moved in by two spaces.
pub fn indented<R: AsRef<[String]>>(rows: impl Iterator<Item = R> + Clone, right: &[usize]) -> String {
    let mut out = String::new();
    for line in lines(rows, right) {
        out += "  ";
        out += &line;
        out.push('\n');
    }
    out
}

/// Characters of a cell as it is shown, if others are padded to it.
fn plain_width(cell: &str) -> Option<usize> {
    struct Count(usize);
    impl Write for Count {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0 += text.chars().take(WIDEST + 1).count();
            if self.0 > WIDEST { Err(std::fmt::Error) } else { Ok(()) }
        }
    }
    let mut count = Count(0);
    write!(count, "{}", Plain(cell)).is_ok().then_some(count.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[&[&str]], right: &[usize]) -> String {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect();
        indented(rows.iter(), right)
    }

    #[test]
    fn columns_are_aligned_by_characters() {
        assert_eq!(table(&[&["é", "1", "x"], &["ab", "23", ""]], &[1]), "  é    1  x\n  ab  23\n");
        assert_eq!(table(&[&["a", "b"], &["a remark"]], &[]), "  a  b\n  a remark\n");
        assert_eq!(table(&[], &[]), "");
    }

    #[test]
    fn a_row_is_a_line_whatever_its_cells_hold() {
        assert_eq!(
            table(&[&["a\nb", "x"], &["abcdef", "\u{9b}31m\r"]], &[]),
            "  a\\nb    x\n  abcdef  \\u{9b}31m\\r\n"
        );
    }

    /// Nobody can make a table large but by writing much.
    #[test]
    fn one_long_cell_does_not_make_every_row_long() {
        let long = "x".repeat(1_000_000);
        let mut rows = vec![vec![long.clone(), "1".to_owned(), "y".to_owned()]];
        rows.extend((0..10_000).map(|row| vec![format!("name{row}"), long[..WIDEST].to_owned(), "y".to_owned()]));
        let text = indented(rows.iter(), &[1]);
        let cells: usize = rows.iter().flatten().map(String::len).sum();
        assert!(text.len() < cells + rows.len() * 3 * (WIDEST + 2), "{} bytes of {cells}", text.len());
        assert!(text.contains(&long), "nothing is cut off");
    }
}
