//! Memory of this process as far as it may be locked: a finite `RLIMIT_MEMLOCK` without CAP_IPC_LOCK.
//!
//! `mlockall` is all or nothing, and with `MCL_FUTURE` under a limit it makes some later mapping or thread fail instead, at
//! a worse time. So here ranges are locked one by one, what is worth most first, until the limit refuses; each locked page
//! is also read in. What is mapped later is not locked.

use super::memory::page_size;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;

/// Amount of locked memory, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Locked.
    pub locked: usize,
    /// Memory that should be locked: everything that is mapped and accessible.
    pub wanted: usize,
}

/// Order of locking memory under a limit, the most valuable first.
#[derive(Clone, Debug, Default)]
pub struct LockingOrder {
    /// Ranges of stacks that are ready. The rest of these stacks is not needed, since it may never be used.
    pub stacks: Vec<Range<usize>>,
    /// An address inside of the memory that is shared with the supervisor.
    pub shared: usize,
    /// Files that are mapped: libraries with FMU code.
    pub libraries: Vec<PathBuf>,
}

/// One line of `/proc/self/maps`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mapping {
    range: Range<usize>,
    writable: bool,
    file: Option<PathBuf>,
    /// The mapping is the kernel's own, or nobody may access it.
    out_of_reach: bool,
}

/// Bytes that the process has mapped and may access, without the parts of these stacks that are not ready.
pub fn wanted(stacks: &[Range<usize>]) -> usize {
    mappings().iter().flat_map(|mapping| pieces(mapping, stacks)).map(|piece| piece.1.len()).sum()
}

/// Locks in this order until the kernel refuses.
pub fn lock(order: &LockingOrder) -> Extent {
    let mappings = mappings();
    let ranked = |mapping| {
        pieces(mapping, &order.stacks).map(move |(top, range)| (if top { 0 } else { rank(mapping, order) }, range))
    };
    let mut pieces: Vec<(usize, Range<usize>)> = mappings.iter().flat_map(ranked).collect();
    pieces.sort_by_key(|piece| piece.0);
    let wanted = pieces.iter().map(|piece| piece.1.len()).sum();
    Extent { locked: pieces.iter().map(|piece| lock_most(&piece.1)).sum(), wanted }
}

/// The parts of a mapping that are wanted, and whether each is the first part of a stack, which every call uses.
fn pieces(mapping: &Mapping, stacks: &[Range<usize>]) -> impl Iterator<Item = (bool, Range<usize>)> + use<> {
    /// Bytes of a stack's first part.
    const FIRST: usize = 192 << 10;
    let Range { start, end } = mapping.range;
    let page = page_size();
    let [first, rest] = match stacks.iter().find(|stack| mapping.range.contains(&stack.end)) {
        Some(stack) => {
            let low = (stack.start / page * page).max(start);
            let first = (stack.end.saturating_sub(FIRST) / page * page).max(low);
            [first..end, low..first]
        }
        None => [end..end, start..end],
    };
    [(true, first), (false, rest)].into_iter().filter(|piece| !piece.1.is_empty())
}

/// Reads in the mapped files (program, libraries), so that no page of them faults later, locked or not.
pub fn populate_files() {
    for mapping in mappings().into_iter().filter(|mapping| mapping.file.is_some()) {
        let advice = if mapping.writable { libc::MADV_POPULATE_WRITE } else { libc::MADV_POPULATE_READ };
        // SAFETY: populating neither moves nor changes memory. The range is this process's own and may be gone by now,
        // in which case the kernel says so; kernels before 5.14 do not know the advice and say that.
        let _as_far_as_it_goes = unsafe { libc::madvise(mapping.range.start as *mut _, mapping.range.len(), advice) };
    }
}

/// 1 is worth most; first parts of stacks come before.
fn rank(mapping: &Mapping, order: &LockingOrder) -> usize {
    match &mapping.file {
        _ if mapping.range.contains(&order.shared) => 1,
        Some(file) if order.libraries.contains(file) => 2,
        None if mapping.writable => 3,
        _ if mapping.writable => 4,
        _ => 5,
    }
}

/// Locks a range, or as much of its beginning as the limit allows; how many bytes that was.
fn lock_most(range: &Range<usize>) -> usize {
    if lock_range(range) {
        return range.len();
    }
    let page = page_size();
    // In pages: `granted` is locked, `refused` is too much. Halving, since the kernel does not say how much is left.
    let (mut granted, mut refused) = (0, range.len() / page);
    while refused - granted > 1 {
        let middle = granted + (refused - granted) / 2;
        match lock_range(&(range.start + granted * page..range.start + middle * page)) {
            true => granted = middle,
            false => refused = middle,
        }
    }
    granted * page
}

