//! Tables on a terminal that is narrower than they are. Elsewhere, as in a pipe, nothing is left out.

/// What of a table is shown on a screen: columns that can be missed are left out until the others have room, and what then stands
/// beyond the edge, of descriptions above all, is cut off with a mark.
pub struct Fit {
    screen: usize,
    /// For each column whether it is shown.
    shown: Vec<bool>,
}

impl Fit {
    /// Fits rows of equal length, whose last column is a description, to so many columns of a screen. `spare` are the columns that can
    /// be missed, the most dispensable first.
    pub fn of<'r>(rows: impl Iterator<Item = Vec<String>> + 'r, spare: &[usize], screen: usize) -> Fit {
        let mut widths: Vec<usize> = Vec::new();
        for row in rows {
            widths.resize(widths.len().max(row.len()), 0);
            for (width, cell) in widths.iter_mut().zip(&row) {
                *width = cell.chars().count().max(*width);
            }
        }
        // That of the description is cut.
        widths.pop();
        let mut shown = vec![true; widths.len() + 1];
        let mut needed: usize = 2 + widths.iter().map(|width| width + 2).sum::<usize>();
        for &column in spare.iter().filter(|column| **column < widths.len()) {
            if needed <= screen {
                break;
            }
            shown[column] = false;
            needed -= widths[column] + 2;
        }
        Fit { screen, shown }
    }

    /// The cells of a row that are shown.
    pub fn row(&self, row: Vec<String>) -> Vec<String> {
        let mut shown = self.shown.iter();
        row.into_iter().filter(|_| *shown.next().unwrap_or(&true)).collect()
    }

    /// The place of a column among those that are shown.
    pub fn place(&self, column: usize) -> Option<usize> {
        let is_shown = *self.shown.get(column)?;
        is_shown.then(|| self.shown[..column].iter().filter(|shown| **shown).count())
    }

    /// The columns that are not shown.
    pub fn missing(&self) -> impl Iterator<Item = usize> {
        (0..self.shown.len()).filter(|column| !self.shown[*column])
    }

    /// A line of the table, which is moved in by two columns.
    pub fn line(&self, line: String) -> String {
        let room = self.screen.saturating_sub(2);
        match line.char_indices().nth(room) {
            None => line,
            Some(_) => line.chars().take(room.saturating_sub(1)).chain(['…']).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        vec![row(["name", "number", "unit", ""]), row(["speed", "1", "rpm", "of the engine"])]
    }

    #[test]
    fn columns_go_in_their_order_until_the_others_have_room() {
        let missing = |screen| Fit::of(rows().into_iter(), &[1, 2], screen).missing().collect::<Vec<_>>();
        // 2 + 7 + 8 + 6 columns without the description.
        assert_eq!(missing(23), [0; 0]);
        assert_eq!(missing(22), [1]);
        assert_eq!(missing(15), [1]);
        assert_eq!(missing(14), [1, 2]);
        let fit = Fit::of(rows().into_iter(), &[1, 2], 22);
        assert_eq!(fit.row(rows().remove(1)), ["speed", "rpm", "of the engine"]);
        assert_eq!([0, 1, 2, 3].map(|column| fit.place(column)), [Some(0), None, Some(1), Some(2)]);
    }

    #[test]
    fn what_is_beyond_the_edge_is_cut_with_a_mark() {
        let fit = Fit::of(rows().into_iter(), &[], 10);
        assert_eq!(fit.line("12345678".to_owned()), "12345678");
        assert_eq!(fit.line("123456789".to_owned()), "1234567…");
        assert_eq!(fit.line("äöü".to_owned()), "äöü");
    }
}
