//! Values on their way into a running FMU.
//!
//! The supervisor sends *commands*, the runner carries them out and acknowledges each with an *outcome*: at what
//! simulation time, and how it went. Both lie in words that the two processes share.
//!
//! A [`CommandRing`] has one writer, the supervisor's process. Its reader is whichever thread may set these variables; several
//! of them exclude each other by the preemption lock of the instance. Commands of a ring are carried out in the order in
//! which they were sent. A command with a time is not carried out before it, so these have rings of their own: nobody
//! waits behind them.
//!
//! Pure: nothing here waits, and reading allocates nothing.

#![forbid(unsafe_code)]

mod command;
mod ring;

pub use command::{CommandedVariable, encode, payload_words, record_words, variables};
pub use ring::{CommandOutcome, CommandPlace, CommandReply, CommandRing, OUTSTANDING};
