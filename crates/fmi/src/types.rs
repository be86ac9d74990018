//! The C types of FMI 3.0 and the draft, as they cross the boundary. Those that FMI 2.0 and 1.0 have otherwise are in
//! `super::abi`.
//!
//! `fmi3Boolean` and `fmi3Clock` are C's `bool`. A Rust `bool` that holds neither 0 nor 1 is undefined behaviour, and an
//! FMU writes what it likes, so both are bytes here: 0 or 1 when we write, `!= 0` when we read. `fmi3Status` and
//! `fmi3IntervalQualifier` are plain integers for the same reason.
//!
//! In the draft `fmi3Boolean` is `char`, a byte as well, and `fmi3Clock` is `int`.

use std::ffi::{c_char, c_int, c_void};

/// `fmi3Instance`.
pub type RawInstance = *mut c_void;
/// `fmi3InstanceEnvironment`.
pub type RawEnvironment = *mut c_void;
/// `fmi3FMUState`.
pub type RawState = *mut c_void;
/// `fmi3ValueReference`.
pub type RawReference = u32;
/// `fmi3Boolean`, and in the released dialect `fmi3Clock`: a byte, 0 or not.
pub type RawBool = u8;
/// The draft's `fmi3Clock`: 0 or not.
pub type RawDraftClock = c_int;
/// `fmi3String`.
pub type RawString = *const c_char;
/// `fmi3Binary`.
pub type RawBinary = *const u8;
/// `fmi3Status`, unchecked.
pub type RawStatus = c_int;
/// The answer of an adapter that did not call the FMU, since its C interface has no way to express the call; no FMU behind an
/// adapter can give it.
pub(super) const NOT_CALLED: RawStatus = RawStatus::MIN;
/// `fmi3IntervalQualifier`, unchecked.
pub type RawQualifier = c_int;

/// `fmi3LogMessageCallback`.
// SAFETY (of calling it): the environment is what the instance was given, and both texts are null or C strings.
pub type LogMessage = unsafe extern "C" fn(RawEnvironment, RawStatus, RawString, RawString);
/// `fmi3ClockUpdateCallback`.
// SAFETY (of calling it): the environment is what the instance was given.
pub type ClockUpdateCallback = unsafe extern "C" fn(RawEnvironment);
/// `fmi3LockPreemptionCallback` and `fmi3UnlockPreemptionCallback`.
// SAFETY (of calling it): nothing is asked for, as there is no argument; a function of C is `unsafe` by its type.
pub type PreemptionCallback = unsafe extern "C" fn();
/// `fmi3IntermediateUpdateCallback`.
// SAFETY (of calling it): the environment is what the instance was given, and both pointers can be written to.
pub type IntermediateUpdate =
    unsafe extern "C" fn(RawEnvironment, f64, RawBool, RawBool, RawBool, RawBool, *mut RawBool, *mut f64);
/// The draft's `fmi3CallbackLogMessage`: environment, instance name, status, category, message.
// SAFETY (of calling it): the environment is what the instance was given, and the texts are null or C strings.
pub type DraftLogMessage = unsafe extern "C" fn(RawEnvironment, RawString, RawStatus, RawString, RawString);
/// The draft's `fmi3CallbackIntermediateUpdate`: environment, intermediateUpdateTime, clocksTicked,
/// intermediateVariableSetRequested, intermediateVariableGetAllowed, intermediateStepFinished, canReturnEarly,
/// earlyReturnRequested, earlyReturnTime.
// SAFETY (of calling it): the environment is what the instance was given; both pointers are null or can be written to.
pub type DraftIntermediateUpdate =
    unsafe extern "C" fn(RawEnvironment, f64, RawBool, RawBool, RawBool, RawBool, RawBool, *mut RawBool, *mut f64);
