//! Last words of a process whose foreign code crashes or calls `exit`.
//!
//! A handler for the signals of faults notes, in memory that outlives the process, which signal came on which thread, and
//! then lets it take its usual course (a core dump stays possible). A second hook notes that `exit` or `quick_exit` was called.
//!
//! Threads tell their purpose by a label, so that the note names the culprit. The main thread and those of
//! [`super::thread::spawn`] are marked as this program's: foreign code has made any other one, and the library whose code it
//! runs tells which ([`code`]).
//!
//! The parent process may [ask](ask_where_it_is) a hanging process for the code that it is in: the same handler answers.

pub mod code;
mod last_words;

pub(super) use self::last_words::claim_thread;
pub use self::last_words::{
    FAULTS, LastWords, ask_where_it_is, exit_now, expect_exit, follow_parent, install, label_thread,
};
