//! Errors of setting values.

use std::fmt;
use std::time::Duration;
use vecud_base::time::Instant;
use vecud_description::Abi;
use vecud_fmi::{Function, Status};

/// Reason why a command was not sent or not executed.
#[derive(Clone, Debug, PartialEq)]
pub enum ControlError {
    /// The plan was made without [`crate::Options::control`].
    NotControlled,
    /// No FMU of the rig has this name; the second text suggests a similar one.
    NoSuchFmu(String, String),
    /// A variable that cannot be set, or not to these values.
    Refused {
        /// `fmu.variable`
        variable: String,
        /// Reason and remedy.
        reason: String,
    },
    /// A clock that cannot be ticked on request.
    NoTick {
        /// `fmu.clock`
        clock: String,
        /// Reason.
        reason: String,
    },
    /// The tick of this clock, `fmu.clock`, was refused and counted.
    TickRefused(String),
    /// The tick of this clock, `fmu.clock`, was refused and counted as an overrun: the queue is full.
    TicksWait(String),
    /// No values were given.
    Nothing,
    /// Two variables, `fmu.variable`, that are never set before the same activation.
    OtherClocks(String, String),
    /// The command is longer than this instance accepts: its words, and the limit.
    TooLong(usize, usize),
    /// Too many commands are waiting.
    Busy,
    /// A command for this later time is waiting already.
    OutOfOrder(Instant),
    /// The number of elements has changed meanwhile.
    Resized,
    /// The run ended before the command was executed.
    RunEnded,
    /// The instance of this name failed before the command was executed.
    InstanceFailed(String),
    /// The FMU refused the values, which ends the instance.
    Failed {
        /// Name of the FMU.
        fmu: String,
        /// C interface of the FMU.
        abi: Abi,
        /// The function that was called.
        function: Option<Function>,
        /// The status that it returned.
        status: Option<Status>,
        /// Simulation time of the call.
        time: Instant,
    },
    /// The command was not executed within this time, but may still be.
    Timeout(Duration),
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ControlError::NotControlled => {
                f.write_str("nothing can be set in this run: it was not prepared for it (Options::control)")
            }
            ControlError::NoSuchFmu(name, guess) => write!(f, "the rig has no FMU \"{name}\"{guess}"),
            ControlError::Refused { variable, reason } => write!(f, "{variable} cannot be set: {reason}"),
            ControlError::NoTick { clock, reason } => write!(f, "{clock} cannot be ticked: {reason}"),
            ControlError::TickRefused(clock) => {
                write!(f, "{clock} does not tick, which is counted: its FMU has failed, or the run is over")
            }
            ControlError::TicksWait(clock) => write!(
                f,
                "{clock} does not tick, which is counted as an overrun: 16 of its ticks wait already; resume the rig if it pauses, \
                 and ask again when some of them have been activated"
            ),
            ControlError::Nothing => f.write_str("no variable is named"),
            ControlError::OtherClocks(a, b) => {
                write!(f, "{a} and {b} belong to different clocks, so they cannot be set together: use two commands")
            }
            ControlError::TooLong(words, room) => {
                write!(f, "the command takes {words} words, and {room} are possible: set fewer variables at once")
            }
            ControlError::Busy => f.write_str("too many commands wait for this FMU: wait until some are carried out"),
            ControlError::OutOfOrder(later) => {
                write!(f, "a command for {} s waits already: send them in the order of their times", later.seconds())
            }
            ControlError::Resized => {
                f.write_str("the array was given another size before its values could be set: send them for that size")
            }
            ControlError::RunEnded => f.write_str("the run is over"),
            ControlError::InstanceFailed(fmu) => write!(f, "fmu `{fmu}` has failed; the report says why"),
            ControlError::Failed { fmu, abi, function, status, time } => {
                let function = function.map_or("a function", |function| function.name_in(*abi));
                let status = status.map_or("a bad status", |status| status.name_in(*abi));
                write!(f, "fmu `{fmu}`: {function} returned {status} at {} s", time.seconds())
            }
            ControlError::Timeout(time) => {
                write!(
                    f,
                    "not carried out within {time:?}: no partition that may set it was activated, or none returned"
                )
            }
        }
    }
}

impl std::error::Error for ControlError {}
