//! Derivatives with respect to time, by tables filled by hand (FMI 3.0.2, 4.2.1: `fmi3GetOutputDerivatives`, with its example).

use super::stub::Notes;
use crate::types::*;
use crate::*;
use std::ffi::c_int;
use std::sync::Arc;
use vecud_description::ValueReference;

/// The time that the stub's step has come to.
const TIME: f64 = 0.5;

/// Elements of the stub's outputs, by value reference: `y1[2,3]`, `y2`, `y3[2]`, `y4`.
const ELEMENTS: [usize; 5] = [0, 6, 1, 2, 1];

/// The derivative of this order of element `k` of output `y`, which is y (k + 1) t² + k t + 1.
fn derivative(y: usize, k: usize, order: i32, time: f64) -> f64 {
    let (square, line) = ((y * (k + 1)) as f64, k as f64);
    match order {
        0 => square * time * time + line * time + 1.0,
        1 => 2.0 * square * time + line,
        2 => 2.0 * square,
        _ => 0.0,
    }
}

// SAFETY (of calling it): looks at no pointer.
unsafe extern "C" fn fine(_: RawInstance) -> RawStatus {
    0
}

/// An instance of FMI 3.0 that is ready to step.
fn fmi3() -> (InstanceControl, Stepper) {
    // SAFETY (of calling it): looks at no pointer.
    unsafe extern "C" fn instantiate(
        _: RawString,
        _: RawString,
        _: RawString,
        _: RawBool,
        _: RawBool,
        _: RawBool,
        _: RawBool,
        _: *const RawReference,
        _: usize,
        _: RawEnvironment,
        _: Option<LogMessage>,
        _: Option<IntermediateUpdate>,
    ) -> RawInstance {
        std::ptr::dangling_mut()
    }
    // SAFETY (of calling it): looks at no pointer.
    unsafe extern "C" fn enter(_: RawInstance, _: RawBool, _: f64, _: f64, _: RawBool, _: f64) -> RawStatus {
        0
    }
    // SAFETY (of calling it): looks at no pointer but the last, which can be written to.
    unsafe extern "C" fn do_step(
        _: RawInstance,
        point: f64,
        size: f64,
        _: RawBool,
        _: *mut RawBool,
        _: *mut RawBool,
        _: *mut RawBool,
        reached: *mut f64,
    ) -> RawStatus {
        // SAFETY: this function's contract.
        unsafe { *reached = point + size };
        0
    }
    // SAFETY (of calling it): as many references and orders as said, and room for as many values.
    unsafe extern "C" fn get(
        _: RawInstance,
        references: *const RawReference,
        n: usize,
        orders: *const i32,
        values: *mut f64,
        n_values: usize,
    ) -> RawStatus {
        // SAFETY: this function's contract.
        let (references, orders, values) = unsafe {
            (
                std::slice::from_raw_parts(references, n),
                std::slice::from_raw_parts(orders, n),
                std::slice::from_raw_parts_mut(values, n_values),
            )
        };
        let mut places = values.iter_mut();
        for (&y, &order) in references.iter().zip(orders) {
            for k in 0..ELEMENTS[y as usize] {
                *places.next().unwrap() = derivative(y as usize, k, order, TIME);
            }
        }
        if places.next().is_none() { 0 } else { 3 }
    }
    let own = Fmi3Functions { instantiate_co_simulation: instantiate, do_step, ..Fmi3Functions::refusing() };
    let table = Functions {
        enter_initialization_mode: enter,
        exit_initialization_mode: fine,
        terminate: fine,
        get_output_derivatives: get,
        ..Functions::refusing(VersionFunctions::Fmi3(own))
    };
    ready(table)
}

fn ready(table: Functions) -> (InstanceControl, Stepper) {
    let library = Arc::new(Library::from_functions(table));
    let slave = MadeFor::CoSimulation(StepOptions::default());
    let instance = library.instantiate(&slave, "i", "", None, false, Arc::<Notes>::default()).unwrap();
    let instance = instance.enter_initialization_mode(0.0, None, None).unwrap();
    instance.exit_initialization_mode().unwrap().into_stepper()
}

