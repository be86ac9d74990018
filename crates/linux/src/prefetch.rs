//! Asking the processor for memory ahead of its use.
//!
//! A thread that has slept for a millisecond finds little of its memory in the caches. What it touches one after the other
//! it waits for one after the other; what is asked for ahead comes at the same time. It is a hint: nothing is read, nothing
//! can fault, and where there is no such instruction nothing happens.

const LINE: usize = 64;

/// Asks for the cache line in which `place` begins.
#[inline(always)]
pub fn prefetch<T>(place: &T) {
    ask(std::ptr::from_ref(place).cast());
}

/// Asks for all the cache lines of `thing`.
#[inline(always)]
pub fn prefetch_all<T>(thing: &T) {
    let (start, size) = (std::ptr::from_ref(thing).cast::<u8>(), size_of::<T>());
    (0..size).step_by(LINE).for_each(|offset| ask(start.wrapping_add(offset)));
    // It need not begin where a line does.
    ask(start.wrapping_add(size.saturating_sub(1)));
}

#[inline(always)]
fn ask(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: PREFETCHT0 is part of every x86-64 processor, reads nothing and faults never, wherever it points.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: PRFM reads nothing that a program could see, and faults never, wherever it points.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) place, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = place;
}
