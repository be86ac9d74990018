//! FMI 1.0: Model Exchange and Co-Simulation are two standards that share the functions of values. All symbols begin with the
//! model identifier, and neither has an Initialization Mode: entering it initialises, since from there on values can be set
//! and read, and leaving it calls nothing.

use super::adapter::*;
use super::birth::Birth;
use super::c_interface::{CInterface, TextFunction};
use super::functions::{Functions, VersionFunctions};
use super::logger::vecud_log_fmi1;
use super::negated;
use super::tables::{Fmi1EventInfo, Fmi1Functions, Fmi1ModelCallbacks, Fmi1SlaveCallbacks};
use super::update::RawUpdate;
use crate::Function;
use crate::types::*;
use std::cell::Cell;
use std::ffi::c_int;
use vecud_description::{Abi, Interface};

pub(super) const FMI1: CInterface = CInterface {
    abi: Abi::Fmi1,
    short: "FMI 1.0",
    statuses: ["fmiOK", "fmiWarning", "fmiDiscard", "fmiError", "fmiFatal"],
    lists: &[Fmi1Functions::LIST],
    other_names: &[(Function::GetInt64, "fmiGetInteger"), (Function::SetInt64, "fmiSetInteger")],
    // What a slave of Co-Simulation has beyond that depends on its capability flags.
    indispensable: Some(&[
        Function::GetTypesPlatform,
        Function::GetVersion,
        Function::InstantiateCoSimulation,
        Function::InstantiateModelExchange,
        Function::FreeInstance,
        Function::EnterInitializationMode,
        Function::Terminate,
        Function::DoStep,
        Function::SetTime,
        Function::UpdateDiscreteStates,
        Function::CompletedIntegratorStep,
    ]),
    signs: &["fmiGetVersion", "fmiInstantiateSlave", "fmiInstantiateModel"],
    has_version: |version| version == "1.0",
    versions: "1.0",
    wants_all: false,
    prefixed: true,
    resolve: |symbol| {
        // SAFETY: what is asked of `CInterface::resolve`.
        unsafe { Fmi1Functions::resolve(symbol) }.into()
    },
};

/// The data behind an instance. It keeps the answer of `fmiInitialize` about the first event until it is asked for.
pub(super) type Component = super::adapter::Component<Fmi1Functions, Cell<Option<Fmi1EventInfo>>>;

impl Fmi1Functions {
    /// # Safety
    /// As [`Functions::instantiate`].
    pub(super) unsafe fn instantiate(&self, birth: &Birth) -> RawInstance {
        let Birth { name, token, resources, logging_on, .. } = *birth;
        let common = Fmi1ModelCallbacks { logger: vecud_log_fmi1, allocate_memory: allocate, free_memory: free };
        // SAFETY: this function's contract.
        let raw = unsafe {
            match birth.made_for.interface() {
                Interface::ModelExchange => (self.instantiate_model)(name, token, common, logging_on),
                Interface::CoSimulation => {
                    let mime_type = c"application/x-fmu-sharedlibrary".as_ptr();
                    let functions = Fmi1SlaveCallbacks { common, step_finished: None };
                    (self.instantiate_slave)(name, token, resources, mime_type, 0.0, 0, 0, functions, logging_on)
                }
                Interface::ScheduledExecution => return std::ptr::null_mut(),
            }
        };
        Component::hand_out(*self, raw, birth, Cell::new(None))
    }
}

impl Fmi1Functions {
    pub(super) fn types_platform(&self, interface: Interface) -> TextFunction {
        match interface {
            Interface::CoSimulation => self.get_types_platform,
            _ => self.get_model_types_platform,
        }
    }
}

impl From<Fmi1Functions> for Functions {
    fn from(own: Fmi1Functions) -> Functions {
        Functions {
            get_version: own.get_version,
            set_debug_logging,
            free_instance,
            enter_initialization_mode,
            exit_initialization_mode,
            terminate,
            reset,
            get_float64,
            set_float64,
            get_int32,
            set_int32,
            get_int64,
            set_int64,
            get_boolean,
            set_boolean,
            get_string,
            set_string,
            update_discrete_states,
            completed_integrator_step,
            set_time,
            set_continuous_states,
            get_continuous_state_derivatives,
            get_event_indicators,
            get_continuous_states,
            get_nominals_of_continuous_states,
            get_output_derivatives,
            ..nothing(VersionFunctions::Fmi1(own))
        }
    }
}

