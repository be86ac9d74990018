//! The common part of the adapters of FMI 2.0 and 1.0: the instance that Rust holds, and values of other C types.
//!
//! Both versions have no arrays, so that there are as many values as value references, and four types: Real is `Float64`,
//! Integer is `Int32` and, for enumerations, `Int64`; Boolean; String. Nothing is allocated: if C's type is another one,
//! values are converted on the stack, [`PIECE`] of them for each call of the FMU.

use super::birth::Birth;
use super::functions::{Functions, VersionFunctions};
use crate::Function;
use crate::environment::Environment;
use crate::thread::visit;
use crate::types::*;
use std::ffi::c_void;
use vecud_description::{Interface, ValueReference};

/// The number of values that are converted at once.
pub(super) const PIECE: usize = 256;

/// The data behind an instance that Rust holds of an FMU with the functions `F`. `K` lives as long as the FMU's
/// instance, which may hold on to it.
pub(super) struct Component<F, K> {
    pub(super) functions: F,
    /// `fmi2Component` or `fmiComponent`.
    pub(super) raw: RawInstance,
    pub(super) interface: Interface,
    pub(super) environment: RawEnvironment,
    pub(super) kept: K,
}

impl<F: Copy, K> Component<F, K> {
    /// The pointer that Rust takes for the instance; NULL if the FMU has made none.
    pub(super) fn hand_out(functions: F, raw: RawInstance, birth: &Birth, kept: K) -> RawInstance {
        if raw.is_null() {
            return raw;
        }
        let (interface, environment) = (birth.made_for.interface(), birth.environment);
        Box::into_raw(Box::new(Component { functions, raw, interface, environment, kept })).cast()
    }

    /// # Safety
    /// `instance` is what [`Component::hand_out`] gave for a component of this type, and not taken back yet.
    pub(super) unsafe fn behind<'a>(instance: RawInstance) -> &'a Self {
        // SAFETY: this function's contract; only shared references to it exist until it is taken back.
        unsafe { &*instance.cast() }
    }

    /// # Safety
    /// As [`Component::behind`], and nobody uses the instance any more.
    pub(super) unsafe fn take_back(instance: RawInstance) -> Box<Self> {
        // SAFETY: this function's contract, and it came out of a box.
        unsafe { Box::from_raw(instance.cast()) }
    }
}

/// A status as the FMU returned it, which must not be taken for an adapter's own [`NOT_CALLED`]. (`fmi2Pending` is one that
/// nobody here has allowed.)
pub(super) fn status(raw: RawStatus) -> RawStatus {
    if raw == NOT_CALLED { NOT_CALLED + 1 } else { raw }
}

/// Whether a call has failed. What is no status is an error.
pub(super) fn has_failed(raw: RawStatus) -> bool {
    !(0..=1).contains(&raw)
}

/// The worse of two statuses of FMUs, the first of equals.
pub(super) fn worse(one: RawStatus, other: RawStatus) -> RawStatus {
    let badness = |raw| if (0..=4).contains(&raw) { raw } else { 3 };
    if badness(other) > badness(one) { other } else { one }
}

/// Calls a function beside the one that an adapter is for. A failure is told as one of this function.
pub(super) fn call_beside(
    environment: *const Environment,
    function: Function,
    c: impl FnOnce() -> RawStatus,
) -> RawStatus {
    let raw = status(visit(environment, function, c));
    if has_failed(raw) {
        // SAFETY: of an instance, whose environment lives until the library is dropped, or null.
        unsafe { environment.as_ref() }.inspect(|environment| environment.blame(function));
    }
    raw
}

