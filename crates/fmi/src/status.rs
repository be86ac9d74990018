//! What an FMI call came to: the status it returned, and the failure that ends an instance.

use super::abi::{CInterface, NEWEST};
use super::function::Function;
use std::ffi::c_int;
use std::fmt;
use vecud_description::{Abi, Interface, ValueReference};

/// `fmi3Status`, in the standard's order of severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i32)]
pub enum Status {
    /// All well.
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
    /// A status as C hands it over; `None` when it is none of the five.
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

    /// The name in C in that interface, such as `fmi3Discard`.
    pub fn name_in(self, abi: Abi) -> &'static str {
        CInterface::of(abi).statuses[self as usize]
    }

    /// What a call that counts as this has returned, in words: the status, or `answer`, which is none.
    pub fn returned(self, answer: Option<c_int>, abi: Abi) -> String {
        match answer {
            // `fmi2Pending`, of which only a step hears.
            Some(5) if abi.is_earlier() => {
                let step = Function::DoStep.name_in(abi);
                format!("5 ({}, a status of {step} alone)", step.replace("DoStep", "Pending"))
            }
            Some(answer) => format!("{answer} (no status of {})", abi.name()),
            None => self.name_in(abi).to_owned(),
        }
    }
}

/// How a call went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// `fmi3OK`.
    Ok,
    /// `fmi3Warning`: results are defined, and somebody should read the log.
    Warning,
}

impl Outcome {
    /// That of two calls: a warning, if one of them gave one.
    #[inline]
    pub fn or(self, other: Outcome) -> Outcome {
        if self == Outcome::Warning { self } else { other }
    }
}

/// A call that did not go well, or was not made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failure {
    /// Which function.
    pub function: Function,
    /// What it returned (an unknown status counts as [`Status::Error`]; NULL instead of an instance too). When
    /// `refused`, why: Discard for values that C cannot take, Fatal after a Fatal, else Error.
    pub status: Status,
    /// The clock whose partition was at work.
    pub clock: Option<ValueReference>,
    /// The activation time.
    pub time: Option<f64>,
    /// What it returned, where that is no status.
    pub answer: Option<c_int>,
    /// C was not called. Unless the values were at fault, this is a consequence of an earlier failure, not a cause.
    pub refused: bool,
}

/// What returns an instance, and no status.
const INSTANTIATE: [Function; 3] =
    [Function::InstantiateModelExchange, Function::InstantiateCoSimulation, Function::InstantiateScheduledExecution];

impl Failure {
    /// Of a call that is no activation, with a status that there is; `refused`: C was not called.
    pub(super) const fn new(function: Function, status: Status, refused: bool) -> Failure {
        Failure { function, status, clock: None, time: None, answer: None, refused }
    }

    /// What has failed, with the names that function and status have in that interface.
    pub fn in_words(&self, abi: Abi) -> String {
        let mut words = String::new();
        let _a_string_takes_everything = self.write(abi, self.function.name_in(abi), &mut words);
        words
    }

    /// [`Failure::in_words`] of an instance of that interface type, of which FMI 1.0 has names of its own.
    pub fn in_words_of(&self, abi: Abi, interface: Interface) -> String {
        let mut words = String::new();
        let _a_string_takes_everything = self.write(abi, self.function.told_of(abi, interface), &mut words);
        words
    }

    fn write(&self, abi: Abi, name: &str, f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str(name)?;
        if let Some(clock) = self.clock {
            write!(f, " for the clock with value reference {}", clock.0)?;
        }
        if let Some(time) = self.time {
            write!(f, " at {time} s")?;
        }
        match (self.refused, self.status) {
            (true, Status::Discard) => write!(f, " was not called: these values cannot be handed to it"),
            (true, Status::Fatal) => {
                write!(f, " was not called: an instance of this FMU returned {} before", Status::Fatal.name_in(abi))
            }
            (true, _) => write!(f, " was not called: the instance has failed before, or is in no state for it"),
            (false, _) if INSTANTIATE.contains(&self.function) => write!(f, " returned NULL"),
            (false, status) => write!(f, " returned {}", status.returned(self.answer, abi)),
        }
    }
}

/// With the names of the newest version.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(NEWEST, self.function.name_in(NEWEST), f)
    }
}

impl std::error::Error for Failure {}