fn lock_range(range: &Range<usize>) -> bool {
    // SAFETY: locking neither moves nor changes memory; the kernel checks that the range is mapped.
    unsafe { libc::mlock(range.start as *const _, range.len()) == 0 }
}

fn mappings() -> Vec<Mapping> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines().filter_map(parse).filter(|mapping| !mapping.out_of_reach).collect()
}

/// `7f12-7f34 rw-p 00000000 fe:00 1234   /some/file`
fn parse(line: &str) -> Option<Mapping> {
    let mut rest = line.splitn(6, ' ');
    let (start, end) = rest.next()?.split_once('-')?;
    let range = usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?;
    let access = rest.next()?;
    let name = rest.nth(3).unwrap_or_default().trim_start();
    Some(Mapping {
        range,
        writable: access.contains('w'),
        file: name.starts_with('/').then(|| name.into()),
        out_of_reach: access.starts_with("---") || name.starts_with("[v"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_read() {
        let file = parse("7f00-7f20 r-xp 00001000 fe:00 1234                       /usr/lib/a b.so").unwrap();
        let expected = Mapping {
            range: 0x7f00..0x7f20,
            writable: false,
            file: Some("/usr/lib/a b.so".into()),
            out_of_reach: false,
        };
        assert_eq!(file, expected);
        let heap = parse("55aa-55bb rw-p 00000000 00:00 0                          [heap]").unwrap();
        assert_eq!((heap.writable, heap.file, heap.out_of_reach), (true, None, false));
        assert!(parse("55aa-55bb ---p 00000000 00:00 0 ").unwrap().out_of_reach);
        assert!(parse("55aa-55bb r-xp 00000000 00:00 0      [vdso]").unwrap().out_of_reach);
        assert_eq!(parse("nonsense"), None);
    }

    #[test]
    fn first_parts_of_stacks_come_first_then_shared_memory_then_fmu_code() {
        let order = LockingOrder { stacks: Vec::new(), shared: 0x250, libraries: vec!["/fmu.so".into()] };
        let of = |line| rank(&parse(line).unwrap(), &order);
        let ranks = [
            of("200-300 rw-s 0 00:00 0      /memfd:vecud (deleted)"),
            of("300-400 r-xp 0 00:00 0      /fmu.so"),
            of("400-500 rw-p 0 00:00 0      [heap]"),
            of("500-600 rw-p 0 00:00 0      /usr/lib/libc.so.6"),
            of("600-700 r-xp 0 00:00 0      /usr/lib/libc.so.6"),
        ];
        assert_eq!(ranks, [1, 2, 3, 4, 5]);
        let pieces = |line, stack: Range<usize>| pieces(&parse(line).unwrap(), &[stack]).collect::<Vec<_>>();
        let (deep, here) = ("10000000-10800000 rw-p 0 00:00 0 ", 0x107f_e010);
        let expected = vec![(true, 0x107c_e000..0x1080_0000), (false, 0x106f_e000..0x107c_e000)];
        assert_eq!(pieces(deep, here - 0x10_0000..here), expected, "what is not ready is not wanted");
        assert_eq!(pieces(deep, here - 0x1_0000..here), [(true, 0x107e_e000..0x1080_0000)]);
        assert_eq!(pieces(deep, 0x100..0x200), [(false, 0x1000_0000..0x1080_0000)], "no stack");
    }

    #[test]
    fn what_is_mapped_of_files_is_populated_and_faults_no_more() {
        use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
        use nix::sys::resource::{UsageWho, getrusage};
        const LENGTH: usize = 1 << 20;
        let faults = || getrusage(UsageWho::RUSAGE_THREAD).unwrap().minor_page_faults();
        let file = tempfile::tempfile().unwrap();
        file.set_len(LENGTH as u64).unwrap();
        let length = std::num::NonZeroUsize::new(LENGTH).unwrap();
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing that exists.
        let start = unsafe { mmap(None, length, ProtFlags::PROT_READ, MapFlags::MAP_PRIVATE, &file, 0) }.unwrap();
        let here = start.as_ptr().addr();
        assert!(mappings().iter().any(|mapping| mapping.range == (here..here + LENGTH) && mapping.file.is_some()));
        assert!(wanted(&[]) > LENGTH);
        populate_files();
        let before = faults();
        for at in (0..LENGTH).step_by(4096) {
            // SAFETY: inside the mapping, which is readable and whose file is as long as it.
            assert_eq!(unsafe { start.cast::<u8>().add(at).read_volatile() }, 0);
        }
        assert!(faults() - before <= 1, "{} faults", faults() - before);
        // SAFETY: the mapping from above, whole; no reference into it exists.
        unsafe { munmap(start, LENGTH) }.unwrap();
    }
}