/// Tells the importer of Booleans that an FMU has given and that are neither 0 nor 1 (FMI 2.0.4, 2.1.2: `fmi2True` is 1, `fmi2False` is
/// 0; FMI 1.0, 2.3 and 3.3 alike).
///
/// # Safety
/// There are `n` references and as many values, and `environment` is that of an instance.
pub(super) unsafe fn look_at_booleans<T: Copy + Into<i64>>(
    environment: RawEnvironment,
    references: *const RawReference,
    n: usize,
    values: *const T,
) {
    if n == 0 {
        return;
    }
    // SAFETY: this function's contract; an environment lives until the library is dropped.
    let (references, values, environment) = unsafe {
        let environment = environment.cast::<Environment>().as_ref();
        (std::slice::from_raw_parts(references, n), std::slice::from_raw_parts(values, n), environment)
    };
    let values = values.iter().map(|value| (*value).into());
    for (reference, value) in references.iter().zip(values).filter(|(_, value)| !(0..=1).contains(value)) {
        environment.inspect(|own| own.host().no_boolean(ValueReference(*reference), value));
    }
}

/// Sets values that C holds as another type; if one does not fit, nothing is called.
///
/// # Safety
/// There are `n` references and `n_values` values. `set` is handed as many references as it is told, and values for all of
/// them, both until it returns.
pub(super) unsafe fn set_converted<T: Copy, R: Copy + Default>(
    references: *const RawReference,
    n: usize,
    values: *const T,
    n_values: usize,
    convert: impl Fn(T) -> Option<R>,
    mut set: impl FnMut(*const RawReference, usize, *const R) -> RawStatus,
) -> RawStatus {
    if n != n_values {
        return NOT_CALLED;
    }
    // SAFETY: this function's contract.
    let (references, values) =
        unsafe { (std::slice::from_raw_parts(references, n), std::slice::from_raw_parts(values, n)) };
    if values.iter().any(|value| convert(*value).is_none()) {
        return NOT_CALLED;
    }
    let mut worst = 0;
    for (references, values) in references.chunks(PIECE).zip(values.chunks(PIECE)) {
        let mut converted = [R::default(); PIECE];
        for (place, value) in converted.iter_mut().zip(values) {
            *place = convert(*value).unwrap_or_default();
        }
        worst = worse(worst, status(set(references.as_ptr(), references.len(), converted.as_ptr())));
        if has_failed(worst) {
            break;
        }
    }
    worst
}

/// Gets values that C holds as another type.
///
/// # Safety
/// There are `n` references, and room for `n_values` values. `get` is handed as many references as it is told, and room for
/// the values of all of them, both until it returns.
pub(super) unsafe fn get_converted<T, R: Copy + Default>(
    references: *const RawReference,
    n: usize,
    values: *mut T,
    n_values: usize,
    convert: impl Fn(R) -> T,
    mut get: impl FnMut(*const RawReference, usize, *mut R) -> RawStatus,
) -> RawStatus {
    if n != n_values {
        return NOT_CALLED;
    }
    // SAFETY: this function's contract.
    let (references, values) =
        unsafe { (std::slice::from_raw_parts(references, n), std::slice::from_raw_parts_mut(values, n)) };
    let mut worst = 0;
    for (references, values) in references.chunks(PIECE).zip(values.chunks_mut(PIECE)) {
        let mut converted = [R::default(); PIECE];
        worst = worse(worst, status(get(references.as_ptr(), references.len(), converted.as_mut_ptr())));
        if has_failed(worst) {
            break;
        }
        for (place, value) in values.iter_mut().zip(converted) {
            *place = convert(value);
        }
    }
    worst
}

/// An adapter: a function of the table [`Functions`] for the component that stands behind its first argument.
macro_rules! adapter {
    ($name:ident($component:ident: $Component:ty $(, $arg:ident: $type:ty)*) $body:block) => {
        /// # Safety
        /// As the field of [`Functions`] with this name demands; the instance is one that this C interface has handed out.
        unsafe extern "C" fn $name(instance: RawInstance $(, $arg: $type)*) -> RawStatus {
            // SAFETY: this function's contract.
            let $component = unsafe { <$Component>::behind(instance) };
            $body
        }
    };
}
pub(super) use adapter;