model_adapters!(Component, get_nominal_continuous_states);
value_adapters!(plain Component, get_string, get_string, *mut RawString);
value_adapters!(plain Component, set_string, set_string, *const RawString);

/// An adapter for values that have another sign where they are those of a negated alias.
macro_rules! signed_adapter {
    ($way:ident, $name:ident, $field:ident, $Values:ty) => {
        adapter!($name(c: Component, references: *const RawReference, n: usize, values: $Values, n_values: usize) {
            if n != n_values {
                return NOT_CALLED;
            }
            // SAFETY: this function's contract; there are as many values as references.
            unsafe { negated::$way(references, n, values, |_, r, n, v| (c.functions.$field)(c.raw, r, n, v)) }
        });
    };
}
signed_adapter!(get, get_float64, get_real, *mut f64);
signed_adapter!(set, set_float64, set_real, *const f64);
signed_adapter!(get, get_int32, get_integer, *mut i32);
signed_adapter!(set, set_int32, set_integer, *const i32);
adapter!(get_boolean(c: Component, references: *const RawReference, n: usize, values: *mut RawBool, n_values: usize) {
    if n != n_values {
        return NOT_CALLED;
    }
    let get = |_, r, n, v: *mut RawBool| {
        // SAFETY: the function's contract that calls this one; the FMU writes as many values as there are references.
        let raw = unsafe { (c.functions.get_boolean)(c.raw, r, n, v) };
        if !has_failed(raw) && n > 0 {
            // SAFETY: as above.
            unsafe {
                look_at_booleans(c.environment, r, n, v.cast_const());
                // A negated alias has the opposite of what this is taken for.
                let bytes = std::slice::from_raw_parts_mut(v, n).iter_mut();
                bytes.for_each(|byte| *byte = RawBool::from(*byte != 0));
            }
        }
        raw
    };
    // SAFETY: this function's contract; there are as many values as references.
    unsafe { negated::get(references, n, values, get) }
});
signed_adapter!(set, set_boolean, set_boolean, *const RawBool);
adapter!(get_int64(c: Component, references: *const RawReference, n: usize, values: *mut i64, n_values: usize) {
    let get = |r, n, v: *mut c_int| {
        // SAFETY: the function's contract that calls this one; the FMU writes as many values as there are references.
        unsafe { negated::get(r, n, v, |_, r, n, v| (c.functions.get_integer)(c.raw, r, n, v)) }
    };
    // SAFETY: this function's contract.
    unsafe { get_converted(references, n, values, n_values, i64::from, get) }
});
adapter!(set_int64(c: Component, references: *const RawReference, n: usize, values: *const i64, n_values: usize) {
    let set = |r, n, v: *const c_int| {
        // SAFETY: as above; it reads as many.
        unsafe { negated::set(r, n, v, |_, r, n, v| (c.functions.set_integer)(c.raw, r, n, v)) }
    };
    // SAFETY: this function's contract.
    unsafe { set_converted(references, n, values, n_values, |value| c_int::try_from(value).ok(), set) }
});
adapter!(get_output_derivatives(
    c: Component, references: *const RawReference, n: usize, orders: *const i32, values: *mut f64, n_values: usize
) {
    if n != n_values {
        return NOT_CALLED;
    }
    // SAFETY: this function's contract; there is as much room as there are references, and as many orders.
    unsafe {
        negated::get(references, n, values, |at, r, n, v| {
            (c.functions.get_real_output_derivatives)(c.raw, r, n, orders.add(at), v)
        })
    }
});

