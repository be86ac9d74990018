//! Whole matrices of partial derivatives, by as few calls as their pattern allows.

use super::derivatives::{DerivativeError, Differentiable, Jacobian};
use super::status::Outcome;

impl Jacobian {
    /// All elements, in row-major order: column by column with directional derivatives, else row by row with adjoint ones,
    /// whichever the FMU offers and, if both, takes fewer calls.
    pub fn dense(&self, at: &mut impl Differentiable) -> Result<Vec<f64>, DerivativeError> {
        let (rows, columns) = (self.rows(), self.columns());
        let mut matrix = vec![0.0; rows * columns];
        if self.provides.adjoint && (rows < columns || !self.provides.directional) {
            let mut seed = vec![0.0; rows];
            for row in 0..rows {
                seed[row] = 1.0;
                at.adjoint_derivative(self, &seed, &mut matrix[row * columns..][..columns])?;
                seed[row] = 0.0;
            }
            return Ok(matrix);
        }
        let (mut seed, mut sensitivity) = (vec![0.0; columns], vec![0.0; rows]);
        for column in 0..columns {
            seed[column] = 1.0;
            at.directional_derivative(self, &seed, &mut sensitivity)?;
            seed[column] = 0.0;
            for row in 0..rows {
                matrix[row * columns + column] = sensitivity[row];
            }
        }
        Ok(matrix)
    }
}

/// The places (row, column) of a matrix that are not known to be 0, from `<ModelStructure>` or from
/// [`Instance::dependencies`](super::Instance::dependencies), with the memory for reading them again and again: the colours of
/// the columns, and room for one product.
#[derive(Clone, Debug)]
pub struct SparsityPattern {
    of: Jacobian,
    places: Vec<(usize, usize)>,
    /// The colour of each column.
    colours: Vec<usize>,
    /// Number of colours.
    calls: usize,
    seed: Vec<f64>,
    sensitivity: Vec<f64>,
}

impl SparsityPattern {
    /// Pattern of a matrix with elements at these places only.
    ///
    /// # Panics
    /// If a place is outside of the matrix.
    pub fn new(of: Jacobian, places: Vec<(usize, usize)>) -> SparsityPattern {
        let (rows, columns) = (of.rows(), of.columns());
        assert!(places.iter().all(|&(row, column)| row < rows && column < columns), "a place is outside of the matrix");
        let colours = column_colours(columns, &places);
        let calls = places.iter().map(|&(_, column)| colours[column] + 1).max().unwrap_or(0);
        SparsityPattern { of, places, colours, calls, seed: vec![0.0; columns], sensitivity: vec![0.0; rows] }
    }

    /// The places, in the order in which their elements are read.
    pub fn places(&self) -> &[(usize, usize)] {
        &self.places
    }

    /// The number of calls that read all elements: as many as there are [colours](column_colours).
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// Reads the elements at the places by directional derivatives. Allocates nothing.
    ///
    /// # Panics
    /// If there are not as many values as places.
    pub fn read(&mut self, at: &mut impl Differentiable, values: &mut [f64]) -> Result<Outcome, DerivativeError> {
        let SparsityPattern { of, places, colours, calls, seed, sensitivity } = self;
        assert_eq!(values.len(), places.len(), "a value for each place");
        let mut outcome = Outcome::Ok;
        for colour in 0..*calls {
            for (seed, own) in seed.iter_mut().zip(colours.iter()) {
                *seed = if *own == colour { 1.0 } else { 0.0 };
            }
            outcome = outcome.or(at.directional_derivative(of, seed, sensitivity)?);
            for (value, &(row, column)) in values.iter_mut().zip(places.iter()) {
                if colours[column] == colour {
                    *value = sensitivity[row];
                }
            }
        }
        Ok(outcome)
    }
}

/// A colour for each column, so that no two columns of one colour have a row in common: they can be had by one call. Greedy,
/// columns from the left, so the number of colours is small but not always the least.
///
/// # Panics
/// If the pattern (places by row and column) names a column that there is not.
pub fn column_colours(columns: usize, pattern: &[(usize, usize)]) -> Vec<usize> {
    let mut rows_of = vec![Vec::new(); columns];
    for &(row, column) in pattern {
        rows_of[column].push(row);
    }
    // By colour: the rows that it has already.
    let mut taken: Vec<std::collections::HashSet<usize>> = Vec::new();
    let mut colours = Vec::with_capacity(columns);
    for rows in rows_of {
        let free = taken.iter().position(|taken| rows.iter().all(|row| !taken.contains(row)));
        let colour = free.unwrap_or_else(|| {
            taken.push(Default::default());
            taken.len() - 1
        });
        taken[colour].extend(rows);
        colours.push(colour);
    }
    colours
}

#[cfg(test)]
mod tests {
    use super::column_colours;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn columns_without_a_common_row_share_a_colour() {
        // A band of three diagonals needs three colours however long it is.
        let band: Vec<(usize, usize)> =
            (0..30usize).flat_map(|row| (row.saturating_sub(1)..(row + 2).min(30)).map(move |c| (row, c))).collect();
        let colours = column_colours(30, &band);
        assert_eq!(colours.iter().max(), Some(&2), "{colours:?}");
        assert_eq!(column_colours(3, &[(0, 0), (0, 1), (0, 2)]), [0, 1, 2]);
        assert_eq!(column_colours(3, &[(0, 0), (1, 1), (2, 2)]), [0, 0, 0]);
    }

    proptest! {
        #[test]
        fn no_two_columns_of_a_colour_have_a_row_in_common(
            pattern in prop::collection::hash_set((0usize..12, 0usize..12), 0..60)
        ) {
            let pattern: Vec<(usize, usize)> = pattern.into_iter().collect();
            let colours = column_colours(12, &pattern);
            let mut seen = HashSet::new();
            for &(row, column) in &pattern {
                prop_assert!(seen.insert((row, colours[column])), "row {row} twice in one call: {colours:?}");
            }
        }
    }
}
