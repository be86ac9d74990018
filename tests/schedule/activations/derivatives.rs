//! Partial derivatives of an FMU (`fmus/matrix_gain`: Y = K·U) and dependencies of its elements, through its library
//!.

use std::path::Path;
use std::sync::Arc;
use vecud::ffi::{
    DerivativeError, Differentiable, ElementDependency, ForeignCall, Initialization, Instance, InstanceHost, Jacobian,
    Library, Partition, Provides, Running, SparsityPattern, Status,
};
use vecud::fmu::archive::{Cache, Unpacked};
use vecud::fmu::description::{
    self, Abi, DependencyKind, Interface, ModelDescription, ValueReference, Values, VariableType,
};

struct Host;
impl InstanceHost for Host {
    fn log(&self, status: Status, _: Option<&[u8]>, message: &[u8]) {
        assert!(status < Status::Error, "{}", String::from_utf8_lossy(message));
    }
    fn foreign_call(&self, what: ForeignCall) {
        panic!("{what:?}");
    }
}

/// The FMU in Initialization Mode with K = [a b; c d; e f] and U = [1 2; 3 4].
fn initializing() -> (Instance<Initialization>, ModelDescription) {
    let cache = Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/matrix_gain");
    let unpacked = Unpacked::open(&folder, &cache).unwrap();
    let description = description::parse(&unpacked.model_description().unwrap()).unwrap();
    let library = unpacked.library("matrix_gain", &cache).unwrap();
    let library = Arc::new(Library::load(&library, Abi::Fmi3, Interface::ScheduledExecution).unwrap());
    let token = &description.instantiation_token;
    let instance = library.instantiate_scheduled_execution("m", token, None, true, Arc::new(Host)).unwrap();
    let k = Values::Float64(vec![A, B, C, D, E, F]);
    instance.set_values(reference(&description, "K"), VariableType::Float64, &k).unwrap();
    (instance.enter_initialization_mode(0.0, None, None).unwrap(), description)
}

const A: f64 = 2.0;
const B: f64 = 3.0;
const C: f64 = 5.0;
const D: f64 = 7.0;
const E: f64 = 11.0;
const F: f64 = 13.0;

fn reference(description: &ModelDescription, name: &str) -> ValueReference {
    description.variables.iter().find(|v| v.name == name).expect("there is such a variable").value_reference
}

/// Of Y with respect to these variables.
fn jacobian(description: &ModelDescription, knowns: &[(&str, usize)]) -> Jacobian {
    let provides = Provides::from(description.scheduled_execution().unwrap());
    let knowns: Vec<_> = knowns.iter().map(|&(name, n)| (reference(description, name), n)).collect();
    Jacobian::new(provides, &[(reference(description, "Y"), 6)], &knowns)
}

/// dY/dU, row-major: Y(i,j) = K(i,1)·U(1,j) + K(i,2)·U(2,j).
#[rustfmt::skip]
const BY_U: [f64; 24] = [
    A, 0.0, B, 0.0,
    0.0, A, 0.0, B,
    C, 0.0, D, 0.0,
    0.0, C, 0.0, D,
    E, 0.0, F, 0.0,
    0.0, E, 0.0, F,
];

fn activated(instance: Instance<Initialization>) -> (vecud::ffi::InstanceControl, Partition) {
    let ready: Instance<Running> = instance.exit_initialization_mode().unwrap();
    let (control, mut partitions) = ready.into_parts(&[ValueReference(1)]);
    (control, partitions.remove(0))
}

#[test]
fn the_derivative_by_one_element_of_a_matrix_is_a_column_of_the_gain() {
    let (instance, description) = initializing();
    let (control, mut partition) = activated(instance);
    let by_u = jacobian(&description, &[("U", 4)]);
    let mut getting = partition.begin().activate(0.0).unwrap();
    // By U(2,1).
    let mut sensitivity = [f64::NAN; 6];
    getting.directional_derivative(&by_u, &[0.0, 0.0, 1.0, 0.0], &mut sensitivity).unwrap();
    assert_eq!(sensitivity, [B, 0.0, D, 0.0, F, 0.0]);
    // With a vector from the left: wᵀ·dY/dU in one call.
    let w = [1.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0];
    let mut sensitivity = [f64::NAN; 4];
    getting.adjoint_derivative(&by_u, &w, &mut sensitivity).unwrap();
    let dot = |column: usize| (0..6).map(|row| w[row] * BY_U[row * 4 + column]).sum::<f64>();
    assert_eq!(sensitivity, [dot(0), dot(1), dot(2), dot(3)]);
    control.terminate(vec![partition]).unwrap();
}

