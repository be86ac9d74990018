//! Small dense linear systems: factored in place, with partial pivoting.

/// A square matrix, row by row, and after [`LuMatrix::factor`] its factors L and U in its place.
#[derive(Clone, Debug)]
pub struct LuMatrix {
    order: usize,
    elements: Vec<f64>,
    /// For each row, the row with which it was exchanged when its column was eliminated.
    exchanged: Vec<usize>,
}

/// A matrix cannot be factored: this column depends on the columns before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Singular {
    /// Number of the column, from 0.
    pub column: usize,
}

impl LuMatrix {
    /// A matrix of zeros with `order` rows, and as many columns.
    pub fn new(order: usize) -> LuMatrix {
        LuMatrix { order, elements: vec![0.0; order * order], exchanged: vec![0; order] }
    }

    /// The number of rows and of columns.
    pub fn order(&self) -> usize {
        self.order
    }

    /// The element in this row and column.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        self.elements[row * self.order + column]
    }

    /// Sets the element in this row and column.
    pub fn set(&mut self, row: usize, column: usize, value: f64) {
        self.elements[row * self.order + column] = value;
    }

    /// Factors the matrix in place. A column without a remainder larger than `least` has no pivot; nor has one with an element that is
    /// not finite.
    pub fn factor(&mut self, least: f64) -> Result<(), Singular> {
        let n = self.order;
        for column in 0..n {
            if (0..n).any(|row| !self.get(row, column).is_finite()) {
                return Err(Singular { column });
            }
            let mut pivot = column;
            for row in column + 1..n {
                if self.get(row, column).abs() > self.get(pivot, column).abs() {
                    pivot = row;
                }
            }
            if self.get(pivot, column).abs() <= least {
                return Err(Singular { column });
            }
            self.exchanged[column] = pivot;
            if pivot != column {
                let (upper, lower) = self.elements.split_at_mut(pivot * n);
                upper[column * n..][..n].swap_with_slice(&mut lower[..n]);
            }
            for row in column + 1..n {
                let factor = self.get(row, column) / self.get(column, column);
                self.set(row, column, factor);
                for behind in column + 1..n {
                    let value = self.get(row, behind) - factor * self.get(column, behind);
                    self.set(row, behind, value);
                }
            }
        }
        Ok(())
    }

    /// Solves A x = b with the factors of A: `b` becomes x.
    ///
    /// # Panics
    /// If `b` is shorter than the matrix.
    pub fn solve(&self, b: &mut [f64]) {
        let n = self.order;
        for row in 0..n {
            b.swap(row, self.exchanged[row]);
        }
        for row in 0..n {
            for column in 0..row {
                b[row] -= self.get(row, column) * b[column];
            }
        }
        for row in (0..n).rev() {
            for column in row + 1..n {
                b[row] -= self.get(row, column) * b[column];
            }
            b[row] /= self.get(row, row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matrix(rows: &[&[f64]]) -> LuMatrix {
        let mut matrix = LuMatrix::new(rows.len());
        for (row, values) in rows.iter().enumerate() {
            values.iter().enumerate().for_each(|(column, &value)| matrix.set(row, column, value));
        }
        matrix
    }

    #[test]
    fn a_zero_on_the_diagonal_is_no_obstacle() {
        let mut a = matrix(&[&[0.0, 2.0, 1.0], &[1.0, 0.0, 0.0], &[0.0, 0.0, 4.0]]);
        a.factor(0.0).unwrap();
        let mut b = [7.0, 3.0, 4.0];
        a.solve(&mut b);
        assert_eq!(b, [3.0, 3.0, 1.0]);
    }

    /// By the pivot 1e-20 the second row would be lost.
    #[test]
    fn the_largest_of_a_column_is_its_pivot_whatever_its_sign() {
        for sign in [1.0, -1.0] {
            let mut a = matrix(&[&[1e-20, 1.0], &[sign, 1.0]]);
            a.factor(0.0).unwrap();
            let mut b = [1.0, sign + 1.0];
            a.solve(&mut b);
            assert_eq!(b, [1.0, 1.0]);
        }
    }

    #[test]
    fn the_column_that_depends_on_those_before_it_is_named() {
        let two = [&[1.0, 2.0, 3.0][..], &[2.0, 4.0, 1.0], &[3.0, 6.0, 5.0]];
        assert_eq!(matrix(&two).factor(1e-12), Err(Singular { column: 1 }));
        let last = [&[1.0, 0.0, 1.0][..], &[0.0, 1.0, 1.0], &[1.0, 1.0, 2.0]];
        assert_eq!(matrix(&last).factor(1e-12), Err(Singular { column: 2 }));
        assert_eq!(matrix(&[&[0.0]]).factor(0.0), Err(Singular { column: 0 }));
        assert_eq!(matrix(&[&[1.0, f64::NAN], &[0.0, 1.0]]).factor(0.0), Err(Singular { column: 1 }));
        assert_eq!(LuMatrix::new(0).factor(0.0), Ok(()));
    }

    proptest! {
        /// Diagonally dominant up to a permutation of the rows: the solution is as exact as the numbers.
        #[test]
        fn what_is_solved_solves(
            (n, elements, solution, rows) in (1..9usize).prop_flat_map(|n| (
                Just(n),
                prop::collection::vec(-1.0..1.0f64, n * n),
                prop::collection::vec(-10.0..10.0f64, n),
                Just((0..n).collect::<Vec<usize>>()).prop_shuffle(),
            )),
        ) {
            let mut a = LuMatrix::new(n);
            let mut b = vec![0.0; n];
            for row in 0..n {
                for column in 0..n {
                    let dominant = if row == column { 10.0 } else { 0.0 };
                    let value = elements[row * n + column] + dominant;
                    a.set(rows[row], column, value);
                    b[rows[row]] += value * solution[column];
                }
            }
            prop_assert_eq!(a.factor(1e-12), Ok(()));
            a.solve(&mut b);
            for (found, expected) in b.iter().zip(&solution) {
                prop_assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            }
        }

        /// A column is replaced by a combination of those before it.
        #[test]
        fn a_dependent_column_is_found(
            elements in prop::collection::vec(-1.0..1.0f64, 25), factors in prop::collection::vec(-2.0..2.0f64, 5), dependent in 0..5usize,
        ) {
            let mut a = LuMatrix::new(5);
            for row in 0..5 {
                for column in 0..5 {
                    a.set(row, column, elements[row * 5 + column] + if row == column { 6.0 } else { 0.0 });
                }
                let sum = (0..dependent).map(|column| factors[column] * a.get(row, column)).sum();
                a.set(row, dependent, sum);
            }
            prop_assert_eq!(a.factor(1e-12), Err(Singular { column: dependent }));
        }
    }
}
