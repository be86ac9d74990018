//! Calls the functions of an FMU one by one (`vecud call`): a conversation, line by line.
//!
//! FMU code runs in a process of its own, which starts with the first instance; a crash or a hang ends only that
//! process, and the next instance has a new one. A wrong line, or one out of order, is refused before the FMU is
//! called.

mod context;
mod conversation;
mod functions;
mod language;
mod process;
mod settable;
mod words;

pub use conversation::{ByHand, ConversationOptions, Done, Heard, ShownResult};
pub use vecud_runner::by_hand::{Call, FmiState, IntervalValue, ReplyContent};