#[test]
fn the_whole_matrix_is_the_same_by_columns_by_rows_and_by_colours() {
    let (mut instance, description) = initializing();
    let by_u = jacobian(&description, &[("U", 4)]);
    assert_eq!(by_u.dense(&mut instance).unwrap(), BY_U, "in Initialization Mode");
    let (control, mut partition) = activated(instance);
    let mut getting = partition.begin().activate(0.0).unwrap();
    assert_eq!(by_u.dense(&mut getting).unwrap(), BY_U, "after an activation");
    let offered = |directional, adjoint| {
        let provides = Provides { directional, adjoint, per_element_dependencies: true };
        Jacobian::new(provides, &[(reference(&description, "Y"), 6)], &[(reference(&description, "U"), 4)])
    };
    assert_eq!(offered(true, false).dense(&mut getting).unwrap(), BY_U);
    assert_eq!(offered(false, true).dense(&mut getting).unwrap(), BY_U);
    let none = offered(false, false).dense(&mut getting).unwrap_err();
    assert!(matches!(none, DerivativeError::NotProvided { .. }), "{none}");

    // The places of what is not 0, from the FMU itself: two calls instead of four.
    let pattern = places(
        &getting
            .dependencies(
                Provides { per_element_dependencies: true, ..Provides::default() },
                reference(&description, "Y"),
            )
            .unwrap(),
    );
    let mut values = vec![0.0; pattern.len()];
    let mut pattern = SparsityPattern::new(offered(true, false), pattern);
    assert_eq!(pattern.calls(), 2);
    pattern.read(&mut getting, &mut values).unwrap();
    let mut matrix = [0.0; 24];
    pattern.places().iter().zip(values).for_each(|(&(row, column), value)| matrix[row * 4 + column] = value);
    assert_eq!(matrix, BY_U);

    // Two knowns in one matrix: U's columns, then K's.
    let both = jacobian(&description, &[("U", 4), ("K", 6)]).dense(&mut getting).unwrap();
    let row: Vec<f64> = both[..10].to_vec();
    assert_eq!(row, [A, 0.0, B, 0.0, 1.0, 3.0, 0.0, 0.0, 0.0, 0.0], "Y(1,1) by U, then by K: U(1,1) and U(2,1)");
    control.terminate(vec![partition]).unwrap();
}

/// Places in dY/dU.
fn places(dependencies: &[ElementDependency]) -> Vec<(usize, usize)> {
    let on_u = dependencies.iter().filter(|dependency| dependency.on == ValueReference(2));
    on_u.map(|dependency| (dependency.element - 1, dependency.on_element - 1)).collect()
}

#[test]
fn dependencies_of_elements_are_those_of_the_state_that_the_instance_is_in() {
    let (instance, description) = initializing();
    let provides = Provides::from(description.scheduled_execution().unwrap());
    let (u, k, y) = (reference(&description, "U"), reference(&description, "K"), reference(&description, "Y"));
    let of = |all: &[ElementDependency], element| {
        all.iter().filter(|d| d.element == element).map(|d| (d.on, d.on_element, d.kind)).collect::<Vec<_>>()
    };
    use DependencyKind::{Dependent, Tunable};
    let initial = instance.dependencies(provides, y).unwrap();
    assert_eq!(initial.len(), 24);
    // Y(2,1): U(1,1), U(2,1), K(2,1), K(2,2).
    assert_eq!(of(&initial, 3), [(u, 1, Dependent), (u, 3, Dependent), (k, 3, Dependent), (k, 4, Dependent)]);
    let (control, mut partition) = activated(instance);
    let running = partition.begin().activate(0.0).unwrap().dependencies(provides, y).unwrap();
    assert_eq!(of(&running, 3), [(u, 1, Tunable), (u, 3, Tunable), (k, 3, Dependent), (k, 4, Dependent)]);
    control.terminate(vec![partition]).unwrap();
}
