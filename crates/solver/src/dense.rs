//! Small linear systems: a matrix with all its elements, and its factors.

use std::ops::{Index, IndexMut};

/// A square matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct SquareMatrix {
    size: usize,
    elements: Vec<f64>,
}

impl SquareMatrix {
    /// A matrix of zeros.
    pub fn new(size: usize) -> SquareMatrix {
        SquareMatrix { size, elements: vec![0.0; size * size] }
    }

    /// The number of rows and of columns.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Makes all elements the same.
    pub fn fill(&mut self, value: f64) {
        self.elements.fill(value);
    }

    /// A row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.elements[row * self.size..][..self.size]
    }

    /// A row, for writing.
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.elements[row * self.size..][..self.size]
    }
}

impl Index<(usize, usize)> for SquareMatrix {
    type Output = f64;

    fn index(&self, (row, column): (usize, usize)) -> &f64 {
        &self.row(row)[column]
    }
}

impl IndexMut<(usize, usize)> for SquareMatrix {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut f64 {
        &mut self.row_mut(row)[column]
    }
}

/// A matrix as the product of a lower and an upper triangle, with its rows in another order.
#[derive(Clone, Debug)]
pub struct Factors {
    /// Both triangles; the lower one has ones on its diagonal.
    triangles: SquareMatrix,
    /// For each row, the row with which it was exchanged.
    exchanged: Vec<usize>,
}

impl Factors {
    /// Room for the factors of a matrix; at first those of none.
    pub fn new(size: usize) -> Factors {
        Factors { triangles: SquareMatrix::new(size), exchanged: vec![0; size] }
    }

    /// Takes a matrix apart, with the largest element of each column as its pivot. If it is singular, the error is the column in which
    /// that was seen.
    pub fn set(&mut self, matrix: &SquareMatrix) -> Result<(), usize> {
        let size = matrix.size;
        let elements = &mut self.triangles.elements;
        elements.copy_from_slice(&matrix.elements);
        for column in 0..size {
            let mut pivot = column;
            for row in column + 1..size {
                if elements[row * size + column].abs() > elements[pivot * size + column].abs() {
                    pivot = row;
                }
            }
            self.exchanged[column] = pivot;
            if pivot != column {
                for other in 0..size {
                    elements.swap(pivot * size + other, column * size + other);
                }
            }
            let largest = elements[column * size + column];
            if largest == 0.0 || !largest.is_finite() {
                return Err(column);
            }
            let (above, below) = elements.split_at_mut((column + 1) * size);
            let top = &above[column * size + column + 1..];
            for row in below.chunks_exact_mut(size) {
                let share = row[column] / largest;
                row[column] = share;
                if share != 0.0 {
                    for (element, &top) in row[column + 1..].iter_mut().zip(top) {
                        *element -= share * top;
                    }
                }
            }
        }
        Ok(())
    }

    /// Solves the system whose right side is `x`, which becomes the solution.
    pub fn solve(&self, x: &mut [f64]) {
        for (row, &other) in self.exchanged.iter().enumerate() {
            x.swap(row, other);
        }
        for row in 0..x.len() {
            let known: f64 = self.triangles.row(row)[..row].iter().zip(&x[..row]).map(|(share, x)| share * x).sum();
            x[row] -= known;
        }
        for row in (0..x.len()).rev() {
            let elements = self.triangles.row(row);
            let known: f64 = elements[row + 1..].iter().zip(&x[row + 1..]).map(|(element, x)| element * x).sum();
            x[row] = (x[row] - known) / elements[row];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_a_matrix_makes_of_a_vector_is_undone(
            (elements, x) in (1..7usize).prop_flat_map(|size| {
                (prop::collection::vec(-1.0..1.0f64, size * size), prop::collection::vec(-1.0..1.0f64, size))
            }),
        ) {
            let size = x.len();
            let mut matrix = SquareMatrix::new(size);
            for (row, elements) in elements.chunks(size).enumerate() {
                matrix.row_mut(row).copy_from_slice(elements);
                // Far from singular, but with pivots beside the diagonal.
                matrix[(row, (row + 1) % size)] += 10.0;
            }
            let mut b: Vec<f64> =
                (0..size).map(|row| matrix.row(row).iter().zip(&x).map(|(element, x)| element * x).sum()).collect();
            let mut factors = Factors::new(size);
            prop_assert_eq!(factors.set(&matrix), Ok(()));
            factors.solve(&mut b);
            for (found, x) in b.iter().zip(&x) {
                prop_assert!((found - x).abs() < 1e-12, "{} instead of {}", found, x);
            }
        }
    }

    #[test]
    fn a_singular_matrix_is_named_by_its_column() {
        let mut matrix = SquareMatrix::new(3);
        for row in 0..3 {
            matrix.row_mut(row).copy_from_slice(&[1.0, 2.0, row as f64]);
        }
        assert_eq!(Factors::new(3).set(&matrix), Err(1));
        matrix.fill(f64::NAN);
        assert_eq!(Factors::new(3).set(&matrix), Err(0));
    }
}
