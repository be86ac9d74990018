//! Results of FMI calls: the status of a successful one, and the failure of another.

use super::function::Function;
use std::ffi::c_int;
use vecud_description::{Interface, ValueReference};

/// `fmi3Status`, in the standard's order of severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i32)]
pub enum Status {
    /// The call succeeded.
    Ok = 0,
    /// Something is not quite right, the results are defined.
    Warning = 1,
    /// The call was refused; in Scheduled Execution that is as final as an error.
    Discard = 2,
    /// The instance cannot go on.
    Error = 3,
    /// No instance of this FMU can go on, nor be touched.
    Fatal = 4,
}

impl Status {
    /// A status as C hands it over; `None` when it is none of the five, as `fmi2Pending` is none.
    pub fn from_raw(raw: c_int) -> Option<Status> {
        Some(match raw {
            0 => Status::Ok,
            1 => Status::Warning,
            2 => Status::Discard,
            3 => Status::Error,
            4 => Status::Fatal,
            _ => return None,
        })
    }

    /// Whether an instance of that interface type is called no more after a call that has returned this. A Discard refuses
    /// what was asked for and leaves the instance as it is (FMI 2.0.5, 2.1.3); in Scheduled Execution, where nobody can ask
    /// for something else in time, it is as final as an error.
    pub(super) fn ends(self, interface: Interface) -> bool {
        self > Status::Discard || (self == Status::Discard && interface == Interface::ScheduledExecution)
    }
}

/// The outcome of a call that went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// `fmi3OK`.
    Ok,
    /// `fmi3Warning`: results are defined, and somebody should read the log.
    Warning,
}

impl Outcome {
    /// Combined outcome of two calls: a warning, if one of them gave one.
    #[inline]
    pub fn or(self, other: Outcome) -> Outcome {
        if self == Outcome::Warning { self } else { other }
    }
}

/// A call that did not go well, or was not made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failure {
    /// The function.
    pub function: Function,
    /// The returned status (an unknown status counts as [`Status::Error`]; NULL instead of an instance too). With
    /// `refused`, the reason: Discard for values that C cannot take and for a function whose capability flag is not true, Fatal after a
    /// Fatal, else Error.
    pub status: Status,
    /// The clock whose partition was at work.
    pub clock: Option<ValueReference>,
    /// The activation time.
    pub time: Option<f64>,
    /// The returned value, if it is no status.
    pub answer: Option<c_int>,
    /// C was not called. Unless the values were at fault, this is a consequence of an earlier failure, not a cause.
    pub refused: bool,
}

impl Failure {
    /// Makes a failure of a call that is no activation, with a known status; `refused`: C was not called.
    pub(super) const fn new(function: Function, status: Status, refused: bool) -> Failure {
        Failure { function, status, clock: None, time: None, answer: None, refused }
    }
}
