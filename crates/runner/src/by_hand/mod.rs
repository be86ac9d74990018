//! One FMU whose functions are called one by one (`vecud call`): the process that holds its code.
//!
//! The process is given the FMU first, then requests, and answers each of them; returned calls and messages of the FMU are sent
//! meanwhile. The types of [`vecud_fmi`] allow the requests of each state; all others are refused before C is called
//! ([`Verb::states`]). Shared memory shows which function the process is inside of, so that a crash and a hang have a place.

mod activation;
mod channel;
mod equations;
mod instance;
mod process;
mod protocol;
mod saved;
mod slot;
mod variables;

pub use self::process::{CONVERSATION_FD, PLACE_FD, PLACE_WORDS, STACK_WORD, main};
pub use self::protocol::{
    Call, FmiState, IntervalValue, LoadRequest, Message, Reply, ReplyContent, Request, RequestFailure, VariableHandle,
    Verb, length, read, send,
};
