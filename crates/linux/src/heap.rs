//! The heap of a process that stays for months, in which reports of many MiB come and go on threads that come and go.
//!
//! Guarantees: it changes how much memory the process keeps, and nothing else. Where the C library is not GNU's it does nothing.

/// All threads share few pools of memory. By default each thread has one of its own, up to eight for each core, and each pool keeps
/// about as much as the largest report took that was ever made on one of its threads. Precondition: there are no other threads yet.
pub fn few_pools() {
    #[cfg(target_env = "gnu")]
    {
        const POOLS: libc::c_int = 2;
        // SAFETY: mallopt changes a setting of the allocator, and may be called at any time.
        let _refused = unsafe { libc::mallopt(libc::M_ARENA_MAX, POOLS) };
    }
}

/// Gives back to the system what nobody uses.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: malloc_trim touches free memory alone, with the allocator's locks, and may be called at any time.
    let _nothing_was_free = unsafe { libc::malloc_trim(0) };
}