// There are no categories.
adapter!(set_debug_logging(c: Component, on: RawBool, _n: usize, _categories: *const RawString) {
    // SAFETY: this function's contract.
    status(unsafe { (c.functions.set_debug_logging)(c.raw, on) })
});
adapter!(enter_initialization_mode(
    c: Component, has_tolerance: RawBool, tolerance: f64, start: f64, has_stop: RawBool, stop: f64
) {
    let functions = &c.functions;
    if c.interface == Interface::CoSimulation {
        // SAFETY: this function's contract: the instance is alive and in state Instantiated.
        return status(unsafe { (functions.initialize_slave)(c.raw, start, has_stop, stop) });
    }
    // SAFETY: as above.
    let timed = call_beside(c.environment.cast(), Function::SetTime, || unsafe { (functions.set_time)(c.raw, start) });
    if has_failed(timed) {
        return timed;
    }
    let mut info = Fmi1EventInfo::default();
    // SAFETY: as above.
    let initialized = unsafe { (functions.initialize)(c.raw, has_tolerance, tolerance, &mut info) };
    c.kept.set(Some(info));
    worse(timed, status(initialized))
});
adapter!(update_discrete_states(
    c: Component, needs_update: *mut RawBool, terminate: *mut RawBool, nominals_changed: *mut RawBool,
    values_changed: *mut RawBool, next_defined: *mut RawBool, next: *mut f64
) {
    let (mut info, intermediate_results) = (Fmi1EventInfo::default(), 0);
    // SAFETY: this function's contract: the instance is initialised.
    let raw = unsafe { (c.functions.event_update)(c.raw, intermediate_results, &mut info) };
    let update = RawUpdate::from(info);
    // SAFETY: this function's contract: each place can be written to.
    unsafe {
        (*needs_update, *terminate) = (update.needs_update, update.terminate_simulation);
        (*nominals_changed, *values_changed) = (update.nominals_changed, update.values_changed);
        (*next_defined, *next) = (update.next_event_time_defined, update.next_event_time);
    }
    status(raw)
});
// What was completed is not gone back to: there are no states to set.
adapter!(completed_integrator_step(
    c: Component, _no_set_before: RawBool, enter_event_mode: *mut RawBool, terminate: *mut RawBool
) {
    // SAFETY: this function's contract; both places can be written to.
    status(unsafe {
        *terminate = 0;
        (c.functions.completed_integrator_step)(c.raw, enter_event_mode)
    })
});

impl From<Fmi1EventInfo> for RawUpdate {
    fn from(info: Fmi1EventInfo) -> RawUpdate {
        // Other variables have become the states: whatever is known of them is not.
        let others = info.state_value_references_changed != 0;
        RawUpdate {
            needs_update: (info.iteration_converged == 0).into(),
            terminate_simulation: (info.terminate_simulation != 0).into(),
            nominals_changed: others.into(),
            values_changed: (others || info.state_values_changed != 0).into(),
            next_event_time_defined: (info.upcoming_time_event != 0).into(),
            next_event_time: info.next_event_time,
        }
    }
}

impl Component {
    /// `fmiGetStateValueReferences`.
    ///
    /// # Safety
    /// The instance is alive and initialised.
    pub(super) unsafe fn get_state_references(&self, references: &mut [RawReference]) -> RawStatus {
        // SAFETY: this function's contract; as much room as said.
        status(unsafe {
            (self.functions.get_state_value_references)(self.raw, references.as_mut_ptr(), references.len())
        })
    }
}
adapter!(exit_initialization_mode(_c: Component) { 0 });
adapter!(terminate(c: Component) {
    // SAFETY: this function's contract.
    status(unsafe {
        match c.interface {
            Interface::CoSimulation => (c.functions.terminate_slave)(c.raw),
            _ => (c.functions.terminate)(c.raw),
        }
    })
});
adapter!(reset(c: Component) {
    match c.interface {
        // SAFETY: this function's contract.
        Interface::CoSimulation => status(unsafe { (c.functions.reset_slave)(c.raw) }),
        _ => NOT_CALLED,
    }
});

/// # Safety
/// As `Functions::free_instance` demands; the instance is one of FMI 1.0.
unsafe extern "C" fn free_instance(instance: RawInstance) {
    // SAFETY: this function's contract: nobody uses the instance any more.
    unsafe {
        let component = Component::take_back(instance);
        match component.interface {
            Interface::CoSimulation => (component.functions.free_slave_instance)(component.raw),
            _ => (component.functions.free_model_instance)(component.raw),
        }
    }
}