/// The example of the standard: the first and second derivatives of y1, y3 and y4 are 6 + 6 + 2 + 2 + 1 + 1 values. By Taylor's
/// formula they say what the outputs, which are of second order, will be.
#[test]
fn all_elements_of_each_order_follow_one_another_and_extrapolate_by_taylor() {
    let (_control, mut stepper) = fmi3();
    let variables = [1, 3, 4].map(|y| (ValueReference(y), ELEMENTS[y as usize], 2));
    let mut derivatives = TimeDerivatives::new(&variables);
    stepper.begin().step(0.25, 0.25).unwrap().get_derivatives(&mut derivatives).unwrap();
    assert_eq!(derivatives.values().len(), 18);
    let ahead = 0.125;
    let mut first = 0;
    for (y, elements) in [(1, 6), (3, 2), (4, 1)] {
        let [once, twice] = [first, first + elements].map(|at| &derivatives.values()[at..at + elements]);
        for k in 0..elements {
            let taylor = derivative(y, k, 0, TIME) + once[k] * ahead + twice[k] * ahead * ahead / 2.0;
            assert_eq!(taylor, derivative(y, k, 0, TIME + ahead), "y{y}[{k}]");
        }
        first += 2 * elements;
    }
    // FMI 3.0 has no function for inputs.
    assert!(stepper.begin().set_derivatives(&derivatives).is_err());
}

/// FMI 2.0 has scalars only; both directions cross as they are, and more values than references are not handed over.
#[test]
fn slopes_of_fmi2_cross_in_both_directions() {
    // SAFETY (of calling it): looks at no pointer.
    unsafe extern "C" fn instantiate(
        _: RawString,
        _: c_int,
        _: RawString,
        _: RawString,
        _: *const Fmi2Callbacks,
        _: c_int,
        _: c_int,
    ) -> RawInstance {
        std::ptr::dangling_mut()
    }
    // SAFETY (of calling it): looks at no pointer.
    unsafe extern "C" fn set_up(_: RawInstance, _: c_int, _: f64, _: f64, _: c_int, _: f64) -> RawStatus {
        0
    }
    // SAFETY (of calling it): looks at no pointer.
    unsafe extern "C" fn do_step(_: RawInstance, _: f64, _: f64, _: c_int) -> RawStatus {
        0
    }
    // SAFETY (of calling it): as many references, orders and values as said.
    unsafe extern "C" fn set(
        _: RawInstance,
        references: *const RawReference,
        n: usize,
        orders: *const c_int,
        values: *const f64,
    ) -> RawStatus {
        // SAFETY: this function's contract.
        let one = unsafe { (*references, n, *orders, *values) };
        if one == (7, 1, 1, 0.5) { 0 } else { 3 }
    }
    // SAFETY (of calling it): as many references and orders as said, and room for as many values.
    unsafe extern "C" fn get(
        _: RawInstance,
        references: *const RawReference,
        n: usize,
        orders: *const c_int,
        values: *mut f64,
    ) -> RawStatus {
        // SAFETY: this function's contract.
        unsafe {
            assert_eq!((*references, n, *orders), (7, 1, 1));
            *values = 2.5;
        }
        0
    }
    let table = Fmi2Functions {
        instantiate,
        setup_experiment: set_up,
        enter_initialization_mode: fine,
        exit_initialization_mode: fine,
        terminate: fine,
        do_step,
        set_real_input_derivatives: set,
        get_real_output_derivatives: get,
        ..Fmi2Functions::refusing()
    };
    let (_control, mut stepper) = ready(table.into());
    let mut slope = TimeDerivatives::new(&[(ValueReference(7), 1, 1)]);
    slope.values_mut()[0] = 0.5;
    let mut before = stepper.begin();
    assert_eq!(before.set_derivatives(&slope), Ok(Outcome::Ok));
    before.step(0.0, 0.5).unwrap().get_derivatives(&mut slope).unwrap();
    assert_eq!(slope.values(), [2.5]);
    let array = TimeDerivatives::new(&[(ValueReference(7), 2, 1)]);
    assert!(stepper.begin().set_derivatives(&array).is_err());
}
