//! Messages between runner and supervisor about the runner's threads.
//!
//! The runner sets its threads up, leaves their numbers, and asks; the supervisor gives them their priorities and answers.
//! Before the threads leave, the supervisor looks at them once more. The numbers are untrusted: FMU code may have written
//! them.

use super::telemetry_segment::Board;
use super::words::Global;
use std::sync::atomic::Ordering::SeqCst;

/// The last message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum ThreadsState {
    /// No message yet.
    Unknown = 0,
    /// The runner: all threads are set up and wait.
    SetUp = 1,
    /// The supervisor: they are scheduled as planned.
    Scheduled = 2,
    /// The supervisor: one could not be, which it has said; there is no run.
    Refused = 3,
    /// The runner: all threads are about to leave.
    Leaving = 4,
    /// The supervisor: they may.
    Seen = 5,
}

impl Board<'_> {
    /// The last message about the runner's threads.
    pub fn threads(&self) -> ThreadsState {
        const ALL: [ThreadsState; 6] = [
            ThreadsState::Unknown,
            ThreadsState::SetUp,
            ThreadsState::Scheduled,
            ThreadsState::Refused,
            ThreadsState::Leaving,
            ThreadsState::Seen,
        ];
        let said = self.global(Global::Threads).load(SeqCst);
        ALL.into_iter().find(|known| *known as u64 == said).unwrap_or(ThreadsState::Unknown)
    }

    /// Sets the message about the runner's threads.
    pub fn set_threads(&self, said: ThreadsState) {
        self.global(Global::Threads).store(said as u64, SeqCst);
    }
}
