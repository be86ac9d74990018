//! Values on their way into a running FMU.
//!
//! The supervisor sends *commands*; the runner carries them out and acknowledges each with an *outcome*: its simulation
//! time and its success. Both lie in words that the two processes share.
//!
//! A [`CommandRing`] has one writer, the supervisor's process. Its reader is any thread that may set these variables; the
//! preemption lock of the instance makes several readers exclude each other. Commands of a ring are carried out in the order
//! in which they were sent. A command with a time waits for that time, so such commands have rings of their own: no other
//! command waits behind them.
//!
//! Pure: nothing here waits, and reading allocates nothing.

#![forbid(unsafe_code)]

mod command;
mod ring;

pub use command::{CommandedVariable, encode, payload_words, record_words, variables};
pub use ring::{CommandOutcome, CommandPlace, CommandReply, CommandRing, OUTSTANDING};
