//! The end of the process, once all instances are freed and their results are complete.
//!
//! The process leaves without the handlers of `exit`, which run destructors of all code in an untested order: an FMU of pythonfmu
//! destroys an object in such a handler and once more in the destructor of its library, and the C library ends the process for
//! it. Unloaded before, the same library destroys it once. FMUs' libraries stay loaded while threads of FMU code, which may be
//! executing them, go on.

use vecud_fmi::unload;
use vecud_linux::{crash, process, thread};

/// Ends the process. `unloads` hears under which label a library is about to be unloaded, and 0 after the last one.
pub fn leave(code: i32, unloads: impl Fn(u64)) -> ! {
    crash::expect_exit();
    let end = || {
        process::flush_streams();
        crash::exit_now(code)
    };
    if thread::others_go_on() {
        end();
    }
    unload(unloads, end)
}
