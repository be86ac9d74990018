//! The trace: notes that partitions make while they run, and the file made of them. Histograms are made of notes, too
//! (`record::figures`).
//!
//! Guarantees:
//! - a note is 64 bytes at most, written when what it tells is over ([`note`]), into a ring of its task's own ([`notes`]): no
//!   allocation, no lock, no system call; what does not fit is counted;
//! - a note is lost as a whole or not at all, so nothing ends that never began;
//! - what the file says of preemption is derived afterwards, from which activations lie inside of others on the same core
//!   ([`assemble`]); it is not known of runs without SCHED_FIFO;
//! - the file ([`chrome`]) is readable when it was never finished.
//!
//! The kernel's own trace is text, from which the work of a core is derived ([`kernel`]).
//!
//! In virtual time activations take no time. There the axis is that of the simulation, and the events of one instant
//! are placed beside it in order, closer together than all that follow ([`axis`]).

pub mod assemble;
pub mod axis;
pub mod chrome;
pub mod kernel;
pub mod note;
pub mod notes;

pub use assemble::{Activated, Assembler, Clock, InnerSpan, Preempted, SectionKind, TraceItem};
pub use note::Note;
