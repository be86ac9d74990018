//! State that all code of a process shares beside its memory, as it was before code of others ran: the locale, the working directory,
//! the mask of file modes, the signals that a thread blocks, the environment.
//!
//! One `setlocale` in code of others changes the value of `strtod("0.5")` everywhere in the process, and one `chdir` the meaning of
//! relative file names. [`restore`] undoes the changes, and names them. Only a caller that calls it after each call into code of others
//! knows the culprit.

use nix::sys::signal::{SigSet, SigmaskHow, pthread_sigmask};
use rustix::fs::{Mode, OFlags, Stat, fstat, open, stat};
use rustix::process::{fchdir, umask};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::sync::OnceLock;

/// Something that all code of a process has together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surrounding {
    /// The locale, of the process or of the calling thread.
    Locale,
    /// The working directory.
    Directory,
    /// The mask of modes of files that are made.
    Umask,
    /// The signals that the calling thread blocks.
    SignalMask,
    /// The environment.
    Environment,
}

struct Original {
    locale: CString,
    /// The first byte of the character before decimals.
    radix: u8,
    /// `None`: it cannot be opened, and is not looked at.
    directory: Option<(OwnedFd, Stat)>,
    umask: Mode,
    signals: SigSet,
    environment: Vec<Vec<u8>>,
}

static ORIGINAL: OnceLock<Original> = OnceLock::new();

/// `LC_GLOBAL_LOCALE`.
const GLOBAL_LOCALE: libc::locale_t = std::ptr::without_provenance_mut(usize::MAX);

// SAFETY: the declaration is that of environ(7).
unsafe extern "C" {
    static environ: *const *const libc::c_char;
}

/// Adds variables to the environment of this process. The loader of libraries has read its own (`LD_LIBRARY_PATH`) already.
/// Precondition: there is one thread, since others could be reading the environment.
pub fn add_to_environment(variables: &[(String, String)]) {
    for (name, value) in variables {
        // SAFETY: the caller's is the only thread of the process, so that nobody reads the environment meanwhile.
        unsafe { std::env::set_var(name, value) };
    }
}

/// Notes everything as it is. Called on the thread that calls code of others, before it does.
pub fn keep() {
    let _first_one_counts = ORIGINAL.get_or_init(|| {
        let folder = open(".", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok();
        let mask = umask(Mode::from_raw_mode(0o077));
        umask(mask);
        Original {
            locale: locale().to_owned(),
            radix: radix(),
            directory: folder.and_then(|folder| fstat(&folder).ok().map(|stat| (folder, stat))),
            umask: mask,
            signals: SigSet::thread_get_mask().unwrap_or(SigSet::empty()),
            environment: entries().map(|entry| entry.to_bytes().to_vec()).collect(),
        }
    });
}

/// Puts back everything that is otherwise than it was kept, and calls `changed` for each. The calling thread has come back from code of
/// others, which runs on no other thread now.
pub fn restore(mut changed: impl FnMut(Surrounding)) {
    let Some(kept) = ORIGINAL.get() else { return };
    if locale() != kept.locale.as_c_str() {
        put_back(Surrounding::Locale);
        changed(Surrounding::Locale);
    } else {
        // SAFETY: LC_GLOBAL_LOCALE is a valid argument; the locale that the thread had belongs to whoever has set it.
        let found = unsafe { libc::uselocale(GLOBAL_LOCALE) };
        if found != GLOBAL_LOCALE {
            changed(Surrounding::Locale);
        }
    }
    if is_elsewhere(kept) {
        put_back(Surrounding::Directory);
        changed(Surrounding::Directory);
    }
    if umask(kept.umask) != kept.umask {
        changed(Surrounding::Umask);
    }
    let mut found = SigSet::empty();
    let set = pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&kept.signals), Some(&mut found));
    if set.is_ok() && found != kept.signals {
        changed(Surrounding::SignalMask);
    }
    if !entries().map(CStr::to_bytes).eq(kept.environment.iter().map(Vec::as_slice)) && restore_environment(kept) {
        changed(Surrounding::Environment);
    }
}

/// Everything that another thread can look at while code of others goes on, and whether it differs from the kept state: of the locale the
/// character before decimals, the directory, the umask. Code of others may be about to undo the change itself. The environment is not
/// looked at, since a change of it frees memory that others read.
pub fn differences() -> [(Surrounding, bool); 3] {
    let differs = |is_other: fn(&Original) -> bool| ORIGINAL.get().is_some_and(is_other);
    [
        (Surrounding::Locale, differs(|kept| radix() != kept.radix)),
        (Surrounding::Directory, differs(is_elsewhere)),
        (Surrounding::Umask, differs(|kept| present_umask().is_some_and(|mask| mask != kept.umask.as_raw_mode()))),
    ]
}

