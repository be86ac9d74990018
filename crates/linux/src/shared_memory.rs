//! Memory that two processes see: an anonymous file (`memfd_create`), mapped shared by both.
//!
//! One process [creates](SharedMemory::create) it and hands the descriptor on (by fork and exec, or over a socket), the
//! other [opens](SharedMemory::open) it. The content is seen as atomic words only, so a write of one process while the
//! other reads gives at worst a surprising number, never undefined behaviour; the users' protocol gives the words their
//! meaning. The file is sealed against shrinking and growing, so that no access can fail for want of a page.
//!
//! Before and behind the mapping lie pages that nobody may touch: whoever runs over the end of something beside it meets
//! them first. A copy of a process that `fork` makes has no mapping: what two of the same kind write counts for nobody.

use super::SysError;
use super::memory::page_size;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Pages on each side that nobody may touch.
const GUARD: usize = 4;
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

/// A shared mapping. See the [module](self).
#[derive(Debug)]
pub struct SharedMemory {
    start: NonNull<AtomicU64>,
    words: usize,
    file: OwnedFd,
}

// SAFETY: the mapping belongs to the process, not to a thread, lives as long as the value, and is accessed through
// atomics only.
unsafe impl Send for SharedMemory {}
// SAFETY: as above; `&SharedMemory` gives out nothing but `&[AtomicU64]` and the descriptor.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// A new one of at least `bytes` (rounded up to whole pages), zeroed. `name` appears in `/proc/<pid>/maps`.
    ///
    /// The descriptor is closed on exec; a child that needs it gets a duplicate.
    pub fn create(name: &str, bytes: usize) -> Result<Self, SysError> {
        let error = |e: rustix::io::Errno| {
            let what = format!("create shared memory `{name}` of {bytes} bytes");
            let fix = match e {
                rustix::io::Errno::FBIG => {
                    "raise the limit RLIMIT_FSIZE (`ulimit -f unlimited`), which counts for it too"
                }
                _ => "",
            };
            SysError::new(what, e.raw_os_error(), fix)
        };
        let page = page_size();
        let length = bytes.max(1).next_multiple_of(page);
        let file = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).map_err(error)?;
        ftruncate(&file, length as u64).map_err(error)?;
        fcntl_add_seals(&file, SEALS).map_err(error)?;
        Self::map(file, length).map_err(error)
    }

    /// The one that another process has created, by its descriptor.
    pub fn open(file: OwnedFd) -> Result<Self, SysError> {
        const WHAT: &str = "open shared memory";
        let error = |e: rustix::io::Errno| SysError::new(WHAT, e.raw_os_error(), "");
        if !fcntl_get_seals(&file).map_err(error)?.contains(SEALS) {
            return Err(SysError::new(format!("{WHAT}: its size is not sealed"), 0, ""));
        }
        let length = usize::try_from(fstat(&file).map_err(error)?.st_size).unwrap_or(0);
        Self::map(file, length).map_err(error)
    }

    fn map(file: OwnedFd, length: usize) -> Result<Self, rustix::io::Errno> {
        let guard = GUARD * page_size();
        let whole = length + 2 * guard;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing that exists.
        let around = unsafe { mmap_anonymous(std::ptr::null_mut(), whole, ProtFlags::empty(), flags)? };
        // SAFETY: `guard` is less than the size of that mapping.
        let start = unsafe { around.byte_add(guard) };
        // SAFETY: this replaces the middle of the mapping just made, of which nobody knows.
        let made = unsafe {
            mmap(start, length, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::FIXED, &file, 0)
        };
        // SAFETY: the mapping just made, whose content this leaves as it is.
        let kept = made.and_then(|_| unsafe { madvise(start, length, Advice::LinuxDontFork) });
        if let Err(error) = kept {
            // SAFETY: our own mapping, whole, into which there is no reference.
            let _ = unsafe { munmap(around, whole) };
            return Err(error);
        }
        Ok(SharedMemory {
            start: NonNull::new(start.cast()).ok_or(rustix::io::Errno::NOMEM)?,
            words: length / size_of::<AtomicU64>(),
            file,
        })
    }

    /// The whole content.
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has `words` times eight bytes, page-aligned, readable and writable, and stays while `self`
        // does. The file is sealed, so every page exists. Any bit pattern is an AtomicU64; other processes change them
        // by atomics of the same size (this is the only way in).
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }

    /// Maps every page now, without changing a value.
    pub fn prefault(&self) {
        let length = self.words * size_of::<AtomicU64>();
        // SAFETY: our own mapping, whole; populating changes no content.
        let populated = unsafe { madvise(self.start.as_ptr().cast(), length, Advice::LinuxPopulateWrite) };
        if populated.is_ok() {
            return;
        }
        // Kernels before 5.14 do not know that advice.
        let words_of_page = page_size() / size_of::<AtomicU64>();
        for word in self.words().iter().step_by(words_of_page) {
            // A write fault is what has to be over; adding nothing is a write.
            word.fetch_add(0, Ordering::Relaxed);
        }
    }

    /// The descriptor, to hand on.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        let guard = GUARD * page_size();
        let length = self.words * size_of::<AtomicU64>() + 2 * guard;
        // SAFETY: the mapping begins that many bytes before the words, as `map` has made it.
        let around = unsafe { self.start.as_ptr().byte_sub(guard) };
        // SAFETY: our own mapping, whole, and no reference into it outlives `self`. An error leaves it mapped: harmless.
        let _ = unsafe { munmap(around.cast(), length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_mappings_see_the_same_words() {
        let ours = SharedMemory::create("vecud-test", 5000).unwrap();
        ours.prefault();
        let theirs = SharedMemory::open(ours.file().try_clone_to_owned().unwrap()).unwrap();
        assert_eq!(theirs.words().len(), 1024);
        ours.words()[1023].store(7, Ordering::Release);
        assert_eq!(theirs.words()[1023].load(Ordering::Acquire), 7);
        assert!(ours.words()[..1023].iter().all(|w| w.load(Ordering::Relaxed) == 0));
    }

    /// As the kernel lists it: `dc`, do not copy on fork.
    #[test]
    fn a_forked_copy_of_the_process_has_no_mapping() {
        let memory = SharedMemory::create("vecud-not-forked", 5000).unwrap();
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let (_, own) = maps.split_once(&format!("{:x}-", memory.words().as_ptr().addr())).unwrap();
        let flags = own.lines().find(|line| line.starts_with("VmFlags:")).unwrap();
        assert!(flags.split_whitespace().any(|flag| flag == "dc"), "{flags}");
    }

    /// Before the first word and behind the last one, as the kernel lists it.
    #[test]
    fn pages_that_nobody_may_touch_lie_around_it() {
        let memory = SharedMemory::create("vecud-guarded", 5000).unwrap();
        let from = memory.words().as_ptr().addr();
        let to = from + size_of_val(memory.words());
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let forbidden = |address: usize| {
            maps.lines().any(|line| {
                let (range, rest) = line.split_once(' ').unwrap();
                let (low, high) = range.split_once('-').unwrap();
                let [low, high] = [low, high].map(|text| usize::from_str_radix(text, 16).unwrap());
                (low..high).contains(&address) && rest.starts_with("---p")
            })
        };
        assert!(forbidden(from - 1) && forbidden(to) && forbidden(from - 16384) && forbidden(to + 16383), "{maps}");
        assert!(!forbidden(from) && !forbidden(to - 1), "{maps}");
    }

    #[test]
    fn a_file_of_variable_size_is_refused() {
        let file = memfd_create("vecud-test", MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&file, 4096).unwrap();
        let error = SharedMemory::open(file).unwrap_err();
        assert!(error.to_string().contains("not sealed"), "{error}");
    }
}
