//! Derivatives of outputs and inputs with respect to time: `fmi3GetOutputDerivatives`, `fmi2GetRealOutputDerivatives`,
//! `fmi2SetRealInputDerivatives` and those of FMI 1.0 (FMI 3.0.2, 4.2.1; FMI 2.0.5, 4.2.1).
//!
//! All memory is allocated when they are made.

use super::function::Function;
use super::shared::{CallContext, SharedInstance};
use super::status::{Failure, Outcome};
use super::step::{AfterStep, BeforeStep, Stepper};
use super::types::RawReference;
use vecud_description::ValueReference;

/// Derivatives of variables that cross the boundary in one call, in the FMU's unit of time.
///
/// For each variable the orders follow one another, and of each order all elements in row-major order.
#[derive(Clone, Debug)]
pub struct TimeDerivatives {
    references: Vec<RawReference>,
    orders: Vec<i32>,
    values: Vec<f64>,
}

impl TimeDerivatives {
    /// The derivatives of these variables, each with its number of elements and its highest order; from the first order up.
    pub fn new(variables: &[(ValueReference, usize, i32)]) -> TimeDerivatives {
        let mut all = TimeDerivatives { references: Vec::new(), orders: Vec::new(), values: Vec::new() };
        for &(reference, elements, highest) in variables {
            for order in 1..=highest {
                all.references.push(reference.0);
                all.orders.push(order);
                all.values.resize(all.values.len() + elements, 0.0);
            }
        }
        all
    }

    /// Them all, in their order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// [`TimeDerivatives::values`], to be changed.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }
}

impl Stepper {
    /// Reads derivatives of outputs, in one call, at rest.
    pub fn get_derivatives(&mut self, derivatives: &mut TimeDerivatives) -> Result<Outcome, Failure> {
        get(self.shared(), derivatives, CallContext::default())
    }
}

impl AfterStep<'_> {
    /// Reads derivatives of outputs at the end of the step, in one call.
    pub fn get_derivatives(&mut self, derivatives: &mut TimeDerivatives) -> Result<Outcome, Failure> {
        let cause = self.cause();
        get(self.shared(), derivatives, cause)
    }
}

fn get(shared: &SharedInstance, derivatives: &mut TimeDerivatives, cause: CallContext) -> Result<Outcome, Failure> {
    let TimeDerivatives { references, orders, values } = derivatives;
    shared.call(Function::GetOutputDerivatives, cause, |f, i| {
        let (n, n_values) = (references.len(), values.len());
        // SAFETY: the instance is alive, and in Step Mode, as whoever reads holds what makes its steps; as many references and
        // orders as said, and room for all values, alive until the call returns.
        unsafe { (f.get_output_derivatives)(i, references.as_ptr(), n, orders.as_ptr(), values.as_mut_ptr(), n_values) }
    })
}

impl BeforeStep<'_> {
    /// Sets derivatives of inputs at the communication point, in one call: FMI 2.0 and 1.0, where the FMU interpolates inputs.
    /// Precondition: the values of these inputs were set before.
    pub fn set_derivatives(&mut self, derivatives: &TimeDerivatives) -> Result<Outcome, Failure> {
        let TimeDerivatives { references, orders, values } = derivatives;
        self.shared().call(Function::SetRealInputDerivatives, CallContext::default(), |f, i| {
            // SAFETY: the instance is alive and in Step Mode, as `self` stands for.
            unsafe { f.set_input_derivatives(i, references, orders, values) }
        })
    }
}
