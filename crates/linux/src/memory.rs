//! Memory that is there when a real-time thread wants it: locked, touched in advance, never given back.
//!
//! Order: [`keep_heap`] before threads are made; [`lock_all`]; then, on each partition thread before its first
//! activation, [`prefault_arena`] and [`stack::prepare`](super::stack::prepare).

use super::SysError;
use nix::sys::mman::{MlockAllFlags, mlockall};
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// The smallest page: touching at this distance touches every page, whatever its size.
const PAGE: usize = 4096;

/// The size of a page of memory.
pub fn page_size() -> usize {
    // SAFETY: sysconf takes a number and touches no memory.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(PAGE)
}

/// Locks all pages that the process has and will have.
///
/// Refused if a finite `RLIMIT_MEMLOCK` counts for this process: locking could succeed, and some later allocation or
/// thread would fail instead, at a worse time. [`resident`](super::resident) locks as far as such a limit goes.
pub fn lock_all() -> Result<(), SysError> {
    const WHAT: &str = "lock all memory";
    if let Some((limit, errno)) = limit_that_counts() {
        let what = format!("{WHAT}: the limit RLIMIT_MEMLOCK is {} KiB", limit / 1024);
        return Err(SysError::new(what, errno, memlock_fix()));
    }
    mlockall(MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE)
        .map_err(|e| SysError::new(WHAT, e as i32, memlock_fix()))?;
    ALL_IS_LOCKED.store(true, SeqCst);
    Ok(())
}

/// Makes a mapping most of which is never used: where [all memory is locked](lock_all), its pages are locked when they are touched,
/// and not read in now.
pub(super) fn mapping_lazily<T>(map: impl FnOnce() -> T) -> T {
    if !ALL_IS_LOCKED.load(SeqCst) {
        return map();
    }
    // Without MCL_CURRENT they concern new mappings only. Where one is refused all is read in, which is a matter of memory.
    let _ = mlockall(MlockAllFlags::MCL_FUTURE | MlockAllFlags::from_bits_retain(libc::MCL_ONFAULT));
    let mapped = map();
    let _ = mlockall(MlockAllFlags::MCL_FUTURE);
    mapped
}

/// Whether [`lock_all`] was granted.
static ALL_IS_LOCKED: AtomicBool = AtomicBool::new(false);

/// The way out for a user whose memory cannot be locked.
pub fn memlock_fix() -> String {
    super::privilege::memlock_fix()
}

/// `RLIMIT_MEMLOCK` in bytes, if it is finite and the process is not exempt from it, and the kernel's error for more than
/// that. Found by trying, since capabilities do not tell: in a user namespace of its own root has CAP_IPC_LOCK, and the
/// limit counts all the same.
pub fn limit_that_counts() -> Option<(u64, i32)> {
    use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, munmap};
    let (limit, _) = getrlimit(Resource::RLIMIT_MEMLOCK).ok()?;
    if limit == RLIM_INFINITY {
        return None;
    }
    // Locked on fault and never touched: this takes addresses, no memory.
    let length = usize::try_from(limit).ok()?.checked_add(page_size())?.next_multiple_of(page_size());
    let flags = MapFlags::MAP_PRIVATE | MapFlags::MAP_NORESERVE;
    // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing that exists.
    let Ok(mapping) = (unsafe { mmap_anonymous(None, NonZeroUsize::new(length)?, ProtFlags::PROT_READ, flags) }) else {
        return Some((limit, libc::ENOMEM));
    };
    // SAFETY: the mapping is ours, as long as this, and nobody else knows it; locking changes nothing in it.
    let locked = unsafe { libc::syscall(libc::SYS_mlock2, mapping.as_ptr(), length, libc::MLOCK_ONFAULT) };
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    // SAFETY: the mapping from above, whole; no reference into it exists.
    let _ = unsafe { munmap(mapping, length) };
    (locked != 0).then_some((limit, errno))
}

/// Tells the allocator to keep what it has (no trimming, no mappings of its own for large blocks) and to have an arena
/// for each of `threads` partition threads and the others: with a shared arena a high-priority thread that allocates
/// waits for a low one, without priority inheritance.
pub fn keep_heap(threads: usize) -> Result<(), SysError> {
    imp::keep_heap(threads)
}

#[cfg(target_env = "gnu")]
mod imp {
    use super::SysError;

    pub(super) fn keep_heap(threads: usize) -> Result<(), SysError> {
        let arenas = i32::try_from(threads + 8).unwrap_or(i32::MAX);
        // M_TRIM_THRESHOLD is -1 (= never) as an unsigned size; M_ARENA_TEST lets the limit count from the first arena.
        for (option, value, name) in [
            (libc::M_TRIM_THRESHOLD, -1, "M_TRIM_THRESHOLD"),
            (libc::M_MMAP_MAX, 0, "M_MMAP_MAX"),
            (libc::M_ARENA_TEST, arenas, "M_ARENA_TEST"),
            (libc::M_ARENA_MAX, arenas, "M_ARENA_MAX"),
        ] {
            // SAFETY: mallopt takes two numbers and locks the allocator's own state; any thread may call it.
            if unsafe { libc::mallopt(option, value) } != 1 {
                return Err(SysError::new(format!("set malloc option {name} to {value}"), 0, ""));
            }
        }
        Ok(())
    }
}

