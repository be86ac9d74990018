//! Derivatives and dependencies: what may be called, with which vectors, and what becomes of the answers.

use super::stub::*;
use crate::types::*;
use crate::*;
use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::Arc;
use vecud_description::{DependencyKind, InterfaceType, ValueReference};

type F = Function;

const ALL: Provides = Provides { directional: true, adjoint: true, per_element_dependencies: true };
const Y: ValueReference = ValueReference(3);
const U: ValueReference = ValueReference(2);

thread_local! {
    /// Unknowns, knowns and seed of the last call.
    static ASKED: RefCell<(Vec<u32>, Vec<u32>, Vec<f64>)> = RefCell::default();
    /// How many dependencies the stub says that it has.
    static COUNT: RefCell<usize> = const { RefCell::new(0) };
}

// SAFETY (of calling it): as many of each as said can be read and written.
unsafe extern "C" fn derivative(
    _: RawInstance,
    unknowns: *const u32,
    n_unknowns: usize,
    knowns: *const u32,
    n_knowns: usize,
    seed: *const f64,
    n_seed: usize,
    sensitivity: *mut f64,
    n_sensitivity: usize,
) -> RawStatus {
    // SAFETY: this function's contract.
    unsafe {
        let slice = |from, n| std::slice::from_raw_parts(from, n).to_vec();
        let seed = std::slice::from_raw_parts(seed, n_seed).to_vec();
        ASKED.set((slice(unknowns, n_unknowns), slice(knowns, n_knowns), seed));
        for at in 0..n_sensitivity {
            *sensitivity.add(at) = 10.0 + at as f64;
        }
    }
    noted(F::GetDirectionalDerivative)
}

// SAFETY (of calling it): room for one number.
unsafe extern "C" fn count(_: RawInstance, _: u32, n: *mut usize) -> RawStatus {
    // SAFETY: this function's contract.
    unsafe { *n = COUNT.with_borrow(|count| *count) };
    noted(F::GetNumberOfVariableDependencies)
}

// SAFETY (of calling it): room for `n` of each.
unsafe extern "C" fn dependencies(
    _: RawInstance,
    _: u32,
    element: *mut usize,
    on: *mut u32,
    on_element: *mut usize,
    kind: *mut c_int,
    n: usize,
) -> RawStatus {
    for at in 0..n {
        // SAFETY: this function's contract.
        unsafe {
            (*element.add(at), *on.add(at), *on_element.add(at)) = (at, 2, at + 1);
            // From fmi3Independent over all kinds to one that does not exist.
            *kind.add(at) = at as c_int;
        }
    }
    noted(F::GetVariableDependencies)
}

