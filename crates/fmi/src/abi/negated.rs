//! Values of negated aliases (FMI 1.0, 3.3 of both parts: `alias="negatedAlias"`), which change their sign on the way.
//!
//! The FMU knows only the variable whose alias it is. Here the alias has a reference of its own ([`ValueReference::negated`]), so that
//! all other code takes it for an ordinary variable. Nothing is allocated: references, and values that are set, are copied on the
//! stack, [`PIECE`] of them for each call of the FMU.

use super::adapter::{PIECE, has_failed, status, worse};
use super::functions::{Functions, VersionFunctions};
use crate::types::*;
use std::ffi::c_int;
use vecud_description::ValueReference;

/// The opposite of a value, for a negated alias.
pub(super) trait Opposite: Copy + Default {
    fn opposite(self) -> Self;
}

impl Opposite for f64 {
    fn opposite(self) -> f64 {
        // Of 0 not -0.
        0.0 - self
    }
}

impl Opposite for c_int {
    fn opposite(self) -> c_int {
        self.wrapping_neg()
    }
}

impl Opposite for RawBool {
    fn opposite(self) -> RawBool {
        RawBool::from(self == 0)
    }
}

impl Functions {
    /// Whether references may be marked as those of negated aliases.
    pub(crate) fn may_be_negated(&self) -> bool {
        matches!(self.own, VersionFunctions::Fmi1(_))
    }
}

fn is_negated(reference: &RawReference) -> bool {
    ValueReference(*reference).is_negated()
}

/// The references in the form that the FMU knows.
fn known(references: &[RawReference]) -> [RawReference; PIECE] {
    let mut known = [0; PIECE];
    for (known, reference) in known.iter_mut().zip(references) {
        *known = ValueReference(*reference).of_fmu().0;
    }
    known
}

/// Gets values.
///
/// # Safety
/// There are `n` references, and room for as many values. `call` is handed the place of the first one, as many references as it is told,
/// and room for the values of all of them, until it returns.
pub(super) unsafe fn get<T: Opposite>(
    references: *const RawReference,
    n: usize,
    values: *mut T,
    mut call: impl FnMut(usize, *const RawReference, usize, *mut T) -> RawStatus,
) -> RawStatus {
    // SAFETY: this function's contract.
    let asked = if n == 0 { &[] } else { unsafe { std::slice::from_raw_parts(references, n) } };
    if !asked.iter().any(is_negated) {
        return status(call(0, references, n, values));
    }
    // SAFETY: this function's contract; there is at least one.
    let values = unsafe { std::slice::from_raw_parts_mut(values, n) };
    let mut worst = 0;
    for (piece, (asked, values)) in asked.chunks(PIECE).zip(values.chunks_mut(PIECE)).enumerate() {
        worst = worse(worst, status(call(piece * PIECE, known(asked).as_ptr(), asked.len(), values.as_mut_ptr())));
        if has_failed(worst) {
            break;
        }
        for (value, _) in values.iter_mut().zip(asked).filter(|(_, reference)| is_negated(reference)) {
            *value = value.opposite();
        }
    }
    worst
}

/// Sets values.
///
/// # Safety
/// There are `n` references, and as many values. `call` is handed the place of the first one, as many references as it is told, and
/// values for all of them, until it returns.
pub(super) unsafe fn set<T: Opposite>(
    references: *const RawReference,
    n: usize,
    values: *const T,
    mut call: impl FnMut(usize, *const RawReference, usize, *const T) -> RawStatus,
) -> RawStatus {
    // SAFETY: this function's contract.
    let asked = if n == 0 { &[] } else { unsafe { std::slice::from_raw_parts(references, n) } };
    if !asked.iter().any(is_negated) {
        return status(call(0, references, n, values));
    }
    // SAFETY: this function's contract; there is at least one.
    let values = unsafe { std::slice::from_raw_parts(values, n) };
    let mut worst = 0;
    for (piece, (asked, values)) in asked.chunks(PIECE).zip(values.chunks(PIECE)).enumerate() {
        let mut told = [T::default(); PIECE];
        for ((told, value), reference) in told.iter_mut().zip(values).zip(asked) {
            *told = if is_negated(reference) { value.opposite() } else { *value };
        }
        worst = worse(worst, status(call(piece * PIECE, known(asked).as_ptr(), asked.len(), told.as_ptr())));
        if has_failed(worst) {
            break;
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An FMU of 300 variables, each of which has its reference as its value.
    fn variables() -> Vec<f64> {
        (0..300).map(f64::from).collect()
    }

    fn references(of: impl Iterator<Item = u32>) -> Vec<RawReference> {
        of.map(|reference| match reference % 3 {
            0 => ValueReference(reference).negated().unwrap().0,
            _ => reference,
        })
        .collect()
    }

    #[test]
    fn what_is_got_of_negated_aliases_has_the_other_sign() {
        let (all, asked) = (variables(), references(0..300));
        let mut got = vec![f64::NAN; 300];
        let fmu = |at: usize, references: *const RawReference, n: usize, values: *mut f64| {
            for i in 0..n {
                // SAFETY: as many as said.
                unsafe {
                    assert_eq!(*references.add(i), (at + i) as u32, "the FMU's own");
                    *values.add(i) = all[*references.add(i) as usize];
                }
            }
            0
        };
        // SAFETY: as many references as values.
        assert_eq!(unsafe { get(asked.as_ptr(), 300, got.as_mut_ptr(), fmu) }, 0);
        for (value, got) in all.iter().zip(&got) {
            let sign = if value % 3.0 == 0.0 { -1.0 } else { 1.0 };
            assert_eq!(*got, sign * value);
        }
        assert!(got[0].is_sign_positive());
    }

    #[test]
    fn what_is_set_of_negated_aliases_has_the_other_sign() {
        let (values, asked) = (variables(), references(0..300));
        let mut all = vec![f64::NAN; 300];
        let fmu = |_, references: *const RawReference, n: usize, values: *const f64| {
            for i in 0..n {
                // SAFETY: as many as said.
                unsafe { all[*references.add(i) as usize] = *values.add(i) };
            }
            0
        };
        // SAFETY: as many references as values.
        assert_eq!(unsafe { set(asked.as_ptr(), 300, values.as_ptr(), fmu) }, 0);
        assert!(
            all.iter()
                .zip(&values)
                .all(|(all, value)| all.abs() == *value && (*value == 0.0 || (*all < 0.0) == (value % 3.0 == 0.0)))
        );
    }

    /// One of them has failed: nothing behind it is asked for.
    #[test]
    fn a_failure_is_told_and_ends_it() {
        let asked = references(0..300);
        let (mut got, mut calls) = (vec![1.0; 300], 0);
        // SAFETY: as many references as values.
        let worst = unsafe {
            get(asked.as_ptr(), 300, got.as_mut_ptr(), |_, _, _, _| {
                calls += 1;
                3
            })
        };
        assert_eq!((worst, calls), (3, 1));
        assert_eq!((1_i32.opposite(), i32::MIN.opposite()), (-1, i32::MIN));
        assert_eq!((0 as RawBool).opposite(), 1 as RawBool);
    }
}
