//! The loggers of FMI 2.0 and 1.0: functions that C calls like `printf`, defined in `logger.c`.
//!
//! A message is printed by its format, into a buffer of bounded size, and handed to the instance's host. A format with a conversion
//! that is not printed here (`%n`, which writes into the FMU's memory; a width that takes seconds) is handed on unprinted. The FMU
//! promises that there are as many arguments of the right types as the format has conversions; nobody can check it.

use crate::callbacks;
use crate::thread::inside;
use crate::types::*;
use std::ffi::{CStr, c_void};

/// A logger in the form of C: environment or component, instance name, status, category, message, and the arguments of `printf`.
// SAFETY (of calling it): the environment is what the instance was given, the texts are null or C strings, and there are as
// many more arguments of their types as the message has conversions.
pub type Logger = unsafe extern "C" fn(*mut c_void, RawString, RawStatus, RawString, RawString, ...);

// SAFETY: `logger.c`, which is compiled into this program, defines both with these arguments. Calling them is what `Logger` says.
unsafe extern "C" {
    /// `fmi2CallbackLogger`
    pub(super) fn vecud_log_fmi2(_: *mut c_void, _: RawString, _: RawStatus, _: RawString, _: RawString, ...);
    /// `fmiCallbackLogger`
    pub(super) fn vecud_log_fmi1(_: *mut c_void, _: RawString, _: RawStatus, _: RawString, _: RawString, ...);
}

/// Whether a message has conversions, and all of them are printed.
///
/// # Safety
/// By `logger.c` only: the format is null or a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn vecud_is_printable(format: RawString) -> bool {
    // SAFETY: not null, so by contract a C string.
    !format.is_null() && is_printable(unsafe { CStr::from_ptr(format) }.to_bytes())
}

/// # Safety
/// By `logger.c` only: as [`Logger`] of FMI 2.0, whose message is printed.
#[unsafe(no_mangle)]
unsafe extern "C" fn vecud_logged_fmi2(
    environment: RawEnvironment,
    status: RawStatus,
    category: RawString,
    message: RawString,
) {
    // Some FMUs hand back something else than they were given: where it is known whose call this is, that counts.
    let inside: RawEnvironment = inside().environment.cast_mut().cast();
    let environment = if inside.is_null() { environment } else { inside };
    // SAFETY: the same contract; the environment of the call that this thread is inside of is kept by that.
    unsafe { callbacks::log_message(environment, status, category, message) }
}

/// FMI 1.0 does not hand the importer's environment back, so the thread must know whose call it is inside of.
///
/// # Safety
/// By `logger.c` only: as [`Logger`] of FMI 1.0, whose message is printed.
#[unsafe(no_mangle)]
unsafe extern "C" fn vecud_logged_fmi1(status: RawStatus, category: RawString, message: RawString) {
    let environment = inside().environment.cast_mut().cast();
    // SAFETY: the same contract; the environment is null, or that of the call that this thread is inside of, which keeps it.
    unsafe { callbacks::log_message(environment, status, category, message) }
}

/// Whether a format has conversions, and `printf` may be handed all of them: `%[flags][width][.precision][length]conversion`, with
/// at most three digits each, of everything but `%n`, `%m` and numbered arguments.
fn is_printable(format: &[u8]) -> bool {
    let mut pieces = format.split(|byte| *byte == b'%');
    let _before_the_first = pieces.next();
    let mut has_conversion = false;
    while let Some(piece) = pieces.next() {
        has_conversion = true;
        // What follows a sign directly is the second of two, and stands for itself.
        if piece.is_empty() {
            if pieces.next().is_none() {
                return false;
            }
            continue;
        }
        if !begins_with_a_conversion(piece) {
            return false;
        }
    }
    has_conversion
}

/// Whether the text behind a `%` begins with a conversion.
fn begins_with_a_conversion(piece: &[u8]) -> bool {
    let after = |text: &'_ [u8], of: &[u8]| text.iter().take_while(|byte| of.contains(byte)).count();
    let mut rest = &piece[after(piece, b"-+ #0")..];
    for is_precision in [false, true] {
        if is_precision {
            let Some(number) = rest.strip_prefix(b".") else { break };
            rest = number;
        }
        let digits = if rest.starts_with(b"*") { 1 } else { after(rest, b"0123456789") };
        if digits > 3 {
            return false;
        }
        rest = &rest[digits..];
    }
    rest = &rest[after(rest, b"hljztLq").min(2)..];
    rest.first().is_some_and(|conversion| b"diouxXeEfFgGaAcsp".contains(conversion))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_that_printf_may_have() {
        for format in ["%g", "%d of %s", "100 %%", "%%%d", "%-8.3lf|%+d|% d|%#x", "%*.*f", "%zu%lld%hhx%Lf", "%c%p%i"] {
            assert!(is_printable(format.as_bytes()), "{format}");
        }
    }

    #[test]
    fn formats_that_stand_as_they_are() {
        for format in [
            "", "plain", "%n", "%d%n", "%ln", "%hhn", "%1$s", "50 %", "%", "%%%", "%9999d", "%.9999f", "%m", "%l",
            "5%.",
        ] {
            assert!(!is_printable(format.as_bytes()), "{format}");
        }
    }
}
