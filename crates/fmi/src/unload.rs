//! The code of FMUs is unloaded when the process is about to end, and nothing can call it any more.

use super::library::Library;
use std::convert::Infallible;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

static LOADED: Mutex<Vec<(u64, Arc<Library>)>> = Mutex::new(Vec::new());

impl Library {
    /// Keeps it loaded until [`unload`], where it has this label.
    pub fn stays(self: &Arc<Library>, label: u64) {
        LOADED.lock().unwrap_or_else(PoisonError::into_inner).push((label, self.clone()));
    }
}

/// Unloads all libraries that have stayed, which runs their destructors, the last one loaded first, then leaves the process. `unloads` hears
/// whose library is next, and 0 when there is none left. All instances are freed, no other thread calls FMUs, and none has code of theirs
/// to run.
pub fn unload(unloads: impl Fn(u64), leave: impl FnOnce() -> Infallible) -> ! {
    let loaded = mem::take(&mut *LOADED.lock().unwrap_or_else(PoisonError::into_inner));
    for (label, library) in loaded.iter().rev() {
        unloads(*label);
        // SAFETY: this thread leaves the process below and calls no function of an FMU before; others do not by this function's contract,
        // whose breach ends a process that is about to end.
        unsafe { library.unload() };
    }
    // Whoever holds a handle to code that is gone does not drop it.
    mem::forget(loaded);
    unloads(0);
    match leave() {}
}
