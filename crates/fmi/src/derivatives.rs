//! Partial derivatives, and dependencies of single elements (FMI 3.0, 2.2: partial derivatives, dependencies of variables).
//! They are called in Initialization Mode, in Event Mode, and in Continuous-Time Mode; in Scheduled Execution like getters after an
//! activation, by the partition that was activated.
//!
//! Guarantees: functions that the FMU does not offer ([`Provides`]) are never called, nor any with vectors of another
//! length than the variables have; such a call is refused and the instance stays as healthy as it was. The products
//! allocate nothing.

use super::event_mode::EventMode;
use super::function::Function;
use super::instance::{Initialization, Instance, Instantiated};
use super::model::ContinuousTime;
use super::partition::AfterActivation;
use super::shared::{CallContext, SharedInstance};
use super::status::{Failure, Outcome};
use super::types::RawReference;
use std::ffi::c_int;
use std::fmt;
use vecud_description::{DependencyKind, InterfaceType, ValueReference};

/// The optional functions of this module that an FMU has, by its description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Provides {
    /// `providesDirectionalDerivatives`.
    pub directional: bool,
    /// `providesAdjointDerivatives`.
    pub adjoint: bool,
    /// `providesPerElementDependencies`.
    pub per_element_dependencies: bool,
}

impl From<&InterfaceType> for Provides {
    fn from(interface: &InterfaceType) -> Provides {
        Provides {
            directional: interface.provides_directional_derivatives,
            adjoint: interface.provides_adjoint_derivatives,
            per_element_dependencies: interface.provides_per_element_dependencies,
        }
    }
}

/// Which variables are differentiated with respect to which: the shape of a matrix with a row for each element of the
/// unknowns and a column for each element of the knowns, both in the order given, arrays in row-major order.
#[derive(Clone, Debug)]
pub struct Jacobian {
    pub(super) provides: Provides,
    unknowns: Vec<RawReference>,
    knowns: Vec<RawReference>,
    rows: usize,
    columns: usize,
}

impl Jacobian {
    /// The matrix of these variables, each with the number of its elements.
    pub fn new(
        provides: Provides,
        unknowns: &[(ValueReference, usize)],
        knowns: &[(ValueReference, usize)],
    ) -> Jacobian {
        let references = |of: &[(ValueReference, usize)]| of.iter().map(|(reference, _)| reference.0).collect();
        let elements = |of: &[(ValueReference, usize)]| of.iter().map(|(_, elements)| elements).sum();
        let (rows, columns) = (elements(unknowns), elements(knowns));
        Jacobian { provides, unknowns: references(unknowns), knowns: references(knowns), rows, columns }
    }

    /// Elements of all unknowns.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Elements of all knowns.
    pub fn columns(&self) -> usize {
        self.columns
    }
}

/// The dependency of an element of a variable on an element of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementDependency {
    /// Which element depends, from 1 in row-major order; 0: all.
    pub element: usize,
    /// On which variable.
    pub on: ValueReference,
    /// The element of it that the dependency is on, from 1 in row-major order; 0: all elements.
    pub on_element: usize,
    /// Kind of the dependency.
    pub kind: DependencyKind,
}

/// Why there is no derivative or dependency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DerivativeError {
    /// By its description, the FMU does not have the function. It was not called.
    NotProvided {
        /// The function.
        function: Function,
        /// The attribute that would have to be true.
        flag: &'static str,
    },
    /// The library (of the draft) lacks the function. Not called.
    Missing(Function),
    /// A vector does not have as many elements as the variables. Not called.
    Length {
        /// The function.
        function: Function,
        /// Which vector.
        vector: &'static str,
        /// Number of elements of the vector.
        given: usize,
        /// Elements of the variables.
        needed: usize,
    },
    /// The FMU declares this number of dependencies, for which there is no memory.
    TooMany(usize),
    /// The call failed.
    Failed(Failure),
}

impl fmt::Display for DerivativeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DerivativeError::NotProvided { function, flag } => {
                write!(f, "{function} was not called: the FMU does not offer it ({flag} is not true)")
            }
            DerivativeError::Missing(function) => write!(f, "{function} was not called: the library lacks it"),
            DerivativeError::Length { function, vector, given, needed } => write!(
                f,
                "{function} was not called: the {vector} has {given} elements, and its variables have {needed}"
            ),
            DerivativeError::TooMany(n) => {
                write!(f, "fmi3GetNumberOfVariableDependencies says {n}, for which there is no memory")
            }
            DerivativeError::Failed(failure) => failure.fmt(f),
        }
    }
}

