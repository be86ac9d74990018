//! The one sleep of a partition thread: until an absolute instant, or until somebody wakes it.
//!
//! Protocol: the word counts. The sleeper reads it ([`WakeWord::value`]), looks whether there is work, and if not sleeps
//! *as long as the word still has that value*. A waker makes the work visible first, then calls [`WakeWord::wake`], which
//! changes the word and then wakes. A wake between the sleeper's look and its sleep therefore makes the sleep return at
//! once: none is lost. One system call per sleep, one per wake: a futex wait (`FUTEX_WAIT_BITSET`, private) with an absolute
//! timeout of `CLOCK_MONOTONIC`; for `CLOCK_TAI`, which futexes do not know, a sleep that a signal ends (`signal.rs`).
//!
//! A thread that cannot afford the wake-up latency sleeps until shortly before the instant and then
//! [polls](WakeWord::poll_until).
//!
//! Memory ordering: `wake` releases what was written before it; `value` and a sleep that returns acquire.

mod signal;
#[cfg(test)]
mod tests;
mod wake_word;

pub use self::wake_word::{WakeWord, Wakening, prepare_to_sleep};
pub use super::clock::monotonic_now;