/// An instance whose activation has just returned.
fn activated(act: impl FnOnce(&mut AfterActivation<'_>)) {
    let (control, mut partition, _) = running_with(Functions {
        get_directional_derivative: derivative,
        get_adjoint_derivative: derivative,
        get_number_of_variable_dependencies: count,
        get_variable_dependencies: dependencies,
        ..functions()
    });
    let mut getting = partition.begin().activate(0.5).unwrap();
    calls();
    act(&mut getting);
    calls();
    control.terminate(vec![partition]).unwrap();
}

#[test]
fn seed_and_sensitivity_have_an_element_for_each_of_the_variables() {
    activated(|getting| {
        // Two unknowns of 6 and 1 elements, one known of 4.
        let jacobian = Jacobian::new(ALL, &[(Y, 6), (ValueReference(9), 1)], &[(U, 4)]);
        assert_eq!((jacobian.rows(), jacobian.columns()), (7, 4));
        let mut sensitivity = [0.0; 7];
        getting.directional_derivative(&jacobian, &[0.0, 0.0, 1.0, 0.0], &mut sensitivity).unwrap();
        assert_eq!(ASKED.take(), (vec![3, 9], vec![2], vec![0.0, 0.0, 1.0, 0.0]));
        assert_eq!(sensitivity, [10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]);
        let mut sensitivity = [0.0; 4];
        getting.adjoint_derivative(&jacobian, &[1.0; 7], &mut sensitivity).unwrap();
        assert_eq!(ASKED.take(), (vec![3, 9], vec![2], vec![1.0; 7]));
        assert_eq!(sensitivity, [10.0, 11.0, 12.0, 13.0]);
        assert_eq!(calls().len(), 2);
    });
}

#[test]
fn vectors_of_another_length_are_refused_without_harm() {
    activated(|getting| {
        let jacobian = Jacobian::new(ALL, &[(Y, 6)], &[(U, 4)]);
        let (seed, mut room) = ([0.0; 7], [0.0; 7]);
        let mut refused = |function, seeds: usize, rooms: usize, words: &str| {
            let error = match function {
                F::GetDirectionalDerivative => {
                    getting.directional_derivative(&jacobian, &seed[..seeds], &mut room[..rooms])
                }
                _ => getting.adjoint_derivative(&jacobian, &seed[..seeds], &mut room[..rooms]),
            };
            assert_eq!(error.unwrap_err().to_string(), format!("{function} was not called: the {words}"));
        };
        refused(F::GetDirectionalDerivative, 3, 6, "seed has 3 elements, and its variables have 4");
        refused(F::GetDirectionalDerivative, 5, 6, "seed has 5 elements, and its variables have 4");
        refused(F::GetDirectionalDerivative, 4, 5, "sensitivity has 5 elements, and its variables have 6");
        refused(F::GetDirectionalDerivative, 4, 7, "sensitivity has 7 elements, and its variables have 6");
        refused(F::GetAdjointDerivative, 4, 6, "seed has 4 elements, and its variables have 6");
        refused(F::GetAdjointDerivative, 6, 6, "sensitivity has 6 elements, and its variables have 4");
        assert_eq!(calls(), []);
        assert!(getting.directional_derivative(&jacobian, &[0.0; 4], &mut [0.0; 6]).is_ok(), "still healthy");
    });
}

#[test]
fn what_the_description_does_not_offer_is_not_called() {
    let mut interface = InterfaceType { provides_adjoint_derivatives: true, ..InterfaceType::default() };
    let provides = Provides::from(&interface);
    activated(|getting| {
        let jacobian = Jacobian::new(provides, &[(Y, 1)], &[(U, 1)]);
        let error = getting.directional_derivative(&jacobian, &[1.0], &mut [0.0]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "fmi3GetDirectionalDerivative was not called: the FMU does not offer it (providesDirectionalDerivatives is not \
             true)"
        );
        let error = getting.dependencies(provides, Y).unwrap_err();
        let flag = "providesPerElementDependencies";
        assert_eq!(error, DerivativeError::NotProvided { function: F::GetNumberOfVariableDependencies, flag });
        assert_eq!(calls(), []);
        assert!(getting.adjoint_derivative(&jacobian, &[1.0], &mut [0.0]).is_ok());
    });
    interface.provides_directional_derivatives = true;
    interface.provides_adjoint_derivatives = false;
    interface.provides_per_element_dependencies = true;
    let provides = Provides::from(&interface);
    assert_eq!(provides, Provides { directional: true, adjoint: false, per_element_dependencies: true });
    activated(|getting| {
        let jacobian = Jacobian::new(provides, &[(Y, 1)], &[(U, 1)]);
        assert!(getting.directional_derivative(&jacobian, &[1.0], &mut [0.0]).is_ok());
        let error = getting.adjoint_derivative(&jacobian, &[1.0], &mut [0.0]).unwrap_err();
        let flag = "providesAdjointDerivatives";
        assert_eq!(error, DerivativeError::NotProvided { function: F::GetAdjointDerivative, flag });
    });
}

#[test]
fn a_failure_ends_the_instance_and_names_clock_and_time() {
    activated(|getting| {
        answer(F::GetDirectionalDerivative, 3);
        let jacobian = Jacobian::new(ALL, &[(Y, 1)], &[(U, 1)]);
        let error = getting.directional_derivative(&jacobian, &[1.0], &mut [0.0]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "fmi3GetDirectionalDerivative for the clock with value reference 1001 at 0.5 s returned fmi3Error"
        );
        let again = getting.directional_derivative(&jacobian, &[1.0], &mut [0.0]).unwrap_err();
        assert!(matches!(again, DerivativeError::Failed(Failure { refused: true, .. })), "{again}");
    });
}

#[test]
fn dependencies_are_as_many_as_the_fmu_says_and_of_a_kind_that_exists() {
    activated(|getting| {
        COUNT.set(7);
        let found = getting.dependencies(ALL, Y).unwrap();
        use DependencyKind::*;
        let kinds: Vec<DependencyKind> = found.iter().map(|dependency| dependency.kind).collect();
        assert_eq!(kinds, [Constant, Fixed, Tunable, Discrete, Dependent, Dependent], "independent ones are none");
        assert_eq!(found[0], ElementDependency { element: 1, on: U, on_element: 2, kind: Constant });
        assert_eq!(calls(), [F::GetNumberOfVariableDependencies, F::GetVariableDependencies]);
        COUNT.set(usize::MAX);
        let error = getting.dependencies(ALL, Y).unwrap_err();
        assert_eq!(error, DerivativeError::TooMany(usize::MAX));
        assert_eq!(calls(), [F::GetNumberOfVariableDependencies]);
    });
}

#[test]
fn they_may_be_called_in_initialization_mode_and_dependencies_before() {
    let library = Arc::new(Library::from_functions(Functions {
        get_directional_derivative: derivative,
        get_number_of_variable_dependencies: count,
        get_variable_dependencies: dependencies,
        ..functions()
    }));
    let instance = instantiate_in(&library, &Arc::default()).unwrap();
    COUNT.set(2);
    assert_eq!(instance.dependencies(ALL, Y).unwrap().len(), 1);
    let mut instance = instance.enter_initialization_mode(0.0, None, None).unwrap();
    assert_eq!(instance.dependencies(ALL, Y).unwrap().len(), 1);
    let jacobian = Jacobian::new(ALL, &[(Y, 1)], &[(U, 1)]);
    assert_eq!(jacobian.dense(&mut instance), Ok(vec![10.0]));
}