impl std::error::Error for DerivativeError {}

impl From<Failure> for DerivativeError {
    fn from(failure: Failure) -> DerivativeError {
        DerivativeError::Failed(failure)
    }
}

/// States in which derivatives can be had.
pub trait Differentiable: private::Sealed {
    /// `fmi3GetDirectionalDerivative`: sensitivity = J · seed. The seed has an element for each column, the sensitivity one
    /// for each row.
    fn directional_derivative(
        &mut self,
        of: &Jacobian,
        seed: &[f64],
        sensitivity: &mut [f64],
    ) -> Result<Outcome, DerivativeError>;

    /// `fmi3GetAdjointDerivative`: sensitivity = seedᵀ · J. The seed has an element for each row, the sensitivity one for
    /// each column.
    fn adjoint_derivative(
        &mut self,
        of: &Jacobian,
        seed: &[f64],
        sensitivity: &mut [f64],
    ) -> Result<Outcome, DerivativeError>;
}

mod private {
    pub trait Sealed {}
    impl Sealed for super::Instance<super::Initialization> {}
    impl Sealed for super::AfterActivation<'_> {}
    impl Sealed for super::EventMode<'_> {}
    impl Sealed for super::ContinuousTime<'_> {}
}

macro_rules! differentiable {
    ($State:ty, |$state:ident| $shared:expr, $cause:expr) => {
        impl Differentiable for $State {
            fn directional_derivative(
                &mut self,
                of: &Jacobian,
                seed: &[f64],
                sensitivity: &mut [f64],
            ) -> Result<Outcome, DerivativeError> {
                let $state = self;
                $shared.directional_derivative(of, seed, sensitivity, $cause)
            }

            fn adjoint_derivative(
                &mut self,
                of: &Jacobian,
                seed: &[f64],
                sensitivity: &mut [f64],
            ) -> Result<Outcome, DerivativeError> {
                let $state = self;
                $shared.adjoint_derivative(of, seed, sensitivity, $cause)
            }
        }
    };
}
differentiable!(Instance<Initialization>, |instance| instance.shared, CallContext::default());
differentiable!(AfterActivation<'_>, |getting| getting.partition.part.shared, getting.cause());
differentiable!(EventMode<'_>, |event| event.shared(), event.cause());
differentiable!(ContinuousTime<'_>, |continuous| continuous.shared(), continuous.cause());

impl Instance<Instantiated> {
    /// `fmi3GetVariableDependencies`: what elements of a variable depend on while the instance is initialised. Invalid as
    /// soon as a structural parameter is set that they are linked to.
    pub fn dependencies(
        &self,
        provides: Provides,
        of: ValueReference,
    ) -> Result<Vec<ElementDependency>, DerivativeError> {
        self.shared.dependencies(provides, of, CallContext::default())
    }
}

impl Instance<Initialization> {
    /// As [`Instance::dependencies`], for an instance that is not initialised yet: the dependencies of the initialisation.
    pub fn dependencies(
        &self,
        provides: Provides,
        of: ValueReference,
    ) -> Result<Vec<ElementDependency>, DerivativeError> {
        self.shared.dependencies(provides, of, CallContext::default())
    }
}

impl AfterActivation<'_> {
    /// `fmi3GetVariableDependencies`: what elements of a variable depend on at run time. Allocates.
    pub fn dependencies(
        &mut self,
        provides: Provides,
        of: ValueReference,
    ) -> Result<Vec<ElementDependency>, DerivativeError> {
        self.partition.part.shared.dependencies(provides, of, self.cause())
    }
}

impl SharedInstance {
    fn provides(&self, function: Function, offered: bool, flag: &'static str) -> Result<(), DerivativeError> {
        match offered {
            false => Err(DerivativeError::NotProvided { function, flag }),
            true if self.library.missing().contains(&function) => Err(DerivativeError::Missing(function)),
            true => Ok(()),
        }
    }

    fn directional_derivative(
        &self,
        of: &Jacobian,
        seed: &[f64],
        sensitivity: &mut [f64],
        cause: CallContext,
    ) -> Result<Outcome, DerivativeError> {
        let function = Function::GetDirectionalDerivative;
        self.provides(function, of.provides.directional, "providesDirectionalDerivatives")?;
        lengths(function, (seed, of.columns), (sensitivity, of.rows))?;
        let (unknowns, knowns) = (&of.unknowns, &of.knowns);
        let outcome = self.call(function, cause, |f, i| {
            // SAFETY: as many references and elements as said, alive until the call returns; the seed has an element for
            // each of the knowns', and there is room for one for each of the unknowns'.
            unsafe {
                (f.get_directional_derivative)(
                    i,
                    unknowns.as_ptr(),
                    unknowns.len(),
                    knowns.as_ptr(),
                    knowns.len(),
                    seed.as_ptr(),
                    seed.len(),
                    sensitivity.as_mut_ptr(),
                    sensitivity.len(),
                )
            }
        })?;
        Ok(outcome)
    }

    fn adjoint_derivative(
        &self,
        of: &Jacobian,
        seed: &[f64],
        sensitivity: &mut [f64],
        cause: CallContext,
    ) -> Result<Outcome, DerivativeError> {
        let function = Function::GetAdjointDerivative;
        self.provides(function, of.provides.adjoint, "providesAdjointDerivatives")?;
        lengths(function, (seed, of.rows), (sensitivity, of.columns))?;
        let (unknowns, knowns) = (&of.unknowns, &of.knowns);
        let outcome = self.call(function, cause, |f, i| {
            // SAFETY: as above, with the seed for the unknowns and the room for the knowns.
            unsafe {
                (f.get_adjoint_derivative)(
                    i,
                    unknowns.as_ptr(),
                    unknowns.len(),
                    knowns.as_ptr(),
                    knowns.len(),
                    seed.as_ptr(),
                    seed.len(),
                    sensitivity.as_mut_ptr(),
                    sensitivity.len(),
                )
            }
        })?;
        Ok(outcome)
    }

    fn dependencies(
        &self,
        provides: Provides,
        of: ValueReference,
        cause: CallContext,
    ) -> Result<Vec<ElementDependency>, DerivativeError> {
        let (count, get) = (Function::GetNumberOfVariableDependencies, Function::GetVariableDependencies);
        for function in [count, get] {
            self.provides(function, provides.per_element_dependencies, "providesPerElementDependencies")?;
        }
        let mut n = 0usize;
        self.call(count, cause, |f, i| {
            // SAFETY: room for one number, alive until the call returns.
            unsafe { (f.get_number_of_variable_dependencies)(i, of.0, &mut n) }
        })?;
        let (mut elements, mut on_elements) = (zeros::<usize>(n)?, zeros::<usize>(n)?);
        let (mut on, mut kinds) = (zeros::<RawReference>(n)?, zeros::<c_int>(n)?);
        self.call(get, cause, |f, i| {
            // SAFETY: room for as many of each as said, alive until the call returns; any bits are a value of their types.
            unsafe {
                (f.get_variable_dependencies)(
                    i,
                    of.0,
                    elements.as_mut_ptr(),
                    on.as_mut_ptr(),
                    on_elements.as_mut_ptr(),
                    kinds.as_mut_ptr(),
                    n,
                )
            }
        })?;
        let dependency = |at: usize| {
            let kind = kind_of(kinds[at])?;
            Some(ElementDependency {
                element: elements[at],
                on: ValueReference(on[at]),
                on_element: on_elements[at],
                kind,
            })
        };
        Ok((0..n).filter_map(dependency).collect())
    }
}

fn lengths(
    function: Function,
    (seed, seeds): (&[f64], usize),
    (sensitivity, sensitivities): (&[f64], usize),
) -> Result<(), DerivativeError> {
    for (vector, given, needed) in [("seed", seed.len(), seeds), ("sensitivity", sensitivity.len(), sensitivities)] {
        if given != needed {
            return Err(DerivativeError::Length { function, vector, given, needed });
        }
    }
    Ok(())
}

/// A list of zeros of this length, if there is memory for it: the length comes from the FMU.
fn zeros<T: Clone + Default>(n: usize) -> Result<Vec<T>, DerivativeError> {
    let mut all = Vec::new();
    all.try_reserve_exact(n).map_err(|_| DerivativeError::TooMany(n))?;
    all.resize(n, T::default());
    Ok(all)
}

/// `fmi3DependencyKind`; `None` for `fmi3Independent`. An unknown kind is the one that promises nothing.
fn kind_of(raw: c_int) -> Option<DependencyKind> {
    match raw {
        0 => None,
        1 => Some(DependencyKind::Constant),
        2 => Some(DependencyKind::Fixed),
        3 => Some(DependencyKind::Tunable),
        4 => Some(DependencyKind::Discrete),
        _ => Some(DependencyKind::Dependent),
    }
}
