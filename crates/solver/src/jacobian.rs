//! The derivatives of the derivatives: from the model, or by differences.

use super::asked::{MeteredModel, Tried};
use super::dense::SquareMatrix;
use super::{Equations, Structure};

/// The least distance of two points at which derivatives are compared, relative to the size of a state: half of a double's digits.
const DISTANCE: f64 = 1.4901161193847656e-8;

/// The point last told, and the derivatives there.
pub(super) struct Point<'a> {
    pub(super) t: f64,
    pub(super) x: &'a [f64],
    pub(super) f: &'a [f64],
}

/// ∂f/∂x at the point last told. States are moved by a share of their sizes; states that no derivative has in common are moved in one
/// evaluation. `moved` and `there` are overwritten.
pub(super) fn jacobian<E: Equations>(
    asked: &mut MeteredModel<'_, E>,
    structure: &Structure,
    sizes: &[f64],
    Point { t, x, f }: Point,
    (moved, there): (&mut [f64], &mut [f64]),
    matrix: &mut SquareMatrix,
) -> Tried<E> {
    asked.counts.jacobians += 1;
    if asked.jacobian(matrix)? {
        return Ok(());
    }
    matrix.fill(0.0);
    for group in structure.groups() {
        moved.copy_from_slice(x);
        for &state in group {
            moved[state] += distance(x[state], f[state], sizes[state]);
        }
        asked.tell(t, moved)?;
        asked.derivatives(there)?;
        for &state in group {
            // What was really added, after rounding.
            let distance = moved[state] - x[state];
            let mut set = |row: usize| matrix[(row, state)] = (there[row] - f[row]) / distance;
            match structure.rows_of(state) {
                Some(rows) => rows.iter().for_each(|&row| set(row)),
                None => (0..x.len()).for_each(set),
            }
        }
    }
    Ok(())
}

/// Into the direction in which the state goes anyway: there the model is less likely to refuse.
fn distance(x: f64, f: f64, size: f64) -> f64 {
    let distance = DISTANCE * x.abs().max(size);
    if f < 0.0 { -distance } else { distance }
}