#[cfg(not(target_env = "gnu"))]
mod imp {
    use super::SysError;

    /// Other allocators have no such options.
    pub(super) fn keep_heap(_: usize) -> Result<(), SysError> {
        Ok(())
    }
}

/// Touches the next `bytes` of the calling thread's stack, so that no page of it faults later. Precondition: some 16
/// KiB of the stack stay free for what is in use already; more than the stack has is an overflow, which ends the
/// process.
pub fn prefault_stack(bytes: usize) {
    const CHUNK: usize = 2 * PAGE;
    let here = 0_u8;
    let page = page_size();
    let to = (&raw const here).addr() / page * page;
    let from = to.saturating_sub(bytes) / page * page;
    // SAFETY: populating neither moves nor changes memory; where the range is not all mapped, or the kernel is older than 5.14, it fails.
    let populated = unsafe { libc::madvise(from as *mut _, to - from, libc::MADV_POPULATE_WRITE) };
    if populated != 0 {
        touch_chunk(bytes.div_ceil(CHUNK));
    }

    // One frame holds one chunk, so the recursion walks down the stack whatever its size.
    #[inline(never)]
    fn touch_chunk(left: usize) {
        let mut chunk = [0_u8; CHUNK];
        black_box(&mut chunk);
        if left > 1 {
            touch_chunk(left - 1);
        }
        // After the call, so that it is no tail call that would reuse the frame.
        black_box(&mut chunk);
    }
}

/// Makes the calling thread attach to an arena of the allocator and touches `bytes` of it, which stay with the arena.
pub fn prefault_arena(bytes: usize) {
    // Blocks below the size from which allocators map (128 KiB), all alive at once, so that the arena grows by that
    // much; a block too many at the end keeps the top of the heap from being cut off where trimming is not disabled.
    const BLOCK: usize = 32 * 1024;
    let mut blocks: Vec<Vec<u8>> = Vec::with_capacity(bytes.div_ceil(BLOCK));
    for _ in 0..bytes.div_ceil(BLOCK) {
        let mut block = vec![0_u8; BLOCK];
        for page in block.chunks_mut(PAGE) {
            page[0] = 1;
        }
        blocks.push(black_box(block));
    }
}

/// Limits this process to `bytes` of memory of its own: data, heap and private mappings that may be written. The kernel counts
/// stacks as such, with all of their addresses: [`admit_stacks`] lets `stacks` further bytes of them come later.
pub fn limit_data(bytes: u64, stacks: u64) -> Result<(), SysError> {
    let (_, most) = getrlimit(Resource::RLIMIT_DATA).unwrap_or((RLIM_INFINITY, RLIM_INFINITY));
    let hard = most.min(bytes.saturating_add(stacks));
    set_data_limit(hard.min(bytes), hard)
}

/// Room for the stacks that [`limit_data`] was told of, which are made now.
pub fn admit_stacks() -> Result<(), SysError> {
    let (_, hard) = getrlimit(Resource::RLIMIT_DATA).unwrap_or((RLIM_INFINITY, RLIM_INFINITY));
    set_data_limit(hard, hard)
}

fn set_data_limit(soft: u64, hard: u64) -> Result<(), SysError> {
    use nix::sys::resource::setrlimit;
    setrlimit(Resource::RLIMIT_DATA, soft, hard).map_err(|errno| SysError::new("set RLIMIT_DATA", errno as i32, ""))
}

/// The limit for [`limit_data`] in bytes: this number of MiB, or three quarters of the machine's memory.
pub fn data_limit(mebibytes: Option<u64>) -> Option<u64> {
    let installed = || {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        Some((line.split_whitespace().next()?.parse::<u64>().ok()? << 10) / 4 * 3)
    };
    mebibytes.map(|mebibytes| mebibytes << 20).or_else(installed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::resource::{UsageWho, getrusage};

    fn faults() -> i64 {
        getrusage(UsageWho::RUSAGE_THREAD).unwrap().minor_page_faults()
    }

    #[inline(never)]
    fn use_stack() -> u8 {
        let mut block = [0_u8; 160 * 1024];
        for byte in block.iter_mut().step_by(PAGE) {
            *byte = 1;
        }
        black_box(&block)[3]
    }

    #[test]
    fn a_prefaulted_stack_and_heap_fault_no_more() {
        keep_heap(4).unwrap();
        std::thread::Builder::new()
            .stack_size(512 * 1024)
            .spawn(|| {
                prefault_stack(384 * 1024);
                prefault_arena(256 * 1024);
                black_box(vec![1_u8; 64 * 1024]);
                let before = faults();
                use_stack();
                black_box(vec![1_u8; 128 * 1024]);
                assert!(faults() - before <= 1, "{} faults", faults() - before);
            })
            .unwrap()
            .join()
            .unwrap();
    }
}
