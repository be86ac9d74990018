//! Finds the library whose code contains an address, by labels of the process's executable memory.
//!
//! Libraries are noted when they have been loaded, by one thread at a time, and never forgotten. Looking them up allocates
//! nothing, waits for nothing and touches no memory that may not be there: signal handlers do it.

use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Release};

/// Executable memory of one library; part of a list with the newest first.
struct Code {
    /// 0: it is of several.
    label: u64,
    ranges: Vec<Range<usize>>,
    next: Option<&'static Code>,
}

static NEWEST: AtomicPtr<Code> = AtomicPtr::new(ptr::null_mut());

/// Notes the library that this function is of under a label; one that has another label already is of nobody in particular.
pub fn note(function: usize, label: u64) {
    let mut search = Search { address: function, found: Vec::new() };
    // SAFETY: `visit` is called with `search` as its last argument, which outlives the call, and does not unwind.
    unsafe { libc::dl_iterate_phdr(Some(visit), ptr::from_mut(&mut search).cast()) };
    let label = if label_at(function).is_some_and(|other| other != label) { 0 } else { label };
    let code = Code { label, ranges: search.found, next: newest() };
    NEWEST.store(Box::leak(Box::new(code)), Release);
}

/// The label of the code in which a thread is that stands at `instruction`, with its stack at `stack`: its own or, if that is
/// nobody's (the C library's), that of the next caller that has one. 0: not known.
pub(super) fn label_of(instruction: usize, stack: usize) -> u64 {
    /// Calls of the C library need less; further up there is nothing to be learned.
    const DEPTH: usize = 64 << 10;
    const WORDS: usize = 64;
    if let Some(label) = label_at(instruction) {
        return label;
    }
    let stack = stack.next_multiple_of(size_of::<usize>());
    let mut words = [0usize; WORDS];
    let size = size_of_val(&words);
    for at in (stack..stack.saturating_add(DEPTH)).step_by(size) {
        let to = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: size };
        let from = libc::iovec { iov_base: ptr::without_provenance_mut::<c_void>(at), iov_len: size };
        // SAFETY: the kernel writes at most `size` bytes into `words`, for which any bytes are valid, and answers with an
        // error or less where there is no memory to read; getpid has no arguments. Both are plain system calls.
        let read = unsafe { libc::process_vm_readv(libc::getpid(), &to, 1, &from, 1, 0) };
        let read = usize::try_from(read).unwrap_or(0) / size_of::<usize>();
        if let Some(label) = words[..read].iter().find_map(|word| label_at(*word)) {
            return label;
        }
        if read < WORDS {
            return 0;
        }
    }
    0
}

fn newest() -> Option<&'static Code> {
    // SAFETY: null, or what `note` has leaked.
    unsafe { NEWEST.load(Acquire).as_ref() }
}

fn label_at(address: usize) -> Option<u64> {
    let all = std::iter::successors(newest(), |code| code.next);
    all.filter(|code| code.ranges.iter().any(|range| range.contains(&address))).map(|code| code.label).next()
}

/// The target of [`visit`].
struct Search {
    address: usize,
    /// The executable ranges of the object that has it.
    found: Vec<Range<usize>>,
}

/// Looks at one loaded object; 1: it is the one.
///
/// # Safety
/// For `dl_iterate_phdr` only, with a [`Search`] that nobody else uses meanwhile.
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, search: *mut c_void) -> c_int {
    // SAFETY: the loader hands a valid description of an object for the time of this call, with as many program headers as it
    // says; `search` is the one of `note`, which nobody else uses meanwhile.
    let (info, headers, search) = unsafe {
        let info = &*info;
        (info, std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()), &mut *search.cast::<Search>())
    };
    let code = headers.iter().filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0);
    let range = |header: &libc::Elf64_Phdr| {
        let start = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
        start..start.wrapping_add(header.p_memsz as usize)
    };
    let ranges: Vec<Range<usize>> = code.map(range).collect();
    let is_it = ranges.iter().any(|range| range.contains(&search.address));
    if is_it {
        search.found = ranges;
    }
    c_int::from(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This program's own code stands for a library's, the C library for one that nobody has noted.
    #[test]
    fn an_address_is_of_the_library_that_was_noted_or_of_the_caller_that_has_one() {
        let own = an_address_is_of_the_library_that_was_noted_or_of_the_caller_that_has_one as *const () as usize;
        let foreign = libc::getpid as *const () as usize;
        assert_eq!((label_at(own), label_at(foreign)), (None, None));
        note(own, 7);
        assert_eq!((label_of(own, 0), label_at(foreign)), (7, None));
        let stack = [foreign, 0, own, foreign];
        assert_eq!(label_of(foreign, stack.as_ptr() as usize), 7, "the caller's");
        assert_eq!(label_of(foreign, 8), 0, "there is no such memory");
        note(own, 7);
        assert_eq!(label_at(own), Some(7));
        note(own, 8);
        assert_eq!(label_at(own), Some(0), "of two");
    }
}