/// Adapters for the types of values that FMI 2.0 and 1.0 hold alike.
macro_rules! value_adapters {
    ($Component:ty) => {
        value_adapters!(plain $Component, get_float64, get_real, *mut f64);
        value_adapters!(plain $Component, set_float64, set_real, *const f64);
        value_adapters!(plain $Component, get_int32, get_integer, *mut i32);
        value_adapters!(plain $Component, set_int32, set_integer, *const i32);
        value_adapters!(plain $Component, get_string, get_string, *mut RawString);
        value_adapters!(plain $Component, set_string, set_string, *const RawString);
        adapter!(get_int64(c: $Component, r: *const RawReference, n: usize, v: *mut i64, n_values: usize) {
            // SAFETY: this function's contract; the FMU writes as many values as there are references.
            unsafe { get_converted(r, n, v, n_values, i64::from, |r, n, v: *mut c_int| (c.functions.get_integer)(c.raw, r, n, v)) }
        });
        adapter!(set_int64(c: $Component, r: *const RawReference, n: usize, v: *const i64, n_values: usize) {
            let convert = |value| c_int::try_from(value).ok();
            // SAFETY: as above; it reads as many.
            unsafe { set_converted(r, n, v, n_values, convert, |r, n, v| (c.functions.set_integer)(c.raw, r, n, v)) }
        });
        adapter!(get_output_derivatives(
            c: $Component, references: *const RawReference, n: usize, orders: *const i32, values: *mut f64, n_values: usize
        ) {
            if n != n_values {
                return NOT_CALLED;
            }
            // SAFETY: this function's contract; there is as much room as there are references.
            status(unsafe { (c.functions.get_real_output_derivatives)(c.raw, references, n, orders, values) })
        });
    };
    (plain $Component:ty, $name:ident, $field:ident, $Values:ty) => {
        adapter!($name(c: $Component, references: *const RawReference, n: usize, values: $Values, n_values: usize) {
            if n != n_values {
                return NOT_CALLED;
            }
            // SAFETY: this function's contract; there are as many values as references.
            status(unsafe { (c.functions.$field)(c.raw, references, n, values) })
        });
    };
}
pub(super) use value_adapters;

/// Adapters for the functions of Model Exchange that FMI 2.0 and 1.0 hold alike; `$nominals`: what the table calls that of the nominal
/// values.
macro_rules! model_adapters {
    ($Component:ty, $nominals:ident) => {
        adapter!(set_time(c: $Component, time: f64) {
            // SAFETY: this function's contract.
            status(unsafe { (c.functions.set_time)(c.raw, time) })
        });
        model_adapters!(vector $Component, set_continuous_states, set_continuous_states, *const f64);
        model_adapters!(vector $Component, get_continuous_state_derivatives, get_derivatives, *mut f64);
        model_adapters!(vector $Component, get_event_indicators, get_event_indicators, *mut f64);
        model_adapters!(vector $Component, get_continuous_states, get_continuous_states, *mut f64);
        model_adapters!(vector $Component, get_nominals_of_continuous_states, $nominals, *mut f64);
    };
    (vector $Component:ty, $name:ident, $field:ident, $Values:ty) => {
        adapter!($name(c: $Component, values: $Values, n: usize) {
            // SAFETY: this function's contract; there are as many values as said, or as much room.
            status(unsafe { (c.functions.$field)(c.raw, values, n) })
        });
    };
}
pub(super) use model_adapters;

/// `fmi2CallbackAllocateMemory`, `fmiCallbackAllocateMemory`: zeros.
///
/// # Safety
/// None: it may be called with anything.
pub(super) unsafe extern "C" fn allocate(count: usize, size: usize) -> *mut c_void {
    // SAFETY: looks at no pointer, and checks the product.
    unsafe { libc::calloc(count, size) }
}

/// `fmi2CallbackFreeMemory`, `fmiCallbackFreeMemory`.
///
/// # Safety
/// The pointer is null or came from [`allocate`] and was not freed.
pub(super) unsafe extern "C" fn free(memory: *mut c_void) {
    // SAFETY: this function's contract.
    unsafe { libc::free(memory) }
}

/// Everything that an adapter does not express is not called.
pub(super) fn nothing(own: VersionFunctions) -> Functions {
    Functions::answering::<super::table::Absent>(own)
}
