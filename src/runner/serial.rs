//! Turns of FMUs of which one at a time makes steps, in real time (semantics S34).
//!
//! A turn lasts from before the first FMI call of a release to after the last one, or as long as an instance at rest is called by
//! another thread. It is a priority-inheriting word: whoever has it has the priority of the most urgent one that waits for it, on its
//! own core. In virtual time one thread makes all steps, one after the other, and nobody needs a turn.
//!
//! No deadlock: the turn is what a thread takes last, inside of the gate of its own instance, and it has one at most. Who has it waits for
//! nobody but, in its callbacks, for the preemption lock of the instance whose steps it makes, which nobody holds who waits for a turn.

use super::world::World;
use crate::plan::TaskId;
use crate::sys::pi::PiWord;
use crate::sys::thread::current_tid;
use std::marker::PhantomData;

/// What a thread takes its turns by.
#[derive(Clone, Copy)]
pub struct Serial<'a> {
    word: &'a PiWord,
    tid: u32,
    /// The word belongs to the thread by its id.
    not_send: PhantomData<*const ()>,
}

/// Nobody else of those that take turns calls an FMU while this is there.
#[must_use]
pub struct Turn<'a>(Serial<'a>);

impl<'a> Serial<'a> {
    /// By which the calling thread takes turns for the steps of `task`; `None`: nobody is in their way.
    pub fn of(world: &'a World, task: TaskId) -> Option<Serial<'a>> {
        let word = &world.serials[world.plan.serial_of(task)?];
        Some(Serial { word, tid: current_tid(), not_send: PhantomData })
    }

    /// Waits for the turn. `has_waited` is called if that was somebody else's.
    #[inline(never)] // few take turns
    pub fn take(self, has_waited: impl FnOnce()) -> Turn<'a> {
        if self.word.lock(self.tid) {
            has_waited();
        }
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.word.unlock(self.0.tid);
    }
}
