//! Counts what a thread asks of the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;
// SAFETY: every call goes on to the system's allocator; counting touches a thread-local that allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}
#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often this thread asks for memory or gives some back meanwhile.
pub fn allocations(body: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    body();
    ALLOCATIONS.get() - before
}

#[test]
fn what_allocates_is_counted() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(7)))), 2);
}
