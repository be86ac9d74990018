//! Turns of FMUs of which one at a time makes steps, in real time (semantics S34).
//!
//! A turn lasts from before the first FMI call of a release to after the last one, or as long as an instance at rest is called by
//! another thread. It is a priority-inheriting word: its owner runs with the priority of the most urgent thread that waits for it, on its
//! own core. In virtual time one thread makes all steps, one after the other, and no turn is contended.
//!
//! No deadlock: a thread takes its turn last, inside of the gate of its own instance, and has one at most. The owner of a turn waits for
//! nothing but, in its callbacks, the preemption lock of the instance whose steps it makes; no thread holds that while it waits for a turn.

use std::marker::PhantomData;
use vecud_linux::pi::PiWord;
use vecud_linux::thread::current_tid;

/// The word by which a thread takes turns, with the thread's id.
#[derive(Clone, Copy)]
pub struct Serial<'a> {
    word: &'a PiWord,
    tid: u32,
    /// The word belongs to the thread by its id.
    not_send: PhantomData<*const ()>,
}

/// A turn that a thread holds: no other thread that takes turns calls an FMU until it is dropped.
#[must_use]
pub struct HeldTurn<'a>(Serial<'a>);

impl<'a> Serial<'a> {
    /// The calling thread takes its turns by this word.
    pub fn by(word: &'a PiWord) -> Serial<'a> {
        Serial { word, tid: current_tid(), not_send: PhantomData }
    }

    /// Waits for the turn. `has_waited` is called if another thread held it.
    #[inline(never)] // few take turns
    pub fn take(self, has_waited: impl FnOnce()) -> HeldTurn<'a> {
        if self.word.lock(self.tid) {
            has_waited();
        }
        HeldTurn(self)
    }
}

impl Drop for HeldTurn<'_> {
    fn drop(&mut self) {
        self.0.word.unlock(self.0.tid);
    }
}
