//! Stacks of threads that run FMU code. Sound code takes what an ordinary thread has, so these stacks are as deep as one; pages
//! that are touched for the first time take a fault, so the part that is used day by day is touched and locked beforehand; and
//! the guard below them is wide, so that large frames do not step over it.

use super::memory::{page_size, prefault_stack};
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Bytes below such a stack that nobody may access. (Only a single frame that is larger steps over them.)
const GUARD: usize = 1 << 20;
/// The size of a thread's stack if nobody has asked for another one, bytes.
const ORDINARY: usize = 8 << 20;
/// More than this is not taken from `ulimit -s`: it takes addresses in each thread.
const MOST: usize = 256 << 20;

thread_local! {
    /// The lowest address of the calling thread's stack, and the size of that; 0: not known.
    static LOWEST: Cell<usize> = const { Cell::new(0) };
    static SIZE: Cell<usize> = const { Cell::new(0) };
}

/// Bytes of addresses of a stack with `ready` prepared bytes, its guard included: the limit of `ulimit -s`, 8 MiB at least, or a bit
/// more than the prepared bytes.
pub fn size(ready: usize) -> usize {
    use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
    let limit = getrlimit(Resource::RLIMIT_STACK).map_or(RLIM_INFINITY, |(soft, _)| soft);
    let asked = if limit == RLIM_INFINITY { ORDINARY } else { usize::try_from(limit).unwrap_or(MOST).min(MOST) };
    let usable = asked.max(ORDINARY).max(ready + ready / 8);
    usable.next_multiple_of(page_size()) + GUARD
}

/// Widens the guard of the calling thread's stack, which has [`size`] bytes, and touches `ready` bytes of it. Returns the ready range;
/// pages below are touched when they are needed.
pub fn prepare(ready: usize) -> Range<usize> {
    if let Some(stack) = bounds().filter(|stack| stack.len() > GUARD + ready) {
        // SAFETY: the lowest bytes of this thread's own stack: nothing lies there yet, as it has just begun and is deeper.
        let guarded = unsafe { libc::mprotect(stack.start as *mut _, GUARD, libc::PROT_NONE) } == 0;
        watch(stack.start + if guarded { GUARD } else { 0 }..stack.end);
    }
    prefault_stack(ready);
    let here = 0_u8;
    let here = (&raw const here).addr();
    here - ready..here
}

/// From here on an overflow of the calling thread's stack is reported as that. Precondition: it is the main thread, whose stack
/// grows by itself.
pub(super) fn watch_main() {
    bounds().into_iter().for_each(watch);
}

fn watch(stack: Range<usize>) {
    LOWEST.set(stack.start);
    SIZE.set(stack.len());
}

/// The addresses of the calling thread's stack.
fn bounds() -> Option<Range<usize>> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut start, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the attributes are written by the first call before the others read and destroy them, once; the thread is this one.
    let known = unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let known = libc::pthread_attr_getstack(attributes.as_ptr(), &mut start, &mut size) == 0;
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        known
    };
    known.then(|| start.addr()..start.addr() + size)
}

/// The size in bytes of the calling thread's stack, if a fault at `address` with the stack pointer at `pointer` is an overflow of it.
pub(super) fn overflown(address: usize, pointer: usize) -> Option<usize> {
    /// Bytes below the stack pointer that calls may write before they move it.
    const BELOW: usize = 256;
    let lowest = LOWEST.get();
    let is_overflow = (pointer.saturating_sub(BELOW)..lowest).contains(&address) && lowest - address <= MOST;
    is_overflow.then(|| SIZE.get())
}

/// The lowest address of the calling thread's stack; 0: not known.
pub(super) fn lowest() -> usize {
    LOWEST.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_below_the_stack_is_an_overflow_only_where_the_stack_pointer_has_come_there() {
        watch(0x7000_0000..0x7080_0000);
        let size = Some(0x80_0000);
        // A call pushes, a frame is probed, the midst of a large frame is written.
        assert_eq!(overflown(0x6fff_fff8, 0x7000_0000), size);
        assert_eq!(overflown(0x6fff_f000, 0x6fff_f000), size);
        assert_eq!(overflown(0x6ffc_0000, 0x6ff0_0000), size);
        // A wild pointer, NULL, another stack far below.
        assert_eq!(overflown(0x6fff_f000, 0x7000_4000), None);
        assert_eq!(overflown(8, 0x7000_4000), None);
        assert_eq!(overflown(0x7000, 0x7008), None);
        assert_eq!(overflown(0x7000_0000, 0x6fff_ff00), None, "in the stack itself");
    }

    #[test]
    fn a_stack_is_as_deep_as_an_ordinary_one_and_deeper_than_its_ready_part() {
        assert!(size(64 << 10) >= ORDINARY + GUARD);
        assert!(size(64 << 20) >= (72 << 20) + GUARD);
        let ready = std::thread::Builder::new().stack_size(size(512 << 10)).spawn(|| {
            let ready = prepare(512 << 10);
            let lowest = lowest();
            assert!(ready.len() == 512 << 10 && ready.end - lowest > (7 << 20), "{ready:x?} above {lowest:x}");
        });
        ready.unwrap().join().unwrap();
    }
}