/// Undoes one of the [`differences`].
pub fn put_back(what: Surrounding) {
    let Some(kept) = ORIGINAL.get() else { return };
    match what {
        // SAFETY: a string that ends with 0, which is copied.
        Surrounding::Locale => drop(unsafe { libc::setlocale(libc::LC_ALL, kept.locale.as_ptr()) }),
        Surrounding::Directory => {
            let _only_told_where_that_is_refused = kept.directory.as_ref().map(|(folder, _)| fchdir(folder));
        }
        Surrounding::Umask => drop(umask(kept.umask)),
        Surrounding::SignalMask | Surrounding::Environment => (),
    }
}

/// Whether relative names lead elsewhere.
fn is_elsewhere(kept: &Original) -> bool {
    let Some((_, was)) = &kept.directory else { return false };
    !stat(".").is_ok_and(|is| (is.st_dev, is.st_ino) == (was.st_dev, was.st_ino))
}

/// The mask of modes, as the kernel tells it without a change.
fn present_umask() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(mask.trim(), 8).ok()
}

/// The first byte of the character before decimals in the process's locale.
fn radix() -> u8 {
    // SAFETY: gives a string that ends with 0. It is part of the data of a locale, which stays mapped when another one is set.
    unsafe { *libc::nl_langinfo(libc::RADIXCHAR).cast() }
}

/// The name of the process's locale.
fn locale() -> &'static CStr {
    // SAFETY: asks for the name, which is a string that ends with 0 and stays until the locale is set again: nobody but code of others does
    // that, which may do so at any time for whoever reads a number, and the memory of the name stays mapped.
    let name = unsafe { libc::setlocale(libc::LC_ALL, std::ptr::null()) };
    if name.is_null() {
        return c"C";
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(name) }
}

/// The environment, entry by entry.
fn entries() -> impl Iterator<Item = &'static CStr> {
    // SAFETY: the calling thread alone runs code that changes the environment, and does not while it is iterated over here; it is a list
    // of strings that ends with a null pointer, or a null pointer.
    let mut next = unsafe { environ };
    std::iter::from_fn(move || {
        // SAFETY: as above; `next` is not behind the end.
        let entry = if next.is_null() { next.cast() } else { unsafe { *next } };
        if entry.is_null() {
            return None;
        }
        next = next.wrapping_add(1);
        // SAFETY: as above.
        Some(unsafe { CStr::from_ptr(entry) })
    })
}

/// Puts the environment back. `false`: it is the same in another order.
fn restore_environment(kept: &Original) -> bool {
    let pair = |entry: &[u8]| {
        // A name that is empty cannot be set.
        let at = entry.iter().position(|byte| *byte == b'=').filter(|at| *at > 0)?;
        let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        Some((text(&entry[..at]), text(&entry[at + 1..])))
    };
    let was: BTreeMap<OsString, OsString> = kept.environment.iter().filter_map(|entry| pair(entry)).collect();
    let is: BTreeMap<OsString, OsString> = entries().filter_map(|entry| pair(entry.to_bytes())).collect();
    for name in is.keys().filter(|name| !was.contains_key(*name)) {
        // SAFETY: no other thread reads or writes the environment meanwhile, as above.
        unsafe { std::env::remove_var(name) };
    }
    for (name, value) in was.iter().filter(|(name, value)| is.get(*name) != Some(value)) {
        // SAFETY: as above.
        unsafe { std::env::set_var(name, value) };
    }
    was != is
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All in one test: what a process has together its tests have together. What is kept is what others of them need.
    #[test]
    fn what_has_changed_is_told_once_and_is_as_before() {
        keep();
        let told = || {
            let mut told = Vec::new();
            restore(|what| told.push(what));
            told
        };
        assert_eq!(told(), []);
        // Of this thread alone: other tests go on.
        let mut blocked = SigSet::empty();
        blocked.add(nix::sys::signal::Signal::SIGUSR2);
        blocked.thread_block().unwrap();
        assert!(differences().iter().all(|(_, differs)| !differs));
        assert_eq!(told(), [Surrounding::SignalMask]);
        assert_eq!(told(), []);
        // SAFETY: a locale that was made is used by this thread alone, for a moment.
        unsafe {
            let own = libc::newlocale(libc::LC_ALL_MASK, c"C".as_ptr(), std::ptr::null_mut());
            libc::uselocale(own);
            assert_eq!(told(), [Surrounding::Locale]);
            assert_eq!(libc::uselocale(std::ptr::null_mut()), GLOBAL_LOCALE);
            libc::freelocale(own);
        }
    }
}
