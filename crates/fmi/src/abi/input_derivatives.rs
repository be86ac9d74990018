//! Derivatives of inputs with respect to time, which FMI 2.0 and 1.0 hand over (`fmi2SetRealInputDerivatives`,
//! `fmiSetRealInputDerivatives`). FMI 3.0 has intermediate updates instead.

use super::functions::{Functions, VersionFunctions};
use super::{adapter, fmi1, fmi2, negated};
use crate::types::*;

impl Functions {
    /// Sets derivatives of scalar inputs.
    ///
    /// # Safety
    /// The instance is alive and may be stepped.
    pub(crate) unsafe fn set_input_derivatives(
        &self,
        i: RawInstance,
        references: &[RawReference],
        orders: &[i32],
        values: &[f64],
    ) -> RawStatus {
        let n = references.len();
        if orders.len() != n || values.len() != n {
            return NOT_CALLED;
        }
        let (references, orders, values) = (references.as_ptr(), orders.as_ptr(), values.as_ptr());
        // SAFETY: this function's contract; as many references, orders and values as said, alive until the call returns.
        unsafe {
            match &self.own {
                VersionFunctions::Fmi2(own) => {
                    let component = fmi2::Component::behind(i);
                    adapter::status((own.set_real_input_derivatives)(component.raw, references, n, orders, values))
                }
                VersionFunctions::Fmi1(own) => {
                    let component = fmi1::Component::behind(i);
                    negated::set(references, n, values, |at, r, n, v| {
                        (own.set_real_input_derivatives)(component.raw, r, n, orders.add(at), v)
                    })
                }
                VersionFunctions::Fmi3(_) | VersionFunctions::Draft(_) => NOT_CALLED,
            }
        }
    }
}
